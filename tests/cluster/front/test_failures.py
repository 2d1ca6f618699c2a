"""A shard dies while agents work: other shards are not affected, and its own agents continue when it is back."""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from broker.client import JobAgent, Submitter
from broker.errors import ConnectError
from broker.server import embedded, postmaster
from tests.calls import requirements, resource
from tests.cluster.front.conftest import SETUPS, Cluster
from tests.service.conftest import wait_until
from tests.throwaway import NOT_DURABLE, programs

AGENTS = {"east": 3, "north": 3, "south": 2}
JOBS = 1500
FIRST = 500_000


@dataclass
class Seen:
    """The jobs that the agents of a setup got, with their times, and the times of refusals."""

    jobs: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    wrong: list[BaseException] = field(default_factory=list)


def _agent(cluster: Cluster, setup: str, seen: Seen, done: threading.Event) -> None:
    with JobAgent(setup, cluster.dsn("cluster_agent"), connections=1, timeout=5, patience=0) as agent:
        while not done.is_set():
            try:
                match = agent.match(resource(Site="kill"))
            except ConnectError as error:
                seen.refused.append(error.message)
                time.sleep(0.05)
                continue
            except BaseException as error:
                seen.wrong.append(error)
                return
            if match is None:
                return
            seen.jobs.append(match.job_id)
            seen.times.append(time.monotonic())


@contextmanager
def _agents(cluster: Cluster) -> Iterator[dict[str, Seen]]:
    found = {setup: Seen() for setup in AGENTS}
    done = threading.Event()
    threads = [
        threading.Thread(target=_agent, args=(cluster, setup, found[setup], done))
        for setup, number in AGENTS.items()
        for _ in range(number)
    ]
    for thread in threads:
        thread.start()
    try:
        yield found
        for thread in threads:
            thread.join(60)
    finally:
        done.set()
        for thread in threads:
            thread.join(60)


def test_a_killed_shard_stops_its_own_setup_alone(cluster: Cluster) -> None:
    own = programs("embedded")
    for setup in SETUPS:
        with cluster.connect(setup) as shard:
            shard.execute("select resource.set_identity(%s, 'cluster_agent')", [setup])
        with Submitter(setup, cluster.dsn("cluster_operator")) as submitter:
            jobs = [[FIRST + number, 5] for number in range(JOBS)]
            submitter.submit_many([{"requirements": requirements(Sites="kill"), "jobs": jobs}])
    with _agents(cluster) as seen:
        wait_until(lambda: all(len(one.jobs) > 50 for one in seen.values()))
        pid = postmaster.running_pid(cluster.home_of_c / "cluster")
        assert pid
        os.kill(pid, signal.SIGKILL)
        down = time.monotonic()
        wait_until(lambda: len(seen["east"].refused) > 3)
        embedded.up(cluster.home_of_c, installation=own, settings=NOT_DURABLE)
        up = time.monotonic()
    assert [one.wrong for one in seen.values()] == [[], [], []]
    for setup in ("north", "south"):
        assert seen[setup].refused == []
        assert [at for at in seen[setup].times if down < at < up], f"nobody matched in {setup} while the shard was down"
    for setup, one in seen.items():
        assert max(Counter(one.jobs).values()) == 1, setup
        with cluster.connect(setup) as shard:
            leased = shard.execute("select job_id from taskqueue.lease where job_id >= %s", [FIRST]).fetchall()
            assert shard.execute("select * from taskqueue.check_matching(%s)", [setup]).fetchall() == []
        # a match whose answer was lost with the shard leaves a lease, which expires
        assert set(one.jobs) <= {job for (job,) in leased}
        assert len(leased) == JOBS
    assert [at for at in seen["east"].times if at > up]
