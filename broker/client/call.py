"""Code that the clients share: a call of the database as a value, and running it on a pool, sync or async.

Each call is one statement in autocommit and leaves no state in the session, so PgBouncer's transaction mode works.

A call whose answer is lost with its connection is sent again, if repeating it does no harm: matching and inserting
carry a request id, for which the database repeats the first answer (for ten minutes). The client sends it until a
server answers, for as long as it is patient: a standby needs some seconds to take over.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import psycopg
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolTimeout

from broker import database
from broker.database import Target
from broker.database_errors import from_database, is_lost, is_moving, is_read_only
from broker.errors import BadRequest, ConnectError
from broker.json_text import json_text

T = TypeVar("T")
Rows = Sequence[tuple[Any, ...]]

# Seconds before a call is sent again: a server that has begun to stop accepts calls that it will not answer.
_PAUSE = 0.25


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


class _Patience:
    """The time for which a call may be tried, from now on."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._sent = 0

    def covers(self, call: Call[Any], error: psycopg.Error) -> bool:
        """Whether to send the call again after an error; the first time regardless of the clock."""
        self._sent += 1
        again = is_read_only(error) or is_moving(error) or (is_lost(error) and call.repeatable)
        return again and (self._sent == 1 or self.lasts)

    @property
    def lasts(self) -> bool:
        """Whether there is time left."""
        return time.monotonic() < self._until


def _failed(pool: ConnectionPool | AsyncConnectionPool) -> int:
    """The number of times that a pool failed to connect so far."""
    return pool.get_stats().get("connections_errors", 0)


def _all_at_work(timeout: float) -> ConnectError:
    return ConnectError(
        f"no connection of the pool was free for {timeout:g} s", "give the client more: connections=..., or timeout=..."
    )


class Client:
    """A setup, and a pool to reach it with: the caller's own, or one of the client's, which `close` closes.

    server: a DSN, a Target of broker.database, an open pool of autocommit connections, or None for the server that the
    environment names (by default the embedded one). Leaving a `with` statement closes the client. timeout: seconds that
    a call waits for a connection while all are in use. patience: seconds for which a call is tried again while no
    server that accepts changes answers: the server restarts, or a standby takes over, which takes Patroni 20 to 40
    seconds. After a lost answer a call is sent at least once more; a call that must not be done twice (`release`) is
    not sent again, unless a standby refused it. Raises ConnectError at once if the server does not answer or refuses
    the login.
    """

    def __init__(
        self,
        setup: str = "default",
        server: str | Target | ConnectionPool | None = None,
        *,
        connections: int = 4,
        timeout: float = 30.0,
        patience: float = 60.0,
    ) -> None:
        self.setup = setup
        self.timeout = timeout
        self.patience = patience
        self._target: Target | None = None
        if isinstance(server, ConnectionPool):
            self._pool = server
        else:
            self._target = server if isinstance(server, Target) else database.resolve(server)
            database.connect(self._target).close()  # a pool would try repeatedly before it reports the reason
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
        """Run one call, and repeat it after a lost connection if that does no harm and while patience lasts.

        Raises a BrokerError: the subclass of its SQLSTATE, ConnectError when no server is there.
        """
        patience, failed = _Patience(self.patience), _failed(self._pool)
        while True:
            try:
                return self._once(call)
            except PoolTimeout as error:
                is_there = self._is_there(patience)
                if is_there and (failed == _failed(self._pool) or not patience.lasts):
                    raise _all_at_work(self.timeout) from error
            except psycopg.Error as error:
                if not patience.covers(call, error):
                    raise from_database(error) from error
                if is_read_only(error):
                    self._pool.drain()  # the other connections lead to the same standby
                elif not is_moving(error):
                    self._pool.check()  # the other connections may also be dead
            time.sleep(_PAUSE)

    def _is_there(self, patience: _Patience) -> bool:
        """Whether a server answers. Raises the reason if none answers before patience ends."""
        if self._target:
            try:
                database.connect(self._target).close()
            except ConnectError:
                if not patience.lasts:
                    raise
                return False
        return True

    def refuses(self, call: Call[Any]) -> bool:
        """Whether the database answers a call with BadRequest; the call's changes are rolled back."""
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
        patience: float = 60.0,
    ) -> None:
        self.setup = setup
        self.timeout = timeout
        self.patience = patience
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
        """Run one call, and repeat it after a lost connection if that does no harm. Raises the errors of Client.run."""
        patience, failed = _Patience(self.patience), _failed(self._pool)
        while True:
            try:
                return await self._once(call)
            except PoolTimeout as error:
                is_there = await self._is_there(patience)
                if is_there and (failed == _failed(self._pool) or not patience.lasts):
                    raise _all_at_work(self.timeout) from error
            except psycopg.Error as error:
                if not patience.covers(call, error):
                    raise from_database(error) from error
                if is_read_only(error):
                    await self._pool.drain()
                elif not is_moving(error):
                    await self._pool.check()
            await asyncio.sleep(_PAUSE)

    async def _is_there(self, patience: _Patience) -> bool:
        """Whether a server answers; see Client._is_there."""
        if self._target:
            try:
                await (await database.connect_async(self._target)).close()
            except ConnectError:
                if not patience.lasts:
                    raise
                return False
        return True

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
