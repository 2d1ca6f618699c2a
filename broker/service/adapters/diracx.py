"""DiracX's calls about jobs: search, summary, status and heartbeat, in DIRAC's words.

Source: the models and routes of DiracX 0.7. Facts of the run are kept of heartbeats, of parameters, and of the statuses
of a job that failed. DiracX's owner is the owner in the job's requirements.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, LiteralString

import psycopg
from msgspec import UNSET, Meta, Struct, UnsetType
from sqlalchemy import ColumnElement, Integer, Text, case, func, literal_column
from starlette.responses import Response

from broker.acts import CANCEL_JOBS
from broker.service import bodies
from broker.service.adapters import facts
from broker.service.adapters.dirac.jobs import reschedule, states_of
from broker.service.bodies import JSON
from broker.service.calls import Row
from broker.service.endpoint import Adapter, Call, Endpoint
from broker.service.models import Order, Restriction, Search, Summary
from broker.service.problems import Problem, encoded, of_error
from broker.service.reports import Unproven
from broker.service.searches import groups, page
from broker.service.views import INTEGER, OWN, OWN_SOURCE, TEXT, TIME, VIEWS, kind_of
from broker.tables import listed_job

STATUSES: Mapping[str, str] = {
    "pending": "Received", "defined": "Received",
    "assigned": "Staging",
    "waiting": "Waiting", "held": "Waiting", "throttled": "Waiting", "activated": "Waiting",
    "sent": "Matched", "starting": "Matched",
    "running": "Running", "holding": "Running",
    "transferring": "Completing", "merging": "Completing",
    "finished": "Done", "failed": "Failed", "cancelled": "Killed", "closed": "Rescheduled",
}  # fmt: skip
"""DIRAC's word for each status but leased."""
_FURTHEST = 10_000_000
"""Rows that a page lies behind at most."""
_MOST_JOBS = 10_000


def _status(status: ColumnElement[str], is_reported: ColumnElement[bool]) -> ColumnElement[str]:
    """DIRAC's word for the status of a job. Constants are in the text, since a summary groups by it."""
    leased = case((is_reported, _constant("Running")), else_=_constant("Matched"))
    words = {here: _constant(there) for here, there in STATUSES.items()} | {"leased": leased}
    return case(*((_constant(here), there) for here, there in words.items()), value=status)


def _constant(word: str) -> ColumnElement[str]:
    return literal_column(f"'{word}'", Text)


_ALL, _OWN = listed_job.c, OWN_SOURCE.c
JOBS = replace(
    VIEWS["jobs"],
    columns={
        "JobID": _ALL.job_id, "Site": _ALL.site, "OwnerGroup": _ALL.gshare, "LastUpdateTime": _ALL.since,
        "Owner": _ALL.user_name, "Status": _status(_ALL.status, _ALL.lease_state == _constant("running")),
        "SubmissionTime": _ALL.created, "UserPriority": _ALL.priority,
    },
    order=(("JobID", True),),
)  # fmt: skip
OWN_JOBS = replace(
    OWN["jobs"],
    columns={
        "JobID": _OWN.job_id,
        "Site": _OWN.site,
        "OwnerGroup": _OWN.owner_group,
        "LastUpdateTime": _OWN.since,
        "Owner": _OWN.owner_dn,
        "Status": _status(_OWN.state, _OWN.heard_at > _OWN.since),
        "UserPriority": _OWN.user_priority,
        "HeartBeatTime": _OWN.heard_at,
        "RescheduleCounter": func.greatest(_OWN.attempts - literal_column("1"), literal_column("0"), type_=Integer),
    },
    order=(("JobID", True),),
)
"""The rows that a submitter sees: its own jobs that wait or are leased."""

_MAY_CANCEL: LiteralString = (
    "select has_schema_privilege('lifecycle', 'usage')"
    " and has_function_privilege('lifecycle.cancel_jobs(text, bigint[], text)', 'execute')"
)
_REPORTED = {"Matched": None, "Running": "running", "Stalled": None, "Completing": "transferring"}
_ENDED = {"Done": "finished", "Completed": "finished", "Failed": "failed", "Killed": "cancelled"}
_RETURNED = "Rescheduled"
_LASTING = {*_ENDED, _RETURNED}
_TAKEN_AWAY = ("Killed", "Deleted")

