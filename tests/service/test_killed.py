"""kill -9 of the service under load: callers ask again with their keys, and nothing is lost or given out twice."""

import os
import threading
import time
import uuid

import httpx
import psycopg
import pytest

from tests.service.conftest import BASE, WANTED, Db, Jobs, Token, bearer, free_port
from tests.service.test_command import Program

pytestmark = pytest.mark.own_database

AGENTS, JOBS = 8, 400


def test_killed_workers_lose_nothing(service_dsn: str, db: Db, jobs: Jobs, token: Token) -> None:
    jobs(JOBS)
    secret = token("agent")
    place = f"127.0.0.1:{free_port()}"
    got: dict[str, tuple[int, str]] = {}
    finished: set[int] = set()
    asked_again = 0
    drained = threading.Event()

    def post(client: httpx.Client, path: str, body: object, key: str) -> httpx.Response:
        """Ask until there is an answer, with the same key."""
        nonlocal asked_again
        while True:
            try:
                answer = client.post(f"{BASE}{path}", json=body, headers={"Idempotency-Key": key})
                if answer.status_code != 503:
                    return answer
            except httpx.TransportError:
                pass
            asked_again += 1
            time.sleep(0.2)

    def agent() -> None:
        with httpx.Client(base_url=f"http://{place}", headers=bearer(secret), timeout=10) as client:
            while not drained.is_set():
                key = str(uuid.uuid4())
                answer = post(client, "/match", WANTED, key)
                if answer.status_code == 204:
                    drained.set()
                    return
                (match,) = answer.json()["matches"]
                lease = {"job_id": match["job_id"], "attempt": match["attempt"]}
                got[key] = (lease["job_id"], lease["attempt"])
                (ended,) = post(client, "/jobs/finish", [lease], key).json()
                assert ended["outcome"] == "finished", ended
                finished.add(lease["job_id"])

    program = Program(["--bind", place], {"BROKER_DSN": service_dsn})
    agents = [threading.Thread(target=agent) for _ in range(AGENTS)]
    for thread in agents:
        thread.start()
    kills = 0
    while not drained.wait(0.7) and kills < 10:
        os.kill(program.process.pid, 9)
        program.process.communicate()
        kills += 1
        program = Program(["--bind", place], {"BROKER_DSN": service_dsn})
    for thread in agents:
        thread.join()
    program.stop()
    assert kills > 0 and asked_again > 0 and drained.is_set()
    given = [job_id for job_id, _ in got.values()]
    assert sorted(given) == sorted(set(given)) == sorted(finished) == list(range(1, JOBS + 1))
    ended = db.execute("select job_id, attempts, outcome from taskqueue.ended order by job_id").fetchall()
    assert ended == [(number, 1, "finished") for number in range(1, JOBS + 1)]
    assert db.execute("select from taskqueue.lease").fetchall() == []
    with psycopg.connect(service_dsn) as left:  # connections of killed workers end with their statements
        assert left.execute("select 1").fetchone() == (1,)
