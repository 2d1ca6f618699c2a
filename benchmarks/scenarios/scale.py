"""A cluster by simulation, with costs measured here, checked against a front and shards on this machine."""

import itertools
import math
import resource
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from benchmarks import cluster, cpu, pgbench
from benchmarks.bench import SEED
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.server import Server
from benchmarks.simulated import Call, Layout, Load, Outcome, simulate, spread
from broker import database
from broker.database import Target
from broker.laboratory.pilots import Resource

DEFAULTS = Options(jobs=100_000, requests=500, clients=(8,), seconds=4, rounds=3)
_SHARDS = {"setup_1": "a", "setup_2": "b", "setup_3": "c"}
_CALLS = 400  # calls of each kind, to measure the cost of a call
_BATCH = 1000  # jobs of an insertion
_BATCHES = 10
_PARTS = (0.3, 0.6, 0.9)  # parts of the rate that clients without a pause reach
_SIZES = (1, 3, 10, 100)
_SETUPS_A_SHARD = 10
_SKEW = 0.5  # the n-th setup has a share of n to the power of minus this
_FULL = 0.7  # the part of the hottest shard's cores that is used
_TURNS = 40_000  # turns of a simulated case

Costs = Mapping[str, Call]


@dataclass(frozen=True)
class _Measured:
    """A run of pgbench: all turns, and the turns of its second half, after the first calls of each connection.

    spent: CPU seconds by server or program. others: the cores that other programs used during the run.
    """

    run: pgbench.Run
    half: pgbench.Slice
    spent: Mapping[str, float]
    others: float

    def each(self, who: str) -> float:
        """CPU seconds of a turn."""
        return self.spent[who] / self.run.calls


def run(_: Server, options: Options, say: Say) -> list[Table]:
    """Three tables: costs of calls, measured beside simulated figures, and simulated clusters of several sizes."""
    workload = options.make_workload()
    requests = workload.requests(SEED)
    with cluster.started(options.folder, list(_SHARDS.values())) as place:
        for setup, shard in _SHARDS.items():
            say(f"loading workload {options.workload} into {setup}: {options.jobs:,} jobs")
            place.make_setup(setup, shard, workload, options.jobs)
        _bring_requests(place, requests)
        say("what a call costs")
        _pgbench(place, len(requests), len(_SHARDS), options.seconds, clients=1)  # descriptions become known
        alone = _pgbench(place, len(requests), 1, options.seconds, clients=1)
        backends, memory = _costs(place, requests, options.jobs)
        layout = _this_machine(alone, _scaled(backends, alone))
        compared, fitted = _compared(place, options, (layout, backends), len(requests), say)
    calls = _scaled(backends, fitted)
    say("simulating clusters")
    title = f"Workload {options.workload}, {options.jobs:,} jobs a setup"
    apart = replace(layout, together=False, others=0.0)
    return [
        Table(
            f"{title}: CPU us of a call, of the backends and of the servers in all; an agent's backends hold"
            f" {memory[0]:.1f} MB at the front and {memory[1]:.1f} MB at the shard",
            _cost_rows(backends, calls),
        ),
        Table(
            f"{title}: front, shards and agents on the cores of this machine, measured and simulated",
            compared,
            {"flush_s": layout.flush, "variation": layout.variation},
        ),
        Table(
            f"Simulated: {apart.cores} cores a machine, {_SETUPS_A_SHARD} setups a shard, the hottest shard used by"
            f" {_FULL:.0%}",
            [_projected(apart, calls, *case) for case in itertools.product(_SIZES, _SPREADS)],
        ),
    ]


def _bring_requests(place: cluster.Cluster, requests: Sequence[Resource]) -> None:
    """Make a table at the front, from which pgbench takes descriptions."""
    with database.connect(place.front) as front:
        front.execute("create schema bench")
        front.execute("create table bench.request (n int primary key, resource jsonb not null)")
        rows = [(n, Jsonb(dict(one))) for n, one in enumerate(requests, 1)]
        front.cursor().executemany("insert into bench.request values (%s, %s)", rows)
        front.execute("grant usage on schema bench to public")
        front.execute("grant select on bench.request to public")


def _pgbench(place: cluster.Cluster, requests: int, shards: int, seconds: float, *, clients: int,
             rate: float | None = None) -> _Measured:  # fmt: skip
    """Run turns through the front on the first shards, for twice the seconds."""
    variables = {"requests": requests, "shards": shards}
    script = pgbench.Script("front.pgbench", clients, SEED, variables, seconds=max(1, round(2 * seconds)), rate=rate)
    before, begin = _clocks(place), time.monotonic()
    with pgbench.running(place.agent, script) as at_work:
        at_work.ended()
        took, after = time.monotonic() - begin, _clocks(place)
        found = pgbench.read(at_work.folder, clients)
        (half,) = pgbench.slices(at_work.folder, seconds, 1, skip=seconds)
    spent = {who: after[who] - before[who] for who in after}
    machine = spent.pop("machine")
    return _Measured(found, half, spent, max(0.0, (machine - sum(spent.values())) / took))


