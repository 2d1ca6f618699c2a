"""HANDS.md: jobs of a hand have the distribution of single draws, whatever happens in between; counts are exact.

Hands are dealt with seeds, as in test_draw.py: FEW is the p value that a right implementation falls below, with other
seeds, in one test of a thousand. Matches have no seed, so their limit is GENEROUS. A match from the hand is committed,
or undone by a savepoint: the next match gets the job of one that was undone.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connect, Match, requirements
from tests.core.oracle.draw import Counts, at_place, chi_square, in_order, user_priorities, without
from tests.core.taskqueue.hands import Counted, changes, counted, deal, drain, hand, know

DEALS = 850
FEW = 1e-3
GENEROUS = 1e-7
POLICIES = pytest.mark.parametrize("policy", ["dirac", "proportional"])


@pytest.fixture(params=["short", "general"])
def q(request: pytest.FixtureRequest, connect: Connect) -> Counted:
    """Autocommit, in a database of the test's own. The short way of a match is that of a caller with an identity."""
    return counted(connect, known=request.param == "short")


@pytest.fixture
def other(connect: Connect) -> Counted:
    """Another connection, in transactions."""
    return counted(connect, autocommit=False)


def counts_of(levels: dict[int, int]) -> Counts:
    return tuple(levels.get(level, 0) for level in range(11))


def ids_of(levels: dict[int, int]) -> dict[int, int]:
    """Job id -> user priority; the ids of different user priorities are interleaved."""
    return {20 * n + level: level for level, count in levels.items() for n in range(1, count + 1)}


def queue_with(q: Calls, levels: dict[int, int], **keys: Any) -> int:
    """A TaskQueue with the given numbers of jobs by user priority."""
    for level in levels:
        ids = [job_id for job_id, priority in ids_of(levels).items() if priority == level]
        q.insert_many(ids, level, **keys)
    return int(q.value("select task_queue_id from taskqueue.job where job_id = %s", ids[0]))


# Jobs of hands, dealt with seeds

_DEALS = """
create or replace function pg_temp.deals(
  p_task_queue_id bigint, p_seeds bigint[], p_number int, p_first int, p_taken int, p_ten_first boolean, p_policy text
) returns table(jobs bigint[])
language plpgsql
as $$
declare
  v_seed bigint;
  v_taken bigint[];
begin
  foreach v_seed in array p_seeds loop
    begin
      v_taken := '{}';
      if p_taken > 0 then  -- as matches take them, from the hand
        assert taskqueue.deal_hand('default', p_task_queue_id, p_first, p_ten_first, p_policy, v_seed);
        select h.job_ids[:p_taken] into v_taken from taskqueue.hand h where h.task_queue_id = p_task_queue_id;
        delete from taskqueue.job j where j.job_id = any (v_taken);
      end if;
      assert taskqueue.deal_hand('default', p_task_queue_id, p_number, p_ten_first, p_policy, v_seed + 1000000);
      select v_taken || h.job_ids into jobs from taskqueue.hand h where h.task_queue_id = p_task_queue_id;
      raise exception using errcode = 'UNDO0';
    exception when sqlstate 'UNDO0' then
      null;
    end;
    return next;
  end loop;
end $$
"""


def deals(
    q: Calls, queue: int, number: int, first: int = 0, taken: int = 0, *, ten_first: bool = False, policy: str = "dirac"
) -> list[list[int]]:
    """The jobs of many hands in their order, each undone; a hand of which jobs were `taken` is continued."""
    q.connection.execute(_DEALS)
    q.rows("select taskqueue.refresh_statistics()")
    query = "select jobs from pg_temp.deals(%s, %s, %s, %s, %s, %s, %s)"
    arguments = (queue, list(range(DEALS)), number, first, taken, ten_first, policy)
    return [jobs for (jobs,) in q.rows(query, *arguments)]


def rank(jobs: list[int], place: int, level_of: dict[int, int]) -> tuple[int, int]:
    """The place by id of a job among those of its user priority that earlier jobs left, and the number that counts."""
    job_id = jobs[place - 1]
    left = sorted(i for i, level in level_of.items() if level == level_of[job_id] and i not in jobs[: place - 1])
    return left.index(job_id) + 1, min(len(left), 10)


