"""Do the draws follow the formula? Chi-square tests of bucket, queue, user priority and rank among ten."""

import secrets
from collections import Counter, defaultdict
from collections.abc import Mapping

from psycopg.types.json import Jsonb

from benchmarks import draw, pgbench
from benchmarks.bench import SETUP, Bench, loading
from benchmarks.options import Options, Say
from benchmarks.pgbench import Script
from benchmarks.report import Row, Table
from benchmarks.scenarios.match import described
from benchmarks.scenarios.nothing import sorted_out
from benchmarks.server import Server
from broker.errors import BrokerError
from broker.laboratory.pilots import Resource

DEFAULTS = Options(jobs=1_000_000, draws=200_000)
_REQUESTS = 20  # drawn at random for each call, so that the distribution is their mean

_LEVELS = "select task_queue_id, user_priority, count(*) from taskqueue.job where setup = %s and not held group by 1, 2"
_MATCHING = """
select m.task_queue_id, m.cpu_time, m.priority, q.siblings
  from taskqueue.matching_queues(%s, %s) m
  join taskqueue.task_queue q on q.setup = %s and q.task_queue_id = m.task_queue_id
"""
# The rank of a job by id among the jobs of its queue and user priority, which have not changed since the draws.
_DRAWN = """
select q.cpu_time, q.task_queue_id, j.user_priority, j.rank, count(*)
  from bench.draw d
  join (select i.job_id, i.task_queue_id, i.user_priority,
               row_number() over (partition by i.task_queue_id, i.user_priority order by i.job_id) as rank
          from taskqueue.job i where i.setup = %(setup)s) j using (job_id)
  join taskqueue.task_queue q on q.setup = %(setup)s and q.task_queue_id = j.task_queue_id
 group by 1, 2, 3, 4
"""
_ASPECTS = ("bucket", "queue", "user priority", "rank in ten")
_FIRST = 10  # one of this many jobs of a queue and user priority is drawn


class Expected:
    """The probability of each value of each aspect."""

    def __init__(self) -> None:
        self.chances: dict[str, dict[object, float]] = {name: defaultdict(float) for name in _ASPECTS}

    def add(self, bucket: int, queue: int, chance: float, levels: Mapping[int, int]) -> None:
        """Add a queue of a request, with the probability that it is drawn, and its jobs by user priority."""
        self.chances["bucket"][bucket] += chance
        self.chances["queue"][queue] += chance
        for level, of_level in draw.user_priorities(levels).items():
            self.chances["user priority"][level] += chance * of_level
            places = min(_FIRST, levels[level])
            for rank in range(1, places + 1):
                self.chances["rank in ten"][rank] += chance * of_level / places


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """Draws at constant composition: each match is rolled back, and then its job is recorded. Then the hand of its
    queue is made void, since the next draw would take the same card from it."""
    with loading(server, options, say) as bench:
        requests = sorted_out(bench, 10 * _REQUESTS)[0][:_REQUESTS]
        bench.set_requests(requests)
        expected = _expected(bench, requests)
        clients = options.clients[0]
        say(f"{options.draws:,} draws, {clients} clients")
        draws = _draw(bench, clients, options.draws)
        found = _found(bench)
        missing = draws - sum(found["queue"].values())
        if missing:
            raise BrokerError(f"{missing:,} of {draws:,} draws found no job, though some match", "matching is at fault")
        rows = [_verdict(aspect, _of_ten(found[aspect], aspect), expected.chances[aspect]) for aspect in _ASPECTS]
        beside = sum(count for rank, count in found[_ASPECTS[3]].items() if rank not in range(1, _FIRST + 1))
        title = f"{described(bench)}; {draws:,} draws, {clients} clients, {len(requests)} requests"
        return [Table(f"{title}; {beside} drawn while another client had one of the ten", rows)]


def _draw(bench: Bench, clients: int, draws: int) -> int:
    """Draw about the given number of times; returns the exact number. The requests are part of the tested distribution:
    each run has another seed, so that two runs are two tests."""
    seed, every_request = secrets.randbelow(2**31), {"first": 1, "last": bench.requests}
    script = Script("draw.pgbench", clients, seed, every_request, max(1, draws // clients))
    return pgbench.run(bench.where.logins["agent"], script).calls


def _expected(bench: Bench, requests: list[Resource]) -> Expected:
    levels: dict[int, dict[int, int]] = defaultdict(dict)
    for queue, level, jobs in bench.rows(_LEVELS, [SETUP]):
        levels[queue][level] = jobs
    expected = Expected()
    for request in requests:
        matching = bench.rows(_MATCHING, [SETUP, Jsonb(request), SETUP])
        bucket = max(cpu_time for _, cpu_time, _, _ in matching)
        alike: dict[float, float] = defaultdict(float)  # siblings together are one candidate
        for _, cpu_time, priority, siblings in matching:
            alike[priority] += (cpu_time == bucket) / siblings
        chances = draw.win(alike)
        for queue, cpu_time, priority, siblings in matching:
            if cpu_time == bucket:
                chance = chances[priority] / siblings / alike[priority]
                expected.add(bucket, queue, chance / len(requests), levels[queue])
    return expected


def _found(bench: Bench) -> dict[str, Counter[object]]:
    found: dict[str, Counter[object]] = {name: Counter() for name in _ASPECTS}
    for *values, count in bench.rows(_DRAWN, {"setup": SETUP}):
        for aspect, value in zip(_ASPECTS, values, strict=True):
            found[aspect][value] += count
    return found


def _of_ten(found: Counter[object], aspect: str) -> Mapping[object, int]:
    """The counts without the eleventh job, which is among the ten while another client holds one of them."""
    return {value: n for value, n in found.items() if aspect != _ASPECTS[3] or value in range(1, _FIRST + 1)}


def _verdict(aspect: str, found: Mapping[object, int], expected: Mapping[object, float]) -> Row:
    verdict = draw.compare(found, expected)
    return {"what": aspect, "cells": verdict.cells, "chi-square": verdict.chi_square, "p": verdict.p}
