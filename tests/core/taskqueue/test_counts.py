"""A count is that of the hand plus the changes after it, in all transactions; no change is removed while it is needed.

Jobs that a match takes from the hand leave no change; test_hands.py tests them.
"""

import itertools
import random
import time

import pytest

from tests.calls import Calls, Connect, group
from tests.core.oracle.draw import draw
from tests.core.taskqueue.hands import Counted, changes, deal


@pytest.fixture
def q(connect: Connect) -> Calls:
    """Autocommit, in a database of the test's own."""
    return Counted(connect())


@pytest.fixture
def other(connect: Connect) -> Calls:
    """Another connection, in transactions."""
    calls = Counted(connect())
    calls.connection.autocommit = False
    return calls


def clean(q: Calls) -> None:
    """Maintain until no change is left; transactions of other tests on the server delay it, some for a minute."""
    until = time.monotonic() + 300
    while time.monotonic() < until:
        q.maintain()
        assert q.inconsistencies() == []
        if changes(q) == 0:
            return
        time.sleep(0.01)
    raise AssertionError(f"{changes(q)} changes are left")


def remove_counted(q: Calls) -> None:
    """Remove the changes that hands count, without dealing."""
    q.call("clean_hands", [row[0] for row in q.rows("select distinct task_queue_id from taskqueue.job_count_change")])


def hands(q: Calls) -> int:
    return int(q.value("select count(*) from taskqueue.hand"))


def first_jobs(q: Calls, seeds: int = 300) -> set[int]:
    return {jobs[0] for jobs, _ in draw(q.connection, range(seeds)) if jobs}


def anchor(q: Calls) -> None:
    """A held job in each of the queues of busy, so that no queue is dropped or opened; callers would wait for that."""
    for n in range(3):
        q.insert(9000 + n, JobTypes=["A", "B"][:n])
        q.call("hold", "job", str(9000 + n))


def busy(q: Calls, ids: range, chance: random.Random) -> None:
    """Let jobs come and go, be held, moved and given back, and be counted and cleaned in between."""
    for n in ids:
        q.insert(n, n % 11, JobTypes=["A", "B"][: n % 3])
        done = chance.random()
        if done < 0.5 and (match := q.match()):
            if done < 0.2:
                q.call("release_job", match.job_id, match.attempt)
        elif done < 0.6:
            q.call("hold", "job", str(n))
        elif done < 0.7:
            q.insert(n, (n + 1) % 11, JobTypes=["A"])
        elif done < 0.75:
            deal(q, chance.choice([0, 2, 16]))
        elif done < 0.9:
            q.maintain()
        if n % 10 == 0:
            assert q.inconsistencies() == []


def drain(q: Calls) -> int:
    count = 0
    while matches := q.match_jobs(50):
        count += len(matches)
    return count


def waiting(q: Calls) -> int:
    return int(q.value("select count(*) from taskqueue.job where not held"))


@pytest.mark.slow
def test_counts_stay_exact_under_random_calls(q: Calls) -> None:
    busy(q, range(1, 150), random.Random(1))
    for (job_id,) in q.rows("select job_id from taskqueue.job where held"):
        q.call("resume", "job", str(job_id))
    assert q.inconsistencies() == []
    there = waiting(q)
    assert drain(q) == there > 0
    assert waiting(q) == 0


@pytest.mark.slow
@pytest.mark.parametrize("cards", [0, 4, 16])
def test_the_count_of_a_queue_is_its_hand_plus_the_changes_after_the_hand(q: Calls, cards: int) -> None:
    """The changes that the hand includes are there until maintenance removes them."""
    counted = "select jobs from taskqueue.task_queue_count"
    q.insert_many(range(1, 6), 3)
    assert q.rows(counted) == [(5,)]
    assert deal(q, cards) == [True]
    assert hands(q) == 1
    assert changes(q) > 0
    assert q.rows(counted) == [(5,)]
    q.insert(6, 4)
    q.take(JobID=1)
    q.take(JobID=2)
    assert q.rows(counted) == [(4,)]
    assert q.inconsistencies() == []


def test_a_queue_whose_only_job_is_held_counts_no_job(q: Calls) -> None:
    queue = q.insert(1)
    q.call("hold", "job", "1")
    deal(q)
    assert q.call("jobs_in", queue) == 0
    assert q.queues() == {}


@pytest.mark.slow
def test_counts_are_exact_while_an_old_snapshot_is_held(q: Calls, other: Calls) -> None:
    busy(q, range(1, 30), random.Random(2))
    other.connection.execute("set transaction isolation level repeatable read")
    before = other.rows("select count(*) from taskqueue.job")
    busy(q, range(30, 100), random.Random(3))
    assert other.inconsistencies() == []
    assert other.rows("select count(*) from taskqueue.job") == before
    clean(q)  # a reader keeps no change
    assert q.inconsistencies() == []
    drain(q)
    assert waiting(q) == 0


