"""The time that decisions are kept: partitions by day, counts of removed ones, old runs; settings; the live counter."""

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from broker import world

Connection = psycopg.Connection[Any]

WORLD = {
    "setup": "keep",
    "queues": {"A": {"pilots": {"getjob": 1}}, "B": {"status": "offline", "pilots": {"getjob": 1}}},
    "datasets": {"in": {"files": [{"lfn": "f1", "size": 1, "nevents": 1}]}},
    "tasks": [{"id": 1, "input": ["in"]}, {"id": 2, "input": ["in"]}],
}


def add_partition(db: Connection, day: datetime) -> str:
    """The partition of a day, made by the role that makes partitions; a database of before midnight has yesterday's."""
    name, bounds = f"brokerage.verdict_{day:%Y%m%d}", (f"{day + timedelta(days=n):%Y-%m-%d} 00:00+00" for n in (0, 1))
    db.execute("set role broker_owner")
    of_day = "partition of brokerage.verdict for values from ('{}') to ('{}')".format(*bounds)
    db.execute(f"create table if not exists {name} {of_day}")
    db.execute("reset role")
    return name


@pytest.fixture
def brokered(db: Connection) -> Connection:
    """A setup in which a run decided three days ago, and another one now."""
    world.load(db, [WORLD])
    day = datetime.now(UTC) - timedelta(days=3)
    db.execute("select resource.set_clock('keep', %s)", [day])
    add_partition(db, day)
    db.execute("select brokerage.set_settings('keep', '{\"makes_jobs\": false}')")  # for the live counter
    db.execute("call brokerage.broker_jobs('keep', '{1,2}')")
    db.execute("select resource.set_clock('keep', null)")
    db.execute("call brokerage.broker_jobs('keep', '{1,2}', p_dry_run => true)")
    return db


def rows(db: Connection, query: str) -> list[Any]:
    return db.execute(query.encode()).fetchall()


def partitions(db: Connection) -> set[str]:
    query = "select inhrelid::regclass::text from pg_inherits where inhparent = 'brokerage.verdict'::regclass"
    return {name for (name,) in rows(db, query)}


@pytest.mark.slow
def test_partitions_are_made_ahead_and_old_ones_leave_their_counts(brokered: Connection) -> None:
    now = datetime.now(UTC)
    old = f"brokerage.verdict_{now - timedelta(days=3):%Y%m%d}"
    assert old in partitions(brokered)
    assert rows(brokered, "select distinct run_id from brokerage.decision order by 1") == [(1,), (2,)]
    brokered.execute("select * from brokerage.maintain()")
    assert old not in partitions(brokered)
    # rows of today stay in the default partition; the days ahead have partitions of their own
    ahead = {f"brokerage.verdict_{now + timedelta(days=day):%Y%m%d}" for day in (1, 2, 3)}
    assert ahead <= partitions(brokered)
    assert rows(brokered, "select distinct run_id from brokerage.decision") == [(2,)]
    counts = "select run_id, rule, queue, tasks from brokerage.rejection_count"
    assert rows(brokered, counts) == [(1, "queue-status", "B", 2)]
    assert rows(brokered, "select count(*) from brokerage.run") == [(2,)]


@pytest.mark.slow
def test_the_longest_retention_of_all_setups_and_of_the_defaults_counts(brokered: Connection) -> None:
    """Setup keep has settings and keeps decisions for an hour; the other setup, without settings, for two days."""
    world.load(brokered, [{**WORLD, "setup": "plain"}])
    brokered.execute("select brokerage.set_settings('keep', '{\"decisions_kept\": \"1 hour\"}')")
    yesterday = add_partition(brokered, datetime.now(UTC) - timedelta(days=1))
    brokered.execute("select * from brokerage.maintain()")
    assert yesterday in partitions(brokered)


