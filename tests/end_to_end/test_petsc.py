"""The engine over MPI: the same graph, summaries, questions and records for any number of ranks, and an end when one fails."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import askgraph as ag

pytestmark = pytest.mark.mpi
ROOT = Path(__file__).parents[2]
RANKS = [1, 2, 3, 4]
HANGS = 600  # seconds after which a job counts as one without end
MISSING = not (find_spec("petsc4py") and find_spec("mpi4py") and shutil.which("mpiexec"))
installed = pytest.mark.skipif(
    MISSING and os.environ.get("ASKGRAPH_PETSC") != "required",
    reason="no petsc4py, mpi4py or mpiexec here: make test-petsc",
)
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(Path(ag.__file__).parents[1]), str(ROOT)]),
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",  # containers forbid it
    "OMP_NUM_THREADS": "1",
}


def job(ranks, *command, cwd=None):
    """A job of so many ranks, ended long before it could hang."""
    whole = ["mpiexec", "-n", str(ranks), sys.executable, *map(str, command)]
    return subprocess.run(whole, env=ENVIRONMENT, capture_output=True, text=True, timeout=HANGS, cwd=cwd, check=False)


def alone(*command, cwd=None):
    """The same without mpiexec."""
    whole = [sys.executable, *map(str, command)]
    return subprocess.run(whole, env=ENVIRONMENT, capture_output=True, text=True, timeout=HANGS, cwd=cwd, check=False)


def told(ranks, program, cwd=None):
    """What a program prints as JSON in the first rank; it has askgraph as ag, numpy as np and world()."""
    head = "import json, sys\nimport numpy as np\nimport askgraph as ag\nfrom askgraph.distributed.ranks import world\n"
    done = job(ranks, "-c", head + textwrap.dedent(program), cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def near(n=3000, seed=0):
    return ag.nearest_neighbors(np.random.default_rng(seed).random((n, 3)), k=8)


ROWS = (
    f"    TESTS = {str(ROOT / 'tests/laws/test_rows.py')!r}"
    + """
    import sys
    import pytest
    from askgraph.priors import probing
    patch.setattr(probing, "MAX_PROBES", 24)  # the laws run with as many as are needed on one rank
    options = ["-q", "-x", "--color=no", "-k", "petsc", "-p", "no:cacheprovider"]
    if pytest.main([*options, TESTS]):
        sys.__stderr__.write(sys.stdout.getvalue())
        raise AssertionError("the laws of rows do not hold")
"""
)


SUMMARIES = """
    from askgraph.priors import petsc, probing
    patch.setattr(probing, "MAX_PROBES", 48)  # how many there are is of no matter to what ranks share
    graph = ag.Graph.load("graph.npz")
    found, usual = {}, petsc.BLOCKS_FROM
    for sampler in ("tv", "msd", "eer"):
        patch.setattr(petsc, "BLOCKS_FROM", usual if sampler == "eer" else 0)
        learner = ag.Learner(graph, sampler, engine="petsc", rng=1, classes=[0, 1, 2])
        prior, start = learner.field.prior, learner.field.spread
        shares = prior.graph.ranks.comm.allgather(prior.space.n_rows)
        asked, best = [], []
        for _ in range(5):
            node = learner.ask()
            rows = prior.space.rows_of(np.array([node]))
            best.append(float(prior.space.highest(learner.plan.sampler.score(learner.field, rows[rows >= 0]))))
            asked.append(node)
            learner.tell(node, node % 3)
        found[sampler] = dict(
            asked=asked, best=best, rows=shares, variance=prior.space.gather(start.variance).tolist(),
            l2=prior.space.gather(start.influence_l2).tolist() if sampler == "msd" else [],
            p=learner.probabilities().tolist(), halo=int(prior.graph.ranks.sum(np.array(prior.graph.beyond.size))))
    if world().first:
        print(json.dumps(found))
