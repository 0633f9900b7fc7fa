"""The report that a person signs: the figures of a project in words, as one page that needs nothing else, and as plain text."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from html import escape
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

from askgraph.errors import without_controls
from askgraph.version import __version__
from askgraph.workbench.answers import KINDS
from askgraph.workbench.figures import MANY
from askgraph.workbench.report_words import Language

STYLE = Path(__file__).with_suffix(".css").read_text("utf-8")
STYLE_HASH = f"sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}"
POLICY = (
    f"default-src 'none'; style-src '{STYLE_HASH}'; base-uri 'none'; form-action 'none'"  # no script, nothing fetched
)
MAX_PEOPLE, MAX_CLASSES, MAX_VERSIONS = 6, 10, 4  # rows, so that the report stays on two sheets; the commands list all
MAX_CHARACTERS, MAX_LINES = 900, 10  # of the guidelines; the command prints all
LONGEST_NOTE = 160  # characters of what joins the items; the command says all
DIGITS = 3  # of figures that are estimated
NOTHING = "–"
Plain = dict[str, Any]


class Figure(NamedTuple):
    """One figure in words: what it is, what it says, the command that gives it, and whether it is a part of the one before."""

    name: str
    said: str
    command: str
    part: bool = False


class Table(NamedTuple):
    """Rows of figures under their heads, and the command that gives them; a last row may sum them up."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    command: str
    summed: bool = False


class Section(NamedTuple):
    """A part of the report: figures, a table, a text that people wrote, and a note."""

    title: str
    figures: Sequence[Figure] = ()
    table: Table | None = None
    text: tuple[str, str] | None = None
    note: str = ""


def page(said: Plain, language: Language) -> str:
    """Return the report as HTML: two sheets of A4 where it is printed, with no script and nothing to fetch."""
    first, second = sheets(said, language)
    words, title = language.words, _text(said["project"])
    return (
        f'<!doctype html>\n<html lang="{language.code}"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light">\n'
        f"<title>{title} · {words['kicker']}</title><style>{STYLE}</style></head>\n<body><main>\n"
        f"<header><p>{words['kicker']}</p><h1>{title}</h1><p>{_text(_about(said, language))}</p></header>\n"
        f"{_gist(said, language)}<p class=note>{words['commands']}</p>\n"
        f"<div>{''.join(map(_section, first))}</div>\n"
        f"<div class=sheet>{''.join(map(_section, second))}{_signature(words)}</div>\n"
        "</main></body></html>\n"
    )


def summary(said: Plain, language: Language) -> str:
    """Return the figures of the report as lines of text."""
    parts = [one for sheet in sheets(said, language) for one in sheet if one.figures]
    lines = [f"{said['project']}: {_about(said, language)}"]
    for part in parts:
        lines += ["", part.title, *(f"  {one.name}: {one.said}" for one in part.figures)]
    return "\n".join(lines)


def sheets(said: Plain, language: Language) -> tuple[list[Section], list[Section]]:
    """Return the sections of both sheets: what was done by whom, and how good it is."""
    first = [_what(said, language), _who(said, language), _bulk(said, language), _guidelines(said, language)]
    by_class = [_classes(said, language)] if said["classes"] else []
    return first, [_quality(said, language), *by_class, _unseen(said, language), _contents(said, language)]


def _about(said: Plain, language: Language) -> str:
    kind = language.words[f"kind {said['kind']}"]
    kind = language.say("in unit", kind=kind, unit=said["unit"]) if said["unit"] else kind
    return language.say("about", kind=kind, day=language.day(datetime.now(UTC).isoformat()), version=__version__)


