"""DRAWING.md, Many agents at once: match_many serves many requests in one transaction, as calls one after the other."""

import uuid
from collections import Counter
from typing import Any

import pytest
import scipy.stats
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connect, group, resource
from tests.core.oracle.draw import chi_square, win

Request = dict[str, Any]


def request(n: int | None = None, request_id: object = None, /, *resources: dict[str, Any], **keys: Any) -> Request:
    """A request; without `resources`, of one resource with these keys."""
    found: Request = {"resources": [resource(**r) for r in resources] or [resource(**keys)]}
    if n is not None:
        found["n"] = n
    if request_id is not None:
        found["request_id"] = str(request_id)
    return found


def ask(q: Calls, *requests: Any) -> dict[int, list[Any]]:
    """Request -> its jobs, or its error, in the order of the answer; each row is a job or an error."""
    found: dict[int, list[Any]] = {}
    for number, job_id, queue, requirements, priority, attempt, error, _ in q.call_rows("match_many", Jsonb(requests)):
        assert (job_id is None) == (queue is None) == (requirements is None) == (priority is None) == (attempt is None)
        assert (job_id is None) == (error is not None)
        found.setdefault(number, []).append(error or job_id)
    return found


def search(q: Calls, **keys: Any) -> None:
    """Search the matches of a description, as after many draws in vain: then no candidates are drawn for it."""
    q.rows("select resource.set_identity('default', resource.caller())")
    assert ask(q, request(**{**keys, "CPUTime": 0})) == {}
    assert (
        q.value("select (taskqueue.find_matching('default', k)).matches from taskqueue.parsed_description k")
        is not None
    )


KEPT = pytest.mark.parametrize("is_kept", [False, True], ids=["candidates", "what matches is known"])


def test_each_request_gets_only_jobs_that_it_matches(q: Calls) -> None:
    q.insert_many(range(1, 4), JobTypes=["A"])
    q.insert_many(range(11, 14), JobTypes=["B"])
    found = ask(q, request(JobType="A"), request(JobType="B"), request(JobType="C"), request(2, JobType="B"))
    assert {number: len(jobs) for number, jobs in found.items()} == {1: 1, 2: 1, 4: 2}
    assert set(found[1]) < {1, 2, 3}
    assert {*found[2], *found[4]} == {11, 12, 13}
    assert q.inconsistencies() == []


def test_the_answered_attempt_is_that_of_the_lease(q: Calls) -> None:
    q.insert(1, 5, Sites=["S"], GridCEs=["ce"])
    [(number, job_id, queue, requirements, priority, attempt, error, _)] = q.call_rows(
        "match_many", Jsonb([request(Site="S", GridCE="ce")])
    )
    assert (number, job_id, priority, error) == (1, 1, 5, None)
    assert requirements["Sites"] == ["S"]
    assert q.rows("select task_queue_id, site, grid_ce, state from taskqueue.lease") == [(queue, "S", "ce", "matched")]
    assert q.call("finish_job", 1, attempt) == "finished"


def test_match_many_gives_nothing_without_a_matching_request(q: Calls) -> None:
    q.insert(1)
    assert ask(q) == {}
    assert ask(q, request(CPUTime=1)) == {}


def test_a_request_is_served_by_its_first_resource_that_yields_a_job(q: Calls) -> None:
    q.insert_many(range(1, 3), Sites=["A"])
    q.insert_many(range(11, 13), Sites=["B"])
    two_sites = request(None, None, {"Site": "A"}, {"Site": "B"})
    found = ask(q, two_sites, two_sites, two_sites, request(3, None, {"Site": "C"}, {"Site": "B"}))
    assert {*found[1], *found[2]} == {1, 2}
    assert {*found[3], *found.get(4, [])} == {11, 12}
    assert sum(map(len, found.values())) == 4


@KEPT
@pytest.mark.parametrize("numbers", [[1] * 20, [8, 1, 9, 2]])
def test_more_requests_than_jobs_take_every_job(q: Calls, is_kept: bool, numbers: list[int]) -> None:
    """The last requests of a TaskQueue go on in the others, and then find nothing."""
    q.settings(queue_size=3)
    q.insert_many(range(1, 9), 2)
    if is_kept:
        search(q)
    q.insert_many(range(21, 25), JobTypes=["T"])  # unknown to the search
    found = ask(q, *[request(n) for n in numbers])
    assert sorted(job for jobs in found.values() for job in jobs) == [*range(1, 9), *range(21, 25)]
    assert q.value("select count(*) from taskqueue.task_queue") == 0
    assert q.inconsistencies() == []


