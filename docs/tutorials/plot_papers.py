"""
Papers to screen
================

A review begins with hundreds of abstracts, of which a fifth are relevant. Who reads them in the order in which they came reads
nearly all of them before the last relevant one turns up. Here the "papers" are the documentation of functions of SciPy, which
is on your machine already, and the relevant ones are those about statistics. We find nearly all of them by reading a small part.
"""

# %%
# The texts
# ---------
#
# One text per function: the first lines of its documentation, as an abstract would be. The names of modules are not in the
# texts; they are the answers that our simulated reader knows.

import importlib
import inspect

import matplotlib.pyplot as plt
import numpy as np

import askgraph as ag

MODULES = (
    "cluster.vq",
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "special",
    "stats",
)
papers = {}
for module in MODULES:
    library = importlib.import_module(f"scipy.{module}")
    for name in library.__all__:
        text = inspect.getdoc(getattr(library, name, None)) or ""
        if inspect.isroutine(getattr(library, name, None)) and len(text) > 200:
            papers.setdefault(text[:600], module)

texts, homes = list(papers), np.array(list(papers.values()))
relevant = np.isin(homes, ["stats"])
print(f"{len(texts)} texts, {relevant.sum()} of them relevant")

# %%
# The graph
# ---------
#
# Each text is joined to the ten that share most of its words and word fragments. No model is needed, and nothing is fetched.

graph = ag.nearest_texts(texts, k=10)
print(graph.report())

# %%
# Ask for forty, then read by probability
# ---------------------------------------
#
# The first forty questions go where they teach most. After that, the texts are read from the most to the least probable.

learner = ag.Learner(graph, rng=0, classes=["no", "yes"])
read = []
for step in learner.run(lambda node: "yes" if relevant[node] else "no", budget=40):
    read.append(step.node)

yes = learner.probabilities()[:, learner.classes.index("yes")]
rest = [node for node in np.argsort(-yes) if node not in set(read)]
order = np.array(read + rest)
found = np.cumsum(relevant[order]) / relevant.sum()
at_95 = int(np.searchsorted(found, 0.95)) + 1
print(f"95 % of the relevant texts are found after {at_95} of {len(texts)}")

# %%
# What that saves
# ---------------

fig, axes = plt.subplots(figsize=(7, 4))
axes.plot(np.arange(1, len(texts) + 1), found, label="asked, then read by probability", linewidth=2)
axes.plot([0, len(texts)], [0, 1], "--", color="gray", label="read as they come")
axes.axvline(40, color="gray", linewidth=0.8)
axes.annotate("40 questions", (40, 0.02), xytext=(55, 0.06))
axes.set(xlabel="texts read", ylabel="share of the relevant ones found", ylim=(0, 1.02))
axes.legend()
fig.tight_layout()

# %%
# How sure can we be? The learner says what share of its predictions it expects to be wrong, and twenty texts drawn at random,
# which nobody chose, narrow that range.

print("expected error:", learner.judge.expected_error())
for node in learner.judge.audit(20):
    learner.judge.tell_audit(node, "yes" if relevant[node] else "no")

print("after 20 drawn at random:", learner.judge.expected_error())

# %%
# On your own abstracts this is two commands: ``askgraph init papers.csv --text title,abstract`` and ``askgraph label papers.ask``.
