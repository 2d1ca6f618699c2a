"""SHARES.md, Priority of a TaskQueue: priorities compared with a small computation in Python."""

import random
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from statistics import mean
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, requirements

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)


@dataclass
class Group:
    share: float = 1000
    sharing: bool = False
    background: bool = False


@dataclass
class Queue:
    owner: str
    group: str
    family: str  # everything but Sites, BannedSites and RAM
    sites: str = ""
    priorities: list[int] = field(default_factory=list)  # of its jobs

    @property
    def one(self) -> tuple[str, str, str, str]:
        """The same for siblings."""
        return self.owner, self.group, self.family, self.sites


def weight(priority: int, ten_first: bool = False) -> float:
    if priority == 0:
        return 1e-5
    return 1e6 if priority == 10 and ten_first else priority


def shares(groups: dict[str, Group], queues: dict[int, Queue], ten_first: bool = False) -> dict[int, float]:
    """TaskQueue id -> priority, by the formulas of SHARES.md: siblings count as one TaskQueue."""
    ones: dict[tuple[str, str, str, str], list[int]] = defaultdict(list)  # the priorities of all jobs of siblings
    for queue in queues.values():
        ones[queue.one] += queue.priorities
    tp = {one: mean(weight(priority, ten_first) for priority in of) for one, of in ones.items()}
    alone: dict[tuple[str, str, str, str], float] = {}
    for one in ones:
        owner, name = one[:2]
        group = groups.get(name, Group())
        of_group = [other for other in ones if other[1] == name]
        if group.sharing:
            entity, share = of_group, group.share
        else:
            entity = [other for other in of_group if other[0] == owner]
            share = group.share / len({other[0] for other in of_group})
        background = {other for other in entity if group.background and tp[other] <= 0.1}
        if one in background:
            alone[one] = 0.001
        else:
            alone[one] = max(share * tp[one] / sum(tp[other] for other in entity if other not in background), 0.001)
    return {
        number: sum(own for other, own in alone.items() if other[:3] == queue.one[:3])
        for number, queue in queues.items()
    }


def exact(q: Calls) -> dict[int, float]:
    q.call("recompute_shares")
    return q.priorities()


def test_one_queue_has_its_groups_whole_share(q: Calls) -> None:
    queue = q.insert(1)
    assert q.priorities() == {queue: pytest.approx(1000)}
    q.set_group("g", 50)
    other = q.insert(2, OwnerGroup="g")
    assert q.priorities() == {queue: pytest.approx(1000), other: pytest.approx(50)}


def test_owners_of_a_group_have_equal_shares(q: Calls) -> None:
    q.set_group("users", 900)
    a1, a2 = q.insert(1, OwnerDN="a", JobTypes=["1"]), q.insert(2, OwnerDN="a", JobTypes=["2"])
    b, c = q.insert(3, OwnerDN="b"), q.insert(4, OwnerDN="c", JobTypes=["1"])
    assert exact(q) == pytest.approx({a1: 150, a2: 150, b: 300, c: 300})


def test_job_sharing_spreads_the_share_over_all_queues(q: Calls) -> None:
    q.set_group("users", 900, sharing=True)
    queues = [q.insert(n, OwnerDN=owner, JobTypes=[str(n)]) for n, owner in enumerate("aab", 1)]
    assert exact(q) == pytest.approx(dict.fromkeys(queues, 300))


def test_the_weight_of_a_queue_is_the_mean_of_its_jobs(q: Calls) -> None:
    low, high = q.insert(1, 1), q.insert(2, 9, JobTypes=["T"])
    assert exact(q) == pytest.approx({low: 100, high: 900})
    q.insert(3, 1, JobTypes=["T"])
    q.insert(4, 2, JobTypes=["T"])
    assert exact(q) == pytest.approx({low: 200, high: 800})


def test_user_priorities_0_and_10_weigh_as_they_are_drawn(q: Calls) -> None:
    zero, ten = q.insert(1, 0), q.insert(2, 10, JobTypes=["T"])
    one = q.insert(3, 1, JobTypes=["U"])
    total = 11 + 1e-5
    assert exact(q) == pytest.approx({zero: 0.001, ten: 10000 / total, one: 1000 / total})
    q.settings(ten_first=True)
    total = 1e6 + 1 + 1e-5
    assert exact(q) == pytest.approx({zero: 0.001, ten: 1e9 / total, one: max(1000 / total, 0.001)})