def ranks_are_equally_likely(orders: list[list[int]], place: int, level_of: dict[int, int]) -> bool:
    found: dict[int, Counter[int]] = {}
    for jobs in orders:
        number, of = rank(jobs, place, level_of)
        found.setdefault(of, Counter())[number] += 1
    return all(
        chi_square(ranks, dict.fromkeys(range(1, of + 1), 1 / of)) > FEW
        for of, ranks in found.items()
        if ranks.total() >= 10 * of
    )


@pytest.mark.thorough
@POLICIES
@pytest.mark.parametrize("ten_first", [False, True])
def test_jobs_of_a_hand_follow_the_distribution_at_each_place(q: Counted, policy: str, ten_first: bool) -> None:
    levels = {0: 3, 1: 14, 5: 8, 9: 4, 10: 2}
    level_of, counts = ids_of(levels), counts_of(levels)
    orders = deals(q, queue_with(q, levels), 31, ten_first=ten_first, policy=policy)
    assert all(len(set(jobs)) == 31 for jobs in orders)
    for place in (1, 6, 16):
        found = Counter(level_of[jobs[place - 1]] for jobs in orders)
        assert chi_square(found, at_place(counts, place, policy, ten_first)) > FEW, place
        assert ranks_are_equally_likely(orders, place, level_of), place
    assert all([level_of[job] for job in jobs[-3:]] == [0] * 3 for jobs in orders)
    if ten_first:
        assert all([level_of[job] for job in jobs[:2]] == [10] * 2 for jobs in orders)


@pytest.mark.slow
@POLICIES
def test_the_first_two_jobs_of_a_hand_follow_the_joint_distribution(q: Counted, policy: str) -> None:
    """Pairs of jobs are counted: the second one is drawn among the jobs that the first one left."""
    levels = {1: 4, 4: 2, 9: 1}
    level_of = ids_of(levels)
    orders = deals(q, queue_with(q, levels), 3, policy=policy)
    expected: dict[tuple[int, int], float] = {}
    for (one, two), chance in in_order(counts_of(levels), 2, policy).items():
        for first in (job for job, level in level_of.items() if level == one):
            left = [job for job, level in level_of.items() if level == two and job != first]
            expected |= {(first, second): chance / levels[one] / len(left) for second in left}
    assert chi_square(Counter((jobs[0], jobs[1]) for jobs in orders), expected) > FEW


@pytest.mark.thorough
@POLICIES
def test_a_hand_that_is_continued_follows_the_distribution(q: Counted, policy: str) -> None:
    """Of sixteen jobs twelve are taken; four are left, and 24 more are drawn from what the sixteen leave."""
    levels = {1: 40, 3: 25, 9: 12}
    level_of, counts = ids_of(levels), counts_of(levels)
    orders = deals(q, queue_with(q, levels), 24, first=16, taken=12, policy=policy)
    assert all(len(jobs) == len(set(jobs)) == 40 for jobs in orders)
    for place in (16, 17, 24, 40):
        found = Counter(level_of[jobs[place - 1]] for jobs in orders)
        assert chi_square(found, at_place(counts, place, policy)) > FEW, place
        assert ranks_are_equally_likely(orders, place, level_of), place
    # the first job drawn later, by whether the sixteen before it left many or few jobs of the highest user priority
    for few in (True, False):
        found, expected = Counter[int](), Counter[int]()
        for jobs in orders:
            left = counts
            for job in jobs[:16]:
                left = without(left, level_of[job])
            if (left[9] <= 7) == few:
                found[level_of[jobs[16]]] += 1
                expected.update(user_priorities(left, policy))
        law = {level: chance / found.total() for level, chance in expected.items()}
        assert chi_square(found, law) > FEW, found.total()


@pytest.mark.slow
def test_few_jobs_make_a_short_hand(q: Counted) -> None:
    queue = queue_with(q, {0: 2, 3: 1})
    assert {tuple(jobs) for jobs in deals(q, queue, 16)} == {(23, 20, 40), (23, 40, 20)}
    deal(q, 16)
    assert len(hand(q).cards) == 3
    q.insert(7, 4)
    deal(q, 0)
    assert hand(q).cards == []
    assert sorted(drain(q)) == [7, 20, 23, 40]


