"""lifecycle.watch and `broker watchdog`: everything in one call, races with agents. The loop: tests/core/operate."""

from typing import Any

import psycopg
import pytest

from tests.calls import Calls, Connect, Connection
from tests.commands import Cli
from tests.core.concurrency.racing import run_together
from tests.core.lifecycle.timeouts import add, ago, job_state, lease, make, outcome
from tests.core.oracle.timeouts import Job, Queue, World

A = Queue("A")
CONFIG = {"FAST_REBRO_THRESHOLD_NQUEUE_S": 1.0}


def watch(q: Calls, *arguments: Any) -> dict[tuple[str, str], int]:
    """(rule, action) -> jobs of lifecycle.watch."""
    marks = ", ".join(["%s"] * len(arguments))
    report = q.value(f"call lifecycle.watch({marks})", *arguments)
    return {(row["rule"], row["action"]): row["jobs"] for row in report}


@pytest.mark.slow
def test_one_call_of_watch_does_every_step(db: Connection) -> None:
    jobs = [Job("pending", created=2), *[Job("assigned", A)] * 3, Job("sent"), Job("finished", created=9999)]
    q = make(db, World(CONFIG, jobs), [A])
    lease(q, 5, "matched", matched_at=ago(0.6), expires_at=ago(0.1))
    q.rows("update workload.job set ended = %s where status = 'finished' returning 1", ago(31 * 24))
    q.rows("update workload.job set task_id = 9, cores = 2 where status = 'finished' returning 1")
    q.rows("select workload.correct_counts('default')")
    before = q.stored()
    wanted = {("pending", "cancel"): 1, ("fast-rebroker", "rebroker"): 2}
    assert watch(q, "default", True) == {("sent", "return"): 1, **wanted}
    assert watch(q, "default", True, True) == {("sent", "return"): 1}
    assert q.stored() == before
    assert watch(q, "default", False, True) == {("sent", "return"): 1}
    assert job_state(q, 5)[0] == "activated"
    assert watch(q) == {**wanted, ("ended jobs", "forget"): 1}
    assert [job_state(q, n)[0] for n in range(1, 6)] == ["cancelled", "closed", "closed", "assigned", "activated"]
    assert q.value("select count(*) from workload.job where job_id = 6") == 0
    assert q.value("select coalesce(sum(jobs), 0) from workload.job_by_task where task_id = 9") == 0
    assert q.rows("select * from workload.count_difference") == []
    assert q.value("select count(*) from workload.job_change") == 0
    ahead = "select count(*) from pg_inherits where inhparent = 'workload.job_history'::regclass"
    assert q.value(ahead) == 5  # today, three days, and the rest
    assert watch(q) == {}


@pytest.mark.slow
def test_jobs_are_assigned_and_activated_in_portions(db: Connection) -> None:
    q = make(db, World({}, [Job("defined", A)] * 4100), [A])
    assert ("input", "assigned") in watch(q, "default", False, True)
    changed = q.rows("select count(*) from workload.job where status = 'assigned' group by xmin::text order by 1 desc")
    assert changed[0] == (2000,)
    watch(q)
    assert q.value("select count(*) from workload.job where status = 'assigned'") == 4100


@pytest.mark.slow
def test_an_error_in_one_setup_is_reported_and_stops_no_other_step(db: Connection) -> None:
    q = make(db, World({}, [Job("pending", created=2)]), [A])
    q.rows("insert into resource.setup (setup) values ('a') returning 1")
    q.rows(
        "insert into resource.config (setup, app, component, key, value)"
        " values ('a', 'pandaserver', 'rebroker', 'FAST_REBRO_THRESHOLD_NQNR_RATIO', '\"x\"') returning 1"
    )
    q.rows(
        "insert into workload.job (setup, job_id, queue, gshare, status)"
        " values ('a', 1, 'A', 'S', 'assigned') returning 1"
    )
    q.rows("select workload.correct_counts('a')")
    assert watch(q) == {
        ("pending", "cancel"): 1,
        ("fast-rebroker", 'error: invalid input syntax for type numeric: "x"'): 0,
    }
    assert job_state(q, 1)[0] == "cancelled"


