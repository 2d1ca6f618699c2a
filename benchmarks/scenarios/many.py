"""match_many: requests of many agents in one transaction, by the number of requests a call."""

from benchmarks.bench import loaded
from benchmarks.measure import Floor, Kind, Say, in_turn, ratio
from benchmarks.options import Options
from benchmarks.report import Row, Table
from benchmarks.scenarios.match import described
from benchmarks.server import Server

DEFAULTS = Options(jobs=1_000_000, clients=(1, 2))
SIZES = (1, 10, 50, 200)


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """The floor, single calls, calls with 1 to 200 requests in turn; the ratio is jobs/s to the floor's."""
    say(f"loading workload {options.workload}: {options.jobs:,} jobs")
    with loaded(server, options.make_workload(), options.jobs) as bench:
        bench.ask_once()
        calls = [
            Kind(f"match_many of {size}", bench, "many.pgbench", last=bench.requests - size, batch=size, trial=20)
            for size in SIZES
        ]
        kinds = [Floor(bench), Kind("match_job", bench), *calls]
        rows: list[Row] = []
        for clients in options.clients:
            found = in_turn(kinds, clients, options.seconds, options.rounds, say)
            for row in found[1:]:
                row["ratio"] = ratio(row["jobs_per_s"], found[0]["jobs_per_s"])
            rows += found
        title = f"{described(bench)}; medians of {options.rounds} rounds; ratio: to the floor"
        return [Table(title, rows, {"workload": options.workload, "jobs": bench.jobs, "queues": bench.queues()})]
