"""The test run's own server."""

from collections.abc import Callable

import psycopg
import pytest

from tests.calls import Connection


def test_new_databases_are_fresh_and_separate(new_database: Callable[..., str], empty_dsn: str) -> None:
    first = psycopg.connect(new_database(), autocommit=True)
    first.execute("create table only_here ()")
    second = psycopg.connect(new_database(), autocommit=True)
    assert second.execute("select to_regclass('only_here')").fetchone() == (None,)
    assert psycopg.connect(empty_dsn).execute("select to_regnamespace('taskqueue')").fetchone() == (None,)


@pytest.mark.parametrize("half", ["first", "second"])
def test_a_rolled_back_test_leaves_nothing(rolled_back: Connection, half: str) -> None:
    assert rolled_back.execute("select to_regclass('left_over')").fetchone() == (None,)
    rolled_back.execute("create table left_over ()")
