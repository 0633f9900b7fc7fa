"""Peers for the arena, written from their papers: graph neural networks, and the questions that are published with them.

askgraph arena run benchmarks.arena_peers:gcn_age --track split --sets cora,citeseer --folder FOLDER -o arena.jsonl
(pip install torch, in the folder of the checkout). Readers: a GCN of two layers (Kipf and Welling 2017: 16 hidden units, dropout
0.5, weight decay 5e-4 on the first layer, Adam at 0.01, 200 epochs) and an SGC, logistic regression on twice smoothed features
(Wu et al. 2019), each with the settings of its paper and no validation labels. Questions: random; margin, the smallest gap between
the two likeliest classes; AGE (Cai et al. 2017), entropy, density and PageRank by percentiles, weighed at random, with more weight
for entropy as labels come; FeatProp (Wu et al. 2019), k-medoids of the smoothed features, one more medoid per question beside
those asked; GRAIN (Zhang et al. 2021), the ball of radius 0.05 around the nodes that are influenced. Models are trained anew
after every C labels.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array

HIDDEN, EPOCHS, RATE, DECAY, DROPOUT = 16, 200, 0.01, 5e-4, 0.5
SGC_DECAY = 1e-5  # of the weights of the SGC, as its authors tuned it on Cora
INFLUENCED = 0.1  # of GRAIN: the least influence on a node that counts, as a share of the greatest on it
RADIUS = 0.05  # of GRAIN: the radius of a ball, as a share of the largest distance
CANDIDATES = 3000  # of FeatProp and GRAIN: nodes looked at for a question


def smoothing(graph):
    """Return D^-1/2 (W + I) D^-1/2 of the edges, each of weight 1."""
    edges = csr_array(graph.weights, copy=True)
    edges.data[:] = 1.0
    loops = edges + eye_array(edges.shape[0], format="csr")
    scale = diags_array(1 / np.sqrt(loops.sum(axis=1)))
    return csr_array(scale @ loops @ scale)


def shares_of_rows(features):
    """Return features whose rows add up to 1."""
    rows = csr_array(features, dtype=np.float32)
    sums = np.asarray(abs(rows).sum(axis=1)).ravel()
    return csr_array(diags_array(1 / np.where(sums > 0, sums, 1)) @ rows)


class Gcn:
    """A graph convolutional network of two layers."""

    def __init__(self, along, features, n_classes, seed):
        import torch

        torch.manual_seed(seed)
        torch.set_num_threads(1)
        self.torch, self.n_classes = torch, n_classes
        self.along, self.X = self._sparse(along), self._sparse(features)

    def _sparse(self, matrix):
        parts = (self.torch.from_numpy(np.asarray(part)) for part in (matrix.indptr, matrix.indices, matrix.data))
        indptr, indices, data = parts
        return self.torch.sparse_csr_tensor(indptr.long(), indices.long(), data.float(), size=matrix.shape)

    def chances(self, told):
        """Return class probabilities after training on labels."""
        torch = self.torch
        first = torch.nn.Linear(self.X.shape[1], HIDDEN, bias=False)
        second = torch.nn.Linear(HIDDEN, self.n_classes)
        decays = [{"params": first.parameters(), "weight_decay": DECAY}, {"params": second.parameters()}]
        step = torch.optim.Adam(decays, lr=RATE)
        nodes, labels = torch.tensor(list(told)), torch.tensor(list(told.values()))

        def forward(training):
            drop = partial(torch.nn.functional.dropout, p=DROPOUT, training=training)
            hidden = torch.relu(self.along @ (self.X @ first.weight.T))
            return self.along @ second(drop(hidden))

        for _ in range(EPOCHS):
            step.zero_grad()
            torch.nn.functional.cross_entropy(forward(True)[nodes], labels).backward()
            step.step()
        with torch.no_grad():
            return torch.softmax(forward(False), dim=1).numpy()


class Sgc:
    """Logistic regression on features smoothed twice."""

    def __init__(self, along, features, n_classes, seed):
        self.rows, self.n_classes = (along @ (along @ features)).toarray(), n_classes
        self.rows /= np.maximum(np.linalg.norm(self.rows, axis=1, keepdims=True), 1e-12)

    def chances(self, told):
        """Return class probabilities after fitting to labels."""
        from sklearn.linear_model import LogisticRegression

        nodes, labels = np.array(list(told)), np.array(list(told.values()))
        known = np.unique(labels)
        found = np.zeros((len(self.rows), self.n_classes))
        if known.size == 1:
            found[:, known] = 1.0
            return found
        model = LogisticRegression(C=300.0, max_iter=500).fit(self.rows[nodes], labels)
        found[:, model.classes_] = model.predict_proba(self.rows)
        return found


class Peer:
    """A model that predicts, and a way to ask."""

    def __init__(self, model, question, graph, features, classes, seed):
        self.along, self.rng = smoothing(graph), np.random.default_rng([seed, 2])
        rows = shares_of_rows(features)
        self.C, self.told, self.closed, self.fitted = len(classes), {}, set(), None
        self.model, self.question = model(self.along, rows, self.C, seed), question
        self.smoothed = (self.along @ (self.along @ rows)).toarray()
        self.smoothed /= np.maximum(np.linalg.norm(self.smoothed, axis=1, keepdims=True), 1e-12)
        self.degrees = np.asarray((graph.weights > 0).sum(axis=1)).ravel()
        self.cache = {}

    def tell(self, node, label):
        self.told[node] = label

    def skip(self, node):
        self.closed.add(node)

    def open(self):
        """Return the nodes that may be asked for."""
        return np.setdiff1d(np.arange(len(self.smoothed)), [*self.told, *self.closed])

    def candidates(self):
        """Return the nodes that may be asked for, or some drawn at random where they are many."""
        return self.rng.permutation(self.open())[:CANDIDATES]

    def chances(self, fresh=False):
        """Return class probabilities: of a model that is trained anew after every C labels, or now."""
        if self.fitted is None or len(self.told) - self.fitted[0] >= (1 if fresh else self.C):
            self.fitted = len(self.told), self.model.chances(self.told)
        return self.fitted[1]

    def ask(self):
        return int(self.question(self))

    def predict(self):
        return self.chances(fresh=True).argmax(axis=1)


def at_random(peer):
    return peer.rng.choice(peer.open())


def margin(peer):
    open_ = peer.open()
    best = np.sort(peer.chances()[open_], axis=1)
    return open_[(best[:, -1] - best[:, -2]).argmin()]


def age(peer):
    """Ask by the percentiles of entropy, density and centrality, weighed by draws that favor entropy as labels come."""
    open_, p = peer.open(), peer.chances()
    entropy = -(p * np.log(np.maximum(p, 1e-12))).sum(axis=1)
    time = len(peer.told) / (20 * peer.C)
    on_entropy = peer.rng.beta(1, 1.005 - min(0.95, time))
    on_density = on_centrality = (1 - on_entropy) / 2
    if "pagerank" not in peer.cache:
        peer.cache["pagerank"] = pagerank(peer.along)
    score = on_entropy * percentile(entropy) + on_density * percentile(density(peer, p))
    score += on_centrality * percentile(peer.cache["pagerank"])
    return open_[score[open_].argmax()]


def density(peer, p):
    """Return how near each node is to the center of its cluster, among as many clusters as classes of what the model says."""
    from sklearn.cluster import KMeans

    if peer.cache.get("dense at") != peer.fitted[0]:
        most = len(np.unique(p.round(6), axis=0))
        found = KMeans(min(peer.C, most), n_init=1, random_state=0).fit(p)
        apart = np.linalg.norm(p - found.cluster_centers_[found.labels_], axis=1)
        peer.cache |= {"dense at": peer.fitted[0], "density": 1 / (1 + apart)}
    return peer.cache["density"]


def pagerank(along, damping=0.85, steps=100):
    n = along.shape[0]
    flow = csr_array(along / np.maximum(np.asarray(along.sum(axis=0)), 1e-12))
    rank = np.full(n, 1 / n)
    for _ in range(steps):
        rank = damping * (flow @ rank) + (1 - damping) / n
    return rank


def percentile(x):
    """Return the share of values that are lower."""
    return np.argsort(np.argsort(x)) / x.size


def featprop(peer):
    """Ask for the node that brings all nodes nearest to one that was asked, by their smoothed features."""
    new = noticed(peer)
    near = peer.cache.get("near", np.full(len(peer.smoothed), -1.0))
    near = peer.cache["near"] = np.maximum(near, (peer.smoothed @ peer.smoothed[new].T).max(axis=1, initial=-1.0))
    open_ = peer.candidates()
    gain = np.maximum(peer.smoothed @ peer.smoothed[open_].T - near[:, None], 0).sum(axis=0)
    return open_[gain.argmax()]


def noticed(peer):
    """Return the nodes that were told since the last question."""
    before = peer.cache.setdefault("noticed", set())
    new = [node for node in peer.told if node not in before]
    before.update(new)
    return new


def grain(peer):
    """Ask for the node that adds most nodes to those that are moved, and to the balls around these."""
    n = len(peer.smoothed)
    if "moves" not in peer.cache:
        two_steps = csr_array(peer.along @ peer.along)
        most = two_steps.max(axis=1).toarray().ravel()
        two_steps = csr_array(diags_array(1 / most) @ two_steps)
        moves = csr_array((two_steps > INFLUENCED).T).astype(np.float32)  # one row per node: the nodes it moves
        apart = np.sqrt(np.maximum(2 - 2 * peer.smoothed @ peer.smoothed.T, 0))
        reach = csr_array(moves @ csr_array(apart <= RADIUS * apart.max()).astype(np.float32))
        reach.data[:] = 1.0
        peer.cache |= {"moves": moves, "reach": reach, "moved": np.zeros(n, bool), "reached": np.zeros(n, bool)}
    for node in noticed(peer):
        for rows, seen in (("moves", "moved"), ("reach", "reached")):
            parts = peer.cache[rows]
            peer.cache[seen][parts.indices[parts.indptr[node] : parts.indptr[node + 1]]] = True
    open_ = peer.candidates()
    gain = sum(
        peer.cache[rows][open_]
        @ (~peer.cache[seen]).astype(np.float32)
        / max(peer.cache[rows].sum(axis=0).astype(bool).sum(), 1)
        for rows, seen in (("moves", "moved"), ("reach", "reached"))
    )
    return open_[gain.argmax()]


gcn_random = partial(Peer, Gcn, at_random)
gcn_margin = partial(Peer, Gcn, margin)
gcn_age = partial(Peer, Gcn, age)
gcn_featprop = partial(Peer, Gcn, featprop)
gcn_grain = partial(Peer, Gcn, grain)
sgc_random = partial(Peer, Sgc, at_random)
sgc_margin = partial(Peer, Sgc, margin)
sgc_age = partial(Peer, Sgc, age)
sgc_featprop = partial(Peer, Sgc, featprop)
sgc_grain = partial(Peer, Sgc, grain)
