"""A pytest session that runs chosen tests again and again, while objects of the database change between them."""

import inspect
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, cast

import psycopg
import pytest
from _pytest.runner import runtestprotocol
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.calls import Connection

ADMIN = "BROKER_TEST_ADMIN_DSN"
CLONES = {"dsn", "db", "connect", "new_database", "new_database_of_module"}  # fixtures that copy the template


# Functions in the contexts of errors since the last call of raised(): PostgreSQL does not count calls that raise.
_RAISED: set[str] = set()
_IN_CONTEXT = re.compile(r"function (?:\w+\.)?\"?(\w+)")
_from_result = psycopg.errors.error_from_result


def _noted(result: Any, encoding: str = "utf-8") -> psycopg.Error:
    error = _from_result(result, encoding)
    _RAISED.update(_IN_CONTEXT.findall(error.diag.context or ""))
    return error


def raised() -> set[str]:
    """The names of the functions that raised, and of their callers, since the last call; without their schemas."""
    names = set(_RAISED)
    _RAISED.clear()
    return names


@dataclass(frozen=True)
class Outcome:
    """The outcome of one run of a test, and its time in seconds."""

    passed: bool
    skipped: bool
    seconds: float
    message: str


class _NoItem:
    """Takes the place of the next test: fixtures of modules end, those of the session remain."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session

    def listchain(self) -> list[Any]:
        return [self._session]


class Bench:
    """The tests of a session, and the databases in which they work."""

    def __init__(self, session: pytest.Session, lender: Any, template: str, shared: str) -> None:
        self._session, self._lender = session, lender
        self.items = {item.nodeid: item for item in session.items}
        self.template, self.shared = template, shared

    def run(self, name: str, next_name: str | None = None, limit: float = 60) -> Outcome:
        """Run one test; after `limit` seconds its connections are ended, so that it fails."""
        item = self.items[name]
        after = self.items[next_name] if next_name else cast("pytest.Item", _NoItem(self._session))
        began = time.monotonic()
        with self._limited(limit):
            reports = runtestprotocol(item, nextitem=after, log=False)
        failed = [report for report in reports if report.failed]
        skipped = any(report.skipped for report in reports)
        message = str(failed[0].longrepr)[-600:] if failed else ""
        return Outcome(not failed and not skipped, skipped and not failed, time.monotonic() - began, message)

    def end_modules(self) -> None:
        """End the fixtures of modules, since a database that tests of a module share was copied with the mutant."""
        with suppress(Exception):  # errors of connections that were ended together with a test that took too long
            self._session._setupstate.teardown_exact(cast("pytest.Item", _NoItem(self._session)))

    def clones(self, name: str) -> bool:
        """Whether a test works in a copy of the template; the others work in the shared database."""
        return bool(CLONES & set(getattr(self.items[name], "fixturenames", ())))

    def execute(self, database: str, statements: Sequence[str]) -> None:
        """Execute statements in a database, in one transaction."""
        with psycopg.connect(dsn_of(database)) as connection:
            for statement in statements:
                connection.execute(cast("Any", statement))

    def text(self, name: str) -> str:
        """A digest of the source of a test."""
        return sha256(self._source(name).encode()).hexdigest()[:12]

    def mentions(self, name: str, text: str) -> bool:
        """Whether the source of a test contains a text."""
        return text in self._source(name)

    def _source(self, name: str) -> str:
        function = getattr(self.items[name], "function", None)
        return inspect.getsource(function) if function else ""

    def clean(self) -> bool:
        """Make the shared database again if a test has committed something in it; returns whether one has."""
        with psycopg.connect(dsn_of(self.shared), autocommit=True) as connection:
            left = connection.execute("select from resource.setup limit 1").fetchone()
        if left is not None:
            with admin() as connection:
                name, template = sql.Identifier(self.shared), sql.Identifier(self.template)
                connection.execute(sql.SQL("drop database {} with (force)").format(name))
                connection.execute(sql.SQL("create database {} template {}").format(name, template))
        return left is not None

    def flush(self) -> None:
        """Let the connection that tests share report its statistics now instead of at its end."""
        connection = self._lender._connection
        if connection and not connection.closed:
            with suppress(psycopg.Error):  # the connection ended together with a test that took too long
                connection.execute("select pg_stat_force_next_flush()")
                connection.rollback()

    def databases(self) -> set[str]:
        """The databases of this run."""
        with admin() as connection:
            names = connection.execute("select datname from pg_database where datname like %s", [_prefix() + "%"])
            return {name for (name,) in names}

    def forget(self, kept: set[str]) -> None:
        """Drop the databases that tests have made, so that thousands of runs fit on the disk."""
        with admin() as connection:
            for name in self.databases() - kept:
                connection.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))

    @contextmanager
    def _limited(self, limit: float) -> Iterator[None]:
        over = threading.Event()

        def end() -> None:
            while not over.wait(limit if not ended else 1):
                ended.append(1)
                with admin() as connection:
                    connection.execute(
                        "select pg_terminate_backend(pid) from pg_stat_activity"
                        " where datname like %s and pid <> pg_backend_pid()",
                        [_prefix() + "%"],
                    )

        ended: list[int] = []
        watch = threading.Thread(target=end, daemon=True)
        watch.start()
        try:
            yield
        finally:
            over.set()
            watch.join()


class Plugin:
    """Replaces the loop of a pytest session by a given function that works on a Bench."""

    def __init__(self, work: Callable[[Bench], None]) -> None:
        self._work = work
        self._lender: Any = None

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """Keep the fixture that lends the connection to the shared database (tests/conftest.py)."""
        made = yield
        if fixturedef.argname == "_session":
            self._lender = made
        return made

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run one test, so that the template and the shared database exist; then call the function."""
        request = next(item for item in session.items if "rolled_back" in getattr(item, "fixturenames", ()))
        reports = runtestprotocol(request, nextitem=cast("pytest.Item", _NoItem(session)), log=False)
        assert all(report.passed for report in reports), [str(report.longrepr) for report in reports]
        self._work(Bench(session, self._lender, _prefix() + "template_tmpl", _prefix() + "master_shared"))
        return True


def run(folders: Sequence[str], work: Callable[[Bench], None]) -> int:
    """Collect the tests of the folders, and call the function with their Bench."""
    from hypothesis import Phase, settings

    # A mutant is killed by any example, so the search for the smallest one is left out.
    settings.register_profile("mutation", phases=(Phase.explicit, Phase.generate), derandomize=True, database=None)
    settings.load_profile("mutation")
    psycopg.errors.error_from_result = _noted
    arguments = [
        "-q", "-p", "no:cacheprovider", "-p", "no:xdist.looponfail", "-m", "not thorough",
        "--ignore-glob=*/test_plan*.py", *folders,
    ]  # fmt: skip
    return int(pytest.main(arguments, plugins=[Plugin(work)]))


def admin() -> Connection:
    """A connection to the server's own database."""
    return psycopg.connect(os.environ[ADMIN], autocommit=True)


def dsn_of(database: str) -> str:
    """The DSN of a database of the test server."""
    return make_conninfo("", **{**conninfo_to_dict(os.environ[ADMIN]), "dbname": database})


def _prefix() -> str:
    return f"broker_test_{os.environ['BROKER_TEST_RUN']}_"
