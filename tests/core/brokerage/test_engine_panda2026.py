"""The engine against the model: the profile `panda2026` over random worlds.

Worlds are numbered, so a difference names its world: `random_panda_world(number)`. The model is
tests/core/oracle/job_panda2026.py, and uses nothing of the package.
"""

from typing import Any

import psycopg
import pytest

from tests.core.oracle.engine import answers, undecided
from tests.core.oracle.job_documented import differences
from tests.core.oracle.job_panda2026 import broker_job
from tests.core.oracle.job_worlds import PANDA_THEMES, TASK, random_panda_world

WORLDS = 60
MORE_WORLDS = 160  # of those that are compared when there is time
CHUNKS = 2
JUDGED = 1200  # worlds that the model alone judges
AT_LEAST = 4  # how often each rule rejects, and accepts, in them
Row = dict[str, Any]


def _differences(connection: psycopg.Connection[Any], one: Row, setup: str) -> list[str]:
    expected = broker_job(one, TASK)
    [answer] = answers(connection, one, setup, "production_job", "panda2026")
    found = differences(expected, answer)
    if (answer["explanation"] or {}).get("rule") != (expected["explanation"] or {}).get("rule"):
        found.append(f"explanation: {answer['explanation']}, expected {expected['explanation']}")
    return found


@pytest.mark.slow
def test_answers_are_those_of_the_model(rolled_back: psycopg.Connection[Any]) -> None:
    found = {number: _differences(rolled_back, _world(number), f"world-{number}") for number in range(WORLDS)}
    assert {number: different for number, different in found.items() if different} == {}


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_answers_to_the_remaining_calls_equal_those_of_the_model(
    rolled_back: psycopg.Connection[Any], chunk: int
) -> None:
    numbers = range(WORLDS + chunk, MORE_WORLDS, CHUNKS)
    found = {number: _differences(rolled_back, _world(number), f"world-{number}") for number in numbers}
    assert {number: different for number, different in found.items() if different} == {}


@pytest.mark.slow
def test_every_rule_decides_in_these_worlds(rolled_back: psycopg.Connection[Any]) -> None:
    """Each rule of the profile rejects queues, and accepts queues that all earlier rules accept."""
    query = """select coalesce(parameters ->> 'as', rule) from brokerage.rule_in_force
                where profile = 'panda2026' and algorithm = 'production_job' and enabled
                  and kind in ('task rule', 'candidate', 'row rule', 'set rule', 'choice') order by position"""
    rules = list(dict.fromkeys(row[0] for row in rolled_back.execute(query).fetchall()))
    answers_of_model = (broker_job(_world(number), TASK) for number in range(JUDGED))
    assert undecided(rules, answers_of_model, AT_LEAST) == [{}, {}]


def _world(number: int) -> Row:
    """One of panda2026's own themes in every second world, in turn."""
    themes = list(PANDA_THEMES)
    return random_panda_world(number, *([themes[number // 2 % len(themes)]] if number % 2 else []))