Status = Literal[
    "Submitting", "Received", "Checking", "Staging", "Waiting", "Matched", "Running", "Stalled", "Completing", "Done",
    "Completed", "Failed", "Deleted", "Killed", "Rescheduled",
]  # fmt: skip
JobId = Annotated[int, Meta(ge=1, le=2**63 - 1)]


class SearchSpec(Struct):
    """A condition; numbers may come as texts."""

    parameter: str
    operator: Literal["eq", "neq", "gt", "lt", "in", "not in", "like", "not like", "regex"]
    value: str | int | UnsetType = UNSET
    values: Annotated[list[str | int], Meta(max_length=10_000)] | UnsetType = UNSET


Specs = Annotated[list[SearchSpec], Meta(max_length=50)]


class SearchParams(Struct):
    """A search."""

    parameters: Annotated[list[str], Meta(min_length=1, max_length=100)] | None = None
    search: Specs = []
    sort: Annotated[list[Order], Meta(max_length=10)] = []
    distinct: bool = False


class SummaryParams(Struct):
    """A summary."""

    grouping: Annotated[list[str], Meta(max_length=10)]
    search: Specs = []


class JobCommand(Struct):
    """A command to the agent about a job."""

    job_id: int
    command: str
    arguments: str | None


class StatusUpdate(Struct, rename="pascal"):
    """The statuses of a job. Only the status has an effect; the others explain a failure."""

    status: Status | None = None
    minor_status: Any = None
    application_status: Any = None


class Asked(Struct):
    """The statuses that a client sets: the time of the last, the one that counts, the fault of an update, and facts."""

    at: datetime
    status: Status | None
    unread: str | None
    run: facts.Facts


class StatusSet(Struct, rename="pascal", omit_defaults=True):
    """A status that was set."""

    last_update_time: datetime
    status: str | None = None


class StatusesSet(Struct):
    """The results of the updates of many jobs."""

    success: dict[int, StatusSet]
    failed: dict[int, dict[str, str]]


async def search(call: Call) -> Response:
    """A page of jobs; the status is 206 if there are more."""
    asked: SearchParams = call.body
    number, size = _from_query(call, "page", 2**31), _from_query(call, "per_page", 10_000)
    offset = (number - 1) * size
    if offset > _FURTHEST:
        hint = "Restrict the search, or sort it the other way."
        raise Problem(422, f"page {number} begins behind more than {_FURTHEST} jobs", key="page", hint=hint)
    restrictions = _restrictions(asked.search)
    if asked.distinct:
        rows, more = await _distinct(call, asked, restrictions, offset, size)
    else:
        body = Search(asked.parameters, restrictions, asked.sort, size)
        found = await page(call, JOBS, OWN_JOBS, body, offset)
        rows, more = found.rows, found.cursor is not None
    if rows:
        headers = {"Content-Range": f"jobs {offset}-{offset + len(rows) - 1}/*"} if more or offset else {}
        return Response(encoded(rows), 206 if headers else 200, headers, JSON)
    total = await _total(call, restrictions) if offset else 0
    headers = {"Content-Range": f"jobs */{total}"} if total else {}
    return Response(b"[]", 416 if total else 200, headers, JSON)


async def summary(call: Call) -> list[dict[str, Any]]:
    """Counts of jobs by groups."""
    asked: SummaryParams = call.body
    return await groups(call, JOBS, OWN_JOBS, Summary(asked.grouping, _restrictions(asked.search)))


async def heartbeat(call: Call) -> list[JobCommand]:
    """Heartbeats of jobs. The agent must stop a job that it no longer has, and a job that is to be killed."""
    answers, wrong = await _reported(call)
    if wrong is not None:
        raise wrong
    return [JobCommand(job, "Kill", reason) for job, action, reason in answers if action != "continue"]


async def set_parameters(call: Call) -> Response:
    """Parameters and attributes of jobs, of which facts of the run are kept. A job that the caller neither has nor has
    ended is refused; the others count."""
    answers, wrong = await _reported(call)
    if wrong is not None:
        raise wrong
    lost = {job: reason for job, action, reason in answers if action in ("stale", "refused")}
    known = await states_of(call, lost) if lost else {}
    for job, reason in lost.items():
        if job not in known:
            raise Problem(403, reason)
    return Response(status_code=204)


