"""What a person sees while waiting."""

from __future__ import annotations

from askgraph.support import progress


def test_without_a_terminal_a_bar_is_a_line_now_and_then(monkeypatch, capsys):
    clock = iter(range(0, 10_000, 50))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.bar(8, "runs") as tick:
        for _ in range(8):
            tick()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "runs: 25%, about 5 minutes left"
    assert len(lines) == 4


def test_nothing_to_do_says_nothing(capsys):
    with progress.bar(0, "runs"):
        pass
    assert capsys.readouterr() == ("", "")
