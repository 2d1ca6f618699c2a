"""A setup with something on each page, and somebody who looks at it."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import psycopg
import pytest

from broker import world
from broker.operate import loops
from broker.synthetic import grid
from tests.calls import Calls
from tests.service.conftest import SETUP, Running, bearer


@pytest.fixture
def filled(db: psycopg.Connection[Any], jobs: Callable[..., list[int]]) -> Calls:
    """The setup `default` with a grid, brokered tasks, TaskQueues, leases, ends, limits and a sample of figures."""
    world.load(db, [grid.grid(1, 10, 10)], SETUP)
    db.execute("call brokerage.broker_tasks('default')")
    db.execute("call brokerage.broker_jobs('default')")
    db.execute("call brokerage.broker_analysis('default')")
    world.load(db, [{"instance_types": {"c5.large": {"cpu": 2, "ram": 4096, "price": 0.5}}}], SETUP, merge=True)
    db.execute('select instance.add_jobs(\'default\', \'[{"cpu": 1, "ram": 1000}, {"cpu": 2, "ram": 99}]\')')
    db.execute("select instance.schedule_task('default', null)")
    db.execute("select brokerage.set_profile('acme', 'panda2026', 'for tests')")
    db.execute("select brokerage.set_rule('acme', 'top-10', '{\"parameters\": {\"best\": 7}}')")
    jobs(60, 5_000_000_001)
    q = Calls(db, SETUP)
    q.insert(6_000_000_000, OwnerDN="</td><script>alert(1)</script>", OwnerGroup="a & b", Sites=["NORTH"])
    q.insert(6_000_000_001, Sites=["SOUTH"])
    db.execute("select taskqueue.set_limit('default', 'running', 'NORTH', null, 'JobType', 'MC', 3)")
    first, second = q.take(Site="NORTH", CPUTime=10**6), q.take(Site="NORTH", CPUTime=10**6)
    q.call("report_job", first.job_id, first.attempt)
    q.call("finish_job", second.job_id, second.attempt, "failed")
    db.execute("update taskqueue.resource_seen set seen_at = seen_at - interval '1 minute'")
    q.maintain()
    loops.summarize(db, SETUP)
    db.execute("update taskqueue.history set at = at - interval '1 minute'")
    assert loops.sample(db, SETUP)
    return q


@pytest.fixture
def look(service: Running, token: Callable[..., str], filled: Calls) -> Iterator[Callable[..., httpx.Response]]:
    """A function that opens a page of the setup: look('/jobs', kind='operator', status='waiting')."""
    tokens: dict[str, str] = {}
    with httpx.Client(timeout=60) as client:

        def get(path: str, kind: str = "viewer", **query: object) -> httpx.Response:
            tokens.setdefault(kind, token(kind, f"a {kind}"))
            return client.get(f"{service.url}/setups/{SETUP}{path}", params=query or None, headers=bearer(tokens[kind]))  # type: ignore[arg-type]

        yield get
