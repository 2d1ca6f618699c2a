"""The primary is killed under load, and its standby promoted: a DSN with both hosts leads callers to the new primary.

Agents work through `broker serve`, loops run in `broker run`, and `broker db upgrade` and `check` run before and
after. Replication is synchronous, so no acknowledged change is lost.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator

import httpx
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from broker.server.service import service_dsn
from broker.upgrade import check, current, upgrade
from tests.cluster.conftest import two_servers
from tests.core.faults.standby import Pair
from tests.core.faults.test_standby import wait_for_sync
from tests.service.conftest import SETUP
from tests.service.test_command import PROGRAM, Program
from tests.service.test_served import _INSERT, JOBS, Agents

BEAT = """
select count(*), min(renewed_at) from monitor.loop
 where name in ('maintain', 'watchdog') and state in ('well', 'slow') and renewed_at > %s
"""


@pytest.fixture
def pair() -> Iterator[Pair]:
    """The test's own two servers."""
    with two_servers() as made:
        yield made


def test_agents_and_loops_go_on_with_the_promoted_standby(pair: Pair) -> None:
    upgrade(pair.dsn)
    with psycopg.connect(pair.dsn, autocommit=True) as db:
        db.execute(_INSERT, [SETUP, JOBS])
        [(token,)] = db.execute("select token from resource.make_token(%s, 'pilots', 'agent')", [SETUP]).fetchall()
    wait_for_sync(pair)
    serving = {
        "host": "127.0.0.1,127.0.0.1",
        "port": f"{pair.server(pair.primary).port},{pair.server(pair.standby).port}",
        "target_session_attrs": "read-write",
    }
    program = Program([], {"BROKER_DSN": make_conninfo(service_dsn(pair.server(pair.primary)), **serving)})
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
    words, environment = [*PROGRAM, "run", "maintain", "watchdog", "--quiet"], kept | {"BROKER_DSN": pair.dsn}
    loops = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        agents = Agents(program.url, token)
        while len(agents.finished) < JOBS / 4:
            time.sleep(0.005)
        pair.kill_primary()
        answered, finished = dict(agents.got), set(agents.finished)
        assert httpx.get(program.url + "/healthz/ready", timeout=30).status_code == 503
        promoted = pair.promote()
        with psycopg.connect(promoted.superuser_dsn(), autocommit=True) as db:
            [(at,)] = db.execute("select now()").fetchall()
            agents.compare(db, answered, finished)
            for empty in (
                "taskqueue.check_matching('default')", "monitor.instance_difference", "workload.count_difference",
                "monitor.matching_difference", "monitor.job_in_two_states", "monitor.job_without_queue",
            ):  # fmt: skip
                assert db.execute(f"select * from {empty}".encode()).fetchall() == [], empty
            deadline = time.monotonic() + 60
            while (db.execute(BEAT, [at]).fetchone() or (0,))[0] < 2:
                assert loops.poll() is None, loops.stderr and loops.stderr.read()
                assert time.monotonic() < deadline, db.execute("select * from monitor.loop").fetchall()
                time.sleep(0.1)
        assert httpx.get(program.url + "/healthz/ready", timeout=30).status_code == 200
        upgrade(pair.dsn)
        assert current(pair.dsn) is not None
        assert check(pair.dsn).ok
    finally:
        program.stop()
        loops.send_signal(signal.SIGTERM)
        loops.communicate(timeout=60)
    assert not any("Traceback" in line for line in program.lines), "".join(program.lines)
