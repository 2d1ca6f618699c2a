"""Fixtures of the tests of the schema taskqueue."""

from typing import Any

import psycopg
import pytest

from tests.calls import Calls


@pytest.fixture
def q(rolled_back: psycopg.Connection[Any]) -> Calls:
    """The calls of the schema in setup `default`, in a transaction that is rolled back."""
    return Calls(rolled_back)
