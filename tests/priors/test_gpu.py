"""The GPU engine where there is no GPU: what it says, what it refuses, and that its kernels compile.

Where there is one, the laws and ``test_rows`` run over it.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import askgraph as ag
from askgraph import priors
from askgraph.linalg.cuda import cg, runtime
from askgraph.linalg.cuda.levels import Aggregates
from askgraph.priors import Dense, gpu
from askgraph.priors.precision import Precision
from askgraph.utilities import lookahead_cuda
from tests.helpers.elsewhere import Elsewhere


@pytest.fixture
def fresh():
    runtime.cupy.cache_clear()
    yield
    runtime.cupy.cache_clear()


def test_without_cupy_the_error_names_the_install(fresh, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ag.MissingExtraError, match=r'pip install "askgraph\[gpu\]"'):
        ag.Learner(ag.chain(5), engine="gpu")


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("cudaErrorNoDevice: no CUDA-capable device is detected", "CUDA_VISIBLE_DEVICES"),
        ("cudaErrorInsufficientDriver: CUDA driver version is insufficient", "update the driver"),
        ("cudaErrorMemoryAllocation: out of memory", "another program holds the memory"),
        ("libnvrtc.so.12: cannot open shared object file", "libnvrtc"),
    ],
)
def test_without_a_device_the_error_says_what_to_do(fresh, monkeypatch, said, advice):
    def zeros(_):
        raise RuntimeError(said)

    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(zeros=zeros))
    for engine in ("gpu", "gpu-dense", "gpu-sparse"):
        with pytest.raises(ag.EngineError, match=advice) as raised:
            ag.Learner(ag.chain(5), engine=engine)
        assert said in str(raised.value)


def test_what_does_not_fit_is_refused_before_it_is_tried(monkeypatch):
    monkeypatch.setattr(runtime, "free_bytes", lambda: 1e6)
    monkeypatch.setattr(gpu, "free_bytes", lambda: 1e6)
    precision = Precision.of(ag.grid(30, 30), 0.01)
    with pytest.raises(ag.TooLargeError, match=r"243 nodes would fit; ask for 'gpu-sparse'"):
        gpu.GpuDense(precision)
    with pytest.raises(ag.TooLargeError, match=r"7\.\d MB|0\.0 GB are free there: take a larger device"):
        gpu.GpuSparse(precision)


def test_running_out_of_memory_says_what_and_gives_it_back(fresh, monkeypatch):
    class OutOfMemoryError(MemoryError):
        pass

    freed = []
    pool = SimpleNamespace(free_all_blocks=lambda: freed.append(True))
    fake = SimpleNamespace(
        zeros=lambda _: SimpleNamespace(sum=lambda: SimpleNamespace(get=lambda: 0)),
        cuda=SimpleNamespace(memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError)),
        get_default_memory_pool=lambda: pool,
    )
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr(runtime, "free_bytes", lambda: 3e9)
    with (
        pytest.raises(ag.TooLargeError, match=r"at the inverse; 3\.0 GB are free now: take less"),
        runtime.guarded("the inverse", "take less"),
    ):
        raise OutOfMemoryError("cudaErrorMemoryAllocation")
    assert freed


def test_an_unknown_engine_is_named_with_those_there_are():
    with pytest.raises(ag.SettingError, match="no engine called 'gpus': choose auto, dense, direct, iterative"):
        ag.prior(ag.chain(5), engine="gpus")


@pytest.fixture
def large(monkeypatch):
    """A graph of 4,000 nodes for which the rule would take the iterative engine, counted as large."""
    monkeypatch.setattr(priors, "GPU_FROM", 4_000)
    monkeypatch.setattr(priors, "WORK_UP_TO", 0.0)
    monkeypatch.setattr(priors, "find_spec", lambda name: name)
    return ag.grid(50, 80)


def test_a_large_graph_goes_to_a_gpu_that_is_there_and_says_so(large, monkeypatch):
    monkeypatch.setattr(gpu, "gpu", lambda graph, columns: (gpu.GpuSparse, "gpu-sparse: a card"))
    monkeypatch.setattr(gpu, "fits", lambda *_: None)
    made, reason = priors.choice(Precision.of(large, 0.1))
    assert made is gpu.GpuSparse
    assert reason == "gpu-sparse: a card; engine='iterative' stays on the processor"
    assert priors.choice(Precision.of(ag.grid(49, 80), 0.1))[0] is priors.Iterative


@pytest.mark.parametrize("error", [ag.EngineError, ag.MissingExtraError, ag.TooLargeError])
def test_a_gpu_that_does_not_answer_or_is_too_small_is_left_alone(large, monkeypatch, error):
    def fail(*_):
        raise error("no")

    monkeypatch.setattr(gpu, "gpu", fail)
    assert ag.prior(large, 0.1).name == "iterative"


def test_state_that_lives_elsewhere_is_not_saved(tmp_path):
    graph = ag.chain(5)
    learner = ag.Learner(graph, engine=Elsewhere(Dense(Precision.of(graph, 0.1))))
    learner.tell(0, "a")
    with pytest.raises(ag.EngineError, match="save without state"):
        learner.save(tmp_path / "it.npz", state=True)
    learner.save(tmp_path / "it.npz")
    assert ag.Learner.load(tmp_path / "it.npz").labels == {0: "a"}


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
@pytest.mark.parametrize(
    "graph", [ag.chain(2), ag.grid(40, 50), ag.Graph(np.zeros((3, 3)))], ids=["pair", "grid", "no edges"]
)
def test_coarse_levels_are_the_matrix_of_free_nodes_between_aggregates(graph, share):
    rng, W = np.random.default_rng(0), graph.weights.toarray()
    ridge, pinned = rng.uniform(0.01, 0.1, len(W)), rng.random(len(W)) < share
    aggregates = Aggregates(graph.weights)
    C = (np.diag(W.sum(axis=1) + ridge) - W) * np.outer(~pinned, ~pinned)
    order = aggregates.order
    for group, level in zip(aggregates.groups, aggregates.levels(graph.weights, ridge, pinned), strict=True):
        P = np.zeros((len(C), level.excess.size))
        P[order, group] = 1.0
        C, order = P.T @ C @ P, np.arange(level.excess.size)
        np.testing.assert_allclose(np.diag(level.diagonal) - level.weights.toarray(), C, atol=1e-12)


def _nvrtc():
    found = importlib.util.find_spec("nvidia.cuda_nvrtc") if importlib.util.find_spec("nvidia") else None
    folders = list(found.submodule_search_locations) if found else []
    return next((path for folder in folders for path in sorted(Path(folder, "lib").glob("libnvrtc.so.*"))), None)


def _options(**sizes):
    return tuple(f"-D{key}={size}" for key, size in sizes.items())


def _kernels():
    both = {
        "THREADS": cg.THREADS,
        "LONG": cg.LONG,
        "BLOCKS": cg.BLOCKS,
        "DAMPING": cg.DAMPING,
        "OVERSHOOT": cg.OVERSHOOT,
    }
    for width in cg.WIDTHS:
        vector = 1 if width == 1 else 4
        yield (
            "linalg/cuda/cg.cu",
            _options(REAL="float", K=width, VEC=vector, SLICED=int(width == 1), ITERATE=1, **both),
        )
        yield (
            "linalg/cuda/cg.cu",
            _options(REAL="double", K=width, VEC=max(vector // 2, 1), SLICED=0, ITERATE=0, **both),
        )
    for name in ("risk", "flips", "divergence", "two_step_risk"):
        for classes in (2, 7, 20):
            sizes = {"THREADS": lookahead_cuda.THREADS, "TILE": lookahead_cuda.TILE, "BETA": 1.0}
            yield "utilities/lookahead_cuda.cu", _options(UTILITY=name, C=classes, **sizes)
    yield from (("linalg/cuda/rows.cu", ()), ("priors/noise/cuda.cu", ()))


@pytest.mark.slow
@pytest.mark.skipif(_nvrtc() is None, reason="NVIDIA's compiler (nvidia-cuda-nvrtc-cu12) is not installed")
@pytest.mark.parametrize("card", ["sm_90", pytest.param("sm_70", marks=pytest.mark.long)])
def test_kernels_compile(card):
    """Down to the machine code of each card; without optimizing (-G), which refuses the same programs in half the time."""
    library = ctypes.CDLL(str(_nvrtc()))
    for file, options in _kernels():
        source = Path(ag.__file__).parent.joinpath(file).read_text()
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
        flags = [option.encode() for option in (f"--gpu-architecture={card}", "--std=c++17", "-G", *options)]
        failed = library.nvrtcCompileProgram(program, len(flags), (ctypes.c_char_p * len(flags))(*flags))
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        said = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, said)
        library.nvrtcDestroyProgram(ctypes.byref(program))
        assert not failed, f"{file} {options}: {said.value.decode()}"