def _what(said: Plain, language: Language) -> Section:
    """Return what the items are, how many have a label, and how they were chosen."""
    words, say = language.words, language.say
    aside = [say(kind, n=said["aside"][kind]) for kind in KINDS if said["aside"].get(kind)]
    share = say("share", n=said["labels"], share=language.percent(said["labels"] / max(said["items"], 1)))
    figures = [
        Figure(words["items"], language.number(said["items"]), "askgraph status"),
        Figure(words["labels"], share, "askgraph status"),
        Figure(words["imported"], language.number(said["unseen"]["imported"]), "askgraph export", True),
        Figure(words["aside"], ", ".join(aside) or words["none"], "askgraph predict"),
    ]
    figures += list(_notes(said, language))
    if said["numbers"]:
        three = {name: _number(number, said, language) for name, number in said["numbers"].items()}
        figures.append(Figure(words["numbers"], say("three", **three), "askgraph predict"))
    if said["find"]:
        figures.append(_sought(said["find"], language))
    figures += [
        Figure(words["chosen"], say("chosen so", sampler=said["sampler"], seed=str(said["seed"])), "askgraph predict"),
        Figure(words["joined"], shorten("; ".join(said["joined"]), LONGEST_NOTE, placeholder=" …") or NOTHING, "askgraph doctor"),
    ]  # fmt: skip
    return Section(words["what"], figures)


def _notes(said: Plain, language: Language) -> Iterator[Figure]:
    """Yield how many items have which reason for their label, and how many have comments, where there are some."""
    counts = sorted((one for one in said["reasons"] if one["count"]), key=lambda one: -one["count"])
    if counts:
        named = [f"{one['reason']} ({language.number(one['count'])})" for one in counts]
        yield Figure(language.words["reasons"], _listed(named, language), "askgraph status --json", True)
    if said["commented"]:
        yield Figure(language.words["commented"], language.number(said["commented"]), "askgraph note")


def _sought(find: Plain, language: Language) -> Figure:
    """Return how far a search is; nobody knows how many of the highest numbers are left."""
    name = language.say("sought", text=find["text"])
    if "found" not in find:
        return Figure(name, language.words["sought first"], "askgraph find")
    left = language.number(round(find["value"]))
    ends = {end: find[end] for end in ("found", "low", "high")}
    return Figure(name, language.say("sought so", left=left, **ends), "askgraph find")


def _who(said: Plain, language: Language) -> Section:
    """Return who answered how much, in which way, and when."""
    words, people = language.words, said["people"]
    if not people:
        return Section(words["who"], note=words["nobody"])
    ranked = sorted(people.items(), key=lambda one: (-one[1]["answers"], one[0]))
    shown, rest = ranked[:MAX_PEOPLE], [of for _, of in ranked[MAX_PEOPLE:]]
    rows = [[who, *_row_of(of, language)] for who, of in shown]
    if rest:
        rows.append([language.say("others", n=len(rest)), *_row_of(_summed(rest), language)])
    if several := len(people) > 1:
        rows.append([words["all"], *_row_of(_summed([*people.values()]), language)])
    heads = [words[name] for name in ("person", "answers", "single", "many", "copies", "checks", "first", "last")]
    return Section(words["who"], table=Table(heads, rows, "askgraph people", several))


def _summed(people: Sequence[Plain]) -> Plain:
    """Return the answers of several people together, from their first day to their last."""
    counts = {name: sum(of[name] for of in people) for name in ("answers", "single", "many", "copies", "checks")}
    return {**counts, "first": min(of["first"] for of in people), "last": max(of["last"] for of in people)}


def _row_of(of: Plain, language: Language) -> list[str]:
    counts = [language.number(of[name]) for name in ("answers", "single", "many", "copies", "checks")]
    return [*counts, language.day(of["first"]), language.day(of["last"])]


def _bulk(said: Plain, language: Language) -> Section:
    """Return what was answered many at once, apart from what was answered one by one."""
    words = language.words
    figures = [Figure(words[how], _steps(said["ways"]["many"][how], language), "askgraph predict") for how in MANY]
    together = Figure(words["together"], language.number(said["unseen"]["together"]), "askgraph status")
    return Section(words["bulk"], [*figures, together])


def _steps(counts: Plain, language: Language) -> str:
    """Return how many answers were given in how many steps."""
    if not counts["answers"]:
        return language.words["none"]
    return language.say("in a step" if counts["steps"] == 1 else "in steps", n=counts["answers"], steps=counts["steps"])


