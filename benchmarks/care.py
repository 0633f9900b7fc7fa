"""People of different care: accuracy with their errors as label noise, beside counting all alike, at equal numbers of answers.

python benchmarks/care.py [--seeds 2] [--answers 150]      # prints a Markdown table; data: the folder trial of ASKGRAPH_DATA

Three people answer the questions of a learner in turn, at random. Each errs with a chance of their own, and then says any other
class. A quarter of the items is asked of a second person; of two answers the later counts, as in a project. Every eighth
question is a spot check. Both columns have the same answers; accuracy is over items without a label. "estimated" is how often
each person errs by overlaps and spot checks.
"""

from __future__ import annotations

import argparse

import numpy as np
from measure import SMOKE, machine
from suggestions import SETS

import askgraph as ag
from askgraph.workbench.care import MODEL, Raters, label_noise

CROWDS = {"mixed": (0.02, 0.1, 0.4), "two careless": (0.02, 0.3, 0.3), "all careful": (0.03, 0.03, 0.03)}
OVERLAP, CHECKS = 0.25, 8


def answered(learner, truth, errors, answers, rng):
    """Return {item: {person: label}} and {item: label predicted before} of spot checks."""
    classes, said, predicted, given = len(learner.classes), {}, {}, 0
    while given < answers:
        question = learner.question()
        check, node = question.by == "spot check", question.node
        if check and learner.field.held:
            predicted[node] = str(learner.predict([node])[0])
        people = rng.permutation(len(errors))[: 1 + (rng.random() < OVERLAP)].tolist()
        wrong = [(rng.random() < errors[who]) * rng.integers(1, classes) for who in people]
        said[node] = {str(who): str((truth[node] + off) % classes) for who, off in zip(people, wrong, strict=True)}
        given += len(people)
        learner.tell(node, list(said[node].values())[-1])
    return said, predicted


def measured(graph, truth, prior, errors, answers, seed):
    """Return the accuracy counting all alike and with label noise, and the estimated errors."""
    classes = [str(k) for k in range(int(truth.max()) + 1)]
    options = {"engine": prior, "noise": 0.0, "classes": classes, "rng": seed}
    alike = ag.Learner(graph, spot_checks=CHECKS, **options)
    said, predicted = answered(alike, truth, errors, answers, np.random.default_rng(seed))
    words = [one | ({MODEL: predicted[node]} if node in predicted else {}) for node, one in said.items()]
    known, labels = Raters(words, classes), {node: list(one.values())[-1] for node, one in said.items()}
    wrong = {node: known.wrongness(said[node], label) for node, label in labels.items()}
    noise = {node: label_noise(e, len(classes), graph.degrees[node]) for node, e in wrong.items() if e > 0}
    heard = ag.Learner(graph, **options)
    heard.tell_all(labels, noise=noise)
    rest = ~alike.field.labeled
    right = [(one.predict() == truth.astype(str))[rest].mean() for one in (alike, heard)]
    return [*right, *(known.care(str(who)).errs for who in range(len(errors)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1 if SMOKE else 2)
    parser.add_argument("--answers", type=int, default=60 if SMOKE else 150)
    parser.add_argument("--smoke", action="store_true", help="a toy graph, to see that everything runs")
    options = parser.parse_args()
    print(f"{machine()}, mean of {options.seeds} seeds, {options.answers} answers\n")
    print("| items | people err | estimated | counting all alike | with label noise |")
    print("|---|---|---|---|---|")
    for name, make in SETS.items():
        graph, truth = make()
        prior, truth = ag.prior(graph), np.asarray(truth)
        for errors in CROWDS.values():
            runs = [measured(graph, truth, prior, errors, options.answers, seed) for seed in range(options.seeds)]
            alike, heard, *estimated = np.mean(runs, axis=0)
            people, found = (", ".join(f"{100 * e:.0f} %" for e in some) for some in (errors, estimated))
            print(f"| {name} | {people} | {found} | {alike:.3f} | **{heard:.3f}** |", flush=True)


if __name__ == "__main__":
    main()
