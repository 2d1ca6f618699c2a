"""JEDI's tasks and PanDA's counts as their interfaces give them, and the values that a setup gets."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from broker import errors, world
from broker.world import exports
from tests.calls import Connection
from tests.exports import held

RULES = (
    "nFilesPerJob=2,t1Weight=-1,ipConnectivity=http,ipStack=IPv6,useScout=will_update_requirements,"
    "allowInputLAN=only,avoidVP=1,addNthFieldToLFN=1_2,onlyTagsForFC=1"
)
# A row of JEDI_Tasks as PanDA's interface gives it, reduced; names and numbers are invented.
ROW: dict[str, Any] = {
    "jediTaskID": 41000001, "taskName": "mc.invented.simul", "status": "ready", "userName": "inventor",
    "creationDate": "2026-03-01 10:00:00", "frozenTime": "2026-03-01 11:00:00", "prodSourceLabel": "managed",
    "workingGroup": None, "coreCount": 8, "processingType": "simul", "taskPriority": 800, "currentPriority": 900,
    "architecture": "x86_64-el9-gcc13-opt", "transUses": None, "transHome": "Athena-23.0.1", "splitRule": RULES,
    "walltime": 0, "walltimeUnit": None, "outDiskCount": 500, "outDiskUnit": "kB", "ramCount": 1500,
    "ramUnit": "MBPerCore", "baseRamCount": 1000, "cloud": "WORLD", "site": None, "parent_tid": 41000001,
    "eventService": 0, "cpuTime": 30, "cpuTimeUnit": "HS06sPerEvent", "cpuEfficiency": 80, "baseWalltime": 600,
    "nucleus": "NORTH", "gshare": "MC Default", "resource_type": "MCORE", "diskIO": 12, "container_name": None,
    "raw_task_params": {
        "taskName": "mc.invented.simul", "includedSite": None, "excludedSite": "SOUTH_PQ,WEST*",
        "jobParameters": [
            {"type": "constant", "value": "--maxEvents=10"},
            {"type": "template", "param_type": "input", "value": "${IN/L}", "dataset": "mc:mc.evgen.1/"},
            {"type": "template", "param_type": "output", "value": "x._${SN}", "dataset": "mc:mc.hits.1/", "token": "T"},
        ],
        "log": {"type": "template", "param_type": "log", "value": "l._${SN}", "dataset": "mc:mc.log.1/"},
    },
}  # fmt: skip
# A task as a client of PanDA submits it, reduced.
PARAMETERS: dict[str, Any] = {
    "taskName": "user.inventor.run/", "userName": "Inventor", "vo": "atlas", "prodSourceLabel": "user",
    "taskPriority": 1000, "processingType": "panda-client-1-jedi-run", "architecture": "x86_64-el9-gcc13-opt",
    "transUses": "Atlas-23.0.1", "transHome": None, "includedSite": ["NORTH_PQ"], "excludedSite": [],
    "ramCount": 2000, "ramCountUnit": "MBPerCore", "nGBPerJob": "MAX", "nEventsPerJob": 1000,
    "nEventsPerInputFile": 500, "skipScout": True, "useLocalIO": 1,
    "jobParameters": [
        {
            "type": "template", "param_type": "input", "value": "${IN}",
            "dataset": "user.inventor.in/,user.inventor.in2/",
        },
    ],
    "log": {"type": "template", "param_type": "log", "value": "l", "dataset": "user.inventor.run.log/"},
}  # fmt: skip
NOW = "2026-04-01T12:00:00+00:00"
HELD = {"now": NOW, "queues": {"NORTH_PQ": {"panda_site": "NORTH"}, "ANALY_NORTH": {}}}


def answer(data: Any) -> dict[str, Any]:
    """An answer of PanDA's interface."""
    return {"success": True, "message": "", "data": data}


