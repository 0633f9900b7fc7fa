"""Which item to ask for next: a plan is rules in order over one sampler, and a question says who asks it."""

from __future__ import annotations

from askgraph.plan.plan import Plan
from askgraph.plan.rule import Rule
from askgraph.plan.sampler import Sampler
from askgraph.plan.turn import Question, Turn

__all__ = ["Plan", "Question", "Rule", "Sampler", "Turn"]
