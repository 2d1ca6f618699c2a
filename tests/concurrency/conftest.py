"""A database for all tests of a module: each uses a setup of its own there."""

import itertools
import os
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def new_database_of_module(template: str, worker_id: str) -> Iterator[str]:
    """The DSN of a clone of the template."""
    admin_dsn = os.environ["BROKER_TEST_ADMIN_DSN"]
    name = f"{template}_{worker_id}_module_{next(_numbers)}"
    with psycopg.connect(admin_dsn, autocommit=True) as admin:
        admin.execute(sql.SQL("create database {} template {}").format(sql.Identifier(name), sql.Identifier(template)))
    yield make_conninfo("", **{**conninfo_to_dict(admin_dsn), "dbname": name})
