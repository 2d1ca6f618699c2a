"""Dumps with leases: a loaded lease knows its job as before, an id means one job, and sessions do not matter."""

import json
from typing import Any

import pytest

from broker import world
from broker.errors import BadRequest, WrongState
from tests.calls import Calls, Connection, refused
from tests.core.lifecycle import grids

# The columns that a dump leaves out: numbers of this database, and answers that are kept for ten minutes.
OF_THE_SERVER = ["setup", "task_queue_id", "definition_id", "request_id", "asked"]
AGED = (
    "update taskqueue.lease set matched_at = matched_at - interval '1 day', expires_at = expires_at - interval '1 day'"
)


def _dump(db: Connection, setup: str = "s") -> dict[str, Any]:
    return dict(json.loads("".join(world.dump(db, setup, with_leases=True))))


def _leases(db: Connection, setup: str) -> list[dict[str, Any]]:
    query = "select to_jsonb(l) - %s::text[] from taskqueue.lease l where l.setup = %s order by l.job_id"
    return [row for (row,) in db.execute(query, (OF_THE_SERVER, setup)).fetchall()]


@pytest.fixture
def calls(db: Connection) -> Calls:
    """A setup with leases: job 7 was lost before, job 8 belongs to a subject, the last job is brokered."""
    grids.load(db, "s")
    found = Calls(db, "s")
    found.insert(7)
    found.take()
    db.execute(AGED)
    db.execute("select lifecycle.expire_leases('s')")
    found.take()
    found.insert(8)
    found.take()
    db.execute("update taskqueue.lease set subject = 'token north' where job_id = 8")
    grids.make(db, "s")
    grids.activate(db, "s")
    grids.match(db, "s")
    return found


def test_a_loaded_lease_has_each_column_of_the_dumped_one(db: Connection, calls: Calls) -> None:
    before = _leases(db, "s")
    assert [(row["losses"], row["subject"], row["brokered"]) for row in before] == [
        (1, None, False), (0, "token north", False), (0, None, True),
    ]  # fmt: skip
    world.load(db, [_dump(db)], setup="copy")
    assert _leases(db, "copy") == before


def test_the_status_of_a_loaded_job_follows_its_loaded_lease(db: Connection, calls: Calls) -> None:
    dump = _dump(db)
    [job] = grids.job_ids(db, "s")
    [attempt] = [lease["attempt"] for lease in dump["leases"] if lease["id"] == job]
    world.load(db, [dump], setup="copy")
    copy = Calls(db, "copy")
    copy.call_rows("report_job", job, attempt, "running")
    assert grids.status(db, "copy", job) == "running"
    copy.call("finish_job", job, attempt)
    assert grids.status(db, "copy", job) == "finished"
    assert grids.differences(db, "copy") == []


@pytest.mark.parametrize("status", ["pending", "throttled", "defined", "assigned", "activated"])
def test_a_lease_of_a_job_that_brokerage_does_not_lease_is_refused(db: Connection, calls: Calls, status: str) -> None:
    dump = _dump(db)
    [job] = dump["jobs"]
    with pytest.raises(WrongState, match=f"leases: job {job['id']} is {status} in brokerage"):
        world.load(db, [{**dump, "jobs": [{**job, "status": status}]}], setup="copy")


@pytest.mark.parametrize(("taken", "words"), [(False, "waits in a TaskQueue"), (True, "is leased")])
def test_a_job_whose_id_was_submitted_is_not_loaded(db: Connection, taken: bool, words: str) -> None:
    calls = Calls(db, "s")
    calls.insert(5)
    if taken:
        calls.take()
    row = {"id": 5, "task": 1, "queue": "QA"}
    with refused("PB005", f"job 5 is assigned, .* was submitted and {words}"):
        world.load(db, [{**grids.grid(), "jobs": [{**row, "status": "assigned"}]}], setup="s")
    world.load(db, [{**grids.grid(), "jobs": [{**row, "status": "finished"}]}], setup="s")


def test_jobs_that_brokerage_made_come_back_to_their_task_queues(db: Connection) -> None:
    grids.load(db, "s")
    grids.make(db, "s")
    grids.activate(db, "s")
    [job] = grids.job_ids(db, "s")
    dump = _dump(db)
    world.load(db, [dump], setup="copy")
    assert _dump(db, "copy") == {**dump, "setup": "copy"}
    waiting = "select setup, job_id, brokered from taskqueue.job order by setup"
    assert db.execute(waiting).fetchall() == [("copy", job, True), ("s", job, True)]
    grids.match(db, "copy")
    assert (grids.status(db, "copy", job), grids.status(db, "s", job)) == ("sent", "activated")
    assert grids.differences(db, "copy") == []
    with pytest.raises(BadRequest, match=f"job_id is {job}, which is not") as found:
        world.load(db, [{"task_queues": dump["task_queues"]}], setup="other")
    assert found.value.hint == "Ids above 999999999999 are reserved for jobs that brokerage makes."


SETTINGS = (
    "extra_float_digits = -15", "extra_float_digits = 0", "datestyle = 'German'", "datestyle = 'SQL, DMY'",
    "intervalstyle = 'iso_8601'", "timezone = 'Asia/Seoul'", "bytea_output = 'escape'", "search_path = 'pg_catalog'",
    "quote_all_identifiers = on", "standard_conforming_strings = off", "array_nulls = off",
)  # fmt: skip


def test_a_dump_is_the_same_whatever_the_session_sets(db: Connection, calls: Calls) -> None:
    calls.set_group("g", 0.1 + 0.2)
    calls.insert(9, MinRAM=1234567.1234567891)
    plain = _dump(db)
    for setting in SETTINGS:
        db.execute(f"set {setting}".encode())
        assert _dump(db) == plain, setting
        db.execute("reset all")
