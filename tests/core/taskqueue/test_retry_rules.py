"""Retry rules: what becomes of a failed job of a TaskQueue (sql/taskqueue/ENDS.md)."""

import json
import math
import random
import re
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from broker import world
from tests.calls import Calls, Connection, Match, resource

Row = dict[str, Any]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PILOT = [{"source": "pilot", "code": 1305, "text": "the payload failed"}]
RETRY = {"position": 10, "name": "again", "decision": "retry"}
LATER = {"position": 10, "name": "pause", "decision": "later", "delay": 60}
WRONG: list[tuple[Row, str]] = [
    ({"position": None}, "position is null"),
    ({"name": None}, "name is null"),
    ({"name": "Über"}, "name is"),
    ({"name": "n" * 51}, "name is"),
    ({"decision": None}, "decision is null"),
    ({"decision": "memory"}, "decision is .*memory"),
    ({"delay": 60}, "delay is 60, but decision is retry"),
    ({"decision": "fail", "delay": 60}, "delay is 60, but decision is fail"),
    ({"decision": "later", "delay": 0.5}, "delay is 0.5"),
    ({"decision": "later", "delay": 2592001}, "delay is 2592001"),
    ({"failures_from": 0}, "failures_from is 0"),
    ({"failures_from": 4, "failures_to": 3}, "failures_from is 4, more than failures_to 3"),
    ({"failures_to": 0}, "failures_from is 1, more than failures_to 0"),
    ({"failures_to": 2.5}, "failures_to is 2.5"),
    ({"classes": []}, "classes is an empty list"),
    ({"sites": []}, "sites is an empty list"),
    ({"owner_groups": []}, "owner_groups is an empty list"),
    ({"job_types": []}, "job_types is an empty list"),
    ({"sites": [""]}, "sites has an empty text"),
    ({"sites": ["A", "A"]}, "sites has .*A.* twice"),
    ({"sites": "A"}, "sites is .*A"),
    ({"classes": ["lost", "disk"]}, "classes has .*disk"),
    ({"source": "Pilot"}, "source is .*Pilot"),
    ({"code_from": 2, "code_to": 1}, "code_from is 2, more than code_to 1"),
    ({"pattern": ""}, "pattern is .*, not a pattern"),
    ({"pattern": "("}, "pattern is .*not a regular expression"),
    ({"pattern": "(a|b){150}"}, "pattern is .*counted repetition"),
    ({"pattern": r"(a)\1"}, "pattern is .*back-references"),
    ({"pattern": "a" * 201}, "pattern is .*longer than 200"),
    ({"memory_factor": 0.99}, "memory_factor is 0.99, not within 1 and 10"),
    ({"memory_factor": 10.5}, "memory_factor is 10.5, not within 1 and 10"),
    ({"time_factor": 0}, "time_factor is 0, not within 1 and 10"),
    ({"time_factor": "2"}, "time_factor is .*2"),
    ({"elsewhere": "queue"}, "elsewhere is .*queue.*, not host or site"),
    ({"less_input": 1}, "less_input is 1"),
    ({"decision": "fail", "memory_factor": 2}, "memory_factor is 2, but decision is fail"),
    ({"decision": "fail", "elsewhere": "host"}, "elsewhere is .*host.*, but decision is fail"),
    ({"decision": "fail", "less_input": True}, "less_input is true, but decision is fail"),
    ({"colour": 1}, "colour"),
]


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    q = Calls(rolled_back)
    q.set_clock(NOON)
    return q


def set_rules(q: Calls, *rows: Row) -> None:
    q.call("set_retry_rules", Jsonb(rows))


def fail(q: Calls, match: Match, error: Any = None, outcome: str = "failed") -> Any:
    return q.call("finish_job", match.job_id, match.attempt, outcome, Jsonb(error))


def waiting(q: Calls, job_id: int = 1) -> tuple[Any, ...]:
    """The row of a waiting job: attempts, losses, failures, held, until when."""
    [row] = q.rows("select attempts, losses, failures, held, not_before from taskqueue.job where job_id = %s", job_id)
    return tuple(row)


def history(q: Calls, job_id: int = 1) -> list[Any]:
    """Attempt, failures and rules of the failed ends of a job."""
    return q.rows(
        "select attempt, failures, retry_rule, passive_rule from taskqueue.history"
        " where job_id = %s and event = 'failed' order by attempt",
        job_id,
    )


