"""DRAWING.md, Posting lists: they are right while calls open, drop and recompute TaskQueues at the same time."""

import random
import threading
from collections.abc import Callable

import pytest

from tests.calls import Calls, Connect, group
from tests.core.concurrency.racing import Attempt, run_together

pytestmark = pytest.mark.slow

SITES: list[list[str]] = [[], ["A"], ["A", "B"], ["B", "C"]]


def filled(q: Calls) -> tuple[int, int]:
    """The positions of all lists, and the postings there."""
    count = "select coalesce(sum(position_count), 0) from taskqueue.posting_list"
    return q.value(count), q.value("select count(*) from taskqueue.posting")


def settle(q: Calls) -> None:
    for _ in range(3):
        q.maintain()
    q.call("close_gaps")
    assert q.inconsistencies() == []


def test_posting_lists_stay_right_under_random_calls(q: Calls) -> None:
    chance = random.Random(7)
    waiting: list[int] = []
    for n in range(1, 201):
        done = chance.random()
        if done < 0.5:
            keys = {"Sites": chance.choice(SITES), "BannedSites": chance.choice([[], ["B"]])}
            q.insert(n, CPUTime=chance.choice([500, 5000]), **keys, **group(f"g{n}"))
            waiting.append(n)
        elif done < 0.7 and waiting:
            q.call("delete_job", waiting.pop(chance.randrange(len(waiting))))
        elif done < 0.85 and waiting:
            q.set_group(f"g{chance.choice(waiting)}", 10 ** chance.uniform(-3, 3))
        elif done < 0.95 and waiting:
            name = chance.choice(waiting)
            kind, what = chance.choice([("task_queue", str(q.queue_of(name))), ("owner", f"owner of g{name}")])
            q.call(chance.choice(["hold", "resume"]), kind, what)
        else:
            q.call("close_gaps")
        if n % 10 == 0:
            assert q.inconsistencies() == []
    for job_id in waiting:
        q.call("delete_job", job_id)
    settle(q)
    assert filled(q) == (0, 0)
    assert q.rows("select from taskqueue.posting_list") == []


def test_postings_follow_priorities_between_weight_classes(q: Calls) -> None:
    for n in range(30):
        q.insert(n + 1, Sites=["A"], **group(f"g{n}"))
    for share in (1.0, 1e6, 3.0, 0.004):
        for n in range(30):
            q.set_group(f"g{n}", share * (1 + n % 3))
        assert q.inconsistencies() == []
        settle(q)
        top = q.value("select max(highest_bound) from taskqueue.posting_list")
        assert share * 3 <= top < share * 3 * 1.2, "nothing is left of the earlier weight classes"
        positions, postings = filled(q)
        assert postings == 60
        assert positions < 2 * postings
    assert len(q.queues(Site="A")) == 30


def test_the_last_queue_takes_the_place_of_a_removed_one(q: Calls) -> None:
    for n in range(1, 6):
        q.insert(n, **group(f"g{n}"))
    q.call("delete_job", 2)
    assert filled(q) == (8, 8)
    assert q.inconsistencies() == []


def test_all_gaps_of_a_list_close_at_once_and_those_of_other_setups_stay(connect: Connect) -> None:
    """The lists of both setups have the same numbers, as those of a setup that comes from another server may."""
    q, other = Calls(connect()), Calls(connect())
    for each in (q, Calls(q.connection, "beside")):
        each.rows("select setval(pg_get_serial_sequence('taskqueue.posting_list', 'list_id'), 1, false)")
        for n in range(1, 11):
            each.insert(n, **group(f"g{n}"))
    with other.connection.transaction():
        other.rows("select from taskqueue.posting_list for update")
        for n in (1, 2, 4, 5, 7, 8):
            q.call("delete_job", n)
    beside = "select * from taskqueue.posting where setup = 'beside' order by list_id, position"
    before = q.rows(beside)
    assert q.call("close_gaps") == 2
    positions = """select position_count, array(select p.position from taskqueue.posting p
                                                 where p.setup = l.setup and p.list_id = l.list_id order by p.position)
                     from taskqueue.posting_list l where l.setup = 'default'"""
    assert q.rows(positions) == [(4, [1, 2, 3, 4])] * 2
    assert q.rows(beside) == before


def test_a_queue_that_another_transaction_has_locked_is_posted_later(connect: Connect) -> None:
    """The other transaction may close the queue; nobody waits for its end."""
    q, other, observer = Calls(connect()), Calls(connect()), Calls(connect())
    q.insert(1)
    with other.connection.transaction():
        other.rows("select from taskqueue.posting_list for update")
        q.insert(2, JobTypes=["T"])
    posted = "select count(*) from taskqueue.posting where task_queue_id = %s"
    with other.connection.transaction():
        other.rows("select from taskqueue.task_queue where task_queue_id = %s for update", q.queue_of(2))
        post = Attempt(q, lambda own: own.call("post_pending"), observer)
        assert not post.waits()
        assert post.end() is False
        assert q.value(posted, q.queue_of(2)) == 0
    assert q.call("post_pending") is True
    assert q.value(posted, q.queue_of(2)) == 2
    settle(q)


def test_a_queue_that_another_transaction_has_locked_does_not_move_into_a_gap(connect: Connect) -> None:
    q, other = Calls(connect()), Calls(connect())
    for n in range(1, 11):
        q.insert(n, **group(f"g{n}"))
    other.connection.autocommit = False
    last = "select task_queue_id from taskqueue.posting order by position desc limit 1"
    queue = q.value(last)
    other.rows("select 1 from taskqueue.task_queue where task_queue_id = %s for update", queue)
    gone = [n for n in range(1, 11) if q.queue_of(n) != queue][:6]
    for n in gone:
        q.call("delete_job", n)
        assert q.inconsistencies() == []
    q.call("close_gaps")
    assert q.inconsistencies() == []
    assert q.value(last) == queue
    other.connection.rollback()
    settle(q)
    assert filled(q) == (8, 8)


