"""MATCHING.md, CPU buckets: the trigger, and changing the buckets while there are TaskQueues."""

import pytest

from tests.calls import Calls

DIRAC = [360, 1800, 3600, 21600, 43200, 86400, 172800, 259200, 345600, 518400, 691200, 864000, 1080000]


def cpu_times(q: Calls) -> dict[int, int]:
    return dict(q.rows("select task_queue_id, cpu_time from taskqueue.task_queue where setup = 'default'"))


@pytest.mark.parametrize(
    ("cpu_time", "bucket"),
    [
        (0, 500), (1, 500), (10, 500), (499, 500), (500, 500), (501, 5000), (5000, 5000), (5001, 50000), (50000, 50000),
        (50001, 300000), (300000, 300000), (300001, 300000), (10**12, 300000), (500.5, 5000),
    ],
)  # fmt: skip
def test_a_cpu_time_is_rounded_to_its_default_bucket(q: Calls, cpu_time: float, bucket: int) -> None:
    queue = q.insert(1, CPUTime=cpu_time)
    assert cpu_times(q) == {queue: bucket}
    assert q.take(CPUTime=bucket).requirements["CPUTime"] == bucket


def test_a_trigger_rounds_the_cpu_time_of_every_writer(q: Calls) -> None:
    queue = q.insert(1, CPUTime=10)
    q.connection.execute("update taskqueue.task_queue set cpu_time = 501 where task_queue_id = %s", [queue])
    assert cpu_times(q) == {queue: 5000}


def test_each_setup_has_its_own_cpu_buckets(q: Calls) -> None:
    other = Calls(q.connection, "other")
    other.call("set_cpu_buckets", DIRAC)
    q.insert(1, CPUTime=10)
    other.insert(1, CPUTime=10)
    assert q.take().requirements["CPUTime"] == 500
    assert other.take().requirements["CPUTime"] == 360


@pytest.mark.parametrize("buckets", [[], [0], [-5, 10], [10, None]])
def test_wrong_buckets_are_refused(q: Calls, buckets: list[int | None]) -> None:
    q.insert(1)
    before = q.stored()
    assert q.refusal(lambda: q.call("set_cpu_buckets", buckets))[0] == "PB001"
    assert q.stored() == before


def test_changing_the_cpu_buckets_changes_the_queues(q: Calls) -> None:
    small, middle, big = (q.insert(n, CPUTime=cpu) for n, cpu in enumerate((10, 501, 10**7), 1))
    assert q.call("set_cpu_buckets", DIRAC) == 3
    assert cpu_times(q) == {small: 1800, middle: 21600, big: 345600}
    assert [q.take(CPUTime=c).job_id for c in (1800, 21600, 345600)] == [1, 2, 3]
    assert q.inconsistencies() == []


def test_setting_the_same_cpu_buckets_changes_nothing(q: Calls) -> None:
    q.insert(1)
    assert q.call("set_cpu_buckets", [500, 5000, 50000, 300000]) == 0


def test_queues_that_become_equal_merge(q: Calls) -> None:
    first = q.insert(1, 3, CPUTime=10, Sites=["A"])
    second = q.insert(2, 4, CPUTime=501, Sites=["A"])
    other = q.insert(3, 5, CPUTime=10, Sites=["B"])
    assert first != second
    q.call("set_cpu_buckets", [100000])
    assert q.queue_of(1) == q.queue_of(2) != q.queue_of(3) == other
    assert q.queue_of(1) in (first, second)
    assert cpu_times(q) == {q.queue_of(1): 100000, other: 100000}
    assert q.queues(Site="A") == {q.queue_of(1): 2}
    assert q.inconsistencies() == []
    assert {q.take(Site="A").user_priority for _ in range(2)} == {3, 4}
    assert q.match(Site="A") is None
    assert q.insert(4, CPUTime=1, Sites=["B"]) == other


def test_a_merged_queue_may_exceed_the_queue_size(q: Calls) -> None:
    q.settings(queue_size=2)
    q.insert_many([1, 2], CPUTime=10)
    q.insert_many([3, 4], CPUTime=501)
    q.call("set_cpu_buckets", [5000])
    assert list(q.queues().values()) == [4]
    assert q.insert(5) != q.queue_of(1)


def test_priorities_after_a_merge_fit_the_remaining_queues(q: Calls) -> None:
    q.insert(1, CPUTime=10)
    q.insert(2, CPUTime=501)
    q.insert(3, CPUTime=501, JobTypes=["T"])
    q.call("set_cpu_buckets", [5000])
    q.call("recompute_shares")
    assert sorted(q.priorities().values()) == [500, 500]


def test_a_lease_from_before_a_change_of_buckets_returns_to_a_queue_of_the_new_ones(q: Calls) -> None:
    q.insert(1, CPUTime=10)
    match = q.take()
    q.call("set_cpu_buckets", DIRAC)
    queue = q.call("release_job", 1, match.attempt)
    assert cpu_times(q)[queue] == 1800
    assert q.inconsistencies() == []


def test_short_jobs_that_starve_are_shown(q: Calls) -> None:
    """A job starves by the matches since it came; a job that may not be matched starves for another reason."""
    starved = "select job_id, starved from monitor.oldest_job where cpu_time = 500"
    q.set_clock("2026-06-01 12:00+00")
    q.insert_many([1, 2, 3], CPUTime=50000)
    assert q.take().job_id < 4
    q.set_clock("2026-06-01 12:10+00")
    short = q.insert(4, CPUTime=500, OwnerDN="bob")
    q.insert(5, CPUTime=500, OwnerDN="bob")
    assert q.rows(starved) == [(4, False)]
    q.set_clock("2026-06-01 12:20+00")
    assert q.take().job_id < 4
    assert q.rows(starved) == [(4, True)]
    for thing in (("job", "4"), ("owner", "bob"), ("task_queue", str(short))):
        q.call("hold", *thing)
        assert q.rows(starved) == ([(5, True)] if thing[0] == "job" else [])
        first = "select job_id from monitor.first_job where cpu_time = 500"
        assert q.rows(first) == ([(5,)] if thing[0] == "job" else [])
        q.call("resume", *thing)
    q.call("set_task_queue_enabled", short, False)
    assert q.rows(starved) == []
    q.call("set_task_queue_enabled", short, True)
    assert q.take(CPUTime=500).job_id in {4, 5}
    assert [starves for _, starves in q.rows(starved)] == [False]
