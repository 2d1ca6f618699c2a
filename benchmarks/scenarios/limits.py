"""A match at sites with limits, beside the same match without limits."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg

from benchmarks import cpu
from benchmarks.bench import SEED, SETUP, Bench, loading
from benchmarks.beside import median_interval
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.scenarios.match import described
from benchmarks.server import Server
from broker import database

DEFAULTS = Options(jobs=100_000, rounds=15, requests=1000)
_LIMITS: Mapping[str, tuple[str, str] | None] = {  # attribute and value of one limit at each site
    "no limit": None,
    "a limit that no job counts at": ("JobTypes", "none"),
    "a limit that a fifth of the jobs count at": ("OwnerGroup", "group_0"),
}
_MATCH = (
    "select count(*) from bench.request r"
    " cross join lateral taskqueue.match_job('bench', r.resource, gen_random_uuid()) m where r.n = %s"
)


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """The same requests in turn without limits and with one limit at each site, by one agent."""
    with loading(server, options, say) as bench:
        requests = [request for request in bench.workload.requests(SEED) if "Site" in request][: options.requests]
        bench.set_requests(requests)
        sites = sorted({str(request["Site"]) for request in requests})
        figures: dict[str, list[float]] = {name: [] for name in _LIMITS}
        with database.connect(bench.where.logins["agent"]) as agent:
            for turn in range(options.rounds):
                for name in list(_LIMITS)[:: -1 if turn % 2 else 1]:
                    say(f"round {turn + 1} of {options.rounds}: {name}")
                    figures[name].append(_round(bench, agent, sites, _LIMITS[name]))
        title = f"{described(bench)}; CPU of the agent's backend; ratios to no limit with their 90 % interval"
        return [Table(title, [_row(name, figures) for name in _LIMITS])]


def _round(bench: Bench, agent: psycopg.Connection[Any], sites: Sequence[str], limit: tuple[str, str] | None) -> float:
    """The us of CPU of a request, over all requests. A changed limit makes descriptions unknown, so each request is
    sent before; the first half of the requests is sent again, because plans are made again after a vacuum."""
    if limit:
        _at_each(bench, "set_limit", sites, [*limit, bench.requests])
    bench.ask_once()
    for number in range(1, bench.requests // 2):
        agent.execute(_MATCH, [number], prepare=True)
    begun = cpu.of_process(agent.info.backend_pid)
    for number in range(1, bench.requests + 1):
        agent.execute(_MATCH, [number], prepare=True)
    used = cpu.of_process(agent.info.backend_pid) - begun
    if limit:
        _at_each(bench, "clear_limit", sites, limit)
    bench.put_back()
    return used * 1e6 / bench.requests


def _at_each(bench: Bench, function: str, sites: Sequence[str], arguments: Sequence[object]) -> None:
    marks = ", ".join(["%s"] * len(arguments))
    query = f"select count(taskqueue.{function}(%s, 'running', s, null, {marks})) from unnest(%s::text[]) s"
    bench.call(query, [SETUP, *arguments, list(sites)])


def _row(name: str, figures: Mapping[str, Sequence[float]]) -> Row:
    ratios = [mine / other for mine, other in zip(figures[name], figures["no limit"], strict=True)]
    low, high = median_interval(ratios)
    return {"what": name, "cpu_us": statistics.median(figures[name]), "ratio": statistics.median(ratios),
            "low_ratio": low, "high_ratio": high}  # fmt: skip
