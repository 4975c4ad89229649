"""Print where Chromium is, for the tests and figures of the page; with --install, install Debian's first.

Where there is none and none can be installed it ends in one sentence, with a status of its own (3): "make
test" then says what was not run and goes on, for nothing can be done about it there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")
NONE_HERE = 3


def main(arguments: list[str]) -> int:
    """Find it, or say what is missing."""
    found, why = os.environ.get("CHROMIUM") or _found(), "it is not here"
    if found is None and "--install" in arguments:
        why = _install()
        found = _found()
    if found is None:
        print(
            f"The page is tested in Chromium, and {why}; install it (Debian's package chromium), or say "
            "where it is: CHROMIUM=/path/to/chromium.",
            file=sys.stderr,
        )
        return NONE_HERE
    print(found)
    return 0


def _install() -> str:
    """Install it where that is allowed; why it is not there then."""
    apt = shutil.which("apt-get")
    if apt is None:
        return "there is no apt-get to install it by"
    if os.geteuid() != 0:
        return "only root may install it"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", "chromium"]):
        subprocess.run([apt, *words], check=False, stdout=sys.stderr, env=environment)
    return "apt-get could not install it"


def _found() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
