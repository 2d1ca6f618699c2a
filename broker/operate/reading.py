"""Readings of the database for operators: a run in figures, and the reasons for waits and decisions.

Imports psycopg when it is first needed, so that the command line starts quickly.
"""

from typing import TYPE_CHECKING, Any, LiteralString

if TYPE_CHECKING:
    from collections.abc import Iterable

    from broker.database import Connection

Row = dict[str, Any]

RETRY_EXPLANATION: LiteralString = """
    select r.position, r.name, r.verdict, r.decision, r.why
      from (select e.setup, e.job_id from monitor.job_event e
             where e.setup = %s and e.job_id = %s and e.error_class is not null limit 1) e
     cross join lateral taskqueue.explain_retry(e.setup, e.job_id) r
"""
"""The verdicts of retry rules on the last failed end of a job; no row if it did not fail."""

SECOND_PASS = "second pass"  # brokerage.explain's verdict about a task that was decided again, without locality


def rows_of(connection: "Connection", query: str, *arguments: Any) -> list[Row]:
    """The rows of a query, each by its columns."""
    from psycopg.rows import dict_row

    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query.encode(), arguments).fetchall()


def run_summary(connection: "Connection", setup: str, run: int, algorithm: str) -> Row:
    """A run: tasks by status and the rule that refused them, the places that got tasks or jobs, rejections by rule."""
    chosen = "where setup = %s and run_id = %s"

    def rows(query: str) -> list[Row]:
        return rows_of(connection, query, setup, run)

    return {
        "setup": setup,
        "run_id": run,
        "algorithm": algorithm,
        "tasks": rows(
            f"select status, tasks, retry_at, example, rule, reason from brokerage.outcomes {chosen} order by 1, 5"
        ),
        "assigned": rows(f"select queue, tasks, jobs from brokerage.assignments {chosen} order by 3 desc, 1"),
        "nuclei": rows(
            "select nucleus, count(*) as tasks, sum(work) as work from brokerage.nucleus_of_task"
            f" {chosen} group by nucleus order by 2 desc, 1"
        ),
        "rejections": rows(
            f"select rule, criteria, pairs, tasks, queues from brokerage.rejections {chosen} order by 3 desc, 1"
        ),
        "not_loaded": [row for row in not_loaded(connection, setup) if row["rule"] and row["queue"] is None],
    }


def seen_lately(connection: "Connection", setup: str, job: int) -> list[Row]:
    """The reasons why the resources seen lately do not match a waiting or leased job: rows of taskqueue.explain_job."""
    return rows_of(connection, "select * from taskqueue.explain_job(%s, %s)", setup, job)


def retry_explanation(connection: "Connection", setup: str, job: int) -> list[Row]:
    """The verdicts of retry rules on the last failed end of a job: rows of taskqueue.explain_retry, or none."""
    return rows_of(connection, RETRY_EXPLANATION, setup, job)


