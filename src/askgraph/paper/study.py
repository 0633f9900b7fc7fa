"""The whole of it: measure what is missing in a folder, judge, draw, write the report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from askgraph.errors import SettingError
from askgraph.paper import costs
from askgraph.paper.claims import CLAIMS
from askgraph.paper.draw import Times, draw_adjacency, draw_figure, draw_grid, draw_runtimes
from askgraph.paper.evidence import Evidence
from askgraph.paper.page import Block, Heading, Paragraph, as_html, as_markdown
from askgraph.paper.plan import FIGURES, RUNTIMES, Experiment, Tuned, experiments, tuned
from askgraph.paper.problems import BINARY, CONNECTED, NETWORKS, TABLES, Source
from askgraph.paper.report import claims_part, figures_part, growth_part, picture, tables_part
from askgraph.paper.run import fill, read
from askgraph.paper.symmetry import symmetry
from askgraph.paper.tune import tune
from askgraph.progress import bar
from askgraph.records import Lines
from askgraph.simulate import Record

GENERATED: dict[int, Callable[[Path], None]] = {1: draw_grid, 2: draw_adjacency}
FIGURE_NUMBERS = (*GENERATED, *FIGURES, RUNTIMES)
TABLE_NUMBERS = (1, 2)
EXTRA = {
    1: "The grid of the first run. The coins along the dividing lines are tossed anew in every run.",
    2: "The graph is drawn once, by the generator `communities` with mixing 0.1 and mean degree 10.",
    RUNTIMES: "Seconds of a question and its update relative to tv's, alone on the machine, after 10 labels, without doubt.",
}


@dataclass(frozen=True)
class Study:
    """Which parts of the paper to redo, and where."""

    folder: Path
    data: Path | None = None
    figures: Sequence[int] = FIGURE_NUMBERS
    claims: Sequence[int] = tuple(CLAIMS)
    tables: Sequence[int] = TABLE_NUMBERS
    repeats: int = 0  # 0 means as many runs as the plan says
    quick: bool = False
    centered: bool = False
    workers: int = 1

    def tuned(self, afresh: bool = False) -> Tuned:
        """The shipped settings of the similarity graphs, or those that a folder's own tuning found."""
        path = self.folder / "tuned.json"
        kind = "pearson" if self.centered else "cosine"
        if afresh:
            found = tune(self.folder, self.data, self.workers, self.centered)
            path.write_text(json.dumps({**_stored(path), kind: found}, indent=1) + "\n")
        return _stored(path).get(kind) or tuned(self.centered)

    def measure(self, settings: Tuned) -> Evidence:
        """Make what the folder lacks, then read it."""
        wanted = self._wanted(settings)
        results = fill(self.folder, wanted, self.data, self.workers)
        if 16 in self.claims:
            self._measure_symmetry([x for x in wanted if x.name in BINARY])
        self._measure_costs()
        return Evidence(results, self._costs("runtime"), self._lines("symmetry").read(), self._costs("growth"))

    def read(self, settings: Tuned) -> Evidence:
        """What the folder holds; nothing is measured."""
        results = read(self.folder, self._wanted(settings))
        return Evidence(results, self._costs("runtime"), self._lines("symmetry").read(), self._costs("growth"))

    def write(self, evidence: Evidence) -> list[Path]:
        """Draw the figures and write the report; returns its two pages."""
        self._draw(evidence)
        blocks = self._blocks(evidence)
        pages = {"report.md": as_markdown(blocks), "report.html": as_html(blocks, self.folder)}
        for name, text in pages.items():
            (self.folder / name).write_text(text)
        return [self.folder / name for name in pages]

    def verdicts(self, evidence: Evidence) -> list[tuple[int, str, str]]:
        """Each claim: its number, what it says, and whether it holds."""
        claims = [CLAIMS[number] for number in self.claims]
        return [(claim.number, claim.text, claim.verdict(claim.checks(evidence))) for claim in claims]

    def _wanted(self, settings: Tuned) -> list[Experiment]:
        every = experiments(settings, self.centered, self.repeats, self.quick)
        names = [name for number in self.figures if number in FIGURES for name in FIGURES[number].rows.values()]
        names += [name for number in self.claims for name in CLAIMS[number].reads]
        names += [name for name in TABLES if 2 in self.tables]
        return [every[name] for name in dict.fromkeys(names)]

    def _measure_symmetry(self, wanted: Iterable[Experiment]) -> None:
        lines = self._lines("symmetry")
        done = {(x["experiment"], x["seed"], x["budget"], x["delta"]) for x in lines.read()}
        todo = [(x, seed) for x in wanted for seed in x.seeds if (x.name, seed, x.budget, x.delta) not in done]
        with lines.appending() as append, bar(len(todo), "both codings") as tick:
            for experiment, seed in todo:
                append(symmetry(experiment, seed, experiment.source_of(seed).problem(self.data)))
                tick()

    def _measure_costs(self) -> None:
        lines = self._lines("costs")
        done = {x["key"] for x in lines.read()}
        todo = [point for point in self._points() if point.key not in done]
        problems = {
            name: Source(name, largest=name in CONNECTED).problem(self.data)
            for name in {x.data for x in todo} & set(NETWORKS)
        }
        with lines.appending() as append, bar(len(todo), "costs") as tick:
            for point in todo:
                append(costs.measure(point, problems.get(point.data)))
                tick()

    def _points(self) -> list[costs.Point]:
        wanted = 11 in self.claims or RUNTIMES in self.figures
        runtimes = costs.runtime_points(NETWORKS, self.quick) if wanted else []
        return runtimes + (costs.growth_points(self.quick) if 1 in self.tables else [])

    def _costs(self, kind: str) -> list[Record]:
        keys = {point.key for point in self._points() if point.kind == kind}
        return [x for x in self._lines("costs").read() if x["key"] in keys]

    def _lines(self, name: str) -> Lines:
        return Lines(self.folder / f"{name}.jsonl")

    def _draw(self, evidence: Evidence) -> None:
        with bar(len(self.figures), "drawing") as tick:
            for number in self.figures:
                path = self.folder / picture(number)
                if number in FIGURES:
                    draw_figure(FIGURES[number], evidence.results, path)
                elif number == RUNTIMES:
                    draw_runtimes(_times(evidence.runtimes, "ours"), _times(evidence.runtimes, "paper"), path)
                else:
                    GENERATED[number](path)
                tick()

    def _blocks(self, evidence: Evidence) -> list[Block]:
        blocks: list[Block] = [Heading(1, "The paper, redrawn"), Paragraph(INTRO)]
        blocks += [Paragraph(HURRIED)] if self.quick else []
        blocks += claims_part(evidence, self.claims) if self.claims else []
        numbers = [number for number in self.figures if number in FIGURES]
        extra = {number: EXTRA[number] for number in self.figures if number in EXTRA}
        blocks += figures_part(evidence.results, numbers, extra) if self.figures else []
        blocks += growth_part(evidence.growth) if evidence.growth else []
        blocks += tables_part(evidence.results) if 2 in self.tables else []
        return [*blocks, Heading(2, "Made with"), Paragraph(_made_with(evidence))]


