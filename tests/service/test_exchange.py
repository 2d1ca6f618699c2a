"""Exchanges: ends and a match in one call, in one transaction if a job is there, and repeatable with one key."""

import asyncio
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import httpx
import msgspec
import psycopg
import pytest

from broker.service.calls import Database, Statement
from broker.service.exchanges import Exchange, Exchanger
from broker.service.matching import Wanted
from tests.service.conftest import BASE, WANTED, Db, Jobs, Token, bearer, facts_of, free_port, insert_jobs, wait_until
from tests.service.issuer import Issuer
from tests.service.test_command import Program

JOBS = 240
STALE = {"job_id": 99, "attempt": "1-" + "0" * 32}


def lease_of(answer: httpx.Response) -> dict[str, Any]:
    """The only job of an answer, as an end names it."""
    assert answer.status_code == 200, answer.text
    [match] = answer.json()["matches"]
    return {"job_id": match["job_id"], "attempt": match["attempt"]}


def exchange(client: httpx.Client, *ends: dict[str, Any], key: str | None = None, **more: Any) -> httpx.Response:
    headers = {"Idempotency-Key": key} if key else {}
    return client.post("/exchange", json={"ends": ends, **WANTED, **more}, headers=headers)


def outcomes(answer: httpx.Response) -> list[tuple[int, str]]:
    assert answer.status_code == 200, answer.text
    return [(one["job_id"], one["outcome"]) for one in answer.json()["ended"]]


def ended(db: Db) -> list[tuple[int, str]]:
    return db.execute("select job_id, outcome from taskqueue.ended order by 1").fetchall()


def leased(db: Db) -> list[int]:
    return [job_id for (job_id,) in db.execute("select job_id from taskqueue.lease order by 1").fetchall()]


@pytest.mark.parametrize("more", [{}, {"n": 2}, {"resources": [{"CPUTime": 1}, {"CPUTime": 86400}]}], ids=str)
@pytest.mark.parametrize("key", [None, "mine"])
def test_a_job_that_is_there_comes_with_the_ends_in_one_transaction(
    agent: httpx.Client, jobs: Jobs, db: Db, more: dict[str, Any], key: str | None
) -> None:
    jobs(1)
    first = exchange(agent)
    assert outcomes(first) == []
    jobs(1, 2)
    end = lease_of(first) | {
        "outcome": "failed",
        "used": {"cpu": 1.5, "cores": 2},
        "error": [{"source": "pilot", "code": 7, "text": "x"}],
    }
    second = exchange(agent, end, key=key, **more)
    assert (outcomes(second), lease_of(second)["job_id"]) == ([(1, "failed")], 2)
    together = "select e.xmin::text = l.xmin::text, l.subject from taskqueue.ended e, taskqueue.lease l"
    assert db.execute(together).fetchall() == [(True, "token somebody")]
    assert facts_of(db, 1)[2:] == (1.5, None, None, 2)


def test_without_a_job_the_ends_are_committed_and_the_agent_is_told_when_to_ask(
    agent: httpx.Client, jobs: Jobs, db: Db
) -> None:
    jobs(1)
    answer = exchange(agent, lease_of(exchange(agent)))
    assert (outcomes(answer), answer.json()["matches"], answer.headers["Retry-After"]) == ([(1, "finished")], [], "30")
    assert ended(db) == [(1, "finished")]


def test_a_refused_end_is_an_entry_of_the_answer_and_changes_nothing_else(
    agent: httpx.Client, jobs: Jobs, db: Db
) -> None:
    jobs(3)
    leases = sorted((lease_of(exchange(agent)) for _ in range(2)), key=lambda lease: int(lease["job_id"]))
    ends = [leases[0] | {"outcome": "odd"}, STALE, leases[1] | {"outcome": "closed"}]
    answer = exchange(agent, *ends)
    assert outcomes(answer) == [(leases[0]["job_id"], "refused"), (leases[1]["job_id"], "closed"), (99, "stale")]
    assert [one["reason"] is None for one in answer.json()["ended"]] == [False, True, False]
    assert ended(db) == [(leases[1]["job_id"], "closed")]
    assert leased(db) == sorted([leases[0]["job_id"], lease_of(answer)["job_id"]])


@pytest.mark.parametrize("more", [{}, {"n": 2}], ids=str)
def test_a_refused_match_ends_nothing(agent: httpx.Client, jobs: Jobs, db: Db, more: dict[str, Any]) -> None:
    jobs(2)
    end = lease_of(exchange(agent))
    refused = exchange(agent, end, resources=[{"CPUTime": "soon"}], **more)
    alone = agent.post("/match", json={"resources": [{"CPUTime": "soon"}], **more})
    assert (refused.status_code, refused.json()) == (422, alone.json())
    assert (ended(db), leased(db)) == ([], [end["job_id"]])


