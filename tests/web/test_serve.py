"""Start and stop a server in this process; no browser may run here beside it, as both run a loop of asyncio."""

from __future__ import annotations

import signal

import pytest

from askgraph.web.serve import serve
from tests.helpers.serving import make_project

pytestmark = pytest.mark.server


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_stopped_before_it_runs_ends_in_order(tmp_path, number):
    handlers = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    told = []

    def ready(address):
        told.append(address)
        signal.raise_signal(number)  # an exception here could be dropped

    serve(make_project(tmp_path), port=0, ready=ready)
    assert len(told) == 1
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == handlers