# Matches, and what happens between them


def many(q: Calls, number: int, levels: dict[int, int], cards: int = 16) -> dict[int, dict[int, int]]:
    """TaskQueues with equal jobs, by number, with hands: job id -> user priority. JobTypes T1, ... tell them apart."""
    jobs_of = {n: {1000 * n + job_id: level for job_id, level in ids_of(levels).items()} for n in range(1, number + 1)}
    elements = [
        {"requirements": requirements(JobTypes=[f"T{n}"]), "jobs": [list(job) for job in jobs.items()]}
        for n, jobs in jobs_of.items()
    ]
    for n in range(0, number, 40):
        q.call("load_task_queues", Jsonb(elements[n : n + 40]))
        q.rows("select taskqueue.refresh_statistics()")  # without it each queue costs more than the last
    if cards:
        assert all(deal_by_chance(q, cards))
    return jobs_of


def deal_by_chance(q: Calls, cards: int) -> list[bool]:
    """Deal as matches and maintenance do, without a seed of the test."""
    call = """taskqueue.deal_hand('default', q.task_queue_id, %s, false, 'dirac',
                                  uuid_hash_extended(gen_random_uuid(), 0))"""
    return [dealt for (dealt,) in q.rows(f"select {call} from taskqueue.task_queue q", cards)]


LEVELS = {1: 5, 4: 2, 9: 1}


@pytest.mark.slow
@pytest.mark.parametrize(("q", "cards"), [
    pytest.param("short", 0, id="short-dealt by the first match", marks=pytest.mark.thorough),
    pytest.param("general", 0, id="general-dealt by the first match"),
    pytest.param("short", 16, id="short-dealt before"),
    pytest.param("general", 16, id="general-dealt before", marks=pytest.mark.thorough),
], indirect=["q"])  # fmt: skip
def test_two_matches_follow_the_joint_distribution(q: Counted, cards: int) -> None:
    jobs_of = many(q, 200, LEVELS, cards)
    before = changes(q)
    found = Counter(tuple(jobs[q.take(JobType=f"T{n}").job_id] for _ in range(2)) for n, jobs in jobs_of.items())
    assert changes(q) == before, "a match from the hand changes no count"
    assert chi_square(found, in_order(counts_of(LEVELS), 2)) > GENEROUS
    assert q.inconsistencies() == []


# Changes that make the hand void, and the next step. The first tier tries each pair once, by one of the two ways
# of a match, which read the same hand; both ways meet each kind of change. The second tier tries all of them.
_BETWEEN, _THEN = ["by id", "insertion", "held"], ["drawn", "dealt", "maintained"]
_BOTH = [
    pytest.param(way, between, then, marks=[pytest.mark.thorough] if (a + b + c) % 2 else [])
    for a, way in enumerate(["short", "general"])
    for b, between in enumerate(_BETWEEN)
    for c, then in enumerate(_THEN)
]


