"""The guard (sql/taskqueue/GUARD.md) beside kills, retry rules, jobs that avoid a host, moves and worlds."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from broker import world
from tests.calls import Calls, Connect, Connection, refused
from tests.core.taskqueue.ends import End, History
from tests.core.taskqueue.test_guard import MINUTE, NOON, guarded, q, quarantined, round_at, scores

__all__ = ["guarded", "q"]
ERROR = [{"source": "pilot", "text": "no disk"}]
FAMILY = "select round(coalesce(sum(failures), 0)) from taskqueue.health where kind = 'family'"


def classes(q: Calls) -> None:
    q.call("set_error_classes", Jsonb([{"position": 1, "pattern": "disk", "class": "infrastructure"}]))


@pytest.mark.parametrize("killed", [True, False])
def test_a_job_that_fails_since_it_is_killed_counts_nothing(q: Calls, killed: bool) -> None:
    """An operator kills a thousand jobs: their agents report that they failed."""
    classes(q)
    q.insert_many(range(1, 9))
    for match in q.match_jobs(8, Site="A", HostName="n1"):
        if killed:
            assert q.call("cancel_job", match.job_id, "wrong input") == "kill asked"
        q.call("finish_job", match.job_id, match.attempt, "failed", Jsonb(ERROR))
    assert (round_at(q, NOON) == []) == killed
    assert (scores(q) == {}) == killed
    assert (q.value(FAMILY) == 0) == killed


def test_a_probe_that_fails_since_it_is_killed_is_followed_by_another_after_the_same_pause(guarded: Calls) -> None:
    q = guarded
    classes(q)
    q.call("mark_guarded")
    q.set_clock(NOON + 10 * MINUTE)
    match = q.take(Site="A", HostName="n17")
    q.call("cancel_job", match.job_id, "wrong input")
    q.call("finish_job", match.job_id, match.attempt, "failed", Jsonb(ERROR))
    assert round_at(q, NOON + 10 * MINUTE) == [("probed", "host", "A", "n17")]
    assert q.value("select pause from monitor.quarantine") == 10 * MINUTE


def test_a_job_that_fails_while_it_waits_counts_nothing(q: Calls) -> None:
    """A job of a task that was given back and then waits too long: taskqueue.end_waiting."""
    History(q).write([End(NOON, None, "failed", None, site=None)] * 8)
    round_at(q, NOON)
    assert q.value(FAMILY) == 0


def test_each_attempt_of_a_retried_job_counts_once(q: Calls) -> None:
    classes(q)
    q.call("set_retry_rules", Jsonb([{"position": 1, "name": "again", "decision": "retry", "failures_to": 2}]))
    q.insert(1)
    q.call_rows("guard")
    for attempt in range(1, 4):
        match = q.take(Site="A", HostName=f"n{attempt}")
        assert match.number == attempt
        with q.connection.transaction():  # its rows have a number of their own, as if it had committed
            q.call("finish_job", match.job_id, match.attempt, "failed", Jsonb(ERROR))
        if attempt != 2:
            round_at(q, NOON)
            round_at(q, NOON)
    assert q.value(FAMILY) == 3
    assert {key: row[2] for key, row in scores(q).items()} == {("A", f"n{n}"): 1 for n in (1, 2, 3)}


def test_a_probe_that_is_retried_and_then_ends_while_it_waits_failed(guarded: Calls) -> None:
    q = guarded
    classes(q)
    q.call("set_retry_rules", Jsonb([{"position": 1, "name": "later", "decision": "later", "delay": 600}]))
    q.call("mark_guarded")
    q.set_clock(NOON + 10 * MINUTE)
    match = q.take(Site="A", HostName="n17")
    q.call("finish_job", match.job_id, match.attempt, "failed", Jsonb(ERROR))
    q.set_clock(NOON + 11 * MINUTE)
    assert q.call("cancel_job", match.job_id) == "ended"
    assert round_at(q, NOON + 12 * MINUTE) == [("probed", "host", "A", "n17")]
    assert q.value("select pause from monitor.quarantine") == 20 * MINUTE


def test_jobs_that_avoid_the_worker_node_leave_its_probe_due(guarded: Calls) -> None:
    q = guarded
    q.rows("select taskqueue.mark_guarded('default')")
    q.connection.execute("update taskqueue.job set avoid = 'n17 at A', avoid_until = %s", [NOON + 20 * MINUTE])
    q.set_clock(NOON + 10 * MINUTE)
    assert q.match(Site="A", HostName="n17") is None
    assert q.value("select next_probe_at from monitor.quarantine") == NOON + 10 * MINUTE
    q.set_clock(NOON + 21 * MINUTE)
    assert q.take(Site="A", HostName="n17")


def test_a_request_without_a_worker_node_is_refused_by_its_ce_and_site_alone(guarded: Calls) -> None:
    """DIRAC's agents do not say on which worker node they are."""
    q = guarded
    agent = {"Site": "A", "GridCE": "ce1"}
    assert q.match(**agent)
    for kind, name in (("ce", "ce1"), ("site", None)):
        q.call("set_quarantine", kind, "A", name, "it burns")
        assert q.match(**agent) is None
        assert (q.match(Site="A", GridCE="ce2") is None) == (kind == "site")
        assert q.call("lift_quarantine", kind, "A", name)