"""
N_NODES = 2100  # at least 500 per rank, so that the graph is partitioned


@installed
@pytest.mark.parametrize("sampler", ["tv", "msd", "eer"])
def test_petsc_summaries_and_questions_do_not_depend_on_ranks(sampler, over_ranks):
    """Above the size where all nodes are solved for: probes, a shortlist, a partitioned graph."""
    one = json.loads(over_ranks("summaries", 1))[sampler]
    for ranks in RANKS[1:]:
        found = json.loads(over_ranks("summaries", ranks))[sampler]
        assert sum(found["rows"]) == N_NODES
        assert max(found["rows"]) < 1.2 * N_NODES / ranks, "a rank holds too much"
        assert found["halo"] < 0.6 * N_NODES * (ranks - 1), "the partition cuts as much as chance would"
        np.testing.assert_allclose(found["variance"], one["variance"], rtol=3e-3)
        np.testing.assert_allclose(found["l2"], one["l2"], rtol=3e-3)
        same = [a == b for a, b in zip(found["asked"], one["asked"], strict=True)]
        differ = same.index(False) if False in same else None
        if differ is None:
            np.testing.assert_allclose(found["p"], one["p"], atol=1e-4)
        else:  # another question, as good within what solves promise
            assert found["best"][differ] == pytest.approx(one["best"][differ], rel=2e-3)


BLOCKED = """
    from scipy.sparse import block_diag, csr_array
    from askgraph.distributed import coarsening
    from askgraph.priors import petsc, petsc_blocks
    from askgraph.priors.precision import Precision
    patch.setattr(petsc, "BLOCKS_FROM", 0)
    patch.setattr(coarsening, "SHARE", 0)
    whole, pair = ag.Graph.load("graph.npz").weights, np.array([[0.0, 1.0], [1.0, 0.0]])
    size = 10.0 ** np.random.default_rng(0).uniform(-6, 6, 1000)
    apart = np.r_[np.arange(0, 300, 2), np.arange(1, 300, 2)]
    graphs = {  # and the most aggregates of the level that every rank holds
        "neighbors": (whole, 100),
        "many parts": (block_diag([np.zeros((40, 40)), whole, *[pair] * 60]), 1000),
        "neighbors on other ranks": (ag.chain(300).weights[apart][:, apart], 1000),
        "a wide range": (whole * size[:, None] * size, 1000),
        "ranks without rows": (pair, 1000),
        "too few steps": (whole, 1000),
    }
    found = []
    for name, (W, small) in graphs.items():
        patch.setattr(coarsening, "SMALL", small)
        patch.setattr(petsc_blocks, "STEPS", 1 if name == "too few steps" else 250)
        precision = Precision.of(ag.Graph(csr_array(W)))
        nodes = np.arange(7, precision.pinned.size, 37)
        prior = petsc.Petsc(precision.folded(nodes, np.where(nodes % 2, 0.3, 0.0)))
        B = prior.space.scatter(np.random.default_rng(1).normal(size=(prior.n_nodes, 5))) * prior.free[:, None]
        B[:, 3] = 0.0
        total, solves, solve = prior.space.total, [], prior._ksp.solve
        norm, exact = np.maximum(total(B * B), 1e-30), solve(B, 1e-11)[0]
        prior._ksp.solve = lambda B, rtol: (solves.append(B.shape[1]), solve(B, rtol))[1]
        for rtol in (1e-4, 3e-9):
            X, energy = prior._solved(B, rtol)
            smooth = prior._solved(B, rtol, smooth=True)[0]
            R, S = B - prior.free[:, None] * prior.times(X), prior.neighbors(X) * (prior.free / prior.diagonal)[:, None]
            found.append(dict(
                graph=name, rtol=rtol, left=float(np.sqrt(total(R * R) / norm).max()),
                smooth=float(np.sqrt(total((S - smooth) ** 2) / np.maximum(total(S * S), 1e-30)).max()),
                energy=float(np.abs(energy - total(X * (B - R))).max() / energy.max()),
                error=float(np.sqrt(total((X - exact) ** 2) / np.maximum(total(exact * exact), 1e-30)).max()),
                levels=prior._blocks and 1 + len(prior._blocks._nested._between), by_petsc=sum(solves)))
    if world().first:
        print(json.dumps(found))