def explained(q: Calls, job_id: int = 1) -> dict[str, tuple[str | None, str]]:
    """explain_retry: rule -> verdict and reason."""
    return {row[1]: (row[2], row[4]) for row in q.call_rows("explain_retry", job_id)}


def after(q: Calls, **interval: float) -> None:
    q.set_clock(q.value("select resource.clock(%s)", q.setup) + timedelta(**interval))


def test_without_rules_a_failed_job_ends(q: Calls) -> None:
    q.insert(1)
    fail(q, q.take())
    assert (q.state(1), history(q)) == ("ended", [(1, None, None, None)])
    assert explained(q) == {"budget": (None, "failure 1, class unknown, in attempt 1; most_retries is 10")}


def test_a_failed_job_waits_again_from_the_commit_on(q: Calls) -> None:
    set_rules(q, RETRY)
    payload = {"script": "run.sh"}
    asked = {"Sites": ["A", "B"], "Tags": ["t"], "MinRAM": 2000}
    q.call(
        "insert_job", 1, Jsonb({"OwnerDN": "a", "OwnerGroup": "g", "CPUTime": 500, **asked}), 7, None, Jsonb(payload)
    )
    first = q.take(Site="A", Tag="t", MaxRAM=4000)
    assert fail(q, first) == "failed"
    assert (q.state(1), waiting(q), q.inconsistencies()) == ("waiting", (1, 0, 1, False, None), [])
    assert history(q) == [(1, 1, "again: retry", None)]
    second = q.take(Site="B", Tag="t", MaxRAM=4000)
    assert (second.job_id, second.number, second.user_priority) == (1, 2, 7)
    assert second.requirements == first.requirements
    assert q.call("own_payload", 1) == payload
    assert fail(q, second, outcome="finished") == "finished"
    assert (q.outcome(1), q.inconsistencies()) == ("finished", [])


def test_no_other_outcome_and_no_killed_job_is_tried_again(q: Calls) -> None:
    set_rules(q, RETRY)
    for outcome in ("finished", "cancelled", "closed"):
        q.insert(1)
        fail(q, q.take(), outcome=outcome)
        assert q.outcome(1) == outcome
    q.insert(1)
    match = q.take()
    q.call("cancel_job", 1)
    fail(q, match)
    assert (q.outcome(1), history(q)[-1]) == ("failed", (4, None, None, None))
    assert explained(q)["again"] == ("no", "the job was marked for kill")


def test_the_first_rule_by_position_decides_and_a_passive_one_before_it_is_noted(q: Calls) -> None:
    set_rules(
        q,
        {"position": 30, "name": "end", "decision": "fail"},
        {"position": 20, "name": "lost", "classes": ["lost"], "decision": "retry"},
        {"position": 15, "name": "late", "decision": "later", "passive": True},
        {"position": 10, "name": "would", "failures_from": 2, "decision": "retry", "passive": True},
        {"position": 5, "name": "input", "classes": ["input"], "decision": "later", "passive": True},
        {"position": 40, "name": "unread", "decision": "retry", "passive": True},
    )
    q.insert(1)
    fail(q, q.take())
    assert (q.outcome(1), history(q)) == ("failed", [(1, 1, "end: fail", "late: later")])
    assert explained(q) == {
        "budget": (None, "failure 1, class unknown, in attempt 1; most_retries is 10"),
        "input": ("no", "class unknown, not input"), "would": ("no", "failure 1, not 2 or later"),
        "late": ("noted", "it fits"), "lost": ("no", "class unknown, not lost"),
        "end": ("applies", "it fits"), "unread": ("after", "it fits"),
    }  # fmt: skip


def test_a_passive_rule_alone_decides_nothing(q: Calls) -> None:
    set_rules(q, RETRY | {"passive": True})
    q.insert(1)
    fail(q, q.take())
    assert (q.outcome(1), history(q)) == ("failed", [(1, 1, None, "again: retry")])


