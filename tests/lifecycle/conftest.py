"""What the tests of the schema lifecycle share."""

import pytest

from tests.commands import Cli, commands


@pytest.fixture
def cli(dsn: str, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs a command in this process, against the test's own database."""
    return commands(dsn, monkeypatch)
