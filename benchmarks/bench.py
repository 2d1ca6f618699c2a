"""A measured database: loading a workload, putting jobs back, and reading the costs of a run."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from benchmarks import SCRIPTS, cpu
from benchmarks.options import Options, Say
from benchmarks.server import LOGINS, Database, Server
from benchmarks.workloads import Workload
from broker import database
from broker.laboratory.lhcb import Group
from broker.laboratory.pilots import Resource

SETUP = "bench"
SEED = 20260328
TEMPLATES = 20_000  # jobs that are inserted again and again under new ids
_BATCH = 20_000  # about this many jobs in one call
_NEW_IDS = 1_000_000_000  # the lowest id of jobs that the scripts insert
_EXIT_SECONDS = 10  # within which a run's sessions end

_TABLES = """
select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where n.nspname = 'taskqueue' and c.relkind = 'r' and not c.relispartition
"""


T = TypeVar("T")


@dataclass(frozen=True)
class Meter:
    """The costs up to a moment: bytes of WAL and CPU seconds of the server (None if they cannot be read),
    shared buffers touched in this database."""

    wal: int
    cpu: float | None
    buffers: int


class Bench:
    """A loaded database. Its connection is for the work around the runs; the runs use the plain logins."""

    def __init__(self, connection: psycopg.Connection[Any], where: Database, workload: Workload, jobs: int) -> None:
        self._connection = connection
        self._postmaster = cpu.postmaster_of(connection)
        self.where = where
        self.workload = workload
        self.jobs = jobs
        self.requests = 0
        self.templates = 0
        self.load_seconds = 0.0
        self.first_calls_per_s = 0.0
        self._next_id = jobs + 1

    def load(self) -> None:
        """Configure the setup, load its jobs and requests.

        taskqueue.load_task_queues keeps each group a queue; insert_jobs would merge LHCb's siblings.
        """
        self.run_file("bench.sql")
        if self.workload.fixed_priorities:
            self.run_file("priorities.sql")
        configure(self._connection, SETUP, self.workload, [self.where.login_name(kind) for kind in LOGINS])
        for batch in batches(self._templates_of(self.workload.groups(self.jobs, SEED))):
            begin = time.perf_counter()
            load_batch(self._connection, SETUP, batch)
            self.load_seconds += time.perf_counter() - begin
        self.call("select setval('bench.job_id', %s)", [_NEW_IDS + self.jobs])
        self.set_requests(self.workload.requests(SEED))
        self._grant("bench", "agent", "both", "submitter")
        self.settle()
        self.call("vacuum (analyze) bench.template")
        self.call("checkpoint")

    def set_requests(self, requests: Sequence[Resource]) -> None:
        """Replace the requests from which the scripts draw; they get the numbers 1, 2, ... in this order."""
        self.call("truncate bench.request")
        self._copy("bench.request", ((n, Jsonb(resource)) for n, resource in enumerate(requests, 1)))
        self.call("vacuum (analyze) bench.request")
        self.requests = len(requests)

    def ask_once(self, size: int = 1) -> None:
        """Send each request once for `size` jobs, and put all jobs back, at the latest when a tenth is leased:
        agents send the same descriptions again and again, and a run of seconds would hardly see one twice. The cost
        of first calls is a figure of its own."""
        query = (
            "select count(m.job_id) from bench.request r"
            " cross join lateral taskqueue.match_jobs('bench', r.resource, %s) m where r.n between %s and %s"
        )
        seconds, out = 0.0, 0
        with database.connect(self.where.logins["agent"]) as agent:
            for first in range(1, self.requests + 1, 100):
                begin = time.perf_counter()
                found = agent.execute(query, [size, first, first + 99]).fetchone()
                seconds += time.perf_counter() - begin
                out += found[0] if found else 0
                if out > self.jobs / 10:
                    self.put_back()
                    out = 0
        self.first_calls_per_s = self.requests / seconds
        self.put_back()

    def load_floor(self) -> None:
        """Load the tables of the floor in their state at the beginning of a run."""
        self.run_file("floor.sql")
        self._grant("floor", "agent")

    def put_back(self) -> int:
        """Release every lease, so that the next run finds the same state; returns the number of leases."""
        released = int(self.one((SCRIPTS / "put_back.sql").read_text()))
        if not self.workload.fixed_priorities:
            self.call("select taskqueue.recompute_shares(%s)", [SETUP])
        self.settle()
        return released

    def settle(self) -> None:
        """Do the background work now instead of during a run: deal hands, remove dead rows."""
        self.call("select * from taskqueue.maintain()")
        self.run_file("hands.sql")
        self.call(f"vacuum (analyze) {', '.join(name for (name,) in self.rows(_TABLES))}")

    def run_file(self, name: str) -> None:
        """Run a file of this package, statement by statement: `vacuum` must not be in a transaction."""
        text = (SCRIPTS / name).read_text()
        if "vacuum" in text:
            text, _, last = text.rpartition("vacuum")
            self.call(text)
            text = "vacuum" + last
        self.call(text)

    def reserve_ids(self, count: int) -> int:
        """Reserve ids of new jobs for callers that do not use the scripts' sequence; returns the first."""
        self._next_id += count
        return self._next_id - count

    def matches(self, resource: Resource) -> bool:
        """Whether a resource would get a job now."""
        with self._connection.transaction(force_rollback=True):
            return bool(self.rows("select from taskqueue.match_job(%s, %s)", [SETUP, Jsonb(resource)]))

    def matched(self) -> int:
        """The number of jobs leased now, which the runs since the last put-back have taken."""
        return int(self.one("select count(*) from taskqueue.lease where setup = %s", [SETUP]))

    def queues(self) -> int:
        """The number of TaskQueues now."""
        return int(self.one("select count(*) from taskqueue.task_queue where setup = %s", [SETUP]))

    def priorities(self) -> dict[int, float]:
        """The priority of each TaskQueue, by its first job."""
        query = (
            "select min(j.job_id), q.priority from taskqueue.task_queue q"
            " join taskqueue.job j using (setup, task_queue_id)"
            " where setup = %s group by setup, task_queue_id, q.priority"
        )
        return {int(job_id): float(priority) for job_id, priority in self.rows(query, [SETUP])}

    def meter(self) -> Meter:
        """The costs so far."""
        wal = int(self.one("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"))
        self._hand_in()
        touched = "select blks_hit + blks_read from pg_stat_database where datname = current_database()"
        return Meter(wal, None if self._postmaster is None else cpu.seconds(self._postmaster), int(self.one(touched)))

    def wait_for_agents(self) -> None:
        """Wait until the sessions of a run have ended: at their end they report the buffers that they touched."""
        name = self.where.login_name("agent")
        until = time.monotonic() + _EXIT_SECONDS
        at_work = "select count(*) from pg_stat_activity where datname = current_database() and usename = %s"
        while int(self.one(at_work, [name])) and time.monotonic() < until:
            time.sleep(0.005)

    def call(self, query: str, parameters: Sequence[object] | None = None) -> None:
        """Execute a statement without a result."""
        self._connection.execute(query.encode(), parameters)

    def one(self, query: str, parameters: Sequence[object] | None = None) -> Any:
        """The first value of the first row."""
        row = self._connection.execute(query.encode(), parameters).fetchone()
        return row[0] if row else None

    def rows(
        self, query: str, parameters: Sequence[object] | Mapping[str, object] | None = None
    ) -> list[tuple[Any, ...]]:
        """All rows."""
        return self._connection.execute(query.encode(), parameters).fetchall()

    def _hand_in(self) -> None:
        """Flush the statistics of this connection, which would otherwise come seconds later."""
        self.call("select pg_stat_force_next_flush()")

    def _templates_of(self, groups: Iterable[Group]) -> Iterator[Group]:
        """Pass the groups on, and keep every n-th job of them as a template in bench.template."""
        step = max(1, self.jobs // TEMPLATES)
        kept: list[tuple[int, Jsonb, int]] = []
        number = 0
        for group in groups:
            requirements = Jsonb(group["requirements"])
            for _, level in group["jobs"]:
                if number % step == 0:
                    kept.append((len(kept) + 1, requirements, level))
                number += 1
            yield group
        self._copy("bench.template", kept)
        self.templates = len(kept)

    def _copy(self, table: str, rows: Iterable[Sequence[object]]) -> None:
        with self._connection.cursor() as cursor, cursor.copy(f"copy {table} from stdin".encode()) as copy:
            for row in rows:
                copy.write_row(row)

    def _grant(self, schema: str, *kinds: str) -> None:
        """Grant the logins the rights for the scripts' own statements."""
        place = sql.Identifier(schema)
        logins = sql.SQL(", ").join(sql.Identifier(self.where.login_name(kind)) for kind in kinds)
        for grant in (
            "grant usage on schema {} to {}",
            "grant all on all tables in schema {} to {}",
            "grant usage on all sequences in schema {} to {}",
        ):
            self._connection.execute(sql.SQL(grant).format(place, logins))


@contextmanager
def loaded(server: Server, workload: Workload, jobs: int) -> Iterator[Bench]:
    """A new database with the workload, dropped at the end."""
    with server.database() as where, database.connect(where.admin) as connection:
        bench = Bench(connection, where, workload, jobs)
        bench.load()
        yield bench


@contextmanager
def loading(server: Server, options: Options, say: Say) -> Iterator[Bench]:
    """The same with the workload and the jobs of the options, and a message about it."""
    say(f"loading workload {options.workload}: {options.jobs:,} jobs")
    with loaded(server, options.make_workload(), options.jobs) as bench:
        yield bench


def configure(connection: psycopg.Connection[Any], setup: str, workload: Workload, logins: Iterable[str]) -> None:
    """Configure a setup for a workload, in which these logins may call."""
    for login in logins:
        connection.execute("select resource.set_identity(%s, %s)", [setup, login])
    connection.execute("select taskqueue.set_cpu_buckets(%s, %s)", [setup, workload.cpu_buckets])
    if workload.settings:
        connection.execute("select taskqueue.set_settings(%s, %s)", [setup, Jsonb(dict(workload.settings))])
    if workload.attributes:
        connection.execute("select taskqueue.set_attributes(%s, %s)", [setup, Jsonb(workload.attributes)])
    for name, group in workload.owner_groups.items():
        connection.execute("select taskqueue.set_group(%s, %s, %s, %s)", [setup, name, group.share, group.job_sharing])


def load_batch(connection: psycopg.Connection[Any], setup: str, batch: list[Group]) -> None:
    """Insert groups of jobs, each as a TaskQueue."""
    if len(batch) == 1 and len(batch[0]["jobs"]) > _BATCH:  # too large for one call; queues have no cap there
        for part in batched(batch[0]["jobs"], _BATCH):
            connection.execute("select taskqueue.insert_jobs(%s, %s)", [setup, Jsonb([{**batch[0], "jobs": part}])])
    else:
        connection.execute("select taskqueue.load_task_queues(%s, %s)", [setup, Jsonb(batch)])


def batched(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Consecutive pieces of that size; the last may be smaller."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def batches(groups: Iterable[Group]) -> Iterator[list[Group]]:
    """Batches of groups with at most the given number of jobs; a larger group is a batch of its own."""
    batch: list[Group] = []
    held = 0
    for group in groups:
        if batch and held + len(group["jobs"]) > _BATCH:
            yield batch
            batch, held = [], 0
        batch.append(group)
        held += len(group["jobs"])
    if batch:
        yield batch
