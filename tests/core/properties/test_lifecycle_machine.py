"""A Hypothesis state machine drives the life of jobs and a plain Python model with the same random calls.

The clock jumps. After every step the statuses are the model's; the jobs waiting in TaskQueues are the activated ones;
leased jobs are those of agents; each part of the task's input is the work of one job; a recount gives the same counts;
each history is a chain of changes from the beginning to the status.
BROKER_TEST_EXAMPLES=1000 looks further, with other random numbers each time.
"""

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from psycopg.types.json import Jsonb

from tests.core.lifecycle import grids

FILES = 12
ENDS = ("finished", "failed", "cancelled", "closed")
LEASED = ("sent", "starting", "running", "holding", "transferring")
NEXT = {
    "sent": {"starting", "running", "holding", "transferring"},
    "starting": {"starting", "running", "holding", "transferring"},
    "running": {"running", "holding", "transferring"},
    "holding": {"holding", "transferring"},
    "transferring": {"transferring", "holding"},
}
RETRIES = {"again": (2, timedelta(0)), "pause": (3, timedelta(minutes=10))}  # failures that are tried again, delay
RULES = [
    {"position": 1, "name": "again", "source": "again", "failures_to": 2, "decision": "retry"},
    {"position": 2, "name": "pause", "source": "pause", "failures_to": 3, "decision": "later", "delay": 600},
]
index = st.integers(0, 1000)


@dataclass
class Job:
    """A job in the model."""

    part: int
    queue: str
    status: str = "defined"
    attempts: int = 0
    token: str = ""
    expires: datetime | None = None
    matched: bool = False
    kill: bool = False
    rebrokered: bool = False
    went: int = 1  # changes of its status
    retry_at: datetime | None = None