def test_a_request_for_one_job_does_not_need_the_lists_of_its_queue(connect: Connect) -> None:
    """The TaskQueue is open at once, unless its owner is held."""
    q, other = Calls(connect()), Calls(connect())
    q.insert(1, OwnerDN="held")
    q.call("hold", "owner", "held")
    other.connection.autocommit = False
    other.rows("select 1 from taskqueue.posting_list for update")
    q.insert(2, JobTypes=["T"])
    assert q.value("select task_queue_id from taskqueue.unposted") == q.queue_of(2)
    q.insert(3, JobTypes=["T"], OwnerDN="held")
    assert q.match(JobID=3) is None
    assert q.take(JobID=2).job_id == 2
    other.connection.rollback()
    settle(q)


@pytest.mark.parametrize("call", ["insert_job", "release_job"])
def test_no_caller_waits_for_a_match_that_posts_and_empties_a_queue(connect: Connect, call: str) -> None:
    q, other, observer = Calls(connect()), Calls(connect()), Calls(connect())
    q.insert(1)
    q.insert(2, JobTypes=["T"])
    leased = q.take(JobID=2)
    with other.connection.transaction():
        other.rows("select 1 from taskqueue.posting_list for update")
        q.insert(3, JobTypes=["T"])  # its TaskQueue cannot be posted
    with q.connection.transaction():
        while q.match() is not None:  # posts the TaskQueue, and drops it when it has no more jobs
            pass
        back = Attempt(
            other,
            (lambda own: own.insert(4, JobTypes=["T"]))
            if call == "insert_job"
            else (lambda own: own.call("release_job", leased.job_id, leased.attempt)),
            observer,
        )
        assert not back.waits()
        back.end()
    settle(q)
    assert q.take().job_id == (4 if call == "insert_job" else 2)


def test_an_insert_does_not_wait_for_an_operator_who_opens_the_same_lists(connect: Connect) -> None:
    q, other, observer = Calls(connect()), Calls(connect()), Calls(connect())
    sites = [f"S{n}" for n in range(5)]
    queue = q.insert(1, Sites=sites)
    q.call("set_task_queue_enabled", queue, False)
    settle(q)
    assert q.rows("select from taskqueue.posting_list") == []
    with q.connection.transaction():
        q.call("set_task_queue_enabled", queue, True)
        insert = Attempt(other, lambda own: own.insert(2, Sites=sites, JobTypes=["T"]), observer)
        assert not insert.waits()
        insert.end()
    settle(q)
    assert len(q.queues(Site="S1")) == 2


@pytest.mark.parametrize("commit", [True, False])
def test_posting_lists_stay_right_while_a_drop_is_in_flight(connect: Connect, commit: bool) -> None:
    """A TaskQueue leaves, the last one moves, others leave; then the first transaction commits or rolls back."""
    q, other = Calls(connect()), Calls(connect())
    for n in range(1, 21):
        q.insert(n, **group(f"g{n}"))
    other.connection.autocommit = False
    for n in (2, 5, 9):
        other.call("delete_job", n)
    assert other.inconsistencies() == []
    for n in (3, 20, 19, 6):
        q.call("delete_job", n)
        assert q.inconsistencies() == []
    q.call("close_gaps")
    other.end(commit)
    assert q.inconsistencies() == []
    settle(q)
    assert len(q.queues()) == (13 if commit else 16)
    assert filled(q)[1] == 2 * len(q.queues())


def test_a_list_that_ran_empty_is_used_again_when_jobs_arrive(q: Calls) -> None:
    for n in range(1, 6):
        q.insert(n, Sites=["A"])
        assert q.take(Site="A").job_id == n
        assert q.match(Site="A") is None
        assert q.inconsistencies() == []


def test_posting_lists_stay_right_while_agents_drop_queues_that_others_open(dsn: str, connect: Connect) -> None:
    q = Calls(connect())
    jobs = 600
    taken: list[int] = []
    done = threading.Event()

    def opener(which: int) -> Callable[[Calls], None]:
        def work(own: Calls) -> None:
            for n in range(which, jobs, 3):
                keys = {"Sites": SITES[n % 4], "CPUTime": (500, 5000)[n % 2]}
                own.insert(n + 1, **keys, **group(f"g{n % 40}"))

        return work

    def agent(which: int) -> Callable[[Calls], None]:
        def work(own: Calls) -> None:
            idle = 0
            while len(taken) < jobs and idle < 20_000:
                found = own.match_jobs(1 + which, Site="ABC"[which]) if idle < 10 else own.match_jobs(5)
                idle = 0 if found else idle + 1
                for match in found:
                    own.call("finish_job", match.job_id, match.attempt)
                    taken.append(match.job_id)
            done.set()

        return work

    def recompute(own: Calls) -> None:
        chance = random.Random(1)
        own.settings(share_delay=0)
        while not done.is_set():
            own.rows("update taskqueue.owner_group set share = %s returning 1", 10 ** chance.uniform(-1, 3))
            own.call("recompute_shares")
            own.maintain()

    q.set_group("g0", 10)
    run_together(dsn, [*[opener(n) for n in range(3)], *[agent(n) for n in range(3)], recompute])
    assert sorted(taken) == list(range(1, jobs + 1))
    settle(q)
    assert q.rows("select from taskqueue.task_queue") == []
    assert filled(q) == (0, 0)
