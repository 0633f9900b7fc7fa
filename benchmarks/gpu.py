"""The GPU engine beside plain CuPy in the same run: solves, questions, look-ahead, memory.

    python benchmarks/gpu.py                      # all of it, on one card; ten million nodes take some minutes
    python benchmarks/gpu.py solve question eer   # parts
    python benchmarks/gpu.py --nodes 100000

It needs numpy, scipy and CuPy only. The laws on the same card:

    ASKGRAPH_GPU=required python -m pytest tests/laws -k gpu
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

import askgraph as ag
from askgraph.field import Field
from askgraph.linalg.cuda.runtime import cupy
from askgraph.priors.gpu import GpuDense, GpuSparse, dense_limit, sparse_bytes
from askgraph.priors.precision import Precision
from askgraph.utilities import CRITERIA

DELTA, K = 0.005, 10


def nearest_neighbors(n: int, k: int = K) -> ag.Graph:
    """Return a graph of uniform points in the unit cube, each joined to its k nearest, with unit weights."""
    points = np.random.default_rng(0).random((n, 3), dtype=np.float32)
    near = cKDTree(points, leafsize=24, balanced_tree=False).query(points, k + 1, workers=-1)[1][:, 1:]
    W = csr_array((np.ones(n * k), near.ravel().astype(np.int32), np.arange(0, n * k + 1, k)), shape=(n, n))
    return ag.Graph(W.maximum(W.T))


def median(work, repeat: int = 9) -> float:
    """Return the median of synchronized wall times in ms, without the first."""
    cp, times = cupy(), []
    for _ in range(repeat + 1):
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        work()
        cp.cuda.Device().synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    return float(np.median(times[1:]))


def bandwidth() -> float:
    """Return the TB/s of a large copy, counting bytes read and written."""
    cp = cupy()
    a = cp.random.rand(1 << 28)
    b = cp.empty_like(a)
    return 2 * a.nbytes / median(lambda: cp.copyto(b, a)) / 1e9


def plain_cg(Q, B, rtol: float):
    """Solve by conjugate gradients as one would write them with arrays of CuPy or torch; test convergence every tenth step."""
    X, R = 0 * B, 1 * B
    inverse = 1 / Q.jacobi[:, None]
    Z = inverse * R
    P, rho, goal = 1 * Z, (R * Z).sum(0), rtol**2 * (B * B).sum(0)
    for step in range(1, 2000):
        T = Q @ P
        alpha = rho / (P * T).sum(0)
        X += alpha * P
        R -= alpha * T
        if step % 10 == 0 and bool(((R * R).sum(0) <= goal).all()):
            break
        Z = inverse * R
        now = (R * Z).sum(0)
        P = Z + now / rho * P
        rho = now
    return X, step


def plain_matrix(Q):
    """Return a matrix for `plain_cg`, of torch if it is installed, else of CuPy, and a function that converts CuPy arrays."""
    cp = cupy()
    try:
        import torch
    except ImportError:
        from cupyx.scipy.sparse import csr_matrix

        matrix = csr_matrix(tuple(map(cp.asarray, (Q.data, Q.indices, Q.indptr))), shape=Q.shape)
        matrix.jacobi = cp.asarray(Q.diagonal())
        return "CuPy", matrix, lambda b: b
    torch.sparse.check_sparse_tensor_invariants.disable()
    arrays = (torch.as_tensor(x, device="cuda") for x in (Q.indptr, Q.indices, Q.data))
    matrix = torch.sparse_csr_tensor(*arrays, size=Q.shape, check_invariants=False)
    matrix.jacobi = torch.as_tensor(Q.diagonal(), device="cuda")
    return "torch", matrix, lambda b: torch.as_tensor(b, device="cuda")


def solve(args) -> None:
    """Measure solves of one right-hand side, and of blocks of them."""
    cp, graph = cupy(), nearest_neighbors(args.nodes)
    precision = Precision.of(graph, DELTA)
    library, matrix, theirs = plain_matrix(precision.matrix)
    start = time.perf_counter()
    prior = GpuSparse(precision)
    prior.prepare()
    print(f"\n{args.nodes:,} nodes, {graph.n_edges:,} edges; prepared in {time.perf_counter() - start:.1f} s")
    rng = cp.random.default_rng(0)
    for k in (1, 8, 64):
        unit = prior.space.put(prior.space.zeros(k), np.arange(k) * 1009, np.eye(k))
        for what, b in (("random", rng.standard_normal((args.nodes, k))), ("unit vectors", unit)):
            other = theirs(b)
            plain, steps = median(lambda b=other: plain_cg(matrix, b, 1e-6), 3) / k, plain_cg(matrix, other, 1e-6)[1]
            ours, X = median(lambda b=b: prior._solver.solve(b, 1e-6)) / k, prior._solver.solve(b, 1e-6)
            left = prior.times(X) - b
            left = float((cp.linalg.norm(left, axis=0) / cp.linalg.norm(b, axis=0)).max())
            print(
                f"solve 1e-6, {what:12} in blocks of {k:2}: plain {library} {plain:6.2f} ms ({steps} steps), "
                f"askgraph {ours:5.2f} ms a side ({prior._solver.steps} steps), {plain / ours:4.1f} x, residual {left:.1e}",
                flush=True,
            )
    once = graph.n_edges * 2 * 8 + args.nodes * 4 * 11
    print(f"a step with one column moves at least {once / 1e6:.0f} MB: {once / args.speed / 1e9:.3f} ms")


def question(args, nodes: int | None = None, labels: int = 20, k: int = K) -> None:
    """Measure the first question, and the next ones with the update before each."""
    cp, nodes = cupy(), nodes or args.nodes
    start = time.perf_counter()
    graph = nearest_neighbors(nodes, k)
    made = time.perf_counter() - start
    for sampler in ("tv", "influence", "msd"):
        cp.get_default_memory_pool().free_all_blocks()
        start = time.perf_counter()
        learner = ag.Learner(graph, sampler, delta=DELTA, engine="gpu-sparse", rng=0, classes=range(5), first="utility")
        node = learner.ask()
        first, asks, tells = time.perf_counter() - start, [], []
        learner.tell(node, 0)  # compiles what the first label needs, outside the timing
        node = learner.ask()
        for label in range(labels):
            start = time.perf_counter()
            learner.tell(node, label % 5)
            cp.cuda.Device().synchronize()
            tells.append(time.perf_counter() - start)
            start = time.perf_counter()
            node = learner.ask()
            asks.append(time.perf_counter() - start)
        both, card = 1e3 * (np.array(asks) + tells), cp.get_default_memory_pool().total_bytes() / 1e9
        update, ask = (1e3 * np.median(times) for times in (tells, asks))
        print(
            f"{sampler:9} at {nodes:,} nodes, {graph.n_edges:,} edges: first question {first:.2f} s, then update {update:.1f} "
            f"+ question {ask:.1f} = {np.median(both):.1f} ms (most {both.max():.1f}), "
            f"{card:.1f} GB on the card ({sparse_bytes(graph, 256) / 1e9:.1f} foreseen)",
            flush=True,
        )
        del learner
    print(f"(the graph itself took {made:.0f} s to make)")


def plain_eer(G, votes, p, labeled, chunk: int = 256):
    """Return the scores of expected error reduction, computed with arrays in chunks, for C² pairs of answer and class."""
    cp, (n, C) = cupy(), votes.shape
    scores = cp.empty(n)
    for at in range(0, n, chunk):
        R = G[at : at + chunk] / G.diagonal()[at : at + chunk, None]
        own, risk = votes[at : at + chunk], cp.zeros(R.shape)
        H = votes.sum(axis=1) + (1 - own.sum(axis=1))[:, None] * R
        base = votes[None] - own[:, None, :] * R[..., None]
        for y in range(C):
            after = base.copy()
            after[..., y] += R
            top = after.max(axis=2) + (1 - H) / 2
            risk += p[at : at + chunk, y, None] * (1 - top / ((C + (2 - C) * H) / 2))
        risk[cp.arange(len(R)), cp.arange(at, at + len(R))] = 0.0
        scores[at : at + chunk] = -(risk * ~labeled).sum(axis=1)
    return scores


def look_ahead(args, n: int = 10_000, classes: int = 7) -> None:
    """Measure samplers that look ahead at every node, beside plain arrays."""
    cp, graph = cupy(), nearest_neighbors(n)
    field = Field.start(GpuDense(Precision.of(graph, DELTA)), classes)
    for label in range(20):
        field = field.observe(label * 457, label % classes)
    rows, labeled = np.flatnonzero(~field.labeled), field.labeled
    G = field.columns(np.arange(n)).T
    p = CRITERIA["eer"].marginals(field, slice(None))
    floor = 8 * n * n / args.speed / 1e9
    for name in ("eer", "fl", "kl", "tsa"):
        ours = median(lambda name=name: CRITERIA[name].score(field, rows, 0.0, "printed", "mean"))
        line = f"{name:4} at {n:,} nodes, {classes} classes: {ours:6.2f} ms a question; reading G once takes {floor:.2f} ms"
        if name == "eer":
            plain = median(lambda: plain_eer(G, field.votes, p, labeled), 3)
            gap = (
                CRITERIA[name].score(field, rows, 0.0, "printed", "mean") - plain_eer(G, field.votes, p, labeled)[rows]
            )
            line += f"; plain arrays {plain:.1f} ms, {plain / ours:.1f} x, off by {float(abs(gap).max()):.1e}"
        print(line)
    for n in (20_000, 50_000):
        graph = nearest_neighbors(n)
        start = time.perf_counter()
        prior = GpuDense(Precision.of(graph, DELTA))
        cp.cuda.Device().synchronize()
        print(f"inverse of {n:,} nodes: {time.perf_counter() - start:.2f} s, of at most {dense_limit():,} nodes here")
        del prior
        cp.get_default_memory_pool().free_all_blocks()


def large(args) -> None:
    """Measure ten million nodes and a hundred million edges."""
    question(args, 10_000_000, 10, 18)


PARTS = {"solve": solve, "question": question, "eer": look_ahead, "large": large}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=", ".join(PARTS))
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--smoke", action="store_true", help="everything at its smallest size, to see that it runs")
    args = parser.parse_args()
    if args.smoke:
        args.nodes, args.parts = 20_000, ["solve", "question"]
    card = cupy().cuda.runtime.getDeviceProperties(0)["name"].decode()
    args.speed = bandwidth()
    print(f"{card}, CuPy {cupy().__version__}, numpy {np.__version__}: a copy moves {args.speed:.2f} TB/s")
    for part in args.parts:
        PARTS[part](args)


if __name__ == "__main__":
    main()
