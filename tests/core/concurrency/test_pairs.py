"""Pairs of calls whose outcome the specification fixes, one of them in a transaction that is still open."""

import itertools
import random
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, refused, requirements
from tests.core.concurrency.racing import Attempt, Stage, run_together


def meanwhile(stage: Stage, second: Callable[[Calls], Any], commit: bool = True) -> tuple[bool, Any]:
    """Run the second side beside the open transaction of the first, then end that: whether it waited, its answer."""
    attempt = Attempt(stage.second, second, stage.observer)
    waited = attempt.waits()
    stage.first.end(commit)
    return waited, attempt.end()


def task_queue_count(q: Calls) -> int:
    return int(q.value("select count(*) from taskqueue.task_queue where setup = %s", q.setup))


@pytest.mark.parametrize("others", [0, 1])
def test_two_inserts_of_the_same_new_requirements_open_one_queue(stage: Stage, others: int) -> None:
    """Tried in a new setup, where the second waits for the settings, and in one with other requirements."""
    for n in range(others):
        stage.observer.insert(9 + n)
    queue = stage.first.insert(1, Sites=["A"])
    _, other = meanwhile(stage, lambda q: q.insert(2, Sites=["A"]))
    assert other == queue
    assert task_queue_count(stage.observer) == 1 + others


def test_the_second_insert_opens_the_queue_when_the_first_rolls_back(stage: Stage) -> None:
    stage.first.insert(1, Sites=["A"])
    _, queue = meanwhile(stage, lambda q: q.insert(2, Sites=["A"]), commit=False)
    assert stage.observer.queues() == {queue: 1}
    assert task_queue_count(stage.observer) == 1


def test_two_inserts_of_different_requirements_do_not_wait(stage: Stage) -> None:
    stage.observer.insert(9)
    stage.first.insert(1, Sites=["A"])
    waited, _ = meanwhile(stage, lambda q: q.insert(2, Sites=["B"]))
    assert not waited


def test_two_inserts_into_one_queue_do_not_wait(stage: Stage) -> None:
    queue = stage.observer.insert(9)
    assert stage.first.insert(1) == queue
    waited, other = meanwhile(stage, lambda q: q.insert(2))
    assert (waited, other) == (False, queue)
    assert stage.observer.queues() == {queue: 3}


@pytest.mark.parametrize("commit", [True, False])
def test_the_second_insert_of_a_new_id_moves_the_job(stage: Stage, commit: bool) -> None:
    """The second insert sets requirements and user priority, whether the first is committed or not."""
    stage.first.insert(1, 2, Sites=["A"])
    _, queue = meanwhile(stage, lambda q: q.insert(1, 7, Sites=["B"]), commit)
    assert stage.observer.queues() == {queue: 1}
    assert stage.observer.take(Site="B").user_priority == 7


def test_the_second_insert_of_a_waiting_id_moves_the_job(stage: Stage) -> None:
    stage.observer.insert(1, 1)
    stage.first.insert(1, 2, Sites=["A"])
    _, queue = meanwhile(stage, lambda q: q.insert(1, 3, Sites=["B"]))
    assert stage.observer.queues() == {queue: 1}
    assert stage.observer.inconsistencies() == []


def test_crossing_batches_do_not_deadlock(stage: Stage) -> None:
    """Both batches have the same ids, the second in the other order: one waits, none fails."""
    stage.observer.insert_many(range(1, 11))
    stage.first.insert_many(range(1, 11), Sites=["A"])
    _, count = meanwhile(stage, lambda q: q.insert_many(range(10, 0, -1), Sites=["B"]))
    assert count == 10
    assert list(stage.observer.queues(Site="B").values()) == [10]


def test_an_insert_keeps_its_job_when_the_last_other_job_is_being_taken(stage: Stage) -> None:
    """No job is ever without a queue, and no queue is deleted under an insert."""
    stage.observer.insert(1)
    assert stage.first.take().job_id == 1
    _, queue = meanwhile(stage, lambda q: q.insert(2))
    assert stage.observer.queue_of(2) == queue
    assert stage.observer.take().job_id == 2


