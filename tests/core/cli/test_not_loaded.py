"""`broker load`, `explain` and `assign` name the data that a rule needs and that was not loaded."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.calls import Connection
from tests.commands import Cli

QUEUE: dict[str, Any] = {
    "panda_site": "NORTH", "status": "online", "type": "unified", "releases": ["AUTO"], "corecount": 8,
    "maxrss": 16000,
    "astorages": {"pr": ["NORTH_DISK"], "pw": ["NORTH_DISK"]},
}  # fmt: skip
TASK = {"id": 7, "core_count": 8, "ram_count": 1500, "nucleus": "SOUTH", "trans_home": "Athena-23.0.1", "input": ["in"]}
PAGE = Path(__file__).parents[3] / "broker" / "docs" / "reference" / "world-fields.md"
NO_SOFTWARE = "no software is loaded for setup w (broker load --software)"
NO_PILOTS = "no counts of pilots are loaded for setup w (broker load --pilots)"
NO_NUCLEUS = "no queue of setup w is of role nucleus (broker load --cric-sites)"
NO_STORAGE = "NORTH_DISK is not loaded (broker load --cric-storages)"


@pytest.fixture
def sparse(cli: Cli, tmp_path: Path) -> Path:
    """A setup of CRIC's queues alone, with a task."""
    (tmp_path / "queues.json").write_text(json.dumps({"NORTH_PQ": QUEUE}))
    (tmp_path / "tasks.json").write_text(json.dumps({"tasks": [TASK]}))
    printed = cli("load", "--cric-queues", tmp_path / "queues.json", tmp_path / "tasks.json", "--setup", "w")
    assert printed.code == 0
    for lack in (NO_SOFTWARE, NO_PILOTS, NO_NUCLEUS):
        assert lack in printed.err
    return tmp_path


@pytest.mark.slow
def test_explain_names_missing_data_apart_from_the_verdict(cli: Cli, sparse: Path) -> None:
    explained = cli("explain", "task", 7, "--setup", "w", "--json").json
    assert explained["not_loaded"] == [
        "input in is not loaded (broker load --rucio-replicas)",
        "nucleus SOUTH of the task is not loaded",
    ]
    reasons = [dict(said.split(": ", 1) for said in row["all_reasons"]) for row in explained["queues"]]
    for row, found in zip(explained["queues"], reasons, strict=True):
        assert row["verdict"] == "rejected"
        assert found["software"] == "-cache: AUTO is among its releases, but it publishes no software"
        assert row["not_loaded"] == {"software": NO_SOFTWARE, "no-pilot": NO_PILOTS, "storage-space": NO_STORAGE}
    shown = " ".join(cli("explain", "task", 7, "--setup", "w", "--queue", "NORTH_PQ").out.split())
    for lack in (NO_SOFTWARE, "nucleus SOUTH of the task is not loaded"):
        assert lack in shown
    dry = cli("assign", "jobs", "--setup", "w", "--dry-run", "--task", 7).out
    assert f"software: {NO_SOFTWARE}" in dry


@pytest.mark.slow
def test_the_example_of_hardware_in_the_comment_can_be_requested_by_a_task(cli: Cli, db: Connection) -> None:
    """Without an export, software is written by hand from the comment of the column and the page of fields."""
    query = """select col_description(attrelid, attnum) from pg_attribute
                where attrelid = 'resource.software'::regclass and attname = 'architectures'"""
    [(comment,)] = db.execute(query).fetchall()
    example = re.findall(r"\[\{.*\}\]", comment)
    assert example and example[0] in " ".join(PAGE.read_text(encoding="utf-8").split())
    world = {
        "software": {"NORTH_PQ": {"cvmfs": ["atlas"], "containers": ["any"], "architectures": json.loads(example[0])}},
        "queues": {"NORTH_PQ": QUEUE},
        "tasks": [TASK | {"architecture": "#x86_64-intel-avx2"}, TASK | {"id": 8, "architecture": "#aarch64"}],
    }
    assert cli("load", "-", stdin=json.dumps(world)).code == 0
    for task, rejects in ((7, False), (8, True)):
        [row] = cli("explain", "task", task, "--queue", "NORTH_PQ", "--json").json["queues"]
        assert any(reason.startswith("software: ") for reason in row["all_reasons"]) == rejects, row["all_reasons"]


@pytest.mark.slow
def test_loaded_data_is_no_longer_named_as_missing(cli: Cli, db: Connection, sparse: Path) -> None:
    world = {
        "setup": "w",
        "storages": {"NORTH_DISK": {"site": "NORTH"}},
        "software": {"OTHER": {"cvmfs": ["atlas"]}},
        "queues": {"OTHER": {"pilots": {"getjob": 5}, "role": "nucleus"}},
        "nuclei": {"SOUTH": {}},
        "datasets": {"in": {"files": [{"lfn": "a"}]}},
    }
    (sparse / "world.json").write_text(json.dumps(world))
    cli("load", "--merge", sparse / "world.json")
    rows = db.execute("select * from brokerage.not_loaded('w', 7)").fetchall()
    assert sorted(rows, key=str) == sorted(
        [
            (None, None, "no replica of input in is loaded (broker load --rucio-replicas)"),
            ("software", "NORTH_PQ", "no software is loaded for this queue (broker load --software)"),
            ("no-pilot", "NORTH_PQ", "no counts of pilots are loaded for this queue (broker load --pilots)"),
            ("storage-space", "NORTH_PQ", "the space of NORTH_DISK is not loaded (broker load --rucio-usage)"),
        ],
        key=str,
    )
    world |= {
        "storages": {"NORTH_DISK": {"space_free": 1}},
        "software": {"NORTH_PQ": {"cvmfs": ["atlas"]}},
        "queues": {"NORTH_PQ": {"pilots": {"getjob": 0}}},
        "datasets": {"in": {"replicas": {"NORTH_DISK": {}}}},
    }
    (sparse / "world.json").write_text(json.dumps(world))
    cli("load", "--merge", sparse / "world.json")
    assert db.execute("select * from brokerage.not_loaded('w', 7)").fetchall() == []
    old = {"setup": "w", "queues": {"NORTH_PQ": {"pilots": {"getjob": 9, "at": {"hours_ago": 3.1}}}}}
    (sparse / "world.json").write_text(json.dumps(old))
    cli("load", "--merge", sparse / "world.json")
    lack = "the counts of pilots of this queue are older than 3 h (broker load --pilots)"
    assert db.execute("select * from brokerage.not_loaded('w', 7)").fetchall() == [("no-pilot", "NORTH_PQ", lack)]