def test_the_ends_are_committed_before_the_call_waits(agent: httpx.Client, jobs: Jobs, db: Db) -> None:
    jobs(1)
    end = lease_of(exchange(agent))
    with ThreadPoolExecutor(1) as threads:
        waits = threads.submit(exchange, agent, end, STALE, wait=60)
        wait_until(lambda: ended(db) == [(1, "finished")])
        time.sleep(0.3)
        assert not waits.done()
        began = time.monotonic()
        jobs(1, 2)
        answer = waits.result()
    assert time.monotonic() - began < 3
    assert (outcomes(answer), lease_of(answer)["job_id"]) == ([(1, "finished"), (99, "stale")], 2)


@pytest.mark.parametrize("more", [{}, {"n": 2}], ids=str)
def test_the_same_key_gives_the_same_answers_and_the_same_job(
    agent: httpx.Client, jobs: Jobs, db: Db, more: dict[str, Any]
) -> None:
    jobs(2)
    ends = (lease_of(exchange(agent)) | {"outcome": "failed"}, STALE)
    first = exchange(agent, *ends, key="mine", **more)
    assert outcomes(first) == [(ends[0]["job_id"], "failed"), (99, "stale")]
    assert exchange(agent, *ends, key="mine", **more).json() == first.json()
    agent.post("/jobs/finish", json=[lease_of(first)])
    jobs(1, 3)
    assert exchange(agent, *ends, key="mine", **more).json() == first.json()
    assert [job_id for job_id, _ in ended(db)] == [1, 2]
    for refused in (
        exchange(agent, key="mine", **more),
        exchange(agent, *ends, lease_of(first), key="mine", **more),
        exchange(agent, *ends, key="mine", resources=[{"CPUTime": 7}], **more),
        agent.post("/match", json={**WANTED, **more}, headers={"Idempotency-Key": "mine"}),
    ):
        assert (refused.status_code, refused.json()["code"]) == (422, "PB001"), refused.text
        assert "was used for another call" in refused.json()["detail"]
    assert leased(db) == []
    agent.post("/match", json=WANTED, headers={"Idempotency-Key": "of a match"})
    assert exchange(agent, key="of a match").status_code == 422


def test_a_key_without_ends_is_of_the_first_call_too(agent: httpx.Client, jobs: Jobs) -> None:
    jobs(2)
    first = exchange(agent, key="mine")
    assert exchange(agent, key="mine").json() == first.json()
    assert exchange(agent, lease_of(first), key="mine").status_code == 422


def test_the_same_key_of_another_caller_is_another_call(client: httpx.Client, trusted: Issuer, jobs: Jobs) -> None:
    jobs(2)
    found = set()
    for subject in ("a", "b"):
        client.headers.update(bearer(trusted.token(subject)))
        found.add(lease_of(exchange(client, key="mine"))["job_id"])
    assert found == {1, 2}


def test_calls_at_once_with_the_same_key_are_one(agent: httpx.Client, jobs: Jobs, db: Db) -> None:
    jobs(3)
    end = lease_of(exchange(agent))
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: exchange(agent, end, key="mine"), range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 1
    assert leased(db) == [lease_of(answers[0])["job_id"]]


def test_a_key_that_is_at_work_elsewhere_is_refused_at_once(
    agent: httpx.Client, jobs: Jobs, db: Db, service_dsn: str
) -> None:
    """Another worker has not committed yet."""
    jobs(2)
    end = lease_of(exchange(agent))
    exchange(agent, STALE, key="mine")
    [(request_id,)] = db.execute("select request_id from taskqueue.request where call = 'finish_jobs'").fetchall()
    with psycopg.connect(service_dsn) as other:
        other.execute("set role broker_agent")
        other.execute(
            "select pg_advisory_xact_lock(hashtextextended('default' || 'broker_agent' || %s, 1))", [request_id]
        )
        refused = exchange(agent, STALE, key="mine")
        assert (refused.status_code, refused.json()["code"]) == (503, "PB006")
        assert exchange(agent, end, key="another").status_code == 200
    assert exchange(agent, STALE, key="mine").status_code == 200


