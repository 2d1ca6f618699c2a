"""The answers of the engine for a world, and their comparison with those of a model."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import psycopg
from hypothesis import HealthCheck, settings
from psycopg.rows import dict_row, scalar_row

from broker import world
from tests.core.oracle.job_worlds import TASK

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


def pairs(db: Db, setup: str, tasks: Sequence[Row], base_profile: str, function: str = "facts_of_pairs") -> list[Row]:
    """The facts of each pair of these tasks and the queues of a setup, with task_id and queue."""
    query = f"""select p.*, (t.task).task_id, (q.queue).queue
                  from (select array_agg(f order by f.task_id) as tasks
                          from brokerage.facts_of_tasks(%(setup)s, %(tasks)s, %(base_profile)s, %(algorithm)s) f) a
                 cross join (select array_agg(f order by f.queue) as queues
                               from brokerage.facts_of_queues(%(setup)s) f) b
                 cross join brokerage.facts_by_subject(
                   %(setup)s, %(algorithm)s, a.tasks, b.queues, %(base_profile)s) s
                 cross join brokerage.{function}(s, a.tasks, b.queues) p
                 cross join lateral (select a.tasks[p.task_number]) t(task)
                 cross join lateral (select b.queues[p.queue_number]) q(queue)"""
    algorithm = "analysis_job" if "analysis" in function else "production_job"
    given = {
        "setup": setup, "tasks": [task["id"] for task in tasks], "base_profile": base_profile, "algorithm": algorithm,
    }  # fmt: skip
    with db.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query.encode(), given).fetchall()


def rare(rules: Iterable[str], counts: Iterable[Counter[str]], least: int) -> list[dict[str, int]]:
    """The rules that are counted less often, in each of the counts."""
    return [{rule: count[rule] for rule in rules if count[rule] < least} for count in counts]
