"""Who is let in: the token, the cookie, Host and Origin, and how much may be sent. No Spark."""

from __future__ import annotations

import http.client
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.serving import Client, serving

from skipstone.errors import SkipstoneError
from skipstone.server.guard import is_own_host
from skipstone.server.settings import Limits, Settings


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    limits = Limits(upload_bytes=10_000, body_bytes=1_000, workloads=3, listeners=1)
    with serving(tmp_path_factory.mktemp("state"), limits=limits) as client:
        yield client


EVERY_PLACE = (
    "/api/server",
    "/api/tables",
    "/api/jobs",
    "/api/events",
    "/api/openapi.json",
    "/api/docs",
    "/",
)


@pytest.mark.parametrize("path", EVERY_PLACE)
@pytest.mark.parametrize("given", [None, "Bearer wrong", "Bearer ", "Basic dXNlcjpwYXNz", "Bearer \xff"])
def test_nothing_is_told_without_the_token(client: Client, path: str, given: str | None) -> None:
    answer = client.call("GET", path, headers={"Authorization": given})
    assert answer.status == 401
    assert client.settings.token.encode() not in answer.body


def test_no_endpoint_is_called_without_the_token(client: Client) -> None:
    described = client.get("/api/openapi.json")["paths"]
    calls = [(method, path) for path, methods in described.items() for method in methods]
    assert len(calls) > 25
    for method, path in calls:
        filled = re.sub(r"{(job|index|node)}", "1", path).replace("{table}", "t").replace("{workload}", "w")
        answer = client.call(method.upper(), filled, headers={"Authorization": None})
        assert answer.status == 401, (method, path)


def test_the_token_is_in_no_log(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    token = client.settings.token
    for path in (f"/?token={token}", f"/api/jobs?token={token}", f"/nothing?token={token}"):
        client.call("GET", path, headers={"Authorization": None})
    client.call("POST", "/api/jobs", {"action": "optimize", "table": "nope"})
    assert token not in caplog.text


def test_the_token_in_an_address_opens_only_the_page(client: Client) -> None:
    answer = client.call("GET", f"/api/server?token={client.settings.token}", headers={"Authorization": None})
    assert answer.status == 401


def test_the_link_sets_a_cookie_that_is_not_the_token_and_leads_to_an_address_without_it(
    client: Client,
) -> None:
    answer = client.call("GET", f"/?token={client.settings.token}", headers={"Authorization": None})
    assert answer.status == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert client.settings.token not in cookie
    name = cookie.partition(";")[0]
    assert client.call("GET", "/api/server", headers={"Authorization": None, "Cookie": name}).status == 200


def test_a_wrong_token_in_the_link_sets_no_cookie(client: Client) -> None:
    answer = client.call("GET", "/?token=wrong", headers={"Authorization": None})
    assert answer.status == 401
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "cookie",
    ["skipstone=", "skipstone=x", "skipstone", ";;;=", "a=b; skipstone=\xe9", '"', "skipstone=" + "x" * 4000],
)
def test_a_wrong_cookie_is_no_cookie(client: Client, cookie: str) -> None:
    answer = client.call("GET", "/api/server", headers={"Authorization": None, "Cookie": cookie})
    assert answer.status == 401


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil.example:{port}",
        "127.0.0.1:{port}@evil.example",
        "evil.example:{port}",
        "",
        "127.0.0.1:{port}/x",
        "[::1",
        "127.0.0.1:notaport",
    ],
)
def test_a_name_that_points_here_is_not_enough(client: Client, host: str) -> None:
    answer = client.call("GET", "/api/server", headers={"Host": host.format(port=client.port)})
    assert answer.status in (400, 403), answer.body


def test_two_hosts_are_none(client: Client) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=10)
    connection.putrequest("GET", "/api/server", skip_host=True)
    connection.putheader("Host", f"127.0.0.1:{client.port}")
    connection.putheader("Host", "evil.example")
    connection.putheader("Authorization", f"Bearer {client.settings.token}")
    connection.endheaders()
    assert connection.getresponse().status in (400, 403)
    connection.close()


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}", "LOCALHOST:{port}"])
def test_own_names_are_known(client: Client, host: str) -> None:
    assert client.call("GET", "/api/server", headers={"Host": host.format(port=client.port)}).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://localhost:{port}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_site_is_refused_even_with_the_token(
    client: Client, headers: dict[str, str], method: str
) -> None:
    sent = {name: text.format(port=client.port) for name, text in headers.items()}
    answer = client.call(method, "/api/tables", {"source": "/x"} if method == "POST" else None, sent)
    assert answer.status == 403
    assert answer.detail == "A page of another site may not call this server."


def test_the_own_page_may_call(client: Client) -> None:
    headers = {"Origin": f"http://127.0.0.1:{client.port}", "Sec-Fetch-Site": "same-origin"}
    assert client.call("GET", "/api/tables", headers=headers).status == 200


@pytest.mark.parametrize("path", ["/", "/api/server", "/api/nothing"])
def test_every_answer_has_the_headers_that_keep_others_out(client: Client, path: str) -> None:
    headers = client.call("GET", path).headers
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers


def test_bodies_are_limited(client: Client) -> None:
    assert client.call("POST", "/api/tables", {"source": "/" + "x" * 2_000}).status == 413
    assert client.call("POST", "/api/workloads?name=a.sql", b"x" * 20_000).status == 413


def test_a_body_that_does_not_say_how_long_it_is_is_limited_too(client: Client) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=10)
    headers = {"Authorization": f"Bearer {client.settings.token}", "Transfer-Encoding": "chunked"}
    connection.request(
        "POST", "/api/workloads?name=a.sql", iter([b"y" * 6_000] * 4), headers, encode_chunked=True
    )
    response = connection.getresponse()
    assert response.status == 413
    assert json.loads(response.read())["detail"] == "The body of this call may have 10,000 bytes."
    connection.close()


def test_as_many_as_may_listen_listen(client: Client) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=10)
    connection.request("GET", "/api/events", headers={"Authorization": f"Bearer {client.settings.token}"})
    assert connection.getresponse().status == 200
    answer = client.call("GET", "/api/events")
    assert answer.status == 429
    assert answer.detail == "1 clients listen already; close one of them."
    connection.close()


def test_only_loopback_unless_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(SkipstoneError, match="--allow-remote"):
        Settings(state=tmp_path, host="0.0.0.0")  # noqa: S104 - that is what is refused
    far = Settings(state=tmp_path, host="0.0.0.0", allow_remote=True)  # noqa: S104 - the same
    assert is_own_host("192.168.1.4:8765", far, 8765)
    assert not is_own_host("evil.example:8765", far, 8765)
    assert not is_own_host("192.168.1.4:8765", Settings(state=tmp_path), 8765)


def test_the_description_of_the_api_can_be_read_without_another_machine_and_without_scripts(
    client: Client,
) -> None:
    answer = client.call("GET", "/api/docs")
    text = answer.body.decode()
    assert (answer.status, "POST /api/jobs" in text) == (200, True)
    assert not re.search(r"<script|<link|<img|src=|https?:", text)


def test_no_file_of_the_state_has_the_token(client: Client) -> None:
    client.call("POST", "/api/workloads?name=a.sql", b"SELECT 1")
    token = client.settings.token.encode()
    files = [path for path in client.settings.state.rglob("*") if path.is_file()]
    assert files
    assert all(token not in path.read_bytes() for path in files)
    assert token.decode() not in repr(client.settings)
