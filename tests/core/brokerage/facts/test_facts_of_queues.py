"""Facts of queues: a world of many queues, each of which differs from a plain one in one thing."""

from typing import Any

import psycopg
from psycopg.rows import scalar_row

from broker import world
from tests.core.oracle.engine import wrong

Row = dict[str, Any]
Db = psycopg.Connection[Any]

NOW = "2026-03-01T12:00:00Z"
STORAGES: Row = {
    "R1": {"site": "S1", "space_free": 900, "space_expired": 90},
    "R2": {"site": "S2", "space_free": 1, "read_lan": "OFF", "write_wan": "TEST"},
    "W1": {"site": "S3", "space_free": 800, "space_expired": 80, "space_min_free": 100, "space_unavailable": 10},
    "W2": {"site": "S0", "space_free": 2, "write_lan": "OFF", "read_wan": "OFF"},
    "TAPE": {"site": "S1", "type": "DATATAPE", "is_tape": True, "read_lan": "ON", "write_wan": "ON"},
    "SHUT": {"site": "S1", "read_lan": "TEST", "write_lan": "TEST", "read_wan": "TEST", "write_wan": "OFF"},
    "SCRATCH": {"site": "S1", "type": "SCRATCHDISK"},
    "A_VP_DISK": {"site": "S1"},
    "NUC_DISK": {"site": "NUC", "write_wan": "OFF"},
    "NUC2_DISK": {"site": "NUC2"},
    "NUC2_SHUT": {"site": "NUC2", "write_wan": "OFF"},
}
PLAIN: Row = {
    "panda_site": "P", "type": "production",
    "astorages": {"read_lan": ["R1", "R2"], "write_lan": ["W1", "W2"]},
}  # fmt: skip
# A queue: its differences from PLAIN, and the facts to compare.
QUEUES: dict[str, tuple[Row, Row]] = {
    "PLAIN": ({}, {
        "output_storage": "W1", "storage_site": "S3", "has_output_storage": True,
        "space_free": 800, "space_usable": 770, "input_space_usable": 990, "input_storages": 2, "inputs_readable": 1,
        "output_storages": 2, "outputs_writable": 1, "inputs_writable_wan": 1, "outputs_readable_wan": 1,
        "datadisk_read_lan": True, "datadisk_write_lan": True, "datadisk_write_wan": True, "datadisk_read_wan": True,
        "has_vp_input": False, "is_nucleus": False, "is_production": True, "corepower": 10, "corecount": 1,
        "maxrss": None, "minrss": None, "maxtime": None, "mintime": None, "maxwdir": None, "transferringlimit": 2000,
        "reads_always_directly": False, "direct_access_lan": False, "connectivity": None, "ip_stack": None,
        "maxdiskio": None, "average_diskio": None, "max_io_intensity": None, "bare_nucleus": None, "uses_jumbo": False,
        "min_events_for_jumbo": None, "uses_only_local_data": False, "job_chunk_size": None, "releases_any": True,
        "releases_auto": False, "publishes_software": False, "pilots": 0, "laststart": None, "workers": 0, "ups": False,
        "has_slots": False, "core_running": 0, "running_all": 0, "activated_all": 0, "starting_all": 0,
        "transferring_all": 0, "transferring_to_unwritable": 0, "lock_age": None, "live_jobs": 0, "site_class": None,
    }),
    "CLOUDS": ({"cloud": "US, CA"}, {"cloud": "US"}),
    "NO_STORAGE": ({"astorages": {}}, {
        "output_storage": None, "storage_site": None, "has_output_storage": False, "space_free": 0, "space_usable": 0,
        "input_space_usable": None, "input_storages": 0, "inputs_readable": 0, "output_storages": 0,
        "outputs_writable": 0, "inputs_writable_wan": 0, "outputs_readable_wan": 0, "datadisk_read_lan": False,
        "datadisk_write_lan": False, "datadisk_write_wan": False, "datadisk_read_wan": False, "has_vp_input": False,
    }),
    "SHUT": ({"astorages": {"read_lan": ["SHUT"], "write_lan": ["SHUT"]}}, {
        "input_storages": 1, "inputs_readable": 0, "output_storages": 1, "outputs_writable": 0,
        "inputs_writable_wan": 0, "outputs_readable_wan": 0, "datadisk_read_lan": False, "datadisk_write_lan": False,
        "datadisk_write_wan": False, "datadisk_read_wan": False, "input_space_usable": None,
    }),
    "READS_SHUT": ({"astorages": {"read_lan": ["SHUT"], "write_lan": ["W1"]}}, {
        "datadisk_read_lan": False, "datadisk_write_lan": True, "datadisk_write_wan": False, "datadisk_read_wan": True,
    }),
    "WRITES_SHUT": ({"astorages": {"read_lan": ["R1"], "write_lan": ["SHUT"]}}, {
        "datadisk_read_lan": True, "datadisk_write_lan": False, "datadisk_write_wan": True, "datadisk_read_wan": False,
    }),
    "NO_DATADISK": ({"astorages": {"read_lan": ["TAPE", "SCRATCH"], "write_lan": ["SCRATCH"]}}, {
        "inputs_readable": 2, "outputs_writable": 1, "datadisk_read_lan": False, "datadisk_write_lan": False,
        "datadisk_write_wan": False, "datadisk_read_wan": False,
    }),
    "ONE_STORAGE": ({"astorages": {"read_lan": ["W1"], "write_lan": ["W1"]}}, {"input_space_usable": None}),
    "SITE": ({"storage_site": "OTHER"}, {"storage_site": "OTHER"}),
    "VP": ({"astorages": {"read_lan": ["A_VP_DISK"], "write_lan": ["W1"]}}, {"has_vp_input": True}),
    "VP_OUT": ({"astorages": {"read_lan": ["R1"], "write_lan": ["A_VP_DISK"]}}, {"has_vp_input": False}),
    "UNIFIED": ({"type": "unified"}, {"is_production": True}),
    "ANALYSIS": ({"type": "analysis"}, {"is_production": False}),
    "GRAND": ({"type": "analysis", "catchall": "grandly_unified"}, {"is_production": True}),
    "NUCLEUS": ({"role": "nucleus", "panda_site": "NUC0"}, {"is_nucleus": True, "bare_nucleus": None}),
    "BARE": ({"catchall": "bareNucleus=only"}, {"bare_nucleus": "only"}),
    "BARE_SET": ({"panda_site": "SET", "catchall": "bareNucleus=only"}, {"bare_nucleus": "allow"}),
    "LIMITS": ({"corecount": 8, "corepower": 12.5, "maxrss": 1, "minrss": 2, "maxtime": 3, "mintime": 4, "maxwdir": 5,
                "transferringlimit": 6, "pledgedcpu": -1, "maxdiskio": 7, "releases": ["AUTO"], "jobseed": "es"}, {
        "corecount": 8, "corepower": 12.5, "maxrss": 1, "minrss": 2, "maxtime": 3, "mintime": 4, "maxwdir": 5,
        "transferringlimit": 6, "pledgedcpu": -1, "maxdiskio": 7, "releases_any": False, "releases_auto": True,
        "jobseed": "es",
    }),
    "ZEROS": ({"corepower": 0, "maxrss": 0, "minrss": 0, "maxtime": 0, "mintime": 0, "maxwdir": 0,
               "transferringlimit": 0, "maxdiskio": 0, "releases": None, "jobseed": None, "direct_access_lan": None}, {
        "corepower": 10, "maxrss": None, "minrss": None, "maxtime": None, "mintime": None, "maxwdir": None,
        "transferringlimit": 2000, "maxdiskio": None, "releases_any": False, "releases_auto": False, "jobseed": "std",
        "direct_access_lan": False,
    }),
    "DISKIO": ({"maxdiskio": 1}, {"maxdiskio": 1}),
    "DIRECT": ({"maxinputsize": -1, "direct_access_lan": True}, {
        "reads_always_directly": True, "direct_access_lan": True}),
    "ALMOST_DIRECT": ({"maxinputsize": 0}, {"reads_always_directly": False}),
    "CONNECTED": ({"wnconnectivity": " Full # IPv6 "}, {"connectivity": "full", "ip_stack": "IPv6"}),
    "CONNECTED_BY": ({"wnconnectivity": "http"}, {"connectivity": "http", "ip_stack": None}),
    "STACK": ({"wnconnectivity": "#IPv4"}, {"connectivity": None, "ip_stack": "IPv4"}),
    "ATTRIBUTES": (
        {"catchall": "useJumboJobs,minEventsForJumbo=50,use_only_local_data,jobChunkSize=7,max_io_intensity=9"}, {
            "uses_jumbo": True, "min_events_for_jumbo": 50, "uses_only_local_data": True, "job_chunk_size": 7,
            "max_io_intensity": 9}),
    "CHUNK_1": ({"catchall": "jobChunkSize=1"}, {"job_chunk_size": 1}),
    "CHUNK_0": ({"catchall": "jobChunkSize=0"}, {"job_chunk_size": None}),
    "CHUNK_BELOW": ({"catchall": "jobChunkSize=-1"}, {"job_chunk_size": None}),
    "CHUNK_MOST": ({"catchall": "jobChunkSize=1000000"}, {"job_chunk_size": 1000000}),
    "CHUNK_OVER": ({"catchall": "jobChunkSize=1000001"}, {"job_chunk_size": 1000000}),
    "MEASURED": ({"pilots": {"getjob": 3, "updatejob": 4}, "laststart": {"hours_ago": 2}, "average_diskio": 11,
                  "workers": {"running": 5, "submitted": 6}, "ups": True, "site_class": 1,
                  "core_statistics": {"running": 70, "starting": 8},
                  "slots": [{"gshare": "A", "resource_type": "SCORE", "numslots": 0}]}, {
        "pilots": 7, "workers": 11, "laststart": "2026-03-01T10:00:00+00:00",
        "average_diskio": 11, "ups": True, "core_running": 78, "has_slots": True,
        "site_class": 1,
    }),
    "RUNNING": ({"workers": {"running": 5}, "core_statistics": {"running": 70}}, {"workers": 5, "core_running": 70}),
    "STARTING": ({"workers": {"submitted": 6}, "core_statistics": {"starting": 8}}, {"workers": 6, "core_running": 8}),
    "PILOTS": ({"pilots": {"getjob": 3, "at": {"hours_ago": 3}}}, {"pilots": 3}),
    "PILOTS_OLD": ({"pilots": {"getjob": 3, "at": {"hours_ago": 3.001}}}, {"pilots": 0}),
    "PILOTS_AHEAD": ({"pilots": {"getjob": 3, "at": {"hours_ago": -1}}}, {"pilots": 3}),
    "WORKERS": ({"workers": {"running": 5, "at": {"hours_ago": 1}}}, {"workers": 5}),
    "WORKERS_OLD": ({"workers": {"running": 5, "at": {"hours_ago": 1.001}}}, {"workers": 0}),
    "COUNTED": ({}, {
        "running_all": 3, "activated_all": 30, "starting_all": 300, "transferring_all": 11000, "average_diskio": 5,
        "transferring_to_unwritable": 1000,
    }),
    "DISKIO_GIVEN": ({"average_diskio": 0}, {"average_diskio": 0}),
    "LIVE": ({}, {"live_jobs": 17}),
    "LOCKED": ({}, {"lock_age": 0}),
    "SOFTWARE": ({}, {"publishes_software": True}),
}  # fmt: skip


