"""The tables of taskqueue, and whether the background work is done."""

from typing import Any

import pytest

from tests.calls import Calls, Connection
from tests.core.monitor.conftest import Health, drop_partitions, look


@pytest.mark.slow
def test_dead_rows_and_the_space_that_they_leave_are_named(db: Connection) -> None:
    table, index = "table job_count_change", "index job_count_change_queue"
    assert look(db)["dead rows"].verdict == look(db)["size of tables and indexes"].verdict == "ok"
    db.execute("alter table taskqueue.job_count_change set (autovacuum_enabled = off)")
    fill = (
        "insert into taskqueue.job_count_change"
        " select 'a setup with a name of fifty characters, nearly', i, '1', 1, 1, null from generate_series(1, {}) i"
    )
    for rows, verdict in ((60_000, "advice"), (500_000, "problem")):
        db.execute(fill.format(rows).encode())
        db.execute("delete from taskqueue.job_count_change")
        db.execute("select pg_stat_force_next_flush()")
        found = {finding[1]: finding for finding in rows_of(db, "bloat")}
        assert any(f[1] == table and f[3] == verdict and "dead rows" in f[2] for f in rows_of(db, "bloat"))
        assert "dead rows" not in found
    assert {table, index} <= {f[1] for f in rows_of(db, "bloat") if f[3] == "advice"}
    db.execute("vacuum taskqueue.job_count_change")
    assert look(db)["dead rows"].verdict == "ok"
    remedy = look(db)[index].remedy
    assert remedy == "reindex index concurrently taskqueue.job_count_change_queue"
    db.execute(remedy.encode())
    assert look(db)["size of tables and indexes"].verdict == "ok"


def rows_of(connection: Connection, area: str) -> list[Any]:
    """All rows of an area: a table may be in two."""
    return connection.execute("select * from monitor.health where area = %s", [area]).fetchall()


def test_a_table_without_autovacuum_is_a_problem(rolled_back: Connection, health: Health) -> None:
    """The shared tables have rows that other tests rolled back, so another area may name the same table."""
    assert rows_of(rolled_back, "autovacuum") == []
    rolled_back.execute("alter table taskqueue.job set (autovacuum_enabled = off)")
    found = health()["table job"]
    assert (found.area, found.verdict) == ("autovacuum", "problem")
    rolled_back.execute(str(found.remedy).encode())
    assert rows_of(rolled_back, "autovacuum") == []


@pytest.mark.slow
def test_a_table_that_was_never_analyzed_is_named(db: Connection) -> None:
    """The test has its own database, since the shared one has rows that other tests rolled back."""
    assert "statistics" not in {finding.area for finding in look(db).values()}
    with db.transaction(force_rollback=True):
        Calls(db).insert_many(range(1, 3000))
        assert look(db)["table job"][2:4] == ("never analyzed", "advice")
        db.execute("select taskqueue.refresh_statistics()")
        assert "statistics" not in {finding.area for finding in look(db).values()}


def test_a_trigger_of_somebody_else_is_named(rolled_back: Connection, health: Health) -> None:
    assert "trigger" not in {finding.area for finding in health().values()}
    rolled_back.execute(
        "create function pg_temp.tell() returns trigger language plpgsql as 'begin notify jobs; return null; end';"
        " create trigger tell after delete on taskqueue.job for each row execute function pg_temp.tell()"
    )
    assert health()["tell on job"].verdict == "advice"
    rolled_back.execute("alter table taskqueue.job disable trigger tell")
    assert "tell on job" not in health()


@pytest.mark.parametrize(("age", "verdict"), [(10**6, "ok"), (7 * 10**8, "advice"), (13 * 10**8, "problem")])
def test_old_transaction_ids_are_judged_by_their_age(
    rolled_back: Connection, health: Health, age: int, verdict: str
) -> None:
    wraps = 2**32
    rolled_back.execute(
        "update pg_database set datfrozenxid = ((pg_current_xact_id()::text::bigint + %s) %% %s)::text::xid"
        " where datname = current_database()",
        [wraps - age, wraps],
    )
    assert health()["age of the oldest"].verdict == verdict


# The background work

LATE = {
    "share_mark": "insert into taskqueue.share_mark values ('default', 'g', now() - interval '%s seconds')",
    "resource_seen": "insert into taskqueue.resource_seen"
    " values ('default', gen_random_uuid(), now() - interval '%s seconds', true, '{}')",
}


@pytest.mark.parametrize("trace", LATE)
def test_late_maintenance_is_advised_about(rolled_back: Connection, health: Health, trace: str) -> None:
    Calls(rolled_back).insert(1)
    Calls(rolled_back).maintain()
    rolled_back.execute((LATE[trace] % 15).encode())
    assert health()["setup default"].verdict == "ok"
    rolled_back.execute((LATE[trace] % 120).encode())
    assert health()["setup default"].verdict == "advice"
    Calls(rolled_back).maintain()
    assert health()["setup default"].verdict == "ok"