def test_background_queues_take_nothing_where_the_group_allows_it(q: Calls) -> None:
    back, front = q.insert(1, 0), q.insert(2, 1, JobTypes=["T"])
    q.set_group("users", 1000, background=True)
    assert exact(q) == pytest.approx({back: 0.001, front: 1000})
    q.set_group("users", 1000, background=False)
    assert exact(q)[front] == pytest.approx(1000 / (1 + 1e-5))


def test_queues_that_differ_in_sites_or_memory_only_are_a_family(q: Calls) -> None:
    variants: list[dict[str, Any]] = [
        {"Sites": ["A"]},
        {"Sites": ["B"]},
        {"BannedSites": ["C"]},
        {"MinRAM": 5},
        {"MaxRAM": 9},
    ]
    family = [q.insert(n, **keys) for n, keys in enumerate(variants, 1)]
    other = q.insert(9, Platforms=["p"])
    siblings = {family[0]: 1, family[1]: 1, **dict.fromkeys(family[2:], 3), other: 1}
    assert exact(q) == pytest.approx({**dict.fromkeys(family, 750), other: 250}), "the last three are siblings"
    assert dict(q.rows("select task_queue_id, siblings from taskqueue.task_queue")) == siblings


def test_siblings_are_priced_as_one_task_queue(q: Calls) -> None:
    q.settings(queue_size=2)
    q.insert_many(range(1, 7))
    other = q.insert(9, JobTypes=["T"])
    assert q.priorities()[other] == pytest.approx(500), "before maintenance"
    assert exact(q) == pytest.approx(dict.fromkeys(q.queues(), 500))
    assert sorted(q.rows("select siblings from taskqueue.task_queue")) == [(1,), (3,), (3,), (3,)]
    assert q.inconsistencies() == []


def test_siblings_are_counted_again_when_one_is_held_disabled_or_gone(q: Calls) -> None:
    q.settings(queue_size=1)
    q.set_clock(NOON - timedelta(minutes=1))
    queues = [q.insert(n) for n in range(1, 5)]

    def after() -> dict[int, int]:
        q.set_clock(NOON + timedelta(minutes=len(steps)))
        q.maintain()
        assert q.inconsistencies() == []
        steps.append(dict(q.rows("select task_queue_id, siblings from taskqueue.task_queue")))
        return {queue: steps[-1][queue] for queue in queues[2:]}

    steps: list[dict[int, int]] = []
    assert after() == dict.fromkeys(queues[2:], 4)
    q.call("hold", "task_queue", str(queues[0]))
    assert after() == dict.fromkeys(queues[2:], 3)
    q.call("set_task_queue_enabled", queues[1], False)
    assert after() == dict.fromkeys(queues[2:], 2)
    q.call("resume", "task_queue", str(queues[0]))
    assert after() == dict.fromkeys(queues[2:], 3)
    q.call("delete_job", 1)
    assert after() == dict.fromkeys(queues[2:], 2)


def test_queues_of_different_owners_are_no_family(q: Calls) -> None:
    q.set_group("users", 1000, sharing=True)
    queues = [q.insert(1, OwnerDN="a"), q.insert(2, OwnerDN="b"), q.insert(3, OwnerDN="a", CPUTime=501)]
    assert exact(q) == pytest.approx(dict.fromkeys(queues, 1000 / 3))


def test_groups_and_setups_have_separate_shares(q: Calls) -> None:
    other = Calls(q.connection, "other")
    other.set_group("users", 5)
    mine, theirs, also = q.insert(1), other.insert(1), q.insert(2, OwnerGroup="admins")
    assert exact(q) == pytest.approx({mine: 1000, also: 1000})
    assert exact(other) == pytest.approx({theirs: 5})


@pytest.mark.slow
def test_a_new_queue_shares_only_with_queues_of_its_setup(q: Calls) -> None:
    """A few queues are counted; of more than ten the weights are summed."""
    other = Calls(q.connection, "other")
    for n in range(1, 13):
        other.insert(n, 9, JobTypes=[f"T{n}"])
        queue = q.insert(n, 1, JobTypes=[f"T{n}"])
        assert q.priorities()[queue] == pytest.approx(1000 / n)


