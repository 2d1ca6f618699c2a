"""What the tests of the room taskqueue share."""

from typing import Any

import psycopg
import pytest

from tests.calls import Calls


@pytest.fixture
def q(rolled_back: psycopg.Connection[Any]) -> Calls:
    """The room's calls in setup `default`, in a transaction that is rolled back."""
    return Calls(rolled_back)
