"""Names of a project that changed, as they were."""

from __future__ import annotations

from typing import Any

from askgraph.support.arguments import whole_number
from askgraph.support.moved import Instead

OLD_KEYWORDS = {"suggestions": "guesses"}
ITEMS = "place item title naming_field named_by_id shown unseen columns copies search n_items"
LOG = "check check_classes change undo_change guidelines write_guidelines open_at count_answered left"


def _alternatives(project: Any) -> Any:
    return lambda n: [question.node for question in project.questions(whole_number(n, "n", 1), at_once=True)]


OLD_NAMES: dict[str, str | Instead] = {
    **{name: f"items.{name}" for name in ITEMS.split()},
    **{name: f"log.{name}" for name in LOG.split()},
    "sought": "model.sought",
    "alternatives": Instead("questions(n, at_once=True)", _alternatives),
}
