"""Fixtures for all tests: databases that hold pgbroker, each a fresh clone of one template (about 60 ms of CPU).

| fixture | meaning |
| --- | --- |
| `dsn` | the DSN of a fresh database, or of one like new, for programs and pools; the login is a superuser |
| `db` | a psycopg connection to it, autocommit |
| `connect` | a function that opens more autocommit connections to it, closed at the end: `connect(role=None)` |
| `rolled_back` | a connection to a database that the worker's tests share, rolled back after each test (1 ms) |
| `full` | `Calls` on a database that `load(q)` of the test's module filled once per process; each test is undone |
| `gridded` | `db` with a small synthetic grid in the setup `grid` |
| `cli` | runs a command in this process, against the test's database: `cli("queues", "--json")` |
| `as_role` | runs the following commands as a role: `as_role("broker_viewer")` |
| `terminal` | makes what commands print go to a terminal of 80 columns |
| `small_world` | the name of a database with the small world of the fuzzers, to clone |
| `installed_home` | the home of a stopped server with pgbroker, to copy |
| `empty_dsn` | the DSN of a fresh database without pgbroker |
| `new_database` | a function that makes more fresh databases: `new_database(template=None)` returns a DSN |
| `warm` | a folder with a `broker` that has been imported already (warm.py), for PATH |
| `pooler` | PgBouncer in transaction mode (skips where there is none): `pooler.dsn(dsn, user=None, password="")` |
| `server_dsn` | the DSN of the server's database `postgres` |
| `template` | the template's name, filled by `broker.upgrade.upgrade` |

Tests in a folder whose name is in _REUSING share one database per worker, which is like new for each test (reused.py):
functions stay compiled, and programs stay connected. The mark `own_database` gives a test a fresh one.

A test's databases are dropped after it: two thousand of them would fill the memory or the disk that holds them, and
autovacuum would visit one after the other. The server is thrown away at the end. See throwaway.py.

A run of all tests makes as many examples as it has time for. Variables of the environment ask for more:
BROKER_TEST_EXAMPLES (tests/core/properties, tests/core/translate), BROKER_TEST_UPGRADES=50 (upgrades under load),
BROKER_TEST_DRAINED=20000 (jobs that agents race for), BROKER_TEST_DRAWS=2000 (the draw),
BROKER_TEST_FUZZ=100000 (calls with hostile arguments),
BROKER_TEST_FUZZ_COMMANDS=5000 (hostile command lines), BROKER_TEST_FUZZ_SERVICE=2000 (calls of each operation of
the service, tests/service/fuzz), BROKER_TEST_ALL_RACES=1, BROKER_TEST_KILL_SECONDS=600, BROKER_TEST_FAILOVERS=5
(tests/cluster), JOB_WORLDS, TASK_WORLDS, ANALYSIS_WORLDS=2000 (worlds that the engine and the models decide).
BROKER_TEST_DIRACX names an interpreter that has DiracX's client (tests/service/test_diracx.py).
"""

import fcntl
import itertools
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from pytest_postgresql.executors import NoopExecutor
from pytest_postgresql.factories import postgresql_noproc

sys.path.append(str(Path(__file__).parent.parent))  # at the end: `tests.…` from here, `broker` as it is installed

from tests import pooler as pgbouncer
from tests.calls import Calls
from tests.reused import Fill, Reused
from tests.throwaway import Throwaway, new_home
from tests.warm import Warm

if TYPE_CHECKING:
    from tests.commands import AsRole, Cli

_KEY = pytest.StashKey[Throwaway]()
_ADMIN = "BROKER_TEST_ADMIN_DSN"
_RUN = "BROKER_TEST_RUN"


def pytest_configure(config: pytest.Config) -> None:
    """Start the server once per run, in the process that runs the tests or starts the workers."""
    if config.option.collectonly or config.option.help:
        return
    if not hasattr(config, "workerinput"):
        given = config.invocation_params.args
        if any("::" in name for name in config.args) and not any(str(word).startswith("-m") for word in given):
            config.option.markexpr = ""  # a test that is named is run
        _start(config)
    server = conninfo_to_dict(os.environ[_ADMIN])  # where pytest-postgresql makes its template
    for name, value in {**server, "dbname": _name("template"), "maintenance_dbname": server["dbname"]}.items():
        if hasattr(config.option, f"postgresql_{name}"):
            setattr(config.option, f"postgresql_{name}", value)


