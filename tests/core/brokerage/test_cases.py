"""Worlds of production job brokerage worked out by hand (tests/core/cases), for the model and the SQL engine."""

from types import ModuleType
from typing import Any

import psycopg
import pytest

from tests.core.cases import (
    production_input,
    production_links,
    production_list,
    production_panda2026,
    production_queue,
    production_software,
)
from tests.core.cases.production import Case
from tests.core.oracle import job_documented, job_panda2026
from tests.core.oracle.engine import answers
from tests.core.oracle.fates import deviations, fates

DOCUMENTED = (production_list, production_links, production_input, production_queue, production_software)
TOPICS = (*DOCUMENTED, production_panda2026)
CASES: list[tuple[ModuleType, Case]] = [(topic, case) for topic in TOPICS for case in topic.CASES]


def wrong(topic: ModuleType, case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    """The wrong fates. A case of panda2026 names all fates, a case of documented some."""
    if topic in DOCUMENTED:
        return deviations(case, answer)
    return {} if fates(answer) == case.fates else fates(answer)


@pytest.mark.parametrize(("topic", "case"), CASES, ids=[case.name for _, case in CASES])
def test_the_model_decides_each_case_as_worked_out_by_hand(topic: ModuleType, case: Case) -> None:
    model = job_documented if topic in DOCUMENTED else job_panda2026
    assert wrong(topic, case, model.broker_job(case.world, 1)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.__name__.rpartition(".")[2])
def test_the_engine_decides_each_case_as_worked_out_by_hand(
    rolled_back: psycopg.Connection[Any], topic: ModuleType
) -> None:
    """Each topic has one connection, which keeps the plans."""
    profile = None if topic in DOCUMENTED else "panda2026"
    found = {}
    for number, case in enumerate(topic.CASES):
        [answer] = answers(rolled_back, case.world, f"case-{number}", "production_job", profile, task=1)
        found[case.name] = wrong(topic, case, answer)
    assert {name: fate for name, fate in found.items() if fate} == {}
