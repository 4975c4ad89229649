"""Files of the catalog on file systems of several kinds: what is written, and what a failure leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from skipstone.errors import SkipstoneError
from skipstone.spark.bridge.hadoop import HadoopStore
from skipstone.spark.bridge.janino import new_instance

# A local file system under a scheme of its own: its rename copies, half by half, and refuses taken names.
COPYING = """
package skipstonetest;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.*;
public class CopyingFileSystem extends RawLocalFileSystem {
    public URI getUri() { return URI.create("copying:///"); }
    public String getScheme() { return "copying"; }
    public boolean rename(Path from, Path to) throws IOException {
        if (to.getName().equals("refused")) { throw new IOException("no room"); }
        if (exists(to)) { return false; }
        byte[] bytes = new byte[(int) getFileStatus(from).getLen()];
        FSDataInputStream in = open(from);
        in.readFully(0L, bytes);
        in.close();
        FSDataOutputStream out = create(to, true);
        out.write(bytes, 0, bytes.length / 2);
        out.flush();
        out.write(bytes, bytes.length / 2, bytes.length - bytes.length / 2);
        out.close();
        return delete(from, false);
    }
}
"""
# One that says of itself that a file is seen when it is closed and not before.
PUTTING = """
package skipstonetest;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.fs.*;
public class PuttingFileSystem extends RawLocalFileSystem {
    public URI getUri() { return URI.create("putting:///"); }
    public String getScheme() { return "putting"; }
    public boolean hasPathCapability(Path path, String capability) throws IOException {
        return capability.equals("fs.capability.outputstream.abortable");
    }
    public boolean rename(Path from, Path to) throws IOException {
        throw new IOException("a rename is a copy here");
    }
}
"""


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> HadoopStore:
    scheme = request.param
    made = HadoopStore(spark, new_instance(spark, "HadoopFiles"), f"{scheme}://{tmp_path}/table")
    source = {"copying": COPYING, "putting": PUTTING}.get(scheme)
    if source:
        jvm: Any = spark._jvm
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
        compiler.cook(source)
        made._conf.setClassLoader(compiler.getClassLoader())
        made._conf.set(f"fs.{scheme}.impl", f"skipstonetest.{scheme.title()}FileSystem")
        made._conf.set(f"fs.{scheme}.impl.disable.cache", "true")
    return made


def left(tmp_path: Path) -> list[str]:
    """Every file below the table, without the checksums of local ones."""
    return sorted(path.name for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".crc")


@pytest.mark.parametrize("store", ["file", "copying", "putting"], indirect=True)
def test_a_file_is_written_read_listed_and_deleted(store: HadoopStore, tmp_path: Path) -> None:
    assert store.names("folder") == []
    store.write("folder/a", b"one")
    assert (store.names("folder"), store.read("folder/a")) == (["a"], b"one")
    assert left(tmp_path) == ["a"], "no draft is left"
    store.delete("folder/a")
    store.delete("folder/a")
    assert store.names("folder") == []


@pytest.mark.parametrize("store", ["file", "copying", "putting"], indirect=True)
def test_the_same_bytes_may_be_written_twice_and_a_half_file_is_replaced(
    store: HadoopStore, tmp_path: Path
) -> None:
    for before in (b"whole", b"who"):
        store.write("folder/a", before)
        store.write("folder/a", b"whole")
        assert store.read("folder/a") == b"whole"
        assert left(tmp_path) == ["a"]


@pytest.mark.parametrize("store", ["copying"], indirect=True)
def test_a_rename_that_fails_leaves_no_draft(store: HadoopStore, tmp_path: Path) -> None:
    with pytest.raises(SkipstoneError, match=r"^cannot write .*/folder/refused \(IOException: no room\)\.$"):
        store.write("folder/refused", b"one")
    assert left(tmp_path) == []
