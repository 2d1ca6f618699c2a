"""What the tests of the command line share."""

import pytest

from tests.commands import Cli, commands


@pytest.fixture
def cli(dsn: str, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs a command in this process, against the test's own database."""
    return commands(dsn, monkeypatch)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What commands of this process print goes to a terminal of 80 columns and 24 lines, without colours."""
    for name, value in {"FORCE_COLOR": "1", "NO_COLOR": "1", "COLUMNS": "80", "LINES": "24", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
