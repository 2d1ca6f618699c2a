"""MATCHING.md, Reasons: one word for each waiting job, by the conditions that decide."""

import random
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connect, Connection, resource

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)


At = Callable[[float], None]


@pytest.fixture
def at(q: Calls) -> At:
    """Set the clock of the setup: minutes after noon."""

    def to(minutes: float) -> None:
        q.set_clock(NOON + timedelta(minutes=minutes))

    to(0)
    return to


def find(q: Calls) -> dict[str, int]:
    """Do the work of the loops: roll up resources that asked over ten seconds ago, and look for reasons."""
    q.maintain()
    return dict(q.rows("select step, changed from taskqueue.find_reasons(%s, '1 minute')", q.setup))


def take(q: Calls, **keys: Any) -> int:
    """Match a job and end it."""
    match = q.take(**keys)
    q.call("finish_job", match.job_id, match.attempt, "finished")
    return match.job_id


def words(q: Calls) -> dict[int, str]:
    return dict(q.rows("select job_id, reason from monitor.waiting_job where setup = %s order by job_id", q.setup))


def why(q: Calls, job_id: int) -> str:
    """The reason of a job: its word and its text."""
    [(reason, text)] = q.rows("select reason, why from taskqueue.own_job(%s, %s)", q.setup, job_id)
    return f"{reason}: {text}"


def test_reasons_tell_fitting_from_too_small_and_from_missing_resources(q: Calls, at: At) -> None:
    q.insert(1, Sites=["A"])
    q.insert(2, Sites=["A"], CPUTime=40000)
    q.insert(3, Sites=["A"], MinRAM=4000)
    q.insert(4, Sites=["A"], Tags=["8Processors"])
    q.insert(5, Sites=["A"], Tags=["gpu"])
    q.insert(6, Sites=["B"])
    q.insert(7, Sites=["B"], BannedSites=["B"])
    q.insert(8, Sites=["A"], CPUTime=40000, Tags=["gpu"])
    assert set(words(q).values()) == {"unknown"}
    assert why(q, 1) == "unknown: not found out yet: `broker summarize` finds it out"
    find(q)
    expected = dict.fromkeys(range(1, 9), "no_resource_seen") | {7: "misconfigured"}
    assert words(q) == expected
    assert why(q, 1) == "no_resource_seen: no resource that fits has asked"
    assert why(q, 7) == "misconfigured: it bans each of the sites that it lists"
    assert take(q, Site="A", CPUTime=1000, MaxRAM=2000, NumberOfProcessors=4, Tag=["ssd"]) == 1
    at(1)
    q.insert(1, Sites=["A"])
    find(q)
    expected |= {1: "waiting", 2: "too_large", 3: "too_large", 4: "too_large"}
    assert words(q) == expected
    assert why(q, 1) == "waiting: a resource that fits asked at 2026-03-28 12:00:00 UTC"
    assert why(q, 3) == (
        "too_large: no kind of resource is large enough; of the nearest one fail"
        " MaxRAM (wanted: at least 4000 MB; offered: 2000 MB)"
    )
    assert q.match(Site="A", CPUTime=1, Tag=["gpu"]) is None
    assert q.match(Site="B", CPUTime=1) is None
    at(2)
    assert find(q)["new kinds of resources"] == 2
    expected |= {5: "too_large", 6: "too_large", 8: "too_large"}
    assert words(q) == expected
    assert take(q, Site="B") == 6
    at(3)
    q.insert(6, Sites=["B"])
    find(q)
    assert words(q) == expected | {6: "waiting"}


def test_the_nearest_resource_is_the_one_that_fails_least(q: Calls, at: At) -> None:
    q.insert(1, CPUTime=5000, MinRAM=4000, Tags=["8Processors"])
    for keys in (
        {"CPUTime": 1, "MaxRAM": 1},
        {"CPUTime": 5000, "MaxRAM": 3000, "NumberOfProcessors": 8},
        {"MaxRAM": 2},
    ):
        assert q.match(**keys) is None
    at(1)
    find(q)
    assert why(q, 1).endswith(" MaxRAM (wanted: at least 4000 MB; offered: 3000 MB)")


def test_a_resource_that_asked_long_ago_does_not_count_as_seen(q: Calls, at: At) -> None:
    q.insert_many([1, 2], Sites=["A"])
    q.take(Site="A")
    [left] = words(q)
    at(1)
    find(q)
    assert words(q) == {left: "waiting"}
    at(60)
    assert words(q) == {left: "waiting"}
    at(60.1)
    assert words(q) == {left: "no_resource_seen"}
    assert why(q, left).endswith("the last one asked at 2026-03-28 12:00:00 UTC")
    q.settings(resource_time="2 hours")
    assert words(q) == {left: "waiting"}
    find(q)
    assert words(q) == {left: "waiting"}
    at(240)
    assert words(q) == {left: "no_resource_seen"}
    assert q.match(Site="A", CPUTime=1) is None
    q.insert(9, Sites=["A"])
    q.take(Site="A", JobID=9)
    at(241)
    find(q)
    assert words(q) == {left: "waiting"}, "the kind asked again"