def test_requests_with_few_and_with_many_matches_are_served_in_one_call(q: Calls) -> None:
    """One request waits for a card of its only TaskQueue, others find nothing; the rest gets its jobs."""
    q.insert_many(range(1, 4), JobTypes=["N"], Sites=["S"])
    search(q, JobType="N", Site="S")
    q.insert_many(range(11, 31), Sites=["T"])
    found = ask(
        q,
        request(2, JobType="N", Site="S"),
        request(3, Site="T"),
        request(5, JobType="N", Site="S"),
        request(4, Site="T"),
    )
    assert {number: len(jobs) for number, jobs in found.items()} == {1: 2, 2: 3, 3: 1, 4: 4}
    assert {*found[1], *found[3]} == {1, 2, 3}
    assert ask(q, request(2, JobType="N", Site="S"), request(Site="T")).keys() == {2}
    assert q.inconsistencies() == []


@pytest.mark.parametrize("n", [1, 3])
def test_a_request_is_served_after_its_known_matches_were_forgotten(q: Calls, n: int) -> None:
    q.insert_many(range(1, 5), JobTypes=["N"])
    search(q, JobType="N")
    q.connection.execute("delete from taskqueue.known_match")
    assert len(ask(q, request(n, JobType="N"))[1]) == n


BAD: list[tuple[Any, str]] = [
    (5, "request is 5, not an object"),
    ({}, "resources is missing"),
    ({"resources": {}}, "resources is {}"),
    ({"resources": []}, "resources has 0 elements"),
    ({"resources": [resource()] * 11}, "resources has 11 elements"),
    ({"resources": [resource()], "m": 1}, "unknown key m"),
    ({"resources": [resource()], "n": 0}, "n is 0"),
    ({"resources": [resource()], "n": "x"}, 'n is "x"'),
    ({"resources": [resource()], "n": "5"}, 'n is "5"'),
    ({"resources": [resource()], "n": None}, "n is null"),
    ({"resources": [resource()], "n": 1.5}, "n is 1.5"),
    ({"resources": [resource()], "request_id": "x"}, 'request_id is "x"'),
    ({"resources": [{"CPUTime": -1}]}, "CPUTime is -1"),
    ({"resources": [{}]}, "CPUTime is missing"),
    ({"resources": [5]}, "resource description is 5"),
    ({"resources": [resource(Colour="red")]}, "Colour"),
]


@pytest.mark.parametrize(("bad", "message"), BAD, ids=str)
def test_a_request_that_is_refused_harms_no_other(q: Calls, bad: Any, message: str) -> None:
    q.insert_many(range(1, 4))
    found = ask(q, request(), bad, request())
    assert {*found[1], *found[3]} < {1, 2, 3}
    [error] = found[2]
    assert error["code"] == "PB001"
    assert message in error["message"]
    assert error["hint"]


@pytest.mark.parametrize(
    "requests", [None, {}, 5, [request()] * 1001, [request(600), request(401)]], ids=lambda r: str(r)[:30]
)
def test_match_many_refuses_a_malformed_list_as_a_whole(q: Calls, requests: Any) -> None:
    q.insert(1)
    before = q.stored()
    assert q.refusal(lambda: q.call_rows("match_many", Jsonb(requests)))[0] == "PB001"
    assert q.refusal(lambda: q.call_rows("match_many", None))[0] == "PB001"
    assert q.stored() == before


def test_a_request_for_one_job_gets_that_job_once(q: Calls) -> None:
    q.insert_many(range(1, 6))
    assert ask(q, request(JobID=4), request(JobID=4), request(JobID=2)) == {1: [4], 3: [2]}
    assert q.inconsistencies() == []


def test_the_resources_that_asked_are_noted(q: Calls) -> None:
    """taskqueue.explain_job compares a job with them."""
    q.insert_many(range(1, 4), Sites=["A"])
    q.insert(9, Sites=["C"])
    ask(q, request(Site="A"), request(Site="B"), request(JobID=9))
    seen = q.rows("select resource ->> 'Site', matched from taskqueue.resource_seen order by 1")
    assert seen == [("A", True), ("B", False), (None, True)]


def test_limits_are_exact_over_the_requests_of_a_call(q: Calls) -> None:
    q.insert_many(range(1, 11), JobTypes=["T"])
    q.running_limit("JobTypes", "T", 3)
    found = ask(q, request(2, Site="S"), request(2, Site="S"), request(2, Site="elsewhere"), request(Site="S"))
    assert {number: len(jobs) for number, jobs in found.items()} == {1: 2, 2: 1, 3: 2}
    assert q.inconsistencies() == []


def test_a_private_identity_gets_jobs_of_its_own(q: Calls) -> None:
    q.insert_many(range(1, 4), **group("mine"))
    q.insert_many(range(11, 14), **group("others"))
    q.rows("select resource.set_identity('default', resource.caller(), true, 'mine', null)")
    found = ask(q, request(), request(OwnerGroup="others"))
    assert {*found[1], *found[2]} < {1, 2, 3}


# Requests with an id


