"""CLAUSES.md, Clauses: jobs share a TaskQueue exactly if their requirements mean the same."""

from collections import defaultdict
from decimal import Decimal
from itertools import product
from random import Random
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, requirements
from tests.core.oracle.clauses import Offer, satisfied
from tests.core.oracle.random_clauses import ATTRIBUTES, random_expression

TAGS = ["a", "~a", "b c"]
LEVELS = [Decimal(level) for level in ("-1", "0", "0.5", "1", "1.5", "2", "3")]
WANTED = [0, 1, 2, [0, 2], {"min": 0}, {"above": 0, "below": 2}, {"min": 1, "max": 2}, {"max": 1}, {"above": 2}]
SITES = ["S", "T"]


def some(rng: Random) -> dict[str, Any]:
    """Conditions on three tags, a number and two sites."""
    found: dict[str, Any] = {"TagExpression": random_expression(rng, TAGS, 2)}
    if rng.random() < 0.4:
        found["Attributes"] = {"level": rng.choice(WANTED)}
    if rng.random() < 0.3:
        found["Sites"] = rng.sample(SITES, rng.randint(1, 2))
    return {key: value for key, value in found.items() if rng.random() < 0.8}


OFFERS = [
    Offer(frozenset(tag for tag, offered in zip(TAGS, chosen, strict=True) if offered), site, attributes)
    for chosen in product((False, True), repeat=len(TAGS))
    for site in (*SITES, "other")
    for attributes in ({}, *({"level": level} for level in LEVELS))
]


@pytest.mark.slow
def test_jobs_share_a_task_queue_if_they_mean_the_same(q: Calls) -> None:
    q.call("set_attributes", Jsonb(ATTRIBUTES))
    rng = Random(49)
    meanings: dict[int, tuple[bool, ...]] = {}
    jobs: list[dict[str, Any]] = []
    while len(jobs) < 500:
        wanted = some(rng)
        if rng.random() < 0.3:
            wanted["Alternatives"] = [some(rng) for _ in range(2)]
        met = tuple(satisfied(wanted, offer, ATTRIBUTES) for offer in OFFERS)
        if any(met):
            jobs.append({"job_id": len(jobs) + 1, "requirements": requirements(**wanted)})
            meanings[len(jobs)] = met
    q.call("insert_jobs", Jsonb(jobs))
    queues: dict[int, set[Any]] = defaultdict(set)
    for job_id, queue in q.rows("select job_id, task_queue_id from taskqueue.job"):
        queues[queue].add(meanings[job_id])
    assert {len(found) for found in queues.values()} == {1}
    assert len(queues) == len(set(meanings.values())) < 400
    assert q.inconsistencies() == []