def test_a_quarantine_needs_the_loop_that_marks_new_descriptions(rolled_back: Connection) -> None:
    q = Calls(rolled_back)
    needed = "select count(*) from lifecycle.needed_loop where name = 'guard'"
    assert q.value(needed) == 0
    q.call("set_quarantine", "site", "A", None, "it burns")
    assert q.value(needed) == 1
    q.call("lift_quarantine", "site", "A", None)
    assert q.value(needed) == 0


def test_a_lift_waits_for_a_round(db: Connection, connect: Connect) -> None:
    """Both change scores and quarantines: in another order, they would wait for each other."""
    q, other = Calls(db), connect()
    q.settings(guard="on")
    q.call_rows("guard")
    q.call("set_quarantine", "host", "A", "n1", "its disk is broken")
    other.execute("begin")
    Calls(other).call_rows("guard")
    db.execute("set lock_timeout = '100ms'")
    with refused("55P03"):
        q.call("lift_quarantine", "host", "A", "n1")
    other.execute("commit")
    assert q.call("lift_quarantine", "host", "A", "n1")


def test_ends_that_were_copied_to_another_server_are_not_counted_again(db: Connection, connect: Connect) -> None:
    """A move to another shard writes the history once more, in a transaction of that server, beside an older one."""
    q, older = Calls(db), connect()
    older.execute("begin")
    older.execute("select pg_current_xact_id()")
    q.settings(guard="on")
    q.call_rows("guard")
    History(q).write([End(datetime.now(UTC), "n1", "failed", "unknown")] * 2)
    q.call_rows("guard")
    with db.transaction():
        db.execute("create temp table copied on commit drop as select * from taskqueue.history")
        db.execute("delete from taskqueue.history")
        db.execute("insert into taskqueue.history select * from copied")
        q.call("rebuild_matching")
    for _ in range(2):
        q.call_rows("guard")
    assert q.value(FAMILY) == 2 and [row[1] for row in scores(q).values()] == [2]
    History(q).write([End(datetime.now(UTC), "n2", "failed", "unknown")])
    q.call_rows("guard")
    assert q.value(FAMILY) == 3


def test_the_ends_of_the_last_hour_are_counted_after_a_pause_of_the_loop(q: Calls) -> None:
    for minutes in (5, 58, 62, 120):
        History(q).write([End(NOON + minutes * MINUTE, f"n{minutes}", "failed", "unknown")])
    round_at(q, NOON + timedelta(hours=2))
    assert scores(q).keys() == {("A", "n62"), ("A", "n120")}


def test_quarantines_of_operators_are_part_of_a_world(guarded: Calls) -> None:
    q = guarded
    rows: list[dict[str, Any]] = [
        {"kind": "host", "site": None, "name": "n2", "why": "it has no site"},
        {"kind": "ce", "site": "B", "name": "ce1", "why": "its disk is broken"},
        {"kind": "site", "site": "B", "name": "B", "why": "it burns"},
    ]
    for row in rows:
        q.call("set_quarantine", *row.values())
    assert q.call("dump_configuration")["quarantines"] == rows
    for row in rows:
        q.call("lift_quarantine", *list(row.values())[:3])
    world.load(q.connection, [{"setup": q.setup, "quarantines": rows}])
    assert q.call("dump_configuration")["quarantines"] == rows
    assert [row[:3] for row in quarantined(q) if row[4] == "guard"] == [("host", "A", "n17")]
