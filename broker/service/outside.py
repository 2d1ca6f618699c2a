"""Endpoints that need no credential, or that are about the service itself."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import LiteralString

import psycopg
from starlette.requests import Request
from starlette.responses import Response

from broker.service import is_loopback, metrics
from broker.service.bodies import JSON
from broker.service.calls import Row
from broker.service.endpoint import Call
from broker.service.models import Health, Token
from broker.service.problems import Problem

_EXCHANGE: LiteralString = "select token, expires_at from resource.exchange_secret(%s, %s, %s)"
_REFUSED = "PB008"
_MAY_LOOK: LiteralString = "select has_table_privilege('monitor.task_queue', 'select')"


async def token(call: Call) -> Token:
    """Exchange the stamp and secret of a pilot for a short token. Raises Problem (429) after many wrong secrets."""
    stamp, tries = hash((call.setup, call.body.stamp)), call.worker.wrong_secrets
    tries.spend(stamp, 0)
    try:
        value, expires_at = await _exchanged(call)
    except psycopg.Error as error:
        if error.sqlstate != _REFUSED or not await call.follow(call.setup):
            if error.sqlstate == _REFUSED:
                tries.spend(stamp)
            raise
        value, expires_at = await _exchanged(call)
    return Token(value, "Bearer", max(0, int((expires_at - datetime.now(UTC)).total_seconds())))


async def _exchanged(call: Call) -> Row:
    """The token and its end. Raises the database's error."""
    values = [call.setup, call.body.stamp, call.body.secret]
    [row] = await call.database.as_login(_EXCHANGE, values, setup=call.setup)
    return row


async def live(_: Call) -> Health:
    """Whether the service runs."""
    return Health("live")


async def ready(call: Call) -> Health:
    """Whether the service runs and the database answers."""
    if not await call.service.database.is_ready():
        raise Problem(503, "the database does not answer")
    return Health("ready")


async def figures(call: Call) -> Response:
    """Metrics, for programs of this machine, and for viewers and operators of the service's setup."""
    setup = call.worker.settings.setup
    with suppress(psycopg.Error, Problem):  # the figures only say that the database is away
        await call.serve(setup)
    if call.worker.settings.behind_proxy or not _is_local(call.request):
        caller = await call.identify(setup)
        if await call.service.database.as_role(caller.role, caller.text, _MAY_LOOK, []) != [(True,)]:
            raise Problem(403, "metrics are for viewers and operators", code="42501")
    text = call.worker.metrics.text() + await call.service.figures.text()
    return Response(text, media_type=metrics.MEDIA_TYPE)


async def openapi(_: Call) -> Response:
    """The description of all endpoints."""
    from broker.service.openapi import text  # the module reads the table of endpoints, which names this function

    return Response(text(), media_type=JSON)


def _is_local(request: Request) -> bool:
    """Whether a program of this machine calls this machine by its own name; a foreign page whose name resolves to this
    machine sends another host name."""
    return request.client is not None and all(map(is_loopback, (request.client.host, request.url.hostname or "")))
