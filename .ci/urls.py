"""The links of the package on a registry page, made of the one address in release.toml when the package is built."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Links(MetadataHookInterface):
    """Add ``[project.urls]``; none while the address is not filled in."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Write the links into the metadata."""
        home = tomllib.loads((Path(self.root) / "release.toml").read_text())["repository"].rstrip("/")
        pages = {"Source": "", "Issues": "/issues", "Changelog": "/blob/main/CHANGELOG.md"}
        metadata["urls"] = {name: home + path for name, path in pages.items()} if home else {}
