"""Sixteen agents at once: every job is taken exactly once beside all other calls."""

import os
import random
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.calls import Calls, Connection, Match
from tests.core.concurrency.racing import run_together

AGENTS = 16
JOBS = int(os.environ.get("BROKER_TEST_DRAINED", "1500"))  # more by hand
SITES = ["A", "B", "C", "D"]


def kind(n: int) -> dict[str, Any]:
    """One of 200 kinds of requirements, in several buckets, groups and sites."""
    return {
        "OwnerGroup": f"g{n % 5}",
        "OwnerDN": f"owner {n % 11}",
        "CPUTime": (500, 5000, 50000)[n % 3],
        "Sites": [] if n % 4 == 0 else [SITES[n % 4], SITES[(n // 4) % 4]],
        "JobTypes": [f"T{n}"],
    }


def batches(first: int, last: int, size: int) -> Iterator[range]:
    for start in range(first, last, size):
        yield range(start, min(start + size, last))


@pytest.mark.representative
def test_every_job_is_taken_exactly_once(dsn: str, db: Connection) -> None:
    q = Calls(db)
    q.settings(queue_size=30)
    for n, ids in enumerate(batches(1, JOBS // 2 + 1, 25)):
        q.insert_many(ids, n % 11, **kind(n))
    inserters = 3
    finished: list[int] = []  # inserters that have ended
    taken: list[list[Match]] = [[] for _ in range(AGENTS)]

    def insert(which: int) -> Callable[[Calls], None]:
        def work(own: Calls) -> None:
            for n, ids in enumerate(batches(JOBS // 2 + 1, JOBS + 1, 20)):
                if n % inserters != which:
                    continue
                if n % 10 == which:
                    for job_id in ids:
                        own.insert(job_id, n % 11, **kind(n % 200))
                else:
                    own.insert_many(ids, n % 11, **kind(n % 200))
            finished.append(which)

        return work

    def agent(which: int) -> Callable[[Calls], None]:
        keys = {} if which % 4 == 0 else {"Site": SITES[which % 4]}
        batch = (1, 1, 10, 50)[which // 4]

        def work(own: Calls) -> None:
            while True:
                last = len(finished) == inserters
                matches = own.match_jobs(batch, **keys) if batch > 1 else [m for m in [own.match(**keys)] if m]
                taken[which].extend(matches)
                for match in matches[::3]:
                    own.call("finish_job", match.job_id, match.attempt)
                if last and not matches:
                    return

        return work

    run_together(dsn, [*(agent(n) for n in range(AGENTS)), *(insert(n) for n in range(inserters))])
    given = Counter(match.job_id for matches in taken for match in matches)
    twice = {job_id: count for job_id, count in given.items() if count > 1}
    assert not twice
    assert given.keys() == set(range(1, JOBS + 1))
    assert all(match.number == 1 for matches in taken for match in matches)
    assert len({match.attempt for matches in taken for match in matches}) == JOBS
    assert q.value("select count(*) from taskqueue.job") == 0
    ended = sum(1 for matches in taken for _ in matches) - q.value("select count(*) from taskqueue.lease")
    assert q.value("select count(*) from taskqueue.ended") == ended > 0
    assert q.inconsistencies() == []
    q.call("delete_empty_queues")
    assert q.value("select count(*) from taskqueue.task_queue") == 0
    assert all(count for count in map(len, taken)), "an agent got nothing at all"


@pytest.mark.slow
def test_jobs_that_are_given_back_are_taken_again(dsn: str, db: Connection) -> None:
    """Every job ends once, by the agent that had it last, and was taken once more than it was given back."""
    q = Calls(db)
    jobs = 1000
    q.settings(queue_size=40)
    for n, ids in enumerate(batches(1, jobs + 1, 10)):
        q.insert_many(ids, n % 11, **kind(n % 20))
    takes, backs, ends = Counter[int](), Counter[int](), Counter[int]()
    lock = threading.Lock()

    def agent(which: int) -> Callable[[Calls], None]:
        chance = random.Random(which)

        def work(own: Calls) -> None:
            while True:
                match = own.match()
                if match is None:
                    with lock:
                        if sum(ends.values()) == jobs:
                            return
                    continue
                own.call_rows("report_job", match.job_id, match.attempt)
                back = chance.random() < 0.3
                own.call("release_job" if back else "finish_job", match.job_id, match.attempt)
                with lock:
                    takes[match.job_id] += 1
                    (backs if back else ends)[match.job_id] += 1

        return work

    run_together(dsn, [agent(n) for n in range(8)])
    assert set(ends.values()) == {1}
    assert ends.keys() == set(range(1, jobs + 1))
    assert takes == ends + backs
    attempts = dict(q.rows("select job_id, attempts from taskqueue.ended"))
    assert attempts == takes
    assert q.inconsistencies() == []


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 4])
def test_a_limit_is_never_exceeded(dsn: str, db: Connection, batch: int) -> None:
    """Agents hold at most as many jobs as the limit at every moment, and reach the limit."""
    q = Calls(db)
    q.insert_many(range(1, 501), JobTypes=["T"])
    q.insert_many(range(501, 601), JobTypes=["T"], OwnerDN="bob")
    q.running_limit("JobTypes", "T", 5)
    lock = threading.Lock()
    held: set[int] = set()
    most: list[int] = []
    ended: list[int] = []

    def agent(own: Calls) -> None:
        while len(ended) < 600:
            matches = own.match_jobs(batch, Site="S")
            with lock:
                held.update(match.job_id for match in matches)
                most.append(len(held))
            for match in matches:
                with lock:
                    held.discard(match.job_id)
                own.call("finish_job", match.job_id, match.attempt)
                ended.append(match.job_id)

    def watch(own: Calls) -> None:
        while len(ended) < 600:
            most.append(own.value("select count(*) from taskqueue.lease"))

    run_together(dsn, [*[agent] * 8, watch])
    assert max(most) == 5
    assert sorted(ended) == list(range(1, 601))
    assert q.inconsistencies() == []


@pytest.mark.slow
def test_a_delay_is_kept_by_simultaneous_agents(dsn: str, db: Connection) -> None:
    """The clock is stopped: as many of sixteen agents that ask all the time get a job as the burst allows."""
    q = Calls(db)
    q.set_clock("2026-01-01 00:00:00+00")
    q.insert_many(range(1, 501), JobTypes=["T"])
    q.call("set_limit", "delay", "S", None, "JobTypes", "T", 10, 7)
    taken: list[int] = []

    def agent(own: Calls) -> None:
        for _ in range(20):
            taken.extend(match.job_id for match in own.match_jobs(2, Site="S"))

    run_together(dsn, [agent] * AGENTS)
    taken.extend(match.job_id for match in q.match_jobs(50, Site="S"))
    assert len(set(taken)) == len(taken) == 7


@pytest.mark.slow
@pytest.mark.parametrize("finishes", [False, True])
def test_two_agents_with_one_request_id_get_one_job(dsn: str, db: Connection, finishes: bool) -> None:
    """A client that repeats a call while the first is still running, or while its job ends."""
    q = Calls(db)
    q.insert_many(range(1, 201))
    requests = [uuid.uuid4() for _ in range(100)]
    answers: list[list[Match | None]] = [[] for _ in range(4)]

    def agent(which: int) -> Callable[[Calls], None]:
        def work(own: Calls) -> None:
            for request in requests:
                match = own.match(request)
                answers[which].append(match)
                if finishes and match:
                    assert own.call("finish_job", match.job_id, match.attempt) == "finished"

        return work

    run_together(dsn, [agent(n) for n in range(4)])
    assert answers[0] == answers[1] == answers[2] == answers[3]
    assert len({match.job_id for match in answers[0] if match}) == 100
    assert q.value("select count(*) from taskqueue.lease") == (0 if finishes else 100)
    assert q.value("select count(*) from taskqueue.request") == (100 if finishes else 0)
