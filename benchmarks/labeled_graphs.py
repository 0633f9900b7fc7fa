"""The labeled graphs on which accuracy per label is measured: development, validation, with words, with many classes, wild.

Rules for friendly graphs were chosen on the development graphs and those of many classes; those for hubs and for graphs that say
little on all groups; those of the expected error by families, which say which graphs resemble each other. Files come from the
folder ASKGRAPH_DATA (the wild graphs from its folder wild, those of features.py from attributed), the rest from scikit-learn and
networkx.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

import askgraph as ag
from askgraph.errors import FileError
from askgraph.paper.datasets import load
from askgraph.paper.problems import Source
from askgraph.simulate import Problem

MOST = 150  # labels in a curve, at most
GROUPS = {
    "development": (
        "cora",
        "citeseer",
        "polblogs",
        "digits_knn",
        "iono_knn",
        "park_knn",
        "ecoli8_knn",
        "lfr",
        "lfr8",
        "grid",
    ),
    "validation": (
        "cora_feat",
        "iono_cos",
        "aust_knn",
        "aust_cos",
        "park_cos",
        "ecoli2_cos",
        "colon_cos",
        "leuk_cos",
        "lfr3",
    ),
    "edges and words": ("cora_words", "citeseer_words"),
    "many classes": ("lfr40", "digits40", "ecoli8_short"),
    "wild": (
        "tolokers",
        "musae_github",
        "wisconsin",
        "email_eu_core",
        "blogcatalog",
        "pubmed",
        "wordnet",
        "gravier",
        "pima_knn",
        "heart_knn",
        "spambase",
        "coil20_knn",
    ),
    "made": ("cliques",),
}
ATTRIBUTED = (
    "amazon_photo_part",
    "blogcatalog_part",
    "sms",
    "ag",
    "trec",
    "bbc2",
)  # those of features.py, without features
FAMILIES = {  # of graphs that resemble each other: what is chosen on some families is judged on another
    "citation": ("cora", "citeseer", "pubmed", "cora_words", "citeseer_words"),
    "co-purchase": ("amazon_photo_part",),
    "social": ("musae_github", "blogcatalog", "blogcatalog_part", "tolokers"),
    "web and e-mail": ("polblogs", "wisconsin", "email_eu_core"),
    "tables of measurements": (
        "iono_knn",
        "iono_cos",
        "park_knn",
        "park_cos",
        "ecoli8_knn",
        "ecoli8_short",
        "ecoli2_cos",
        "aust_knn",
        "aust_cos",
        "colon_cos",
        "leuk_cos",
        "gravier",
        "pima_knn",
        "heart_knn",
        "spambase",
    ),
    "pictures": ("digits_knn", "digits40", "coil20_knn"),
    "texts": ("cora_feat", "wordnet", "sms", "ag", "trec", "bbc2"),
    "synthetic": ("lfr", "lfr3", "lfr8", "lfr40", "grid", "cliques"),
}
FAMILY = {graph: family for family, graphs in FAMILIES.items() for graph in graphs}
GROUP = {graph: group for group, graphs in GROUPS.items() for graph in graphs}
NAMES = {  # what people who do not know these graphs read
    "cora": "Cora, citations",
    "citeseer": "CiteSeer, citations",
    "polblogs": "political blogs",
    "digits_knn": "digits",
    "iono_knn": "ionosphere",
    "park_knn": "Parkinsons",
    "ecoli8_knn": "ecoli",
    "lfr": "communities, mixing 0.1",
    "lfr8": "communities, mixing 0.2",
    "grid": "the paper's grid",
    "cora_feat": "Cora, words",
    "iono_cos": "ionosphere, cosine",
    "aust_knn": "Australian credit",
    "aust_cos": "Australian credit, cosine",
    "park_cos": "Parkinsons, cosine",
    "ecoli2_cos": "ecoli, one class or not, cosine",
    "colon_cos": "colon cancer, cosine",
    "leuk_cos": "leukemia, cosine",
    "lfr3": "communities, mixing 0.3",
    "cora_words": "Cora, citations and words",
    "citeseer_words": "CiteSeer, citations and words",
    "lfr40": "many communities, mixing 0.2",
    "digits40": "digits, four kinds of each",
    "ecoli8_short": "ecoli, 24 labels",
    "tolokers": "workers who share tasks (tolokers)",
    "musae_github": "developers who follow each other (musae_github)",
    "wisconsin": "web pages (wisconsin)",
    "email_eu_core": "e-mail between departments (email_eu_core)",
    "blogcatalog": "bloggers (blogcatalog)",
    "pubmed": "papers on diabetes (pubmed)",
    "wordnet": "nouns of WordNet",
    "gravier": "breast cancer (gravier)",
    "pima_knn": "diabetes in Pima",
    "heart_knn": "heart disease",
    "spambase": "spam, counts of words (spambase)",
    "coil20_knn": "objects turned (COIL-20)",
    "cliques": "cliques that overlap (made)",
    "amazon_photo_part": "Amazon photo, a part",
    "blogcatalog_part": "bloggers, a part",
    "sms": "SMS Spam",
    "ag": "AG News",
    "trec": "TREC questions",
    "bbc2": "BBC News, 907 texts",
}
BUDGETS = {"ecoli8_short": 24}
SEEDS = ((3_000, 20), (20_000, 10), (np.inf, 5))  # seeds of graphs below this number of nodes
TABLES = {
    "iono": "ionosphere",
    "park": "parkinsons",
    "ecoli8": "ecoli",
    "ecoli2": "ecoli",
    "aust": "australian",
    "colon": "colon",
    "leuk": "leukemia",
}
LFR = {
    "lfr": {"n": 1000, "mu": 0.1, "average_degree": 10, "min_community": 200, "max_community": 450, "seed": 2},
    "lfr3": {"n": 1000, "mu": 0.3, "average_degree": 10, "min_community": 200, "max_community": 450, "seed": 6},
    "lfr8": {"n": 1500, "mu": 0.2, "average_degree": 15, "min_community": 80, "max_community": 400, "seed": 11},
    # a degree beyond 40 would not fit into a community of 30 nodes
    "lfr40": {
        "n": 2000,
        "mu": 0.2,
        "average_degree": 12,
        "max_degree": 40,
        "min_community": 30,
        "max_community": 80,
        "seed": 5,
    },
}


def problem(name):
    """Return the graph of this name and all its labels."""
    if name in ATTRIBUTED:
        return attributed(name)
    if GROUP[name] == "wild":
        return wild(name)
    if name in ("cora", "citeseer", "polblogs"):
        return Source(name, largest=True).problem()
    if name == "grid":
        return Source("grid").problem()
    if name in LFR:
        return communities(**LFR[name])
    if name == "cliques":
        return cliques(classes=3, power=1.2, cross=0.75, tail=1.4, seed=5)
    if name.startswith("digits"):
        return digits(fine=name == "digits40")
    if name.endswith("_words"):
        cited, X = papers(name.removesuffix("_words"))
        return Problem(ag.with_features(cited.graph, X), cited.truth)
    if name == "cora_feat":
        return words("cora")
    return table(*name.split("_"))


def budget(name, problem):
    """Return the budget: twenty labels per class, but at most 150, and at most half of the nodes."""
    return BUDGETS.get(name, min(20 * len(problem.classes), MOST, problem.graph.n_nodes // 2))


def seeds_of(problem):
    """Return how many seeds a graph of this size is run with."""
    return next(count for below, count in SEEDS if problem.graph.n_nodes < below)


def codes_of(problem):
    """Return the index of each node's class."""
    place = {label: at for at, label in enumerate(problem.classes)}
    return np.array([place[label] for label in problem.truth])


