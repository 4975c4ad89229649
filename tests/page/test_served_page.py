"""The built page as a server sends it; needs no Spark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.serving import Client, serving

TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with serving(tmp_path_factory.mktemp("state")) as client:
        yield client


def test_the_page_and_all_that_it_loads_are_sent_under_the_same_policy(client: Client) -> None:
    page = client.call("GET", "/")
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    loaded = re.findall(r'(?:src|href)="\./([^"]+)"', page.body.decode())
    assert {Path(name).suffix for name in loaded} == set(TYPES)
    for name in loaded:
        answer = client.call("GET", f"/{name}")
        assert answer.status == 200
        assert answer.headers["content-type"].partition(";")[0] == TYPES[Path(name).suffix]
        assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    assert page.headers["content-security-policy"].startswith("default-src 'self'")


def test_nothing_of_the_page_is_sent_without_the_token(client: Client) -> None:
    for path in ("/", "/stone.svg", "/index.html"):
        assert client.call("GET", path, headers={"Authorization": None}).status == 401


@pytest.mark.parametrize("path", ["/../app.py", "/%2e%2e/app.py", "/assets/../../app.py", "/..%2fapp.py"])
def test_nothing_beside_the_page_is_sent(client: Client, path: str) -> None:
    answer = client.call("GET", path)
    assert answer.status in {400, 404}
    assert b"FastAPI" not in answer.body


def test_the_page_asks_no_other_machine_for_anything() -> None:
    page = Path(__file__).parents[2] / "src" / "skipstone" / "server" / "page"
    texts = [
        path.read_text(encoding="utf-8")
        for path in page.rglob("*")
        if path.suffix in {".js", ".css", ".html"}
    ]
    assert len(texts) == 3
    found = {
        address for text in texts for address in re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", text)
    }
    # Names of namespaces, which nothing is fetched from.
    assert found <= {"http://www.w3.org", "https://www.w3.org"}


def test_nothing_that_the_page_shows_can_become_html() -> None:
    sources = (Path(__file__).parents[2] / "web" / "src").rglob("*.ts*")
    texts = {path.name: path.read_text(encoding="utf-8") for path in sources}
    assert len(texts) > 30
    unsafe = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function"
    )
    assert [name for name, text in texts.items() if unsafe.search(text)] == []
