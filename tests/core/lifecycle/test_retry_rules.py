"""RETRIES.md: the part of a failed job of a task goes back by a rule, and parts have a budget."""

from datetime import timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connection
from tests.core.lifecycle import grids

RETRY = {"position": 10, "name": "again", "decision": "retry"}
LATER = {"position": 10, "name": "pause", "decision": "later", "delay": 600}


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    """Setup s with a task of two parts, whose first job is active."""
    grids.load(rolled_back, "s", files=2)
    q = Calls(rolled_back, "s")
    q.call("set_retry_rules", Jsonb([RETRY]))
    return q


def new_job(q: Calls) -> int:
    """Make the next job, as brokerage does, and activate it."""
    [job_id] = grids.make(q.connection, "s")
    grids.activate(q.connection, "s")
    return job_id


def fail(q: Calls, job_id: int, outcome: str = "failed") -> None:
    match = q.take(**grids.PLENTY, Site="QA", JobID=job_id)
    q.call("finish_job", job_id, match.attempt, outcome)


def give_back(q: Calls, most: int | None = None) -> int:
    return int(q.value("select lifecycle.give_back('s', %s)", most))


def job(q: Calls, job_id: int) -> tuple[Any, ...]:
    """Part, how often it went back, status and time of the retry."""
    [row] = q.rows("select number, rebrokered, status, retry_at from workload.job where job_id = %s", job_id)
    return tuple(row)


def failures(q: Calls) -> dict[int, int]:
    return dict(q.rows("select number, failures from workload.failed_part"))


def rule_of(q: Calls, job_id: int) -> Any:
    return q.value("select retry_rule from taskqueue.history where job_id = %s and event = 'failed'", job_id)


def test_the_part_of_a_failed_job_goes_back_once(q: Calls) -> None:
    job_id = new_job(q)
    fail(q, job_id)
    assert job(q, job_id) == (1, 0, "failed", grids.NOON)
    assert (q.outcome(job_id), rule_of(q, job_id), failures(q)) == ("failed", "again: retry", {1: 1})
    assert [give_back(q), give_back(q)] == [1, 0]
    assert job(q, job_id) == (1, 1, "failed", None)
    why = "select why, from_status, to_status from workload.job_history where job_id = %s order by number desc limit 1"
    assert q.rows(why, job_id) == [("retry rule again: retry: its work is back in task 1", "failed", "failed")]
    again = new_job(q)
    assert (again != job_id, job(q, again)[:3]) == (True, (1, 0, "activated"))
    assert q.inconsistencies() == grids.differences(q.connection, "s") == []


def test_a_part_has_a_budget_over_all_its_jobs(q: Calls) -> None:
    q.settings(most_retries=2)
    for number in (1, 2, 3):
        job_id = new_job(q)
        fail(q, job_id)
        assert (give_back(q), failures(q)) == (int(number < 3), {1: number})
    assert job(q, job_id) == (1, 0, "failed", None)
    assert job(q, new_job(q))[0] == 2
    reasons = {row[1]: row[4] for row in q.call_rows("explain_retry", job_id)}
    assert reasons["budget"] == "failure 3 of the part, class unknown; most_retries is 2"
    assert reasons["again"] == "the budget is spent: failure 3, and most_retries is 2"


def budget(q: Calls, job_id: int) -> tuple[str, str]:
    """The budget of a job as it is explained, and the verdict of its only rule."""
    [(*_, allowed), (*_, why)] = q.call_rows("explain_retry", job_id)
    return allowed.rpartition("; ")[2], why


def allow(q: Calls, max_attempt: int | None) -> None:
    q.rows("select workload.store('s', 'task', %s, null, true)", Jsonb([{"task_id": 1, "max_attempt": max_attempt}]))


@pytest.mark.parametrize(
    ("max_attempt", "most", "attempts", "words"),
    [
        (3, 10, 3, "task 1 allows 3 attempts (max_attempt)"),
        (1, 10, 1, "task 1 allows 1 attempt (max_attempt)"),
        (5, 1, 2, "most_retries is 1"),
        (2, 1, 2, "most_retries is 1"),
        (None, 2, 3, "most_retries is 2"),
    ],
)
def test_a_task_may_have_a_smaller_budget(
    q: Calls, max_attempt: int | None, most: int, attempts: int, words: str
) -> None:
    allow(q, max_attempt)
    q.settings(most_retries=most)
    for number in range(1, attempts + 1):
        fail(q, job_id := new_job(q))
        assert budget(q, job_id)[0] == words
        assert give_back(q) == int(number < attempts)
    assert job(q, job_id) == (1, 0, "failed", None)
    assert budget(q, job_id) == (words, f"the budget is spent: failure {attempts}, and {words}")
    judged = "select present, proposed from taskqueue.judge_again('s', %s, '2000-01-01') order by failures"
    assert q.rows(judged, Jsonb([RETRY])) == [("again: retry",) * 2] * (attempts - 1) + [(None, None)]
    assert q.inconsistencies() == grids.differences(q.connection, "s") == []


