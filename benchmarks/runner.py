"""Measuring: for each number of clients, floor and matching in turn, round by round; medians over the rounds."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks import pgbench
from benchmarks.bench import SEED, Bench
from benchmarks.workloads import REQUESTS, Workload
from broker import database
from broker.database import Target
from broker.upgrade import upgrade

FLOOR_JOBS = 1_000_000  # of floor.sql
_WARM_UP = 200  # calls of each client, before the rounds


@dataclass(frozen=True)
class Figures:
    """Medians over the rounds. Rates are per second, latencies ms, `found_nothing` a share; per job handed over:
    bytes of WAL, and ms of the server's CPU time (None where it cannot be read). `ratio` is matches to the floor's."""

    what: str
    clients: int
    calls_per_s: float
    jobs_per_s: float
    ratio: float | None
    p50_ms: float
    p95_ms: float
    p99_ms: float
    found_nothing: float
    wal_bytes: float
    cpu_ms: float | None
    calls: int


@dataclass(frozen=True)
class Report:
    """What one command measured."""

    workload: str
    jobs: int
    queues: int
    postings: int
    load_seconds: float
    rounds: int
    figures: list[Figures]


@dataclass(frozen=True)
class _Sample:
    calls: int
    rate: float
    percentiles: tuple[float, float, float]
    found: float
    wal: float
    cpu: float | None


class _Runner:
    def __init__(self, bench: Bench, target: Target, jobs: int, seconds: float) -> None:
        self._bench = bench
        self._target = target
        self._jobs = jobs
        self._seconds = seconds
        self._popped = FLOOR_JOBS  # nothing loaded yet

    def calls(self, kind: str, clients: int) -> int:
        """Calls of each client that last about as long as asked, and take at most a tenth of the jobs."""
        tenth = (FLOOR_JOBS if kind == "floor" else self._jobs) // 10 // clients
        warm = self.sample(kind, clients, max(1, min(_WARM_UP, tenth)), seed=0)
        return max(1, min(int(warm.rate * self._seconds / clients), tenth))

    def sample(self, kind: str, clients: int, calls: int, seed: int) -> _Sample:
        if kind == "floor" and self._popped + calls * clients > FLOOR_JOBS // 10:
            self._bench.run_file("floor.sql")
            self._popped = 0
        before = self._bench.meter()
        variables = None if kind == "floor" else {"requests": REQUESTS}
        run = pgbench.run(
            self._target, f"{kind}.pgbench", clients=clients, calls=calls, seed=SEED + seed, variables=variables
        )
        after = self._bench.meter()
        if kind == "floor":
            self._popped += run.calls
            found = run.calls
        else:
            found = self._bench.matched()
            self._bench.put_back()
        each = max(found, 1)
        spent = None if before.cpu is None or after.cpu is None else (after.cpu - before.cpu) * 1000 / each
        percentiles = (run.percentile(50), run.percentile(95), run.percentile(99))
        return _Sample(run.calls, run.rate, percentiles, found / run.calls, (after.wal - before.wal) / each, spent)


def measure(
    dsn: str,
    workload: Workload,
    *,
    jobs: int,
    clients: Sequence[int],
    seconds: float,
    rounds: int,
    say: Callable[[str], None],
) -> Report:
    """Install pgbroker into an empty database, load the workload, and measure. `say` gets a line about what goes on."""
    say("installing pgbroker")
    upgrade(dsn)
    target = database.resolve(dsn)
    with database.connect(target) as connection:
        bench = Bench(connection, workload)
        say(f"loading workload {workload.letter}: {jobs:,} jobs")
        load_seconds = bench.load(jobs)
        queues, postings = bench.shape()
        runner = _Runner(bench, target, jobs, seconds)
        figures: list[Figures] = []
        for number in clients:
            calls = {kind: runner.calls(kind, number) for kind in ("floor", "match")}
            samples: dict[str, list[_Sample]] = {kind: [] for kind in calls}
            for turn in range(1, rounds + 1):
                for kind, each in calls.items():
                    say(f"{number} clients, round {turn} of {rounds}: {kind}, {each * number:,} calls")
                    samples[kind].append(runner.sample(kind, number, each, turn))
            floor = _figures("floor", number, samples["floor"], None)
            figures += [floor, _figures("match_job", number, samples["match"], floor.jobs_per_s)]
        return Report(workload.letter, jobs, queues, postings, load_seconds, rounds, figures)


def _figures(what: str, clients: int, samples: list[_Sample], floor: float | None) -> Figures:
    median = statistics.median
    jobs = median(sample.rate * sample.found for sample in samples)
    cpu = [sample.cpu for sample in samples if sample.cpu is not None]
    p50, p95, p99 = (median(sample.percentiles[i] for sample in samples) for i in range(3))
    return Figures(
        what=what,
        clients=clients,
        calls_per_s=median(sample.rate for sample in samples),
        jobs_per_s=jobs,
        ratio=None if floor is None else jobs / floor,
        p50_ms=p50,
        p95_ms=p95,
        p99_ms=p99,
        found_nothing=1 - median(sample.found for sample in samples),
        wal_bytes=median(sample.wal for sample in samples),
        cpu_ms=median(cpu) if cpu else None,
        calls=sum(sample.calls for sample in samples),
    )
