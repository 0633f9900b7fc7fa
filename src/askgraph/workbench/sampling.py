"""The random sample that certifies a search: drawn once, read by people, and what it proves.

A sample is a line in the log of changes. It holds a seed that was drawn for it, and a fingerprint of the items that had no answer
then; which of them are in the sample follows from both, and from nothing else. So a restart, an undo and several people find the
same sample, nobody can choose another one, and a certificate can be recomputed from the file.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Hashable
from hashlib import sha256
from heapq import nsmallest
from typing import Any

from askgraph.errors import LabelError
from askgraph.kinds.certificate import Certificate, Sample, certify, confidence, percent, to_read
from askgraph.plan import Question
from askgraph.workbench.answers import OPEN, Answers
from askgraph.workbench.classes import Change
from askgraph.workbench.notes import NOTES
from askgraph.workbench.store import Store

BY_SAMPLE = "sample"  # who asks for an item of a sample
SHARES = (0.5, 0.99)  # of a class, that can be certified: from, to


class Sampling:
    """The sample of the search that goes on, if one was drawn."""

    def __init__(self, store: Store, answers: Answers) -> None:
        self._store, self._answers = store, answers
        self._known: dict[int, Sample | None] = {}  # line of the log of changes -> the sample that it drew

    def found(self) -> int:
        """Return how many items of what is sought are found."""
        kind, sought = self._answers.kind, self._answers.sought
        return sum(kind.is_found(label, sought) for label in self._answers.labels.values())

    def left(self) -> int:
        """Return how many items have no answer; those put off are among them."""
        return self._store.n_items - len(self._answers.answered())

    def draw(self, share: str | None) -> str:
        """Return what the log says of a new sample, large enough to certify a share; raise an error if there can be none."""
        sought, wanted = self._answers.sought, check_share(share)
        if sought is None:
            raise LabelError("nothing is sought: begin a search with askgraph find CLASS, or on the page")
        self._answers.kind.check_counted(sought)
        if (now := self.certificate()) and now.share is None:
            raise LabelError(
                f"a random sample of {now.sample:,} items is being read, {now.read:,} so far: read all of it, or take it back "
                "with askgraph classes undo"
            )
        if not (found := self.found()):
            raise LabelError("nothing of it is found yet: find some first, and then certify how much that is")
        answered = self._answers.answered()
        ids = self._store.ids()
        rest = [id for place, id in enumerate(ids) if place not in answered]
        if not (read := to_read(found, len(rest), wanted)):
            raise LabelError(f"at least {percent(wanted)} is found already, whatever is left: there is nothing to read")
        said = {"share": wanted, "read": read, "items": len(ids), "seed": secrets.token_hex(16)}
        return json.dumps({**said, "rest": _fingerprint(said, rest)})

    def sample(self) -> Sample | None:
        """Return the sample of the search that goes on; None if there is none, or if items of it were removed since."""
        drawn = self._answers.naming.sample
        return None if drawn is None else self._drawn(drawn)

    def questions(self, n: int) -> list[Question]:
        """Return up to n questions of the sample that nobody has answered or put off."""
        sample = self.sample()
        places = [] if sample is None else [int(str(node)) for node in sample.nodes]
        return [Question(place, BY_SAMPLE) for place in places if self._answers.decision(place) == OPEN][:n]

    def certificate(self) -> Certificate | None:
        """Return what the sample proves, nothing before all of it is read; None if there is no sample."""
        sample, answers = self.sample(), self._answers
        if sample is None:
            return None
        items = sample.left + len(sample.answered)  # that there were: those added since were not drawn from
        kind, labels = answers.kind, answers.labels
        told: dict[Hashable, bool] = {
            place: kind.is_found(label, sample.label) for place, label in labels.items() if place < items
        }
        aside = {place for place in answers.answered() - labels.keys() if place < items}
        drawn = answers.naming.sample
        earlier = [one for one in answers.naming.samples if drawn is not None and one.seq < drawn.seq]
        return certify(sample, told, aside, 1 + self._were_read(earlier))

    def next_confidence(self) -> float:
        """Return the confidence of the certificate of a further sample: lower for each that was read before."""
        return confidence(1 + self._were_read(self._answers.naming.samples))

    def _were_read(self, drawn: list[Change]) -> int:
        """Return of how many samples something was read."""
        return sum(map(self._was_read, drawn))

    def _was_read(self, drawn: Change) -> bool:
        """Return whether something of a sample was answered before it was taken back or another one was drawn.

        Of a sample that is lost nobody knows, so it counts.
        """
        changes, answers = self._answers.naming.log.values(), self._answers.log.values()
        later = (one for one in changes if one.seq > drawn.seq)
        end = next(
            (one.answers for one in later if one.kind == "certify" or one.undoes == drawn.seq), self._answers.seq
        )
        if (sample := self._drawn(drawn)) is None:
            return True
        nodes = set(sample.nodes)
        return any(
            drawn.answers < one.seq <= end and one.item in nodes and one.kind not in ("later", *NOTES)
            for one in answers
        )

    def _drawn(self, drawn: Change) -> Sample | None:
        """Return the sample that a line of the log drew; None where items were removed since."""
        if drawn.seq not in self._known:
            self._known[drawn.seq] = self._redrawn(drawn)
        found = self._known[drawn.seq]
        return found and found._replace(label=self._answers.sought)

    def _redrawn(self, drawn: Change) -> Sample | None:
        said, ids = read_draw(drawn), self._store.ids()
        items, read, answered = said.get("items"), said.get("read"), self._answers.before(drawn)
        if not isinstance(items, int) or not isinstance(read, int) or not isinstance(said.get("share"), float):
            return None
        if not 0 <= items <= len(ids):
            return None
        rest = [place for place in range(items) if place not in answered]
        if _fingerprint(said, [ids[place] for place in rest]) != said.get("rest"):
            return None
        order = {sha256(f"{said.get('seed')}\n{ids[place]}".encode()).digest(): place for place in rest}
        return Sample(None, tuple(order[one] for one in nsmallest(read, order)), len(rest), answered)


def read_draw(drawn: Change) -> dict[str, Any]:
    """Return what a line of the log says of the sample that it drew; nothing where it says nothing that can be read."""
    try:
        said = json.loads(drawn.value or "")
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def check_share(said: str | None) -> float:
    """Return the share to be certified, as a request says it."""
    try:
        share = float(said or "")
    except ValueError:
        share = 0.0
    if not SHARES[0] <= share <= SHARES[1]:
        raise LabelError(
            f"a share of {said!r} to be certified: give one from {SHARES[0]:g} to {SHARES[1]:g}, such as 0.95"
        )
    return share


def _fingerprint(said: dict[str, Any], rest: list[str]) -> str:
    """Return a text that changes with what is said of a sample, or with the items that it is drawn from."""
    parts = [str(said.get(name)) for name in ("share", "read", "items", "seed")]
    return sha256("\n".join([*parts, *rest]).encode()).hexdigest()
