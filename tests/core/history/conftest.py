"""One setup for the tests of the history; nothing is kept."""

from typing import Any

import psycopg
import pytest

from tests.calls import Calls


@pytest.fixture
def q(rolled_back: psycopg.Connection[Any]) -> Calls:
    """The calls in setup default; all is undone afterwards."""
    return Calls(rolled_back)
