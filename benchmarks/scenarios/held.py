"""Matching at a steady rate while a transaction elsewhere holds the xmin horizon."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

from benchmarks import pgbench
from benchmarks.bench import SEED, SETUP, Bench, loaded
from benchmarks.options import Options, Say
from benchmarks.pgbench import Script, Slice
from benchmarks.report import Row, Table
from benchmarks.scenarios.production import arrivals, maintained
from benchmarks.server import Database, Server
from benchmarks.workloads import with_hot_queue
from broker import database

DEFAULTS = Options(workload="L", jobs=1_000_000, seconds=600, interval=60)
_WARM_UP = 2  # seconds within which connections make their plans


@contextmanager
def _snapshot(where: Database) -> Iterator[None]:
    """A session that keeps a snapshot, as a report or a dump does."""
    with database.connect(where.admin, autocommit=False) as connection:
        connection.execute("set transaction isolation level repeatable read")
        connection.execute("select count(*) from taskqueue.setting")
        yield


@contextmanager
def _xid(where: Database) -> Iterator[None]:
    """A session that has written and does not end, as an agent's open transaction or a forgotten psql."""
    with database.connect(where.admin, autocommit=False) as connection:
        connection.execute("select pg_current_xact_id()")
        yield


_ON_HOTTEST = """
select (max(q.jobs) / sum(q.jobs))::float8
  from (select count(*) as jobs from taskqueue.lease where setup = %s group by task_queue_id) q
"""
HOLDERS: Mapping[str, Callable[[Database], AbstractContextManager[object]]] = {
    "nothing": nullcontext,
    "a snapshot": _snapshot,
    "an xid": _xid,
}


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """Each holder has its own database, with half of the jobs in one queue. New jobs come at the rate at which jobs
    are matched, in bulk each second, and maintenance runs, as in production."""
    tables: list[Table] = []
    ends: list[Row] = []
    for name, holder in HOLDERS.items():
        say(f"loading workload {options.workload}: {options.jobs:,} jobs")
        with loaded(server, with_hot_queue(options.make_workload()), options.jobs) as bench:
            share = _share_found(bench, options)
            say(f"{options.rate:g} calls/s for {options.seconds:g} s, horizon held by {name}")
            with holder(bench.where), maintained(bench), arrivals(bench, options.rate * share):
                timeline = _timeline(bench, options)
            ends.append(_end(name, timeline, share, bench))
        tables.append(Table(f"Horizon held by {name}", [_line(part) for part in timeline]))
    title = f"{options.jobs:,} jobs, half in one queue; {options.rate:g} calls/s wanted; ratio: p99, end to beginning"
    return [*tables, Table(f"Workload {options.workload}: {title}", ends)]


def _share_found(bench: Bench, options: Options) -> float:
    """The share of calls that find a job, from a warm-up at the same rate."""
    run = pgbench.run(bench.where.logins["agent"], _script(bench, options, _WARM_UP))
    share = bench.matched() / run.calls
    bench.put_back()
    return share


def _timeline(bench: Bench, options: Options) -> list[Slice]:
    script = _script(bench, options, _WARM_UP + round(options.seconds))
    with pgbench.running(bench.where.logins["agent"], script) as at_work:
        at_work.ended()
        return pgbench.slices(at_work.folder, options.interval, options.intervals, skip=_WARM_UP)


def _script(bench: Bench, options: Options, seconds: int) -> Script:
    every_request = {"first": 1, "last": bench.requests}
    return Script("match.pgbench", options.clients[0], SEED, every_request, seconds=seconds, rate=options.rate)


def _line(part: Slice) -> Row:
    return {"until_s": part.until_s, "calls_per_s": part.calls_per_s, "p50_ms": part.p50_ms, "p99_ms": part.p99_ms}


def _end(name: str, timeline: list[Slice], share: float, bench: Bench) -> Row:
    first, last = timeline[0], timeline[-1]
    return {
        "held by": name, "calls_per_s": last.calls_per_s, "found_nothing": 1 - share,
        "on the hot queue": bench.one(_ON_HOTTEST, [SETUP]), "p99_ms": last.p99_ms,
        "ratio": last.p99_ms / first.p99_ms,
    }  # fmt: skip
