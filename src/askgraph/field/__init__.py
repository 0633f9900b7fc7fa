"""The field: the posterior as a value, exact leave-one-out, and its arrays for a file; no decisions.

Numbers in parentheses, such as (10), are equations of the paper; docs/equations.md lists them.
"""

from __future__ import annotations

from askgraph.field.field import Discount, Field, Observation, answer_weights, nodes_of, once_per_field, rows_of

__all__ = ["Discount", "Field", "Observation", "answer_weights", "nodes_of", "once_per_field", "rows_of"]