def majority(problem, labels, draws=200):
    """Return how often the class that is commonest in a number of labels drawn at random is right, on average over draws."""
    codes = codes_of(problem)
    shares, rng = np.bincount(codes) / codes.size, np.random.default_rng(0)
    drawn = (np.bincount(rng.choice(codes, labels, replace=False), minlength=shares.size) for _ in range(draws))
    return float(np.mean([shares[counts.argmax()] for counts in drawn]))


def wild(name):
    """Return a graph of the folder wild: edges, perhaps their weights, and the class of each node."""
    path = Path(os.environ.get("ASKGRAPH_DATA", "")) / "wild" / f"{name}.npz"
    if not path.is_file():
        raise FileError(f"{path} is not there: name the folder with the datasets in ASKGRAPH_DATA")
    with np.load(path) as stored:
        edges, labels = stored["edges"], stored["y"].tolist()
        weights = stored["weights"] if "weights" in stored else np.ones(len(edges))
    ends = np.concatenate([edges, edges[:, ::-1]]).T
    return Problem(ag.Graph(csr_array((np.tile(weights, 2), ends), shape=(len(labels),) * 2)), labels)


def cliques(classes, power, cross, tail, seed, n=11_000, seats=3, largest=200):
    """Return a graph of overlapping cliques: few are large, most of each are of one class, and the classes are of unequal size.

    Class k has a share ∝ k^-power of the nodes; sizes are Pareto with this tail, from 3 up; a member is anybody with the
    probability ``cross``; a node is in as many cliques as ``seats``, in the mean.
    """
    rng = np.random.default_rng(seed)
    shares = (1.0 + np.arange(classes)) ** -power
    truth = rng.choice(classes, n, p=shares / shares.sum())
    members, pairs, taken = [np.flatnonzero(truth == c) for c in range(classes)], [], 0
    while taken < seats * n:
        own = members[rng.choice(classes, p=shares / shares.sum())]
        size = int(min(3 * (1 + rng.pareto(tail)), largest))
        clique = np.unique(np.where(rng.random(size) >= cross, rng.choice(own, size), rng.integers(n, size=size)))
        taken += clique.size
        pairs.append(clique[np.array(np.triu_indices(clique.size, 1))])
    edges = np.unique(np.hstack(pairs), axis=1)
    ends = np.hstack([edges, edges[::-1]])
    return Problem(ag.Graph(csr_array((np.ones(ends.shape[1]), ends), shape=(n, n))), truth.tolist())


