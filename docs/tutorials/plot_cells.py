"""
Cells to annotate
=================

An expert under the microscope can look at a few dozen samples, not at all of them. Here are 569 breast masses of the Wisconsin
data, which come with scikit-learn: thirty measurements of the cell nuclei in each. Which ones should the pathologist look at,
and how far do her answers carry?
"""

# %%
# The graph
# ---------
#
# Measurements have different units, so each column is scaled before the ten nearest neighbors of each sample are joined.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA

import askgraph as ag

data = load_breast_cancer()
X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
truth = data.target_names[data.target]
graph = ag.nearest_neighbors(X, k=10)

# %%
# Thirty questions
# ----------------
#
# The learner asks; the pathologist, here the known diagnosis, answers. Beside it a learner that asks at random.

curves, learners = {}, {}
for sampler in ("influence", "random"):
    runs = []
    for seed in range(3):
        learner = ag.Learner(graph, sampler, rng=seed)
        shares = []
        for _step in learner.run(lambda node: truth[node], budget=30):
            shares.append(np.mean(learner.predict() == truth))
        runs.append(shares)
        learners.setdefault(sampler, learner)
    curves[sampler] = np.mean(runs, axis=0)

for sampler, curve in curves.items():
    print(f"{sampler}: {curve[9]:.1%} right after 10 labels, {curve[29]:.1%} after 30")

# %%
# Where the questions went
# ------------------------
#
# The samples in the plane of their two main components: colors are predictions, rings are the samples that were asked for.

learner = learners["influence"]
plane = PCA(2).fit_transform(X)
predicted = learner.predict()
asked = list(learner.labels)
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
for name, color in zip(data.target_names, ("tab:red", "tab:blue"), strict=True):
    here = predicted == name
    left.scatter(*plane[here].T, s=12, color=color, alpha=0.5, label=name)

left.scatter(*plane[asked].T, s=70, facecolors="none", edgecolors="black", label="asked")
left.set(xlabel="first component", ylabel="second component")
left.legend()
for sampler, curve in curves.items():
    right.plot(np.arange(1, 31), curve, label=sampler)

right.set(xlabel="labels", ylabel="share of samples right", ylim=(0.5, 1))
right.legend()
fig.tight_layout()

# %%
# Which labels to look at again
# -----------------------------
#
# Slips happen. A label that all the others contradict is named, the most doubtful first.

wrong = asked[3]
learner.relabel(wrong, "benign" if truth[wrong] == "malignant" else "malignant")
worst = learner.judge.suspects(every=True)[0]
print(f"sample {worst.node} is labeled {worst.label}, and all others speak for {worst.instead}")
print("the one we got wrong on purpose:", wrong)
