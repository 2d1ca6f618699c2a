"""resource.change: changes by hand, their authors, and the values before."""

import json
from typing import Any

import psycopg
import pytest

from tests.calls import Calls, Connect, Connection
from tests.core.lifecycle import grids

Change = tuple[str, str, Any, Any]


def changes(db: Connection, setup: str | None = "default") -> list[Change]:
    """The changes since the last call: object, name, before, after."""
    rows = db.execute(
        "with gone as (delete from resource.change returning *)"
        " select object, name, before, after from gone where setup is not distinct from %s order by change_id", [setup]
    ).fetchall()  # fmt: skip
    return [tuple(row) for row in rows]


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    """A setup whose first changes are forgotten."""
    q = Calls(rolled_back)
    q.insert(1, Sites=["S"])
    changes(rolled_back)
    return q


def test_changes_of_limits_groups_and_settings_are_recorded(q: Calls) -> None:
    db = q.connection
    q.call("set_limit", "running", "S", None, "JobType", "MC", 3)
    q.call("set_limit", "running", "S", None, "JobType", "MC", 5)
    q.call("set_limit", "running", "S", None, "JobType", "MC", 5)  # changes nothing
    q.call("clear_limit", "running", "S", None, "JobType", "MC")
    first, second, gone = changes(db)
    assert first[:3] == ("limit", "running S JobTypes MC", None) and None not in first[3].values()
    assert first[3]["ceiling"] == 3
    assert second == ("limit", "running S JobTypes MC", {"ceiling": 3}, {"ceiling": 5})
    assert (gone[1], gone[2]["ceiling"], gone[3]) == ("running S JobTypes MC", 5, None)
    q.set_group("users", 2000)
    q.set_group("users", 3000, sharing=True)
    new, changed = changes(db)
    assert (new[:3], new[3]["share"]) == (("owner group", "users", None), 2000)
    assert changed[2:] == ({"share": 2000, "job_sharing": False}, {"share": 3000, "job_sharing": True})
    q.call("set_cpu_buckets", [500, 86400])
    assert ("CPU bucket", "500") in [change[:2] for change in changes(db)] or not changes(db)
    q.call("set_platform_compatibility", "el9", ["el8"])
    assert [change[:2] for change in changes(db)] == [("compatible platform", "el9 el8")]
    q.call("set_attributes", json.dumps({"glibc": "version", "arch": "text"}))
    q.call("set_attributes", json.dumps({"glibc": {"type": "version", "absent": "passes"}}))
    new, other, gone, changed = changes(db)
    assert {new[:3], other[:3]} == {("attribute", "arch", None), ("attribute", "glibc", None)}
    assert (gone[1], gone[2]["type"], gone[3]) == ("arch", "text", None)
    assert changed == ("attribute", "glibc", {"absent": "fails"}, {"absent": "passes"})
    q.settings(queue_size=7)
    assert changes(db) == [
        ("settings", "taskqueue", {"queue_size": 5000}, {"queue_size": 7}),
    ]  # fmt: skip


def test_matching_records_no_change(q: Calls) -> None:
    q.call("set_limit", "delay", "S", None, "JobType", "MC", 1)
    changes(q.connection)
    q.insert(2, Sites=["S"], JobTypes=["MC"])
    match = q.take(Site="S", JobType="MC")
    q.call("report_job", match.job_id, match.attempt)
    q.call("finish_job", match.job_id, match.attempt, "finished")
    q.maintain()
    assert changes(q.connection) == []


def test_holds_and_their_ends_are_recorded(q: Calls) -> None:
    queue = q.queue_of(1)
    for kind, name, shown in (
        ("job", "1", "job"),
        ("owner", "alice", "owner"),
        ("task_queue", str(queue), "TaskQueue"),
    ):
        q.call("hold", kind, name)
        q.call("hold", kind, name)  # changes nothing
        q.call("resume", kind, name)
        assert changes(q.connection) == [
            (shown, name, {"held": False}, {"held": True}), (shown, name, {"held": True}, {"held": False}),
        ]  # fmt: skip
    q.call("set_task_queue_enabled", queue, True)
    q.call("set_task_queue_enabled", queue, False)
    assert changes(q.connection) == [("TaskQueue", str(queue), {"enabled": True}, {"enabled": False})]


