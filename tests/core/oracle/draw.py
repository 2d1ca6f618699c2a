"""The formula of DRAWING.md, Formula of the draw, and many draws to compare with it.

Keys are U/p with U uniform on (0, 1); the smallest key wins. The key of a candidate with
priority p is below x with probability p x (for x <= 1/p), so candidate i wins with the probability of the integral of
p_i * prod over the others of (1 - p_j x) over 0..1/max(p).
"""

import itertools
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy
import psycopg
import scipy.integrate
import scipy.stats
from psycopg.types.json import Jsonb

from tests.calls import resource

_DRAWS = """
create or replace function pg_temp.draws(p_setup text, p_resource jsonb, p_seeds bigint[], p_limit int)
returns table(seed bigint, jobs bigint[], queues bigint[])
language plpgsql
as $$
begin
  foreach seed in array p_seeds loop
    begin
      if p_limit is null then  -- unseeded
        select array_agg(m.job_id), array_agg(m.task_queue_id) into jobs, queues
          from taskqueue.match_job(p_setup, p_resource) m;
      else
        select array_agg(m.job_id), array_agg(m.task_queue_id) into jobs, queues
          from taskqueue.match_jobs_with_seed(p_setup, p_resource, p_limit, seed) m;
      end if;
      raise exception using errcode = 'UNDO0';
    exception
      when sqlstate 'UNDO0' then null;
    end;
    return next;
  end loop;
end $$
"""


def draw(
    connection: psycopg.Connection[Any], seeds: range, limit: int | None = 1, setup: str = "default", **keys: Any
) -> list[tuple[list[int], list[int]]]:
    """One match per seed, each undone before the next: the jobs and the queues drawn. `limit` None: unseeded match_job.

    Each draw is a subtransaction that is rolled back, so all see the same state and thousands take seconds. The planner
    has statistics, as after a bulk load; without them a draw among many queues takes up to five times as long.
    """
    connection.execute(_DRAWS)
    connection.execute("select taskqueue.refresh_statistics()")
    # parsed and noted once, not again in each draw
    known = "taskqueue.parsed_description_of(%(setup)s, %(resource)s, resource.identify(%(setup)s))"
    connection.execute(
        f"select taskqueue.note_resource(%(setup)s, %(resource)s, {known}, false, null)",
        {"setup": setup, "resource": Jsonb(resource(**keys))},
    )
    rows = connection.execute(
        "select coalesce(jobs, '{}'), coalesce(queues, '{}') from pg_temp.draws(%s, %s, %s, %s) order by seed",
        [setup, Jsonb(resource(**keys)), list(seeds), limit],
    )
    return [(jobs, queues) for jobs, queues in rows.fetchall()]


def win(priorities: Mapping[Any, float]) -> dict[Any, float]:
    """The probability of each candidate to be the first in the order random()/priority."""
    top = max(priorities.values())

    def chance(name: Any) -> float:
        others = numpy.array([p for other, p in priorities.items() if other != name])

        def density(x: float) -> float:
            return float(priorities[name] / top * numpy.prod(1 - others / top * x))

        value, _ = scipy.integrate.quad(density, 0, 1, epsabs=1e-10, limit=200)
        return float(value)

    return {name: chance(name) for name in priorities}


def win_levels(levels: Mapping[Any, tuple[int, float]]) -> dict[Any, float]:
    """The same for levels of `count` candidates with equal priority: the probability that one of a level wins."""
    members = {(name, n): priority for name, (count, priority) in levels.items() for n in range(count)}
    single = win(members) if len(members) < 30 else None
    if single:
        return {name: sum(chance for (level, _), chance in single.items() if level == name) for name in levels}
    top = max(priority for _, priority in levels.values())

    def chance_of(name: Any) -> float:
        count, priority = levels[name]

        def density(x: float) -> float:
            rest = numpy.prod([(1 - p / top * x) ** (n - (level == name)) for level, (n, p) in levels.items()])
            return float(count * priority / top * rest)

        # nearly all of it lies where one candidate of the largest level is expected
        edge = 20 / max(n * p / top for n, p in levels.values())
        pieces = [0.0, *(point for point in (edge / 20, edge) if point < 1), 1.0]
        return float(
            sum(scipy.integrate.quad(density, a, b, epsabs=1e-10, limit=200)[0] for a, b in itertools.pairwise(pieces))
        )

    return {name: chance_of(name) for name in levels}


