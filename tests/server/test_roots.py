from __future__ import annotations

from pathlib import Path

import pytest

from skipstone.errors import SkipstoneError
from skipstone.server.roots import confined_path, confined_source


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root" / "orders").mkdir(parents=True)
    (tmp_path / "secret" / "table").mkdir(parents=True)
    (tmp_path / "root" / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "root" / "circle").symlink_to(tmp_path / "root" / "circle")
    (tmp_path / "rooted").mkdir()
    return tmp_path / "root"


def test_what_lies_in_a_root_is_found(root: Path) -> None:
    assert confined_path(f"{root}/orders/../orders/", [root]) == root / "orders"
    assert confined_path(f"file://{root}/orders", [root]) == root / "orders"
    assert confined_source(f"{root}/orders", [root]) == ("orders", f"{root}/orders")
    assert confined_source(f"main.o={root}/orders", [root]) == ("main.o", f"{root}/orders")


@pytest.mark.parametrize(
    "path",
    [
        "{root}/..",
        "{root}/../secret/table",
        "{root}/orders/../../secret",
        "{root}/link/table",
        "{root}/link",
        "{root}ed",
        "/etc/passwd",
        "/",
        "//",
        "file:///etc",
        "file:/etc",
        "orders",
        "./orders",
        "../x",
        "s3a://bucket/x",
        "hdfs:///x",
        "file:s3a://bucket/x",
        "jar:file:/x",
        "",
        "{root}/\0/x",
        "{root}/a\nb",
        "~/x",
    ],
)
def test_whatever_leads_out_of_the_roots_is_refused(root: Path, path: str) -> None:
    with pytest.raises(SkipstoneError):
        confined_path(path.format(root=root), [root])
    with pytest.raises(SkipstoneError):
        confined_source(f"t={path.format(root=root)}", [root])


def test_a_link_that_leads_in_a_circle_is_refused(root: Path) -> None:
    # It leads nowhere, and stays inside; there is no table there.
    try:
        found = confined_path(f"{root}/circle", [root])
    except SkipstoneError:
        return
    assert found.is_relative_to(root)


def test_without_a_root_nothing_can_be_registered(tmp_path: Path) -> None:
    with pytest.raises(SkipstoneError, match="started without --root"):
        confined_path(str(tmp_path), [])


@pytest.mark.parametrize(
    "name",
    [
        "a b",
        "1x",
        "a;DROP TABLE b",
        "a`b",
        "<script>",
        "a.b.c.d",
        "a'b",
        "ä",
        "x" * 3 + "\n",
        "-",
        "a.",
        ".a",
    ],
)
def test_a_name_that_queries_could_not_use_is_refused(root: Path, name: str) -> None:
    with pytest.raises(SkipstoneError):
        confined_source(f"{name}={root}/orders", [root])
