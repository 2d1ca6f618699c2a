"""match_jobs(..., 10) beside single calls."""

from benchmarks.bench import loading
from benchmarks.measure import Kind, by_clients
from benchmarks.options import Options, Say
from benchmarks.report import Table
from benchmarks.scenarios.match import described
from benchmarks.server import Server

DEFAULTS = Options(jobs=1_000_000)
SIZE = 10


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """Single calls and batches in turn; the ratio is jobs/s in batches to jobs/s in single calls."""
    with loading(server, options, say) as bench:
        bench.ask_once(SIZE)  # more draws than single calls: descriptions that match few queues become known, too
        kinds = [Kind("match_job", bench), Kind(f"match_jobs(..., {SIZE})", bench, "batch.pgbench", batch=SIZE)]
        rows = by_clients(kinds, options, say)
        return [Table(f"{described(bench)}; medians of {options.rounds} rounds; ratio: to single calls", rows)]