def test_maintenance_goes_by_the_time_of_the_setup(rolled_back: Connection, health: Health) -> None:
    q = Calls(rolled_back)
    q.insert(1)
    q.set_clock("2020-01-01 00:00+00")
    assert health()["setup default"].verdict == "ok"
    q.insert(2, OwnerGroup="other")
    q.set_clock("2020-01-01 00:02+00")
    assert health()["setup default"].verdict == "advice"


def test_maintenance_says_that_the_clock_is_set(rolled_back: Connection, health: Health) -> None:
    q = Calls(rolled_back)
    q.insert(1)
    rolled_back.execute("update taskqueue.share_mark set marked_at = '2020-01-01 00:00+00'")
    rolled_back.execute("update taskqueue.setting set share_delay = '4 s'")
    q.set_clock("2020-01-04 00:00+00")
    assert health()["setup default"].value == "not done for 2 days 23:59:56, by its clock, which is set"
    rolled_back.execute("update taskqueue.share_mark set marked_at = now() - interval '1 hour'")
    rolled_back.execute("select resource.set_clock('default', null)")
    assert health()["setup default"].value == "not done for 00:59:56"


def test_changes_of_counts_that_pile_up_are_named(db: Connection) -> None:
    q = Calls(db)
    queue = q.insert(1)
    change = (
        "insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change)"
        " select 'default', %s, 1, 0 from generate_series(1, %s)"
    )
    q.connection.execute(change, [queue, 400])
    assert look(db)["changes of counts"].verdict == "ok"
    q.connection.execute(change, [queue, 100])
    assert look(db)["changes of counts"][2:4] == (f"501 of queue {queue} in setup default", "advice")
    q.maintain()
    assert look(db)["changes of counts"][2:4] == ("0", "ok")


@pytest.mark.parametrize(("changes", "age", "verdict"), [(99_999, 1, "ok"), (100_000, 1, "advice"), (1, 11, "advice")])
def test_changes_of_job_counts_that_pile_up_are_named(
    rolled_back: Connection, health: Health, changes: int, age: int, verdict: str
) -> None:
    Calls(rolled_back).insert(1)
    rolled_back.execute(
        "insert into workload.job_change (setup, at, jobs, from_status, to_status, cores, disk_io_jobs)"
        " select 'default', now() - %s * interval '1 minute', 1, 'defined', 'assigned', 1, 0"
        "   from generate_series(1, %s)",
        [age, changes],
    )
    assert health()["changes of job counts"].verdict == verdict


def test_overdue_leases_that_nobody_ends_are_named(rolled_back: Connection, health: Health) -> None:
    q = Calls(rolled_back)
    q.insert(1)
    q.take()
    assert health()["leases that expired"].verdict == "ok"
    expires = (
        "update taskqueue.lease set matched_at = now() - interval '2 h', expires_at = now() - %s::interval returning 1"
    )
    q.rows(expires, "59 s")
    assert health()["leases that expired"].verdict == "ok"
    q.rows(expires, "61 s")
    assert health()["leases that expired"][2:4] == ("1", "advice")
    q.rows("update taskqueue.lease set brokered = true returning 1")
    q.rows("insert into resource.queue (setup, queue) values ('default', 'Q') returning 1")
    q.rows("insert into workload.job (setup, job_id, queue) values ('default', 1, 'Q') returning 1")
    assert health()["leases that expired"].verdict == "advice"
    q.rows("update resource.queue set status = 'paused' returning 1")  # timeouts leave its jobs alone
    assert health()["leases that expired"].verdict == "ok"
    q.rows("update taskqueue.lease set brokered = false returning 1")
    q.rows("select * from lifecycle.expire_leases('default')")
    assert health()["leases that expired"].verdict == "ok"


@pytest.mark.slow
def test_missing_partitions_of_the_history_are_named(rolled_back: Connection, health: Health) -> None:
    ahead, beyond = "partitions made ahead", "partitions beyond the retention"
    assert health()[ahead][2:4] == ("3 days", "ok")  # the installation made them
    drop_partitions(rolled_back)
    assert health()[ahead].verdict == "ok"  # there is nothing to write yet
    q = Calls(rolled_back)
    q.insert(1)
    assert health()[ahead][2:4] == ("none for today", "advice")
    q.rows("select * from taskqueue.maintain()")
    assert health()[ahead][2:4] == ("3 days", "ok")
    drop_partitions(rolled_back, [1])
    assert health()[ahead][2:4] == ("0 days", "advice")
    assert health()[beyond].verdict == "ok"
    rolled_back.execute(
        "create table taskqueue.history_20001231 partition of taskqueue.history"
        " for values from ('-infinity') to ('2001-01-01')"
    )
    assert health()[beyond].verdict == "advice"
    q.rows("select * from taskqueue.maintain()")
    assert health()[beyond].verdict == health()[ahead].verdict == "ok"


def test_events_in_the_default_partition_are_named(rolled_back: Connection, health: Health) -> None:
    drop_partitions(rolled_back)
    q = Calls(rolled_back)
    q.insert_many([1, 2])
    assert health()["events in history_default"][2:4] == ("0", "ok")
    match = q.take()
    q.call("finish_job", match.job_id, match.attempt)
    assert health()["events in history_default"][2:4] == ("2", "advice")
