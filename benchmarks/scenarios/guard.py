"""The guard: matches beside it, rounds of its loop, and the ends of jobs that it and the retry rules read."""

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from psycopg.types.json import Jsonb

from benchmarks import cpu, pgbench
from benchmarks.background import every
from benchmarks.bench import SEED, SETUP, Bench, loading
from benchmarks.measure import Kind, Sample, by_clients, ratio
from benchmarks.options import Options, Say
from benchmarks.pgbench import Script
from benchmarks.report import Row, Table
from benchmarks.scenarios.match import described
from benchmarks.server import Server
from broker import database
from broker.errors import BrokerError
from broker.laboratory.pilots import Resource
from broker.operate import loops

DEFAULTS = Options(jobs=300_000, clients=(8,), rounds=5, cases=((10_000, 5_000), (100_000, 5_000)))
_HOSTS = 200  # worker nodes that the requests name
_ROUND_SECONDS = 1  # between two rounds of the guard during a run; `broker run` waits ten seconds
_ERRORS = [
    {"source": "pilot", "code": 1098, "text": "5 MB are left on the disk"},
    {"source": "payload", "code": 1, "text": "no such file"},
]
_USED = {"cpu": 2900, "wall": 3100, "ram": 1400, "cores": 1}
_RETRY = {"position": 1, "name": "again", "classes": ["infrastructure"], "decision": "retry"}


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """Matches, ends and rounds, in turn, in one database."""
    with loading(server, options, say) as bench:
        bench.call('select taskqueue.set_settings(%s, \'{"guard": "on"}\')', [SETUP])
        requests = bench.workload.requests(SEED)[: options.requests]
        bench.set_requests([_at_host(request, n) for n, request in enumerate(requests)])
        bench.ask_once()
        matching = [
            Kind("no guard", bench),
            Kind("a round of the guard each second", bench, beside=lambda: _guarding(bench)),
            Kind("the same, a quarantine at each site", bench, beside=lambda: _quarantining(bench)),
        ]
        rows = by_clients(matching, options, say, "calls_per_s")
        ends = _ended(bench, options, say)
        return [
            Table(f"{described(bench)}; medians of {options.rounds} rounds; ratio: to no guard", rows),
            Table("ends of jobs, one a call; ratio: to a good end without facts", ends),
            Table(
                "rounds of the guard; seconds of one backend",
                [_round(bench, options.rounds, *case) for case in options.cases],
            ),
        ]


@dataclass
class Ends:
    """Ends of leased jobs by finish_job, one a call: an outcome, with facts or without, under these retry rules.

    A run leases its jobs before it, and takes at most an equal part of all jobs, since ended jobs are gone.
    """

    bench: Bench
    name: str
    outcome: str
    errors: list[Any] | None
    used: Any
    rules: list[Any]
    runs: int
    batch: int = 1
    trial: int = 50
    available: int = field(init=False)

    def __post_init__(self) -> None:
        self.available = 5 * self.bench.jobs // self.runs  # in_turn takes a tenth of this at most

    def sample(self, clients: int, calls: int, seed: int) -> Sample:
        """One run of `calls` calls of each client."""
        self.bench.call("select taskqueue.set_retry_rules(%s, %s)", [SETUP, Jsonb(self.rules)])
        self._lease(clients * calls)
        before = self.bench.meter()
        script = Script("end.pgbench", clients, SEED + seed, {"i": 0, "calls": calls}, calls)
        run = pgbench.run(self.bench.where.logins["agent"], script)
        self.bench.wait_for_agents()
        after = self.bench.meter()
        self.bench.put_back()
        return Sample.of(run, before, after, run.calls, run.calls)

    def _lease(self, wanted: int) -> None:
        """Fill bench.ending with as many leased jobs, and with the end that each of them shall have."""
        facts = [Jsonb(self.errors) if self.errors else None, Jsonb(self.used) if self.used else None]
        self.bench.call("truncate bench.ending")
        leased, request = 0, 0
        while leased < wanted:
            request += 1
            if request > self.bench.requests:
                raise BrokerError(f"the requests get {leased} of {wanted} jobs", "take more jobs: --jobs")
            leased += self.bench.one(_LEASE, [leased, wanted - leased, request, self.outcome, *facts])
        self.bench.call("vacuum (analyze) bench.ending")


