"""
Pictures to tag
===============

Tags are not classes: a picture may have three of them, or none. Here are 1,797 handwritten digits with the tags "loop", "even" and
"above 4", and somebody who looks at forty of them. Which forty, which tags have all the others, and which tags look like a slip?
"""

# %%
# The answers
# -----------
#
# An answer is a list of tags, and it is complete: what is not in it, the picture does not have. A 1 has none of them, ``[]``.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import askgraph as ag

X, digits = load_digits(return_X_y=True)
DIGITS_WITH = {"loop": (0, 6, 8, 9), "even": (0, 2, 4, 6, 8), "above 4": (5, 6, 7, 8, 9)}


def tags(node):
    """Return what our simulated person says of a picture."""
    return [tag for tag, some in DIGITS_WITH.items() if digits[node] in some]


print({int(digits[node]): tags(node) for node in range(10)})

# %%
# Forty questions
# ---------------
#
# ``answers="several"`` is all that a learner needs to know. It asks for the picture whose tags are most open and tell most
# about others.

graph = ag.nearest_neighbors(X, k=10)
learner = ag.Learner(graph, answers="several", classes=list(DIGITS_WITH), rng=0)
for _step in learner.run(tags, budget=40):
    pass

for node, said in zip(range(5), learner.predict(range(5)), strict=True):
    print(f"a {digits[node]} is predicted to have {', '.join(said) or 'none of the tags'}")

# %%
# How often the tags are right
# ----------------------------
#
# F1 is the usual figure: 1 where all tags of all pictures are right, and none is there that should not be. We look at it as
# answers come, beside a learner that asks at random; each is the mean over three seeds.

truth = np.array([[tag in tags(node) for tag in DIGITS_WITH] for node in range(len(digits))])


def f1(learner):
    """Return F1 of the predictions, over all pairs of a picture and a tag."""
    made = np.array([[tag in said for tag in DIGITS_WITH] for said in learner.predict()])
    return 2 * (made & truth).sum() / (made.sum() + truth.sum())


counts = np.arange(10, 45, 5)
curves = {}
for sampler in ("influence", "random"):
    runs = []
    for seed in range(3):
        asking = ag.Learner(graph, sampler, answers="several", classes=list(DIGITS_WITH), rng=seed)
        runs.append([f1(asking) for step, _ in enumerate(asking.run(tags, budget=40), 1) if step in counts])
    curves[sampler] = np.mean(runs, axis=0)

# %%
# Where it hesitates
# ------------------
#
# ``probabilities()`` has a column per tag. The pictures below are those with the most open tag among all that nobody looked at.

p = learner.probabilities()
open_tags = np.where(np.isin(np.arange(len(digits)), list(learner.labels)), 0, (p * (1 - p)).max(axis=1))
doubtful = np.argsort(-open_tags)[:8]

fig = plt.figure(figsize=(9, 3.6), layout="constrained")
left, right = fig.subfigures(1, 2, width_ratios=(1, 1.2))
axes = left.subplots()
for sampler, curve in curves.items():
    axes.plot(counts, curve, marker="o", label="asked" if sampler == "influence" else "at random")

axes.set(xlabel="pictures looked at", ylabel="F1 of the tags", ylim=(0.6, 1.01))
axes.legend(loc="lower right")
for axes, node in zip(right.subplots(2, 4).flat, doubtful, strict=True):
    axes.imshow(X[node].reshape(8, 8), cmap="Greys")
    tag, chance = max(zip(DIGITS_WITH, p[node], strict=True), key=lambda one: one[1] * (1 - one[1]))
    axes.set_title(f"{tag}: {chance:.0%}", fontsize=9)
    axes.axis("off")

right.suptitle("the most doubtful tags", fontsize=10)

# %%
# How good is it, and who says so?
# --------------------------------
#
# The learner says what 1 − F1 it expects, and how many loops are still to be found; we know both.

print("expected:", learner.judge.expected_error())
print(f"in truth: {1 - f1(learner):.3g}")
print("loops:", learner.judge.left_to_find("loop"))
print("in truth:", int(truth[:, 0].sum()) - sum("loop" in said for said in learner.labels.values()), "left")

# %%
# A slip
# ------
#
# Somebody forgets that a 6 is above 4. The tags that all other labels contradict are listed, the least likely first.

node = next(node for node in learner.labels if digits[node] == 6)
learner.relabel(node, ["loop", "even"])
for suspect in learner.judge.suspects(every=True)[:3]:
    print(f"picture {suspect.node}: {suspect.label}, and all others speak for {suspect.instead}")

print("the one we got wrong on purpose:", node)

# %%
# The same on a page
# ------------------
#
# Where a person gives the tags, ``askgraph init pictures --answers several --classes "loop,even,above 4"`` makes a project of a
# folder of pictures. ``askgraph label`` shows them one by one; tags are checked by their keys, and 0 says that none fits.
