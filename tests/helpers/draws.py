"""Hypothesis where it is installed; elsewhere, on a GPU machine say, as many examples from fixed seeds."""

from __future__ import annotations

try:
    from hypothesis import given, settings
    from hypothesis import strategies as st
except ImportError:
    import functools
    import inspect
    from types import SimpleNamespace

    import numpy as np

    def composite(function):
        return lambda *args, **options: lambda rng: function(lambda draw: draw(rng), *args, **options)

    st = SimpleNamespace(
        composite=composite,
        integers=lambda low, high: lambda rng: int(rng.integers(low, high, endpoint=True)),
        sampled_from=lambda values: lambda rng: values[int(rng.integers(len(values)))],
    )

    def settings(max_examples=25, deadline=None):
        def decorate(test):
            test.examples = max_examples
            return test

        return decorate

    def given(draw):
        def decorate(test):
            *fixed, last = inspect.signature(test).parameters.values()

            @functools.wraps(test)
            def run(*args, **options):
                for seed in range(run.examples):
                    test(*args, **options, **{last.name: draw(np.random.default_rng(seed))})

            run.examples = 25
            run.__signature__ = inspect.Signature(fixed)
            return run

        return decorate


__all__ = ["given", "settings", "st"]
