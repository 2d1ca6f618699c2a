"""One upgrade: a transaction under an advisory lock, which gives way to whoever works in the database."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg import errors, sql
from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import NullPool

import broker
from broker.upgrade import grants, revisions, roles
from broker.upgrade.failure import UpgradeError
from broker.upgrade.install import Changes, Installer
from broker.upgrade.source import package_folder, parse_files, read_folder

# Below PostgreSQL's deadlock_timeout (1 s): in a deadlock the upgrade lets go before an agent is told to.
LOCK_TIMEOUT_MS = 300
# "broker" in ASCII: the one upgrade at a time of a database.
ADVISORY_LOCK = 0x62726F6B6572

_GIVE_WAY = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure)

Result = TypeVar("Result")


@dataclass(frozen=True)
class Report:
    """What an upgrade or a downgrade did. `seconds` is the time of the transaction that succeeded."""

    release: str
    revision_before: str | None
    revision: str | None
    written: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    grants: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    attempts: int = 1
    seconds: float = 0.0

    @property
    def changed(self) -> bool:
        """Whether anything in the database is different now."""
        return bool(self.revision_before != self.revision or self.written or self.dropped or self.grants)


@dataclass(frozen=True)
class Program:
    """What a release brings: its migrations, its sql/ and its version."""

    sql: Path = field(default_factory=lambda: package_folder("sql"))
    migrations: Path = field(default_factory=lambda: package_folder("migrations"))
    release: str = broker.__version__


@dataclass
class Session:
    """The upgrade's transaction: one server connection, seen by psycopg and by SQLAlchemy."""

    sa: Connection
    raw: psycopg.Connection[Any]
    cur: psycopg.Cursor[Any]


def connect(dsn: str) -> psycopg.Connection[Any]:
    """Open a connection that works through a pooler too (no prepared statements)."""
    return psycopg.connect(dsn, prepare_threshold=None, application_name="broker db")


@contextmanager
def transaction(dsn: str) -> Iterator[Session]:
    """Open the transaction under the lock, with the timeouts of an upgrade."""
    # hide_parameters: an error must not print data.
    engine = create_engine("postgresql+psycopg://", creator=lambda: connect(dsn), poolclass=NullPool, hide_parameters=True)
    with engine.connect() as sa, sa.begin():
        raw = sa.connection.driver_connection
        assert isinstance(raw, psycopg.Connection)
        with raw.cursor() as cur:
            cur.execute("set local check_function_bodies = off")
            cur.execute("set local search_path = pg_catalog")
            cur.execute("set local client_min_messages = warning")
            # One upgrade waits for another; what comes after gives way.
            cur.execute("set local lock_timeout = 0")
            cur.execute("select pg_advisory_xact_lock(%s)", [ADVISORY_LOCK])
            cur.execute(
                "select set_config('lock_timeout', least(%s, 0.3 * extract(epoch from current_setting('deadlock_timeout')"
                "::interval) * 1000)::int::text, true)",
                [LOCK_TIMEOUT_MS],
            )
            yield Session(sa, raw, cur)


def giving_way(work: Callable[[], Result], patience: float) -> tuple[Result, int]:
    """Run a transaction until it gets its locks; wait longer after each try, `patience` seconds in all."""
    began = time.monotonic()
    attempt = 1
    while True:
        try:
            return work(), attempt
        except _GIVE_WAY as error:
            if time.monotonic() - began > patience:
                raise UpgradeError(
                    f"the upgrade gave way {attempt} times in {patience:.0f} s and got no turn: {error.diag.message_primary}",
                    "somebody holds a lock for long (select * from pg_stat_activity where xact_start < now() - interval '1 min')",
                ) from error
        time.sleep(random.uniform(0.5, 1.0) * min(0.05 * 2**attempt, 2.0))
        attempt += 1


def current(dsn: str) -> str | None:
    """Return the revision of a database, None when nothing of ours is installed."""
    with connect(dsn) as conn:
        return installed_revision(conn.cursor())


def installed_revision(cur: psycopg.Cursor[Any]) -> str | None:
    """Return the revision, in an open transaction."""
    if cur.execute("select to_regclass('resource.alembic_version')").fetchone() == (None,):
        return None
    row = cur.execute("select version_num from resource.alembic_version").fetchone()
    return str(row[0]) if row else None


def _enter_house(cur: psycopg.Cursor[Any], names: roles.Roles, revision: str | None) -> None:
    cur.execute(sql.SQL("set local role {}").format(sql.Identifier(names.owner)))
    if revision is None:
        try:
            cur.execute("create schema resource")
        except errors.DuplicateSchema as error:
            raise UpgradeError(
                "a schema resource is there already, and it is not ours",
                "install into a database of its own (create database broker), the rooms need their names",
            ) from error


def _write_house(cur: psycopg.Cursor[Any], names: roles.Roles, release: str) -> None:
    cur.execute(
        """
        insert into resource.house (release, role_prefix, server_major, installed_at)
        values (%s, %s, %s, now())
        on conflict (only_row) do update
          set (release, role_prefix, server_major, installed_at)
            = row (excluded.release, excluded.role_prefix, excluded.server_major, excluded.installed_at)
        """,
        [release, names.prefix, cur.connection.info.server_version // 10000],
    )
    for kind, name in names.names.items():
        cur.execute(
            "insert into resource.house_role (kind, role_name) values (%s, %s)"
            " on conflict (kind) do update set role_name = excluded.role_name where house_role.role_name <> excluded.role_name",
            [kind, name],
        )


def upgrade(
    dsn: str, *, role_prefix: str = roles.DEFAULT_PREFIX, program: Program | None = None, patience: float = 120.0
) -> Report:
    """Bring a database to this release: revisions, then the objects of sql/ that changed, then roles.sql.

    One transaction under an advisory lock. Where it has to wait for others it rolls back and tries again, for
    `patience` seconds. Raises UpgradeError, with nothing changed, when it cannot.
    """
    program = program or Program()
    names = roles.Roles(role_prefix)
    files = read_folder(program.sql)
    objects = parse_files(files)
    with psycopg.connect(dsn, autocommit=True, prepare_threshold=None) as conn:
        roles.ensure_roles(conn, names)

    def work() -> Report:
        began = time.monotonic()
        with transaction(dsn) as session:
            cur = session.cur
            before = installed_revision(cur)
            _enter_house(cur, names, before)
            revisions.move(session.sa, program.migrations, "head")
            _write_house(cur, names, program.release)
            grants.close_defaults(cur, names)
            changes: Changes = Installer(cur, names.owner).run(objects, program.release, set())
            granted = grants.apply(cur, files["roles.sql"], names)
            after = installed_revision(cur)
        return Report(
            program.release, before, after, tuple(changes.written), tuple(changes.dropped), tuple(changes.foreign),
            granted.statements, granted.absent,
            1, time.monotonic() - began,
        )

    report, attempts = giving_way(work, patience)
    return Report(**{**report.__dict__, "attempts": attempts})