def test_cancelled_jobs_are_recorded(q: Calls) -> None:
    q.insert_many([2, 3], Sites=["T"])
    match = q.take(Site="T")
    q.connection.execute("select lifecycle.cancel_jobs('default', '{1,2,3}', 'no more')")
    assert changes(q.connection) == [("job", "1", None, {"cancelled": 2, "kill asked": 1, "reason": "no more"})]
    assert match.job_id in (2, 3)
    q.connection.execute("select lifecycle.cancel_jobs('default', '{1}', 'again')")
    assert changes(q.connection) == []


def test_a_cancelled_task_is_recorded(rolled_back: Connection) -> None:
    grids.load(rolled_back, "default")
    [(task,)] = rolled_back.execute("select min(task_id) from workload.task").fetchall()
    changes(rolled_back)
    rolled_back.execute("select lifecycle.cancel_task('default', %s, 'wrong input')", [task])
    [change] = changes(rolled_back)
    assert change[:2] == ("task", str(task))
    assert change[3] == {"status": "aborted", "reason": "wrong input"}


def test_changes_of_configuration_and_profiles_are_recorded(q: Calls) -> None:
    db = q.connection
    db.execute("select resource.set_config('default', 'jobbroker:IO_INTENSITY_CUTOFF', '5000')")
    db.execute("select resource.set_config('default', 'jobbroker:IO_INTENSITY_CUTOFF', 'null')")
    new, gone = changes(db)
    assert (new[0], new[2], new[3]["value"]) == ("configuration", None, 5000)
    assert (gone[0], gone[1], gone[2]["value"], gone[3]) == ("configuration", new[1], 5000, None)
    db.execute("select brokerage.set_settings('default', '{\"profile\": \"panda2026\"}')")
    [(object_, _, before, after)] = changes(db)
    assert (object_, before["profile"], after["profile"]) == ("settings", "documented", "panda2026")
    db.execute("select brokerage.set_profile('acme', 'panda2026')")
    db.execute("select brokerage.set_rule('acme', 'memory', '{\"enabled\": false}')")
    db.execute("select brokerage.clear_rule('acme', 'memory')")
    db.execute("select brokerage.remove_profile('acme')")
    shown = changes(db, None)
    assert [(change[0], change[1], change[2] is None, change[3] is None) for change in shown] == [
        ("profile", "acme", True, False), ("rule", "acme production_job memory", True, False),
        ("rule", "acme production_job memory", False, True), ("profile", "acme", False, True),
    ]  # fmt: skip


def test_a_change_names_the_role_that_made_it(db: Connection, connect: Connect) -> None:
    q = Calls(db)
    q.insert(1)
    operator = connect("broker_operator")
    Calls(operator).call("hold", "job", "1")
    assert db.execute(
        "select role_name, subject, object from monitor.change where setup = 'default' order by change_id desc limit 1"
    ).fetchone() == ("broker_operator", None, "job")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect("broker_viewer").execute("select from monitor.change")


def test_a_call_that_fails_records_no_change(q: Calls) -> None:
    before = json.dumps(q.rows("select count(*) from resource.change"))
    q.refusal(lambda: q.call("set_limit", "running", "S", None, "JobType", "MC", -1))
    assert json.dumps(q.rows("select count(*) from resource.change")) == before


def test_the_removal_of_a_setup_is_recorded(q: Calls) -> None:
    q.set_group("users", 2000)
    q.settings(queue_size=7)
    assert q.call("remove_setup") is True
    assert changes(q.connection) == [("setup", "default", {}, None)]
    assert q.call("remove_setup") is False
    assert changes(q.connection) == []
