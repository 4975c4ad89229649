"""Local files without processes: Hadoop that lacks its native library runs ``chmod`` for each new file."""

from __future__ import annotations

from pyspark.sql import SparkSession

from skipstone.spark.bridge.jvm import JavaObject, java_array, java_class

_NAME = "skipstone.tests.PlainFiles"
_SOURCE = b"""
package skipstone.tests;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

public class PlainFiles extends RawLocalFileSystem {
  public void setPermission(Path path, FsPermission permission) throws IOException {
    String mode = permission.getUserAction().SYMBOL
        + permission.getGroupAction().SYMBOL + permission.getOtherAction().SYMBOL;
    Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(mode));
  }
}
"""


def without_processes(spark: SparkSession) -> None:
    """Hadoop's local files, with their checksums as always, whose permissions are set by a call."""
    gateway, jvm = spark.sparkContext._gateway, spark._jvm
    uri = java_class(jvm, "java.net.URI").create("file:///")
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    raw = _compiled(jvm).getConstructors()[0].newInstance(java_array(gateway))
    files = java_class(jvm, "org.apache.hadoop.fs.LocalFileSystem")(raw)
    files.initialize(uri, conf)
    named = java_class(jvm, "java.lang.Class").forName
    kinds = ("java.net.URI", "org.apache.hadoop.conf.Configuration", "org.apache.hadoop.fs.FileSystem")
    (found,) = (
        each
        for each in named("org.apache.hadoop.fs.FileSystem").getDeclaredMethods()
        if each.getName() == "addFileSystemForTesting" and len(each.getParameterTypes()) == len(kinds)
    )
    found.setAccessible(True)
    found.invoke(None, java_array(gateway, uri, conf, files))


def _compiled(jvm: JavaObject) -> JavaObject:
    sources = java_class(jvm, "org.codehaus.commons.compiler.util.resource.MapResourceFinder")()
    sources.addResource(f"{_NAME.replace('.', '/')}.java", _SOURCE)
    parent = java_class(jvm, "java.lang.Thread").currentThread().getContextClassLoader()
    return java_class(jvm, "org.codehaus.janino.JavaSourceClassLoader")(parent, sources, "UTF-8").loadClass(
        _NAME
    )
