"""Bytes of table and index for a waiting job."""

from benchmarks.bench import loaded
from benchmarks.measure import Say
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.scenarios.match import described
from benchmarks.server import Server

DEFAULTS = Options(jobs=1_000_000)
_SHOWN = 0.5  # bytes a job, at least


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """The bytes that the schemas `taskqueue` and `resource` hold after loading, the partitioned history left out."""
    say(f"loading workload {options.workload}: {options.jobs:,} jobs")
    with loaded(server, options.make_workload(), options.jobs) as bench:
        sizes = bench.sizes()
        largest = sorted(((size, name) for name, size in sizes.items()), reverse=True)
        lines = [("everything", sum(sizes.values()))]
        lines += [(name, size) for size, name in largest if size >= _SHOWN * options.jobs]
        rows = [{"what": name, "size_bytes": size, "bytes_per_job": size / options.jobs} for name, size in lines]
        return [Table(described(bench), [dict(row) for row in rows])]
