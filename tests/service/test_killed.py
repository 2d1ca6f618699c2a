"""kill -9 of the service under load: callers ask again with their keys, and nothing is lost or given out twice."""

import os
import time

import psycopg
import pytest

from tests.service.conftest import Db, Jobs, Token, free_port
from tests.service.test_command import Program
from tests.service.test_served import Agents

pytestmark = pytest.mark.own_database

JOBS = 400


def test_killed_workers_lose_nothing(service_dsn: str, db: Db, jobs: Jobs, token: Token) -> None:
    jobs(JOBS)
    secret = token("agent")
    place = f"127.0.0.1:{free_port()}"
    program = Program(["--bind", place], {"BROKER_DSN": service_dsn})
    agents = Agents(program.url, secret, dies=True)
    kills = 0
    while not agents.are_done and kills < 10:
        time.sleep(0.7)
        os.kill(program.process.pid, 9)
        program.process.communicate()
        kills += 1
        program = Program(["--bind", place], {"BROKER_DSN": service_dsn})
    agents.join()
    program.stop()
    assert kills > 0 and agents.refused > 0
    assert (agents.wrong, agents.finished) == ([], set(range(1, JOBS + 1)))
    ended = db.execute("select job_id, attempts, outcome from taskqueue.ended order by job_id").fetchall()
    assert ended == [(number, 1, "finished") for number in range(1, JOBS + 1)]
    assert db.execute("select from taskqueue.lease").fetchall() == []
    with psycopg.connect(service_dsn) as left:  # connections of killed workers end with their statements
        assert left.execute("select 1").fetchone() == (1,)
