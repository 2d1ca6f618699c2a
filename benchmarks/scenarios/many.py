"""match_many: requests of many agents in one transaction, by the number of requests per call."""

from benchmarks.bench import loading
from benchmarks.measure import Floor, Kind, by_clients
from benchmarks.options import Options, Say
from benchmarks.report import Table
from benchmarks.scenarios.match import described
from benchmarks.server import Server

DEFAULTS = Options(jobs=1_000_000, clients=(1, 2))
SIZES = (1, 10, 50, 200)


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """The floor, single calls, and calls with 1 to 200 requests, in turn; the ratio is to the floor's jobs/s."""
    with loading(server, options, say) as bench:
        bench.ask_once()
        calls = [
            Kind(f"match_many of {size}", bench, "many.pgbench", last=bench.requests - size, batch=size, trial=20)
            for size in SIZES
        ]
        kinds = [Floor(bench), Kind("match_job", bench), *calls]
        rows = by_clients(kinds, options, say)
        title = f"{described(bench)}; medians of {options.rounds} rounds; ratio: to the floor"
        return [Table(title, rows, {"workload": options.workload, "jobs": bench.jobs, "queues": bench.queues()})]
