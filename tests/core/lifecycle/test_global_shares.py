"""Global shares: the tree, the leaf furthest behind, measured usage, and dispatch that follows the tree."""

import random
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connection, Match, resource
from tests.commands import Cli

Row = dict[str, Any]
Share = tuple[str, str | None, float | None, float | None]  # gshare, parent, target, running (HS06)

ATLAS: list[Share] = [
    ("Production", None, 75, None),
    ("MC", "Production", 2, 80),
    ("Reprocessing", "Production", 1, 20),
    ("Analysis", None, 25, 100),
]
MADE_HERE = 10**12  # ids of jobs that were made here begin


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    """The calls of the schema taskqueue in setup default."""
    return Calls(rolled_back)


def store(q: Calls, shares: Iterable[Share], queued: float = 0) -> None:
    """Give the setup these shares instead of those that it has."""
    q.call("require_setup")
    q.connection.execute("delete from resource.share where setup = %s", [q.setup])
    with q.connection.cursor() as cursor:
        cursor.executemany(
            "insert into resource.share (setup, gshare, parent, target, running, queued)"
            " values (%s, %s, %s, %s, %s, %s)",
            [(q.setup, *share, queued) for share in shares],
        )


def tree(q: Calls) -> dict[str, Row]:
    """monitor.share_tree by share."""
    with q.connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        rows = cursor.execute("select * from monitor.share_tree where setup = %s", [q.setup]).fetchall()
    return {row["gshare"]: row for row in rows}


def column(q: Calls, name: str) -> dict[str, Any]:
    """One column of the tree of shares."""
    return {share: row[name] for share, row in tree(q).items()}


def behind(q: Calls) -> list[str]:
    """The leaves, furthest behind first."""
    leaves = [row for row in tree(q).values() if row["is_leaf"]]
    assert sorted(row["behind"] for row in leaves) == list(range(1, len(leaves) + 1))
    return [row["gshare"] for row in sorted(leaves, key=lambda row: row["behind"])]


def chances(q: Calls, *leaves: str) -> dict[str, float]:
    """resource.share_chances of the stored shares."""
    query = "select * from resource.share_chances((select array_agg(s) from resource.share s where setup = %s), %s)"
    return dict(q.rows(query, q.setup, list(leaves)))


def test_targets_go_down_the_tree_and_usage_goes_up(q: Calls) -> None:
    store(q, ATLAS, queued=5)
    found = tree(q)
    assert {share: row["target_of_whole"] for share, row in found.items()} == pytest.approx(
        {"Production": 0.75, "MC": 0.5, "Reprocessing": 0.25, "Analysis": 0.25}
    )
    production, mc, analysis = found["Production"], found["MC"], found["Analysis"]
    assert (production["running"], production["queued"], production["pledged"]) == (100, 10, 150)
    assert (production["usage"], production["usage_of_whole"]) == pytest.approx((100 / 150, 0.5))
    assert (mc["target_of_parent"], mc["usage_of_parent"], mc["path"]) == (2 / 3, 0.8, ["Production", "MC"])
    assert (analysis["usage"], analysis["distance"]) == pytest.approx((2, -0.25))
    assert {row["source"] for row in found.values()} == {"loaded"}


def test_the_order_of_leaves_goes_first_into_the_branch_furthest_behind(q: Calls) -> None:
    """Top: Production lacks 0.25 of the whole, Analysis has 0.25 too much; below, Reprocessing lacks 0.15, MC 0.1."""
    store(q, ATLAS)
    assert behind(q) == ["Reprocessing", "MC", "Analysis"]
    # a leaf that lacks 0.15 comes after all leaves of a branch that lacks more, even after one that is over its target
    store(
        q, [("A", None, 50, 0), ("A1", "A", 1, 30), ("A2", "A", 4, 0), ("B", None, 20, 5), ("C", None, 30, 65)]
    )  # A lacks 0.2, A1 has 0.2 too much, B lacks 0.15
    assert behind(q) == ["A2", "A1", "B", "C"]