async def _reported(call: Call) -> tuple[list[Row], Problem | None]:
    """The answers to heartbeats with facts, and the refusal of the first entry that names no job."""
    entries, wrong = await _entries(call)
    each = (Unproven(job, status=None, **facts.of_parameters(given)) for job, given in entries.items())
    return await asyncio.gather(*(call.service.reports.answer(call.caller, one) for one in each)), wrong


async def set_statuses(call: Call) -> StatusesSet | Response:
    """New statuses of jobs: the first one that ends a job counts or, if none does, the latest. An agent reports, ends
    or gives back its jobs; other callers cancel theirs."""
    entries, wrong = await _entries(call)
    asked: dict[int, Asked] = {}
    done = StatusesSet({}, {})
    for job, given in entries.items():
        try:
            asked[job] = _asked(job, given)
        except Problem as problem:
            done.failed[job] = {"detail": problem.detail}
    cancels = await call.rows(_MAY_CANCEL) == [(True,)]
    if cancels:
        reasons = await _cancel(call, asked)
    else:
        reasons = await asyncio.gather(*(_of_agent(call, job, one) for job, one in asked.items()))
    for (job, one), reason in zip(asked.items(), reasons, strict=True):
        if failure := reason or one.unread:
            done.failed[job] = {"detail": failure}
        else:
            done.success[job] = StatusSet(one.at, one.status)
    if wrong is not None:
        raise wrong
    if done.success or not entries:
        return done
    return Response(encoded({"detail": done}), 404, media_type=JSON)


async def _entries(call: Call) -> tuple[dict[int, Any], Problem | None]:
    """The entries of a body by their job, and the refusal of the first one that names no job: the others count."""
    found: dict[int, Any] = {}
    wrong: Problem | None = None
    for name, entry in (await bodies.loose_entries(call.request, call.limit, _MOST_JOBS)).items():
        try:
            found[bodies.converted({name: None}, dict[JobId, None], "the body").popitem()[0]] = entry
        except Problem as problem:
            wrong = wrong or problem
    return found, wrong


def refusal(problem: Problem) -> Response:
    """A refusal in the form that a client of DiracX expects."""
    answer = problem.response()
    kept = ("retry-after", "www-authenticate", "connection")
    headers = {name: answer.headers[name] for name in kept if name in answer.headers}
    detail = f"{problem.detail}. {problem.hint}" if problem.hint else problem.detail
    return Response(encoded({"detail": detail}), problem.status, headers, JSON)


def _from_query(call: Call, key: str, most: int) -> int:
    text = call.request.query_params.get(key, "1" if key == "page" else "100")
    number = int(text) if text.isdecimal() and len(text) < 12 else 0
    if not 1 <= number <= most:
        raise Problem(422, f"{key} is {text[:100]!r}, not a number from 1 to {most}", key=key)
    return number


def _restrictions(specs: list[SearchSpec]) -> list[Restriction]:
    """Conditions, with values of the columns' kinds."""
    return [
        Restriction(
            one.parameter, one.operator, one.value if one.value is UNSET else _value(one.parameter, one.value),
            one.values if one.values is UNSET else [_value(one.parameter, value) for value in one.values],
        )
        for one in specs
    ]  # fmt: skip


def _value(name: str, given: str | int) -> str | int:
    of = {**OWN_JOBS.columns, **JOBS.columns}.get(name)
    kind = TEXT if of is None else kind_of(of)
    if kind is INTEGER and isinstance(given, str) and given.removeprefix("-").isdecimal() and len(given) < 20:
        return int(given)
    if kind is TIME and isinstance(given, str) and (at := _time(given)):
        return at.isoformat()
    return given


async def _distinct(
    call: Call, asked: SearchParams, restrictions: list[Restriction], offset: int, size: int
) -> tuple[list[dict[str, Any]], bool]:
    """Distinct values of some columns, sorted only by the first column, and whether there are more."""
    names = asked.parameters or ["JobID"]
    found = await groups(call, JOBS, OWN_JOBS, Summary(names, restrictions))
    rows = [{name: group[name] for name in names} for group in found]
    for order in reversed(asked.sort or [Order(names[0])]):
        if order.parameter not in names:
            raise Problem(422, f"sort names {order.parameter[:100]}, which is none of the parameters", key="sort")
        present = [row for row in rows if row[order.parameter] is not None]
        absent = [row for row in rows if row[order.parameter] is None]
        name = order.parameter
        rows = sorted(present, key=lambda row: row[name], reverse=order.direction == "desc") + absent
    return rows[offset : offset + size], len(rows) > offset + size


