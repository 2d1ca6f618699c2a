"""Matching: requests of one group that arrive at the same time are one call of taskqueue.match_many. A request that
comes alone, for one job and one resource, costs the database half of that as a call of taskqueue.match_with_payload."""

from collections.abc import Callable, Sequence
from typing import Any, LiteralString
from uuid import UUID

import msgspec
import psycopg

from broker.service.callers import Caller, Group, acting_for
from broker.service.calls import Database, Row, Statement
from broker.service.collector import Bounds, Collector
from broker.service.models import Match
from broker.service.problems import Problem, of_code, of_error

_MATCH_MANY: LiteralString = (
    "select m.request, m.job_id, m.task_queue_id, m.requirements, m.user_priority, m.attempt, m.error, m.payload,"
    " case when m.requirements ? 'MaxNumberOfProcessors'"
    " then taskqueue.processors_given(m.requirements, a.requests -> (m.request - 1) -> 'resources') end"
    " from (values (%s::jsonb)) a (requests) cross join taskqueue.match_many(%s, a.requests) m"
)
_MATCH_ONE: LiteralString = (
    "select 1, m.job_id, m.task_queue_id, m.requirements, m.user_priority, m.attempt, null, m.payload,"
    " case when m.requirements ? 'MaxNumberOfProcessors'"
    " then taskqueue.processors_given(m.requirements, a.resource) end"
    " from (values (%s::jsonb)) a (resource) cross join taskqueue.match_with_payload(%s, a.resource, %s) m"
)
_REQUESTS, _JOBS, _BYTES = 200, 1000, 4 * 2**20


class Wanted(msgspec.Struct, frozen=True):
    """A request in the form that the database takes: `text` is its JSON. only: the JSON of its resource, if it asks for
    one job and one resource."""

    request_id: UUID
    subject: str
    n: int
    text: bytes
    only: str | None


def wanted_of(caller: Caller, request_id: UUID, resources: Sequence[Any], n: int) -> Wanted:
    """A request of a caller."""
    name = caller.subject.name
    each = [msgspec.Raw(msgspec.json.encode(one)) for one in resources]
    text = msgspec.json.encode({"resources": each, "n": n, "request_id": request_id, "subject": name})
    return Wanted(request_id, name, n, text, bytes(each[0]).decode() if n == len(each) == 1 else None)


def call_of(group: Group, wanted: Sequence[Wanted]) -> tuple[str, Statement]:
    """The subject that asks for these requests, and the statement that serves them; see answers_of."""
    setup, first = group[0], wanted[0]
    if is_alone(wanted):
        return acting_for(group, first.subject), (_MATCH_ONE, [first.only, setup, first.request_id])
    requests = b"[" + b",".join(one.text for one in wanted) + b"]"
    return acting_for(group), (_MATCH_MANY, [requests.decode(), setup])


def is_alone(wanted: Sequence[Wanted]) -> bool:
    """Whether a request is served by a call that raises its refusal as an error."""
    return len(wanted) == 1 and wanted[0].only is not None


def answers_of(rows: Sequence[Row], number: int) -> list[list[Match] | Exception]:
    """The jobs, or the refusal, of each of this many requests."""
    answers: list[list[Match] | Exception] = [[] for _ in range(number)]
    for request, job_id, task_queue_id, requirements, user_priority, attempt, refused, payload, processors in rows:
        if refused is not None:
            answers[request - 1] = _refusal(refused)
            continue
        jobs = answers[request - 1]
        assert isinstance(jobs, list)
        match = Match(job_id, attempt, task_queue_id, requirements, user_priority)
        if payload is not None:
            match.payload = payload
        if processors is not None:
            match.processors = processors
        jobs.append(match)
    return answers


class Matcher:
    """Collects requests of each group into calls."""

    def __init__(self, database: Database, note: Callable[[int], None]) -> None:
        self._database = database
        # the weight of a request is its number of jobs or its length, whichever is the larger part of the limit
        limits = (_REQUESTS, lambda w: max(w.n, len(w.text) * _JOBS // _BYTES), _JOBS, lambda w: w.request_id)
        bounds = Bounds[Wanted](*limits)
        self._collector: Collector[Group, Wanted, list[Match]] = Collector(self._send, bounds, note=note)

    async def match(self, caller: Caller, request_id: UUID, resources: Sequence[Any], n: int) -> list[Match]:
        """The jobs for a request. Raises Problem."""
        return await self._collector.ask(caller.group, wanted_of(caller, request_id, resources, n))

    async def _send(self, group: Group, wanted: Sequence[Wanted]) -> list[list[Match] | Exception]:
        subject, statement = call_of(group, wanted)
        try:
            rows = await self._database.as_role(group[1], subject, *statement)
        except psycopg.Error as error:
            found = of_error(error)
            if len(wanted) > 1 and found.status == 422:  # one of the requests makes the whole call fail
                return [(await self._send(group, [one]))[0] for one in wanted]
            return [found] * len(wanted)
        return answers_of(rows, len(wanted))


def _refusal(error: Any) -> Problem:
    found = msgspec.json.decode(error)
    return of_code(found["code"], found["message"], found.get("hint"))
