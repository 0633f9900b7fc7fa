"""Write what follows from the source: docs/equations.md, docs/commands.md, and the table of packages in docs/architecture.md.

    python docs/make_pages.py

Equations are found in the docstrings and comments of src and tests: a number in parentheses there, such as (24), is an equation of
the paper. Equations of answers that the paper does not know are listed below, each with the functions and tests that have it. The
sentence of each package is the first line of its ``__init__.py``. Commands are described as their help does.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
EQUATIONS_PAGE, ARCHITECTURE_PAGE = ROOT / "docs" / "equations.md", ROOT / "docs" / "architecture.md"
COMMANDS_PAGE = ROOT / "docs" / "commands.md"
TABLE = re.compile(r"(?<=\| package \| what belongs there \|\n\|---\|---\|\n)(\| `(\w+)` \|.*\n)+")
PLAIN = ("src/askgraph/paper/", "tests/helpers/")  # the same formulas written without shortcuts, to compare with
CITATION = re.compile(r"(?<![\w)\]}])\((\d{1,2})\)(?:[–-]\((\d{1,2})\))?")

EQUATIONS = {
    1: "the label distribution of a binary Markov random field, and its energy yᵀLy",
    2: "the Gaussian field of the unlabeled nodes given the labels, N(μ, G) with G = Q_UU⁻¹ and Q = L + δI",
    3: "Q in blocks of labeled and unlabeled nodes",
    4: "the conditional mean of any Gaussian values at the labeled nodes",
    5: "the conditional mean given labels, μ = −Q_UU⁻¹ Q_UL y_L",
    6: "the probability of a label, p(y_i = 1) = (1 + μ_i)/2",
    7: "the decision, the sign of μ_i",
    8: "the question, the unlabeled node of the highest utility",
    9: "the mean after one more label, μ + (y_k − μ_k) g_k / g_kk",
    10: "the covariance after one more label, G − g_k g_kᵀ / g_kk",
    11: "the number of predictions that one answer flips",
    12: "FL, the expected number of flips",
    13: "the KL divergence of two Gaussian distributions with one covariance",
    14: "the Gaussian field after an answer",
    15: "the KL divergence of the field after an answer from the field before",
    16: "KLG, the expected KL divergence of the field, u_i / (2 g_ii)",
    17: "a label as a Bernoulli variable with the probability of (6)",
    18: "the expected KL divergence of all labels together, which cannot be computed",
    19: "KL, the expected KL divergence of the labels, node by node",
    20: "the mutual information of two labels, the terms of (19)",
    21: "the KL divergence of one label's distribution, as cross-entropy minus entropy",
    22: "the cross-entropy of one label's distribution after and before an answer",
    23: "the total variation of one label's distribution, the absolute change of μ_j",
    24: "TV, the expected total variation, u_i ‖g_i‖₁ / g_ii",
    25: "the expected mean-square deviation",
    26: "the mean-square deviation after an answer",
    27: "MSD, the expected mean-square deviation without its constant, u_i ‖g_i‖₂² / g_ii²",
    28: "TV as KLG times ‖g_i‖₁",
    29: "MSD as KLG times ‖g_i‖₂, as printed",
    30: "the uncertainty factor above two classes, Σ_c (1 − p_c²)",
    31: "a utility as the expectation of a change over the answers",
    32: "a uniform question with probability π_t",
    33: "the least change over the answers instead of the expected one",
    34: "doubt, α/C + (1 − α) p in place of p",
    35: "MSD with doubt as printed: (α/2) VM + (1 − α) MSD",
}
NUMBER, EACH, SHOWN = "readouts/number.py", "readouts/each_class.py", "tests/readouts/test_written_down.py"
OF_NUMBERS, OF_SEVERAL, OF_ORDERED = (f"tests/kinds/test_{kind}.py" for kind in ("numbers", "several", "ordered"))
BEYOND: dict[
    str, tuple[str, list[Any]]
] = {  # heading: a sentence, and equations: words, who computes it, tests that show it
    "Numbers": (
        "t answers y are m + s(ψ + noise), with ψ the field, m a trend and s a unit. K is the covariance of the answers for "
        "s = 1, noise included, h_y and h_1 are the votes of the numbers and of as many ones, and γ² is the noise that the answers "
        'choose. With `link="log"` y are the logarithms.',
        [
            (
                "K⁻¹Y = (Y − h)/γ² at the labeled nodes, so that nothing below takes a solve",
                [(NUMBER, "fit")],
                [(OF_NUMBERS, "test_means_and_intervals_are_those_of_the_textbook")],
            ),
            (
                "the trend, m = 1ᵀK⁻¹y / 1ᵀK⁻¹1",
                [(NUMBER, "_fit")],
                [(OF_NUMBERS, "test_means_and_intervals_are_those_of_the_textbook")],
            ),
            (
                "the square of the unit, s² = (y − m)ᵀK⁻¹(y − m)/(t − 1)",
                [(NUMBER, "_fit")],
                [(OF_NUMBERS, "test_means_and_intervals_are_those_of_the_textbook")],
            ),
            (
                "what is predicted, m + h_y − m h_1",
                [(NUMBER, "spread"), ("kinds/numbers.py", "Numbers.predict")],
                [(OF_NUMBERS, "test_means_and_intervals_are_those_of_the_textbook")],
            ),
            (
                "the variance of another answer, s²(g_ii + γ² + (1 − h_1)² / 1ᵀK⁻¹1)",
                [(NUMBER, "spread")],
                [(OF_NUMBERS, "test_means_and_intervals_are_those_of_the_textbook")],
            ),
            (
                "an interval, the mean ± the quantile of Student's t with t − 1 degrees of freedom times the root of that "
                "variance; of logarithms, its ends by exp",
                [("kinds/numbers.py", "Numbers.interval")],
                [(SHOWN, "test_the_range_of_a_number_is_that_of_students_t")],
            ),
            (
                "leave-one-out: an answer differs from what all others say by (Py)_l / P_ll, with the variance s²/P_ll, "
                "P = K⁻¹ − K⁻¹1 1ᵀK⁻¹ / 1ᵀK⁻¹1",
                [(NUMBER, "by_others"), ("kinds/numbers.py", "Numbers.suspects")],
                [(OF_NUMBERS, "test_leave_one_out_is_deleting_the_answer")],
            ),
            (
                "−ln of the likelihood, m and s integrated out: (t − 1) ln s + ½ ln det K + ½ ln 1ᵀK⁻¹1, and with "
                "logarithms (t − 1) times the mean of ln y on top, so that the unit decides nothing",
                [(NUMBER, "loss"), (NUMBER, "_costs")],
                [(OF_NUMBERS, "test_the_likelihood_is_that_of_contrasts")],
            ),
            (
                "the covariance before any answer, Σ_k w_k G_k: of the graph and of kernels of the features, each of variance 1; "
                "the shares w and γ² are means over a few mixtures and noises, weighed by that likelihood",
                [("plan/mixture.py", "Mixture._weighed"), ("graph/kernel_columns.py", "kernel_columns")],
                [(OF_NUMBERS, "test_a_mixture_is_weighed_by_its_likelihood")],
            ),
            (
                'logarithms are read with `link="auto"` from 20 answers on, where they make the numbers likelier by 3 nats',
                [(NUMBER, "_preferred")],
                [(OF_NUMBERS, "test_logarithms_are_read_where_numbers_vary_by_factors_in_any_unit")],
            ),
            (
                "the expected error, the root of the mean of the variances of the nodes without an answer",
                [("kinds/numbers.py", "Numbers.expected_error")],
                [],
            ),
        ],
    ),
    "Several classes": (
        "Each class is a column of 0 and 1 of its own. h_c are its votes, H the votes of ones, n_c of t answers have it.",
        [
            (
                "the vote of a class, h_c + (1 − H) q_c with q_c = (n_c + ½)/(t + 1): where answers do not reach, its share",
                [(EACH, "_signs")],
                [(SHOWN, "test_votes_of_several_classes_become_probabilities_by_their_logits")],
            ),
            (
                "the probability of a class, logit p = a + b logit h + c logit q, with one a, b and c for all classes",
                [(EACH, "Calibrated.chances")],
                [(SHOWN, "test_votes_of_several_classes_become_probabilities_by_their_logits")],
            ),
            (
                "a, b and c: the least of −Σ ln p of what was said, each answer left out, + 8(a² + (b − 1)² + c²)",
                [(EACH, "_fitted")],
                [(OF_SEVERAL, "test_calibration_is_the_maximum_of_its_likelihood")],
            ),
            (
                "which nodes have a class: of those without an answer the round(Σ p) likeliest",
                [(EACH, "cut_as_expected")],
                [(OF_SEVERAL, "test_as_many_are_predicted_as_are_expected")],
            ),
            (
                "how open a node is, the mean of 4 h_c(1 − h_c) over the classes",
                [("answers/several.py", "ClassSets.openness")],
                [],
            ),
            (
                "the expected error, 1 − F1 = 1 − 2 Σ p over what is predicted / (the number predicted + Σ p)",
                [("kinds/kind.py", "one_less_f1")],
                [],
            ),
        ],
    ),
    "Ordered classes": (
        "The field is that of classes; the order is read into it.",
        [
            (
                "what is predicted, the median: the lowest step k with P(at most k) ≥ ½",
                [("kinds/ordered.py", "Ordered.decide")],
                [(OF_ORDERED, "test_the_median_is_the_lowest_step_with_half_of_the_probability")],
            ),
            (
                "its range, the fewest steps in a row whose probability is the share that is asked for, or more",
                [("kinds/ordered.py", "_shortest")],
                [(OF_ORDERED, "test_no_shorter_range_holds_as_much")],
            ),
            (
                "how many steps a prediction is off, by the model: Σ_k min(P(at most k), 1 − P(at most k)); the estimate is "
                "its mean with the steps by which early labels are off, each left out",
                [("kinds/ordered.py", "Ordered.expected_error")],
                [],
            ),
        ],
    ),
}
HEAD = """# The paper's equations