"""


def write_sorted(folder):
    points = np.random.default_rng(0).random((1000, 3))
    ag.nearest_neighbors(points[np.argsort(points[:, 0])], k=8).save(folder / "graph.npz")


@installed
def test_petsc_blocks_of_columns_are_what_petsc_solves_one_by_one(over_ranks):
    """Whatever the graph: levels between, components, isolated nodes, nodes whose neighbors are elsewhere, folded labels."""
    found = json.loads(over_ranks("blocks", 3))
    for case in found:
        assert case["left"] <= 1.2 * case["rtol"], case  # a residual in float32 is not quite that in float64
        assert case["error"] <= 100 * case["rtol"], case
        assert max(case["smooth"], case["energy"]) <= 1e-5, case
        assert bool(case["by_petsc"]) == (case["graph"] == "too few steps"), case
    assert found[0]["levels"] > 1


LISTS = {
    "indices": lambda rng: rng.integers(40, size=(150, 2)),
    "ids with gaps": lambda rng: 7 * rng.integers(40, size=(150, 2)) - 20,
    "names": lambda rng: np.char.add("n", rng.integers(40, size=(150, 2)).astype(str)),
    "mixed": lambda rng: np.where(rng.random((150, 2)) < 0.01, "x", rng.integers(40, size=(150, 2)).astype(str)),
}
SHARDED = [*((name, "csv") for name in LISTS), ("names", "npz"), ("indices", "parquet")]
GATHERED = (
    f"    SHARDED = {SHARDED}"
    + """
    found = []
    for pattern in [f"{listed} {kind}/shard*.{kind}" for listed, kind in SHARDED]:
        graph = ag.read_shards(pattern)
        whole = graph.gathered()
        entries = whole.weights.tocoo()
        found.append(dict(i=entries.row.tolist(), j=entries.col.tolist(), w=entries.data.tolist(), notes=whole.notes,
                          names=whole.names and list(whole.names), edges=graph.n_edges))
    if world().first:
        print(json.dumps(found))
"""
)


def write_shards(folder, ends, weights, kind, count):
    """Edges in some files, in order, and in one."""
    for k, part in enumerate([*np.array_split(np.arange(len(ends)), count), np.arange(len(ends))]):
        path = folder / (f"shard{k}.{kind}" if k < count else f"whole.{kind}")
        if kind == "csv":
            rows = (f"{a},{b},{w}" for (a, b), w in zip(ends[part], weights[part], strict=True))
            path.write_text("source,target,weight\n" + "\n".join(rows) + "\n")
        elif kind == "npz":
            np.savez(path, source=ends[part, 0], target=ends[part, 1], weight=weights[part])
        else:
            import pyarrow as pa
            import pyarrow.parquet as pq

            pq.write_table(pa.table({"source": ends[part, 0], "target": ends[part, 1], "weight": weights[part]}), path)


def write_all_shards(folder):
    """Write shards of all kinds, each in a folder of its own."""
    rng = np.random.default_rng(3)
    for listed, kind in SHARDED:
        ends, weights = LISTS[listed](rng), np.where(rng.random(150) < 0.1, 0.0, rng.integers(1, 5, 150) / 4)
        ends[100:120] = ends[80:100, ::-1]
        own = folder / f"{listed} {kind}"
        own.mkdir()
        write_shards(own, ends, weights, kind, 5)


@installed
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(("listed", "kind"), SHARDED)
def test_petsc_shards_mean_what_one_list_means(ranks, listed, kind, over_ranks):
    """Repeats add up, both directions are one edge, loops and zeros go, ids are numbered alike."""
    whole = ag.read_graph(over_ranks.folder("shards") / f"{listed} {kind}" / f"whole.{kind}")
    found = json.loads(over_ranks("shards", ranks))[SHARDED.index((listed, kind))]
    want = whole.weights.tocoo()
    assert found["names"] == (whole.names and list(whole.names))
    assert (found["i"], found["j"]) == (want.row.tolist(), want.col.tolist())
    np.testing.assert_allclose(found["w"], want.data, rtol=1e-14)
    assert found["edges"] == whole.n_edges
    assert set(found["notes"]) == set(whole.notes)


WALKED = """
    from askgraph.distributed import partition
    from askgraph.distributed.distribute import sharded
    graph = ag.Graph.load("graph.npz")
    counts = []
    for kinds in (partition.PARTITIONERS, "clusters", (), None):
        if kinds == "clusters":
            patch.setattr(partition, "CLUSTER_FROM_NODES", 0)
            patch.setattr(partition, "MOST_ROWS", 1.5)  # few clusters are shared less evenly
        elif kinds is None:
            patch.setattr(partition, "PARTITION_FROM_NODES", 10**9)
        else:
            patch.setattr(partition, "PARTITIONERS", kinds)
        made = sharded(graph if world().first else None)
        counts.append((int(made.ranks.sum(np.array(made.beyond.size))), made.ranks.comm.allgather(made.n_rows)))
    wanted = np.random.default_rng(world().rank).permutation(np.arange(world().rank, graph.n_nodes, 3))
    made = sharded(graph, nodes=wanted)
    kept = np.array_equal(made.nodes, wanted) and abs(made.gathered().weights - graph.weights).max() == 0
    if world().first:
        print(json.dumps([*counts, bool(kept)]))
