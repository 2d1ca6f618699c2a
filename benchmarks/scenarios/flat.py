"""The cost of a match as jobs and queues grow: server CPU and shared buffers touched."""

from contextlib import ExitStack

from benchmarks.bench import loaded
from benchmarks.measure import Kind, in_turn, ratio
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.server import Server
from benchmarks.workloads import uniform_in

DEFAULTS = Options(cases=((1_000_000, 1_000), (1_000_000, 10_000), (10_000_000, 10_000), (10_000_000, 100_000)))


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """Workload U in each size, in turn, each in its own database. Buffers include the request's look-up (3 or 4)."""
    with ExitStack() as databases:
        kinds = []
        for jobs, queues in options.cases:
            say(f"loading {jobs:,} jobs in {queues:,} queues")
            bench = databases.enter_context(loaded(server, uniform_in(max(1, jobs // queues)), jobs))
            bench.ask_once()
            kinds.append(Kind(f"{jobs:,} jobs, {queues:,} queues", bench))
        rows: list[Row] = []
        for clients in options.clients:
            found = in_turn(kinds, clients, options.seconds, options.rounds, say)
            rows += [_costs(row, before) for row, before in zip(found, [None, *found], strict=False)]
    return [Table(f"Medians of {options.rounds} interleaved rounds; ratios: to the size before", rows)]


def _costs(row: Row, before: Row | None) -> Row:
    kept = ("what", "clients", "jobs_per_s", "p99_ms", "slowest_ms", "found_nothing", "calls")
    costs = {key: row[key] for key in kept}
    for key in ("cpu_ms", "buffers"):
        costs[key] = row[key]
        costs[f"{key.removesuffix('_ms')} ratio"] = ratio(row[key], before and before[key])
    return costs
