"""Every pair of calls, one of them in a transaction that is still open when the other begins.

Whatever the two calls are, whether the first commits or rolls back, no job is lost or doubled, the derived structures
are right, and nobody gets an error but ours.
"""

import itertools
import os
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, requirements
from tests.concurrency.racing import Attempt, Stage

JOBS = Jsonb(
    [
        {"requirements": requirements(**keys), "jobs": [[job_id, 1] for job_id in ids]}
        for ids, keys in (
            ([5], {"Sites": ["S"], "JobTypes": ["T"]}),
            ([6], {}),
            ([1], {"CPUTime": 5000, "Sites": ["S"]}),
            ([2, 3, 4], {"JobTypes": ["T"]}),
            ([7], {"OwnerDN": "bob"}),
        )
    ]
)


def prepare(stage: Stage) -> None:
    """Job 1 alone in its queue; 2, 3, 4 together; 5 leased; 6 ended; 7 held; limits at site S."""
    q = stage.observer
    q.running_limit("JobTypes", "T", 1)
    q.call("insert_jobs", JOBS)
    stage.queues = dict(q.rows("select job_id, task_queue_id from taskqueue.job where setup = %s", q.setup))
    stage.lease = q.take(Site="S", JobID=5)
    q.call("cancel_job", 6)
    q.call("hold", "job", "7")


Call = Callable[[Calls, Stage], Any]

AGENTS: dict[str, Call] = {
    "match the only job of a queue": lambda q, s: q.match(CPUTime=5000),
    "match job 1": lambda q, s: q.match(JobID=1),
    "match everything": lambda q, s: q.match_many(20),
    "match at the limit": lambda q, s: q.match_many(20, Site="S", JobType="T"),
    "report 5": lambda q, s: q.call_rows("report_job", 5, s.attempt()),
    "finish 5": lambda q, s: q.call("finish_job", 5, s.attempt()),
    "fail 5": lambda q, s: q.call("finish_job", 5, s.attempt(), "failed"),
    "release 5": lambda q, s: q.call("release_job", 5, s.attempt()),
}
SUBMITTERS: dict[str, Call] = {
    "insert new requirements": lambda q, s: q.insert(10, JobTypes=["new"]),
    "insert another with them": lambda q, s: q.insert(11, JobTypes=["new"]),
    "insert like 1": lambda q, s: q.insert(12, CPUTime=5000, Sites=["S"]),
    "insert like 5": lambda q, s: q.insert(13, Sites=["S"], JobTypes=["T"]),
    "insert 1 elsewhere": lambda q, s: q.insert(1, 9, JobTypes=["T"]),
    "insert 1 again": lambda q, s: q.insert(1, 5, CPUTime=5000, Sites=["S"]),
    "insert 5": lambda q, s: q.insert(5),
    "insert 6": lambda q, s: q.insert(6),
    "insert a batch": lambda q, s: q.insert_many([1, 2, 3, 6, 10, 14], JobTypes=["new"]),
    "cancel 1": lambda q, s: q.call("cancel_job", 1),
    "cancel 5": lambda q, s: q.call("cancel_job", 5),
    "delete 1": lambda q, s: q.call("delete_job", 1),
}
OPERATORS: dict[str, Call] = {
    "hold 1": lambda q, s: q.call("hold", "job", "1"),
    "hold the queue": lambda q, s: q.call("hold", "task_queue", str(s.queues[1])),
    "resume 7": lambda q, s: q.call("resume", "job", "7"),
    "disable": lambda q, s: q.call("set_task_queue_enabled", s.queues[1], False),
    "delete the queue if empty": lambda q, s: q.call("delete_queue_if_empty", s.queues[1]),
    "delete empty queues": lambda q, s: q.call("delete_empty_queues"),
    "recompute": lambda q, s: q.call("recompute_shares"),
    "maintain": lambda q, s: q.maintain(),
    "forget ended": lambda q, s: q.call("forget_ended", timedelta(0)),
}
RECONFIGURING: dict[str, Call] = {
    "set a limit": lambda q, s: q.running_limit("JobTypes", "T", 2),
    "set another limit": lambda q, s: q.running_limit("OwnerDN", "alice", 1),
    "clear the limit": lambda q, s: q.call("clear_limit", "running", "S", None, "JobTypes", "T"),
    "re-bucket": lambda q, s: q.call("set_cpu_buckets", [100000]),
    "rebuild": lambda q, s: q.call("rebuild_matching"),
    "hold the owner": lambda q, s: q.call("hold", "owner", "alice"),
    "set a group": lambda q, s: q.call("set_group", "users", 5.0),
    "set ten_first": lambda q, s: q.settings(ten_first=True),
}
CALLS = {**AGENTS, **SUBMITTERS, **OPERATORS, **RECONFIGURING}


def job_states(q: Calls) -> dict[int, str]:
    """Job id -> state; an id in two states is an error."""
    rows = q.rows(
        "select job_id, 'waiting' from taskqueue.job where setup = %(s)s union all"
        " select job_id, 'leased' from taskqueue.lease where setup = %(s)s union all"
        " select job_id, 'ended' from taskqueue.ended where setup = %(s)s".replace("%(s)s", "%s"),
        *[q.setup] * 3,
    )
    assert len(rows) == len({row[0] for row in rows}), f"a job in two states: {sorted(rows)}"
    return dict(rows)


def check(stage: Stage, forgotten: bool) -> None:
    q = stage.observer
    states = job_states(q)
    expected = {1, 2, 3, 4, 5, 7} | (set() if forgotten else {6})
    least = {2, 3, 4, 7} if forgotten else expected
    assert least <= states.keys(), f"lost: {expected - states.keys()}"
    assert q.inconsistencies() == []
    orphans = "select count(*) from monitor.job_without_queue where setup = %s"
    assert q.value(orphans, q.setup) == 0


def call(q: Calls, stage: Stage, name: str) -> Any:
    """The call; our own errors are answers, others are not."""
    try:
        with q.connection.transaction():
            return CALLS[name](q, stage)
    except psycopg.Error as error:
        assert (error.sqlstate or "").startswith("PB"), f"{name}: {error.sqlstate} {error}"
        assert error.sqlstate != "PB006", f"{name}: {error}"
        return error


@pytest.mark.parametrize("name", CALLS)
def test_whatever_races_with(stages: Callable[[], Stage], name: str) -> None:
    """`name` in an open transaction, and every other call meanwhile; then it commits, or rolls back.

    Of two calls the one commits where it is the first, the other rolls back; BROKER_TEST_ALL_RACES=1 does both.
    """
    names = list(CALLS)
    for other, commit in itertools.product(CALLS, (True, False)):
        if commit is (names.index(name) > names.index(other)) and not os.environ.get("BROKER_TEST_ALL_RACES"):
            continue
        stage = stages()
        prepare(stage)
        stage.first.rows("select 1")  # opens the transaction, so that the call's own is a savepoint in it
        call(stage.first, stage, name)
        attempt = Attempt(stage.second, partial(call, stage=stage, name=other), stage.observer)
        waited = attempt.waits()
        if commit:
            stage.first.connection.commit()
        else:
            stage.first.connection.rollback()
        try:
            attempt.end()
            if other in AGENTS and "5" not in other and name not in RECONFIGURING:
                assert not waited, "an agent that asks for a job waited"
            check(stage, "forget ended" in (name, other))
        except (AssertionError, psycopg.Error) as error:
            raise AssertionError(f"{name} ({'committed' if commit else 'rolled back'}) / {other}: {error}") from error
