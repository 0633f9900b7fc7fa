"""Accuracy per label: our samplers and readouts, graphlearning and LabelSpreading from the same first node on the same graphs.

python benchmarks/label_efficiency.py [--graphs cora,grid] [--methods influence+cautious,poisson+margin] [--seeds 5]
Without --seeds there are 20 seeds below 3,000 nodes, ten below 20,000 and five above. Beyond 20,000 nodes accuracy is measured
at thirty numbers of labels, and in between on the line that joins them. "hubs asked" is influence that asks for hubs as for
other nodes, "hubs skipped" asks for no hub while another node is left.

Records go to --output (a curve that is there is not run again; begin a new file when a method changes), a plot to --plot, the
tables of the site to the folder --csv (benchmarks/records); all tables are printed. Files of the datasets are looked for in the
folder ASKGRAPH_DATA; a graph without its files is left out.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import peers_curves
from label_report import MARKS, against_random, cells_of, failures, falls, plot, tables, write_tables
from labeled_graphs import GROUP, budget, codes_of, problem, seeds_of
from measure import SMOKE, machine

import askgraph as ag
from askgraph.answers import coding
from askgraph.errors import FileError
from askgraph.readouts import as_readout
from askgraph.simulate.records import Lines
from askgraph.simulate.runs import versions
from askgraph.support.progress import bar

BINS = 10
LARGE, POINTS = 20_000, 30  # above LARGE nodes, accuracy is measured at POINTS numbers of labels
LEFT = 0.1  # share of nodes that stay unlabeled when "all" are labeled, to measure accuracy on them


class Method(NamedTuple):
    """A sampler and a readout; a delta of None is relative to the mean degree."""

    sampler: str
    readout: str
    doubt: str | None = None
    delta: float | None = None
    hubs: str | None = None

    @property
    def questions(self):
        return self.sampler, self.doubt, self.delta, self.hubs


OURS = {
    "influence+cautious": Method("influence", "cautious"),
    "influence+consensus": Method("influence", "consensus"),
    "influence+tempered": Method("influence", "tempered"),
    "influence+mass": Method("influence", "mass"),
    "influence+map": Method("influence", "map"),
    "hubs asked+consensus": Method("influence", "consensus", hubs="ask"),
    "hubs skipped+cautious": Method("influence", "cautious", hubs="skip"),
    "sigma+tempered": Method("sigma", "tempered"),
    "msd+map": Method("msd", "map"),
    "paper": Method("tv", "map", "sqrt", 0.005),
    "random+cautious": Method("random", "cautious"),
    "random+consensus": Method("random", "consensus"),
    "random+tempered": Method("random", "tempered"),
    "random+map": Method("random", "map"),
}
METHODS = (*OURS, *peers_curves.PEERS)


class Task(NamedTuple):
    """One sequence of questions, read by several methods."""

    graph: str
    methods: tuple[str, ...]
    seed: int
    budget: int


def ours(task, problem, codes):
    """Yield the nodes labeled so far and the probabilities of each readout, label by label; None where nothing is measured."""
    graph, nodes, at = problem.graph, [first_node(problem, task.seed)], measured(task, problem)
    learner, readouts = learner_of(task, problem)
    learner.tell(graph.name(nodes[0]), problem.truth[nodes[0]])
    yield nodes, [timed(readout, learner.field) for readout in readouts]
    for step in learner.run(lambda node: problem.truth[graph.index(node)], task.budget - 1):
        nodes.append(graph.index(step.node))
        yield nodes, [timed(readout, learner.field) for readout in readouts] if len(nodes) in at else None


def measured(task, problem):
    """Return the numbers of labels at which accuracy is measured."""
    if problem.graph.n_nodes <= LARGE:
        return range(1, task.budget + 1)
    marks = [mark * len(problem.classes) for mark in MARKS if mark * len(problem.classes) <= task.budget]
    return np.union1d(np.linspace(1, task.budget, POINTS).round().astype(int), marks).tolist()


def ours_at(task, problem, codes, nodes):
    """Return the probabilities of each readout after these labels."""
    learner, readouts = learner_of(task, problem)
    learner.tell_all({problem.graph.name(node): problem.truth[node] for node in nodes.tolist()})
    return [readout(learner.field) for readout in readouts]


def learner_of(task, problem):
    ways = [OURS[name] for name in task.methods]
    sampler, doubt, delta, hubs = ways[0].questions
    options = {"doubt": doubt, "delta": delta, "hubs": hubs, "rng": task.seed, "classes": problem.classes}
    return ag.Learner(problem.graph, sampler, **options), [as_readout(way.readout) for way in ways]


def timed(readout, field):
    start = time.perf_counter()
    return readout(field), time.perf_counter() - start


def theirs(task, problem, codes):
    peer = peers_curves.peer(task.methods[0], problem)
    for nodes, p in peers_curves.curve(peer, codes, first_node(problem, task.seed), task.budget, task.seed):
        yield nodes, [(p, 0.0)]


def theirs_at(task, problem, codes, nodes):
    return [peers_curves.peer(task.methods[0], problem).read(nodes, codes[nodes])[1]]


def first_node(problem, seed):
    """Return the first question, which is the same for every method."""
    return int(np.random.default_rng(seed).integers(problem.graph.n_nodes))


def curves(task, problem):
    """Return one record per method; its seconds are set-up, questions, and its own readout after every label."""
    codes = codes_of(problem)
    side, at = (ours, ours_at) if task.methods[0] in OURS else (theirs, theirs_at)
    found = [{"accuracy": [], "calibration": {}, "seconds": 0.0} for _ in task.methods]
    steps, asking = side(task, problem, codes), 0.0
    for _ in range(task.budget):
        start = time.perf_counter()
        nodes, readings = next(steps)
        asking += time.perf_counter() - start - sum(seconds for _, seconds in readings or [])
        for record, (p, seconds) in zip(found, readings, strict=True) if readings else ():
            record["seconds"] += seconds
            note(record, p, codes, nodes)
    for record in found:
        record["accuracy"] = between(record["accuracy"], task.budget)
    rest, told = np.split(np.random.default_rng(task.seed).permutation(len(codes)), [int(LEFT * len(codes))])
    for record, p in zip(found, at(task, problem, codes, told), strict=True):
        record.update(all=right(p, codes, rest), seconds=round(record["seconds"] + asking, 4), nodes=nodes)
    return found


def between(points, budget):
    """Return the accuracy after every label, on lines between the points (labels, accuracy)."""
    return np.interp(np.arange(1, budget + 1), *np.array(points).T).round(6).tolist()


def note(record, p, codes, nodes):
    """Add the accuracy after these labels to a record, and the calibration error at the marks."""
    rest = np.delete(np.arange(len(codes)), nodes)
    record["accuracy"].append((len(nodes), right(p, codes, rest)))
    mark, more = divmod(len(nodes), p.shape[1])
    if mark in MARKS and not more:
        record["calibration"][str(mark)] = calibration_error(p, codes, rest)


def right(p, codes, rest):
    return round(float((coding.decide(p) == codes)[rest].mean()), 6)


def calibration_error(p, codes, rest):
    """Return |accuracy − mean confidence| in ten equal bins of the confidence, weighted by their nodes."""
    sure, hits = p[rest].max(axis=1), (coding.decide(p) == codes)[rest]
    at = np.minimum((sure * BINS).astype(int), BINS - 1)
    return round(float(np.abs(np.bincount(at, hits - sure, BINS)).sum() / len(at)), 6)


_problems = {}


def prepare(problems):
    """Keep the problems in this worker process, and limit it to one thread."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    _problems.update(problems)


