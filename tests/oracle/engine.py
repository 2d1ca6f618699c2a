"""What the engine answers for a world, and how tests compare it with a model."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import psycopg
from hypothesis import HealthCheck, settings
from psycopg.rows import scalar_row

from broker import world
from tests.oracle.job_worlds import TASK

Row = dict[str, Any]
Db = psycopg.Connection[Any]


def drawn(examples: int) -> settings:
    """The same examples in every run, on a connection that is shared by all of them."""
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(max_examples=examples, derandomize=True, database=None, deadline=None, suppress_health_check=checks)


def answers(
    connection: Db,
    one: Row,
    setup: str,
    algorithm: str,
    *profiles: str | None,
    task: int = TASK,
    prepare: Callable[[Db], None] | None = None,
) -> list[Row]:
    """In each profile. The transaction is open before the load, which would commit otherwise."""
    connection.execute("select 1")
    try:
        if prepare is not None:
            prepare(connection)
        world.load(connection, [one], setup)
        cursor = connection.cursor(row_factory=scalar_row)
        statement = "select brokerage.evaluate_task(%s, %s, %s, %s)"
        return [cursor.execute(statement, (setup, task, algorithm, name)).fetchone() or {} for name in profiles]
    finally:
        connection.rollback()


def rare(rules: Iterable[str], counts: Iterable[Counter[str]], least: int) -> list[dict[str, int]]:
    """The rules that are counted less often, in each of the counts."""
    return [{rule: count[rule] for rule in rules if count[rule] < least} for count in counts]