def _world() -> Row:
    share = {"gshare": "A", "resource_type": "SCORE", "nucleus": "NUC"}
    return {
        "now": NOW,
        "storages": STORAGES,
        "queues": {
            **{name: PLAIN | changes for name, (changes, _) in QUEUES.items()},
            "NUC_PQ": {"role": "nucleus", "panda_site": "NUC", "astorages": {"write_lan": ["NUC_DISK", "NUC2_DISK"]}},
            "NUC2_PQ": {"role": "nucleus", "panda_site": "NUC2", "astorages": {"write_lan": ["NUC2_DISK", "NUC_DISK"]}},
        },
        "nuclei": {"SET": {"bare_nucleus": "allow"}},
        "statistics": [
            {"queue": "COUNTED", **share, "status": "running", "njobs": 1, "ncores": 1, "diskio": 9},
            {"queue": "COUNTED", **share, "gshare": "B", "status": "running", "njobs": 2, "ncores": 1, "diskio": 3},
            {"queue": "COUNTED", **share, "status": "activated", "njobs": 30, "ncores": 1},
            {"queue": "COUNTED", **share, "status": "starting", "njobs": 300, "ncores": 1},
            {"queue": "COUNTED", **share, "status": "transferring", "njobs": 1000, "ncores": 1},
            {"queue": "COUNTED", **share, "nucleus": "NUC2", "status": "transferring", "njobs": 10000, "ncores": 1},
            {"queue": "DISKIO_GIVEN", **share, "status": "running", "njobs": 1, "ncores": 1, "diskio": 9},
        ],
        "live_counter": {"LIVE": 17},
        "locks": ["LOCKED"],
        "software": {"SOFTWARE": {"cmtconfigs": [], "containers": [], "cvmfs": [], "architectures": [], "tags": []}},
    }  # fmt: skip


