"""WorkloadManagement/JobStateUpdate: JobAgents and JobWrappers report their jobs by id, and end them.

Only the status has a meaning here, and some parameters, and the other statuses of a job that failed, which are facts of
the run. The others are signs of life of the job, and are not kept. All but the status may be anything: a payload's
output is in some of them.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from broker.service import bodies
from broker.service.adapters import facts
from broker.service.adapters.dirac.jobs import reschedule, states_of
from broker.service.adapters.dirac.rpc import ENOAUTH, EWMSSTATUS, Args, Fault, JobId, Method
from broker.service.endpoint import Call
from broker.service.problems import Problem
from broker.service.reports import Unproven

_REPORTED = {"Running": "running", "Completing": "transferring"}
# Completed: the payload has finished and the pilot leaves; requests of DIRAC move the remaining output.
_OUTCOMES = {"Done": "finished", "Completed": "finished", "Failed": "failed", "Killed": "cancelled"}
_RETURNED = "Rescheduled"
# Statuses that an agent cannot set: DIRAC's state machine keeps the status of a job that an agent has.
_KEPT = ("Submitting", "Received", "Checking", "Staging", "Scouting", "Waiting", "Matched", "Stalled", "Deleted")
_STATUSES = {"", *_REPORTED, *_OUTCOMES, _RETURNED, *_KEPT}
_LASTING = {*_OUTCOMES, _RETURNED}
_ATTRIBUTES = ("Status", "MinorStatus", "ApplicationStatus", "Site", "StartExecTime", "EndExecTime", "HeartBeatTime")


class OfStatus(Args):
    """Statuses with their times."""

    job_id: JobId
    status: str = ""
    minor_status: Any = None
    source: Any = None
    time: Any = None
    force: Any = None


class AtTime(msgspec.Struct):
    """The values that hold from a time on."""

    status: str | None = msgspec.field(name="Status", default=None)
    minor_status: Any = msgspec.field(name="MinorStatus", default=None)
    application_status: Any = msgspec.field(name="ApplicationStatus", default=None)


class OfStatuses(Args):
    """Statuses by their times."""

    job_id: JobId
    by_time: dict[str, Any]
    force: Any = None


class OfApplication(Args):
    """The status of the application."""

    job_id: JobId
    status: Any
    source: Any = None


class OfAttribute(Args):
    """An attribute of a job."""

    job_id: JobId
    name: str
    value: Any


class OfSite(Args):
    """The site of a job."""

    job_id: JobId
    site: Any


class OfParameter(Args):
    """A parameter of a job."""

    job_id: JobId
    name: Any
    value: Any


class OfParameters(Args):
    """Parameters of a job."""

    job_id: JobId
    parameters: Any


class OfJobs(Args):
    """A parameter of each of many jobs."""

    by_job: dict[str, Any]


class OfHeartBeat(Args):
    """Changed values, and parameters."""

    job_id: JobId
    dynamic: Any
    static: Any


async def set_status(call: Call, args: OfStatus) -> None:
    """A status."""
    await _set(call, int(args.job_id), args.status, [(args.minor_status, None)])


async def set_statuses(call: Call, args: OfStatuses) -> None:
    """The first status that ends the job or, if none does, the last status. A wrong one does not stop the others."""
    found: list[AtTime] = []
    wrong: list[Problem] = []
    for time in sorted(args.by_time):
        try:
            one = bodies.converted(args.by_time[time], AtTime, "args[1]")
            _known(one.status or "")
            found.append(one)
        except Problem as problem:
            wrong.append(problem)
    if found or not wrong:
        named = ["", *(one.status for one in found if one.status)]
        end = next((number for number, one in enumerate(found) if one.status in _LASTING), None)
        if end is None:
            await _set(call, int(args.job_id), named[-1])
        else:
            others = [(one.minor_status, one.application_status) for one in found[: end + 1]]
            await _set(call, int(args.job_id), found[end].status, others)
    if wrong:
        raise wrong[0]


async def set_attribute(call: Call, args: OfAttribute) -> None:
    """An attribute that an agent may set; only the status has an effect."""
    if args.name not in _ATTRIBUTES:
        hint = f"Attributes are {', '.join(_ATTRIBUTES)}."
        raise Problem(422, f"the attribute {args.name[:100]!r} is not for agents", key="attribute", hint=hint)
    await _set(call, int(args.job_id), args.value if args.name == "Status" else "")


async def note(call: Call, args: OfApplication | OfSite) -> None:
    """Data that is not kept, from the agent that has the job."""
    await _set(call, int(args.job_id), "")


async def set_parameter(call: Call, args: OfParameter) -> None:
    """A parameter, of which facts of the run are kept."""
    await _note(call, int(args.job_id), [[args.name, args.value]])


async def set_parameters(call: Call, args: OfParameters) -> None:
    """Parameters, of which facts of the run are kept."""
    await _note(call, int(args.job_id), args.parameters)


async def set_parameter_of_each(call: Call, args: OfJobs) -> None:
    """A parameter of many jobs, from the agent that has them. A wrong one does not stop the others."""
    each = (_note_one(call, given, pair) for given, pair in args.by_job.items())
    for answer in await asyncio.gather(*each, return_exceptions=True):
        if isinstance(answer, BaseException):
            raise answer


async def _note_one(call: Call, given: str, pair: Any) -> None:
    await _note(call, int(bodies.converted(given, JobId, "args[0]")), [pair])


async def _note(call: Call, job_id: int, pairs: Any) -> None:
    """Keep the facts among parameters, which are pairs of a name and a value, or a mapping."""
    if isinstance(pairs, list):
        pairs = {pair[0]: pair[1] for pair in pairs if isinstance(pair, list) and len(pair) == 2
                 and isinstance(pair[0], str)}  # fmt: skip
    await _report(call, job_id, None, facts.of_parameters(pairs))


async def send_heart_beat(call: Call, args: OfHeartBeat) -> dict[str, str]:
    """A sign of life; the answer is empty, or the command to stop. An agent that has lost the job must also stop."""
    job_id = int(args.job_id)
    run = facts.of_parameters(args.static) | facts.of_parameters(args.dynamic)
    _, action, reason = await call.service.reports.answer(call.caller, Unproven(job_id, status=None, **run))
    if action == "refused":
        raise Fault(EWMSSTATUS, reason)
    if action == "continue" or (action == "stale" and await states_of(call, [job_id])):
        return {}
    return {"Kill": reason}


def _known(status: Any) -> str:
    if not isinstance(status, str) or status not in _STATUSES:
        raise Fault(EWMSSTATUS, f"{str(status)[:100]!r} is not a status of a job")
    return status


async def _set(call: Call, job_id: int, status: Any, others: Iterable[tuple[Any, Any]] = ()) -> None:
    """Report, end or return a job. A job that the caller has ended keeps its outcome, as in DIRAC. others: minor
    statuses and application statuses until then."""
    if _known(status) == _RETURNED:
        await _require_own(call, job_id, *await reschedule(call, job_id, facts.of_failure(others)))
    elif status in _OUTCOMES:
        run = facts.of_failure(others) if status == "Failed" else {}
        end = Unproven(job_id, outcome=_OUTCOMES[status], **run)
        await _require_own(call, *await call.service.ends.answer(call.caller, end))
    else:
        await _report(call, job_id, _REPORTED.get(status), {})


async def _report(call: Call, job_id: int, status: str | None, run: facts.Facts) -> None:
    report = Unproven(job_id, status=status, **run)
    await _require_own(call, *await call.service.reports.answer(call.caller, report))


async def _require_own(call: Call, job_id: int, verdict: str, reason: str) -> None:
    """Raise the refusal of a job that the caller neither has nor has ended."""
    if verdict == "refused":
        raise Fault(EWMSSTATUS, reason)
    if verdict == "stale" and not await states_of(call, [job_id]):
        raise Fault(ENOAUTH, reason)


METHODS: Mapping[str, Method] = {
    "setJobStatus": Method(OfStatus, set_status), "setJobStatusBulk": Method(OfStatuses, set_statuses),
    "setJobAttribute": Method(OfAttribute, set_attribute), "setJobSite": Method(OfSite, note),
    "setJobApplicationStatus": Method(OfApplication, note), "setJobParameter": Method(OfParameter, set_parameter),
    "setJobParameters": Method(OfParameters, set_parameters), "setJobsParameter": Method(OfJobs, set_parameter_of_each),
    "sendHeartBeat": Method(OfHeartBeat, send_heart_beat),
}  # fmt: skip
