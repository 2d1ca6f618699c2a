"""Fast rebrokerage: three strict thresholds by queue and share, the excess, moved jobs, and reasons against a move."""

import random
from math import ceil
from typing import Any

import pytest

from tests.calls import Calls, Connection
from tests.core.lifecycle.timeouts import job_state, make
from tests.core.oracle.timeouts import Job, Queue, World

A, B, PAUSED, SLOTS = Queue("A"), Queue("B"), Queue("P", "paused"), Queue("S")
LIMIT = "FAST_REBRO_THRESHOLD_NQUEUE_S"
QUEUED = ["defined", "assigned", "activated", "starting"]


def queued(queue: Queue, number: int) -> list[Job]:
    """A number of queued jobs of a queue, of all four statuses."""
    return [Job(QUEUED[n % 4], queue) for n in range(number)]


def moved(q: Calls, dry_run: bool = False, most: int | None = None) -> dict[str, tuple[int, int]]:
    """Queue -> excess, and jobs that went."""
    rows = q.rows("select queue, excess, jobs from lifecycle.fast_rebroker('default', %s, %s)", dry_run, most)
    return {queue: (excess, jobs) for queue, excess, jobs in rows}


def why_not(q: Calls, queue: str = "A") -> Any:
    """The reason why the jobs of a queue are not moved."""
    return q.value("select why_not from lifecycle.fast_excess('default') where queue = %s", queue)


@pytest.mark.parametrize("profile", ["documented", "panda2026"])
def test_excess_jobs_are_rebrokered_lowest_ids_first(rolled_back: Connection, profile: str) -> None:
    jobs = [*queued(A, 10), *queued(B, 1), Job("running", A)]
    q = make(rolled_back, World({LIMIT: 4}, jobs), [A, B], profile)
    # min(10 - 3 x 1, 10 - 4, 10 - 0.3 x 11) = 6; panda2026 leaves one more
    excess = 6 if profile == "documented" else 5
    assert moved(q, dry_run=True) == {"A": (excess, excess)}
    assert moved(q, most=2) == {"A": (excess, 2)}
    assert moved(q) == {"A": (excess - 2, excess - 2)}
    assert [job_state(q, n) for n in range(1, excess + 1)] == [("closed", "rebrokered")] * excess
    assert [job_state(q, n)[0] for n in range(excess + 1, 12)] == [job.status for job in jobs[excess:11]]
    assert moved(q) == {}
    assert q.value("select count(distinct why) from workload.job_history where why like 'fast-rebroker: 1%%'") == 1
    assert q.rows("select * from workload.count_difference") == []


def test_the_work_of_a_job_whose_agent_is_asked_to_stop_does_not_go_back(rolled_back: Connection) -> None:
    jobs = [Job("starting", A, reported=0.1), *queued(A, 9), Job("running", A)]
    q = make(rolled_back, World({LIMIT: 4}, jobs), [A])
    q.rows("update workload.job set task_id = 7, number = job_id, rebrokered = 0 returning 1")
    q.rows("insert into brokerage.task_state (setup, task_id, assigned_jobs) values ('default', 7, 11) returning 1")
    q.rows("update taskqueue.lease set state = 'starting', kill_reason = 'not wanted' returning 1")
    assert moved(q) == {"A": (6, 6)}
    assert [job_state(q, n)[0] for n in range(1, 7)] == ["cancelled", *["closed"] * 5]
    assert q.value("select array_agg(job_id order by job_id) from workload.job where rebrokered > 0") == [2, 3, 4, 5, 6]
    assert q.value("select assigned_jobs from brokerage.task_state") == 6
    assert q.value("select why from taskqueue.history where event = 'cancelled'") == "not wanted"


@pytest.mark.parametrize(("profile", "expected"), [("documented", {}), ("panda2026", {"A": (2, 2)})])
def test_queues_with_slots_count_in_the_total_of_documented_alone(
    rolled_back: Connection, profile: str, expected: dict[str, tuple[int, int]]
) -> None:
    """6 at A, and 14 at S: 6 is 0.3 of 20, and 4.2 above 0.3 of 6."""
    q = make(rolled_back, World({LIMIT: 3}, [*queued(A, 6), *queued(SLOTS, 14)]), [A, SLOTS], profile)
    q.rows("insert into resource.slot (setup, queue, number, numslots) values ('default', 'S', 1, 0) returning 1")
    assert moved(q) == expected


