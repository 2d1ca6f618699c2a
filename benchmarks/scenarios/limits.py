"""A match at sites with limits, beside the same match at sites without limits."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import psycopg

from benchmarks import cpu
from benchmarks.bench import SEED, SETUP, Bench, batches, configure, load_batch, loaded
from benchmarks.beside import median_interval
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.scenarios.match import described
from benchmarks.server import LOGINS, Server
from broker import database

DEFAULTS = Options(jobs=20_000, rounds=60)
_CALLS = 25  # of a round, in each setup
_LIMITS: Mapping[str, tuple[str, str] | None] = {  # setup -> attribute and value of one limit at each site
    SETUP: None,
    "no limit again": None,
    "a limit that no job counts at": ("JobTypes", "none"),
    "a limit that a fifth of the jobs count at": ("OwnerGroup", "group_0"),
}
_MATCH = (
    "select count(*) from bench.request r"
    " cross join lateral taskqueue.match_job(%s, r.resource, gen_random_uuid()) m where r.n = %s"
)


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """One agent sends the same requests to setups with the same jobs and different limits, some calls to each in turn.

    Priorities are those of shares, which are the same in all setups.
    """
    workload = replace(options.make_workload(), fixed_priorities=False)
    say(f"loading workload {options.workload} {len(_LIMITS)} times: {options.jobs:,} jobs each")
    with loaded(server, workload, options.jobs) as bench, database.connect(bench.where.admin) as connection:
        requests = [request for request in workload.requests(SEED) if "Site" in request][: _CALLS * options.rounds]
        bench.set_requests(requests)
        for setup, limit in _LIMITS.items():
            _load(bench, connection, setup, limit)
        bench.settle()
        with database.connect(bench.where.logins["agent"]) as agent:
            say("asking each request once")
            for first in range(1, len(requests), _CALLS):
                _round(agent, first)
            say(f"{options.rounds} rounds of {_CALLS} requests")
            rounds = [_round(agent, 1 + _CALLS * number) for number in range(options.rounds)]
        title = f"{described(bench)}; CPU of the agent's backend; ratios to no limit with their 90 % interval"
        return [Table(title, [_row(setup, rounds) for setup in _LIMITS])]


def _load(bench: Bench, connection: psycopg.Connection[Any], setup: str, limit: tuple[str, str] | None) -> None:
    if setup != SETUP:
        configure(connection, setup, bench.workload, [bench.where.login_name(kind) for kind in LOGINS])
        for batch in batches(bench.workload.groups(bench.jobs, SEED)):
            load_batch(connection, setup, batch)
    bench.call("select taskqueue.recompute_shares(%s)", [setup])
    if limit:
        set_limit = "taskqueue.set_limit(%s, 'running', s.site, null, %s, %s, %s)"
        sites = "(select distinct resource ->> 'Site' as site from bench.request) s"
        bench.call(f"select count({set_limit}) from {sites}", [setup, *limit, bench.requests])


def _round(agent: psycopg.Connection[Any], first: int) -> dict[str, float]:
    """Setup -> us of CPU of a request. Every second round takes the setups in the opposite order."""
    used: dict[str, float] = {}
    for setup in list(_LIMITS)[:: -1 if first // _CALLS % 2 else 1]:
        begun = cpu.of_process(agent.info.backend_pid)
        for number in range(first, first + _CALLS):
            agent.execute(_MATCH, [setup, number], prepare=True)
        used[setup] = (cpu.of_process(agent.info.backend_pid) - begun) * 1e6 / _CALLS
    return used


def _row(setup: str, rounds: Sequence[Mapping[str, float]]) -> Row:
    ratios = [used[setup] / used[SETUP] for used in rounds]
    low, high = median_interval(ratios)
    return {
        "what": "no limit" if setup == SETUP else setup, "cpu_us": statistics.median(used[setup] for used in rounds),
        "ratio": statistics.median(ratios), "low_ratio": low, "high_ratio": high,
    }  # fmt: skip
