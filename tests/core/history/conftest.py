"""One setup for the tests of the history; nothing is kept."""

import pytest

from tests.calls import Calls, Connection


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    """The calls in setup default; all is undone afterwards."""
    return Calls(rolled_back)
