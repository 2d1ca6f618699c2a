"""The only module that talks to the database. A call for a caller is one transaction: the role and the subject are set
for that transaction, then the statement runs. All parts are sent together, so that a call costs one round trip. Texts
of statements are constants; values are parameters.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import Any, LiteralString, TypeVar

import msgspec
import psycopg
from psycopg import IsolationLevel
from psycopg.pq import TransactionStatus
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool

from broker import database
from broker.database_errors import is_lost, is_moving, is_read_only
from broker.service.places import Places
from broker.service.settings import Settings

Row = tuple[Any, ...]


class Rows(list[Row]):
    """Rows of a statement."""

    def __init__(self, rows: list[Row], cursor: psycopg.AsyncCursor[Any]) -> None:
        super().__init__(rows)
        self._cursor = cursor

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self._cursor.description or ()]


T = TypeVar("T")
Connection = psycopg.AsyncConnection[Any]
ActAs = tuple[LiteralString, list[str]]
"""The statement that makes a transaction act for a caller, and its values."""
Statement = tuple[LiteralString, Sequence[object]]
"""A statement and its values."""

_WAIT = 1.0  # seconds that a call waits for a connection
_LONGEST = 60.0  # seconds of a call of many statements
_UNDONE = 3  # simultaneous calls of many statements: each has a connection of its own, and keeps a processor busy
_READY = 2.0  # seconds within which a ready database answers
STATEMENT = 30
"""Seconds after which a statement is cancelled."""
IS_SERVICE: LiteralString = "select resource.is_service()"
_BEGIN: LiteralString = "begin isolation level repeatable read"
_ACT_AS: LiteralString = (
    "select set_config('role', %s, true), set_config('pgbroker.subject', %s, true),"
    " set_config('statement_timeout', %s || 's', true)"
)
# The lock of an upgrade that a standby replays can wait for the snapshots of readers that wait for the lock.
_ACT_AS_ON_A_STANDBY: LiteralString = _ACT_AS + ", set_config('lock_timeout', '1s', true)"
# Reading a view is not refused automatically by a database from which the setup has moved.
_ACT_AS_ON_A_SHARD: LiteralString = _ACT_AS + ", resource.refuse_moved(%s)"


class _Subject(msgspec.Struct):
    setup: str


def _setup(subject: str) -> str:
    return msgspec.json.decode(subject, type=_Subject).setup


async def _configure(connection: Connection) -> None:
    """JSON of the database goes to the caller unchanged. The subject of a call counts only for the service's login."""
    set_json_loads(msgspec.Raw, connection)
    if await (await connection.execute(IS_SERVICE)).fetchone() != (True,):
        raise psycopg.OperationalError(f"{connection.info.user} is not the login of the service")


