"""CRIC's exports and PanDA's network metrics, reduced to a record or two; and the world that a setup holds."""

import json
from typing import Any

from broker import world
from tests.calls import Connection

# A record of CRIC's export of PanDA queues, reduced, and one with the few fields that some queues have.
QUEUES: dict[str, Any] = {
    "AGLT2": {
        "astorages": {"pr": ["AGLT2_DATADISK"], "pw": ["AGLT2_DATADISK", "AGLT2_SCRATCHDISK"], "es_events": ["OS_X"]},
        "atlas_site": "AGLT2",
        "availablecpu": None,
        "capability": "ucore",
        "catchall": "",
        "cloud": "US",
        "coreenergy": 10.0,
        "corecount": 8,
        "corepower": 14.54,
        "direct_access_lan": True,
        "direct_access_wan": True,
        "fairsharepolicy": "",
        "jobseed": "eshigh",
        "maxdiskio": 5000,
        "maxinputsize": 16000,
        "maxrss": 48000,
        "maxtime": 258000,
        "maxwdir": 106498,
        "minrss": 0,
        "mintime": "",
        "panda_resource": "AGLT2",
        "panda_site": "GreatLakesT2",
        "params": {"maxNewWorkersPerCycle": 300, "unified_dispatch": True},
        "pledgedcpu": None,
        "queues": [{"ce_endpoint": "gate01.aglt2.org:9619", "ce_flavour": "HTCONDOR-CE"}],
        "releases": ["AUTO"],
        "resource_type": "GRID",
        "site": "GreatLakesT2",
        "state": "ACTIVE",
        "status": "online",
        "tier": "T2D",
        "transferringlimit": 3000,
        "type": "unified",
        "uconfig": {"resource_type_limits": {"SCORE_HIMEM": 500}},
        "wnconnectivity": "full#IPv4",
        "workflow": "pull_ups",
    },
    "SPARSE_QUEUE": {"status": "offline", "cloud": "DE", "country": "Germany", "corecount": 1, "maxrss": 2000},
}
STORAGES: dict[str, Any] = {
    "AGLT2_DATADISK": {
        "name": "AGLT2_DATADISK", "state": "ACTIVE", "site": "AGLT2", "type": "DATADISK", "token": "ATLASDATADISK",
        "is_tape": False, "space_free": 1500.5,
        "detailed_status": {"read_lan": "ON", "write_wan": {"status": {"value": "OFF"}}, "delete": "ON"},
    },
    "GONE": {"name": "GONE", "state": "DISABLED", "site": "AGLT2", "type": "DATADISK", "is_tape": False},
}  # fmt: skip
TAGS: dict[str, Any] = {
    "AGLT2": {
        "cmtconfigs": ["x86_64-centos7-gcc62-opt"], "containers": ["any", "/cvmfs"], "cvmfs": ["atlas", "nightlies"],
        "architectures": [{"arch": ["x86_64"], "instr": ["avx2"], "type": "cpu", "vendor": ["intel", "excl"]}],
        "tags": [
            {
                "cmtconfig": "x86_64-slc6-gcc62-opt", "container_name": "", "project": "Athena", "release": "21.0.38",
                "sources": [], "tag": "VO-atlas-Athena-21.0.38-x86_64-slc6-gcc62-opt",
            },
        ],
    },
}  # fmt: skip
NOW = "2026-04-01T12:00:00"
METRICS: dict[str, Any] = {
    "AGLT2:CERN": {
        "files": {
            "done": {"Production Output": {"1h": 5, "6h": 20, "timestamp": NOW}},
            "queued": {
                "Production Output": {"latest": 12, "timestamp": "2026-04-01T11:30:00"},
                "Express": {"latest": 3, "timestamp": "2026-04-01T10:59:00"},
            },
        },
        "mbps": {
            "perfsonar": {"1h": 900.0, "1d": 900.0, "1w": 900.0, "timestamp": NOW},
            "dashb": {"1h": 2.5, "1w": 1.5, "timestamp": NOW},
        },
    },
    "CERN:AGLT2": {"mbps": {"rucio": {"1h": 7.0, "timestamp": "2026-04-01T10:00:00"}, "dashb": {"1d": 4.0}}},
    "OLD:AGLT2": {"mbps": {"rucio": {"1h": 7.0, "timestamp": "2026-03-31T12:00:00"}}},
}


def held(db: Connection, setup: str = "default") -> dict[str, Any]:
    """The world that a setup holds, as a dump shows it."""
    found: dict[str, Any] = json.loads("".join(world.dump(db, setup)))
    return found