def test_failures_are_counted_until_the_budget_is_spent(q: Calls) -> None:
    set_rules(q, RETRY)
    q.settings(most_retries=2)
    q.insert(1)
    for number in (1, 2, 3):
        match = q.take()
        assert match.number == number
        fail(q, match)
    assert q.outcome(1) == "failed"
    assert [row[:3] for row in history(q)] == [(1, 1, "again: retry"), (2, 2, "again: retry"), (3, 3, None)]
    assert explained(q)["again"] == ("no", "the budget is spent: failure 3, and most_retries is 2")


def test_beyond_the_budget_only_fail_fits(q: Calls) -> None:
    set_rules(q, RETRY, {"position": 20, "name": "end", "failures_from": 2, "decision": "fail"})
    q.settings(most_retries=1)
    q.insert(1)
    fail(q, q.take())
    fail(q, q.take())
    assert history(q)[1] == (2, 2, "end: fail", None)


def test_no_retries_at_all_switches_every_rule_off(q: Calls) -> None:
    set_rules(q, RETRY | {"decision": "fail", "passive": True})
    q.settings(most_retries=0)
    q.insert(1)
    fail(q, q.take())
    assert history(q) == [(1, None, None, None)]
    assert explained(q)["again"] == ("no", "most_retries is 0, so no rule applies")
    for wrong in (-1, 1001):
        q.refuses(partial(q.settings, most_retries=wrong), "PB001", "most_retries")


def test_failures_and_losses_survive_releases_and_losses(q: Calls) -> None:
    set_rules(q, RETRY)
    q.insert(1)
    first = q.take()
    fail(q, first)
    for losses in (0, 1):
        match = q.take()
        if losses:
            q.rows("select taskqueue.return_leases(%s, '{1}', 'lost')", q.setup)
        else:
            q.call("release_job", 1, match.attempt)
        assert waiting(q)[1:3] == (losses, 1)
        assert fail(q, first) == "failed"  # a repeated answer
    fail(q, q.take())
    assert waiting(q) == (4, 1, 2, False, None)


@pytest.mark.parametrize("way", ["insertion", "insertion while it waits", "retry by an operator"])
def test_an_insertion_and_an_operator_begin_from_nothing(q: Calls, way: str) -> None:
    set_rules(q, RETRY | {"failures_to": 1}, LATER | {"position": 20, "failures_from": 2, "failures_to": 2})
    q.insert(1)
    match = q.take()
    fail(q, match)
    if way == "insertion while it waits":
        fail(q, match := q.take())
        assert waiting(q)[2:4] == (2, True)
        q.insert(1, CPUTime=5000)
        assert q.value("select sum(c.jobs) from taskqueue.task_queue t"
                       " cross join taskqueue.jobs_in(t.setup, t.task_queue_id) c(jobs)") == 1  # fmt: skip
    else:
        q.call("cancel_job", 1)
        if way == "insertion":
            q.insert(1)
        else:
            q.rows("select * from lifecycle.retry_jobs(%s, '{1}')", q.setup)
    assert (waiting(q)[2:], q.inconsistencies()) == ((0, False, None), [])
    assert q.value("select last_token from taskqueue.job where job_id = 1") is None
    q.refuses(lambda: fail(q, match), "PB003", "stale")


def test_a_job_for_later_is_held_until_its_time(q: Calls) -> None:
    set_rules(q, LATER)
    q.insert(1)
    fail(q, q.take())
    assert waiting(q) == (1, 0, 1, True, NOON + timedelta(seconds=60))
    assert (q.match(), q.match(JobID=1), q.inconsistencies()) == (None, None, [])
    after(q, seconds=59)
    q.call_rows("maintain", True)
    assert q.match() is None
    after(q, seconds=1)
    assert dict(q.call_rows("maintain", True))["due retries"] == 1
    assert (waiting(q), q.inconsistencies()) == ((1, 0, 1, False, None), [])
    assert q.take().number == 2
    events = [row[0] for row in q.rows("select event from taskqueue.history where job_id = 1 order by at")]
    assert events[-1] == "resumed"


def test_the_delay_is_a_quarter_of_an_hour_by_default(q: Calls) -> None:
    set_rules(q, {key: value for key, value in LATER.items() if key != "delay"})
    assert q.value("select delay from monitor.retry_rule") == timedelta(minutes=15)


