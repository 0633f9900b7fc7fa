"""One paragraph that says how the items of a project were labeled, for a paper or a data sheet."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Hashable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from askgraph.errors import FileError
from askgraph.kinds.numbers import HIGHEST, LOWEST
from askgraph.support.files import replacing
from askgraph.support.wording import counted
from askgraph.version import __version__
from askgraph.workbench.answers import Agreed
from askgraph.workbench.figures import decided, imported, numbers, second_readings, spot_checks, ways, work
from askgraph.workbench.forms import count_classes, rounded
from askgraph.workbench.project import Project

WAYS = {
    "map": "given to items selected on the map",
    "table": "given to items selected in the table",
    "group": "given to groups of items that look alike",
}  # many items in one step
FEW_CLASSES = 12  # classes that are named with their counts; of more, the number is given


def how_labeled(project: Project) -> str:
    """Return one paragraph: who labeled what, how questions were chosen, how the rest was predicted and how well, versions."""
    answers, about, found, kind = project.answers, project.about, project.predictions(), project.answers.kind
    given = count_classes(answers.labels.values())
    done, came = work(answers), imported(answers)
    sentences = [
        f"Of {project.items.n_items:,} items, {len(answers.labels):,} have a label that was given"
        + (f" ({came:,} of these came with the data)" if came else "")
        + (
            f": {len(done)} {'person' if len(done) == 1 else 'people'} gave {sum(p['answers'] for p in done.values()):,} "
            f"answers between {min(p['first'] for p in done.values())} and {max(p['last'] for p in done.values())}."
            if done
            else "."
        )
    ]
    if any(p["many"] or p["copies"] for p in done.values()):
        sentences.append(_by_way(ways(answers)))
    if answers.guidelines:
        sentences.append(f"People had guidelines, in {counted(len(answers.guidelines), 'version')}.")
    if answers.aside:
        reasons = Counter(answers.aside.values())
        names = {"later": "put off", "cannot": "that people could not tell", "invalid": "that are not valid items"}
        sentences.append(f"Set aside are {', '.join(f'{n:,} {names[kind]}' for kind, n in reasons.items())}.")
    if not kind.by_class:
        sentences += _by_number(project)
    elif 0 < len(given) <= FEW_CLASSES:
        counts = ", ".join(f"{name} {given[name]:,}" for name in answers.classes)
        sentences.append(
            f"Labels by class{'' if answers.form.exclusive else ', of which an item may have several'}: {counts}."
        )
    elif given:
        sentences.append(f"There are {len(answers.classes):,} classes.")
    settings = about["settings"]
    sentences.append(
        f"Items to label were chosen by active learning (sampler {settings['utility']!r}, seed {about['seed']}) with a "
        f"Gaussian Markov random field on a graph of the items: {'; '.join(about['graph']) or 'given edges'}."
    )
    if (sought := project.model.sought) is not None:
        sentences.append(_sought(project, sought))
    if by := decided(answers):
        leads = ", ".join(f"{who} {n:,}" for who, n in by.items())
        sentences.append(
            f"Where people differed, the word of a lead decided on {counted(sum(by.values()), 'item')} ({leads})."
        )
    if agreed := answers.agreement():
        sentences.append(_agreed(project, agreed))
    if found_twice := second_readings(project):
        sentences.append(_read_twice(found_twice))
    judged = answers.form.can_judge(found.classes, len(answers.labels))
    if judged and (rest := project.items.n_items - len(answers.labels)):
        sentences.append(_predicted(project, rest))
    if checks := spot_checks(project) if judged else None:
        sentences.append(_checked(project, checks))
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    sentences.append(f"Software: askgraph {__version__}, Python {platform.python_version()}, {versions}.")
    return " ".join(sentences) + "\n"


def _agreed(project: Project, agreed: Agreed) -> str:
    """Return a sentence on how far people agree."""
    form, found = project.answers.form, []
    if agreed.share is not None:
        found.append(f"{agreed.share:.1%} of pairs of labels agree")
    if agreed.apart is not None:
        steps = f"two labels are {agreed.apart:.2g} steps apart on average"
        found.append(
            steps
            if form.ranked
            else f"half of the pairs of labels differ by at most {form.text(rounded(agreed.apart))}"
        )
    return f"Of {agreed.items:,} items that several people labeled, {', and '.join(found)}."


def _read_twice(found: dict[str, Any]) -> str:
    """Return a sentence on the items that a second person read without seeing the first answer."""
    read = f"{counted(found['read'], 'item')}, drawn at random, {'was' if found['read'] == 1 else 'were'} read by a second person"
    said = [f"{found['same']:,} times with the same answer"] if found["same"] is not None and found["read"] else []
    said += [f"Krippendorff's alpha {found['alpha']['value']:.2f}"] if found["alpha"] else []
    return f"{read} who saw nothing of the first answer{': ' if said else ''}{', '.join(said)}."


def _by_number(project: Project) -> list[str]:
    """Return a sentence on the numbers that were given; none if there are none."""
    answers = project.answers
    if not (found := numbers(answers)):
        return []
    found["median"] = rounded(found["median"])
    least, median, largest = (answers.form.text(found[name]) for name in ("least", "median", "largest"))
    return [
        f"Labels are {counted(len(answers.labels), 'number')}: the least is {least}, the median {median}, the largest {largest}."
    ]


def _sought(project: Project, sought: Hashable) -> str:
    """Return a sentence on what was sought, and how much of it may be left where that can be said."""
    if sought in (HIGHEST, LOWEST) and not project.answers.kind.by_class:
        return f"The {sought} numbers were sought first."
    name = repr(sought) if isinstance(sought, str) else str(sought)
    like = project.answers.naming.like
    first = "the likeliest first" if like is None else f"first those most like the words {like!r}, then the likeliest"
    proven = project.model.sampling.certificate()
    certified = "" if proven is None else f" By a random sample of what was left: {proven}."
    return f"All items of {name} were sought, {first}: {project.learner.judge.left_to_find(sought)}.{certified}"


def _predicted(project: Project, rest: int) -> str:
    """Return a sentence on the labels that are predicted, and on their error as the kind of answers measures it."""
    error, readout = project.learner.judge.expected_error(), project.about["settings"]["readout"]
    by = f"The other {rest:,} labels are predicted by the same model" + (f" (readout {readout!r})" if readout else "")
    if error.unit is not None:
        off = {
            "ordered": "are expected to be off by",
            "numbers": "are expected to be off, in the root of the mean square, by",
        }
        return f"{by}; they {off.get(project.answers.kind.name, 'are expected to be')} {error}."
    wrong = f"{error.value:.1%} of them are expected to be wrong"
    return f"{by}; {wrong} (range {error.low:.1%} to {error.high:.1%}, {error.kind})."


def _checked(project: Project, checks: dict[str, Any]) -> str:
    """Return a sentence on how predictions of items drawn at random came out."""
    drawn = f"Of {checks['count']:,} items drawn at random as spot checks"
    if checks["right"] is not None:
        return f"{drawn}, {checks['right']:,} are predicted right by all other answers."
    root = project.answers.form.text(rounded(checks["off"]))
    return f"{drawn}, predictions had been off by {root} in the root of the mean square."


def _by_way(found: dict[str, Any]) -> str:
    """Return a sentence that counts answers given one by one apart from those given to many items in one step."""
    single = found["single"]
    said = [f"{single:,} {'was' if single == 1 else 'were'} given one by one"]
    for how, words in WAYS.items():
        if n := found["many"][how]["answers"]:
            said.append(f"{n:,} {words} (in {counted(found['many'][how]['steps'], 'step')})")
    if found["copies"]:
        said.append(f"{found['copies']:,} taken over by exact copies of an item")
    return f"Of these answers, {', '.join(said)}."


def write_how_labeled(project: Project, labels: Path) -> Path:
    """Write the paragraph beside a file of labels; return its path."""
    path = labels.with_name(f"{labels.stem}-how-labeled.md")
    try:
        with replacing(path) as file:
            file.write(how_labeled(project).encode())
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}); choose another place") from None
    return path
