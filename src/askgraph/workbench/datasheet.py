"""One paragraph that says how the items of a project were labeled, for a paper or a data sheet."""

from __future__ import annotations

import platform
from collections import Counter
from importlib.metadata import version
from pathlib import Path

from askgraph.errors import FileError
from askgraph.kinds.recall import Left
from askgraph.support.files import replacing
from askgraph.support.wording import counted
from askgraph.version import __version__
from askgraph.workbench.answers import TOGETHER, Agreed, Answer
from askgraph.workbench.forms import count_classes
from askgraph.workbench.project import Project
from askgraph.workbench.report import can_judge, search
from askgraph.workbench.store import IMPORT

WAYS = {
    "map": "given to items selected on the map",
    "table": "given to items selected in the table",
    "group": "given to groups of items that look alike",
}  # many items in one step
FEW_CLASSES = 12  # classes that are named with their counts; of more, the number is given


def how_labeled(project: Project) -> str:
    """Return one paragraph: who labeled what, how questions were chosen, how the rest was predicted and how well, versions."""
    answers, about, found = project.answers, project.about, project.predictions()
    given, people = count_classes(answers.labels.values()), [who for who in answers.people if who != IMPORT]
    imported = sum(set(answers.of(place)) == {IMPORT} for place in answers.labels)
    said = [a for a in answers.log.values() if a.who != IMPORT and a.kind != "undo" and a.seq not in answers.undone]
    sentences = [
        f"Of {project.items.n_items:,} items, {len(answers.labels):,} have a label that was given"
        + (f" ({imported:,} of these came with the data)" if imported else "")
        + (
            f": {len(people)} {'person' if len(people) == 1 else 'people'} gave {len(said):,} answers "
            f"between {min(a.at for a in said)[:10]} and {max(a.at for a in said)[:10]}."
            if said
            else "."
        )
    ]
    if any(a.how in TOGETHER for a in said):
        sentences.append(_by_way(said))
    if answers.guidelines:
        sentences.append(f"People had guidelines, in {counted(len(answers.guidelines), 'version')}.")
    if answers.aside:
        reasons = Counter(answers.aside.values())
        names = {"later": "put off", "cannot": "that people could not tell", "invalid": "that are not valid items"}
        sentences.append(f"Set aside are {', '.join(f'{n:,} {names[kind]}' for kind, n in reasons.items())}.")
    if 0 < len(given) <= FEW_CLASSES:
        sentences.append(f"Labels by class: {', '.join(f'{name} {given[name]:,}' for name in answers.classes)}.")
    elif given:
        sentences.append(f"There are {len(answers.classes):,} classes.")
    settings = about["settings"]
    sentences.append(
        f"Items to label were chosen by active learning (sampler {settings['utility']!r}, seed {about['seed']}) with a "
        f"Gaussian Markov random field on a graph of the items: {'; '.join(about['graph']) or 'given edges'}."
    )
    if project.model.sought is not None:
        sought = search(project)["find"]
        left = f": {Left(*(sought[name] for name in Left._fields))}" if "found" in sought else ""
        sentences.append(f"All items of {sought['text']!r} were sought, the likeliest first{left}.")
    if agreed := answers.agreement():
        sentences.append(_agreed(project, agreed))
    if can_judge(project) and (rest := project.items.n_items - len(answers.labels)):
        sentences.append(_predicted(project, rest))
    if (checks := project.learner.judge.spot_checks) and answers.kind.by_class and len(found.classes) > 1:
        right = sum(check.right for check in checks)
        sentences.append(
            f"Of {len(checks):,} items drawn at random as spot checks, {right:,} had been predicted right."
        )
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
            steps if form.ranked else f"half of the pairs of labels differ by at most {form.text(agreed.apart)}"
        )
    return f"Of {agreed.items:,} items that several people labeled, {', and '.join(found)}."


def _predicted(project: Project, rest: int) -> str:
    """Return a sentence on the labels that are predicted, and how far they are expected to be wrong."""
    error, readout = project.learner.judge.expected_error(), project.about["settings"]["readout"]
    by = "the same model" + (f" (readout {readout!r})" if readout else "")
    if error.unit is None:
        wrong = f"{error.value:.1%} of them are expected to be wrong (range {error.low:.1%} to {error.high:.1%}, {error.kind})"
    else:
        wrong = f"they are expected to be off by {error}"
    return f"The other {rest:,} labels are predicted by {by}; {wrong}."


def _by_way(said: list[Answer]) -> str:
    """Return a sentence that counts answers given one by one apart from those given to many items in one step."""
    single = sum(a.how not in TOGETHER for a in said)
    ways = [f"{single:,} {'was' if single == 1 else 'were'} given one by one"]
    for how, words in WAYS.items():
        if keys := [a.key.partition(":")[0] for a in said if a.how == how]:
            ways.append(f"{len(keys):,} {words} (in {counted(len(set(keys)), 'step')})")
    if copies := sum(a.how == "copy" for a in said):
        ways.append(f"{copies:,} taken over by exact copies of an item")
    return f"Of these answers, {', '.join(ways)}."


def write_how_labeled(project: Project, labels: Path) -> Path:
    """Write the paragraph beside a file of labels; return its path."""
    path = labels.with_name(f"{labels.stem}-how-labeled.md")
    try:
        with replacing(path) as file:
            file.write(how_labeled(project).encode())
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}); choose another place") from None
    return path