def chi_square(found: Counter[Any], expected: Mapping[Any, float]) -> float:
    """The p value of the counts under the probabilities; an outcome with probability zero must not occur.

    Of two outcomes it is exact. Chi-square puts the counts of 1,000 draws at 95 : 5 below 1e-6 four times as often.
    """
    assert set(found) <= {name for name, chance in expected.items() if chance > 0}, f"{found} but only {dict(expected)}"
    total = sum(found.values())
    names = [name for name, chance in expected.items() if chance > 0]
    assert abs(sum(expected[name] for name in names) - 1) < 1e-6
    if len(names) == 1:
        return 1.0
    rare = [name for name in names if total * expected[name] < 5]  # chi-square needs five: merge them
    if rare:
        names = [name for name in names if name not in rare]
        pooled = sum(expected[name] for name in rare)
        if total * pooled >= 5:
            counts = [found[name] for name in names] + [sum(found[name] for name in rare)]
            chances = [expected[name] for name in names] + [pooled]
        else:
            lowest = min(names, key=lambda name: expected[name])
            names.remove(lowest)
            counts = [found[name] for name in names] + [found[lowest] + sum(found[name] for name in rare)]
            chances = [expected[name] for name in names] + [expected[lowest] + pooled]
    else:
        counts, chances = [found[name] for name in names], [expected[name] for name in names]
    if len(counts) == 1:
        return 1.0
    weights = numpy.array(chances) / sum(chances)
    if len(counts) == 2:
        return float(scipy.stats.binomtest(counts[0], sum(counts), weights[0]).pvalue)
    return float(scipy.stats.chisquare(counts, weights * total).pvalue)


Counts = tuple[int, ...]  # waiting jobs with user priority 0, 1, ..., 10


def user_priorities(counts: Counts, policy: str = "dirac", ten_first: bool = False) -> dict[int, float]:
    """The probability of each user priority to be drawn. With `ten_first` 10 comes before all others; 0 comes last."""
    there = {level: n for level, n in enumerate(counts) if n > 0}
    if ten_first and 10 in there:
        return {10: 1.0}
    if set(there) <= {0}:
        return dict.fromkeys(there, 1.0)
    there.pop(0, None)
    if policy == "proportional":
        total = sum(level * n for level, n in there.items())
        return {level: level * n / total for level, n in there.items()}
    # win_levels integrates a polynomial: half as many points as its degree give an exact result
    top = max(there)
    points, weights = numpy.polynomial.legendre.leggauss(sum(there.values()) // 2 + 1)
    x = (points + 1) / 2
    rest = {level: (1 - level / top * x) ** n for level, n in there.items()}

    def chance(level: int) -> float:
        others = numpy.prod([rest[other] for other in there if other != level] or [numpy.ones_like(x)], axis=0)
        one_less = (1 - level / top * x) ** (there[level] - 1)
        return float(numpy.sum(weights / 2 * there[level] * level / top * one_less * others))

    return {level: chance(level) for level in there}


def without(counts: Counts, level: int) -> Counts:
    """The counts when a job with this user priority has been taken."""
    return (*counts[:level], counts[level] - 1, *counts[level + 1 :])


def in_order(
    counts: Counts, number: int, policy: str = "dirac", ten_first: bool = False
) -> dict[tuple[int, ...], float]:
    """The joint distribution of the user priorities of the first jobs, each drawn from what the earlier ones left."""
    found: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(number):
        longer = {}
        for before, chance in found.items():
            left = counts
            for level in before:
                left = without(left, level)
            for level, then in user_priorities(left, policy, ten_first).items():
                longer[*before, level] = chance * then
        found = longer
    return found


def at_place(counts: Counts, place: int, policy: str = "dirac", ten_first: bool = False) -> dict[int, float]:
    """The distribution of the user priority of the job at a place (from 1) of the order, whatever comes before."""
    states = {counts: 1.0}
    for _ in range(place - 1):
        after: dict[Counts, float] = {}
        for left, chance in states.items():
            for level, then in user_priorities(left, policy, ten_first).items():
                state = without(left, level)
                after[state] = after.get(state, 0) + chance * then
        states = after
    law: dict[int, float] = {}
    for left, chance in states.items():
        for level, then in user_priorities(left, policy, ten_first).items():
            law[level] = law.get(level, 0) + chance * then
    return law