def test_a_new_budget_counts_from_the_next_failure_on(q: Calls) -> None:
    q.call("set_retry_rules", Jsonb([LATER]))
    allow(q, 2)
    fail(q, job_id := new_job(q))
    allow(q, 1)
    assert budget(q, job_id)[1] == "the budget is spent: failure 1, and task 1 allows 1 attempt (max_attempt)"
    q.set_clock(grids.NOON + timedelta(seconds=600))
    assert give_back(q) == 1  # decided before the change
    fail(q, again := new_job(q))
    assert job(q, again) == (1, 0, "failed", None)
    allow(q, 5)
    assert give_back(q) == 0
    assert budget(q, again)[1] == "it fits"
    q.rows("delete from workload.task where setup = 's' returning 1")
    assert budget(q, again)[0] == "most_retries is 10"


@pytest.mark.parametrize("wrong", [0, -1, 1001, 1.5, "3"])
def test_a_wrong_budget_is_refused_with_key_and_value(q: Calls, wrong: Any) -> None:
    q.refuses(lambda: allow(q, wrong), "PB001", "max_attempt is ", str(wrong))
    assert q.value("select max_attempt from workload.task") is None


def test_the_preset_of_panda_tries_a_part_again_within_the_budget_of_its_task(q: Calls) -> None:
    q.call("set_retry_rules", Jsonb(q.value("select taskqueue.shipped_retry_rules('panda')")))
    allow(q, 4)
    for number in range(1, 5):
        fail(q, new_job(q))
        assert give_back(q) == int(number < 4)


def test_an_operator_who_gives_a_part_back_begins_from_nothing(q: Calls) -> None:
    q.settings(most_retries=1)
    for _ in range(2):
        fail(q, job_id := new_job(q))
        give_back(q)
    assert failures(q) == {1: 2}
    q.rows("select * from lifecycle.retry_jobs('s', %s)", [job_id])
    assert (failures(q), give_back(q)) == ({}, 0)
    fail(q, job_id := new_job(q))
    assert (job(q, job_id)[0], failures(q), give_back(q)) == (1, {1: 1}, 1)


def test_an_operator_may_be_first(q: Calls) -> None:
    fail(q, job_id := new_job(q))
    q.rows("select * from lifecycle.retry_jobs('s', %s)", [job_id])
    assert (job(q, job_id)[1:], give_back(q)) == ((1, "failed", None), 0)


def test_a_part_for_later_goes_back_at_its_time(q: Calls) -> None:
    q.call("set_retry_rules", Jsonb([LATER]))
    fail(q, job_id := new_job(q))
    due = grids.NOON + timedelta(seconds=600)
    assert job(q, job_id)[3] == due
    q.set_clock(due - timedelta(seconds=1))
    assert give_back(q) == 0
    q.set_clock(due)
    assert give_back(q) == 1


def test_a_failed_job_that_is_cancelled_is_not_tried_again(q: Calls) -> None:
    fail(q, job_id := new_job(q))
    assert q.rows("select answer from lifecycle.cancel_jobs('s', %s)", [job_id]) == [("has ended: failed",)]
    assert (job(q, job_id), give_back(q)) == ((1, 0, "failed", None), 0)


@pytest.mark.parametrize("outcome", ["finished", "cancelled", "closed"])
def test_other_ends_keep_the_part(q: Calls, outcome: str) -> None:
    fail(q, job_id := new_job(q), outcome)
    assert (job(q, job_id)[3], failures(q), give_back(q)) == (None, {}, 0)


def test_a_killed_job_keeps_its_part(q: Calls) -> None:
    job_id = new_job(q)
    match = q.take(**grids.PLENTY, Site="QA")
    q.rows("select * from lifecycle.cancel_jobs('s', %s)", [job_id])
    q.call("finish_job", job_id, match.attempt, "failed")
    assert (job(q, job_id)[3], failures(q)) == (None, {})


def test_a_timeout_is_judged_too(q: Calls) -> None:
    q.call("set_retry_rules", Jsonb([RETRY | {"classes": ["lost"], "sites": ["QA"]}]))
    job_id = new_job(q)
    match = q.take(**grids.PLENTY, Site="QA")
    q.call_rows("report_job", job_id, match.attempt)
    q.set_clock(grids.NOON + timedelta(days=2))
    q.rows("select * from lifecycle.watch_timeouts('s')")
    assert (job(q, job_id)[2], rule_of(q, job_id), give_back(q)) == ("failed", "again: retry", 1)


def test_a_job_that_brokerage_did_not_make_is_not_tried_again(q: Calls) -> None:
    job_id = new_job(q)
    q.rows("update workload.job set number = null where job_id = %s returning 1", job_id)
    fail(q, job_id)
    assert (rule_of(q, job_id), job(q, job_id)[3], failures(q)) == (None, None, {})
    reasons = {row[1]: row[4] for row in q.call_rows("explain_retry", job_id)}
    assert reasons["again"] == "brokerage did not make the job, so no part can go back"


