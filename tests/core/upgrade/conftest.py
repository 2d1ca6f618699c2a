"""Fixtures of the upgrade's tests."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from broker.upgrade import upgrade
from tests.core.upgrade.small_release import Creator, SmallRelease


@pytest.fixture
def small(tmp_path: Path) -> SmallRelease:
    """A small release in a folder, not installed anywhere."""
    return SmallRelease(tmp_path / "small")


@pytest.fixture
def installed(empty_dsn: str, small: SmallRelease) -> SmallRelease:
    """The same, installed in the database of `empty_dsn`."""
    upgrade(empty_dsn, program=small.program)
    return small


@pytest.fixture
def creator(empty_dsn: str) -> Iterator[Creator]:
    """The DSN of a login with CREATEROLE that owns the database and is no superuser, and an unused prefix."""
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        name = f"creator_{conn.info.dbname}"
        conn.execute(sql.SQL("create role {} login createrole password 'x'").format(sql.Identifier(name)))
        conn.execute(
            sql.SQL("alter database {} owner to {}").format(sql.Identifier(conn.info.dbname), sql.Identifier(name))
        )
        yield make_conninfo(empty_dsn, user=name, password="x"), f"of_{conn.info.dbname}_"
