"""Insertion and matching at equal rates for long, and how tables and indexes grow."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from benchmarks import pgbench
from benchmarks.bench import SEED, Bench, loaded
from benchmarks.measure import Say
from benchmarks.options import Options
from benchmarks.pgbench import Script, Slice
from benchmarks.report import Row, Table
from benchmarks.scenarios.production import maintained
from benchmarks.server import Server
from benchmarks.workloads import with_hot_queue

DEFAULTS = Options(workload="L", jobs=1_000_000, seconds=3600, interval=60)
_STEADY_SECONDS = 300  # seconds until the state that later ones are compared with
_SHOWN_BYTES = 100_000  # of the tables and indexes listed at the end


@dataclass(frozen=True)
class State:
    """The state at a moment: bytes by table and index, and jobs inserted so far."""

    sizes: Mapping[str, int]
    inserted: int

    @classmethod
    def of(cls, bench: Bench) -> "State":
        """Now."""
        return cls(bench.sizes(), bench.inserted())


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """Each turn matches a job, finishes it, and inserts a new one with its requirements. Half of the jobs are in one
    queue."""
    say(f"loading workload {options.workload}: {options.jobs:,} jobs")
    with loaded(server, with_hot_queue(options.make_workload()), options.jobs) as bench:
        say(f"{options.rate:g} turns/s for {options.seconds:g} s")
        with maintained(bench), pgbench.running(bench.where.logins["both"], _script(bench, options)) as at_work:
            states = _watch(bench, at_work, options)
            timeline = pgbench.slices(at_work.folder, options.interval, options.intervals)
    steady = states[min(options.intervals, max(1, round(_STEADY_SECONDS / options.interval)))]
    rows = [
        _line(part, before, after, steady, options.interval)
        for part, (before, after) in zip(timeline, pairwise(states), strict=True)
    ]
    about = f"Workload {options.workload}: {options.jobs:,} jobs, half in one queue; {options.rate:g} turns/s wanted"
    return [
        Table(f"{about}; ratio: to the size after {min(_STEADY_SECONDS, options.seconds):g} s", rows),
        Table("Tables and indexes at the end", _grown(steady.sizes, states[-1].sizes)),
    ]


def _watch(bench: Bench, at_work: pgbench.Running, options: Options) -> list[State]:
    """The state at the beginning and after each interval, until the run has ended."""
    states = [State.of(bench)]
    begin = time.monotonic()
    for number in range(1, options.intervals + 1):
        at_work.ended(max(0.0, begin + number * options.interval - time.monotonic()))
        states.append(State.of(bench))
    at_work.ended()
    return states


def _script(bench: Bench, options: Options) -> Script:
    every_request = {"first": 1, "last": bench.requests}
    length = round(options.seconds)
    return Script("turn.pgbench", options.clients[0], SEED, every_request, seconds=length, rate=options.rate)


def _line(part: Slice, before: State, after: State, steady: State, interval: float) -> Row:
    size = sum(after.sizes.values())
    return {
        "until_s": part.until_s,
        "calls_per_s": part.calls_per_s,
        "jobs_per_s": (after.inserted - before.inserted) / interval,
        "p99_ms": part.p99_ms,
        "size_bytes": size,
        "ratio": size / sum(steady.sizes.values()),
    }


def _grown(steady: Mapping[str, int], end: Mapping[str, int]) -> list[Row]:
    """The tables and indexes of a size worth a line, most grown first."""
    rows = [(size / max(steady.get(name, 0), 1), size, name) for name, size in end.items() if size >= _SHOWN_BYTES]
    return [{"what": name, "size_bytes": size, "ratio": ratio} for ratio, size, name in sorted(rows, reverse=True)]