@pytest.mark.slow
@pytest.mark.parametrize(("q", "between", "then"), _BOTH, indirect=["q"])
def test_matches_follow_the_distribution_when_a_change_voids_the_hand_between_them(
    q: Counted, between: str, then: str
) -> None:
    """A match, a change that makes the hand void, and another match, among the jobs that are there then."""
    jobs_of = many(q, 150, LEVELS)
    found: Counter[tuple[int, ...]] = Counter()
    firsts = {n: q.take(JobType=f"T{n}").job_id for n in jobs_of}
    chosen = {n: 1000 * n + (29 if between != "held" else 24) for n in jobs_of}  # 9: 1 job; 4: the first of 2
    for n in jobs_of:
        if between == "insertion":
            q.insert(1000 * n + 999, 7, JobTypes=[f"T{n}"])
        elif chosen[n] != firsts[n]:
            q.take(JobID=chosen[n]) if between == "by id" else q.call("hold", "job", str(chosen[n]))
    if then == "dealt":
        deal_by_chance(q, 3)
    elif then == "maintained":
        q.maintain()
    for n, jobs in jobs_of.items():
        levels = jobs | {1000 * n + 999: 7}
        second = q.take(JobType=f"T{n}").job_id
        found[int(between != "insertion" and chosen[n] == firsts[n]), levels[firsts[n]], levels[second]] += 1
    expected: dict[tuple[int, ...], float] = {}
    was_chosen = {"by id": {9: 1.0}, "held": {4: 0.5}, "insertion": {}}[between]  # by the first match, by its priority
    for first, chance in user_priorities(counts_of(LEVELS)).items():
        left = without(counts_of(LEVELS), first)
        for chose, how_likely in ((1, was_chosen.get(first, 0)), (0, 1 - was_chosen.get(first, 0))):
            after = left
            if between == "insertion":
                after = (*left[:7], 1, *left[8:])
            elif not chose:
                after = without(left, 9 if between == "by id" else 4)
            for second, then_chance in user_priorities(after).items() if how_likely else ():
                expected[chose, first, second] = chance * how_likely * then_chance
    assert chi_square(found, expected) > GENEROUS
    assert q.inconsistencies() == []


@pytest.mark.slow
def test_matches_take_the_cards_in_their_order(q: Counted) -> None:
    """Before the last card is taken, the hand is continued; nothing else is written."""
    q.insert_many(range(1, 101), 3)
    deal(q, 16)
    taken: list[int] = []
    before = changes(q)
    while len(taken) < 100:
        cards = hand(q).cards
        assert not hand(q).void
        taken.append(q.take().job_id)
        left = [card for card in cards if card not in taken[:-1]]
        assert taken[-1] == left[0]
        if len(taken) < 100:
            assert [card for card in hand(q).cards if card not in taken][: len(left) - 1] == left[1:]
    assert sorted(taken) == list(range(1, 101))
    assert changes(q) == before
    assert q.inconsistencies() == []
    assert q.queues() == {}


@pytest.mark.slow
def test_the_next_match_gets_the_job_of_one_that_was_rolled_back(q: Counted, other: Counted) -> None:
    q.insert_many(range(1, 31), 3)
    deal(q, 16)
    cards = hand(q).cards
    with q.connection.transaction(force_rollback=True):
        assert [q.take().job_id for _ in range(3)] == cards[:3]
        assert q.inconsistencies() == []
    assert q.inconsistencies() == []
    first = other.take().job_id
    assert [first, q.take().job_id, other.take().job_id] == cards[:3]
    with other.connection.transaction(force_rollback=True):
        assert other.take().job_id == cards[3]
    other.connection.rollback()
    assert [q.take().job_id for _ in range(3)] == [cards[0], cards[2], cards[3]]
    assert q.inconsistencies() == []


@pytest.mark.parametrize("way", ["match_job", "match_many"])
def test_cards_of_the_former_law_are_not_taken(q: Counted, way: str) -> None:
    """All of the eight cards are nines, with the given seed; with ten_first the ten goes first."""
    queue_with(q, {9: 300, 10: 1})
    deal(q, 8)
    ten = 30
    assert len(hand(q).cards) == 8 and ten not in hand(q).cards
    q.settings(queue_size=2000)
    assert not hand(q).void
    q.settings(ten_first=True)
    assert hand(q).void
    if way == "match_job":
        assert q.take().job_id == ten
    else:
        one = {"resources": [{"CPUTime": 10**6}]}
        jobs = [job for (job,) in q.rows("select job_id from taskqueue.match_many('default', %s)", Jsonb([one, one]))]
        assert ten in jobs
    assert q.inconsistencies() == []


@pytest.mark.slow
@pytest.mark.parametrize("ten_first", [True, False])
def test_a_void_hand_is_not_used(q: Counted, ten_first: bool) -> None:
    """A job that comes before all others is inserted, while others are in the hand."""
    q.settings(ten_first=ten_first)
    q.insert_many(range(1, 31), 9 if ten_first else 0)
    deal(q, 16)
    for n in range(100, 120):
        for _ in range(n % 6 if n < 110 else 0):
            q.take()
        q.insert(n, 10 if ten_first else 1)
        assert hand(q).void
        assert q.take().job_id == n
        assert q.inconsistencies() == []
        if n % 3 == 0:
            deal(q, 8)