def bigpanda(row: dict[str, Any]) -> dict[str, Any]:
    """A task as the monitor's page gives it: columns in small letters, the datasets beside them."""
    rules = "NF=2,TW=-1,IP=2,IK=6,US=2,IL=2,AV=1,AN=1,2,OT=1"
    columns = {key.lower(): entry for key, entry in row.items() if key != "raw_task_params"} | {"splitrule": rules}
    datasets = [
        {"datasetname": "mc:mc.log.1", "type": "log", "masterid": None},
        {"datasetname": "mc:db.1", "type": "input", "masterid": 7},
        {"datasetname": "mc:mc.evgen.1", "type": "input", "masterid": None},
        {"datasetname": "mc:mc.hits.1", "type": "output", "masterid": None, "storagetoken": "T"},
    ]
    return {"task": columns, "taskparams": json.dumps(row["raw_task_params"]), "datasets": datasets}


@pytest.mark.parametrize("shape", [lambda row: row, answer, lambda row: answer([row]), lambda row: {"41000001": row}])
def test_a_row_of_jedi_is_loaded_as_a_task(db: Connection, shape: Callable[[Any], Any]) -> None:
    assert exports.load(db, "jedi-tasks", shape(ROW)).lacking == []
    [task] = held(db)["tasks"]
    assert task["split"] == {
        "nFilesPerJob": 2,
        "t1Weight": -1,
        "ipConnectivity": 2,
        "ipStack": 6,
        "useScout": 2,
        "allowInputLAN": 2,
        "avoidVP": True,
    }
    assert task["params"] == {"excluded_site": ["SOUTH_PQ", "WEST*"]}
    assert (task["input"], [output["name"] for output in task["output"]]) == (["mc.evgen.1"], ["mc.hits.1", "mc.log.1"])
    assert task["output"][0]["token"] == "T"
    same = {"id": 41000001, "user": "inventor", "core_count": 8, "current_priority": 900}
    same |= {"nucleus": "NORTH", "gshare": "MC Default", "disk_io": 12}
    assert {key: task.get(key) for key in same} == same
    assert (task["frozen"], task["only_tags_for_fc"]) == ("2026-03-01T11:00:00+00:00", True)
    assert "parent" not in task or task["parent"] is None


def test_a_task_of_the_monitor_gives_the_same_as_a_row_of_jedi(db: Connection) -> None:
    exports.load(db, "jedi-tasks", ROW)
    [first] = held(db)["tasks"]
    exports.load(db, "jedi-tasks", bigpanda(ROW))
    [again] = held(db)["tasks"]
    assert again.pop("input") == ["mc.evgen.1", "db.1"]
    assert first.pop("input") == ["mc.evgen.1"]
    assert sorted(output["name"] for output in again.pop("output")) == ["mc.hits.1", "mc.log.1"]
    first.pop("output")
    assert again == first


def test_parameters_of_a_task_are_translated_as_jedi_does(db: Connection) -> None:
    imported = exports.load(db, "jedi-tasks", {"7": PARAMETERS})
    assert imported.lacking == [
        "1 task has no global share (gshare): the default share is taken, such as task 7",
        "1 task has no status: they count as ready, such as task 7",
    ]
    [task] = held(db)["tasks"]
    assert task["split"] == {
        "nEventsPerJob": 1000,
        "nFilesPerJob": 2,
        "useLocalIO": True,
        "limitedSites": 1,
        "useScout": 2,
        "maxCoreCount": 16,
    }
    assert task["params"] == {"included_site": ["NORTH_PQ"]}
    assert task["input"] == ["user.inventor.in", "user.inventor.in2"]
    made = {"label": "user", "base_walltime": 60, "out_disk_count": 500}
    assert {key: task.get(key) for key in made} == made
    assert (task["task_priority"], task["current_priority"]) == (1000, 1000)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"maxCoreCount": 16, "useScout": 2, "useLocalIO": True}),
        ({"maxCoreCount": 4}, {"maxCoreCount": 4}),
        ({"official": True}, {"useScout": 1}),
        ({"official": False}, {"useScout": 2}),
        ({"useLocalIO": 0}, {"useLocalIO": None, "allowInputLAN": None}),
        ({"useLocalIO": None, "forceStaged": None}, {"useLocalIO": None}),
        ({"transUses": "Atlas-20.20.1", "useLocalIO": 0}, {"useLocalIO": True}),
        ({"transUses": "Atlas-20.21.1", "useLocalIO": 0}, {"useLocalIO": None}),
        ({"prodSourceLabel": "managed"}, {"maxCoreCount": None, "useScout": 1}),
    ],
)
def test_a_new_task_gets_the_split_rules_of_jedi(db: Connection, given: Any, expected: dict[str, Any]) -> None:
    exports.load(db, "jedi-tasks", {"7": PARAMETERS | given})
    split = held(db)["tasks"][0]["split"]
    assert {rule: split.get(rule) for rule in expected} == expected