@pytest.mark.parametrize("key", [None, "of"])
def test_exchanges_at_once_get_their_own_answers(
    client: httpx.Client, trusted: Issuer, jobs: Jobs, db: Db, key: str | None
) -> None:
    """They share transactions; a refused one harms no other."""
    jobs(60)
    headers = [bearer(trusted.token(f"pilot-{n}")) for n in range(30)]

    def send(number: int, *ends: dict[str, Any], cpu: Any = 86400) -> httpx.Response:
        named = {"Idempotency-Key": f"{key} {len(ends)}"} if key else {}
        body = {"ends": ends, "resources": [{"CPUTime": cpu}]}
        return client.post("/exchange", json=body, headers=headers[number] | named)

    with ThreadPoolExecutor(30) as threads:
        leases = [lease_of(answer) for answer in threads.map(send, range(30))]
        assert len({one["job_id"] for one in leases}) == 30
        answers = list(threads.map(lambda n: send(n, leases[n], cpu="soon" if n % 10 == 0 else 86400), range(30)))
    for number, answer in enumerate(answers):
        if number % 10 == 0:
            assert answer.status_code == 422, answer.text
        else:
            assert outcomes(answer) == [(leases[number]["job_id"], "finished")]
    refused = {leases[number]["job_id"] for number in range(0, 30, 10)}
    matched = {lease_of(answer)["job_id"] for number, answer in enumerate(answers) if number % 10}
    assert len(matched) == 27
    assert set(leased(db)) == refused | matched
    subjects = db.execute("select count(distinct subject) from monitor.job_event where event = 'finished'").fetchone()
    assert subjects == (27,)


def test_the_bounds_of_an_exchange(agent: httpx.Client) -> None:
    assert exchange(agent, *[STALE] * 1000).status_code == 200
    refused = exchange(agent, *[STALE] * 1001)
    assert (refused.status_code, refused.json()["key"]) == (422, "ends")
    assert exchange(agent, STALE | {"host": "x" * 2**24}).status_code == 413
    assert exchange(agent, n=1001).status_code == 422
    assert exchange(agent, wait=301).status_code == 422
    assert agent.post("/exchange", json={"ends": []}).status_code == 422


# The trigger function ends its own session, once: the database dies at this moment for the service.
_DIE = """
create sequence public.died;
create function public.die() returns trigger language plpgsql security definer as
$$ begin
     if nextval('public.died') = 1 then perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(5); end if;
     return null;
   end $$;
grant usage on sequence public.died to public;
create constraint trigger die after insert on taskqueue.{table} deferrable initially {when}
  for each row execute function public.die()
"""


@pytest.mark.own_database
@pytest.mark.parametrize("wait", [0, 60])
@pytest.mark.parametrize(
    ("table", "when"), [("ended", "immediate"), ("request", "immediate"), ("lease", "immediate"), ("lease", "deferred")]
)
def test_a_database_that_dies_within_an_exchange_does_nothing_twice(  # noqa: PLR0917
    agent: httpx.Client, jobs: Jobs, db: Db, table: str, when: str, wait: int
) -> None:
    jobs(1)
    end = lease_of(exchange(agent))
    db.execute(_DIE.format(table=table, when=when).encode())
    if not wait:
        jobs(1, 2)
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(exchange, agent, end, key="mine", wait=wait)
        if wait and table == "lease":
            wait_until(lambda: ended(db) == [(1, "finished")])
            jobs(1, 2)
        assert asked.result().status_code == 503
    committed = [(1, "finished")] if wait and table == "lease" else []
    assert ended(db) == committed  # the match that waited died, or the whole transaction
    if wait and table != "lease":
        jobs(1, 2)
    answer = exchange(agent, end, key="mine", wait=wait)
    assert (outcomes(answer), lease_of(answer)["job_id"]) == ([(1, "finished")], 2)
    assert (ended(db), leased(db)) == ([(1, "finished")], [2])
    assert exchange(agent, end, key="mine", wait=wait).json() == answer.json()


@pytest.fixture
def programs(service_dsn: str) -> Iterator[Callable[[], Program]]:
    """A function that starts the service as a program, at the same place each time."""
    place = f"127.0.0.1:{free_port()}"
    started: list[Program] = []

    def start() -> Program:
        started.append(Program(["--bind", place], {"BROKER_DSN": service_dsn}))
        return started[-1]

    yield start
    started[-1].stop()


@pytest.mark.own_database
def test_a_service_killed_between_the_halves_repeats_the_answers_to_the_ends(
    programs: Callable[[], Program], jobs: Jobs, db: Db, token: Token
) -> None:
    jobs(1)
    program = programs()
    with httpx.Client(base_url=program.url + BASE, headers=bearer(token("agent")), timeout=60) as client:
        ends = (lease_of(exchange(client)) | {"outcome": "failed"}, STALE)
        with ThreadPoolExecutor(1) as threads:
            asked = threads.submit(exchange, client, *ends, key="mine", wait=60)
            wait_until(lambda: ended(db) == [(1, "failed")])
            os.kill(program.process.pid, 9)
            program.process.communicate()
            with pytest.raises(httpx.TransportError):
                asked.result()
        programs()
        jobs(2, 2)
        answer = exchange(client, *ends, key="mine", wait=60)
        assert outcomes(answer) == [(1, "failed"), (99, "stale")]
        assert exchange(client, *ends, key="mine", wait=60).json() == answer.json()
        assert exchange(client, key="mine", wait=60).status_code == 422
    assert leased(db) == [lease_of(answer)["job_id"]]