def test_the_last_job_can_be_taken_while_another_is_being_inserted(stage: Stage) -> None:
    stage.observer.insert(1)
    queue = stage.first.insert(2)
    waited, match = meanwhile(stage, lambda q: q.match())
    assert not waited
    assert match.job_id == 1
    assert stage.observer.queue_of(2) == queue
    assert stage.observer.take().job_id == 2


@pytest.mark.parametrize("commit", [True, False])
def test_an_insert_keeps_its_job_while_the_queue_is_being_deleted(stage: Stage, commit: bool) -> None:
    queue = stage.observer.insert(1)
    stage.observer.call("delete_job", 1)
    stage.first.call("delete_queue_if_empty", queue)
    _, new = meanwhile(stage, lambda q: q.insert(2), commit)
    assert stage.observer.queue_of(2) == new
    assert stage.observer.take().job_id == 2
    assert stage.observer.inconsistencies() == []


@pytest.mark.parametrize("commit", [True, False])
def test_a_queue_with_a_job_being_inserted_is_not_deleted(stage: Stage, commit: bool) -> None:
    queue = stage.observer.insert(1)
    stage.first.insert(2)
    stage.observer.call("delete_job", 1)
    _, deleted = meanwhile(stage, lambda q: q.call("delete_queue_if_empty", queue), commit)
    assert not (deleted and commit)
    assert stage.observer.queues() == ({queue: 1} if commit else {})


@pytest.mark.representative
def test_two_matches_never_get_the_same_job_and_do_not_wait(stage: Stage) -> None:
    stage.observer.insert_many([1, 2])
    mine = stage.first.take()
    waited, other = meanwhile(stage, lambda q: q.match())
    assert not waited
    assert {mine.job_id, other.job_id} == {1, 2}


@pytest.mark.slow
def test_a_match_finds_nothing_while_the_only_job_is_being_matched(stage: Stage) -> None:
    stage.observer.insert(1)
    stage.first.take()
    assert meanwhile(stage, lambda q: q.match(), commit=False) == (False, None)
    assert stage.observer.take().job_id == 1


def test_a_request_for_a_job_that_is_being_matched_finds_nothing(stage: Stage) -> None:
    stage.observer.insert(1)
    stage.first.take()
    assert meanwhile(stage, lambda q: q.match(JobID=1)) == (False, None)


@pytest.mark.parametrize("commit", [True, False])
def test_a_cancel_of_a_job_being_matched_asks_for_its_kill_or_ends_the_job(stage: Stage, commit: bool) -> None:
    stage.observer.insert(1)
    stage.first.take()
    _, answer = meanwhile(stage, lambda q: q.call("cancel_job", 1), commit)
    assert answer == ("kill asked" if commit else "ended")
    assert stage.observer.state(1) == ("leased" if commit else "ended")


@pytest.mark.parametrize("change", ["cancel", "hold", "delete", "insert"])
def test_a_match_passes_over_a_job_that_is_being_changed(stage: Stage, change: str) -> None:
    stage.observer.insert_many([1, 2])
    changes: dict[str, Callable[[], object]] = {
        "cancel": lambda: stage.first.call("cancel_job", 1),
        "hold": lambda: stage.first.call("hold", "job", "1"),
        "delete": lambda: stage.first.call("delete_job", 1),
        "insert": lambda: stage.first.insert(1, Sites=["A"]),
    }
    changes[change]()
    waited, matches = meanwhile(stage, lambda q: q.match_jobs(10))
    assert not waited
    assert [match.job_id for match in matches] == [2]


def test_a_hold_of_a_job_that_was_being_matched_is_refused(stage: Stage) -> None:
    stage.observer.insert(1)
    stage.first.take()
    with refused("PB005"):
        meanwhile(stage, lambda q: q.call("hold", "job", "1"))
    assert stage.observer.state(1) == "leased"


def test_a_limit_that_is_set_counts_a_match_that_is_open(stage: Stage) -> None:
    """The leases that exist count, also the one whose transaction had begun before."""
    stage.observer.insert_many(range(1, 6), JobTypes=["T"])
    stage.first.take(Site="S")
    meanwhile(stage, lambda q: q.running_limit("JobTypes", "T", 1))
    assert stage.observer.match(Site="S") is None
    assert stage.observer.inconsistencies() == []


