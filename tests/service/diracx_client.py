"""Run DiracX's own client. Arguments: URL, tokens of an agent, a viewer and a submitter, job ids.

test_diracx.py runs this program with an interpreter that has diracx-client, which the other tests do not need.
The program prints the answers that the client returns.
"""

import json
import sys
from datetime import UTC, datetime
from typing import Any

# mypy: disable-error-code="import-not-found"
from azure.core.exceptions import HttpResponseError
from azure.core.pipeline.policies import HeadersPolicy
from diracx.client._generated._client import Dirac
from diracx.client.models import HeartbeatData, JobCommand, SetJobStatusReturn
from diracx.core.models.search import ScalarSearchOperator, SortDirection, VectorSearchOperator


def client(url: str, token: str) -> Any:
    """The client, with a token that it got elsewhere."""
    policy = HeadersPolicy({"Authorization": f"Bearer {token}"})
    return Dirac(endpoint=url, headers_policy=policy)


def status(api: Any, job: int, **names: str) -> Any:
    """Set a status as DIRAC's agents do."""
    return api.jobs.set_job_statuses({job: {datetime.now(UTC): {"Source": "JobAgent", **names}}})


def main(url: str, agent: str, viewer: str, submitter: str, *jobs: str) -> dict[str, Any]:
    """Use three jobs that the agent holds and one that is waiting."""
    done, killed, failed, waiting = map(int, jobs)
    found: dict[str, Any] = {}
    with client(url, agent) as api:
        answer = status(api, done, Status="Running")
        assert isinstance(answer, SetJobStatusReturn)
        found["running"] = answer.success[str(done)].status
        figures = {"load_average": 0.5, "cpu_consumed": 3, "memory_used": 1500.5, "wall_clock_time": 4}
        beats = {str(job): HeartbeatData(**figures) for job in (done, failed, killed)}
        found["metadata"] = api.jobs.patch_metadata({str(failed): {"HostName": "n17", "Memory(MB)": 64000}})
        found["no command"] = api.jobs.add_heartbeat(beats)
    with client(url, submitter) as api:
        status(api, killed, Status="Killed")
    with client(url, agent) as api:
        (command,) = api.jobs.add_heartbeat(beats)
        assert isinstance(command, JobCommand)
        found["command"] = [command.job_id == killed, command.command]
        status(api, killed, Status="Killed")
        status(api, done, Status="Completing")
        status(api, done, Status="Done", MinorStatus="Execution Complete")
        status(api, failed, Status="Failed", MinorStatus="Stalled", ApplicationStatus="exit 3")
        try:
            status(api, waiting, Status="Done")
        except HttpResponseError as error:
            found["refused"] = error.status_code
    with client(url, viewer) as api:
        operator = VectorSearchOperator.IN
        search = [{"parameter": "JobID", "operator": operator, "values": [done, killed, waiting]}]
        sort = [{"parameter": "JobID", "direction": SortDirection.ASC}]
        found["jobs"] = api.jobs.search(parameters=["JobID", "Status"], search=search, sort=sort)
        found["page"] = api.jobs.search(parameters=["JobID"], search=search, sort=sort, page=2, per_page=2)
        one = [{"parameter": "Status", "operator": ScalarSearchOperator.EQUAL, "value": "Done"}]
        found["summary"] = api.jobs.summary(grouping=["Status"], search=one)
    return found


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
