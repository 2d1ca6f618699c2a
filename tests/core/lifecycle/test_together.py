"""Reports and ends of many jobs in one call have the same effects as one by one."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.core.lifecycle import grids

Connection = psycopg.Connection[Any]
Element = dict[str, Any]
STATUSES = ["starting", "running", "holding", "transferring", None, "asleep"]
OUTCOMES = ["finished", "failed", "cancelled", "closed", None, "lost"]
STATE = """
select 'lease', job_id, to_jsonb(l) from taskqueue.lease l where setup = 's' union all
select 'ended', job_id, to_jsonb(e) from taskqueue.ended e where setup = 's' union all
select 'history', job_id, to_jsonb(h) from taskqueue.history h where setup = 's' union all
select 'job', job_id, to_jsonb(j) from workload.job j where setup = 's' union all
select 'job history', job_id,
       to_jsonb(j) - 'number' || jsonb_build_object('nth', rank() over (partition by job_id order by number))
  from workload.job_history j where setup = 's' union all
select 'use', job_id, to_jsonb(u) from taskqueue.limit_use u where setup = 's' union all
select 'answer', 0, to_jsonb(r) from taskqueue.request r where setup = 's'
"""
PLAIN = [{"job_id": 7 + n, "requirements": {"OwnerDN": "a", "OwnerGroup": "g", "CPUTime": 600}} for n in range(8)]


@pytest.fixture
def db(rolled_back: Connection) -> Connection:
    """Leases of six jobs of brokerage and of eight others."""
    grids.load(rolled_back, "s")
    grids.make(rolled_back, "s", jobs=6)
    grids.activate(rolled_back, "s")
    rolled_back.execute("select taskqueue.insert_jobs('s', %s)", [Jsonb(PLAIN)])
    for _ in range(14):
        request = {"resources": [{**grids.PLENTY, "Site": "QA"}], "request_id": str(uuid4())}
        rolled_back.execute("select taskqueue.match_many('s', %s)", [Jsonb([request])])
    return rolled_back


@contextmanager
def _tried(db: Connection) -> Iterator[None]:
    with db.transaction(force_rollback=True):
        yield


def _prepared(db: Connection, chance: random.Random) -> list[Element]:
    """Bring leases into random states; the random elements about them are right, stale, repeated or of no job."""
    leases = db.execute(
        "select job_id, taskqueue.attempt_text(attempt, token) from taskqueue.lease where setup = 's' order by job_id"
    ).fetchall()
    assert len(leases) == 14
    elements = []
    for job, attempt in leases:
        if chance.random() < 0.5:
            status = chance.choice(["starting", "running"])
            db.execute("select taskqueue.report_job('s', %s, %s, %s)", [job, attempt, status])
        if chance.random() < 0.3:
            db.execute("select taskqueue.cancel_job('s', %s, %s)", [job, chance.choice(["enough", "too long"])])
        stale = chance.random() < 0.2
        elements.append({"job_id": job, "attempt": f"9-{'0' * 32}" if stale else attempt})
    elements += [dict(chance.choice(elements)), {"job_id": 10**6, "attempt": elements[0]["attempt"]}]
    chance.shuffle(elements)
    return elements


def _state(db: Connection) -> list[Any]:
    """All rows that the calls write, in a fixed order."""
    return sorted(db.execute(STATE).fetchall(), key=str)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "call",
    [("report_jobs", "report_job", "status", STATUSES), ("finish_jobs", "finish_job", "outcome", OUTCOMES)],
    ids=["reports", "ends"],
)
def test_a_batch_of_ends_or_reports_equals_single_calls(
    db: Connection, call: tuple[str, str, str, list[str | None]], seed: int
) -> None:
    many, one, key, wishes = call
    chance = random.Random(seed)
    elements = [e | {key: chance.choice(wishes)} for e in _prepared(db, chance)]
    with _tried(db):
        together = db.execute(f"select * from taskqueue.{many}('s', %s)".encode(), [Jsonb(elements)]).fetchall()
        after_together = _state(db)
    with _tried(db):
        single = []
        for element in sorted(elements, key=lambda e: e["job_id"]):  # Python's sort is stable, like the call's order
            wish = element[key] if many == "report_jobs" else element[key] or "finished"
            values = [element["job_id"], element["attempt"], wish]
            query = f"select * from taskqueue.{one}('s', %s, %s, %s)"
            try:
                with db.transaction():
                    row = db.execute(query.encode(), values).fetchone()
                assert row is not None
                single.append((element["job_id"], *(row if many == "report_jobs" else (row[0], None))))
            except psycopg.Error as error:
                became = "stale" if error.sqlstate == "PB003" else "refused"
                single.append((element["job_id"], became, error.diag.message_primary))
        after_single = _state(db)
    assert sorted(together, key=str) == sorted(single, key=str)
    assert [row[0] for row in together] == sorted(row[0] for row in together)
    assert after_together == after_single
    assert {row[1] for row in together} > {"stale", "refused"}


def test_a_batch_of_ends_has_no_subtransaction_for_each_job(db: Connection) -> None:
    leases = db.execute("select job_id, taskqueue.attempt_text(attempt, token) from taskqueue.lease").fetchall()
    elements = [{"job_id": job, "attempt": attempt} for job, attempt in leases]
    db.execute("select taskqueue.finish_jobs('s', %s)", [Jsonb(elements)])
    query = "select count(*), count(distinct xmin::text) from taskqueue.ended where setup = 's'"
    assert db.execute(query).fetchone() == (14, 1)