@pytest.mark.parametrize("by", ["job", "owner", "task_queue", "disabled"])
def test_a_job_is_held_unless_it_is_too_large(q: Calls, at: At, by: str) -> None:
    task_queue = q.insert(1, Sites=["A"])
    q.insert(2, CPUTime=40000, Sites=["A"])
    q.match(CPUTime=1, Site="A")
    at(1)
    if by == "disabled":
        q.call("set_task_queue_enabled", task_queue, False)
    else:
        target = {"job": "1", "owner": "alice", "task_queue": str(task_queue)}[by]
        q.call("hold", by, target)
    find(q)
    assert words(q) == {1: "too_large", 2: "too_large"}, "too_large has precedence"
    q.match(Site="A", CPUTime=500)
    at(2)
    find(q)
    assert words(q)[1] == "held"
    assert why(q, 1) == {
        "job": "held: an operator holds the job", "owner": "held: its owner is held",
    }.get(by, "held: its TaskQueue is held or disabled")  # fmt: skip


def test_a_job_is_limited_where_each_resource_that_fits_is_at_a_limit(q: Calls, at: At) -> None:
    q.running_limit("JobTypes", "mc", 1, site="S")
    q.insert_many([1, 2], JobTypes=["mc"])
    q.insert(3, JobTypes=["user"])
    running = q.take(Site="S", JobType="mc")
    [left] = {1, 2} - {running.job_id}
    q.match(Site="S", JobType="user", CPUTime=1)
    at(1)
    take(q, Site="S", JobType="user")
    q.insert(3, JobTypes=["user"])
    at(2)
    find(q)
    assert words(q) == {left: "limited", 3: "waiting"}
    assert why(q, left) == "limited: every resource that fits is at a limit of its site"
    q.match(Site="T", JobType="mc", CPUTime=1)
    q.insert(4, JobTypes=["mc"], Tags=["t"])
    take(q, Site="T", JobType="mc", Tag="t", JobID=4)
    q.insert(4, JobTypes=["mc"], Tags=["t"])
    at(3)
    find(q)
    assert words(q)[left] == "overtaken", "another site has no limit, and took job 4"


def test_the_reason_limited_ends_with_the_limit(q: Calls, at: At) -> None:
    q.running_limit("JobTypes", "mc", 1, site="S")
    q.insert_many([1, 2], JobTypes=["mc"])
    running = q.take(Site="S", JobType="mc")
    [left] = {1, 2} - {running.job_id}
    at(1)
    find(q)
    assert words(q) == {left: "limited"}
    q.call("finish_job", running.job_id, running.attempt, "finished")
    assert words(q) == {left: "limited"}, "as of the last look"
    find(q)
    assert words(q) == {left: "waiting"}


def test_a_job_is_overtaken_by_a_match_of_other_requirements(q: Calls, at: At) -> None:
    q.insert(1, Sites=["A"])
    at(1)
    q.insert(2, CPUTime=40000)
    assert q.take(Site="A").job_id == 2, "the higher CPU bucket goes first"
    at(2)
    q.insert(3, Sites=["A"])
    find(q)
    assert words(q) == {1: "overtaken", 3: "waiting"}, "job 3 came after that match"
    assert why(q, 1) == "overtaken: a resource that fits took a job of other requirements at 2026-03-28 12:01:00 UTC"
    assert q.rows("select reason, jobs from taskqueue.waiting_group where setup = 'default' order by 1") == [
        ("overtaken", 1), ("waiting", 1),
    ]  # fmt: skip


def test_the_resource_kind_that_got_a_job_last_is_named(q: Calls, at: At) -> None:
    q.insert(1, Sites=["A"])
    q.insert_many([2, 3], CPUTime=40000)
    named = """select c.resource ->> 'GridCE' from taskqueue.waiting_reason r
                 join taskqueue.definition d using (definition_id)
                 join taskqueue.resource_class c on c.class = r.class where d.sites = '{A}'"""
    q.take(Site="A", GridCE="one")
    at(1)
    find(q)
    q.take(Site="A", GridCE="two")
    at(15.9)
    find(q)
    assert q.value(named) == "one"
    at(16.1)
    find(q)
    assert q.value(named) == "two"


def test_a_match_of_the_same_requirements_overtakes_no_job(q: Calls, at: At) -> None:
    q.insert_many([1, 2], Sites=["A"])
    at(1)
    taken = q.take(Site="A").job_id
    at(2)
    find(q)
    assert words(q) == {3 - taken: "waiting"}