def test_an_operator_resumes_or_holds_a_job_that_a_rule_holds(q: Calls) -> None:
    set_rules(q, LATER)
    for job_id in (1, 2, 3):
        q.insert(job_id)
        fail(q, q.take())
    assert q.call("resume", "job", "1") == 1
    assert waiting(q, 1)[3:] == (False, None)
    assert [q.call("hold", "job", "2"), q.call("hold", "job", "2")] == [1, 0]
    assert waiting(q, 2)[3:] == (True, None)
    after(q, minutes=5)
    q.call_rows("maintain", True)
    assert [waiting(q, job_id)[3] for job_id in (1, 2, 3)] == [False, True, False]
    assert q.inconsistencies() == []
    assert sorted(match.job_id for match in q.match_jobs(5)) == [1, 3]


def test_a_cancellation_after_a_retry_finds_a_waiting_job(q: Calls) -> None:
    set_rules(q, RETRY, LATER | {"position": 5, "sites": ["L"]})
    for job_id, site in ((1, "S"), (2, "L")):
        q.insert(job_id)
        match = q.take(Site=site)
        fail(q, match)
        assert q.call("cancel_job", job_id) == "ended"
        assert (q.outcome(job_id), q.inconsistencies()) == ("cancelled", [])
        q.refuses(partial(fail, q, match), "PB003")


def test_a_repeated_end_is_answered_as_the_first_one(q: Calls) -> None:
    set_rules(q, RETRY)
    q.insert(1)
    first = q.take()
    fail(q, first)
    for _ in range(2):
        assert fail(q, first) == "failed"
        assert q.call_rows("finish_jobs", Jsonb([{"job_id": 1, "attempt": first.attempt, "outcome": "failed"}])) == [
            (1, "failed", None)
        ]
        q.refuses(lambda: fail(q, first, outcome="finished"), "PB003", "stale")
        q.refuses(lambda: q.call_rows("report_job", 1, first.attempt), "PB003", "stale")
        q.refuses(lambda: q.call("release_job", 1, first.attempt), "PB003", "stale")
        if q.state(1) == "waiting":
            second = q.take()
    assert q.state(1) == "leased"
    assert waiting_or_leased_failures(q) == 1
    fail(q, second)
    q.refuses(lambda: fail(q, first), "PB003", "stale")
    assert fail(q, second) == "failed"
    assert waiting(q)[2] == 2


def waiting_or_leased_failures(q: Calls) -> int:
    return int(q.value("select failures from taskqueue.lease where job_id = 1"))


def as_subject(q: Calls, name: str, query: str, *arguments: Any) -> list[Any]:
    """A call of the service for a pilot."""
    subject = json.dumps({"name": name, "setup": q.setup})
    q.rows("select set_config('session_authorization', 'broker_service', true)")
    q.rows("select set_config('role', 'broker_agent', true), set_config('pgbroker.subject', %s, true)", subject)
    try:
        return q.rows(query, q.setup, *arguments)
    finally:
        q.connection.execute("reset session authorization")
        q.rows("select set_config('pgbroker.subject', '', true)")


@pytest.mark.parametrize("number", [None, 1])
def test_a_pilot_without_a_token_repeats_its_end(q: Calls, number: int | None) -> None:
    set_rules(q, RETRY)
    q.insert(1)
    end = Jsonb([{"job_id": 1, "outcome": "failed"} | ({} if number is None else {"attempt_number": number})])
    finish = "select outcome from taskqueue.finish_jobs(%s, %s)"
    jobs = "select state, status, attempt_number from taskqueue.jobs_of_subject(%s, '{1}')"
    as_subject(q, "p1", "select * from taskqueue.match_many(%s, %s)", Jsonb([{"resources": [resource()]}]))
    assert as_subject(q, "p2", finish, end) == [("stale",)]
    for _ in range(2):
        assert as_subject(q, "p1", finish, end) == [("failed",)]
        assert as_subject(q, "p1", jobs) == [("failed", "failed", 1)]
    assert waiting(q)[:3] == (1, 0, 1)
    as_subject(q, "p2", "select * from taskqueue.match_many(%s, %s)", Jsonb([{"resources": [resource()]}]))
    assert as_subject(q, "p1", finish, end) == [("failed",)]
    assert as_subject(q, "p1", finish, Jsonb([{"job_id": 1, "outcome": "finished"}])) == [("stale",)]
    assert (as_subject(q, "p1", jobs), as_subject(q, "p2", jobs)) == (
        [("failed", "failed", 1)], [("matched", "sent", 2)]
    )  # fmt: skip
    assert q.state(1) == "leased"