def _facts(db: Db, setup: str, analysis: bool) -> dict[str, Row]:
    cursor = db.cursor(row_factory=scalar_row)
    query = "select to_jsonb(f) || jsonb_build_object('lock_age', extract(epoch from f.lock_age))" \
            " from brokerage.facts_of_queues(%s, %s) f"  # fmt: skip
    return {row["queue"]: row for row in cursor.execute(query.encode(), [setup, analysis]).fetchall()}


def test_facts_of_queues_are_those_of_the_world(lab: Db) -> None:
    """Another setup has queues of the same names with other facts."""
    plain = dict.fromkeys(QUEUES, QUEUES["ATTRIBUTES"][0] | QUEUES["MEASURED"][0] | QUEUES["LIMITS"][0])
    other = {"queues": plain, "locks": list(QUEUES), "live_counter": dict.fromkeys(QUEUES, 5), "now": NOW,
             "storages": {name: {"read_lan": "OFF", "write_lan": "OFF", "site": "X"} for name in STORAGES}}  # fmt: skip
    world.load(lab, [other], "other")
    world.load(lab, [_world()], "facts")
    found = _facts(lab, "facts", False)
    differing = {name: wrong(found[name], facts) for name, (_, facts) in QUEUES.items()}
    assert {name: different for name, different in differing.items() if different} == {}
    assert len(found) == len(QUEUES) + 2


