"""A database for all tests of a module: each uses a setup of its own there, on a stage with two sides."""

import itertools
import os
from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.calls import Calls
from tests.core.concurrency.racing import Stage

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def new_database_of_module(template: str, worker_id: str) -> Iterator[str]:
    """The DSN of a clone of the template."""
    admin_dsn = os.environ["BROKER_TEST_ADMIN_DSN"]
    name = f"{template}_{worker_id}_module_{next(_numbers)}"
    with psycopg.connect(admin_dsn, autocommit=True) as admin:
        statement = sql.SQL("create database {} template {} strategy file_copy")
        admin.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))
    yield make_conninfo("", **{**conninfo_to_dict(admin_dsn), "dbname": name})


@pytest.fixture(scope="module")
def stages(new_database_of_module: str) -> Iterator[Callable[[], Stage]]:
    """Stages in one database, each in a setup of its own."""
    with (
        psycopg.connect(new_database_of_module) as first,
        psycopg.connect(new_database_of_module, autocommit=True) as second,
        psycopg.connect(new_database_of_module, autocommit=True) as observer,
    ):

        def make() -> Stage:
            first.rollback()
            setup = f"pair {next(_numbers)}"
            return Stage(setup, Calls(first, setup), Calls(second, setup), Calls(observer, setup))

        yield make


@pytest.fixture
def stage(stages: Callable[[], Stage]) -> Stage:
    """One of them."""
    return stages()
