"""Each release in the history is upgraded to this program while its own service, loops and agents work, as
broker/docs/how-to/upgrade.md says, and taken back.
"""

import json
import sys
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from broker.upgrade import Program, check, downgrade, upgrade
from tests.core.upgrade.small_release import ROOT
from tests.releases import RELEASES, Release
from tests.service.conftest import BASE, bearer
from tests.service.test_command import PROGRAM, Serve, home, serve  # noqa: F401

JOBS = 30_000
WANTED = {"Site": "A", "CPUTime": 100_000}
AGENT = """
import sys
from broker.client import JobAgent
with JobAgent("default", sys.argv[1], connections=1) as agent:
    for line in sys.stdin:
        match = agent.match({"Site": "A", "CPUTime": 100_000})
        agent.finish(match)
        print(match.job_id, flush=True)
"""
LOADED = [
    {
        "requirements": {"OwnerDN": "/CN=a", "OwnerGroup": "g", "CPUTime": 500},
        "jobs": [[n, 1] for n in range(1, JOBS + 1)],
    }
]


@dataclass
class Load:
    """Agents of two kinds: by the client of the older release at the database, and by HTTP at its service."""

    taken: dict[str, list[int]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def wait_for(self, more: int) -> None:
        """Wait until each agent has ended this many jobs more."""
        wanted = {name: len(jobs) + more for name, jobs in self.taken.items()}
        until = time.monotonic() + 60
        while any(len(self.taken[name]) < number for name, number in wanted.items()):
            assert time.monotonic() < until and not self.faults, (self.faults, wanted)
            time.sleep(0.05)

    def at_database(self, old: Release, folder: Path, dsn: str) -> None:
        agent = old.start(folder, sys.executable, "-c", AGENT, dsn, stdin=-1)
        assert agent.stdin and agent.stdout and agent.stderr
        jobs = self.taken.setdefault(f"database {len(self.taken)}", [])
        while not self.stop.is_set():
            agent.stdin.write("next\n")
            agent.stdin.flush()
            if not (line := agent.stdout.readline()):
                self.faults.append(agent.stderr.read())
                break
            jobs.append(int(line))
        agent.stdin.close()
        agent.wait(10)

    def at_service(self, url: Callable[[], str], token: str) -> None:
        """A request that finds no service is repeated, as agents do."""
        jobs = self.taken.setdefault(f"service {len(self.taken)}", [])
        with httpx.Client(headers=bearer(token), timeout=30) as client:

            def post(path: str, body: Any) -> Any:
                while True:
                    try:
                        answer = client.post(url() + BASE + path, json=body)
                    except httpx.TransportError:
                        answer = None
                    if answer is not None and answer.status_code == 200:
                        return answer.json()
                    if answer is not None and answer.status_code != 503:
                        self.faults.append(answer.text)
                        raise AssertionError
                    time.sleep(0.1)

            while not self.stop.is_set():
                [match] = post("/match", {"resources": [WANTED], "request_id": str(uuid.uuid4())})["matches"]
                [end] = post("/jobs/finish", [{"job_id": match["job_id"], "attempt": match["attempt"]}])
                assert end["outcome"] == "finished"
                jobs.append(match["job_id"])


@pytest.mark.thorough
@pytest.mark.timeout(300)
@pytest.mark.skipif(not RELEASES, reason="no release before this one in a history of git")
@pytest.mark.parametrize("version", RELEASES)
def test_an_older_release_is_upgraded_at_work_and_taken_back(
    version: str,
    tmp_path: Path,
    serve: Serve,  # noqa: F811
    home: Path,  # noqa: F811
) -> None:
    old, now = Release.unpack(version, tmp_path / "old"), Program()
    new = Release(now.release, ROOT)

    def run(program: Release, *words: str) -> tuple[int, str]:
        """Exit code and output, or error."""
        done = program.start(home, *PROGRAM, *words)
        out, err = done.communicate(timeout=120)
        return done.returncode, err or out

    assert run(old, "up")[0] == 0
    dsn = run(old, "dsn")[1].strip()
    (tmp_path / "jobs.json").write_text(json.dumps(LOADED))
    assert run(old, "submit", str(tmp_path / "jobs.json"))[0] == 0
    world = str(tmp_path / "world.json")
    assert run(old, "dump", "--out", world)[0] == 0
    token = run(old, "credential", "token", "agents", "--as", "agent")[1].split()[0]
    services = [serve(**old.environment(home))]
    loops = old.start(home, *PROGRAM, "run")
    load = Load()
    agents = [threading.Thread(target=load.at_database, args=(old, home, dsn)) for _ in range(2)]
    agents += [threading.Thread(target=load.at_service, args=(lambda: services[-1].url, token)) for _ in range(2)]
    for agent in agents:
        agent.start()
    try:
        while len(load.taken) < len(agents):
            time.sleep(0.05)
        load.wait_for(20)
        code, said = run(new, "db", "upgrade")
        assert code == 0, said
        assert check(dsn).ok
        load.wait_for(20)  # the service and the agents of the older release go on
        code, said = run(old, "jobs")
        newer = (now.release, now.head) != (old.version, old.revision)
        assert (code == 1 and "[PB007]" in said and now.release in said) if newer else code == 0, said
        assert services[0].stop() == 0
        services.append(serve(**new.environment(home)))
        load.wait_for(20)
    finally:
        load.stop.set()
        for agent in agents:
            agent.join(60)
        loops.terminate()
        said = "".join(loops.communicate(timeout=30))
    assert load.faults == []
    assert loops.returncode == 0 and "rror" not in said, said
    assert services[1].stop() == 0
    taken = [job for jobs in load.taken.values() for job in jobs]
    with psycopg.connect(dsn) as conn:
        assert len(taken) == len(set(taken))
        counts = "select (select count(*) from taskqueue.job), (select count(*) from taskqueue.lease)"
        assert conn.execute(counts).fetchone() == (JOBS - len(taken), 0)
        assert conn.execute("select * from taskqueue.check_matching('default')").fetchall() == []
    code, said = run(new, "load", world, "--setup", "copy")
    assert code == 0, said
    assert len(json.loads(run(new, "jobs", "--setup", "copy", "--limit", "50", "--json")[1])) == 50
    if old.version == now.release:
        return
    downgrade(dsn, program=old.carried(tmp_path / "earlier"))
    code, said = run(old, "db", "check")
    assert code == 0, said
    assert run(old, "match", "--site", "A", "--cpu-time", "100000")[0] == 0
    upgrade(dsn)
    assert check(dsn).ok
