"""Endpoints for agents: match, report, finish, exchange, release."""

from typing import Any, LiteralString, TypeVar
from uuid import UUID, uuid4, uuid5

import msgspec
import psycopg
from starlette.responses import Response

from broker.errors import BadRequest
from broker.service.bodies import JSON
from broker.service.calls import Row
from broker.service.endpoint import Call
from broker.service.matching import wanted_of
from broker.service.models import (
    Exchanged,
    Finished,
    ItemError,
    Match,
    Matches,
    MatchRequest,
    Release,
    Released,
    Reported,
)
from broker.service.problems import Problem, encoded, of_error
from broker.service.reports import FINISH, REPORT, Reporter
from broker.translate import translated_description

_RELEASE: LiteralString = "select taskqueue.release_job(%s, %s, %s)"
_RELEASES = 1000
T = TypeVar("T", Reported, Finished)

WAIT = 30
"""Seconds after which an agent without a match may ask again."""


async def match(call: Call) -> Matches | Response:
    """Jobs for a resource, or 204 if no job fits now."""
    wanted = call.body
    request_id, resources = call.match_id(wanted.request_id), _resources(wanted)
    if wanted.wait:
        repeats = call.repeat_id(wanted.request_id) is not None
        found = await _waited(call, request_id, resources, repeats=repeats)
    else:
        found = await call.service.matcher.match(call.caller, request_id, resources, wanted.n)
    return Matches(found) if found else Response(status_code=204, headers=_later(wanted))


async def exchange(call: Call) -> Response:
    """End jobs, and get jobs for a resource: in one transaction if jobs are there at once. Otherwise the ends are
    committed before the call waits."""
    asked = call.body
    ends_id, resources = call.repeat_id(asked.request_id), _resources(asked)
    request_id = uuid5(ends_id, "match") if ends_id else uuid4()
    wanted = wanted_of(call.caller, request_id, resources, asked.n)
    ended, found = await call.service.exchanger.exchange(call.caller, asked.ends, ends_id, wanted)
    if asked.wait and not found:
        found = await _waited(call, request_id, resources, repeats=False)  # the exchange has asked
    answer = encoded(Exchanged([Finished(*row) for row in ended], found))
    return Response(answer, media_type=JSON, headers=None if found else _later(asked))


def _resources(wanted: MatchRequest) -> list[Any]:
    return [described(f"resources[{number}]", one) for number, one in enumerate(wanted.resources)]


async def _waited(call: Call, request_id: UUID, resources: list[Any], *, repeats: bool) -> list[Match]:
    return await call.service.waiting.match(
        call.caller, request_id, resources,
        n=call.body.n, wait=call.body.wait, repeats=repeats, gone=call.gone, check=call.require_credential,
    )  # fmt: skip


def _later(wanted: MatchRequest) -> dict[str, str]:
    return {"Retry-After": str(max(1, WAIT - int(wanted.wait)))}


def described(place: str, given: Any) -> Any:
    """A resource description, also of a node of DiracX, with plain numbers. Raises Problem."""
    try:
        return msgspec.to_builtins(translated_description(given), enc_hook=float)
    except BadRequest as error:
        raise Problem(422, f"{place}: {error.message}", code="PB001", hint=error.hint, key=place) from None


async def report(call: Call) -> list[Reported]:
    """Reports on many jobs, each with an answer."""
    return await _each(call, call.service.reports, REPORT, Reported)


async def finish(call: Call) -> list[Finished]:
    """Ends of many jobs, each with an answer."""
    return await _each(call, call.service.ends, FINISH, Finished)


async def _each(call: Call, reporter: Reporter, statement: LiteralString, answer: type[T]) -> list[T]:
    """An answer to each notice of a call. A single one shares a call of the database with those of other callers."""
    if len(call.body) == 1:
        return [answer(*await reporter.answer(call.caller, call.body[0]))]
    return [answer(*row) for row in await call.rows(statement, call.setup, msgspec.json.encode(call.body).decode())]


async def release(call: Call) -> list[Released]:
    """Give back jobs, each in a transaction of its own: a stale one does not affect the others."""
    jobs: list[Release] = call.body
    if len(jobs) > _RELEASES:
        raise Problem(422, f"{len(jobs)} jobs in one call", code="PB001", hint=f"A call takes up to {_RELEASES} jobs.")
    each = [(call.setup, job.job_id, job.attempt) for job in jobs]
    answers = await call.each(_RELEASE, each)
    return [_released(job, answer) for job, answer in zip(jobs, answers, strict=True)]


def _released(job: Release, answer: list[Row] | psycopg.Error) -> Released:
    if isinstance(answer, psycopg.Error):
        return Released(job.job_id, False, None, item_error(answer))
    task_queue_id = answer[0][0]
    return Released(job.job_id, task_queue_id is not None, task_queue_id, None)


def item_error(error: psycopg.Error) -> ItemError:
    """The reason why one of many items was refused. Raises the refusal if it concerns the whole call."""
    found = of_error(error)
    if found.status in (403, 500, 503):
        raise found
    return ItemError(found.code, found.detail, found.hint)