@pytest.mark.parametrize("commit", [True, False])
def test_a_limit_that_is_set_counts_new_requirements_that_are_being_inserted(stage: Stage, commit: bool) -> None:
    """Also after the limit, which is open in its turn, requirements come that no job had."""
    stage.first.insert_many(range(1, 4), JobTypes=["T"], Tags=["t"])
    waited, _ = meanwhile(stage, lambda q: q.running_limit("JobTypes", "T", 1), commit)
    assert waited
    stage.first.running_limit("Tags", "u", 1)
    waited, _ = meanwhile(stage, lambda q: q.insert_many(range(4, 7), JobTypes=["U"], Tags=["u"]), commit)
    assert waited
    q = stage.observer
    q.rows("select resource.set_identity('default', resource.caller())")
    assert len(list(iter(lambda: q.match(Site="S", Tag=["t", "u"]), None))) == (2 if commit else 3)
    assert q.inconsistencies() == []


@pytest.mark.parametrize("commit", [True, False])
def test_requirements_that_are_inserted_while_a_limit_goes_count_as_the_limit_ends(stage: Stage, commit: bool) -> None:
    q = stage.observer
    q.rows("select resource.set_identity('default', resource.caller())")
    q.running_limit("JobTypes", "T", 1)
    stage.first.call("clear_limit", "running", "S", None, "JobTypes", "T")
    waited, _ = meanwhile(stage, lambda q: q.insert_many(range(1, 4), JobTypes=["T"]), commit)
    assert waited
    assert len(list(iter(lambda: q.match(Site="S"), None))) == (3 if commit else 1)
    assert q.inconsistencies() == []


@pytest.mark.parametrize("commit", [True, False])
def test_a_slot_held_by_an_open_match_looks_taken(stage: Stage, commit: bool) -> None:
    stage.observer.insert_many(range(1, 6), JobTypes=["T"])
    stage.observer.running_limit("JobTypes", "T", 1)
    stage.first.take(Site="S")
    assert meanwhile(stage, lambda q: q.match(Site="S"), commit) == (False, None)
    assert (stage.observer.match(Site="S") is None) == commit


def test_a_slot_that_is_being_given_back_is_free_after_the_commit(stage: Stage) -> None:
    stage.observer.insert_many(range(1, 6), JobTypes=["T"])
    stage.observer.running_limit("JobTypes", "T", 1)
    match = stage.observer.take(Site="S")
    stage.first.call("finish_job", match.job_id, match.attempt)
    assert meanwhile(stage, lambda q: q.match(Site="S")) == (False, None)
    assert stage.observer.match(Site="S") is not None


@pytest.mark.parametrize("commit", [True, False])
def test_a_slot_over_a_lowered_limit_is_removed_once(stage: Stage, commit: bool) -> None:
    """One slot too many is free; a match removes it, and another match at that time takes no slot in its place."""
    q = stage.observer
    q.insert_many(range(1, 21), JobTypes=["T"])
    q.running_limit("JobTypes", "T", 6)
    running = q.match_jobs(6, Site="S")
    q.running_limit("JobTypes", "T", 5)
    for match in running:
        q.call("finish_job", match.job_id, match.attempt)
    assert len(stage.first.match_jobs(2, Site="S")) == 2
    waited, other = meanwhile(stage, lambda q: q.match(Site="S"), commit)
    assert not waited
    assert (2 if commit else 0) + (other is not None) + len(q.match_jobs(20, Site="S")) == 5
    assert q.inconsistencies() == []


def test_a_delay_that_is_being_used_looks_used(stage: Stage) -> None:
    stage.observer.insert_many(range(1, 6), JobTypes=["T"])
    stage.observer.call("set_limit", "delay", "S", None, "JobTypes", "T", 1000)
    stage.first.take(Site="S")
    assert meanwhile(stage, lambda q: q.match(Site="S")) == (False, None)
    assert stage.observer.match(Site="S") is None


