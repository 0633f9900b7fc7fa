"""
Severity to rate
================

Stars, grades and severities have an order. A 4 that should be a 5 is nearly right, a 1 that should be a 5 is not; and a learner
that takes them for five names does not know that. Here are 442 patients with diabetes, ten measurements each, who come with
scikit-learn. How much their disease went on in a year is known; a doctor rates it from 1 to 5.
"""

# %%
# Five steps
# ----------
#
# Each step is a fifth of the patients.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import askgraph as ag

X, progression = load_diabetes(return_X_y=True)
severity = np.digitize(progression, np.quantile(progression, (0.2, 0.4, 0.6, 0.8))) + 1
print("patients per step:", np.bincount(severity)[1:].tolist())

# %%
# Sixty ratings, read in two ways
# -------------------------------
#
# The same patients, told the same way; one learner knows that there is an order. Five wards of 300 patients drawn from all make
# the comparison fair.


def ratings(answers, ward):
    """Return 60 ratings' worth of errors, in steps: after each 10 ratings, those of the patients nobody rated."""
    some = np.random.default_rng(ward).permutation(len(X))[:300]
    rows, truth = X[some], severity[some]
    learner = ag.Learner(ag.nearest_neighbors(rows, k=10), answers=answers, features=rows, rng=ward)
    errors = []
    for count, _step in enumerate(learner.run(lambda node: int(truth[node]), budget=60), 1):
        if count % 10 == 0:
            rest = np.setdiff1d(np.arange(300), list(learner.labels))
            errors.append(np.abs(learner.predict(rest) - truth[rest]))

    return errors


steps_off = {answers: [ratings(answers, ward) for ward in range(5)] for answers in ("ordered", "classes")}
for answers, wards in steps_off.items():
    last = np.concatenate([errors[-1] for errors in wards])
    print(f"{answers}: {last.mean():.2f} steps off after 60 ratings, {np.mean(last >= 3):.0%} by three or more")

# %%
# What the order is worth
# -----------------------
#
# Left, how far off predictions are on average. Right, by how many steps after 60 ratings: the learner that knows the order
# predicts the median of what it holds possible, and is far off less often. The likeliest class alone may be at the other end.

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
names = {"ordered": "steps in order", "classes": "five names"}
for place, (answers, wards) in enumerate(steps_off.items()):
    color = ("tab:blue", "tab:orange")[place]
    means = [np.mean([errors[at].mean() for errors in wards]) for at in range(6)]
    left.plot(np.arange(10, 70, 10), means, marker="o", color=color, label=names[answers])
    shares = np.bincount(np.concatenate([errors[-1] for errors in wards]), minlength=5)
    right.bar(np.arange(5) + 0.4 * place - 0.2, shares / shares.sum(), 0.38, color=color)

left.set(xlabel="ratings", ylabel="steps off, on average")
left.legend()
right.set(xlabel="steps off", ylabel="share of the other patients", xticks=range(5))

# %%
# A range instead of a step
# -------------------------
#
# Of all 442 patients, after sixty ratings: the predicted step, and the steps that hold 80 % of the probability.

graph = ag.nearest_neighbors(X, k=10)
learner = ag.Learner(graph, answers="ordered", features=X, spot_checks=6, rng=0)
for _step in learner.run(lambda node: int(severity[node]), budget=60):
    pass

value, low, high = learner.predict(interval=0.8)
for node in (3, 4, 5):
    print(f"patient {node}: {value[node]}, {low[node]} to {high[node]}; in truth {severity[node]}")

print("expected error:", learner.judge.expected_error())

# %%
# Every sixth question was a spot check, a patient drawn at random, so the error is measured and not only what the model
# thinks of itself.
#
# Who needs the doctor first?
# ---------------------------
#
# ``ag.at_least(5)`` looks for a step and all above it; the patients come in the order of how likely that is.

urgent = learner.question(10, plan=learner.plan.finding(ag.at_least(5)))
print("severity of the next ten:", [int(severity[question.node]) for question in urgent])
print("at 5:", learner.judge.left_to_find(ag.at_least(5)))

# %%
# The same on a page
# ------------------
#
# Where a person rates, ``askgraph init patients.csv --answers ordered --classes "1,2,3,4,5"`` makes a project of a table, and
# ``askgraph label`` shows the steps beside each other. ``askgraph find "at least 5"`` looks for the urgent ones.
