"""MATCHING.md, TaskQueue life: TaskQueues come and go. LEASES.md, Leases: a match is a lease, proved by its token."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Match


def all_queues(q: Calls) -> list[int]:
    return [
        row[0] for row in q.rows("select task_queue_id from taskqueue.task_queue where setup = %s order by 1", q.setup)
    ]


def history(q: Calls, job_id: int) -> list[str]:
    rows = q.rows("select event from taskqueue.history where job_id = %s", job_id)
    return sorted(row[0] for row in rows)


# Queues


def test_a_queue_disappears_when_its_last_job_is_taken(q: Calls) -> None:
    queue = q.insert(1, Sites=["A"], Tags=["t"])
    q.take(Site="A", Tag="t")
    assert q.queues(Tag="any") == {}
    q.maintain()
    assert all_queues(q) == []
    assert q.value("select count(*) from taskqueue.task_queue_site where task_queue_id = %s", queue) == 0
    assert q.inconsistencies() == []


def test_an_empty_queue_can_be_deleted_and_a_queue_with_jobs_cannot(q: Calls) -> None:
    empty, full = q.insert(1, Sites=["A"]), q.insert(2)
    q.call("delete_job", 1)
    if empty in all_queues(q):
        assert q.call("delete_queue_if_empty", empty) is True
    assert q.call("delete_queue_if_empty", empty) is False
    assert q.call("delete_queue_if_empty", full) is False
    assert all_queues(q) == [full]
    assert q.inconsistencies() == []


def test_delete_empty_queues_keeps_queues_with_jobs(q: Calls) -> None:
    kept = [q.insert(n, Sites=[f"kept {n}"]) for n in range(1, 4)]
    for n in range(4, 9):
        q.insert(n, Sites=[f"gone {n}"])
        q.call("delete_job", n)
    q.call("delete_empty_queues")
    assert all_queues(q) == kept
    assert q.call("delete_empty_queues") == 0
    assert q.inconsistencies() == []


def test_a_queue_with_nothing_but_held_jobs_is_not_empty(q: Calls) -> None:
    queue = q.insert(1)
    q.call("hold", "job", "1")
    assert q.call("delete_queue_if_empty", queue) is False
    q.call("delete_empty_queues")
    q.maintain()
    assert q.match() is None
    q.call("resume", "job", "1")
    assert q.take().job_id == 1


def test_delete_job_ends_a_waiting_job_and_leaves_others(q: Calls) -> None:
    queue = q.insert(1)
    q.insert_many([2, 3])
    assert q.call("delete_job", 1) == queue
    assert q.call("delete_job", 1) is None
    assert q.call("delete_job", 99) is None
    assert (q.state(1), q.outcome(1)) == ("ended", "closed")
    leased = q.take()
    assert q.call("delete_job", leased.job_id) is None
    assert q.state(leased.job_id) == "leased"
    assert q.queues() == {queue: 1}
    assert q.inconsistencies() == []


# Leases


@pytest.fixture
def match(q: Calls) -> Match:
    q.insert(1, 7, Sites=["A", "B"], JobTypes=["T"])
    return q.take(Site="A", GridCE="ce", JobType="T")


def report(q: Calls, attempt: str, job_id: int = 1) -> tuple[str, str | None]:
    [(action, reason)] = q.call_rows("report_job", job_id, attempt)
    return action, reason


def test_a_match_is_a_lease(q: Calls, match: Match) -> None:
    assert q.rows("select state, site, grid_ce, attempt, user_priority from taskqueue.lease") == [
        ("matched", "A", "ce", 1, 7)
    ]
    assert (q.state(1), q.queue_of(1)) == ("leased", None)


def test_leases_of_a_batch_last_as_long_as_others(q: Calls) -> None:
    q.settings(lease_time="20 minutes")
    """One job, two one after the other, and three side by side."""
    q.insert_many(range(1, 7))
    for limit in (1, 2, 3):
        assert len(q.match_jobs(limit)) == limit
    rows = q.rows("select job_id, (expires_at - matched_at)::text from taskqueue.lease order by 1")
    assert rows == [(job_id, "00:20:00") for job_id in range(1, 7)]


def test_the_first_report_makes_a_job_running(q: Calls, match: Match) -> None:
    assert report(q, match.attempt)[0] == "continue"
    assert q.value("select state from taskqueue.lease") == "running"
    assert report(q, match.attempt)[0] == "continue"
    assert history(q, 1) == ["running"], "its match is in the lease until that ends"
    q.call("finish_job", 1, match.attempt)
    assert history(q, 1) == ["finished", "matched", "running"]


def test_a_lease_that_a_dump_replaces_is_in_the_history(q: Calls, match: Match) -> None:
    [(lease,)] = q.call_rows("dump_leases")
    assert q.call("load_leases", Jsonb([lease])) == 1
    assert history(q, 1) == [], "the same attempt is the same lease"
    lease["attempt"] = "2-" + "0" * 32
    assert q.call("load_leases", Jsonb([lease])) == 1
    assert history(q, 1) == ["matched", "replaced"]
    assert q.rows("select attempt from taskqueue.match order by attempt") == [(1,), (2,)]


def end_of(q: Calls, match: Match, how: str) -> None:
    """End the lease of job 1 in one of the possible ways."""
    if how == "finish":
        q.call("finish_job", 1, match.attempt, "failed")
    elif how == "release":
        q.call("release_job", 1, match.attempt)
    else:
        q.call("cancel_job", 1)
        q.call("release_job", 1, match.attempt)


@pytest.mark.parametrize("how", ["finish", "release", "kill and release"])
@pytest.mark.parametrize("reported", [False, True])
def test_a_match_is_counted_once_from_its_lease_to_its_history(q: Calls, how: str, reported: bool) -> None:
    """A match moves from the lease into the history when the lease ends, with all of its columns and the same time."""
    q.set_clock("2026-01-01 00:00:00+00")
    q.insert(1, 7, Sites=["A", "B"], JobTypes=["T"])
    match = q.take(Site="A", GridCE="ce", JobType="T")
    matches = "select * from taskqueue.match where job_id = 1"
    (leased,) = q.rows(matches)
    query = """select at = '2026-01-01 00:00:00+00', attempt, task_queue_id, cpu_time, owner_group, owner_dn,
                     user_priority, site, grid_ce from taskqueue.match"""
    assert q.rows(query) == [(True, 1, match.task_queue_id, 500, "users", "alice", 7, "A", "ce")]
    assert "matched" not in history(q, 1)
    q.set_clock("2026-01-01 00:10:00+00")
    if reported:
        report(q, match.attempt)
        assert q.rows(matches) == [leased]
    end_of(q, match, how)
    assert q.rows("select from taskqueue.lease") == []
    assert q.rows(matches) == [leased]
    assert history(q, 1).count("matched") == 1
    events = q.rows("select event from taskqueue.history where job_id = 1 order by at, event = 'matched' desc")
    assert events[0] == ("matched",), "it comes before what happened to it"


def test_each_attempt_is_a_match_of_its_own(q: Calls, match: Match) -> None:
    q.call("release_job", 1, match.attempt)
    again = q.take(Site="B", JobType="T")
    attempts = "select attempt, site from taskqueue.match where job_id = 1 order by attempt"
    assert q.rows(attempts) == [(1, "A"), (2, "B")]
    assert history(q, 1).count("matched") == 1
    q.call("finish_job", 1, again.attempt)
    q.call("finish_job", 1, again.attempt)
    assert q.rows(attempts) == [(1, "A"), (2, "B")]
    assert history(q, 1).count("matched") == 2


@pytest.mark.parametrize("outcome", ["finished", "failed", "cancelled", "closed"])
@pytest.mark.parametrize("reported", [False, True])
def test_a_finished_job_keeps_its_outcome_and_is_recorded_once(
    q: Calls, match: Match, outcome: str, reported: bool
) -> None:
    if reported:
        report(q, match.attempt)
    assert q.call("finish_job", 1, match.attempt, outcome) == outcome
    assert (q.state(1), q.outcome(1)) == ("ended", outcome)
    assert q.call("finish_job", 1, match.attempt, outcome) == outcome
    assert outcome in history(q, 1)
    assert history(q, 1).count(outcome) == 1


def test_finished_is_the_default_outcome(q: Calls, match: Match) -> None:
    assert q.call("finish_job", 1, match.attempt) == "finished"


def test_finishing_again_with_another_outcome_is_refused(q: Calls, match: Match) -> None:
    q.call("finish_job", 1, match.attempt, "failed")
    assert q.refusal(lambda: q.call("finish_job", 1, match.attempt, "finished"))[0] == "PB003"
    assert q.outcome(1) == "failed"


def test_a_batch_of_ends_gives_the_reason_of_each_refusal(q: Calls, match: Match) -> None:
    q.insert(2)
    ends = [
        {"job_id": 3, "attempt": f"1-{'0' * 32}"},
        {"job_id": 2, "attempt": "one"},
        {"job_id": 1, "attempt": match.attempt},
    ]
    assert q.call_rows("finish_jobs", Jsonb(ends)) == [
        (1, "finished", None),
        (2, "refused", "invalid attempt 'one'"),
        (3, "stale", "there is no job 3 in setup default"),
    ]
    assert (q.outcome(1), q.state(2)) == ("finished", "waiting")


def test_release_puts_the_job_back(q: Calls, match: Match) -> None:
    queue = q.call("release_job", 1, match.attempt)
    assert (q.state(1), q.queue_of(1)) == ("waiting", queue)
    again = q.take(Site="B", JobType="T")
    assert (again.job_id, again.user_priority, again.number) == (1, 7, 2)
    assert again.requirements == match.requirements
    assert again.attempt != match.attempt
    assert q.inconsistencies() == []


def test_release_to_a_removed_queue_opens_the_queue_again(q: Calls, match: Match) -> None:
    q.call("delete_empty_queues")
    q.maintain()
    assert all_queues(q) == []
    queue = q.call("release_job", 1, match.attempt)
    assert all_queues(q) == [queue]
    assert q.rows("select value from taskqueue.task_queue_site where task_queue_id = %s order by 1", queue) == [
        ("A",),
        ("B",),
    ]
    assert q.queues(Site="A") == {queue: 1}
    assert q.queues(Site="C") == {}
    assert q.inconsistencies() == []


def test_release_to_an_existing_queue_joins_the_queue(q: Calls) -> None:
    q.insert_many([1, 2])
    queue = q.queue_of(1)
    match = q.take()
    assert q.call("release_job", match.job_id, match.attempt) == queue
    assert q.queues() == {queue: 2}


def test_a_job_with_the_id_of_an_ended_brokered_job_belongs_to_its_submitter(q: Calls) -> None:
    q.insert(1)
    q.rows("insert into workload.job (setup, job_id, status) values ('default', 1, 'finished') returning 1")
    match = q.take()
    q.call("release_job", 1, match.attempt)
    assert q.rows("select job_id, brokered from taskqueue.job") == [(1, False)]


def test_an_old_token_is_refused(q: Calls, match: Match) -> None:
    """A lost agent that comes back cannot touch a job that was given to another."""
    q.call("release_job", 1, match.attempt)
    calls: list[tuple[str, tuple[Any, ...]]] = [
        ("report_job", ()), ("finish_job", ()), ("finish_job", ("failed",)), ("release_job", ()),
    ]  # fmt: skip
    for function, arguments in calls:
        sqlstate, _ = q.refusal(partial(q.call_rows, function, 1, match.attempt, *arguments))
        assert sqlstate == "PB003"
    holder = q.take(Site="A", JobType="T")
    mixed = f"2-{match.attempt.split('-')[1]}"
    for function, arguments in calls:
        for token in (match.attempt, mixed, holder.attempt.replace("2-", "1-", 1)):
            error = q.error_of(partial(q.call_rows, function, 1, token, *arguments))
            assert error.sqlstate == "PB003"
            text = f"{error.diag.message_primary} {error.diag.message_detail} {error.diag.message_hint}"
            assert holder.attempt.split("-")[1] not in text, "a refusal must not give the holder's token away"
    assert report(q, holder.attempt)[0] == "continue"
    assert q.call("finish_job", 1, holder.attempt) == "finished"
    for function, arguments in calls:
        assert q.refusal(partial(q.call_rows, function, 1, match.attempt, *arguments))[0] == "PB003"


def test_a_stale_attempt_is_explained_to_operators_and_never_by_an_empty_line(q: Calls, match: Match) -> None:
    """psql prints DETAIL, and an agent may not learn who has the job."""
    q.rows("select resource.set_identity(%s, 'broker_agent')", q.setup)
    q.call("finish_job", 1, match.attempt)
    for role, detail in (
        ("broker_operator", "It has ended: finished, attempt 1."),
        ("broker_agent", "An operator sees who has the job."),
    ):
        q.connection.execute(f"set local role {role}".encode())
        error = q.error_of(lambda: q.call("release_job", 1, match.attempt))
        q.connection.execute("reset role")
        assert (error.sqlstate, error.diag.message_detail) == ("PB003", detail)


def test_a_token_of_another_job_is_refused(q: Calls) -> None:
    q.insert_many([1, 2])
    first, second = q.take(), q.take()
    assert q.refusal(lambda: q.call("finish_job", first.job_id, second.attempt))[0] == "PB003"
    other = Calls(q.connection, "other")
    other.insert(first.job_id)
    other.take()
    assert other.refusal(lambda: other.call("finish_job", first.job_id, first.attempt))[0] == "PB003"


def test_reporting_or_releasing_an_ended_job_is_refused(q: Calls, match: Match) -> None:
    """The token was right, but the attempt is over."""
    q.call("finish_job", 1, match.attempt)
    assert q.refusal(lambda: report(q, match.attempt))[0] == "PB003"
    assert q.refusal(lambda: q.call("release_job", 1, match.attempt))[0] == "PB003"
    assert q.outcome(1) == "finished"


# Cancelling


def reasons(q: Calls) -> list[tuple[str, str | None]]:
    """The events of job 1, each with its reason, for its submitter and for viewers."""
    own = [(row[2], row[-1]) for row in q.call_rows("own_job_events", 1)]
    query = (
        "select event, why from monitor.job_event where job_id = 1 order by at, event <> 'matched', event <> 'running'"
    )
    assert sorted(q.rows(query)) == sorted(own)
    return own


def test_cancelling_a_waiting_job_ends_it(q: Calls) -> None:
    q.insert(1)
    assert q.call("cancel_job", 1, "a twin ran") == "ended"
    assert (q.state(1), q.outcome(1)) == ("ended", "cancelled")
    assert reasons(q) == [("cancelled", "a twin ran")]
    assert q.match() is None
    assert q.inconsistencies() == []


def test_cancelling_a_leased_job_asks_for_its_kill(q: Calls, match: Match) -> None:
    assert q.call("cancel_job", 1, "no longer needed") == "kill asked"
    assert q.state(1) == "leased"
    assert report(q, match.attempt) == ("kill", "no longer needed")
    assert report(q, match.attempt) == ("kill", "no longer needed")
    q.call("finish_job", 1, match.attempt, "cancelled")
    assert q.outcome(1) == "cancelled"
    assert reasons(q) == [
        ("matched", None), ("running", None), ("kill asked", "no longer needed"), ("cancelled", "no longer needed"),
    ]  # fmt: skip


def test_a_job_that_finishes_before_its_kill_has_no_reason(q: Calls, match: Match) -> None:
    q.call("cancel_job", 1, "no longer needed")
    q.call("finish_job", 1, match.attempt)
    assert reasons(q) == [("matched", None), ("kill asked", "no longer needed"), ("finished", None)]


def test_a_job_marked_for_kill_does_not_go_back(q: Calls, match: Match) -> None:
    q.call("cancel_job", 1)
    assert q.call("release_job", 1, match.attempt) is None
    assert (q.state(1), q.outcome(1)) == ("ended", "cancelled")


def test_a_held_job_that_ends_is_counted_out_once(q: Calls) -> None:
    q.insert_many([1, 2, 3])
    queue = q.queue_of(1)
    q.call("hold", "job", "1")
    assert q.queues() == {queue: 2}
    assert q.call("cancel_job", 1) == "ended"
    assert q.state(1) == "ended"
    assert q.queues() == {queue: 2}
    assert q.call("cancel_job", 2) == "ended"
    assert q.queues() == {queue: 1}
    assert q.inconsistencies() == []


# Repeated ids


def test_attempts_of_an_id_go_on_counting(q: Calls) -> None:
    numbers = []
    for outcome in ("finished", "failed", "closed"):
        q.insert(1)
        match = q.take()
        numbers.append(match.number)
        q.call("release_job", 1, match.attempt)
        match = q.take()
        numbers.append(match.number)
        q.call("finish_job", 1, match.attempt, outcome)
    q.insert(1)
    q.call("delete_job", 1)
    q.insert(1)
    numbers.append(q.take().number)
    assert numbers == [1, 2, 3, 4, 5, 6, 7]


def test_only_losses_use_up_the_attempts_of_a_job(q: Calls) -> None:
    """A release and a job that ran are no losses; an insertion sets the losses to 0."""
    lost = "update taskqueue.lease set matched_at = '-infinity', expires_at = '-infinity' where job_id = 1 returning 1"

    def lose() -> str:
        q.take()
        q.rows(lost)
        q.rows("select from lifecycle.expire_leases(%s)", q.setup)
        return str(q.state(1))

    q.insert(1)
    for _ in range(4):
        match = q.take()
        q.call("release_job", match.job_id, match.attempt)
    assert [lose(), lose()] == ["waiting", "waiting"]
    ways: list[Callable[[], Match]] = [q.take, lambda: q.match_jobs(1)[0], lambda: q.take(JobID=1)]
    for take in ways:  # each carries the losses
        match = take()
        assert q.value("select losses from taskqueue.lease") == 2
        q.call("release_job", match.job_id, match.attempt)
    assert lose() == "ended"
    assert q.value("select attempts from taskqueue.ended") == 10
    q.insert(1)
    assert [lose(), lose(), lose()] == ["waiting", "waiting", "ended"]


def test_moving_a_returned_job_keeps_its_attempts(q: Calls) -> None:
    q.insert(1)
    q.call("release_job", 1, q.take().attempt)
    q.insert(1, 9, Sites=["B"])
    match = q.take()
    assert (match.number, match.user_priority) == (2, 9)


def test_an_id_that_was_forgotten_may_come_again(q: Calls) -> None:
    q.set_clock("2026-01-01 00:00:00+00")
    q.insert(1)
    q.call("finish_job", 1, q.take().attempt)
    q.set_clock("2026-02-01 00:00:00+00")
    assert q.call("forget_ended") == 1
    assert q.state(1) == "unknown"
    q.insert(1)
    assert q.take().job_id == 1


# Hold and resume


def test_a_held_job_is_passed_over(q: Calls) -> None:
    q.insert_many([1, 2])
    queue = q.queue_of(1)
    assert q.call("hold", "job", "1") == 1
    assert q.call("hold", "job", "1") == 0
    assert not all(q.explain(1).values())
    assert q.take().job_id == 2
    assert q.match() is None
    assert q.queue_of(1) == queue
    assert q.call("resume", "job", "1") == 1
    assert q.call("resume", "job", "1") == 0
    assert q.take().job_id == 1
    assert q.inconsistencies() == []


def test_a_held_owner_has_no_matches(q: Calls) -> None:
    for n, (owner, site) in enumerate([("alice", "A"), ("alice", "B"), ("bob", "A")], 1):
        q.insert(n, OwnerDN=owner, Sites=[site])
    assert q.call("hold", "owner", "alice") == 2
    assert q.take(Site=["A", "B"]).job_id == 3
    assert q.match(Site=["A", "B"]) is None
    assert not all(q.explain(1, Site="A").values())
    q.insert(4, OwnerDN="alice", Sites=["new"])
    assert q.match(Site="new") is None
    q.call("recompute_shares")
    q.call("rebuild_matching")
    assert q.match(Site="new") is None
    assert q.call("resume", "owner", "alice") == 3
    assert {q.take(Site=["A", "B", "new"]).job_id for _ in range(3)} == {1, 2, 4}
    assert q.inconsistencies() == []


@pytest.mark.parametrize("kind", ["task_queue", "queue"])
def test_a_held_queue_has_no_matches(q: Calls, kind: str) -> None:
    held, free = q.insert(1, Sites=["A"]), q.insert(2, Sites=["B"])
    assert q.call("hold", kind, str(held)) == 1
    assert q.queues() == {free: 1}
    assert q.take().job_id == 2
    assert q.match() is None
    assert q.call("resume", kind, str(held)) == 1
    assert q.take().job_id == 1


@pytest.mark.parametrize("turn", [1, -1], ids=["the owner first", "the owner last"])
def test_holds_and_switches_must_each_be_undone(q: Calls, turn: int) -> None:
    """A held job, in a queue that is disabled and held, of an owner that is held, waits until all four are undone."""
    queue = q.insert(1)
    q.call("set_task_queue_enabled", queue, False)
    q.call("hold", "task_queue", str(queue))
    q.call("hold", "owner", "alice")
    q.call("hold", "job", "1")
    undone = (
        ("resume", "owner", "alice"), ("set_task_queue_enabled", queue, True), ("resume", "job", "1"),
        ("resume", "task_queue", str(queue)),
    )  # fmt: skip
    for undo, *arguments in undone[::turn]:
        assert q.match() is None
        assert q.queues() == {}
        q.call(str(undo), *arguments)
    assert q.take().job_id == 1


# Batches


def test_a_batch_takes_at_most_its_limit_and_no_job_twice(q: Calls) -> None:
    q.insert_many(range(1, 31), CPUTime=5000)
    q.insert_many(range(31, 41), Sites=["A"])
    q.insert_many(range(41, 46), Sites=["B"])
    first = q.match_jobs(7)
    assert len({match.job_id for match in first}) == 7
    assert all(match.requirements["CPUTime"] == 5000 for match in first)
    rest = q.match_jobs(1000, Site="A")
    assert len(rest) == 33
    assert {m.job_id for m in first} | {m.job_id for m in rest} == set(range(1, 41))
    assert q.match_jobs(1000, Site="A") == []
    assert q.queues() == {q.queue_of(41): 5}
    assert len({match.attempt for match in first + rest}) == 40
    assert q.inconsistencies() == []
    for match in first + rest:
        q.call("finish_job", match.job_id, match.attempt)


def test_a_call_without_a_match_stores_only_the_resource_that_asked(q: Calls) -> None:
    q.insert(1, Sites=["A"])
    before = q.stored()
    assert q.match(Site="B") is None
    after = q.stored()
    changed = {table for table in before if before[table] != after[table]}
    unlogged = "select relname from pg_class where relpersistence = 'u' and relkind = 'r'"
    assert changed == {"taskqueue.resource_seen", "taskqueue.parsed_description"}
    assert {("resource_seen",), ("parsed_description",)} <= set(q.rows(unlogged)), "not in the WAL"


def test_maintain_changes_no_count_and_no_waiting_job(q: Calls) -> None:
    q.insert_many(range(1, 20))
    q.insert_many(range(20, 30), 5, Sites=["A"])
    for _ in range(5):
        q.take()
    counts, waiting = q.queues(), q.rows("select * from taskqueue.job order by job_id")
    q.maintain()
    assert q.queues() == counts
    assert q.rows("select * from taskqueue.job order by job_id") == waiting
    assert q.inconsistencies() == []


def test_rebuild_matching_restores_the_derived_structures(q: Calls) -> None:
    for n in range(1, 30):
        q.insert(n, n % 11, Sites=[f"S{n % 5}"], BannedSites=["S1"], Platforms=[f"P{n % 2}"])
    q.call("hold", "job", "3")
    before = q.queues(Tag="any")
    q.connection.execute("delete from taskqueue.posting")
    q.connection.execute("update taskqueue.hand set jobs = array(select j + 3 from unnest(jobs) j)")
    assert q.inconsistencies() != []
    q.call("rebuild_matching")
    assert q.inconsistencies() == []
    assert q.queues(Tag="any") == before
