"""Print where Chromium is, for the tests and figures of the page; with --install, install Debian's first.

It ends in one sentence where there is none and none may be installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")


def main(arguments: list[str]) -> int:
    """Find it, or say what is missing."""
    found = os.environ.get("CHROMIUM") or _found()
    apt = shutil.which("apt-get")
    if found is None and "--install" in arguments and os.geteuid() == 0 and apt is not None:
        subprocess.run([apt, "update", "-qq"], check=False, stdout=sys.stderr)
        install = [apt, "install", "-y", "-qq", "--no-install-recommends", "chromium"]
        subprocess.run(install, check=False, stdout=sys.stderr)
        found = _found()
    if found is None:
        print(
            "The page is tested in Chromium, which is not here; install it (Debian's package chromium), "
            "or say where it is: CHROMIUM=/path/to/chromium.",
            file=sys.stderr,
        )
        return 1
    print(found)
    return 0


def _found() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
