"""What records say: means over the curve, ranks and leads with intervals over sets, and how honest stated errors are."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from askgraph.arena.contest import PER_CLASS
from askgraph.types import Array

DRAWS, LEVEL = 2000, 0.9  # of the intervals: sets are drawn anew, and seeds within each
Record = dict[str, Any]
AT = (2, 5, 10, 20)  # labels per class that tables show


class Interval(NamedTuple):
    """A figure, and the range that holds 90 % of those of sets and seeds drawn anew; None where there is one set alone."""

    value: float
    low: float | None
    high: float | None


class Row(NamedTuple):
    """What a table says of a method on a track."""

    name: str
    rank: Interval
    mean: Interval
    at: list[float | None]  # accuracy at some labels per class
    stated: float | None  # by how much the error that it states is off, on average, where it states one
    held: float | None  # how often its range holds the truth
    seconds: float
    megabytes: float
    failed: list[str]


class Table(NamedTuple):
    """What is said of one track: a row per method, the best first; its sets, and curves over labels per class."""

    track: str
    sets: list[str]
    seeds: int
    rows: list[Row]
    curves: dict[str, tuple[Array, Array]]
    rival: str | None  # of the other methods, the one with the highest mean over the curve
    lead: Interval | None  # of the best method's mean over that of the rival
    by_set: dict[str, dict[str, float]]


def over_the_curve(record: Record) -> float:
    """Return the mean accuracy over the curve: between the first and the last number of labels at which it was read.

    >>> over_the_curve({"labels": [2, 4], "accuracy": [0.5, 0.75]})
    0.625
    """
    x, y = np.array(record["labels"], float), np.array(record["accuracy"], float)
    return float(y[0]) if x.size == 1 else float(((y[1:] + y[:-1]) / 2 * np.diff(x)).sum() / (x[-1] - x[0]))


def tables(records: Iterable[Record]) -> list[Table]:
    """Return one table per track, in the order in which tracks come; of equal runs, the last one counts."""
    by_track: dict[str, list[Record]] = defaultdict(list)
    for record in _last(records):
        by_track[record["track"]].append(record)
    return [_table(track, some) for track, some in by_track.items()]


def summaries(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return one row per track, set and method: means over its seeds."""
    groups: dict[tuple[str, str, str], list[Record]] = defaultdict(list)
    for r in _last(records):
        groups[r["track"], r["set"], r["name"]].append(r)
    return [_summary(*names, some) for names, some in groups.items()]


def write_summaries(path: Path, records: Iterable[Record]) -> None:
    """Write the summaries of records as csv."""
    rows = summaries(records)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _summary(track: str, one: str, name: str, records: list[Record]) -> dict[str, Any]:
    done = [r for r in records if r["status"] == "done"]
    scores, (off, held) = [_score(r) for r in records], _honesty(done)
    return {
        "track": track, "set": one, "method": name, "runs": len(records), "failed": len(records) - len(done),
        "over the curve": round(float(np.mean(scores)), 4), "deviation of seeds": round(float(np.std(scores)), 4),
        **{f"at {k} a class": None if (x := _at(done, k)) is None else round(x, 4) for k in PER_CLASS},
        "error stated, off by": None if off is None else round(off, 4), "range holds": None if held is None else round(held, 3),
        "CPU seconds, median": round(float(np.median([r["seconds"] for r in records])), 2),
        "megabytes, most": round(max(r["megabytes"] for r in records)),
    }  # fmt: skip


def _last(records: Iterable[Record]) -> list[Record]:
    """Return the records without those that were run again later."""
    return list({(r["name"], r["track"], r["set"], r["seed"], r["checksum"]): r for r in records}.values())


def _table(track: str, records: list[Record]) -> Table:
    names = list(dict.fromkeys(r["name"] for r in records))
    pairs = {(r["name"], r["set"], r["seed"]): r for r in records}
    sets = [one for one in dict.fromkeys(r["set"] for r in records) if all(_seeds(pairs, n, one) for n in names)]
    shared = {one: sorted(set.intersection(*(set(_seeds(pairs, n, one)) for n in names))) for one in sets}
    sets = [one for one in sets if shared[one]]
    means = [
        np.array([[_score(pairs[name, one, seed]) for seed in shared[one]] for name in names]) for one in sets
    ]  # a set each: methods by seeds
    drawn, ranks = _redrawn(means), [_ranks(one.mean(axis=1)) for one in means]
    order = np.argsort(np.mean(ranks, axis=0), kind="stable").tolist() if sets else []
    by_name = {name: [pairs[name, one, seed] for one in sets for seed in shared[one]] for name in names}
    rows = [_row(names, at, means, ranks, drawn, by_name) for at in order]
    curves = {row.name: _curve([r for r in by_name[row.name] if r["status"] == "done"]) for row in rows}
    by_set = {
        one: {name: _plain(mean) for name, mean in zip(names, cell.mean(axis=1), strict=True)}
        for one, cell in zip(sets, means, strict=True)
    }
    rival, lead = _lead(names, order[0], means, drawn[1]) if len(order) > 1 else (None, None)
    return Table(track, sets, max(map(len, shared.values()), default=0), rows, curves, rival, lead, by_set)