"""


def write_permuted(folder):
    order = np.random.default_rng(0).permutation(3000)
    ag.Graph(near().weights[order][:, order]).save(folder / "graph.npz")


@installed
def test_petsc_partitions_cut_little_with_and_without_a_partitioner(over_ranks):
    (best, _), (clusters, _), (walked, rows), (blocks, _), kept = json.loads(over_ranks("partitions", 3))
    assert kept, "rows are not where they were wanted"
    assert best < 0.5 * blocks
    assert clusters < 0.6 * blocks
    assert clusters != best, "clusters were not partitioned"
    assert walked < 0.7 * blocks
    assert max(rows) - min(rows) <= 1


TOLD = ["--labels", "labels.csv", "--samplers", "influence,random", "--budget", "10", "--runs", "2"]
SIMULATED = (
    f"    TOLD = {TOLD}"
    + """
    from askgraph.cli import app
    app(["simulate", "shard*.csv", *TOLD, "-o", f"{world().size}.jsonl", "--engine", "petsc"], standalone_mode=False)
"""
)


def write_labeled_shards(folder):
    graph, truth = ag.communities((60, 80, 70), rng=4)
    upper = np.argwhere(np.triu(graph.weights.toarray()))
    write_shards(folder, np.char.add("n", upper.astype(str)), np.ones(len(upper)), "csv", 3)
    (folder / "labels.csv").write_text("node,label\n" + "".join(f"n{i},c{y}\n" for i, y in enumerate(truth)))


@pytest.fixture(scope="module")
def simulated(over_ranks):
    """The folder of records, and what the command printed alone, by name and on two ranks; twice on these."""
    folder, words = over_ranks.folder("simulation"), ["-m", "askgraph", "simulate"]
    done = [alone(*words, "whole.csv", *TOLD, "-o", "0.jsonl", cwd=folder)]
    command = [*words, "shard*.csv", *TOLD, "-o", "2.jsonl", "--engine", "petsc"]
    done += [job(2, *command, cwd=folder) for _ in range(2)]
    for one in done:
        assert one.returncode == 0, one.stderr
    return folder, [one.stdout for one in done]


def curves(path):
    records = map(json.loads, path.read_text().splitlines())
    return {(r["sampler"], r["seed"]): (r["nodes"], r["accuracy"]) for r in records}


@installed
@pytest.mark.parametrize("ranks", RANKS)
def test_petsc_simulations_are_those_of_one_machine(ranks, over_ranks, simulated):
    """Two ranks by the command as it is given, the other numbers of ranks in a job that does more."""
    folder, (alone, together, _) = simulated
    for printed in (alone, together if ranks == 2 else over_ranks("simulation", ranks)):
        assert printed.count("ecords are in") == 1
    assert curves(folder / f"{ranks}.jsonl") == curves(folder / "0.jsonl")


@installed
def test_petsc_simulations_go_on_where_they_were(simulated):
    assert "4 of 4 runs are there already" in simulated[1][2]


FAILING = """
    import os, signal
    learner = ag.Learner(ag.grid(40, 40), engine="petsc", rng=0)
    rank = world().rank
    for step in learner.run(lambda node: node % 3, 50):
        if len(learner.labels) == 3:
            FAIL
    print("went on to the end")