def test_a_batch_of_ends_is_judged_together(q: Calls) -> None:
    set_rules(q, RETRY | {"classes": ["memory"]}, LATER | {"position": 20, "classes": ["lost"]})
    q.call("set_error_classes", Jsonb([{"position": 1, "source": "a", "class": "memory"},
                                       {"position": 2, "source": "b", "class": "lost"}]))  # fmt: skip
    q.insert_many(range(1, 6))
    q.insert_many(range(6, 8), CPUTime=5000)
    sources = {1: "a", 2: "b", 3: "c", 4: None, 6: "a", 7: "b"}
    ends = [
        {"job_id": m.job_id, "attempt": m.attempt, "outcome": "failed" if m.job_id != 5 else "finished",
         "error": [{"source": sources[m.job_id]}] if sources.get(m.job_id) else None}
        for m in q.match_jobs(7)
    ]  # fmt: skip
    assert [row[1] for row in q.call_rows("finish_jobs", Jsonb(ends))] == ["failed"] * 4 + ["finished"] + ["failed"] * 2
    assert [q.state(n) for n in range(1, 8)] == ["waiting"] * 2 + ["ended"] * 3 + ["waiting"] * 2
    assert [waiting(q, n)[3] for n in (1, 2, 6, 7)] == [False, True, False, True]
    assert q.inconsistencies() == []


def test_a_lost_job_is_judged_too(q: Calls) -> None:
    set_rules(q, RETRY | {"classes": ["lost"]})
    q.settings(attempts=1)
    q.insert(1)
    q.take()
    after(q, hours=1)
    q.rows("select * from lifecycle.expire_leases(%s)", q.setup)
    assert history(q) == [(1, 1, "again: retry", None)]
    assert q.state(1) == "waiting"


def test_slots_of_limits_are_free_after_a_retry(q: Calls) -> None:
    set_rules(q, RETRY)
    q.running_limit("JobTypes", "T", 1)
    q.insert(1, JobTypes=["T"])
    fail(q, q.take(Site="S"))
    assert q.take(Site="S").number == 2
    assert q.inconsistencies() == []


@pytest.mark.parametrize(("wrong", "words"), WRONG)
def test_a_wrong_rule_is_refused_and_nothing_is_stored(q: Calls, wrong: Row, words: str) -> None:
    set_rules(q, {"position": 1, "name": "kept", "decision": "fail"})
    before = q.stored()
    code, message = q.refusal(lambda: set_rules(q, {"position": 5, "name": "good", "decision": "retry"}, RETRY | wrong))
    assert code == "PB001"
    assert re.search(words, message), message
    assert q.stored() == before


@pytest.mark.parametrize("same", [{"position": 5}, {"name": "good"}])
def test_positions_and_names_are_there_once(q: Calls, same: Row) -> None:
    other = {"position": 5, "name": "good", "decision": "fail"}
    q.refuses(lambda: set_rules(q, other, RETRY | same), "PB001", "given twice")


def test_more_than_a_hundred_rules_are_refused(q: Calls) -> None:
    rows = [{"position": n, "name": f"r{n}", "decision": "fail"} for n in range(101)]
    q.refuses(lambda: set_rules(q, *rows), "PB001", "101 retry rules")
    set_rules(q, *rows[1:])
    set_rules(q)
    assert q.rows("select from monitor.retry_rule") == []


def test_a_class_that_a_rule_names_stays(q: Calls) -> None:
    q.call("set_error_classes", Jsonb([{"position": 1, "source": "a", "class": "disk"}]))
    set_rules(q, RETRY | {"classes": ["disk", "memory"]})
    q.refuses(lambda: q.call("set_error_classes", Jsonb([])), "PB001", "disk", "again")
    set_rules(q)
    q.call("set_error_classes", Jsonb([]))


def test_changes_of_rules_have_an_author(q: Calls) -> None:
    set_rules(q, RETRY)
    set_rules(q, RETRY | {"decision": "fail"})
    changes = q.rows("select before, after from monitor.change where object = 'retry rule' order by change_id")
    assert [(b and b["decision"], a and a["decision"]) for b, a in changes] == [(None, "retry"), ("retry", "fail")]


