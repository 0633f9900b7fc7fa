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
    assert lines[-1] == "runs: 100%, less than a minute left"


def test_nothing_to_do_says_nothing(capsys):
    with progress.bar(0, "runs"):
        pass
    assert capsys.readouterr() == ("", "")


def test_a_watcher_hears_of_messages_and_of_every_step_until_the_block_ends():
    heard = []
    with progress.watching(lambda what, share: heard.append((what, share))), progress.working("reading"):
        with progress.bar(4, "runs") as tick:
            tick(3)
            tick(3)
        with progress.bar(0, "nothing"):
            pass
    with progress.working("unheard"):
        pass
    assert heard == [("reading", None), ("runs", 0.0), ("runs", 0.75), ("runs", 1.0)]
