"""Nine known faults of DIRAC's TaskQueues (MATCHING.md, Differences). Here each case is right."""

import threading
from functools import partial

import psycopg
import pytest

from tests.calls import Calls, group, requirements


def test_1_several_groups_keep_the_other_conditions(q: Calls) -> None:
    """DIRAC joins several groups with an OR without brackets, so that all other conditions are lost."""
    q.insert(1, OwnerGroup="g1", CPUTime=5000)
    q.insert(2, OwnerGroup="g2", Sites=["A"])
    q.insert(3, OwnerGroup="g2", Tags=["t"])
    q.insert(4, OwnerGroup="g2", PilotTypes=["private"])
    q.insert(5, OwnerGroup="g3")
    assert q.queues(OwnerGroup=["g1", "g2"], CPUTime=500, Site="B") == {}
    assert q.match(OwnerGroup=["g1", "g2"], CPUTime=500, Site="B") is None
    assert q.match(OwnerGroup=["g1", "g2"], OwnerDN="somebody else", Site="A", Tag="t", PilotType="private") is None


@pytest.mark.slow
@pytest.mark.parametrize("empty", [10, 100])
def test_2_empty_queues_never_hide_full_ones(q: Calls, empty: int) -> None:
    """In DIRAC ten empty queues at the head of the order lead to "no match"."""
    q.set_group("head", 1e6, sharing=True)
    q.set_group("tail", 0.001)
    for n in range(1, empty + 1):
        q.insert(n, OwnerGroup="head", JobTypes=[str(n)])
    q.insert(1000, OwnerGroup="tail")
    q.call("recompute_shares")
    for n in range(1, empty + 1):
        q.call("delete_job", n)
    assert q.take().job_id == 1000


def test_3_two_limits_block_each_queue_that_either_blocks(q: Calls) -> None:
    """In DIRAC two limits block only the queues that hit both."""
    q.running_limit("OwnerDN", "alice", 0)
    q.running_limit("JobTypes", "T", 0)
    q.insert(1, OwnerDN="alice", JobTypes=["U"])
    q.insert(2, OwnerDN="bob", JobTypes=["T"])
    q.insert(3, OwnerDN="alice", JobTypes=["T"])
    assert q.match(Site="S") is None
    q.insert(4, OwnerDN="bob", JobTypes=["U"])
    assert q.take(Site="S").job_id == 4
    assert q.match(Site="S") is None


def test_4_limits_on_two_values_of_one_attribute_block_both(q: Calls) -> None:
    """In DIRAC a limit on two owners blocks nothing."""
    q.running_limit("OwnerDN", "alice", 0)
    q.running_limit("OwnerDN", "bob", 0)
    for n, owner in enumerate(["alice", "bob", "carol"], 1):
        q.insert(n, OwnerDN=owner)
    assert q.take(Site="S").job_id == 3
    assert q.match(Site="S") is None


def test_5_setting_a_limit_on_an_unknown_attribute_is_refused(q: Calls) -> None:
    """DIRAC stores such a limit, which breaks or changes every later match at the site."""
    for kind in ("running", "delay"):
        q.refuses(partial(q.call, "set_limit", kind, "S", None, "Colour", "red", 1), "PB001", "Colour")
    q.insert(1)
    assert q.take(Site="S").job_id == 1


def test_6_a_wanted_job_at_another_priority_is_found(q: Calls) -> None:
    """DIRAC draws a TaskQueue and a user priority first, and looks for the wanted job only there."""
    q.insert_many(range(1, 100), 10)
    q.insert(100, 1)
    q.insert(101, 0)
    q.insert_many(range(200, 230), 9, CPUTime=5000)
    for job_id in (100, 101, 99, 229):  # the last two are not among the first ten either
        assert q.take(JobID=job_id).job_id == job_id


def test_7_disabled_queues_are_not_matched(q: Calls) -> None:
    queue = q.insert(1, CPUTime=5000)
    q.insert(2)
    q.call("set_task_queue_enabled", queue, False)
    assert q.take().job_id == 2
    assert q.match() is None
    assert q.match(JobID=1) is None
    assert q.match_jobs(10) == []
    assert q.queues() == {}
    assert not all(q.explain(1).values())
    assert q.insert(3, CPUTime=5000) == queue
    assert q.match() is None
    q.call("set_task_queue_enabled", queue, True)
    assert q.take().job_id in (1, 3)
    assert q.inconsistencies() == []


def test_8_priorities_are_right_when_a_queue_is_new(q: Calls) -> None:
    """In DIRAC a new queue keeps a placeholder, or the other queues keep their old priorities."""
    q.set_clock("2026-01-01 00:00:00+00")
    q.set_group("g", 10)
    first = q.insert(1, OwnerGroup="g")
    second = q.insert(2, OwnerGroup="g", JobTypes=["T"])
    third = q.insert(3, OwnerGroup="g", JobTypes=["U"])
    fresh = q.priorities()
    assert fresh[third] == pytest.approx(10 / 3)
    q.set_clock("2026-01-01 00:00:11+00")
    q.maintain()
    assert q.priorities() == pytest.approx({first: 10 / 3, second: 10 / 3, third: 10 / 3})


@pytest.mark.slow
def test_9_a_queue_is_never_seen_before_its_requirements(dsn: str) -> None:
    """DIRAC inserts the queue's row first; a matcher that runs before the other rows exist takes its jobs anywhere."""
    seen: list[str] = []
    done = threading.Event()

    def watch() -> None:
        with psycopg.connect(dsn, autocommit=True) as connection:
            watcher = Calls(connection)
            while not done.is_set():
                seen.extend(f"job {m.job_id} at Elsewhere" for m in watcher.match_jobs(10, Site="Elsewhere", Tag="any"))
                seen.extend(
                    f"queue {row[0]} lacks rows"
                    for row in watcher.rows(
                        "select t.task_queue_id from taskqueue.task_queue t"
                        " where (select count(*) from taskqueue.task_queue_site s"
                        "         where (s.setup, s.task_queue_id) = (t.setup, t.task_queue_id)) <> 1"
                        "    or (select count(*) from taskqueue.task_queue_tag s"
                        "         where (s.setup, s.task_queue_id) = (t.setup, t.task_queue_id)) <> 2"
                    )
                )

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        with psycopg.connect(dsn, autocommit=True) as connection:
            q = Calls(connection)
            for n in range(1, 201):
                q.insert(n, **requirements(Sites=[f"S{n}"], Tags=["t", str(n)], **group(f"g{n % 7}")))
                assert q.queue_of(n) is not None
    finally:
        done.set()
        watcher.join()
    assert seen == []
