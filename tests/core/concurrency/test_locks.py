"""No agent waits on a row lock that another holds until its commit: pg_locks sampled under load."""

import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from tests.calls import Calls
from tests.core.concurrency.racing import run_together

JOBS = 6000 if os.environ.get("BROKER_TEST_ALL_RACES") else 2100
# A match may wait for a hand that is being dealt, for a second at most (HANDS.md, Beside a dealer). It holds the tuple
# lock of the hand then, or asks for it: another match that passes over the hand (skip locked) has it for a moment.
# One query of pg_locks shows both locks at the same moment.
_WAITING = """
select l.waits_for, left(a.query, 60), b.application_name, left(b.query, 60)
  from (select i.pid, max(i.locktype) filter (where not i.granted) as waits_for
          from pg_locks i
         group by i.pid
        having bool_or(not i.granted)
           and not bool_or(i.locktype = 'tuple' and i.mode = 'AccessShareLock'
                           and i.relation = 'taskqueue.hand'::regclass)) l
  join pg_stat_activity a on a.pid = l.pid
  left join pg_stat_activity b on b.pid = any (pg_blocking_pids(a.pid))
 where a.datname = current_database() and a.application_name = 'agent'
"""


@contextmanager
def nobody_waits(dsn: str) -> Iterator[None]:
    """Fail when an agent is seen waiting for a row in the block."""
    waits: Counter[tuple[Any, ...]] = Counter()
    samples = 0
    done = threading.Event()

    def sample() -> None:
        nonlocal samples
        with psycopg.connect(dsn, autocommit=True) as connection:
            while not done.is_set():
                samples += 1
                waits.update(connection.execute(_WAITING).fetchall())
                done.wait(0.001)

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        yield
    finally:
        done.set()
        sampler.join()
    assert samples > 200
    row_locks = {what: count for what, count in waits.items() if what[0] in ("tuple", "transactionid")}
    assert not row_locks, f"in {samples} samples: {row_locks}"


@pytest.mark.slow
def test_no_agent_waits_for_another(dsn: str, db: psycopg.Connection[Any]) -> None:
    """Agents take, report, finish and give back, in queues that run empty and come back, at sites with limits."""
    q = Calls(db)
    q.settings(queue_size=20)
    q.running_limit("JobTypes", "T1", 6, site="S1")
    q.call("set_limit", "delay", "S2", None, "JobTypes", "T2", Decimal("0.001"), 3)
    for n in range(JOBS // 30):
        q.insert_many(
            range(30 * n + 1, 30 * n + 31),
            n % 11,
            OwnerGroup=f"g{n % 3}",
            JobTypes=[f"T{n % 7}"],
            CPUTime=(500, 5000)[n % 2],
        )
    ended: list[int] = []

    def agent(which: int) -> Callable[[Calls], None]:
        chance = random.Random(which)

        def work(own: Calls) -> None:
            idle = 0
            while len(ended) < JOBS and idle < 2000:
                keys = {"Site": f"S{which % 4}"} if chance.random() < 0.7 else {}
                matches = own.match_jobs(chance.choice([1, 1, 1, 8]), **keys)
                idle = 0 if matches else idle + 1
                for match in matches:
                    own.call_rows("report_job", match.job_id, match.attempt)
                    if chance.random() < 0.1:
                        own.call("release_job", match.job_id, match.attempt)
                    else:
                        own.call("finish_job", match.job_id, match.attempt)
                        ended.append(match.job_id)

        return work

    with nobody_waits(dsn):
        run_together(dsn, [agent(n) for n in range(12)])
    assert sorted(ended) == list(range(1, JOBS + 1))
    assert q.inconsistencies() == []


@pytest.mark.slow
def test_no_agent_waits_for_a_slot_that_it_gives_back(dsn: str, db: psycopg.Connection[Any]) -> None:
    """A match that finds its free slot taken by another job must leave the slot to that job.

    Thousands of slots are locked, which a search passes over first, so its snapshot is old by its end.
    """
    locked, left, jobs = 4000, 2, 400
    q = Calls(db)
    q.insert_many(range(1, jobs + 1), JobTypes=["T"])
    q.running_limit("JobTypes", "T", locked + left)
    ended: list[int] = []
    most: list[int] = []

    def agent(own: Calls) -> None:
        while len(ended) < jobs:
            match = own.match(Site="S")
            if match:
                own.call("finish_job", match.job_id, match.attempt)
                ended.append(match.job_id)

    def watch(own: Calls) -> None:
        while len(ended) < jobs:
            most.append(own.value("select count(*) from taskqueue.lease"))

    with psycopg.connect(dsn) as holder:
        holder.execute("select from taskqueue.limit_slot where slot <= %s for update", [locked])
        with nobody_waits(dsn):
            run_together(dsn, [*[agent] * 8, watch])
    assert sorted(ended) == list(range(1, jobs + 1))
    assert max(most) == left
    assert q.inconsistencies() == []
