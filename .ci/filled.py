"""Name what is empty in release.toml, which only the owners can fill in, and exit with 1 while anything is.

``make release`` ends with it.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

SETTINGS = Path(__file__).parents[1] / "release.toml"


def empty(settings: dict[str, object]) -> list[str]:
    """Return the names of the entries that say nothing."""
    return [name for name, value in settings.items() if not value]


if __name__ == "__main__":
    missing = empty(tomllib.loads(SETTINGS.read_text()))
    if missing:
        sys.exit(
            f"not to be published yet, release.toml lacks {', '.join(missing)}: docs/release.md says what they are"
        )
