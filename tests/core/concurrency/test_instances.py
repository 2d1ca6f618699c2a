"""Eight callers that schedule, add, finish, cancel and lose at once, some killed: nothing over capacity or lost."""

import random
import time
from collections.abc import Callable

import psycopg
import pytest
from psycopg.types.json import Jsonb

from broker import world
from tests.calls import Calls, Connect
from tests.core.concurrency.racing import race_with_kills

SECONDS = 5.0
TYPES = {"small": {"cpu": 2, "ram": 4096, "price": 1}, "large": {"cpu": 8, "ram": 16384, "price": 3}}
OVER = "select count(*) from instance.instance where used_cpu > cpu or used_ram > ram"


def _caller(number: int, until: float, added: list[int]) -> Callable[[Calls], None]:
    draw = random.Random(number)

    def work(q: Calls) -> None:
        while time.monotonic() < until:
            what = draw.random()
            known = draw.sample(added, min(len(added), 5))
            try:
                if what < 0.3:
                    jobs = [
                        {"task": draw.choice([1, 2]), "cpu": draw.choice([0.5, 1, 3]), "ram": draw.randint(0, 9000)}
                        for _ in range(8)
                    ]
                    added.extend(q.value("select instance.add_steps('s', %s)", Jsonb(jobs)))
                elif what < 0.6:
                    q.rows("select * from instance.schedule_task('s', %s)", draw.choice([1, 2]))
                elif what < 0.8:
                    q.rows("select * from instance.finish_steps('s', %s)", known)
                elif what < 0.85:
                    q.rows("select * from instance.return_steps('s', %s)", known)
                elif what < 0.9:
                    q.rows("select * from instance.cancel_steps('s', %s)", known)
                elif what < 0.95:
                    live = "select instance_id from instance.instance where state <> 'released'"
                    ids = [one for (one,) in q.rows(f"{live} order by random() limit 2")]
                    q.rows("select * from instance.lose_instances('s', %s)", ids)
                else:
                    q.value("select instance.set_needs('s', %s)", Jsonb([{"id": job, "cpu": 2} for job in known[:1]]))
                assert q.value(OVER) == 0
            except psycopg.errors.AdminShutdown:
                return
            except psycopg.Error as error:
                if error.sqlstate not in ("PB004", "PB005"):
                    raise

    return work


@pytest.mark.slow
def test_eight_callers_at_once_overfill_no_instance_and_lose_no_step(dsn: str, connect: Connect) -> None:
    db = connect()
    world.load(db, [{"instance_types": TYPES}], "s")
    db.commit()
    db.autocommit = True
    until = time.monotonic() + SECONDS
    added: list[int] = []
    race_with_kills(dsn, until, lambda number: _caller(number, until, added))
    assert len(added) > 100
    assert db.execute(OVER).fetchone() == (0,)
    assert db.execute("select * from monitor.instance_difference").fetchall() == []
    # every step whose id a caller got is there, once, and every waiting step fits: the next schedule places them
    [(there,)] = db.execute("select array_agg(step_id) from instance.step").fetchall()
    assert set(added) <= set(there)
    left = db.execute("call instance.schedule('s')").fetchone()
    assert left is not None
    assert left[3:] == (0, 0)
    states = dict(db.execute("select state, count(*) from instance.step group by 1").fetchall())
    assert set(states) <= {"placed", "finished", "cancelled"}
    assert db.execute("select * from monitor.instance_difference").fetchall() == []
