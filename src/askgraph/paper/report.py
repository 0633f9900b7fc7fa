"""Turn evidence into the blocks of the report: claims with verdicts, figures, tables, settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from askgraph.paper import texts
from askgraph.paper.claim import Claim, Judged
from askgraph.paper.document import Block, Heading, Paragraph, Picture, Table, link
from askgraph.paper.evidence import Check, accuracy, rounded
from askgraph.paper.plan import FIGURES, SAMPLERS, TITLES, Experiment, Figure
from askgraph.paper.problems import TABLES
from askgraph.paper.run import Results
from askgraph.paper.timing import exponents
from askgraph.simulate.runs import Record
from askgraph.support.wording import counted

PAPERS_TABLE = {  # Table II as printed: number of rows, baseline accuracy
    "colon": (62, 0.64),
    "ionosphere": (351, 0.64),
    "leukemia": (70, 0.65),
    "australian": (690, 0.55),
    "parkinsons": (191, 0.75),
    "ecoli": (326, 0.57),
}
PICTURES = {5: {"figures/mixing.svg": "Accuracy after 5 labels of the LFR graph against its mixing"}}  # beside a claim
TUNING_SAMPLERS = ("tv", "msd", "random")  # the samplers that show the gain by tuning
WHY_ROWS_DIFFER = {
    "leukemia": "the original has 38 + 34 = 72 samples; the share fits 72",
    "parkinsons": "the original has 195 recordings; the share fits 195",
    "ecoli": "the original has 336 proteins in 8 classes; cp against the rest gives the share",
}


def claims_part(judged: Sequence[Judged], figures: Sequence[int], verdicts: bool) -> list[Block]:
    """Return the verdicts in one table, then each claim with its checks and links to the figures that are on the page."""
    rows = [_verdict_row(one, verdicts) for one in judged]
    summary = Table(("", "claim", "verdict", "before", "yes", "no", "cannot tell"), rows)
    details = [block for one in judged for block in _claim_part(one, figures, verdicts)]
    said = [Paragraph(texts.OF_CLAIMS), *([] if verdicts else [Paragraph(texts.FEW_RUNS)])]
    return [Heading(2, "The claims"), *said, summary, *details]


def claim_heading(claim: Claim) -> Heading:
    """Return the heading of a claim, which links lead to."""
    return Heading(3, f"Claim {claim.number}")


def figure_heading(number: int) -> Heading:
    """Return the heading of a figure, which links lead to."""
    return Heading(3, f"Figure {number}")


def _verdict_row(one: Judged, verdicts: bool) -> list[str]:
    said = f"**{one.words}**" if verdicts else "not judged"
    return [
        link(claim_heading(one.claim), str(one.claim.number)),
        one.claim.text,
        said,
        one.claim.before,
        *_tally(one.checks),
    ]


def _tally(checks: Sequence[Check]) -> list[str]:
    says = [check.says for check in checks if check.counts]
    return [str(says.count(word)) for word in ("yes", "no", "cannot tell")]


def _claim_part(one: Judged, figures: Sequence[int], verdicts: bool) -> list[Block]:
    claim = one.claim
    rows = [[_describe(check), rounded(check.estimate), check.range, check.says] for check in one.checks]
    blocks: list[Block] = [claim_heading(claim), Paragraph(f"**{claim.text}** {_links(claim, figures)}")]
    if verdicts:
        blocks.append(Paragraph(f"**Verdict:** {one.words}. {one.why}"))
    blocks.append(Paragraph(f"**Test:** {claim.rule}"))
    if claim.changed:
        blocks.append(Paragraph(f"**Changed since the report before** (which said: {claim.before}): {claim.changed}"))
    blocks.append(Table(("check", "mean", "95 % interval", "speaks for it"), rows))
    if len(one.readings) > 1:
        blocks += [Paragraph("Readings:"), _readings(one, verdicts)]
    return [*blocks, *(Picture(path, words) for path, words in PICTURES.get(claim.number, {}).items())]


def _links(claim: Claim, figures: Sequence[int]) -> str:
    shown = [link(figure_heading(number)) for number in claim.figures if number in figures]
    return f"See {', '.join(shown)}." if shown else ""


def _readings(one: Judged, verdicts: bool) -> Table:
    """Return one row per reading: the value of each setting, how many checks say what, and the verdict."""
    names = tuple(one.readings[0][0].settings)
    rows = [
        [*reading.settings.values(), *_tally(checks), verdict if verdicts else "not judged"]
        for (reading, checks), verdict in zip(one.readings, one.verdicts, strict=True)
    ]
    return Table((*names, "yes", "no", "cannot tell", "verdict"), rows)


def _describe(check: Check) -> str:
    return check.what if check.counts else f"{check.what} (for information)"


def figures_part(
    results: Results, numbers: Iterable[int], extra: Mapping[int, str], claims: Sequence[Claim]
) -> list[Block]:
    """Return the figures, each under its settings; ``extra`` holds the texts of figures without curves."""
    blocks: list[Block] = [Heading(2, "The figures"), Paragraph(texts.OF_FIGURES)]
    for number in sorted({*numbers, *extra}):
        said = extra.get(number) or _settings(FIGURES[number], results)
        shown = [link(claim_heading(claim)) for claim in claims if number in claim.figures]
        said += f" Shows {', '.join(shown)}." if shown else ""
        blocks += [figure_heading(number), Paragraph(said), Picture(picture(number), f"Figure {number}")]
    return blocks


def picture(number: int) -> str:
    """Return the path of a figure's file, relative to the page."""
    return f"figures/fig{number:02d}.svg"