@pytest.mark.slow
def test_runs_and_decisions_are_removed_after_their_counts_are_kept(brokered: Connection) -> None:
    brokered.execute("select brokerage.set_settings('keep', '{\"counts_kept\": \"2 days\"}')")
    brokered.execute("select * from brokerage.maintain()")
    assert rows(brokered, "select run_id from brokerage.run") == [(2,)]
    for table in ("task_decision", "rejection_count", "assignment"):
        assert rows(brokered, f"select count(*) from brokerage.{table} where run_id = 1") == [(0,)]
    brokered.execute("select * from brokerage.maintain()")  # again: changes nothing
    assert rows(brokered, "select run_id from brokerage.run") == [(2,)]


@pytest.mark.slow
def test_a_longer_retention_keeps_the_day(brokered: Connection) -> None:
    brokered.execute("select brokerage.set_settings('keep', '{\"decisions_kept\": \"10 days\"}')")
    brokered.execute("select * from brokerage.maintain()")
    assert rows(brokered, "select distinct run_id from brokerage.decision order by 1") == [(1,), (2,)]


@pytest.mark.slow
def test_assignments_count_for_the_time_of_the_setting(brokered: Connection) -> None:
    assert rows(brokered, "select queue, jobs from brokerage.live_counter") == [("A", 2)]
    assert rows(brokered, "select * from brokerage.live_count") == []  # three days old
    brokered.execute("select brokerage.set_settings('keep', '{\"assignments_count\": \"4 days\"}')")
    assert rows(brokered, "select queue, jobs from brokerage.live_count") == [("A", 2)]
    brokered.execute("select brokerage.set_settings('keep', '{\"assignments_count\": \"1 hour\"}')")
    brokered.execute("select * from brokerage.maintain()")
    assert rows(brokered, "select * from brokerage.live_counter") == []


@pytest.mark.slow
def test_a_removed_setup_leaves_no_row_behind(brokered: Connection) -> None:
    brokered.execute("select brokerage.set_settings('keep', '{\"makes_jobs\": true}')")
    brokered.execute("delete from brokerage.task_state")  # as if nothing had been assigned
    brokered.execute("call brokerage.broker_jobs('keep', '{1,2}')")
    assert rows(brokered, "select count(*) from workload.job") == [(2,)]
    tables = rows(
        brokered,
        "select c.oid::regclass from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'setup'"
        " where c.relkind in ('r', 'p') and c.relnamespace::regnamespace::text in"
        " ('resource', 'workload', 'taskqueue', 'lifecycle', 'brokerage', 'monitor', 'instance')",
    )
    query = " union all ".join(f"select '{table}' from {table} where setup = 'keep'" for (table,) in tables)
    assert ("workload.job_history",) in rows(brokered, query)
    brokered.execute("select taskqueue.remove_setup('keep')")
    assert rows(brokered, query) == [("resource.change",)]
    assert rows(brokered, "select object, name from resource.change where setup = 'keep'") == [("setup", "keep")]


@pytest.mark.slow
def test_the_profile_of_the_setup_decides(brokered: Connection) -> None:
    brokered.execute("select brokerage.set_settings('keep', '{\"profile\": \"panda2026\"}')")
    brokered.execute("call brokerage.broker_jobs('keep', '{1}', p_dry_run => true)")
    assert rows(brokered, "select profile from brokerage.run order by run_id desc limit 1") == [("panda2026",)]


def test_a_day_is_counted_once_in_a_session_with_summer_time(db: Connection) -> None:
    """The day of 2025-10-26 has 25 hours in Berlin; days of decisions are days of UTC."""
    world.load(db, [WORLD])
    for day in (26, 27):
        add_partition(db, datetime(2025, 10, day, tzinfo=UTC))
    db.execute("select resource.set_clock('keep', '2025-10-27 00:30+00')")
    db.execute("call brokerage.broker_jobs('keep', '{1,2}', p_dry_run => true)")
    db.execute("select resource.set_clock('keep', null)")
    db.execute("select brokerage.set_settings('keep', '{\"counts_kept\": \"3650 days\"}')")
    db.execute("set timezone = 'Europe/Berlin'")
    db.execute("select brokerage.keep_decisions()")
    assert rows(db, "select rule, queue, tasks from brokerage.rejection_count") == [("queue-status", "B", 2)]