Numbers in parentheses in docstrings and comments, such as (24), are the equations of the paper: D. Berberidis and G. B. Giannakis,
"Data-adaptive Active Sampling for Efficient Graph-Cognizant Classification", *IEEE Transactions on Signal Processing*, 2018.
Q is the paper's L with its ridge, L + δI, and G the paper's inverse; [the glossary](glossary.md) has the other names.

*Computed by* is what a learner uses. *Written plainly* is the same formula without shortcuts, which the tests and the timings of
the paper compare with. An equation without a function is a step of a derivation that needs no code. Below the table are the
equations of answers that the paper does not know: [numbers](#numbers), [several classes](#several-classes) and
[ordered classes](#ordered-classes).

`python docs/make_pages.py` writes this page from the source; a test compares the two.

| | equation | computed by | written plainly | shown by |
|---|---|---|---|---|
"""

COMMANDS_HEAD = """# Commands

`askgraph --help` lists the commands, `askgraph COMMAND --help` says the same as this page. `askgraph --install-completion` makes
the Tab key complete commands, options and files in bash, zsh, fish and PowerShell.

`python docs/make_pages.py` writes this page from the source; a test compares the two.

"""


class Citation(NamedTuple):
    """One equation cited by one function, class or module."""

    equation: int
    path: str
    name: str


def citations() -> Iterator[Citation]:
    """Yield the citations of all Python files of src and tests, in order of files and lines."""
    for path in sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]):
        source = path.read_text()
        if not CITATION.search(source):
            continue
        tree = ast.parse(source)
        for line, text in sorted([*_docstrings(tree), *_comments(source)]):
            for number in _numbers(text):
                yield Citation(number, path.relative_to(ROOT).as_posix(), _owner(tree, line))


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            yield node.body[0].lineno, text


def _comments(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _numbers(text: str) -> Iterator[int]:
    for found in CITATION.finditer(text):
        first = int(found[1])
        yield from range(first, int(found[2] or first) + 1)


def _owner(tree: ast.Module, line: int) -> str:
    """Return the dotted name of the innermost class or function around a line, or of the table that the line is in."""
    names: list[str] = []
    body = tree.body
    while True:
        inside = [node for node in body if _first_line(node) <= line <= (node.end_lineno or 0)]
        if not inside:
            return ".".join(names)
        (node,) = inside
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.append(node.name)
            body = node.body
            continue
        target = (
            node.target
            if isinstance(node, ast.AnnAssign)
            else node.targets[0]
            if isinstance(node, ast.Assign)
            else None
        )
        return ".".join([*names, target.id] if not names and isinstance(target, ast.Name) else names)


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def equations_page() -> str:
    """Return the page of equations that belongs to the source as it is."""
    cells: dict[tuple[int, str], list[str]] = defaultdict(list)
    for citation in citations():
        link = f"[`{_shown(citation)}`](../{citation.path})"
        column = cells[citation.equation, column_of(citation)]
        if link not in column:
            column.append(link)
    rows = []
    for number, words in EQUATIONS.items():
        used, plain, test = (" ".join(cells[number, column]) for column in ("used", "plain", "test"))
        rows.append(f"| ({number}) | {_lowered(words)} | {used} | {plain} | {test} |\n")
    return HEAD + "".join(rows) + "".join(_beyond(heading, *part) for heading, part in BEYOND.items())


def _lowered(formula: str) -> str:
    """Return words with their subscripts set below the line."""
    return SUBSCRIPT.sub(r"<sub>\1</sub>", formula)


SUBSCRIPT = re.compile(r"(?<=[\w‖)])_([A-Za-z0-9]+)")


def _beyond(heading: str, sentence: str, equations: list[Any]) -> str:
    """Return the section of equations of one kind of answers."""
    rows = []
    for words, used, tests in equations:
        computed = [_link(Citation(0, f"src/askgraph/{path}", name)) for path, name in used]
        shown = [_link(Citation(0, path, name)) for path, name in tests]
        rows.append(f"| {_lowered(words)} | {' '.join(computed)} | {' '.join(shown)} |\n")
    return f"\n## {heading}\n\n{sentence}\n\n| equation | computed by | shown by |\n|---|---|---|\n" + "".join(rows)


def _link(citation: Citation) -> str:
    """Return a link to a function, and raise an error if it is not there."""
    found = ast.parse((ROOT / citation.path).read_text())
    for name in citation.name.split("."):
        inside = {node.name: node for node in found.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
        if name not in inside:
            raise LookupError(f"{citation.path} has no {citation.name}: write another name into BEYOND")
        found = inside[name]
    return f"[`{_shown(citation)}`](../{citation.path})"


def column_of(citation: Citation) -> str:
    """Return the column that a citation belongs in: used, plain or test."""
    if citation.path.startswith(PLAIN):
        return "plain"
    return "used" if citation.path.startswith("src/") else "test"


def _shown(citation: Citation) -> str:
    """Return a name as one would look for it: of the source with its module, of a test alone."""
    module = citation.path.removeprefix("src/askgraph/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    if citation.path.startswith("src/"):
        return f"{module}.{citation.name}".rstrip(".")
    return citation.name or Path(citation.path).stem


def architecture_page() -> str:
    """Return the page of the architecture with the sentence of each package as the source has it; its order stays."""
    text = ARCHITECTURE_PAGE.read_text()
    packages = re.findall(r"^\| `(\w+)` \|", "".join(found[0] for found in TABLE.finditer(text)), re.MULTILINE)
    return TABLE.sub("".join(f"| `{package}` | {_charter(package)} |\n" for package in packages), text)


def _charter(package: str) -> str:
    source = (ROOT / "src" / "askgraph" / package / "__init__.py").read_text()
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def commands_page() -> str:
    """Return the page of commands, by the panels of the help."""
    import typer

    from askgraph.cli import app
    from askgraph.cli.panels import PANELS

    commands = typer.main.get_command(app).commands
    parts = []
    for panel, names in PANELS.items():
        parts += [f"## {panel}: {', '.join(names)}\n"]
        parts += [part for name in names for part in _command_sections(name, commands[name])]
    return COMMANDS_HEAD + "\n".join(parts)


def _command_sections(name: str, command: Any) -> list[str]:
    """Return the section of a command, and those of the commands below it."""
    below = getattr(command, "commands", {})
    return [_command_section(name, command), *(_command_section(f"{name} {part}", below[part]) for part in below)]


def _command_section(name: str, command: Any) -> str:
    summary, *rest = [part.strip() for part in (command.callback.__doc__ or "").strip().split("\n\n")]
    words = [" ".join(part.split()) for part in rest]
    examples = [
        word.removeprefix("Example: ") for word in words if word.removeprefix("Example: ").startswith("askgraph ")
    ]
    prose = [word for word in words if word.removeprefix("Example: ") not in examples and word != "Examples:"]
    rows = [_parameter_row(parameter) for parameter in command.params]
    table = "| | |\n|---|---|\n" + "".join(rows) if rows else ""
    shown = "```shell\n" + "\n".join(examples) + "\n```\n" if examples else ""
    return "\n".join(
        part
        for part in (f"### {name}\n", f"{' '.join(summary.split())}\n", *(f"{p}\n" for p in prose), shown, table)
        if part
    )


def _parameter_row(parameter: Any) -> str:
    flags = [*parameter.opts, *parameter.secondary_opts]
    name = (
        ", ".join(f"`{flag}`" for flag in flags)
        if parameter.param_type_name == "option"
        else f"`{parameter.name.upper()}`"
    )
    default = (
        ""
        if parameter.default in (None, False, ()) or callable(parameter.default)
        else f" Default: `{parameter.default}`."
    )
    variable = f" Also as the variable `{parameter.envvar}`." if isinstance(parameter.envvar, str) else ""
    text = " ".join((getattr(parameter, "help", None) or "").split()).replace("|", "\\|")
    return f"| {name} | {text}{default}{variable} |\n"


if __name__ == "__main__":
    pages = (
        (EQUATIONS_PAGE, equations_page()),
        (ARCHITECTURE_PAGE, architecture_page()),
        (COMMANDS_PAGE, commands_page()),
    )
    for path, text in pages:
        path.write_text(text)
        print(f"{path.relative_to(ROOT)} is written")
