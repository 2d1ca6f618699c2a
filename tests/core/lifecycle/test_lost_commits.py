"""A standby that was behind takes over: the last commits are lost, and no job runs twice unnoticed."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.calls import Connection, refused
from tests.core.lifecycle import grids


def _refused(db: Connection, call: str, *lease: Any) -> None:
    with refused("PB003"):
        db.execute(call.encode(), lease)


@pytest.mark.slow
def test_the_token_of_a_lost_match_is_refused(dsn: str, new_database: Callable[..., str]) -> None:
    with psycopg.connect(dsn, autocommit=True) as before:
        grids.load(before, "s")
        [job] = grids.make(before, "s")
        grids.activate(before, "s")
    behind = new_database(template=conninfo_to_dict(dsn)["dbname"])  # the standby never gets the following changes
    with psycopg.connect(dsn, autocommit=True) as lost:
        lease = grids.match(lost, "s")
        assert lease is not None
        lost.execute("select taskqueue.report_job('s', %s, %s)", lease)
    with psycopg.connect(behind, autocommit=True) as db:
        calls = [f"select taskqueue.{call}('s', %s, %s)" for call in ("report_job", "finish_job", "release_job")]
        for call in calls:
            _refused(db, call, *lease)
        assert grids.status(db, "s", job) == "activated"
        another = grids.match(db, "s")
        assert another is not None
        assert (another[0], another[1] != lease[1]) == (job, True)
        for call in calls:
            _refused(db, call, *lease)
        db.execute("select taskqueue.finish_job('s', %s, %s)", another)
        assert grids.status(db, "s", job) == "finished"
        assert grids.differences(db, "s") == []


@pytest.mark.slow
def test_the_token_of_a_lost_end_ends_the_job_once_more(dsn: str, new_database: Callable[..., str]) -> None:
    """The agent whose end was lost still has the job, so its call is simply repeated."""
    with psycopg.connect(dsn, autocommit=True) as before:
        grids.load(before, "s")
        [job] = grids.make(before, "s")
        grids.activate(before, "s")
        lease = grids.match(before, "s")
    behind = new_database(template=conninfo_to_dict(dsn)["dbname"])
    with psycopg.connect(dsn, autocommit=True) as lost:
        lost.execute("select taskqueue.finish_job('s', %s, %s)", lease)
    with psycopg.connect(behind, autocommit=True) as db:
        assert grids.status(db, "s", job) == "sent"
        db.execute("select taskqueue.finish_job('s', %s, %s)", lease)
        assert grids.status(db, "s", job) == "finished"