def _lead(names: list[str], best: int, means: list[Array], drawn: Array) -> tuple[str, Interval]:
    """Return the method next to the best one by its mean over the curve, and by how much the best one is ahead of it."""
    overall = np.mean([one.mean(axis=1) for one in means], axis=0)
    rival = int(np.where(np.arange(len(names)) == best, -np.inf, overall).argmax())
    apart = drawn[:, best] - drawn[:, rival] if drawn.size else drawn
    return names[rival], _interval(float(overall[best] - overall[rival]), apart)


def _seeds(pairs: dict[Any, Record], name: str, one: str) -> list[int]:
    return [seed for method, of, seed in pairs if (method, of) == (name, one)]


def _score(record: Record) -> float:
    """Return the mean over the curve; a run that failed has none right."""
    return over_the_curve(record) if record["status"] == "done" else 0.0


def _ranks(means: Array) -> Array:
    """Return the rank of each method, 1 for the best; equal ones share the mean of theirs."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-means))


def _redrawn(means: list[Array]) -> tuple[Array, Array]:
    """Return mean ranks and mean accuracies, a row for each of DRAWS times that sets, and seeds within, are drawn anew."""
    rng, ranks, scores = np.random.default_rng(0), [], []
    for _ in range(DRAWS if len(means) > 1 else 0):
        some = []
        for k in rng.integers(0, len(means), len(means)):
            seeds = rng.integers(0, means[k].shape[1], means[k].shape[1])
            some.append(means[k][:, seeds].mean(axis=1))
        ranks.append(np.mean([_ranks(one) for one in some], axis=0))
        scores.append(np.mean(some, axis=0))
    return np.array(ranks), np.array(scores)


def _interval(value: float, drawn: Array) -> Interval:
    if not drawn.size:
        return Interval(value, None, None)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(value, float(low), float(high))


def _row(
    names: list[str],
    at: int,
    means: list[Array],
    ranks: list[Array],
    drawn: tuple[Array, Array],
    by_name: dict[str, list[Record]],
) -> Row:
    records = by_name[names[at]]
    overall = np.mean([one.mean(axis=1) for one in means], axis=0)
    redrawn = drawn[1][:, at] if drawn[1].size else drawn[1]
    done = [r for r in records if r["status"] == "done"]
    off, held = _honesty(done)
    return Row(
        names[at],
        _interval(float(np.mean(ranks, axis=0)[at]), drawn[0][:, at] if drawn[0].size else drawn[0]),
        _interval(float(overall[at]), redrawn),
        [_at(done, per_class) for per_class in AT],
        off,
        held,
        float(np.median([r["seconds"] for r in records])),
        max(r["megabytes"] for r in records),
        [f"{r['set']}, seed {r['seed']}: {r['reason']}" for r in records if r["status"] != "done"],
    )


def _at(records: Sequence[Record], per_class: int) -> float | None:
    """Return the mean accuracy at a number of labels per class, over the sets that have so many."""
    by_set: dict[str, list[float]] = defaultdict(list)
    for r in records:
        if (wanted := per_class * r["classes"]) in r["labels"]:
            by_set[r["set"]].append(r["accuracy"][r["labels"].index(wanted)])
    return _plain(np.mean([np.mean(some) for some in by_set.values()])) if by_set else None


def _honesty(records: Sequence[Record]) -> tuple[float | None, float | None]:
    """Return by how much stated errors are off, and how often the ranges hold the truth; None where none are stated."""
    pairs = [
        (stated, 1 - right)
        for r in records
        for stated, right in zip(r["stated"], r["accuracy"], strict=True)
        if stated is not None
    ]
    off = [abs(stated[0] - wrong) for stated, wrong in pairs]
    held = [stated[1] <= wrong <= stated[2] for stated, wrong in pairs if len(stated) == 3]
    return _plain(np.mean(off)) if off else None, _plain(np.mean(held)) if held else None


def _curve(records: Sequence[Record]) -> tuple[Array, Array]:
    """Return labels per class, and the mean accuracy there over the sets, each the mean over its seeds."""
    known = sorted({n / r["classes"] for r in records for n in r["labels"]})
    rows = []
    for one in dict.fromkeys(r["set"] for r in records):
        some = [r for r in records if r["set"] == one]
        per_class = np.array(some[0]["labels"]) / some[0]["classes"]
        rows.append(np.interp(known, per_class, np.mean([r["accuracy"] for r in some], axis=0)))
    return np.array(known), np.mean(rows, axis=0) if rows else np.array([])


def _plain(x: Any) -> float:
    return round(float(x), 6)