def _clocks(place: cluster.Cluster) -> dict[str, float]:
    """CPU seconds so far, of the whole machine, the servers, the ended agents and this program."""
    children, own = (resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF))
    return {
        **place.cpu(),
        "agents": children.ru_utime + children.ru_stime,
        "program": own.ru_utime + own.ru_stime,
        "machine": cpu.busy_seconds(),
    }


def _costs(place: cluster.Cluster, requests: Sequence[Resource], jobs: int) -> tuple[Costs, list[float]]:
    """CPU of the backends for each kind of call, by one client; the MB of memory of an agent's backends afterwards."""
    setup = next(iter(_SHARDS))
    shard = place.shards[_SHARDS[setup]].target
    found: dict[str, Call] = {}
    leases: list[tuple[int, str]] = []
    with _backends(place.agent, shard, setup) as (connection, backends):
        with _noted(found, "match", backends, _CALLS):
            for one, _ in zip(itertools.cycle(requests), range(_CALLS), strict=False):
                query = "select job_id, attempt from taskqueue.match_job(%s, %s, gen_random_uuid())"
                leases += connection.execute(query, [setup, Jsonb(dict(one))]).fetchall()
        with _noted(found, "report", backends, len(leases)):
            for job, attempt in leases:
                connection.execute("select * from taskqueue.report_job(%s, %s, %s, 'running')", [setup, job, attempt])
        with _noted(found, "finish", backends, len(leases)):
            for job, attempt in leases:
                connection.execute("select taskqueue.finish_job(%s, %s, %s)", [setup, job, attempt])
        memory = [_private_mb(pid) for pid in backends]
    with _backends(place.front, shard, setup) as (connection, backends):
        asked = {"OwnerGroup": "group_0", "OwnerDN": "/DC=org/CN=user 00", "CPUTime": 500}
        with _noted(found, "insertion", backends, _BATCHES * _BATCH):
            for first in range(jobs + 1, jobs + 1 + _BATCHES * _BATCH, _BATCH):
                groups = [{"requirements": asked, "jobs": [[job, 5] for job in range(first, first + _BATCH)]}]
                connection.execute("select taskqueue.insert_jobs(%s, %s)", [setup, Jsonb(groups)])
    return {**found, "insertion": replace(found["insertion"], commits=False)}, memory


@contextmanager
def _backends(target: Target, shard: Target, setup: str) -> Iterator[tuple[psycopg.Connection[Any], list[int]]]:
    """A connection to the front, and the processes that work for it at the front and at the shard."""
    with database.connect(target) as connection, database.connect(shard) as there:
        for _ in range(10):  # PL/Proxy connects, and psycopg prepares its statements
            connection.execute("select from taskqueue.payloads(%s, '[]')", [setup])
        query = (
            "select pid from pg_stat_activity where usename = %s and pid <> pg_backend_pid()"
            " and datname = current_database()"
        )
        ((pid,),) = there.execute(query, [connection.info.user]).fetchall()
        yield connection, [connection.info.backend_pid, int(pid)]


@contextmanager
def _noted(found: dict[str, Call], name: str, backends: list[int], number: int) -> Iterator[None]:
    before = [cpu.of_process(pid) for pid in backends]
    yield
    front, shard = ((cpu.of_process(pid) - was) / number for pid, was in zip(backends, before, strict=True))
    found[name] = Call(0.0, front, shard)


def _private_mb(pid: int) -> float:
    """The private memory of a process, in MB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


def _scaled(costs: Costs, run: _Measured) -> Costs:
    """The calls of a turn, with their costs in a run to the complete servers and the agents."""
    turn = [call for name, call in costs.items() if name != "insertion"]
    front = run.each("front") / sum(call.front for call in turn)
    shard = run.each("shards") / sum(call.shard for call in turn)
    agent = run.each("agents") / len(turn)
    return {
        name: replace(call, agent=agent if call in turn else 0.0, front=call.front * front, shard=call.shard * shard)
        for name, call in costs.items()
    }


def _this_machine(alone: _Measured, calls: Costs) -> Layout:
    """The machine: a flush takes the part of one client's turn that is not CPU; the variation is that of its turns."""
    latencies = [one / 1000 for one in alone.run.latencies[: math.ceil(len(alone.run.latencies) * 0.999)]]
    turn = [call for call in calls.values() if call.commits]
    rest = statistics.mean(latencies) - sum(call.agent + call.front + call.shard for call in turn)
    variation = statistics.stdev(latencies) / statistics.mean(latencies) * math.sqrt(len(turn))
    return Layout([1.0], cores=cpu.cores(), together=True, flush=max(0.0, rest / len(turn)), variation=variation)