def test_jobs_of_parts_of_running_tasks_are_not_forgotten(db: Connection) -> None:
    q = make(db, World(), [A])
    q.rows(
        "insert into workload.job (setup, job_id, task_id, number, rebrokered, status, ended)"
        " values ('default', 1, 7, 1, 0, 'finished', %s), ('default', 2, 7, 2, 0, 'running', null),"
        " ('default', 3, 7, 2, 1, 'closed', %s), ('default', 4, 8, 1, 0, 'finished', %s),"
        " ('default', 5, 8, 2, 0, 'finished', %s) returning 1",
        *[ago(800)] * 3,
        ago(700),
    )
    q.rows("select workload.correct_counts('default')")
    kept = "select array_agg(job_id order by job_id) from workload.job"
    assert q.value("select lifecycle.forget_ended('default', 1)") == 1
    assert q.value("select lifecycle.forget_ended('default')") == 1
    assert q.value(kept) == [1, 2, 5]
    q.rows("select workload.move_jobs('default', array[2], array['finished'], array['test'])")
    assert q.value("select lifecycle.forget_ended('default')") == 1
    assert q.value(kept) == [2, 5]
    assert q.rows("select * from workload.count_difference") == []


def test_history_beyond_the_retention_is_removed(db: Connection) -> None:
    db.execute("set role broker_owner")
    db.execute(
        "create table workload.job_history_20200101 partition of workload.job_history"
        " for values from ('2020-01-01 00:00+00') to ('2020-01-02 00:00+00')"
    )
    db.execute("reset role")
    changed = dict(db.execute("select step, changed from lifecycle.maintain()").fetchall())
    assert changed["job history partitions"] == 1
    assert Calls(db).value("select to_regclass('workload.job_history_20200101')") is None


@pytest.mark.slow
def test_two_watchers_and_an_agent_end_each_job_once(dsn: str, db: Connection) -> None:
    q = make(db, World(CONFIG, [Job("assigned", A, task=n % 5, modified=13) for n in range(60)]), [A])
    add(q, [Job("running", task=n % 5, modified=3, reported=3) for n in range(20)], 61)
    attempts = dict(
        q.rows("select job_id, taskqueue.attempt_text(attempt, token) from taskqueue.lease where setup = 'default'")
    )
    alive: set[int] = set()

    def agent(other: Calls) -> None:
        for job_id, attempt in attempts.items():
            try:
                other.call("report_job", job_id, attempt, None)
                alive.add(job_id)
            except psycopg.errors.DatabaseError as error:
                assert error.sqlstate == "PB003"

    def watcher(other: Calls) -> None:
        outcome(other, "watch_timeouts")
        other.rows("select * from lifecycle.fast_rebroker('default')")

    run_together(dsn, [watcher, watcher, agent])
    outcome(q, "watch_timeouts")  # jobs that were passed over because another session had them
    ends = "select job_id, count(*) from workload.job_history where to_status in ('closed', 'failed') group by 1"
    ended = dict(q.rows(ends))
    assert set(ended.values()) == {1}
    assert set(ended) == {*range(1, 61), *(set(attempts) - alive)}
    assert all(job_state(q, job_id)[0] == "running" for job_id in alive)
    assert q.rows("select * from workload.count_difference") == []
    assert q.inconsistencies() == []


def test_simultaneous_fast_rebrokerage_moves_the_jobs_of_one_call(db: Connection, connect: Connect) -> None:
    q = make(db, World(CONFIG, [Job("assigned", A, task=1)] * 10), [A])
    with connect().cursor() as first:
        first.execute("begin")
        first.execute("select jobs from lifecycle.fast_rebroker('default')")
        assert first.fetchall() == [(7,)]  # 10 - 0.3 x 10 are too many
        assert q.rows("select excess, jobs from lifecycle.fast_rebroker('default')") == [(7, 0)]
        first.execute("commit")
    assert q.value("select count(*) from workload.job where status = 'assigned'") == 3


