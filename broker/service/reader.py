"""The choice of a server for requests that only read: a standby while it follows closely, otherwise the primary. Once a
second a worker asks the primary for the position of its log, and the standby for the position that it has replayed. The
lag is the time since the primary was first seen ahead of that position: neither the servers' clocks nor an idle
primary matter.
"""

import asyncio
import math
import re
import time
from collections import deque
from contextlib import suppress
from http import HTTPStatus

import msgspec
import psycopg
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests
from starlette.datastructures import Headers
from starlette.requests import Request

from broker.errors import ConnectError
from broker.service.calls import Database
from broker.service.login.cookies import Cookies
from broker.service.problems import LOG, Problem
from broker.service.settings import Settings

EACH = 1.0  # seconds between two looks
_PATIENCE = 2.0  # seconds of a look at one server
_SEEN = 3600  # looks at the primary that are kept
_OWN_CHANGE = 60  # seconds for which a browser's cookie records a change
_DIGITS = 43  # length of a position in a cookie, equal to that of other cookies' values
_PLACE = re.compile(r"[0-9A-F]{1,8}/[0-9A-F]{1,8}")
_READING = ("GET", "HEAD")
_FLUSHED = "select system_identifier, pg_current_wal_flush_lsn()::text from pg_control_system()"
_WRITTEN = "select pg_current_wal_insert_lsn()::text"
_REPLAYED = "select system_identifier, pg_last_wal_replay_lsn()::text, pg_is_in_recovery() from pg_control_system()"
_ELSEWHERE = ("08", "25", "40", "55P03", "57P", "PB002", "PB004", "0A000")
"""SQLSTATEs of a standby that the primary may not have: it is away, a query blocked its replay, a lock that it replays
is held, or the requested row has not arrived yet."""


def place_of(text: str) -> int:
    """A position in the log as a number."""
    assert _PLACE.fullmatch(text)
    high, low = text.split("/")
    return int(high, 16) << 32 | int(low, 16)


class Lag:
    """The lag of a standby, from the observed positions of the primary."""

    def __init__(self) -> None:
        self.replayed = -1
        self._seen: deque[tuple[float, int]] = deque(maxlen=_SEEN)

    def primary(self, place: int, at: float) -> None:
        """Record the position of the primary."""
        if not self._seen or self._seen[-1][1] != place:
            self._seen.append((at, place))

    def standby(self, place: int) -> None:
        """Record the position that the standby has replayed."""
        self.replayed = place
        while self._seen and self._seen[0][1] <= place:
            self._seen.popleft()

    def seconds(self, at: float) -> float:
        """The time since the primary was first seen ahead of the standby; infinite if the standby was never seen."""
        if self.replayed < 0:
            return math.inf
        return at - self._seen[0][0] if self._seen else 0.0


class Reader:
    """The primary, and the standby beside it, if there is one."""

    def __init__(self, primary: Database, settings: Settings, cookies: Cookies) -> None:
        self._primary = primary
        self._standby = None
        if settings.read_dsn is not None:
            self._standby = Database(msgspec.structs.replace(settings, dsn=settings.read_dsn), "--read", standby=True)
        self._limit = settings.read_lag
        self._cookies = cookies
        self._lag = Lag()
        self._fault: str | None = "nobody has looked yet"
        self._system: int | None = None
        self._watch: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Begin to connect and to watch."""
        if self._standby is not None:
            await self._standby.open()
            self._watch = asyncio.create_task(self._look_again_and_again())

    async def close(self) -> None:
        """Stop watching, and close all connections."""
        if self._watch is not None:
            self._watch.cancel()
            with suppress(asyncio.CancelledError):
                await self._watch
        if self._standby is not None:
            await self._standby.close()

    @property
    def lag(self) -> float:
        """Seconds that the standby is behind; 0 without a standby."""
        return self._lag.seconds(time.monotonic()) if self._standby is not None else 0.0

    @property
    def is_used(self) -> bool:
        """Whether the standby is read."""
        return self._standby is not None and self._fault is None and self.lag <= self._limit

    def standby_for(self, request: Request) -> Database | None:
        """The standby, if it may answer a request, or None if the primary must. The primary answers callers that accept
        no old data, and callers whose changes the standby has not replayed.
        """
        return self._standby if self.is_used and not self._must_be_new(request.headers) else None

    def note(self, error: Exception) -> None:
        """Handle an error of the standby: if it does not answer, nobody asks it again before the next check. The
        error of a caller who got no connection of the pool in time is no error of the standby."""
        if isinstance(error, PoolClosed | PoolTimeout | TooManyRequests):
            return
        if isinstance(error, psycopg.OperationalError) and (error.sqlstate or "57P")[:3] == "57P":
            self._judge(str(error).strip())

    async def remember(self, request: Request) -> str | None:
        """The cookie that lets a browser see its own changes; None without a standby or a browser."""
        cookies = self._cookies
        if self._standby is None or request.method in _READING or not cookies.value(request.headers, cookies.session):
            return None
        try:
            [(text,)] = await self._primary.as_login(_WRITTEN)
            place = f"{place_of(text):0{_DIGITS}x}"
        except (psycopg.Error, Problem):  # the change is made, so the primary answers this browser from now on
            place = "f" * _DIGITS
        return cookies.setting(cookies.changed, place, _OWN_CHANGE)

    def _must_be_new(self, headers: Headers) -> bool:
        if "no-cache" in headers.get("cache-control", ""):
            return True
        changed = self._cookies.value(headers, self._cookies.changed)
        if changed is None:
            return False
        try:
            return int(changed, 16) > self._lag.replayed
        except ValueError:
            return True

    async def _look_again_and_again(self) -> None:
        while True:
            await self._poll()
            await asyncio.sleep(EACH)

    async def _poll(self) -> None:
        assert self._standby is not None
        with suppress(psycopg.Error, TimeoutError):  # callers cannot be identified without the primary, so nobody reads
            async with asyncio.timeout(_PATIENCE):
                [(self._system, place)] = await self._primary.as_login(_FLUSHED)
            self._lag.primary(place_of(place), time.monotonic())
        try:
            async with asyncio.timeout(_PATIENCE):
                [(system, place, is_standby)] = await self._standby.as_login(_REPLAYED)
        except (psycopg.Error, TimeoutError) as error:
            self._judge(str(error).strip() or type(error).__name__)
            return
        if is_standby and system == self._system and place is not None:
            self._lag.standby(place_of(place))
            self._judge(None)
        else:
            self._judge("it is not a standby of this primary")

    def _judge(self, fault: str | None) -> None:
        """Use the standby, or stop using it because of a fault. A change is logged."""
        if fault != self._fault:
            LOG.warning("the server of --read %s", f"is not read: {fault}" if fault else "is read")
        self._fault = fault


def may_differ(error: Exception) -> bool:
    """Whether the primary may answer a request that the standby has refused."""
    if isinstance(error, Problem):
        return error.status == HTTPStatus.NOT_FOUND or (
            error.status == HTTPStatus.SERVICE_UNAVAILABLE and error.code != "57014"
        )
    if isinstance(error, psycopg.Error):
        return error.sqlstate is None or error.sqlstate.startswith(_ELSEWHERE)
    return isinstance(error, ConnectError)
