"""The time of a setup: real, or stopped at a moment for tests and simulation."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.calls import Calls

MOMENT = datetime(2026, 3, 28, 12, tzinfo=UTC)


def clock(q: Calls) -> datetime:
    moment = q.value("select resource.clock(%s)", q.setup)
    assert isinstance(moment, datetime)
    return moment


def test_the_clock_is_the_real_time(q: Calls) -> None:
    assert clock(q) == q.value("select now()")


def test_a_simulated_setup_has_its_own_time(q: Calls) -> None:
    other = Calls(q.connection, "other")
    q.set_clock(MOMENT)
    assert clock(q) == MOMENT
    assert clock(other) == q.value("select now()")
    q.set_clock(MOMENT + timedelta(days=1))
    assert clock(q) == MOMENT + timedelta(days=1)
    q.set_clock(None)
    assert clock(q) == q.value("select now()")


@pytest.mark.parametrize("moment", ["infinity", "-infinity", "10000-01-01 UTC", "0099-12-31 UTC"])
def test_a_clock_that_no_interval_can_be_added_to_is_refused(q: Calls, moment: str) -> None:
    q.set_clock(MOMENT)
    code, message = q.refusal(lambda: q.set_clock(moment))
    assert code == "PB001" and message.startswith("clock is ")
    assert clock(q) == MOMENT


def test_stored_times_are_those_of_the_setups_clock(q: Calls) -> None:
    q.set_clock(MOMENT)
    q.insert(1)
    assert q.value("select inserted_at from taskqueue.job where job_id = 1") == MOMENT
    later = MOMENT + timedelta(hours=1)
    q.set_clock(later)
    match = q.take()
    assert q.rows("select matched_at, expires_at from taskqueue.lease") == [(later, later + timedelta(minutes=30))]
    last = later + timedelta(minutes=5)
    q.set_clock(last)
    q.call_rows("report_job", 1, match.attempt)
    assert q.value("select reported_at from taskqueue.lease") == last
    q.call("finish_job", 1, match.attempt)
    assert q.value("select ended_at from taskqueue.ended") == last
    events = dict(q.rows("select event, at from taskqueue.history where job_id = 1"))
    assert (events["matched"], events["finished"]) == (later, last)


def test_the_lease_time_is_a_setting(q: Calls) -> None:
    q.settings(lease_time=60)
    q.insert(1)
    q.take()
    assert q.value("select expires_at - matched_at from taskqueue.lease") == timedelta(minutes=1)


def test_forget_ended_goes_by_the_setups_time(q: Calls) -> None:
    q.set_clock(MOMENT)
    q.insert(1)
    q.call("cancel_job", 1)
    q.set_clock(MOMENT + timedelta(hours=23))
    assert q.call("forget_ended") == 0
    q.set_clock(MOMENT + timedelta(hours=25))
    q.insert(2)
    q.call("cancel_job", 2)
    assert q.call("forget_ended") == 1
    assert (q.state(1), q.state(2)) == ("unknown", "ended")
