"""Logins for the tests of who may do what."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

PASSWORD = "not a secret"


@pytest.fixture
def login(db: psycopg.Connection[Any], server_dsn: str) -> Iterator[Callable[..., str]]:
    """A function that makes a login which is a member of the roles given, and returns its name; dropped at the end."""
    made: list[str] = []

    def make(*roles: str) -> str:
        name = f"test_login_{uuid.uuid4().hex[:10]}"
        statement = sql.SQL("create role {} login password {}").format(sql.Identifier(name), sql.Literal(PASSWORD))
        db.execute(statement)
        made.append(name)
        for role in roles:
            db.execute(sql.SQL("grant {} to {}").format(sql.Identifier(role), sql.Identifier(name)))
        return name

    yield make
    for name in made:
        db.execute(sql.SQL("drop owned by {}").format(sql.Identifier(name)))
        db.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))