def test_a_new_queue_has_its_own_right_priority_at_once(q: Calls) -> None:
    first = q.insert(1)
    second = q.insert(2, 3, JobTypes=["T"])
    assert q.priorities()[second] == pytest.approx(750)
    third = q.insert(3, 4, Sites=["S"])  # a family with the first
    assert q.priorities()[third] == pytest.approx(1000 * (1 + 4) / 8)
    assert exact(q) == pytest.approx({first: 625, second: 375, third: 625})


def test_queues_of_one_batch_have_their_right_priorities_at_once(q: Calls) -> None:
    batch = [
        {"job_id": n, "requirements": requirements(JobTypes=[str(n)], OwnerDN=owner), "user_priority": n}
        for n, owner in enumerate("aabc", 1)
    ]
    q.call("insert_jobs", Jsonb(batch))
    at_once = q.priorities()
    assert at_once == pytest.approx(exact(q))


def test_priorities_of_the_other_queues_follow_within_the_delay(q: Calls) -> None:
    q.set_clock("2026-01-01 00:00:00+00")
    first = q.insert(1)
    second = q.insert(2, JobTypes=["T"])
    q.set_clock("2026-01-01 00:00:11+00")
    q.maintain()
    assert q.priorities() == pytest.approx({first: 500, second: 500})
    q.call("delete_job", 2)
    q.call("delete_empty_queues")
    q.set_clock("2026-01-01 00:00:22+00")
    q.maintain()
    assert q.priorities() == pytest.approx({first: 1000})


def test_recompute_shares_returns_the_number_of_changes(q: Calls) -> None:
    q.insert(1)
    q.insert(2, JobTypes=["T"])
    q.insert(3, OwnerGroup="admins")
    assert q.call("recompute_shares", "admins") == 0
    assert q.call("recompute_shares") == 1
    assert q.call("recompute_shares") == 0
    q.set_group("admins", 5)
    q.set_group("users", 7)
    q.call("recompute_shares", "admins")
    assert q.value("select min(priority) from taskqueue.task_queue where owner_group = 'admins'") == pytest.approx(5)


def test_priorities_used_by_matching_follow_a_recomputation(q: Calls) -> None:
    """Matching draws with the priority of the queue."""
    q.insert(1)
    q.insert(2, 5, JobTypes=["T"])
    q.call("recompute_shares")
    assert q.inconsistencies() == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_priorities_of_random_setups_are_those_of_the_computation(q: Calls, seed: int) -> None:
    chance = random.Random(seed)
    groups = {
        name: Group(chance.choice([10, 1000, 2.5]), chance.random() < 0.5, chance.random() < 0.5) for name in "xyz"
    }
    for name, group in groups.items():
        q.set_group(name, group.share, group.sharing, group.background)
    ten_first = chance.random() < 0.5
    q.settings(ten_first=ten_first, queue_size=chance.choice([3, 5000]))
    queues: dict[int, Queue] = {}
    for job_id in range(1, 150):
        owner, name, kind = chance.choice("abc"), chance.choice("xyzw"), chance.choice(["", "T", "U"])
        priority = chance.choice([0, 0, 1, 1, 5, 10])
        site = chance.choice(["", "A", "B"])
        queue = q.insert(
            job_id, priority, OwnerDN=owner, OwnerGroup=name, JobTypes=[kind] if kind else [],
            Sites=[site] if site else [], MinRAM=chance.choice([None, 5]),
        )  # fmt: skip
        queues.setdefault(queue, Queue(owner, name, kind, site)).priorities.append(priority)
        if job_id == 30:
            q.rows("select taskqueue.refresh_statistics()")  # otherwise the later inserts take five times as long
    assert exact(q) == pytest.approx(shares(groups, queues, ten_first))


# Correction by usage


@pytest.mark.slow
def test_correction_moves_shares_towards_owners_that_used_less(q: Calls) -> None:
    """The owners used and idle have equal shares; only jobs of used ran in the window."""
    for n, name in enumerate(["used", "idle"]):
        q.set_group(name, 100)
        q.insert_many(range(100 * n + 1, 100 * n + 41), OwnerGroup=name, OwnerDN=name)
    for _ in range(20):
        match = q.take(OwnerGroup="used")
        q.call("finish_job", match.job_id, match.attempt)

    def by_group() -> dict[str, float]:
        q.call("recompute_shares")
        return dict(q.rows("select owner_group, priority from taskqueue.task_queue where setup = 'default'"))

    assert by_group() == pytest.approx({"used": 100, "idle": 100})
    q.settings(share_correction=True)
    corrected = by_group()
    assert 20 - 1e-9 <= corrected["used"] < 100 < corrected["idle"] <= 500 + 1e-9
    q.settings(share_correction=False)
    assert by_group() == pytest.approx({"used": 100, "idle": 100})


