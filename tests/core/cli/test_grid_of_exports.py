"""A grid in the exports of CRIC, PanDA, Rucio and JEDI, as these systems write them, from task to queue, and through a
downtime. All names and figures are invented.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.calls import Connection
from tests.commands import Cli

SITES = ("NORTH", "SOUTH", "WEST")
TIB = 2**40


def _queue(site: str) -> dict[str, Any]:
    return {
        "panda_site": f"{site.title()}-T2", "atlas_site": site, "panda_resource": f"{site}_PQ", "status": "online",
        "type": "unified", "capability": "ucore", "cloud": "US,CA", "corecount": "8", "maxrss": 16000, "mintime": "",
        "maxtime": 345600, "releases": ["AUTO"], "pledgedcpu": None, "params": [], "uconfig": {}, "tier": "T2D",
        "astorages": {"pr": [f"{site}_DATADISK"], "pw": [f"{site}_DATADISK"]},
    }  # fmt: skip


EXPORTS: dict[str, Any] = {
    "cric-queues": {f"{site}_PQ": _queue(site) for site in SITES},
    "cric-sites": {
        site: {"name": site, "state": "ACTIVE", "tier_level": 2, "datapolicies": [] if site == "WEST" else ["Nucleus"]}
        for site in SITES
    },
    "cric-storages": {
        f"{site}_DATADISK": {
            "name": f"{site}_DATADISK", "state": "ACTIVE", "site": site, "type": "DATADISK", "token": "ATLASDATADISK",
            "is_tape": False,
        }
        for site in SITES
    },
    "cric-closeness": [{"src": src, "dst": dst, "closeness": 1} for src in SITES for dst in SITES if src != dst],
    "software": {
        f"{site}_PQ": {
            "cmtconfigs": ["x86_64-el9-gcc13-opt"], "containers": ["any"], "cvmfs": ["atlas"], "tags": [],
            "architectures": [{"type": "cpu", "arch": ["x86_64"], "vendor": ["intel"], "instr": ["avx2"]}],
        }
        for site in SITES
    },
    "rucio-usage": {
        f"{site}_DATADISK": {"storage": {"used": 900 * TIB, "free": 300 * TIB, "updated_at": "2026-06-01"}}
        for site in SITES
    },
    "pilots": {f"{site}_PQ": {"getJob": 50, "updateJob": 400} for site in SITES},
    "rucio-replicas": [
        {
            "scope": "mc", "name": f"f{number}", "bytes": 2 * 10**9, "parents": ["mc:mc.in"],
            "rses": {"NORTH_DATADISK": ["root://north"], "SOUTH_DATADISK": ["root://south"]},
            "states": {"NORTH_DATADISK": "AVAILABLE", "SOUTH_DATADISK": "COPYING"},
        }
        for number in range(4)
    ],
    "job-counts": [
        {"computingSite": "WEST_PQ", "jobStatus": "running", "gshare": "MC", "njobs": 5, "ncores": 40,
         "nucleus": "NORTH", "prorated_diskio_avg": 70.5},
        {"computingSite": None, "jobStatus": "defined", "gshare": "MC", "njobs": 7},
    ],
    "jedi-tasks": {"success": True, "message": "", "data": {
        "jediTaskID": 41, "taskName": "mc.simul", "status": "assigning", "prodSourceLabel": "managed", "userName": "u",
        "gshare": "MC", "taskPriority": 500, "currentPriority": 500, "coreCount": 8, "ramCount": 1500, "cloud": "WORLD",
        "ramUnit": "MBPerCore", "cpuTime": 30, "cpuTimeUnit": "HS06sPerEvent", "processingType": "simul",
        "transHome": "Athena-23.0.1", "architecture": "x86_64-el9-gcc13-opt", "splitRule": "NF=1,US=2",
        "raw_task_params": {"jobParameters": [
            {"type": "template", "param_type": "input", "value": "${IN}", "dataset": "mc:mc.in"},
            {"type": "template", "param_type": "output", "value": "${OUT}", "dataset": "mc:mc.out"},
        ]},
    }},
}  # fmt: skip


@pytest.mark.slow
def test_a_task_goes_from_exports_to_a_nucleus_and_its_jobs_to_queues(cli: Cli, db: Connection, tmp_path: Path) -> None:
    def load(**exports: Any) -> str:
        given = []
        for name, value in exports.items():
            file = tmp_path / f"{name}.json"
            file.write_text(json.dumps(value))
            given += [f"--{name.replace('_', '-')}", file]
        printed = cli("load", *given, "--setup", "g")
        assert printed.code == 0, printed.err
        return printed.err

    def reasons(queue: str) -> str:
        rows = cli("explain", "task", 41, "--setup", "g", "--algorithm", "production_job", "--json").json["queues"]
        return " ".join(str(row["all_reasons"]) for row in rows if row["queue"].startswith(queue))

    said = load(**{name.replace("-", "_"): value for name, value in EXPORTS.items()})
    assert "7 jobs have no queue" in said
    assert "nucleus" not in said
    assert cli("assign", "tasks", "--setup", "g", "--seed", 1).code == 0
    query = "select nucleus from workload.task where task_id = 41"
    assert db.execute(query).fetchone() == ("NORTH",), cli("explain", "task", 41, "--setup", "g").out
    assert "NORTH_DATADISK" not in reasons("NORTH_PQ")
    off = {activity: {"status": {"value": "OFF"}} for activity in ("read_lan", "write_lan", "read_wan", "write_wan")}
    load(cric_storage_states={"NORTH_DATADISK": off})
    assert "storage-blacklist" in reasons("NORTH_PQ")
    assert "storage-blacklist" not in reasons("WEST_PQ")
    load(cric_storage_states={"NORTH_DATADISK": {"read_lan": {"status": {"value": "ON"}}}})
    assert "storage-blacklist" not in reasons("NORTH_PQ")
    assert cli("assign", "jobs", "--setup", "g", "--seed", 1).code == 0
    query = "select distinct queue from workload.job where task_id = 41 and queue is not null"
    assert {queue for (queue,) in db.execute(query)} <= {f"{site}_PQ" for site in SITES}
    assert db.execute("select count(*) from workload.job where task_id = 41 and queue is not null").fetchone() == (4,)
