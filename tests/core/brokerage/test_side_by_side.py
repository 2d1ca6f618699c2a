"""Setups side by side: rows of another setup with the same ids and names change no answer.

Random worlds are loaded together, each into a setup of its own. All have the task, the queues and the datasets of the
same names, and other values. Then each is decided, and compared with the model, which knows its own world alone.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg
import pytest
from psycopg.rows import scalar_row

from broker import world
from tests.core.oracle import analysis, job_documented, job_panda2026, tasks
from tests.core.oracle.analysis_worlds import random_analysis_world
from tests.core.oracle.job_worlds import TASK, random_panda_world, random_world
from tests.core.oracle.profiles import without_job_check
from tests.core.oracle.task_worlds import random_task_world

WORLDS = 12
FIRST = 5000  # not the worlds that the tests of one broker compare
Row = dict[str, Any]
Db = psycopg.Connection[Any]


@contextmanager
def loaded(connection: Db, worlds: dict[str, Row]) -> Iterator[None]:
    """All worlds at once, by setup. The transaction is open before, so that no load commits."""
    connection.execute("select 1")
    try:
        without_job_check(connection)
        for setup, one in worlds.items():
            world.load(connection, [one], setup)
        yield
    finally:
        connection.rollback()


class Broker(NamedTuple):
    """The functions that make worlds of a broker and judge them."""

    world: Callable[[int], Row]
    algorithm: str
    profile: str
    model: Callable[[Row], Row]
    differences: Callable[[Row, Row], list[str]]


BROKERS = (
    Broker(random_world, "production_job", "documented",
           lambda one: job_documented.broker_job(one, TASK), job_documented.differences),
    Broker(random_panda_world, "production_job", "panda2026",
           lambda one: job_panda2026.broker_job(one, TASK), job_documented.differences),
    Broker(random_task_world, "production_task", "documented",
           lambda one: tasks.broker_task(one, TASK, "documented"), tasks.differences),
    Broker(random_task_world, "production_task", "unchecked",
           lambda one: tasks.broker_task(one, TASK, "panda2026"), tasks.differences),
    Broker(random_analysis_world, "analysis_job", "documented",
           lambda one: analysis.broker_analysis(one, TASK, "documented"), analysis.differences),
    Broker(random_analysis_world, "analysis_job", "panda2026",
           lambda one: analysis.broker_analysis(one, TASK, "panda2026"), analysis.differences),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("broker", BROKERS, ids=lambda broker: f"{broker.algorithm}-{broker.profile}")
def test_another_setup_changes_no_answer(rolled_back: Db, broker: Broker) -> None:
    worlds = {f"side-{number}": broker.world(number) for number in range(FIRST, FIRST + WORLDS)}
    cursor = rolled_back.cursor(row_factory=scalar_row)
    statement = "select brokerage.evaluate_task(%s, %s, %s, %s)"
    with loaded(rolled_back, worlds):
        asked = [(setup, TASK, broker.algorithm, broker.profile) for setup in worlds]
        answers = [cursor.execute(statement, each).fetchone() or {} for each in asked]
    found = {
        setup: broker.differences(broker.model(one), answer)
        for (setup, one), answer in zip(worlds.items(), answers, strict=True)
    }
    assert {setup: different for setup, different in found.items() if different} == {}
