"""Ten million nodes on one machine: the graph made, the first and the next question, peak memory; told before it starts.

python benchmarks/largest.py [--nodes 10000000] [--kinds "3-d,road,power law"] [--memory 20] [--folder DIR] [--trial-only]

Each kind of graph is first made and asked at a fiftieth of its size. What the full size will take is told from that, growing in
proportion to the nodes, and a kind that would pass --memory (GB) is left out, with its reason. Graphs are kept in --folder (about
2.5 GB at ten million 3-d neighbors). Where the iterative engine would pass the limit with all its probes, it gets as many as fit.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

from measure import SMOKE, Meter, in_own_process, machine
from scale import HOW, built, labels_of

SHARE = 50  # the trial has one node in SHARE
NEXT = 3 if not SMOKE else 1  # next questions, of which the mean counts


def graph_made(kind, nodes, path):
    """Make a graph and write it to a file; return seconds and peak megabytes."""
    meter = Meter()
    built(kind, nodes).save(path)
    return meter.seconds, meter.megabytes


def engine_of(graph, limit):
    """Return the engine that the rule picks; an iterative one with as many probes as fit into the given bytes."""
    from askgraph.priors import choice
    from askgraph.priors.iterative import Iterative, needed_bytes
    from askgraph.priors.precision import Precision
    from askgraph.priors.probing import MAX_PROBES, PILOT_PROBES, PROBES_STEP

    precision = Precision.of(graph, HOW["delta"])
    made = choice(precision)[0]
    if made is not Iterative or needed_bytes(graph, MAX_PROBES) <= limit:
        return made.name, made.name
    fitting = [k for k in range(PILOT_PROBES, MAX_PROBES, PROBES_STEP) if needed_bytes(graph, k) <= limit]
    if not fitting:
        raise SystemExit(f"{graph.n_nodes:,} nodes do not fit in {limit / 1e9:.0f} GB with the fewest probes either")
    return Iterative(precision, probes=fitting[-1]), f"iterative, {fitting[-1]} probes"


def questions_asked(path, limit):
    """Load a graph and ask; return nodes, engine, seconds of loading, of the first and of a next question, peak megabytes."""
    import askgraph as ag

    meter = Meter()
    graph = ag.Graph.load(path)
    loaded = meter.seconds
    engine, name = engine_of(graph, limit)
    learner = ag.Learner(graph, "tv", rng=0, engine=engine, **HOW)
    node = learner.ask()
    first, labels, start = meter.seconds - loaded, labels_of(graph), time.perf_counter()
    for _ in range(NEXT):
        learner.tell(node, int(labels[node]))
        node = learner.ask()
    return graph.n_nodes, name, loaded, first, (time.perf_counter() - start) / NEXT, meter.megabytes


def measured(kind, nodes, folder, limit):
    """Make and ask one graph, each in a process of its own; return a record."""
    path = folder / f"{kind.replace(' ', '-')}-{nodes}.npz"
    made = (0.0, 0.0) if path.exists() else in_own_process(graph_made, kind, nodes, path)
    return (*made, *in_own_process(questions_asked, path, limit))


def printed(kind, record):
    seconds, megabytes, nodes, engine, loaded, first, after, peak = record
    cells = [kind, f"{nodes:,}", engine, f"{seconds:.0f} s", f"{megabytes / 1e3:.1f} GB", f"{loaded:.1f} s"]
    print(f"| {' | '.join([*cells, f'{first:.0f} s', f'{after:.1f} s', f'{peak / 1e3:.1f} GB'])} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=10_000_000 if not SMOKE else 20_000)
    parser.add_argument("--kinds", default="3-d,road,power law" if not SMOKE else "road")
    parser.add_argument("--memory", type=float, default=20.0, help="GB that a case may take")
    parser.add_argument("--folder", type=Path, default=Path("largest-graphs"))
    parser.add_argument("--trial-only", action="store_true", help="tell what it would take, and stop")
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    limit, wanted = options.memory * 1e9, []
    free = shutil.disk_usage(options.folder).free
    print(f"Machine: {machine()}.\nDisk: {free / 1e9:.0f} GB free in {options.folder}.\n")
    heads = "graph | nodes | engine | made | peak memory of that | loaded | first question | next | peak memory"
    print(f"Trial, and what {options.nodes:,} nodes will take:\n\n| {heads} |\n|{'---|' * 9}")
    for kind in options.kinds.split(","):
        trial = measured(kind, options.nodes // SHARE, options.folder, limit)
        made, made_peak, nodes, engine, *times, peak = trial
        grown = options.nodes / nodes
        told = [made * grown, made_peak * grown, options.nodes, engine, *(x * grown for x in times), peak * grown]
        printed(f"{kind}, trial", trial)
        printed(f"{kind}, told", told)
        if (
            max(made_peak, 0 if engine.startswith("iterative") else peak) * grown * 1e6 <= limit
        ):  # probes are cut to fit
            wanted.append(kind)
        else:
            print(f"{kind} is left out: more than {options.memory:.0f} GB")
    if not options.trial_only:
        print(f"\n| {heads} |\n|{'---|' * 9}")
        for kind in wanted:
            printed(kind, measured(kind, options.nodes, options.folder, limit))


if __name__ == "__main__":
    main()