def _start(config: pytest.Config) -> None:
    given = os.environ.get("BROKER_TEST_DSN")
    if given:
        os.environ[_ADMIN] = given
    else:
        config.stash[_KEY] = Throwaway(in_memory=True)
        os.environ[_ADMIN] = config.stash[_KEY].server.superuser_dsn("postgres")  # inherited by the workers
    os.environ[_RUN] = str(os.getpid())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the core, before pytest chooses by marks."""
    core = Path(__file__).parent / "core"
    for item in items:
        if item.path.is_relative_to(core):
            item.add_marker(pytest.mark.core)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Throw the server away; on a given server, drop everything that the run made."""
    if config.stash.get(_KEY, None):
        config.stash[_KEY].remove()
    elif os.environ.get(_ADMIN) and not hasattr(config, "workerinput"):
        with _admin() as admin:
            names = admin.execute("select datname from pg_database where starts_with(datname, %s)", [_name("")])
            for (name,) in names.fetchall():
                admin.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


def pytest_report_header() -> list[str]:
    """Say against which server the tests run."""
    if _ADMIN not in os.environ:
        return []
    with _admin() as admin:
        row = admin.execute("select version()").fetchone()
    return [f"server: {row[0] if row else ''}"]


def _admin() -> psycopg.Connection[Any]:
    return psycopg.connect(os.environ[_ADMIN], autocommit=True)


_as_admin: list[psycopg.Connection[Any]] = []


def _run_as_admin(statement: sql.Composed) -> None:
    """This process keeps the connection: two connections per test took a tenth of the time of its database."""
    if not _as_admin or _as_admin[0].closed:
        _as_admin[:] = [_admin()]
    _as_admin[0].execute(statement)


def _name(suffix: str) -> str:
    return f"broker_test_{os.environ[_RUN]}_{suffix}"


def _dsn_of(database: str) -> str:
    parameters = conninfo_to_dict(os.environ[_ADMIN])
    return make_conninfo("", **{**parameters, "dbname": database})


def _create(database: str, template: str) -> None:
    statement = sql.SQL("create database {} template {} strategy file_copy")  # otherwise each page goes to the WAL
    _run_as_admin(statement.format(sql.Identifier(database), sql.Identifier(template)))


def _drop(database: str) -> None:
    # force: a program that a test has left may still be connected
    _run_as_admin(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(database)))