RAW = {"type": "template", "param_type": "input", "value": "${IN}", "dataset": "data:data18.1.main.daq.RAW"}
IMAGE = {"type": "constant", "value": "-x --containerImage docker://a/b"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"ram_count": 2000, "ram_unit": "MBPerCore", "base_walltime": 60, "out_disk_count": 500}),
        ({"ramCount": 500, "outDiskCount": 7}, {"ram_count": 500, "out_disk_count": 7}),
        ({"processingType": "panda-client-athena"}, {"base_walltime": 600}),
        ({"transPath": "x"}, {"base_walltime": 600}),
        ({"currentPriority": 899}, {"current_priority": 1000}),
        ({"currentPriority": "1100"}, {"current_priority": 1100}),
        ({"jobParameters": [IMAGE]}, {"container_name": "docker://a/b"}),
        ({"architecture": "x86_64-el9+img#x"}, {"container_name": "img", "architecture": "x86_64-el9#x"}),
        ({"jobParameters": [RAW]}, {"use_local_io": True}),
        ({"prodSourceLabel": "managed"}, {"base_walltime": 600, "out_disk_count": 0, "use_local_io": False}),
        ({}, {"max_attempt": 3}),  # of 10 attempts 3 may fail
        ({"maxAttempt": 2}, {"max_attempt": 2}),
        ({"maxAttempt": 5, "maxFailure": 7}, {"max_attempt": 5}),
        ({"prodSourceLabel": "managed", "maxAttempt": 0}, {"max_attempt": 3}),
        ({"prodSourceLabel": "managed", "maxAttempt": -1}, {"max_attempt": 3}),
        ({"prodSourceLabel": "managed", "maxAttempt": "20"}, {"max_attempt": 20}),
        ({"prodSourceLabel": "managed", "maxAttempt": 5000, "maxFailure": -1}, {"max_attempt": 1000}),
        ({"maxAttempt": 5, "disableAutoRetry": 1}, {"max_attempt": 1}),
        ({"maxAttempt": 2, "disableAutoRetry": False}, {"max_attempt": 2}),
    ],
)
def test_a_new_task_of_a_user_gets_the_defaults_of_jedi(db: Connection, given: Any, expected: dict[str, Any]) -> None:
    left_out = {"ramCount", "useLocalIO"} - given.keys()
    parameters = {key: entry for key, entry in PARAMETERS.items() if key not in left_out} | given
    exports.load(db, "jedi-tasks", {"7": parameters})
    [(task,)] = db.execute("select to_jsonb(t) from workload.task t").fetchall()
    assert {field: task[field] for field in expected} == expected


@pytest.mark.parametrize(
    ("rules", "given", "expected"),
    [
        ("NF=2", {}, None),
        ("NF=2", {"maxAttempt": 7}, 7),
        ("NF=2", {"maxAttempt": 7, "maxFailure": 4}, 4),
        ("NF=2,DR=1", {"maxAttempt": 7}, 1),
        ("disableAutoRetry=0", {}, 1),
    ],
)
def test_a_row_of_jedi_has_the_attempts_of_its_parameters(
    db: Connection, rules: str, given: dict[str, Any], expected: int | None
) -> None:
    exports.load(db, "jedi-tasks", ROW | {"splitRule": rules, "raw_task_params": ROW["raw_task_params"] | given})
    assert held(db)["tasks"][0].get("max_attempt") == expected
    assert held(db)["tasks"][0].get("split", {}).keys() <= {"nFilesPerJob"}