def test_the_last_match_of_other_requirements_is_kept_after_one_of_the_same(q: Calls, at: At) -> None:
    q.insert_many([1, 2], Sites=["A"])
    q.insert_many([3, 4], Sites=["A"], Tags=["t"])
    at(1)
    q.take(Site="A", Tag="t")
    at(20)
    q.maintain()
    q.take(Site="A", Tag="t")
    at(40)
    q.take(Site="A", Tag="t")
    find(q)
    [left] = words(q)
    same = q.rows("select definition_id, matched_at, other_matched_at from taskqueue.resource_class")
    [(last, at_last, at_other)] = same
    assert at_other is None or at_other < at_last
    [definition] = q.rows("select definition_id from taskqueue.task_queue")
    if (last,) == definition:
        assert words(q)[left] == ("overtaken" if at_other else "waiting")
    else:
        assert words(q)[left] == "overtaken"


def test_every_way_of_matching_notes_the_requirements(q: Calls, at: At) -> None:
    """match_job in its short and its long way, match_many, and a limit's way."""
    q.running_limit("JobTypes", "mc", 9, site="L")
    expected = {}
    for number, site in enumerate("ABL", 1):
        q.insert_many([10 * number, 10 * number + 1], Sites=[site])
        expected[site] = q.value("select max(definition_id) from taskqueue.definition")
    q.take(Site="A")
    q.take(Site="L", JobType="mc")
    request = {"resources": [resource(Site="B")], "n": 1, "request_id": None}
    assert len(q.call_rows("match_many", Jsonb([request]))) == 1
    assert dict(q.rows("select resource ->> 'Site', definition_id from taskqueue.resource_seen")) == expected


def test_all_reasons_are_found_again_after_a_configuration_change(q: Calls, at: At) -> None:
    q.insert(1, Platforms=["new"])
    assert q.match(Platform="old") is None
    at(1)
    find(q)
    assert words(q) == {1: "no_resource_seen"}
    q.call("set_platform_compatibility", "old", ["new"])
    assert words(q) == {1: "no_resource_seen"}, "as of the last look"
    assert q.rows("select found_at from monitor.waiting_job") == [(None,)]
    find(q)
    assert words(q) == {1: "waiting"}


def test_conditions_without_size_are_the_same_in_reasons_and_in_matching(q: Calls) -> None:
    """A new condition must be in both conjunctions, or be one of size."""
    sources = dict(q.rows("select proname, prosrc from pg_proc where proname in ('accepts', 'accepts_but_size')"))
    called = {name: set(re.findall(r"taskqueue\.(accepts_\w+)", source)) for name, source in sources.items()}
    of_size = {"accepts_cpu_time", "accepts_ram", "accepts_tag", "accepts_limits"}
    assert called["accepts"] - called["accepts_but_size"] == of_size
    assert called["accepts_but_size"] < called["accepts"]


def test_requirements_without_jobs_are_forgotten(q: Calls, at: At) -> None:
    q.insert(1, Sites=["A"])
    find(q)
    assert q.rows("select reason from taskqueue.waiting_reason") == [("no_resource_seen",)]
    q.take(Site="A")
    assert find(q)["requirements without jobs"] == 1
    assert q.rows("select from taskqueue.waiting_reason") == []


@pytest.mark.slow
def test_a_bounded_call_leaves_the_rest_to_the_next(q: Calls) -> None:
    for number in range(1, 121):
        q.insert(number, Sites=[f"S{number}"])
    q.match(Site="S", CPUTime=1)
    q.connection.execute("update taskqueue.resource_seen set seen_at = seen_at - interval '1 minute'")
    q.maintain()
    steps = dict(q.rows("select step, changed from taskqueue.find_reasons('default', '0')"))
    assert (steps["new kinds of resources"], steps["reasons"], steps["left for the next call"]) == (0, 0, 120)
    steps = dict(q.rows("select step, changed from taskqueue.find_reasons('default')"))
    assert steps["reasons"] + steps["left for the next call"] == 120
    assert steps["reasons"] >= 50


def test_a_second_simultaneous_search_for_reasons_does_nothing(db: Connection, connect: Connect) -> None:
    q = Calls(db)
    q.insert(1)
    other = connect()
    with other.transaction():
        assert other.execute("select step from taskqueue.find_reasons('default')").fetchall()
        assert other.execute("select taskqueue.summarize_waiting('default')").fetchone() == (1,)
        q.connection.execute("set lock_timeout = '1s'")
        assert q.rows("select * from taskqueue.find_reasons('default')") == []
        assert q.rows("select taskqueue.summarize_waiting('default')") == [(None,)]


