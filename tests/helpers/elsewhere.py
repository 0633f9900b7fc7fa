"""Arrays that live elsewhere, as on a device: numpy's functions work on them, numpy's arrays do not mix with them.

With them the table of engines holds the rule, without a device, that rows stay where their engine keeps them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from askgraph.priors.base import Prior
from askgraph.priors.nearby import Alone
from askgraph.priors.summaries import Exact
from askgraph.spaces.base import Space

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


class FarSpace(Space):
    """A space whose arrays live elsewhere."""

    def zeros(self, *more, dtype=float, order="C"):
        return Far(np.zeros((self.n_rows, *more), dtype, order))

    def asarray(self, x):
        assert isinstance(x, (np.ndarray, np.generic))
        return Far(x)

    def to_numpy(self, x):
        return x.get() if isinstance(x, Far) else x

    def pick(self, x, node):
        return np.asarray(x.held[node])

    def put(self, x, nodes, values):
        held = x.held.copy()
        held[nodes] = values
        return Far(held)


class Elsewhere(Prior):
    """An engine whose rows live elsewhere: another one works inside, on what it would hold here."""

    def __init__(self, here):
        super().__init__(here.precision, FarSpace(here.n_nodes))
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

    def neighbors(self, x):
        return Far(self.here.neighbors(x.held))


def _sent(summaries):
    """Summaries with every row elsewhere."""
    if isinstance(summaries, Exact):
        parts = {name: getattr(summaries, name) for name in ("variance", "influence_l1", "squares")}
        far = {name: None if x is None else Far(x) for name, x in parts.items()}
        return Exact(**far, magnitude=summaries.magnitude)
    names = "share", "influence_l1", "known", "known_variance", "known_squares"
    samples = {
        name: None
        if (x := getattr(summaries, name)) is None
        else replace(x, values=Far(x.values), square=Far(x.square), local=Alone(Far(x.local.own)))
        for name in ("field_samples", "flat_samples")
    }
    return replace(summaries, **{name: Far(getattr(summaries, name)) for name in names}, **samples)
