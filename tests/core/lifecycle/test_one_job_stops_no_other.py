"""Activation: a job that cannot enter a TaskQueue does not keep the others out."""

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