@pytest.mark.slow
@pytest.mark.parametrize("since", ["of the snapshot", "too long ago"])
def test_a_void_hand_is_not_used_by_an_agent_that_is_known(q: Counted, since: str) -> None:
    """An old transaction, which makes the look at the snapshot longer, changes nothing (taskqueue.hand.since)."""
    q.settings(ten_first=True)
    q.insert_many(range(1, 31), 5)
    know(q)
    for n in range(100, 110):
        deal(q, 16)
        assert hand(q).cards
        if since == "too long ago":
            q.connection.execute("update taskqueue.hand set since = null")
        if n % 2:
            q.insert(n, 10)
            assert q.take().job_id == n
        else:
            first = hand(q).cards[0]
            assert q.take().job_id == first
        assert q.inconsistencies() == []


def renewed(q: Calls) -> tuple[bool, int]:
    """Whether a match that finds no card finds another hand then, and how many cards were drawn for the newest hand."""
    call = (
        "select taskqueue.renew_hand(h.setup, h.task_queue_id, h.hand_id, false, 'dirac', true) from taskqueue.hand h"
    )
    return q.value(call), q.value("select drawn from taskqueue.hand")


def test_renew_hand_deals_when_and_as_many_cards_as_the_page_says(q: Counted) -> None:
    """Follows the table of HANDS.md, When a hand is dealt."""
    q.insert_many(range(1, 300), 3)
    assert renewed(q) == (True, 16), "without new cards"
    assert renewed(q) == (True, 32), "used up"
    assert renewed(q) == (True, 64)
    assert renewed(q) == (True, 64), "no more"
    deal(q, 400)
    assert renewed(q) == (False, 123), "nothing is left to draw"
    newest = hand(q).number
    q.insert(300)
    call = "select taskqueue.renew_hand(h.setup, h.task_queue_id, %s, false, 'dirac', true) from taskqueue.hand h"
    assert q.value(call, newest - 1), "another session dealt a hand"
    assert hand(q).number == newest


def test_a_match_that_takes_a_card_of_the_second_half_deals(q: Counted) -> None:
    q.insert_many(range(1, 300), 3)
    deal(q, 16)
    newest = hand(q).number
    taken(q, 7)
    assert hand(q).number == newest
    taken(q, 1)
    assert q.rows("select cards, drawn from taskqueue.hand") == [(40, 32)]


def _arrives(q: Counted, how: str) -> None:
    """Let two jobs arrive, in two transactions or in one; or let none arrive and two leave."""
    if how == "two":
        q.insert(1001, 1)
        q.insert(1002, 9)
    elif how == "one":
        q.call("insert_jobs", Jsonb([{"requirements": requirements(), "jobs": [[1001, 1], [1002, 9]]}]))
    else:
        last = [job for (job,) in q.rows("select job_id from taskqueue.job order by job_id desc limit 2")]
        q.call("cancel_job", last[0])
        q.take(JobID=last[1])


@pytest.mark.parametrize(("removals", "how", "dealt"), [
    (0, "one", (True, 16)), (9, "one", (True, 18)), (31, "two", (True, 30)), (90, "two", (True, 64)),
    (0, "none", (True, 16)), (90, "none", (True, 64)),
])  # fmt: skip
def test_the_cards_dealt_for_a_void_hand_follow_the_rate_of_removals(
    q: Counted, removals: int, how: str, dealt: tuple[bool, int]
) -> None:
    """A match deals twice as many cards as jobs were removed for each transaction in which jobs arrived."""
    q.insert_many(range(1, 400), 3)
    deal(q, 200)
    taken(q, removals)
    _arrives(q, how)
    assert hand(q).void
    assert renewed(q) == dealt
    assert q.inconsistencies() == []


