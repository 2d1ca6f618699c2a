"""HANDS.md: several sessions on the hand of one TaskQueue; some roll back, some die. Counts are always exact."""

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Callable

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connect, requirements
from tests.core.concurrency.racing import kill_victims, run_together
from tests.core.oracle.draw import chi_square, in_order
from tests.core.taskqueue.hands import Counted, changes, counted, deal, drain, hand

pytestmark = pytest.mark.slow

GENEROUS = 1e-7
JOBS = 40
SECONDS = 4.0


@pytest.fixture(params=["short", "general"])
def q(request: pytest.FixtureRequest, connect: Connect) -> Counted:
    """Autocommit, in a database of the test's own. The short way of a match is that of a caller with an identity."""
    return counted(connect, known=request.param == "short")


@pytest.fixture
def other(connect: Connect) -> Counted:
    """Another connection, in transactions."""
    return counted(connect, autocommit=False)


@pytest.fixture
def third(connect: Connect) -> Counted:
    """One more, in transactions."""
    return counted(connect, autocommit=False)


@pytest.mark.thorough
def test_two_uncommitted_sessions_follow_the_joint_distribution(q: Counted, other: Counted, third: Counted) -> None:
    """Tested in each of many TaskQueues. When the first session rolls back, the next match gets its job."""
    levels = {1: 5, 4: 2, 9: 1}
    numbers = range(1, 251)
    elements = [
        {
            "requirements": requirements(JobTypes=[f"T{n}"]),
            "jobs": [[100 * n + 10 * level + i, level] for level, count in levels.items() for i in range(count)],
        }
        for n in numbers
    ]
    q.call("load_task_queues", Jsonb(elements))
    q.rows("select taskqueue.refresh_statistics()")
    deal(q, 8)
    q.rows("select count(taskqueue.deal_hand('default', q.task_queue_id, 8, false, 'dirac', q.task_queue_id * 7919))"
           " from taskqueue.task_queue q")  # fmt: skip
    first = {n: other.take(JobType=f"T{n}") for n in numbers}
    second = {n: third.take(JobType=f"T{n}") for n in numbers}
    counts = tuple(levels.get(level, 0) for level in range(11))
    found = Counter((first[n].user_priority, second[n].user_priority) for n in numbers)
    assert chi_square(found, in_order(counts, 2)) > GENEROUS
    assert q.inconsistencies() == []
    other.connection.rollback()
    third.connection.commit()
    assert q.inconsistencies() == []
    assert all(q.take(JobType=f"T{n}").job_id == first[n].job_id for n in numbers)
    assert q.inconsistencies() == []


def _by_id(which: int) -> Callable[[Calls, list[int]], list[int]]:
    def take(q: Calls, cards: list[int]) -> list[int]:
        return [q.take(JobID=[cards[0], cards[-1], max(set(range(1, JOBS + 1)) - set(cards))][which]).job_id]

    return take


def _held(q: Calls, cards: list[int]) -> list[int]:
    q.call("hold", "job", str(cards[1]))
    return [cards[1]]


def _cancelled(q: Calls, cards: list[int]) -> list[int]:
    q.call("cancel_job", cards[1])
    return [cards[1]]


def _with_savepoint(q: Calls, cards: list[int]) -> list[int]:
    """The first card is taken, given back, and taken once more; the second is given back."""
    with q.connection.transaction(force_rollback=True):
        assert [q.take().job_id for _ in range(2)] == cards[:2]
    return [q.take().job_id]


IN_FLIGHT: dict[str, Callable[[Calls, list[int]], list[int]]] = {
    "from the hand": lambda q, _: [q.take().job_id for _ in range(3)],
    "with a savepoint": _with_savepoint,
    "by the id of the first card": _by_id(0),
    "by the id of the last card": _by_id(1),
    "by the id of another": _by_id(2),
    "held": _held,
    "cancelled": _cancelled,
}


VOIDS = {
    "void": [True, True],
    "continued": [False, False],
    "void and continued": [True, False],
    "continued and void": [False, True],
}
# The first tier brings any three of the four together, the second tier all four.
_GRID = [
    pytest.param(
        way, how, voids, commit,
        id=f"{way}-{how}-{name}-{'commit' if commit else 'rollback'}",
        marks=[pytest.mark.thorough] if (a + b + c + d) % 2 else [],
    )
    for (a, way), (b, how), (c, (name, voids)), (d, commit) in itertools.product(
        enumerate(["short", "general"]), enumerate(IN_FLIGHT), enumerate(VOIDS.items()), enumerate([True, False])
    )
]  # fmt: skip


