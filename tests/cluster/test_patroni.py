"""The primary is killed while agents work, and Patroni promotes its standby: no acknowledged change is lost.

A run has one failover; BROKER_TEST_FAILOVERS=5 makes five, each once there is a synchronous standby again. An earlier
kill would lose the changes that only the new primary has acknowledged (a-server-that-takes-over.md).
"""

import itertools
import os
import re
import subprocess
import sys
import threading
import time
import uuid
from abc import abstractmethod
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from broker.client import JobAgent
from broker.client.matcher import Lease
from broker.upgrade import upgrade
from tests.cluster.patroni import Cluster
from tests.core.docs import pages
from tests.service.conftest import BASE, SETUP, Db, bearer, insert_jobs, wait_until
from tests.service.test_page import bash

FAILOVERS = int(os.environ.get("BROKER_TEST_FAILOVERS", "1"))
LONGEST = 30.0  # the longest outage in seconds
AGENTS, BROWSING = 8, 3
JOBS = 15_000  # for one failover: more than the agents take during it
SOME = 40  # jobs of each agent, before the kill and after it
PAGE = pages.by_name()["broker/docs/how-to/a-server-that-takes-over.md"]
INSTALLING = 5  # the page's first blocks, which tests/cluster/kit/test_patroni.py runs
_PAUSE = 0.05  # seconds between two matches of an agent
_LEASES = """
select job_id, attempt || '-' || replace(token::text, '-', '') from taskqueue.lease
union all
select job_id, attempts || '-' || replace(token::text, '-', '') from taskqueue.ended where token is not null"""
_VIEWS = (
    "monitor.job_without_queue", "monitor.job_in_two_states", "monitor.matching_difference", "monitor.job_out_of_step",
    "monitor.instance_difference", "workload.count_difference",
)  # fmt: skip


class Agent(threading.Thread):
    """Takes jobs until it is stopped, ends every second job, and records the acknowledged calls with their times."""

    def __init__(self) -> None:
        super().__init__()
        self.got: list[tuple[int, str]] = []
        self.finished: list[tuple[int, str]] = []
        self.answered: list[float] = []
        self.error: BaseException | None = None
        self.stopped = threading.Event()

    def run(self) -> None:
        try:
            self.work()
        except BaseException as error:  # the test checks it
            self.error = error

    @abstractmethod
    def work(self) -> None:
        """Call `take` until stopped."""

    @abstractmethod
    def match(self, key: uuid.UUID) -> tuple[int, str] | None:
        """Get one job and its attempt."""

    @abstractmethod
    def finish(self, job_id: int, attempt: str) -> str:
        """End a job; returns the outcome."""

    def take(self) -> None:
        """Get a job, and end every second one."""
        while not self.stopped.wait(_PAUSE):
            match = self.match(uuid.uuid4())
            if match is None:
                continue
            self.got.append(match)
            self.answered.append(time.monotonic())
            if len(self.got) % 2:
                assert self.finish(*match) == "finished"
                self.finished.append(match)


class ClientAgent(Agent):
    """An agent that calls the database."""

    def __init__(self, dsn: str) -> None:
        super().__init__()
        self._dsn = dsn

    def work(self) -> None:
        with JobAgent(SETUP, self._dsn, connections=1) as self._agent:
            self.take()

    def match(self, key: uuid.UUID) -> tuple[int, str] | None:
        found = self._agent.match({"CPUTime": 86400}, key)
        return (found.job_id, found.attempt) if found else None

    def finish(self, job_id: int, attempt: str) -> str:
        return self._agent.finish(Lease(job_id, attempt))