@pytest.mark.parametrize(
    ("shares", "whole"),
    [
        pytest.param([("a", None, 30, 0), ("b", None, 10, 0)], {"a": 0.75, "b": 0.25}, id="not 100"),
        pytest.param([("a", None, 0, 0), ("b", None, 7, 0)], {"a": 0, "b": 1}, id="zero"),
        pytest.param([("a", None, 0, 0), ("b", None, None, 0)], {"a": 0, "b": 0}, id="all zero"),
        pytest.param([("a", None, -5, 0), ("b", None, 5, 0)], {"a": 0, "b": 1}, id="negative"),
        pytest.param([("a", "gone", 1, 0), ("b", None, 1, 0)], {"a": 0.5, "b": 0.5}, id="unknown parent"),
        pytest.param([("a", "", 1, 0), ("b", None, 1, 0)], {"a": 0.5, "b": 0.5}, id="empty parent"),
        pytest.param([("a", "a", 1, 0), ("b", None, 1, 0)], {"a": 0.5, "b": 0.5}, id="its own parent"),
        pytest.param(
            [("a", "b", 3, 0), ("b", "a", 9, 0), ("c", "b", 9, 0), ("d", None, 1, 0)],
            {"a": 0.75, "b": 0.75, "c": 0.75, "d": 0.25},
            id="circle",
        ),
    ],
)
def test_an_odd_number_of_targets_is_divided_among_the_shares(
    q: Calls, shares: list[Share], whole: dict[str, float]
) -> None:
    store(q, shares)
    assert column(q, "target_of_whole") == pytest.approx(whole)
    assert len(behind(q)) == sum(row["is_leaf"] for row in tree(q).values())


def test_shares_without_a_reachable_parent_are_at_the_top_with_the_reason(q: Calls) -> None:
    store(q, [("a", "gone", 1, 0), ("b", "c", 1, 0), ("c", "b", 1, 0), ("d", "c", 1, 0), ("e", None, 1, 0)])
    said = column(q, "problem")
    assert said.pop("a") == "its parent does not exist"
    assert said.pop("b") == "its parents form a circle"
    assert said == dict.fromkeys("cde")
    assert column(q, "path")["d"] == ["b", "c", "d"]


def test_a_share_with_target_0_counts_as_used_999999_as_in_panda(q: Calls) -> None:
    store(q, [("a", None, 0, 1), ("b", None, 0, 0), ("c", None, 1, 1)])
    assert column(q, "usage") == {"a": 999999, "b": 0, "c": 0.5}


def test_a_tree_of_100_levels_is_read(q: Calls) -> None:
    store(q, [(f"s{n}", f"s{n - 1}" if n else None, 1, n) for n in range(100)])
    found = tree(q)
    assert found["s99"]["depth"] == 100 and found["s0"]["running"] == 99  # the inner shares' own figures are not added
    assert behind(q) == ["s99"]


def expected_order(shares: list[Share]) -> list[str]:
    """PanDA's rule in Python: at each level, children in the order of the part of the whole that they lack."""
    children: dict[str | None, list[Share]] = {}
    for share in shares:
        children.setdefault(share[1], []).append(share)
    total = sum(share[3] or 0 for share in shares if share[0] not in children)

    def running(share: Share) -> float:
        below = children.get(share[0])
        return sum(running(child) for child in below) if below else (share[3] or 0)

    def down(above: str | None, whole: float) -> list[str]:
        targets = sum(share[2] or 0 for share in children[above])
        lacks = {
            share[0]: (part := whole * (share[2] or 0) / targets if targets else 0.0, part - running(share) / total)
            for share in children[above]
        }
        order = sorted(lacks, key=lambda name: (-round(lacks[name][1], 12), name))
        return [leaf for name in order for leaf in (down(name, lacks[name][0]) if name in children else [name])]

    return down(None, 1.0)


@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_leaves_agrees_with_a_computation_by_hand(q: Calls, seed: int) -> None:
    rng = random.Random(seed)
    shares: list[Share] = []
    for number in range(30):
        parent = rng.choice([None, *(share[0] for share in shares)])
        shares.append((f"s{number:02}", parent, rng.choice([0, 1, 5, 20, 3.5]), float(rng.randrange(1, 50))))
    store(q, shares)
    assert behind(q) == expected_order(shares)


def test_chances_follow_targets_and_favour_shares_that_are_behind(q: Calls) -> None:
    store(q, [("a", None, 3, 75), ("b", None, 1, 25)])
    assert chances(q, "a", "b") == pytest.approx({"a": 0.75, "b": 0.25})
    store(q, [("a", None, 3, 50), ("b", None, 1, 50)])  # a is at 2/3 of its target, b at twice its own
    assert chances(q, "a", "b") == pytest.approx({"a": 1.125 / 1.25, "b": 0.125 / 1.25})
    store(q, [("a", None, 3, 0), ("b", None, 1, 50)])  # the bounds: 5 and, for b, 1/4
    assert chances(q, "a", "b") == pytest.approx({"a": 3.75 / 3.8125, "b": 0.0625 / 3.8125})
    store(q, [("a", None, 3, 0), ("b", None, 1, 0)])
    assert chances(q, "a", "b") == pytest.approx({"a": 0.75, "b": 0.25})


