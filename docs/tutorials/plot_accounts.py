"""
Accounts to review
==================

Accounts that share a device, a card or an address are likely to belong to the same people. A reviewer can look at some forty of
them a day. We make a network of 800 accounts with four rings of fraud, one account in twelve, and let the graph say whom to
review, and what the reviews tell about the accounts that nobody looked at.
"""

# %%
# The network
# -----------
#
# Honest accounts share things in their households and now and then with strangers; members of a ring share much with each other.

import matplotlib.pyplot as plt
import numpy as np

import askgraph as ag

rng = np.random.default_rng(7)
sizes = [*rng.integers(3, 9, 130), 16, 16, 16, 16]
household = np.repeat(np.arange(len(sizes)), sizes)
accounts = len(household)
fraud = household >= len(sizes) - 4
edges = []
for group in range(len(sizes)):
    members = np.flatnonzero(household == group)
    edges += [(a, b, 1.0) for a in members for b in members if a < b and rng.random() < 0.5]

strangers = rng.integers(0, accounts, (accounts, 2))
edges += [(a, b, 0.3) for a, b in strangers if a != b]
graph = ag.Graph.from_edges(edges, nodes=accounts)
print(graph, f"{fraud.mean():.1%} fraud")

# %%
# Reviews
# -------
#
# Forty reviews: thirty where they teach most, then ten of the accounts that look worst.


def review(node):
    """Return what a reviewer finds, which takes her twenty minutes."""
    return "fraud" if fraud[node] else "honest"


learner = ag.Learner(graph, rng=0, classes=["honest", "fraud"])
for _step in learner.run(review, budget=30):
    pass

for _ in range(10):
    suspicion = learner.probabilities()[:, 1]
    suspicion[list(learner.labels)] = 0
    worst = int(np.argmax(suspicion))
    learner.tell(worst, review(worst))

reviewed = list(learner.labels)
print(
    f"{fraud[reviewed].sum()} of {len(reviewed)} reviewed accounts are fraud; at random it would be {40 * fraud.mean():.0f}"
)

# %%
# The accounts nobody looked at
# -----------------------------
#
# Ranked by suspicion, how many of the next accounts are fraud?

rest = np.setdiff1d(np.arange(accounts), reviewed)
ranked = rest[np.argsort(-learner.probabilities()[rest, 1], kind="stable")]
found = np.cumsum(fraud[ranked])
fig, axes = plt.subplots(figsize=(7, 4))
axes.plot(np.arange(1, 101), found[:100], linewidth=2, label="ranked by the graph")
axes.plot(np.arange(1, 101), np.arange(1, 101) * fraud[rest].mean(), "--", color="gray", label="at random")
axes.set(xlabel="further accounts looked at", ylabel="fraud found")
axes.legend()
fig.tight_layout()
print(f"of the next 30 accounts by rank, {int(found[29])} are fraud")

# %%
# Why this one?
# -------------
#
# A reviewer wants a reason: with whom does the account that is next on the list share something? The page of the workbench
# draws this neighborhood, and lists the labels that speak for a prediction.

neighbors = graph.weights[[ranked[0]]].indices
known = np.intersect1d(neighbors, reviewed)
print(
    f"account {ranked[0]} shares something with {len(neighbors)} others; reviewed: {len(known)}, fraud: {fraud[known].sum()}"
)
