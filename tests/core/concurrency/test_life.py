"""Agents, brokers, a watchdog and folding of counts, all at once: counts equal a recount, no job is lost."""

import random
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connect
from tests.core.concurrency.racing import Attempt, run_together
from tests.core.lifecycle import grids

SECONDS = 4.0
FILES = 400
AGENTS = 10
GONE = ("PB003", "PB004", "PB005")  # another session was first


def _tries(q: Calls, query: str, *arguments: Any) -> list[Any]:
    try:
        return q.rows(query, *arguments)
    except psycopg.Error as error:
        if error.sqlstate not in GONE:
            raise
        return []


def _agent(number: int, until: float) -> Callable[[Calls], None]:
    draw = random.Random(number)
    resource = Jsonb({**grids.PLENTY, "Site": "QA" if number % 2 else "QB"})

    def work(q: Calls) -> None:
        while time.monotonic() < until:
            for job, attempt in q.rows("select job_id, attempt from taskqueue.match_jobs('s', %s, 3)", resource):
                for status in draw.sample(["starting", "running", None, "transferring"], 2):
                    _tries(q, "select taskqueue.report_job('s', %s, %s, %s)", job, attempt, status)
                if draw.random() < 0.3:
                    _tries(q, "select taskqueue.release_job('s', %s, %s)", job, attempt)
                elif draw.random() < 0.9:
                    outcome = draw.choice(["finished", "failed"])
                    _tries(q, "select taskqueue.finish_job('s', %s, %s, %s)", job, attempt, outcome)

    return work


def _again(until: float, query: str, pause: float) -> Callable[[Calls], None]:
    def work(q: Calls) -> None:
        while time.monotonic() < until:
            _tries(q, query)
            time.sleep(pause)

    return work


@pytest.mark.representative
def test_sixteen_callers_at_once_lose_no_job_and_keep_counts_exact(dsn: str, connect: Connect) -> None:
    db = connect()
    grids.load(db, "s", files=FILES)
    rule = {"position": 1, "name": "again", "failures_to": 2, "decision": "retry"}
    db.execute("select taskqueue.set_retry_rules('s', %s)", [Jsonb([rule])])
    grids.make(db, "s", "QA", FILES // 2)
    grids.make(db, "s", "QB", FILES // 8)
    grids.activate(db, "s")
    grids.make(db, "s", "QB", FILES // 8)
    until = time.monotonic() + SECONDS
    some = """(select j.job_id from workload.job j where j.setup = 's' and j.ended is null
                order by md5(j.job_id::text || clock_timestamp()) limit 1)"""
    again = [
        ("select lifecycle.activate('s')", 0.02),
        ("select lifecycle.give_back('s', 5)", 0.02),
        ("select workload.fold_counts(50)", 0.0),
        ("select workload.fold_counts(1000)", 0.01),
        ("select workload.clean_counts()", 0.05),
        (f"select lifecycle.return_to_task('s', {some}, 'test')", 0.02),
        (f"select lifecycle.cancel_jobs('s', array[{some}])", 0.05),
    ]
    works = [_agent(number, until) for number in range(AGENTS)] + [_again(until, *what) for what in again]
    run_together(dsn, works)
    assert grids.differences(db, "s") == []
    assert db.execute("select workload.fold_counts()").fetchall() is not None
    assert grids.differences(db, "s") == []
    wrong = """
        select j.job_id, j.status, w.job_id is not null as waits, l.state,
               (select string_agg(h.to_status || ' ' || h.why, ', ' order by h.number)
                  from workload.job_history h where h.setup = 's' and h.job_id = j.job_id)
          from workload.job j
          left join taskqueue.job w on w.setup = j.setup and w.job_id = j.job_id
          left join taskqueue.lease l on l.setup = j.setup and l.job_id = j.job_id
         where j.setup = 's'
           and ((j.status = 'activated') <> (w.job_id is not null) or (j.ended is not null) <> workload.is_end(j.status)
                or (j.status in ('sent', 'starting', 'running', 'holding', 'transferring')) <> (l.job_id is not null))
    """
    assert db.execute(wrong).fetchall() == []
    assert len(grids.job_ids(db, "s")) == FILES * 3 // 4
    chain = """
        select count(*) from (
          select h.from_status, lag(h.to_status) over (partition by h.job_id order by h.number) as before
            from workload.job_history h where h.setup = 's') c
         where c.from_status is distinct from c.before
    """
    assert db.execute(chain).fetchall() == [(0,)]
    returned = (
        "select count(*), count(retry_at) from workload.job where setup = 's' and status = 'failed' and rebrokered > 0"
    )
    [(back, twice)] = db.execute(returned).fetchall()
    assert back > 0 == twice
    went = db.execute(
        "select count(*) from workload.job_history where setup = 's' and to_status = 'finished'"
    ).fetchone()
    assert went is not None
    assert went[0] > 20


@pytest.mark.parametrize(
    "other", ["lifecycle.cancel_jobs('s', %s::bigint[])", "lifecycle.retry_jobs('s', %s::bigint[])"]
)
@pytest.mark.parametrize("again", ["lifecycle.give_back('s')", "lifecycle.retry_jobs('s', %s::bigint[])"])
def test_calls_for_failed_jobs_of_several_tasks_wait_for_each_other(connect: Connect, again: str, other: str) -> None:
    """The task with the lower id has the job with the higher one, and each call locks the jobs in the same order."""
    db, first, second, third = (connect() for _ in range(4))
    grids.load(db, "s", tasks=[{"id": 1}, {"id": 2}])
    q = Calls(db, "s")
    q.call("set_retry_rules", Jsonb([{"position": 1, "name": "again", "decision": "retry"}]))
    ids = [grids.make(db, "s", task=task)[0] for task in (2, 1)]
    grids.activate(db, "s")
    for job_id in ids:
        q.call("finish_job", job_id, q.take(**grids.PLENTY, Site="QA", JobID=job_id).attempt, "failed")
    third.autocommit = False
    third.execute("select from workload.job where setup = 's' and job_id = %s for update", [ids[1]])

    def asked(text: str) -> Callable[[Calls], list[Any]]:
        return lambda own: own.rows(f"select {text}", *[ids] * text.count("%s"))

    calls = [Attempt(Calls(side), asked(text), q) for side, text in ((first, again), (second, other))]
    for call in calls:
        call.waits()
    third.rollback()
    for call in calls:
        call.end()
    assert grids.differences(db, "s") == []
    assert q.rows("select from workload.job where setup = 's' and retry_at is not null") == []
