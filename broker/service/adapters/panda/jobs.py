"""Functions of both APIs: jobs for a pilot, an update of a job, the states of jobs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, LiteralString, Self

import msgspec
from msgspec import UNSET, Raw

from broker.service.adapters import facts
from broker.service.adapters.panda.fields import Fields
from broker.service.endpoint import Call
from broker.service.models import Match
from broker.service.problems import Problem, of_error
from broker.service.reports import Unproven

KILL = "tobekilled"
"""The command that makes a pilot stop its job."""

MOST_JOBS = 1000
LARGEST_ID = 2**63 - 1
MOST_ATTEMPTS = 999_999_999

_SLOT: LiteralString = "select cores, of_type from resource.slot_of_queue(%s, %s, %s)"
_STATUSES: LiteralString = "select job_id, status, attempt_number from taskqueue.jobs_of_subject(%s, %s)"
_ANY_TIME = 10**9  # seconds: PanDA's pilots need not state their remaining time
_MOST_CORES = 1024  # the most that a description may offer
_KILLED = "1144"  # the error code of a pilot that stopped its job at the command
_PILOT_TYPE = "PanDA"
_REPORTS = ("starting", "running", "holding", "transferring")
_ENDS = ("finished", "failed", "cancelled", "closed")
# Labels of jobs (prodSourceLabel) that a pilot of a label takes; a pilot of any other label takes only that label.
_ANALYSIS = ["user", "panda", "install"]
_PRODUCTION = ["managed", "test", "prod_test", "install"]
_LABELS = {"user": _ANALYSIS, "managed": _PRODUCTION, "unified": sorted({*_ANALYSIS, *_PRODUCTION})}


@dataclass(frozen=True)
class Wanted:
    """The request of a pilot. host: its worker node. memory: MB of the node. seconds: its remaining time, 0 or None =
    long enough."""

    site: str
    n: int
    host: str | None = None
    label: str | None = None
    memory: float | None = None
    seconds: float | None = None
    computing_element: str | None = None
    resource_type: str | None = None
    user: str | None = None
    task: str | None = None


@dataclass(frozen=True)
class Update:
    """The update that a pilot sends for a job. If is_killed, the pilot stopped the job because it was told to. run:
    facts of the run."""

    job_id: int
    state: str
    attempt_number: int | None = None
    is_killed: bool = False
    run: facts.Facts = field(default_factory=dict)

    @classmethod
    def of(cls, fields: Fields, names: str) -> Self:
        """The update in fields with these names, in the order of its own."""
        job_id, state, attempt_number, pilot_error = names.split()
        return cls(
            fields.required_integer(job_id, 1, LARGEST_ID), fields.required_text(state),
            fields.integer(attempt_number, 1, MOST_ATTEMPTS), str(fields.values.get(pilot_error)) == _KILLED,
            facts.of_pilot(fields.values),
        )  # fmt: skip


async def acquire(call: Call, fields: Fields, names: str) -> list[dict[str, Any]] | Problem:
    """The jobs for a pilot, or the refusal of a service that is too busy. names: fields of Wanted but the host,
    in its order."""
    site, n, label, memory, seconds, *rest = names.split()
    texts = (fields.text(name) for name in rest)
    site_name, number = fields.required_text(site), fields.integer(n, 1, MOST_JOBS) or 1
    node = facts.host(fields.values.get("node"))
    wanted = Wanted(site_name, number, node, fields.text(label), fields.number(memory), fields.number(seconds), *texts)
    try:
        return await _acquired(call, wanted)
    except Exception as error:
        problem = of_error(error)
        if problem.status != 503:
            raise problem from error
        return problem


async def _acquired(call: Call, wanted: Wanted) -> list[dict[str, Any]]:
    """The jobs for a pilot, with the members that it reads. Values are texts, integers or Raw."""
    if wanted.task not in (None, "0"):
        return []  # TaskQueues know no tasks: a pilot that may run only one task gets nothing
    ((cores, of_type),) = await call.rows(_SLOT, call.setup, wanted.site, wanted.resource_type) or [(1, False)]
    resource = _description(wanted, min(cores, _MOST_CORES), of_type)
    found = await call.service.matcher.match(call.caller, call.match_id(), [resource], wanted.n)
    return [_job(match) for match in found]


def _description(wanted: Wanted, cores: int, of_type: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "Site": wanted.site,
        "CPUTime": int(wanted.seconds * cores) if wanted.seconds else _ANY_TIME,
        "NumberOfProcessors": cores,
        "JobType": _LABELS.get(wanted.label or "managed", [wanted.label]),
        "PilotType": _PILOT_TYPE,
    }
    if of_type and cores > 1:  # a slot of a resource type is for jobs with its number of cores
        found["RequiredTag"] = f"{cores}Processors"
    if wanted.memory:
        found["MaxRAM"] = int(wanted.memory)
    if wanted.computing_element:
        found["GridCE"] = wanted.computing_element
    if wanted.user:
        found["OwnerDN"] = wanted.user
    if wanted.host:
        found["HostName"] = wanted.host
    return found


def _job(match: Match) -> dict[str, Any]:
    """The payload's members; missing ones come from the requirements, and pgbroker's own members override them."""
    requirements = msgspec.json.decode(match.requirements)
    cores = [int(tag.removesuffix("Processors")) for tag in requirements.get("Tags", ()) if _is_of_cores(tag)]
    return {
        "transformation": "", "jobPars": "", "prodUserID": requirements.get("OwnerDN", ""),
        "coreCount": max(cores, default=1), "minRamCount": int(requirements.get("MinRAM", 0)),
        "maxCpuCount": int(requirements.get("CPUTime", 0)), "nSent": 0, **_members(match.payload), "StatusCode": 0,
        "PandaID": match.job_id, "attemptNr": int(match.attempt.partition("-")[0]),
    }  # fmt: skip


def _is_of_cores(tag: str) -> bool:
    number = tag.removesuffix("Processors")
    return number != tag and number.isdecimal() and len(number) <= 4


def _members(payload: Any) -> dict[str, Raw]:
    """The members of a payload that is an object; any other payload has none."""
    if payload is UNSET:
        return {}
    try:
        return msgspec.json.decode(payload, type=dict[str, Raw])
    except msgspec.ValidationError:
        return {}


async def update(call: Call, news: Update) -> str | None:
    """Store an update, and return the command to the pilot: KILL, or None. Raises Problem."""
    number = UNSET if news.attempt_number is None else news.attempt_number
    if news.state in _ENDS:
        # a job that was to be killed is cancelled, whatever its pilot reports
        outcome = "cancelled" if news.state == "failed" and news.is_killed else news.state
        end = Unproven(news.job_id, outcome=outcome, attempt_number=number, **news.run)
        row = await call.service.ends.answer(call.caller, end)
        if row[1] == "refused":
            raise Problem(409, row[2], code="PB005")
        return KILL if row[1] == "stale" else None
    if news.state not in _REPORTS:
        states = ", ".join((*_REPORTS, *_ENDS))
        wrong = news.state[:100]
        fault = f"the state is {wrong!r}, which is none of {states}"
        raise Problem(422, fault, code="PB001", key="state", value=wrong)
    reports = call.service.reports
    row = await reports.answer(call.caller, Unproven(news.job_id, news.state, attempt_number=number, **news.run))
    if row[1] == "refused":  # the job's status cannot go back, but the pilot is alive
        row = await reports.answer(call.caller, Unproven(news.job_id, None, attempt_number=number, **news.run))
    return None if row[1] == "continue" else KILL


async def statuses(call: Call, job_ids: Sequence[int]) -> dict[int, tuple[str, int]]:
    """The status and attempt number of those jobs that are the caller's."""
    rows = await call.rows(_STATUSES, call.setup, list(job_ids))
    return {job_id: (status, number) for job_id, status, number in rows}
