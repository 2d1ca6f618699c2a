"""The client of a JobAgent: ask for a job, report on it, end it. Sync (JobAgent) and async (AsyncJobAgent).

    with JobAgent("default") as agent:
        match = agent.match({"Site": "LCG.CERN.cern", "CPUTime": 86400, "Platform": "x86_64_v2-any"})
        if match:
            start(match.job_id)  # your program
            if agent.report(match).action == "kill":
                stop(match.job_id)
            agent.finish(match)

The database decides (schema taskqueue, DRAWING.md); errors are those of broker.errors.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, TypedDict

from psycopg.types.json import Jsonb

from broker.client.call import AsyncClient, Call, Client, Rows, jsonb, only
from broker.errors import BrokerError, of_sqlstate

Outcome = Literal["finished", "failed", "cancelled", "closed"]
"""How a job ended."""
Status = Literal["starting", "running", "holding", "transferring"]
"""The status that an agent reports of its job, in PanDA's words."""


class RunError(TypedDict):
    """An error of a run. source: the program that found it, 1 to 32 of a-z, 0-9, _, . and - (pilot, payload, ...).
    code: an integer of 32 bits. text: cut at 200 characters."""

    source: str
    code: NotRequired[int | None]
    text: NotRequired[str | None]


class Used(TypedDict, total=False):
    """Figures of a run. cpu, wall: seconds. ram: the largest memory, MB. cores: processors."""

    cpu: float
    wall: float
    ram: float
    cores: int


class Facts(TypedDict, total=False):
    """Facts of a run. error: at most seven errors, the most important one first. host: the worker node."""

    error: Sequence[RunError]
    used: Used
    host: str


Errors = Sequence[RunError]
"""At most seven errors of a run, the most important one first."""
FactsByJob = Mapping[int, Facts]
"""The facts of each run, by job id."""
_Run = tuple[Errors | None, Used | None, str | None]


@dataclass(frozen=True)
class Lease:
    """A job that an agent has, and the attempt that proves that: enough to go on after a restart."""

    job_id: int
    attempt: str


@dataclass(frozen=True)
class Match(Lease):
    """A job given to an agent, with its TaskQueue, its requirements and its user priority (0..10). processors: the
    processors that the job gets, if its requirements have a range."""

    task_queue_id: int
    requirements: Mapping[str, object]
    user_priority: int
    processors: int | None = None


class Request(TypedDict):
    """One request among many, as taskqueue.match_many takes it.

    resources: descriptions in order of preference; the first that yields a job is used. n: the number of jobs
    (1..1000), 1 by default. request_id: a UUID, as for JobAgent.match.
    """

    resources: Sequence[Mapping[str, object]]
    n: NotRequired[int]
    request_id: NotRequired[uuid.UUID | str]


@dataclass(frozen=True)
class Matches:
    """The answer to one request among many: its jobs, none if no job fits now, or the error for which the request is
    refused."""

    jobs: list[Match] = field(default_factory=list)
    error: BrokerError | None = None


@dataclass(frozen=True)
class Answer:
    """The answer to a report: `continue` or `kill`, with a reason. One of many reports may also be `stale` (stop
    working on the job: another agent has it, or it has ended) or `refused`.
    """

    action: Literal["continue", "kill", "stale", "refused"]
    reason: str | None


@dataclass(frozen=True)
class Ended:
    """The answer to one of many ends: the outcome, or `stale` or `refused`, with a reason."""

    outcome: str
    reason: str | None


def _matches(rows: Rows) -> list[Match]:
    return [
        Match(job_id, attempt, queue, asked, level, *processors)
        for job_id, queue, asked, level, attempt, *processors in rows
    ]


def _one_match(rows: Rows) -> Match | None:
    return next(iter(_matches(rows)), None)


_MATCHED = (
    b"m.job_id, m.task_queue_id, m.requirements, m.user_priority, m.attempt,"
    b" case when m.requirements ? 'MaxNumberOfProcessors' then taskqueue.processors_given(m.requirements, "
)


