"""The paper, literally: inverts L_UU for every answer, takes expectations by enumerating the answers. Slow, and meant to be."""

from __future__ import annotations

from functools import wraps

import numpy as np

TIE = 1e-9


def kept(method):
    """Let a method without side effects compute its result once per object and arguments."""

    @wraps(method)
    def once(self, *args):
        key = (method.__name__, *args)
        if key not in self._kept:
            self._kept[key] = method(self, *args)
        return self._kept[key]

    return once


class Reference:
    """The Gaussian field of a graph given labels {node: class}; arrays are n long, zero covariance at labeled nodes."""

    def __init__(self, W, delta, labels, classes, noise=0.0):
        self.W, self.delta, self.labels, self.classes, self.noise = (
            np.asarray(W, float),
            delta,
            dict(labels),
            classes,
            noise,
        )
        self._kept = {}
        n = len(self.W)
        Q = np.diag(self.W.sum(axis=1)) - self.W + delta * np.eye(n)
        L = sorted(self.labels)
        self.Y = np.array([[1.0 if self.labels[k] == c else -1.0 for c in range(classes)] for k in L]).reshape(
            len(L), classes
        )
        self.U = np.array([i for i in range(n) if i not in self.labels], dtype=int)
        self.G, self.mu = np.zeros((n, n)), np.zeros((n, classes))
        if noise:
            self._condition_noisy(Q, L)
        else:
            self._condition(Q, L)

    def _condition(self, Q, L):
        """(2), (5): G = Q_UU^-1, mu = -Q_UU^-1 Q_UL y_L."""
        U = self.U
        inverse = np.linalg.inv(Q[np.ix_(U, U)])
        self.G[np.ix_(U, U)] = inverse
        self.mu[L] = self.Y
        self.mu[U] = -inverse @ Q[np.ix_(U, L)] @ self.Y

    def _condition_noisy(self, Q, L):
        """A label is the field plus N(0, noise^2): it adds 1/noise^2 to the precision of its node."""
        for k in L:
            Q[k, k] += self.noise**-2
        self.G = np.linalg.inv(Q)
        self.mu = self.G[:, L] @ self.Y / self.noise**2

    @kept
    def precision(self):
        """The inverse of G among unlabeled nodes."""
        return np.linalg.inv(self.G[np.ix_(self.U, self.U)])

    @kept
    def after(self, node, label):
        return Reference(self.W, self.delta, {**self.labels, node: label}, self.classes, self.noise)

    @kept
    def chances(self):
        """(6): p_c proportional to (1 + mu_c)/2."""
        odds = np.clip((1 + self.mu) / 2, 0, None)
        return odds / odds.sum(axis=1, keepdims=True)

    @kept
    def leads(self):
        """(7): the class with the largest mean, or the classes that tie."""
        return self.mu >= self.mu.max(axis=1, keepdims=True) - 2 * TIE

    @kept
    def two_step(self, beta=1.0):
        """Marginals that keep the variance: p_c proportional to sigma(2 beta mu_c / g)."""
        with np.errstate(over="ignore"):
            odds = 1 / (1 + np.exp(-2 * beta * self.mu[self.U] / np.diag(self.G)[self.U, None]))
        p = np.full_like(self.mu, np.nan)
        p[self.U] = odds / odds.sum(axis=1, keepdims=True)
        return p


class SumReference(Reference):
    """The sum of that field and of a linear function of features, G0 = Q^-1 + Phi Phi^T, every label with this noise."""

    def __init__(self, W, delta, labels, classes, features, noise):
        self.features = features
        super().__init__(W, delta, labels, classes, noise)

    def _condition_noisy(self, Q, L):
        """G = G0 - G0[:, L] K^-1 G0[L, :] and mu = G0[:, L] K^-1 y, K = G0[L, L] + noise^2 I."""
        G = np.linalg.inv(Q) + self.features @ self.features.T
        told = G[:, L] @ np.linalg.inv(G[np.ix_(L, L)] + self.noise**2 * np.eye(len(L)))
        self.G, self.mu = G - told @ G[L], told @ self.Y

    @kept
    def after(self, node, label):
        return SumReference(self.W, self.delta, {**self.labels, node: label}, self.classes, self.features, self.noise)


def soften(p, alpha, shares=None):
    """(34): alpha pi(y) + (1 - alpha) p(y)."""
    return alpha * (np.full(p.shape[1], 1 / p.shape[1]) if shares is None else np.array(shares)) + (1 - alpha) * p


def expected(field, node, p, change):
    """E over the answers of change(field after the answer)."""
    return sum(p[node, y] * change(field.after(node, y)) for y in range(field.classes))


def fields(field):
    """Two classes are one +-1 field; above, there is one a class against the rest."""
    return [0] if field.classes == 2 else range(field.classes)


def others(field, node):
    return [j for j in field.U if j != node]