def test_a_heartbeat_committed_during_a_watch_counts(db: Connection, connect: Connect) -> None:
    """The heartbeat is uncommitted when candidates are read: the job is passed over, and then it is not overdue."""
    q = make(db, World(), [A])
    add(q, [Job("running", modified=3, reported=3)])
    with connect().cursor() as other:
        other.execute("begin")
        other.execute("update taskqueue.lease set reported_at = %s", [ago(0)])
        assert outcome(q, "watch_timeouts") == {}
        other.execute("commit")
    assert outcome(q, "watch_timeouts") == {}
    assert job_state(q, 1)[0] == "running"


@pytest.mark.representative
def test_a_dry_run_shows_the_fate_of_leases_and_blocks_no_caller(db: Connection, connect: Connect) -> None:
    q, other = make(db, World({}, [Job("sent")] * 3), [A]), Calls(connect())
    for number in (1, 2, 3):
        lease(q, number, "matched", matched_at=ago(0.6), expires_at=ago(0.1))
    q.rows("update taskqueue.lease set matched_at = %s where job_id = 1 returning 1", ago(0.7))
    q.rows("update taskqueue.lease set losses = 2 where job_id = 2 returning 1")
    q.insert(4)  # not brokered: no timeout is about it
    match = q.take(CPUTime=50000)
    q.call_rows("report_job", match.job_id, match.attempt)
    q.rows("update taskqueue.lease set expires_at = %s where job_id = 4 returning 1", ago(0.1))
    wanted = {("sent", "return"): 2, ("sent", "fail"): 1, ("heartbeat", "fail"): 1}
    before = q.stored()
    db.execute("begin")
    assert outcome(q, "expire_leases", True, None) == wanted
    assert outcome(q, "expire_leases", True, 1) == {("sent", "return"): 1, ("heartbeat", "fail"): 1}
    other.connection.execute("set lock_timeout = '1s'")
    assert other.call("hold", "owner", "nobody") == 0  # no session may be inside the setup
    other.call("resume", "owner", "nobody")
    other.connection.execute("begin")
    other.rows("select 1 from taskqueue.lease for update nowait")
    assert outcome(q, "expire_leases", True, None) == wanted
    other.connection.execute("rollback")
    db.execute("rollback")
    assert q.stored() == before
    assert outcome(q, "expire_leases") == wanted
    assert outcome(q, "expire_leases", True, None) == {}


@pytest.mark.slow
def test_the_watchdog_command_runs_once_or_dry(cli: Cli, db: Connection) -> None:
    q = make(db, World({}, [Job("pending", created=2)]), [A])
    touched = [{"setup": "default", "rule": "pending", "action": "cancel", "jobs": 1}]
    assert cli("watchdog", "--dry-run", "--json").json == touched
    said = cli("watchdog", "--setup", "default")
    assert (said.code, "pending" in said.out, "cancel" in said.out) == (0, True, True)
    assert job_state(q, 1) == ("cancelled", "pending")
    assert cli("watchdog").out == "Watched: none\n"
    assert cli("watchdog", "--setup", "nowhere").code == 1


@pytest.mark.parametrize("query", [
    "select * from lifecycle.activate('defualt')", "select * from lifecycle.expire_leases('defualt')",
    "select * from lifecycle.fast_rebroker('defualt')", "select * from lifecycle.watch_timeouts('defualt')",
    "select * from lifecycle.measure_shares('defualt')", "select * from brokerage.classes('defualt')",
    "select * from brokerage.explain('defualt', 1)",
])  # fmt: skip
def test_a_misspelt_setup_is_refused_and_not_taken_for_one_without_work(rolled_back: Connection, query: str) -> None:
    q = make(rolled_back, World(), [A])
    with pytest.raises(psycopg.Error, match="there is no setup 'defualt'") as raised:
        q.rows(query)
    assert raised.value.sqlstate == "PB001" and "default" in (raised.value.diag.message_hint or "")
