"""A job that cannot enter a TaskQueue, or that a condition fails for, does not stop the others."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connection
from tests.core.lifecycle import grids

NAMES = ("user", "orig_user", "gshare", "working_group", "label")


@pytest.mark.parametrize("empty", [*((name,) for name in NAMES), NAMES])
def test_an_empty_name_of_a_task_counts_as_not_given(rolled_back: Connection, empty: tuple[str, ...]) -> None:
    odd: dict[str, Any] = {"id": 2, **dict.fromkeys(empty, "")}
    grids.load(rolled_back, "s", tasks=[{"id": 1, "user": "ann"}, odd])
    jobs = grids.make(rolled_back, "s") + grids.make(rolled_back, "s", task=2)
    assert grids.activate(rolled_back, "s") == {"assigned": 2, "activated": 2}
    assert [grids.status(rolled_back, "s", job) for job in jobs] == ["activated", "activated"]


@pytest.mark.parametrize("taken", [False, True])
def test_a_submitted_job_with_the_id_of_a_job_stays_whole(rolled_back: Connection, taken: bool) -> None:
    """Both transactions were under way at once: neither saw the other's job."""
    grids.load(rolled_back, "s")
    calls = Calls(rolled_back, "s")
    calls.insert(5)
    if taken:
        calls.take()
    rows = [{"job_id": id, "task_id": 1, "queue": "QA", "status": "assigned"} for id in (4, 5, 6)]
    before = calls.state(5)
    rolled_back.execute("select workload.store('s', 'job', %s)", (Jsonb(rows),))
    assert grids.activate(rolled_back, "s") == {"assigned": 0, "activated": 2}
    assert [grids.status(rolled_back, "s", id) for id in (4, 5, 6)] == ["activated", "assigned", "activated"]
    assert calls.state(5) == before
    assert calls.inconsistencies() == []


def test_a_condition_that_fails_for_a_job_concerns_no_other(rolled_back: Connection) -> None:
    grids.load(rolled_back, "s")
    late = {
        "created": "2026-02-20T12:00:00Z",
        "modified": "2026-02-20T12:00:00Z",
        "state_changed": "2026-02-20T12:00:00Z",
    }
    rows = [{"job_id": id, "task_id": 1, "queue": "QA", **late} for id in (4, 5, 6, 7)]
    states = ("activated", "activated", "activated", "holding")
    rows = [{**row, "status": status} for row, status in zip(rows, states, strict=True)]
    rolled_back.execute("select workload.store('s', 'job', %s)", (Jsonb(rows),))
    rolled_back.execute(
        "create schema acme; grant usage on schema acme to public;"
        "create function acme.is_odd(f lifecycle.timeout_facts) returns text language sql stable"
        " return case when 1 / (f.job_id - 5) > 9 then 'not now' end"
    )
    own = {"position": 5, "statuses": ["activated"], "clock": "waiting", "constant": "1 hour", "action": "cancel"}
    changes = Jsonb({**own, "conditions": ["acme.is_odd"]})
    rolled_back.execute("select lifecycle.set_timeout('s', 'odd', %s)", (changes,))
    said = "the condition acme.is_odd failed: division by zero"
    for dry_run in (True, False):
        [(report,)] = rolled_back.execute(
            "select lifecycle.watch_step('s', 'timeouts', %s, null)", (dry_run,)
        ).fetchall()
        found = {(row["rule"], row["action"]): row["jobs"] for row in report}
        assert found == {("odd", "cancel"): 2, ("activated", "rebroker"): 1, ("holding", "fail"): 1} | (
            {("odd", f"error: {said}"): 0} if dry_run else {}
        )
    assert [grids.status(rolled_back, "s", id) for id in (4, 5, 6, 7)] == ["cancelled", "closed", "cancelled", "failed"]
