"""Changes of counts are moved by calls that change status, one mover at a time, and nobody waits for it."""

import threading
import time
from itertools import pairwise
from typing import Any

import pytest

from broker import world
from tests.calls import Connect, Connection
from tests.core.lifecycle import grids

JOBS = 1100  # one change in 1,024 moves the changes before it: this many at once include one
CHANGE = """
    select cardinality(workload.change_status('s', array_agg(j.job_id), %s, %s, 'test'))
      from workload.job j where j.setup = 's'
"""
LEFT = "select count(*) from workload.job_change where from_status is not distinct from %s"


def _value(db: Connection, query: str, *arguments: Any) -> Any:
    [(one,)] = db.execute(query.encode(), arguments).fetchall()
    return one


def _loaded(connect: Connect) -> Connection:
    db = connect()
    grids.load(db, "s", files=JOBS)
    grids.make(db, "s", "QA", JOBS)
    assert _value(db, LEFT, None) > 0
    return db


@pytest.mark.slow
def test_a_call_folds_the_changes_of_earlier_calls(connect: Connect) -> None:
    db = _loaded(connect)
    assert _value(db, CHANGE, "defined", "assigned") == JOBS
    assert _value(db, LEFT, None) == 0
    assert _value(db, LEFT, "defined") > 0
    assert grids.differences(db, "s") == []


@pytest.mark.slow
def test_a_long_transaction_folds_no_changes(connect: Connect) -> None:
    db = _loaded(connect)
    with db.transaction():
        db.execute("select pg_sleep(1.1)")
        assert _value(db, CHANGE, "defined", "assigned") == JOBS
        assert _value(db, LEFT, None) > 0
    assert grids.differences(db, "s") == []


@pytest.mark.slow
def test_no_caller_waits_for_the_folding_of_another(connect: Connect) -> None:
    db, other = _loaded(connect), connect()
    other.execute("set lock_timeout = '1s'")
    with db.transaction():
        assert _value(db, "select workload.fold_counts()") > 0
        assert _value(other, "select workload.fold_counts()") == 0
        assert _value(other, CHANGE, "defined", "assigned") == JOBS
        assert grids.differences(other, "s") == []
    assert _value(other, CHANGE, "assigned", "activated") == JOBS
    assert _value(other, LEFT, "defined") == 0
    assert grids.differences(db, "s") == []


@pytest.mark.slow
def test_no_call_waits_for_the_counts_of_a_load(connect: Connect) -> None:
    """The load adds jobs of the same queue and task, and a start, so it writes the rows of counts that a call folds."""
    db, loader = _loaded(connect), connect()
    db.execute("set lock_timeout = '1s'")
    [(highest, task)] = db.execute("select max(job_id), max(task_id) from workload.job where setup = 's'").fetchall()
    status = {"task": task, "queue": "QA"}
    given = [
        {**status, "id": highest + 10**6, "status": "defined"},
        {**status, "id": highest + 10**6 + 1, "status": "running", "started": grids.NOON.isoformat()},
    ]
    with loader.transaction():
        grids.load_world(loader, "s", {"jobs": given})
        assert _value(db, "select workload.fold_counts()") == 0
        assert _value(db, CHANGE, "defined", "assigned") == JOBS
    assert _value(db, "select workload.fold_counts()") > 0
    assert _value(db, "select sum(jobs) from workload.start_count where setup = 's'") == 1
    assert grids.differences(db, "s") == []


@pytest.mark.slow
def test_a_start_during_a_load_of_other_jobs_is_counted_once(connect: Connect) -> None:
    db, blocker, loader = _loaded(connect), connect(), connect()
    [(job, task)] = db.execute(
        "select job_id, task_id from workload.job where setup = 's' order by 1 limit 1"
    ).fetchall()
    given = {"id": job + 10**6, "task": task, "status": "activated", "queue": "QA"}
    load = threading.Thread(target=lambda: world.load(loader, [{"setup": "s", "jobs": [given]}]))
    with blocker.transaction(force_rollback=True):
        query = "insert into workload.job (setup, job_id, task_id, status) values ('s', %s, %s, 'activated')"
        blocker.execute(query, (given["id"], task))
        load.start()
        while not _value(db, "select count(*) from pg_locks where pid = %s and not granted", loader.info.backend_pid):
            time.sleep(0.01)
        for before, after in pairwise(("defined", "assigned", "activated", "sent", "starting", "running")):
            _value(db, "select cardinality(workload.change_status('s', array[%s], %s, %s, 'test'))", job, before, after)
    load.join(10)
    assert not load.is_alive()
    db.execute("select workload.fold_counts()")
    assert _value(db, "select sum(jobs) from workload.start_count where setup = 's'") == 1
    assert grids.differences(db, "s") == []