def test_analysis_uses_storages_of_its_own_scope_where_the_queue_has_them(lab: Db) -> None:
    own = {"read_lan": ["R2"], "write_lan": ["W2"], "read_lan_analysis": ["R1"], "write_lan_analysis": ["W1", "SHUT"]}
    one = {"now": NOW, "storages": STORAGES, "queues": {"OWN": PLAIN | {"astorages": own}, "PLAIN": PLAIN}}
    world.load(lab, [one], "facts")
    production, analysis = (_facts(lab, "facts", each) for each in (False, True))
    assert wrong(production["OWN"], {"output_storage": "W2", "inputs_readable": 0, "output_storages": 1}) == {}
    assert wrong(analysis["OWN"], {"output_storage": "W1", "inputs_readable": 1, "output_storages": 2}) == {}
    assert analysis["PLAIN"] == production["PLAIN"]


def test_cores_in_use_count_the_jobs_of_this_database_with_labels_of_the_broker(lab: Db) -> None:
    kinds = [("running", "managed", 8), ("starting", "test", 4), ("running", "user", 2), ("starting", "panda", 1),
             ("activated", "managed", 16), ("running", None, 32)]  # fmt: skip
    jobs = [{"id": number, "queue": "MEASURED", "status": status, "label": label, "cores": cores}
            for number, (status, label, cores) in enumerate(kinds, 1)]  # fmt: skip
    world.load(lab, [_world() | {"jobs": jobs}], "facts")
    assert _facts(lab, "facts", False)["MEASURED"]["core_running"] == 78 + 8 + 4 + 32
    assert _facts(lab, "facts", True)["MEASURED"]["core_running"] == 78 + 2 + 1
