"""The storm: agents, submitters, maintenance, PgBouncer, single backends and the whole server killed, all at once.

Fourteen agents work through PgBouncer in transaction mode, more than it has connections. The journals are compared with
the database as in test_kill.py: nothing is lost, nothing is given out twice, nothing that was answered is undone.
BROKER_TEST_KILL_SECONDS=600 kills 1,000 clients and 50 servers; without it the storm is short.
"""

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests import pooler as pgbouncer
from tests.core.faults import test_kill
from tests.core.faults.test_kill import Field, field_of_work

__all__ = ["field_of_work"]

SECONDS = float(os.environ.get("BROKER_TEST_KILL_SECONDS", "0"))
CLIENTS = max(20, round(SECONDS * 1000 / 600))
KILLS = {
    "client": CLIENTS,
    "server": max(2, CLIENTS // 20),
    "backend": max(2, CLIENTS // 20),
    "pooler": max(1, CLIENTS // 50),
}
PROGRAMS = {"agent": 10, "client": 4, "inserter": 2, "keeper": 1}


@pytest.fixture
def storm(field_of_work: Field) -> Iterator[tuple[Field, pgbouncer.Pooler]]:
    """A server with leases that outlast the storm, and PgBouncer in front of it."""
    if pgbouncer.PROGRAM is None:
        pytest.skip("PgBouncer is not installed")
    with psycopg.connect(field_of_work.dsn, autocommit=True) as db:
        db.execute("select taskqueue.set_settings('default', %s)", [Jsonb({"lease_time": "1 day"})])
    pooler = pgbouncer.Pooler(field_of_work.dsn, size=8)
    field_of_work.pooled_dsn = pooler.dsn(field_of_work.dsn)
    yield field_of_work, pooler
    pooler.close()


@pytest.mark.slow
def test_processes_killed_behind_a_pooler_lose_no_job(storm: tuple[Field, pgbouncer.Pooler]) -> None:
    work, pooler = storm
    chance = random.Random(11)
    programs = {work.start(program): program for program, number in PROGRAMS.items() for _ in range(number)}

    def kill_client() -> None:
        victim = chance.choice(list(programs))
        while not work.working(victim) and work.running[victim].poll() is None:
            time.sleep(0.01)
        work.kill(victim)
        program = programs.pop(victim)
        programs[work.start(program)] = program

    kills: dict[str, Callable[[], None]] = {
        "client": kill_client,
        "server": lambda: test_kill.kill_server(work),
        "backend": lambda: test_kill.kill_a_backend(work, chance),
        "pooler": pooler.kill,
    }
    order = [kind for kind, number in KILLS.items() for _ in range(number)]
    chance.shuffle(order)
    for kind in order:
        time.sleep(chance.uniform(0.001, 0.2))
        kills[kind]()
    test_kill.until_it_answers(work)
    with psycopg.connect(work.dsn, autocommit=True) as db:  # even on a slow machine there is a story to compare
        while db.execute("select count(*) > 150 from taskqueue.ended where outcome = 'finished'").fetchone() == (
            False,
        ):
            time.sleep(0.1)
    work.finish()
    assert work.errors() == ""
    story = test_kill.compare(work, CLIENTS)
    assert len(story.finished) > 100
    print(
        dict(Counter(order)), f"{len(story.inserted)} inserted, {sum(story.got.values())} matched,"
        f" {len(story.finished)} ended, {story.asks - story.answers} answers lost"
    )  # fmt: skip
