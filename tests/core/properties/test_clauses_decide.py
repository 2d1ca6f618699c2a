"""CLAUSES.md, Meaning: listings, explanations and draws decide like the model on random requirements and resources."""

import os
from typing import Any

import psycopg
import pytest

from tests.core.properties.clause_world import WAYS, World

PAIRS = int(os.environ.get("BROKER_TEST_EXAMPLES", "300"))  # more by hand
JOBS, RESOURCES = 12, 10  # of a setup


def play(connection: psycopg.Connection[Any], number: int) -> int:
    """Descriptions before and after the jobs, before and after maintenance; returns the number of pairs."""
    world = World(connection, f"clauses {number}", number, crowded=number % 2 == 0)
    known = world.resources(world.rng, RESOURCES // 2)
    pairs = 0
    for resource in known:
        assert world.q.match(**resource) is None
    for step in range(3):
        if number % 3 == 0:
            world.keep_gpus(step != 1)
        world.insert(world.q, JOBS // 3)
        if step == 1:
            known += world.resources(world.rng, RESOURCES - len(known))
        for again in (False, True):
            for resource in world.rng.sample(known, len(known)):
                pairs += len(world.jobs)
                world.check(resource, world.rng.choice(WAYS))
            if not again:
                world.q.maintain()
        assert world.q.inconsistencies() == []
    world.check_reasons()
    return pairs


@pytest.mark.representative
def test_the_database_decides_like_the_model(db: psycopg.Connection[Any]) -> None:
    pairs = number = 0
    while pairs < PAIRS:
        number += 1
        pairs += play(db, number)
