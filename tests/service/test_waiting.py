"""Long polls: a waiting agent gets a job as soon as one arrives, without asking again."""

import asyncio
import threading
import time
import uuid
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import httpx
import psycopg
import pytest
from psycopg.types.json import Jsonb
from starlette.requests import ClientDisconnect

from broker.service import waiting as waiting_module
from broker.service.callers import Caller
from broker.service.calls import Database
from broker.service.matching import Matcher
from tests.service.conftest import SETUP, Db, Jobs, Token, bearer

pytestmark = pytest.mark.own_database

ANY = {"CPUTime": 86400}
SOON = 3.0  # seconds: much less than the five after which an agent asks even without news


Waiting = Callable[..., list["Waits"]]


class Waits:
    """A waiting request, in its own thread."""

    def __init__(self, client: httpx.Client, token: str, wait: float = 60, **body: Any) -> None:
        self._answer: list[httpx.Response] = []
        self.seconds = 0.0
        asked = {"resources": [ANY], "wait": wait, **body}

        def ask() -> None:
            began = time.monotonic()
            self._answer.append(client.post("/match", json=asked, headers=bearer(token)))
            self.seconds = time.monotonic() - began

        self._thread = threading.Thread(target=ask, daemon=True)
        self._thread.start()

    @property
    def ended(self) -> bool:
        """Whether the answer has arrived."""
        return bool(self._answer)

    def answer(self) -> httpx.Response:
        """Wait for the answer."""
        self._thread.join(30)
        return self._answer[0]

    def jobs(self) -> list[int]:
        """The jobs of the answer."""
        found = self.answer()
        return [] if found.status_code == 204 else [match["job_id"] for match in found.json()["matches"]]