class HttpAgent(Agent):
    """An agent that calls the service. It asks again after a 503 with Retry-After."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__()
        self.refused = 0
        self._url, self._token = url, token

    def work(self) -> None:
        with httpx.Client(base_url=self._url + BASE, headers=bearer(self._token), timeout=60) as self._client:
            self.take()

    def match(self, key: uuid.UUID) -> tuple[int, str] | None:
        answer = self._ask("/match", {"resources": [{"CPUTime": 86400}]}, {"Idempotency-Key": str(key)})
        if answer.status_code == 204:
            return None
        [match] = answer.json()["matches"]
        return match["job_id"], match["attempt"]

    def finish(self, job_id: int, attempt: str) -> str:
        answer = self._ask("/jobs/finish", [{"job_id": job_id, "attempt": attempt}], {})
        return str(answer.json()[0]["outcome"])

    def _ask(self, path: str, body: object, headers: dict[str, str]) -> httpx.Response:
        while True:
            try:
                answer = self._client.post(path, json=body, headers=headers)
            except httpx.TransportError:
                self.refused += 1
                time.sleep(_PAUSE)
                continue
            if answer.status_code != 503:
                return answer.raise_for_status()
            self.refused += 1
            time.sleep(float(answer.headers["Retry-After"]))


class Program:
    """`broker ...` on the pair, and its log."""

    def __init__(self, arguments: list[str], dsn: str, log: Path) -> None:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
        self._log = log
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-c", "from broker.cli.program import main; main()", *arguments],
                env={**kept, "BROKER_DSN": dsn}, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            )  # fmt: skip

    @property
    def log(self) -> str:
        """The output of the program so far."""
        return self._log.read_text(errors="replace")

    def wait_for(self, pattern: str) -> str:
        """Wait until the log matches a pattern; returns the pattern's first group."""
        wait_until(lambda: bool(re.search(pattern, self.log)) or self.process.poll() is not None, lambda: self.log)
        found = re.search(pattern, self.log)
        assert found, self.log
        return found[1]

    def stop(self) -> None:
        """End the program as systemd does."""
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Work:
    """The pair with pgbroker, and all programs that use it."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self._jobs = itertools.count(1, JOBS)
        self._programs: list[Program] = []
        self.agents: list[Agent] = []
        with cluster.connect("a") as db:
            db.execute("create database broker")
        upgrade(cluster.dsn())
        [(token,)] = self.rows("select token from resource.make_token(%s, 'pilots', 'agent')", SETUP)
        self.rows("alter role broker_service login password 'not a secret'")
        self.insert()
        try:
            self.loops = self._program(["run", "--log-format", "json"], cluster.dsn(), folder / "run.log")
            service_dsn = cluster.dsn("broker_service", "not a secret")
            self.service = self._program(["serve", "--bind", "127.0.0.1:0"], service_dsn, folder / "serve.log")
            url = self.service.wait_for(r"running on (http://\S+)")
            self.agents = [ClientAgent(cluster.dsn()) for _ in range(AGENTS)]
            self.agents += [HttpAgent(url, str(token)) for _ in range(BROWSING)]
            for agent in self.agents:
                agent.start()
        except BaseException:
            self.close()
            raise

    def _program(self, arguments: list[str], dsn: str, log: Path) -> Program:
        self._programs.append(Program(arguments, dsn, log))
        return self._programs[-1]

    def _primary(self) -> Db:
        leader = self.cluster.leader()
        assert leader, self.cluster.why()
        return self.cluster.connect(leader, "broker")

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a superuser's query on the primary."""
        with self._primary() as db:
            cursor = db.execute(query.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def insert(self) -> None:
        """Insert the jobs for one failover."""
        with self._primary() as db:
            insert_jobs(db, JOBS, next(self._jobs))

    def wait_for_some(self) -> None:
        """Wait until each agent has got some more jobs."""
        wanted = [len(agent.got) + SOME for agent in self.agents]

        def there() -> bool:
            assert [agent.error for agent in self.agents if agent.error] == []
            return all(len(agent.got) >= least for agent, least in zip(self.agents, wanted, strict=True))

        wait_until(there, self.cluster.why, 90)

    def outage_since(self, killed: float) -> float:
        """The longest time in seconds in which all agents of one kind (database or service) got no match."""
        longest = 0.0
        for kind in (ClientAgent, HttpAgent):
            answered = sorted(at for agent in self.agents if isinstance(agent, kind) for at in agent.answered)
            around = [at for at in answered if at > killed - 1]
            longest = max(longest, *(later - at for at, later in itertools.pairwise(around)))
        return longest

    def loops_lead(self, moment: object) -> bool:
        """Whether the loops have renewed their leads and begun a round since this moment."""
        query = "select name from monitor.loop where renewed_at > %s and began_at > %s"
        return {"maintain", "watchdog"} <= {name for (name,) in self.rows(query, moment, moment)}

    def close(self) -> None:
        """Stop all programs."""
        for agent in self.agents:
            agent.stopped.set()
        for agent in self.agents:
            if agent.ident:
                agent.join(90)
        for program in self._programs:
            program.stop()


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    """The pair at work."""
    cluster = Cluster()
    try:
        made = Work(cluster, tmp_path)
        try:
            yield made
        finally:
            made.close()
    finally:
        cluster.close()


class Page:
    """The commands of the page, as a reader types them on a machine of the pair."""

    def __init__(self, work: Work, folder: Path) -> None:
        blocks = [block for block in PAGE.blocks if not block.not_run]
        shell = [block.text for block in blocks if block.kind == "sh"]
        self._strict, self._switchover, self._upgrade, self._kill = shell[INSTALLING:]
        [self._try] = [block.text for block in blocks if block.kind == "python"]
        self._work, self._folder = work, folder
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_", "PATRONI"))}
        path = os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]])
        self._environment = {**kept, "BROKER_DSN": work.cluster.dsn(), "PATH": path}

    def _run(self, script: str) -> str:
        file = self._work.cluster.nodes["a"].folder / "patroni.yml"
        return bash(script.replace("/etc/patroni/patroni.yml", str(file)), Path.cwd(), self._environment, 120)

    def maintain(self) -> float:
        """Strict mode, an upgrade, and a switchover; returns the seconds in which agents got no answer."""
        cluster = self._work.cluster
        assert re.search(r"^synchronous_mode_strict: true$", self._run(self._strict), re.MULTILINE)
        assert "the database is what the release says" in self._run(self._upgrade)
        before, began = cluster.leader(), time.monotonic()
        self._run(self._switchover)
        wait_until(lambda: cluster.leader() not in (None, before), cluster.why)
        self._work.wait_for_some()
        cluster.wait_for_a_standby()
        return self._work.outage_since(began)

    def kill(self, primary: str) -> str:
        """Kill the primary while the page's program asks for a job; returns its output once it has the job."""

        def by(pids: list[int]) -> None:
            systemctl = self._folder / "systemctl"
            systemctl.write_text(
                f'#!/bin/sh\n[ "$*" = "kill --signal=KILL patroni" ] && kill -KILL {pids[0]} {pids[1]}\n'
            )
            systemctl.chmod(0o755)
            self._run(self._kill)

        asking = subprocess.Popen(
            [sys.executable, "-u", "-c", self._try], env=self._environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            assert asking.stdout
            assert asking.stdout.read(len("Kill the primary, then press Enter. ")).startswith("Kill")
            self._work.cluster.kill(primary, by)
            out, err = asking.communicate("\n", timeout=90)
        finally:
            asking.kill()
        assert asking.returncode == 0, err
        return out


@pytest.mark.thorough
def test_a_standby_takes_over_and_no_acknowledged_match_is_lost(work: Work, tmp_path: Path) -> None:
    cluster, page = work.cluster, Page(work, tmp_path)
    work.wait_for_some()
    print(f"switchover: {page.maintain():.1f} s")
    for number in range(1, FAILOVERS + 1):
        primary = cluster.leader()
        assert primary
        work.wait_for_some()
        acknowledged = sum(len(agent.got) for agent in work.agents)
        killed = time.monotonic()
        if number == 1:
            assert re.match(r"answered after \d+\.\d s\n$", page.kill(primary))
        else:
            cluster.kill(primary)
        work.wait_for_some()
        outage = work.outage_since(killed)
        print(f"failover {number}: {outage:.1f} s, {acknowledged} matches acknowledged before")
        assert outage < LONGEST
        assert cluster.leader() not in (None, primary)

        [(moment,)] = work.rows("select clock_timestamp()")
        cluster.start(primary)
        work.insert()
        wait_until(partial(work.loops_lead, moment), lambda: work.loops.log)
        cluster.wait_for_a_standby()
    assert [program.process.poll() for program in (work.loops, work.service)] == [None, None]
    work.close()
    compare(work)


def compare(work: Work) -> None:
    """Each change acknowledged to an agent is stored, and no job went to two agents."""
    assert [agent.error for agent in work.agents if agent.error] == []
    got = [match for agent in work.agents for match in agent.got]
    finished = [match for agent in work.agents for match in agent.finished]
    there = set(work.rows(_LEASES))
    outcomes = dict(work.rows("select job_id, outcome from taskqueue.ended"))
    lost = [match for match in got if match not in there]
    lost += [match for match in finished if outcomes.get(match[0]) != "finished"]
    twice = len(got) - len({job_id for job_id, _ in got})
    print(f"{len(got)} matches and {len(finished)} ends acknowledged, {len(lost)} lost, {twice} jobs twice")
    assert (lost, twice) == ([], 0)
    assert [view for view in _VIEWS if work.rows(f"select * from {view}")] == []
    assert sum(agent.refused for agent in work.agents if isinstance(agent, HttpAgent)) > 0
