"""Worlds of tasks that are due, runs of the brokers, and their decisions."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import psycopg

from broker import world
from broker.laboratory.grid import grid

Db = psycopg.Connection[Any]
Row = dict[str, Any]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CALLS = {"production_job": "broker_jobs", "analysis_job": "broker_analysis", "production_task": "broker_tasks"}


def open_world(queues: Iterable[str], tasks: Sequence[Row], *, files: int, **queue: Any) -> Row:
    """Queues that take everything, and tasks of one-file jobs."""
    disks = {"read_lan": ["DISK"], "write_lan": ["DISK"]}
    fields = {"panda_site": "S", "pilots": {"getjob": 9, "updatejob": 9}, "astorages": disks, **queue}
    return {
        "now": NOW.isoformat(),
        "queues": {name: dict(fields) for name in queues},
        "storages": {"DISK": {"site": "S", "space_free": 1000}},
        "datasets": {"data": {"files": [{"lfn": f"f{n}", "size": 1} for n in range(files)], "replicas": {"DISK": {}}}},
        "tasks": [{"input": ["data"], "split": {"nFilesPerJob": 1}, **task} for task in tasks],
    }


def load_due(db: Db, algorithm: str, queues: int, tasks: int, **more: Any) -> None:
    """Load a grid whose tasks are all due at this broker."""
    given = grid(3, queues, tasks, **more)
    for task in given["tasks"]:
        task["status"] = "ready"
        if algorithm == "production_task":
            task.update(status="assigning", nucleus=None)
    world.load(db, [given], "grid")


def ran(db: Db, algorithm: str, setup: str | None = "grid", **given: Any) -> int:
    """The number of a run; arguments are those of the procedure without their p_.

    By default the seed is 1: a test whose outcome depends on the draws has the same outcome each time.
    """
    given = {"seed": 1, **given}
    names = "".join(f", p_{name} => %({name})s" for name in given)
    query = f"call brokerage.{CALLS[algorithm]}(%(setup)s{names})"
    [(run,)] = db.execute(query.encode(), {"setup": setup, **given}).fetchall()
    return int(run)


def decided(db: Db, run: int) -> dict[tuple[int, str], tuple[Any, ...]]:
    """Verdict, rule, reason, weight, factors and rank of each pair of task and queue."""
    query = """select task_id, queue, verdict, rule, reason, weight, factors, rank
                 from brokerage.decision where run_id = %s"""
    return {row[:2]: row[2:] for row in db.execute(query, [run]).fetchall()}


def numbers(db: Db, query: str, *parameters: Any) -> list[int]:
    """The rows of a query of one column."""
    return [number for (number,) in db.execute(query.encode(), parameters).fetchall()]