def _guidelines(said: Plain, language: Language) -> Section:
    """Return the versions of the guidelines, and the text of the last one, or its beginning."""
    words, versions = language.words, said["guidelines"]
    if not versions:
        return Section(words["guidelines"], note=words["no guidelines"])
    rows = [
        [
            language.number(one["version"]) if one["version"] else words["no version"],
            language.day(one["at"]) if one["at"] else NOTHING,
            one["who"] or NOTHING,
            language.number(one["answers"]),
        ]
        for one in versions[-MAX_VERSIONS:]
    ]
    table = Table([words[name] for name in ("version", "saved", "by", "under")], rows, "askgraph guidelines --history")
    last = versions[-1]
    text = _beginning(last["text"])
    title = language.say("text", n=last["version"])
    note = (
        ""
        if text == last["text"].strip().expandtabs(4)
        else language.say("rest", n=len(last["text"])) + " askgraph guidelines"
    )
    return Section(words["guidelines"], table=table, text=(title, text), note=note)


def _beginning(text: str) -> str:
    """Return a text, or as much of its beginning as fits beside the rest."""
    found = "\n".join(text.strip().expandtabs(4).splitlines()[:MAX_LINES]).rstrip()
    return found if len(found) <= MAX_CHARACTERS else f"{found[:MAX_CHARACTERS].rpartition(' ')[0]} …"


def _quality(said: Plain, language: Language) -> Section:
    """Return the expected error with its range, how spot checks came out, and how far people agree."""
    words = language.words
    error = Figure(words[f"error {said['kind']}"], _error(said, language), "askgraph status")
    figures = [error, *_checks(said, language), *_agreement(said, language), *_second(said, language)]
    return Section(words["quality"], figures, note=words["range means"])


def _error(said: Plain, language: Language) -> str:
    """Return the expected error, its range, and what it rests on."""
    if not (error := said["labels"] and said["error"]):
        return language.words["early"]
    ends = {end: _measured(error[end], said, language) for end in ("value", "low", "high")}
    said_so = language.say("range", **ends)
    if error["measured"]:
        return language.say("measured", range=said_so, n=error["measured"])
    return language.say("by model", range=said_so)


def _measured(error: float, said: Plain, language: Language) -> str:
    """Return an error of this kind of answers: a share in percent, else a number, with its unit."""
    return language.percent(error) if said["kind"] == "classes" else _number(error, said, language, DIGITS)


def _number(value: float, said: Plain, language: Language, digits: int | None = None) -> str:
    return " ".join([language.number(value, digits), *([said["unit"]] if said["unit"] else [])])


def _checks(said: Plain, language: Language) -> Iterator[Figure]:
    """Yield how many items were drawn at random, and how they came out."""
    words, checks = language.words, said["checks"]
    if not checks:
        yield Figure(words["drawn"], words["none"], "askgraph status")
        return
    yield Figure(words["drawn"], language.number(checks["count"]), "askgraph status")
    if checks["right"] is None:
        yield Figure(words["off"], _number(checks["off"], said, language, DIGITS), "askgraph predict", True)
        return
    for name in (
        ("right", "before") if said["kind"] != "several" else ("before",)
    ):  # several classes are judged as before
        yield Figure(words[name], language.say("of", n=checks[name], all=checks["count"]), "askgraph status", True)


def _agreement(said: Plain, language: Language) -> Iterator[Figure]:
    """Yield how far people agree."""
    words, agreed = language.words, said["agreement"]["agreed"]
    if not agreed:
        yield Figure(words["agreement"], words["no overlap"], "askgraph people")
        return
    alpha = said["agreement"]["alpha"]
    for who, n in said["decided"].items():
        yield Figure(language.say("decided", who=who), language.number(n), "askgraph people", True)
    found = language.say("alpha", range=_range(alpha, language), n=alpha["items"]) if alpha else words["no value"]
    yield Figure(words["agreement"], found, "askgraph people")
    if agreed["share"] is not None:
        yield Figure(words["alike"], language.percent(agreed["share"]), "askgraph people", True)
    if agreed["apart"] is not None:
        apart = language.number(agreed["apart"], DIGITS)
        unit = f"{apart} {said['unit']}" if said["unit"] else apart
        said_so = language.say("steps unit", n=apart) if said["kind"] == "ordered" else unit
        yield Figure(words[f"apart {said['kind']}"], said_so, "askgraph people", True)