def tv(field, node, p):
    return expected(field, node, p, lambda new: sum(np.abs(new.mu - field.mu)[:, c].sum() for c in fields(field)))


def msd(field, node, p):
    return expected(field, node, p, lambda new: sum(((new.mu - field.mu)[:, c] ** 2).sum() for c in fields(field)))


def klg(field, node, p):
    U, precision = field.U, field.precision()

    def divergence(new):
        change = (new.mu - field.mu)[U]
        return sum(change[:, c] @ precision @ change[:, c] / 2 for c in fields(field))

    return expected(field, node, p, divergence)


def printed(name, field, node, p, means=False):
    """(24), (27), (16) with the factor of (30) above two classes, or with that of the means themselves."""
    g, mu = field.G[node], field.mu[node, 0]
    several = field.mu[node] if means else p[node]
    u = 1 - mu**2 if field.classes == 2 else (1 - several**2).sum()
    own = g[node]
    return {"tv": u * np.abs(g).sum() / own, "msd": u * (g**2).sum() / own**2, "klg": u / (2 * own)}[name]


def vm(field, node, p):
    return np.trace(field.G) - np.trace(field.after(node, 0).G)


def sigma(field, node, p):
    return field.G.sum() - field.after(node, 0).G.sum()


def influence(field, node, p):
    """Not the paper's: sigma times (1 - Σ_c q_c²)², q_c = h_c + (1 - H)/C; μ_c = 2h_c - H, and q_c = (1 + μ_c)/2 at two classes."""
    C, mu = field.classes, field.mu[node]
    H = 1.0 if C == 2 else mu.sum() / (2 - C)
    shares = (mu + H) / 2 + (1 - H) / C
    return (1 - (shares**2).sum()) ** 2 * sigma(field, node, p)


def unc(field, node, p):
    second, first = np.sort(field.mu[node])[-2:]
    return -(first - second)


def fl(field, node, p):
    """(12); where classes tie, the share of the classes in the lead before or after that are not in the lead both times."""
    before, rest = field.leads(), others(field, node)

    def changed(new):
        after = new.leads()
        return sum(1 - (before[j] & after[j]).sum() / (before[j] | after[j]).sum() for j in rest)

    return expected(field, node, p, changed)


def kl(field, node, p):
    now, rest = field.chances(), others(field, node)

    def divergence(new):
        new_p = new.chances()[rest]
        return (new_p * np.log(np.maximum(new_p, 1e-12) / np.maximum(now[rest], 1e-12))).sum()

    return expected(field, node, p, divergence)


def eer(field, node, p):
    rest = others(field, node)
    return -expected(field, node, p, lambda new: (1 - new.chances()[rest].max(axis=1)).sum())


def tsa(field, node, p, beta=1.0):
    rest = others(field, node)
    return -expected(field, node, p, lambda new: (1 - new.two_step(beta)[rest].max(axis=1)).sum())


def eer01(field, node, one=1):
    """EER on the zero-mean field of {0, 1} labels, where class ``one`` is 1: f = Q_UU^-1 (-Q_UL y_L), the risk min(f, 1 - f)."""

    def zero_one(now):
        L, Q = sorted(now.labels), np.diag(now.W.sum(axis=1)) - now.W + now.delta * np.eye(len(now.W))
        y = np.array([float(now.labels[k] == one) for k in L])
        f = np.zeros(len(now.W))
        f[L], f[now.U] = y, np.linalg.solve(Q[np.ix_(now.U, now.U)], -Q[np.ix_(now.U, L)] @ y)
        return f

    p, rest = zero_one(field)[node], others(field, node)
    risk = [np.minimum(f, 1 - f)[rest].sum() for f in (zero_one(field.after(node, y)) for y in (1 - one, one))]
    return -((1 - p) * risk[0] + p * risk[1])


UTILITIES = {
    "tv": tv,
    "msd": msd,
    "klg": klg,
    "vm": vm,
    "sigma": sigma,
    "influence": influence,
    "unc": unc,
    "fl": fl,
    "kl": kl,
    "eer": eer,
    "tsa": tsa,
}


def score(name, field, node, alpha=0.0, form="derived", expect="mean", beta=1.0, shares=None):
    """The utility of one node under doubt, in any form, or the minimum over answers."""
    p = field.two_step(beta) if name == "tsa" else field.chances()
    if expect == "min":
        certain = [np.tile(row, (len(p), 1)) for row in np.eye(field.classes)]
        return min(UTILITIES[name](field, node, q) for q in certain)
    if form != "derived" and name in ("tv", "msd") and shares is None:
        calm = {"tv": sigma, "msd": vm}[name](field, node, p)
        return alpha / 2 * calm + (1 - alpha) * printed(name, field, node, p, form == "means")  # (35)
    if form != "derived" and name == "klg" and field.classes > 2:
        return printed(name, field, node, soften(p, alpha, shares))
    return UTILITIES[name](field, node, soften(p, alpha, shares))
