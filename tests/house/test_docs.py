"""The docs stay true: links lead somewhere, every Python block runs as pasted, every command can be given as written."""

from __future__ import annotations

import ast
import asyncio
import codeop
import json
import re
import runpy
import shlex
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
import typer
from typer.testing import CliRunner

import askgraph as ag
from askgraph.cli import app
from askgraph.utilities import SAMPLERS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CODE_OF_CONDUCT.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "GOVERNANCE.md",
    ROOT / "SECURITY.md",
    ROOT / "VISION.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
TAUGHT = [  # pages for users: what they show can be pasted
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "howto").glob("*.md")),
    *sorted((ROOT / "docs" / "questions").glob("*.md")),
]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.py"))
MADE = {
    f"gallery/plot_{name}" for name in ("patients", "samplers", "sensors", "severity", "tags")
}  # pages that the build of the site makes from tutorials
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SHELL = re.compile(r"^```shell\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
RANGE = re.compile(r"(\d+(?:\.\d+)?) to (\d+(?:\.\d+)?)")
NEEDS = {  # words of a block -> what it needs that may not be here, and why it is skipped then
    "ag.read_shards": (find_spec("petsc4py") and find_spec("mpi4py"), "no petsc4py or mpi4py here: make test-petsc"),
    "import scanpy": (find_spec("scanpy"), "no scanpy here: make test-clients"),
    "import skactiveml": (find_spec("skactiveml"), "no scikit-activeml here: make test-clients"),
    "torch_geometric": (find_spec("torch_geometric"), "no PyTorch Geometric here: make test-clients"),
}
MARKS = {
    "ag.read_shards": pytest.mark.mpi,
    "askgraph.paper.datasets": pytest.mark.data,
    "torch_geometric": pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated"),  # it calls that
}


class Block(NamedTuple):
    """A Python block of a page: which one, counted from 1, the line it begins at, and whether it goes on from the one before."""

    page: Path
    number: int
    line: int
    code: str
    goes_on: bool


def blocks(page):
    """The Python blocks of a page; one goes on from the one before where the paragraph before it says so."""
    text, found = page.read_text(), []
    for number, match in enumerate(PYTHON.finditer(text), 1):
        paragraph = text[: match.start()].rstrip().rpartition("\n\n")[2]
        goes_on = number > 1 and "going on with" in paragraph.casefold()
        found.append(Block(page, number, text.count("\n", 0, match.start(1)), match[1], goes_on))
    return found


def pasted(block):
    """What a reader pastes: this block, and before it those that it goes on from."""
    before = blocks(block.page)[: block.number - 1]
    return [*pasted(before[-1]), block] if block.goes_on else [block]


def parameter(block):
    code = "".join(part.code for part in pasted(block))
    needs = [pytest.mark.skipif(not there, reason=reason) for word, (there, reason) in NEEDS.items() if word in code]
    marks = [mark for word, mark in MARKS.items() if word in code]
    return pytest.param(block, marks=[*needs, *marks], id=f"{block.page.name}-{block.number}")


BLOCKS = [block for page in TAUGHT for block in blocks(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert target.removeprefix("../") in MADE or (page.parent / target).exists() or target.startswith("https://"), (
            target
        )


@pytest.mark.parametrize("block", [parameter(block) for block in BLOCKS])
def test_a_python_block_runs_as_pasted(block, tmp_path, monkeypatch, capsys):
    """In an empty folder, with no name given; what a print is said to print, in the comment behind it, is what it prints."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for part in pasted(block):
        tree = ast.increment_lineno(ast.parse(part.code), part.line)
        for statement in tree.body:
            capsys.readouterr()
            exec(compile(ast.Module([statement], []), str(part.page), "exec"), names)
            if claim := claimed(statement, part):
                assert_alike(capsys.readouterr().out, claim, f"{part.page.name}, line {statement.lineno}")


def claimed(statement, block):
    """The comment behind a print, or nothing."""
    if not (isinstance(statement, ast.Expr) and ast.unparse(statement).startswith("print(")):
        return ""
    last = block.code.splitlines()[statement.end_lineno - block.line - 1]
    return last.encode()[statement.end_col_offset :].decode().strip().removeprefix("#").strip()


def assert_alike(out, claim, where):
    """The same words, and the same numbers as far as they are written; a number alone may be said as a range, "0.97 to 0.99"."""
    if (said := RANGE.fullmatch(claim)) and NUMBER.fullmatch(out.strip()):
        assert float(said[1]) <= float(out) <= float(said[2]), f"{where}: {out.strip()} is not {claim}"
        return
    assert NUMBER.sub("0", out.strip()) == NUMBER.sub("0", claim), where
    for came, said in zip(NUMBER.findall(out), NUMBER.findall(claim), strict=True):
        last = 10.0 ** -len(said.partition(".")[2])  # one unit of the last digit: an exact value is rounded elsewhere
        assert float(came) == pytest.approx(float(said), rel=0, abs=last if "." in said else 0.5), where


def test_the_web_app_loses_no_label_of_people_who_answer_at_once():
    import httpx  # not in the environment of the engine over MPI, which reads this file too

    (block,), names, said = blocks(ROOT / "docs" / "howto" / "web_app.md"), {}, {}
    exec(block.code, names)

    async def label(client, person):
        for _ in range(6):
            node = (await client.get("/question", params={"person": person})).json()["node"]
            assert node not in said  # nobody else has it
            said[node] = int(names["digits"][node])
            reply = await client.post("/answer", params={"person": person, "label": said[node]})
            assert reply.status_code == 200

    async def everybody():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(names["app"]), base_url="http://here") as client:
            await asyncio.gather(*(label(client, person) for person in ("ann", "bo", "cy", "di")))
            assert (await client.post("/answer", params={"person": "eve", "label": 3})).status_code == 409

    asyncio.run(everybody())
    assert names["learner"].labels == said
    assert len(names["learner"].history.log) == len(said) == 24


class StandIn(BaseHTTPRequestHandler):
    """A language model that knows one word, and is too busy for one item."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        busy = self.path != "/v1/chat/completions" or asked["messages"][1]["content"].endswith(" 5")
        said = {"model": asked["model"], "choices": [{"message": {"content": "Spam."}}]}
        self.send_response(503 if busy else 200)
        self.end_headers()
        self.wfile.write(json.dumps({} if busy else said).encode())

    def log_message(self, *_):
        """Print nothing."""


def test_a_model_is_asked_and_answers(tmp_path, monkeypatch):
    """The whole page, against a server in place of a model."""
    monkeypatch.chdir(tmp_path)
    Path("mails.csv").write_text("text\n" + "".join(f"free prize number {k}\n" for k in range(8)))
    run, (page,) = CliRunner(), [page for page in TAUGHT if page.name == "ask_a_model.md"]
    assert run.invoke(app, ["init", "mails.csv", "--text", "text", "--classes", "spam,ham"]).exit_code == 0
    (export, suggest, sources), (block,) = commands(page), blocks(page)
    assert "8 requests" in run.invoke(app, export).stdout
    server = ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    monkeypatch.setenv("MODEL_URL", f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever).start()
    try:
        exec(block.code, {})
    finally:
        server.shutdown()
        server.server_close()
    said = run.invoke(app, suggest).stdout
    assert "qwen2.5:7b: 7 guesses" in said
    assert "1 line left out, the request failed: 'HTTP Error 503" in said
    assert "7 (88%)" in run.invoke(app, sources).stdout
    assert "1 request to" in run.invoke(app, export).stdout


@pytest.mark.parametrize("script", TUTORIALS, ids=lambda script: script.stem)
def test_a_tutorial_runs_as_downloaded(script, tmp_path, monkeypatch):
    """Without a display; its pictures are drawn and thrown away."""
    import matplotlib.pyplot as plots

    plots.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert plots.get_fignums()
    plots.close("all")


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.page.name}-{block.number}")
def test_a_python_block_can_be_pasted_at_the_prompt(block):
    """Python's own prompt takes a line at a time and wants an empty one after a loop or a function."""
    waiting: list[str] = []
    for line in [*block.code.splitlines(), ""]:
        waiting.append(line)
        if codeop.compile_command("\n".join(waiting), symbol="single") is not None:
            waiting.clear()
    assert not any(waiting)


def commands(page):
    """What a page says to type that begins with askgraph, as words: lines of shell blocks, and code within sentences."""
    text = page.read_text()
    lines = [line for block in SHELL.findall(text) for line in block.splitlines()]
    lines += re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))
    for line in lines:
        if found := re.match(r"(?:[A-Z_]+=\S+ |mpiexec -n \d+ )*askgraph ([a-z].*)", line):
            yield shlex.split(found[1], comments=True)