_LEASE = """
with leased as (
  insert into bench.ending (n, job_id, attempt, outcome, error, used)
  select %s + row_number() over (), m.job_id, m.attempt, r.outcome, r.error, r.used
    from (select resource, least(%s, 100) as most, n, %s as wanted, %s as outcome, %s::jsonb as error, %s::jsonb as used
            from bench.request) r
   cross join lateral taskqueue.match_jobs('bench', r.resource, r.most) m
   where r.n = r.wanted
  returning 1)
select count(*) from leased
"""
_FAILED = ("failed", _ERRORS, _USED)
_ENDS: tuple[tuple[str, str, list[Any] | None, Any, list[Any]], ...] = (
    ("finished", "finished", None, None, []),
    ("finished, with its use", "finished", None, _USED, []),
    ("failed", "failed", None, None, []),
    ("failed, two errors", *_FAILED, []),
    ("failed, two errors, a rule about others", *_FAILED, [{**_RETRY, "classes": ["time"]}]),
    ("failed, two errors, waits again by a rule", *_FAILED, [_RETRY]),
)


def _at_host(request: Resource, number: int) -> Resource:
    return {**request, "HostName": f"n{number % _HOSTS}"}


@contextmanager
def _guarding(bench: Bench) -> Iterator[None]:
    """The guard at work. It does not count the jobs that were put back before, and would be releases to it."""
    bench.call("delete from taskqueue.guard_mark where setup = %s", [SETUP])
    with database.connect(bench.where.admin) as connection:
        loops.guard(connection, SETUP)
        with every(_ROUND_SECONDS, lambda: loops.guard(connection, SETUP)):
            yield


@contextmanager
def _quarantining(bench: Bench) -> Iterator[None]:
    """The same with an operator's quarantine of a worker node that does not ask, at each site."""
    host = f"n{_HOSTS}"
    sites = bench.rows("select distinct resource ->> 'Site' from bench.request where resource ? 'Site'")
    for (site,) in sites:
        bench.call("select taskqueue.set_quarantine(%s, 'host', %s, %s, 'benchmark')", [SETUP, site, host])
    try:
        with _guarding(bench):
            yield
    finally:
        for (site,) in sites:
            bench.call("select taskqueue.lift_quarantine(%s, 'host', %s, %s)", [SETUP, site, host])


def _ended(bench: Bench, options: Options, say: Say) -> list[Row]:
    kinds = [Ends(bench, *end, runs=len(_ENDS) * (options.rounds + 1)) for end in _ENDS]
    rows = by_clients(kinds, options, say, "cpu_ms")
    columns = {"what": "what", "clients": "clients", "calls_per_s": "calls_per_s", "cpu_ms": "server CPU ms/end",
               "ratio": "ratio", "wal_bytes": "WAL bytes/end", "buffers": "buffers/end"}  # fmt: skip
    for row in rows:
        row["WAL ratio"] = ratio(row["wal_bytes"], rows[0]["wal_bytes"])
    return [{shown: row[key] for key, shown in columns.items()} | {"WAL ratio": row["WAL ratio"]} for row in rows]


_WRITE_ENDS = """
insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, site, role_name, host,
                               error_class)
select 'bench', now() - e.ago, 2000000000 + g, 1, e.event, 0, g %% 100, 'SITE.' || g %% 100, 'benchmark',
       case when e.event <> 'matched' then 'n' || g %% %(hosts)s end,
       case when e.event = 'failed' then 'infrastructure' end
  from generate_series(1, %(ends)s) g
 cross join lateral (values ('matched', interval '1 hour'),
                            (case when g %% 20 = 0 then 'failed' else 'finished' end, interval '0')) e (event, ago)
"""


def _round(bench: Bench, rounds: int, ends: int, hosts: int) -> Row:
    """The medians of rounds that each count as many ends, spread over the worker nodes; a twentieth of them failed."""
    wall, used, wal = [], [], []
    log = "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"
    with database.connect(bench.where.admin) as connection:
        bench.call("delete from taskqueue.guard_mark where setup = %s", [SETUP])
        loops.guard(connection, SETUP)
        for _ in range(rounds):
            with connection.transaction():
                connection.execute(_WRITE_ENDS.encode(), {"ends": ends, "hosts": hosts})
            before, begun, written = cpu.of_process(connection.info.backend_pid), time.perf_counter(), bench.one(log)
            loops.guard(connection, SETUP)
            wall.append(time.perf_counter() - begun)
            used.append(cpu.of_process(connection.info.backend_pid) - before)
            wal.append(float(bench.one(log) - written))
    median = statistics.median
    return {
        "ends": ends,
        "worker nodes": hosts,
        "seconds": median(wall),
        "CPU s": median(used),
        "WAL bytes": median(wal),
    }
