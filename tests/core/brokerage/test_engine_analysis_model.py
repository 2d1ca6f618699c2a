"""Analysis brokerage against the model: both profiles over random worlds, each decided in a transaction rolled back.

Worlds are numbered, so a difference names its world: `random_analysis_world(number)`. The model is
tests/core/oracle/analysis.py, and uses nothing of the package.
"""

import os
from itertools import chain
from typing import Any

import psycopg
import pytest
from hypothesis import given

from tests.core.oracle.analysis import broker_analysis, differences
from tests.core.oracle.analysis_worlds import (
    analysis_worlds,
    random_analysis_world,
    throttled_hours,
    world_of_least_weight,
)
from tests.core.oracle.engine import answers, drawn, undecided
from tests.core.oracle.job_worlds import TASK
from tests.core.oracle.profiles import with_free_places

WORLDS = int(os.environ.get("ANALYSIS_WORLDS", "48"))  # 2000 by hand
EVERY = {"documented": 1, "free_places": 6, "panda2026": 5}  # the worlds that are decided, by profile
if "ANALYSIS_WORLDS" in os.environ:
    EVERY = dict.fromkeys(EVERY, 1)
LEAST_WEIGHT = 30  # worlds with MIN_WEIGHT
CHUNKS = 4
JUDGED = 1700  # worlds that the model alone judges
AT_LEAST = 10  # how often each rule rejects, and accepts, in them
Row = dict[str, Any]
Db = psycopg.Connection[Any]


def differences_of(
    connection: Db, one: Row, setup: str, *profiles: str, throttled_hours: float | None = None
) -> list[str]:
    prepare = with_free_places if "free_places" in profiles else None
    found = answers(connection, one, setup, "analysis_job", *profiles, prepare=prepare, throttled_hours=throttled_hours)
    return [
        f"{name}: {text}"
        for name, row in zip(profiles, found, strict=True)
        for text in differences(broker_analysis(one, TASK, name, throttled_hours), row)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_answers_are_those_of_the_model(rolled_back: Db, chunk: int) -> None:
    found = {}
    for number in range(chunk, WORLDS, CHUNKS):
        profiles = [profile for profile, step in EVERY.items() if number // CHUNKS % step == 0]
        found[number] = differences_of(
            rolled_back, random_analysis_world(number), f"w{number}", *profiles, throttled_hours=throttled_hours(number)
        )
    assert {number: different for number, different in found.items() if different} == {}


@pytest.mark.slow
def test_weights_that_must_reach_a_minimum_are_those_of_the_model(rolled_back: Db) -> None:
    """Only panda2026 has a minimum of weights."""
    found = {
        n: differences_of(rolled_back, world_of_least_weight(n), f"w{n}", "panda2026") for n in range(LEAST_WEIGHT)
    }
    assert {number: different for number, different in found.items() if different} == {}


@pytest.mark.slow
@drawn(min(WORLDS // 4 + 1, 100))
@given(analysis_worlds())
def test_drawn_worlds_are_answered_as_the_model_does(rolled_back: Db, one: Row) -> None:
    assert differences_of(rolled_back, one, "drawn", "documented", "panda2026") == []


def rules_of(connection: Db, profile: str) -> list[str]:
    """The rules, as decisions name them, in order."""
    query = """select coalesce(parameters ->> 'as', rule) from brokerage.rule_in_force
                where profile = %s and algorithm = 'analysis_job' and enabled
                  and kind in ('task rule', 'candidate', 'row rule', 'set rule', 'choice') order by position"""
    return list(dict.fromkeys(rule for (rule,) in connection.execute(query, [profile]).fetchall()))


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["documented", "panda2026"])
def test_every_rule_decides_in_these_worlds(rolled_back: Db, profile: str) -> None:
    """Each rule often rejects queues, and often accepts queues that all earlier rules accept."""
    rules = rules_of(rolled_back, profile)
    of_least_weight = map(world_of_least_weight, range(LEAST_WEIGHT if "min-weight" in rules else 0))
    worlds = chain(
        ((one, None) for one in of_least_weight),
        ((random_analysis_world(n), throttled_hours(n)) for n in range(JUDGED)),
    )
    answers_of_model = (broker_analysis(one, TASK, profile, hours) for one, hours in worlds)
    assert undecided(rules, answers_of_model, AT_LEAST) == [{}, {}]
