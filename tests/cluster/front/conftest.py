"""A front on Debian's PostgreSQL with PL/Proxy, and shards of several servers and versions.

| shard | server |
| --- | --- |
| a | the server of the test run |
| b | Debian's server, which also holds the front |
| c | another embedded server, which a test may kill |
"""

import fcntl
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from broker import upgrade
from broker.cluster import shards
from tests.commands import Cli, commands
from tests.service.conftest import Db
from tests.throwaway import Throwaway

PASSWORD = "not a secret"
LOGINS = {f"cluster_{kind}": f"broker_{kind}" for kind in ("agent", "submitter", "operator", "viewer")} | {
    "cluster_nobody": None
}
SUPERUSER = "cluster_super"
"""A front connects to shards as its caller, and each server has a password of its own for postgres."""
SETUPS = {"north": "a", "south": "b", "east": "c"}

Placed = Callable[[str], str]
AtFront = Callable[..., Db]


@dataclass
class Cluster:
    """The DSNs of a front and its shards, for a superuser of all of them, and the home of the server of shard c."""

    front: str
    shards: dict[str, str]
    home_of_c: Path

    def connect(self, setup: str | None = None, login: str | None = None) -> Db:
        """An autocommit connection to the front, or to the shard of a setup."""
        dsn = self.front if setup is None else self.shards[SETUPS[setup]]
        return psycopg.connect(changed(dsn, user=login, password=PASSWORD) if login else dsn, autocommit=True)

    def dsn(self, login: str) -> str:
        """The DSN of the front for a login."""
        return changed(self.front, user=login, password=PASSWORD)


def changed(dsn: str, **parameters: str) -> str:
    """The DSN with these parameters replaced."""
    return make_conninfo("", **{**conninfo_to_dict(dsn), **parameters})


def _at(dsn: str, database: str) -> str:
    return changed(dsn, dbname=database)


def _make_logins(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        for name, role in [*LOGINS.items(), (SUPERUSER, None)]:
            there = connection.execute("select from pg_roles where rolname = %s", [name]).fetchone()
            if there is None:
                rights = sql.SQL("superuser" if name == SUPERUSER else "")
                create = sql.SQL("create role {} login {} password {}")
                connection.execute(create.format(sql.Identifier(name), rights, sql.Literal(PASSWORD)))
            if role:
                connection.execute(sql.SQL("grant {} to {}").format(sql.Identifier(role), sql.Identifier(name)))


def map_login(front: Db, login: str) -> None:
    """Map a login of the front to a login of the shards."""
    mapping = sql.SQL("create user mapping for {} server pgbroker options (user {}, password {})")
    front.execute(mapping.format(sql.Identifier(login), sql.Literal(login), sql.Literal(PASSWORD)))


def _server(choice: str) -> Throwaway:
    """Start a separate server with the chosen programs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BROKER_TEST_SERVER", choice)
        return Throwaway()


@pytest.fixture(scope="session")
def cluster(template: str, worker_id: str) -> Iterator[Cluster]:
    """The cluster of one test worker. Its setups are placed; each test makes objects in them, under its own names."""
    if not list(Path("/usr/lib/postgresql").glob("*/lib/plproxy.so")):
        pytest.skip("PL/Proxy is not installed (Debian: postgresql-15-plproxy)")
    if conninfo_to_dict(os.environ["BROKER_TEST_ADMIN_DSN"]).get("user") != "postgres":
        pytest.skip("the superuser of the server given is not postgres")
    made: list[Throwaway] = []
    try:
        for choice in ("debian", "embedded"):
            made.append(_server(choice))
        dsns = [one.server.superuser_dsn("postgres") for one in made]
        yield _made(dsns, made[1].home, template, worker_id)
    finally:
        for one in made:
            one.remove()


def _made(servers: list[str], home_of_c: Path, template: str, worker_id: str) -> Cluster:
    run = os.environ["BROKER_TEST_ADMIN_DSN"]
    own = f"broker_test_{os.environ['BROKER_TEST_RUN']}_{worker_id}_shard"
    with psycopg.connect(run, autocommit=True) as connection:
        create = sql.SQL("create database {} template {}")
        connection.execute(create.format(sql.Identifier(own), sql.Identifier(template)))
    for server, database in ((servers[0], "installed"), (servers[0], "front"), (servers[1], "shard_c")):
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(database)))
    for server, database in ((servers[0], "installed"), (servers[1], "shard_c")):
        upgrade.upgrade(_at(server, database))
    with psycopg.connect(servers[0], autocommit=True) as connection:
        connection.execute("create database shard_b template installed")
    found = {"a": _at(run, own), "b": _at(servers[0], "shard_b"), "c": _at(servers[1], "shard_c")}
    front = _at(servers[0], "front")
    with (Path(tempfile.gettempdir()) / f"{os.environ['BROKER_TEST_RUN']}-logins.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # roles belong to the whole server of the run, which workers share
        for dsn in found.values():
            _make_logins(dsn)
    front = changed(front, user=SUPERUSER, password=PASSWORD)
    shards.init(front, [shards.Shard(name, dsn) for name, dsn in list(found.items())[:2]])
    shards.add(front, shards.Shard("c", found["c"]))
    with psycopg.connect(front, autocommit=True) as connection:
        for login in (*LOGINS, SUPERUSER):
            map_login(connection, login)
        for setup, shard in SETUPS.items():
            connection.execute("select cluster.place(%s, %s)", [setup, shard])
    return Cluster(front, found, home_of_c)


@pytest.fixture
def front(cluster: Cluster) -> Iterator[Db]:
    """A superuser's connection to the front."""
    with cluster.connect() as connection:
        yield connection


@pytest.fixture
def cli(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line at the front, as a superuser of all servers."""
    return commands(cluster.front, monkeypatch)


@pytest.fixture
def at_front(cluster: Cluster) -> Iterator[AtFront]:
    """A function that logs in at the front, or at the shard of a setup. Connections are closed at the end."""
    opened: list[Db] = []

    def log_in(login: str, setup: str | None = None) -> Db:
        opened.append(cluster.connect(setup, login))
        return opened[-1]

    yield log_in
    for connection in opened:
        connection.close()


@pytest.fixture
def placed(front: Db) -> Placed:
    """A function that places a new setup on a shard, and returns its name."""

    def place(shard: str) -> str:
        name = f"setup_{uuid.uuid4().hex[:8]}"
        front.execute("select cluster.place(%s, %s)", [name, shard])
        return name

    return place