@pytest.mark.slow
def test_deals_in_vain_become_rare(q: Counted) -> None:
    """A job arrives before each match: a hand is void before it is used. So matches draw without a hand, and changes
    are counted in hands without cards. When jobs no longer arrive, cards are dealt again."""
    q.insert_many(range(1, 300), 3)
    deal(q, 16)
    newest = hand(q).number

    def cards_dealt() -> int | None:
        """Cards that the last match dealt; None: it dealt no hand."""
        nonlocal newest
        before, newest = newest, hand(q).number
        return len(hand(q).cards) if newest > before else None

    dealt = {}
    for n in range(250):
        q.insert(1000 + n, 3)
        q.take()
        dealt[n] = cards_dealt()
    assert {n: cards for n, cards in dealt.items() if cards is not None} == {
        0: 16,
        1: 16,  # one deal in vain may happen by chance
        **dict.fromkeys(range(51, 250, 50), 0),
    }
    assert q.inconsistencies() == []
    matches = 0
    while not hand(q).cards:
        q.take()
        matches += 1
        assert matches <= 64
    assert q.inconsistencies() == []


@pytest.mark.slow
@pytest.mark.parametrize(("number", "cards"), [(3, 0), (4, 32)])
def test_maintenance_deals_ahead_where_cards_are_taken(q: Counted, number: int, cards: int) -> None:
    q.insert_many(range(1, 100), 3)
    q.maintain()
    deal(q, 16)
    taken(q, number)
    before = hand(q)
    assert q.maintain()["hands"] == 0
    assert hand(q) == before, "nothing has changed"
    q.insert(200)
    q.maintain()
    assert len(hand(q).cards) == cards
    assert changes(q) == 0
    assert q.inconsistencies() == []


@pytest.mark.slow
def test_a_match_with_a_seed_does_not_use_the_hand(q: Counted) -> None:
    q.insert_many(range(1, 31), 3)
    deal(q, 16)
    [seeded] = q.call_rows("match_jobs_with_seed", Jsonb({"CPUTime": 10**9}), 1, 5)
    assert hand(q).void
    assert q.inconsistencies() == []
    deal(q, 16)
    assert seeded[0] not in hand(q).cards
    assert not hand(q).void


# Counts after anything


def everything(q: Calls) -> set[int]:
    return {job_id for (job_id,) in q.rows("select job_id from taskqueue.job where not held")}


def taken(q: Calls, number: int = 3) -> list[Match]:
    """Matches from the hand."""
    before = changes(q)
    matches = [q.take() for _ in range(number)]
    assert changes(q) == before
    return matches


def _release(q: Calls) -> None:
    [match] = taken(q, 1)
    q.call("release_job", match.job_id, match.attempt)


def _insert_ended(q: Calls) -> None:
    [match] = taken(q, 1)
    q.call("finish_job", match.job_id, match.attempt)
    q.insert(match.job_id, 4)


def _hold(q: Calls) -> None:
    q.call("hold", "job", str(hand(q).cards[0]))


def _hold_and_resume(q: Calls) -> None:
    card = str(hand(q).cards[2])
    q.call("hold", "job", card)
    assert q.inconsistencies() == []
    q.call("resume", "job", card)


def _undone(q: Calls) -> None:
    cards = hand(q).cards
    with q.connection.transaction(force_rollback=True):
        taken(q)
        q.call("cancel_job", cards[5])
        q.call("hold", "job", str(cards[6]))
        q.insert(cards[7], 2, JobTypes=["elsewhere"])
        assert q.inconsistencies() == []
    assert hand(q).cards == cards
    assert not hand(q).void


def _half_undone(q: Calls) -> None:
    with q.connection.transaction():
        one = taken(q, 1)
        with q.connection.transaction(force_rollback=True):
            two = taken(q, 2)
            q.insert(500)
        [three] = taken(q, 1)
        assert three.job_id == two[0].job_id != one[0].job_id


def cards_of(q: Calls) -> list[int]:
    """Cards of the TaskQueue with most jobs, if there are two."""
    return hand(q, max((jobs, queue) for queue, jobs in q.queues().items())[1]).cards