INTRO = """
The numerical tests of Berberidis and Giannakis, "Data-adaptive Active Sampling for Efficient Graph-Cognizant Classification" (IEEE
Transactions on Signal Processing, 2018), made again with askgraph on the same data, and each of their claims with a verdict. All
classes are declared to the learner beforehand; the first question of a run is random; the formulas are the printed ones.
"""
HURRIED = """
**This is a quick run**: two runs of few labels each, to see that all parts work. Its verdicts mean nothing.
"""


def chosen(
    figures: Sequence[int] | None, claims: Sequence[int] | None, tables: Sequence[int] | None
) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """The parts that were asked for: all of them when none was."""
    kinds = {"figure": (figures, FIGURE_NUMBERS), "claim": (claims, tuple(CLAIMS)), "table": (tables, TABLE_NUMBERS)}
    for kind, (wanted, known) in kinds.items():
        unknown = set(wanted or ()) - set(known)
        if unknown:
            raise SettingError(f"no {kind} {min(unknown)}: choose from {known[0]} to {known[-1]}")
    if not (figures or claims or tables):
        return FIGURE_NUMBERS, tuple(CLAIMS), TABLE_NUMBERS
    return figures or (), claims or (), tables or ()


def _stored(path: Path) -> dict[str, Tuned]:
    return json.loads(path.read_text()) if path.exists() else {}


def _times(records: Sequence[Record], how: str) -> Times:
    return {(x["data"], x["sampler"]): x["ask_seconds"] + x["tell_seconds"] for x in records if x["how"] == how}


def _made_with(evidence: Evidence) -> str:
    records = [*evidence.results.records.values(), *evidence.runtimes, *evidence.growth]
    made = {", ".join(f"{name} {number}" for name, number in x["versions"].items()) for x in records}
    machines = {x["machine"] for x in records if "machine" in x}
    return "; ".join(sorted(made)) + "." + "".join(f" Seconds were measured on {words}." for words in sorted(machines))
