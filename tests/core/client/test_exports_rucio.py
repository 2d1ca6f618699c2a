"""Rucio's replicas and usage as its interface gives them, and the values that a setup gets."""

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from broker import errors, world
from broker.world import exports
from tests.calls import Connection
from tests.exports import held


def file(name: str, states: dict[str, str], *parents: str) -> dict[str, Any]:
    """A file as the list of replicas has it, reduced."""
    return {
        "scope": "mc",
        "name": name,
        "bytes": 10,
        "adler32": "00000001",
        "md5": None,
        "pfns": {},
        "rses": {rse: [f"root://{rse}/{name}"] for rse in states},
        "states": states,
        "parents": [f"mc:{parent}" for parent in parents],
    }


FILES = [
    file("a", {"NORTH_DISK": "AVAILABLE", "SOUTH_DISK": "AVAILABLE"}, "set"),
    file("b", {"NORTH_DISK": "AVAILABLE", "SOUTH_DISK": "COPYING"}, "set"),
    file("c", {"NORTH_DISK": "AVAILABLE"}, "set"),
]


@pytest.mark.parametrize("value", [FILES, {"mc:set/": [{**one, "parents": None} for one in FILES]}])
def test_replicas_of_files_are_loaded_with_their_dataset(db: Connection, value: Any) -> None:
    assert exports.load(db, "rucio-replicas", value).rows == 3
    dataset = held(db)["datasets"]["set"]
    assert [(one["lfn"], one["size"]) for one in dataset["files"]] == [("a", 10), ("b", 10), ("c", 10)]
    assert dataset["replicas"] == {"NORTH_DISK": {}, "SOUTH_DISK": {"lfns": ["a"], "total": 3}}


def test_lines_of_json_are_read(tmp_path: Path) -> None:
    lines = tmp_path / "lines.json"
    lines.write_text("".join(json.dumps(one) + "\n" for one in FILES))
    assert exports.read(lines, lambda path: path.read_text()) == FILES
    lines.write_text(json.dumps({"mc:set": FILES}, indent=2))
    assert exports.read(lines, lambda path: path.read_text()) == {"mc:set": FILES}
    lines.write_text('{"a": 1}\n{"a": }\n')
    with pytest.raises(errors.BadRequest, match=r"lines\.json is not JSON") as caught:
        exports.read(lines, lambda path: path.read_text())
    assert "lines of JSON, or a table" in str(caught.value.hint)


def test_replicas_of_datasets_keep_the_loaded_files(db: Connection) -> None:
    exports.load(db, "rucio-replicas", FILES)
    row = {"scope": "mc", "name": "set", "length": 3, "bytes": 30, "state": "AVAILABLE", "rse_id": "0"}
    rows = [
        {**row, "rse": "NORTH_DISK", "available_length": 3, "available_bytes": 30},
        {**row, "rse": "WEST_TAPE", "available_length": 1, "available_bytes": 10},
    ]
    assert exports.load(db, "rucio-datasets", rows).rows == 2
    dataset = held(db)["datasets"]["set"]
    assert len(dataset["files"]) == 3
    assert dataset["replicas"] == {
        "NORTH_DISK": {"found": 3, "total": 3, "asize": 30, "tsize": 30},
        "WEST_TAPE": {"found": 1, "total": 3, "asize": 10, "tsize": 30},
    }


@pytest.mark.parametrize(
    "counts",
    [
        {"length": 0, "available_length": 0},
        {"length": 4, "available_length": None},
        {"length": None, "available_length": None},
        {"length": None, "available_length": 4},
        {},
    ],
)
def test_a_copy_of_which_nothing_is_known_is_not_complete(db: Connection, counts: dict[str, Any]) -> None:
    exports.load(db, "rucio-replicas", FILES)
    full = {"scope": "mc", "name": "set", "rse": "NORTH_DISK", "length": 3, "available_length": 3}
    exports.load(db, "rucio-datasets", [full, {"scope": "mc", "name": "set", "rse": "ODD_DISK", **counts}])
    rows = db.execute("select storage, is_complete from workload.replica_state order by 1").fetchall()
    assert rows == [("NORTH_DISK", True), ("ODD_DISK", False)]


