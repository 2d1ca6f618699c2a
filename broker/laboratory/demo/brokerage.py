"""The demo of brokerage: a synthetic grid, the three brokers in turn, and one task of each explained."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from psycopg import sql

from broker import world
from broker.database import Connection
from broker.operate.reading import Row, run_summary, task_explanation

_BROKERS = {
    "production_task": ("Production tasks to nuclei", ("brokerage", "broker_tasks"), None),
    "production_job": ("Jobs of production tasks to queues", ("brokerage", "broker_jobs"), "pending"),
    "analysis_job": ("Jobs of users to queues", ("brokerage", "broker_analysis"), None),
}
"""The brokers in the order in which a task meets them: title, procedure, and the task to explain. The explained task
has this status after the run or, without a status, is the first due task before it."""


@dataclass(frozen=True)
class Run:
    """One run of a broker: its figures, its duration, and the explained tasks."""

    algorithm: str
    title: str
    seconds: float
    summary: Row
    explained: list[Row]


def load(connection: Connection, setup: str, made: world.World, profile: str | None) -> Mapping[str, int]:
    """Load the grid and classify its queues, users and tasks; return the number of rows by section."""
    loaded = world.load(connection, [made], setup)
    connection.execute("call brokerage.classify(%s, %s)", (setup, profile))
    return loaded.rows


def run(connection: Connection, setup: str, profile: str | None, seed: int) -> Iterator[Run]:
    """Run the brokers one after the other."""
    due = """select task_id from brokerage.due_task where setup = %s and algorithm = %s
              order by current_priority desc, task_id limit 1"""
    for algorithm, (title, procedure, status) in _BROKERS.items():
        first = [] if status else [task for (task,) in connection.execute(due, (setup, algorithm))]
        explained = [task_explanation(connection, setup, task, profile, algorithm) for task in first]
        started = time.perf_counter()
        query = sql.SQL("call {}(%s, p_profile => %s, p_seed => %s::bigint)").format(sql.Identifier(*procedure))
        [(number,)] = connection.execute(query, (setup, profile, seed)).fetchall()
        seconds = time.perf_counter() - started
        summary = run_summary(connection, setup, number, algorithm)
        if status:
            first = [row["example"] for row in summary["tasks"] if row["status"] == status][:1]
            explained = [task_explanation(connection, setup, task, profile, algorithm) for task in first]
        yield Run(algorithm, title, seconds, summary, explained)