@pytest.mark.parametrize(("q", "how", "voids", "commit"), _GRID, indirect=["q"])
def test_jobs_taken_by_an_open_match_while_hands_are_dealt_stay_counted(
    q: Counted, other: Counted, how: str, voids: list[bool], commit: bool
) -> None:
    """The jobs are counted until the transaction commits, and no other session gets them before."""
    q.insert_many(range(1, JOBS + 1), 3)
    deal(q, 8)
    cards = hand(q).cards
    known, carried = list(cards), list[int]()
    gone = IN_FLIGHT[how](other, cards)
    for n, void in enumerate(voids):
        if void:
            q.insert(100 + n, 4)
        assert deal(q, 8) == [True]
        assert hand(q).void is False
        assert q.inconsistencies() == []
        assert other.inconsistencies() == []
        if void:
            carried = [job for job in known if job in gone]
            cards = hand(q).cards
            assert not set(cards) & set(carried)
        assert hand(q).carried == carried
        assert hand(q).cards[: len(cards)] == cards
        match = q.take()
        assert match.job_id not in gone
        cards = [card for card in cards if card != match.job_id]
        assert q.inconsistencies() == []
        assert other.inconsistencies() == []
    there = {job for (job,) in q.rows("select job_id from taskqueue.job where not held")}
    if commit:
        other.connection.commit()
        there -= set(gone)
    else:
        other.connection.rollback()
    assert q.inconsistencies() == []
    if voids[0]:
        q.insert(200, 4)
        there.add(200)
    assert deal(q, 8) == [True]
    assert q.inconsistencies() == []
    assert hand(q).carried == []
    assert sorted(drain(q)) == sorted(there)
    assert q.inconsistencies() == []


def test_a_job_that_was_carried_and_comes_back_is_matched(q: Counted, other: Counted) -> None:
    """This also holds for the last job, and where the hand was continued since."""
    q.insert_many(range(1, 4), 3)
    deal(q, 8)
    cards = hand(q).cards
    other.take()
    q.insert(10, 3)
    deal(q, 8)
    assert hand(q).carried == cards[:1]
    assert sorted(drain(q)) == sorted([10, *cards[1:]])
    assert q.inconsistencies() == []
    assert q.queues() == {q.queue_of(cards[0]): 1}
    other.connection.rollback()
    assert q.take().job_id == cards[0]
    assert q.inconsistencies() == []


@pytest.mark.parametrize("void", [True, False], ids=["void", "continued"])
def test_a_dealer_that_dies_leaves_everything_as_it_was(q: Counted, connect: Connect, void: bool) -> None:
    """The dealer is terminated in its transaction, after it dealt and took; the old hand can be continued at once."""
    q.insert_many(range(1, JOBS + 1), 3)
    deal(q, 8)
    dealer = Counted(connect())
    if void:
        q.insert(100, 3)
    before = hand(q)
    dealer.connection.autocommit = False
    assert deal(dealer, 8) == [True]
    mine = [dealer.take().job_id for _ in range(2)]
    dealer.take(JobID=JOBS)
    assert deal(q) == [None]
    if void:  # no job is locked that the dealer only looked at
        assert q.take(JobID=next(card for card in before.cards if card not in mine))
    else:
        assert not set(mine) & {q.take().job_id for _ in range(2)}
    assert q.inconsistencies() == []
    assert q.value("select pg_terminate_backend(%s, 10000)", dealer.connection.info.backend_pid)
    assert (hand(q).number, hand(q).cards) == (before.number, before.cards)
    assert q.inconsistencies() == []
    assert deal(q, 8) == [True]
    assert q.inconsistencies() == []
    if not void:
        assert q.take().job_id == mine[0]
    assert len(drain(q)) == (JOBS if void else JOBS - 3)
    assert q.inconsistencies() == []


def test_eight_callers_lose_no_job_while_dealers_are_terminated(q: Counted, dsn: str) -> None:
    """No job has two holders or is lost; the hand is void all the time, since jobs are given back and inserted."""
    q.insert_many(range(1, JOBS + 1), 3)
    until = time.monotonic() + SECONDS
    held: set[int] = set()
    guard = threading.Lock()
    matches = Counter[str]()

    def caller(number: int) -> Callable[[Calls], None]:
        chance = random.Random(number)

        def work(q: Calls) -> None:
            while time.monotonic() < until:
                match = q.match()
                if match is None:
                    matches["none"] += 1
                    continue
                with guard:
                    assert match.job_id not in held, "two callers have the job"
                    held.add(match.job_id)
                    matches["some"] += 1
                time.sleep(chance.random() * 0.003)
                with guard:
                    held.remove(match.job_id)
                if chance.random() < 0.5:
                    q.call("release_job", match.job_id, match.attempt)
                else:
                    q.call("finish_job", match.job_id, match.attempt)
                    q.insert(match.job_id, chance.choice([1, 3, 9]))

        return work

    def victim(_: Calls) -> None:
        """Deals, takes from the hand or by an id, and rolls some of that back."""
        chance = random.Random(until)
        while time.monotonic() < until:
            try:
                with psycopg.connect(dsn, application_name="victim") as connection:
                    mine = Calls(connection)
                    while time.monotonic() < until:
                        deal(mine, chance.choice([0, 4, 16]))
                        mine.match(JobID=chance.randint(1, JOBS)) if chance.random() < 0.3 else mine.match()
                        deal(mine, 4)
                        time.sleep(chance.random() * 0.01)
                        connection.rollback()
                        deal(mine, 8)
                        time.sleep(chance.random() * 0.005)
                        connection.commit()
            except psycopg.OperationalError:
                matches["terminated"] += 1

    def checker(q: Calls) -> None:
        counted = Counted(q.connection)
        while time.monotonic() < until:
            assert counted.inconsistencies() == []
            q.maintain()

    run_together(
        dsn, [*(caller(number) for number in range(8)), victim, victim, victim, kill_victims(until, 0.02), checker]
    )
    assert matches["some"] > 100
    assert matches["terminated"] > 5
    assert q.inconsistencies() == []
    assert q.value("select count(*) from taskqueue.job") + q.value("select count(*) from taskqueue.lease") == JOBS
    there = q.value("select count(*) from taskqueue.job")
    assert len(set(drain(q))) == there
    assert q.inconsistencies() == []