def work(task):
    """Return the records of a task; if a peer raises an error, its message."""
    graph = _problems[task.graph]
    same = {"graph": task.graph, "data": graph.fingerprint, "seed": task.seed, "budget": task.budget}
    try:
        warm(task.methods)
        found = curves(task, graph)
    except Exception as error:
        if task.methods[0] in OURS or isinstance(error, ImportError):
            raise
        found = [{"failed": f"{type(error).__name__}: {error}"}]
    return [
        {**same, "method": method, **record, "versions": versions()}
        for method, record in zip(task.methods, found, strict=True)
    ]


@cache
def warm(methods):
    """Import and compile what these methods use, before the clock runs."""
    curves(Task("grid", methods, seed=0, budget=5), problem("grid"))


def results(problems, tasks, workers):
    """Yield the records of each task, as they come."""
    if workers == 1:
        prepare(problems)
        yield from map(work, tasks)
        return
    spawn = multiprocessing.get_context("spawn")  # a fork would copy locks of running numerical threads
    with ProcessPoolExecutor(workers, spawn, prepare, (problems,)) as pool:
        waiting = [pool.submit(work, task) for task in tasks]
        try:
            for done in as_completed(waiting):
                yield done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def key(record):
    return tuple(record[name] for name in ("graph", "data", "method", "seed", "budget"))


