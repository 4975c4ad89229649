from __future__ import annotations

from pathlib import Path

import pytest

from skipstone.errors import SkipstoneError
from skipstone.server.roots import as_root, confined_path, confined_source


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root" / "orders").mkdir(parents=True)
    (tmp_path / "secret" / "table").mkdir(parents=True)
    (tmp_path / "root" / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "root" / "circle").symlink_to(tmp_path / "root" / "circle")
    (tmp_path / "rooted").mkdir()
    return tmp_path / "root"


def test_what_lies_in_a_root_is_found(root: Path) -> None:
    assert confined_path(f"{root}/orders/../orders/", [root]) == f"{root}/orders"
    assert confined_path(f"file://{root}/orders", [root]) == f"{root}/orders"
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
    assert Path(found).is_relative_to(root)


@pytest.mark.parametrize(
    "path",
    [
        "s3a://bucket",
        "s3a://bucket/lak",
        "s3a://bucket/lakes/t",
        "s3a://bucket/lake/../other/t",
        "s3a://bucket/lake/./t",
        "s3a://bucket/lake/%2e%2e/t",
        "s3a://bucket/lake/t?x=y",
        "s3a://bucket/lake/t#x",
        "s3a://bucket/lake/{a,b}",
        "s3a://bucket/lake/*",
        "s3a://bucket/lake//t",
        "s3a://other/lake/t",
        "s3a://bucket:80/lake/t",
        "s3a://user@bucket/lake/t",
        "s3a:/bucket/lake/t",
        "s3a:bucket/lake/t",
        "s3://bucket/lake/t",
        "hdfs://bucket/lake/t",
        "jar:s3a://bucket/lake/t",
        "file://bucket/lake/t",
        "/bucket/lake/t",
        "s3a://bucket/lake/\\..\\t",
    ],
)
def test_elsewhere_only_what_plainly_lies_in_a_root_is_found(root: Path, path: str) -> None:
    roots = [root, as_root("S3A://bucket/lake/")]
    assert confined_path("s3a://bucket/lake/t", roots) == "s3a://bucket/lake/t"
    assert confined_source("S3a://bucket/lake/t/", roots) == ("t", "s3a://bucket/lake/t")
    with pytest.raises(SkipstoneError):
        confined_path(path, roots)


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