def attributed(name):
    """Return a graph of the folder attributed; texts are joined to those most alike."""
    from features import rows_of

    rows = rows_of(name)
    return Problem(rows.graph if rows.given is None else rows.given, rows.truth.tolist())


def communities(n, **options):
    """Return a benchmark graph of Lancichinetti, Fortunato & Radicchi (2008) from networkx, without self-loops."""
    import networkx as nx

    graph = nx.LFR_benchmark_graph(n, 3, 1.5, max_iters=2000, **options)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    weights = nx.to_scipy_sparse_array(graph, weight=None, dtype=float)
    return Problem(ag.Graph(weights), [min(graph.nodes[node]["community"]) for node in graph])


def digits(fine):
    """Return the digits of scikit-learn; ``fine`` splits each into four kinds of handwriting, by k-means."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return Problem(ag.nearest_neighbors(X, k=10), (split(X, y, 4) if fine else y).tolist())


def split(X, y, parts):
    from sklearn.cluster import KMeans

    labels = np.empty_like(y)
    for label in np.unique(y):
        labels[y == label] = label * parts + KMeans(parts, n_init=10, random_state=0).fit_predict(X[y == label])
    return labels


def words(name):
    """Return the graph of papers by their words: each joined to the ten nearest by cosine of tf-idf rows, the weight."""
    cited, X = papers(name)
    nearest = ag.nearest_neighbors(X, k=10, metric="cosine", bandwidth=None).weights
    return Problem(ag.Graph(csr_array(nearest.multiply(X @ X.T))), cited.truth)


def papers(name):
    """Return the citation graph, and tf-idf rows of unit length."""
    cited, data = Source(name, largest=True).problem(), load(name)
    X = data.features[[data.graph.index(paper) for paper in cited.graph.names]]
    X = X * np.log(len(X) / np.maximum((X > 0).sum(axis=0), 1))
    return cited, X / np.linalg.norm(X, axis=1, keepdims=True)


def table(name, kind):
    """Return a table as the graph of nearest neighbors or of the strongest cosines; ecoli with all classes, or cp and the rest."""
    data = load(TABLES[name])
    labels = ["cp" if x == "cp" else "other" for x in data.labels] if name == "ecoli2" else data.labels
    return Problem(strongest(data.features) if kind == "cos" else neighbors(data.features), labels)


def neighbors(X):
    return ag.nearest_neighbors(X, k=10, scale=True)


def strongest(X, share=0.1):
    """Return the paper's cosine graph with the strongest pairs only; a node that would be isolated keeps its best edge."""
    low, high = X.min(axis=0), X.max(axis=0)
    X = 2 * (X - low) / np.where(high > low, high - low, 1.0) - 1  # a constant column becomes −1, as in the study
    W = ag.pearson(X, scale=False).weights.toarray()
    kept = (W > 0) & (np.quantile(W[np.triu_indices(len(W), 1)], 1 - share) <= W)
    alone = np.flatnonzero(~kept.any(axis=1))
    kept[alone, W[alone].argmax(axis=1)] = True
    return ag.Graph(np.where(kept | kept.T, W, 0.0))
