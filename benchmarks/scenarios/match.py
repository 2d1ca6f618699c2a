"""Throughput of match_job beside the floor, by number of clients."""

from benchmarks.bench import Bench, loaded
from benchmarks.measure import Floor, Kind, Say, in_turn, ratio
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.server import Server

DEFAULTS = Options(clients=(1, 4, 8, 16))


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """Floor and matching in turn, for each number of clients; the ratio is matches to the floor's."""
    say(f"loading workload {options.workload}: {options.jobs:,} jobs")
    with loaded(server, options.make_workload(), options.jobs) as bench:
        say(f"asking each of {bench.requests:,} requests once")
        bench.ask_once()
        kinds = [Floor(bench), Kind("match_job", bench)]
        rows = []
        for clients in options.clients:
            floor, match = in_turn(kinds, clients, options.seconds, options.rounds, say)
            match["ratio"] = ratio(match["jobs_per_s"], floor["jobs_per_s"])
            rows += [floor, match]
        title = f"{described(bench)}; medians of {options.rounds} rounds; ratio: to the floor"
        return [Table(title, rows, {"workload": options.workload, "jobs": bench.jobs, "queues": bench.queues()})]


def described(bench: Bench) -> str:
    """The workload that is loaded, in words."""
    loaded_at = f"loaded at {bench.jobs / bench.load_seconds:,.0f} jobs/s"
    first = f", first calls of descriptions {bench.first_calls_per_s:,.0f}/s" if bench.first_calls_per_s else ""
    return f"Workload {bench.workload.letter}: {bench.jobs:,} jobs in {bench.queues():,} queues, {loaded_at}{first}"
