"""Answers that several classes have a share of: one of some classes, or shares that a person says."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from askgraph.answers.plain import plain_label
from askgraph.errors import LabelError, SettingError
from askgraph.support.arguments import real_number

SUM = 1e-9  # shares may add up to more than 1 by this much


@dataclass(frozen=True)
class OneOf:
    """The answer that it is one of some classes, and nobody said which; made by :func:`one_of`.

    Attributes
    ----------
    names : tuple of hashable
        The classes, in the order of their texts.
    """

    names: tuple[Hashable, ...]

    @property
    def shares(self) -> tuple[tuple[Hashable, float], ...]:
        """The classes, the same share for each."""
        return tuple((name, 1 / len(self.names)) for name in self.names)

    def __str__(self) -> str:
        """Return the classes, joined by "or"."""
        return " or ".join(map(str, self.names))


@dataclass(frozen=True)
class Shares:
    """The answer that classes have shares; made of a dictionary such as ``{"cat": 0.7, "dog": 0.3}``.

    Attributes
    ----------
    shares : tuple
        (class, share) pairs, in the order of their texts.
    """

    shares: tuple[tuple[Hashable, float], ...]

    @property
    def names(self) -> tuple[Hashable, ...]:
        """The classes."""
        return tuple(name for name, _ in self.shares)

    def __str__(self) -> str:
        """Return the classes, each with its share in percent."""
        return ", ".join(f"{name} {share:.0%}" for name, share in self.shares)


def one_of(*names: Hashable) -> OneOf:
    """Return the answer that it is one of these classes, and that nobody knows which.

    Parameters
    ----------
    *names : hashable
        Two or more classes that are known: declared, or told before. A hierarchy is a dictionary of such lists.

    Returns
    -------
    OneOf
        What :meth:`Learner.tell` takes.

    Examples
    --------
    >>> import askgraph as ag
    >>> animals = {"pet": ["cat", "dog"]}
    >>> learner = ag.Learner(ag.chain(6), classes=["cat", "dog", "cow"], rng=0)
    >>> learner.tell_all({0: "cat", 5: "cow", 2: ag.one_of(*animals["pet"])})
    >>> str(learner.labels[2]), learner.predict([1, 2]).tolist()
    ('cat or dog', ['cat', 'cat'])
    """
    if len(names) == 1 and isinstance(names[0], list | set | tuple | dict):
        raise LabelError(f"one_of({names[0]!r}): give the classes one by one, as in one_of(*classes)")
    found = tuple(dict.fromkeys(map(plain_label, names)))
    if len(found) < 2:
        said = repr(names[0]) if names else ""
        raise LabelError(f"one_of({said}): give two or more classes; an answer that is sure is the class itself")
    return OneOf(tuple(sorted(found, key=str)))


def as_shares(said: Mapping[Any, Any]) -> Shares | Hashable:
    """Return the answer that a dictionary of shares stands for: the class itself where one class has all."""
    shares: dict[Hashable, float] = {}
    for name, share in said.items():
        label = plain_label(name)
        shares[label] = _share(label, share)
    total = sum(shares.values())
    if not shares or not 0 < total <= 1 + SUM:
        raise LabelError(f"{dict(said)!r} adds up to {total:g}: give each class a share, which add up to 1 at most")
    some = sorted(((name, share) for name, share in shares.items() if share), key=lambda one: str(one[0]))
    return some[0][0] if len(some) == 1 and some[0][1] == 1 else Shares(tuple(some))


def check_known(answer: OneOf | Shares, classes: Iterable[Hashable]) -> None:
    """Raise an error for a class that is not known: a slip of the pen would be a new class."""
    unknown = [name for name in answer.names if name not in set(classes)]
    if unknown:
        raise LabelError(
            f"{answer}: no class {unknown[0]!r} yet; declare it in classes=[...], or tell it once by itself"
        )


def to_plain(answer: Any) -> Any:
    """Return an answer as values that a JSON file holds."""
    if isinstance(answer, OneOf):
        return {"one of": list(answer.names)}
    return {"shares": [list(one) for one in answer.shares]} if isinstance(answer, Shares) else answer


def from_plain(plain: Any) -> Any:
    """Return the answer that ``to_plain`` gave."""
    if not isinstance(plain, dict):
        return plain
    ((how, said),) = plain.items()
    return OneOf(tuple(said)) if how == "one of" else Shares(tuple((name, share) for name, share in said))


def _share(name: Hashable, share: Any) -> float:
    try:
        return real_number(share, f"share of {name!r}", 0.0, 1.0, "a number from 0 to 1")
    except SettingError as error:
        raise LabelError(str(error)) from None
