"""Throughput of match_job beside the floor, by number of clients."""

from benchmarks.bench import Bench, loading
from benchmarks.measure import Floor, Kind, by_clients
from benchmarks.options import Options, Say
from benchmarks.report import Table
from benchmarks.server import Server

DEFAULTS = Options(clients=(1, 4, 8, 16))


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """Floor and matching in turn, for each number of clients; the ratio is matches to the floor's hand-overs."""
    with loading(server, options, say) as bench:
        say(f"asking each of {bench.requests:,} requests once")
        bench.ask_once()
        rows = by_clients([Floor(bench), Kind("match_job", bench)], options, say)
        title = f"{described(bench)}; medians of {options.rounds} rounds; ratio: to the floor"
        return [Table(title, rows, {"workload": options.workload, "jobs": bench.jobs, "queues": bench.queues()})]


def described(bench: Bench) -> str:
    """The loaded workload in words."""
    loaded_at = f"loaded at {bench.jobs / bench.load_seconds:,.0f} jobs/s"
    first = f", first calls of descriptions {bench.first_calls_per_s:,.0f}/s" if bench.first_calls_per_s else ""
    return f"Workload {bench.workload.letter}: {bench.jobs:,} jobs in {bench.queues():,} queues, {loaded_at}{first}"
