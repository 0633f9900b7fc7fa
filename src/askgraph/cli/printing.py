"""How commands print values: as JSON for programs, as tables for people."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from askgraph.errors import CONTROLS, without_controls


def print_json(value: Any) -> None:
    """Print a value as JSON, with control characters written out."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    print(CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Print rows as a table, their cells as text."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    names = list(dict.fromkeys(name for row in rows for name in row))
    table = Table()
    for name in names:
        table.add_column(Text(without_controls(name)))  # Text, because data may look like rich's markup
    for row in rows:
        table.add_row(*(Text("" if row.get(name) is None else without_controls(str(row[name]))) for name in names))
    wide = None if sys.stdout.isatty() else int(os.environ.get("COLUMNS", "160"))
    Console(width=wide).print(table)
