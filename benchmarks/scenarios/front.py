"""A match and an insertion through a front with PL/Proxy beside the same calls at the shard."""

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.json import Jsonb

from benchmarks import cluster, cpu
from benchmarks.bench import SEED, SETUP, Bench, batched, loading
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.scenarios.match import described
from benchmarks.server import Server
from broker.cluster import shards

DEFAULTS = Options(jobs=100_000, rounds=5)
_CALLS = 2000  # matches of a round
_INSERTED = 20_000  # jobs of a round
_A_CALL = 1000

_MATCH = "select * from taskqueue.match_job(%s, %s)"
_NOTHING = "select * from bench.nothing(%s, %s)"
_ARGUMENTS = """(p_setup text, p_resource jsonb, p_request_id uuid default null)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)"""
_AT_SHARD = f"""
create function bench.nothing{_ARGUMENTS} language plpgsql rows 1 as $$
begin
  return query select 1::bigint, 1::bigint, p_resource, 5, '1-0123456789abcdef0123456789abcdef';
end $$;
"""
_AT_FRONT = f"""
create schema bench;
grant usage on schema bench to public;
create function bench.match_at_0{_ARGUMENTS} language plproxy as $$
cluster 'pgbroker'; run on 0; target taskqueue.match_job;
$$;
create function bench.nothing{_ARGUMENTS} language plproxy as $$
cluster 'pgbroker'; run on 0;
$$;
"""

_WARM = {
    "agent": b"select from taskqueue.payloads(%s, '[]')",
    "submitter": b"select from taskqueue.insert_jobs(%s, '[]')",
}


@dataclass(frozen=True)
class _Kind:
    """A kind of match: the client's connection, its query, and whether its driver may prepare the query."""

    server: str
    query: str = _MATCH
    prepare: bool | None = None


_KINDS = {
    "shard": _Kind("shard"),
    "front": _Kind("front"),
    "shard, not prepared": _Kind("shard", prepare=False),
    "front, without the look for the shard": _Kind("front", "select * from bench.match_at_0(%s, %s)"),
    "shard, a function that does nothing": _Kind("shard", _NOTHING),
    "front, a function that does nothing": _Kind("front", _NOTHING),
}
"""By the name in the table. The last four are the parts of what a front adds; its floor is the difference of the last
two, which is PL/Proxy alone."""


@dataclass(frozen=True)
class _Way:
    """A connection for calls, and the backends that work for it: process ids by the name of the server."""

    name: str
    connection: psycopg.Connection[Any]
    backends: dict[str, int]


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """Two tables, of a match and of insertion: CPU of the backends and latency, at the shard and through a front."""
    with loading(server, options, say) as bench, _front(bench, options.folder) as front:
        bench.ask_once()
        requests = [dict(one) for one in bench.workload.requests(SEED)][: options.requests or _CALLS]
        matches: dict[str, list[dict[str, float]]] = {name: [] for name in _KINDS}
        inserts: dict[str, list[dict[str, float]]] = {"shard": [], "front": []}
        for number in range(options.rounds):
            for name in list(_KINDS) if number % 2 else reversed(_KINDS):
                say(f"round {number + 1}: {name}")
                bench.put_back()
                kind = _KINDS[name]
                with _way(bench, front, kind.server, "agent") as way:
                    matches[name].append(_matched(way, kind, requests))
                if name not in inserts:
                    continue
                with _way(bench, front, name, "submitter") as way:
                    inserts[name].append(_inserted(way, bench))
        title = f"{described(bench)}; medians of {options.rounds} rounds in turn, one client"
        shape = {"workload": options.workload, "jobs": bench.jobs}
        return [
            Table(f"{title}: a match", _rows(matches), shape),
            Table(f"{title}: insertion, {_A_CALL:,} jobs a call", _rows(inserts), shape),
        ]