@pytest.mark.parametrize("commit", [True, False])
def test_a_match_does_not_wait_for_a_queue_that_is_being_disabled(stage: Stage, commit: bool) -> None:
    queue = stage.observer.insert(1, CPUTime=5000)
    stage.observer.insert(2)
    stage.first.call("set_task_queue_enabled", queue, False)
    waited, match = meanwhile(stage, lambda q: q.match(), commit)
    assert not waited
    assert match is not None
    rest = stage.observer.match_jobs(5)
    assert {match.job_id, *(m.job_id for m in rest)} == ({2} if commit and match.job_id == 2 else {1, 2})


def test_new_buckets_apply_to_a_job_that_is_being_inserted(stage: Stage) -> None:
    """The new queue has an old bucket at first; afterwards it has a new one, and equal queues are merged."""
    old = stage.observer.insert(1, CPUTime=5000, Sites=["A"])
    stage.first.insert(2, CPUTime=500, Sites=["A"])
    meanwhile(stage, lambda q: q.call("set_cpu_buckets", [100000]))
    assert stage.observer.queues() == {stage.observer.queue_of(1): 2}
    assert old in (stage.observer.queue_of(1), stage.observer.queue_of(2))
    assert stage.observer.inconsistencies() == []


@pytest.mark.parametrize("call", ["insert", "release"])
def test_an_insert_or_release_while_the_buckets_change_joins_a_new_bucket(stage: Stage, call: str) -> None:
    stage.observer.insert_many([1, 2], CPUTime=500)
    match = stage.observer.take()
    stage.first.call("set_cpu_buckets", [100000])
    back = ("release_job", match.job_id, match.attempt)
    _, queue = meanwhile(stage, lambda q: q.insert(3, CPUTime=500) if call == "insert" else q.call(*back))
    assert stage.observer.queues() == {queue: 2}
    assert stage.observer.inconsistencies() == []


def test_a_release_does_not_wait_while_its_queue_is_being_opened(stage: Stage) -> None:
    """The queue was removed, and an insert opens it again. The agent does not wait: its job opens a second queue."""
    stage.observer.insert(1)
    match = stage.observer.take()
    stage.observer.call("delete_empty_queues")
    queue = stage.first.insert(2)
    waited, back = meanwhile(stage, lambda q: q.call("release_job", 1, match.attempt))
    assert not waited and back != queue
    assert stage.observer.queues() == {queue: 1, back: 1}
    assert {match.job_id for match in stage.observer.match_jobs(3)} == {1, 2}
    assert stage.observer.inconsistencies() == []


def test_an_insert_moves_a_job_that_is_being_released(stage: Stage) -> None:
    """The job is leased until the release commits, and then waits: the insert moves it."""
    stage.observer.insert(1)
    match = stage.observer.take()
    stage.first.call("release_job", 1, match.attempt)
    _, queue = meanwhile(stage, lambda q: q.insert(1, 5, Sites=["A"]))
    assert stage.observer.queues() == {queue: 1}
    assert stage.observer.take(Site="A").number == 2


@pytest.mark.parametrize("commit", [True, False])
def test_an_insert_of_a_job_that_was_being_matched_is_refused(stage: Stage, commit: bool) -> None:
    stage.observer.insert(1)
    stage.first.take()
    if commit:
        with refused("PB005"):
            meanwhile(stage, lambda q: q.insert(1, Sites=["A"]))
        assert stage.observer.state(1) == "leased"
    else:
        _, queue = meanwhile(stage, lambda q: q.insert(1, Sites=["A"]), commit=False)
        assert stage.observer.queues() == {queue: 1}


@pytest.mark.parametrize(("first", "second"), list(itertools.product(["finish_job", "release_job"], repeat=2)))
@pytest.mark.parametrize("commit", [True, False])
def test_one_of_two_ends_of_an_attempt_wins(stage: Stage, first: str, second: str, commit: bool) -> None:
    """One end wins, the other is stale; only a second finish with the same outcome is no error."""
    stage.observer.insert(1)
    match = stage.observer.take()
    stage.first.call(first, 1, match.attempt)
    if commit and (first, second) != ("finish_job", "finish_job"):
        with refused("PB003"):
            meanwhile(stage, lambda q: q.call(second, 1, match.attempt))
        winner = first
    else:
        meanwhile(stage, lambda q: q.call(second, 1, match.attempt), commit)
        winner = first if commit else second
    assert stage.observer.state(1) == ("ended" if winner == "finish_job" else "waiting")
    assert stage.observer.inconsistencies() == []