def test_a_task_without_input_gets_jobs_for_its_events(db: Connection) -> None:
    parameters = {
        **PARAMETERS, "gshare": "User", "noInput": True, "nEvents": 2500, "nEventsPerInputFile": None,
        "jobParameters": [],
    }  # fmt: skip
    assert exports.load(db, "jedi-tasks", {"7": parameters}).jobs == 3
    found = held(db)
    assert found["tasks"][0]["input"] == ["pseudo_dataset.7"]
    assert found["datasets"]["pseudo_dataset.7"]["type"] == "pseudo_input"


@pytest.mark.parametrize(
    "given", [{"nEvents": 10**9, "nEventsPerJob": 1}, {"nFiles": 2_000_001, "nFilesPerJob": 2}], ids=str
)
def test_a_number_of_jobs_without_input_is_bounded(db: Connection, given: dict[str, int]) -> None:
    parameters = {**PARAMETERS, "gshare": "User", "noInput": True, "jobParameters": [], **given}
    with pytest.raises(errors.BadRequest, match=r"task 7 makes 1,000,\d+(,000)? jobs of its input"):
        exports.load(db, "jedi-tasks", {"7": parameters})
    with pytest.raises(errors.BadRequest, match="holds nothing"):
        held(db)


def test_a_task_keeps_what_its_export_does_not_name(db: Connection) -> None:
    exports.load(db, "jedi-tasks", ROW)
    exports.load(db, "jedi-tasks", {"jediTaskID": 41000001, "status": "running", "splitRule": "NF=2"})
    [task] = held(db)["tasks"]
    assert (task["status"], task["nucleus"], task["input"]) == ("running", "NORTH", ["mc.evgen.1"])


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (PARAMETERS, "names no task"),
        ({"success": False, "message": "Task not found", "data": None}, 'without success: "Task not found"'),
        ([ROW, ROW], "task 41000001 is given twice"),
        ([7], r"jedi-tasks\[0\] is 7, not an object"),
        ({"7": PARAMETERS | {"nEventsPerJob": [1]}}, r"jedi-tasks.7.nEventsPerJob is \[1\]"),
        (ROW | {"splitRule": "NF=two"}, "splitRule.nFilesPerJob is"),
        (ROW | {"status": "redy"}, "task 41000001: status"),
        (ROW | {"raw_task_params": "{"}, "the parameters are not JSON"),
    ],
)
def test_exports_that_are_no_tasks_are_refused_by_field(db: Connection, value: Any, named: str) -> None:
    with pytest.raises((errors.BrokerError, psycopg.Error), match=named):
        exports.load(db, "jedi-tasks", value)
    assert db.execute("select count(*) from workload.task").fetchone() == (0,)


@pytest.mark.parametrize("value", [
    {"NORTH_PQ": {"getJob": 5, "updateJob": 7}, "GONE": {"getJob": 1, "updateJob": 1}},
    [{"SITE": "NORTH_PQ", "GETJOB": "5", "UPDATEJOB": 7, "FLAG": "production", "HOURS": 3},
     {"SITE": "NORTH_PQ", "GETJOB": 9, "UPDATEJOB": 9, "FLAG": "analysis", "HOURS": 3},
     {"SITE": "NORTH_PQ", "GETJOB": 9, "UPDATEJOB": 9, "FLAG": "production", "HOURS": 1},
     {"SITE": "GONE", "GETJOB": 1, "UPDATEJOB": 1, "FLAG": "production", "HOURS": 3}],
])  # fmt: skip
def test_pilots_are_loaded_for_known_queues_only(db: Connection, value: Any) -> None:
    world.load(db, [HELD])
    imported = exports.load(db, "pilots", value)
    assert imported.lacking == ["1 queue is not loaded and left out: GONE (--cric-queues)"]
    found = held(db)["queues"]
    assert found["NORTH_PQ"] == {"panda_site": "NORTH", "pilots": {"getjob": 5, "updatejob": 7, "at": NOW}}
    assert "GONE" not in found


