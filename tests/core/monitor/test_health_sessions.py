"""Sessions that hold others back: old snapshots, waits, transactions left open, connections, commits."""

import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.calls import Calls, Connect, Connection
from tests.core.monitor.conftest import look
from tests.core.monitor.test_health_settings import burn


def session(connection: Connection) -> str:
    """The name of a connection in the view."""
    return f"session {connection.info.backend_pid} of {connection.info.user}"


@pytest.mark.slow
def test_a_session_that_holds_an_old_snapshot_is_advised_about(db: Connection, connect: Connect) -> None:
    holder = connect()
    for _ in range(120):  # its snapshot is as old as the oldest transaction, maybe another test's
        holder.execute("begin isolation level repeatable read")
        holder.execute("select from pg_class limit 1")
        seen = look(db).get(session(holder))
        if seen is None or seen.verdict == "ok":
            break
        holder.execute("rollback")
        time.sleep(1)
    assert seen is None or seen.verdict == "ok"
    burn(db, 10_000)
    found = look(db)[session(holder)]
    assert (found.area, found.verdict) == ("snapshot", "advice")
    assert f"pg_terminate_backend({holder.info.backend_pid})" in str(found.remedy)
    assert "idle" not in found.value  # a viewer sees neither state nor time
    assert "idle in transaction" in look(db, None)[session(holder)].value
    burn(db, 90_000)
    assert look(db)[session(holder)].verdict == "problem"
    assert int(look(db)[session(holder)].value.split()[0]) >= 100_000
    holder.execute("commit")
    assert session(holder) not in look(db)


@pytest.mark.slow
@pytest.mark.parametrize(("statement", "holds"), [("pg_current_xact_id()", True), ("count(*) from pg_class", False)])
def test_another_databases_transaction_holds_rows_when_it_has_written(
    db: Connection, connect: Connect, new_database: Callable[..., str], statement: str, holds: bool
) -> None:
    with psycopg.connect(new_database()) as holder:
        holder.execute("set transaction isolation level repeatable read")
        holder.execute(f"select {statement}".encode())
        burn(db, 10_000)
        assert (session(holder) in look(db)) == holds
        # the finding is true: rows deleted now stay
        reaches = connect().execute("select age(pg_snapshot_xmin(pg_current_snapshot())::xid)").fetchall()[0][0]
        assert reaches >= 10_000 or not holds


def test_a_snapshot_of_a_dropped_role_has_a_remedy(db: Connection, dsn: str) -> None:
    db.execute("create role test_gone login password 'not a secret'")
    with psycopg.connect(make_conninfo(dsn, user="test_gone", password="not a secret")) as holder:
        holder.execute("set transaction isolation level repeatable read")
        holder.execute("select from pg_class limit 1")
        db.execute("drop role test_gone")
        burn(db, 10_000)
        pid = holder.info.backend_pid
        assert look(db)[f"session {pid} of the server"].remedy == f"select pg_terminate_backend({pid})"


