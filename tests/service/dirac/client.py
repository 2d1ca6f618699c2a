"""DIRAC's own clients, run by another Python, which has DIRAC. Calls and answers are lines of JSON.

A call is [client, method, arguments]. One JobReport is kept for each job; the first argument names the job.
"""

import json
import os
import sys
from typing import Any

import DIRAC


def main() -> None:
    """Answer each line."""
    addresses = {
        name: f"{os.environ['SERVICE']}/WorkloadManagement/{name}"
        for name in ("Matcher", "JobStateUpdate", "JobMonitoring")
    }
    DIRAC.initialize(
        require_auth=False,
        extra_config={
            "DIRAC": {
                "VirtualOrganization": "lhcb",
                "Security": {"UseTokens": "yes", "Authorization": {"issuer": os.environ["SERVICE"]}},
                "Setup": "Test",
                "Setups": {"Test": {"WorkloadManagement": "Main"}},
            },
            # DIRAC 9 reads addresses from the first path, DIRAC 8 from the path of the setup
            "Systems": {"WorkloadManagement": {"URLs": addresses, "Main": {"URLs": addresses}}},
        },
    )
    from DIRAC.Core.Utilities import DErrno
    from DIRAC.WorkloadManagementSystem.Client.JobMonitoringClient import JobMonitoringClient
    from DIRAC.WorkloadManagementSystem.Client.JobReport import JobReport
    from DIRAC.WorkloadManagementSystem.Client.JobStateUpdateClient import JobStateUpdateClient
    from DIRAC.WorkloadManagementSystem.Client.MatcherClient import MatcherClient

    clients = {one.__name__: one for one in (MatcherClient, JobStateUpdateClient, JobMonitoringClient)}
    reports: dict[int, Any] = {}
    print(json.dumps({"version": DIRAC.version, "no match": DErrno.EWMSNOMATCH}), flush=True)
    for line in sys.stdin:
        name, method, args = json.loads(line)
        if name == "JobReport":
            job_id, *args = args
            client = reports.setdefault(job_id, JobReport(job_id, "JobWrapper@LCG.NORTH.org"))
        else:
            client = clients[name]()
        result = getattr(client, method)(*args)
        kept = {key: result[key] for key in ("OK", "Value", "Errno", "Message") if key in result}
        print(json.dumps(kept, default=str), flush=True)


main()
