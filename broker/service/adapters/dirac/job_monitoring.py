"""WorkloadManagement/JobMonitoring: the one call without which a JobAgent does not get over a payload that failed."""

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
    """The status of each job. One that the caller does not have has gone to somebody else, or back."""
    asked = [int(one) for one in (args.job_ids if isinstance(args.job_ids, list) else [args.job_ids])]
    known = await states_of(call, asked)
    return {
        str(one): {"Status": _STATUSES[known[one]] if one in known else _NOT_THE_CALLERS} for one in asked
    }  # fmt: skip


METHODS = {"getJobsStatus": Method(OfJobs, statuses)}
