"""Worlds merged over stored data: only the given fields of a row change, and its parts only if they are given."""

from typing import Any

import pytest

from broker import errors, world
from tests.calls import Connection
from tests.exports import held

Row = dict[str, Any]

HELD: Row = {
    "setup": "w",
    "queues": {
        "Q": {
            "panda_site": "S", "maxrss": 16000, "maxtime": 1000, "params": {"a": 1},
            "astorages": {"read_lan": ["D", "T"], "write_lan": ["D"], "es_events": ["O"]},
            "pilots": {"getjob": 5, "updatejob": 7}, "site_class": 1, "slots": [{"numslots": 64}], "gocname": "S",
        },
        "R": {"maxrss": 2000},
    },
    "storages": {"D": {"site": "S", "space_free": 100, "read_lan": "OFF", "token": "A"}},
    "links": [{"src": "S", "dst": "N", "closeness": 3, "queued": 7}],
    "software": {"Q": {"cvmfs": ["atlas"], "tags": [{"tag": "t"}]}},
    "users": {"u": {"running_jobs": 5, "queued_jobs": 6}},
    "datasets": {
        "d": {"type": "input", "site": "Q", "files": [{"lfn": "f"}, {"lfn": "g"}], "replicas": {"D": {}, "T": {}}},
    },
    "tasks": [
        {
            "id": 1, "ram_count": 3000, "user": "u", "split": {"nFilesPerJob": 2, "t1Weight": -1},
            "params": {"included_site": ["Q"]}, "input": ["d"], "output": [{"name": "out"}],
            "failures": {"Q": {"failed": 3}},
        },
    ],
    "statistics": [{"queue": "Q", "status": "running", "njobs": 4}, {"queue": "R", "status": "running", "njobs": 9}],
    "locks": ["Q"],
    "instance_types": {"T": {"cpu": 2, "ram": 4096, "price": 0.1}},
    "instance_steps": [{"id": 1, "cpu": 2, "ram": 5}],
}  # fmt: skip


def merged(db: Connection, **sections: Any) -> Row:
    world.load(db, [HELD])
    world.load(db, [sections], "w", merge=True)
    return held(db, "w")


def test_a_merge_changes_only_the_given_fields_of_a_row(db: Connection) -> None:
    world.load(db, [HELD])
    before = held(db, "w")
    changes: Row = {
        "queues": {"Q": {"maxtime": 999999}, "NEW": {"maxrss": 1}},
        "storages": {"D": {"space_free": None}},
        "links": [{"src": "S", "dst": "N", "queued": 8}],
        "software": {"Q": {"containers": ["any"]}},
        "users": {"u": {"running_jobs": 6}},
        "datasets": {"d": {"type": "lib"}},
        "tasks": [{"id": 1, "ram_count": 4000, "split": {"nFilesPerJob": 1}}, {"id": 2}],
        "instance_types": {"T": {"price": 0.2}},
        "instance_steps": [{"id": 1, "cpu": "2 * x"}],
    }
    world.load(db, [changes], "w", merge=True)
    after = held(db, "w")
    before["queues"]["Q"]["maxtime"] = 999999
    before["queues"]["NEW"] = {"maxrss": 1}
    del before["storages"]["D"]["space_free"]
    before["links"][0]["queued"] = 8
    before["software"]["Q"]["containers"] = ["any"]
    before["users"]["u"]["running_jobs"] = 6
    before["datasets"]["d"]["type"] = "lib"
    before["tasks"][0]["ram_count"] = 4000
    before["tasks"][0]["split"]["nFilesPerJob"] = 1
    before["tasks"].append({"id": 2})
    before["instance_types"]["T"]["price"] = 0.2
    before["instance_steps"][0]["cpu"] = "2 * x"
    assert after == before


@pytest.mark.parametrize(
    ("section", "change", "expected"),
    [
        ("queues", {"astorages": {"read_lan": ["X"]}}, {"read_lan": ["X"], "write_lan": ["D"], "es_events": ["O"]}),
        ("queues", {"astorages": {"pw": []}}, {"read_lan": ["D", "T"], "es_events": ["O"]}),
        ("queues", {"pilots": {"getjob": 9}}, {"getjob": 9}),
        ("queues", {"pilots": None}, None),
        ("queues", {"slots": [{"gshare": "A", "numslots": 1}]}, [{"gshare": "A", "numslots": 1}]),
        ("queues", {"params": {"b": 2}}, {"b": 2}),
        ("queues", {"gocname": "T"}, "T"),
        ("datasets", {"files": [{"lfn": "h"}]}, [{"lfn": "h"}]),
        ("datasets", {"replicas": {"X": {}}}, {"X": {}}),
        ("software", {"tags": []}, None),
    ],
)
def test_a_merge_replaces_the_given_parts_of_a_row(db: Connection, section: str, change: Row, expected: Any) -> None:
    name = {"datasets": "d"}.get(section, "Q")
    world.load(db, [HELD])
    before = held(db, "w")
    found = merged(db, **{section: {name: change}})
    [key] = change
    assert found[section][name].pop(key, None) == expected
    before[section][name].pop(key)
    assert found == before


def test_a_merge_replaces_the_given_parts_of_a_task(db: Connection) -> None:
    [task] = merged(db, tasks=[{"id": 1, "input": ["e"]}])["tasks"]
    assert (task["input"], task["output"], task["failures"]) == (["e"], [{"name": "out"}], {"Q": {"failed": 3}})
    [task] = merged(db, tasks=[{"id": 1, "output": [], "failures": {}}])["tasks"]
    assert (task["input"], "output" in task, "failures" in task) == (["d"], False, False)


def test_a_merge_replaces_statistics_locks_and_resource_types_whole(db: Connection) -> None:
    row = {"queue": "Q", "status": "running", "njobs": 1}
    found = merged(db, statistics=[row], locks=["R"], resource_types=[{"name": "ANY"}])
    assert (found["statistics"], found["locks"], found["resource_types"]) == ([row], ["R"], [{"name": "ANY"}])


def test_a_merge_refuses_wrong_values_and_repeated_rows(db: Connection) -> None:
    for change, named in (
        ({"queues": {"Q": {"maxtime": -5}}}, "queue Q: maxtime is -5"),
        ({"queues": {"Q": {"params": None}}}, r"queues\.Q\.params is null, not an object"),
        ({"tasks": [{"id": 1, "ram_count": 1}, {"id": 1, "status": "done"}]}, "task 1 is given 2 times"),
        ({"tasks": [{"id": 1, "ram_count": 1}, {"id": 1, "ram_count": 2}]}, "task 1 is given 2 times"),
        ({"instance_types": {"NEW": {"price": 1}}}, "instance_type NEW: cpu is not given"),
    ):
        with pytest.raises(errors.BadRequest, match=named):
            merged(db, **change)
