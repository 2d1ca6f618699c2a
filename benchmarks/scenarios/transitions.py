"""Changes of a job's status: with the function that makes them, and with an agent's report, beside the floor."""

import time
from dataclasses import dataclass, field

from benchmarks import pgbench
from benchmarks.bench import SEED, Bench, loading
from benchmarks.measure import Sample, by_clients
from benchmarks.options import Options, Say
from benchmarks.pgbench import Script
from benchmarks.report import Row, Table
from benchmarks.server import Server

DEFAULTS = Options(jobs=1_000, clients=(1, 8), seconds=6, rounds=3)
JOBS = 100_000  # of transitions.sql: 10,000 per client


@dataclass
class Change:
    """A script whose calls change the status of one job each. Jobs and counts are made again before each run."""

    name: str
    bench: Bench
    file: str
    batch: int = 1
    available: int = 10 * JOBS  # in_turn takes a tenth at most, which is all jobs once
    trial: int = 200
    counts: list[int] = field(default_factory=list)
    unfolded: list[int] = field(default_factory=list)
    read_ms: list[float] = field(default_factory=list)

    def sample(self, clients: int, calls: int, seed: int) -> Sample:
        """One run of `calls` calls of each client."""
        self.bench.run_file("transitions.sql")
        before = self.bench.meter()
        script = Script(self.file, clients, SEED + seed, {"i": -1}, calls)
        run = pgbench.run(self.bench.where.admin, script)
        after = self.bench.meter()
        self.unfolded.append(int(self.bench.one("select count(*) from workload.job_change")))
        began = time.perf_counter()
        self.bench.one("select sum(running) from workload.job_count where setup = 'bench'")
        self.read_ms.append((time.perf_counter() - began) * 1000)
        self.counts.append(int(self.bench.one("select count(*) from workload.count_difference")))
        return Sample.of(run, before, after, run.calls, run.calls)


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """The floor, the change alone and a report of an agent in turn."""
    with loading(server, options, say) as bench:
        kinds = [
            Change("floor", bench, "change_floor.pgbench"),
            Change("change_status", bench, "change.pgbench"),
            Change("report_job", bench, "change_report.pgbench"),
        ]
        measured = by_clients(kinds, options, say, "calls_per_s")
        rows: list[Row] = [{k: v for k, v in row.items() if k != "jobs_per_s"} for row in measured]
        wrong = sum(sum(kind.counts) for kind in kinds)
        title = f"changes of status of {JOBS:,} jobs, medians of {options.rounds} rounds; ratio: to the floor"
        worst: Row = {
            "unfolded changes": max(left for kind in kinds for left in kind.unfolded),
            "read_all_ms": max(took for kind in kinds for took in kind.read_ms),
        }
        return [
            Table(f"{title}; counts that differ from a recount: {wrong}", rows),
            Table("no watchdog, calls fold on the way: the most after a run", [worst]),
        ]
