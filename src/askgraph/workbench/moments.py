"""Times that people write, by the clock of this machine, as the log has them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from askgraph.errors import LabelError

HOW = "write a time of today such as 14:00, or with the date such as 2026-11-19 14:00"
TIME = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?")


def read_moment(text: str, now: datetime | None = None) -> str:
    """Return a time in UTC, as the log has it; one without a zone is by the clock of this machine, one without a date is today's.

    >>> read_moment("2026-11-19T14:00+01:00", datetime(2026, 11, 20, tzinfo=UTC))
    '2026-11-19T13:00:00.000Z'
    """
    now = (now or datetime.now(UTC)).astimezone()
    found = _read(str(text).strip(), now)
    if found is None:
        raise LabelError(f"{str(text)[:40]!r} is not a time: {HOW}")
    if found > now:
        raise LabelError(f"{str(text)[:40]!r} is still to come, so nothing was said since then: {HOW}")
    return found.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _read(text: str, now: datetime) -> datetime | None:
    try:
        if time := TIME.fullmatch(text):
            hour, minute, second = (int(part or 0) for part in time.groups())
            return now.replace(tzinfo=None, hour=hour, minute=minute, second=second, microsecond=0).astimezone()
        return datetime.fromisoformat(text).astimezone() if DATE.fullmatch(text) else None
    except (ValueError, OverflowError, OSError):  # no such day, or one that no clock can show
        return None


def in_local_time(at: str) -> str:
    """Return a time of the log by the clock of this machine, to the minute."""
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M")
