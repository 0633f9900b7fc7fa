"""What the server says on the start page is said in the language of the page: every message has its words in German."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "askgraph"
# where messages come from that the start page can show: whole files, and of others the functions
WHOLE = (
    "io/decimals.py", "io/packed.py",
    "io/annotations.py", "io/edge_lists.py", "io/encodings.py", "io/jsonl.py", "io/ods.py", "io/parquet.py",
    "io/pictures.py", "io/pixels.py", "io/ris.py", "io/sheets.py", "io/spreadsheets.py", "io/text.py", "io/xlsx.py",
    "support/files.py", "web/dropped.py", "web/start.py", "workbench/backup_files.py", "workbench/schema.py",
    "workbench/shelf.py", "workbench/answer_cells.py", "workbench/forms.py",
)  # fmt: skip
PLACES = {
    **dict.fromkeys(WHOLE),
    "graph/blocks.py": ["join_blocks"],
    "graph/build.py": ["nearest_neighbors"],
    "graph/neighbors.py": [
        "_search_sparse",
        "_search_dense",
        "_search_in_blocks",
        "_search_lists",
        "_search_by",
        "_search_whole",
        "_search_cells",
        "_sparse_distances",
    ],
    "graph/texts.py": ["join_written", "__init__"],
    "io/readers.py": ["has_columns", "_read_networkx", "_read_matrix_market"],
    "io/tables.py": ["text_table", "_quoted_or_not", "check_header"],
    "answers/plain.py": ["declared_classes", "plain_number"],
    "kinds/numbers.py": ["checked"],
    "support/memory.py": ["fits"],
    "support/progress.py": ["compiling"],
    "web/comparison.py": ["_once"],
    "web/error_replies.py": ["failed"],
    "workbench/columns.py": ["choose_columns"],
    "workbench/database.py": ["naming_errors", "reporting_damage", "refuse_links"],
    "workbench/growing.py": ["prepare_addition", "_read_rows", "_new_items", "_compared_cells"],
    "workbench/items.py": ["find_items", "_make_items", "check_ids"],
    "workbench/joining.py": [
        "join_items",
        "_check_ways",
        "directed_features",
        "_together",
        "_compare_texts",
        "_fill_gaps",
        "_check_gaps",
    ],
    "workbench/names.py": ["check_name"],
    "workbench/new_project.py": ["check_about"],
    "workbench/rejoining.py": ["compared_columns", "join_again"],
    "workbench/sampling.py": ["draw", "check_share"],
    "workbench/source.py": ["read_columns"],
    "workbench/store.py": ["create", "open", "n_items"],
    "workbench/writer_lock.py": ["_holder", "_open"],
}
STAGES = ("working", "bar", "compiling")  # functions whose texts say what is being done
NOT_SAID = re.compile(
    r"SELECT |WITH last|^PRAGMA |CREATE T|ALTER T|INSERT I|UPDATE |^[\[(?^\\]|\\d|^http|^urn:|^<|^ORDER|^one of these, nobody"
)  # SQL, XML, regular expressions and a note in files of Label Studio


def templates(place, functions):
    """Return the sentences in a file of the source, or in some of its functions, with {} for what varies."""
    tree = Bare().visit(ast.parse((SOURCE / place).read_text()))
    if functions is not None:
        known = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        return [found for name in functions for found in sentences(known[name])]
    return list(sentences(tree))


class Bare(ast.NodeTransformer):
    """Takes docstrings out, and the texts between what varies out of templates, which are looked at as a whole."""

    def visit_Expr(self, node):
        return ast.Pass() if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_JoinedStr(self, node):
        node.whole = template(node)
        node.values = [self.generic_visit(part) for part in node.values if not isinstance(part, ast.Constant)]
        return node


def sentences(node):
    """Yield each text of three words or more that is not a docstring, and each shorter one of an error or of a stage."""
    for child in ast.walk(node):
        if isinstance(child, ast.JoinedStr):
            yield from filter(is_said, [template(child)])
        elif isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield from filter(is_said, [child.value])
        elif isinstance(child, ast.Raise) or (isinstance(child, ast.Call) and getattr(child.func, "id", "") in STAGES):
            args = (
                child.exc.args
                if isinstance(child, ast.Raise) and isinstance(child.exc, ast.Call)
                else getattr(child, "args", [])
            )
            texts = [template(one) for one in args if isinstance(one, ast.JoinedStr | ast.Constant)]
            yield from (text for text in texts if re.search(r"[^\W\d_]{3}", text.replace("{}", "")))


def template(node):
    if hasattr(node, "whole"):
        return node.whole
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)


def is_said(text):
    words = re.findall(r"[^\W\d_]{2,}", text.replace("{}", ""))
    return len(words) >= 3 and " " in text.strip() and not NOT_SAID.search(text)


def keys(language):
    """Return the sentences of the server that have words in a language."""
    text = (SOURCE / "web" / "page" / "words" / f"{language}.js").read_text().partition("  server: ")[2]
    return {json.loads(key) for key in re.findall(r'^\s*("(?:[^"\\]|\\.)*"):', text, re.MULTILINE)}


@pytest.mark.parametrize("place", PLACES)
def test_every_message_that_the_start_page_can_show_has_words_in_german(place):
    assert set(templates(place, PLACES[place])) - keys("de") == set()


def test_every_reader_of_files_is_looked_at():
    """Those that are not read each number, name or cell for one that is, or a part of a parquet file."""
    readers = {f"io/{path.name}" for path in (SOURCE / "io").glob("*.py")}
    parsers = {f"io/{name}.py" for name in ("__init__", "cell_parser", "edge_parser", "name_parser", "parquet_pages")}
    assert readers - set(PLACES) == parsers


def test_every_sentence_with_words_in_german_is_still_said():
    said = {text for place, functions in PLACES.items() for text in templates(place, functions)}
    assert {key for key in keys("de") if "{}" in key and is_said(key)} - said == set()
