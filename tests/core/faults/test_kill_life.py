"""Agents, brokers, the watchdog and the server killed with -9 while brokered jobs live.

Every job ends, none twice, none is lost. Leases last two seconds here, so that jobs of killed agents are seen to come
back. BROKER_TEST_KILL_SECONDS=600 kills for ten minutes, and requires thirty kills of each kind.
"""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from broker import world
from tests.core.faults import test_kill
from tests.core.faults.test_kill import Field, field_of_work
from tests.core.lifecycle import grids

__all__ = ["field_of_work"]

SECONDS = float(os.environ.get("BROKER_TEST_KILL_SECONDS", "8"))
FILES = 400  # of each task
TASKS = max(1, int(SECONDS / 8))
PARTS = FILES * TASKS
SOON = 5 / 86_400  # days; otherwise a job that was transferring when its agent was killed would wait for days
MAIN = "from broker.cli.program import main; main()"
LEFT = f"select {PARTS} - count(*) from workload.job where setup = 'life' and ended is not null"
WHAT_IS_LEFT = """
    select jsonb_object_agg(concat_ws(' ', queue, status), jobs)
      from (select queue, status, count(*) as jobs from workload.job
             where setup = 'life' and ended is null group by queue, status) as s
"""


def _watchdog(work: Field) -> int:
    """The command itself, every half second."""
    number = next(work.numbers)
    command = [sys.executable, "-c", MAIN, "run", "watchdog", "--setup", "life", "--every", "watchdog=0.5"]
    errors = (work.home / f"watchdog-{number}").open("wb")
    environment = {**os.environ, "BROKER_DSN": work.dsn}
    work.running[number] = subprocess.Popen(command, stdout=errors, stderr=errors, env=environment)
    return number


def _value(work: Field, query: str) -> Any:
    test_kill.until_it_answers(work)
    with psycopg.connect(work.dsn, autocommit=True) as db:
        row = db.execute(query.encode()).fetchone()
        return row[0] if row else None


@pytest.mark.thorough
@pytest.mark.slow
def test_processes_killed_at_random_moments_lose_no_brokered_job(field_of_work: Field) -> None:
    work = field_of_work
    chance = random.Random(9)
    with psycopg.connect(work.dsn, autocommit=True) as db:
        loaded = grids.grid(
            [{"id": number} for number in range(1, TASKS + 1)], files=FILES, transtimehi=SOON, transtimelo=SOON
        )
        del loaded["now"]
        world.load(db, [loaded], setup="life")
        settings = Jsonb({"lease_time": 2, "heartbeat_time": 2})
        db.execute("select taskqueue.set_settings('life', %s)", [settings])
    workers = [work.start("worker") for _ in range(4)]
    brokers = [work.start("broker")]
    watchdogs = [_watchdog(work)]
    killed: Counter[str] = Counter()
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        time.sleep(chance.uniform(0.1, 0.6))
        kind = chance.choice(["worker", "worker", "broker", "watchdog", "server"])
        if kind == "server":
            test_kill.kill_server(work)
        elif kind == "watchdog":
            number = watchdogs.pop()
            said = (work.home / f"watchdog-{number}").read_text()
            assert work.running[number].poll() is None, said[-1500:]
            work.kill(number)
            watchdogs.append(_watchdog(work))
        else:
            those = workers if kind == "worker" else brokers
            victim = those.pop(0)
            while not work.working(victim):
                time.sleep(0.01)
            work.kill(victim)
            those.append(work.start(kind))
        killed[kind] += 1
    alive, until = PARTS, time.monotonic() + 60
    while now_alive := _value(work, LEFT):
        if now_alive < alive:
            alive, until = now_alive, time.monotonic() + 60
        assert time.monotonic() < until, f"{alive} jobs do not end: {_value(work, WHAT_IS_LEFT)}, {work.errors()}"
        with psycopg.connect(work.dsn, autocommit=True) as db:
            db.execute("call lifecycle.watch('life')")  # the watchdog looks at timeouts once a minute
        time.sleep(0.2)
    for number in watchdogs:
        work.running.pop(number).terminate()
    work.finish()
    story = test_kill.Story.of(work)
    with psycopg.connect(work.dsn, autocommit=True) as db:
        assert grids.differences(db, "life") == []
        for view in ("job_in_two_states", "job_out_of_step", "job_without_queue", "matching_difference"):
            assert db.execute(f"select * from monitor.{view}".encode()).fetchall() == [], view
        left = """
            select j.job_id, j.status, w.job_id is not null as waits, l.attempt, l.state, l.brokered, l.matched_at,
                   (select string_agg(concat_ws(' ', h.to_status, h.why, h.at), ', ' order by h.number)
                      from workload.job_history h where h.setup = 'life' and h.job_id = j.job_id)
              from workload.job j
              left join taskqueue.job w on w.setup = 'life' and w.job_id = j.job_id
              left join taskqueue.lease l on l.setup = 'life' and l.job_id = j.job_id
             where j.setup = 'life' and (w.job_id is not null or l.job_id is not null)
        """
        assert db.execute(left).fetchall() == []
        ended: dict[str, int] = dict(
            db.execute("select status, count(*) from workload.job where setup = 'life' group by 1").fetchall()
        )
        ends = "select count(*) from workload.job_history where setup = 'life' and workload.is_end(to_status)"
        assert db.execute(ends).fetchall() == [(sum(ended.values()),)], "a job ended twice"
        query = """select e.job_id || ':' || e.attempts || '-' || replace(e.token::text, '-', '') from taskqueue.ended e
                    where e.setup = 'life' and e.outcome = 'finished'"""
        finished = {row[0] for row in db.execute(query).fetchall()}
    assert sum(ended.values()) == PARTS
    assert set(ended) <= {"finished", "failed"}
    assert max(story.got.values()) == 1, "one attempt was given to two agents"
    assert story.finished <= finished <= story.finishing
    assert len(finished) == ended["finished"] > PARTS // 3
    if SECONDS >= 600:
        assert min(killed[kind] for kind in ("worker", "watchdog", "server")) >= 30
    assert work.errors() == ""
