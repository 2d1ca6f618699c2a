"""The engine against the model: the profile `documented` over random worlds, each decided in a transaction rolled back.

Worlds are numbered, so a difference names its world: `random_world(number)`. The model is
tests/core/oracle/job_documented.py, and uses nothing of the package.
"""

import os
from collections import Counter
from typing import Any

import psycopg
import pytest
from hypothesis import given

from tests.core.oracle.engine import answers, drawn, rare
from tests.core.oracle.job_documented import broker_job, differences
from tests.core.oracle.job_worlds import TASK, random_world, worlds

WORLDS = int(os.environ.get("JOB_WORLDS", "60"))  # 2000 by hand
JUDGED = 1200  # worlds that the model alone judges
CHUNKS = 8
AT_LEAST = 10  # how often each rule rejects, and accepts, in all the worlds
Row = dict[str, Any]


def differences_of(connection: psycopg.Connection[Any], one: Row, setup: str) -> list[str]:
    return differences(broker_job(one, TASK), answers(connection, one, setup, "production_job", None)[0])


@pytest.mark.representative
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_answers_are_those_of_the_model(rolled_back: psycopg.Connection[Any], chunk: int) -> None:
    numbers = range(chunk, WORLDS, CHUNKS)
    found = {number: differences_of(rolled_back, random_world(number), f"world-{number}") for number in numbers}
    assert {number: different for number, different in found.items() if different} == {}


@pytest.mark.slow
@drawn(min(WORLDS // 3 + 1, 100))
@given(worlds())
def test_drawn_worlds_are_answered_as_the_model_does(rolled_back: psycopg.Connection[Any], one: Row) -> None:
    assert differences_of(rolled_back, one, "drawn") == []


@pytest.mark.slow
def test_every_rule_decides_in_these_worlds(rolled_back: psycopg.Connection[Any]) -> None:
    """Each rule of the profile often rejects queues, and often accepts queues that all earlier rules accept."""
    query = """select rule, kind from brokerage.rule_in_force
                where profile = 'documented' and algorithm = 'production_job' and enabled
                  and kind in ('candidate', 'row rule', 'choice') order by position"""
    kinds = dict(rolled_back.execute(query).fetchall())
    listing = [rule for rule, kind in kinds.items() if kind == "candidate"]
    asked = [rule for rule, kind in kinds.items() if kind != "candidate"]
    rejects: Counter[str] = Counter()
    accepts: Counter[str] = Counter()
    for number in range(JUDGED):
        if rare(kinds, (rejects, accepts), AT_LEAST) == [{}, {}]:
            break  # more worlds only raise the counts
        one = random_world(number)
        answer = broker_job(one, TASK)
        passed = {row["queue"]: len(asked) for row in answer["candidates"]}
        passed |= {row["queue"]: asked.index(row["rule"]) for row in answer["rejected"]}
        for count in passed.values():
            accepts.update(asked[:count])
        rejects.update(row["rule"] for row in answer["rejected"] + answer["not_candidates"])
        accepts[_who_listed(one, answer, listing)] += len(passed)
    assert rare(kinds, (rejects, accepts), AT_LEAST) == [{}, {}]


def _who_listed(one: Row, answer: Row, listing: list[str]) -> str:
    """The rule that made the list of queues: named where it left one out, else known from the task."""
    left_out = {row["rule"] for row in answer["not_candidates"]}
    assert left_out <= set(listing)
    if left_out:
        return str(left_out.pop())
    return "prod-initial-preassigned" if one["tasks"][0].get("site") else "prod-initial-all"
