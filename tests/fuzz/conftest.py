"""What the fuzzers share."""

import psycopg
import pytest
from psycopg import sql

from tests.fuzz.small_world import fill


@pytest.fixture(scope="session")
def small_world(template: str, worker_id: str, server_dsn: str) -> str:
    """The name of a database with the small world, to clone."""
    name = f"{template}_{worker_id}_small_world"
    with psycopg.connect(server_dsn, autocommit=True) as admin:
        made = sql.SQL("create database {} template {} strategy file_copy")
        admin.execute(made.format(sql.Identifier(name), sql.Identifier(template)))
    with psycopg.connect(server_dsn, dbname=name, autocommit=True) as db:
        fill(db)
    return name