async def _total(call: Call, restrictions: list[Restriction]) -> int:
    ((only),) = await groups(call, JOBS, OWN_JOBS, Summary([], restrictions))
    return int(only["count"])


def _time(text: str) -> datetime | None:
    """A time, in UTC unless it has an offset."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _asked(job: int, given: Any) -> Asked:
    """The statuses of a job; the fault of an update does not stop the others. Raises Problem if no update can be
    read."""
    found: list[tuple[datetime, StatusUpdate]] = []
    wrong: Problem | None = None
    where = f"the entry of job {job}"
    for text, update in bodies.converted(given, dict[str, Any], where).items():
        try:
            time = _time(text)
            if time is None:
                raise Problem(422, f"a status of job {job} has the time {text[:100]!r}, which is none", key=str(job))
            found.append((time, bodies.converted(update, StatusUpdate, where)))
        except Problem as problem:
            wrong = wrong or problem
    if not found:
        raise wrong or Problem(422, f"job {job} has no status", key=str(job))
    found.sort(key=lambda one: one[0])
    updates = [update for _, update in found]
    named = [None, *(update.status for update in updates if update.status is not None)]
    end = next((number for number, update in enumerate(updates) if update.status in _LASTING), None)
    counts = named[-1] if end is None else updates[end].status
    run: facts.Facts = {}
    if end is not None and counts in ("Failed", _RETURNED):
        run = facts.of_failure((update.minor_status, update.application_status) for update in updates[: end + 1])
    return Asked(found[-1][0], counts, wrong.detail if wrong else None, run)


async def _of_agent(call: Call, job: int, asked: Asked) -> str | None:
    """The reason why a status of an agent's job was not set; None if it was set."""
    status = asked.status
    if status in _ENDED:
        end = Unproven(job, outcome=_ENDED[status], **asked.run)
        _, outcome, reason = await call.service.ends.answer(call.caller, end)
        return None if outcome not in ("stale", "refused") else reason
    if status == _RETURNED:
        try:
            verdict, reason = await reschedule(call, job, asked.run)
        except Problem as problem:
            if problem.status >= 500:
                raise
            return problem.detail
        return None if verdict not in ("stale", "refused") else reason
    if status is not None and status not in _REPORTED:
        return f"an agent does not set {status}"
    state = None if status is None else _REPORTED[status]
    _, action, reason = await call.service.reports.answer(call.caller, Unproven(job, status=state))
    return None if action in ("continue", "kill") else reason


async def _cancel(call: Call, asked: dict[int, Asked]) -> list[str | None]:
    """Cancel jobs, each on its own, one after the other: a caller may give thousands."""
    reasons: dict[int, str | None] = {
        job: None if one.status in _TAKEN_AWAY else f"{one.status} is set by agents; Killed and Deleted cancel a job"
        for job, one in asked.items()
    }
    taken = [job for job, reason in reasons.items() if reason is None]
    each = [[call.setup, [job], f"{asked[job].status} through DiracX"] for job in taken]
    for job, answer in zip(taken, await call.each(CANCEL_JOBS.statement, each), strict=True):
        if isinstance(answer, psycopg.Error):
            problem = of_error(answer)
            if problem.status >= 500:
                raise problem
            reasons[job] = problem.detail
    return list(reasons.values())


ADAPTER = Adapter("diracx", refusal)
ENDPOINTS = (
    Endpoint("POST", "/api/jobs/search", "diracx_search", "Search jobs", search, body=SearchParams, long=True,
             adapter=ADAPTER),
    Endpoint("POST", "/api/jobs/summary", "diracx_summary", "Count jobs", summary, body=SummaryParams, long=True,
             adapter=ADAPTER),
    Endpoint("PATCH", "/api/jobs/heartbeat", "diracx_heartbeat", "Report on jobs", heartbeat,
             limit_factor=4, adapter=ADAPTER),
    Endpoint("PATCH", "/api/jobs/status", "diracx_status", "Set statuses", set_statuses,
             limit_factor=4, adapter=ADAPTER),
    Endpoint("PATCH", "/api/jobs/metadata", "diracx_metadata", "Set parameters", set_parameters,
             limit_factor=4, adapter=ADAPTER),
)  # fmt: skip
