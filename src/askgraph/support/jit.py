"""How loops are compiled: once, kept on disk, run beside other threads. Imported only by modules of such loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def compiled(*signature: str) -> Callable[[Kernel], Kernel]:
    """Compile on first use, or at import for a given signature; "reassoc" lets a sum use vector registers."""
    flags = {"reassoc", "contract", "nsz"}
    return cast(
        Callable[[Kernel], Kernel], njit(*signature, cache=True, nogil=True, error_model="numpy", fastmath=flags)
    )
