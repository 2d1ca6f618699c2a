"""Finding the server, and every way of connecting to it. The server is the first of these: the given DSN (`--dsn`),
BROKER_DSN, libpq's own variables (PGHOST, PGHOSTADDR, PGPORT, PGSERVICE, PGDATABASE), the embedded server, which is
started when it does not run.

Poolers: each call is one statement in autocommit and leaves no session state, so PgBouncer's transaction mode works.
PgBouncer before 1.21 mixes up prepared statements, so none are made behind a pooler. BROKER_PREPARE=on also prepares
behind a pooler, for PgBouncer from 1.21 with max_prepared_statements. `--no-prepare` or BROKER_PREPARE=off never
prepares.
"""

import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from broker.errors import BrokerError, ConnectError

if TYPE_CHECKING:
    from sqlalchemy import Engine

# A pool would log each attempt to connect; the caller that asks for a connection gets the reason in the error.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())

Connection = psycopg.Connection[Any]

_POINTING = ("PGHOST", "PGHOSTADDR", "PGPORT", "PGSERVICE", "PGDATABASE")
_ON, _OFF = ("on", "yes", "true", "1"), ("off", "no", "false", "0")
_PREPARE_THRESHOLD = 5  # psycopg's own: a statement is prepared when it comes for the sixth time on a connection
# A server that vanishes with its machine sends no answer: without these a connection waits for hours.
_TRANSPORT = {
    "connect_timeout": 10, "keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}  # fmt: skip
# Seconds after which a pool starts its series of attempts again. Its pauses double until then, so while a
# standby takes over it tries at least every two seconds.
_RECONNECT = 5.0


@dataclass(frozen=True)
class Target:
    """A server: its DSN in libpq's form, the source of the DSN, and whether statements may be prepared on it.

    `source` is '--dsn', 'BROKER_DSN', 'PG*' or 'embedded'; `note` is a message for people (the server was started,
    another port). `prepare` None: prepare unless there is a pooler.
    """

    dsn: str
    source: str
    prepare: bool | None = None
    note: str | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of every connection beside the DSN. A server that vanishes with its machine is noticed in half
        a minute, unless the DSN sets these timeouts. Parameters from a service file (service=...) are included: if
        psycopg sees several hosts, it tries one after the other, each with its timeout, while libpq would wait for the
        first without end.
        """
        given = conninfo_to_dict(self.dsn)
        in_file = {name: value for name, value in _of_service_file(given.get("service")).items() if name not in given}
        chosen = {*given, *in_file, *(["connect_timeout"] if "PGCONNECT_TIMEOUT" in os.environ else [])}
        return {
            **{name: value for name, value in _TRANSPORT.items() if name not in chosen},
            **in_file,
            "prepare_threshold": None if self.prepare is False else _PREPARE_THRESHOLD,
            "fallback_application_name": "pgbroker",
        }

    @property
    def without_password(self) -> tuple[str, str | None]:
        """The DSN as key=value pairs without its password, and the password: for messages and command lines."""
        parameters = conninfo_to_dict(self.dsn)
        password = parameters.pop("password", None)
        return make_conninfo("", **parameters), None if password is None else str(password)


def resolve(dsn: str | None = None, *, prepare: bool | None = None) -> Target:
    """Find the server, and start the embedded one if no other is named.

    Raises BrokerError for a DSN that libpq cannot read, EmbeddedError when the embedded server cannot be started.
    """
    if prepare is None:
        prepare = _prepare_wanted()
    target = named(dsn, prepare=prepare)
    if target:
        return target
    from broker.server import embedded

    server = embedded.up()
    started = f"the embedded server is started, its data is in {server.home}; broker down stops it"
    notes = [started] if server.started else []
    return Target(server.dsn, "embedded", prepare, "\n".join([*notes, *filter(None, [server.note])]) or None)


def named(dsn: str | None = None, *, prepare: bool | None = None, source: str = "--dsn") -> Target | None:
    """The server that the argument or the environment names, or None if neither names one. source: the
    origin of the argument, for messages.
    """
    if dsn:
        return Target(_readable(dsn, source), source, prepare)
    if os.environ.get("BROKER_DSN"):
        return Target(_readable(os.environ["BROKER_DSN"], "BROKER_DSN"), "BROKER_DSN", prepare)
    if any(os.environ.get(name) for name in _POINTING):
        return Target(_from_environment(), "PG*", prepare)
    return None


def connect(target: Target | None = None, *, autocommit: bool = True) -> psycopg.Connection:
    """One connection. Raises ConnectError when the server does not answer or refuses."""
    target = target or resolve()
    try:
        connection = psycopg.connect(target.dsn, autocommit=True, **target.parameters)
        if target.prepare is None:
            _prepare_without_a_pooler(connection)
        connection.autocommit = autocommit
    except psycopg.OperationalError as error:
        raise _connect_error(error, target) from error
    return connection


async def connect_async(target: Target | None = None, *, autocommit: bool = True) -> psycopg.AsyncConnection:
    """One connection for asyncio. Raises ConnectError when the server does not answer or refuses."""
    target = target or resolve()
    try:
        connection = await psycopg.AsyncConnection.connect(target.dsn, autocommit=True, **target.parameters)
        if target.prepare is None:
            await _prepare_without_a_pooler_async(connection)
        await connection.set_autocommit(autocommit)
    except psycopg.OperationalError as error:
        raise _connect_error(error, target) from error
    return connection


def pool(target: Target | None = None, *, min_size: int = 1, max_size: int = 8) -> ConnectionPool:
    """A pool of autocommit connections, not open yet: use it in a `with` statement. While the server is away, the pool
    tries to connect at least every two seconds.
    """
    target = target or resolve()
    configure = _prepare_without_a_pooler if target.prepare is None else None
    kwargs = {"autocommit": True, **target.parameters}
    return ConnectionPool(
        target.dsn, kwargs=kwargs, min_size=min_size, max_size=max_size, configure=configure, open=False,
        reconnect_timeout=_RECONNECT, reconnect_failed=ConnectionPool.check,
    )  # fmt: skip


def pool_async(
    target: Target | None = None,
    *,
    min_size: int = 1,
    max_size: int = 8,
    configure: Callable[[psycopg.AsyncConnection[Any]], Awaitable[None]] | None = None,
    reconnect: float = _RECONNECT,
) -> AsyncConnectionPool:
    """A pool of autocommit connections for asyncio, not open yet: use it in an `async with` statement.

    configure: is called with each new connection. While the server is away, the pool tries to connect at least every
    two seconds. reconnect: 0 = it tries again only when a caller asks for a connection.
    """
    found = target or resolve()

    async def configured(connection: psycopg.AsyncConnection[Any]) -> None:
        if found.prepare is None:
            await _prepare_without_a_pooler_async(connection)
        if configure is not None:
            await configure(connection)

    kwargs = {"autocommit": True, **found.parameters}
    return AsyncConnectionPool(
        found.dsn, kwargs=kwargs, min_size=min_size, max_size=max_size, configure=configured, open=False,
        reconnect_timeout=reconnect, reconnect_failed=AsyncConnectionPool.check if reconnect else None,
    )  # fmt: skip


def engine(target: Target | None = None) -> "Engine":
    """A SQLAlchemy engine over psycopg 3; takes every form of DSN that libpq reads, services included."""
    from sqlalchemy import create_engine

    found = target or resolve()
    return create_engine("postgresql+psycopg://", creator=lambda: connect(found, autocommit=False))


_BACKEND = "select pg_backend_pid()"


def _prepare_without_a_pooler(connection: Connection) -> None:
    """Prepare no statements behind a pooler, which announces a process that is not the server's."""
    if connection.execute(_BACKEND).fetchone() != (connection.info.backend_pid,):
        connection.prepare_threshold = None


async def _prepare_without_a_pooler_async(connection: psycopg.AsyncConnection[Any]) -> None:
    if await (await connection.execute(_BACKEND)).fetchone() != (connection.info.backend_pid,):
        connection.prepare_threshold = None


def _prepare_wanted() -> bool | None:
    """The value of BROKER_PREPARE, or None if it is not set."""
    said = os.environ.get("BROKER_PREPARE", "")
    if said.lower() not in ("", *_ON, *_OFF):
        raise BrokerError(f"BROKER_PREPARE is {said}, which is neither on nor off", "set it to on or off")
    return said.lower() in _ON if said else None


def _readable(dsn: str, source: str) -> str:
    """The DSN in libpq's form; SQLAlchemy's `postgresql+psycopg://` is also accepted."""
    dsn = dsn.replace("postgresql+psycopg://", "postgresql://", 1)
    try:
        conninfo_to_dict(dsn)
    except psycopg.ProgrammingError as error:
        example = "postgresql://user@host:5432/database, or host=... dbname=..."
        raise BrokerError(f"{source} is not a DSN: {str(error).strip()}", f"write {example}") from None
    return dsn


def _from_environment() -> str:
    """The values of libpq's variables, as a DSN that programs in another environment can use."""
    defaults = pq.Conninfo.get_defaults()
    said = {
        option.keyword.decode(): option.val.decode()
        for option in defaults
        if option.envvar and option.val is not None and option.envvar.decode() in os.environ
    }
    return make_conninfo("", **said)


def _of_service_file(service: object) -> dict[str, str]:
    """The parameters of libpq's service file under a name, or under that of PGSERVICE; nothing if libpq should look
    itself."""
    name = service or os.environ.get("PGSERVICE")
    if not name:
        return {}
    try:
        file = Path(os.environ.get("PGSERVICEFILE") or Path.home() / ".pg_service.conf")
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, RuntimeError, UnicodeDecodeError):  # no file, no home, no text
        return {}
    found: dict[str, str] = {}
    section = None
    for line in map(str.strip, lines):
        if line.startswith("["):
            section = line.strip("[]")
        elif section == name and not line.startswith(("#", "ldap")) and "=" in line:
            key, _, value = line.partition("=")
            found.setdefault(key, value)
    return found


def _connect_error(error: psycopg.OperationalError, target: Target) -> ConnectError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    shown, _ = target.without_password
    message = lines[0] if lines else "no message"
    return ConnectError(
        f"cannot connect to {shown} ({target.source}): {message}", "is the server up, is the DSN right?"
    )
