"""Local files without processes: Hadoop without its native library runs ``chmod``, ``readlink``, ``ls``."""

from __future__ import annotations

from pyspark.sql import SparkSession
from tests.java_classes import define

from skipstone.spark.bridge.jvm import java_array, java_class

# The files of FileSystem, then those of FileContext, through which Delta commits.
_SOURCE = """
package skipstone.tests;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ChecksumFs;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FsServerDefaults;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.local.LocalConfigKeys;
import org.apache.hadoop.fs.permission.FsPermission;

public class PlainFiles extends ChecksumFs {
  public PlainFiles(URI uri, Configuration conf) throws IOException, URISyntaxException {
    super(new Plain(uri, conf));
  }

  public static class Plain extends DelegateToFileSystem {
    public Plain(URI uri, Configuration conf) throws IOException, URISyntaxException {
      super(uri, new Raw(), conf, "file", false);
    }

    public int getUriDefaultPort() {
      return -1;
    }

    public FsServerDefaults getServerDefaults() throws IOException {
      return LocalConfigKeys.getServerDefaults();
    }

    public boolean isValidName(String source) {
      return true;
    }
  }

  public static class Raw extends RawLocalFileSystem {
    public void setPermission(Path path, FsPermission permission) throws IOException {
      String mode = permission.getUserAction().SYMBOL
          + permission.getGroupAction().SYMBOL + permission.getOtherAction().SYMBOL;
      Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(mode));
    }

    public FileStatus getFileStatus(Path path) throws IOException {
      File file = pathToFile(path);
      if (!file.exists()) {
        return super.getFileStatus(path);
      }
      return new FileStatus(file.length(), file.isDirectory(), 1, getDefaultBlockSize(path),
          file.lastModified(), 0L, null, "", "", path.makeQualified(getUri(), getWorkingDirectory()));
    }

    public FileStatus getFileLinkStatus(Path path) throws IOException {
      return Files.isSymbolicLink(pathToFile(path).toPath())
          ? super.getFileLinkStatus(path) : getFileStatus(path);
    }
  }
}
"""


def without_processes(spark: SparkSession) -> None:
    """Hadoop's local files, with their checksums as always, whose permissions are set by a call."""
    gateway, jvm = spark.sparkContext._gateway, spark._jvm
    uri = java_class(jvm, "java.net.URI").create("file:///")
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    named = java_class(jvm, "java.lang.Class").forName
    define(spark, "org.apache.hadoop.fs.FileSystem", _SOURCE)
    raw = java_class(jvm, "skipstone.tests.PlainFiles$Raw")()
    files = java_class(jvm, "org.apache.hadoop.fs.LocalFileSystem")(raw)
    files.initialize(uri, conf)
    kinds = ("java.net.URI", "org.apache.hadoop.conf.Configuration", "org.apache.hadoop.fs.FileSystem")
    (found,) = (
        each
        for each in named("org.apache.hadoop.fs.FileSystem").getDeclaredMethods()
        if each.getName() == "addFileSystemForTesting" and len(each.getParameterTypes()) == len(kinds)
    )
    found.setAccessible(True)
    found.invoke(None, java_array(gateway, uri, conf, files))
    conf.set("fs.AbstractFileSystem.file.impl", "skipstone.tests.PlainFiles")
