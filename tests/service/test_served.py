"""kill -9 of the database under the load of agents that work through the service.

The service answers 503 while the database is down, and recovers by itself. Each answered match is a lease. A match
whose answer was lost gets the same jobs for the same key. No job is lost or given out twice.
"""

import shutil
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from broker.server import embedded
from broker.server.service import service_dsn
from tests.core.faults.test_kill import Field, kill_postmaster
from tests.service.conftest import BASE, SETUP, WANTED, Db, bearer
from tests.service.test_command import Program

AGENTS, JOBS = 6, 240
_INSERT = """
select taskqueue.insert_jobs(%s, jsonb_build_array(jsonb_build_object(
  'requirements', '{"OwnerDN": "/DC=org/CN=alice", "OwnerGroup": "users", "CPUTime": 600}'::jsonb,
  'jobs', (select jsonb_agg(jsonb_build_array(i)) from generate_series(1, %s) i))))"""
_ATTEMPTS = """
select job_id, attempt || '-' || replace(token::text, '-', '') from taskqueue.lease
union all
select job_id, attempts || '-' || replace(token::text, '-', '') from taskqueue.ended"""


class Agents:
    """Agents that match, report and finish until no job is left. Each repeats a call with its key until it is answered.

    dies: whether the service itself may be down.
    """

    def __init__(self, url: str, token: str, *, dies: bool = False) -> None:
        self.got: dict[int, str] = {}
        self.finished: set[int] = set()
        self.refused = 0  # calls that were answered by 503, or not at all
        self.wrong: list[object] = []
        self._url, self._token, self._dies = url, token, dies
        self._threads = [threading.Thread(target=self._run, args=[number]) for number in range(AGENTS)]
        for thread in self._threads:
            thread.start()

    @property
    def are_done(self) -> bool:
        """Whether an agent has found no job left."""
        return not all(thread.is_alive() for thread in self._threads)

    def join(self) -> None:
        """Wait until all have ended."""
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()

    def compare(self, db: Db, answered: dict[int, str], finished: set[int]) -> None:
        """After an outage: the earlier answers still hold, and each job ends at its first attempt."""
        kept: dict[int, str] = dict(db.execute(_ATTEMPTS).fetchall())
        assert answered.items() <= kept.items(), "a match that was answered is gone"
        ended = {job_id for (job_id,) in db.execute("select job_id from taskqueue.ended").fetchall()}
        assert finished <= ended, "an end that was answered is gone"
        self.join()
        assert (self.wrong, self.finished) == ([], set(range(1, JOBS + 1)))
        rows = db.execute("select job_id, attempts, outcome from taskqueue.ended order by job_id").fetchall()
        assert rows == [(number, 1, "finished") for number in range(1, JOBS + 1)]  # none was given out twice

    def _run(self, number: int) -> None:
        with httpx.Client(base_url=self._url + BASE, headers=bearer(self._token), timeout=30) as client:
            while True:
                key = {"Idempotency-Key": str(uuid.uuid4())}
                if number == 0:  # it never receives the first answer
                    self._send_and_go(client, key)
                answer = self._until_answered(client, "/match", WANTED, key)
                if answer.status_code != 200:
                    self.wrong += [] if answer.status_code == 204 else [answer.text]
                    return
                for match in answer.json()["matches"]:
                    self._work(client, match["job_id"], match["attempt"])

    def _work(self, client: httpx.Client, job_id: int, attempt: str) -> None:
        if self.got.setdefault(job_id, attempt) is not attempt:  # the job came with another answer
            self.wrong.append((job_id, attempt, self.got[job_id]))
        lease = [{"job_id": job_id, "attempt": attempt}]
        reported = self._until_answered(client, "/jobs/report", lease).json()
        ended = self._until_answered(client, "/jobs/finish", lease).json()
        if (reported[0]["action"], ended[0]["outcome"]) != ("continue", "finished"):
            self.wrong.append((reported, ended))
        self.finished.add(job_id)

    def _send_and_go(self, client: httpx.Client, key: dict[str, str]) -> None:
        """Ask, and close the connection before the answer comes."""
        try:
            client.post("/match", json=WANTED, headers=key, timeout=0.002)
        except httpx.TransportError:
            return

    def _until_answered(
        self, client: httpx.Client, path: str, body: object, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        while True:
            try:
                answer = client.post(path, json=body, headers=headers)
                if answer.status_code != 503:
                    return answer
            except httpx.TransportError:
                if not self._dies:
                    raise
            self.refused += 1
            time.sleep(0.2 if self._dies else 0.02)


@pytest.fixture
def server(installed_home: Path) -> Iterator[Field]:
    """A durable server of the test's own."""
    home = Path(tempfile.mkdtemp(prefix="broker-served-"))
    home.chmod(0o755)
    subprocess.run(["cp", "-a", installed_home / "cluster", home], check=True)
    try:
        yield Field(home, embedded.up(home).dsn, iter(()))
    finally:
        embedded.down(home)
        shutil.rmtree(home)


def test_a_killed_database_loses_no_job_of_working_agents(server: Field) -> None:
    running = embedded.current(server.home)
    assert running
    with psycopg.connect(running.superuser_dsn(), autocommit=True) as db:
        db.execute(_INSERT, [SETUP, JOBS])
        token = str(db.execute("select token from resource.make_token(%s, 'pilots', 'agent')", [SETUP]).fetchone()[0])  # type: ignore[index]
    program = Program([], {"BROKER_DSN": service_dsn(running)})
    try:
        agents = Agents(program.url, token)
        while len(agents.finished) < JOBS / 4:
            time.sleep(0.005)
        kill_postmaster(server)
        answered = dict(agents.got)
        finished = set(agents.finished)
        ask = {"json": WANTED, "headers": bearer(token), "timeout": 30}
        away = httpx.post(f"{program.url}{BASE}/match", **ask)  # type: ignore[arg-type]
        assert (away.status_code, away.headers["Retry-After"]) == (503, "1")
        assert httpx.get(program.url + "/healthz/ready", timeout=30).status_code == 503
        assert httpx.get(program.url + "/healthz/live", timeout=30).status_code == 200
        assert len(agents.finished) < JOBS
        assert embedded.up(server.home).dsn == server.dsn
        with psycopg.connect(running.superuser_dsn(), autocommit=True) as db:
            agents.compare(db, answered, finished)
            assert agents.refused > 0
            assert dict(db.execute(_ATTEMPTS).fetchall()) == agents.got
            for view in ("job_without_queue", "job_in_two_states", "matching_difference"):
                assert db.execute(f"select * from monitor.{view}".encode()).fetchall() == [], view
        assert httpx.get(program.url + "/healthz/ready", timeout=30).status_code == 200
    finally:
        program.stop()
    assert not any("Traceback" in line for line in program.lines), "".join(program.lines)