def test_every_command_can_be_given_as_written():
    """Each command exists, and takes these options and values; nothing is run."""
    main = typer.main.get_command(app)
    given = [(page, words) for page in TAUGHT for words in commands(page)]
    for page, (name, *words) in given:
        where = f"{page.name}: askgraph {shlex.join([name, *words])}"
        assert name in main.commands, where
        try:
            main.commands[name].make_context(name, words)
        except Exception as error:  # typer may bring a click of its own
            pytest.fail(f"{where}: {error}")
    seen = {page.name: sum(other == page for other, _ in given) for page in TAUGHT}
    assert min(seen[name] for name in ("README.md", "guide.md", "workbench.md")) >= 7, seen


HISTORY = (  # a page that says one of these tells what was, and not what is
    *("used to", "was the aim", "since then", "since that", "measured before", "before the rule", "as before"),
    *("no longer", "in an earlier version"),
    *(
        "what did not pay",
        "earlier state",
        "is closed now",
        "late trials",
        "was refused before",
        "was dropped",
        "0.1.0",
    ),
    *("now takes", "before 0.", "version before", "31a6fcd", "has not been run again", "of the time now"),
)
TOLD = [  # pages that tell what is; the changelog tells what changed, benchmarks/NOTES.md what was tried
    *(page for page in PAGES if page.name not in ("CHANGELOG.md", "changelog.md")),
    *TUTORIALS,
]
EXCEPTIONS = {  # (page, a part of the line) -> why it may stand
    ("commands.md", "[default: as before]"): "the default of an option is what the project has",
    ("README.md", "askgraph 0.1.0, python"): "a report says which version made it",
    ("commands.md", "all answers since then"): "a time that the reader gives",
    ("workbench.md", "a person said since then"): "the same",
}


@pytest.mark.parametrize("page", TOLD, ids=lambda page: page.name)
def test_a_page_tells_what_is(page):
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for phrase in HISTORY:
            excused = any(page.name == name and part in line for name, part in EXCEPTIONS)
            assert phrase not in line.casefold() or excused, (
                f"{page.name}, line {number}: {phrase}: {line.strip()[:120]}"
            )


def test_the_guide_names_every_sampler():
    guide = (ROOT / "docs" / "guide.md").read_text()
    assert all(f"| `{name}` |" in guide for name in SAMPLERS)


def test_the_makefile_and_the_package_agree_on_python():
    assert 'requires-python = ">=3.11"' in (ROOT / "pyproject.toml").read_text()
    assert "(3, 11)" in (ROOT / "Makefile").read_text()
    assert f"## {ag.__version__}" in (ROOT / "CHANGELOG.md").read_text()
