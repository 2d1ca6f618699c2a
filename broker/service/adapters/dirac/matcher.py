"""WorkloadManagement/Matcher: a job for a JobAgent, and TaskQueues for submitters of pilots."""

import re
from typing import Any, LiteralString

import msgspec

from broker.service import bodies
from broker.service.adapters.dirac.description import described
from broker.service.adapters.dirac.rpc import EWMSJDL, EWMSNOMATCH, Args, Fault, Method
from broker.service.calls import Row
from broker.service.endpoint import Call
from broker.service.models import Finish, Match
from broker.service.problems import Problem

_MATCHING: LiteralString = (
    "select task_queue_id, priority, jobs, requirements from taskqueue.matching_queues(%s, %s::jsonb)"
)
_ACTIVE: LiteralString = (
    "select task_queue_id, priority, jobs, requirements from monitor.task_queue"
    " where setup = %s and state = 'open' and jobs > 0"
)
_ID = re.compile(r"((?:^|[\[;\n])[^\S\n]*JobID\s*=\s*\"?)[^\";\]\n]*", re.IGNORECASE)


class OfResource(Args):
    """The description of a resource."""

    resource: dict[str, Any]


def _described(args: OfResource) -> dict[str, Any]:
    """The description for matching. Raises Problem."""
    try:
        found = described(args.resource)
        bodies.require_plain(found, "args[0]")
    except RecursionError:
        raise Problem(422, "args[0] has lists within lists within lists", code="PB001", key="args[0]") from None
    return found


async def request_job(call: Call, args: OfResource) -> dict[str, Any]:
    """A job, with the members of its payload for the JobAgent. A job without a JDL cannot run, and fails."""
    resource = _described(args)
    if not resource.get("Site"):
        raise Problem(422, "Site is missing in the resource description", code="PB001", key="Site")
    found = await call.service.matcher.match(call.caller, call.match_id(), [resource], 1)
    if not found:
        raise Fault(EWMSNOMATCH)
    (match,) = found
    payload = {} if match.payload is msgspec.UNSET else msgspec.json.decode(match.payload)
    jdl = payload.get("JDL") if isinstance(payload, dict) else None
    if not isinstance(jdl, str) or not jdl.strip():
        error = [{"source": "dirac", "text": "the payload has no JDL"}]
        await call.service.ends.answer(call.caller, Finish(match.job_id, match.attempt, "failed", error))
        raise Fault(EWMSJDL, f"the payload of job {match.job_id} has no JDL; the job has failed")
    return _given(match, payload, jdl)


def _given(match: Match, payload: dict[str, Any], jdl: str) -> dict[str, Any]:
    """The answer to a JobAgent. DIRAC 8 looks for DN, DIRAC 9 for Owner, and both report on the id within the JDL. A
    JDL that was made for another job has the id of that job."""
    requirements = msgspec.json.decode(match.requirements)
    jdl, found = _ID.subn(rf"\g<1>{match.job_id}", jdl)
    if not found:
        opened, bracket, rest = jdl.partition("[") if jdl.lstrip().startswith("[") else ("", "", jdl)
        jdl = f"{opened}{bracket}JobID = {match.job_id};\n{rest}"
    owner = requirements["OwnerDN"]
    return {
        "Owner": owner, "DN": owner, "Group": requirements["OwnerGroup"], **payload,
        "JDL": jdl, "JobID": match.job_id, "PilotInfoReportedFlag": True,
    }  # fmt: skip


async def matching_task_queues(call: Call, args: OfResource) -> dict[str, Any]:
    """The TaskQueues that match a resource."""
    text = msgspec.json.encode(_described(args)).decode()
    return await _task_queues(call, _MATCHING, call.setup, text)


async def active_task_queues(call: Call, _: Args) -> dict[str, Any]:
    """All TaskQueues with jobs."""
    return await _task_queues(call, _ACTIVE, call.setup)


async def _task_queues(call: Call, statement: LiteralString, *values: object) -> dict[str, Any]:
    async with call.service.database.long_call(call.setup):
        return dict(_task_queue(row) for row in await call.rows(statement, *values))


def _task_queue(row: Row) -> tuple[str, dict[str, Any]]:
    task_queue_id, priority, jobs, requirements = row
    wanted = msgspec.json.decode(requirements)
    return str(task_queue_id), {**wanted, "Owner": wanted["OwnerDN"], "Priority": priority, "Jobs": jobs}


METHODS = {
    "requestJob": Method(OfResource, request_job),
    "getMatchingTaskQueues": Method(OfResource, matching_task_queues),
    "getActiveTaskQueues": Method(Args, active_task_queues),
}
