"""What the clients share: a call of the database as a value, and running it on a pool, sync or async.

Each call is one statement in autocommit and leaves no state in the session: PgBouncer's transaction mode works.

A call whose answer is lost with its connection is sent once more, if repeating it does no harm: matching
and inserting carry a request id, with which the database gives the first answer again (for ten minutes).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import psycopg
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolTimeout

from broker import database
from broker.cluster.remote import why_unreached
from broker.database import Target
from broker.errors import BadRequest, ConnectError, from_database
from broker.json_text import json_text

T = TypeVar("T")
Rows = Sequence[tuple[Any, ...]]

_LOST = ("080", "57P")  # connection exceptions; admin_shutdown, crash_shutdown, cannot_connect_now


@dataclass(frozen=True)
class Call(Generic[T]):
    """One statement: its text and arguments, how its rows are read, and whether it may be sent twice."""

    query: bytes
    arguments: tuple[object, ...]
    read: Callable[[Rows], T]
    repeatable: bool = True


def jsonb(value: Mapping[str, object] | Sequence[Mapping[str, object]]) -> Jsonb:
    """A mapping, or several, as an argument of the type jsonb."""
    return Jsonb(value, dumps=json_text)


def only(rows: Rows) -> Any:
    """The one value of the one row."""
    return rows[0][0]


def _repeats(call: Call[Any], error: psycopg.Error) -> bool:
    """Whether the connection was lost (or the server went away: class 57P), and the call may be sent again."""
    lost = isinstance(error, psycopg.OperationalError) and (error.sqlstate is None or error.sqlstate[:3] in _LOST)
    lost = lost or why_unreached(error.sqlstate, error.diag.message_primary) is not None
    return lost and call.repeatable and not isinstance(error, PoolTimeout)


def _all_at_work(timeout: float) -> ConnectError:
    return ConnectError(
        f"no connection of the pool was free for {timeout:g} s", "give the client more: connections=..., or timeout=..."
    )


class Client:
    """A setup, and a pool to reach it with: the caller's own, or one of the client's, which `close` closes.

    server: a DSN, a Target of broker.database, an open pool of autocommit connections, or None for the server that
    the environment names (else the embedded one). Leaving a `with` statement closes the client.
    timeout: seconds that a call waits for a connection, while all are at work or the server restarts.

    Raises ConnectError at once where the server does not answer or refuses the login.
    """

    def __init__(
        self,
        setup: str = "default",
        server: str | Target | ConnectionPool | None = None,
        *,
        connections: int = 4,
        timeout: float = 30.0,
    ) -> None:
        self.setup = setup
        self.timeout = timeout
        self._target: Target | None = None
        if isinstance(server, ConnectionPool):
            self._pool = server
        else:
            self._target = server if isinstance(server, Target) else database.resolve(server)
            database.connect(self._target).close()  # a pool would try again and again before it tells the reason
            self._pool = database.pool(self._target, min_size=1, max_size=connections)
            self._pool.open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the pool, if it is the client's own."""
        if self._target:
            self._pool.close()

    def run(self, call: Call[T]) -> T:
        """Run one call; once more after a lost connection, where that does no harm.

        Raises a BrokerError: the subclass of its SQLSTATE, ConnectError when the server is not there.
        """
        try:
            try:
                return self._once(call)
            except psycopg.Error as error:
                if not _repeats(call, error):
                    raise
            self._pool.check()  # the other connections may be as dead as that one
            return self._once(call)
        except PoolTimeout as error:
            if self._target:
                database.connect(self._target).close()  # raises with the server's reason
            raise _all_at_work(self.timeout) from error
        except psycopg.Error as error:
            raise from_database(error) from error

    def refuses(self, call: Call[Any]) -> bool:
        """Whether the database answers a call with BadRequest; what it would change is rolled back."""
        try:
            with self._pool.connection(self.timeout) as connection, connection.transaction(force_rollback=True):
                connection.execute(call.query, call.arguments)
        except psycopg.Error as error:
            return isinstance(from_database(error), BadRequest)
        return False

    def _once(self, call: Call[T]) -> T:
        with self._pool.connection(self.timeout) as connection:
            return call.read(connection.execute(call.query, call.arguments).fetchall())


class AsyncClient:
    """The same for asyncio, with a pool of the kind AsyncConnectionPool; used in an `async with` statement."""

    def __init__(
        self,
        setup: str = "default",
        server: str | Target | AsyncConnectionPool | None = None,
        *,
        connections: int = 4,
        timeout: float = 30.0,
    ) -> None:
        self.setup = setup
        self.timeout = timeout
        self._target: Target | None = None
        if isinstance(server, AsyncConnectionPool):
            self._pool = server
        else:
            self._target = server if isinstance(server, Target) else database.resolve(server)
            self._pool = database.pool_async(self._target, min_size=1, max_size=connections)

    async def __aenter__(self) -> Self:
        if self._target:
            await (await database.connect_async(self._target)).close()
            await self._pool.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the pool, if it is the client's own."""
        if self._target:
            await self._pool.close()

    async def run(self, call: Call[T]) -> T:
        """Run one call; once more after a lost connection, where that does no harm. Raises as Client.run."""
        try:
            try:
                return await self._once(call)
            except psycopg.Error as error:
                if not _repeats(call, error):
                    raise
            await self._pool.check()
            return await self._once(call)
        except PoolTimeout as error:
            if self._target:
                await (await database.connect_async(self._target)).close()
            raise _all_at_work(self.timeout) from error
        except psycopg.Error as error:
            raise from_database(error) from error

    async def refuses(self, call: Call[Any]) -> bool:
        """Whether the database answers a call with BadRequest; see Client.refuses."""
        try:
            async with self._pool.connection(self.timeout) as connection, connection.transaction(force_rollback=True):
                await connection.execute(call.query, call.arguments)
        except psycopg.Error as error:
            return isinstance(from_database(error), BadRequest)
        return False

    async def _once(self, call: Call[T]) -> T:
        async with self._pool.connection(self.timeout) as connection:
            cursor = await connection.execute(call.query, call.arguments)
            return call.read(await cursor.fetchall())