def test_a_finish_ends_a_job_whose_kill_is_being_asked(stage: Stage) -> None:
    stage.observer.insert(1)
    match = stage.observer.take()
    stage.first.call("cancel_job", 1)
    _, outcome = meanwhile(stage, lambda q: q.call("finish_job", 1, match.attempt))
    assert outcome == stage.observer.outcome(1)
    assert stage.observer.state(1) == "ended"


def test_a_report_sees_a_kill_once_it_is_committed(stage: Stage) -> None:
    stage.observer.insert(1)
    match = stage.observer.take()
    stage.first.call("cancel_job", 1, "no more")
    meanwhile(stage, lambda q: q.call_rows("report_job", 1, match.attempt))
    assert stage.observer.call_rows("report_job", 1, match.attempt) == [("kill", "no more")]


def test_new_queues_get_priorities_without_waiting_for_each_other(stage: Stage) -> None:
    """Opening a queue marks its group; it does not lock the group's other queues."""
    stage.observer.insert(1)
    stage.first.insert(2, JobTypes=["A"])
    waited, _ = meanwhile(stage, lambda q: q.insert(3, JobTypes=["B"]))
    assert not waited
    stage.observer.call("recompute_shares")
    assert list(stage.observer.priorities().values()) == pytest.approx([1000 / 3] * 3)


@pytest.mark.slow
@pytest.mark.parametrize("commit", [True, False])
def test_folded_weights_are_exact_while_others_open_and_drop_queues(stage: Stage, commit: bool) -> None:
    """Changes of one transaction appear for the others at its commit, or not at all."""
    q, first = stage.observer, stage.first
    fold = "select taskqueue.fold_weights(%s, 'users')"
    for n in range(1, 21):
        q.insert(n, n % 10, JobTypes=[f"T{n}"])
    first.rows(fold, q.setup)
    first.insert(21, 5, JobTypes=["T21"])
    first.call("delete_job", 1)
    first.call("recompute_shares")
    calls: list[Callable[[Calls], Any]] = [
        lambda q: q.rows(fold, q.setup),
        lambda q: q.insert(22, 3, JobTypes=["T22"]),
        lambda q: q.call("delete_job", 2),
        lambda q: q.call("recompute_shares"),
    ]
    for call in calls:
        attempt = Attempt(stage.second, call, q)
        assert not attempt.waits()
        attempt.end()
        assert q.inconsistencies() == []
        assert first.inconsistencies() == []
    first.end(commit)
    assert q.inconsistencies() == []
    queue = q.insert(30, 7, JobTypes=["T30"])
    at_once = q.priorities()[queue]
    q.call("recompute_shares")
    assert q.priorities()[queue] == pytest.approx(at_once)


@pytest.mark.slow
def test_weights_stay_right_while_queues_open_and_drop_and_callers_are_killed(
    new_database_of_module: str, stage: Stage
) -> None:
    q = stage.observer
    finished: list[int] = []

    def submitter(which: int) -> Callable[[Calls], None]:
        def work(own: Calls) -> None:
            mine, chance = Calls(own.connection, q.setup), random.Random(which)
            for n in range(which, 300, 3):
                owner = f"owner {n % 3}"
                with own.connection.transaction(force_rollback=chance.random() < 0.2):
                    mine.insert(n + 1, n % 11, JobTypes=[f"T{n % 90}"], OwnerDN=owner)
                    mine.insert_many([1000 + n], 2, JobTypes=[f"S{n % 50}"], OwnerDN=owner)
                mine.call("delete_job", chance.randrange(1, n + 2))
            finished.append(which)

        return work

    def pricer(own: Calls) -> None:
        mine = Calls(own.connection, q.setup)
        while len(finished) < 3:
            mine.call("recompute_shares")
            mine.maintain()

    def victim(own: Calls) -> None:
        """Its server process ends within a transaction that has opened and dropped queues and folded the weights."""
        while len(finished) < 3:
            connection = psycopg.connect(new_database_of_module)
            mine = Calls(connection, q.setup)
            mine.insert(5000, 3, JobTypes=["V"])
            mine.call("delete_job", 1000)
            mine.call("fold_weights", "users")
            assert own.value("select pg_terminate_backend(%s, 5000)", connection.info.backend_pid)
            connection.close()

    run_together(new_database_of_module, [*[submitter(which) for which in range(3)], pricer, victim])
    assert q.inconsistencies() == []
    assert q.state(5000) == "unknown"
    q.call("recompute_shares")
    assert q.inconsistencies() == []