@pytest.mark.parametrize(
    ("shares_of", "matches", "corrected"),
    [
        ({"a": 100, "b": 100}, {}, {"a": 100, "b": 100}),  # nothing was used
        ({"a": 100, "b": 100, "c": 100}, {"a": 3, "b": 1}, {"a": 400 / 9, "b": 400 / 3, "c": 500}),
        ({"a": 10, "b": 990}, {"a": 2}, {"a": 2, "b": 4950}),  # at least a fifth, at most five times
        ({"a": 100, "b": 300}, {"a": 1, "b": 3}, {"a": 100, "b": 300}),
    ],
)
def test_the_correction_is_the_ratio_of_expected_to_used_share(
    q: Calls, shares_of: dict[str, float], matches: dict[str, int], corrected: dict[str, float]
) -> None:
    """Jobs of owners of one group count together where it shares jobs; those of another setup do not count."""
    beside = Calls(q.connection, "beside")
    for n, (name, share) in enumerate(shares_of.items()):
        q.set_group(name, share, sharing=n == 0)
        for owner in ("one", "two") if n == 0 else ("one",):
            q.insert_many([100 * n + (50 if owner == "two" else 0) + each for each in range(1, 9)],
                          OwnerGroup=name, OwnerDN=owner)  # fmt: skip
        beside.insert_many(range(100 * n + 1, 100 * n + 9), OwnerGroup=name, OwnerDN="one")
        beside.take(OwnerGroup=name)
    for name, number in matches.items():
        for place in range(number):
            q.take(OwnerGroup=name, OwnerDN="two" if name == "a" and place == 1 else "one")
    q.settings(share_correction=True)
    q.call("recompute_shares")
    rows = q.rows("select owner_group, sum(priority) from taskqueue.task_queue where setup = 'default' group by 1")
    assert dict(rows) == pytest.approx(corrected)


def test_a_new_queue_gets_its_priority_from_the_jobs_that_the_others_have_now(q: Calls) -> None:
    q.insert(1, 1)
    q.insert_many(range(2, 11), 9)
    q.call("delete_job", 1)
    second = q.insert(20, 1, JobTypes=["T"])
    assert q.priorities()[second] == pytest.approx(100)


@pytest.mark.slow
@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("sharing", [False, True])
def test_a_new_queue_has_at_once_the_priority_that_a_recomputation_gives(
    q: Calls, sharing: bool, background: bool
) -> None:
    """A few TaskQueues are counted; weights of many are summed, light ones apart. The priority is the same."""
    chance = random.Random(7)
    q.set_group("many", 300, sharing, background)
    found = []
    for n in range(40):
        owner, site = f"owner {chance.randrange(4)}", f"S{chance.randrange(3)}"
        keys = {
            "OwnerDN": owner,
            "OwnerGroup": "many",
            "Sites": [site, f"T{n}"],
            "JobTypes": [f"J{chance.randrange(3)}"],
        }
        queue = q.insert(n + 1, chance.randint(0, 9), **keys)
        at_once = q.priorities()[queue]
        q.call("recompute_shares")
        assert at_once == pytest.approx(q.priorities()[queue], rel=1e-9)
        found.append(at_once)
    assert len({round(price, 6) for price in found}) > 20


def test_among_many_queues_a_new_one_gets_its_priority_from_the_weights_of_the_others(q: Calls) -> None:
    for n in range(1, 21):
        q.insert(n, 1, JobTypes=[f"T{n}"])
    q.insert_many(range(100, 190), 9, JobTypes=["T1"])
    early = q.insert(200, 2, JobTypes=["new"])
    assert q.priorities()[early] == pytest.approx(1000 * 2 / 22)
    mean = (1 + 90 * 9) / 91
    priorities = exact(q)
    assert priorities[early] == pytest.approx(1000 * 2 / (21 + mean))
    late = q.insert(201, 4, JobTypes=["newer"])
    assert q.priorities()[late] == pytest.approx(1000 * 4 / (25 + mean))


