"""The study of the whole paper: measure what a folder lacks, judge the claims, draw the figures, write the report."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from askgraph.errors import FileError, SettingError
from askgraph.paper import texts, timing
from askgraph.paper.claim import Judged
from askgraph.paper.claims import CLAIMS
from askgraph.paper.document import Block, Bullets, Contents, Heading, Paragraph, as_html, as_markdown
from askgraph.paper.draw import Times, draw_adjacency, draw_figure, draw_grid, draw_mixing, draw_runtimes
from askgraph.paper.evidence import Evidence
from askgraph.paper.plan import FIGURES, RUNTIMES, SAMPLERS, Experiment, Tuned, experiments, tuned
from askgraph.paper.problems import BINARY, NETWORKS, SMALLEST_NETWORK, TABLES, Source
from askgraph.paper.report import (
    PICTURES,
    TUNING_SAMPLERS,
    claims_part,
    figures_part,
    growth_part,
    picture,
    tables_part,
)
from askgraph.paper.run import HOW_TO_COMPLETE, Results, fill, read
from askgraph.paper.symmetry import key, symmetry
from askgraph.paper.tune import tune
from askgraph.simulate.records import Lines
from askgraph.simulate.runs import Record, machine
from askgraph.support.progress import bar

MIN_RUNS = 10  # runs per curve: with fewer, nothing is judged
STAGES = 4  # of a study: runs, exchanged names, costs, drawing
NAMES = "names"  # file of the records on exchanged names
GENERATED: dict[int, Callable[[Path], None]] = {1: draw_grid, 2: draw_adjacency}
FIGURE_NUMBERS = (*GENERATED, *FIGURES, RUNTIMES)
TABLE_NUMBERS = (1, 2)
EXTRA = {
    1: "The grid of the first run. The labels along the borders are drawn at random again in every run.",
    2: "One graph, drawn by the generator `communities` with mixing 0.1 and mean degree 10: see the assumptions.",
    RUNTIMES: texts.OF_RUNTIMES,
}


@dataclass(frozen=True)
class Study:
    """The parts of the paper to redo, and the folder of their records and report."""

    folder: Path
    data: Path | None = None
    figures: Sequence[int] = FIGURE_NUMBERS
    claims: Sequence[int] = tuple(CLAIMS)
    tables: Sequence[int] = TABLE_NUMBERS
    repeats: int = 0  # runs per curve; 0 means those of the plan
    quick: bool = False
    centered: bool = False
    workers: int = 1

    @property
    def judges(self) -> bool:
        """Whether there are enough runs to judge claims by."""
        return not self.quick and not 0 < self.repeats < MIN_RUNS

    def tuned(self, afresh: bool = False) -> Tuned:
        """Return the tuned settings of the graphs: those of this folder, or the shipped ones.

        With ``afresh``, tune them first.
        """
        if afresh:
            found = tune(self.folder, self.data, self.workers, self.centered)
            path = self.folder / "tuned.json"
            path.write_text(json.dumps({**_read_tuned(self.folder), self._weights: found}, indent=1) + "\n")
        return _read_tuned(self.folder).get(self._weights) or tuned(self.centered)

    @property
    def _weights(self) -> str:
        return "pearson" if self.centered else "cosine"

    def measure(self, settings: Tuned) -> Evidence:
        """Measure what the folder lacks, then read all records."""
        wanted = self._wanted(settings)
        results = fill(self.folder, wanted, self.data, self.workers, words=_stage(1, "runs"))
        self._measure_symmetry(results)
        self._measure_costs()
        return self._evidence(results)

    def read(self, settings: Tuned) -> Evidence:
        """Read the records of the folder; measure nothing."""
        return self._evidence(read(self.folder, self._wanted(settings)))

    def _evidence(self, results: Results) -> Evidence:
        runtimes, growth = (
            self._read_records("costs", [x.key for x in self._points(kind)]) for kind in ("runtime", "growth")
        )
        return Evidence(results, runtimes, self._read_records(NAMES, list(self._codings(results))), growth)

    def write(self, evidence: Evidence) -> tuple[list[Judged], list[Path]]:
        """Judge the claims, draw the figures and write the report; return the claims with their checks, and the two pages."""
        judged = [CLAIMS[number].judge(evidence) for number in self.claims]
        self._draw(evidence)
        blocks = self._blocks(evidence, judged)
        whole = self._parts == (FIGURE_NUMBERS, tuple(CLAIMS), TABLE_NUMBERS)
        name = "report" if whole else "parts"
        pages = {f"{name}.md": as_markdown(blocks), f"{name}.html": as_html(blocks, self.folder)}
        for file, text in pages.items():
            (self.folder / file).write_text(text)
        return judged, [self.folder / file for file in pages]

    @property
    def _parts(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(part) for part in (self.figures, self.claims, self.tables))

    def _wanted(self, settings: Tuned) -> list[Experiment]:
        """Return the experiments that the wanted parts read, each with only the samplers that they read."""
        every = experiments(settings, self.centered, self.repeats, self.quick)
        samplers: dict[str, set[str]] = {}
        for name, some in self._reads():
            samplers.setdefault(name, set()).update(some)
        return [
            replace(every[name], samplers=tuple(x for x in every[name].samplers if x in some))
            for name, some in samplers.items()
        ]

    def _reads(self) -> Iterator[tuple[str, Sequence[str]]]:
        for number in self.figures:
            yield from ((name, SAMPLERS) for name in (FIGURES[number].experiments if number in FIGURES else ()))
        for number in self.claims:
            yield from ((name, CLAIMS[number].only) for name in CLAIMS[number].reads)
        for name in TABLES if 2 in self.tables else ():
            yield from ((one, TUNING_SAMPLERS) for one in (name, f"{name} untuned"))

    def _needs(self, what: str) -> bool:
        return any(CLAIMS[number].needs == what for number in self.claims)

    def _codings(self, results: Results) -> dict[str, tuple[Experiment, int]]:
        """Return (experiment, seed) of the records on both codings that are wanted, by key."""
        wanted = [x for name, x in results.experiments.items() if name in BINARY and self._needs("symmetry")]
        return {
            key(x, seed, results.facts[str(x.source_of(seed))]["name"]): (x, seed) for x in wanted for seed in x.seeds
        }

    def _measure_symmetry(self, results: Results) -> None:
        lines = self._lines(NAMES)
        done = {x["key"] for x in lines.read()}
        todo = {name: at for name, at in self._codings(results).items() if name not in done}
        with lines.appending() as append, bar(len(todo), _stage(2, "exchanged names")) as tick:
            for name, (experiment, seed) in todo.items():
                append({"key": name, **symmetry(experiment, seed, experiment.source_of(seed).problem(self.data))})
                tick()

    def _measure_costs(self) -> None:
        """Measure the costs that are missing; seconds measured on another machine do not count, and stay in the file."""
        lines = self._lines("costs")
        done = {x["key"] for x in lines.read() if x["machine"] == machine()}
        todo = [x for kind in ("runtime", "growth") for x in self._points(kind) if x.key not in done]
        names = {x.data for x in todo} & set(NETWORKS)
        problems = {name: Source(name, largest=True).problem(self.data) for name in names}
        with lines.appending() as append, bar(len(todo), _stage(3, "costs")) as tick:
            for point in todo:
                append(timing.measure(point, problems.get(point.data)))
                tick()

    def _points(self, kind: str) -> list[timing.Point]:
        if kind == "growth":
            return timing.growth_points(self.quick) if 1 in self.tables or self._needs("growth") else []
        wanted = RUNTIMES in self.figures or self._needs("runtimes")
        networks = SMALLEST_NETWORK if self.quick else NETWORKS
        return timing.runtime_points(networks, self.quick) if wanted else []

    def _read_records(self, name: str, keys: Sequence[str]) -> list[Record]:
        """Return the last record of each key."""
        found = {x["key"]: x for x in self._lines(name).read()}
        missing = [one for one in keys if one not in found]
        if missing:
            raise FileError(
                f"{self.folder}: {len(missing)} of {len(keys)} records are missing from {name}.jsonl; {HOW_TO_COMPLETE}"
            )
        return [found[one] for one in keys]

    def _lines(self, name: str) -> Lines:
        return Lines(self.folder / f"{name}.jsonl")

    def _draw(self, evidence: Evidence) -> None:
        if 5 in self.claims:
            draw_mixing(evidence.results, self.folder / next(iter(PICTURES[5])))
        with bar(len(self.figures), _stage(4, "drawing")) as tick:
            for number in self.figures:
                path = self.folder / picture(number)
                if number in FIGURES:
                    draw_figure(FIGURES[number], evidence.results, path)
                elif number == RUNTIMES:
                    draw_runtimes(_times(evidence.runtimes, "ours"), _times(evidence.runtimes, "paper"), path)
                else:
                    GENERATED[number](path)
                tick()

    def _blocks(self, evidence: Evidence, judged: Sequence[Judged]) -> list[Block]:
        blocks: list[Block] = [Heading(1, "The paper, redrawn"), Paragraph(texts.INTRO)]
        blocks += [Paragraph(texts.HURRIED)] if self.quick else []
        blocks += [Contents(), Heading(2, "Words"), Paragraph(texts.GLOSSARY)]
        blocks += claims_part(judged, self.figures, self.judges) if judged else []
        numbers = [number for number in self.figures if number in FIGURES]
        extra = {number: EXTRA[number] for number in self.figures if number in EXTRA}
        claims = [one.claim for one in judged]
        blocks += figures_part(evidence.results, numbers, extra, claims) if self.figures else []
        blocks += _warned(evidence)
        blocks += growth_part(evidence.growth) if 1 in self.tables else []
        blocks += tables_part(evidence.results) if 2 in self.tables else []
        blocks += [Heading(2, "Settings"), *map(Paragraph, self._settings())]
        blocks += [Heading(2, "Assumptions"), Paragraph(texts.OF_ASSUMPTIONS), Bullets(texts.ASSUMPTIONS)]
        blocks += [Heading(2, "Slips of the paper"), Bullets(texts.SLIPS)]
        return [*blocks, Heading(2, "Made with"), Paragraph(_made_with(evidence))]

    def _settings(self) -> list[str]:
        own = self._weights in _read_tuned(self.folder)
        weights = texts.PEARSON if self.centered else texts.CORRELATION
        values = "tuned in this folder" if own else "those shipped with askgraph"
        graphs = f"Similarity graphs: features scaled to [−1, 1]; weights: {weights}; thresholds and deltas: {values}."
        return [graphs, texts.TUNING]


def choose_parts(
    figures: Sequence[int] | None, claims: Sequence[int] | None, tables: Sequence[int] | None
) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """Return the wanted figures, claims and tables; all of them if none is named."""
    kinds = {"figure": (figures, FIGURE_NUMBERS), "claim": (claims, tuple(CLAIMS)), "table": (tables, TABLE_NUMBERS)}
    for kind, (wanted, known) in kinds.items():
        unknown = set(wanted or ()) - set(known)
        if unknown:
            raise SettingError(f"no {kind} {min(unknown)}: choose from {known[0]} to {known[-1]}")
    if not (figures or claims or tables):
        return FIGURE_NUMBERS, tuple(CLAIMS), TABLE_NUMBERS
    return figures or (), claims or (), tables or ()


def _read_tuned(folder: Path) -> dict[str, Tuned]:
    path = folder / "tuned.json"
    return json.loads(path.read_text()) if path.exists() else {}


def _times(records: Sequence[Record], how: str) -> Times:
    return {(x["data"], x["sampler"]): np.add(x["asks"], x["tells"]) for x in records if x["how"] == how}


def _stage(number: int, words: str) -> str:
    return f"stage {number} of {STAGES}: {words}"


def _warned(evidence: Evidence) -> list[Block]:
    """Return a warning where other processes ran beside measurements of time."""
    records = [*evidence.runtimes, *evidence.growth]
    # the median: a load average still holds the minute before, when this command ran its own workers
    load = float(np.median([x.get("load", 0.0) for x in records])) if records else 0.0
    cores = os.cpu_count() or 1
    return [Paragraph(texts.BUSY.format(load=load, cores=cores))] if load > timing.BUSY * cores else []


def _made_with(evidence: Evidence) -> str:
    records = [*evidence.results.records.values(), *evidence.runtimes, *evidence.growth]
    made = {", ".join(f"{name} {number}" for name, number in x["versions"].items()) for x in records}
    machines = {x["machine"] for x in records if "machine" in x}
    return "; ".join(sorted(made)) + "." + "".join(f" Seconds were measured on {words}." for words in sorted(machines))
