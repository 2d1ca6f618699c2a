"""STATES.md, Retries: an ended job that came straight into a TaskQueue waits again."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connection, refused, requirements
from tests.core.lifecycle import grids

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ASKED = {"Sites": ["A", "B"], "Tags": ["t"], "MinRAM": 2000}


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    q = Calls(rolled_back)
    q.set_clock(NOON)
    return q


def retry(q: Calls, *job_ids: int | None) -> list[Any]:
    return q.rows("select * from lifecycle.retry_jobs(%s, %s::bigint[])", q.setup, list(job_ids))


def refuses(q: Calls, code: str, text: str, *job_ids: int | None) -> None:
    """The retry is refused, and nothing changes."""
    before = q.stored()
    with refused(code, text) as caught, q.connection.transaction():
        retry(q, *job_ids)
    assert caught.value.diag.message_hint
    assert q.stored() == before


def end(q: Calls, job_id: int, outcome: str) -> None:
    """The job is matched at site A, reported and ended."""
    match = q.take(JobID=job_id, Site="A", Tag="t", MaxRAM=4000)
    q.call_rows("report_job", job_id, match.attempt)
    q.call("finish_job", job_id, match.attempt, outcome)


@pytest.mark.parametrize("past", [False, True])
@pytest.mark.parametrize("outcome", ["failed", "cancelled", "closed"])
def test_an_ended_job_waits_again_as_it_was(q: Calls, outcome: str, past: bool) -> None:
    payload = {"script": "run.sh"}
    q.call("insert_job", 1, Jsonb(requirements(**ASKED)), 7, None, Jsonb(payload))
    end(q, 1, outcome)
    if past:
        q.set_clock(NOON + timedelta(hours=2))
        assert q.maintain()["definitions"] == 1
    assert retry(q, 1) == [(1, "waits again")]
    assert (q.state(1), q.inconsistencies()) == ("waiting", [])
    [row] = q.rows("select user_priority, attempts, losses, held, brokered from taskqueue.job where job_id = 1")
    assert row == (7, 1, 0, False, False)
    assert q.value("select requirements from monitor.job where job_id = 1") == q.value(
        "select taskqueue.canonical_requirements(%s, %s)", q.setup, Jsonb(requirements(**ASKED))
    )
    assert q.call("own_payload", 1) == payload
    match = q.take(Site="B", Tag="t", MaxRAM=4000)
    assert (match.job_id, match.number, match.user_priority) == (1, 2, 7)


def test_a_retry_is_in_the_history_and_among_the_changes(q: Calls) -> None:
    q.insert(1, 3, **ASKED)
    end(q, 1, "failed")
    q.set_clock(NOON + timedelta(minutes=1))
    retry(q, 1)
    query = "select attempt, event, user_priority, role_name from taskqueue.history where job_id = 1 and at > %s"
    assert q.rows(query, NOON) == [(1, "retried", 3, q.value("select current_user"))]
    assert q.value("select event from monitor.job_event where job_id = 1 order by at desc limit 1") == "retried"
    query = "select name, after from monitor.change where setup = %s and object = 'job' order by change_id desc limit 1"
    assert q.rows(query, q.setup) == [("1", {"waiting again": 1})]


def test_an_attempt_that_ended_is_stale_after_a_retry(q: Calls) -> None:
    q.insert(1)
    match = q.take()
    q.call("finish_job", 1, match.attempt, "failed")
    retry(q, 1)
    for again in (None, q.take()):
        with refused("PB003"), q.connection.transaction():
            q.call("finish_job", 1, match.attempt, "failed")
        assert again is None or again.number == 2


def test_losses_begin_again(q: Calls) -> None:
    q.insert(1)
    q.settings(attempts=2)
    moment = NOON
    for _ in range(2):
        q.take()
        moment += timedelta(hours=1)
        q.set_clock(moment)
        q.rows("select * from lifecycle.expire_leases(%s)", q.setup)
    assert q.outcome(1) == "failed"
    retry(q, 1)
    q.take()
    q.set_clock(moment + timedelta(hours=1))
    q.rows("select * from lifecycle.expire_leases(%s)", q.setup)
    assert q.rows("select attempts, losses from taskqueue.job") == [(3, 1)]


def test_a_job_that_never_ran_is_retried_too(q: Calls) -> None:
    q.insert(1, 10, **ASKED)
    q.call("hold", "job", "1")
    q.call("cancel_job", 1)
    assert q.rows("select site, user_priority from taskqueue.ended") == [(None, 10)]
    retry(q, 1)
    assert q.take(Site="A", Tag="t", MaxRAM=4000).number == 1


def test_a_retried_job_gets_a_bucket_of_today(q: Calls) -> None:
    for job_id, cpu_time in ((1, 400), (2, 4000)):
        q.insert(job_id, CPUTime=cpu_time)
        q.call("cancel_job", job_id)
    q.call("set_cpu_buckets", [3600])
    assert q.rows("select requirements ->> 'CPUTime' from monitor.job order by job_id") == [("500",), ("5000",)]
    retry(q, 1, 2)
    assert {row[0] for row in q.rows("select requirements ->> 'CPUTime' from monitor.job")} == {"3600"}
    assert (list(q.queues().values()), q.inconsistencies()) == ([2], [])


@pytest.mark.parametrize("state", ["waiting", "held", "leased (matched)", "finished"])
def test_only_a_job_that_failed_is_retried(q: Calls, state: str) -> None:
    q.insert(1)
    q.call("cancel_job", 1)
    q.insert(2)
    if state == "held":
        q.call("hold", "job", "2")
    elif state != "waiting":
        match = q.take()
        if state == "finished":
            q.call("finish_job", 2, match.attempt)
    refuses(q, "PB005", rf"job 2 is {state.partition(' ')[0]}", 1, 2)
    assert q.outcome(1) == "cancelled"


@pytest.mark.parametrize("job_id", [77, 0, None])
def test_an_unknown_job_is_not_retried(q: Calls, job_id: int | None) -> None:
    q.insert(1)
    q.call("cancel_job", 1)
    refuses(q, "PB004", f"there is no job {'null' if job_id is None else job_id} in setup", 1, job_id)


def test_a_job_that_was_forgotten_is_not_retried(q: Calls) -> None:
    q.insert(1)
    q.call("cancel_job", 1)
    q.call("forget_ended", timedelta(0))
    refuses(q, "PB004", "there is no job 1", 1)


def test_a_job_without_requirements_is_not_retried_and_can_be_inserted(q: Calls) -> None:
    q.insert(1)
    q.call("cancel_job", 1)
    q.call("delete_empty_queues")
    for days in (1, 33):
        q.set_clock(NOON + timedelta(days=days))
        q.maintain()
    refuses(q, "PB005", "job 1 is cancelled, and its requirements are no longer kept", 1)
    q.insert(1)
    assert q.state(1) == "waiting"


def test_jobs_of_tasks_and_of_task_queues_are_retried_together(q: Calls) -> None:
    db = q.connection
    grids.load(db, "s")
    [brokered] = grids.make(db, "s")
    grids.activate(db, "s")
    taken = grids.match(db, "s")
    assert taken
    db.execute("select taskqueue.finish_job('s', %s, %s, 'failed')", taken)
    s = Calls(db, "s")
    for job_id in (3, 4, 5):
        s.insert(job_id, OwnerDN=f"owner {job_id % 2}")
        s.call("cancel_job", job_id)
    s.insert(6)
    refuses(s, "PB005", "job 6 is waiting", brokered, 5, 6)
    answers = [(3, "waits again"), (5, "waits again"), (brokered, "its work is back in task 1")]
    assert retry(s, 5, brokered, 3, 5) == answers
    assert [s.state(job_id) for job_id in (3, 4, 5)] == ["waiting", "ended", "waiting"]
    query = "select after from monitor.change where setup = 's' and object = 'job' order by change_id desc limit 1"
    assert db.execute(query).fetchall() == [({"waiting again": 2, "work given back": 1},)]
    assert s.inconsistencies() == grids.differences(db, "s") == []


def test_many_jobs_of_one_task_queue_are_retried_at_once(q: Calls) -> None:
    q.settings(queue_size=40)
    q.insert_many(range(1, 101), 2)
    for match in q.match_jobs(100):
        q.call("finish_job", match.job_id, match.attempt, "failed")
    assert len(retry(q, *range(1, 101))) == 100
    assert (sorted(q.queues().values()), q.inconsistencies()) == ([20, 40, 40], [])
    assert {match.number for match in q.match_jobs(100)} == {2}


@pytest.mark.parametrize("gave_back", [True, False])
def test_a_job_whose_task_forgot_it_is_not_retried(q: Calls, gave_back: bool) -> None:
    """Its part may be done by another job, or belongs to a task that has no more parts to do."""
    db = q.connection
    grids.load(db, "s", files=1)
    [brokered] = grids.make(db, "s")
    grids.activate(db, "s")
    taken = grids.match(db, "s")
    assert taken
    db.execute("select taskqueue.finish_job('s', %s, %s, 'failed')", taken)
    s = Calls(db, "s")
    if gave_back:
        assert retry(s, brokered) == [(brokered, "its work is back in task 1")]
    else:
        db.execute("update workload.task set status = 'done' where setup = 's'")
    s.set_clock(NOON + timedelta(days=90))
    assert s.value("select lifecycle.forget_ended('s')") == 1
    refuses(s, "PB005", f"job {brokered} belonged to a task", brokered)