HAPPENINGS: dict[str, Callable[[Calls], Any]] = {
    "taken from the hand": taken,
    "all of the hand": lambda q: taken(q, 12),
    "by the id of a card": lambda q: q.take(JobID=hand(q).cards[1]),
    "by the id of another": lambda q: q.take(JobID=max(everything(q))),
    "with a seed": lambda q: q.call_rows("match_jobs_with_seed", Jsonb({"CPUTime": 10**9}), 3, 1),
    "a batch": lambda q: q.match_jobs(6),
    "a card held": _hold,
    "a card held and resumed": _hold_and_resume,
    "a card cancelled": lambda q: q.call("cancel_job", hand(q).cards[0]),
    "another cancelled": lambda q: q.call("delete_job", max(everything(q))),
    "a card moved": lambda q: q.insert(cards_of(q)[0], 3, JobTypes=["elsewhere"]),
    "a card of another user priority": lambda q: q.insert(cards_of(q)[0], 7),
    "a card inserted again": lambda q: q.insert(cards_of(q)[0], 3),
    "given back": _release,
    "ended and inserted": _insert_ended,
    "rolled back": _undone,
    "rolled back in part": _half_undone,
    "its owner held": lambda q: (q.call("hold", "owner", "alice"), q.call("resume", "owner", "alice")),
}


@pytest.mark.slow
@pytest.mark.parametrize("happening", HAPPENINGS)
def test_counts_are_exact_after_each_kind_of_change(q: Counted, happening: str) -> None:
    """Counts stay exact after a second such change, with new hands in between, and after all jobs are gone."""
    q.insert_many(range(1, 21), 3)
    q.insert_many(range(193, 201), 5)
    then: list[Callable[[], Any]] = [lambda: None, lambda: deal(q, 8), q.maintain, lambda: deal(q, 16)]
    for number, again in enumerate(then):
        q.insert_many(range(300 + 10 * number, 310 + 10 * number), 5)
        deal(q, 12)
        HAPPENINGS[happening](q)
        assert q.inconsistencies() == []
        again()
        assert q.inconsistencies() == []
    there = everything(q)
    gone = drain(q)
    assert len(gone) == len(set(gone))
    assert set(gone) == there
    assert q.inconsistencies() == []


@pytest.mark.slow
def test_counts_are_exact_while_others_hold_a_snapshot_and_a_transaction(
    q: Counted, other: Counted, connect: Connect
) -> None:
    """No row that anybody deletes or replaces is removed then, and every new hand has a transaction in flight."""
    writer = Counted(connect())
    writer.connection.autocommit = False
    q.insert_many(range(1, 21), 3)
    q.insert_many(range(5000, 5040), 3, JobTypes=["T"])
    deal(q, 8)
    writer.take(JobID=5000)
    other.connection.execute("set transaction isolation level repeatable read")
    before = other.rows("select count(*) from taskqueue.job")
    job_id = 100
    for n in range(100):
        q.take(JobType=None if n % 2 else "U")
        if n < 40 or n % 3:
            job_id += 1
            q.insert(job_id, n % 11)
        if n % 10 == 0:
            assert q.inconsistencies() == []
            assert other.inconsistencies() == []
            q.maintain()
    assert q.inconsistencies() == []
    assert other.rows("select count(*) from taskqueue.job") == before
    writer.connection.rollback()
    there = everything(q)
    assert 5000 in there
    assert set(drain(q)) == there
    assert q.inconsistencies() == []


# Moved rows and rebuilt hands


def not_at_their_addresses(q: Calls) -> int:
    """Jobs of hands whose rows are elsewhere or gone."""
    query = """
        select count(*) from taskqueue.hand h cross join lateral unnest(h.addresses, h.entry_ids) c (address, entry_id)
         where not exists (select from taskqueue.job j where j.ctid = c.address and j.entry_id = c.entry_id)"""
    return int(q.value(query))