class Database:
    """Connections of the service's login: a pool for calls, and one of half the size for pages.

    of_shard: setups may move away from the database. standby: only reads, and soon gives up waiting for a lock. doubt:
    called when a call finds that a setup has moved, or that the server is away.
    """

    def __init__(
        self,
        settings: Settings,
        source: str = "--dsn",
        *,
        of_shard: bool = False,
        standby: bool = False,
        doubt: Callable[[], None] = lambda: None,
    ) -> None:
        self._of_shard = of_shard
        self._act = _ACT_AS_ON_A_STANDBY if standby else _ACT_AS
        self._doubt = doubt
        self._target = database.Target(settings.dsn, source, settings.prepare)
        self.pool: AsyncConnectionPool = database.pool_async(
            self._target, min_size=1, max_size=settings.connections, configure=_configure
        )
        half = settings.connections // 2
        # A page has many statements, which a connection plans each time until it has run each of them several times.
        # The pool of calls notices when a server is back; this pool connects when a page asks.
        self._looks: AsyncConnectionPool = database.pool_async(
            self._target, min_size=0, max_size=max(1, half), configure=_configure, reconnect=0
        )
        self._pools = (self.pool, self._looks)
        self._checking: asyncio.Task[None] | None = None
        self._calls = Places(max(1, settings.connections - 1))  # one connection is left for looking up callers
        self._long_calls = Places(half + 1)
        self._undone_calls = Places(_UNDONE)

    async def open(self) -> None:
        """Begin to connect. The service starts even if the database is away."""
        for pool in self._pools:
            await pool.open(wait=False)

    async def close(self) -> None:
        """Close all connections."""
        for pool in self._pools:
            await pool.close()

    @property
    def in_use(self) -> int:
        """The number of connections in use."""
        stats = [pool.get_stats() for pool in self._pools]
        return sum(one.get("pool_size", 0) - one.get("pool_available", 0) for one in stats)

    @asynccontextmanager
    async def long_call(self, setup: str, patience: float = _WAIT) -> AsyncIterator[None]:
        """A place among the long calls, which leave connections to the others. Raises PoolTimeout if the setup gets
        none within this many seconds."""
        async with self._long_calls.one_for(setup, patience):
            yield

    @asynccontextmanager
    async def _connection(self, subject: str) -> AsyncIterator[Connection]:
        """A connection of the pool for somebody, whose setup leaves some to the others."""
        async with self._calls.one_for(_setup(subject), _WAIT), self.pool.connection(_WAIT) as connection:
            yield connection

    async def as_login(
        self,
        statement: LiteralString,
        values: Sequence[object] = (),
        patience: float | None = None,
        setup: str | None = None,
    ) -> list[Row]:
        """Rows of a statement that the service's login runs with its own role. patience: seconds to wait for a
        connection. setup: whose part of the connections it takes; None = it is for callers of all setups."""
        place = self._calls.one_for(setup, _WAIT) if setup is not None else nullcontext()
        async with place, self.pool.connection(patience or _WAIT) as connection:
            # A statement of one round trip has no transaction in which a bound could be set.
            try:
                async with asyncio.timeout(STATEMENT):
                    return await (await connection.execute(statement, values)).fetchall()
            except TimeoutError:
                lost = psycopg.OperationalError if connection.closed else psycopg.errors.QueryCanceled
                error = lost(f"no answer within {STATEMENT} s")
                await self._look_at_the_others(connection, error)
                raise error from None
            except psycopg.Error as error:
                await self._look_at_the_others(connection, error)
                raise

    async def as_role(
        self, role: str, subject: str, statement: LiteralString, values: Sequence[object], seconds: int = STATEMENT
    ) -> Rows:
        """Rows of a statement that runs with somebody's role, in a transaction of its own. It is cancelled after this
        many seconds."""
        async with self._connection(subject) as connection:
            act_as = self._act_as(role, subject, seconds)
            return (await self._transaction(connection, act_as, [(statement, values)]))[0]

    async def all_as_role(
        self, role: str, subject: str, statements: Sequence[Statement], check: Callable[[list[Rows]], None] | None
    ) -> list[Rows]:
        """The rows of each statement; all run with somebody's role in one transaction. check: raises an error if these
        rows mean that nothing shall happen; without it, all are sent together."""
        async with self._connection(subject) as connection:
            return await self._transaction(connection, self._act_as(role, subject), statements, check)

    @asynccontextmanager
    async def read_transaction(self, role: str, subject: str) -> AsyncIterator["ReadTransaction"]:
        """Statements that run with somebody's role one after the other, all in one transaction."""
        async with self._looks.connection(_WAIT) as connection:
            reading = ReadTransaction(connection, *self._act_as(role, subject))
            try:
                yield reading
            except psycopg.Error as error:
                await self._look_at_the_others(connection, error)
                raise
            finally:
                await reading.end()
                # nothing was written, but after a rollback psycopg prepares all statements again
                if connection.info.transaction_status == TransactionStatus.INTRANS:
                    await connection.commit()
                elif connection.info.transaction_status != TransactionStatus.UNKNOWN:
                    await connection.rollback()

    async def each_as_role(
        self, role: str, subject: str, statement: LiteralString, each: Sequence[Sequence[object]]
    ) -> list[list[Row] | psycopg.Error]:
        """The rows, or the error, of a statement for each list of values, each in its own transaction. Raises the error
        of a lost connection, after which the results of the others are unknown.
        """
        answers: list[list[Row] | psycopg.Error] = []
        act_as = self._act_as(role, subject)
        async with self._connection(subject) as connection:
            for values in each:
                try:
                    answers += await self._transaction(connection, act_as, [(statement, values)])
                except psycopg.Error as error:
                    if connection.closed or error.sqlstate is None or error.sqlstate[:2] == "57":
                        raise
                    answers.append(error)
        return answers

    async def steps_as_role(self, role: str, subject: str, run: Callable[[Connection], Awaitable[T]]) -> T:
        """The result of a function of several statements with somebody's role, in one transaction. An error undoes all
        of them."""
        async with self._connection(subject) as connection:
            try:
                async with connection.transaction():
                    await connection.execute(*self._act_as(role, subject))
                    return await run(connection)
            except psycopg.Error as error:
                await self._look_at_the_others(connection, error)
                raise

    async def undone_as_role(
        self, role: str, subject: str, run: Callable[[psycopg.Connection[Any]], T], longest: float | None = None
    ) -> T:
        """The result of a function of many statements with somebody's role, in one snapshot that is rolled back.
        The function has a thread and a connection of its own. After this many seconds, by default a minute, its
        statement is cancelled. Raises PoolTimeout if two such functions of the setup, or three of all, are at work.
        """
        async with self._undone_calls.one_for(_setup(subject), _WAIT):
            return await self.undone_beside(role, subject, run, longest or _LONGEST)

    async def undone_beside(
        self, role: str, subject: str, run: Callable[[psycopg.Connection[Any]], T], patience: float = _LONGEST
    ) -> T:
        """As undone_as_role, for a function of the service's own, of which one is at work at a time."""
        connection = await asyncio.to_thread(database.connect, self._target)
        work = asyncio.create_task(asyncio.to_thread(_undone, connection, self._act_as(role, subject), run))
        try:
            while not (await asyncio.wait([work], timeout=patience))[0]:
                await asyncio.to_thread(connection.cancel)
                patience = _WAIT
        except asyncio.CancelledError:  # otherwise an ending service would wait for the thread
            connection.cancel()
            raise
        try:
            return work.result()
        except psycopg.Error as error:
            self._note(error)
            raise

    def _act_as(self, role: str, subject: str, seconds: int = STATEMENT) -> ActAs:
        values = [role, subject, str(seconds)]
        return (_ACT_AS_ON_A_SHARD, [*values, _setup(subject)]) if self._of_shard else (self._act, values)

    async def is_ready(self) -> bool:
        """Whether the database answers in time."""
        try:
            async with asyncio.timeout(_READY):
                await self.as_login("select 1")
        except (psycopg.Error, TimeoutError):
            return False
        return True

    async def _transaction(
        self,
        connection: Connection,
        act_as: ActAs,
        statements: Sequence[Statement],
        check: Callable[[list[Rows]], None] | None = None,
    ) -> list[Rows]:
        try:
            async with connection.pipeline():
                await connection.execute("begin")
                await connection.execute(*act_as)
                cursors = [await connection.execute(*statement) for statement in statements]
                if check is None:
                    await connection.execute("commit")
            found = [Rows(await cursor.fetchall(), cursor) for cursor in cursors]
            if check is not None:
                check(found)
                await connection.commit()
            return found
        except psycopg.Error as error:
            await self._look_at_the_others(connection, error)
            raise
        finally:
            if connection.info.transaction_status not in (TransactionStatus.IDLE, TransactionStatus.UNKNOWN):
                await connection.rollback()

    async def _look_at_the_others(self, connection: Connection, error: psycopg.Error) -> None:
        """Replace the other connections that are also dead, or that also lead to a standby."""
        self._note(error)
        if is_read_only(error):
            await connection.close()
        if connection.closed and (self._checking is None or self._checking.done()):
            self._checking = asyncio.create_task(self._renew(is_read_only(error)))

    async def _renew(self, all_of_them: bool) -> None:
        for pool in self._pools:
            await (pool.drain() if all_of_them else pool.check())

    def _note(self, error: psycopg.Error) -> None:
        if is_moving(error) or is_lost(error):
            self._doubt()


