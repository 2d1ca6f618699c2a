"""Agents that match, report and finish at a steady rate, with the patient client, and their findings."""

import random
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from benchmarks.cluster import Cluster
from benchmarks.pgbench import percentile
from benchmarks.report import Row
from broker.client import JobAgent
from broker.client.matcher import Match
from broker.database import Target
from broker.laboratory.pilots import Resource

_KEPT = 10  # of this many matches an agent keeps one, which it neither reports nor finishes
_END_SECONDS = 120  # within which an agent's last call ends


@dataclass
class Seen:
    """Findings of a setup's agents: calls as (begin, end) of the monotonic clock, jobs, acknowledged ends.

    kept: jobs that nobody has reported or finished, with the times of their matches.
    """

    calls: list[tuple[float, float]] = field(default_factory=list)
    matched: list[int] = field(default_factory=list)
    finished: list[int] = field(default_factory=list)
    kept: list[tuple[float, Match]] = field(default_factory=list)
    wrong: list[BaseException] = field(default_factory=list)

    def between(self, begin: float, end: float) -> list[float]:
        """The sorted latencies, in seconds, of the calls that were under way between two times."""
        return sorted(until - since for since, until in list(self.calls) if since <= end and until >= begin)

    def latencies(self, begin: float, end: float) -> tuple[float, float]:
        """p50 and p99 in ms of the calls between two times."""
        found = self.between(begin, end)
        return 1000 * percentile(found, 50), 1000 * percentile(found, 99)


@dataclass(frozen=True)
class Agent:
    """An agent of a setup: its target, its descriptions, and its turns per second."""

    target: Target
    setup: str
    requests: Sequence[Resource]
    rate: float

    def work(self, number: int, seen: Seen, over: threading.Event) -> None:
        """Make turns at random times until the run is over. An error is recorded and ends the agent."""
        rng = random.Random(number)
        try:
            with JobAgent(self.setup, self.target, connections=1) as client:
                while not over.wait(rng.expovariate(self.rate)):
                    self._turn(client, rng.choice(self.requests), seen)
        except BaseException as error:
            seen.wrong.append(error)

    def _turn(self, client: JobAgent, resource: Resource, seen: Seen) -> None:
        with _timed(seen):
            match = client.match(resource)
        if match is None:
            return
        seen.matched.append(match.job_id)
        if len(seen.matched) % _KEPT == 0:
            seen.kept.append((time.monotonic(), match))
            return
        with _timed(seen):
            client.report(match)
        with _timed(seen):
            client.finish(match)
        seen.finished.append(match.job_id)


@contextmanager
def _timed(seen: Seen) -> Iterator[None]:
    begin = time.monotonic()
    yield
    seen.calls.append((begin, time.monotonic()))


@contextmanager
def at_work(
    target: Target, agents: Mapping[str, int], requests: Sequence[Resource], rate: float
) -> Iterator[dict[str, Seen]]:
    """Agents in each setup, which make turns at a common rate. Raises the error of an agent."""
    found = {setup: Seen() for setup in agents}
    over = threading.Event()
    everyone = [setup for setup, number in agents.items() for _ in range(number)]
    threads = [
        threading.Thread(
            target=Agent(target, setup, requests, rate / len(everyone)).work,
            args=(number, found[setup], over),
            daemon=True,
        )
        for number, setup in enumerate(everyone)
    ]
    for thread in threads:
        thread.start()
    try:
        yield found
    finally:
        over.set()
        for thread in threads:
            thread.join(_END_SECONDS)
    wrong = [error for seen in found.values() for error in seen.wrong]
    if wrong:
        raise wrong[0]


def ends(cluster: Cluster, jobs: int, found: Mapping[str, Seen]) -> list[Row]:
    """After the run, by setup: lost jobs, jobs given out or stored twice, and differences that the checks find."""
    return [
        {"setup": setup, "calls": len(seen.calls), "matches": len(seen.matched), **_wrongs(cluster, setup, jobs, seen)}
        for setup, seen in found.items()
    ]


def medians(rows: Sequence[Row], name: str) -> Row:
    """A row with the medians of all columns except the one that names the rows."""
    columns = {key: statistics.median(float(str(row[key])) for row in rows) for key in rows[0] if key != name}
    return {name: "median", **columns}


def _wrongs(cluster: Cluster, setup: str, jobs: int, seen: Seen) -> Row:
    waiting, leased = cluster.jobs(setup)
    finished = set(seen.finished)
    lost = jobs - len(waiting | leased | finished)
    twice = sum(number - 1 for number in Counter(seen.matched).values())
    twice += len(waiting & (leased | finished)) + len(leased & finished)
    return {"lost": lost, "twice": twice, "differences": cluster.differences(setup)}
