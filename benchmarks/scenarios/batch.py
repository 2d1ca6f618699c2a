"""match_jobs(..., 10) beside single calls."""

from benchmarks.bench import loaded
from benchmarks.measure import Kind, Say, in_turn, ratio
from benchmarks.options import Options
from benchmarks.report import Row, Table
from benchmarks.scenarios.match import described
from benchmarks.server import Server

DEFAULTS = Options(jobs=1_000_000)
SIZE = 10


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """Single calls and batches in turn; the ratio is jobs/s in batches to jobs/s in single calls."""
    say(f"loading workload {options.workload}: {options.jobs:,} jobs")
    with loaded(server, options.make_workload(), options.jobs) as bench:
        bench.ask_once(SIZE)  # more draws than single calls: what few queues match is found out, too
        kinds = [Kind("match_job", bench), Kind(f"match_jobs(..., {SIZE})", bench, "batch.pgbench", batch=SIZE)]
        rows: list[Row] = []
        for clients in options.clients:
            single, batches = in_turn(kinds, clients, options.seconds, options.rounds, say)
            batches["ratio"] = ratio(batches["jobs_per_s"], single["jobs_per_s"])
            rows += [single, batches]
        return [Table(f"{described(bench)}; medians of {options.rounds} rounds; ratio: to single calls", rows)]
