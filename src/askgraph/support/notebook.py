"""What notebooks show: cards in HTML, and methods that draw, which are found when they are called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from askgraph.errors import MissingExtraError

BOX = "display:inline-block;border:1px solid rgba(128,128,128,.45);border-radius:6px;padding:.6em .9em;line-height:1.5"
TITLE, CELL = (
    "font-weight:600;margin-bottom:.2em",
    "text-align:left;padding:0 1em 0 0;border:0;background:none;vertical-align:top",
)


def card(title: str, rows: Mapping[str, object]) -> str:
    """Return a card of a title and named values as HTML, which takes the colors of the page that it is on.

    >>> "A &lt;graph&gt;" in card("A <graph>", {"nodes": 3})
    True
    """
    cells = (
        f'<tr><td style="{CELL};opacity:.7">{escape(name)}</td><td style="{CELL}">{escape(str(value))}</td></tr>'
        for name, value in rows.items()
    )
    body = f'<table style="border:0;margin:0"><tbody>{"".join(cells)}</tbody></table>'
    return f'<div class="askgraph-card" style="{BOX}"><div style="{TITLE}">{escape(title)}</div>{body}</div>'


def tally(names: Iterable[object], counts: Mapping[Any, int]) -> str:
    """Return names with their counts, the first ten of them.

    >>> tally(["ham", "spam"], {"ham": 130, "spam": 110}), tally([], {})
    ('ham (130), spam (110)', 'none yet')
    """
    every = [f"{name} ({counts[name]})" for name in names]
    return ", ".join(every[:10] + [f"… ({len(every)} in all)"] * (len(every) > 10)) or "none yet"


_plots: list[Callable[[], Any]] = []


def find_plots(find: Callable[[], Any]) -> None:
    """Take a function that returns the module with all drawings: it stands above the classes whose methods call ``drawn``."""
    _plots[:] = [find]


def drawn(function: str, *args: Any, **options: Any) -> Any:
    """Draw with a function of the module with all drawings, by its name."""
    return getattr(_plots[0](), function)(*args, **options)


def pyplot() -> Any:
    """Return matplotlib's pyplot; raise an error that names the extra where it is not installed."""
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        raise MissingExtraError('drawing needs matplotlib: pip install "askgraph[plot]"') from None
    return plt
