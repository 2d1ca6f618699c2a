"""CLAUSES.md, Numbers and Rounding: clauses come while agents match and maintenance runs and numbers them again."""

import time
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import psycopg
import pytest

from tests.calls import Calls
from tests.core.concurrency.racing import run_together
from tests.core.properties.clause_world import World

SECONDS = 5.0
LONGEST = 60.0
JOBS = 150


@pytest.mark.thorough
@pytest.mark.parametrize("crowded", [False, True], ids=["few bounds", "new bounds all the time"])
def test_no_job_goes_where_the_model_refuses_it(dsn: str, db: psycopg.Connection[Any], crowded: bool) -> None:
    """Afterwards each waiting job is found by the resources that fit."""
    world = World(db, "default", 49, crowded)
    began = time.monotonic()
    seen: Counter[str] = Counter()

    def is_going() -> bool:
        """For some seconds, and on a busy machine until each kind of call was made often enough."""
        least = min(seen[how] for how in ("drawn", "drawn together", "drawn with others", "renumbered"))
        return time.monotonic() < began + (SECONDS if least > 5 else LONGEST)

    def submit(q: Calls) -> None:
        """Transactions overlap, so that clauses with lower numbers are committed later."""
        while is_going() and len(world.jobs) < JOBS:
            with q.connection.transaction():
                world.insert(q, 2)
                time.sleep(SECONDS / JOBS)

    def agent(number: int) -> Callable[[Calls], None]:
        rng = Random(number)
        known = world.resources(rng, 10)

        def work(q: Calls) -> None:
            while is_going():
                known[rng.randrange(len(known))] = world.resources(rng, 1)[0]
                resource = rng.choice(known)
                how = rng.choice(("drawn", "drawn together", "drawn with others"))
                for one in world.take(q, resource, how, most=3):
                    world.check_lease(q, one.job_id, resource)
                    q.call("release_job", one.job_id, one.attempt)
                    seen[how] += 1

        return work

    def maintain(q: Calls) -> None:
        while is_going():
            q.maintain()
            try:
                q.rows("select taskqueue.renumber_clauses(%s)", q.setup)
                seen["renumbered"] += 1
            except psycopg.Error as error:
                assert error.sqlstate == "PB006", error
            for _ in range(5):
                q.call_rows("maintain", True)
                time.sleep(0.02)

    run_together(dsn, [submit, submit, agent(1), agent(2), maintain, maintain])
    assert time.monotonic() < began + LONGEST, seen
    q = world.q
    for _ in range(2):
        assert q.inconsistencies() == []
        for resource in world.resources(world.rng, 8):
            world.check(resource, "drawn together")
        q.maintain()
