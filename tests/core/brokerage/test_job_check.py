"""task-job-check of panda2026: a nucleus needs a queue that could run the task's jobs, as the job broker sees it."""

from typing import Any

import psycopg
import pytest

from broker import world

Row = dict[str, Any]
Db = psycopg.Connection[Any]
WAYS = ("read_lan", "write_lan")


def _world() -> Row:
    """A task and two nuclei with one queue each, which would accept it."""
    return {
        "now": "2026-03-01T12:00:00+00:00",
        "queues": {
            name: {
                "panda_site": name, "role": "nucleus", "type": "production", "pilots": {"getjob": 1},
                "astorages": {way: [f"{name}_DISK"] for way in WAYS},
            }
            for name in ("A", "B")
        },
        "storages": {
            f"{name}_DISK": {"site": name, "type": "DATADISK", "space_free": 200 * 1024, "space_total": 400 * 1024}
            for name in ("A", "B")
        },
        "links": [],
        "tasks": [{"id": 1, "status": "assigning", "output": [{"name": "o", "token": "DATADISK"}], "split": {}}],
    }  # fmt: skip


def _fates(connection: Db, one: Row, profile: str = "panda2026") -> Row:
    """The rule that rejects each nucleus; None if the nucleus is a candidate."""
    connection.execute("select 1")
    try:
        world.load(connection, [one])
        query = "select brokerage.evaluate_task('default', 1, 'production_task', %s)"
        row = connection.execute(query, [profile]).fetchone()
    finally:
        connection.rollback()
    assert row is not None
    answer = row[0]
    assert answer["status"] == ("candidates" if answer["candidates"] else "pending")
    assert {each["criteria"] for each in answer["rejected"] if each["rule"] == "task-job-check"} <= {"-job"}
    fates = {each["nucleus"]: each["rule"] for each in answer["rejected"]}
    return fates | {each["nucleus"]: None for each in answer["candidates"]}


@pytest.mark.parametrize("change", [
    {"status": "offline"},
    {"corecount": 8},  # a task of one core
    {"maxrss": 1000},
    {"pilots": {}},  # a temporary problem, which counts too
])  # fmt: skip
def test_a_nucleus_whose_queues_could_not_run_the_jobs_is_rejected(rolled_back: Db, change: Row) -> None:
    one = _world()
    one["queues"]["A"] |= change
    assert _fates(rolled_back, one) == {"A": "task-job-check", "B": None}
    assert _fates(rolled_back, one, "documented") == {"A": None, "B": None}
    one["queues"]["A_ALSO"] = _world()["queues"]["A"]
    assert _fates(rolled_back, one) == {"A": None, "B": None}
    one["tasks"][0]["nucleus"] = "A"
    assert _fates(rolled_back, one) == {"A": None}


def test_no_nucleus_is_left_when_no_queue_could_run_the_jobs(rolled_back: Db) -> None:
    one = _world()
    for queue in one["queues"].values():
        queue["status"] = "test"
    assert _fates(rolled_back, one) == {"A": "task-job-check", "B": "task-job-check"}


def test_the_job_check_leaves_out_rules_about_the_nucleus(rolled_back: Db) -> None:
    """Links, t1Weight and full chain of the job broker: the task has no nucleus yet."""
    one = _world()
    one["links"] = [{"src": source, "dst": name, "closeness": -1, "queued": 200} for source in "AB" for name in "AB"]
    one["tasks"][0]["split"] = {"t1Weight": -1}
    assert _fates(rolled_back, one) == {"A": None, "B": None}
    one["queues"]["A"]["catchall"] = "bareNucleus=only"
    one["tasks"][0]["split"] = {"fullChain": 1}
    assert _fates(rolled_back, one) == {"A": None, "B": "full-chain-task"}
