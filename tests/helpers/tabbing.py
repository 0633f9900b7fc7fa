"""The page by keyboard alone."""

from __future__ import annotations

FOCUSED = "one => document.activeElement?.matches(one)"
STOPS = 40  # presses of Tab within which everything in a view is reached


def tab_to(page, selector):
    """Press Tab until an element that matches has the keyboard."""
    for _ in range(STOPS):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED, selector):
            return
    raise AssertionError(f"{selector} is not reached by Tab")