@pytest.mark.parametrize("commit", [True, False])
def test_an_insert_opens_a_queue_while_its_requirements_are_being_forgotten(stage: Stage, commit: bool) -> None:
    """Maintenance drops requirements unused for an hour; an insert with them then opens a queue."""
    stage.observer.insert(1, Sites=["A"])
    stage.observer.call("delete_job", 1)
    stage.observer.call("delete_empty_queues")
    stage.observer.set_clock("2100-01-01 00:00:00+00")
    assert stage.first.maintain()["definitions"] == 1
    _, queue = meanwhile(stage, lambda q: q.insert(2, Sites=["A"]), commit)
    assert stage.observer.queues(Site="A") == {queue: 1}
    assert stage.observer.inconsistencies() == []


def test_requirements_are_not_forgotten_while_a_queue_is_being_opened(stage: Stage) -> None:
    stage.observer.insert(1, Sites=["A"])
    stage.observer.call("delete_job", 1)
    stage.observer.call("delete_empty_queues")
    stage.observer.set_clock("2100-01-01 00:00:00+00")
    queue = stage.first.insert(2, Sites=["A"])
    _, done = meanwhile(stage, lambda q: q.maintain())
    assert done["definitions"] == 0
    assert stage.observer.queues(Site="A") == {queue: 1}
    assert stage.observer.inconsistencies() == []


def _known(q: Calls) -> list[Any]:
    return q.rows("select requirements -> 'Sites' from monitor.job where setup = %s order by job_id", q.setup)


@pytest.mark.parametrize("commit", [True, False])
def test_requirements_stay_known_while_their_last_lease_ends(stage: Stage, commit: bool) -> None:
    """At every moment an ended job has its requirements, whether its definition moves before or after the end."""
    q = stage.observer
    q.insert(1, Sites=["A"])
    match = q.take(Site="A")
    q.call("delete_empty_queues")
    q.set_clock("2100-01-01 00:00:00+00")
    stage.first.call("finish_job", 1, match.attempt, "failed")
    waited, done = meanwhile(stage, lambda q: q.maintain(), commit)
    assert (waited, done["definitions"]) == (False, 0)
    assert _known(q) == [(["A"],)]
    assert q.maintain()["definitions"] == commit
    assert _known(q) == [(["A"],)]


@pytest.mark.parametrize("commit", [True, False])
def test_requirements_stay_known_while_their_definition_moves(stage: Stage, commit: bool) -> None:
    q = stage.observer
    q.insert(1, Sites=["A"])
    q.call("cancel_job", 1)
    q.call("delete_empty_queues")
    q.set_clock("2100-01-01 00:00:00+00")
    assert stage.first.maintain()["definitions"] == 1
    assert _known(q) == [(["A"],)]
    _, answer = meanwhile(
        stage, lambda q: q.rows("select answer from lifecycle.retry_jobs(%s, '{1}')", q.setup), commit
    )
    assert answer == [("waits again",)]
    assert _known(q) == [(["A"],)]
    assert list(q.queues(Site="A").values()) == [1]
    assert q.inconsistencies() == []