class ReadTransaction:
    """Statements of one transaction, which see one snapshot. The transaction begins with the first statement.
    Statements that are requested at the same time are sent together: while agents keep the worker busy, each round trip
    waits for its turn. The statements are prepared at once: planning a view that is made of many views takes longer
    than reading it, and a page uses a connection too seldom for its statements to be prepared by their number of calls.
    """

    def __init__(self, connection: Connection, *act_as: *ActAs) -> None:
        self._connection = connection
        self._act_as = act_as
        self._has_begun = False
        self._asked: list[tuple[LiteralString, Sequence[object], asyncio.Future[Rows]]] = []
        self._work: asyncio.Task[None] | None = None

    async def rows(self, statement: LiteralString, values: Sequence[object]) -> Rows:
        """Rows of a statement."""
        future: asyncio.Future[Rows] = asyncio.get_running_loop().create_future()
        self._asked.append((statement, values, future))
        if self._work is None:
            self._work = asyncio.create_task(self._send())
        return await future

    async def end(self) -> None:
        """Wait for running statements."""
        if self._work is not None:
            await asyncio.wait([self._work])

    async def _send(self) -> None:
        while self._asked:
            asked, self._asked = self._asked, []
            try:
                answers = await self._answers([(statement, values) for statement, values, _ in asked])
            except Exception as error:  # it ends the transaction, and so all requested statements
                for _, _, future in asked:
                    if not future.done():
                        future.set_exception(error)
            else:
                for (_, _, future), answer in zip(asked, answers, strict=True):
                    if not future.done():
                        future.set_result(answer)
        self._work = None

    async def _answers(self, asked: Sequence[tuple[LiteralString, Sequence[object]]]) -> list[Rows]:
        async with self._connection.pipeline():
            if not self._has_begun:
                await self._connection.execute(_BEGIN)
                await self._connection.execute(*self._act_as)
                self._has_begun = True
            cursors = [await self._connection.execute(statement, values, prepare=True) for statement, values in asked]
        return [Rows(await cursor.fetchall(), cursor) for cursor in cursors]


def _undone(connection: psycopg.Connection[Any], act_as: ActAs, run: Callable[[psycopg.Connection[Any]], T]) -> T:
    with connection:
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        with connection.transaction(force_rollback=True):
            connection.execute(*act_as)
            return run(connection)
