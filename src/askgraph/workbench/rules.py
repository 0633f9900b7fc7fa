"""Rules: a regular expression, or a condition on a column, that guesses a class for the items it fits.

A rule is a line in the log of changes, and what it guesses lies beside what models guess, under the name of the rule. It counts
as long as the line stands, for the class that this line speaks of, whatever that is called by now.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from askgraph.errors import LabelError, SettingError
from askgraph.support.wording import few
from askgraph.workbench.cells import is_storable, number, readable
from askgraph.workbench.classes import Change, Classes
from askgraph.workbench.guesses import RULE, Guess
from askgraph.workbench.searching import SECONDS, TooSlow, search
from askgraph.workbench.store import Item, Store
from askgraph.workbench.stored_items import StoredItems

MAX_RULE_CHARACTERS = 500
SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}  # the longer ones first: ">=" begins with ">"
SIGN = re.compile(rf"\s*({'|'.join(SIGNS)})\s*(.*)", re.DOTALL)
CONDITION = re.compile(r"([^=<>!|()\[\]*+?]+?)\s*(==|!=|>=|<=|>|<)\s*[^=<>!]*")  # what looks like one


class Rule(NamedTuple):
    """What an item must have: an expression in one of its columns of text, or a column that compares so with a value.

    ``columns`` are those to search, all of text if there are none; of a condition, ``sign`` says how its one column compares
    with ``test``. Upper and lower case are the same unless ``case``.
    """

    test: str
    columns: tuple[str, ...] = ()
    sign: str | None = None
    case: bool = False

    def __str__(self) -> str:
        """Return the rule as people read it."""
        if self.sign is not None:
            return f"{self.columns[0]} {self.sign} {self.test or repr('')}"
        where = f" in {', '.join(self.columns)}" if self.columns else ""
        return f"{self.test}{where}{' (upper and lower case differ)' if self.case else ''}"

    @property
    def source(self) -> str:
        """The name under which its guesses are stored."""
        return f"{RULE}{self}"

    def to_json(self) -> str:
        """Return the rule as a line of the log holds it."""
        return json.dumps(self._asdict(), ensure_ascii=False)


def from_json(text: str | None) -> Rule:
    """Return the rule that a line of the log holds; raise an error if it holds none."""
    try:
        said = json.loads(text or "")
        rule = Rule(said["test"], tuple(said["columns"]), said["sign"], said["case"])
    except (ValueError, RecursionError, TypeError, KeyError):
        raise LabelError(f"{text!r} is not a rule; askgraph rule makes one") from None
    texts = (rule.test, *rule.columns)
    odd = not all(isinstance(one, str) and is_storable(one) for one in texts) or len(rule.test) > MAX_RULE_CHARACTERS
    if odd or rule.sign not in (None, *SIGNS) or (rule.sign is not None and len(rule.columns) != 1):
        raise LabelError(f"{text!r} is not a rule; askgraph rule makes one")
    return rule


def read_rule(text: str, items: StoredItems, columns: Sequence[str] = (), case: bool = False) -> Rule:
    """Return the rule that a person types: a column, a sign and a value, else a regular expression.

    With ``columns`` it is an expression, to be searched in these.
    """
    text = text.strip()
    if not text or len(text) > MAX_RULE_CHARACTERS or not is_storable(text) or "\n" in text:
        raise SettingError(f"a rule is one line of 1 to {MAX_RULE_CHARACTERS} characters")
    known = items.fields
    if odd := [name for name in columns if name not in known]:
        raise SettingError(f"no column called {few(odd)}; columns: {few(list(known))}")
    if columns:
        return Rule(text, tuple(columns), None, case)
    for name in sorted(known, key=len, reverse=True):
        if text.startswith(name) and (found := SIGN.fullmatch(text[len(name) :])):
            return _condition(name, found[1], found[2].strip(), case)
    if found := CONDITION.fullmatch(text):
        raise SettingError(
            f"no column called {found[1].strip()!r} (columns: {few(list(known))}); to search for these characters, name a "
            "column with --column"
        )
    if not items.text_columns:
        raise SettingError(f"no column of text to search; compare a column, as in {next(iter(known), 'price')!r} > 100")
    return Rule(text, (), None, case)


def _condition(column: str, sign: str, value: str, case: bool) -> Rule:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    value = value[1:-1] if quoted else value
    if sign not in ("==", "!=") and number(value) is None:
        raise SettingError(f"{column} {sign} {value}: compare with a number, or say == or !=")
    if not value and not quoted:
        raise SettingError(f"{column} {sign}: compare with what? '' stands for an empty cell")
    return Rule(value, (column,), sign, case)


def fitting(rule: Rule, items: StoredItems, every: Iterable[Item]) -> list[int]:
    """Return which items of a list a rule fits, by their numbers in it; raise an error if that takes too long."""
    if rule.sign is not None:
        fits = _comparing(rule)
        return [k for k, item in enumerate(every) if fits(item.fields.get(rule.columns[0]))]
    columns = rule.columns or items.text_columns
    try:
        return search(rule.test, rule.case, (_texts(item, columns) for item in every))
    except ValueError as error:
        raise SettingError(f"{rule.test!r} is not a regular expression ({error})") from None
    except TooSlow:
        raise SettingError(
            f"{rule.test!r} was not found or missed in all items within {SECONDS:g} seconds; write it without a repetition "
            "inside a repetition, as in (a+)+"
        ) from None


def _texts(item: Item, columns: Sequence[str]) -> list[str]:
    return [readable(str(item.fields[name])) for name in columns if item.fields.get(name) is not None]


def _comparing(rule: Rule) -> Callable[[Any], bool]:
    """Return a function that compares a cell with the value of a condition: as numbers if both are, else as text."""
    compare, wanted = SIGNS[rule.sign or "=="], number(rule.test)

    def fits(cell: Any) -> bool:
        is_number = None if cell is None else number(cell)
        if is_number is not None and wanted is not None:
            return compare(is_number, wanted)
        return rule.sign in ("==", "!=") and compare(plain(cell), plain(rule.test))

    def plain(cell: Any) -> str:
        text = "" if cell is None else readable(str(cell)).strip()
        return text if rule.case else text.casefold()

    return fits


def standing_rules(naming: Classes) -> dict[str, tuple[Change, Rule, str]]:
    """Return the rules that stand by the names of their sources: the line, the rule, and the present name of its class."""
    found: dict[str, tuple[Change, Rule, str]] = {}
    for change, name in naming.rules:
        with suppress(LabelError):  # a line of another program that holds none
            rule = from_json(change.value)
            found[rule.source] = (change, rule, name)
    return found


def standing_guesses(store: Store, naming: Classes, place: int | None = None) -> Iterator[Guess]:
    """Yield the guesses for an item or for all, by the present names of classes; not those of rules that were taken back."""
    rules = standing_rules(naming)
    for one in store.guesses(place):
        if one.source in rules:
            yield one._replace(label=rules[one.source][2])
        elif not one.source.startswith(RULE):
            yield one._replace(label=naming.meant(one.label))


def guesses_of_rules(naming: Classes, items: StoredItems, new: Sequence[Item]) -> tuple[list[Guess], list[str]]:
    """Return what all rules guess of new items, by their numbers, and sentences on rules that could not be applied."""
    guesses, left = list[Guess](), list[str]()
    for source, (_, rule, label) in standing_rules(naming).items():
        try:
            guesses += [Guess(k, source, label) for k in fitting(rule, items, new)]
        except SettingError as error:
            left.append(f"without suggestions of the rule {str(rule)!r}: {error}")
    return guesses, left
