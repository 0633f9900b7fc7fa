"""One page of results that needs nothing beside itself: for each track curves, a table one can sort, and claims with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np

from askgraph.arena.results import AT, Interval, Row, Table
from askgraph.arena.sets import TRACKS
from askgraph.types import Array

WIDE, HIGH, LEFT, RIGHT, TOP, BELOW = 860, 360, 52, 210, 14, 42  # of a picture and its margins
COLORS = (
    "#0b57a4",
    "#b3400e",
    "#12766a",
    "#8a3a8f",
    "#6b6400",
    "#a3214b",
    "#3f5f8a",
    "#555555",
)  # read on light ground
ON_DARK = ("#79b4f2", "#f29a6b", "#5fd0c0", "#d79adb", "#cfc46a", "#f08bab", "#9db9de", "#bbbbbb")
TICKS = (2, 3, 5, 7, 10, 14, 20)
APART, LONGEST = 15.0, 30  # pixels between the names at the ends of curves, and their characters
HERE = Path(__file__).parent


def page(tables: Sequence[Table]) -> str:
    """Return the page."""
    style = (HERE / "page.css").read_text("utf-8").replace("/* colors */", _palette())
    names = dict.fromkeys(row.name for table in tables for row in table.rows)
    place = {name: k for k, name in enumerate(names)}  # of its color, the same on every track
    parts = "".join(_section(table, place) for table in tables)
    contents = (
        " ".join(f'<a href="#{escape(t.track)}">{escape(t.track)}</a>' for t in tables) if len(tables) > 1 else ""
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>askgraph arena</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
        f"<style>{style}</style></head><body><main><h1>Which item to label next, and what are the others?</h1>"
        f"<p class=lead>Methods on the same graphs, with the same first label and the same budgets. {_rules()}</p>"
        f"<nav>{contents}</nav>{parts}</main><script>{(HERE / 'page.js').read_text('utf-8')}</script></body></html>\n"
    )


def _rules() -> str:
    return (
        "A range holds 90 % of the figures that come of drawing sets and seeds anew; with one set alone there is none. "
        "A run that failed has none right."
    )


def _palette() -> str:
    light = "".join(f"--c{k}:{color};" for k, color in enumerate(COLORS))
    dark = "".join(f"--c{k}:{color};" for k, color in enumerate(ON_DARK))
    return f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def _section(table: Table, place: Mapping[str, int]) -> str:
    about = TRACKS[table.track].about if table.track in TRACKS else table.track
    head = f'<section id="{escape(table.track)}"><h2>{escape(about.capitalize())}</h2>'
    if not table.rows:
        return f"{head}<p>No set that all methods were run on.</p></section>"
    sets = f"{len(table.sets)} {'set' if len(table.sets) == 1 else 'sets'}"
    judged = "the test nodes" if table.track == "split" else "nodes without a label"
    seeds = f"{table.seeds} {'seed' if table.seeds == 1 else 'seeds'}"
    return (
        f"{head}<p>{escape(_claim(table))}</p><figure>{_picture(table, place)}"
        f"<figcaption>Accuracy on {judged}, mean over {sets}, {seeds} each.</figcaption></figure>"
        f"{_results(table, place)}{_by_set(table)}{_failures(table)}</section>"
    )


def _claim(table: Table) -> str:
    """Return what the table says of the best method, with the range."""
    best, lead = table.rows[0], table.lead
    if lead is None:
        return f"{best.name} has {_percent(best.mean.value)} on average over the curve{_range(best.mean)}."
    if lead.low is None:
        return f"On the one set {best.name} is ahead of {table.rival} by {_points(lead.value)}."
    word = "ahead of" if lead.low > 0 else "not clearly ahead of"
    low, high = (f"{100 * (end or 0.0):.1f}" for end in (lead.low, lead.high))
    return f"{best.name} is {word} {table.rival}: by {_points(lead.value)} on average over the curve ({low} to {high})."


def _points(x: float) -> str:
    return f"{100 * x:.1f} points"


def _percent(x: float | None) -> str:
    return "–" if x is None else f"{100 * x:.1f} %"


def _range(one: Interval, percent: bool = True) -> str:
    if one.low is None or one.high is None:
        return ""
    return f" ({100 * one.low:.1f} to {100 * one.high:.1f})" if percent else f" ({one.low:.1f} to {one.high:.1f})"


def _results(table: Table, place: Mapping[str, int]) -> str:
    failed = any(row.failed for row in table.rows)
    heads = [
        ("method", ""), ("rank", "mean"), ("over the curve", "%"),
        *((f"{k} a class", "%") for k in AT),
        ("error stated", "off by, %"), ("range holds", "%"), ("CPU s", "median"), ("MB", "most"),
        *([("failed", "runs")] if failed else []),
    ]  # fmt: skip
    head = "".join(
        f"<th scope=col><button>{escape(name)}<small>{escape(unit)}</small></button></th>" for name, unit in heads
    )
    rows = "".join(_result(place[row.name], row, failed) for row in table.rows)
    return _sorted_table("Results", head, rows)


def _result(k: int, row: Row, failed: bool) -> str:
    cells = [
        (row.rank.value, f"{row.rank.value:.1f}<small>{_range(row.rank, percent=False)}</small>"),
        (row.mean.value, f"{100 * row.mean.value:.1f}<small>{_range(row.mean)}</small>"),
        *((x, "–" if x is None else f"{100 * x:.1f}") for x in row.at),
        (row.stated, "–" if row.stated is None else f"{100 * row.stated:.1f}"),
        (row.held, "–" if row.held is None else f"{100 * row.held:.0f}"),
        (row.seconds, f"{row.seconds:.1f}"),
        (row.megabytes, f"{row.megabytes:.0f}"),
        *([(len(row.failed), str(len(row.failed) or ""))] if failed else []),
    ]
    dot = f'<i style="background:var(--c{k % len(COLORS)})"></i>'
    name = f'<th scope=row data-value="{escape(row.name)}">{dot}{escape(row.name)}</th>'
    return f"<tr>{name}" + "".join(f'<td data-value="{_sortable(x)}">{shown}</td>' for x, shown in cells) + "</tr>"


def _sortable(x: float | None) -> str:
    return "" if x is None else repr(float(x))


def _by_set(table: Table) -> str:
    heads = "".join(f"<th scope=col><button>{escape(one)}</button></th>" for one in ["method", *table.sets])
    rows = ""
    for row in table.rows:
        scores = [table.by_set[one][row.name] for one in table.sets]
        cells = "".join(
            f'<td data-value="{_sortable(x)}">{"–" if x is None else f"{100 * x:.1f}"}</td>' for x in scores
        )
        rows += f'<tr><th scope=row data-value="{escape(row.name)}">{escape(row.name)}</th>{cells}</tr>'
    summary = "<summary>Each set: mean accuracy over the curve, %</summary>"
    return f"<details>{summary}{_sorted_table('Each set', heads, rows)}</details>"


def _sorted_table(name: str, head: str, rows: str) -> str:
    table = f"<table class=sorts><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class=scrolls tabindex=0 role=region aria-label="{name}">{table}</div>'


def _failures(table: Table) -> str:
    lines = [f"<li><b>{escape(row.name)}</b>, {escape(one)}</li>" for row in table.rows for one in row.failed]
    return (
        f"<details><summary>Runs that failed: {len(lines)}</summary><ul>{''.join(lines)}</ul></details>"
        if lines
        else ""
    )


def _picture(table: Table, place: Mapping[str, int]) -> str:
    """Return the curves as SVG: labels per class to the right, by their logarithm, accuracy up."""
    drawn = [
        (place[row.name], row.name, *table.curves[row.name]) for row in table.rows if table.curves[row.name][1].size
    ]
    if not drawn:
        return ""
    low = np.floor(10 * min(y.min() for *_, y in drawn)) / 10
    high = max(np.ceil(10 * max(y.max() for *_, y in drawn)) / 10, low + 0.1)
    first, last = min(x.min() for *_, x, _ in drawn), max(max(x.max() for *_, x, _ in drawn), 2.5)

    def across(x: Array) -> Array:
        return np.asarray(LEFT + (WIDE - LEFT - RIGHT) * np.log(x / first) / np.log(last / first))

    def up(y: Array) -> Array:
        return np.asarray(TOP + (HIGH - TOP - BELOW) * (high - y) / (high - low))

    grid = "".join(
        f'<line class=grid x1={LEFT} x2={WIDE - RIGHT} y1="{at:.1f}" y2="{at:.1f}"/>'
        f'<text class=tick x={LEFT - 8} y="{at + 4:.1f}" text-anchor=end>{100 * y:.0f} %</text>'
        for y in np.arange(low, high + 0.01, 0.1)
        for at in [float(up(np.array(y)))]
    )
    ticks = "".join(
        f'<text class=tick x="{float(across(np.array(x))):.1f}" y={HIGH - BELOW + 18} text-anchor=middle>{x}</text>'
        for x in TICKS
        if first <= x <= last
    )
    ends = _spread([float(up(y)[-1]) for *_, y in drawn])
    lines = "".join(
        f'<g class=curve style="--own:var(--c{k % len(COLORS)})"><title>{escape(name)}</title>'
        f'<polyline points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across(x), up(y), strict=True))}"{_dashes(k)}/>'
        f'<text x={WIDE - RIGHT + 8} y="{end + 4:.1f}">{escape(_short(name))}</text></g>'
        for (k, name, x, y), end in zip(drawn, ends, strict=True)
    )
    names = ", ".join(name for _, name, *_ in drawn)
    foot = f'<text class=tick x="{(LEFT + WIDE - RIGHT) / 2}" y={HIGH - 2} text-anchor=middle>labels per class</text>'
    label = f'role=img aria-label="Accuracy by labels per class: {escape(names)}"'
    return f'<svg viewBox="0 0 {WIDE} {HIGH}" {label}>{grid}{ticks}{foot}{lines}</svg>'


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _dashes(k: int) -> str:
    """Return how a line is broken: colors alone do not tell more than eight methods apart, nor any to some people."""
    pattern = ("", "7 3", "2 3", "9 3 2 3")[(k // 2 + k // len(COLORS)) % 4]
    return f' stroke-dasharray="{pattern}"' if pattern else ""


def _spread(ends: Sequence[float]) -> list[float]:
    """Return places at which names can be read that belong to these: at least APART from each other.

    >>> _spread([100.0, 102.0, 50.0])
    [100.0, 115.0, 50.0]
    """
    placed: dict[int, float] = {}
    last = -np.inf
    for k in sorted(range(len(ends)), key=ends.__getitem__):
        placed[k] = last = max(ends[k], last + APART)
    return [placed[k] for k in range(len(ends))]