def _settings(figure: Figure, results: Results) -> str:
    rows = (f"{_row(row)}{_setting(results.experiments[name], results)}" for row, name in figure.rows.items())
    return f"{TITLES[figure.data]}. " + " ".join(rows)


def _row(row: str) -> str:
    plain = row.replace("$t^{-1/2}$", "t^(−1/2)")
    return f"{plain[:1].upper()}{plain[1:]}: " if plain else ""


def _setting(x: Experiment, results: Results) -> str:
    fact = results.facts[str(x.source_of(x.first_seed))]
    parts = [f"{fact['nodes']:,} nodes, {fact['edges']:,} edges", f"delta {x.delta:g}"]
    parts += [f"threshold {x.source.threshold:g}"] if x.source.data in TABLES else []
    parts += ["doubt t^(−1/2)" if x.doubt else "no doubt", f"{counted(x.repeats, 'run')} of {x.budget} labels"]
    return "; ".join(parts) + "."


def growth_part(records: Sequence[Record]) -> list[Block]:
    """Return Table I: measured exponents of growth beside the paper's columns."""
    rows = exponents(records)
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        cells.setdefault((row["sampler"], row["how"]), {})[f"{row['cost']} {row['over']}"] = _exponent(row)
    paper = {(row["sampler"], row["cost"]): row["paper"] for row in rows}
    columns = ("setup", "ask", "tell", "memory")
    body = [
        [name, how, *(" / ".join(found.get(f"{cost} {over}", "–") for over in ("n", "C")) for cost in columns)]
        for (name, how), found in sorted(cells.items(), key=lambda item: (SAMPLERS.index(item[0][0]), item[0][1]))
    ]
    printed = [
        [name, *(paper[name, cost] or "not listed" for cost in columns)] for name in SAMPLERS if (name, "ask") in paper
    ]
    return [
        Heading(2, "Table I: what it costs"),
        Paragraph(texts.OF_GROWTH),
        Table(("sampler", "computed by", "set-up n / C", "question n / C", "update n / C", "memory n / C"), body),
        Paragraph("The paper's Table I, for comparison; * is what a method does not do:"),
        Table(("sampler", "offline", "sampling", "update", "memory"), printed),
    ]


def _exponent(row: Mapping[str, Any]) -> str:
    error = "" if row["error"] is None else f" ± {row['error']:.2f}"
    return f"{round(row['exponent'], 2) + 0.0:.2f}{error}"


def tables_part(results: Results) -> list[Block]:
    """Return Table II: rows and baseline shares beside the paper's, and the tuned graphs."""
    rows = []
    for data in (name for name in TABLES if name in results.experiments):
        fact, (printed, share) = results.fact(data), PAPERS_TABLE[data]
        why = "agrees" if printed == fact["nodes"] else WHY_ROWS_DIFFER[data]
        tuned = results.experiments[data]
        graph = (f"{tuned.source.threshold:g}", f"{tuned.delta:g}", f"{fact['edges']:,}", str(fact["isolated"]))
        rows.append([TITLES[data], str(fact["nodes"]), str(printed), f"{fact['share']:.3f}", str(share), why, *graph])
    header = ("dataset", "rows", "paper's", "largest class", "paper's", "why they differ")
    return [
        Heading(2, "Table II: the similarity datasets"),
        Table((*header, "threshold", "delta", "edges", "isolated"), rows),
        *_tuning_part(results),
        Paragraph(texts.OF_TABLES),
    ]


def _tuning_part(results: Results) -> list[Block]:
    """Return the table of the gain by tuning, for datasets with both experiments."""
    names = [name for name in TABLES if f"{name} untuned" in results.experiments]
    rows = [[TITLES[name], *(_tuning_gain(results, name, sampler) for sampler in TUNING_SAMPLERS)] for name in names]
    said = "Gain by tuning: mean accuracy over all labels, untuned (no threshold, delta 0.005) → tuned."
    return [Paragraph(said), Table(("dataset", *TUNING_SAMPLERS), rows)] if rows else []


def _tuning_gain(results: Results, name: str, sampler: str) -> str:
    before, after = (accuracy(results, experiment, sampler).mean() for experiment in (f"{name} untuned", name))
    return f"{before:.3f} → {after:.3f}"