@pytest.mark.slow
def test_matching_continues_after_all_rows_have_moved(q: Counted) -> None:
    """CLUSTER moves nearly every job to another address, so that the hand finds a different job at the old one."""
    for n in range(1, 41):
        q.insert(n, 3, JobTypes=["T"] if n % 2 else [])
    for n in range(2, 41, 6):
        q.call("cancel_job", n)
    deal(q, 8)
    there = everything(q)
    gone = [q.take(JobType="T").job_id for _ in range(3)]
    q.connection.execute("create index backwards on taskqueue.job (entry_id desc)")
    q.connection.execute("cluster taskqueue.job using backwards")  # unlike VACUUM FULL, beside any old transaction
    q.connection.execute("drop index taskqueue.backwards")
    assert not_at_their_addresses(q) > 8
    assert q.inconsistencies() == []
    gone += [q.take(JobType="U").job_id for _ in range(2)]
    assert all(n % 2 == 0 for n in gone[-2:])
    assert q.inconsistencies() == []
    gone += drain(q)
    assert sorted(gone) == sorted(there)


@pytest.mark.slow
@pytest.mark.parametrize("void", [True, False], ids=["a void hand", "a hand that does not know that it is void"])
def test_another_job_at_the_address_of_a_card_is_not_mistaken_for_the_card(q: Counted, void: bool) -> None:
    """A job is cancelled, its row is cleaned away, and the place is used for a job with other requirements."""
    q.insert_many(range(1, 9), 3, Sites=["A"])
    deal(q, 8)
    cards = hand(q).cards
    queue = q.queue_of(1)
    addresses = q.value("select addresses::text[] from taskqueue.hand")
    if not void:
        q.connection.execute("update taskqueue.hand set known_to = '9000000000000'")  # as of another server
    for card in cards[:3]:
        q.call("cancel_job", card)
    for n in range(1000):
        q.connection.execute("vacuum taskqueue.job")
        q.insert(1000 + n, 3, Sites=["B"])
        if q.value("select ctid::text from taskqueue.job where job_id = %s", 1000 + n) == addresses[0]:
            break
    else:
        raise AssertionError("no row came to the address of the first card")
    assert hand(q, queue).void == void
    assert not q.match(Site="A", JobID=1000 + n)
    taken = {q.take(Site="A").job_id for _ in range(5)}
    assert taken == set(cards[3:])
    assert q.match(Site="A") is None
    q.maintain()
    assert q.inconsistencies() == []
    assert q.take(Site="B").job_id >= 1000


@pytest.mark.slow
@pytest.mark.parametrize("how", ["rebuild", "buckets", "restored"])
def test_matching_continues_after_hands_are_rebuilt(q: Counted, how: str) -> None:
    q.insert_many(range(1, 21), 3, CPUTime=500)
    q.insert_many(range(21, 41), 5, CPUTime=5000)
    deal(q, 8)
    there = everything(q)
    gone = [q.take().job_id, q.take(CPUTime=500).job_id]
    cards = hand(q, q.queue_of(next(iter(there - set(gone))))).cards
    assert len(cards) == 8
    if how == "rebuild":
        q.call("rebuild_matching")
    elif how == "buckets":
        q.call("set_cpu_buckets", [300000])
        assert q.value("select count(*) from taskqueue.task_queue") == 1
    else:
        q.connection.execute("update taskqueue.hand set known_to = '9000000000000'")
        gone += [q.take().job_id for _ in range(3)]
        q.insert(100, 3, CPUTime=500)
        there.add(100)
        q.maintain()
    assert q.inconsistencies() == []
    assert q.rows("select distinct cards from taskqueue.hand") == [(0,)]
    gone += [q.take().job_id for _ in range(3)]
    assert q.inconsistencies() == []
    gone += drain(q)
    assert sorted(gone) == sorted(there)
    assert q.inconsistencies() == []


@pytest.mark.slow
def test_a_known_agent_is_noted_again_by_about_one_match_in_fifty(q: Counted) -> None:
    """Some of 800 matches note the agent, except in one run of ten million; not all of them do."""
    q.insert_many(range(1, 901), 3)
    know(q)
    q.take()
    long_ago = "update taskqueue.parsed_description set seen_at = now() - interval '10 minutes' where seen_at < now()"
    q.connection.execute(long_ago)
    q.connection.execute("truncate taskqueue.resource_seen")
    noted = 0
    for _ in range(800):
        q.take()
        if q.rows("select from taskqueue.resource_seen"):
            noted += 1
            q.connection.execute(long_ago)
            q.connection.execute("truncate taskqueue.resource_seen")
    assert 0 < noted < 60
