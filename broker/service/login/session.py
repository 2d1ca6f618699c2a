"""The session of a person's browser: one cookie, of which each database that has setups keeps a hash.

Behind a front a person has a session on each shard where a credential fits, so that each shard decides by itself what
the person may do there, and an operator of one of its setups can revoke it.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import LiteralString

import msgspec
import psycopg

from broker.errors import from_database, is_lost
from broker.service.calls import Row
from broker.service.door import Call
from broker.service.login.cookies import csrf, new_value
from broker.service.problems import LOG
from broker.service.tokens import digest
from broker.service.worker import Service, Worker

_OPEN: LiteralString = "select resource.open_session(%s, %s::jsonb, %s)"
_USE: LiteralString = "select resource.use_ticket(%s, %s)"
_CLOSE: LiteralString = "select resource.close_session(%s)"
_SESSION: LiteralString = "select subject, expires_at, setups from resource.session_of(%s)"
_PATIENCE = 2.0  # seconds that a database has
_FITS_NOT = "PB002"


class Setup(msgspec.Struct):
    """A setup, and the role of the person in it."""

    setup: str
    kind: str


class Session(msgspec.Struct):
    """Who is logged in. csrf: what each call that may change something shows in the header X-CSRF-Token.

    is_partial: a database did not answer, so that its setups are missing.
    """

    subject: str
    expires_at: datetime
    setups: list[Setup]
    csrf: str
    is_partial: bool = False


class Opened(msgspec.Struct):
    """A new session: its cookie, and when it ends."""

    cookie: str
    expires_at: datetime


async def open_session(worker: Worker, login: str, claims: str) -> Opened:
    """A session of verified claims, wherever a credential fits; login: sha256 of the login, in hex.

    Raises the database's error where none does: PB002, PB008 (the login has been used).
    """
    cookie = new_value()
    ends, refusals = await _each(await worker.all(), _OPEN, login, claims, digest(cookie))
    for refusal in refusals:
        if not ends or refusal.sqlstate != _FITS_NOT:
            await close_session(worker, cookie)
            raise refusal
    return Opened(cookie, min(end for [(end,)] in ends))


async def use_ticket(worker: Worker, ticket: str) -> Opened:
    """A session for a ticket, where it was made. Raises the database's error: PB008 where it is not known."""
    cookie = new_value()
    ends, refusals = await _each(await worker.all(), _USE, ticket, digest(cookie))
    if not ends:
        raise refusals[0]
    [[(expires_at,)]] = ends
    return Opened(cookie, expires_at)


async def close_session(worker: Worker, cookie: str) -> None:
    """Close a session everywhere. A shard that is away keeps it until it ends."""
    await _each(await worker.all(), _CLOSE, digest(cookie))


async def session_of(call: Call) -> Session | None:
    """The session of a request's cookie, in the database that serves the request; None: nobody is logged in."""
    cookie = _cookie(call)
    return await _session(cookie, [call.service]) if cookie else None


async def session_everywhere(call: Call) -> Session | None:
    """The session of a request's cookie, with the setups of all databases; None: nobody is logged in."""
    cookie = _cookie(call)
    return await _session(cookie, await call.worker.all()) if cookie else None


def _cookie(call: Call) -> str | None:
    cookies = call.worker.cookies
    return cookies.value(call.request.headers, cookies.session)


async def _session(cookie: str, services: Sequence[Service]) -> Session | None:
    found, _ = await _each(services, _SESSION, digest(cookie))
    rows = [row for some in found for row in some]
    if not rows:
        return None
    setups = [one for _, _, listed in rows for one in msgspec.json.decode(listed, type=list[Setup])]
    return Session(
        rows[0][0],
        min(expires_at for _, expires_at, _ in rows).astimezone(UTC),
        sorted(setups, key=lambda one: one.setup),
        csrf(cookie),
        is_partial=len(found) < len(services),
    )


async def _each(
    services: Sequence[Service], statement: LiteralString, *values: str
) -> tuple[list[list[Row]], list[psycopg.Error]]:
    """The answers and the refusals of databases. One that is away gives neither. Raises its error where all are."""
    found = await asyncio.gather(*(_ask(service, statement, *values) for service in services))
    refusals = [one for one in found if isinstance(one, psycopg.Error)]
    away = [error for error in refusals if error.sqlstate is None or is_lost(error)]
    if len(away) == len(services):
        raise away[0]
    for error in away:
        LOG.warning("a shard is away: %s", from_database(error).message)
    return [one for one in found if isinstance(one, list)], [error for error in refusals if error not in away]


async def _ask(service: Service, statement: LiteralString, *values: str) -> list[Row] | psycopg.Error:
    try:
        async with asyncio.timeout(_PATIENCE):
            return await service.database.as_login(statement, values)
    except psycopg.Error as error:
        return error
    except TimeoutError:
        return psycopg.OperationalError(f"no answer within {_PATIENCE:g} s")
