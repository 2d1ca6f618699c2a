"""A pilot of PanDA in a test: both APIs, and jobs as a submitter stores them for it."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest
from psycopg.types.json import Jsonb

from tests.service.conftest import SETUP, Db, Running, Token, bearer

QUEUE = "NORTH_PQ"
SPEC = {"transformation": "sleep", "jobPars": "2400", "jobName": "a job", "taskID": "NULL", "inFiles": "", "n": 1.5}
REQUIREMENTS = {"OwnerDN": "/DC=org/CN=alice", "OwnerGroup": "users", "CPUTime": 600}

Insert = Callable[..., None]
Pilots = Callable[..., "Pilot"]


class Pilot:
    """The calls of a pilot: the older API with a form or JSON, and API v1."""

    def __init__(self, url: str, token: str) -> None:
        self.client = httpx.Client(base_url=url, headers=bearer(token), timeout=60)

    def older(self, method: str, **fields: Any) -> dict[str, Any]:
        """The answer in JSON to a form."""
        answer = self.client.post(f"/server/panda/{method}", data=fields, headers={"Accept": "application/json"})
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/json"), answer.text
        return dict(answer.json())

    def encoded(self, method: str, **fields: Any) -> dict[str, str]:
        """The answer in the encoding of a URL to a form."""
        answer = self.client.post(f"/server/panda/{method}", data=fields)
        assert answer.status_code == 200, answer.text
        return {name: value for name, (value,) in parse_qs(answer.text, keep_blank_values=True).items()}

    def v1(self, method: str, **members: Any) -> dict[str, Any]:
        """The answer of API v1 to JSON."""
        answer = self.client.post(f"/api/v1/pilot/{method}", json=members)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


@pytest.fixture
def pilot(service: Running, token: Token) -> Iterator[Pilots]:
    """A function that makes a pilot with its own token."""
    made: list[Pilot] = []

    def make(name: str = "pilot 1") -> Pilot:
        made.append(Pilot(service.url, token("agent", name)))
        return made[-1]

    yield make
    for one in made:
        one.client.close()


@pytest.fixture
def one(pilot: Pilots, insert: "Insert") -> Pilot:
    """A pilot, and job 71, which waits."""
    insert(71)
    return pilot()


def stored(db: Db) -> list[Any]:
    """The leases and the ends of jobs."""
    leases = db.execute("select job_id, state, reported_at from taskqueue.lease").fetchall()
    return [leases, db.execute("select job_id, outcome from taskqueue.ended").fetchall()]


@pytest.fixture
def insert(db: Db) -> Insert:
    """A function that inserts a job with a payload and further requirements."""

    def store(job_id: int, payload: Any = SPEC, **more: Any) -> None:
        query = "select taskqueue.insert_job(%s, %s, %s, p_payload => %s)"
        db.execute(query, [SETUP, job_id, Jsonb(REQUIREMENTS | more), None if payload is None else Jsonb(payload)])

    return store