def task_explanation(
    connection: "Connection", setup: str, task: int, profile: str | None = None, algorithm: str | None = None
) -> Row:
    """The decision of a broker about a task: rows of brokerage.explain and brokerage.obstacles, and its state.

    The row of a rejected queue has `not_loaded`: by rule, the missing data that the rule takes for a fact.
    `not_loaded` of the whole: the missing data of the task itself.

    algorithm: the broker; else the one that has the task now (brokerage.algorithm_of). `not_due`: why that broker does
    not take the task now (None: it does). `jobs`, `jobs_left`: its jobs, and those not assigned. `refused`: the row of
    a task that was throttled, has failed or has an error, for which no queue is considered. `second_pass`: the row of
    a task that is decided without locality. `named_queues`: the queues that the task is pre-assigned to.
    `unknown_queues`: names and patterns that it is pre-assigned to and that match no queue.
    """
    if algorithm is None:
        [row] = rows_of(connection, "select brokerage.algorithm_of(%s, %s::bigint) as algorithm", setup, task)
        algorithm = row["algorithm"]
    query = """select algorithm, not_due, jobs, jobs_left from brokerage.task_due_state
                where setup = %s and task_id = %s and algorithm = %s"""
    nowhere = {"algorithm": algorithm, "not_due": None, "jobs": 0, "jobs_left": 0}
    standing = next(iter(rows_of(connection, query, setup, task, algorithm)), nowhere)
    asked = (setup, task, profile, standing["algorithm"])
    rows = rows_of(connection, "select * from brokerage.explain(%s, %s::bigint, %s, %s)", *asked)
    queues = [row for row in rows if row["queue"] is not None]
    of_task = [row for row in rows if row["queue"] is None]
    lacks = not_loaded(connection, setup, task)
    for row in queues:
        row["not_loaded"] = {rule: lack for rule in _rules_of(row) if (lack := lack_of(lacks, rule, row["queue"]))}
    named = rows_of(connection, "select * from brokerage.named_queues(%s, %s::bigint, %s)", setup, task, profile)
    return {
        "setup": setup,
        "task_id": task,
        **standing,
        "named_queues": sorted({queue for row in named for queue in row["queues"]}),
        "unknown_queues": [row["name"] for row in named if not row["queues"]],
        "refused": next((row for row in of_task if row["verdict"] != SECOND_PASS), None),
        "second_pass": next((row for row in of_task if row["verdict"] == SECOND_PASS), None),
        "not_loaded": [row["lack"] for row in lacks if row["rule"] is None],
        "queues": queues,
        "obstacles": [
            row | {"not_loaded": lack_of(lacks, row["rule"], row["example"].partition(": ")[0])}
            for row in rows_of(connection, "select * from brokerage.obstacles(%s, %s::bigint, %s, %s)", *asked)
        ]
        if queues
        else [],
    }


def stored_decision(
    connection: "Connection", setup: str, task: int, algorithm: str, run: int | None = None
) -> Row | None:
    """The decision of a run about a task: a row of monitor.task_decision, and `queues`, rows of monitor.verdict.

    Without run: the last decision of the broker that was not dry, or None. `queues` is empty where they are
    no longer kept. Raises NoSuchThing for a run that decided nothing for the task.
    """
    from broker.errors import NoSuchThing

    query = """select algorithm, run_id, profile, trial, arm, dry, task_id, status, rule, reason, retry_at, candidates,
                      rejected, not_candidates, jobs, nucleus, decided_at, changes
                 from monitor.task_decision
                where setup = %s and task_id = %s and """
    if run is not None:
        found = rows_of(connection, f"{query} run_id = %s", setup, task, run)
    else:
        query = f"{query} algorithm = %s and not dry order by run_id desc limit 1"
        found = rows_of(connection, query, setup, task, algorithm)
    if not found and run is not None:
        runs = rows_of(connection, f"{query} true order by run_id desc limit 5", setup, task)
        hint = "runs that did, the last first: " + ", ".join(str(row["run_id"]) for row in runs)
        fault = f"run {run} decided nothing for task {task} of setup {setup}"
        raise NoSuchThing(fault, hint if runs else "no run has decided it", "PB004")
    if not found:
        return None
    query = """select queue, verdict, rank, weight, jobs, rule, criteria, reason
                 from monitor.verdict
                where setup = %s and task_id = %s and run_id = %s and queue is not null
                order by rank nulls last, verdict desc, queue collate "C" """
    return found[0] | {"queues": rows_of(connection, query, setup, task, found[0]["run_id"])}


def not_loaded(connection: "Connection", setup: str, task: int | None = None) -> list[Row]:
    """Facts that a setup lacks and rules read: rows of brokerage.not_loaded."""
    return rows_of(connection, "select * from brokerage.not_loaded(%s, %s::bigint)", setup, task)


def lack_of(lacks: "Iterable[Row]", rule: str, queue: str) -> str | None:
    """A missing fact that a rule reads, of a queue (of a pseudo-queue: its unified queue) or of the setup."""
    places = (None, queue, queue.rpartition("/")[0])
    return next((row["lack"] for row in lacks if row["rule"] == rule and row["queue"] in places), None)


def reason_of(row: Row, rule: str, reason: str) -> str:
    """The reason why a rule rejects a queue, and the missing data that the rule takes for a fact."""
    lack = row["not_loaded"].get(rule)
    return f"{reason}; {lack}" if lack else reason


def _rules_of(row: Row) -> set[str]:
    """The rules that reject a queue."""
    return {said.partition(": ")[0] for said in row["all_reasons"] or ()} | ({row["rule"]} - {None})
