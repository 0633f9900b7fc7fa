"""Names of a learner that changed, as they were."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from askgraph.answers.plain import plain_label
from askgraph.errors import SettingError
from askgraph.plan.chance import SpotChecks
from askgraph.support.arguments import whole_number
from askgraph.support.moved import Instead

OLD_KEYWORDS = {"utility": "sampler"}
JUDGED = "expected_error enough labels_needed audit suspects advice spot_checks left_to_find finished choice tell_audit group"


def _likeliest(learner: Any, label: Hashable, n: int = 1) -> list[Hashable]:
    n, label = whole_number(n, "n", 1), plain_label(label)
    if label not in learner.classes:
        raise SettingError(f"no class {label!r} yet: label a node so first")
    return [question.node for question in learner.question(n, plan=learner.plan.finding(label))]


def _alternatives(learner: Any, n: int) -> list[Hashable]:
    return [question.node for question in learner.question(n, batch="now")] if whole_number(n, "n") else []


def _is_spot_check(learner: Any, ahead: int = 0) -> bool:
    number = learner.field.held + len(learner.history.set_aside) + whole_number(ahead, "ahead")
    return any(isinstance(rule, SpotChecks) and (number + 1) % rule.every == 0 for rule in learner.plan.rules)


def _next_questions(learner: Any) -> dict[Hashable, Hashable]:
    return {label: found and found.node for label, found in learner._following.questions.items()}


def _stop_prefetch(learner: Any) -> None:
    learner._following.stop()


def _method(new: str, function: Callable[..., Any]) -> Instead:
    return Instead(new, lambda learner: partial(function, learner))


OLD_NAMES: dict[str, str | Instead] = {
    **{name: f"judge.{name}" for name in JUDGED.split()},
    "log": "history.log",
    "settings": Instead("plan", lambda learner: learner._settings),
    "suggest": "guesses.tell",
    "suggest_all": "guesses.tell_all",
    "suspect_suggestions": "guesses.suspects",
    "sources": "guesses.sources",
    "likeliest": _method("question(n, plan=learner.plan.finding(label))", _likeliest),
    "alternatives": _method("question(n, batch='now')", _alternatives),
    "is_spot_check": _method("question().by == 'spot check'", _is_spot_check),
    "stop_prefetch": _method("prefetch().stop()", _stop_prefetch),
    "next_questions": Instead("prefetch().questions", _next_questions),
    "prefetching": Instead("prefetch().running", lambda learner: learner._following.running),
}
