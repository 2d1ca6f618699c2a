"""A job of forty minutes on the setup's clock is given out once, through either API: its pilot reports in time."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.service.conftest import SETUP, Db
from tests.service.panda.conftest import QUEUE, Insert, Pilot, Pilots

BEGIN = datetime(2026, 6, 1, tzinfo=UTC)


def older(pilot: Pilot, state: str) -> Any:
    return pilot.older("updateJob", jobId=71, state=state, attemptNr=1)["command"]


def v1(pilot: Pilot, state: str) -> Any:
    return pilot.v1("update_job", job_id=71, job_status=state, attempt_nr=1)["data"]["command"] or "NULL"


@pytest.mark.parametrize("update", [older, v1], ids=["older", "v1"])
def test_a_job_of_forty_minutes_is_given_out_once(
    pilot: Pilots, insert: Insert, db: Db, update: Callable[[Pilot, str], Any]
) -> None:
    insert(71)
    one, other = pilot("pilot 1"), pilot("pilot 2")
    db.execute("select resource.set_clock(%s, %s)", [SETUP, BEGIN])
    assert one.older("getJob", siteName=QUEUE)["PandaID"] == 71
    for minute in range(5, 45, 5):
        db.execute("select resource.set_clock(%s, %s)", [SETUP, BEGIN + timedelta(minutes=minute)])
        db.execute("select from lifecycle.expire_leases(%s)", [SETUP])
        assert other.older("getJob", siteName=QUEUE)["StatusCode"] == 20
        assert not other.v1("acquire_jobs", site_name=QUEUE)["success"]
        assert update(one, "running" if minute < 40 else "finished") == "NULL"
    assert db.execute("select outcome, attempts from taskqueue.ended").fetchall() == [("finished", 1)]
    assert db.execute("select event from taskqueue.history order by at").fetchall() == [
        ("matched",), ("running",), ("finished",)
    ]  # fmt: skip


def test_a_silent_pilot_learns_that_its_job_was_given_to_another(pilot: Pilots, insert: Insert, db: Db) -> None:
    insert(71)
    one, other = pilot("pilot 1"), pilot("pilot 2")
    db.execute("select resource.set_clock(%s, %s)", [SETUP, BEGIN])
    assert one.older("getJob", siteName=QUEUE)["attemptNr"] == 1
    db.execute("select resource.set_clock(%s, %s)", [SETUP, BEGIN + timedelta(minutes=40)])
    db.execute("select from lifecycle.expire_leases(%s)", [SETUP])
    assert other.older("getJob", siteName=QUEUE)["attemptNr"] == 2
    assert (older(one, "running"), v1(one, "finished")) == ("tobekilled", "tobekilled")
    assert other.older("updateJob", jobId=71, state="finished", attemptNr=2)["command"] == "NULL"