def test_a_fraction_is_compared_exactly(rolled_back: Connection) -> None:
    """In binary numbers 0.57 times 100 is below 57."""
    config = {LIMIT: 0, "FAST_REBRO_THRESHOLD_NQUEUE_FRAC": 0.57}
    q = make(rolled_back, World(config, [*queued(A, 57), *queued(B, 43)]), [A, B])
    assert why_not(q) == "57 queued, not above 0.57 of the 100 of the share"


def test_the_configuration_is_read_once_for_any_number_of_queues(rolled_back: Connection) -> None:
    queues = [Queue(f"Q{n}") for n in range(20)]
    jobs = [job for queue in queues for job in queued(queue, 5)]
    q = make(rolled_back, World({LIMIT: 0}, jobs), queues, "documented")
    q.connection.execute("set local track_functions = 'all'")
    calls = "coalesce(pg_stat_get_xact_function_calls('resource.config_value(text,text,text,text)'::regprocedure), 0)"
    before = q.value(f"select {calls}")
    assert len(q.rows("select queue from lifecycle.fast_excess('default')")) == 20
    # two fractions, and the threshold of the one share
    assert q.value(f"select {calls}") - before == 3


@pytest.mark.parametrize(
    ("jobs", "config", "reason"),
    [
        ([*queued(A, 6), Job("running", A), Job("running", A)], {LIMIT: 0}, "6 queued, not above 3 times 2 running"),
        ([*queued(A, 3), *queued(B, 7)], {LIMIT: 0}, "3 queued, not above 0.3 of the 10 of the share"),
        (queued(A, 4), {LIMIT: 4}, f"4 queued, not above 4 ({LIMIT})"),
        (queued(A, 4), {}, f"{LIMIT} is not set"),
        ([*queued(SLOTS, 4)], {LIMIT: 0}, "queue S has slots of its own"),
        ([*queued(PAUSED, 4)], {LIMIT: 0}, "queue P is paused or marked disableReassign"),
    ],
)
def test_each_threshold_of_fast_rebrokerage_is_strict(
    rolled_back: Connection, jobs: list[Job], config: dict[str, float], reason: str
) -> None:
    q = make(rolled_back, World(config, jobs), [A, B, PAUSED, SLOTS])
    q.rows("insert into resource.slot (setup, queue, number, numslots) values ('default', 'S', 1, 0) returning 1")
    first = jobs[0].queue
    assert first is not None
    assert why_not(q, first.name) == reason
    assert first.name not in moved(q)


def test_a_limit_of_0_applies_in_doc_and_is_off_in_panda2026(rolled_back: Connection) -> None:
    q = make(rolled_back, World({LIMIT: 0}, queued(A, 3)), [A])
    assert moved(q, dry_run=True) == {"A": (3, 3)}  # ceil(min(3 - 0, 3 - 0, 3 - 0.9)) = 3
    q.rows("select lifecycle.set_settings('default', '{\"timeouts\": \"panda2026\"}')")
    assert (moved(q), why_not(q)) == ({}, f"{LIMIT} is 0")


def test_loaded_counts_add_to_the_excess_but_only_local_jobs_are_rebrokered(rolled_back: Connection) -> None:
    q = make(rolled_back, World({LIMIT: 1}, queued(A, 2)), [A])
    q.rows(
        "insert into workload.statistic (setup, queue, gshare, status, njobs)"
        " values ('default', 'A', 'S', 'activated', 10) returning 1"
    )
    assert moved(q) == {"A": (9, 2)}


def test_random_counts_give_the_excess_computed_by_hand(rolled_back: Connection) -> None:
    chance = random.Random(4)
    queues = [Queue(f"Q{n}") for n in range(8)]
    counts = {queue.name: (chance.randint(0, 30), chance.choice([0, 0, 1, 2, 5])) for queue in queues}
    jobs = [job for x in queues for job in [*queued(x, counts[x.name][0]), *[Job("running", x)] * counts[x.name][1]]]
    config = {LIMIT: 5.0, "FAST_REBRO_THRESHOLD_NQNR_RATIO": 2.5, "FAST_REBRO_THRESHOLD_NQUEUE_FRAC": 0.07}
    q = make(rolled_back, World(config, jobs), queues)
    total = sum(number for number, _ in counts.values())
    by_hand = {name: min(n - 2.5 * r, n - 5, n - 0.07 * total) for name, (n, r) in counts.items()}
    wanted = {name: (ceil(excess), ceil(excess)) for name, excess in by_hand.items() if excess > 0}
    assert len(wanted) > 1
    assert moved(q) == wanted