def _install(host: str, port: int, user: str, dbname: str, password: str | None = None, **_rest: Any) -> None:
    """Fill the template: one worker after the other, because roles belong to the whole server."""
    from broker.upgrade import upgrade

    with (Path(tempfile.gettempdir()) / f"{_name('install')}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        upgrade(make_conninfo("", host=host, port=port, user=user, dbname=dbname, password=password))


_installed = postgresql_noproc(load=[_install])


@pytest.fixture(scope="session")
def template(_installed: NoopExecutor) -> str:
    """The name of a database that holds pgbroker and to which nobody connects; each worker has its own."""
    return _installed.template_dbname


@pytest.fixture(scope="session")
def _number() -> Iterator[int]:
    return itertools.count(1)


@pytest.fixture(scope="session")
def _installed_on(template: str) -> date:
    """The day of the template, whose partitions reach three days ahead."""
    return datetime.now(UTC).date()


@pytest.fixture
def new_database(
    template: str, _installed_on: date, _number: Iterator[int], worker_id: str
) -> Iterator[Callable[..., str]]:
    """A function that makes a fresh database, a clone of the template (or of another database), and returns its DSN.

    kept: other tests of the module use the database, too.
    """
    installed = template
    made: list[str] = []

    def make(template: str = template, *, kept: bool = False) -> str:
        name = _name(f"{worker_id}_{next(_number)}")
        if not kept:
            made.append(name)
        _create(name, template)
        if template == installed and datetime.now(UTC).date() > _installed_on:  # midnight passed during the run
            with psycopg.connect(_dsn_of(name), autocommit=True) as connection:
                connection.execute("select from lifecycle.make_partitions()")
        return _dsn_of(name)

    yield make
    for name in made:
        _drop(name)


@pytest.fixture(scope="session")
def _full() -> dict[ModuleType, str]:
    return {}


@pytest.fixture
def full(
    request: pytest.FixtureRequest, new_database: Callable[..., str], _full: dict[ModuleType, str]
) -> Iterator[Calls]:
    if request.module not in _full:
        dsn = new_database(kept=True)
        with psycopg.connect(dsn, autocommit=True) as connection:
            request.module.load(Calls(connection))
            connection.execute("vacuum (analyze)")
        _full[request.module] = dsn
    with psycopg.connect(_full[request.module]) as connection, connection.transaction(force_rollback=True):
        yield Calls(connection)


_REUSING = {"cli", "client", "service", "taskqueue", "security"}


def reuses(path: Path) -> bool:
    """Whether the tests of a file share a database: a folder above it, at any depth, is one of _REUSING."""
    return not _REUSING.isdisjoint(path.relative_to(Path(__file__).parent).parts)


_FRESH = 60.0  # seconds for which content is used: it has leases, samples and other rows with times


class _Kept:
    """A database that the worker's tests share; it is replaced after a test that left it changed."""

    def __init__(self) -> None:
        self.database: Reused | None = None
        self.made_at = 0.0

    def of(self, new: Callable[[], str], fill: Fill | None) -> Reused:
        """The database; a new one is filled."""
        if fill and time.monotonic() - self.made_at > _FRESH:
            self.drop()
        if self.database is None:
            dsn = new()
            if fill:
                with psycopg.connect(dsn, autocommit=True) as connection:
                    fill(connection)
            self.database, self.made_at = Reused(dsn), time.monotonic()
        return self.database

    def drop(self) -> None:
        """Throw it away."""
        if self.database:
            self.database.close()
            _drop(str(conninfo_to_dict(self.database.dsn)["dbname"]))
            self.database = None


@pytest.fixture(scope="session")
def _kept() -> Iterator[dict[Fill | None, _Kept]]:
    kept: dict[Fill | None, _Kept] = defaultdict(_Kept)
    yield kept
    for one in kept.values():
        one.drop()


@pytest.fixture
def content() -> Fill | None:
    """A function that stores rows which a test finds in the database that it shares; folders may give one."""
    return None


@pytest.fixture
def reused(
    request: pytest.FixtureRequest,
    new_database: Callable[..., str],
    _installed_on: date,
    _kept: dict[Fill | None, _Kept],
    content: Fill | None,
) -> Iterator[Reused | None]:
    """The database that tests with the same content share; None for a test that has one of its own."""
    if not reuses(request.path) or request.node.get_closest_marker("own_database"):
        yield None
        return
    kept = _kept[content]
    database = kept.of(partial(new_database, kept=True), content)
    yield database
    if datetime.now(UTC).date() > _installed_on or not database.clean():
        kept.drop()


@pytest.fixture
def dsn(reused: Reused | None, new_database: Callable[..., str]) -> str:
    """The DSN of a database that holds pgbroker and nothing else: a fresh one, or one like new (reused.py)."""
    return reused.dsn if reused else new_database()


@pytest.fixture
def empty_dsn(_number: Iterator[int], worker_id: str) -> Iterator[str]:
    """The DSN of a fresh database that holds nothing."""
    name = _name(f"{worker_id}_{next(_number)}")
    _create(name, "template0")
    yield _dsn_of(name)
    _drop(name)


@pytest.fixture
def connect(dsn: str) -> Iterator[Callable[..., psycopg.Connection[Any]]]:
    """A function that opens an autocommit connection to the test's database, as `role` if one is given."""
    opened: list[psycopg.Connection[Any]] = []

    def open_one(role: str | None = None) -> psycopg.Connection[Any]:
        connection = psycopg.connect(dsn, autocommit=True)
        opened.append(connection)
        if role:
            connection.execute(sql.SQL("set role {}").format(sql.Identifier(role)))
        return connection

    yield open_one
    for connection in opened:
        connection.close()


@pytest.fixture
def db(reused: Reused | None, connect: Callable[..., psycopg.Connection[Any]]) -> psycopg.Connection[Any]:
    """An autocommit connection to the test's database."""
    return reused.session if reused else connect()


@pytest.fixture
def gridded(db: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """The test's database with a small synthetic grid in the setup `grid`: 20 queues, 40 tasks."""
    from broker import world
    from broker.laboratory import grid

    world.load(db, [grid.grid(1, 20, 40)])
    return db


@pytest.fixture(scope="session")
def _shared_dsn(template: str, worker_id: str) -> str:
    name = _name(f"{worker_id}_shared")
    _create(name, template)
    return _dsn_of(name)


class _Session:
    """A connection that one test after another gets like new, but with functions compiled and catalogs cached. After a
    long test it is closed, since PostgreSQL keeps the plans of all functions that a session ever called, also of those
    that a rollback removed: 16 GB after 2,000 worlds with profiles of their own."""

    _LONG = 30.0  # seconds
    _AS_NEW = """reset session authorization; reset all; close all; unlisten *; select pg_advisory_unlock_all();
                 discard temp; discard sequences"""
    # ANALYZE and autovacuum count rows in place, even if these are rolled back. By the counts of earlier tests the
    # planner takes full tables to be empty: each queue that a test opens costs more than the last.
    _NEVER_COUNTED = """
        update pg_class set relpages = 0, reltuples = case relkind when 'r' then -1 else 0 end
         where oid >= 16384 and (relkind = 'r' and reltuples <> -1 or relkind = 'i' and reltuples > 0)
    """

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._connection: psycopg.Connection[Any] | None = None

    @contextmanager
    def lent(self) -> Iterator[psycopg.Connection[Any]]:
        """The connection; a new one if the last test closed it, or was long."""
        began = time.monotonic()
        connection, self._connection = self._connection or psycopg.connect(self._dsn), None
        connection.execute("select 1")  # a transaction is open, so that no block of the program commits
        yield connection
        if not connection.closed:
            connection.rollback()
            connection.autocommit = True
            left = connection.execute("select setup from resource.setup").fetchall()
            assert left == [], f"the test committed into the database that the tests share: {left}"
            connection.execute(self._AS_NEW)
            connection.execute(self._NEVER_COUNTED)
            if time.monotonic() - began > self._LONG:
                connection.close()
                return
            connection.autocommit = False
            self._connection = connection

    def close(self) -> None:
        """Close it."""
        if self._connection:
            self._connection.close()


@pytest.fixture(scope="session")
def _session(_shared_dsn: str) -> Iterator[_Session]:
    session = _Session(_shared_dsn)
    yield session
    session.close()


@pytest.fixture
def rolled_back(_session: _Session) -> Iterator[psycopg.Connection[Any]]:
    """A connection in a transaction that is rolled back after the test, to a database that stays as installed."""
    with _session.lent() as connection:
        yield connection


@pytest.fixture
def cli(dsn: str, monkeypatch: pytest.MonkeyPatch) -> "Cli":
    """Runs a command in this process, against the test's own database."""
    from tests.commands import commands

    return commands(dsn, monkeypatch)


@pytest.fixture
def as_role(dsn: str, monkeypatch: pytest.MonkeyPatch) -> "AsRole":
    return lambda role: monkeypatch.setenv("BROKER_DSN", make_conninfo(dsn, options=f"-c role={role}"))


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of this process print to a terminal of 80 columns and 24 lines, without colours."""
    for name, value in {"FORCE_COLOR": "1", "NO_COLOR": "1", "COLUMNS": "80", "LINES": "24", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="session")
def small_world(template: str, worker_id: str, server_dsn: str) -> str:
    """The name of a database with the small world of the fuzzers, to clone."""
    from tests.core.fuzz.small_world import fill

    name = f"{template}_{worker_id}_small_world"
    with psycopg.connect(server_dsn, autocommit=True) as admin:
        made = sql.SQL("create database {} template {} strategy file_copy")
        admin.execute(made.format(sql.Identifier(name), sql.Identifier(template)))
    with psycopg.connect(server_dsn, dbname=name, autocommit=True) as db:
        fill(db)
    return name


@pytest.fixture(scope="session")
def installed_home() -> Iterator[Path]:
    """The home of a durable server, stopped, with pgbroker. A copy saves a test the installation."""
    from broker.server import embedded
    from broker.upgrade import upgrade

    with new_home("installed") as home:
        upgrade(embedded.up(home).dsn)
        embedded.down(home)
        yield home


@pytest.fixture(scope="session")
def warm() -> Iterator[Path]:
    """A folder with a `broker` that starts at once, to be put in front of PATH."""
    process = Warm()
    yield process.folder
    process.close()


@pytest.fixture(scope="session")
def server_dsn() -> str:
    """The DSN of the server's database `postgres`: for roles, and for databases of a test's own."""
    return os.environ[_ADMIN]


@pytest.fixture(scope="session")
def pooler() -> Iterator[pgbouncer.Pooler]:
    """PgBouncer in transaction mode in front of the server."""
    if pgbouncer.PROGRAM is None:
        pytest.skip("PgBouncer is not installed")
    running = pgbouncer.Pooler(os.environ[_ADMIN])
    yield running
    running.close()