def _until_parked(client: httpx.Client, token: str, count: int) -> None:
    """Wait until this many agents wait, and until the service has looked at the database after that."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        text = httpx.get(str(client.base_url).split("/api")[0] + "/metrics", headers=bearer(token)).text
        if f"pgbroker_agents_waiting {float(count)}" in text:
            time.sleep(0.3)
            return
        time.sleep(0.02)
    raise AssertionError(text)


@pytest.fixture
def viewer(token: Token) -> str:
    return token("viewer", "prometheus")


@pytest.fixture
def agent_token(token: Token) -> str:
    return token("agent")


@pytest.fixture
def waiting(client: httpx.Client, agent_token: str, viewer: str) -> Waiting:
    """A function that makes agents wait, and returns when all of them are waiting."""
    made: list[Waits] = []

    def make(count: int = 1, **more: Any) -> list[Waits]:
        made.extend(Waits(client, agent_token, **more) for _ in range(count))
        _until_parked(client, viewer, len(made))
        return made[-count:]

    return make


def test_a_job_that_arrives_is_given_to_a_waiting_agent(waiting: Waiting, jobs: Jobs) -> None:
    [waits] = waiting()
    began = time.monotonic()
    jobs(1)
    assert waits.jobs() == [1]
    assert time.monotonic() - began < SOON


def test_callers_who_may_not_match_keep_no_job_from_an_agent(
    client: httpx.Client, viewer: str, waiting: Waiting, jobs: Jobs
) -> None:
    assert Waits(client, viewer).answer().status_code == 403  # the first waiting request in this setup
    [waits] = waiting()
    ended = threading.Event()

    def ask_in_vain() -> None:
        while not ended.is_set():
            client.post("/match", json={"resources": [ANY], "wait": 60}, headers=bearer(viewer))

    others = [threading.Thread(target=ask_in_vain) for _ in range(4)]
    for other in others:
        other.start()
    began = time.monotonic()
    jobs(1)
    found, took = waits.jobs(), time.monotonic() - began
    ended.set()
    for other in others:
        other.join()
    assert found == [1]
    assert took < SOON


def test_as_many_agents_are_woken_as_jobs_arrived(waiting: Waiting, jobs: Jobs) -> None:
    first, later = waiting(2), waiting(2, wait=8)
    jobs(2)
    assert sorted(one.jobs()[0] for one in first) == [1, 2]
    assert all(one.seconds > 7 and not one.jobs() for one in later if one.answer())


@pytest.mark.parametrize(
    "other", [{"CPUTime": 10}, {"CPUTime": 86400, "OwnerGroup": "others"}], ids=["CPUTime", "owner group"]
)
def test_an_agent_that_does_not_match_is_not_woken(waiting: Waiting, jobs: Jobs, other: dict[str, Any]) -> None:
    [before], [waits] = waiting(wait=4, resources=[other]), waiting()
    jobs(1)
    assert waits.jobs() == [1]
    assert before.answer().status_code == 204
    assert before.seconds == pytest.approx(4, abs=1)


def test_a_second_alternative_of_a_request_counts(waiting: Waiting, jobs: Jobs) -> None:
    [waits] = waiting(resources=[{"CPUTime": 86400, "OwnerGroup": "others"}, ANY])
    jobs(1)
    assert waits.jobs() == [1]
    assert waits.seconds < SOON + 1


def test_a_job_that_is_resumed_is_found_within_seconds(waiting: Waiting, jobs: Jobs, db: Db) -> None:
    jobs(3)
    db.execute("select taskqueue.hold(%s, 'owner', '/DC=org/CN=alice')", [SETUP])
    all_ = waiting(3)
    db.execute("select taskqueue.resume(%s, 'owner', '/DC=org/CN=alice')", [SETUP])
    assert sorted(one.jobs()[0] for one in all_) == [1, 2, 3]
    assert all(one.seconds < 15 for one in all_)


def test_a_released_job_wakes_a_waiting_agent(
    client: httpx.Client, agent_token: str, waiting: Waiting, jobs: Jobs
) -> None:
    jobs(1)
    agent = bearer(agent_token)
    (match,) = client.post("/match", json={"resources": [ANY]}, headers=agent).json()["matches"]
    [waits] = waiting()
    lease = {"job_id": match["job_id"], "attempt": match["attempt"]}
    client.post("/jobs/release", json=[lease], headers=agent)
    assert waits.jobs() == [1]
    assert waits.seconds < SOON + 1


def test_a_caller_that_left_gets_no_job(
    client: httpx.Client, agent_token: str, viewer: str, waiting: Waiting, jobs: Jobs
) -> None:
    async def leave() -> None:
        async with httpx.AsyncClient(base_url=client.base_url, timeout=1) as leaving:
            with pytest.raises(httpx.ReadTimeout):
                await leaving.post("/match", json={"resources": [ANY], "wait": 60}, headers=bearer(agent_token))

    asyncio.run(leave())
    _until_parked(client, viewer, 0)
    [waits] = waiting()
    jobs(1)
    assert waits.jobs() == [1]


def test_a_repeated_request_id_gets_the_same_answer_after_a_wait(
    client: httpx.Client, agent_token: str, waiting: Waiting, jobs: Jobs
) -> None:
    key = "7d6c3bb0-2f6b-4a3a-9d5a-6a2b7a1f0001"
    [waits] = waiting(request_id=key)
    jobs(2)
    assert waits.answer().json() == Waits(client, agent_token, request_id=key).answer().json()


def test_a_repeated_match_is_answered_although_others_wait_in_vain(
    client: httpx.Client, agent_token: str, waiting: Waiting, jobs: Jobs
) -> None:
    """Others of its kind get nothing now, but this agent has a job already."""
    key = "7d6c3bb0-2f6b-4a3a-9d5a-6a2b7a1f0002"
    jobs(1)
    first = Waits(client, agent_token, request_id=key).answer().json()
    others = waiting(3, wait=4)
    assert Waits(client, agent_token, wait=2, request_id=key).answer().json() == first
    assert [one.answer().status_code for one in others] == [204, 204, 204]


def test_arrivals_that_could_not_be_judged_are_seen_again() -> None:
    class Failing:
        async def as_role(self, *call: Any) -> list[Any]:
            if "arrivals" in call[2]:
                return [("2:2:", 1, 86400, 1)]
            raise psycopg.OperationalError

    async def look() -> None:
        watched = waiting_module._Watched(cast(Database, Failing()), "s")
        watched.enter(("s", "broker_agent", None, None), [ANY]).kind.may_match = True
        watched._snapshot = "1:1:"
        with pytest.raises(psycopg.OperationalError):
            await watched._poll("broker_agent")
        assert watched._snapshot == "1:1:"

    asyncio.run(look())


@pytest.mark.parametrize("leaves", [False, True], ids=["refused", "gone"])
def test_a_woken_agent_that_does_not_ask_lets_another_one_ask(leaves: bool) -> None:
    class Nothing:
        async def match(self, *_: Any) -> list[Any]:
            return []

    async def race() -> None:
        async def never() -> None:
            await asyncio.Event().wait()

        database = cast(Database, None)  # nobody looks for jobs
        service = waiting_module.Waiting(database, cast(Matcher, Nothing()))
        service._watched["s"] = watched = waiting_module._Watched(database, "s")
        watched._loop = asyncio.create_task(never())
        caller = cast(Caller, SimpleNamespace(setup="s", group=("s", "broker_agent", None, None)))
        first_leaves = asyncio.Event()

        async def leave() -> None:
            await first_leaves.wait()

        async def refuse() -> None:
            raise psycopg.OperationalError

        def wait(gone: Any, check: Any) -> asyncio.Task[Any]:
            call = service.match(caller, uuid.uuid4(), [ANY], n=1, wait=60, repeats=True, gone=gone, check=check)
            return asyncio.create_task(call)

        first = wait(leave if leaves else never, refuse)
        second = wait(never, never)
        while service.agents < 2:
            await asyncio.sleep(0.01)
        [kind] = watched.kinds.values()
        one, other = kind.parked
        kind.wake(one)
        if leaves:
            first_leaves.set()
        with pytest.raises(ClientDisconnect if leaves else psycopg.OperationalError):
            await first
        assert other.woken is not None and other.woken.done()
        second.cancel()

    asyncio.run(race())


def test_a_waiting_agent_gets_a_job_after_the_database_was_away(waiting: Waiting, jobs: Jobs, db: Db) -> None:
    [waits] = waiting()
    db.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'broker_service'"
        " and datname = current_database()"
    )
    time.sleep(0.2)
    jobs(1)
    assert waits.jobs() == [1]


@pytest.mark.parametrize("wait", [-1, 301, "long", None])
def test_a_wrong_wait_is_refused(client: httpx.Client, token: Token, wait: Any) -> None:
    answer = client.post("/match", json={"resources": [ANY], "wait": wait}, headers=bearer(token("agent")))
    assert (answer.status_code, answer.json()["key"]) == (422, "wait")


def test_each_arrival_of_jobs_is_seen_once(db: Db, jobs: Jobs) -> None:
    query = "select snapshot::text, definition_id, cpu_time, jobs from taskqueue.arrivals(%s, %s::pg_snapshot)"
    ((before, definition, *_),) = db.execute(query, [SETUP, None]).fetchall()
    assert definition is None
    jobs(2)
    jobs(1, first=3)
    ((after, definition, cpu_time, count),) = db.execute(query, [SETUP, before]).fetchall()
    assert (count, cpu_time >= 600) == (3, True)
    assert db.execute(query, [SETUP, after]).fetchall()[0][1:] == (None, None, None)
    matching = "select resource, definition_id from taskqueue.matching_definitions(%s, %s, %s)"
    resources = Jsonb([{"CPUTime": 1, "OwnerGroup": "others"}, {"CPUTime": 1}])
    assert db.execute(matching, [SETUP, [definition, -1], resources]).fetchall() == [(2, definition)]


def test_an_open_transaction_counts_as_an_arrival_when_it_commits(db: Db, dsn: str, jobs: Jobs) -> None:
    query = "select snapshot::text, jobs from taskqueue.arrivals(%s, %s::pg_snapshot)"
    one = {"requirements": {"OwnerDN": "/DC=org/CN=alice", "OwnerGroup": "users", "CPUTime": 600}, "jobs": [[1]]}
    jobs(1, first=3)  # in the open TaskQueue no call waits for another
    with psycopg.connect(dsn) as open_one:
        open_one.execute("select taskqueue.insert_jobs(%s, %s)", [SETUP, Jsonb([one])])
        ((snapshot, count),) = db.execute(query, [SETUP, None]).fetchall()
        jobs(1, first=2)
        ((snapshot, count),) = db.execute(query, [SETUP, snapshot]).fetchall()
        assert count == 1
    assert db.execute(query, [SETUP, snapshot]).fetchall()[0][1] == 1
