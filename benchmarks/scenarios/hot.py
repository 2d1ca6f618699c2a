"""All clients on one queue, with and without arrivals, beside the same jobs in many queues."""

from functools import partial

from benchmarks.bench import loaded
from benchmarks.measure import Kind, by_clients
from benchmarks.options import Options, Say
from benchmarks.report import Table
from benchmarks.scenarios.insert import arriving
from benchmarks.server import Server
from benchmarks.workloads import many_queues, one_queue

DEFAULTS = Options(jobs=300_000, clients=(8, 32), rate=10)


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """Queues of 100 jobs, and one queue without a cap, in turn, with the same generic pilots, in two databases."""
    say(f"loading {options.jobs:,} jobs, twice")
    with loaded(server, many_queues(), options.jobs) as many, loaded(server, one_queue(), options.jobs) as one:
        kinds = [Kind(f"{bench.queues():,} queues", bench) for bench in (many, one)]
        kinds.append(Kind(f"1 queue, {options.rate:g} jobs/s arrive", one, beside=partial(arriving, one, options.rate)))
        rows = by_clients(kinds, options, say)
        return [Table(f"{options.jobs:,} jobs; medians of {options.rounds} rounds; ratio: to many queues", rows)]