def _match(setup: str, resource: Mapping[str, object], request_id: uuid.UUID | None) -> Call[Match | None]:
    query = (
        b"select " + _MATCHED + b"a.resource) end"
        b" from (values (%s::jsonb)) a (resource) cross join taskqueue.match_job(%s, a.resource, %s) m"
    )
    return Call(query, (jsonb(resource), setup, request_id or uuid.uuid4()), _one_match)


def _match_jobs(
    setup: str, resource: Mapping[str, object], limit: int, request_id: uuid.UUID | None
) -> Call[list[Match]]:
    query = (
        b"select " + _MATCHED + b"a.resource) end"
        b" from (values (%s::jsonb)) a (resource) cross join taskqueue.match_jobs(%s, a.resource, %s, %s) m"
    )
    return Call(query, (jsonb(resource), setup, limit, request_id or uuid.uuid4()), _matches)


def _match_many(setup: str, requests: Iterable[Request | Mapping[str, object]]) -> Call[list[Matches]]:
    query = (
        b"select m.request, m.error, " + _MATCHED + b"a.requests -> (m.request - 1) -> 'resources') end"
        b" from (values (%s::jsonb)) a (requests) cross join taskqueue.match_many(%s, a.requests) m"
    )
    # The database refuses a value that is not a mapping, like any other malformed request.
    given: list[Any] = [
        {**request, "request_id": str(request.get("request_id") or uuid.uuid4())}
        if isinstance(request, Mapping)
        else request
        for request in requests
    ]

    def read(rows: Rows) -> list[Matches]:
        found = [Matches() for _ in given]
        for number, error, *job in rows:
            if error:
                found[number - 1] = Matches(error=of_sqlstate(error["code"], error["message"], error["hint"]))
            else:
                found[number - 1].jobs.extend(_matches([tuple(job)]))
        return found

    return Call(query, (jsonb(given), setup), read)


def _match_instance(
    setup: str,
    instance_id: int,
    resource: Mapping[str, object] | None,
    limit: int,
    *,
    spare: bool,
    request_id: uuid.UUID | None,
) -> Call[list[Match]]:
    query = (
        b"select job_id, task_queue_id, requirements, user_priority, attempt"
        b" from instance.match_jobs(%s, %s, %s, %s, %s, %s)"
    )
    return Call(query, (setup, instance_id, limit, jsonb(resource or {}), spare, request_id or uuid.uuid4()), _matches)


def _report(setup: str, lease: Lease, status: Status | None, run: _Run) -> Call[Answer]:
    query = b"select action, reason from taskqueue.report_job(%s, %s, %s, %s, %s, %s, %s)"
    arguments = (setup, lease.job_id, lease.attempt, status, *_values(run))
    return Call(query, arguments, lambda rows: Answer(*rows[0]))


def _report_many(
    setup: str, leases: Iterable[Lease], status: Status | None, facts: FactsByJob | None
) -> Call[dict[int, Answer]]:
    query = b"select job_id, action, reason from taskqueue.report_jobs(%s, %s)"
    given = _notices(leases, "status", status, facts)
    return Call(query, (setup, jsonb(given)), lambda rows: {row[0]: Answer(*row[1:]) for row in rows})


def _finish_many(
    setup: str, leases: Iterable[Lease], outcome: Outcome, facts: FactsByJob | None
) -> Call[dict[int, Ended]]:
    query = b"select job_id, outcome, reason from taskqueue.finish_jobs(%s, %s)"
    given = _notices(leases, "outcome", outcome, facts)
    return Call(query, (setup, jsonb(given)), lambda rows: {row[0]: Ended(*row[1:]) for row in rows})


def _finish(setup: str, lease: Lease, outcome: Outcome, run: _Run) -> Call[str]:
    query = b"select taskqueue.finish_job(%s, %s, %s, %s, %s, %s, %s)"
    arguments = (setup, lease.job_id, lease.attempt, outcome, *_values(run))
    return Call(query, arguments, only)


def _values(run: _Run) -> tuple[Jsonb | None, Jsonb | None, str | None]:
    error, used, host = run
    listed: Any = _storable(error)
    figures: Any = used
    return None if error is None else jsonb(listed), None if used is None else jsonb(figures), host


