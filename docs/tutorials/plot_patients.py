"""
Patients to measure
===================

Some answers are numbers: a price, a depth, a blood value. Here are 442 patients with diabetes, ten measurements each, who come with
scikit-learn. How much the disease went on in a year takes an examination, and there are forty appointments. Whom do we
invite, what do we expect of all the others, and how sure is that?
"""

# %%
# Forty patients, before anybody was examined
# -------------------------------------------
#
# Where a number tells most does not depend on what it is. So ``ask(40)`` is a list for the person who makes the appointments:
# patients who together say most about all others. Features are given beside the graph, which is what makes numbers predictable.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import askgraph as ag

X, progression = load_diabetes(return_X_y=True)
graph = ag.nearest_neighbors(X, k=10)
learner = ag.Learner(graph, answers=ag.Numbers(unit="points"), features=X, rng=0)
invited = learner.ask(40)
print("the first ten:", invited[:10])

# %%
# The answers come in any order
# -----------------------------
#
# One patient does not come: set aside, and predicted like everybody else.

learner.skip(invited[7])
learner.tell_all({node: progression[node] for node in invited if node != invited[7]})
value, low, high = learner.predict([invited[7]], interval=0.9)
print(f"that patient would have about {value[0]:.0f} points, {low[0]:.0f} to {high[0]:.0f}")

# %%
# Ranges that hold
# ----------------
#
# A range of 90 % should hold nine in ten of the patients that nobody examined.

value, low, high = learner.predict(interval=0.9)
rest = np.setdiff1d(np.arange(len(X)), list(learner.labels))
inside = (low <= progression) & (progression <= high)
print(f"{inside[rest].mean():.0%} of the ranges hold")
print("expected error:", learner.judge.expected_error())
print(f"in truth: {np.sqrt(np.mean((value - progression)[rest] ** 2)):.3g} points")

# %%
# What are the features worth, and what is the list?
# --------------------------------------------------
#
# Six clinics of 250 patients drawn from all: the error of who asks where it tells most, of who asks at random, and of who has the
# graph alone, all divided by the spread of the numbers. At 1 nothing is gained over predicting the mean for everybody. Ten
# measurements say only so much about the year to come, so all stay far above 0, and ranges stay wide.


def errors(clinic, sampler, with_features):
    """Return the root of the mean squared error over the spread, after 5, 10, … 40 answers."""
    some = np.random.default_rng(clinic).permutation(len(X))[:250]
    rows, truth, found = X[some], progression[some], []
    neighbors, features = ag.nearest_neighbors(rows, k=10), rows if with_features else None
    asking = ag.Learner(neighbors, sampler, answers="numbers", features=features, rng=clinic)
    for count, _step in enumerate(asking.run(lambda node: truth[node], budget=40), 1):
        if count % 5 == 0:
            others = np.setdiff1d(np.arange(250), list(asking.labels))
            off = asking.predict(others) - truth[others]
            found.append(np.sqrt(np.mean(off**2)) / truth.std())

    return found


WAYS = {"asked": (None, True), "at random": ("random", True), "asked, the graph alone": (None, False)}
curves = {way: np.mean([errors(clinic, *how) for clinic in range(6)], axis=0) for way, how in WAYS.items()}

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", width_ratios=(1.5, 1))
order = rest[np.argsort(value[rest])]
place = np.arange(order.size)
left.fill_between(place, low[order], high[order], color="tab:blue", alpha=0.2, linewidth=0)
left.plot(place, value[order], color="tab:blue", label="predicted, with its range")
held = inside[order]
left.scatter(place[held], progression[order][held], s=8, color="black", label="in truth")
left.scatter(place[~held], progression[order][~held], s=14, color="tab:red", label="outside its range")
left.set(
    xlabel="patients that nobody examined, by what is predicted",
    ylabel="progression in points",
    xticks=[],
    ylim=(-60, 440),
)
left.legend(loc="upper left")
for way, curve in curves.items():
    right.plot(np.arange(5, 45, 5), curve, marker="o", label=way)

right.set(xlabel="patients examined", ylabel="error, in spreads of the numbers")
right.legend()

# %%
# Whom to see next?
# -----------------
#
# Another goal, another question: not to know all, but to find those above 250 points. The likeliest come first.

plan = learner.plan.finding(ag.at_least(250))
for _ in range(20):
    question = learner.question(plan=plan)
    learner.tell(question, progression[question.node])

last = list(learner.labels)[-20:]
print(
    f"{np.mean(progression[last] >= 250):.0%} of these twenty are above 250, and {np.mean(progression >= 250):.0%} of all patients"
)
print("above 250:", learner.judge.left_to_find(ag.at_least(250)))

# %%
# The same on a page
# ------------------
#
# Where a person types the numbers, ``askgraph init patients.csv --answers numbers --unit points`` makes a project of a table, and
# ``askgraph label`` asks. A number far from what was expected is saved, and the page asks whether it is meant.