def test_the_part_of_an_idle_share_goes_to_its_siblings_first(q: Calls) -> None:
    store(q, [("A", None, 1, 0), ("A1", "A", 1, 0), ("A2", "A", 1, 0), ("B", None, 1, 0)])
    assert chances(q, "A1", "A2", "B") == pytest.approx({"A1": 0.25, "A2": 0.25, "B": 0.5})
    assert chances(q, "A2", "B") == pytest.approx({"A2": 0.5, "B": 0.5})
    assert chances(q, "A", "nobody's") == {}
    store(q, [("a", None, 0, 1), ("b", None, 0, 1), ("c", None, 1, 1)])
    assert chances(q, "a", "b", "c") == {"a": 0, "b": 0, "c": 1}
    assert chances(q, "a", "b") == {"a": 0.5, "b": 0.5}


def make(
    q: Calls, gshare: str, jobs: int, status: str = "activated", *, first: int = MADE_HERE, cores: int = 1
) -> None:
    """Jobs of a share at a queue of corepower 10, as brokerage makes them, with their counts."""
    q.rows("insert into resource.queue (setup, queue) values (%s, 'Q') on conflict do nothing returning 1", q.setup)
    task = first + 1
    q.rows(
        "insert into workload.task (setup, task_id, gshare, user_name, label)"
        " values (%s, %s, %s, %s, 'managed') returning 1",
        q.setup, task, gshare, gshare.lower(),
    )  # fmt: skip
    q.rows(
        "insert into workload.job"
        " (setup, job_id, task_id, number, queue, status, priority, gshare, cores, created, modified)"
        " select %s, %s + n, %s, n, 'Q', %s, 500, %s, %s, now(), now() from generate_series(1, %s) n returning 1",
        q.setup, first, task, status, gshare, cores, jobs,
    )  # fmt: skip
    q.rows("select workload.correct_counts(%s)", q.setup)


def measure(q: Calls) -> int:
    """lifecycle.measure_shares."""
    return int(q.value("select lifecycle.measure_shares(%s)", q.setup))


def figures(q: Calls) -> dict[str, tuple[Any, ...]]:
    """The figures that brokerage reads, by share."""
    query = (
        "select gshare, running, queued, usage_percent, equivalent_usage_percent, measured from resource.share"
        " where setup = %s"
    )
    return {row[0]: row[1:] for row in q.rows(query, q.setup)}


def test_usage_is_measured_from_the_jobs_of_this_database(q: Calls) -> None:
    now = datetime.fromisoformat("2026-03-01T12:00:00+00:00")
    q.set_clock(now)
    store(q, [(*share[:3], 12345) for share in ATLAS], queued=1)
    q.rows("insert into resource.queue (setup, queue, corepower) values (%s, 'Q', 20) returning 1", q.setup)
    make(q, "MC", 3, "running", first=MADE_HERE, cores=8)
    make(q, "MC", 2, "activated", first=MADE_HERE + 100)
    make(q, "Analysis", 1, "sent", first=MADE_HERE + 200)
    make(q, "Analysis", 1, "starting", first=MADE_HERE + 300)
    make(q, "Analysis", 9, "transferring", first=MADE_HERE + 400)
    make(q, "no share", 9, "running", first=MADE_HERE + 500)
    assert column(q, "source")["MC"] == "jobs"
    assert column(q, "running") == {"Production": 480, "MC": 480, "Reprocessing": 0, "Analysis": 40}
    assert measure(q) == 4
    found = figures(q)
    assert {share: row[:2] for share, row in found.items()} == {
        "Production": (480, 40), "MC": (480, 40), "Reprocessing": (0, 0), "Analysis": (40, 0)
    }  # fmt: skip
    assert {share: row[2] for share, row in found.items()} == pytest.approx(
        {"Production": 480 / 390, "MC": 480 / 260, "Reprocessing": 0, "Analysis": 40 / 130}
    )
    # Analysis runs 40 of 130 and queues nothing: it leaves 90 to the busy one, Production; 1 is PanDA's
    assert found["Analysis"][3] == pytest.approx(40 / 130)
    assert found["Production"][3] == found["MC"][3] == pytest.approx(480 / (390 + 90 * 390 / 391))
    assert {row[4] for row in found.values()} == {now}