def _second(said: Plain, language: Language) -> Iterator[Figure]:
    """Yield how many items a second person read unseen, and how far both agree; nothing where nobody asked for that."""
    if not (found := said["second"]):
        return
    words, say = language.words, language.say
    read = say("read twice", n=found["read"], left=found["left"], share=language.percent(found["share"]))
    yield Figure(words["second"], read, "askgraph second")
    if found["read"] and found["same"] is not None:
        yield Figure(words["same"], say("of", n=found["same"], all=found["read"]), "askgraph second", True)
    if alpha := found["alpha"]:
        said_so = say("alpha", range=_range(alpha, language), n=alpha["items"])
        yield Figure(words["second alpha"], said_so, "askgraph second", True)


def _range(found: Plain, language: Language) -> str:
    """Return an agreement and its range, with two decimals."""
    value, low, high = (f"{found[end]:.2f}".translate(language.marks) for end in ("value", "low", "high"))
    return language.say("range", value=value, low=low, high=high)


def _classes(said: Plain, language: Language) -> Section:
    """Return each class: labels, predictions, how good these are, and how far people agree on it."""
    words, ordered, agreed = language.words, said["kind"] == "ordered", said["agreement"]["agreed"]
    shown = said["classes"]
    if left := max(len(shown) - MAX_CLASSES, 0):
        shown = sorted(shown, key=lambda one: -one["count"])[:MAX_CLASSES]
    heads = [words["step" if ordered else "class"], *(words[name] for name in ("given", "predicted", "f1", "right of"))]
    rows = [_row_of_class(one, language) for one in shown]
    command = "askgraph status"
    if agreed:
        alphas = {one["class"]: one["alpha"] for one in said["agreement"]["classes"]}
        heads.append(words["class alpha"])
        rows = [[*row, _range(alphas[row[0]], language) if alphas.get(row[0]) else NOTHING] for row in rows]
        command = "askgraph status, askgraph people"
    more = f"{language.say('more classes', n=left)}. " if left else ""
    return Section(
        words["steps" if ordered else "classes"], table=Table(heads, rows, command), note=more + words["classes mean"]
    )


def _row_of_class(one: Plain, language: Language) -> list[str]:
    f1 = NOTHING if one["f1"] is None else f"{one['f1']:.2f}".translate(language.marks)
    return [
        one["name"],
        language.number(one["count"]),
        language.number(one["predicted"]),
        f1,
        _right(one["checks"], language),
    ]


def _right(checks: Plain | None, language: Language) -> str:
    """Return how many spot checks of a class are predicted right, and the range of that share."""
    if not checks:
        return NOTHING
    low, high = (language.percent(checks[end]) for end in ("low", "high"))
    return language.say("range", value=language.say("of", n=checks["right"], all=checks["count"]), low=low, high=high)


def _unseen(said: Plain, language: Language) -> Section:
    """Return what nobody has looked at, or what could not be compared."""
    words, found = language.words, said["unseen"]
    kind = "unseen steps" if said["kind"] == "ordered" else "unseen classes"
    never = Figure(words[kind], _listed(found["classes"], language), "askgraph status")
    figures = [
        Figure(words["left"], language.number(said["left"]), "askgraph status --json"),
        Figure(words["unseen together"], language.number(found["together"]), "askgraph status"),
        Figure(words["unseen imported"], language.number(found["imported"]), "askgraph export"),
        *([never] if said["kind"] != "numbers" else []),
        Figure(words["alone"], language.number(found["alone"]), "askgraph doctor"),
    ]
    if said["guidelines"]:
        figures.append(Figure(words["outdated"], language.number(found["outdated"]), "askgraph guidelines --history"))
    return Section(words["unseen"], figures)


