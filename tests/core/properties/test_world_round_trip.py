"""A world that was dumped, loaded and dumped again is the same text, whatever its content."""

import itertools
import json
import os
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings

from broker import world
from tests.core.properties.worlds import worlds

_numbers = itertools.count(1)

EXAMPLES = int(os.environ.get("BROKER_TEST_EXAMPLES", "40"))  # more by hand


@pytest.mark.slow
@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(found=worlds())
def test_dump_load_dump_gives_the_same_bytes(db: psycopg.Connection[Any], found: dict[str, Any]) -> None:
    first, second = (f"setup number {next(_numbers)}" for _ in range(2))
    world.load(db, [found, {"shares": {"always": {}}}], first)
    text = "".join(world.dump(db, first))
    expected = text.replace(first, second)
    for merge in (False, False, True):  # and once more over the existing rows, and merged over them
        world.load(db, [json.loads(text)], second, merge=merge)
        assert "".join(world.dump(db, second)) == expected