@pytest.mark.parametrize(
    ("replica", "complete"),
    [
        ({}, True),
        ({"found": 2, "total": 2}, True),
        ({"found": 2}, True),
        ({"lfns": ["a", "b"]}, True),
        ({"found": 0, "total": 0}, False),
        ({"found": None, "total": 2}, False),
        ({"lfns": []}, False),
        ({"found": 0}, False),
    ],
)
def test_a_replica_of_a_world_is_complete_by_its_counts(db: Connection, replica: Any, complete: bool) -> None:
    files = [{"lfn": "a"}, {"lfn": "b"}]
    world.load(db, [{"datasets": {"set": {"files": files, "replicas": {"D": replica}}}}])
    assert db.execute("select is_complete from workload.replica_state").fetchall() == [(complete,)]


GB = 1024**3
ROWS = [
    {"source": "storage", "used": 30 * GB, "free": 10 * GB, "total": 40 * GB, "rse_id": "0"},
    {"source": "expired", "used": 2 * GB, "free": None, "total": 2 * GB, "rse_id": "0"},
    {"source": "min_free_space", "used": GB, "free": None, "total": GB, "rse_id": "0"},
    {"source": "rucio", "used": 5 * GB, "free": None, "total": 5 * GB, "rse_id": "0"},
]


@pytest.mark.parametrize(
    "value",
    [
        [{**row, "rse": "NORTH_DISK"} for row in ROWS],
        {"NORTH_DISK": ROWS, "GONE": ROWS},
        {"NORTH_DISK": {row["source"]: row for row in ROWS}},
    ],
)
def test_usage_is_loaded_for_known_storages_only(db: Connection, value: Any) -> None:
    world.load(db, [{"storages": {"NORTH_DISK": {"site": "NORTH"}}}])
    lacking = exports.load(db, "rucio-usage", value).lacking
    assert lacking == (["1 storage is not loaded and left out: GONE (--cric-storages)"] if "GONE" in value else [])
    assert held(db)["storages"] == {
        "NORTH_DISK": {"site": "NORTH", "space_free": 10, "space_expired": 2, "space_min_free": 1, "space_total": 40}
    }


@pytest.mark.parametrize(
    ("row", "total"),
    [
        ({"used": 30 * GB, "free": 10 * GB}, 40),
        ({"used": 30 * GB, "free": 10 * GB, "total": None}, 40),
        ({"used": 30 * GB, "free": 10 * GB, "total": 0}, 0),
        ({"used": 0, "free": 10 * GB}, 10),
        ({"free": 10 * GB}, None),
        ({"used": 30 * GB, "free": None}, None),
    ],
)
def test_the_total_of_a_storage_is_the_used_and_the_free_space(db: Connection, row: Any, total: int | None) -> None:
    world.load(db, [{"storages": {"D": {}}}])
    exports.load(db, "rucio-usage", {"D": {"storage": row}})
    assert held(db)["storages"]["D"].get("space_total") == total


@pytest.mark.parametrize(
    ("export", "value", "named"),
    [
        ("rucio-replicas", [{**FILES[0], "parents": None}], r"rucio-replicas\[0\] names no dataset"),
        ("rucio-replicas", [{**FILES[0], "name": None}], r"\[0\]\.name is null"),
        ("rucio-replicas", [{**FILES[0], "bytes": -1}], "file set, 1: size"),
        ("rucio-replicas", {"scope": "mc", "name": "f", "parents": ["mc:set"]}, "rucio-replicas.0. has no rses"),
        ("rucio-replicas", [FILES[0], {"name": "f", "parents": ["mc:set"]}], "rucio-replicas.1. has no rses"),
        ("rucio-replicas", {"mc:set": [{"scope": "mc", "name": "f"}]}, r"rucio-replicas\.mc:set\[0\] has no rses"),
        ("rucio-datasets", [{"name": "set", "available_length": 1, "available_bytes": 1}], r"\[0\]\.rse is null"),
        ("rucio-usage", ROWS, r"rucio-usage\[0\] names no RSE"),
        ("rucio-usage", {"A": [{"source": "storage", "free": "much", "used": 1}]}, "free is"),
    ],
)
def test_exports_of_another_shape_are_refused_by_field(db: Connection, export: str, value: Any, named: str) -> None:
    with pytest.raises((errors.BrokerError, psycopg.Error), match=named):
        exports.load(db, export, value)
    assert db.execute("select count(*) from workload.dataset").fetchone() == (0,)
