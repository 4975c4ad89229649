"""Check the Java sources that the driver compiles: warnings of javac, and their format.

At run time Janino compiles them, and warns of nothing. Here javac compiles them, with all warnings but those
about type arguments, which Janino does not know. google-java-format checks how they are laid out, or, with
``--format``, lays them out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home

from skipstone.errors import SkipstoneError
from skipstone.spark.jars import Jar, JarSet, delta_jars, fetched_jars, home_directory

SOURCES = Path(__file__).resolve().parents[1] / "src/skipstone/spark/bridge/java"
STUBS = Path(__file__).resolve().parent / "javac_stubs"
JAVA = "17"
LINT = ["-Xlint:all,-rawtypes,-unchecked", "-Werror", "-Xmaxwarns", "1000", "-Xmaxerrs", "1000"]
# Their manifests name jars that are not there, and javac warns of that.
NOT_COMPILED_AGAINST = ("derby", "scala-compiler", "scala-reflect")

# The last version that runs on Java 17.
FORMATTER = Jar(
    "com.google.googlejavaformat",
    "google-java-format",
    "1.28.0",
    "41dfe4d1012794ed15e0ffd70f89fd4fa65d5f15ce0bc0c70f8c2c127d6d010d",
)
# What it needs besides comes with Spark.
FORMATTER_NEEDS = ("guava-*.jar", "failureaccess-*.jar")
COMPILER_PARTS = ("api", "code", "file", "parser", "tree", "util")


def main(arguments: list[str]) -> int:
    """Check, or format; what is wrong goes to standard error, and the exit code is not 0 then."""
    try:
        if arguments == ["--format"]:
            return run_formatter("--replace")
        return compile_all() or check_format()
    except SkipstoneError as error:
        print(error, file=sys.stderr)
        return 1


def compile_all() -> int:
    """Compile all sources into a directory that is thrown away."""
    jars = [jar for jar in spark_jars("*.jar") if not jar.name.startswith(NOT_COMPILED_AGAINST)]
    class_path = [*jars, *delta_jars(report=tell)]
    with tempfile.TemporaryDirectory(prefix="skipstone-javac-") as scratch:
        stubs, classes = Path(scratch, "stubs"), Path(scratch, "classes")
        return run_javac(STUBS, stubs, class_path, ["-nowarn"]) or run_javac(
            SOURCES, classes, [stubs, *class_path], LINT
        )


def run_javac(folder: Path, classes: Path, class_path: list[Path], options: list[str]) -> int:
    """Compile the sources of one folder."""
    command = [str(find_javac()), "--release", JAVA, *options, "-d", str(classes)]
    command += ["-cp", os.pathsep.join(map(str, class_path)), *sources(folder)]
    return subprocess.run(command, check=False).returncode


def check_format() -> int:
    """Name the sources that the formatter would change."""
    code = run_formatter("--dry-run", "--set-exit-if-changed")
    if code:
        print("These Java sources are not formatted; run make format.", file=sys.stderr)
    return code


def run_formatter(*options: str) -> int:
    """Run google-java-format on all sources, in the style that indents by four."""
    folder = home_directory() / "jars" / f"{FORMATTER.artifact}-{FORMATTER.version}"
    jars = fetched_jars(JarSet(FORMATTER.artifact, (FORMATTER,)), folder, report=tell)
    jars += [jar for name in FORMATTER_NEEDS for jar in spark_jars(name)]
    # It uses javac's own parser, which the JDK does not export.
    exports = [
        f"--add-exports=jdk.compiler/com.sun.tools.javac.{part}=ALL-UNNAMED" for part in COMPILER_PARTS
    ]
    java = find_javac().resolve().with_name("java")
    command = [str(java), *exports, "-cp", os.pathsep.join(map(str, jars))]
    command += ["com.google.googlejavaformat.java.Main", "--aosp", *options]
    return subprocess.run([*command, *sources(SOURCES, STUBS)], check=False).returncode


def find_javac() -> Path:
    """The compiler of the Java that Spark uses: that of JAVA_HOME, else that of the PATH."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("javac", path=str(Path(home, "bin")) if home else None)
    if found is None:
        where = f"JAVA_HOME is {home}, which has no bin/javac" if home else "there is no javac on the PATH"
        raise SkipstoneError(
            f"Checking the Java sources needs a JDK {JAVA} or newer, and {where}; install one "
            f"(for example the package openjdk-{JAVA}-jdk-headless); only make lint and make format need it."
        )
    return Path(found)


def spark_jars(name: str) -> list[Path]:
    """Jars that come with Spark."""
    return sorted(Path(_find_spark_home(), "jars").glob(name))


def sources(*folders: Path) -> list[str]:
    """The Java sources of some folders."""
    return sorted(str(path) for folder in folders for path in folder.glob("*.java"))


def tell(line: str) -> None:
    """Show progress."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
