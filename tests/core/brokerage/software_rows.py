"""Rows of queues, software and tasks for tests of texts that are parsed, inserted straight into the tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

SETUP = "texts"


@dataclass(frozen=True)
class Rows:
    """The rows of a setup of its own, in the transaction of a connection."""

    connection: psycopg.Connection[Any]

    def insert(self, table: str, **values: Any) -> None:
        """Insert a row; objects are stored as JSON."""
        row = {
            name: Jsonb(value) if isinstance(value, dict) else value
            for name, value in {"setup": SETUP, **values}.items()
        }
        statement = sql.SQL("insert into {} ({}) values ({})").format(
            sql.Identifier(*table.split(".")),
            sql.SQL(", ").join(map(sql.Identifier, row)),
            sql.SQL(", ").join(sql.Placeholder() * len(row)),
        )
        self.connection.execute(statement, list(row.values()))

    def queue(self, queue: str = "Q", **values: Any) -> None:
        """A queue."""
        self.insert("resource.queue", queue=queue, **values)

    def software(
        self, queue: str = "Q", *, tags: Sequence[Mapping[str, Any]] = (), architectures: Any = None, **values: Any
    ) -> None:
        """Software that a queue publishes, as in PanDA's software JSON."""
        self.insert("resource.software", queue=queue, architectures=Jsonb(architectures), **values)
        for number, tag in enumerate(tags, 1):
            self.insert("resource.software_tag", queue=queue, number=number, **tag)

    def task(self, task_id: int = 1, **values: Any) -> None:
        """A task."""
        self.insert("workload.task", task_id=task_id, **values)

    def answers(self, function: str, base_profile: str, tasks: Sequence[int]) -> dict[str, str]:
        """The answer of software_problems or zero_share_refusals, by queue."""
        name = sql.Identifier("brokerage", function)
        rows = self.connection.execute(
            sql.SQL("select * from {}(%s, %s, %s)").format(name), [SETUP, list(tasks), base_profile]
        ).fetchall()
        return {queue: text for _, queue, text in rows}