def _listed(names: Sequence[str], language: Language) -> str:
    """Return names, or the first of them and how many more there are."""
    more = [language.say("others", n=len(names) - MAX_CLASSES)] if len(names) > MAX_CLASSES else []
    return ", ".join([*names[:MAX_CLASSES], *more]) or language.words["none"]


def _contents(said: Plain, language: Language) -> Section:
    """Return what pins the contents that the figures are of."""
    words = language.words
    lines = language.say("lines so", n=said["lines"], undone=said["undone"], changes=said["changes"])
    return Section(words["contents"], [
        Figure(words["lines"], lines, "askgraph doctor"),
        Figure(words["sha256"], said["sha256"], "askgraph doctor"),
    ])  # fmt: skip


def _gist(said: Plain, language: Language) -> str:
    """Return the four figures that a reader looks for first."""
    counts = {"items": said["items"], "labels": said["labels"], "people": len(said["people"])}
    found = [(language.number(n), language.words[f"gist {name}"]) for name, n in counts.items()]
    parts = [
        f"<div><dd>{_text(value)}</dd><dt>{_text(name)}</dt></div>"
        for value, name in [*found, _how_good(said, language)]
    ]
    return f"<dl class=gist>{''.join(parts)}</dl>\n"


def _how_good(said: Plain, language: Language) -> tuple[str, str]:
    """Return how good predictions are expected to be, as the page says it: how many are right, or how far they are off."""
    if not (error := said["labels"] and said["error"]):
        return NOTHING, language.words["gist early"]
    value, bound = error["value"], error["high"]
    if said["kind"] in ("classes", "several"):
        value, bound = 1 - value, 1 - bound
    words = language.say(f"gist {said['kind']}", bound=_measured(bound, said, language))
    return _measured(value, said, language), words


def _section(part: Section) -> str:
    """Return a section as HTML."""
    figures = "".join(map(_figure, part.figures))
    command = f" <code>{_text(part.table.command)}</code>" if part.table else ""
    parts = [
        f"<h2>{_text(part.title)}{command}</h2>",
        f"<table class=figures>{figures}</table>" if figures else "",
        _table(part.table) if part.table else "",
        f"<h3>{_text(part.text[0])}</h3><blockquote>{_text(part.text[1])}</blockquote>" if part.text else "",
        f"<p class=note>{_text(part.note)}</p>" if part.note else "",
    ]
    return f"<section>{''.join(parts)}</section>\n"


def _figure(one: Figure) -> str:
    """Return a row with a figure as HTML."""
    kind = " class=part" if one.part else ""
    command = f"<td><code>{_text(one.command)}</code></td>"
    return f"<tr{kind}><th scope=row>{_text(one.name)}</th><td>{_text(one.said)}</td>{command}</tr>"


def _table(table: Table) -> str:
    """Return a table as HTML."""
    heads = "".join(f"<th scope=col>{_text(one)}</th>" for one in table.heads)
    rows = "".join(
        f"<tr><th scope=row>{_text(first)}</th>{''.join(f'<td>{_text(cell)}</td>' for cell in rest)}</tr>"
        for first, *rest in table.rows
    )
    kind = "rows summed" if table.summed else "rows"
    whole = f'<table class="{kind}"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    return f'<div class=wide tabindex=0 role=group aria-label="{_text(table.heads[0])}">{whole}</div>'


def _signature(words: dict[str, str]) -> str:
    """Return the lines on which a person signs."""
    lines = "".join(f"<p><span></span>{words[name]}</p>" for name in ("name", "date", "signature"))
    return f"<section class=sign><h2>{words['signed']}</h2><p>{words['I saw']}</p><div>{lines}</div></section>"


def _text(said: str) -> str:
    """Return text for HTML: what anybody may have written is shown, and never read as more than text."""
    return escape(without_controls(said))