def test_rules_are_a_section_of_a_world(q: Calls) -> None:
    one = RETRY | {"classes": ["memory"], "sites": ["A"], "failures_to": 3, "source": "pilot", "code_from": 1}
    one |= {"memory_factor": 1.5, "time_factor": 2, "elsewhere": "site", "less_input": True}
    rows = [one, LATER | {"position": 20, "pattern": "^x", "job_types": ["T"], "owner_groups": ["g"], "passive": True}]
    world.load(q.connection, [{"setup": q.setup, "retry_rules": rows, "task_queue_settings": {"most_retries": 7}}])
    dumped = q.call("dump_configuration")
    assert [{"failures_from": 1} | row for row in rows] == dumped["retry_rules"]
    assert dumped["task_queue_settings"]["most_retries"] == 7


def test_a_dump_of_leases_has_the_failures(q: Calls) -> None:
    set_rules(q, RETRY)
    q.insert(1)
    first = q.take()
    fail(q, first)
    q.take()
    [(lease,)] = q.call_rows("dump_leases")
    assert lease["failures"] == 1
    assert lease["last_token"].replace("-", "") == first.attempt.split("-")[1]
    for wrong in ({"failures": -1}, {"last_token": "x"}):
        q.refuses(partial(q.call, "load_leases", Jsonb([lease | wrong])), "PB001", *wrong)
    q.rows("update taskqueue.lease set avoid = 'n1 at A', avoid_until = now() returning 1")
    q.call("load_leases", Jsonb([lease]))
    assert q.value("select avoid from taskqueue.lease") is None
    q.rows("delete from taskqueue.lease returning 1")
    q.call("load_leases", Jsonb([lease]))
    assert q.call_rows("dump_leases") == [(lease,)]
    assert fail(q, first) == "failed"


def test_only_a_failed_end_is_explained(q: Calls) -> None:
    q.insert(1)
    q.refuses(lambda: q.call_rows("explain_retry", 1), "PB004")
    fail(q, q.take(), outcome="finished")
    q.refuses(lambda: q.call_rows("explain_retry", 1), "PB004")


def test_the_last_end_counts_when_the_attempts_of_a_forgotten_id_begin_again(q: Calls) -> None:
    set_rules(q, RETRY | {"failures_to": 1})
    ends = Jsonb([{"job_id": 1, "outcome": "failed"}])
    finish = "select outcome from taskqueue.finish_jobs(%s, %s)"
    for pilot in ("p1", "p1", "p2"):
        if pilot == "p2":
            after(q, days=2)
            q.call("forget_ended")
        if q.state(1) == "unknown":
            q.insert(1)
        as_subject(q, pilot, "select * from taskqueue.match_many(%s, %s)", Jsonb([{"resources": [resource()]}]))
        for _ in range(2):
            assert as_subject(q, pilot, finish, ends) == [("failed",)]
    assert (q.state(1), waiting(q)[0]) == ("waiting", 1)
    assert explained(q)["again"] == ("applies", "it fits")


def test_presets(q: Calls) -> None:
    q.refuses(lambda: q.rows("select taskqueue.shipped_retry_rules('cms')"), "PB001", "cms")
    q.call("set_retry_rules", Jsonb(q.value("select taskqueue.shipped_retry_rules('dirac')")))
    text = [{"source": "dirac", "text": "Going to reschedule job"}]
    for job_id, error, times in ((1, text, 4), (2, [{"source": "dirac", "text": "Job Rescheduled"}], 4), (3, PILOT, 1)):
        q.insert(job_id)
        for _ in range(times):
            fail(q, q.take(), error)
        assert q.outcome(job_id) == "failed"
    assert history(q)[-1] == (4, 4, "dirac-reschedule-limit: fail", None)
    q.call("set_retry_rules", Jsonb(q.value("select taskqueue.shipped_retry_rules('panda')")))
    q.settings(most_retries=2)
    q.insert(4)
    for _ in range(3):
        fail(q, q.take(), PILOT)
    assert [row[2] for row in history(q, 4)] == ["panda-retry: retry"] * 2 + [None]
    for job_id, code, rule in ((5, 1212, "panda-increase-memory: retry, memory x 1.5"),
                               (6, 1213, "panda-increase-cputime: retry, time x 1.5")):  # fmt: skip
        q.insert(job_id, MinRAM=1000)
        fail(q, q.take(JobID=job_id, MaxRAM=4000), [{"source": "pilot", "code": code}])
        assert history(q, job_id)[0][2] == rule


