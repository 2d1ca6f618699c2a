"""WorkloadManagement/JobMonitoring: the one call that a JobAgent needs after a failed payload."""

from broker.service.adapters.dirac.jobs import states_of
from broker.service.adapters.dirac.rpc import Args, JobId, Method
from broker.service.endpoint import Call

_STATUSES = {
    "matched": "Matched", "running": "Running",
    "finished": "Done", "failed": "Failed", "cancelled": "Killed", "closed": "Killed",
}  # fmt: skip
_NOT_THE_CALLERS = "Rescheduled"


class OfJobs(Args):
    """Jobs."""

    job_ids: JobId | list[JobId]


async def statuses(call: Call, args: OfJobs) -> dict[str, dict[str, str]]:
    """The status of each job. A job that the caller does not have went to another agent, or back to its TaskQueue."""
    asked = [int(one) for one in (args.job_ids if isinstance(args.job_ids, list) else [args.job_ids])]
    known = await states_of(call, asked)
    return {str(one): {"Status": _STATUSES[known[one]] if one in known else _NOT_THE_CALLERS} for one in asked}


METHODS = {"getJobsStatus": Method(OfJobs, statuses)}
