"""The help of the commands in panels, and what is said of commands and options that do not exist."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from askgraph.cli import app, options, simulate
from askgraph.cli.panels import OTHER_WORDS, PANELS
from askgraph.options import DEFAULTS


def invoke(*args, **env):
    return CliRunner().invoke(app, args, env=env, catch_exceptions=False)


def test_every_command_is_in_one_panel_of_the_help():
    listed = [name for names in PANELS.values() for name in names]
    assert sorted(listed) == sorted(typer.main.get_command(app).commands)
    assert list(PANELS) == ["Begin", "Label", "Look", "Bring and take", "Research"]


@pytest.mark.parametrize("columns", [80, 120])
def test_help_fits_the_terminal_and_has_panels_in_order_and_no_control_characters(columns):
    text = invoke("--help", COLUMNS=str(columns), TERMINAL_WIDTH=str(columns)).stdout
    assert max(map(len, text.splitlines())) <= columns
    assert re.findall(r"^(\w[\w ]*):$", text, re.MULTILINE) == ["Options", *PANELS]
    assert not re.search(r"[^\x20-\x7e\n]|\.\.\.$", text)  # no control characters, and no sentence that is cut
    for name in (name for names in PANELS.values() for name in names):
        assert re.search(rf"^  {name} +[A-Z]", text, re.MULTILINE), name


def test_a_simulation_has_the_options_of_a_plan_with_their_defaults():
    spelled = inspect.signature(simulate.simulate).parameters
    assert DEFAULTS.keys() - spelled.keys() == {"batch"}  # it asks one question at a time
    shown = {name: spelled[name].default for name in DEFAULTS if name in spelled}
    assert options.read_options(shown) == {name: DEFAULTS[name] for name in shown}


@pytest.mark.parametrize(
    ("text", "value"),
    [("none", None), ("sqrt", "sqrt"), ("0.5", 0.5), ("0.9,0.1", (0.9, 0.1)), ("skip", "skip"), ("a,b", "a,b")],
)
def test_an_option_of_a_plan_is_read_as_a_number_numbers_none_or_a_word(text, value):
    assert options.read_options({"doubt": text, "ahead": 3}) == {"doubt": value, "ahead": 3}


def test_every_option_of_every_command_says_what_it_is():
    commands = typer.main.get_command(app).commands
    options = [(name, one) for name, command in commands.items() for one in command.params]
    assert [(name, one.name) for name, one in options if not getattr(one, "help", None)] == []


def test_help_does_not_import_numpy():
    code = "import sys; from askgraph.cli import app; app(['--help'], standalone_mode=False); assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("lable", "no command 'lable'; did you mean label?"),
        ("LABEL", "no command 'LABEL'; did you mean label?"),
        ("backup", "no command 'backup'; did you mean copy?"),
        ("open", "no command 'open'; did you mean label?"),
        ("new", "no command 'new'; did you mean init?"),
        ("predictions", "no command 'predictions'; did you mean predict?"),
        ("run", "no command 'run'; did you mean serve?"),
        ("delete", "no command 'delete'; did you mean remove?"),
        ("items.csv", "no command 'items.csv'; did you mean label items.csv?"),
        ("xyzzy", "no command 'xyzzy'; askgraph --help lists what there is"),
        ("classes renam", "no command 'renam'; did you mean rename?"),
        ("classes new", "no command 'new'; did you mean add?"),
        ("classes xyzzy", "no command 'xyzzy'; askgraph classes --help lists what there is"),
        ("init --lable kind", "no option '--lable'; did you mean --label?"),
        ("--verison", "no option '--verison'; did you mean --version?"),
        ("classes --jsn", "no option '--jsn'; did you mean --json?"),
        ("classes rename a b --wo me", "no option '--wo'; did you mean --who?"),
        ("start --no-brwser", "no option '--no-brwser'; did you mean --no-browser?"),
        ("status --xyzzy", "no option '--xyzzy'; askgraph status --help lists what there is"),
    ],
)
def test_an_unknown_command_or_option_names_the_nearest_in_one_sentence(words, said):
    found = CliRunner().invoke(app, words.split(), prog_name="askgraph")
    assert (found.exit_code, found.output) == (2, f"askgraph: {said}\n")


def test_control_characters_of_an_unknown_command_are_written_out():
    assert "\x1b" not in invoke("\x1b[31mred").output


def test_other_words_mean_commands_that_exist():
    commands = typer.main.get_command(app).commands
    known = {*commands, *commands["classes"].commands, "--help"}
    assert {name for names in OTHER_WORDS.values() for name in names} <= known
    assert not set(OTHER_WORDS) & set(commands)
