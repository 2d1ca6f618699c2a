"""Profiles of an organisation's own that tests compare with the models."""

from typing import Any

import psycopg
from psycopg.types.json import Jsonb


def without_job_check(connection: psycopg.Connection[Any]) -> None:
    """`unchecked`: like panda2026, without the rule that asks the job broker."""
    connection.execute("select brokerage.set_profile('unchecked', 'panda2026')")
    connection.execute(
        "select brokerage.set_rule('unchecked', 'task-job-check', '{\"enabled\": false}', 'production_task')"
    )


def with_free_places(connection: psycopg.Connection[Any]) -> None:
    """`free_places`: like documented, with the new basic weight."""
    connection.execute("select brokerage.set_profile('free_places', 'documented')")
    change = Jsonb({"function": "brokerage.weight_free_places"})
    connection.execute("select brokerage.set_rule('free_places', 'weight', %s, 'analysis_job')", [change])