def _compared(place: cluster.Cluster, options: Options, model: tuple[Layout, Costs], requests: int,
              say: Say) -> tuple[list[Row], _Measured]:  # fmt: skip
    """Rows of medians, and the run of the median round, to which costs are fitted.

    A round's first run, clients without a pause on one shard, gives the costs for the simulation of its other runs.
    Other programs get the cores that they took while clients made no pause: with fewer calls they take unused cores.
    """
    layout, backends = model
    pairs: dict[tuple[int, float | None], list[tuple[_Measured, Outcome]]] = {}
    costs: dict[tuple[int, float | None], list[float]] = {}
    first: list[_Measured] = []
    for number, shards in itertools.product(range(options.rounds), (1, len(_SHARDS))):
        say(f"round {number + 1} of {options.rounds}, {shards} shards")
        limit, others = 0.0, 0.0
        for part in (None, *_PARTS):
            rate = None if part is None else part * limit
            run = _pgbench(place, requests, shards, options.seconds, clients=options.clients[0], rate=rate)
            if rate is None:
                limit, others = run.half.calls_per_s, min(run.others, layout.cores - 0.5)
            if len(first) == number:
                first.append(run)
            calls = [call for call in _scaled(backends, first[number]).values() if call.commits]
            wanted = Load(calls, rate or 0.0, 0 if rate else options.clients[0], options.seconds)
            drawn = simulate(replace(layout, weights=[1.0] * shards, others=others), wanted, number)
            pairs.setdefault((shards, part), []).append((run, drawn))
            costs.setdefault((shards, part), []).append(_cpu(run) / _cpu(first[number]))
    rows: list[Row] = []
    for (shards, part), taken in pairs.items():
        load = f"{options.clients[0]} clients without a pause" if part is None else f"{part:.0%} of that"
        rows.append({"shards": shards, "load": load,
                     "cores of others": round(statistics.median(run.others for run, _ in taken), 2),
                     "CPU a turn to first": round(statistics.median(costs[shards, part]), 2),
                     **_beside(taken)})  # fmt: skip
    return rows, sorted(first, key=_cpu)[len(first) // 2]


def _cpu(run: _Measured) -> float:
    """CPU seconds of a turn, of servers and agents."""
    return sum(map(run.each, ("front", "shards", "agents")))


def _beside(taken: Sequence[tuple[_Measured, Outcome]]) -> Row:
    """Measured and simulated figures, and the error of the simulation: medians over the rounds."""
    row: Row = {}
    for name, measured, simulated in (
        ("turns/s", [run.half.calls_per_s for run, _ in taken], [drawn.rate for _, drawn in taken]),
        ("p50 ms", [run.half.p50_ms for run, _ in taken], [drawn.p50_ms for _, drawn in taken]),
        ("p99 ms", [run.half.p99_ms for run, _ in taken], [drawn.p99_ms for _, drawn in taken]),
    ):
        off = statistics.median(model / real - 1 for real, model in zip(measured, simulated, strict=True))
        row |= {name: round(statistics.median(measured), 1)}
        row |= {f"simulated {name}": round(statistics.median(simulated), 1), f"{name} off": f"{off:+.0%}"}
    return row


def _cost_rows(backends: Costs, calls: Costs) -> list[Row]:
    rows: list[dict[str, float]] = [
        {"front": backends[name].front, "shard": backends[name].shard, "agent": call.agent,
         "front in all": call.front, "shard in all": call.shard} for name, call in calls.items()
    ]  # fmt: skip
    rows.append({who: sum(row[who] for row in rows) for who in rows[0]})
    names = [name if call.commits else f"{name}, a job of {_BATCH:,}" for name, call in calls.items()]
    return [
        {"call": name, **{who: 1e6 * seconds for who, seconds in row.items()}}
        for name, row in zip([*names, "a job"], rows, strict=True)
    ]


_SPREADS: tuple[tuple[str, float, bool], ...] = (
    ("all setups alike", 0.0, True),
    ("skewed, placed by load", _SKEW, True),
    ("skewed, placed by number", _SKEW, False),
)


def _projected(layout: Layout, calls: Costs, shards: int, spreading: tuple[str, float, bool]) -> Row:
    """A cluster at the rate that its hottest shard allows, with as many fronts as keep up with it."""
    name, skew, known = spreading
    weights = spread(_SETUPS_A_SHARD * shards, skew, shards, known=known)
    front, shard = (sum(getattr(call, who) for call in calls.values()) for who in ("front", "shard"))
    rate = _FULL * layout.cores / shard / max(weights)
    fronts = max(1, math.ceil(rate * front / (_FULL * layout.cores)))
    load = Load(list(calls.values()), rate, seconds=_TURNS / rate)
    found = simulate(replace(layout, weights=weights, fronts=fronts), load)
    return {
        "shards": shards, "fronts": fronts, "setups": name, "jobs/s": rate,
        "a core": rate / layout.cores / (shards + fronts), "a day, million": rate * 0.0864,
        "front used": f"{max(found.fronts):.0%}", "hottest shard": f"{max(found.shards):.0%}",
        "mean shard": f"{statistics.mean(found.shards):.0%}", "used up first": found.first,
        "p50_ms": found.p50_ms, "p99_ms": found.p99_ms,
    }  # fmt: skip