def test_a_retried_job_keeps_its_requirements_from_moving(stage: Stage) -> None:
    q = stage.observer
    q.insert(1, Sites=["A"])
    q.call("cancel_job", 1)
    q.call("delete_empty_queues")
    q.set_clock("2100-01-01 00:00:00+00")
    stage.first.rows("select lifecycle.retry_jobs(%s, '{1}')", q.setup)
    waited, done = meanwhile(stage, lambda q: q.maintain())
    assert (waited, done["definitions"]) == (False, 0)
    assert q.take(Site="A").job_id == 1


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("other", ["retry", "insert", "forget"])
def test_a_retry_answers_as_if_it_came_after_the_other_call(stage: Stage, other: str, commit: bool) -> None:
    q = stage.observer
    q.call("insert_job", 1, Jsonb(requirements(Sites=["A"])), 5, None, Jsonb("run"))
    q.call("cancel_job", 1)

    def retry(q: Calls) -> Any:
        return q.rows("select answer from lifecycle.retry_jobs(%s, '{1}')", q.setup)

    if other == "retry":
        retry(stage.first)
    elif other == "insert":
        stage.first.insert(1, 9, Sites=["B"])
    else:
        assert stage.first.call("forget_ended", "0 s") == 1
    attempt = Attempt(stage.second, retry, stage.observer)
    assert attempt.waits()
    stage.first.end(commit)
    if commit:
        with refused("PB004" if other == "forget" else "PB005"):
            attempt.end()
        found = q.rows("select user_priority from taskqueue.job where setup = %s", q.setup)
        assert found == {"retry": [(5,)], "insert": [(9,)], "forget": []}[other]
    else:
        assert attempt.end() == [("waits again",)]
        assert q.call("own_payload", 1) == "run"
    assert q.inconsistencies() == []


def test_an_insertion_that_meets_a_retry_comes_after_it(stage: Stage) -> None:
    q = stage.observer
    q.call("insert_job", 1, Jsonb(requirements(Sites=["A"])), 5, None, Jsonb("run"))
    q.call("cancel_job", 1)
    stage.first.rows("select lifecycle.retry_jobs(%s, '{1}')", q.setup)
    assert meanwhile(stage, lambda q: q.insert(1, 9, Sites=["B"]))[0]
    assert q.value("select user_priority from taskqueue.job where setup = %s", q.setup) == 9
    assert q.call("own_payload", 1) is None
    assert q.inconsistencies() == []


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("other", ["insert", "retry"])
def test_a_job_that_starts_again_is_not_forgotten(stage: Stage, other: str, commit: bool) -> None:
    q = stage.observer
    q.call("insert_job", 1, Jsonb(requirements()), 5, None, Jsonb("run"))
    q.call("cancel_job", 1)
    if other == "retry":
        stage.first.rows("select lifecycle.retry_jobs(%s, '{1}')", q.setup)
    else:
        stage.first.insert(1)
    assert meanwhile(stage, lambda q: q.call("forget_ended", "0 s"), commit) == (False, 0)
    assert q.state(1) == ("waiting" if commit else "ended")
    assert q.call("own_payload", 1) == (None if commit and other == "insert" else "run")


def test_a_task_queue_that_a_batch_leaves_and_fills_is_not_removed_in_between(stage: Stage) -> None:
    """Job 1 leaves the TaskQueue into which job 2 goes; job 2 is cancelled while the batch waits for job 1."""
    q = stage.observer
    left = q.insert(1, Sites=["A"])
    q.insert(2, Sites=["B"])
    q.insert(3, Sites=["C"])
    stage.first.rows("select from taskqueue.job where setup = %s and job_id = 1 for update", q.setup)
    batch = [{"job_id": n, "requirements": requirements(Sites=[site])} for n, site in ((1, "C"), (2, "A"))]
    attempt = Attempt(stage.second, lambda own: own.call("insert_jobs", Jsonb(batch)), q)
    assert attempt.waits()
    q.call("cancel_job", 2)
    stage.first.end(commit=False)
    attempt.end()
    assert (q.call("queue_of_job", 2), q.inconsistencies()) == (left, [])