"""
KILLED = (137, 9)  # of Open MPI, of MPICH
FAILURES = {  # what happens, the exit code, and what is said once
    "killed": ("if rank == 1: os.kill(os.getpid(), signal.SIGKILL)", KILLED, "signal 9"),
    "an error of ours": (
        "if rank == 1: raise ag.LabelError('no such label')",
        (1,),
        "rank 1 of 3 failed: no such label",
    ),
    "any error": ("if rank == 1: 1 / 0", (1,), "rank 1 of 3 failed: division by zero"),
    "no convergence": (
        "from askgraph.priors import petsc_solver as ksp; ksp.STEPS = 2",
        (1,),
        "conjugate gradients stopped",
    ),
}


@installed
@pytest.mark.parametrize("failure", FAILURES)
def test_petsc_job_ends_when_a_rank_fails(failure):
    fail, codes, said = FAILURES[failure]
    head = "import numpy as np\nimport askgraph as ag\nfrom askgraph.distributed.ranks import world\n"
    done = job(3, "-c", head + textwrap.dedent(FAILING).replace("FAIL", fail))
    assert done.returncode in codes
    assert done.stderr.count(said) == 1, done.stderr
    assert "went on" not in done.stdout


@installed
def test_petsc_bad_shard_is_named_once(tmp_path):
    write_shards(tmp_path, np.arange(40).reshape(20, 2), np.ones(20), "csv", 3)
    (tmp_path / "shard2.csv").write_text("source,target,weight\n1,2,-3\n")
    done = job(3, "-c", "import askgraph as ag; ag.read_shards('shard*.csv')", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("shard2.csv, line 2: weight -3.0 is negative") == 1, done.stderr


def test_without_petsc4py_the_error_names_the_install():
    code = """
        import sys
        sys.modules["petsc4py"] = None
        import askgraph as ag
        try:
            ag.Learner(ag.chain(5), engine="petsc")
        except ag.MissingExtraError as error:
            print(error)
    """
    done = alone("-c", textwrap.dedent(code))
    assert 'pip install "askgraph[petsc]"' in done.stdout
    assert "apt install python3-petsc4py" in done.stdout


KEPT = """
    graph = ag.read_shards("shard*.csv")
    learner = ag.Learner(graph, "influence", rng=0)
    for step in learner.run(lambda name: int(name[1:]) % 3, 6):
        pass
    learner.save("kept.npz")
    again, errors = ag.Learner.load("kept.npz"), []
    try:
        learner.tell("nowhere", 1)
    except ag.AskgraphError as error:
        errors.append(str(error))
    if world().first:
        print(json.dumps(dict(ask=learner.ask(), again=again.ask(), labels=learner.labels, known=again.labels, errors=errors,
                              same=bool(np.allclose(learner.probabilities(), again.probabilities(), atol=1e-7)))))
    else:
        learner.ask(), again.ask(), learner.labels, again.labels, learner.probabilities(), again.probabilities()
"""


def write_names(folder):
    graph, _ = ag.communities((30, 30), rng=1)
    upper = np.argwhere(np.triu(graph.weights.toarray()))
    write_shards(folder, np.char.add("n", upper.astype(str)), np.ones(len(upper)), "csv", 4)


@installed
def test_petsc_learner_over_names_is_saved_by_one_and_loaded_by_all(over_ranks):
    found = json.loads(over_ranks("names", 3))
    assert found["ask"] == found["again"]
    assert found["labels"] == found["known"]
    assert found["same"]
    assert found["errors"][0].startswith("no node 'nowhere' in this graph; some of its nodes are 'n")


EVERY_KIND = """
    graph, found = ag.Graph.load("graph.npz"), {}
    kinds = {
        "ordered": (ag.Ordered([0, 1, 2]), lambda node: node % 3),
        "several": ("several", lambda node: [name for k, name in enumerate("ab") if node % (k + 2) == 0]),
        "numbers": (ag.Numbers(link="auto"), lambda node: 5.0 + node % 7),
    }
    for name, (answers, answer) in kinds.items():
        learner = ag.Learner(graph, "sigma", answers=answers, engine="petsc", rng=0, spot_checks=4)
        for _ in range(14):
            question = learner.question()
            learner.tell(question, answer(question.node))
        learner.relabel(question.node, answer(question.node + 1))
        learner.undo()
        made = learner.predict() if name == "several" else np.stack(learner.predict(interval=0.8), axis=1)
        sought = "a" if name == "several" else ag.at_least(1)
        shown = [
            sorted(learner.labels), made.tolist(), list(learner.judge.expected_error()[:3]),
            [learner.judge.left_to_find(sought).value, learner.judge.changes(7)],
            [learner.ask(), len(learner.judge.suspects(every=True)), learner.judge.advice()],
            learner.question(plan=learner.plan.finding(sought)).node,
        ]
        found[name] = shown
    if world().first:
        print(json.dumps(found))
