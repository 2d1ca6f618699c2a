"""Calls find rows by keys among 20,000 steps on 10,000 instances, of 1,000 tasks, and 100 jobs for a cloud queue."""

import psycopg
import pytest

from broker import world
from tests.calls import Calls

LOAD = """
    insert into instance.instance (setup, instance_id, type, task_id, state, cpu, ram, price, used_cpu, used_ram,
                                   requested_at)
    select 'default', i, 'small', 1 + i % 1000, 'running', 2, 4096, 1, 2, 2000, now() from generate_series(1, 10000) i;
    insert into instance.step (setup, step_id, task_id, cpu, ram, state, instance_id, placed_at)
    select 'default', j, 1 + (1 + j % 10000) % 1000, 1, 1000, 'placed', 1 + j % 10000, now()
      from generate_series(1, 20000) j;
    insert into instance.step (setup, step_id, task_id, cpu, ram)
    select 'default', 20000 + j, 1 + j % 1000, 1, 1000 + j % 7
      from generate_series(1, 5000) j;
    insert into instance.step (setup, step_id, task_id, cpu, ram, state, ended_at)
    select 'default', 30000 + j, 1 + j % 1000, 1, 1000, 'finished', now() from generate_series(1, 20000) j;
    select instance.reserve_ids('default')
"""
QUEUES = {"CLOUD": {"resource_type": "cloud"}, "LARGE": {}}
MANY = 1500  # steps of one call
HOT = {("instance", "step"), ("instance", "instance"), ("taskqueue", "job"), ("taskqueue", "lease")}
CALLS = {
    "a task": ("select * from instance.schedule_task('default', 7)", 100),
    "a plan": ("select * from instance.plan('default', 7)", 40),
    "nothing to do": ("select * from instance.schedule_task('default', 7, 'CLOUD')", 40),
    "ends": ("select * from instance.finish_steps('default', '{5}')", 10),
    "cancelled": ("select * from instance.cancel_steps('default', '{20005}')", 10),
    "needs": ("""select instance.set_needs('default', '[{"id": 20005, "cpu": 2}]')""", 10),
    "new": ("""select instance.add_steps('default', '[{"task": 7, "cpu": 2, "ram": 10}]')""", 10),
    "lost": ("select * from instance.lose_instances('default', '{5}')", 20),
    "why": ("select * from instance.explain_step('default', 20005)", 40),
    "an agent": ("select count(*) from instance.match_jobs('default', 5)", 10),
    "an agent for what is free": ("select count(*) from instance.match_jobs('default', 5, 5, '{}', true)", 20),
    "one job": ("select * from monitor.instance_step where setup = 'default' and job_id = 5", 2),
    "old ones": ("select * from instance.forget_ended('default')", 2),
}


def load(q: Calls) -> None:
    types = {"small": {"cpu": 2, "ram": 4096, "price": 1}}
    world.load(q.connection, [{"instance_types": types, "queues": QUEUES}])
    for statement in LOAD.split(";\n"):
        q.connection.execute(statement.encode())
    q.insert_many(range(1, 10_001), Sites=["LARGE"])
    q.insert_many(range(10_001, 10_101), Sites=["CLOUD"])


def read_by(q: Calls, call: str) -> dict[tuple[str, str], int]:
    """Rows of each table that a call reads, by keys or not."""
    counted = """
        select schemaname, relname, coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0) from pg_stat_xact_user_tables
    """
    before = {(schema, table): rows for schema, table, rows in q.rows(counted)}
    q.rows(call)
    after = {(schema, table): rows for schema, table, rows in q.rows(counted)}
    return {table: rows - before[table] for table, rows in after.items() if rows > before[table] and table in HOT}


@pytest.mark.parametrize(("call", "most"), CALLS.values(), ids=CALLS)
def test_a_call_reads_only_rows_of_its_task(full: Calls, call: str, most: int) -> None:
    read = read_by(full, call)
    assert {table: rows for table, rows in read.items() if rows > most} == {}


def test_follow_taskqueues_reads_only_jobs_of_cloud_queues(full: Calls) -> None:
    read = read_by(full, "select * from instance.follow_task_queues('default')")
    assert full.value("select count(*) from instance.step where queue = 'CLOUD'") == 100
    assert read["taskqueue", "job"] < 500
    assert sum(rows for table, rows in read.items() if table == ("taskqueue", "lease")) == 0


def test_a_limit_of_the_setup_counts_its_instances_once(full: Calls) -> None:
    full.rows("select instance.set_task_limit('default', 7, 15)")
    assert read_by(full, "select * from instance.schedule_task('default', 7)")["instance", "instance"] < 150
    full.rows("select instance.set_settings('default', '{\"most_instances\": 10005}')")
    assert read_by(full, "select * from instance.schedule_task('default', 8)")["instance", "instance"] < 50_000


@pytest.mark.slow
def test_no_plan_relies_on_tables_that_were_empty(db: psycopg.Connection) -> None:
    """The rows that a call reads grow with its steps, though the tables were analysed when they were empty."""
    q = Calls(db)
    world.load(db, [{"instance_types": {"small": {"cpu": 2, "ram": 4096, "price": 1}}}])
    db.execute("vacuum (analyze)")
    ids = f"array(select generate_series(1, {MANY}))"
    listed = f"(select jsonb_agg(%s || jsonb_build_object('id', g)) from generate_series(1, {MANY}) g)"
    added = listed.replace("%s", """'{"task": 1, "cpu": 2, "ram": "2 * size"}'""")
    needs = listed.replace("%s", """'{"inputs": {"size": 2}}'""")
    for call in (
        f"select instance.add_steps('default', {added})",
        f"select instance.set_needs('default', {needs})",
        "call instance.schedule('default', p_commit => false)",
        "select * from monitor.instance_total",
        "select count(*) from monitor.instance",
        "select instance.start_instances('default', array(select instance_id from instance.instance))",
        f"select count(*) from instance.return_steps('default', {ids})",
        "call instance.schedule('default', p_commit => false)",
        f"select count(*) from instance.finish_steps('default', {ids})",
        "call instance.schedule('default', p_commit => false)",
    ):
        read = read_by(q, call)
        assert {table: rows for table, rows in read.items() if rows > 40 * MANY} == {}, call
    assert q.value("select count(*) from instance.instance where state = 'released'") == MANY


@pytest.mark.slow
def test_no_plan_for_cloud_queues_relies_on_tables_that_were_empty(db: psycopg.Connection) -> None:
    q = Calls(db)
    world.load(db, [{"instance_types": {"small": {"cpu": 2, "ram": 4096, "price": 1}}, "queues": QUEUES}])
    db.execute("vacuum (analyze)")
    q.insert_many(range(1, MANY + 1), Sites=["CLOUD"])
    for call in (
        "select * from instance.follow_task_queues('default')",
        "call instance.schedule('default', p_commit => false)",
        "select count(*) from instance.instance i cross join lateral instance.match_jobs('default', i.instance_id) m",
        "call instance.schedule('default', p_commit => false)",
        "select * from instance.lose_instances('default', array(select instance_id from instance.instance limit 500))",
        "call instance.schedule('default', p_commit => false)",
    ):
        read = read_by(q, call)
        assert {table: rows for table, rows in read.items() if rows > 60 * MANY} == {}, call
    assert q.value("select count(*) from taskqueue.lease") + q.value("select count(*) from taskqueue.job") == MANY