def _rows(found: dict[str, list[dict[str, float]]]) -> list[Row]:
    rows: list[Row] = []
    for name, rounds in found.items():
        medians = {key: statistics.median(one.get(key, 0.0) for one in rounds) for key in rounds[0]}
        rows.append({"at the": name, **{key: round(value, 1) for key, value in medians.items()}})
    cpu = "CPU us a call"
    for row in rows:
        row["ratio of CPU"] = round(float(row[cpu]) / float(rows[0][cpu]), 3)  # type: ignore[arg-type]
    return rows


@contextmanager
def _front(bench: Bench, folder: Path | None) -> Iterator[str]:
    """The DSN of a front of the database under measurement. Raises BrokerError without PL/Proxy."""
    bench.call(_AT_SHARD)
    with cluster.front_database(folder) as dsn:
        shards.init(dsn, [shards.Shard("a", _over_tcp(bench.where.admin.dsn))])
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(_AT_FRONT.encode())
            for kind in ("agent", "submitter"):
                given = conninfo_to_dict(bench.where.logins[kind].dsn)
                login, password = str(given["user"]), str(given["password"])
                create = sql.SQL("create role {} login password {} in role {}")
                role = sql.Identifier(f"broker_{kind}")
                connection.execute(create.format(sql.Identifier(login), sql.Literal(password), role))
                cluster.map_login(connection, login, password)
        yield dsn


def _over_tcp(dsn: str) -> str:
    """The DSN over the network, as another server uses it."""
    return make_conninfo("", **{**conninfo_to_dict(dsn), "host": "127.0.0.1"})


@contextmanager
def _way(bench: Bench, front: str, name: str, kind: str) -> Iterator[_Way]:
    login = bench.where.logins[kind].dsn
    given = conninfo_to_dict(login)
    place = front if name == "front" else _over_tcp(login)
    dsn = make_conninfo("", **{**conninfo_to_dict(place), "user": given["user"], "password": given["password"]})
    with psycopg.connect(dsn, autocommit=True) as connection:
        backends: dict[str, int] = {name: connection.info.backend_pid}
        connection.execute(_WARM[kind], [SETUP])  # PL/Proxy connects
        if name == "front":
            query = "select pid from pg_stat_activity where datname = current_database() and usename = %s"
            backends["shard"] = int(bench.one(query, [given["user"]]))
        yield _Way(name, connection, backends)


def _cpu(way: _Way) -> dict[str, float]:
    """CPU seconds of the backends, by the scheduler's clock."""
    return {name: cpu.of_process(pid) for name, pid in way.backends.items()}


def _measured(way: _Way, calls: list[tuple[str, list[object]]], *, prepare: bool | None = None) -> dict[str, float]:
    latencies = []
    before = _cpu(way)
    for query, values in calls:
        begin = time.perf_counter()
        way.connection.execute(query.encode(), values, prepare=prepare)
        latencies.append(time.perf_counter() - begin)
    after = _cpu(way)
    used = {name: 1e6 * (after[name] - before[name]) / len(calls) for name in after}
    return {
        "CPU us a call": sum(used.values()),
        "of the front": used.get("front", 0.0),
        "p50 us": 1e6 * statistics.median(latencies),
        "calls a second": len(calls) / sum(latencies),
    }


def _matched(way: _Way, kind: _Kind, requests: list[dict[str, Any]]) -> dict[str, float]:
    calls: list[tuple[str, list[object]]] = [(kind.query, [SETUP, Jsonb(resource)]) for resource in requests]
    _measured(way, calls[:50], prepare=kind.prepare)  # the driver prepares its statements, and caches fill
    return _measured(way, calls, prepare=kind.prepare)


def _inserted(way: _Way, bench: Bench) -> dict[str, float]:
    number_of_jobs = min(_INSERTED, bench.jobs)
    first = bench.reserve_ids(number_of_jobs)
    groups = [group["requirements"] for group in bench.workload.groups(1000, SEED)][:20]
    calls: list[tuple[str, list[object]]] = []
    for number, ids in enumerate(batched(range(first, first + number_of_jobs), _A_CALL)):
        jobs = [{"requirements": groups[number % len(groups)], "jobs": [[one, 5] for one in ids]}]
        calls.append(("select taskqueue.insert_jobs(%s, %s)", [SETUP, Jsonb(jobs)]))
    return _measured(way, calls)
