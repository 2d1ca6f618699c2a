"""A setup with tasks, queues, jobs and leases, a service on it, and a token of each kind."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import requests

from broker import world
from broker.laboratory import grid
from tests.service.conftest import SETUP, Db, Jobs, Running, Token, bearer

KINDS = ("agent", "submitter", "operator", "viewer")


@dataclass
class Target:
    """A service. tokens: by kind. known: values that exist in its setup, by the key of a body."""

    url: str
    setup: str
    tokens: dict[str, str]
    known: dict[str, list[Any]]
    session: requests.Session = field(default_factory=requests.Session)

    def headers(self, kind: str) -> dict[str, str]:
        """The headers of a caller of this kind."""
        return bearer(self.tokens[kind])


@pytest.fixture
def target(service: Running, db: Db, token: Token, jobs: Jobs) -> Iterator[Target]:
    world.load(db, [grid.grid(1, 6, 12)], SETUP)
    ids = jobs(40)
    tokens = {kind: token(kind, kind) for kind in KINDS}
    made = Target(service.url, SETUP, tokens, {})
    answer = made.session.post(
        f"{service.url}/api/v1/setups/{SETUP}/match",
        json={"resources": [{"CPUTime": 86400, "Site": "NORTH"}], "n": 8}, headers=made.headers("agent"),
    )  # fmt: skip
    matches = answer.json()["matches"]
    tasks = [task for (task,) in db.execute("select task_id from monitor.task where setup = %s limit 5", [SETUP])]
    queues = [queue for (queue,) in db.execute("select queue from monitor.queue where setup = %s limit 3", [SETUP])]
    change = ("select brokerage.keep_what_if(%s, '{}', '{}')", [SETUP])
    made.known |= {
        "what_if_id": [number for (number,) in db.execute(*change)], "job_id": ids[:12], "task_id": tasks,
        "attempt": [match["attempt"] for match in matches], "queue": queues,
    }  # fmt: skip
    yield made
    made.session.close()