# The model.

CLASSES = ["memory", "lost", "unknown", "own"]
SITES = ["A", "B"]
GROUPS = ["users", "others"]
TYPES = ["T", "U"]
PATTERNS = ["disk", "^no", "[0-9]$", "full"]
TEXTS = ["no disk", "disk 7", "all full", ""]
BUCKETS = [500, 5000, 50000, 300000]
MOST_RAM = 4000
ASKED: dict[str, Row] = {
    "users": {"MinRAM": None, "CPUTime": 500, "Sites": None},
    "others": {"MinRAM": 1501, "CPUTime": 500, "Sites": SITES},
}


def some(random: random.Random, values: list[str]) -> list[str] | None:
    return random.choice([None, None, random.sample(values, random.randint(1, len(values)))])


def random_rule(random: random.Random, position: int) -> Row:
    low, first = random.randint(0, 3), random.randint(1, 3)
    row = {
        "position": position, "name": f"r{position}", "decision": random.choice(["fail", "retry", "later"]),
        "classes": some(random, CLASSES), "sites": some(random, SITES), "owner_groups": some(random, GROUPS),
        "job_types": some(random, TYPES), "source": random.choice([None, None, "a", "b"]),
        "code_from": random.choice([None, None, low]), "code_to": random.choice([None, None, low + 1]),
        "pattern": random.choice([None, None, *PATTERNS]), "failures_from": random.choice([None, first]),
        "failures_to": random.choice([None, first + 1]), "passive": random.random() < 0.3,
    }  # fmt: skip
    if row["decision"] != "fail":
        row["memory_factor"] = random.choice([None, None, 1.5, 2])
        row["time_factor"] = random.choice([None, None, 2])
        row["elsewhere"] = random.choice([None, None, "site"])
    return {key: value for key, value in row.items() if value is not None}


def fits(rule: Row, end: Row, most: int) -> bool:
    """The model: whether a rule fits an end."""
    if rule["decision"] != "fail" and end["failures"] > most:
        return False
    element = {"source", "code_from", "code_to", "pattern"} & rule.keys()
    after = changed(rule, end)
    others = set(after["Sites"] or "?") - {*after["BannedSites"]}
    return (
        (rule.get("memory_factor") is None or 0 < after["MinRAM"] <= MOST_RAM)
        and after["CPUTime"] <= BUCKETS[-1]
        and ("elsewhere" not in rule or bool(end["site"] and others))
        and rule.get("failures_from", 1) <= end["failures"] <= rule.get("failures_to", 10**9)
        and end["class"] in rule.get("classes", [end["class"]])
        and ("sites" not in rule or end["site"] in rule["sites"])
        and end["group"] in rule.get("owner_groups", [end["group"]])
        and ("job_types" not in rule or bool(set(rule["job_types"]) & set(end["types"])))
        and (not element or any(
            rule.get("source", e["source"]) == e["source"]
            and ("code_from" not in rule or e.get("code", -1) >= rule["code_from"])
            and ("code_to" not in rule or 0 <= e.get("code", -1) <= rule["code_to"])
            and re.search(rule.get("pattern", ""), e.get("text", "")) is not None for e in end["error"]))
    )  # fmt: skip


def decided(rules: list[Row], end: Row, most: int) -> tuple[Row | None, str | None]:
    """The model: the rule that decides, and the passive one before it."""
    passive = None
    for rule in sorted(rules, key=lambda rule: int(rule["position"])) if most else []:
        if fits(rule, end, most):
            if not rule.get("passive"):
                return rule, passive
            passive = passive or shown(rule)
    return None, passive


def shown(rule: Row) -> str:
    """The model: the decision and changes of a rule, as the history has them."""
    words = (("memory_factor", "memory x"), ("time_factor", "time x"), ("elsewhere", "other"))
    return f"{rule['name']}: {rule['decision']}" + "".join(f", {w} {rule[key]}" for key, w in words if key in rule)


