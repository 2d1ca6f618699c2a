"""`broker explain --site S`: the waiting jobs that a resource may get, and the conditions that exclude others."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Connection
from tests.commands import Cli


def insert(db: Connection, first: int, jobs: int, **requirements: object) -> None:
    """Insert jobs with these requirements; their ids begin with `first`."""
    asked = {"Owner": "/CN=u", "OwnerGroup": "g", "OwnerDN": "/CN=u", "CPUTime": 1000, **requirements}
    for number in range(first, first + jobs):
        db.execute("select taskqueue.insert_job('default', %s, %s)", [number, Jsonb(asked)])


@pytest.fixture
def waiting(db: Connection) -> Connection:
    """Fifteen jobs of five kinds."""
    insert(db, 1, 3, Sites="NORTH")
    insert(db, 11, 5, Sites="SOUTH")
    insert(db, 21, 2, Sites="EAST")
    insert(db, 31, 4, Sites="SOUTH", Tags="GPU")
    insert(db, 41, 1)
    return db


def rows(db: Connection, **resource: object) -> list[tuple[Any, ...]]:
    query = "select jobs, task_queues, failing from taskqueue.explain_resource('default', %s)"
    return db.execute(query, [Jsonb(resource)]).fetchall()


def test_task_queues_that_fail_the_same_conditions_are_one_row(waiting: Connection) -> None:
    assert rows(waiting, Site="NORTH", CPUTime=86400) == [(7, 2, ["Site"]), (4, 2, []), (4, 1, ["Site", "Tag"])]
    assert rows(waiting, Site="SOUTH", CPUTime=86400, Tag=["GPU"]) == [(10, 3, []), (5, 2, ["Site"])]


def test_rows_without_a_failing_condition_are_the_jobs_that_match(waiting: Connection) -> None:
    """The explanation and matching_queues agree for each resource, also where TaskQueues are disabled."""
    waiting.execute(
        "select taskqueue.set_task_queue_enabled('default', min(task_queue_id), false) from taskqueue.task_queue"
    )
    for resource in ({"Site": "NORTH"}, {"Site": "SOUTH"}, {"Site": "SOUTH", "Tag": ["GPU"]}, {"CPUTime": 10}):
        offered = {"CPUTime": 86400, **resource}
        query = "select coalesce(sum(jobs), 0)::int, count(*) from taskqueue.matching_queues('default', %s)"
        [matching] = waiting.execute(query, [Jsonb(offered)]).fetchall()
        told = [(jobs, queues) for jobs, queues, failing in rows(waiting, **offered) if not failing]
        assert (told or [(0, 0)]) == [matching]
    assert (3, 1, ["TaskQueue"]) in rows(waiting, Site="NORTH", CPUTime=86400)


def test_explain_of_a_resource_says_that_no_job_waits(db: Connection, cli: Cli) -> None:
    insert(db, 1, 1)
    db.execute("select taskqueue.match_job('default', %s)", [Jsonb({"CPUTime": 86400})])
    assert rows(db, CPUTime=86400) == []
    assert cli("explain", "--cpu-time", 86400).out == "0 jobs wait, 0 match this resource\n"


def test_explain_of_a_resource_shows_a_table(cli: Cli, waiting: Connection) -> None:
    shown = cli("explain", "--site", "NORTH", "--cpu-time", 86400).out
    assert shown.startswith("15 jobs wait, 4 match this resource\n")
    assert "Kept away" in shown and "Site one of: SOUTH" in shown and "█" in shown
    limited = cli("explain", "--site", "NORTH", "--cpu-time", 86400, "--limit", 1).out
    assert "Kept away: 1 of 2 (--all)" in limited and "GPU" not in limited
    printed = cli("explain", "--site", "NORTH", "--cpu-time", 86400, "--json").json
    assert [(row["jobs"], row["failing"]) for row in printed] == [(7, ["Site"]), (4, []), (4, ["Site", "Tag"])]


def test_explain_of_a_resource_shows_the_whole_reason_of_a_quarantine(cli: Cli, db: Connection) -> None:
    insert(db, 1, 1, Sites="NORTH")
    asked = ("--site", "NORTH", "--cpu-time", 86400, "--host", "n17")
    assert cli("explain", *asked).out == "1 job waits, 1 matches this resource\n"
    why = "4 of 4 jobs failed, the last one within a minute (class infrastructure), 3 % would be usual for them"
    cli("quarantine", "set", "host", "n17", why, "--site", "NORTH")
    assert why in cli("explain", *asked).out and why in cli("explain", 1, *asked).out


@pytest.mark.parametrize(("arguments", "code", "said"), [
    (("explain",), 2, "name a job or a task"),
    (("explain", "--site", "S", "--setup", "nowhere"), 1, "setup nowhere does not exist"),
    (("explain", "--resource", "[]"), 1, "--resource is not a JSON object"),
    (("explain", "--resource", '{"CPUTime": "x"}'), 1, "CPUTime"),
    (("explain", "--site", "S", "--run", 1), 2, "are for a task"),
    (("explain", "task", 1, "--site", "S"), 2, "a resource is for a job"),
])  # fmt: skip
def test_wrong_requests_to_explain_are_refused(
    cli: Cli, waiting: Connection, arguments: tuple[Any, ...], code: int, said: str
) -> None:
    refused = cli(*arguments)
    assert (refused.code, refused.out) == (code, "")
    assert said in refused.err.replace("│\n│ ", "")
