"""The service over HTTP: agents in an open loop that match, report and finish, compared with the database."""

import itertools
import json
import math
import statistics
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from benchmarks import cpu
from benchmarks.background import every
from benchmarks.bench import SEED, SETUP, Bench, loading
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.scenarios.match import described
from benchmarks.server import Server
from benchmarks.serving.service import agents_at_work, cpu_of, service, tokens_of
from broker import database

DEFAULTS = Options(jobs=1_000_000, clients=(1000,), seconds=60, rate=500, rounds=1)
_SLICE = 10.0  # seconds: stalls show in the p99 of slices, not in the median of these p99
_FIRST_NEW = 500_000_000  # ids of the jobs that replace matched ones

_LOST = """
select count(*) from unnest(%s::bigint[]) f(job_id)
 where not exists (select from taskqueue.ended e where e.setup = %s and e.job_id = f.job_id and e.outcome = 'finished')
"""

# The job was waiting before the first call and was never taken, so each of these answers was wrong. Jobs that were
# taken later are not found here.
_IS_FALSE = """
select exists (select from taskqueue.matching_queues(%s, %s::jsonb) q
                 join taskqueue.job j on j.setup = %s and j.task_queue_id = q.task_queue_id
                where not j.held and j.job_id < %s)
"""


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """For each number of agents: latency of a match from its due time, CPU by process, and lost jobs."""
    with loading(server, options, say) as bench:
        bench.ask_once()
        rows = [_measured(bench, agents, options, say) for agents in options.clients for _ in range(options.rounds)]
        title = (
            f"{described(bench)}; {options.rate:g} matches/s for {options.seconds:g} s; latency from when a match"
            " was due to its answer; CPU of the service a connection, and CPU a request that was answered"
        )
        return [Table(title, rows, {"workload": options.workload, "jobs": bench.jobs})]


def _measured(bench: Bench, agents: int, options: Options, say: Say) -> Row:
    say(f"{agents:,} agents")
    with database.connect(bench.where.admin) as connection:
        tokens = tokens_of(connection, agents)
        postmaster = cpu.postmaster_of(connection)
        with service(bench, connection) as (port, pids), refilled(bench, options.rate):
            begin = cpu_of(postmaster, pids)
            with agents_at_work(bench, port, tokens, agents, options) as process:
                assert process.stdout
                connected = cpu_of(postmaster, pids)
                answer = process.stdout.read()
                end = cpu_of(postmaster, pids)
        seen = json.loads(answer)
        lost = connection.execute(_LOST.encode(), [seen["finished"], SETUP]).fetchone()
        false = false_answers(connection, seen["nothing"], _FIRST_NEW)
    row = _row(agents, options, seen, _between(begin, connected), _between(connected, end))
    for at, slowest in slow_slices(seen["latencies"]):
        say(f"slow: {at:g} to {at + _SLICE:g} s, p99 {slowest:.1f} s")
    # a job whose lease expires is given out again under another attempt, so jobs and attempts are counted
    double = len(seen["matched"]) - len(set(map(tuple, seen["matched"])))
    return row | {"lost": lost[0] if lost else None, "double": double, "false nothing": false}


def false_answers(connection: psycopg.Connection, nothing: Mapping[str, int], first_new: int) -> int:
    """The number of wrong answers without a job. nothing: the number of all such answers, by description. Jobs from
    `first_new` on came while agents asked."""
    return sum(
        count
        for description, count in nothing.items()
        if connection.execute(_IS_FALSE, [SETUP, description, SETUP, first_new]).fetchone() == (True,)
    )


def slow_slices(latencies: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The slices of the measurement whose p99 is above a second: their begin, and the p99 in seconds."""
    return [(begin, p99) for begin, p99 in _p99_of_slices(latencies) if p99 > 1]


def _p99_of_slices(latencies: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    slices: dict[float, list[float]] = defaultdict(list)
    for due, latency in latencies:
        slices[due // _SLICE * _SLICE].append(latency)
    return [(begin, sorted(slices[begin])[math.ceil(0.99 * len(slices[begin])) - 1]) for begin in sorted(slices)]


def _between(before: list[float], after: list[float]) -> list[float]:
    return [b - a for a, b in zip(before, after, strict=True)]


def _row(agents: int, options: Options, seen: dict[str, Any], connecting: list[float], used: list[float]) -> Row:
    latencies = sorted(latency for _, latency in seen["latencies"])
    answers: dict[str, int] = seen["answers"]
    refused = {what: count for what, count in answers.items() if what.split()[1:2] not in (["200"], ["204"])}
    good = sum(answers.values()) - sum(refused.values())
    cuts = statistics.quantiles(latencies, n=1000)
    service, server = used
    return {
        "agents": agents, "matches/s": round(len(latencies) / options.seconds), "p50 ms": round(cuts[499] * 1000, 1),
        "p99 ms": round(cuts[989] * 1000, 1), "p99.9 ms": round(cuts[998] * 1000, 1),
        "p99 of 10 s ms": round(statistics.median(p99 for _, p99 in _p99_of_slices(seen["latencies"])) * 1000, 1),
        "jobs": len(seen["matched"]), "nothing": answers.get("match 204", 0),
        "refused": ", ".join(f"{what}: {count}" for what, count in sorted(refused.items())) or 0,
        "late": seen["late"], "connect us": round(connecting[0] / agents * 1e6),
        "service us": round(service / good * 1e6), "database us": round(server / good * 1e6),
        "agents us": round(seen["cpu"] / good * 1e6),
    }  # fmt: skip


@contextmanager
def refilled(bench: Bench, rate: float) -> Iterator[None]:
    """Jobs come at the rate at which they are matched, in a batch each second, from the workload's groups."""
    templates = [group["requirements"] for group in bench.workload.groups(max(1000, int(rate)), SEED)]
    numbers = itertools.count(_FIRST_NEW + int(time.time()) % 1_000_000 * 100_000)
    with database.connect(bench.where.logins["submitter"]) as connection:

        def insert() -> None:
            ids = itertools.islice(numbers, int(rate))
            jobs = [{"job_id": number, "requirements": templates[number % len(templates)]} for number in ids]
            connection.execute("select taskqueue.insert_jobs(%s, %s)", [SETUP, Jsonb(jobs)])

        with every(1, insert):
            yield
