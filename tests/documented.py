"""What the documentation tells users to run and to set, for the tests that do just that."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found, f"docs/{page} has no block of {language}"
    return found


def settings(page: str) -> dict[str, str]:
    """All settings that a page shows as ``spark-defaults.conf`` has them."""
    lines = "".join(blocks(page, "properties")).splitlines()
    return dict(line.split(maxsplit=1) for line in lines if line.strip())