@pytest.mark.parametrize(
    ("given", "at", "start"),
    [
        ({"LASTMOD": "2026-04-01 11:50:00", "LASTSTART": None}, "2026-04-01T11:50:00+00:00", None),
        ({"lastMod": "2026-04-01T08:00:00Z", "lastStart": "2026-04-01T07:30:00"}, "2026-04-01T08:00:00+00:00", "07:30"),
        ({"lastmod": "", "laststart": "2026-04-01T13:00:00+02:00"}, NOW, "13:00"),
        ({}, NOW, None),
    ],
)
def test_counts_of_pilots_have_the_time_of_their_row(
    db: Connection, given: dict[str, Any], at: str, start: str | None
) -> None:
    """The inactive-queue rule reads the last start, which PanDA keeps in the same table."""
    world.load(db, [HELD])
    exports.load(db, "pilots", [{"site": "NORTH_PQ", "getjob": 5, "updatejob": 7, **given}])
    found = held(db)["queues"]["NORTH_PQ"]
    assert found["pilots"]["at"] == at
    assert ("laststart" in found) == (start is not None)
    query = "select laststart = %s::timestamptz from resource.queue_activity where queue = 'NORTH_PQ'"
    zone = "+02" if start == "13:00" else "Z"
    assert db.execute(query, [start and f"2026-04-01T{start}{zone}"]).fetchone() == (True if start else None,)


def test_counts_of_pilots_and_jobs_are_read_from_tables(db: Connection, tmp_path: Path) -> None:
    world.load(db, [HELD])
    (tmp_path / "pilots.csv").write_text('"SITE","GETJOB","UPDATEJOB","FLAG"\r\n"NORTH_PQ","5","7","production"\r\n')
    (tmp_path / "jobs.tsv").write_text("computingSite\tjobStatus\tgshare\tnjobs\nNORTH_PQ\trunning\tMC\t4\n")
    for export, name in (("pilots", "pilots.csv"), ("job-counts", "jobs.tsv")):
        assert exports.load(db, export, exports.read(tmp_path / name, lambda path: path.read_text())).lacking == []
    found = held(db)
    assert found["queues"]["NORTH_PQ"]["pilots"] == {"getjob": 5, "updatejob": 7, "at": NOW}
    assert found["statistics"] == [{"queue": "NORTH_PQ", "gshare": "MC", "status": "running", "njobs": 4}]


@pytest.mark.parametrize("form", [
    lambda rows: {"items": rows, "hasMore": False, "count": 1},
    lambda rows: {"results": [{"columns": [{"name": "SITE", "type": "VARCHAR2"}], "items": rows}]},
])  # fmt: skip
def test_rows_are_read_as_tools_of_oracle_write_them(db: Connection, form: Callable[[Any], Any]) -> None:
    world.load(db, [HELD])
    exports.load(db, "pilots", form([{"site": "NORTH_PQ", "getjob": 5, "updatejob": 7, "flag": "production"}]))
    counted = {"computingsite": "NORTH_PQ", "jobstatus": "running", "gshare": "MC", "njobs": 4}
    exports.load(db, "job-counts", form([counted]))
    found = held(db)
    assert found["queues"]["NORTH_PQ"]["pilots"]["getjob"] == 5
    assert found["statistics"] == [{"queue": "NORTH_PQ", "gshare": "MC", "status": "running", "njobs": 4}]


def test_workers_are_summed_by_queue(db: Connection) -> None:
    world.load(db, [HELD])
    counted = {"managed": {"SCORE": {"running": 3, "submitted": 4, "finished": 9}, "MCORE": {"running": 2}}}
    exports.load(db, "workers", answer({"NORTH_PQ": {"harvester_a": counted, "harvester_b": counted}}))
    assert held(db)["queues"]["NORTH_PQ"]["workers"] == {"running": 10, "submitted": 8, "at": NOW}


