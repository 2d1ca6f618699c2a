"""Worlds of production job brokerage worked out by hand (tests/core/cases), asked of the model and the SQL engine."""

from types import ModuleType
from typing import Any

import psycopg
import pytest

from broker import world
from tests.core.cases import production_input, production_links, production_list, production_queue, production_software
from tests.core.cases.production import Case
from tests.core.oracle.fates import deviations
from tests.core.oracle.job_documented import broker_job

TOPICS = (production_list, production_links, production_input, production_queue, production_software)
CASES: list[Case] = [case for topic in TOPICS for case in topic.CASES]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_model_decides_each_case_as_worked_out_by_hand(case: Case) -> None:
    assert deviations(case, broker_job(case.world, 1)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.__name__.rpartition(".")[2])
def test_the_engine_decides_each_case_as_worked_out_by_hand(
    rolled_back: psycopg.Connection[Any], topic: ModuleType
) -> None:
    """A topic in one connection, which keeps the plans."""
    wrong = {}
    for number, case in enumerate(topic.CASES):
        rolled_back.execute("select 1")  # the load would commit otherwise
        world.load(rolled_back, [case.world], f"case-{number}")
        query = "select brokerage.evaluate_task(%s, 1, 'production_job')"
        [(answer,)] = rolled_back.execute(query, [f"case-{number}"]).fetchall()
        rolled_back.rollback()
        if found := deviations(case, answer):
            wrong[case.name] = found
    assert wrong == {}