@pytest.mark.slow
def test_retries_meet_insertions_of_the_same_jobs_in_another_order(new_database_of_module: str, stage: Stage) -> None:
    """Calls wait for each other, or begin again after a deadlock; a refusal names the state of the job."""
    q = stage.observer
    ids = list(range(1, 9))
    kinds = [f"T{n}" for n in range(4)]
    done: Counter[str] = Counter()

    def caller(which: int) -> Callable[[Calls], None]:
        def work(own: Calls) -> None:
            mine, chance = Calls(own.connection, q.setup), random.Random(which)
            own.connection.execute("set deadlock_timeout = '20ms'")

            def insert() -> Any:
                return mine.call("insert_jobs", Jsonb([
                    {"job_id": job_id, "requirements": requirements(JobTypes=[chance.choice(kinds)])}
                    for job_id in chance.sample(ids, 4)
                ]))  # fmt: skip

            def retry() -> Any:
                sample = chance.sample(ids, chance.choice([1, 1, 2]))
                return mine.rows("select lifecycle.retry_jobs(%s, %s::bigint[])", q.setup, sample)

            calls = {
                "insert": insert, "retry": retry, "cancel": lambda: mine.call("cancel_job", chance.choice(ids)),
                "forget": lambda: mine.call("forget_ended", "0 s"), "maintain": mine.maintain,
            }  # fmt: skip
            for name in chance.choices(list(calls), [3, 10, 15, 1, 1], k=200):
                try:
                    calls[name]()
                    done[name] += 1
                except psycopg.Error as error:
                    assert error.sqlstate in ("PB004", "PB005", "PB006"), error
                    assert name == "insert" or error.sqlstate != "PB006", error

        return work

    q.rows("select taskqueue.forget_ended(%s)", q.setup)
    q.insert(ids[0])
    run_together(new_database_of_module, [caller(which) for which in range(4)])
    assert min(done[name] for name in ("insert", "retry", "cancel")) > 10, done
    assert q.inconsistencies() == []
    assert q.rows("select * from monitor.job_in_two_states where setup = %s", q.setup) == []
    assert (None,) not in q.rows("select requirements from monitor.job where setup = %s", q.setup)


@pytest.mark.parametrize("fresh", [True, False])
def test_batches_with_the_same_ids_in_opposite_order_wait_and_do_not_fail(
    new_database_of_module: str, stage: Stage, fresh: bool
) -> None:
    """Both batches have the same ids, new or waiting, with swapped requirements: they wait, and none fails."""
    kinds = [requirements(JobTypes=[name]) for name in "ABCDEF"]

    def insert(which: int) -> Callable[[Calls], None]:
        chance = random.Random(which)

        def work(q: Calls) -> None:
            q = Calls(q.connection, stage.setup)
            for turn in range(6):
                ids = range(1, 41) if not fresh else range(100 * turn + 1, 100 * turn + 41)
                jobs = [
                    {"job_id": job_id, "requirements": chance.choice(kinds), "user_priority": which} for job_id in ids
                ]
                assert q.call("insert_jobs", Jsonb(jobs)) == 40

        return work

    run_together(new_database_of_module, [insert(n) for n in range(3)])
    assert sum(stage.observer.queues().values()) == (240 if fresh else 40)
    assert stage.observer.inconsistencies() == []


def test_a_repeated_request_waits_for_its_first_call(stage: Stage) -> None:
    stage.observer.insert_many([1, 2])
    request = uuid.uuid4()
    first = stage.first.match(request)
    assert meanwhile(stage, lambda q: q.match(request)) == (True, first)
    assert stage.observer.value("select count(*) from taskqueue.lease where setup = %s", stage.setup) == 1


def test_a_repeated_request_gets_a_job_when_its_first_call_is_rolled_back(stage: Stage) -> None:
    stage.observer.insert(1)
    request = uuid.uuid4()
    first = stage.first.match(request)
    waited, second = meanwhile(stage, lambda q: q.match(request), commit=False)
    assert waited and first and second and second.attempt != first.attempt


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("function", ["finish_job", "release_job"])
def test_a_repeated_request_is_answered_while_its_job_ends(stage: Stage, function: str, commit: bool) -> None:
    stage.observer.insert_many([1, 2])
    request = uuid.uuid4()
    first = stage.observer.match(request)
    assert first
    stage.first.call(function, first.job_id, first.attempt)
    assert meanwhile(stage, lambda q: q.match(request), commit) == (False, first)
    assert stage.observer.match(request) == first