def tasks_of(problems, methods, seeds, done):
    """Return the tasks that are not recorded yet; methods that ask the same questions share a task."""
    tasks = []
    for graph, one in problems.items():
        size, data = budget(graph, one), one.fingerprint
        for seed in range(seeds or seeds_of(one)):
            groups = {}
            for method in methods:
                if (graph, data, method, seed, size) not in done:
                    groups.setdefault(OURS[method].questions if method in OURS else method, []).append(method)
            tasks += [Task(graph, tuple(together), seed, size) for together in groups.values()]
    return tasks


def filled(path, problems, methods, seeds, workers):
    """Return all records wanted; make and append those that are missing."""
    lines = Lines(path)
    tasks = tasks_of(problems, methods, seeds, set(map(key, lines.read())))
    cost = {graph: one.graph.n_nodes * budget(graph, one) for graph, one in problems.items()}
    with lines.appending() as append, bar(sum(cost[task.graph] for task in tasks), "label efficiency") as tick:
        for records in results(problems, tasks, workers):
            for record in records:
                append(record)
            tick(cost[records[0]["graph"]])
    found = {key(record): record for record in lines.read()}
    return [
        found[graph, one.fingerprint, method, seed, budget(graph, one)]
        for graph, one in problems.items()
        for method in methods
        for seed in range(seeds or seeds_of(one))
    ]


def problems_of(names):
    """Return the graphs whose files are there."""
    problems = {}
    for name in names:
        try:
            problems[name] = problem(name)
        except FileError as error:
            print(f"{name} is left out: {error}", flush=True)
    return problems


def names_in(text, known, what):
    names = text.split(",")
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"no {what} called {', '.join(unknown)}; there are {', '.join(known)}")
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=",".join(GROUP) if not SMOKE else "grid")
    parser.add_argument(
        "--methods", default=",".join(METHODS) if not SMOKE else "influence+cautious,random+cautious,paper"
    )
    parser.add_argument("--seeds", type=int, default=None if not SMOKE else 1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("label_efficiency.jsonl"))
    parser.add_argument("--plot", type=Path)
    parser.add_argument(
        "--csv", type=Path, default=Path() if SMOKE else None, help="a folder for the tables of the site"
    )
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    options = parser.parse_args()
    methods = names_in(options.methods, METHODS, "method")
    print(f"Machine: {machine()}.", flush=True)
    problems = problems_of(names_in(options.graphs, GROUP, "graph"))
    records = filled(options.output, problems, methods, options.seeds, options.workers)
    cells = cells_of(records, problems)
    tables(cells, methods)
    against_random(cells, problems)
    falls(cells, problems)
    failures(records)
    if options.csv:
        write_tables(cells, problems, methods, options.csv)
    if options.plot:
        plot(cells, methods, options.plot)


if __name__ == "__main__":
    main()
