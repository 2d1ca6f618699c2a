"""The session of a person's browser: one cookie, whose hash is in each database that has setups.

Behind a front a person has a session on each shard where a credential fits, so that each shard decides by itself about
the person's rights there, and an operator of one of its setups can revoke it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import LiteralString

import msgspec
import psycopg

from broker.database_errors import is_lost
from broker.service.calls import Row
from broker.service.endpoint import Call
from broker.service.login.cookies import csrf, new_value
from broker.service.tokens import digest
from broker.service.worker import Service, Worker

_OPEN: LiteralString = "select resource.open_session(%s, %s::jsonb, %s)"
_USE: LiteralString = "select resource.use_ticket(%s, %s)"
_CLOSE: LiteralString = "select resource.close_session(%s)"
_SESSION: LiteralString = "select subject, expires_at, setups from resource.session_of(%s)"
_PATIENCE = 2.0  # seconds to wait for the answer of one of several databases
_CONNECTING = 10.0  # seconds to wait for the first connection to a shard
_FITS_NOT, _IS_UNKNOWN = "PB002", "PB008"
# Running questions whose answers nobody waits for any longer: a session that a slow shard opens late is still valid
# there.
_LATE: set[asyncio.Task[list[Row] | psycopg.Error]] = set()


class Setup(msgspec.Struct):
    """A setup, and the role of the person in it."""

    setup: str
    kind: str


class Session(msgspec.Struct):
    """A logged-in person. csrf: the token that each call that may change something shows in the header X-CSRF-Token.
    is_partial: a database did not answer, so its setups are missing.
    """

    subject: str
    expires_at: datetime
    setups: list[Setup]
    csrf: str
    is_partial: bool = False


class Opened(msgspec.Struct):
    """A new session: its cookie, and its end."""

    cookie: str
    expires_at: datetime


async def open_session(worker: Worker, login: str, claims: str) -> Opened:
    """Open a session for verified claims in each database where a credential fits; login: sha256 of the login, in hex.
    Raises the database's error if none fits: PB002, PB008 (the login has been used).
    """
    cookie = new_value()
    found = await _each(await worker.all(), _OPEN, login, claims, digest(cookie))
    ends = [end for [(end,)] in found.answers]
    for refusal in found.refusals:
        if not ends or refusal.sqlstate != _FITS_NOT:
            await close_session(worker, cookie)
            raise refusal
    return Opened(cookie, min(ends))


async def use_ticket(worker: Worker, ticket: str) -> Opened:
    """Open a session for a ticket in the database that made the ticket. Raises the database's error PB008 if the ticket
    is not known."""
    cookie = new_value()
    found = await _each(await worker.all(), _USE, ticket, digest(cookie))
    ends = [end for [(end,)] in found.answers]
    if not ends:
        refusals = [refusal for refusal in found.refusals if refusal.sqlstate != _IS_UNKNOWN]
        raise [*refusals, *found.away, *found.refusals][0]
    return Opened(cookie, min(ends))


async def close_session(worker: Worker, cookie: str) -> None:
    """Close a session everywhere. A shard that is away keeps it until it ends."""
    found = await _each(await worker.all(), _CLOSE, digest(cookie))
    for refusal in found.refusals:
        raise refusal


async def session_of(call: Call) -> Session | None:
    """The session of a request's cookie, in the database that serves the request; None if nobody is logged in."""
    cookie = _cookie(call)
    return await _session(cookie, [call.service]) if cookie else None


async def session_everywhere(call: Call) -> Session | None:
    """The session of a request's cookie, with the setups of all databases; None if nobody is logged in."""
    cookie = _cookie(call)
    return await _session(cookie, await call.worker.all()) if cookie else None


def _cookie(call: Call) -> str | None:
    cookies = call.worker.cookies
    return cookies.value(call.request.headers, cookies.session)


async def _session(cookie: str, services: Sequence[Service]) -> Session | None:
    found = await _each(services, _SESSION, digest(cookie))
    for refusal in found.refusals:
        raise refusal
    rows = [row for answer in found.answers for row in answer]
    if not rows:
        return None
    listed = (one for _, _, setups in rows for one in msgspec.json.decode(setups, type=list[Setup]))
    setups = {one.setup: one for one in listed}  # a moving setup is on two shards for a moment
    end = min(expires_at for _, expires_at, _ in rows).astimezone(UTC)
    kept = [setups[name] for name in sorted(setups)]
    return Session(rows[0][0], end, kept, csrf(cookie), is_partial=bool(found.away))


@dataclass
class _Found:
    """The answers and refusals of databases, and the errors of databases that are away."""

    answers: list[list[Row]]
    refusals: list[psycopg.Error]
    away: list[psycopg.Error]


async def _each(services: Sequence[Service], statement: LiteralString, *values: str) -> _Found:
    """Ask databases. If all are away, raises the error of one of them."""
    several = len(services) > 1
    asked = [asyncio.create_task(_ask(one, statement, values, _CONNECTING if several else None)) for one in services]
    await asyncio.wait(asked, timeout=_PATIENCE if several else None)
    found = _Found([], [], [])
    for service, task in zip(services, asked, strict=True):
        answer = task.result() if task.done() else psycopg.OperationalError(f"no answer within {_PATIENCE:g} s")
        if isinstance(answer, list):
            found.answers.append(answer)
        elif answer.sqlstate is None or is_lost(answer):
            found.away.append(answer)
        else:
            found.refusals.append(answer)
        service.note(answer if answer in found.away else None)
        if not task.done():  # the question ends by itself as soon as its server answers
            _LATE.add(task)
            task.add_done_callback(_LATE.discard)
    if len(found.away) == len(services):
        raise found.away[0]
    return found


async def _ask(
    service: Service, statement: LiteralString, values: Sequence[str], patience: float | None
) -> list[Row] | psycopg.Error:
    try:
        return await service.database.as_login(statement, values, patience)
    except psycopg.Error as error:
        return error