def test_parts_go_back_in_portions_and_the_watchdog_does_it(q: Calls) -> None:
    for _ in range(2):
        fail(q, new_job(q))
    assert [give_back(q, 1), give_back(q, 1), give_back(q, 1)] == [1, 1, 0]
    fail(q, new_job(q))
    q.rows("select lifecycle.watch_step('s', 'retries', false, 1000)")
    assert q.rows("select from workload.job where retry_at is not null") == []
    said = q.value("select lifecycle.watch_step('s', 'retries', false, 1000)")
    assert said == []


def test_a_setup_with_a_pending_retry_needs_the_watchdog(q: Calls) -> None:
    fail(q, new_job(q))
    q.rows("update resource.setup set simulated = null where setup = 's' returning 1")  # its clock is stopped
    needed = "select name from lifecycle.needed_loop where setup = 's' order by 1"
    assert q.rows(needed) == [("maintain",), ("watchdog",)]
    give_back(q)
    assert q.rows(needed) == []


def test_jobs_that_finished_are_forgotten_after_those_that_did_not(q: Calls) -> None:
    """While a job that did not finish is kept, it may be tried again, and the parts of the others count as done."""
    q.call("set_retry_rules", Jsonb([]))
    fail(q, done := new_job(q), "finished")
    fail(q, failed := new_job(q))
    q.rows("update workload.task set status = 'done' where setup = 's' returning 1")
    q.set_clock(grids.NOON + timedelta(days=31))
    assert q.value("select lifecycle.forget_ended('s')") == 1
    assert grids.job_ids(q.connection, "s") == [done]
    assert q.value("select lifecycle.forget_ended('s')") == 1
    assert failed not in grids.job_ids(q.connection, "s")


def test_the_jobs_of_an_ended_task_with_an_open_part_stay(rolled_back: Connection) -> None:
    """An operator tries a job of a finished task again, and JEDI opens the task later."""
    grids.load(rolled_back, "s", files=2)
    q = Calls(rolled_back, "s")
    fail(q, new_job(q), "finished")
    last = new_job(q)
    q.rows("insert into brokerage.task_state (setup, task_id, assigned_jobs) values ('s', 1, 2) returning 1")
    q.rows("update workload.task set status = 'finished' where setup = 's' returning 1")
    q.set_clock(grids.NOON + timedelta(days=31))
    fail(q, last)
    q.rows("select * from lifecycle.retry_jobs('s', array[%s::bigint])", last)
    assert q.value("select lifecycle.forget_ended('s')") == 0
    assert job(q, new_job(q))[0] == 2


@pytest.mark.parametrize("by", ["rule", "operator", "status"])
def test_no_part_is_done_twice_because_its_job_was_forgotten(rolled_back: Connection, by: str) -> None:
    """Parts 1 to 3 finished a month ago. Part 4 failed and is tried again, or was not made while the task paused."""
    grids.load(rolled_back, "s", files=4)
    q = Calls(rolled_back, "s")
    q.call("set_retry_rules", Jsonb([RETRY] if by == "rule" else []))
    for _ in range(3):
        fail(q, new_job(q), "finished")
    last = new_job(q) if by != "status" else None
    status, made = ("paused", 3) if last is None else ("running", 4)
    q.rows("update workload.task set status = %s where setup = 's' returning 1", status)
    q.rows("insert into brokerage.task_state (setup, task_id, assigned_jobs) values ('s', 1, %s) returning 1", made)
    q.set_clock(grids.NOON + timedelta(days=31))
    if last is not None:
        fail(q, last)
    q.rows("select lifecycle.forget_ended('s')")
    if by == "operator":
        q.rows("select * from lifecycle.retry_jobs('s', array[%s::bigint])", last)
    elif by == "rule":
        assert give_back(q) == 1
    q.rows("select lifecycle.forget_ended('s')")
    again = new_job(q)
    assert job(q, again)[0] == 4
    fail(q, again, "finished")
    q.rows("update workload.task set status = 'done' where setup = 's' returning 1")
    q.set_clock(grids.NOON + timedelta(days=62))
    for _ in range(2):
        q.rows("select lifecycle.forget_ended('s')")
    assert grids.job_ids(q.connection, "s") == []


def test_parts_without_jobs_are_forgotten(q: Calls) -> None:
    fail(q, job_id := new_job(q))
    q.set_clock(grids.NOON + timedelta(days=31))
    q.rows("update workload.task set status = 'done' where setup = 's' returning 1")
    q.rows("select lifecycle.forget_ended('s')")
    assert job(q, job_id)[2] == "failed"  # its retry is pending
    give_back(q)
    q.rows("select lifecycle.forget_ended('s')")
    assert (grids.job_ids(q.connection, "s"), failures(q)) == ([], {})


def test_a_part_that_waits_for_brokerage_keeps_its_failures_and_changes(q: Calls) -> None:
    q.call("set_retry_rules", Jsonb([RETRY | {"memory_factor": 2}]))
    fail(q, new_job(q))
    give_back(q)
    part = "select failures, memory_factor from workload.failed_part"
    for status, kept in (("running", [(1, 2)]), ("done", [])):
        q.set_clock(grids.NOON + timedelta(days=31))
        q.rows("update workload.task set status = %s where setup = 's' returning 1", status)
        q.rows("select lifecycle.forget_ended('s')")
        assert q.rows(part) == kept