def test_counts_of_jobs_keep_the_fields_that_split_them(db: Connection) -> None:
    world.load(db, [HELD])
    numbers = {"running": 4, "activated": 2, "finished": 99}
    for value, split in (
        ({"NORTH_PQ": numbers}, {}),
        ({"NORTH_PQ": {"SCORE_HIMEM": numbers}}, {"resource_type": "SCORE_HIMEM"}),
        ({"NORTH_PQ": {"MCORE": {"managed": numbers}}}, {"resource_type": "MCORE", "label": "managed"}),
        ({"NORTH_PQ": {"managed": {"MCORE": numbers}}}, {"resource_type": "MCORE", "label": "managed"}),
    ):
        assert "name no global share" in exports.load(db, "job-counts", answer(value)).lacking[0]
        of_queue = {"queue": "NORTH_PQ", **split}
        assert sorted(held(db)["statistics"], key=lambda row: row["status"]) == [
            {**of_queue, "status": "activated", "njobs": 2},
            {**of_queue, "status": "running", "njobs": 4},
        ]
    row = {"COMPUTINGSITE": "NORTH_PQ", "JOBSTATUS": "running", "GSHARE": "MC", "RESOURCE_TYPE": "MCORE", "NJOBS": 4}
    assert exports.load(db, "job-counts", [row, row]).lacking == []
    assert held(db)["statistics"] == [
        {"queue": "NORTH_PQ", "gshare": "MC", "resource_type": "MCORE", "status": "running", "njobs": 8}
    ]


def test_counts_of_jobs_keep_cores_nuclei_and_disk_io(db: Connection) -> None:
    row = {"computingSite": "Q", "jobStatus": "running", "gshare": "MC", "nucleus": "SA", "njobs": 5, "ncores": 40}
    rows = [
        row | {"prorated_diskio_avg": 7000.0},
        row | {"njobs": "15", "ncores": "120", "prorated_diskio_avg": "3000"},
        row | {"njobs": 10, "ncores": None, "prorated_diskio_avg": None},
        row | {"nucleus": None, "ncores": 0, "prorated_diskio_avg": 0},
    ]
    exports.load(db, "job-counts", rows)
    same = {"queue": "Q", "gshare": "MC", "status": "running"}
    assert held(db)["statistics"] == [
        same | {"nucleus": "SA", "njobs": 30, "ncores": 160, "diskio": 4000},
        same | {"njobs": 5, "ncores": 0, "diskio": 0},
    ]


@pytest.mark.parametrize(
    "value",
    [
        [{"computingSite": queue, "jobStatus": "defined", "njobs": 7} for queue in (None, "", "None")],
        {"None": {"defined": 7}, "null": {"defined": 7}, "": {"defined": 7}},
    ],
)
def test_jobs_without_a_queue_are_left_out(db: Connection, value: Any) -> None:
    placed = {"computingSite": "Q", "jobStatus": "running", "njobs": 5}
    given = [*value, placed] if isinstance(value, list) else value | {"Q": {"running": 5}}
    imported = exports.load(db, "job-counts", given)
    assert imported.lacking[0] == "21 jobs have no queue, and are left out"
    assert [row["queue"] for row in held(db)["statistics"]] == ["Q"]


@pytest.mark.parametrize(
    ("export", "value", "named"),
    [
        ("pilots", [{"site": "A", "updatejob": 1}], r"pilots\[0\] has no getJob"),
        ("pilots", [{"getjob": 1}], r"pilots\[0\].site is null"),
        (
            "pilots",
            [{"site": "Q", "getjob": 1, "lastmod": "01-APR-26"}],
            r'pilots\[0\].lastmod is "01-APR-26", not a time',
        ),
        ("pilots", [{"site": "Q", "getjob": 1, "laststart": 5}], r"pilots\[0\].laststart is 5, not a time"),
        ("workers", {"A": {"running": 1}}, "stands 1 levels below its queue"),
        ("job-counts", {"A": {"activated": "x"}}, "job-counts.A.activated is"),
        ("job-counts", [{"computingSite": "A", "jobStatus": "running"}], "has no njobs"),
        ("job-counts", [{"jobStatus": "running", "njobs": 1}], "computingsite is null"),
    ],
)
def test_exports_that_are_no_counts_are_refused_by_field(db: Connection, export: str, value: Any, named: str) -> None:
    world.load(db, [HELD])
    with pytest.raises((errors.BrokerError, psycopg.Error), match=named):
        exports.load(db, export, value)
