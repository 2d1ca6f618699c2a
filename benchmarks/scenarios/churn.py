"""Insert and match at equal rates for long: what grows."""

import time

from benchmarks import pgbench
from benchmarks.bench import SEED, Bench, loaded
from benchmarks.measure import Say
from benchmarks.pgbench import Script
from benchmarks.report import Row, Table
from benchmarks.scenarios.options import Options
from benchmarks.scenarios.production import maintained
from benchmarks.server import Server
from benchmarks.workloads import with_hot_queue

DEFAULTS = Options(workload="L", jobs=1_000_000, seconds=3600, interval=60)
_STEADY_SECONDS = 300  # what is there then, the rest is compared with
_SHOWN_BYTES = 100_000  # of the tables and indexes listed at the end


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """Each turn matches a job, finishes it, and inserts a new one with its requirements. Half of the jobs are in one
    queue."""
    say(f"loading workload {options.workload}: {options.jobs:,} jobs")
    with loaded(server, with_hot_queue(options.make_workload()), options.jobs) as bench:
        script = _script(bench, options)
        say(f"{options.rate:g} turns/s for {options.seconds:g} s")
        with maintained(bench), pgbench.running(bench.where.logins["both"], script) as at_work:
            sizes = [bench.sizes()]
            begin = time.monotonic()
            while not at_work.ended(max(0.0, begin + len(sizes) * options.interval - time.monotonic())):
                sizes.append(bench.sizes())
            timeline = pgbench.slices(at_work.folder, options.interval, options.intervals)
    steady = min(len(sizes) - 1, max(1, round(_STEADY_SECONDS / options.interval)))
    rows = [
        {"until_s": part.until_s, "calls_per_s": part.calls_per_s, "p99_ms": part.p99_ms, **_size(after, sizes[steady])}
        for part, after in zip(timeline, sizes[1:], strict=False)
    ]
    about = f"Workload {options.workload}: {options.jobs:,} jobs, half in one queue; {options.rate:g} turns/s wanted"
    return [
        Table(f"{about}; ratio: to the size after {steady * options.interval:g} s", rows),
        Table("Tables and indexes at the end", _grown(sizes[steady], sizes[-1])),
    ]


def _script(bench: Bench, options: Options) -> Script:
    every_request = {"first": 1, "last": bench.requests}
    length = round(options.seconds)
    return Script("turn.pgbench", options.clients[0], SEED, every_request, seconds=length, rate=options.rate)


def _size(after: dict[str, int], steady: dict[str, int]) -> Row:
    size = sum(after.values())
    return {"size_bytes": size, "ratio": size / sum(steady.values())}


def _grown(steady: dict[str, int], end: dict[str, int]) -> list[Row]:
    """What has a size worth a line, most grown first."""
    rows = [(size / max(steady.get(name, 0), 1), name, size) for name, size in end.items() if size >= _SHOWN_BYTES]
    return [{"what": name, "size_bytes": size, "ratio": ratio} for ratio, name, size in sorted(rows, reverse=True)]