@pytest.mark.slow
@pytest.mark.parametrize("commit", [True, False])
def test_counts_are_exact_while_a_writer_is_in_flight(q: Calls, other: Calls, commit: bool) -> None:
    """Changes of the writer before and after the counts were taken are counted when it commits, not before."""
    anchor(q)
    busy(q, range(10, 40), random.Random(4))
    other.insert(1, 5)
    other.insert(2, 6, JobTypes=["A"])
    other.take(JobID=2)
    busy(q, range(40, 80), random.Random(5))
    other.insert(3, 7, JobTypes=["A", "B"])
    busy(q, range(80, 110), random.Random(6))
    assert other.inconsistencies() == []
    other.end(commit)
    assert q.inconsistencies() == []
    if commit:
        assert q.take(JobID=1)
        assert q.take(JobID=3)
    q.maintain()
    q.maintain()
    assert q.inconsistencies() == []
    drain(q)
    assert waiting(q) == 0


@pytest.mark.slow
@pytest.mark.parametrize("end", ["commit", "rollback", "savepoint"])
def test_counts_are_exact_in_a_transaction_that_deals_and_changes_more(q: Calls, other: Calls, end: str) -> None:
    q.insert_many(range(100, 120), 3)
    if end == "savepoint":
        with other.connection.transaction(force_rollback=True):
            other.insert(3, 3)
            assert deal(other) == [False]
    assert deal(other) == [True], "what was rolled back does not count"
    assert other.take()
    assert deal(other) == [True], "a job of the hand is no change"
    other.insert(1, 3)
    assert deal(other) == [False], "a snapshot does not tell its changes apart"
    other.insert(2, 3)
    other.take(JobID=1 if end == "savepoint" else 2)
    q.take(JobID=118)  # a younger transaction, which ends first
    assert deal(other) == [False]
    assert other.inconsistencies() == []
    assert (1 in first_jobs(other)) == (end != "savepoint")
    if end == "savepoint":
        with other.connection.transaction(force_rollback=True):
            other.insert(3, 3)
            assert deal(other) == [False]
            assert other.inconsistencies() == []
        assert other.inconsistencies() == []
    q.take(JobID=119)
    assert deal(q) == [None], "the other transaction deals"
    assert q.inconsistencies() == []
    other.end(commit=end != "rollback")
    assert q.inconsistencies() == []
    lowest = q.value("select min(job_id) from taskqueue.job")
    assert min(first_jobs(q)) == {"commit": 1, "savepoint": 2, "rollback": lowest}[end]
    clean(q)


@pytest.mark.slow
@pytest.mark.parametrize("void", [True, False])
def test_one_of_two_simultaneous_dealers_deals(q: Calls, other: Calls, connect: Connect, void: bool) -> None:
    """The other session takes a job without a hand or from the old hand; both are right."""
    third = Counted(connect())
    third.connection.autocommit = False
    q.insert_many(range(1, 31), 3)
    if not void:
        deal(q)
    assert deal(other) == [True]
    assert deal(third) == [None]
    third.take()
    assert deal(third) == [None]
    q.take(JobID=30)
    assert deal(q) == [None]
    other.take()
    other.take(JobID=29)
    for done in (third, other):
        assert done.inconsistencies() == []
        done.connection.commit()
        assert q.inconsistencies() == []
    assert deal(q) == [True]
    q.maintain()
    assert q.inconsistencies() == []
    assert q.queues() == {q.queue_of(28): 26}


@pytest.mark.slow
def test_changes_that_an_uncommitted_deal_needs_are_kept(q: Calls, other: Calls, connect: Connect) -> None:
    """The dealer did not see the end of another transaction that has ended since; all others see it."""
    late = Calls(connect())
    late.connection.autocommit = False
    q.insert_many(range(1, 31), 3)
    clean(q)
    late.take(JobID=30)  # in flight when the other deals
    assert deal(other) == [True]
    other.take(JobID=29)
    late.connection.commit()
    for _ in range(4):
        assert deal(q) == [None]
        remove_counted(q)
        q.maintain()
        assert q.inconsistencies() == []
    assert changes(q) >= 1, "that of job 30"
    assert other.inconsistencies() == []
    other.connection.commit()
    assert q.inconsistencies() == []
    for _ in range(3):
        q.take()
        q.maintain()
        assert q.inconsistencies() == []
    clean(q)
    assert hands(q) == 1