def changed(rule: Row, end: Row) -> Row:
    """The model: what a job requires after a rule, CPUTime not yet rounded to its bucket."""
    asked: Row = end["asked"]
    memory = (asked["MinRAM"] or end["ram"] or 0) * rule.get("memory_factor", 0)
    return asked | {
        "MinRAM": math.ceil(memory) if "memory_factor" in rule else asked["MinRAM"],
        "CPUTime": asked["CPUTime"] * rule.get("time_factor", 1),
        "BannedSites": sorted({*asked["BannedSites"], *([end["site"]] if "elsewhere" in rule else [])} - {None}),
    }


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(2, 8))])
def test_random_ends_are_judged_as_by_the_model_and_judged_again_alike(q: Calls, seed: int) -> None:
    r = random.Random(seed)
    q.call("set_error_classes", Jsonb([
        {"position": 1, "source": "a", "code_from": 0, "code_to": 1, "class": "memory"},
        {"position": 2, "source": "a", "code_from": 2, "code_to": 2, "class": "lost"},
        {"position": 3, "source": "b", "pattern": "disk", "class": "own"}]))  # fmt: skip
    of_class: dict[tuple[Any, Any], str] = {("a", 0): "memory", ("a", 1): "memory", ("a", 2): "lost"}
    q.settings(most_ram=MOST_RAM)
    job_id = judged = changes = 0
    outcomes = set()
    while judged < 260:
        rules = [random_rule(r, n) for n in r.sample(range(50), r.randint(1, 6))]
        most = r.choice([0, 1, 2, 10])
        set_rules(q, *rules)
        q.settings(most_retries=most)
        for _ in range(5):
            job_id += 1
            group, types = r.choice(GROUPS), r.sample(TYPES, r.randint(0, 2))
            asked = ASKED[group] | {"BannedSites": []}
            q.insert(job_id, OwnerGroup=group, JobTypes=types or None, **asked | {"BannedSites": None})
            for failures in range(1, 20):
                site, ram = (
                    r.choice([None, *(s for s in SITES if s not in asked["BannedSites"])]),
                    r.choice([None, 700]),
                )
                q.call_rows("resume", "job", str(job_id))
                if waiting(q, job_id)[3]:  # held for a change
                    q.call_rows("maintain", True)
                match = q.take(JobID=job_id, Site=site)
                assert {key: value for key, value in asked.items() if value} == {
                    key: match.requirements[key] for key in asked if key in match.requirements
                }
                error: list[Row] = [
                    {"source": r.choice("ab")} | r.choice([{}, {"code": r.randint(0, 4)}]) | {"text": r.choice(TEXTS)}
                    for _ in range(r.randint(0, 2))
                ]
                found = [of_class.get((e["source"], e.get("code")), "own" if e["source"] == "b" and "disk" in e["text"]
                                      else None) for e in error]  # fmt: skip
                end = {"failures": failures, "class": next((c for c in found if c), "unknown"), "site": site,
                       "group": group, "types": types, "error": error, "ram": ram, "asked": asked}  # fmt: skip
                q.call("finish_job", job_id, match.attempt, "failed", Jsonb(error), Jsonb(ram and {"ram": ram}))
                judged += 1
                decider, passive = decided(rules, end, most)
                rule = decider and shown(decider)
                assert history(q, job_id)[-1] == (failures, failures if most else None, rule, passive), (rules, end)
                again = {(row[2], f"{row[1]}: {row[3]}") for row in q.call_rows("explain_retry", job_id)}
                for verdict, text in (("applies", rule), ("noted", passive)):
                    assert [row[1] for row in again if row[0] == verdict] == ([text.split(",")[0]] if text else [])
                assert failures <= most + 1
                ended = q.state(job_id) == "ended"
                assert ended == (decider is None or decider["decision"] == "fail"), (rules, end)
                outcomes.add(decider and decider["decision"])
                if ended or decider is None:
                    break
                changes += (has_change := bool({"memory_factor", "time_factor", "elsewhere"} & decider.keys()))
                assert waiting(q, job_id)[2:4] == (failures, has_change or decider["decision"] == "later")
                asked = changed(decider, end)
                asked["CPUTime"] = next(bucket for bucket in BUCKETS if bucket >= asked["CPUTime"])
    assert q.inconsistencies() == []
    assert outcomes == {None, "fail", "retry", "later"}
    assert changes > 5
