"""A pilot of PanDA that gets, runs and ends a job, with the pilot's own code: `pilot_program.py URL QUEUE WAY`.

The program needs nothing else: test_pilot.py starts it in a separate folder, with the token in the environment.
It sets the values that a site's information system has for a queue. The last line that it prints is JSON.
"""

import json
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from pilot.control import job as control
from pilot.info import infosys
from pilot.info.jobdata import JobData
from pilot.util import https
from pilot.util.constants import PILOT_POST_GETJOB, get_pilot_version
from pilot.util.workernode import get_node_name


def arguments(url: str, queue: str) -> Any:
    """The options that the command line of a pilot gives."""
    place = urlsplit(url)
    return SimpleNamespace(
        url=f"{place.scheme}://{place.hostname}", port=place.port, queue=queue, capath=None, cacert=None,
        working_group="", jobtype="", allow_other_country="", country_group="", job_label="managed", resource_type="",
        allow_same_user=False, version_tag="PR", update_server=True, pod=False, workflow="generic", harvester=False,
        internet_protocol_version="IPv4", pilot_user="generic", timing={}, abort_job=threading.Event(),
        last_heartbeat=0.0, mainworkdir=str(Path.cwd()), debug=False, cleanup=True,
    )  # fmt: skip


def older(args: Any) -> dict[str, Any]:
    """Process a job through the older API, with the functions of the pilot's threads."""
    definition = control.get_job_definition_from_server(args)
    job = JobData(definition)
    job.workdir = str(Path.cwd())
    sent = [control.send_state(job, args, state) for state in ("starting", "running", "finished")]
    second = control.get_job_definition_from_server(args)
    return {
        "job": job.jobid, "attempt": job.attemptnr, "command": f"{job.transformation} {job.jobparams}", "sent": sent,
        "completed": job.completed, "aborted": args.abort_job.is_set(), "second": int(second["StatusCode"]),
    }  # fmt: skip


def killed(args: Any) -> dict[str, Any]:
    """Run a job that is to be killed: `input` waits until it is killed."""
    job = JobData(control.get_job_definition_from_server(args))
    job.workdir = str(Path.cwd())
    print("running", flush=True)
    input()
    control.send_state(job, args, "running")
    aborted, errors = args.abort_job.is_set(), job.piloterrorcodes
    return {"sent": control.send_state(job, args, "failed"), "aborted": aborted, "errors": errors}


def failed(args: Any) -> dict[str, Any]:
    """Run a job that fails, with the errors and figures that the pilot's threads would set."""
    job = JobData(control.get_job_definition_from_server(args))
    job.workdir = str(Path.cwd())
    now = time.time()
    args.timing[job.jobid] = {PILOT_POST_GETJOB: now - 100}
    started = control.send_state(job, args, "running")
    job.piloterrorcodes, job.piloterrordiags = [1305], ["the payload failed"]
    job.exeerrorcode, job.exeerrordiag = 65, "exit code 65"
    job.cpuconsumptiontime, job.cpuconsumptionunit, job.cpuconversionfactor = 3600, "s", 1.0
    return {"sent": [started, control.send_state(job, args, "failed")], "node": get_node_name()}


def v1(args: Any) -> dict[str, Any]:
    """Process a job through API v1, which the pilot calls with the same function."""

    def call(method: str, **members: Any) -> Any:
        return https.send_update(f"api/v1/pilot/{method}", members, args.url, args.port, ipv="IPv4", max_attempts=1)

    from pilot.util.workernode import get_workernode_map

    node = call("update_worker_node", **get_workernode_map("a site", args.queue, cache=False))
    got = call("acquire_jobs", site_name=args.queue, memory=2000)
    job = JobData(got["data"]["jobs"][0])
    sent = [
        call(
            "update_job",
            job_id=int(job.jobid),
            job_status=state,
            attempt_nr=job.attemptnr,
            node=get_node_name(),
            core_count=4,
            max_rss=2048000,
        )
        for state in ("starting", "running", "finished")
    ]
    second = call("acquire_jobs", site_name=args.queue)
    return {
        "job": job.jobid, "attempt": job.attemptnr, "command": f"{job.transformation} {job.jobparams}",
        "node": node["success"], "sent": [one["data"]["command"] for one in sent], "second": second["message"],
        "types": sorted(https.get_memory_limits(args.url, args.port)),
    }  # fmt: skip


def main() -> None:
    """Run the API that the command line names."""
    url, queue, way = sys.argv[1:]
    args = arguments(url, queue)
    infosys.queuedata = SimpleNamespace(
        resource=queue, name=queue, site="a site", status="online", catchall="", maxwdir=10_000, params={},
        resource_type="GRID",
    )  # fmt: skip
    https.https_setup(args, get_pilot_version())
    print(json.dumps({"older": older, "killed": killed, "failed": failed, "v1": v1}[way](args)))


if __name__ == "__main__":
    main()