"""


@installed
def test_petsc_kinds_of_answers_do_not_depend_on_ranks(over_ranks):
    one, three = (json.loads(over_ranks("kinds", ranks)) for ranks in (1, 3))
    for kind, (labels, made, error, judged, *rest) in one.items():
        assert three[kind][0] == labels
        assert three[kind][1] == made if kind == "several" else np.allclose(three[kind][1], made, rtol=1e-3)
        assert three[kind][2:4] == [pytest.approx(error, rel=1e-3), pytest.approx(judged, rel=1e-3)]
        assert three[kind][4:] == rest


STATE = """
    import logging, os
    from askgraph.priors.petsc import Petsc
    said = []
    patch.setattr(logging.getLogger("askgraph"), "warning", lambda text, *parts: said.append(text % parts))
    graph = ag.Graph.load("graph.npz")
    learner = ag.Learner(graph, "msd", engine="petsc", rng=0, classes=["a", "b"])
    for node in (3, 200, 77):
        learner.tell(node, "ab"[node % 2])
    learner._state = learner._state._replace(field=learner.field.rebase())  # three labels in the precision, two in V
    for node in (150, 290):
        learner.tell(node, "ab"[node % 2])
    learner.save("work.npz", state=True)

    def seen(learner):
        first = learner.ask(), learner.probabilities().tolist()
        learner.tell(first[0], "a")
        learner.undo()
        learner.tell(9, "b")
        l2 = learner.field.space.gather(learner.field.spread.influence_l2).tolist()
        return first, learner.ask(), learner.probabilities().tolist(), l2

    def loaded():
        again = ag.Learner.load("work.npz")
        return again, again.field.prior.reason

    spread, shown = Petsc.spread, dict(before=seen(learner))
    Petsc.spread = None  # nothing is probed when what was computed is read
    again, shown["reason"] = loaded()
    same = np.array_equal(again.field.prior.graph.nodes, learner.field.prior.graph.nodes)
    shown["same_rows"] = bool(again.field.space.allreduce(np.array(float(same))) == world().size)
    Petsc.spread = spread
    shown["after"] = seen(again)
    learner.save("later.npz", state=True)
    world().comm.Barrier()
    if world().first:
        os.replace("later.rank1.npz", "work.rank1.npz")
    world().comm.Barrier()
    again, shown["other"] = loaded()
    shown["mixed"] = again.ask()
    if world().first:
        with open("work.rank1.npz", "r+b") as file:
            file.seek(3000)
            file.write(bytes(64))
    world().comm.Barrier()
    try:
        loaded()
    except ag.FileError as error:
        shown["damaged"] = str(error)
    if world().first:
        print(json.dumps({**shown, "said": said, "files": sorted(os.listdir())}))
"""
ANOTHER = """
    import logging
    said = []
    logging.getLogger("askgraph").warning = lambda text, *parts: said.append(text % parts)
    print(json.dumps([ag.Learner.load("work.npz").ask(), *said]))
"""


@installed
def test_petsc_state_is_saved_by_rank_and_read_by_as_many(over_ranks):
    found = json.loads(over_ranks("state", 2))
    assert found["reason"] == "petsc: as it was saved"
    assert found["same_rows"]
    assert found["files"] == sorted(
        ["graph.npz", "work.npz", "work.rank0.npz", "work.rank1.npz", "later.npz", "later.rank0.npz"]
    )
    (first, p), second, q, l2 = found["before"]
    assert (found["after"][0][0], found["after"][1]) == (first, second)
    np.testing.assert_allclose(found["after"][0][1], p, rtol=1e-12)
    np.testing.assert_allclose(found["after"][2], q, atol=1e-7)
    np.testing.assert_allclose(found["after"][3], l2, rtol=1e-4)
    assert found["other"] != found["reason"]
    assert found["mixed"] == first
    assert "work.rank1.npz is missing, or of another save; everything that was told is told again" in found["said"][0]
    assert "work.rank1.npz" in found["damaged"]
    again, said = told(1, ANOTHER, over_ranks.folder("state"))
    assert again == first
    assert "was computed by 2 ranks, and this job has 1; everything" in said


WRONG = {
    "twice": ("n1,b\n", "'n1' has more than one label"),
    "unknown": ("n99,b\n", "no node 'n99' in the graph"),
    "missing": ("", "no label for 'n3'"),
}


@installed
@pytest.mark.parametrize("wrong", WRONG)
def test_petsc_labels_that_do_not_fit_are_named_once(wrong, tmp_path):
    more, said = WRONG[wrong]
    write_shards(tmp_path, np.array([["n0", "n1"], ["n1", "n2"], ["n2", "n3"]]), np.ones(3), "csv", 2)
    (tmp_path / "labels.csv").write_text(
        "node,label\nn0,a\nn1,b\nn2,a\n" + ("" if wrong == "missing" else "n3,b\n") + more
    )
    done = job(2, "-m", "askgraph", "simulate", "shard*.csv", "--labels", "labels.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count(said) == 1, done.stderr


TINY = """
    differ = []
    for sampler in ("tv", "msd", "eer"):
        for graph in (ag.chain(2), ag.chain(5), ag.Graph(np.zeros((1, 1))), ag.Graph(np.zeros((3, 3)))):
            pair = [ag.Learner(graph, sampler, engine=engine, rng=0) for engine in ("dense", "petsc")]
            for learner in pair:
                for step in learner.run(lambda node: node % 2, 2):
                    pass
            one, other = ((learner.labels, learner.ask(), learner.probabilities()) for learner in pair)
            if one[:2] != other[:2] or not np.allclose(one[2], other[2], atol=1e-6):
                differ.append([sampler, str(graph)])
    if world().first:
        print(json.dumps(differ))
