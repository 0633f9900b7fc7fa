"""The loop: ask, tell, predict, with its settings, prefetch, guesses of models and saving."""

from __future__ import annotations

from askgraph.learner.learner import Learner

__all__ = ["Learner"]
