"""The transaction of an upgrade: one at a time, and it gives way to other sessions in the database."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import errors, sql

from broker.errors import BrokerError, ConnectError
from broker.upgrade.failure import UpgradeError

if TYPE_CHECKING:
    from sqlalchemy import Connection

# Below PostgreSQL's deadlock_timeout (1 s): in a deadlock the upgrade gives up before an agent's call is cancelled.
LOCK_TIMEOUT_MS = 300
# "broker" in ASCII: the key of the lock that allows one upgrade of a database at a time.
ADVISORY_LOCK = 0x62726F6B6572
# Names of sites and owners may be in any script, and lengths and expressions count characters.
ENCODING = "UTF8"

_GIVE_WAY = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure)

Result = TypeVar("Result")


@dataclass(frozen=True)
class Session:
    """One server connection in one transaction, as SQLAlchemy (for Alembic) and psycopg see it."""

    sa: "Connection"
    cur: psycopg.Cursor[Any]


def connect(dsn: str, *, autocommit: bool = False) -> psycopg.Connection[Any]:
    """Open a connection that also works through a pooler (no prepared statements). Raises ConnectError, and
    UpgradeError for a database that cannot store every text.
    """
    from broker.database import Target

    target = Target(dsn, "", prepare=False)
    try:
        parameters = target.parameters | {"application_name": "broker db", "autocommit": autocommit}
        conn = psycopg.connect(dsn, **parameters)
    except psycopg.OperationalError as error:
        shown, _ = target.without_password
        said = next((line.strip() for line in str(error).splitlines() if line.strip()), "no message")
        raise ConnectError(
            f"cannot connect to {shown}: {said}", "is the server up, is the DSN right, does the database exist?"
        ) from error
    encoding = conn.info.parameter_status("server_encoding")
    if encoding not in (ENCODING, None):
        name = conn.info.dbname
        conn.close()
        raise UpgradeError(
            f"database {name} has the encoding {encoding}, and pgbroker needs {ENCODING}",
            "make a database for it: "
            + f"create database NAME encoding '{ENCODING}' locale 'C.UTF-8' template template0",
        )
    return conn


@contextmanager
def transaction(dsn: str) -> Iterator[Session]:
    """Open the transaction under the lock, with the settings of an upgrade; leaving it commits."""
    failed: BaseException | None = None
    try:
        with _begun(dsn) as session:
            try:
                yield session
            except BaseException as error:
                failed = error
                raise
    except Exception as error:
        # if the server is gone, the rollback fails too, and SQLAlchemy raises an error of its own
        cause = failed if failed is not None and failed is not error else getattr(error, "orig", None)
        if isinstance(cause, psycopg.Error | BrokerError):
            raise cause from None
        raise


@contextmanager
def _begun(dsn: str) -> Iterator[Session]:
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    engine = create_engine("postgresql+psycopg://", creator=lambda: connect(dsn), poolclass=NullPool)
    with engine.connect() as sa, sa.begin():
        raw = sa.connection.driver_connection
        if not isinstance(raw, psycopg.Connection):
            raise TypeError(f"an upgrade runs on psycopg, not on {type(raw).__name__}")
        with raw.cursor() as cur:
            cur.execute("set local check_function_bodies = off")
            cur.execute("set local search_path = pg_catalog")
            cur.execute("set local client_min_messages = warning")
            cur.execute("set local statement_timeout = 0")
            cur.execute("set local idle_in_transaction_session_timeout = 0")
            # A second upgrade waits for the first; only then does it begin to give way.
            cur.execute("set local lock_timeout = '10s'")
            cur.execute("select pg_advisory_xact_lock(%s)", [ADVISORY_LOCK])
            cur.execute(
                "select set_config('lock_timeout', least(%s, setting::int * 3 / 10)::text, true)"
                "  from pg_settings where name = 'deadlock_timeout'",
                [LOCK_TIMEOUT_MS],
            )
            yield Session(sa, cur)


def take_role(cur: psycopg.Cursor[Any], role: str) -> None:
    """Act as a role until the end of the transaction, or until the next call."""
    cur.execute(sql.SQL("set local role {}").format(sql.Identifier(role)))


def concurrent(error: psycopg.Error) -> bool:
    """Whether the error only comes from a concurrent action of another session."""
    message = error.diag.message_primary or ""
    return isinstance(error, _GIVE_WAY) or "tuple concurrently" in message


def giving_way(work: Callable[[], Result], patience: float) -> tuple[Result, int]:
    """Run a transaction until it gets its locks, waiting longer after each try, for `patience` seconds in all.

    Returns the result of `work` and the number of tries. Raises UpgradeError after `patience` seconds.
    """
    began = time.monotonic()
    attempt = 1
    while True:
        try:
            return work(), attempt
        except psycopg.Error as error:
            if not concurrent(error):
                raise
            if time.monotonic() - began > patience:
                raise UpgradeError(
                    f"gave way {attempt} times in {patience:.0f} s and got no turn: {error.diag.message_primary}",
                    "somebody holds a lock for long: select pid, usename, xact_start, query from pg_stat_activity"
                    " order by xact_start",
                ) from error
        time.sleep(random.uniform(0.5, 1.0) * min(0.05 * 2**attempt, 2.0))
        attempt += 1
