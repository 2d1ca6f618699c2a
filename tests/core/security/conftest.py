"""Logins for the tests of rights."""

import os
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.calls import Calls
from tests.pooler import PROGRAM, Pooler

PASSWORD = "not a secret"
Session = Callable[..., Calls]
Login = Callable[..., str]


@pytest.fixture
def login(db: psycopg.Connection[Any], server_dsn: str) -> Iterator[Login]:
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


@pytest.fixture
def session(dsn: str) -> Iterator[Session]:
    """A function that logs in: `session(user, setup="default")`."""
    opened: list[psycopg.Connection[Any]] = []

    def connect(user: str, setup: str = "default") -> Calls:
        opened.append(psycopg.connect(dsn, user=user, password=PASSWORD, autocommit=True))
        return Calls(opened[-1], setup)

    yield connect
    for connection in opened:
        connection.close()


def identify(q: Calls, role: str, group: str | None = None, owner: str | None = None, setup: str = "default") -> None:
    """Give a role an identity in a setup: private if a group or an owner is named."""
    private = group is not None or owner is not None
    q.rows("select resource.set_identity(%s, %s, %s, %s, %s)", setup, role, private, group, owner)


@pytest.fixture
def identified(db: psycopg.Connection[Any], login: Login, session: Session) -> Session:
    """A function that logs in with an identity: `identified("broker_agent", group=None, owner=None, setup=...)`."""

    def make(role: str, group: str | None = None, owner: str | None = None, setup: str = "default") -> Calls:
        user = login(role)
        identify(Calls(db), user, group, owner, setup)
        return session(user, setup)

    return make


@pytest.fixture(scope="module")
def pooler() -> Iterator[Pooler]:
    """PgBouncer in transaction mode in front of the server."""
    if not PROGRAM:
        pytest.skip("PgBouncer is not installed")
    pooler = Pooler(os.environ["BROKER_TEST_ADMIN_DSN"])
    yield pooler
    pooler.close()


@pytest.fixture
def through(pooler: Pooler, dsn: str) -> Iterator[Callable[[str], psycopg.Connection[Any]]]:
    """A function that logs in through PgBouncer, to the test's database."""
    opened: list[psycopg.Connection[Any]] = []

    def connect(user: str) -> psycopg.Connection[Any]:
        where = pooler.dsn(dsn, user, PASSWORD)
        deadline = time.monotonic() + 30
        while True:  # until it has read the new user
            try:
                opened.append(psycopg.connect(where, autocommit=True, prepare_threshold=None))
                return opened[-1]
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    yield connect
    for connection in opened:
        connection.close()
