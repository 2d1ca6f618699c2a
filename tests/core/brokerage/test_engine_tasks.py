"""Task brokerage against the model: both profiles over random worlds, each decided in a transaction rolled back.

Worlds are numbered, so a difference names its world: `random_task_world(number)`. The model is
tests/core/oracle/tasks.py, and uses nothing of the package. The rule task-job-check, which asks the job broker, is
left out here by a profile of its own on panda2026.
"""

import os
from typing import Any

import psycopg
import pytest
from hypothesis import given

from tests.core.oracle.engine import answers, drawn, undecided
from tests.core.oracle.job_worlds import TASK
from tests.core.oracle.profiles import without_job_check
from tests.core.oracle.task_worlds import random_task_world, task_worlds
from tests.core.oracle.tasks import broker_task, differences

WORLDS = int(os.environ.get("TASK_WORLDS", "48"))  # 1000 and more by hand
CHUNKS = 4
JUDGED = 1500  # worlds that the model alone judges
AT_LEAST = 20  # how often each rule rejects, and accepts, in them
PROFILES = {"documented": "documented", "panda2026": "unchecked"}  # the model's and the engine's
Row = dict[str, Any]
Db = psycopg.Connection[Any]


def differences_of(connection: Db, one: Row, setup: str) -> list[str]:
    """The differences of both profiles."""
    found = answers(connection, one, setup, "production_task", *PROFILES.values(), prepare=without_job_check)
    pairs = zip(PROFILES, found, strict=True)
    return [f"{model}: {text}" for model, row in pairs for text in differences(broker_task(one, TASK, model), row)]


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_answers_are_those_of_the_model(rolled_back: Db, chunk: int) -> None:
    numbers = range(chunk, WORLDS, CHUNKS)
    found = {number: differences_of(rolled_back, random_task_world(number), f"w{number}") for number in numbers}
    assert {number: different for number, different in found.items() if different} == {}


@pytest.mark.slow
@drawn(min(WORLDS // 4 + 1, 100))
@given(task_worlds())
def test_drawn_worlds_are_answered_as_the_model_does(rolled_back: Db, one: Row) -> None:
    assert differences_of(rolled_back, one, "drawn") == []


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_every_rule_decides_in_these_worlds(rolled_back: Db, profile: str) -> None:
    """Each rule often rejects, and often accepts what all earlier rules accept."""
    query = """select rule from brokerage.rule_in_force
                where profile = %s and algorithm = 'production_task' and rule <> 'task-job-check'
                  and kind in ('task rule', 'row rule', 'set rule') order by position"""
    rules = [rule for (rule,) in rolled_back.execute(query, [profile]).fetchall()]
    answers_of_model = (broker_task(random_task_world(number), TASK, profile) for number in range(JUDGED))
    assert undecided(rules, answers_of_model, AT_LEAST) == [{}, {}]
