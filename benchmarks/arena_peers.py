"""Peers for the arena, written from their papers: graph neural networks, and the questions that are published with them.

askgraph arena run benchmarks.arena_peers:gcn_age --track split --sets cora,citeseer --folder FOLDER -o arena.jsonl
(pip install ".[bench]", in the folder of the checkout). Readers: a GCN of two layers (Kipf and Welling 2017: 16 hidden units,
dropout 0.5, weight decay 5e-4 on the first layer, Adam at 0.01, 200 epochs) and an SGC, logistic regression on twice smoothed
features (Wu et al. 2019), each with the settings of its paper and no validation labels. Questions: random; margin, the smallest gap
between the two likeliest classes; AGE (Cai et al. 2017), entropy, density and PageRank by percentiles, weighed at random, with more
weight for entropy as labels come; FeatProp (Wu et al. 2019), k-medoids of the smoothed features, one more medoid per question
beside those asked; GRAIN (Zhang et al. 2021), the ball of radius 0.05 around the nodes that are influenced; RIM (the same authors),
which is told how many answers are right, as in its paper: the node that influences most others, where influence counts as much as
the label that it comes from is reliable, and labels count in training as much, too. Models are trained anew after every C labels.

Without a graph, logistic regression is fitted to the rows of numbers, with random questions, margin or k-medoids. Without features:
LabelSpreading with margin, and three samplers of graphlearning (peers_curves.py), on the graph or on the ten nearest neighbors.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from scipy.sparse import csr_array, csr_matrix, diags_array, eye_array

from askgraph.graph.build import nearest_neighbors

HIDDEN, EPOCHS, RATE, DECAY, DROPOUT = 16, 200, 0.01, 5e-4, 0.5
SGC_COST, ROWS_COST = 300.0, 1.0  # of an error beside the weights: of the SGC, and where rows are read as they are
INFLUENCED = 0.1  # of GRAIN and RIM: the least influence on a node that counts, as a share of the greatest on it
RADIUS = 0.05  # of GRAIN: the radius of a ball, as a share of the largest distance
CANDIDATES = 3000  # of FeatProp, GRAIN and RIM: nodes looked at for a question
NEIGHBORS = 10  # joined to each row where a peer needs a graph and gets none


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
        with warnings.catch_warnings(action="ignore"):  # of what is new in torch
            return self.torch.sparse_csr_tensor(indptr.long(), indices.long(), data.float(), size=matrix.shape)

    def chances(self, told, weights):
        """Return class probabilities after training on labels, each of a weight."""
        torch = self.torch
        first = torch.nn.Linear(self.X.shape[1], HIDDEN, bias=False)
        second = torch.nn.Linear(HIDDEN, self.n_classes)
        decays = [{"params": first.parameters(), "weight_decay": DECAY}, {"params": second.parameters()}]
        step = torch.optim.Adam(decays, lr=RATE)
        nodes, labels = torch.tensor(list(told)), torch.tensor(list(told.values()))
        shares = torch.from_numpy(weights / weights.sum()).float()

        def forward(training):
            drop = partial(torch.nn.functional.dropout, p=DROPOUT, training=training)
            hidden = torch.relu(self.along @ (self.X @ first.weight.T))
            return self.along @ second(drop(hidden))

        for _ in range(EPOCHS):
            step.zero_grad()
            losses = torch.nn.functional.cross_entropy(forward(True)[nodes], labels, reduction="none")
            (shares @ losses).backward()
            step.step()
        with torch.no_grad():
            return torch.softmax(forward(False), dim=1).numpy()


class Sgc:
    """Logistic regression on features smoothed twice."""

    cost = SGC_COST

    def __init__(self, along, features, n_classes, seed):
        self.rows, self.n_classes = of_length_one((along @ (along @ features)).toarray()), n_classes

    def chances(self, told, weights):
        """Return class probabilities after fitting to labels, each of a weight."""
        from sklearn.linear_model import LogisticRegression

        nodes, labels = np.array(list(told)), np.array(list(told.values()))
        known = np.unique(labels)
        found = np.zeros((len(self.rows), self.n_classes))
        if known.size == 1:
            found[:, known] = 1.0
            return found
        model = LogisticRegression(C=self.cost, max_iter=500).fit(self.rows[nodes], labels, weights)
        found[:, model.classes_] = model.predict_proba(self.rows)
        return found


class Logistic(Sgc):
    """Logistic regression on rows as they are."""

    cost = ROWS_COST

    def __init__(self, along, features, n_classes, seed):
        self.rows, self.n_classes = features.toarray(), n_classes


def of_length_one(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


class Peer:
    """A model that predicts, and a way to ask; ``right`` is the share of right answers, for a peer that is told."""

    def __init__(self, model, question, graph, features, classes, seed, right=None):
        self.rng, self.right = np.random.default_rng([seed, 2]), right
        self.along = eye_array(len(features), format="csr") if graph is None else smoothing(graph)
        rows = csr_array(features) if graph is None else shares_of_rows(features)
        self.C, self.told, self.closed, self.fitted = len(classes), {}, set(), None
        self.model, self.question = model(self.along, rows, self.C, seed), question
        self.smoothed = of_length_one((self.along @ (self.along @ rows)).toarray())
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
            self.fitted = len(self.told), self.model.chances(self.told, reliability(self))
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
    apart = best[:, -1] - best[:, -2]
    return peer.rng.choice(open_[apart == apart.min()])  # while one class alone is known, all are equal


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
    return np.searchsorted(np.sort(x), x) / x.size


def featprop(peer):
    """Ask for the node that brings all nodes nearest to one that was asked, by their smoothed features."""
    new, alike = noticed(peer), likeness(peer)
    near = peer.cache.get("near", np.full(len(alike), -1.0, np.float32))
    near = peer.cache["near"] = np.maximum(near, alike[:, new].max(axis=1, initial=-1.0))
    open_ = peer.candidates()
    gain = np.maximum(alike[:, open_] - near[:, None], 0).sum(axis=0)
    return open_[gain.argmax()]


def likeness(peer):
    """Return the cosines of the smoothed features of all nodes."""
    if "alike" not in peer.cache:
        rows = peer.smoothed.astype(np.float32)
        peer.cache["alike"] = rows @ rows.T
    return peer.cache["alike"]


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
        moves = csr_array(influence(peer) > INFLUENCED).astype(np.float32)  # one row per node: the nodes it moves
        apart = np.sqrt(np.maximum(2 - 2 * likeness(peer), 0))
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


def influence(peer):
    """Return how much each node (a row) moves each other one in two steps, as a share of the most that any node moves it."""
    two_steps = csr_array(peer.along @ peer.along)
    return csr_array((diags_array(1 / two_steps.max(axis=1).toarray().ravel()) @ two_steps).T)


def reliability(peer):
    """Return how likely each label is right: 1, or by Bayes' rule where the share of right answers is told.

    Before the answer, a node has the class that was answered as likely as labeled nodes say that are alike by smoothed features.
    """
    nodes, labels = np.array(list(peer.told)), np.array(list(peer.told.values()))
    if peer.right is None or nodes.size == 1:
        return np.full(nodes.size, peer.right or 1.0)
    alike = np.maximum(peer.smoothed[nodes] @ peer.smoothed[nodes].T, 1e-12)
    np.fill_diagonal(alike, 0.0)
    before = (alike * (labels[:, None] == labels)).sum(axis=1) / alike.sum(axis=1)
    right, wrong = peer.right * before, (1 - peer.right) * (1 - before) / (peer.C - 1)
    return np.maximum(right / (right + wrong), 1e-3)


def rim(peer):
    """Ask for the node that moves most of the nodes that no label moves yet, each label by how reliable it is."""
    if "influence" not in peer.cache:
        peer.cache["influence"] = influence(peer)
    moves, open_ = peer.cache["influence"], peer.candidates()
    moved = (diags_array(reliability(peer)) @ moves[list(peer.told)]).max(axis=0).toarray().ravel() > INFLUENCED
    gain = csr_array(moves[open_] * peer.right > INFLUENCED).astype(np.float32) @ (~moved).astype(np.float32)
    return open_[gain.argmax()]


class Curves:
    """A peer of peers_curves.py, which reads a graph alone."""

    def __init__(self, name, graph, features, classes, seed):
        from benchmarks import peers_curves

        graph = nearest_neighbors(features, NEIGHBORS) if graph is None else graph
        self.peer = peers_curves.PEERS[name](csr_matrix(graph.weights), len(classes))
        self.rng, self.nodes, self.labels = np.random.default_rng([seed, 2]), [], []
        self.n, self.read = graph.n_nodes, None

    def tell(self, node, label):
        self.nodes.append(node)
        self.labels.append(label)
        with warnings.catch_warnings(action="ignore"):  # missed tolerances, deprecated calls
            self.peer.acquisition.update(np.array([node]), np.array([label]))
            self.read = self.peer.read(np.array(self.nodes), np.array(self.labels))

    def ask(self):
        return self.peer.ask(self.read[0], np.setdiff1d(np.arange(self.n), self.nodes), self.rng)

    def predict(self):
        return self.read[1].argmax(axis=1)


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
gcn_rim_90, gcn_rim_80, gcn_rim_70 = (partial(Peer, Gcn, rim, right=share) for share in (0.9, 0.8, 0.7))
sgc_rim_90, sgc_rim_80, sgc_rim_70 = (partial(Peer, Sgc, rim, right=share) for share in (0.9, 0.8, 0.7))
rows_random = partial(Peer, Logistic, at_random)
rows_margin = partial(Peer, Logistic, margin)
rows_medoids = partial(Peer, Logistic, featprop)
spreading = partial(Curves, "spreading+margin")
poisson = partial(Curves, "poisson+margin")
laplace = partial(Curves, "laplace+mcvopt")
pwll = partial(Curves, "pwll+norm")