def test_a_repeated_request_gets_the_same_jobs(q: Calls) -> None:
    q.insert_many(range(1, 30))
    one, two = uuid.uuid4(), uuid.uuid4()
    first = ask(q, request(3, one), request(None, two), request())
    again = ask(q, request(), request(3, one), request(None, two))
    assert {job: n for n, jobs in again.items() for job in jobs if n > 1} == {
        **dict.fromkeys(first[1], 2),
        **dict.fromkeys(first[2], 3),
    }
    assert not {*again[1]} & {job for jobs in first.values() for job in jobs}
    assert q.match(two).job_id == first[2][0], "match_job with the same id and resource is the same call"  # type: ignore[union-attr]


def test_an_answer_without_a_match_is_not_kept(q: Calls) -> None:
    one = uuid.uuid4()
    assert ask(q, request(None, one)) == {}
    q.insert(1)
    assert ask(q, request(None, one)) == {1: [1]}


def test_a_request_id_twice_in_a_call_or_for_another_call_is_refused(q: Calls) -> None:
    q.insert_many(range(1, 10))
    one = uuid.uuid4()
    found = ask(q, request(None, one), request(None, str(one).upper()), request())
    assert [found[2][0]["code"], "twice" in found[2][0]["message"]] == ["PB001", True]
    assert len(found[1]) == len(found[3]) == 1
    found = ask(q, request(2, one))
    assert found[1][0]["code"] == "PB001"
    assert str(one) in found[1][0]["message"]


@pytest.fixture
def two(connect: Connect) -> tuple[Calls, Calls]:
    return Calls(connect()), Calls(connect())


@pytest.mark.slow
@pytest.mark.parametrize("commit", [True, False])
def test_a_busy_request_id_is_refused_without_waiting(two: tuple[Calls, Calls], commit: bool) -> None:
    q, other = two
    q.insert_many(range(1, 10))
    one, another, third = (uuid.uuid4() for _ in range(3))
    other.connection.autocommit = False
    held = ask(other, request(None, one), request(None, another))
    found = ask(q, request(None, another), request(None, third), request(None, one))
    assert [found[n][0]["code"] for n in (1, 3)] == ["PB006", "PB006"]
    assert len(found[2]) == 1
    if commit:
        other.connection.commit()
        assert ask(q, request(None, another), request(None, one)) == {1: held[2], 2: held[1]}
    else:
        other.connection.rollback()
        jobs = ask(q, request(None, another), request(None, one))
        assert jobs.keys() == {1, 2}
    assert q.inconsistencies() == []


@pytest.mark.slow
def test_a_caller_that_dies_takes_no_job(two: tuple[Calls, Calls]) -> None:
    """Another caller uses the same ids, swapped, after the first caller was ended in its transaction."""
    q, other = two
    q.insert_many(range(1, 6))
    one, another = uuid.uuid4(), uuid.uuid4()
    other.connection.autocommit = False
    ask(other, request(None, one), request(2, another))
    q.rows("select pg_terminate_backend(%s, 5000)", other.connection.info.backend_pid)
    found = ask(q, request(2, another), request(None, one))
    assert {n: len(jobs) for n, jobs in found.items()} == {1: 2, 2: 1}
    assert q.value("select count(*) from taskqueue.job") == 2
    assert q.inconsistencies() == []


# The law


def shares(q: Calls) -> tuple[int, int]:
    """Two TaskQueues of priorities 10 and 1, of many jobs."""
    for n, share in ((1, 10.0), (2, 1.0)):
        q.set_group(f"g{n}", share)
        q.insert_many(range(n * 10_000, n * 10_000 + 1500), **group(f"g{n}"))
    q.call("recompute_shares")
    big, small = q.queue_of(10_000), q.queue_of(20_000)
    assert big is not None and small is not None
    return big, small


@pytest.mark.slow
@KEPT
def test_each_request_is_drawn_independently(q: Calls, is_kept: bool) -> None:
    """Each of 1,000 requests has the odds 95 : 5, whatever the others got."""
    big, small = shares(q)
    if is_kept:
        search(q, Site="Here")
    queues = [row[2] for row in q.call_rows("match_many", Jsonb([request(Site="Here")] * 1000))]
    assert chi_square(Counter(queues), win({big: 10, small: 1})) > 1e-6
    pairs = Counter(zip(queues[::2], queues[1::2], strict=True))
    assert scipy.stats.binomtest(pairs[big, big], 500, 0.95**2).pvalue > 1e-6


@KEPT
def test_the_cards_of_a_taskqueue_go_in_the_order_of_the_requests(q: Calls, is_kept: bool) -> None:
    """User priority 10 comes before all others: the first requests get it, though many are drawn together."""
    q.settings(ten_first=True)
    q.insert_many(range(1, 21), 10)
    q.insert_many(range(101, 121), 1)
    if is_kept:
        search(q)
    found = ask(q, *[request() for _ in range(30)])
    assert {job for n in range(1, 21) for job in found[n]} == set(range(1, 21))
    assert all(job > 100 for n in range(21, 31) for job in found[n])