class _Agent(threading.Thread):
    """Exchanges until no job is left, each with a key until it is answered."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__(daemon=True)
        self._client = httpx.Client(base_url=url + BASE, headers=bearer(token), timeout=30)
        self.finished: list[int] = []
        self.wrong: list[object] = []
        self.lost = 0
        self.start()

    def run(self) -> None:
        ends: list[dict[str, Any]] = []
        while True:
            answer = self._answer(ends)
            if outcomes(answer) != [(end["job_id"], "finished") for end in ends]:
                self.wrong.append((ends, answer.json()))
            self.finished += [end["job_id"] for end in ends]
            if not answer.json()["matches"]:
                return
            ends = [lease_of(answer)]

    def _answer(self, ends: list[dict[str, Any]]) -> httpx.Response:
        key = str(uuid.uuid4())
        while True:
            try:
                answer = exchange(self._client, *ends, key=key)
                if answer.status_code != 503:
                    return answer
            except httpx.TransportError:
                pass
            self.lost += 1
            time.sleep(0.1)


@pytest.mark.own_database
def test_killed_services_lose_nothing(programs: Callable[[], Program], db: Db, token: Token) -> None:
    insert_jobs(db, JOBS)
    program = programs()
    agents = [_Agent(program.url, token("agent", f"pilot {number}")) for number in range(6)]
    kills = 0
    while any(agent.is_alive() for agent in agents) and kills < 10:
        time.sleep(0.5)
        os.kill(program.process.pid, 9)
        program.process.communicate()
        kills += 1
        program = programs()
    for agent in agents:
        agent.join(60)
        assert not agent.is_alive()
    assert kills > 0 and sum(agent.lost for agent in agents) > 0
    assert [agent.wrong for agent in agents] == [[]] * 6
    assert sorted(number for agent in agents for number in agent.finished) == list(range(1, JOBS + 1))
    rows = db.execute("select job_id, attempts, outcome from taskqueue.ended order by 1").fetchall()
    assert rows == [(number, 1, "finished") for number in range(1, JOBS + 1)]
    assert leased(db) == []


class _Deadlocked:
    """A database in which a transaction of several exchanges is the victim of a deadlock."""

    def __init__(self) -> None:
        self.ended: list[list[int]] = []

    async def all_as_role(self, _role: str, _subject: str, statements: list[Statement], _check: Any) -> list[Any]:
        ends = [msgspec.json.decode(str(values[1])) for _, values in statements[:-1]]
        self.ended.append([end["job_id"] for each in ends for end in each])
        if len(ends) > 1:
            raise psycopg.errors.DeadlockDetected
        return [[(end["job_id"], "finished", None) for end in each] for each in [*ends, []]]


def test_exchanges_lock_by_job_and_are_repeated_one_by_one_after_a_deadlock() -> None:
    database = _Deadlocked()
    exchanges = [
        Exchange(b'[{"job_id": %d}]' % job, 1, job, job, None, Wanted(uuid.uuid4(), "a", 1, b"{}", None))
        for job in (7, 3, 5)
    ]
    exchanger = Exchanger(cast(Database, database), lambda _: None)
    answers = asyncio.run(exchanger._send(("default", "broker_agent", None, None), exchanges))
    assert database.ended == [[3, 5, 7], [7], [3], [5]]
    assert answers == [([(job, "finished", None)], []) for job in (7, 3, 5)]


def test_exchanges_whose_jobs_lie_between_those_of_another_share_no_transaction() -> None:
    """A call that cancels the jobs in their order would wait for the one, and the exchanges for it."""
    database = _Deadlocked()
    wanted = Wanted(uuid.uuid4(), "a", 1, b"{}", None)
    outer = Exchange(b'[{"job_id": 1}, {"job_id": 100}]', 2, 1, 100, None, wanted)
    inner = Exchange(b'[{"job_id": 50}]', 1, 50, 50, None, wanted)
    exchanger = Exchanger(cast(Database, database), lambda _: None)
    asyncio.run(exchanger._send(("default", "broker_agent", None, None), [outer, inner]))
    assert database.ended == [[1, 100], [50]]