@pytest.mark.slow
def test_removed_queues_do_not_count_for_the_priority_of_a_new_one(q: Calls) -> None:
    """Weights of every size, so that rounding would leave a remainder of the removed ones."""
    q.settings(ten_first=True)
    for n in range(1, 61):
        q.insert_many([3 * n, 3 * n + 1, 3 * n + 2][: 1 + n % 3], n % 11, JobTypes=[f"T{n}"], OwnerDN=f"owner {n % 3}")
        if n % 7 == 0:
            q.call("recompute_shares")
    for n in range(1, 61):
        for job_id in [3 * n, 3 * n + 1, 3 * n + 2][: 1 + n % 3]:
            q.call("delete_job", job_id)
    assert q.inconsistencies() == []
    left = "select from taskqueue.owner_weight group by owner_dn having sum(task_queues) <> 0 or sum(weight) <> 0"
    assert q.rows(left) == []
    queue = q.insert(999, 1)
    assert q.priorities() == {queue: 1000}
    q.call("recompute_shares")
    assert len(q.rows("select from taskqueue.owner_weight")) == 1


def test_folding_keeps_the_row_of_an_owner_with_one_row_of_weights(q: Calls) -> None:
    """Owners with several rows get one; rows of another setup do not count."""
    other = Calls(q.connection, "other")
    for n, owner in enumerate(("alice", "bob", "bob"), 1):
        q.insert(n, JobTypes=[f"T{n}"], OwnerDN=owner)
        other.insert(n, JobTypes=[f"T{n}"], OwnerDN="alice")
    # one row per TaskQueue again, since a call may have added them up already
    q.rows("delete from taskqueue.owner_weight returning 1")
    for setup, owner in (("default", "alice"), *[("default", "bob")] * 2, *[("other", "alice")] * 2):
        noted = "insert into taskqueue.owner_weight values (%s, 'users', %s, false, 1, 1) returning 1"
        q.rows(noted, setup, owner)
    rows = "select owner_dn, ctid::text, task_queues from taskqueue.owner_weight where setup = %s order by owner_dn"
    alone = q.rows(rows, "default")[0]
    beside = q.rows(rows, "other")
    q.call("fold_weights", "users")
    kept, [owner, _, task_queues] = q.rows(rows, "default")
    assert kept == alone
    assert (owner, task_queues) == ("bob", 2)
    assert q.rows(rows, "other") == beside


def test_wrong_weights_of_owners_are_reported_and_rebuilt(q: Calls) -> None:
    for n in range(4):
        q.insert(n + 1, n, OwnerDN=f"owner {n // 2}", JobTypes=[f"T{n}"])
    q.rows("delete from taskqueue.owner_weight where owner_dn = 'owner 0' returning 1")
    q.rows("update taskqueue.owner_weight set weight = weight + 1 where owner_dn = 'owner 1' returning 1")
    assert {row[0] for row in q.inconsistencies()} == {"owner_weight"}
    q.call("rebuild_matching")
    assert q.inconsistencies() == []


def test_shares_are_recomputed_in_portions(q: Calls) -> None:
    for n in range(1, 8):
        q.insert(n, OwnerDN=f"o{n}")
    changed = [
        q.value("select taskqueue.recompute_shares(%s, %s, 3)", q.setup, group) for group in ("users", "users", None)
    ]
    assert changed == [3, 3, 0]
    assert q.value("select count(*) from taskqueue.share_mark where owner_group = 'users'") == 0
    assert q.priorities() == pytest.approx(exact(q))
    q.insert(8, OwnerDN="o8")
    assert q.value("select taskqueue.recompute_shares(%s, 'users', 3)", q.setup) == 3
    assert q.value("select count(*) from taskqueue.share_mark where marked_at < resource.clock(%s)", q.setup) == 1
    assert q.inconsistencies() == []
    refused = q.refusal(lambda: q.value("select taskqueue.recompute_shares(%s, 'users', -1)", q.setup))
    assert refused[0] == "PB001"


def test_maintenance_recomputes_a_group_when_its_mean_weights_change(q: Calls) -> None:
    q.call("set_settings", Jsonb({"share_delay": 0}))
    q.insert(1, 1)
    q.insert(2, 1, JobTypes=["T"])
    q.call_rows("maintain")
    q.insert_many(range(3, 12), 9)
    q.call_rows("maintain")
    q.call_rows("maintain")
    assert q.priorities() == pytest.approx(exact(q))
