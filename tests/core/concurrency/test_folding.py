"""Changes of counts are moved by calls that change status, one mover at a time, and nobody waits for it."""

from typing import Any

import pytest

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
    db.commit()
    db.autocommit = True
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
    other.autocommit = True
    other.execute("set lock_timeout = '1s'")
    with db.transaction():
        assert _value(db, "select workload.fold_counts()") > 0
        assert _value(other, "select workload.fold_counts()") == 0
        assert _value(other, CHANGE, "defined", "assigned") == JOBS
        assert grids.differences(other, "s") == []
    assert _value(other, CHANGE, "assigned", "activated") == JOBS
    assert _value(other, LEFT, "defined") == 0
    assert grids.differences(db, "s") == []
