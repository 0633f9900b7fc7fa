"""What holds for all tests."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def a_home_of_their_own(tmp_path_factory):
    """Servers note where they are in a folder of the tests, not in that of whoever runs them; their processes inherit it."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("XDG_STATE_HOME", "LOCALAPPDATA"):
            patch.setenv(variable, str(tmp_path_factory.mktemp("state")))
        yield
