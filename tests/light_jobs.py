"""What Spark does for each job, however small, that no test is about; for those that run thousands of jobs.

- Before a job, Spark reads the bytecode of each closure, for mistakes that only closures of a Scala shell
  have, and serialises it once more than it needs to, to fail early. What cannot be serialised still fails
  when the job's tasks are sent. On a cluster and in processes that tests start, Spark is as it comes.
- PySpark asks for some classes without their package, which Java then looks for in every jar, time and again.
- It finds out from the stack which line asked for it, to show that to people.
- With every scan goes Hadoop's configuration, a gzip stream for each of a thousand settings of systems that
  are not there, to say which file it came from.
"""

from __future__ import annotations

from py4j.java_gateway import java_import
from pyspark.sql import SparkSession
from tests.java_classes import define

from skipstone.spark.bridge.jvm import java_class

_CLEANER = """
package org.apache.spark.util;

public final class SparkClosureCleaner$ {
  public static final SparkClosureCleaner$ MODULE$ = new SparkClosureCleaner$();

  public Object clean(Object closure, boolean checkSerializable, boolean cleanTransitively) {
    return closure;
  }

  public boolean clean$default$2() {
    return true;
  }

  public boolean clean$default$3() {
    return true;
  }
}
"""
_ELSEWHERE = ("dfs.", "fs.s3a.", "fs.azure.", "mapreduce.job", "mapreduce.shuffle.", "yarn.", "ipc.", "ha.")


def with_light_jobs(spark: SparkSession) -> None:
    """Do without all that; before the first job."""
    define(spark, "org.apache.spark.util.ClosureCleaner$", _CLEANER)
    for name in ("PythonUtils", "PythonErrorUtils"):
        java_import(spark._jvm, f"org.apache.spark.api.python.{name}")
    java_import(spark._jvm, "org.apache.spark.sql.api.python.PythonSQLUtils")
    spark.sparkContext._jsc.setCallSite("tests")
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    for prefix in _ELSEWHERE:
        for name in conf.getPropsWithPrefix(prefix).keySet().toString()[1:-1].split(", "):
            conf.unset(prefix + name)
    assert spark._jvm is not None
    kind = java_class(spark._jvm, "java.lang.Class").forName("org.apache.hadoop.conf.Configuration")
    sources = kind.getDeclaredField("updatingResource")
    sources.setAccessible(True)
    sources.get(conf).clear()
