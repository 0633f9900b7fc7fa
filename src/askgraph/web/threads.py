"""The thread that uses the desk, and the event by which other threads wake the server's coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from askgraph.errors import BusyError

T = TypeVar("T")


class Threads:
    """The only thread that uses the desk, and so the only one that writes."""

    def __init__(self) -> None:
        self._writer = ThreadPoolExecutor(1, "askgraph-desk")

    async def __call__(self, function: Callable[..., T], *values: Any) -> T:
        """Call a function on the desk's thread."""
        try:
            called = asyncio.get_running_loop().run_in_executor(self._writer, partial(function, *values))
        except RuntimeError:  # the thread has ended
            raise BusyError("the server is being stopped; send this to the next one") from None
        return await called

    def close(self) -> None:
        """End the thread."""
        self._writer.shutdown()


class News:
    """An event that the thread of the thinker sets and that coroutines wait for."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    def __call__(self) -> None:
        """Wake all who wait; can be called by any thread."""
        with suppress(RuntimeError):  # the loop is closed: nobody waits anymore
            self._loop.call_soon_threadsafe(self._ring)

    def _ring(self) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def until(self, true: Callable[[], bool], seconds: float) -> None:
        """Wait until a condition is true, but not longer than some seconds."""
        try:
            async with asyncio.timeout(seconds):
                while not true():
                    await self._event.wait()
        except TimeoutError:
            return
