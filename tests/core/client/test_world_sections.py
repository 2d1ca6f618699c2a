"""Worlds of brokerage: each section is loaded and dumped, with its defaults, its aliases and its errors."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from broker import errors, world
from broker.laboratory.grid import grid
from tests.calls import Connection, refused
from tests.core.oracle import job_documented as model
from tests.exports import held

NOW = "2026-04-01T12:00:00+00:00"

WORLD: dict[str, Any] = {
    "setup": "w", "now": NOW,
    "config": {"NQUEUED_SAT_CAP": 100, "jobbroker:NW_ACTIVE": True, "MIN_WEIGHT_managed_Upgrade": 0.5},
    "resource_types": [{"name": "SCORE", "mincore": 1, "maxcore": 1, "maxrampercore": 2000}],
    "queues": {
        "CERN": {
            "panda_site": "CERN-PROD", "role": "nucleus", "corecount": 8, "releases": ["AUTO"],
            "params": {"max_io_intensity": 700},
            "astorages": {"read_lan": ["D", "T"], "write_lan": ["D"], "write_lan_analysis": ["S"]},
            "pilots": {"getjob": 5, "updatejob": 12, "at": NOW}, "laststart": "2026-04-01T11:00:00+00:00",
            "average_diskio": 12.5, "workers": {"running": 4, "submitted": 9, "at": NOW}, "ups": True,
            "slots": [{"gshare": "Upgrade", "numslots": 64}, {"resource_type": "MCORE", "numslots": 0}],
            "core_statistics": {"running": 800, "starting": 8},
            "site_class": -1, "gocname": "CERN",
        },
        "PLAIN": {},
    },
    "nuclei": {"CERN-PROD": {"bare_nucleus": "allow", "backlogged": False}, "X": {"state": "OFF"}},
    "storages": {
        "D": {"site": "CERN-PROD", "space_free": 1e6, "write_wan": "OFF", "token": "A"},
        "T": {"is_tape": True},
    },
    "links": [{"src": "A", "dst": "CERN-PROD", "closeness": -1, "queued": 7, "mbps_1h": 0.5}],
    "software": {
        "ALL": {"tags": [{"tag": "t", "sources": ["/x"]}]},
        "CERN": {"cvmfs": ["atlas"], "architectures": [{"type": "cpu"}]},
    },
    "architecture_levels": {"CERN": {"x86_64-v2": 40, "x86_64-v3": 60}},
    "worker_gpus": {"CERN": [{"vendor": "nvidia", "vram": 40000}]},
    "shares": {"Upgrade": {"parent": "L1 Production", "target": 1000, "usage_percent": 0.97}},
    "users": {
        "alice": {"running_jobs": 5, "quota": {"used": 3, "limit": 10, "ok": True, "over_local": ["S"]}},
        "phys": {"kind": "group", "queued_cores": 9, "rem_slots_a": -3},
    },
    "locks": ["CERN"],
    "datasets": {
        "in": {
            "created": "2026-03-01T00:00:00+00:00",
            "files": [{"lfn": "f0", "nevents": 10},
                      *({"lfn": f"f{n}", "size": 1048576 * n, "nevents": 10} for n in range(1, 5))],
            "replicas": {"D": {}, "T": {"found": 2, "lfns": ["f1", "f2"]}},
        },
        "more": {"files": [{"lfn": "f1", "size": 1048576}, {"lfn": "g", "size": 5}]},
        "none": {"type": "pseudo_input", "files": [{"lfn": "p"}]},
    },
    "tasks": [
        {
            "id": 1, "user": "alice", "nucleus": "CERN-PROD", "frozen": "2026-03-30T00:00:00+00:00",
            "is_merging": True, "max_attempt": 5,
            "split": {
                "t1Weight": -1, "ipConnectivity": 2, "ipStack": 4, "nFilesPerMergeJob": 2, "mergeOutput": True,
                "fullChain": 3,
            },
            "params": {"included_site": ["CERN", "P*"], "task_broker_on_master": True},
            "input": ["in", "more", "none", "absent"],
            "output": [{"name": "out", "token": "ATLASDATADISK"}, {"name": "log"}],
            "failures": {"PLAIN": {"failed": 3, "finished": 1}},
            "resource_types_at": {"CERN": ["SCORE"]}, "sites_used": ["CERN"],
            "payload": {"transformation": "run", "hours_ago": 2, "steps": [1.5, None, {"a": ""}]},
        },
        {"id": 2, "core_count": None, "architecture": "x86_64-el9-gcc13-opt"},
    ],
    "jobs": [
        {
            "id": 9, "task": 1, "queue": "CERN", "status": "running", "gshare": "Upgrade", "cores": 8,
            "nucleus": "CERN-PROD", "started": NOW,
        },
        {"id": 10, "task": 1, "queue": "CERN", "status": "failed", "number": 2, "nucleus": "CERN-PROD", "ended": NOW,
         "retry_at": NOW},
    ],
    "failed_parts": [
        {"task": 1, "number": 2, "failures": 3, "memory_factor": 2.278125, "failed_queues": ["CERN"],
         "less_input": True},
        {"task": 1, "number": 5, "failures": 1, "time_factor": 2},
    ],
    "statistics": [{"queue": "CERN", "gshare": "Upgrade", "status": "running", "njobs": 4, "ncores": 32},
                   {"queue": "CERN", "gshare": "Upgrade", "status": "running", "njobs": 4, "ncores": 32}],
    "user_queue_statistics": {"CERN": {"Upgrade": {"_total": {"running": 9}, "alice": {"queued": 1, "running": 2}}}},
    "to_running_rate": {"CERN": 7.5, "PLAIN": {"Upgrade": 1}},
    "remaining_work": {"CERN-PROD": {"all": 100, "by_gshare": {"Upgrade": {"450": 5, "900": 7.5}}}},
    "live_counter": {"CERN": 25},
    "instance_types": {"c5.large": {"cpu": 2, "ram": 4096, "price": 0.085}},
    "instances": [{"id": 1, "task": 1, "type": "c5.large", "cpu": 2, "ram": 4096, "price": 0.085, "started_at": NOW},
                  {"id": 2, "type": "c5.large", "state": "requested", "cpu": 2, "ram": 4000, "price": 0}],
    "instance_steps": [
        {"id": 1, "task": 1, "cpu": 0.5, "ram": 700, "instance_type": "c5.large", "instance": 1, "state": "placed"},
        {"id": 2, "task": 1, "cpu": 1, "ram": "2 * size", "inputs": {"size": 350}},
        {"id": 3},
    ],
}  # fmt: skip


@pytest.fixture
def begun(rolled_back: Connection) -> Connection:
    """A transaction that has begun: a load becomes part of it and is rolled back with it."""
    rolled_back.execute("select 1")
    return rolled_back


def value(db: Connection, query: str) -> Any:
    row = db.execute(query.encode()).fetchone()
    assert row is not None
    return row[0] if len(row) == 1 else row


def test_a_dump_has_all_loaded_sections(db: Connection) -> None:
    loaded = world.load(db, [WORLD])
    assert loaded.setups == ["w"]
    assert loaded.rows == {name: len(WORLD[name]) for name in WORLD if name not in ("setup", "now")}
    found = held(db, "w")
    assert {row["key"]: (row["app"], row.get("component"), row["value"], row["setup"]) for row in found["config"]} == {
        "NQUEUED_SAT_CAP": ("jedi", None, 100, "w"),
        "NW_ACTIVE": ("jedi", "jobbroker", True, "w"),
        "MIN_WEIGHT_managed_Upgrade": ("jedi", None, 0.5, "w"),
    }
    assert list(found) == [*(name for name in WORLD if name in ("setup", "now", "config")), *world.SECTIONS]
    assert {**found, "config": WORLD["config"]} == WORLD


@pytest.mark.slow
def test_dump_load_dump_gives_the_same_bytes(db: Connection, new_database: Callable[..., str]) -> None:
    world.load(db, [WORLD, grid(3, queues=20, tasks=15, setup="w")])
    first = "".join(world.dump(db, "w"))
    with psycopg.connect(new_database(), autocommit=True) as other:
        for _ in range(2):  # once more changes nothing
            world.load(other, [json.loads(first)])
            assert "".join(world.dump(other, "w")) == first


def test_another_setup_gets_the_configuration_of_the_world(db: Connection) -> None:
    world.load(db, [WORLD], "other")
    assert {row["setup"] for row in held(db, "other")["config"]} == {"other"}
    world.load(db, [held(db, "other")], "third")
    assert {row["setup"] for row in held(db, "third")["config"]} == {"third"}


def test_a_missing_field_gets_its_default_and_null_stays_null(db: Connection) -> None:
    world.load(
        db, [{"setup": "w", "queues": {"Q": {}, "N": {"corecount": None, "params": None}}, "tasks": [{"id": 1}]}]
    )
    query = "select corecount, corepower, releases, status, jobseed, role, type, cloud, params from resource.queue"
    assert value(db, f"{query} where queue = 'Q'") == (
        1,
        10.0,
        ["ANY"],
        "online",
        "all",
        "satellite",
        "unified",
        "WORLD",
        {},
    )
    assert value(db, "select corecount, params from resource.queue where queue = 'N'") == (None, {})
    assert value(db, "select label, gshare, ram_unit, cpu_efficiency, task_priority from workload.task") == (
        "managed",
        "Reprocessing default",
        "MBPerCore",
        90.0,
        500,
    )


def test_a_row_is_replaced_with_what_belongs_to_it(db: Connection) -> None:
    world.load(db, [WORLD])
    change = {
        "setup": "w",
        "queues": {"CERN": {"maxrss": 7}},
        "datasets": {"in": {"files": [{"lfn": "new", "nevents": 3}]}},
        "tasks": [{"id": 1, "input": ["in"]}],
        "statistics": [],
        "locks": [],
    }
    world.load(db, [change])
    found = held(db, "w")
    assert found["queues"] == {"CERN": {"maxrss": 7}, "PLAIN": {}}
    assert found["datasets"]["in"] == {"files": [{"lfn": "new", "nevents": 3}]}
    assert found["datasets"]["more"] == WORLD["datasets"]["more"]
    assert found["tasks"] == [{"id": 1, "input": ["in"]}, WORLD["tasks"][1]]
    assert not found.keys() & {"statistics", "locks"}


def test_statistics_of_several_worlds_add_up(db: Connection) -> None:
    world.load(db, [WORLD, {**WORLD, "statistics": [{"queue": "PLAIN", "njobs": 1}]}])
    assert len(held(db, "w")["statistics"]) == 3
    assert value(db, "select sum(njobs) from workload.job_statistic where queue = 'CERN'") == 9  # and the job


def test_aliases_of_fields_and_words_for_numbers_are_accepted(db: Connection) -> None:
    world.load(
        db,
        [
            {
                "vo": "w",
                "queues": {"Q": {"site": "S", "astorages": {"pr": ["A"], "pw": ["B"]}, "releases": "AUTO, 21.0"}},
                "tasks": [
                    {
                        "id": 1,
                        "split": {
                            "ipConnectivity": "full",
                            "ipStack": "IPv6",
                            "allowInputLAN": "only",
                            "fullChain": "require",
                            "useLocalIO": 1,
                            "avoidVP": 0,
                            "useScout": 2,
                        },
                        "params": {"included_site": "A, B*", "excluded_site": ""},
                        "architecture": {"sw_platform": "x"},
                        "output": ["o"],
                        "use_scout": 1,
                    }
                ],
            }
        ],
    )
    found = held(db, "w")
    assert found["queues"]["Q"] == {
        "panda_site": "S",
        "releases": ["AUTO", "21.0"],
        "astorages": {"read_lan": ["A"], "write_lan": ["B"]},
    }
    assert found["tasks"] == [
        {
            "id": 1,
            "architecture": '{"sw_platform":"x"}',
            "use_scout": True,
            "split": {
                "useLocalIO": True,
                "ipConnectivity": 1,
                "ipStack": 6,
                "allowInputLAN": 2,
                "fullChain": 2,
                "useScout": 2,
            },
            "params": {"included_site": ["A", "B*"]},
            "output": [{"name": "o"}],
        }
    ]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("limitedSites", {1: "allow list", 2: "deny list", 3: "both"}),
        ("useScout", {1: "no scouting", 2: "scouting wanted", 3: "done"}),
        ("fullChain", {1: "only", 2: "require", 3: "capable"}),
        ("allowInputLAN", {1: "use", 2: "only"}),
        ("ipConnectivity", {1: "full", 2: "http"}),
        ("ipStack", {4: "IPv4", 6: "IPv6"}),
        ("inputPreStaging", {1: True}),
        ("limitedSites", {1: True}),
    ],
)
def test_split_rules_accept_the_numbers_of_panda_and_words(db: Connection, rule: str, words: dict[int, Any]) -> None:
    for given in [*words, *words.values()]:
        world.load(db, [{"vo": "w", "tasks": [{"id": 1, "split": {rule: given}}]}])
        [task] = held(db, "w")["tasks"]
        assert task["split"][rule] == next(number for number, word in words.items() if given in (number, word))
    world.load(db, [{"vo": "w", "tasks": [{"id": 1, "split": {rule: None}}]}])
    assert held(db, "w")["tasks"] == [{"id": 1}]
    with pytest.raises(errors.BrokerError, match=rule):
        world.load(db, [{"vo": "w", "tasks": [{"id": 1, "split": {rule: 7}}]}])


def test_hours_ago_count_from_the_now_of_the_world_or_from_the_clock(db: Connection) -> None:
    queues = {"queues": {"Q": {"laststart": {"hours_ago": 2.5}}}}
    world.load(db, [{"setup": "w", "now": NOW, **queues}, {"setup": "w", "locks": {"Q": {"hours_ago": 0}}}])
    found = held(db, "w")
    assert (found["queues"]["Q"]["laststart"], found["locks"]) == ("2026-04-01T09:30:00+00:00", {"Q": NOW})
    world.load(db, [{"setup": "real", **queues}])
    at = value(db, "select laststart from resource.queue_activity where setup = 'real'")
    assert 2.4 < (datetime.now(UTC) - at).total_seconds() / 3600 < 2.6
    world.load(db, [{"setup": "zone", "now": "2026-04-01 14:00:00+02:00"}, {"setup": "utc", "now": "2026-04-01 12:00"}])
    assert held(db, "zone")["now"] == held(db, "utc")["now"] == NOW


def test_the_input_of_tasks_is_digested(db: Connection) -> None:
    world.load(db, [WORLD])
    query = """select files, size / 1048576, shared_files, primary_files, jobs, job_events, job_input_mb,
                      job_input_bytes / 1048576, events from workload.input_digest where setup = 'w' and task_id ="""
    # files f0 to f4 and g; jobs (f0 f1) (f2 f3) (f4); f1 and g are beside the first job; f0 of no size counts 1 MB
    assert value(db, f"{query} 1") == (6, 10, True, 5, 3, 20, 5.0, 5, 50)
    assert value(db, f"{query} 2") == (0, 0, False, 0, 0, 0, 0.0, 0, 0)
    world.load(db, [{"setup": "w", "datasets": {"in": {"files": [{"lfn": "f1", "size": 3}]}}}])
    assert value(db, f"{query} 1") == (2, 0, True, 1, 1, 0, 3 / 1048576, 1, 0)


def test_general_configuration_is_dumped_and_loaded_as_general(
    db: Connection, new_database: Callable[..., str]
) -> None:
    rows = [
        {"key": "NQUEUED_SAT_CAP", "value": 7, "component": "jobbroker"},
        {"key": "NQUEUED_SAT_CAP", "value": 8, "component": "jobbroker", "setup": "w"},
        {"key": "OURS", "value": "x", "setup": "w", "forced": True},
        {"key": "CAP_RUNNING_USER_JOBS", "value": 9, "component": "prio_mgr", "setup": "w"},
    ]
    world.load(db, [{"setup": "w", "config": rows}])
    text = "".join(world.dump(db, "w"))
    with psycopg.connect(new_database(), autocommit=True) as other:
        world.load(other, [json.loads(text)])
        assert "".join(world.dump(other, "w")) == text
        for setup, sat_cap in (("w", 8), ("v", 7)):
            query = f"select resource.config_value('{setup}', 'jedi', 'jobbroker', 'NQUEUED_SAT_CAP')"
            assert value(other, query) == sat_cap
    assert value(db, "select app from resource.config where key = 'CAP_RUNNING_USER_JOBS'") == "pandaserver"


def test_a_dump_of_one_setup_has_no_general_configuration(db: Connection) -> None:
    db.execute("select resource.set_config_everywhere('NQUEUED_SAT_CAP', '7')")
    db.execute("insert into resource.setup (setup, alone) values ('w', true)")
    world.load(db, [{"setup": "w", "config": [{"key": "NW_ACTIVE", "value": True}]}])
    assert [row["key"] for row in held(db, "w")["config"]] == ["NW_ACTIVE"]
    assert value(db, "select resource.config_value('w', 'jedi', 'jobbroker', 'NQUEUED_SAT_CAP')") == 150
    assert value(db, "select count(*) from resource.config where setup is null") == 1


def test_unknown_configuration_is_refused_with_the_nearest_key_or_left_out(db: Connection) -> None:
    wrong = {"setup": "w", "config": {"jobbroker:NQUEUED_SATCAP": 5, "NW_ACTIVE": True}}
    with pytest.raises(errors.BadRequest, match="jobbroker:NQUEUED_SATCAP") as caught:
        world.load(db, [wrong], names=["a.json"])
    assert caught.value.message.startswith("a.json: ")
    assert "jobbroker:NQUEUED_SAT_CAP" in (caught.value.hint or "")
    assert world.load(db, [wrong], lenient=True).ignored == ["config: key jobbroker:NQUEUED_SATCAP"]
    assert [row["key"] for row in held(db, "w")["config"]] == ["NW_ACTIVE"]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"tasks": [{"id": 1, "colour": 1}]}, r"tasks\[0\]: field colour"),
        ({"tasks": [{"id": 1, "split": {"nSites": 1}}]}, r"tasks\[0\]\.split: field nSites"),
        ({"tasks": [{"id": 1, "params": {"x": 1}}]}, r"tasks\[0\]\.params: field x"),
        ({"tasks": [{"id": 1, "output": [{"lfn": "x"}]}]}, r"tasks\[0\]\.output\[0\]: field lfn"),
        ({"datasets": {"d": {"files": [{"lfn": "f", "x": 1}]}}}, r"datasets\.d\.files\[0\]: field x"),
        ({"datasets": {"d": {"replicas": {"D": {"x": 1}}}}}, r"datasets\.d\.replicas\.D: field x"),
        ({"queues": {"Q": {"pilots": {"x": 1}}}}, r"queues\.Q\.pilots: field x"),
        ({"queues": {"Q": {"slots": [{"x": 1}]}}}, r"queues\.Q\.slots\[0\]: field x"),
        ({"nuclei": {"N": {"x": 1}}}, r"nuclei\.N: field x"),
        ({"links": [{"src": "A", "dst": "B", "x": 1}]}, r"links\[0\]: field x"),
        ({"users": {"u": {"quota": {"x": 1}}}}, r"users\.u\.quota: field x"),
        ({"remaining_work": {"N": {"x": 1}}}, r"remaining_work\.N: field x"),
        ({"config": [{"key": "NW_ACTIVE", "value": True, "x": 1}]}, r"config\[0\]: field x"),
        ({"instances": [{"id": 1, "type": "T", "x": 1}]}, r"instances\[0\]: field x"),
        ({"instance_steps": [{"id": 1, "x": 1}]}, r"instance_steps\[0\]: field x"),
        ({"machines": []}, "section machines"),
    ],
)
def test_unknown_fields_of_sections_are_refused_by_name_or_left_out(
    begun: Connection, change: dict[str, Any], named: str
) -> None:
    with pytest.raises(errors.BadRequest, match=named):
        world.load(begun, [WORLD, {"setup": "w", **change}])
    assert value(begun, "select count(*) from resource.queue") == 0
    assert len(world.load(begun, [{"setup": "w", **change}], lenient=True).ignored) == 1


@pytest.mark.parametrize(("change", "named"), [
    ({"queues": {"CERN": {"maxrss": "abc"}}}, 'queues: queue CERN: maxrss is "abc", not a number'),
    ({"queues": {"CERN": {"corecount": 1.5}}}, "queues: queue CERN: corecount is 1.5, not an integer of 32 bits"),
    ({"queues": {"CERN": {"corecount": 10**10}}},
     "queues: queue CERN: corecount is 10000000000, not an integer of 32 bits"),
    ({"queues": {"CERN": {"status": 7}}}, "queues: queue CERN: status is 7, not a text"),
    ({"queues": {"CERN": {"ups": "yes"}}}, 'queues: queue_activity CERN: ups is "yes", not true or false'),
    ({"queues": {"CERN": {"releases": [1]}}}, r"queues\.CERN\.releases\[0\] is 1, not a text"),
    ({"queues": {"CERN": {"laststart": "soon"}}}, r'queues\.CERN\.laststart is "soon", not a time'),
    ({"queues": {"CERN": {"laststart": {"hours_ago": "2"}}}}, r"laststart\.hours_ago is"),
    ({"queues": {"CERN": []}}, r"queues\.CERN is \[\], not an object"),
    ({"queues": {"": {}}}, "queues has an entry without a name"),
    ({"links": [{"src": "A", "dst": "B"}, {"src": "A", "dst": "B"}]}, "links: link A, B is given 2 times"),
    ({"links": [{"src": "A"}]}, "links: link A: dst is not given, and has no default"),
    ({"tasks": [{"label": "managed"}]}, r"tasks\[0\]\.id is null, not an integer"),
    ({"tasks": [{"id": 5, "ram_count": "2"}]}, 'tasks: task 5: ram_count is "2", not a number'),
    ({"tasks": [{"id": 5, "split": {"ipStack": 5}}]}, r"tasks\[0\]\.split\.ipStack is 5, not one of 4 \(IPv4\)"),
    ({"tasks": [{"id": 5, "split": {"nFilesPerJob": "2"}}]}, r"tasks: task 5: split\.nFilesPerJob is"),
    ({"tasks": [{"id": 5, "input": [7]}]}, r"tasks\[0\]\.input\[0\] is 7, not a text"),
    ({"datasets": {"d": {"files": [{"size": 1}]}}}, r"datasets\.d\.files\[0\]\.lfn is null, not a text"),
    ({"users": {"u": {"kind": "robot"}}}, "users: account robot, u: kind is .robot., not user or group"),
    ({"users": {"u": {"quota": {"ok": 1}}}}, r"users\.u\.quota\.ok is 1, not true or false"),
    ({"remaining_work": {"N": {"by_gshare": {"g": {"high": 1}}}}}, r"by_gshare\.g\.high is \"high\", not a priority"),
    ({"config": {"NQUEUED_SAT_CAP": "7"}}, 'configuration NQUEUED_SAT_CAP is "7", not a number'),
    ({"config": [{"key": "NW_ACTIVE", "value": True, "setup": "v"}]}, r'config\[0\]\.setup is "v", not the world'),
    ({"queues": {"CERN": {"maxrss": 1e20}}}, r"queue CERN: maxrss is 1e\+20, not a number between -1e15 and 1e15"),
    ({"storages": {"D": {"space_free": -1e300}}}, r"storage D: space_free is -1e\+300, not a number between"),
    ({"instance_types": {"T": {"cpu": 2, "ram": 0, "price": 1}}}, "instance_type T: ram is 0, not more than 0"),
    ({"instance_types": {"T": {"cpu": 2, "ram": 1}}}, "instance_type T: price is not given"),
    ({"instance_types": {"T": {"cpu": "2", "ram": 1, "price": 1}}}, 'instance_type T: cpu is "2", not a number'),
    ({"instances": [{"id": 1, "type": "T", "state": "gone"}]},
     "instance 1: state is .gone., not requested, running or released"),
    ({"instances": [{"id": 1}]}, "instances: instance 1: type is not given"),
    ({"instance_steps": [{"id": "j"}]}, 'instance_steps: step j: id is "j", not an integer of 64 bits'),
    ({"instance_steps": [{"id": 1, "ram": -5}]}, "instance_steps: step 1: ram is -5, not 0 or more"),
    ({"instance_steps": [{"id": 1, "inputs": [5]}]}, r"step 1: inputs is \[5\], not an object"),
    ({"now": "today"}, 'now is "today", not a time'),
    ({"statistics": {}}, r"statistics is \{\}, not an array"),
])  # fmt: skip
def test_a_wrong_value_is_named_and_nothing_is_loaded(begun: Connection, change: dict[str, Any], named: str) -> None:
    with pytest.raises(errors.BadRequest, match=rf"^b\.json: .*{named}"):
        world.load(begun, [WORLD, {"setup": "w", **change}], names=["a.json", "b.json"])
    assert value(begun, "select count(*) from resource.setup") == 0


CHECKED = [
    ({"queues": {"Q": {"maxrss": -5}}}, "queue Q: maxrss is -5, not 0 or more, or -1"),
    ({"storages": {"D": {"read_lan": "off"}}}, 'storage D: read_lan is "off", not ON, OFF, TEST or PROBING'),
    ({"links": [{"src": "A", "dst": "B", "closeness": 99}]}, r"link A, B: closeness is 99, not 0 \(best\) to 11"),
    ({"links": [{"src": "A", "dst": "B", "queued": -1}]}, "link A, B: queued is -1, not 0 or more"),
    ({"nuclei": {"N": {"bare_nucleus": "yes"}}}, 'nucleus N: bare_nucleus is "yes", not only or allow'),
    ({"architecture_levels": {"Q": {"x86_64-v3": 101}}}, "percent is 101, not 0 to 100"),
    ({"datasets": {"d": {"replicas": {"D": {"found": -4}}}}}, "replica d, D: found is -4, not 0 or more"),
    ({"datasets": {"d": {"files": [{"lfn": "f", "size": -1}]}}}, "dataset_file d, 1: size is -1, not 0 or more"),
    ({"tasks": [{"id": -1}]}, "task -1: id is -1, not 0 or more"),
    ({"jobs": [{"id": -6}]}, "job -6: id is -6, not 1 or more"),
    ({"jobs": [{"id": 10**18}]}, f"job {10**18}: id is {10**18}, not 1 or more, and less than 1e18"),
    ({"jobs": [{"id": 5, "status": "runing"}]}, 'job 5: status is "runing", not a status of jobs: pending, .*running'),
    ({"statistics": [{"queue": "Q", "status": "runing"}]}, 'status is "runing", not a status of jobs: pending'),
    ({"remaining_work": {"N": {"all": -4}}}, "work is -4, not 0 or more"),
    ({"live_counter": {"Q": -4}}, "jobs is -4, not 0 or more"),
    (
        {"failed_parts": [{"task": 1, "number": 1, "memory_factor": 0.5}]},
        "memory_factor is 0.5, not a factor from 1 to 1,000,000",
    ),
    ({"failed_parts": [{"task": 1, "number": 1, "failed_queues": list("ABCDEF")}]}, "not at most five queues"),
    *(
        ({"tasks": [{"id": 5, **task}]}, f"task 5: {named}")
        for task, named in (
            ({"max_attempt": 0}, "max_attempt is 0, not within 1 and 1000"),
            ({"ram_unit": "GB"}, 'ram_unit is "GB", not MB, MBPerCore or MBPerCoreFixed'),
            ({"ram_unit": "mbpercore"}, 'ram_unit is "mbpercore"'),
            ({"cpu_time_unit": "HS07"}, 'cpu_time_unit is "HS07", not HS06sPerEvent, mHS06sPerEvent'),
            ({"out_disk_unit": "furlongs"}, 'out_disk_unit is "furlongs", not a unit of disk space: B, kB'),
            ({"work_disk_unit": "M"}, 'work_disk_unit is "M", not a unit of disk space'),
            ({"walltime_unit": "fortnights"}, 'walltime_unit is "fortnights", not a unit of walltime'),
            ({"core_count": -3}, "core_count is -3, not 0 or more"),
            ({"ram_count": -5}, "ram_count is -5, not 0 or more"),
            ({"status": "redy"}, 'status is "redy", not a status of JEDI.s: registered, .*ready'),
            ({"task_class": 3}, "task_class is 3, not 2"),
            ({"split": {"nFilesPerJob": 0}}, r"split\.nFilesPerJob is 0, not 1 or more"),
            ({"split": {"nFilesPerMergeJob": -1}}, r"split\.nFilesPerMergeJob is -1, not 1 or more"),
            ({"split": {"nEventsPerJob": 0}}, r"split\.nEventsPerJob is 0, not 1 or more"),
            ({"user": 5}, "user is 5, not a text"),
            ({"params": {"task_broker_on_master": 1}}, "task_broker_on_master is 1, not true or false"),
        )
    ),
]


@pytest.mark.parametrize(("change", "named"), CHECKED)
def test_a_value_that_no_rule_can_read_is_refused_with_the_allowed_ones(
    begun: Connection, change: dict[str, Any], named: str
) -> None:
    with pytest.raises(errors.BadRequest, match=named) as caught:
        world.load(begun, [{"setup": "w", **change}])
    assert "README" not in (caught.value.hint or "")  # tells the meaning of the column, not a page


def test_units_and_negative_values_of_panda_tasks_are_accepted(db: Connection) -> None:
    """Units as JEDI and its clients write them, negative walltimes and disk counts, no cores."""
    found: list[dict[str, Any]] = [
        {"cpu_time_unit": "mHS06sPerEventFixed", "ram_unit": "MBPerCoreFixed", "core_count": 0},
        {"cpu_time_unit": "HS06sPerEventFixed", "ram_unit": "MB", "walltime": -1, "walltime_unit": "kSI2kseconds"},
        {"cpu_time_unit": "", "ram_unit": None, "walltime_unit": "sPerMB", "out_disk_unit": "kBFixed"},
        {"cpu_time_unit": "secondsPerEvent", "out_disk_unit": "kBPerEventFixed", "out_disk_count": -1},
        {"cpu_time_unit": None, "ram_unit": "", "work_disk_unit": "GB", "ram_count": 0, "event_service": 3},
        *({"status": status} for status in ("toreassign", "exhausted", "staging")),
    ]
    tasks = [{"id": number, **task} for number, task in enumerate(found)]
    world.load(db, [{"setup": "w", "tasks": tasks}])
    assert len(held(db, "w")["tasks"]) == len(tasks)


def test_constraints_are_validated_for_every_row(db: Connection) -> None:
    validated, constraints = value(
        db, "select count(*) filter (where convalidated), count(*) from pg_constraint where conname like '%_allowed'"
    )
    assert validated == constraints > 50


def test_the_store_functions_refuse_wrong_values_with_a_hint(db: Connection) -> None:
    with pytest.raises(psycopg.Error, match='task 5: ram_unit is "GB", not MB') as caught:
        db.execute("select workload.store('w', 'task', '[{\"task_id\": 5, \"ram_unit\": \"GB\"}]')")
    assert caught.value.diag.message_hint == "ram_unit: MB, MBPerCore or MBPerCoreFixed."


def test_a_user_and_a_group_may_have_the_same_name(db: Connection) -> None:
    users = [{"name": "x", "kind": "group", "running_jobs": 1}, {"name": "x", "running_jobs": 2}]
    world.load(db, [{"setup": "w", "users": users}])
    assert held(db, "w")["users"] == users


def test_a_need_of_an_instance_job_is_a_number_or_an_expression(db: Connection) -> None:
    world.load(db, [WORLD])
    query = "select cpu, cpu_expression, ram, ram_expression, state, inputs from instance.step where step_id ="
    assert value(db, f"{query} 2") == (1, None, 700, "2 * size", "waiting", {"size": 350})
    assert held(db, "w")["instance_steps"][1]["ram"] == "2 * size"
    assert value(db, f"{query} 3") == (None, None, None, None, "waiting", {})
    world.load(db, [{"setup": "w", "instance_steps": [{"id": 2, "cpu": "size / 100", "ram": 0.1}]}])
    assert value(db, f"{query} 2") == (None, "size / 100", Decimal("0.1"), None, "waiting", {})
    assert held(db, "w")["instance_steps"][1] == {"id": 2, "cpu": "size / 100", "ram": 0.1}
    db.execute("update instance.step set cpu = 7 where step_id = 2")
    assert held(db, "w")["instance_steps"][1]["cpu"] == "size / 100"


def test_a_setup_without_resource_types_uses_the_six_of_panda(db: Connection) -> None:
    world.load(db, [{"setup": "w", "resource_types": [{"name": "ANY"}]}, {"setup": "v", "queues": {}, "locks": []}])
    rows = db.execute(
        "select setup, count(*) from resource.resource_type_in_force group by setup order by 1"
    ).fetchall()
    assert rows == [("v", 6), ("w", 1)]


def test_an_operator_loads_and_dumps_and_an_agent_does_not(connect: Callable[..., Connection]) -> None:
    operator = connect("broker_operator")
    world.load(operator, [WORLD])
    assert held(operator, "w")["tasks"] == WORLD["tasks"]
    agent = connect("broker_agent")
    with pytest.raises((errors.BrokerError, psycopg.Error), match=r"permission denied|may not use"):
        world.load(agent, [WORLD])
    with pytest.raises(psycopg.Error, match="permission denied"):
        held(agent, "w")


@pytest.mark.parametrize(("query", "named"), [
    ("select resource.store('w', 'setup', '[]')", "the world format has no table 'setup' of the schema resource"),
    ("select workload.store('w', 'task', '{}')", "not an array of objects"),
    ("select workload.store('w', 'task', '[7]')", "not an array of objects"),
    ("select workload.store('w', 'statistic', '[{\"number\": 1}]')", "statistic number 1: number is not known"),
    ("select resource.store('', 'queue', '[]')", "setup is ''"),
    ("select * from workload.dump('w', 'config')", "the world format has no table 'config' of the schema workload"),
    ("select resource.set_config('w', '', '1')", "'' is not known"),
    ("select resource.set_config('w', 'NW_ACTIVE', '1', 'jobbroker')", "NW_ACTIVE is 1, not a boolean"),
    ("select resource.set_config('w', 'NW_ACTIVE', 'true', 'jobroker')", "'jobroker:NW_ACTIVE' is not known"),
    ("select resource.set_config('w', 'OURS', '[1]', p_force => true)", "OURS is .1., not a number, text or boolean"),
])  # fmt: skip
def test_the_store_functions_name_the_wrong_argument(db: Connection, query: str, named: str) -> None:
    with refused("PB001", named) as caught:
        db.execute(query.encode())
    assert caught.value.diag.message_hint


def test_configuration_is_looked_up_by_component_setup_and_default(db: Connection) -> None:
    def config(key: str, component: str = "jobbroker", setup: str = "w") -> Any:
        return value(db, f"select resource.config_value('{setup}', 'jedi', '{component}', '{key}')")

    def set_config(key: str, to: str, *more: str) -> None:
        db.execute(f"select resource.set_config('w', '{key}', {', '.join((to, *more))})".encode())

    def everywhere(key: str, to: str, *more: str) -> None:
        db.execute(f"select resource.set_config_everywhere('{key}', {', '.join((to, *more))})".encode())

    assert (config("NQUEUED_SAT_CAP"), config("NQUEUELIMITSITE_Any share"), config("OURS")) == (150, 20, None)
    everywhere("NQUEUED_SAT_CAP", "'10'")
    assert (config("NQUEUED_SAT_CAP"), config("NQUEUED_SAT_CAP", setup="v")) == (10, 10)
    set_config("NQUEUED_SAT_CAP", "'11'")
    assert (config("NQUEUED_SAT_CAP"), config("NQUEUED_SAT_CAP", setup="v")) == (11, 10)
    everywhere("NQUEUED_SAT_CAP", "'12'", "'jobbroker'")
    assert config("NQUEUED_SAT_CAP") == 12  # the component goes first, though for all setups
    everywhere("NQUEUED_SAT_CAP", "null", "'jobbroker'")
    set_config("NQUEUED_SAT_CAP", "'0'")
    set_config("NQUEUELIMITSITE_S", "'0'", "'jobbroker'")
    assert (config("NQUEUED_SAT_CAP"), config("NQUEUELIMITSITE_S")) == (0, 20)  # where PanDA's 0 is the default


def test_every_known_key_has_a_default_of_its_type(db: Connection) -> None:
    rows = db.execute("select key, type, jsonb_typeof(default_value), pattern, unit, meaning from resource.config_key")
    for key, kind, found, pattern, *_ in rows.fetchall():
        assert found in (None, kind), key
        assert pattern.startswith("^"), key
    assert value(db, "select count(*) = count(distinct (app, component, key)) from resource.config_key")


def test_the_digest_agrees_with_the_model_on_a_synthetic_grid(db: Connection) -> None:
    found = grid(5, queues=20, tasks=60, setup="w")
    world.load(db, [found])
    query = "select files, size, jobs, job_events, job_input_bytes, events, job_input_mb from workload.input_digest"
    for task in found["tasks"]:
        case = model.Case(found, {**model.TASK_DEFAULTS, **task}, [])
        datasets = {name: case.dataset(name) for name in task.get("input") or []}
        files = [
            file
            for name, dataset in datasets.items()
            if not model.is_pseudo(name, dataset)
            for file in dataset["files"]
        ]
        sizes = {file["lfn"]: file.get("size") or 0 for file in reversed(files)}
        *exact, input_mb = value(db, f"{query} where task_id = {task['id']}")
        expected = (case.events_per_job, case.input_bytes_per_job, case.all_events)
        assert exact == [len(sizes), sum(sizes.values()), case.largest_job.jobs, *expected]
        assert input_mb == pytest.approx(float(case.input_mb_per_job), rel=1e-12)


@pytest.mark.parametrize("odd", [
    {"lfn": "é"}, {"lfn": 'a"b'}, {"lfn": "a\\b"}, {"lfn": "{a,b}"}, {"lfn": "null"}, {"lfn": "x" * 300},
    {"size": 2**40}, {"start_event": 5}, {"size": None}, {"nevents": 10**14},
], ids=str)  # fmt: skip
def test_files_of_every_shape_are_stored_as_they_are(db: Connection, odd: dict[str, Any]) -> None:
    """Plain files go a shorter way, in place of the files that the dataset had before."""
    plain = [{"lfn": f"f{n}", "size": n, "nevents": 2 * n} for n in range(3)]
    odder = {"lfn": "odd", "size": 7, "nevents": 8, **odd}
    query = """select lfn, size, nevents, start_event from workload.dataset_file
                where setup = 'w' and dataset = %s order by position"""
    for given in ([*plain, odder], plain[:2], [odder, {"lfn": "few"}]):
        world.load(db, [{"setup": "w", "datasets": {"d": {"files": given}, "plain": {"files": plain}}}])
        expected = [(f["lfn"], f.get("size", 0), f.get("nevents", 0), f.get("start_event")) for f in given]
        assert db.execute(query, ["d"]).fetchall() == expected
        assert db.execute(query, ["plain"]).fetchall() == [(f["lfn"], f["size"], f["nevents"], None) for f in plain]
