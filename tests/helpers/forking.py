"""Processes of ``askgraph``, and scripts, that start at once: forked from one that has imported what they import.

Each is a process of its own, with its own arguments, environment, limit of open files, output and end. What only a start from
nothing shows (what is imported when, the arguments that the system lists) is tested with ``subprocess``. The process in which a
server thinks is forked, too, from a copy of the server that was made before it had threads; it is a child of the server all the
same. So is ``askgraph`` where a script starts it. All processes of a test run share those that fork.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import gc
import json
import os
import resource
import runpy
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import cache
from importlib import import_module
from multiprocessing import util
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

SERVER = (
    "askgraph.__main__",
    "askgraph.cli",
    "askgraph.web.serve",
    "askgraph.web.start",
    "uvicorn",
    "uvicorn.protocols.http.h11_impl",
)
SCRIPTS = (
    "askgraph.graph.build",
    "askgraph.learner",
    "askgraph.paper.datasets",
    "askgraph.simulate",
    "askgraph.web.serve",
    "numba",
    "scipy.stats",
    "sklearn.feature_extraction.text",
    "sklearn.linear_model",
    "sklearn.neighbors",
)
ASKGRAPH = [sys.executable, "-m", "askgraph"]
RUN = "ASKGRAPH_TEST_RUN"  # the variable that names the first process of a test run and the folder of its sockets
LONGEST = 2**17  # bytes of a request: the arguments, the environment, the folder and the limit
MOST = 32  # files of a request
ROOT = str(Path(__file__).parents[2])
TRIES = 1000  # to connect, a hundredth of a second each
STARTING = ("label", "paper", "serve", "start")  # commands that start processes: to think in, or to run samplers in
SPAWNED = "spawn_main"  # what multiprocessing runs in a process that it spawns
SET_NAME, SET_CHILD_SUBREAPER = 15, 36  # of prctl


class Forked(subprocess.Popen[str]):
    """A running ``python -m askgraph``, or a script where the first word names one, as ``subprocess.Popen`` would start it."""

    _end: socket.socket

    def __init__(self, words: list[str], text: bool = True, **options: Any) -> None:
        self._imported = SCRIPTS if _is_script(words) else SERVER
        _forking(SERVER)  # for what a script starts: if the script started it, it would hold its output open
        super().__init__(list(map(str, words)), text=text, **options)

    def _execute_child(self, args: Any, *parts: Any) -> None:
        """Send what a child needs to the process that forks it; the parts are those of CPython 3.11 to 3.14."""
        cwd, env, reading, output, errors = parts[4], parts[5], parts[9], parts[12], parts[14]
        given = [fd if fd >= 0 else own for own, fd in enumerate((reading, output, errors))]
        self._end, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        request = json.dumps([args, dict(os.environ if env is None else env), os.path.abspath(cwd or os.curdir), limit])
        with there:
            socket.send_fds(_forking(self._imported), [request.encode()], [*given, there.fileno()])
        self.pid = int(self._end.recv(32))
        self._child_created = True
        self._close_pipe_fds(*parts[9:15])

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        """Return as ``os.waitpid`` does, from what the parent of the process says."""
        try:
            status = int(self._end.recv(32, socket.MSG_DONTWAIT if wait_flags else 0))
        except BlockingIOError:
            return 0, 0
        self._end.close()
        return self.pid, status

    def _internal_poll(self, _deadstate: Any = None, **_: Any) -> int | None:
        if self.returncode is None:
            pid, status = self._try_wait(os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


class Started(subprocess.Popen[str]):
    """What a script starts: forked where it is ``python -m askgraph``."""

    def __new__(cls, command: Any, *arguments: Any, **options: Any) -> Any:
        if list(command[:3]) == ASKGRAPH:
            return Forked(list(command[3:]), *arguments, **{"text": False, **options})
        return super().__new__(cls)


def start(words: list[str], anew: bool = False, **options: Any) -> subprocess.Popen[str]:
    """Start ``python -m askgraph`` with these words: forked where the system tells when a process ends, else anew."""
    if hasattr(os, "pidfd_open") and not anew:
        return Forked(words, **options)
    command = [sys.executable, *([] if _is_script(words) else ["-m", "askgraph"]), *map(str, words)]
    return subprocess.Popen(command, text=True, **options)


def run(*words: Any, timeout: float = 300.0, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run ``python -m askgraph`` with these words, or a script, to its end."""
    with start(list(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as process:
        said, errors = process.communicate(timeout=timeout)
    return subprocess.CompletedProcess(words, process.returncode, said, errors)


def _is_script(words: list[Any]) -> bool:
    return str(words[0]).endswith(".py")


def begin_run() -> None:
    """Make a folder for sockets that all processes which this one starts find, unless this one was started so."""
    if RUN not in os.environ:
        folder = tempfile.mkdtemp()
        os.environ[RUN] = f"{os.getpid()}:{folder}"
        atexit.register(shutil.rmtree, folder)


@cache
def _forking(imported: tuple[str, ...]) -> socket.socket:
    """Connect to the process that forks; start it where no process of this test run has."""
    begin_run()
    run, folder = os.environ[RUN].split(":")
    address = str(Path(folder, "scripts" if imported is SCRIPTS else "server"))
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(address)
        listening.listen()
        command = [sys.executable, "-m", "tests.helpers.forking", run, str(listening.fileno()), *imported]
        os.set_inheritable(listening.fileno(), True)
        path = os.pathsep.join(filter(None, [ROOT, os.environ.get("PYTHONPATH")]))  # a script may be anywhere
        os.posix_spawn(command[0], command, {**os.environ, "PYTHONPATH": path})  # it ends when the test run does
    return _connected(address)


def _connected(address: str) -> socket.socket:
    """Connect to a socket, which another process may be about to listen at."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    atexit.register(connection.close)
    for _ in range(TRIES):
        with suppress(ConnectionRefusedError):
            connection.connect(address)
            return connection
        time.sleep(1e-2)
    raise ConnectionRefusedError(f"the process that forks others ended: nobody listens at {address}")


class _Child(NamedTuple):
    """A process that was forked: who waits for its end, and the words of its command in itself."""

    pid: int
    asked: socket.socket
    words: list[str]


def _fork(run: int, listening: socket.socket) -> list[str] | None:
    """Fork a process per request until the test run ends; return the words of the command in each of them."""
    with selectors.DefaultSelector() as waiting:
        waiting.register(os.pidfd_open(run), selectors.EVENT_READ, run)
        waiting.register(listening, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.data == run:
                    return None
                if key.data:
                    waiting.unregister(key.fd)
                    _tell_end(key.fd, key.data)
                elif key.fileobj is listening:
                    waiting.register(listening.accept()[0], selectors.EVENT_READ)
                elif (child := _started(key.fileobj)) is None:
                    waiting.unregister(key.fileobj)
                    key.fileobj.close()
                elif child.pid:
                    waiting.register(os.pidfd_open(child.pid), selectors.EVENT_READ, child)
                else:
                    _close(waiting)
                    return child.words


def _close(waiting: selectors.BaseSelector) -> None:
    """Close what only the process that forks may hold."""
    for key in list(waiting.get_map().values()):
        if isinstance(key.fileobj, socket.socket):
            key.fileobj.close()
        else:
            os.close(key.fd)
        if isinstance(key.data, _Child):
            key.data.asked.close()


def _started(requests: socket.socket) -> _Child | None:
    request, fds, _, _ = socket.recv_fds(requests, LONGEST, 4)
    if not request:
        return None
    words, environment, folder, limit = json.loads(request)
    asked = socket.socket(fileno=fds[3])
    pid = os.fork()
    if pid:
        asked.send(str(pid).encode())
    else:
        asked.close()
        for own, fd in enumerate(fds[:3]):
            os.dup2(fd, own)
        os.chdir(folder)
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
        os.environ.clear()
        os.environ.update(environment)
    for fd in set(fds[:3]):
        os.close(fd)
    return _Child(pid, asked, words)


def _tell_end(fd: int, child: _Child) -> None:
    os.close(fd)
    _, status = os.waitpid(child.pid, 0)
    with child.asked, suppress(OSError):  # nobody may wait any more
        child.asked.send(str(status).encode())


def _become(words: list[str]) -> None:
    """Run the command or the script as if Python had been started with it."""
    if _is_script(words):
        sys.argv[:], sys.path[0] = words, os.path.dirname(words[0])
        subprocess.Popen = Started
        runpy.run_path(words[0], run_name="__main__")
    else:
        sys.argv[1:] = words
        sys.modules["__main__"] = sys.modules["askgraph.__main__"]  # what processes that it starts import first
        if words and words[0] in STARTING:
            _fork_what_is_spawned()
        sys.modules["askgraph.cli"].main()


def _fork_what_is_spawned() -> None:
    """Let a copy of this process, made while it has no threads, fork what multiprocessing would spawn."""
    _prctl(SET_CHILD_SUBREAPER, 1)
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if not os.fork():
        here.close()
        _fork_children(there)
    there.close()
    spawn, one_at_a_time = util.spawnv_passfds, threading.Lock()

    def fork(path: Any, command: Any, fds: Any) -> int:
        if not any(SPAWNED in str(word) for word in command):
            return spawn(path, command, fds)
        numbers = [0, 1, 2, *map(int, fds)]
        with one_at_a_time:
            socket.send_fds(here, [json.dumps([command[-2:], dict(os.environ), numbers]).encode()], numbers)
            return int(here.recv(32))

    util.spawnv_passfds = fork


def _fork_children(requests: socket.socket) -> NoReturn:
    """Fork a process per request, each by one that ends at once, so that it becomes a child of the server, which adopts it."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for own in range(3):  # who reads what the server writes must see that it ended
        os.dup2(nothing, own)
    while True:
        request, fds, _, _ = socket.recv_fds(requests, LONGEST, MOST)
        if not request:
            os._exit(0)
        between = os.fork()
        if not between:
            between = os.getpid()
            if os.fork():
                os._exit(0)
            _become_spawned(requests, between, fds, *json.loads(request))
        os.waitpid(between, 0)
        for fd in fds:
            os.close(fd)


def _become_spawned(
    requests: socket.socket,
    between: int,
    fds: list[int],
    command: list[str],
    environment: dict[str, str],
    numbers: list[int],
) -> NoReturn:
    """Run what multiprocessing would have run in a process of its own, with the files at the same numbers."""
    while os.getppid() == between:  # not yet adopted
        time.sleep(1e-3)
    with requests:
        requests.send(str(os.getpid()).encode())
    aside = [fcntl.fcntl(fd, fcntl.F_DUPFD, 1 + max(numbers + fds)) for fd in fds]
    for fd in fds:
        os.close(fd)
    for fd, number in zip(aside, numbers, strict=True):
        os.dup2(fd, number)
        os.close(fd)
    os.environ.clear()
    os.environ.update(environment)
    _prctl(SET_NAME, SPAWNED.encode())
    program, *sys.argv[1:] = command
    exec(program, {})
    sys.exit()


def _prctl(option: int, value: Any) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def import_for_good(names: list[str]) -> None:
    """Import modules that no collection of garbage looks at: a forked process would copy them, and each looks at its end."""
    gc.disable()
    for name in names:
        import_module(name)
    gc.freeze()
    gc.enable()


if __name__ == "__main__":
    import_for_good(sys.argv[3:])
    words = _fork(int(sys.argv[1]), socket.socket(fileno=int(sys.argv[2])))
    if words is not None:
        _become(words)
