"""How ``askgraph --help`` lists commands, and what is said of a command or an option that does not exist."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from askgraph.errors import without_controls
from askgraph.support.wording import nearest

PANELS = {  # every command, in the order in which a person meets it
    "Begin": ("start", "label", "init", "serve"),
    "Label": ("ask", "tell", "relabel", "skip", "undo", "find", "note", "mark", "classes", "guidelines", "role"),
    "Look": ("status", "review", "people", "second", "history", "report", "doctor"),
    "Bring and take": ("add", "suggest", "rule", "sources", "embed", "predict", "export", "copy", "restore", "remove"),
    "Research": ("demo", "simulate", "plot", "paper", "arena"),
}
WIDEST = 120  # characters per line of help; wider terminals leave the rest free
OTHER_WORDS = {  # what people type who know other programs -> the commands it may mean, the first that a group has
    **dict.fromkeys(("new", "create", "make", "import", "load"), ("init", "add")),
    **dict.fromkeys(("open", "annotate", "go"), ("label",)),
    **dict.fromkeys(("gui", "ui", "web", "app", "begin"), ("start",)),
    **dict.fromkeys(("server", "run", "host", "share"), ("serve",)),
    **dict.fromkeys(("next", "question", "query"), ("ask",)),
    **dict.fromkeys(("answer", "set"), ("tell",)),
    **dict.fromkeys(("progress", "info", "show", "stats"), ("status",)),
    **dict.fromkeys(("log", "answers"), ("history",)),
    **dict.fromkeys(("sign", "print", "summary"), ("report",)),
    **dict.fromkeys(("comment", "comments", "remark"), ("note",)),
    **dict.fromkeys(("return", "bookmark", "flag"), ("mark",)),
    **dict.fromkeys(("blind", "twice", "overlap"), ("second",)),
    **dict.fromkeys(("users", "agreement", "team"), ("people",)),
    **dict.fromkeys(("check", "diagnose", "verify"), ("doctor",)),
    **dict.fromkeys(("append", "update", "extend"), ("add",)),
    **dict.fromkeys(("delete", "rm", "drop"), ("remove",)),
    **dict.fromkeys(("predictions", "classify", "infer"), ("predict",)),
    **dict.fromkeys(("download", "dump"), ("export",)),
    **dict.fromkeys(("backup", "save"), ("copy",)),
    **dict.fromkeys(("vectors", "vectorize"), ("embed",)),
    **dict.fromkeys(("sort",), ("order",)),
    **dict.fromkeys(("categories", "tags"), ("classes",)),
    **dict.fromkeys(("instructions",), ("guidelines",)),
    **dict.fromkeys(("rules", "heuristics"), ("rule",)),
    **dict.fromkeys(("roles", "password", "passwords", "lead", "labeler", "member"), ("role",)),
    **dict.fromkeys(("help", "commands"), ("--help",)),
}


class Commands(TyperGroup):
    """A group of commands that lists them by panels and names the nearest to one that does not exist."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, each with the first part of its first sentence."""
        panels = PANELS if ctx.parent is None else {"Commands": tuple(self.commands)}
        wide = max(map(len, self.commands))
        for panel, names in panels.items():
            with formatter.section(panel):
                formatter.write_dl([(name.ljust(wide), _in_short(self.commands[name])) for name in names])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the first argument names; say which is meant where there is none."""
        word = args[0]
        if word not in self.commands and not ctx.resilient_parsing:
            _refuse(f"no command {word!r}", self._meant(word), ctx.command_path)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the options of the group itself."""
        with _naming_options():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Read the options of a command, and run it."""
        with _naming_options():
            return super().invoke(ctx)

    def _meant(self, word: str) -> str | None:
        """Return the command that a word means: by other programs, by a file to label, or by its letters."""
        known = [name for name in OTHER_WORDS.get(word.casefold(), ()) if name in (*self.commands, "--help")]
        if not known and "label" in self.commands and "." in word:
            return f"label {word}"
        return known[0] if known else nearest(word, list(self.commands))


def _in_short(command: Any) -> str:
    """Return what a command does, without what follows a colon or a semicolon, and without a period."""
    sentence = " ".join((command.help or "").split("\n\n")[0].split())
    return re.split("[:;]", sentence)[0].rstrip(".")


@contextmanager
def _naming_options() -> Iterator[None]:
    """Say which option is meant where there is none of that name."""
    try:
        yield
    except Exception as error:  # typer has a copy of click or needs click, by its version: the class has two homes
        if type(error).__name__ != "NoSuchOption":
            raise
        context, name = error.ctx, error.option_name  # type: ignore[attr-defined]
        if name[1:2].isdigit():
            what = (
                f"{name} looks like an option: put -- before a number below 0, as in {context.command_path} 17 -- -3.5"
            )
            _refuse(what, None, context.command_path)
        flags = [flag for option in context.command.get_params(context) for flag in _flags(option)]
        _refuse(f"no option {name!r}", nearest(name, flags), context.command_path)


def _flags(option: Any) -> Sequence[str]:
    return [] if option.param_type_name != "option" else [*option.opts, *option.secondary_opts]


def _refuse(what: str, meant: str | None, path: str) -> NoReturn:
    """Say what does not exist and what may be meant, and end with the status of a wrong command line."""
    advice = f"did you mean {meant}?" if meant else f"{path} --help lists what there is"
    print(without_controls(f"askgraph: {what}; {advice}"), file=sys.stderr)
    raise typer.Exit(2)
