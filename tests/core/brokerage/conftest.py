"""Fixtures of the tests of brokerage."""

from typing import Any

import psycopg
import pytest

from tests.core.brokerage.software_rows import SETUP, Rows


@pytest.fixture
def lab(rolled_back: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """A connection in an open transaction: loads are rolled back after the test."""
    rolled_back.execute("select")
    return rolled_back


@pytest.fixture
def rows(rolled_back: psycopg.Connection[Any]) -> Rows:
    """Rows of a setup of its own."""
    rolled_back.execute("insert into resource.setup (setup) values (%s)", [SETUP])
    return Rows(rolled_back)