def _notices(
    leases: Iterable[Lease], key: str, value: str | None, facts: FactsByJob | None
) -> list[Mapping[str, object]]:
    known: Mapping[int, Mapping[str, object]] = facts or {}
    return [
        {"job_id": lease.job_id, "attempt": lease.attempt, key: value}
        | {name: _storable(fact) if name == "error" else fact for name, fact in known.get(lease.job_id, {}).items()}
        for lease in leases
    ]


def _storable(error: Any) -> Any:
    """Errors without characters that no database holds: a text may be the output of any program, and an agent that
    cannot end a job keeps its lease."""
    if not isinstance(error, list | tuple):
        return error
    return [
        {**one, "text": one["text"].encode(errors="replace").decode().replace("\0", " ")}
        if isinstance(one, Mapping) and isinstance(one.get("text"), str) else one
        for one in error
    ]  # fmt: skip


def _release(setup: str, lease: Lease) -> Call[int | None]:
    # The call is not repeated: a second release finds no lease, even if another agent has the job by then.
    query = b"select taskqueue.release_job(%s, %s, %s)"
    return Call(query, (setup, lease.job_id, lease.attempt), only, repeatable=False)


class JobAgent(Client):
    """The calls of a JobAgent. One object serves any number of threads; see Client for its arguments.

    Every method raises NotAllowed when the login may not act in the setup, and ConnectError when the server is gone.
    """

    def match(self, resource: Mapping[str, object], request_id: uuid.UUID | None = None) -> Match | None:
        """Take one job that fits the resource description, or None when nothing fits now.

        A request id makes the call repeatable within ten minutes; without one, each call gets its own, which covers a
        lost connection. Raises BadRequest for a refused description; the message names the key.
        """
        return self.run(_match(self.setup, resource, request_id))

    def match_jobs(
        self, resource: Mapping[str, object], limit: int, request_id: uuid.UUID | None = None
    ) -> list[Match]:
        """Take up to `limit` (1..1000) jobs for one resource, each drawn as by `match`. Raises the errors of
        `match`."""
        return self.run(_match_jobs(self.setup, resource, limit, request_id))

    def match_many(self, requests: Iterable[Request | Mapping[str, object]]) -> list[Matches]:
        """Serve up to 1000 requests of many resources, for 1000 jobs in total, in one transaction, with an answer for
        each. The answers have the order of the requests. A refused request does not affect the others. A request
        without an id gets one, which covers a lost connection. Raises BadRequest if the requests as a whole are
        refused.
        """
        return self.run(_match_many(self.setup, requests))

    def match_instance(
        self,
        instance_id: int,
        resource: Mapping[str, object] | None = None,
        limit: int = 100,
        *,
        spare: bool = False,
        request_id: uuid.UUID | None = None,
    ) -> list[Match]:
        """Take the jobs that are placed on a rented instance; with `spare`, also other jobs that fit its free space.
        The resource description adds properties that the type of the instance does not give, such as Platform. Raises
        BadRequest, and NoSuchThing for a released instance, whose agent can stop.
        """
        return self.run(_match_instance(self.setup, instance_id, resource, limit, spare=spare, request_id=request_id))

    def report(
        self,
        lease: Lease,
        status: Status | None = "running",
        *,
        error: Errors | None = None,
        used: Used | None = None,
        host: str | None = None,
    ) -> Answer:
        """Report the status of the job; None is a heartbeat. The first report confirms the match. error, used and host
        are facts of the run so far; an end without facts takes them over. Raises StaleAttempt if the job must be
        stopped, WrongState for a status that a brokered job cannot change to, and BadRequest for a refused fact.
        """
        return self.run(_report(self.setup, lease, status, (error, used, host)))

    def report_many(
        self, leases: Iterable[Lease], status: Status | None = "running", *, facts: FactsByJob | None = None
    ) -> dict[int, Answer]:
        """Report up to 10,000 jobs in one call, with an answer for each job id. A stale or refused report does not stop
        the others. facts: the facts of each run, by job id."""
        return self.run(_report_many(self.setup, leases, status, facts))

    def finish_many(
        self, leases: Iterable[Lease], outcome: Outcome = "finished", *, facts: FactsByJob | None = None
    ) -> dict[int, Ended]:
        """End up to 10,000 jobs in one call, with an answer for each job id. A stale or refused end does not stop the
        others. facts: the facts of each run, by job id."""
        return self.run(_finish_many(self.setup, leases, outcome, facts))

    def finish(
        self,
        lease: Lease,
        outcome: Outcome = "finished",
        *,
        error: Errors | None = None,
        used: Used | None = None,
        host: str | None = None,
    ) -> str:
        """End the job and return the stored outcome; repeating the call is not an error. error, used and host are facts
        of the run, which the history keeps. Raises StaleAttempt, and BadRequest for a refused fact."""
        return self.run(_finish(self.setup, lease, outcome, (error, used, host)))

    def release(self, lease: Lease) -> int | None:
        """Give the job back and return the TaskQueue in which it waits again, or None if it was marked for kill and has
        ended. Raises StaleAttempt, and ConnectError if the answer was lost: a report then shows whether the job was
        given back.
        """
        return self.run(_release(self.setup, lease))


