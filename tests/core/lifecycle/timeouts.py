"""Jobs, queues and configuration of the model of timeouts in a database, and the verdicts of the database."""

from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg.types.json import Jsonb

from tests.calls import Calls, Connection, requirements
from tests.core.oracle.timeouts import Job, Queue, World

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
# Fields of jobs with the names of their columns, and those that hold hours.
_SAME = "status label priority sub_status processing_type relocation_flag workflow".split()
_AGES = "created modified state_changed activated".split()


def ago(hours: float | None) -> datetime | None:
    """A moment the given hours before NOW."""
    return None if hours is None else NOW - timedelta(hours=hours)


def make(connection: Connection, world: World, queues: list[Queue], profile: str = "documented") -> Calls:
    """Put the world into setup default, whose clock is stopped at NOW; jobs get ids from 1 in their order."""
    q = Calls(connection)
    q.rows("select taskqueue.set_settings('default', '{}')")
    q.set_clock(NOW)
    q.rows("select lifecycle.set_settings('default', %s)", Jsonb({"timeouts": profile}))
    for key, value in world.config.items():
        component = {"HEART": "watcher", "TIMEO": "job_timeout", "ANALY": "rebroker", "FAST_": "rebroker"}[key[:5]]
        q.rows("select resource.set_config('default', %s, %s)", f"{component}:{key}", Jsonb(value))
    with connection.cursor() as cursor:
        cursor.executemany(
            "insert into resource.queue (setup, queue, status, catchall, workflow, transtimehi, transtimelo)"
            " values ('default', %s, %s, %s, %s, %s, %s)",
            [(x.name, x.status, x.catchall, x.workflow, x.transtimehi, x.transtimelo) for x in queues],
        )
        cursor.executemany(
            "insert into resource.queue_activity (setup, queue, laststart) values ('default', %s, %s)",
            [(x.name, ago(x.last_start)) for x in queues],
        )
    add(q, world.jobs)
    return q


def add(q: Calls, jobs: list[Job], first: int = 1) -> None:
    """Jobs, with ids from `first` on; those with a report are leased."""
    rows = [
        [number, job.queue.name if job.queue else None, job.task, job.group]
        + [getattr(job, name) for name in _SAME] + [ago(getattr(job, name)) for name in _AGES]
        for number, job in enumerate(jobs, first)
    ]  # fmt: skip
    columns = ["job_id", "queue", "task_id", "working_group", *_SAME, *_AGES]
    with q.connection.cursor() as cursor:
        cursor.executemany(
            f"insert into workload.job (setup, {', '.join(columns)}, gshare)"
            f" values ('default', {', '.join(['%s'] * len(columns))}, 'S')".encode(),
            rows,
        )
    for number, job in enumerate(jobs, first):
        if job.reported is not None:
            lease(q, number, "running", reported_at=ago(job.reported))
    q.rows("select workload.correct_counts('default')")


def lease(q: Calls, job_id: int, state: str, **columns: Any) -> None:
    """Match a job in the ordinary way and say that brokerage made it; columns of the lease as given."""
    _place(q, job_id)
    match = q.take(Site=f"S{job_id}")
    assert match.job_id == job_id
    values = {"state": state, "brokered": True, **columns}
    given = ", ".join(f"{name} = %s" for name in values)
    q.rows(f"update taskqueue.lease set {given} where job_id = %s returning 1", *values.values(), job_id)


def _place(q: Calls, job_id: int) -> None:
    """Into a TaskQueue of its own, as lifecycle.activate puts jobs there; submitters may not insert them."""
    wanted = Jsonb(requirements(Sites=[f"S{job_id}"]))
    q.rows(
        "select taskqueue.open_task_queues('default', p.made)"
        "  from taskqueue.canonical_requirements('default', %s) c"
        " cross join lateral taskqueue.place_jobs('default', c, array[%s], array[1]) p",
        wanted,
        job_id,
    )


def wait(q: Calls, job_id: int) -> None:
    """Let a job wait in a TaskQueue."""
    _place(q, job_id)
    q.rows("update taskqueue.job set brokered = true where job_id = %s returning 1", job_id)


def overdue(q: Calls) -> dict[int, tuple[str, str]]:
    """Job -> rule and action."""
    rows = q.rows("select job_id, rule, action from lifecycle.overdue('default')")
    return {job_id: (rule, action) for job_id, rule, action in rows}


def job_state(q: Calls, job_id: int) -> tuple[str, str | None]:
    """Status and sub status."""
    row = q.rows("select status, sub_status from workload.job where setup = 'default' and job_id = %s", job_id)[0]
    return row[0], row[1]


def outcome(q: Calls, function: str, *arguments: Any) -> dict[tuple[str, str], int]:
    """(rule, action) -> jobs, of watch_timeouts or expire_leases."""
    marks = "".join(", %s" for _ in arguments)
    rows = q.rows(f"select rule, action, jobs from lifecycle.{function}('default'{marks})", *arguments)
    return {(rule, action): jobs for rule, action, jobs in rows if jobs}