def test_a_dealer_that_does_not_commit_delays_a_match_and_no_more(q: Counted, other: Counted) -> None:
    """The first match waits for the new hand for a second, the others for 50 ms. Then they draw without a hand."""
    q.insert_many(range(1, JOBS + 1), 3)
    deal(q, 4)
    deal(other, 8)
    first = [q.take().job_id for _ in range(4)]
    before = changes(q)
    second = []
    waited = []
    for _ in range(4):
        begin = time.perf_counter()
        second.append(q.take().job_id)
        waited.append(time.perf_counter() - begin)
    assert waited[0] >= 1
    assert 0.05 <= min(waited) < 1  # the shortest one, since a busy machine delays some
    assert max(waited) < 5
    assert q.value("show lock_timeout") == "0"
    assert changes(q) == before + 5  # the changes for the jobs, and for the vain wait of the first match
    other.connection.commit()
    deal(q, 4)
    query = (
        "select count(*) from taskqueue.hand h"
        " cross join lateral taskqueue.new_changes(h.setup, h.task_queue_id, h.known_to, h.in_flight)"
    )
    assert q.value(query) == 0  # the next match that waits may wait for a second again
    assert q.inconsistencies() == []
    assert sorted(first + second + drain(q)) == list(range(1, JOBS + 1))


def test_a_dealer_that_does_not_commit_delays_a_call_for_many_jobs_once(q: Counted, other: Counted) -> None:
    jobs = 200
    q.insert_many(range(1, jobs + 1), 3)
    deal(q, 4)
    deal(other, 8)
    begin = time.perf_counter()
    taken = [match.job_id for match in q.match_jobs(jobs // 2)]
    assert time.perf_counter() - begin < 1 + jobs // 2 * 0.05 / 2
    other.connection.rollback()
    assert q.inconsistencies() == []
    assert sorted(taken + drain(q)) == list(range(1, jobs + 1))


@pytest.mark.parametrize("arrivals", [0, 5])
def test_a_dealer_that_commits_gives_its_hand_to_the_matches_that_wait(q: Counted, dsn: str, arrivals: int) -> None:
    """32 callers on one TaskQueue; now and then a job arrives and makes the hand void. Few matches draw without a hand,
    though such a match is always under way and makes the next hand void."""
    jobs, callers, matches = 4000, 32, 60
    q.insert_many(range(1, jobs + 1), 3)
    deal(q, 16)
    before = changes(q)

    def work(q: Calls) -> None:
        for _ in range(matches):
            q.take()

    def arrive(q: Calls) -> None:
        for n in range(arrivals):
            q.insert(jobs + 1 + n, 3)
            time.sleep(0.2)

    run_together(dsn, [*[work] * callers, arrive])
    assert changes(q) - before - arrivals < callers * matches / 3
    assert q.inconsistencies() == []


def test_callers_empty_a_queue_while_dealers_are_terminated(q: Counted, dsn: str) -> None:
    """Nothing but matches from the hand: each job is taken once, and the counts follow without a change."""
    for turn in range(5):
        ids = range(1000 * turn + 1, 1000 * turn + 1 + JOBS)
        q.insert_many(ids, 3)
        deal(q, 8)
        taken: list[int] = []
        done = threading.Event()

        def caller(q: Calls, taken: list[int] = taken) -> None:
            failed = 0
            while failed < 5:  # a card that somebody has locked may come back
                match = q.match()
                if match:
                    taken.append(match.job_id)
                else:
                    failed += 1
                    time.sleep(0.02)

        def dying(_: Calls, done: threading.Event = done) -> None:
            for cards in (4, 8, 2) * 4:
                mine = Calls(psycopg.connect(dsn))
                deal(mine, cards)
                mine.match()
                q.rows("select pg_terminate_backend(%s)", mine.connection.info.backend_pid)
                mine.connection.close()
            done.set()

        run_together(dsn, [*[caller] * 8, dying])
        assert done.is_set()
        taken += drain(q)
        assert sorted(taken) == list(ids)
        assert q.inconsistencies() == []