def test_brokerage_reads_the_measured_usage(q: Calls) -> None:
    store(q, [("User Analysis", None, 1, None), ("Production", None, 3, None)])
    make(q, "User Analysis", 3, "running")
    make(q, "Production", 1, "running", first=MADE_HERE + 100)
    measure(q)
    query = "select share_usage, share_usage_above from brokerage.facts_of_analysis(%s, %s, 'documented')"
    [(usage, above)] = q.rows(query, q.setup, [MADE_HERE + 1])
    # 30 of 40 HS06 run, the target is 10; Production leaves 20 of its 30, and 1 is PanDA's
    assert (usage, above) == pytest.approx((3, 30 / (10 + 20 * 10 / 11)))


def test_loaded_usage_is_kept_where_no_job_was_made_here(q: Calls) -> None:
    store(q, ATLAS, queued=7)
    before = figures(q)
    make(q, "MC", 5, "running", first=5)  # an id of another installation
    assert measure(q) == 0
    assert figures(q) == before
    assert column(q, "running")["MC"] == 80


def test_measured_usage_falls_to_0_when_all_jobs_have_ended(q: Calls) -> None:
    store(q, ATLAS, queued=7)
    make(q, "MC", 5, "finished")
    assert measure(q) == 4
    assert {row[:3] for row in figures(q).values()} == {(0, 0, 0)}


def by_group(q: Calls) -> dict[str, float]:
    """The sum of the priorities of each group's queues."""
    query = "select owner_group, sum(priority) from taskqueue.task_queue where setup = %s group by 1"
    return dict(q.rows(query, q.setup))


def test_dispatch_follows_the_tree_of_shares_if_the_setting_is_global(q: Calls) -> None:
    store(q, [("A", None, 3, 50), ("B", None, 1, 50)])
    q.set_group("A", 10)
    for job, name in enumerate(["A", "B", "other"], 1):
        q.insert(job, OwnerGroup=name)
    assert by_group(q) == pytest.approx({"A": 10, "B": 1000, "other": 1000})
    q.settings(shares="global")
    priced = pytest.approx({"A": 2000 * 0.9, "B": 2000 * 0.1, "other": 1000})
    assert by_group(q) == priced  # two leaves that wait: 1000 each on the average, whatever their groups say
    q.set_group("A", 5)
    assert by_group(q) == priced
    q.insert(10, OwnerGroup="B", OwnerDN="new")  # another owner: half of the group's share, at once
    assert sorted(row[0] for row in q.rows("select priority from taskqueue.task_queue where owner_group = 'B'")) == [
        pytest.approx(100),
        pytest.approx(200),
    ]
    q.call("recompute_shares")
    assert by_group(q) == priced
    q.settings(shares="groups")
    assert by_group(q) == pytest.approx({"A": 5, "B": 1000, "other": 1000})
    assert q.value("select count(*) from taskqueue.share_correction") == 0


def test_the_first_queue_of_a_share_has_its_priority_at_once(q: Calls) -> None:
    store(q, [("A", None, 3, 1), ("B", None, 1, 1)])
    q.settings(shares="global")
    q.insert(1, OwnerGroup="B")
    assert by_group(q) == pytest.approx({"B": 1000 * 0.1})  # as if A had work, too
    q.call("recompute_shares")
    assert by_group(q) == pytest.approx({"B": 1000})


def test_a_share_with_target_0_is_drawn_when_little_else_waits(q: Calls) -> None:
    store(q, [("A", None, 1, 1), ("zero", None, 0, 1)])
    q.settings(shares="global")
    q.insert(1, OwnerGroup="zero")
    q.insert(2, OwnerGroup="A")
    q.call("recompute_shares")
    assert by_group(q) == pytest.approx({"A": 2000, "zero": 0.001})


def test_usage_that_was_measured_too_long_ago_does_not_count(q: Calls) -> None:
    now = datetime.fromisoformat("2026-03-01T12:00:00+00:00")
    q.set_clock(now)
    store(q, [("A", None, 3, 50), ("B", None, 1, 50)])
    q.insert(1, OwnerGroup="A")
    q.insert(2, OwnerGroup="B")
    for age, a in [(14, 1800), (16, 1500)]:
        q.rows("update resource.share set measured = %s returning 1", now - timedelta(minutes=age))
        q.settings(shares="global")
        assert by_group(q)["A"] == pytest.approx(a)


