"""DRAWING.md, Formula of the draw: observed frequencies against the formula (tests/core/oracle/draw.py).

Draws are seeded: the same seeds and ids of queues give the same counts, so these tests do not fail by chance; FEW is
the p value that a right implementation falls below, with other seeds, in one test of a thousand.

Draws take most of the time of these tests, so each test makes as many as are needed to reject, in at least 95 % of all
cases, a wrong distribution. 850 draws distinguish 95 : 5 of queues of 10 and 1 from 10 : 1, and a half from 58.5 %
(BROKER_TEST_DRAWS=2000: in 99.9 %, and from 55.5 %). The other way round, 10 : 1 from 95 : 5, takes 1,050
(FOR_PROPORTIONAL). Where a draw takes tens of milliseconds, because it passes over many queues, the priorities are
chosen so that fewer draws do: queues of 4 and 1 are drawn 7 : 1 by the formula and 4 : 1 by priority alone, for which
650 are as good; one of 30 and twenty of 1 (FREE) are drawn 73 : 27 instead of 60 : 40, for which 350 are; five queues
of FIVE take 700.
Unseeded draws have the limit GENEROUS.
"""

import os
from collections import Counter
from typing import Any

import pytest
import scipy.stats

from tests.calls import Calls, Connect, group
from tests.core.docs.pages import pages
from tests.core.oracle.draw import chi_square, draw, win, win_levels
from tests.core.taskqueue.hands import counted, deal_valid

DRAWS = range(1, 1 + int(os.environ.get("BROKER_TEST_DRAWS", "850")))
FOR_PROPORTIONAL = range(1, 1051)
FEWER = range(1, 651)
FOR_FREE = range(1, 351)
FREE = {30.0: 1, 1.0: 20}  # priorities of the queues that are left where others are passed over
FOR_FIVE = range(1, 701)
FIVE = [9.0, 3.0, 3.0, 1.0, 1.0]
FEW = 1e-3
GENEROUS = 1e-7  # for unseeded draws: one run of ten million fails by chance


@pytest.fixture
def q(q: Calls) -> Calls:
    """Queues and lists have the same ids whatever ran before, because seeded draws depend on the ids."""
    for table, column in (("task_queue", "task_queue_id"), ("posting_list", "list_id")):
        q.rows(f"select setval(pg_get_serial_sequence('taskqueue.{table}', '{column}'), 1, false)")
    return q


def first_jobs(q: Calls, seeds: range = DRAWS, **keys: Any) -> Counter[int]:
    return Counter(jobs[0] for jobs, _ in draw(q.connection, seeds, **keys))


def first_queues(q: Calls, seeds: range = DRAWS, **keys: Any) -> Counter[int]:
    return Counter(queues[0] for _, queues in draw(q.connection, seeds, **keys))


def queues_with(q: Calls, priorities: list[float], jobs: int = 2, start: int = 1, **keys: Any) -> dict[int, float]:
    """A queue for each priority: TaskQueue id -> priority. Each is the only queue of its group.

    Two jobs each, since a draw that takes the last one drops the queue, which takes longer than to draw.
    """
    for n, priority in enumerate(priorities, start):
        q.set_group(f"g{n}", priority)
        q.insert_many(range(n * 1000, n * 1000 + jobs), **{**group(f"g{n}"), **keys})
        if (n - start) % 50 == 10:  # else the planner takes tables to be empty: each queue costs more
            q.rows("select taskqueue.refresh_statistics()")
    priority_of = {n * 1000: priority for n, priority in enumerate(priorities, start)}
    query = "select job_id, task_queue_id from taskqueue.job where setup = %s and job_id = any (%s) order by job_id"
    result = {queue: priority_of[job_id] for job_id, queue in q.rows(query, q.setup, list(priority_of))}
    assert len(result) == len(priorities)
    q.call("recompute_shares")
    found = {queue: p for queue, p in q.priorities().items() if queue in result}
    assert found == pytest.approx(result)
    return result


# The closed form itself


def test_the_formula_agrees_with_the_closed_form_for_two_candidates() -> None:
    assert win({"a": 10, "b": 1}) == pytest.approx({"a": 0.95, "b": 0.05})
    assert win({"a": 3, "b": 3}) == pytest.approx({"a": 0.5, "b": 0.5})
    assert win_levels({"a": (1, 10), "b": (1, 1)}) == pytest.approx({"a": 0.95, "b": 0.05})
    many = win_levels({"a": (400, 1), "b": (100, 7)})
    few = win_levels({"a": (400, 1), "b": (100, 7), "none": (0, 5)})
    assert sum(many.values()) == pytest.approx(1, abs=1e-6)
    assert few["a"] == pytest.approx(many["a"], abs=1e-6)


# Queues


@pytest.mark.representative
def test_queues_with_priorities_10_and_1_are_drawn_95_to_5(q: Calls) -> None:
    big, small = queues_with(q, [10, 1])
    assert chi_square(first_queues(q), {big: 0.95, small: 0.05}) > FEW


@pytest.mark.slow
def test_queues_with_priorities_10_and_1_are_drawn_95_to_5_without_seeds(q: Calls) -> None:
    big, small = queues_with(q, [10, 1])
    found = Counter(queues[0] for _, queues in draw(q.connection, DRAWS, None))
    assert chi_square(found, {big: 0.95, small: 0.05}) > GENEROUS


@pytest.mark.representative
@pytest.mark.parametrize("priorities", [
    [1, 1], [3, 2], [1000, 0.5], [5, 4, 3, 2, 1], [10, 10, 10, 1], [7, 7, 3, 3, 3, 1, 1, 1, 1], [1e6, 1e6, 1e-3],
    [2] * 12,
], ids=str)  # fmt: skip
def test_several_queues_are_drawn_by_the_formula(q: Calls, priorities: list[float]) -> None:
    """Each queue alone, so that queues of equal priority are equally likely too."""
    expected = win(queues_with(q, priorities))
    assert chi_square(first_queues(q), expected) > FEW


def priorities_of(levels: dict[float, int]) -> list[float]:
    return [priority for priority, queues in levels.items() for _ in range(queues)]


def by_priority(found: Counter[int], queues: dict[int, float]) -> Counter[float]:
    return Counter(queues[queue] for queue in found.elements())


def chances_of_levels(levels: dict[float, int]) -> dict[float, float]:
    return win_levels({priority: (queues, priority) for priority, queues in levels.items()})


@pytest.mark.thorough
def test_many_queues_of_a_few_priorities_are_drawn_by_the_formula(q: Calls) -> None:
    levels = {8.0: 5, 2.0: 20, 0.5: 100}
    queues = queues_with(q, priorities_of(levels))
    assert chi_square(by_priority(first_queues(q), queues), chances_of_levels(levels)) > FEW


