"""A stopped server with pgbroker, which the tests of faults copy."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.server import embedded
from broker.upgrade import upgrade


@pytest.fixture(scope="session")
def installed_home() -> Iterator[Path]:
    """The home of a durable server, stopped, with pgbroker. A copy saves a test the installation."""
    home = Path(tempfile.mkdtemp(prefix="broker-installed-"))
    home.chmod(0o755)
    upgrade(embedded.up(home).dsn)
    embedded.down(home)
    yield home
    shutil.rmtree(home)