"""


@installed
def test_petsc_more_ranks_than_nodes(over_ranks):
    assert json.loads(over_ranks("few nodes", 4)) == []


@installed
@pytest.mark.parametrize("ranks", RANKS[1:])
def test_petsc_learners_do_the_same_over_ranks(ranks, over_ranks):
    assert " passed" in over_ranks("rows", ranks)


@installed
@pytest.mark.parametrize("ranks", RANKS)
def test_petsc_jobs_end_well(ranks, over_ranks):
    """Also when a rank fails after the first one has printed, or all fail on their way out."""
    done = over_ranks.done(ranks)
    assert done.returncode == 0, done.stdout + done.stderr


class Case(NamedTuple):
    """A program, the numbers of ranks that it runs on, and what writes its files."""

    program: str
    ranks: tuple[int, ...]
    write: Callable[[Path], None] = lambda folder: None


CASES = {  # in the order in which a job runs them
    "summaries": Case(SUMMARIES, (1, 2, 3, 4), lambda folder: near(N_NODES).save(folder / "graph.npz")),
    "blocks": Case(BLOCKED, (3,), write_sorted),
    "shards": Case(GATHERED, (1, 3), write_all_shards),
    "partitions": Case(WALKED, (3,), write_permuted),
    "simulation": Case(SIMULATED, (1, 3, 4), write_labeled_shards),
    "names": Case(KEPT, (3,), write_names),
    "kinds": Case(EVERY_KIND, (1, 3), lambda folder: near(300).save(folder / "graph.npz")),
    "state": Case(STATE, (2,), lambda folder: near(300).save(folder / "graph.npz")),
    "few nodes": Case(TINY, (4,)),
    "rows": Case(ROWS, (2, 3, 4)),
}


class OverRanks:
    """What each case printed on each number of ranks: one job per number of ranks runs all its cases."""

    def __init__(self, folder):
        self._folder, self._printed, self._done = folder, {}, {}

    def folder(self, name):
        """The folder in which a case runs, with its files."""
        folder = self._folder / name
        if not folder.exists():
            folder.mkdir()
            CASES[name].write(folder)
        return folder

    def __call__(self, name, ranks):
        done = self.done(ranks)
        assert name in self._printed[ranks], f"the job of {ranks} ranks did not get there:\n{done.stderr}"
        return self._printed[ranks][name]

    def done(self, ranks):
        """The job of this number of ranks, at its end."""
        if ranks not in self._done:
            self._run(ranks)
        return self._done[ranks]

    def _run(self, ranks):
        todo = [
            (name, str(self.folder(name)), textwrap.dedent(case.program))
            for name, case in CASES.items()
            if ranks in case.ranks
        ]
        programs, printed = self._folder / f"programs {ranks}.json", self._folder / f"printed {ranks}.jsonl"
        programs.write_text(json.dumps(todo))
        printed.write_text("")
        self._done[ranks] = job(ranks, "-m", "tests.helpers.over_ranks", programs, printed)
        self._printed[ranks] = dict(map(json.loads, printed.read_text().splitlines()))


@pytest.fixture(scope="module")
def over_ranks(tmp_path_factory):
    return OverRanks(tmp_path_factory.mktemp("over_ranks"))
