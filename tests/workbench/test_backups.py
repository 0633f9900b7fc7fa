"""Promise 30: Backups that are made by themselves: whole, checked, bounded, and named where a file is damaged."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from askgraph.cli import app
from askgraph.errors import FileError, SettingError
from askgraph.workbench.backup_files import Backup, list_backups, restore_advice
from askgraph.workbench.backups import BackupPlan, Backups
from askgraph.workbench.client import open_writer
from askgraph.workbench.project import Project
from askgraph.workbench.restoring import restore
from tests.helpers.faults import backups_killed
from tests.helpers.projects import log_of, make, say

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def path(tmp_path):
    return make(tmp_path / "p.ask", 250)


def label(path, count, plan):
    """So many labels, each followed by a look whether a backup is due."""
    with Project.open(path, write=True) as project:
        backups = Backups(project.store, plan)
        for k in range(len(project.answers.log), len(project.answers.log) + count):
            project.say("ann", f"i{k}", "label", "ab"[k % 2])
            backups.make_if_due(project.store.lines)


@pytest.mark.parametrize(("lines", "minutes", "due"), [
    (0, 1000, False), (7, 1000, False), (8, 1, False), (8, 10, True), (16, 1, False), (17, 1, True), (5, 0, True), (8, -1, True),
])  # fmt: skip
def test_a_backup_is_due_after_so_many_answers_or_minutes(lines, minutes, due):
    newest = Backup(NOW, 7, Path("x"))
    assert BackupPlan(3, 10, 10).is_due([newest], lines, NOW + timedelta(minutes=minutes)) == due
    assert not BackupPlan(0, 10, 10).is_due([newest], lines, NOW + timedelta(minutes=minutes))


def test_backups_are_whole_and_few(path):
    label(path, 25, BackupPlan(keep=3, answers=5))
    found = list_backups(path)
    assert [backup.lines for backup in found] == [11, 16, 21]
    for backup in found:
        assert len(log_of(backup.path)) == backup.lines
    size = found[0].path.stat().st_size / 2**20
    label(path, 5, BackupPlan(keep=3, answers=5, megabytes=2.5 * size))
    assert [backup.lines for backup in list_backups(path)] == [21, 26]


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(st.integers(0, 12), st.sampled_from([0, 1, 11, -1, 120, -120, -500_000, 500_000])), max_size=8)
)
def test_whatever_the_clock_does_what_was_just_made_is_kept_and_none_with_more_lines_is_removed(
    tmp_path_factory, steps
):
    path, now = make(tmp_path_factory.mktemp("clock") / "p.ask", 110), [NOW]
    with Project.open(path, write=True) as project:
        plan = BackupPlan(keep=2, answers=5)
        backups, most = Backups(project.store, plan, lambda: now[0]), 0
        for count, minutes in steps:
            now[0] += timedelta(minutes=minutes)
            for _ in range(count):
                project.say("ann", f"i{project.store.lines}", "label", "a")
            made = backups.make_if_due(project.store.lines)
            assert made is None or len(log_of(made)) == project.store.lines
            assert backups.make_if_due(project.store.lines) is None  # one look after the other makes one backup
            lines = [backup.lines for backup in list_backups(path)]
            assert len(lines) <= plan.keep
            assert max(lines, default=0) >= max(most, project.store.lines - plan.answers + 1)
            most = max(lines, default=0)
            if lines:
                assert f".{most}.backup" in restore_advice(path)


def test_after_an_older_copy_is_put_back_one_backup_is_made_and_then_as_the_plan_says(path, tmp_path):
    label(path, 4, BackupPlan(answers=5))
    copy = shutil.copy(path, tmp_path / "copy.ask")
    label(path, 20, BackupPlan(keep=3, answers=5))
    assert [backup.lines for backup in list_backups(path)] == [11, 16, 21]
    restore(copy, path)
    label(path, 3, BackupPlan(keep=3, answers=5))
    assert [backup.lines for backup in list_backups(path)] == [5, 16, 21]


def test_a_backup_larger_than_all_may_be_is_not_made_and_labeling_goes_on(path, caplog):
    label(path, 2, BackupPlan(megabytes=0.001))
    assert list_backups(path) == []
    assert "no backup was made" in caplog.text
    assert len(log_of(path)) == 2


def test_the_file_of_somebody_else_never_pushes_out_a_backup(path, caplog):
    label(path, 12, BackupPlan(answers=5))
    before = list_backups(path)
    with Project.open(path, write=True) as project:
        make(path.with_name("other.ask")).replace(path)
        Backups(project.store, BackupPlan()).make_if_due(10_000)
    assert list_backups(path) == before
    assert "was renamed, replaced or removed" in caplog.text


def test_damage_names_the_newest_backup_and_it_can_be_put_back(path):
    label(path, 12, BackupPlan(answers=5))
    newest = list_backups(path)[-1].path
    content = bytearray(path.read_bytes())
    content[100:5000] = bytes(4900)
    path.write_bytes(content)
    with pytest.raises(FileError, match=rf"askgraph restore {newest.name}"):
        log_of(path)
    assert restore(newest, path).labels == 11
    say(path, ("i99", "a"))


def test_commands_that_write_make_backups_as_the_environment_says(path, monkeypatch):
    monkeypatch.setenv("ASKGRAPH_BACKUPS", "0")
    CliRunner().invoke(app, ["tell", "i0", "a", "-p", str(path)], catch_exceptions=False)
    assert list_backups(path) == []
    monkeypatch.delenv("ASKGRAPH_BACKUPS")
    CliRunner().invoke(app, ["tell", "i1", "a", "-p", str(path)], catch_exceptions=False)
    assert [backup.lines for backup in list_backups(path)] == [2]
    monkeypatch.setenv("ASKGRAPH_BACKUP_MINUTES", "often")
    with pytest.raises(SettingError, match="ASKGRAPH_BACKUP_MINUTES=often"), open_writer(path):
        pass


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_a_whole_backup(tmp_path):
    found = backups_killed(make(tmp_path / "p.ask", 250), kills=3, rng=np.random.default_rng(0))
    print(found)
    assert found.kills == 3
    assert found.torn == 0
    assert found.most <= 4
