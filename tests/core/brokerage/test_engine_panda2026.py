"""The engine against the model: the profile `panda2026` over worlds worked out by hand and over random ones.

Worlds are numbered, so a difference says which one to look at: `random_panda_world(number)`. The model is
tests/core/oracle/job_panda2026.py, and owes nothing to the package.
"""

from collections import Counter
from typing import Any

import psycopg
import pytest

from tests.core.cases.production_panda2026 import CASES
from tests.core.oracle.engine import answers, rare
from tests.core.oracle.fates import fates
from tests.core.oracle.job_documented import differences
from tests.core.oracle.job_panda2026 import broker_job
from tests.core.oracle.job_worlds import PANDA_THEMES, TASK, random_panda_world

WORLDS = 60
MORE_WORLDS = 160  # of those that are compared when there is time
CHUNKS = 2
JUDGED = 1200  # worlds that the model alone judges
AT_LEAST = 4  # times that each rule rejects, and accepts, in them
Row = dict[str, Any]


def _answer(connection: psycopg.Connection[Any], one: Row, setup: str, task: int = TASK) -> Row:
    return answers(connection, one, setup, "production_job", "panda2026", task=task)[0]


def _differences(connection: psycopg.Connection[Any], one: Row, setup: str) -> list[str]:
    expected, answer = broker_job(one, TASK), _answer(connection, one, setup)
    found = differences(expected, answer)
    if (answer["explanation"] or {}).get("rule") != (expected["explanation"] or {}).get("rule"):
        found.append(f"explanation: {answer['explanation']}, expected {expected['explanation']}")
    return found


@pytest.mark.slow
def test_worlds_worked_out_by_hand_are_answered_as_expected(rolled_back: psycopg.Connection[Any]) -> None:
    """All in one connection, which keeps the plan."""
    found = {case.name: fates(_answer(rolled_back, case.world, f"by-hand-{n}", 1)) for n, case in enumerate(CASES)}
    assert found == {case.name: case.fates for case in CASES}


@pytest.mark.slow
def test_answers_are_those_of_the_model(rolled_back: psycopg.Connection[Any]) -> None:
    found = {number: _differences(rolled_back, _world(number), f"world-{number}") for number in range(WORLDS)}
    assert {number: different for number, different in found.items() if different} == {}


@pytest.mark.drawn
@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_more_answers_are_those_of_the_model(rolled_back: psycopg.Connection[Any], chunk: int) -> None:
    numbers = range(WORLDS + chunk, MORE_WORLDS, CHUNKS)
    found = {number: _differences(rolled_back, _world(number), f"world-{number}") for number in numbers}
    assert {number: different for number, different in found.items() if different} == {}


@pytest.mark.slow
def test_every_rule_decides_in_these_worlds(rolled_back: psycopg.Connection[Any]) -> None:
    """Each rule of the profile rejects, and lets pass what those before it let pass."""
    query = """select coalesce(parameters ->> 'as', rule) from brokerage.rule_in_force
                where profile = 'panda2026' and algorithm = 'production_job' and enabled
                  and kind in ('task rule', 'candidate', 'row rule', 'set rule', 'choice') order by position"""
    rules = list(dict.fromkeys(row[0] for row in rolled_back.execute(query).fetchall()))
    rejects: Counter[str] = Counter()
    accepts: Counter[str] = Counter()
    for number in range(JUDGED):
        if rare(rules, (rejects, accepts), AT_LEAST) == [{}, {}]:
            break  # more worlds only add
        answer = broker_job(_world(number), TASK)
        if answer["explanation"]:
            rejects[answer["explanation"]["rule"]] += 1
            continue
        rejects.update(row["rule"] for row in answer["rejected"] + answer["not_candidates"])
        for row in answer["rejected"]:
            accepts.update(rules[: rules.index(row["rule"])])
        for _ in answer["candidates"]:
            accepts.update(rules)
    assert rare(rules, (rejects, accepts), AT_LEAST) == [{}, {}]


def _world(number: int) -> Row:
    """One of panda2026's own themes in every second world, in turn."""
    themes = list(PANDA_THEMES)
    return random_panda_world(number, *([themes[number // 2 % len(themes)]] if number % 2 else []))
