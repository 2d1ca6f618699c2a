"""Measuring in turn: several kinds of calls, round by round, medians over the rounds."""

import statistics
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from benchmarks import pgbench
from benchmarks.bench import SEED, Bench, Meter
from benchmarks.options import Options, Say
from benchmarks.pgbench import Script
from benchmarks.report import Row

FLOOR_JOBS = 1_000_000  # of floor.sql


class Measured(Protocol):
    """Calls that `in_turn` measures. `batch`: jobs asked for by a call; `available`: existing jobs; `trial`: calls
    of each client before the rounds, which determine the number of calls in a run."""

    name: str
    batch: int
    available: int
    trial: int

    def sample(self, clients: int, calls: int, seed: int) -> "Sample":
        """One run of `calls` calls of each client; afterwards all is as before."""


@dataclass
class Kind:
    """Calls of one kind: a script over a part of the requests, `batch` jobs asked for by each call.

    `per_call`: costs count for each call, not for each job found. `beside`: work that goes on during each run.
    """

    name: str
    bench: Bench
    file: str = "match.pgbench"
    first: int = 1
    last: int | None = None
    batch: int = 1
    per_call: bool = False
    beside: Callable[[], AbstractContextManager[object]] = nullcontext
    trial: int = 200
    available: int = field(init=False)

    def __post_init__(self) -> None:
        self.available = self.bench.jobs

    def sample(self, clients: int, calls: int, seed: int) -> "Sample":
        """One run of `calls` calls of each client; afterwards all is as before."""
        with self.beside():
            before = self.bench.meter()
            run = self.run(clients, calls, seed)
            self.bench.wait_for_agents()
            after = self.bench.meter()
        found = self.bench.matched()
        self.bench.put_back()
        return Sample.of(run, before, after, found, run.calls if self.per_call else found)

    def run(self, clients: int, calls: int, seed: int) -> pgbench.Run:
        """Run only the calls."""
        variables = {"first": self.first, "last": self.last or self.bench.requests, "batch": self.batch}
        script = Script(self.file, clients, SEED + seed, variables, calls)
        return pgbench.run(self.bench.where.logins["agent"], script)


class Floor(Kind):
    """The floor: a durable, audited hand-over without a decision, in the bench's database."""

    def __init__(self, bench: Bench) -> None:
        super().__init__("floor", bench, "floor.pgbench")
        self.available = FLOOR_JOBS
        self._left = 0  # nothing loaded yet

    def sample(self, clients: int, calls: int, seed: int) -> "Sample":
        """One run; the floor's jobs are loaded again when a tenth of them is gone."""
        if self._left < calls * clients:
            self.bench.load_floor()
            self._left = FLOOR_JOBS // 10
        before = self.bench.meter()
        run = pgbench.run(self.bench.where.logins["agent"], Script(self.file, clients, SEED + seed, {}, calls))
        self.bench.wait_for_agents()
        self._left -= run.calls
        return Sample.of(run, before, self.bench.meter(), run.calls, run.calls)


@dataclass(frozen=True)
class Sample:
    """One run: calls, jobs found, calls per second, and percentiles 50, 95, 99 and 100 of the latency in ms.

    For each job found (or each call): bytes of WAL, ms of the server's CPU (None if it cannot be read), shared
    buffers touched, and ms of the clients' CPU (None if it is not known)."""

    calls: int
    found: int
    rate: float
    percentiles: tuple[float, float, float, float]
    wal: float
    cpu: float | None
    buffers: float
    clients: float | None

    @classmethod
    def of(cls, run: pgbench.Run, before: Meter, after: Meter, found: int, counted: int) -> "Sample":
        """The results of a run, and its costs between two readings, for each job or call counted."""
        each = max(counted, 1)
        cpu = None if before.cpu is None or after.cpu is None else (after.cpu - before.cpu) * 1000 / each
        percentiles = (run.percentile(50), run.percentile(95), run.percentile(99), run.percentile(100))
        wal, buffers = (after.wal - before.wal) / each, (after.buffers - before.buffers) / each
        clients = None if run.cpu is None else run.cpu * 1000 / each
        return cls(run.calls, found, run.rate, percentiles, wal, cpu, buffers, clients)


def in_turn(kinds: Sequence[Measured], clients: int, seconds: float, rounds: int, say: Say) -> list[Row]:
    """Measure the kinds in turn, `rounds` times; returns one row of medians per kind. A run lasts about `seconds`, as
    estimated by an earlier trial run, and takes at most a tenth of the jobs."""
    calls = [_calls(kind, clients, seconds) for kind in kinds]
    samples: list[list[Sample]] = [[] for _ in kinds]
    for turn in range(1, rounds + 1):
        for kind, each, taken in zip(kinds, calls, samples, strict=True):
            say(f"{clients} clients, round {turn} of {rounds}: {kind.name}, {each * clients:,} calls")
            taken.append(kind.sample(clients, each, turn))
    return [_row(kind, clients, taken) for kind, taken in zip(kinds, samples, strict=True)]


def by_clients(kinds: Sequence[Measured], options: Options, say: Say, figure: str = "jobs_per_s") -> list[Row]:
    """The rows of `in_turn` for each number of clients; the ratio is that of a figure to the first kind's."""
    rows: list[Row] = []
    for clients in options.clients:
        first, *others = in_turn(kinds, clients, options.seconds, options.rounds, say)
        for row in others:
            row["ratio"] = ratio(row[figure], first[figure])
        rows += [first, *others]
    return rows


def ratio(mine: object, other: object) -> float | None:
    """The ratio of two figures; None if one is not known."""
    return mine / other if isinstance(mine, float) and isinstance(other, float) and other else None


def _calls(kind: Measured, clients: int, seconds: float) -> int:
    """The number of calls per client that last about the given time and take at most a tenth of the jobs."""
    tenth = max(1, kind.available // 10 // clients // kind.batch)
    trial = kind.sample(clients, min(kind.trial, tenth), seed=0)
    return max(1, min(int(trial.rate * seconds / clients), tenth))


def _row(kind: Measured, clients: int, samples: Sequence[Sample]) -> Row:
    median = statistics.median
    cpu = [sample.cpu for sample in samples if sample.cpu is not None]
    p50, p95, p99, slowest = (median(sample.percentiles[i] for sample in samples) for i in range(4))
    return {
        "what": kind.name, "clients": clients, "calls_per_s": median(sample.rate for sample in samples),
        "jobs_per_s": median(sample.rate * sample.found / sample.calls for sample in samples), "ratio": None,
        "p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "slowest_ms": slowest,
        "found_nothing": 1 - median(sample.found / sample.calls / kind.batch for sample in samples),
        "wal_bytes": median(sample.wal for sample in samples), "cpu_ms": median(cpu) if cpu else None,
        "buffers": median(sample.buffers for sample in samples), "calls": sum(sample.calls for sample in samples),
    }  # fmt: skip