def test_changes_that_a_hand_did_not_see_are_kept(q: Calls, other: Calls) -> None:
    q.insert_many(range(1, 31), 3)
    other.take(JobID=30)  # in flight when the hand is dealt
    deal(q)
    other.connection.commit()
    remove_counted(q)
    assert changes(q) == 1
    assert q.inconsistencies() == []
    deal(q)
    remove_counted(q)
    assert changes(q) == 0
    assert q.inconsistencies() == []


@pytest.mark.slow
def test_a_job_that_comes_back_below_the_mark_is_found_first(q: Calls) -> None:
    q.insert_many(range(1, 41), 3)
    matches = {match.job_id: match for match in (q.take(JobID=n) for n in range(1, 21))}
    q.maintain()
    assert min(first_jobs(q)) == 21
    q.call("release_job", 4, matches[4].attempt)
    assert min(first_jobs(q)) == 4
    q.maintain()
    assert min(first_jobs(q)) == 4
    assert q.take(JobID=4).job_id == 4
    q.maintain()
    assert min(first_jobs(q)) == 21
    assert q.inconsistencies() == []


@pytest.mark.slow
def test_held_and_moved_jobs_are_found_below_the_mark(q: Calls) -> None:
    q.insert_many(range(10, 30), 3)
    q.insert_many(range(1, 4), 3, JobTypes=["elsewhere"])
    q.call("hold", "job", "10")
    q.call("hold", "job", "1")
    q.maintain()
    assert q.inconsistencies() == []
    q.insert(2, 3)
    q.insert(1, 3)  # moved while it is held
    found = first_jobs(q)
    assert 2 in found
    assert not found & {1, 10}
    q.maintain()
    q.call("resume", "job", "1")
    q.call("resume", "job", "10")
    assert {1, 2, 10} <= first_jobs(q)
    assert q.inconsistencies() == []
    q.insert(15, 8)  # another user priority in the same queue
    q.maintain()
    q.insert(15, 3)
    q.insert(9, 3)
    assert 9 in first_jobs(q)
    assert q.inconsistencies() == []


@pytest.mark.slow
@pytest.mark.parametrize("commit", [True, False])
def test_the_mark_of_a_hand_stays_at_a_job_that_an_open_match_takes(q: Calls, other: Calls, commit: bool) -> None:
    """The mark stays at the job, because the match may be rolled back."""
    q.insert_many(range(1, 31), 3)
    q.maintain()
    for n in range(1, 6):
        other.take(JobID=n)
    q.take(JobID=20)
    q.maintain()
    deal(q)
    other.end(commit)
    assert min(first_jobs(q)) == (6 if commit else 1)
    q.maintain()
    assert q.inconsistencies() == []


RESTORED = {
    "counts": "update taskqueue.hand set known_to = '9000000000000'",
    "definitions": "update taskqueue.definition set made_in = '9000000000000'",
    "changes": "update taskqueue.job_count_change set made_in = '9000000000000';"
    " update taskqueue.definition set made_in = '9000000000000'",
    "descriptions": "update taskqueue.parsed_description set known_to = '9000000000000'",
}


@pytest.mark.parametrize("what", RESTORED)
def test_jobs_of_a_setup_restored_from_a_dump_are_counted_again(q: Calls, what: str) -> None:
    """The transactions of the setup were numbered by another server."""
    keys = {"Site": "S", "JobType": "N"}
    q.insert_many(range(1, 21), 3, JobTypes=["other"])
    assert q.match(**keys) is None
    q.maintain()
    q.insert_many(range(21, 31), 4, JobTypes=["other"])
    q.take(JobID=25)
    q.connection.execute(RESTORED[what].encode())
    q.maintain()
    assert q.inconsistencies() == []
    q.insert(50, JobTypes=["N"])
    assert q.take(**keys).job_id == 50
    q.take()
    q.maintain()
    assert q.inconsistencies() == []
    after = [q.value("select max(known_to)::text::numeric < 9000000000000 from taskqueue.hand")]
    after += [q.value("select max(made_in)::text::numeric < 9000000000000 from taskqueue.definition")]
    assert after == [True, True]


def test_the_counts_of_a_removed_queue_are_removed(q: Calls, other: Calls) -> None:
    for n in itertools.chain(range(1, 6), range(11, 13)):
        q.insert(n, 3, **group(f"g{n}"))
    other.take(JobID=1)
    q.take(JobID=2)
    q.maintain()
    other.connection.commit()
    for n in (3, 4, 5):
        q.take(JobID=n)
    clean(q)
    assert hands(q) == 2
    assert q.value("select count(*) from taskqueue.task_queue") == 2
