"""
Samplers compared
=================

A sampler is the rule that chooses the next question. All of them look at the same field and differ in what they call worth
asking. Here is what each asks on the same small graph, and which to take.
"""

# %%
# Which one should I take?
# ------------------------
#
# ================================================= ==================================== =======================================
# your situation                                    take                                 why
# ================================================= ==================================== =======================================
# a person labels, you want most items right        ``influence``, the default           best on average over 34 labeled graphs
# nothing has been measured, places must be fixed   ``vm`` or ``sigma``, ``ask(n)``      they need no answers
# the paper's rules, for a comparison               ``tv`` or ``msd``, ``readout="map"`` equations (24) and (27)
# you must judge the model afterwards               any, and ``spot_checks=8``           items drawn at random are not biased
# a baseline                                        ``random``                           what asking well has to beat
# ================================================= ==================================== =======================================
#
# Mean accuracy over the learning curve, from :doc:`/accuracy`: ``influence`` 0.872, 0.771 and 0.685 on ten development, nine
# validation and twelve wild graphs; the paper's TV 0.820, 0.736 and 0.549; random questions with the same readout 0.826, 0.698 and
# 0.644. ``unc`` asks where the model is unsure, and so digs in at one border before it has seen the rest of the graph.
#
# One small graph
# ---------------
#
# Three communities of twenty, thirty and forty nodes with some edges between them.

import matplotlib.pyplot as plt
import numpy as np

import askgraph as ag
from askgraph.layout import layout

graph, home = ag.communities((20, 30, 40), mixing=0.12, rng=3)
place = layout(graph)

# %%
# Eight questions each
# --------------------
#
# Every sampler begins with the same first node. Numbers are the order of the questions, colors the communities, which the
# simulated expert knows.

SAMPLERS = ("influence", "tv", "msd", "klg", "vm", "sigma", "unc", "eer", "mc", "mcvopt", "pwll", "random")
fig, axes = plt.subplots(3, 4, figsize=(12, 9), layout="constrained")
edges = graph.weights.tocoo()
for axis, sampler in zip(axes.flat, SAMPLERS, strict=True):
    learner = ag.Learner(graph, sampler, rng=3)
    asked = [step.node for step in learner.run(lambda node: int(home[node]), budget=8)]
    right = np.mean(learner.predict() == home)
    axis.plot(
        place[[edges.row, edges.col], 0], place[[edges.row, edges.col], 1], color="lightgray", linewidth=0.4, zorder=0
    )
    axis.scatter(*place.T, c=home, cmap="Set2", s=18)
    for number, node in enumerate(asked, 1):
        axis.annotate(
            str(number),
            place[node],
            ha="center",
            va="center",
            fontsize=8,
            bbox={"boxstyle": "circle,pad=0.2", "facecolor": "white", "edgecolor": "black"},
        )
    axis.set_title(f"{sampler}: {right:.0%} right after 8")
    axis.axis("off")

# %%
# One graph is an anecdote, so do not rank samplers by this picture; look at where they go. ``vm``, ``sigma`` and ``influence``
# spread out at once. ``unc`` and ``eer`` follow borders. ``random`` asks for the large community most often, because it is large.
#
# A rule of your own is a function of the field, the rows to score and the probabilities:


def far_from_labels(field, rows, p):
    """Score nodes by the variance that is left: those that no label reaches."""
    return field.spread.variance[rows]


learner = ag.Learner(graph, far_from_labels, rng=3)
print([step.node for step in learner.run(lambda node: int(home[node]), budget=5)])
