"""Options for loops compiled by numba. Importing this module loads numba: import it only in modules of compiled loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def jit(*signature: str, reorder: bool = True) -> Callable[[F], F]:
    """Compile on first use, or at import if a signature is given; cache on disk, and release the GIL.

    With ``reorder``, sums may be added up in any order, so that they use vector registers.
    """
    fastmath = {"reassoc", "contract", "nsz"} if reorder else False
    options = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, "no_cfunc_wrapper": True}
    return cast(Callable[[F], F], njit(*signature, cache=True, **options))


def jit_inline(contract: bool = False) -> Callable[[F], F]:
    """Compile into the callers only, which halves the compile time; sums keep the order written.

    With ``contract``, a product and a sum may become one instruction that rounds once.
    """
    wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    fastmath = {"contract"} if contract else False
    inline = njit(nogil=True, error_model="numpy", fastmath=fastmath, forceinline=True, **wrappers)
    return cast(Callable[[F], F], inline)


def jit_inner() -> Callable[[F], F]:
    """Compile, on the first use by a compiled caller, what only compiled code calls; it is stored with each caller.

    Sums may be added up in any order, as with ``jit()``. Without what Python would need to call it, it compiles faster.
    """
    wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    fastmath = {"reassoc", "contract", "nsz"}
    return cast(Callable[[F], F], njit(nogil=True, error_model="numpy", fastmath=fastmath, **wrappers))
