"""Matching: requests of one group that arrive at the same time are one call of taskqueue.match_many. A request that
comes alone, for one job and one resource, costs the database half of that as a call of taskqueue.match_with_payload."""

from collections.abc import Callable, Sequence
from typing import Any, LiteralString
from uuid import UUID

import msgspec
import psycopg

from broker.service.callers import Caller, Group, acting_for
from broker.service.calls import Database
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
    only: bytes | None


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
        name = caller.subject.name
        each = [msgspec.Raw(msgspec.json.encode(one)) for one in resources]
        text = msgspec.json.encode({"resources": each, "n": n, "request_id": request_id, "subject": name})
        only = bytes(each[0]) if n == len(each) == 1 else None
        return await self._collector.ask(caller.group, Wanted(request_id, name, n, text, only))

    async def _send(self, group: Group, wanted: Sequence[Wanted]) -> list[list[Match] | Exception]:
        try:
            rows = await self._database.as_role(group[1], *_call(group, wanted))
        except psycopg.Error as error:
            found = of_error(error)
            if len(wanted) > 1 and found.status == 422:  # one of the requests makes the whole call fail
                return [(await self._send(group, [one]))[0] for one in wanted]
            return [found] * len(wanted)
        answers: list[list[Match] | Exception] = [[] for _ in wanted]
        for number, job_id, task_queue_id, requirements, user_priority, attempt, refused, payload, processors in rows:
            if refused is not None:
                answers[number - 1] = _refusal(refused)
                continue
            jobs = answers[number - 1]
            assert isinstance(jobs, list)
            match = Match(job_id, attempt, task_queue_id, requirements, user_priority)
            if payload is not None:
                match.payload = payload
            if processors is not None:
                match.processors = processors
            jobs.append(match)
        return answers


def _call(group: Group, wanted: Sequence[Wanted]) -> tuple[str, LiteralString, list[object]]:
    """The subject, the statement and the values of the call for these requests."""
    setup, first = group[0], wanted[0]
    if len(wanted) == 1 and first.only is not None:
        return acting_for(group, first.subject), _MATCH_ONE, [first.only.decode(), setup, first.request_id]
    requests = b"[" + b",".join(one.text for one in wanted) + b"]"
    return acting_for(group), _MATCH_MANY, [requests.decode(), setup]


def _refusal(error: Any) -> Problem:
    found = msgspec.json.decode(error)
    return of_code(found["code"], found["message"], found.get("hint"))