class AsyncJobAgent(AsyncClient):
    """JobAgent for asyncio: the same methods, awaited."""

    async def match(self, resource: Mapping[str, object], request_id: uuid.UUID | None = None) -> Match | None:
        """Take one job that fits the resource description, or None when nothing fits now; see JobAgent.match."""
        return await self.run(_match(self.setup, resource, request_id))

    async def match_jobs(
        self, resource: Mapping[str, object], limit: int, request_id: uuid.UUID | None = None
    ) -> list[Match]:
        """Take up to `limit` (1..1000) jobs for one resource; see JobAgent.match_jobs."""
        return await self.run(_match_jobs(self.setup, resource, limit, request_id))

    async def match_many(self, requests: Iterable[Request | Mapping[str, object]]) -> list[Matches]:
        """Serve requests of many resources in one transaction; see JobAgent.match_many."""
        return await self.run(_match_many(self.setup, requests))

    async def match_instance(
        self,
        instance_id: int,
        resource: Mapping[str, object] | None = None,
        limit: int = 100,
        *,
        spare: bool = False,
        request_id: uuid.UUID | None = None,
    ) -> list[Match]:
        """Take the jobs that are placed on a rented instance; see JobAgent.match_instance."""
        return await self.run(
            _match_instance(self.setup, instance_id, resource, limit, spare=spare, request_id=request_id)
        )

    async def report(
        self,
        lease: Lease,
        status: Status | None = "running",
        *,
        error: Errors | None = None,
        used: Used | None = None,
        host: str | None = None,
    ) -> Answer:
        """Report the status of the job; see JobAgent.report."""
        return await self.run(_report(self.setup, lease, status, (error, used, host)))

    async def report_many(
        self, leases: Iterable[Lease], status: Status | None = "running", *, facts: FactsByJob | None = None
    ) -> dict[int, Answer]:
        """Report many jobs; see JobAgent.report_many."""
        return await self.run(_report_many(self.setup, leases, status, facts))

    async def finish_many(
        self, leases: Iterable[Lease], outcome: Outcome = "finished", *, facts: FactsByJob | None = None
    ) -> dict[int, Ended]:
        """End many jobs; see JobAgent.finish_many."""
        return await self.run(_finish_many(self.setup, leases, outcome, facts))

    async def finish(
        self,
        lease: Lease,
        outcome: Outcome = "finished",
        *,
        error: Errors | None = None,
        used: Used | None = None,
        host: str | None = None,
    ) -> str:
        """End the job and return the stored outcome; see JobAgent.finish."""
        return await self.run(_finish(self.setup, lease, outcome, (error, used, host)))

    async def release(self, lease: Lease) -> int | None:
        """Give the job back; see JobAgent.release."""
        return await self.run(_release(self.setup, lease))
