"""Agents of instances, schedules and ends of jobs of TaskQueues at once, some killed: no slot twice, no job lost."""

import itertools
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from broker import world
from tests.calls import Calls, Connect
from tests.core.concurrency.racing import race_with_kills

SECONDS = 5.0
TYPES = {"small": {"cpu": 2, "ram": 4096, "price": 1}, "large": {"cpu": 8, "ram": 16384, "price": 3}}
OVER = "select count(*) from instance.instance where used_cpu > cpu or used_ram > ram"
LIVE = "select instance_id from instance.instance where state <> 'released' order by random() limit 1"
ANSWERS = ("PB003", "PB004", "PB005")  # its instance was lost or released, or the job ended


def _caller(number: int, until: float, ids: Iterator[int], held: dict[int, str]) -> Callable[[Calls], None]:
    """held: jobs that agents have, with their attempts; some of them were taken away since."""
    draw = random.Random(number)

    def act(q: Calls) -> None:
        what = draw.random()
        if what < 0.2:
            jobs = [next(ids) for _ in range(draw.randint(1, 6))]
            cores = draw.choice([1, 1, 2, 4])
            tags: dict[str, Any] = {"Tags": [f"{cores}Processors"]} if cores > 1 else {}
            q.insert_many(jobs, Sites=["CLOUD"], MinRAM=draw.randint(100, 9000), **tags)
        elif what < 0.4:
            q.rows("call instance.schedule('s')")
        elif what < 0.7:
            for [instance] in q.rows(LIVE):
                query = "select job_id, attempt from instance.match_jobs('s', %s, %s, '{}', %s)"
                held.update(q.rows(query, instance, draw.randint(1, 5), draw.random() < 0.5))
        elif what < 0.95:
            for job in draw.sample(sorted(held), min(len(held), 3)):
                attempt = held.pop(job, None)
                if attempt and draw.random() < 0.8:
                    q.call("finish_job", job, attempt, "finished")
                elif attempt:
                    q.call("release_job", job, attempt)
        else:
            q.rows(f"select * from instance.lose_instances('s', array({LIVE}))")

    def work(q: Calls) -> None:
        q.setup = "s"
        while time.monotonic() < until:
            try:
                act(q)
                assert q.value(OVER) == 0
            except psycopg.errors.AdminShutdown:
                return
            except psycopg.Error as error:
                if error.sqlstate not in ANSWERS:
                    raise

    return work


@pytest.mark.slow
def test_eight_callers_at_once_give_no_slot_twice_and_lose_no_job(dsn: str, connect: Connect) -> None:
    q = Calls(connect(), "s")
    world.load(q.connection, [{"instance_types": TYPES, "queues": {"CLOUD": {"resource_type": "cloud"}}}], "s")
    until = time.monotonic() + SECONDS
    ids = itertools.count(1)
    held: dict[int, str] = {}
    race_with_kills(dsn, until, lambda number: _caller(number, until, ids, held))
    assert next(ids) > 50
    assert q.value(OVER) == 0
    assert q.rows("select * from monitor.instance_difference") == []
    assert q.rows("select * from monitor.job_in_two_states") == []
    # the next schedule agrees with taskqueue on each job: waiting jobs are placed, and there are no others
    q.rows("call instance.schedule('s')")
    live = "select job_id from instance.step where state in ('waiting', 'placed')"
    assert q.rows(f"select job_id from taskqueue.job except ({live})") == []
    assert q.rows(f"({live}) except (select job_id from taskqueue.job union select job_id from taskqueue.lease)") == []
    assert q.value("select count(*) from instance.step where state in ('waiting', 'unschedulable')") == 0
    # the remaining agents end all jobs, and the instances are released
    for _ in range(1000):
        for job, attempt in q.rows("select job_id, taskqueue.attempt_text(attempt, token) from taskqueue.lease"):
            q.call("finish_job", job, attempt, "finished")
        q.rows("call instance.schedule('s')")
        instances = q.rows("select instance_id from instance.instance where state <> 'released'")
        if not instances:
            break
        for [instance] in instances:
            q.rows("select * from instance.match_jobs('s', %s)", instance)
    assert q.value("select count(*) from taskqueue.job") == 0
    assert q.value("select count(*) from instance.step where state <> 'finished'") == 0