@pytest.mark.slow
def test_the_number_of_jobs_in_a_queue_does_not_change_its_chance(q: Calls) -> None:
    one, many = next(iter(queues_with(q, [1], 1))), next(iter(queues_with(q, [1], 300, start=5)))
    assert chi_square(first_queues(q, range(1, 1001)), {one: 0.5, many: 0.5}) > FEW


SIBLINGS = {"full": [{}] * 3, "memory and bans": [{}, {"MinRAM": 5}, {"BannedSites": ["No site"]}, {"MaxRAM": 9000}]}
"""Requirements of TaskQueues that are drawn as one."""


def one_of_siblings(q: Calls, variants: list[dict[str, Any]]) -> dict[int, bool]:
    """TaskQueues of two owners of one group, of which the first owner has several: id -> whether it is one of these."""
    q.settings(queue_size=2)
    for n, keys in enumerate(variants):
        q.insert_many(range(10 * n + 1, 10 * n + 3), OwnerDN="many", **keys)
    q.insert_many([1001, 1002], OwnerDN="one")
    q.call("recompute_shares")
    assert q.priorities() == pytest.approx(dict.fromkeys(q.priorities(), 500))
    rows = q.rows("select task_queue_id, owner_dn = 'many' from taskqueue.task_queue where setup = %s", q.setup)
    assert len(rows) == len(variants) + 1
    return dict(rows)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["dirac", "proportional"])
@pytest.mark.parametrize("way", ["one by one", "seeded", "few match", "rest of a bucket"])
@pytest.mark.parametrize("variants", SIBLINGS.values(), ids=SIBLINGS)
def test_siblings_together_are_drawn_as_one_task_queue(
    q: Calls, variants: list[dict[str, Any]], way: str, policy: str
) -> None:
    q.settings(policy=policy)
    among = one_of_siblings(q, variants)
    if way in ("few match", "rest of a bucket"):  # the others are candidates, too, and do not match
        q.settings(queue_size=5000)
        for n in range(40):
            q.insert(500_000 + n, Platforms=["elsewhere"], **group(f"g{n}"))
        q.call("recompute_shares")
    if way == "few match":
        assert known(q, Platform="here") == 0
        q.rows("select taskqueue.find_matching('default', k) from taskqueue.parsed_description k")
        assert q.value("select matches from taskqueue.parsed_description") > 0
    limit = None if way in ("one by one", "few match") else 1
    drawn = draw(q.connection, DRAWS, limit, Platform="here")
    least = GENEROUS if limit is None else FEW
    found = Counter(among[queues[0]] for _, queues in drawn)
    assert chi_square(found, {True: 0.5, False: 0.5}) > least
    of_many = Counter(queues[0] for _, queues in drawn if among[queues[0]])
    assert chi_square(of_many, {queue: 1 / len(variants) for queue in among if among[queue]}) > least


@pytest.mark.parametrize("policy", ["dirac", "proportional"])
def test_a_task_queue_whose_siblings_are_gone_is_matched_in_each_way(q: Calls, policy: str) -> None:
    """Until shares are recomputed, the TaskQueue counts many siblings: its keys are near the largest one."""
    q.settings(policy=policy)
    q.insert_many(range(1, 4))
    q.rows("update taskqueue.task_queue set siblings = 2000000 returning 1")
    q.call("rebuild_matching")
    for limit in (None, 1):
        assert all(jobs for jobs, _ in draw(q.connection, range(1, 101), limit))
    known(q)
    q.rows("select taskqueue.find_matching('default', k) from taskqueue.parsed_description k")
    assert all(jobs for jobs, _ in draw(q.connection, range(1, 101), None))


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["dirac", "proportional"])
@pytest.mark.parametrize("way", ["seeded", "one by one", "few match"])
def test_queues_at_a_limit_are_passed_over_and_the_others_keep_their_distribution(
    agent: Calls, way: str, policy: str
) -> None:
    """One of the others counts at a limit that is not reached, and one at none."""
    q = agent
    q.settings(policy=policy)
    queues_with(q, [30.0] * 3, JobTypes=["T"])
    [counting] = queues_with(q, [4.0], start=11, JobTypes=["U"])
    [free] = queues_with(q, [1.0], start=21)
    q.running_limit("JobTypes", "T", 0)
    q.running_limit("JobTypes", "U", 3)
    if way == "few match":
        assert known(q, Site="S") == 0
        q.rows("select taskqueue.find_matching('default', k) from taskqueue.parsed_description k")
        assert q.value("select matches from taskqueue.parsed_description") == 5
    limit = 1 if way == "seeded" else None
    found = Counter(queues[0] for _, queues in draw(q.connection, FEWER, limit, Site="S"))
    expected = win({counting: 4.0, free: 1.0}) if policy == "dirac" else {counting: 0.8, free: 0.2}
    assert chi_square(found, expected) > (FEW if limit else GENEROUS)


@pytest.mark.slow
def test_a_batch_at_a_site_with_limits_has_the_distribution_of_single_draws(agent: Calls) -> None:
    """Whether the first job reaches the limit at which it counts decides among which queues the second one is drawn."""
    queues_with(agent, [30.0] * 3, JobTypes=["T"])
    [counting] = queues_with(agent, [4.0], start=11, JobTypes=["U"])
    [free] = queues_with(agent, [1.0], start=21, jobs=3)
    agent.running_limit("JobTypes", "T", 0)
    agent.running_limit("JobTypes", "U", 1)
    agent.rows("select taskqueue.refresh_statistics()")
    found = Counter[tuple[int, ...]]()
    for _ in FEWER:
        with agent.connection.transaction(force_rollback=True):
            found[tuple(match.task_queue_id for match in agent.match_jobs(2, Site="S"))] += 1
    chance = win({counting: 4.0, free: 1.0})
    expected = {
        (counting, free): chance[counting],
        (free, counting): chance[free] * chance[counting],
        (free, free): chance[free] ** 2,
    }
    assert chi_square(found, expected) > GENEROUS


@pytest.mark.slow
def test_only_matching_queues_take_part(q: Calls) -> None:
    big, small = queues_with(q, [10, 1])
    for n in range(50):
        q.insert(500_000 + n, Sites=["Elsewhere"], **group(f"elsewhere {n}"))
    assert chi_square(first_queues(q, Site="Here"), {big: 0.95, small: 0.05}) > FEW