@pytest.mark.parametrize("most", [None, "-1 second"])
def test_a_missing_or_wrong_time_limit_is_refused(q: Calls, most: str | None) -> None:
    state, text = q.refusal(lambda: q.rows("select taskqueue.find_reasons('default', %s::interval)", most))
    assert state == "PB001"
    assert text.startswith("time is ")


def count(q: Calls) -> None:
    q.connection.execute("update taskqueue.summary set due_at = now()")
    q.rows("select taskqueue.summarize_waiting(%s)", q.setup)


def test_the_summary_counts_every_waiting_job_once(q: Calls, at: At) -> None:
    q.insert_many([1, 2, 3], Sites=["A", "B"])
    q.insert_many([4, 5], CPUTime=40000, Sites=["A", "C"], BannedSites=["C"])
    q.insert(6, OwnerGroup="prod")
    q.call("hold", "job", "2")
    at(1)
    take(q, Site="A", JobID=6)
    q.insert(6, OwnerGroup="prod")
    at(2)
    find(q)
    count(q)
    groups = "select owner_group, cpu_time, reason, jobs, task_queues from monitor.waiting_by_reason order by 1, 2, 3"
    assert q.rows(groups) == [
        ("prod", 500, "waiting", 1, 1),
        ("users", 500, "held", 1, 0), ("users", 500, "overtaken", 2, 1),
        ("users", 50000, "overtaken", 2, 1),
    ]  # fmt: skip
    assert q.rows("select site, reason, jobs from monitor.waiting_at_site order by 1, 2") == [
        ("(any site)", "waiting", 1), ("A", "held", 1), ("A", "overtaken", 4), ("B", "held", 1), ("B", "overtaken", 2),
    ]  # fmt: skip
    assert q.value("select waits from monitor.waiting_by_reason where cpu_time = 50000") == timedelta(minutes=2)
    at(3)
    q.take(Site="A", CPUTime=40000)
    assert q.value("select max(age) from monitor.waiting_by_reason") == timedelta(minutes=1), "the counts stay"
    find(q)
    count(q)
    assert q.value("select sum(jobs) from monitor.waiting_by_reason") == 5
    assert q.value("select max(age) from monitor.waiting_at_site") == timedelta(0)
    q.call("resume", "job", "2")
    while q.match(Site="A"):
        pass
    count(q)
    assert q.rows(groups) == []
    assert q.rows("select from monitor.waiting_at_site") == []


def test_counting_takes_a_twentieth_of_the_time(q: Calls) -> None:
    q.insert(1)
    assert q.value("select taskqueue.summarize_waiting('default')") == 1
    assert q.value("select due_at > now() + 19 * took from taskqueue.summary")
    q.connection.execute("update taskqueue.summary set due_at = now() + interval '10 minutes'")
    assert q.value("select taskqueue.summarize_waiting('default')") is None
    q.connection.execute("update taskqueue.summary set due_at = now() + interval '2 hours'")
    assert q.value("select taskqueue.summarize_waiting('default')") == 1, "the clock was put back"


@pytest.mark.slow
def test_agents_match_while_reasons_are_found(db: Connection, connect: Connect) -> None:
    """Loops beside agents and a change of limits: no deadlock, no error, and the words of a last look are right."""
    q = Calls(db)
    q.insert_many(range(1, 301), Sites=["A"])
    q.insert_many(range(301, 601), Sites=["B"], CPUTime=40000)
    failed: list[Exception] = []
    stop = threading.Event()

    def again(work: Callable[[Calls, random.Random], object], seed: int) -> None:
        calls = Calls(connect())
        draw = random.Random(seed)
        try:
            while not stop.is_set():
                work(calls, draw)
        except Exception as error:
            failed.append(error)

    work: list[Callable[[Calls, random.Random], object]] = [
        lambda c, d: c.match(Site=d.choice("AB"), CPUTime=d.choice([400, 500, 40000])),
        lambda c, d: c.rows("select taskqueue.find_reasons('default')"),
        lambda c, d: c.rows("select taskqueue.summarize_waiting('default')"),
        lambda c, d: c.maintain(),
        lambda c, d: c.running_limit("JobTypes", "x", d.randint(1, 5), site="A"),
    ]
    threads = [threading.Thread(target=again, args=(each, number)) for number, each in enumerate(work)]
    for thread in threads:
        thread.start()
    stop.wait(2)
    stop.set()
    for thread in threads:
        thread.join()
    assert failed == []
    q.connection.execute("delete from taskqueue.resource_seen")
    q.rows("select taskqueue.find_reasons('default', '1 minute')")
    assert set(words(q).values()) <= {"waiting", "overtaken", "too_large", "no_resource_seen"}
    assert q.inconsistencies() == []