def test_groups_are_repriced_after_a_change_of_more_than_a_tenth(q: Calls) -> None:
    q.settings(shares="global", share_delay=0)
    store(q, [("A", None, 1, None), ("B", None, 1, None)])
    make(q, "A", 100, "running")
    make(q, "B", 100, "running", first=MADE_HERE + 1000)
    q.insert(1, OwnerGroup="A")
    q.insert(2, OwnerGroup="B")
    measure(q)
    q.call("recompute_shares")
    q.rows("delete from taskqueue.share_mark returning 1")
    make(q, "A", 4, "running", first=MADE_HERE + 2000)
    measure(q)
    assert q.value("select count(*) from taskqueue.share_mark") == 0
    assert q.call("mark_shares") == 0
    make(q, "A", 40, "running", first=MADE_HERE + 3000)
    measure(q)
    assert sorted(q.rows("select owner_group from taskqueue.share_mark")) == [("A",), ("B",)]
    before = by_group(q)
    q.rows("select * from taskqueue.maintain(%s)", q.setup)
    after = by_group(q)
    assert before == pytest.approx({"A": 1000, "B": 1000}) and after["A"] < 0.9 * before["A"] < before["B"] < after["B"]


def test_measuring_usage_does_not_change_shares_by_group(q: Calls) -> None:
    store(q, [("A", None, 3, None), ("B", None, 1, None)])
    make(q, "B", 10, "running")
    for job, name in enumerate("AB", 1):
        q.insert(job, OwnerGroup=name)
    q.settings(share_correction=True)
    before = q.rows("select * from taskqueue.share_correction order by owner_group")
    assert len(before) == 2
    measure(q)
    assert q.call("mark_shares") == 0
    assert q.rows("select * from taskqueue.share_correction order by owner_group") == before
    q.call("recompute_shares")
    assert by_group(q) == pytest.approx({"A": 1000, "B": 1000})


@pytest.mark.slow
def test_running_jobs_converge_to_the_targets(db: Connection) -> None:
    """Jobs of two shares with targets 3:1 wait; at first B has all 50 slots. Per turn ten jobs end, ten are drawn."""
    q = Calls(db)
    store(q, [("A", None, 3, None), ("B", None, 1, None)])
    make(q, "A", 300, "defined")
    make(q, "B", 300, "defined", first=MADE_HERE + 1000)
    q.settings(shares="global", share_delay=0)
    q.rows("select * from lifecycle.activate(%s)", q.setup)
    db.execute("select taskqueue.refresh_statistics()")
    rng = random.Random(1)
    running = q.match_jobs(50, Site="Q", OwnerGroup="B")
    parts = []
    for turn in range(20):
        rng.shuffle(running)
        ended = [{"job_id": job.job_id, "attempt": job.attempt, "outcome": "finished"} for job in running[:10]]
        assert {row[1] for row in q.call_rows("finish_jobs", Jsonb(ended))} == {"finished"}
        measure(q)
        q.rows("select * from taskqueue.maintain(%s)", q.setup)
        drawn = q.call_rows("match_jobs_with_seed", Jsonb(resource(Site="Q")), 10, turn)
        running = running[10:] + [Match(*row) for row in drawn]
        groups = Counter(job.requirements["OwnerGroup"] for job in running)
        parts.append(groups["A"] / 50)
    assert len(running) == 50
    assert parts[0] <= 0.2
    assert 0.6 < sum(parts[-10:]) / 10 < 0.9


@pytest.mark.slow
def test_broker_shares_draws_the_tree(cli: Cli, db: Connection) -> None:
    q = Calls(db)
    q.insert(1, OwnerGroup="MC")
    assert "Global shares: none" in cli("shares").out
    store(q, [*ATLAS, ("lost", "gone", 0, 1)])
    said = cli("shares")
    assert "Furthest behind: Reprocessing." in said.out and "as in DIRAC" in said.out
    assert "share lost is at the top of the tree: its parent does not exist (parent gone)" in said.err
    [line] = [line for line in said.out.splitlines() if "Analysis" in line]
    assert " 25 " in line and "█" in line
    q.settings(shares="global")
    found = cli("shares", "--json").json
    assert found["shares"] == "global"
    assert [row["gshare"] for row in found["tree"]] == ["Analysis", "Production", "MC", "Reprocessing", "lost"]
    assert [(group["owner_group"], group["jobs"]) for group in found["groups"]] == [("MC", 1)]


def test_viewers_see_the_tree_and_operators_measure(connect: Any, db: Connection) -> None:
    store(Calls(db), ATLAS)
    viewer, operator = connect(role="broker_viewer"), connect(role="broker_operator")
    assert viewer.execute("select count(*) from monitor.share_tree").fetchone() == (4,)
    assert operator.execute("select lifecycle.measure_shares('default')").fetchone() == (0,)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        viewer.execute("select lifecycle.measure_shares('default')")