@pytest.mark.slow
def test_the_highest_cpu_bucket_always_comes_first(q: Calls) -> None:
    low = queues_with(q, [1e6, 1e6, 1e5], 3)
    high = queues_with(q, [0.001, 0.01], 1, start=10, CPUTime=5000)
    queues_with(q, [100], 1, start=20, CPUTime=50000, Sites=["Elsewhere"])
    assert set(first_queues(q, range(1, 501), Site="Here")) <= set(high)
    assert set(first_queues(q, range(1, 501), Site="Here", CPUTime=4999)) <= set(low)
    matches = q.match_jobs(50, Site="Here")
    assert [match.requirements["CPUTime"] for match in matches] == [5000] * 2 + [500] * 9


# Jobs


def levels_of(q: Calls, counts: dict[int, int], **keys: Any) -> None:
    """Jobs by user priority in one queue; ids are 1000 * priority and up."""
    for priority, count in counts.items():
        q.insert_many(range(1000 * priority + 1, 1000 * priority + 1 + count), priority, **keys)


def first_levels(q: Calls, seeds: range = DRAWS) -> Counter[int]:
    return Counter(job_id // 1000 for job_id in first_jobs(q, seeds).elements())


@pytest.mark.slow
def test_the_query_of_the_page_draws_by_the_formula(q: Calls) -> None:
    """The draw equals the query of the page, which draws a TaskQueue of the highest bucket and a user priority."""
    [query] = [
        block.text
        for page in pages()
        if page.name == "sql/taskqueue/DRAWING.md"
        for block in page.blocks
        if block.kind == "sql"
    ]
    queues_with(q, [10, 1], CPUTime=700)
    queues_with(q, [1000], start=3, CPUTime=7)
    found = Counter(q.rows(query)[0][0] // 1000 for _ in DRAWS)
    assert chi_square(found, {1: 0.95, 2: 0.05}) > GENEROUS
    levels_of(q, {9: 1, 4: 20, 0: 5}, CPUTime=7000)
    found = Counter(q.rows(query)[0][0] // 1000 for _ in DRAWS)
    assert chi_square(found, win_levels({9: (1, 9), 4: (20, 4)})) > GENEROUS


@pytest.mark.representative
@pytest.mark.parametrize(
    "counts",
    [{9: 1, 1: 1}, {10: 3, 1: 100}, {1: 50, 2: 20, 5: 3, 9: 1}, {8: 40, 3: 400}, dict.fromkeys(range(1, 11), 5)],
    ids=str,
)
def test_user_priorities_are_drawn_by_the_formula(q: Calls, counts: dict[int, int]) -> None:
    levels_of(q, counts)
    assert chi_square(first_levels(q), win_levels({n: (count, n) for n, count in counts.items()})) > FEW


@pytest.mark.slow
def test_user_priority_0_is_taken_only_when_nothing_else_is_left(q: Calls) -> None:
    levels_of(q, {0: 900, 1: 1})
    assert set(first_levels(q, range(1, 1001))) == {1}
    assert q.take().user_priority == 1
    assert q.take().user_priority == 0


@pytest.mark.slow
def test_user_priority_0_does_not_change_the_draw_of_the_others(q: Calls) -> None:
    levels_of(q, {0: 50, 1: 10, 4: 2})
    assert chi_square(first_levels(q), win_levels({1: (10, 1), 4: (2, 4)})) > FEW


@pytest.mark.slow
def test_background_jobs_of_one_queue_do_not_wait_for_other_queues(q: Calls) -> None:
    """Background is a property of a queue: a queue of background jobs alone is drawn by its own priority."""
    background, other = queues_with(q, [10]), queues_with(q, [1], start=5)
    for job_id in (1000, 1001):
        q.insert(job_id, 0, **group("g1"))
    q.call("recompute_shares")
    [big], [small] = background, other
    assert chi_square(first_queues(q), win({big: q.priorities()[big], small: q.priorities()[small]})) > FEW


@pytest.mark.slow
def test_user_priority_10_is_a_weight_unless_ten_first_is_set(q: Calls) -> None:
    counts = {10: 1, 9: 30, 0: 5}
    levels_of(q, counts)
    assert chi_square(first_levels(q), win_levels({10: (1, 10), 9: (30, 9)})) > FEW
    q.settings(ten_first=True)
    assert set(first_levels(q, range(1, 1001))) == {10}
    assert q.take().user_priority == 10
    assert set(first_levels(q, range(1, 101))) == {9}
    q.settings(ten_first=False)


@pytest.mark.slow
def test_ten_first_leaves_lower_user_priorities_drawn_by_weight(q: Calls) -> None:
    q.settings(ten_first=True)
    levels_of(q, {0: 3, 1: 10, 5: 4})
    assert chi_square(first_levels(q), win_levels({1: (10, 1), 5: (4, 5)})) > FEW


@pytest.mark.representative
def test_one_of_the_ten_lowest_ids_is_drawn_at_random(q: Calls) -> None:
    ids = [7, 1000, 13, 2, 900, 44, 45, 46, 3000, 21, 5000, 6000, 99]
    q.insert_many(ids, 3)
    lowest = sorted(ids)[:10]
    assert chi_square(first_jobs(q), dict.fromkeys(lowest, 0.1)) > FEW


def test_draw_unlocked_job_draws_among_the_ten_lowest_ids_of_its_queue(q: Calls) -> None:
    """taskqueue.draw_unlocked_job chooses again; jobs of another queue have ids in between."""
    for n in range(1, 31):
        q.insert(n, 3, JobTypes=[f"T{n % 2}"])
    found = set()
    for seed in range(60):
        with q.connection.transaction(force_rollback=True):
            arguments = (q.queue_of(1), seed)
            call = "select job_id from taskqueue.draw_unlocked_job('default', %s, false, 'dirac', %s)"
            found.add(q.value(call, *arguments))
    assert found == set(range(1, 20, 2))


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2, 9, 10])
def test_at_most_ten_jobs_of_a_queue_are_equally_likely(q: Calls, jobs: int) -> None:
    q.insert_many(range(1, jobs + 1), 3)
    assert (
        chi_square(first_jobs(q, DRAWS if jobs > 1 else range(1, 101)), dict.fromkeys(range(1, jobs + 1), 1 / jobs))
        > FEW
    )


@pytest.mark.slow
def test_the_ten_lowest_ids_of_the_drawn_user_priority_are_equally_likely(q: Calls) -> None:
    levels_of(q, {2: 15, 1: 15})
    found = first_jobs(q)
    expected = win_levels({2: (15, 2), 1: (15, 1)})
    jobs = {1000 * level + n: chance / 10 for level, chance in expected.items() for n in range(1, 11)}
    assert chi_square(found, jobs) > FEW


@pytest.mark.slow
def test_held_jobs_are_not_among_the_ten_lowest_ids(q: Calls) -> None:
    q.insert_many(range(1, 16), 3)
    for job_id in (1, 4, 9):
        q.call("hold", "job", str(job_id))
    lowest = [2, 3, 5, 6, 7, 8, 10, 11, 12, 13]
    assert chi_square(first_jobs(q), dict.fromkeys(lowest, 0.1)) > FEW


@pytest.mark.slow
def test_held_jobs_add_no_weight_to_their_user_priority(q: Calls) -> None:
    levels_of(q, {9: 20, 1: 5})
    for job_id in range(9002, 9021):
        q.call("hold", "job", str(job_id))
    assert chi_square(first_levels(q), win_levels({9: (1, 9), 1: (5, 1)})) > FEW


# Passing over keeps the distribution of the rest


@pytest.mark.slow
def test_free_queues_keep_their_distribution_behind_100_empty_queues(q: Calls) -> None:
    heads = queues_with(q, [1e6] * 100, 1, start=100)
    free = queues_with(q, priorities_of(FREE))
    for n in range(100, 200):
        q.call("delete_job", n * 1000)
    found = first_queues(q, FOR_FREE)
    assert not set(found) & set(heads)
    assert chi_square(by_priority(found, free), chances_of_levels(FREE)) > FEW


@pytest.fixture
def two(connect: Connect) -> tuple[Calls, Calls]:
    """Two connections to a database of the test's own: one to draw with, one that holds locks."""
    return Calls(connect()), Calls(connect())


def lock(q: Calls, queues: list[int]) -> None:
    """Lock every job of the queues, as agents do whose matches are not committed."""
    q.connection.autocommit = False
    q.rows("select job_id from taskqueue.job where setup = 'default' and task_queue_id = any (%s) for update", queues)


@pytest.mark.thorough
def test_free_queues_keep_their_distribution_behind_100_locked_queues(two: tuple[Calls, Calls]) -> None:
    q, holder = two
    heads = queues_with(q, [1e6] * 100, 1, start=100)
    free = queues_with(q, priorities_of(FREE))
    lock(holder, list(heads))
    found = first_queues(q, range(1, 301))  # a hundred queues are passed over in each draw
    assert chi_square(by_priority(found, free), chances_of_levels(FREE)) > FEW
    holder.connection.rollback()
    assert set(first_queues(q, range(1, 11))) <= set(heads)


@pytest.mark.thorough
def test_free_queues_keep_their_distribution_beside_locked_queues_of_equal_priority(two: tuple[Calls, Calls]) -> None:
    """Drawing again without the failed ones would give 4 : 1; a level goes on with its next order statistic."""
    q, holder = two
    fours, ones = queues_with(q, [4] * 40, 1), queues_with(q, [1] * 40, 1, start=100)
    big, small = list(fours)[17], list(ones)[23]
    lock(holder, [queue for queue in (*fours, *ones) if queue not in (big, small)])
    assert chi_square(first_queues(q, FEWER), win({big: 4, small: 1})) > FEW


@pytest.mark.slow
def test_free_queues_keep_their_distribution_behind_uncommitted_matches(two: tuple[Calls, Calls]) -> None:
    """The jobs are not only locked but taken, in a transaction that is open."""
    q, holder = two
    heads = queues_with(q, [1e3] * 20, 1, start=100)
    free = queues_with(q, priorities_of(FREE))
    holder.connection.autocommit = False
    for n in range(100, 120):
        assert holder.take(JobID=n * 1000).task_queue_id in heads
    assert chi_square(by_priority(first_queues(q, FOR_FREE), free), chances_of_levels(FREE)) > FEW


@pytest.mark.slow
def test_locked_jobs_within_a_queue_are_passed_over(two: tuple[Calls, Calls]) -> None:
    """A free job of the ten lowest ids is drawn; when all ten are locked, another job of that queue."""
    q, holder = two
    q.insert_many(range(1, 31), 3)
    holder.connection.autocommit = False
    holder.rows("select from taskqueue.job where job_id <= 6 for update")
    assert min(first_jobs(q, range(1, 401))) == 7
    holder.rows("select from taskqueue.job where job_id <= 25 for update")
    assert min(first_jobs(q, range(1, 201))) == 26


@pytest.mark.slow
def test_a_user_priority_whose_jobs_are_locked_gives_way_to_the_others(two: tuple[Calls, Calls]) -> None:
    q, holder = two
    levels_of(q, {9: 30, 5: 2, 1: 2, 0: 3})
    holder.connection.autocommit = False
    holder.rows("select from taskqueue.job where user_priority = 9 for update")
    assert chi_square(first_levels(q, range(1, 1001)), win_levels({5: (2, 5), 1: (2, 1)})) > FEW
    holder.rows("select from taskqueue.job where user_priority > 0 for update")
    assert set(first_levels(q, range(1, 101))) == {0}


@pytest.mark.slow
def test_a_user_priority_without_a_known_first_job_is_read_from_its_start(two: tuple[Calls, Calls]) -> None:
    q, holder = two
    q.insert(1, 0)
    q.insert(2, 9)
    q.maintain()
    q.rows("update taskqueue.hand set first_ids = array_fill(null::bigint, array[11]) returning 1")
    holder.connection.autocommit = False
    holder.rows("select from taskqueue.job where user_priority = 9 for update")
    assert set(first_jobs(q, range(1, 11))) == {1}, "drawn without the hand"
    assert q.take().job_id == 1


@pytest.mark.thorough
def test_a_locked_bucket_gives_way_to_the_next_lower_one(two: tuple[Calls, Calls]) -> None:
    q, holder = two
    high = queues_with(q, [5] * 30, 1, start=100, CPUTime=5000)
    free = queues_with(q, priorities_of(FREE))
    lock(holder, list(high))
    assert chi_square(by_priority(first_queues(q, FOR_FREE), free), chances_of_levels(FREE)) > FEW


# Batches


@pytest.mark.slow
def test_a_batch_has_the_distribution_of_single_draws(q: Calls) -> None:
    """The number of jobs from the queue of priority 10, of four, is binomial, since each is drawn on its own."""
    big, small = queues_with(q, [10, 1], 20)
    found = Counter(queues.count(big) for _, queues in draw(q.connection, range(1, 1001), 4))
    expected = {n: float(scipy.stats.binom.pmf(n, 4, 0.95)) for n in range(5)}
    assert chi_square(found, expected) > FEW
    assert small


@pytest.mark.thorough
def test_a_batch_draws_each_job_among_the_remaining_queues(q: Calls) -> None:
    """One job in each of three queues: the second and third are drawn among the remaining ones."""
    priorities = queues_with(q, [5, 2, 1], 1)
    found = Counter(tuple(queues) for _, queues in draw(q.connection, FEWER, 3))
    expected = {}
    for first, chance in win(priorities).items():
        rest = {queue: p for queue, p in priorities.items() if queue != first}
        for second, then in win(rest).items():
            [third] = set(rest) - {second}
            expected[first, second, third] = chance * then
    assert chi_square(found, expected) > FEW


# The second policy


@pytest.mark.thorough
@pytest.mark.parametrize("priorities", [[10, 1], [7, 7, 3, 3, 1], [1000, 1, 1, 0.5]], ids=str)
def test_the_policy_proportional_draws_in_proportion_to_priorities(q: Calls, priorities: list[float]) -> None:
    """After a change back to the first policy, the same seeds draw the same queues as before."""
    queues = queues_with(q, priorities)
    before = first_queues(q, range(1, 501))
    q.settings(policy="proportional")
    expected = {queue: priority / sum(priorities) for queue, priority in queues.items()}
    assert chi_square(first_queues(q, FOR_PROPORTIONAL), expected) > FEW
    q.settings(policy="dirac")
    assert first_queues(q, range(1, 501)) == before


@pytest.mark.thorough
def test_the_policy_proportional_keeps_its_distribution_behind_locked_queues(two: tuple[Calls, Calls]) -> None:
    q, holder = two
    q.settings(policy="proportional")
    fours, ones = queues_with(q, [4] * 20, 1), queues_with(q, [1] * 20, 1, start=100)
    big, small = list(fours)[7], list(ones)[3]
    lock(holder, [queue for queue in (*fours, *ones) if queue not in (big, small)])
    assert chi_square(first_queues(q, FEWER), {big: 0.8, small: 0.2}) > FEW


# Seeds


@pytest.mark.slow
def test_a_seed_gives_the_same_answer_whatever_the_plan(q: Calls) -> None:
    queues_with(q, [5, 5, 5, 2, 2, 1, 1, 1, 9, 0.5], 12)
    for n in range(1, 30):
        q.insert(900_000 + n, n % 11, Sites=["S"] if n % 2 else ["S", "T"], Platforms=["P"], **group("g1"))
    seeds = range(-60, 61)
    expected = draw(q.connection, seeds, 3, Site="S")
    assert len({tuple(jobs) for jobs, _ in expected}) > 80
    for switches in (
        ["enable_seqscan"], ["enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan"],
        ["enable_hashjoin", "enable_mergejoin"], ["enable_nestloop"], ["enable_sort", "enable_hashagg"],
    ):  # fmt: skip
        with q.connection.transaction(force_rollback=True):
            for switch in switches:
                q.connection.execute(f"set local {switch} = off")
            assert draw(q.connection, seeds, 3, Site="S") == expected, switches
    for mode in ("force_generic_plan", "force_custom_plan"):
        with q.connection.transaction(force_rollback=True):
            q.connection.execute(f"set local plan_cache_mode = {mode}")
            assert draw(q.connection, seeds, 3, Site="S") == expected, mode
    with q.connection.transaction(force_rollback=True):
        q.connection.execute("analyze taskqueue.job, taskqueue.task_queue, taskqueue.posting")
        assert draw(q.connection, seeds, 3, Site="S") == expected


@pytest.mark.slow
def test_a_seed_does_not_make_later_draws_predictable(q: Calls) -> None:
    """An operator's seeded match in a session must not fix the draws of the calls after it, nor the tokens."""
    q.insert_many(range(1, 11), 3)
    tokens, jobs = set(), set()
    for _ in range(20):
        with q.connection.transaction(force_rollback=True):
            q.call_rows("match_jobs_with_seed", '{"CPUTime": 1000}', 1, 7)
            match = q.take()
            tokens.add(match.attempt)
            jobs.add(match.job_id)
    assert len(tokens) == 20
    assert len(jobs) > 1


# Draws that must be independent


SEEDS = "(select hashint8extended(1, n) as s from generate_series(1, {}) n) seed"


@pytest.mark.slow
def test_draws_of_neighbouring_ids_are_independent(q: Calls) -> None:
    """Over 3,000 seeds: with independent draws, n * correlation ** 2 has mean 1 over the 1,000 pairs of neighbours."""
    [(mean, largest)] = q.rows(
        f"""
        select avg(c * c) * 3000, max(abs(c)) * sqrt(3000)
          from (select corr(resource.draw(k, s), resource.draw(k + 1, s)) as c
                  from generate_series(1, 1000) k cross join {SEEDS.format(3000)}
                 group by k) pair
        """
    )
    assert 0.8 < mean < 1.2
    assert largest < 5


def test_draws_are_uniform_and_independent_of_the_next_seed(q: Calls) -> None:
    seeds = SEEDS.format(100_000)
    bins = q.rows(f"select count(*) from {seeds} group by width_bucket(resource.draw(7, s), 0, 1, 50)")
    assert len(bins) == 50
    assert scipy.stats.chisquare([n for (n,) in bins]).pvalue > FEW
    assert abs(q.value(f"select corr(resource.draw(7, s), resource.draw(7, s + 1)) from {seeds}")) < 0.015


@pytest.mark.slow
def test_a_queue_that_several_offered_sites_see_has_one_draw(q: Calls) -> None:
    [wide] = queues_with(q, [1], Sites=["A", "B", "C", "D"])
    [narrow] = queues_with(q, [1], start=2, Sites=["A"])
    [anywhere] = queues_with(q, [1], start=3)
    expected = dict.fromkeys((wide, narrow, anywhere), 1 / 3)
    assert chi_square(first_queues(q, Site=["A", "B", "C", "D", "E"]), expected) > FEW


@pytest.mark.slow
def test_the_draws_of_the_queue_and_the_user_priority_are_independent(q: Calls) -> None:
    expected = {}
    for n, share in ((1, 3.0), (2, 1.0)):
        q.set_group(f"g{n}", share)
        for priority in (1, 5):
            q.insert(10 * n + priority, priority, **group(f"g{n}"))
    for n, first in win({1: 3.0, 2: 1.0}).items():
        for priority, second in win({1: 1, 5: 5}).items():
            expected[10 * n + priority] = first * second
    q.call("recompute_shares")
    assert chi_square(first_jobs(q), expected) > FEW


@pytest.mark.thorough
@pytest.mark.parametrize("limit", [2, 3])  # one after the other, side by side
def test_the_draws_of_two_jobs_in_one_call_are_independent(q: Calls, limit: int) -> None:
    """Sixteen pairs of (first from A or B, with user priority 1 or 5; second likewise)."""
    for n in (1, 2):
        for priority in (1, 5):
            q.insert_many(range(1000 * n + 100 * priority, 1000 * n + 100 * priority + 60), priority, **group(f"g{n}"))
    q.call("recompute_shares")
    single = {
        (n, priority): 0.5 * chance for n in (1, 2) for priority, chance in win_levels({1: (60, 1), 5: (60, 5)}).items()
    }
    found = Counter(
        tuple((job_id // 1000, job_id // 100 % 10) for job_id in jobs[-2:])
        for jobs, _ in draw(q.connection, DRAWS, limit)
    )
    expected = {(first, second): p1 * p2 for first, p1 in single.items() for second, p2 in single.items()}
    assert chi_square(found, expected) > FEW * 0.1  # the counts of a level shrink by one between the two


@pytest.mark.slow
def test_ids_beyond_32_bits_are_drawn_apart(q: Calls) -> None:
    """A hash that folds its 64 bits would give 5 and 2^32 + 4 the same draw."""
    ids = [1, 2, 3, 4, 5, 6, 2**32 + 4, 2**32 + 5, 2**33 + 1, 2**39 + 7]
    q.insert_many(ids, 3)
    assert chi_square(first_jobs(q), dict.fromkeys(ids, 0.1)) > FEW


# Many TaskQueues: candidates are drawn by rejection sampling, instead of a key per TaskQueue

SEVERAL = [
    [1000.0, *[1.0] * 30, *[0.1] * 20],
    [*[5.0] * 4, *[3.3] * 6, *[2.0] * 8, *[1.1] * 6, *[0.7] * 4],
    [10.0, *[1.0] * 20],
]
POLICIES = pytest.mark.parametrize("policy", ["dirac", "proportional"])


def chances_of(queues: dict[int, float], policy: str = "dirac") -> dict[int, float]:
    if policy == "dirac":
        return win(queues)
    return {queue: priority / sum(queues.values()) for queue, priority in queues.items()}


def positions(q: Calls, site: str) -> int:
    return int(q.value("select coalesce(sum(position_count), 0) from taskqueue.posting_list where site = %s", site))


@pytest.mark.thorough
@POLICIES
@pytest.mark.parametrize("priorities", SEVERAL, ids=["1000 to 1 to 0.1", "near each other", "10 to 1"])
def test_candidates_have_the_distribution_of_the_draw(q: Calls, priorities: list[float], policy: str) -> None:
    queues = queues_with(q, priorities)
    q.settings(policy=policy)
    assert positions(q, "*") == len(priorities) > 16
    assert chi_square(first_queues(q, Site="Here"), chances_of(queues, policy)) > FEW


@pytest.mark.thorough
@POLICIES
@pytest.mark.parametrize("site", [None, "A", ["A", "B"], ["B", "A", "C", "D"]], ids=str)
def test_candidates_over_the_lists_of_several_sites_count_each_queue_once(
    q: Calls, site: str | list[str] | None, policy: str
) -> None:
    """A queue listed at several of the sites offered counts once, and one listed nowhere counts like the others."""
    listed = [["A"], ["A", "B"], ["A", "B", "C"], [], ["B", "C", "D", "A"]]
    queues: dict[int, float] = {}
    for n, sites in enumerate(listed):
        priorities = [[4.0] * 5, [1.0] * 4, [3.0, 0.5], [2.0] * 3, [6.0] * 4][n]
        queues |= queues_with(q, priorities, start=100 * (n + 1), Sites=sites)
    queues_with(q, [50] * 3, start=900, Sites=["A", "B", "C"], Tags=["other"])
    queues |= queues_with(q, [8], start=950, Sites=["A", "B"], BannedSites=["B"])
    q.settings(policy=policy)
    # of twenty queues, one that counted twice shows in 95 % of all cases, a list that counted twice always
    assert chi_square(first_queues(q, range(1, 1001), Site=site), chances_of(queues, policy)) > FEW


@pytest.mark.slow
def test_a_queue_that_is_listed_at_all_of_many_sites_is_found(q: Calls) -> None:
    sites = [f"S{n}" for n in range(30)]
    [only] = queues_with(q, [3], Sites=sites)
    [big] = queues_with(q, [9], start=2, Sites=sites)
    assert chi_square(first_queues(q, range(1, 1001), Site=sites), win({only: 3, big: 9})) > FEW


@pytest.mark.slow
def test_a_queue_that_bans_the_first_offered_site_is_drawn_like_the_others(q: Calls) -> None:
    [banning] = queues_with(q, [3], BannedSites=["A"])
    [other] = queues_with(q, [9], start=2)
    assert chi_square(first_queues(q, range(1, 1001), Site=["A", "B"]), win({banning: 3, other: 9})) > FEW


@pytest.mark.thorough
@POLICIES
def test_candidates_over_lists_with_gaps_keep_their_distribution(two: tuple[Calls, Calls], policy: str) -> None:
    """A TaskQueue that is dropped while another transaction works on its list leaves a gap there."""
    q, holder = two
    priorities = [8.0, *[5.0] * 4, *[3.0] * 6, *[2.0] * 8, *[1.0] * 12, 100.0, 40.0]
    queues = queues_with(q, priorities, 1)
    q.settings(policy=policy)
    holder.connection.autocommit = False
    holder.rows("select list_id from taskqueue.posting_list for update")
    for n in (1, 3, 5, 7, 8, 9, 12, 13, 14, 15, 20, 21, 22, 23, len(priorities), len(priorities) - 1):
        del queues[q.call("delete_job", n * 1000)]
    holder.connection.rollback()
    assert positions(q, "*") == len(priorities)
    assert q.value("select count(*) from taskqueue.posting") == 2 * len(queues)
    expected = chances_of(queues, policy)
    assert chi_square(first_queues(q, Site="Here"), expected) > FEW
    assert q.call("close_gaps") > 0
    assert positions(q, "*") < len(priorities)
    assert q.inconsistencies() == []
    assert chi_square(first_queues(q, range(4001, 5001), Site="Here"), expected) > FEW


# Most TaskQueues do not match: after many rejected candidates the rest is drawn with a key per TaskQueue


Narrow = tuple[Calls, dict[int, float]]


@pytest.fixture(params=["dirac", "proportional"])
def narrow(request: pytest.FixtureRequest, q: Calls) -> Narrow:
    """Few queues of many match JobType N: the queues, and the probability of each."""
    queues_with(q, [1000.0, *[30.0] * 5, *[3.0] * 40, *[0.4] * 30], start=100, JobTypes=["other"])
    queues = queues_with(q, FIVE, 3, JobTypes=["N"])
    lower = queues_with(q, [500], start=50, CPUTime=5000, JobTypes=["lower"])
    assert lower
    q.settings(policy=request.param)
    return q, chances_of(queues, request.param)


NARROW: dict[str, Any] = {"Site": "Here", "JobType": "N"}


def known(q: Calls, **keys: Any) -> int:
    """Make a description known, and take nothing; returns the number of its definitions that are kept."""
    assert q.match(**{**keys, "CPUTime": 0}) is None
    return int(q.value("select coalesce(matches, 0) from taskqueue.parsed_description"))


def search(q: Calls) -> None:
    """Find the definitions that match the narrow description and keep them."""
    assert known(q, **NARROW) == 0
    q.rows("select taskqueue.find_matching('default', k) from taskqueue.parsed_description k")


def taken_queues(q: Calls, times: int) -> Counter[int]:
    """TaskQueues of matches of the narrow description, each undone."""
    found = Counter[int]()
    for _ in range(times):
        with q.connection.transaction(force_rollback=True):
            found[q.take(**NARROW).task_queue_id] += 1
    return found


@pytest.mark.thorough
def test_a_few_matching_queues_of_many_are_drawn_by_the_formula(narrow: Narrow) -> None:
    q, expected = narrow
    assert chi_square(first_queues(q, FOR_FIVE, **NARROW), expected) > FEW


@pytest.mark.thorough
def test_a_few_matching_queues_are_drawn_by_the_formula_for_a_broad_description(narrow: Narrow) -> None:
    q, expected = narrow
    assert known(q, **NARROW) == 0
    q.rows("update taskqueue.parsed_description set matched_at = now(), known_to = '3', in_flight = '{}' returning 1")
    assert chi_square(first_queues(q, FOR_FIVE, **NARROW), expected) > FEW


@pytest.mark.thorough
def test_a_few_matching_queues_are_drawn_by_the_formula_for_a_known_description(narrow: Narrow) -> None:
    """The second call reads the definitions that the first call found, and tests the ones made since."""
    q, expected = narrow
    search(q)
    assert q.value("select count(distinct i) from taskqueue.known_match, unnest(definition_ids) i") == len(expected)
    assert chi_square(first_queues(q, FOR_FIVE, **NARROW), expected) > FEW
    q.insert_many(range(1, 6), JobTypes=["N"], **group("made since"))
    q.call("set_group", "made since", 4)
    found = q.queues(**NARROW)
    assert len(found) == len(expected) + 1
    priorities = {queue: p for queue, p in q.priorities().items() if queue in found}
    policy = q.value("select policy from taskqueue.setting where setup = 'default'")
    assert chi_square(first_queues(q, FOR_FIVE, **NARROW), chances_of(priorities, policy)) > FEW


@pytest.mark.slow
@POLICIES
def test_an_agent_draws_a_few_matching_queues_of_many_by_the_formula(connect: Connect, policy: str) -> None:
    """The agent takes the short way, in the drawn order of the highest CPU bucket, and finds later TaskQueues."""
    q = counted(connect, known=True)
    queues_with(q, [1000.0, *[30.0] * 5, *[3.0] * 10], start=100, JobTypes=["other"])
    queues = queues_with(q, FIVE, CPUTime=5000, JobTypes=["N"])
    [lower] = queues_with(q, [500], start=50, JobTypes=["N"])
    q.settings(policy=policy)
    search(q)
    deal_valid(q, 2)  # otherwise the first job of a queue goes the general way
    q.connection.execute("alter function taskqueue.lease_together rename to not_called")
    assert chi_square(taken_queues(q, 400), chances_of(queues, policy)) > GENEROUS
    q.connection.execute("alter function taskqueue.not_called rename to lease_together")
    order = [q.take(**NARROW).task_queue_id for _ in range(12)]
    assert Counter(order) == dict.fromkeys([*queues, lower], 2)
    assert order[-2:] == [lower] * 2
    assert q.match(**NARROW) is None
    q.insert(1, JobTypes=["N"], **group("made since"))
    assert q.take(**NARROW).job_id == 1
    assert q.match(**{**NARROW, "CPUTime": 100}) is None
    assert q.inconsistencies() == []


@pytest.mark.slow
def test_locked_queues_are_passed_over_where_few_queues_match(connect: Connect) -> None:
    """The others keep their keys: the first of the rest has the distribution of a draw over the rest."""
    q, holder = counted(connect, known=True), counted(connect, autocommit=False)
    queues_with(q, [30.0] * 5, start=100, JobTypes=["other"])
    locked = queues_with(q, [4.0] * 4, start=20, JobTypes=["N"])
    queues = queues_with(q, FIVE, JobTypes=["N"])
    search(q)
    lock(holder, list(locked))
    assert chi_square(taken_queues(q, 400), win(queues)) > GENEROUS


@pytest.mark.slow
def test_queues_at_a_reached_limit_are_not_drawn_where_few_queues_match(connect: Connect) -> None:
    """The limit may be reached before the call, or by an earlier job of the same call."""
    q = counted(connect, known=True)
    queues_with(q, [30.0] * 5, start=100, JobTypes=["other"])
    limited = queues_with(q, [50.0] * 3, start=20, JobTypes=["N", "M"])
    queues = queues_with(q, FIVE, JobTypes=["N"])
    q.running_limit("JobTypes", "M", 1, "Here")
    search(q)
    found = Counter[int]()
    for _ in range(300):
        with q.connection.transaction(force_rollback=True):
            drawn = [match.task_queue_id for match in q.match_jobs(7, **NARROW)]
            assert len(drawn) == 7 and len([queue for queue in drawn if queue in limited]) == 1
            if drawn[0] in limited:
                found[drawn[1]] += 1
    assert chi_square(found, win(queues)) > GENEROUS


@pytest.mark.thorough
@pytest.mark.parametrize(("limit", "looked_at", "draws"), [(2, 2, 800), (8, 3, 400)])
def test_a_batch_over_many_queues_draws_among_the_remaining_queues(
    q: Calls, limit: int, looked_at: int, draws: int
) -> None:
    """Each queue has one job, and some queues do not match: the priorities that come first, second and third.

    A third job tells as much about the distribution as a second, in half as many batches.
    """
    levels = {50.0: 1, 5.0: 8, 1.0: 16}
    priorities = queues_with(q, priorities_of(levels), 1)
    queues_with(q, [20.0] * 30, start=100, JobTypes=["other"])
    expected: dict[tuple[float, ...], float] = {(): 1.0}
    for _ in range(looked_at):
        longer: dict[tuple[float, ...], float] = {}
        for before, chance in expected.items():
            left = {p: n - before.count(p) for p, n in levels.items() if n > before.count(p)}
            for priority, then in chances_of_levels(left).items():
                longer[*before, priority] = chance * then
        expected = longer
    found = Counter(
        tuple(priorities[queue] for queue in queues[:looked_at])
        for _, queues in draw(q.connection, range(1, draws + 1), limit, Site="Here", JobType="N")
    )
    assert chi_square(found, expected) > FEW


@pytest.mark.thorough
def test_later_streams_of_a_batch_wait_for_the_stream_before_them_at_an_emptied_queue(q: Calls) -> None:
    """Most streams draw the queue of one job. The second job is then drawn among the other queues."""
    [one] = queues_with(q, [100], 1)
    free = queues_with(q, priorities_of(FREE), 3, start=100)
    found = [queues for _, queues in draw(q.connection, FEWER, 12)]
    second = Counter(queues[1] for queues in found if queues[0] == one)
    assert chi_square(by_priority(second, free), chances_of_levels(FREE)) > FEW


@pytest.mark.slow
def test_a_batch_from_one_queue_draws_among_its_remaining_jobs(q: Calls) -> None:
    """The user priorities of three jobs of one queue, in the order in which they were drawn."""
    levels_of(q, {1: 3, 5: 1, 7: 2})
    expected: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(3):
        longer: dict[tuple[int, ...], float] = {}
        for before, chance in expected.items():
            left = {level: n - before.count(level) for level, n in {1: 3, 5: 1, 7: 2}.items()}
            for level, then in win_levels({level: (n, level) for level, n in left.items() if n}).items():
                longer[*before, level] = chance * then
        expected = longer
    level_of = dict(q.rows("select job_id, user_priority from taskqueue.job"))
    found = Counter(tuple(level_of[job] for job in jobs) for jobs, _ in draw(q.connection, DRAWS, 3))
    assert chi_square(found, expected) > FEW


# An agent's description that is known: unseeded calls


@pytest.fixture
def agent(q: Calls) -> Calls:
    """A caller with an identity that is not private."""
    q.rows("select resource.set_identity('default', %s)", q.value("select resource.caller()"))
    return q


def unseeded_queues(q: Calls, draws: int = 2000, **keys: Any) -> Counter[int]:
    """First jobs of unseeded calls, by queue; the CPU time is of the bucket where the jobs are."""
    keys = {"CPUTime": 700, **keys}
    known(q, **keys)
    return Counter(queues[0] for _, queues in draw(q.connection, range(draws), None, **keys))


@pytest.mark.slow
@POLICIES
@pytest.mark.parametrize("priorities", [[10.0, 1.0], *SEVERAL[1:]], ids=["two", "near each other", "10 to 1"])
def test_an_agents_draw_has_the_distribution_of_the_draw(agent: Calls, priorities: list[float], policy: str) -> None:
    queues = queues_with(agent, priorities)
    agent.settings(policy=policy)
    assert chi_square(unseeded_queues(agent, Site="Here"), chances_of(queues, policy)) > GENEROUS


@pytest.mark.thorough
@POLICIES
@pytest.mark.parametrize("number", [1, 12], ids=["few", "many"])
def test_an_agents_draw_is_the_same_whether_or_not_a_queue_requires_more(
    agent: Calls, number: int, policy: str
) -> None:
    """All conditions are tested only of TaskQueues that require more; each is drawn once all the same."""
    queues = queues_with(agent, [2.0] * number)
    queues |= queues_with(agent, [2.0] * number, start=100, JobTypes=["T"])
    queues |= queues_with(agent, [5.0] * number, start=200, GridCEs=["ce"], MinRAM=100)
    agent.settings(policy=policy)
    keys: dict[str, Any] = {"Site": "Here", "JobType": "T", "GridCE": "ce", "MaxRAM": 200}
    assert chi_square(unseeded_queues(agent, **keys), chances_of(queues, policy)) > GENEROUS


@pytest.mark.slow
def test_a_queue_that_requires_more_is_drawn_by_its_priority(agent: Calls) -> None:
    queues = queues_with(agent, [1.0]) | queues_with(agent, [1.0], start=100, GridCEs=["ce"], MinRAM=100)
    found = unseeded_queues(agent, 200, Site="Here", GridCE="ce", MaxRAM=200)
    assert chi_square(found, chances_of(queues)) > GENEROUS


@pytest.mark.thorough
@POLICIES
@pytest.mark.parametrize("others", [13, 60], ids=["few", "many"])
def test_an_agents_draw_never_takes_queues_that_do_not_match(agent: Calls, others: int, policy: str) -> None:
    queues = queues_with(agent, [4, 1])
    for n in range(others):
        wanted = {
            "OwnerDN": f"owner {n}",
            "OwnerGroup": "elsewhere",
            "Platforms": ["elsewhere"],
            "Tags": ["t"][: n % 2],
        }
        agent.insert(500_000 + n, **wanted)
    agent.set_group("elsewhere", 10 * others)
    agent.settings(policy=policy)
    keys: dict[str, Any] = {"Site": "Here", "Platform": "P"}
    assert chi_square(unseeded_queues(agent, **keys), chances_of(queues, policy)) > GENEROUS


@pytest.mark.thorough
@pytest.mark.parametrize("limit", [2, 5])
def test_an_agents_batch_has_the_distribution_of_single_draws(agent: Calls, limit: int) -> None:
    """The first job of a batch finds the matching definitions; the later jobs are drawn by the formula, too."""
    big, small = queues_with(agent, [10, 1], 5)
    queues_with(agent, [10.0] * 60, start=100, Platforms=["elsewhere"])
    keys: dict[str, Any] = {"Site": "Here", "Platform": "P", "CPUTime": 700}
    known(agent, **keys)
    agent.rows("select taskqueue.refresh_statistics()")
    found: Counter[tuple[int, ...]] = Counter()
    for _ in range(700):
        with agent.connection.transaction(force_rollback=True):
            found[tuple(match.task_queue_id for match in agent.match_jobs(limit, **keys)[:2])] += 1
    chances = {big: 0.95, small: 0.05}
    expected = {(one, two): chances[one] * chances[two] for one in chances for two in chances}
    assert chi_square(found, expected) > GENEROUS


def test_a_cpu_time_beyond_a_double_is_refused_for_a_known_description(agent: Calls) -> None:
    agent.insert_many(range(1, 4))
    known(agent, Site="Here")
    assert agent.take(Site="Here", CPUTime=9223372036854775808)
    for _ in range(2):
        assert agent.refusal(lambda: agent.match(Site="Here", CPUTime=10**400))[0] == "PB001"