class Life(RuleBasedStateMachine):
    """One setup in the database, and the model of it."""

    connection: ClassVar[psycopg.Connection[Any]]
    setups: ClassVar[Any] = itertools.count(1)

    def __init__(self) -> None:
        super().__init__()
        self.setup = f"life {next(self.setups)}"
        # Seeded draws go by the ids of queues and lists: the same steps must give the same ids in each run.
        for table, column in (("task_queue", "task_queue_id"), ("posting_list", "list_id")):
            self.connection.execute(
                f"select setval(pg_get_serial_sequence('taskqueue.{table}', '{column}'), 1, false)".encode()
            )
        grids.load(self.connection, self.setup, files=FILES, at=["DISKA"])
        self.sql("select taskqueue.set_retry_rules(%s, %s)", Jsonb(RULES))
        self.failures: dict[int, int] = {}  # by part
        self.now = grids.NOON
        self.jobs: dict[int, Job] = {}
        self.input_at_b = False
        self.old: list[tuple[int, str]] = []  # attempts that are over

    # Helpers

    def sql(self, query: str, *arguments: Any) -> list[Any]:
        return self.connection.execute(query, (self.setup, *arguments)).fetchall()

    def refused(self, state: str, call: Callable[[], Any]) -> None:
        try:
            with self.connection.transaction():
                call()
        except psycopg.Error as error:
            assert error.sqlstate == state
        else:
            raise AssertionError(f"not refused with {state}")

    def some(self, number: int, *statuses: str) -> int | None:
        ids = sorted(i for i, job in self.jobs.items() if job.status in statuses)
        return ids[number % len(ids)] if ids else None

    def go(self, number: int, *statuses: str) -> None:
        for status in statuses:
            self.jobs[number].status = status
            self.jobs[number].went += 1

    def leave(self, number: int) -> None:
        """The agent does not have the job any more."""
        self.old.append((number, self.jobs[number].token))

    def has(self, *statuses: str) -> bool:
        return any(job.status in statuses for job in self.jobs.values())

    # Acts of brokers and operators

    @rule(queue=st.sampled_from(["QA", "QB"]), jobs=st.integers(1, 3))
    def make(self, queue: str, jobs: int) -> None:
        taken = {job.part for job in self.jobs.values() if not job.rebrokered}
        free = [part for part in range(1, FILES + 1) if part not in taken][:jobs]
        made = grids.make(self.connection, self.setup, queue, jobs)
        assert len(made) == len(free)
        parts = dict(self.sql("select job_id, number from workload.job where setup = %s and job_id = any (%s)", made))
        assert sorted(parts.values()) == free
        for number in made:
            self.jobs[number] = Job(parts[number], queue)

    @rule()
    def activate(self) -> None:
        answer = grids.activate(self.connection, self.setup)
        assigned = [i for i, job in self.jobs.items() if job.status == "defined"]
        for number in assigned:
            self.go(number, "assigned")
        ready = [
            i for i, job in self.jobs.items() if job.status == "assigned" and (job.queue == "QA" or self.input_at_b)
        ]
        for number in ready:
            self.go(number, "activated")
        assert answer == {"assigned": len(assigned), "activated": len(ready)}

    @precondition(lambda self: not self.input_at_b)
    @rule()
    def input_arrives(self) -> None:
        row = '[{"dataset": "data", "storage": "DISKB"}]'
        self.sql("select workload.store(%s, 'replica', %s)", row)
        self.input_at_b = True

    @precondition(lambda self: self.jobs)
    @rule(number=index)
    def cancel(self, number: int) -> None:
        found = sorted(self.jobs)[number % len(self.jobs)]
        [(answer,)] = self.sql("select answer from lifecycle.cancel_jobs(%s, array[%s::bigint])", found)
        job = self.jobs[found]
        if job.status in ENDS:
            assert answer == f"has ended: {job.status}"
            job.retry_at = None
        elif job.status in LEASED:
            assert answer == "kill asked"
            job.kill = True
        else:
            assert answer == "ended"
            self.go(found, "cancelled")

    @precondition(lambda self: self.jobs)
    @rule(number=index)
    def broker_again(self, number: int) -> None:
        found = sorted(self.jobs)[number % len(self.jobs)]
        call = "select lifecycle.return_to_task(%s, %s, 'test')"
        if self.jobs[found].status in ENDS:
            self.refused("PB005", lambda: self.sql(call, found))
            return
        self.sql(call, found)
        killed = self.jobs[found].status in LEASED and self.jobs[found].kill
        if self.jobs[found].status in LEASED:
            self.leave(found)
        self.go(found, "cancelled" if killed else "closed")
        self.jobs[found].rebrokered = not killed

    @rule(most=st.sampled_from([1, 3, 1000]))
    def fold(self, most: int) -> None:
        self.connection.execute("select workload.fold_counts(%s)", (most,))

    @rule()
    def clean(self) -> None:
        self.connection.execute("select workload.clean_counts()")

    @rule(by=st.sampled_from([timedelta(seconds=1), timedelta(minutes=16), timedelta(minutes=31), timedelta(hours=3)]))
    def wait(self, by: timedelta) -> None:
        self.now += by
        self.sql("select resource.set_clock(%s, %s)", self.now)

    @rule()
    def expire(self) -> None:
        answer = {(rule, action): jobs for rule, action, jobs in self.sql("select * from lifecycle.expire_leases(%s)")}
        back = failed = 0
        for number, job in self.jobs.items():
            if job.status == "sent" and job.matched and job.expires is not None and job.expires < self.now:
                self.leave(number)
                if job.kill:
                    self.go(number, "cancelled")
                    failed += 1
                elif job.attempts >= 3:
                    self.go(number, "failed")
                    self.failures[job.part] = self.failures.get(job.part, 0) + 1
                    failed += 1
                else:
                    self.go(number, "activated")
                    back += 1
        assert answer == {("sent", "return"): back, ("sent", "fail"): failed, ("heartbeat", "fail"): 0}

    # Acts of agents

    @rule(queue=st.sampled_from(["QA", "QB"]), seed=index)
    def match(self, queue: str, seed: int) -> None:
        """The match has a seed, so that the same choices draw the same job again."""
        asked = Jsonb({**grids.PLENTY, "Site": queue})
        drawn = self.sql("select job_id, attempt from taskqueue.match_jobs_with_seed(%s, %s, 1, %s)", asked, seed)
        waiting = {i for i, job in self.jobs.items() if job.status == "activated" and job.queue == queue}
        if not drawn:
            assert not waiting
            return
        [(number, token)] = drawn
        assert number in waiting
        job = self.jobs[number]
        job.attempts += 1
        assert token.startswith(f"{job.attempts}-")
        job.token, job.matched, job.kill, job.expires = token, True, False, self.now + timedelta(minutes=30)
        self.go(number, "sent")

    @precondition(lambda self: self.has(*LEASED))
    @rule(number=index, status=st.sampled_from([None, "starting", "running", "holding", "transferring"]))
    def report(self, number: int, status: str | None) -> None:
        found = self.some(number, *LEASED)
        assert found is not None
        job = self.jobs[found]
        call = "select action from taskqueue.report_job(%s, %s, %s, %s)"
        if status is not None and status not in NEXT[job.status]:
            self.refused("PB005", lambda: self.sql(call, found, job.token, status))
            return
        assert self.sql(call, found, job.token, status) == [("kill" if job.kill else "continue",)]
        status = status or ("starting" if job.status == "sent" else job.status)
        if job.status in ("sent", "starting") and status in ("holding", "transferring"):
            self.go(found, "running")
        if job.status != status:
            self.go(found, status)
        job.matched = False

    @precondition(lambda self: self.has(*LEASED))
    @rule(number=index, outcome=st.sampled_from(ENDS))
    def finish(self, number: int, outcome: str) -> None:
        found = self.some(number, *LEASED)
        assert found is not None
        job = self.jobs[found]
        for _ in range(2):
            assert self.sql("select taskqueue.finish_job(%s, %s, %s, %s)", found, job.token, outcome) == [(outcome,)]
        if job.status in ("sent", "starting") and outcome == "finished":
            self.go(found, "running")
        self.go(found, outcome)
        if outcome == "failed" and not job.kill:
            self.failures[job.part] = self.failures.get(job.part, 0) + 1

    @precondition(lambda self: self.has(*LEASED))
    @rule(number=index, source=st.sampled_from([*RETRIES, "other"]))
    def fail(self, number: int, source: str) -> None:
        found = self.some(number, *LEASED)
        assert found is not None
        job = self.jobs[found]
        call = "select taskqueue.finish_job(%s, %s, %s, 'failed', %s)"
        for _ in range(2):
            assert self.sql(call, found, job.token, Jsonb([{"source": source}])) == [("failed",)]
        self.go(found, "failed")
        if not job.kill:
            most, delay = RETRIES.get(source, (0, None))
            self.failures[job.part] = self.failures.get(job.part, 0) + 1
            if delay is not None and self.failures[job.part] <= most:
                job.retry_at = self.now + delay

    @rule()
    def give_back(self) -> None:
        """The parts of failed jobs are free again once their time by a retry rule has come."""
        due = [job for job in self.jobs.values() if job.retry_at is not None and job.retry_at <= self.now]
        assert self.sql("select lifecycle.give_back(%s)") == [(len(due),)]
        for job in due:
            job.retry_at, job.rebrokered = None, True
            job.went += 1

    @precondition(lambda self: self.has(*LEASED))
    @rule(number=index)
    def release(self, number: int) -> None:
        found = self.some(number, *LEASED)
        assert found is not None
        job = self.jobs[found]
        self.sql("select taskqueue.release_job(%s, %s, %s)", found, job.token)
        self.leave(found)
        self.go(found, "cancelled" if job.kill else "activated")

    @precondition(lambda self: self.old)
    @rule(number=index, call=st.sampled_from(["report_job", "finish_job", "release_job"]))
    def come_back(self, number: int, call: str) -> None:
        job, token = self.old[number % len(self.old)]
        query = {name: f"select taskqueue.{name}(%s, %s, %s)" for name in ("report_job", "finish_job", "release_job")}
        self.refused("PB003", lambda: self.sql(query[call], job, token))

    # Invariants

    @invariant()
    def is_as_the_model_says(self) -> None:
        rows = self.sql(
            """
            select j.job_id, j.status, j.rebrokered > 0, w.job_id is not null, l.job_id is not null, j.retry_at,
                   (select count(*) from workload.job_history h where h.setup = j.setup and h.job_id = j.job_id),
                   (select string_agg(coalesce(h.from_status, '') || '>' || h.to_status, ' ' order by h.at, h.number)
                      from workload.job_history h where h.setup = j.setup and h.job_id = j.job_id)
              from workload.job j
              left join taskqueue.job w on w.setup = j.setup and w.job_id = j.job_id
              left join taskqueue.lease l on l.setup = j.setup and l.job_id = j.job_id
             where j.setup = %s
            """
        )
        expected = {
            number: (
                job.status,
                job.rebrokered,
                job.status == "activated",
                job.status in LEASED,
                job.retry_at,
                job.went,
            )
            for number, job in self.jobs.items()
        }
        assert {row[0]: row[1:7] for row in rows} == expected
        for row in rows:
            steps = [step.split(">") for step in row[7].split()]
            assert [step[0] for step in steps] == ["", *[step[1] for step in steps[:-1]]]
            assert steps[-1][1] == row[1]
        failures = self.sql("select number, failures from workload.failed_part where setup = %s")
        assert dict(failures) == self.failures
        assert grids.differences(self.connection, self.setup) == []


@pytest.mark.representative
def test_the_life_of_jobs_is_that_of_the_model(db: psycopg.Connection[Any]) -> None:
    Life.connection = db
    examples = os.environ.get("BROKER_TEST_EXAMPLES")
    run_state_machine_as_test(
        Life,
        settings=settings(
            max_examples=int(examples or 12), stateful_step_count=40, deadline=None, derandomize=examples is None,
            database=None, suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
