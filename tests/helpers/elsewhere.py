"""Arrays that live elsewhere, as on a device: numpy's functions work on them, numpy's arrays do not mix with them.

With them the table of engines holds the rule, without a device, that rows stay where their engine keeps them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from askgraph.field import coding
from askgraph.priors.base import Prior
from askgraph.priors.summaries import Exact
from askgraph.utilities.closed import innovation
from askgraph.utilities.lookahead import FLOOR

SMALL = (bool, int, float, np.generic, np.dtype, type(None), str, slice, type)


def _inside(x):
    """What is in an array of ours; anything of numpy's is refused."""
    if isinstance(x, Far):
        return x.held
    if isinstance(x, (list, tuple)):
        return type(x)(_inside(part) for part in x)
    if isinstance(x, dict):
        return {key: _inside(part) for key, part in x.items()}
    if not isinstance(x, SMALL) and x is not Ellipsis:
        raise TypeError(f"an array of {type(x).__name__} meets one that lives elsewhere")
    return x


def _outside(x):
    if isinstance(x, tuple):
        return tuple(map(_outside, x))
    return Far(x) if isinstance(x, (np.ndarray, np.generic)) else x


class Far(np.lib.mixins.NDArrayOperatorsMixin):
    def __init__(self, held):
        self.held = np.asarray(held)

    def __array__(self, dtype=None, copy=None):
        raise TypeError("an array that lives elsewhere is not brought here by itself")

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        if method != "__call__" or set(options) - {"dtype", "casting"}:
            raise TypeError(f"{ufunc.__name__}.{method} with {sorted(options)}: a device has no such thing")
        if out is not None:
            options["out"] = _inside(out)
        result = _outside(getattr(ufunc, method)(*_inside(inputs), **options))
        return out[0] if out is not None else result

    def __array_function__(self, function, types, args, options):
        return _outside(function(*_inside(args), **_inside(options)))

    def get(self):
        return self.held.copy()

    def __getattr__(self, name):
        if name in ("shape", "size", "ndim", "dtype", "flags", "itemsize", "nbytes"):
            return getattr(self.held, name)
        if name in ("T",):
            return Far(self.held.T)
        if name in (
            "sum",
            "max",
            "min",
            "mean",
            "any",
            "all",
            "argmax",
            "astype",
            "copy",
            "reshape",
            "ravel",
            "diagonal",
        ):
            return lambda *args, **options: _outside(getattr(self.held, name)(*args, **options))
        raise AttributeError(name)

    def __getitem__(self, key):
        return _outside(self.held[_inside(key)])

    def __setitem__(self, key, value):
        self.held[_inside(key)] = _inside(value)

    def __len__(self):
        return len(self.held)

    def __iter__(self):
        return (_outside(row) for row in self.held)

    def __bool__(self):
        return bool(self.held)

    def __float__(self):
        return float(self.held)

    def __int__(self):
        return int(self.held)


class Elsewhere(Prior):
    """An engine whose rows live elsewhere: another one works inside, on what it would hold here."""

    def __init__(self, here):
        super().__init__(here.precision)
        self.here, self.name, self.exact, self.tie = here, here.name, here.exact, here.tie

    def solve(self, b):
        return Far(self.here.solve(b.held))

    def columns(self, nodes, rough=0.0):
        return Far(self.here.columns(nodes, rough))

    def variances(self, nodes, rough=0.0):
        return self.here.variances(nodes, rough)

    def spread(self, squares):
        return _sent(self.here.spread(squares))

    def conditioned(self, precision):
        return Elsewhere(self.here.conditioned(precision))

    def look_ahead(self, name, field, votes, rows, p, *settings):
        from askgraph.utilities import lookahead_kernels

        here = {"votes": votes.held.copy(), "labeled": field.labeled.held, "variance": field.spread.variance.held}
        nodes, G = rows.held, np.ascontiguousarray(field.columns(rows.held).held.T)
        now, counted = np.maximum(coding.chances(here["votes"]), FLOOR), np.where(here["labeled"], 0.0, 1.0)
        scale, own = innovation(field, rows).held, here["votes"][nodes]
        fixed = here["votes"], now, coding.decide(here["votes"]), here["variance"], counted
        arrays = (np.ascontiguousarray(x) for x in (G, scale, nodes, own, p.held, *fixed))
        return Far(getattr(lookahead_kernels, name)(*arrays, *settings))

    def zeros(self, *more, dtype=float):
        return Far(np.zeros((self.n_rows, *more), dtype))

    def lift(self, x):
        assert isinstance(x, np.ndarray)
        return Far(x)

    def gather(self, x):
        return x.get()

    def everyone(self, x):
        return x.get()

    def mine(self, x, like):
        return Far(x)

    def total(self, x):
        return x.held.sum(axis=0)

    def inner(self, a, b):
        return a.held.T @ b.held

    def highest(self, x):
        return x.held.max(axis=0, initial=-np.inf)

    def pick(self, x, node):
        return np.asarray(x.held[node])

    def put(self, x, nodes, values):
        return Far(super().put(x.held, nodes, values))

    def linked(self, links, x):
        return Far(links @ x.held)

    def neighbors(self, x):
        return Far(super().neighbors(x.held))

    def times(self, x):
        return Far(super().times(x.held))


def _sent(summaries):
    """Summaries with every row elsewhere."""
    if isinstance(summaries, Exact):
        parts = {name: getattr(summaries, name) for name in ("variance", "influence_l1", "squares")}
        return Exact(**{name: None if x is None else Far(x) for name, x in parts.items()})
    names = "local", "share", "influence_l1", "known", "known_variance", "known_squares"
    samples = {
        name: None
        if (x := getattr(summaries, name)) is None
        else replace(x, values=Far(x.values), square=Far(x.square))
        for name in ("field_samples", "flat_samples")
    }
    return replace(summaries, **{name: Far(getattr(summaries, name)) for name in names}, **samples)
