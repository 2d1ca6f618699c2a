"""Fixtures of the tests of the schema taskqueue."""

import pytest

from tests.calls import Calls, Connection


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    """The calls of the schema in setup `default`, in a transaction that is rolled back."""
    return Calls(rolled_back)
