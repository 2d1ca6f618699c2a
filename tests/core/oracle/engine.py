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
    throttled_hours: float | None = None,
) -> list[Row]:
    """The answers in each profile. The transaction is open before the load, which would commit otherwise.

    throttled_hours: how long ago the caps of its user throttled the task; None = they did not.
    """
    connection.execute("select 1")
    try:
        if prepare is not None:
            prepare(connection)
        world.load(connection, [one], setup)
        if throttled_hours is not None:
            connection.execute(
                """insert into brokerage.task_state (setup, task_id, algorithm, throttled_at)
                   values (%s, %s, %s, resource.clock(%s) - %s * interval '1 hour')""",
                [setup, task, algorithm, setup, throttled_hours],
            )
        cursor = connection.cursor(row_factory=scalar_row)
        statement = "select brokerage.evaluate_task(%s, %s, %s, %s)"
        return [cursor.execute(statement, (setup, task, algorithm, name)).fetchone() or {} for name in profiles]
    finally:
        connection.rollback()


ALGORITHMS = {
    "facts_of_pairs": "production_job", "facts_of_analysis_pairs": "analysis_job",
    "facts_of_nucleus_pairs": "production_task",
}  # fmt: skip


def pairs(db: Db, setup: str, tasks: Sequence[Row], base_profile: str, function: str = "facts_of_pairs") -> list[Row]:
    """The facts of each pair of these tasks and the queues of a setup, with task_id and queue."""
    algorithm = ALGORITHMS[function]
    queues = "array(select f from brokerage.facts_of_queues(%(setup)s) f order by f.queue)"
    if algorithm == "production_task":
        queues = "brokerage.facts_of_candidates(%(setup)s, %(algorithm)s)"
    query = f"""select p.*, (t.task).task_id, (q.queue).queue
                  from (select array_agg(f order by f.task_id) as tasks
                          from brokerage.facts_of_tasks(%(setup)s, %(tasks)s, %(base_profile)s, %(algorithm)s) f) a
                 cross join (select {queues} as queues) b
                 cross join brokerage.facts_by_subject(
                   %(setup)s, %(algorithm)s, a.tasks, b.queues, %(base_profile)s) s
                 cross join brokerage.{function}(s, a.tasks, b.queues) p
                 cross join lateral (select a.tasks[p.task_number]) t(task)
                 cross join lateral (select b.queues[p.queue_number]) q(queue)"""
    ids = [task["id"] for task in tasks]
    given = {"setup": setup, "tasks": ids, "base_profile": base_profile, "algorithm": algorithm}
    with db.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query.encode(), given).fetchall()


def wrong(found: Row, expected: Row) -> Row:
    """The facts that are not as expected: the actual and the expected ones."""
    return {name: (found[name], value) for name, value in expected.items() if found[name] != value}


def wrong_pairs(rows: Iterable[Row], cases: Iterable[tuple[Row, str, Row]]) -> dict[str, Row]:
    """The wrong facts of each case: a task, whose id is the number of the case, a queue, and facts of both."""
    found = {(row["task_id"], row["queue"]): row for row in rows}
    every = {f"{n} {task} {queue}": wrong(found[n, queue], facts) for n, (task, queue, facts) in enumerate(cases)}
    return {case: differing for case, differing in every.items() if differing}


def rare(rules: Iterable[str], counts: Iterable[Counter[str]], least: int) -> list[dict[str, int]]:
    """For each of the counts, the rules that are counted fewer than `least` times."""
    return [{rule: count[rule] for rule in rules if count[rule] < least} for count in counts]


def undecided(rules: Sequence[str], answers: Iterable[Row], least: int) -> list[dict[str, int]]:
    """The rules, in order, that seldom reject, and those that seldom accept what all earlier rules accept.

    Answers are read until each rule has done both `least` times.
    """
    rejects: Counter[str] = Counter()
    accepts: Counter[str] = Counter()
    for answer in answers:
        if rare(rules, (rejects, accepts), least) == [{}, {}]:
            break
        if answer["explanation"] and not answer["candidates"] + answer["rejected"]:  # the task is refused
            rejects[answer["explanation"]["rule"]] += 1
            accepts.update(rules[: rules.index(answer["explanation"]["rule"])])
        rejects.update(row["rule"] for row in answer["rejected"] + answer.get("not_candidates", []))
        for row in answer["rejected"]:
            accepts.update(rules[: rules.index(row["rule"])])
        for row in answer["candidates"]:
            accepts.update(rules if row["weight"] is not None else [])
    return rare(rules, (rejects, accepts), least)
