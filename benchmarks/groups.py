"""Answers to whole groups beside single questions: accuracy by minutes of work, one second per card and four per grid.

python benchmarks/groups.py [--seeds 1] [--minutes 1 2 4]      # prints a Markdown table; data: the folder trial of ASKGRAPH_DATA

The truth answers. "single": the questions of the learner, one second each. "groups": from ten labels on, after every four
single questions comes a grid of up to 20 items that look alike and are predicted alike (Learner.group), four seconds each; items
of another class are taken out, and asked next, one second each. Accuracy is over all items, "by a person" the number of
items that a person has labeled or confirmed.
"""

from __future__ import annotations

import argparse

import numpy as np
from measure import SMOKE, machine
from suggestions import SETS

import askgraph as ag

CARD, GRID = 1, 4  # seconds
FIRST, BETWEEN = 10, 4  # labels before the first grid, and single questions between two
LEAST = 8  # items of a grid; fewer are asked one by one


def work(learner, truth, seconds, groups):
    """Yield the seconds spent after each card and each grid."""
    spent, since, odd = 0, 0, []
    while spent < seconds:
        group = (
            learner.judge.group() if groups and since >= BETWEEN and not odd and learner.field.held >= FIRST else None
        )
        since = 0 if since >= BETWEEN else since
        if group is not None and len(group.nodes) >= LEAST:
            for node in group.nodes:
                if truth[node] == group.label:
                    learner.tell(node, group.label)
                else:
                    odd.append(node)
            spent += GRID
        else:
            node = odd.pop(0) if odd else learner.ask()
            if node is None:
                return
            learner.tell(node, int(truth[node]))
            spent, since = spent + CARD, since + 1
        yield spent


def measured(graph, truth, prior, seed, minutes, groups):
    """Return one (accuracy, items by a person) per mark."""
    learner = ag.Learner(graph, engine=prior, rng=seed, classes=range(int(truth.max()) + 1))
    marks, found = [60 * minute for minute in minutes], []
    for spent in work(learner, truth, max(marks), groups):
        while len(found) < len(marks) and spent >= marks[len(found)]:
            found.append(((learner.predict() == truth).mean(), learner.field.held))
    while len(found) < len(marks):
        found.append(((learner.predict() == truth).mean(), learner.field.held))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--minutes", type=float, nargs="+", default=[0.5] if SMOKE else [1, 2, 4])
    parser.add_argument("--smoke", action="store_true", help="a toy graph, to see that everything runs")
    options = parser.parse_args()
    print(f"{machine()}, mean of {options.seeds} seeds\n")
    print("| items | minutes | single: accuracy | by a person | groups: accuracy | by a person |")
    print("|---|---|---|---|---|---|")
    for name, make in SETS.items():
        graph, truth = make()
        truth, prior = np.asarray(truth), ag.prior(graph)
        both = [
            np.mean([measured(graph, truth, prior, s, options.minutes, groups) for s in range(options.seeds)], axis=0)
            for groups in (False, True)
        ]
        for minute, single, group in zip(options.minutes, *both, strict=True):
            cells = (f"{single[0]:.3f}", f"{single[1]:.0f}", f"{group[0]:.3f}", f"{group[1]:.0f}")
            print(f"| {name} | {minute:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
