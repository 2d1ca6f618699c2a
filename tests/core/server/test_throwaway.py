"""The test run's own server."""

from collections.abc import Callable

import psycopg


def test_new_databases_are_fresh_and_separate(new_database: Callable[..., str], empty_dsn: str) -> None:
    first = psycopg.connect(new_database(), autocommit=True)
    first.execute("create table only_here ()")
    second = psycopg.connect(new_database(), autocommit=True)
    assert second.execute("select to_regclass('only_here')").fetchone() == (None,)
    assert psycopg.connect(empty_dsn).execute(
        "select count(*) from pg_namespace where nspname = 'taskqueue'"
    ).fetchone() == (0,)


def test_a_rolled_back_test_leaves_nothing_first_half(rolled_back: psycopg.Connection) -> None:
    assert rolled_back.execute("select to_regclass('left_over')").fetchone() == (None,)
    rolled_back.execute("create table left_over ()")


def test_a_rolled_back_test_leaves_nothing_second_half(rolled_back: psycopg.Connection) -> None:
    assert rolled_back.execute("select to_regclass('left_over')").fetchone() == (None,)
    rolled_back.execute("create table left_over ()")