@pytest.mark.parametrize("slot", [None, "test_standby"])
def test_a_standby_that_holds_rows_is_named(db: Connection, slot: str | None) -> None:
    """A standby with hot_standby_feedback = on sends this while a query runs there; a slot keeps it."""
    if slot:
        db.execute("select pg_create_physical_replication_slot(%s, true)", [slot])
    [(xid, where)] = db.execute(
        "select pg_current_xact_id()::text::bigint, pg_current_wal_flush_lsn()::text"
    ).fetchall()
    dsn = make_conninfo(db.info.dsn, password=db.info.password, replication="true", application_name="a standby")
    standby = psycopg.pq.PGconn.connect(dsn.encode())
    standby.send_query(f"START_REPLICATION {f'SLOT {slot}' if slot else ''} PHYSICAL {where}".encode())
    answer = standby.get_result()
    assert answer and answer.status == psycopg.pq.ExecStatus.COPY_BOTH, standby.error_message
    standby.put_copy_data(b"h" + struct.pack("!qIIII", 0, xid % 2**32, xid // 2**32, 0, 0))
    standby.flush()
    burn(db, 10_000)
    pid = standby.backend_pid
    name = f"replication slot {slot}" if slot else f"process {pid} for standby a standby"
    found = look(db)[name]
    assert (found.area, found.verdict) == ("snapshot", "advice")
    standby.finish()
    wait_until(db, f"not exists (select from pg_stat_activity where pid = {pid})")
    if slot:  # the slot keeps what its standby last asked for
        assert f"pg_drop_replication_slot('{slot}')" in str(look(db)[name].remedy)
        db.execute("select pg_drop_replication_slot(%s)", [slot])
    assert name not in look(db)


def wait_until(connection: Connection, condition: str) -> None:
    """Wait, five seconds at most."""
    for _ in range(100):
        if connection.execute(f"select {condition}".encode()).fetchall() == [(True,)]:
            return
        time.sleep(0.05)
    pytest.fail(f"not so after 5 s: {condition}")


@pytest.mark.slow
def test_long_waits_and_open_transactions_are_named(db: Connection, connect: Connect) -> None:
    assert not [f for f in look(db, None).values() if f.area in {"lock", "open call"} and f.verdict != "ok"]
    Calls(db).insert_many(range(1, 4))
    agent, waiter = connect(), connect()
    agent.execute("begin")
    assert Calls(agent).match()
    db.execute("select pg_advisory_lock(42)")
    waiting = threading.Thread(target=lambda: waiter.execute("select pg_advisory_lock(42)"))
    waiting.start()
    time.sleep(3.3)
    seen = look(db)
    assert (seen[session(waiter)].area, seen[session(waiter)].verdict) == ("lock", "problem")
    assert f"pg_blocking_pids({waiter.info.backend_pid})" in str(seen[session(waiter)].remedy)
    assert "open call" not in {finding.area for finding in seen.values()}  # viewers get no verdict on it
    assert "lacking" in seen["pg_read_all_stats"].value
    opened = [f for f in findings(db) if f[0] == "open call"]
    assert [(f[1], f[3]) for f in opened] == [(session(agent), "advice")]
    db.execute("select pg_advisory_unlock(42)")
    waiting.join()
    agent.execute("commit")
    assert not [f for f in look(db, None).values() if f.area in {"lock", "open call"} and f.verdict != "ok"]


def findings(connection: Connection) -> list[Any]:
    """All rows: a session may be in several."""
    return connection.execute("select * from monitor.health").fetchall()


def test_a_missing_right_to_read_statistics_is_advised_about(rolled_back: Connection) -> None:
    rolled_back.execute("create role test_dba in role broker_viewer")
    found = look(rolled_back, "test_dba")["pg_read_all_stats"]
    assert found.verdict == "advice"
    assert str(found.remedy).startswith("grant pg_read_all_stats to test_dba")
    rolled_back.execute("grant pg_read_all_stats to test_dba")
    assert "pg_read_all_stats" not in look(rolled_back, "test_dba")


@pytest.mark.slow
def test_connections_that_make_few_calls_are_advised_about(dsn: str, db: Connection) -> None:
    assert look(db)["calls a connection"].verdict == "ok"
    for _ in range(200):
        psycopg.connect(dsn, autocommit=True).close()
    assert look(db)["calls a connection"].verdict == "advice"
    commit(db, 5000)
    assert look(db)["calls a connection"].verdict == "ok"


def test_frequent_commits_without_commit_delay_are_advised_about(db: Connection) -> None:
    assert look(db)["commit_delay"].verdict == "ok"
    db.execute("select pg_stat_reset()")
    commit(db, 20_000)
    assert look(db)["commit_delay"].verdict == "advice"
    db.execute("set commit_delay = 100")
    assert look(db)["commit_delay"].verdict == "ok"


def commit(connection: Connection, times: int) -> None:
    """Commit, and have it counted."""
    connection.execute(f"do $$ begin for i in 1..{times} loop commit; end loop; end $$".encode())
    connection.execute("select pg_stat_force_next_flush()")
    connection.execute("select 1")
