"""Several brokers at once over the same tasks: the work is shared, no jobs are assigned twice, none are forgotten."""

import threading
import time
from contextlib import suppress

import psycopg
import pytest

from broker import world
from broker.laboratory import grid
from broker.operate import batch
from tests.calls import Calls, Connect, Connection
from tests.core.concurrency.racing import run_together

BROKER = "call brokerage.broker_jobs('grid', p_seed => 1, p_tasks_a_commit => 5)"
# Tasks by the number of their decisions, and by whether the brokers that decided them first left jobs.
DECIDED = """
select count(*) filter (where n = 0), count(*) filter (where n > 1), count(*) filter (where assigned > jobs)
  from (select t.task_id, d.jobs,
               (select count(*) from brokerage.task_decision x where x.task_id = t.task_id) as n,
               (select coalesce(sum(a.jobs), 0) from brokerage.assignment a where a.task_id = t.task_id) as assigned
          from workload.task t join workload.input_digest d using (setup, task_id)
         where t.task_id = any (%s)) s
"""


@pytest.fixture
def due(db: Connection) -> list[int]:
    """The ids of the tasks that are due, among 200 tasks of the grid."""
    world.load(db, [grid.grid(1, 30, 200)])
    # Space for all jobs, so that no task has some left and is due again.
    db.execute("update resource.queue_activity set workers_running = 1000000")
    db.execute("select resource.set_config('grid', 'NQUEUELIMITSITE_' || gshare, '1000000', 'jobbroker')"
               " from (select distinct gshare from workload.task) s")  # fmt: skip
    return [
        task
        for (task,) in db.execute(
            "select task_id from brokerage.due_task where algorithm = 'production_job'"
        ).fetchall()
    ]


def check(db: Connection, due: list[int]) -> None:
    """Each task was decided once, and its jobs were assigned once at most; they were made, and are counted."""
    q = Calls(db)
    assert q.rows(DECIDED, due) == [(0, 0, 0)]
    assert q.value("select count(*) from brokerage.task_state where setup = 'grid'") == len(due)
    assigned = q.value("select sum(jobs) from brokerage.assignment")
    assert assigned > 0
    assert q.value("select sum(assigned_jobs) from brokerage.task_state") == assigned
    assert q.value("select count(*) from workload.job where number is not null") == assigned
    assert q.value("select sum(jobs) from workload.job_by_queue where status = 'defined'") == assigned
    assert q.rows("select * from workload.count_difference") == []


def broker(q: Calls) -> None:
    """Broker the tasks that are due."""
    q.rows(BROKER)


@pytest.mark.representative
def test_four_brokers_share_the_tasks(db: Connection, dsn: str, due: list[int]) -> None:
    run_together(dsn, [broker] * 4, "broker")
    check(db, due)
    q = Calls(db)
    assert q.value("select count(*) from brokerage.run where tasks > 0") > 1
    assert q.value("select sum(tasks) from brokerage.run") == len(due)
    assert q.value("select count(*) from brokerage.run where ended_at is null") == 0


@pytest.mark.slow
def test_tasks_left_by_a_killed_broker_are_decided_by_the_others(
    db: Connection, connect: Connect, dsn: str, due: list[int]
) -> None:
    killed = connect()

    def work() -> None:
        with suppress(psycopg.OperationalError):
            killed.execute(BROKER)

    thread = threading.Thread(target=work)
    thread.start()
    q = Calls(db)
    while not q.value("select count(*) from brokerage.task_state"):  # its first part is committed
        time.sleep(0.002)
    db.execute("select pg_terminate_backend(%s)", [killed.info.backend_pid])
    thread.join()
    before = q.value("select sum(tasks) from brokerage.run where ended_at is null")
    assert 0 < before < len(due)
    run_together(dsn, [broker] * 2, "broker")
    check(db, due)
    assert q.value("select tasks from brokerage.run where ended_at is null") == before


@pytest.mark.slow
def test_workers_of_one_run_share_the_tasks(db: Connection, connect: Connect, due: list[int]) -> None:
    run = batch.broker([db, connect(), connect(), connect()], "grid", seed=1, tasks_a_commit=5)
    check(db, due)
    q = Calls(db)
    assert q.rows("select run_id, tasks, ended_at is not null from brokerage.run") == [(run, len(due), True)]


@pytest.mark.slow
def test_a_worker_that_fails_ends_the_others(db: Connection, connect: Connect, due: list[int]) -> None:
    killed = connect()
    connect().execute("select pg_terminate_backend(%s)", [killed.info.backend_pid])
    with pytest.raises(psycopg.OperationalError):
        batch.broker([db, killed], "grid", tasks_a_commit=1)
    q = Calls(db)
    assert q.value("select tasks from brokerage.run where ended_at is null") < len(due)
    assert q.value("select count(*) from brokerage.task_state") == q.value("select sum(tasks) from brokerage.run")


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 7])
def test_workers_keep_the_limit(db: Connection, connect: Connect, due: list[int], limit: int) -> None:
    batch.broker([db, connect(), connect()], "grid", limit=limit, tasks_a_commit=2)
    assert Calls(db).value("select tasks from brokerage.run") == limit < len(due)
