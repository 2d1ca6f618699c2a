"""Commands say that a figure was not counted yet; they never show it as 0 or as none."""

import pytest

from tests.calls import Calls, Connection
from tests.commands import AsRole, Cli


@pytest.fixture
def q(db: Connection) -> Calls:
    """A job that waits in setup default."""
    q = Calls(db)
    q.insert(1)
    return q


@pytest.mark.slow
def test_reasons_are_not_known_before_they_are_found_out(q: Calls, cli: Cli) -> None:
    assert "not found out yet: `broker summarize` finds it out" in cli("job", 1).out
    assert cli("job", 1, "--json").json["waiting"]["reason"] == "unknown"
    listed = cli("task-queues")
    assert "reason unknown: it is not found out yet; `broker summarize` finds it out" in listed.err
    assert [row["reason"] for row in cli("task-queues", "--json").json] == ["unknown"]
    cli("summarize")
    assert "no resource asked: No resource that fits has asked lately." in cli("job", 1).out
    assert "not found out" not in cli("job", 1).out + cli("task-queues").err


@pytest.mark.slow
def test_a_submitter_sees_that_a_reason_is_not_found_out_yet(q: Calls, cli: Cli, as_role: AsRole) -> None:
    cli("identity", "grant", "broker_submitter")
    as_role("broker_submitter")
    assert "not found out yet: `broker summarize` finds it out" in cli("job", 1).out
    assert [row["reason"] for row in cli("jobs", "--json").json] == ["unknown"]


@pytest.mark.slow
def test_a_held_job_has_its_reason_before_others_are_found_out(q: Calls, cli: Cli) -> None:
    cli("hold", "job", 1)
    assert "held: The job, its owner, its TaskQueue or its task is held." in cli("job", 1).out


@pytest.mark.slow
def test_reasons_are_not_none_before_they_are_counted(q: Calls, cli: Cli, db: Connection) -> None:
    assert cli("reasons").out == "Reasons: not counted yet; `broker summarize` counts\n"
    assert cli("reasons", "--json").json is None
    cli("summarize")
    counted = cli("reasons")
    assert ("no resource asked" in counted.out, counted.err) == (True, "")
    db.execute("update taskqueue.summary set counted_at = counted_at - interval '1 hour'")
    old = cli("reasons")
    assert "no resource asked" in old.out
    assert "the waiting jobs were last counted at " in old.err


@pytest.mark.slow
def test_reasons_of_a_setup_without_jobs_are_none(db: Connection, cli: Cli) -> None:
    Calls(db).insert(1)
    db.execute("delete from taskqueue.job")
    cli("summarize")
    assert cli("reasons").out == "Reasons: none\n"
    assert cli("reasons", "--json").json == []


@pytest.mark.slow
def test_alerts_are_not_none_before_they_are_judged(q: Calls, cli: Cli, db: Connection) -> None:
    words = "Alerts of setup default: not judged yet; the loops sample and notify of `broker run` judge them\n"
    assert cli("alerts").out == words
    assert cli("alerts", "--json").json is None
    assert {row["judged_at"] for row in cli("alerts", "rules", "--json").json} == {None}
    cli("sample")
    db.execute("select alert.judge('default')")
    judged = cli("alerts")
    assert (judged.out, judged.err) == ("Alerts of setup default: none\n", "")
    assert cli("alerts", "--json").json == []
    db.execute("update alert.judged set at = at - interval '1 hour'")
    assert "the alerts were last judged at " in cli("alerts").err


@pytest.mark.slow
def test_waiting_jobs_of_a_group_are_not_0_before_they_are_counted(q: Calls, cli: Cli) -> None:
    q.insert(2)
    q.take()
    figures = "select waiting, matched from monitor.group_share where setup = 'default'"
    assert q.rows(figures) == [(None, 1)]
    cli("summarize")
    assert q.rows(figures) == [(1, 1)]
