"""The database under measurement: loading a workload, putting jobs back, and reading what a run cost."""

import itertools
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from benchmarks import FOLDER, cpu
from benchmarks.workloads import REQUESTS, Workload
from broker.lhcb import Group

SETUP = "bench"
SEED = 20260328
_BATCH = 20_000  # jobs of one call, more or less
_TURNED_OVER = ("job", "job_count", "job_count_change", "lease", "task_queue", "posting", "share_mark")


@dataclass(frozen=True)
class Meter:
    """What the server had spent at a moment: bytes of WAL, CPU seconds (None where they cannot be read)."""

    wal: int
    cpu: float | None


class Bench:
    """A connection for everything around the runs. The login gets an identity in the setup, as an agent's has."""

    def __init__(self, connection: psycopg.Connection[Any], workload: Workload) -> None:
        self._connection = connection
        self._workload = workload
        self._postmaster = cpu.postmaster_of(connection)

    def load(self, jobs: int) -> float:
        """Configure the setup, load jobs and requests; returns the seconds that loading the jobs took.

        By taskqueue.load_task_queues, which keeps each group a queue; insert_jobs would put LHCb's siblings together.
        """
        execute = self._connection.execute
        execute("select resource.set_identity(%s, current_user)", [SETUP])
        execute("select taskqueue.set_cpu_buckets(%s, %s)", [SETUP, self._workload.cpu_buckets])
        for name, group in self._workload.owner_groups.items():
            execute("select taskqueue.set_group(%s, %s, %s, %s)", [SETUP, name, group.share, group.job_sharing])
        seconds = 0.0
        for batch in _batches(self._workload.groups(jobs, SEED)):
            begin = time.perf_counter()
            execute("select taskqueue.load_task_queues(%s, %s)", [SETUP, Jsonb(batch)])
            seconds += time.perf_counter() - begin
        self.run_file("request.sql")
        requests = itertools.islice(self._workload.requests(SEED), REQUESTS)
        with self._connection.cursor() as cursor, cursor.copy("copy bench.request from stdin") as copy:
            for number, resource in enumerate(requests, 1):
                copy.write_row((number, Jsonb(resource)))
        execute("vacuum (analyze) bench.request")
        self._settle()
        execute("checkpoint")
        return seconds

    def put_back(self) -> int:
        """Release every lease, so that the next run finds what this one found; returns how many."""
        row = self._connection.execute((FOLDER / "put_back.sql").read_bytes()).fetchone()
        self._settle()
        return int(row[0]) if row else 0

    def run_file(self, name: str) -> None:
        """Run a file of this package, statement by statement: `vacuum` must not be in a transaction."""
        text = (FOLDER / name).read_text()
        if "vacuum" in text:
            text, _, last = text.rpartition("vacuum")
            self._connection.execute(text.encode())
            text = "vacuum" + last
        self._connection.execute(text.encode())

    def matched(self) -> int:
        """Jobs leased now: what the run since the last put-back has taken."""
        return int(self.one("select count(*) from taskqueue.lease where setup = %s", [SETUP]))

    def shape(self) -> tuple[int, int]:
        """Queues and postings."""
        queues = self.one("select count(*) from taskqueue.task_queue where setup = %s", [SETUP])
        postings = self.one("select count(*) from taskqueue.posting where setup = %s", [SETUP])
        return int(queues), int(postings)

    def meter(self) -> Meter:
        """What the server has spent so far."""
        wal = int(self.one("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"))
        return Meter(wal, None if self._postmaster is None else cpu.seconds(self._postmaster))

    def one(self, query: str, parameters: list[object] | None = None) -> Any:
        """The first value of the first row."""
        row = self._connection.execute(query, parameters).fetchone()
        return row[0] if row else None

    def _settle(self) -> None:
        """Background work, done here and not during a run: counts folded, shares exact, dead rows gone."""
        self._connection.execute("select taskqueue.recompute_shares(%s)", [SETUP])
        self._connection.execute("select * from taskqueue.maintain(%s)", [SETUP])
        if self._workload.script:
            self.run_file(self._workload.script)
        tables = ", ".join(f"taskqueue.{name}" for name in _TURNED_OVER)
        self._connection.execute(f"vacuum (analyze) {tables}")


def _batches(groups: Iterable[Group]) -> Iterator[list[Group]]:
    batch: list[Group] = []
    for group in groups:
        batch.append(group)
        if sum(len(member["jobs"]) for member in batch) >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
