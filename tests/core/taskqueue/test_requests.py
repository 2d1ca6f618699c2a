"""LEASES.md, Repeated requests: a match with a request id, whose answer is its lease, and later a row of its own."""

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connect, Connection, Match, requirements, resource

REQUEST = uuid.UUID(int=7)
START = "2026-01-01 00:00:00+00"


@pytest.fixture(params=["short", "general"])
def q(request: pytest.FixtureRequest, rolled_back: Connection) -> Calls:
    """Jobs, a stopped clock, and a caller of each way of matching: a caller with an identity takes the short way."""
    q = Calls(rolled_back)
    q.set_clock(START)
    q.insert_many(range(1, 6), Sites=["S"])
    q.maintain()
    if request.param == "short":
        q.rows("select resource.set_identity('default', resource.caller())")
        q.call("release_job", 1, q.take(Site="S", JobID=1).attempt)
        assert q.match(Site="S", CPUTime=1) is None  # the description is known from now on
        q.maintain()
    return q


def ask(q: Calls, request: uuid.UUID = REQUEST) -> Match:
    match = q.match(request, Site="S")
    assert match is not None
    return match


def kept(q: Calls) -> int:
    return int(q.value("select count(*) from taskqueue.request where call = 'match_jobs'"))


def expire(q: Calls) -> Any:
    return q.rows("select * from lifecycle.expire_leases('default')")


def test_the_answer_of_a_match_is_its_lease(q: Calls) -> None:
    first = ask(q)
    assert ask(q) == first
    assert kept(q) == 0
    assert q.value("select count(*) from taskqueue.lease") == 1
    assert q.value("select request_id from taskqueue.lease") == REQUEST


def test_a_match_without_a_request_id_keeps_none(q: Calls) -> None:
    first, second = q.take(Site="S"), q.take(Site="S")
    assert first.job_id != second.job_id
    assert q.value("select count(*) from taskqueue.lease where request_id is null and asked is null") == 2


def _given_to_another(q: Calls, match: Match) -> None:
    q.call("release_job", match.job_id, match.attempt)
    assert q.take(Site="S", JobID=match.job_id).number == match.number + 1


def _expired(q: Calls, match: Match) -> None:
    q.set_clock("2026-01-01 00:02:00+00")
    expire(q)
    assert q.state(match.job_id) == "waiting"


def _failed(q: Calls, match: Match) -> None:
    q.settings(attempts=1)
    q.set_clock("2026-01-01 00:02:00+00")
    expire(q)
    assert q.outcome(match.job_id) == "failed"


def _killed(q: Calls, match: Match) -> None:
    q.call("cancel_job", match.job_id, "no longer wanted")
    assert q.call("release_job", match.job_id, match.attempt) is None
    assert q.outcome(match.job_id) == "cancelled"


def _loaded(q: Calls, match: Match) -> None:
    """A world that has the job with another attempt."""
    lease = {
        "id": match.job_id, "requirements": match.requirements, "user_priority": 1, "state": "matched",
        "attempt": f"5-{'0' * 32}", "role": q.value("select resource.caller()"), "matched_at": "2026-01-01 00:00:01",
        "expires_at": "2999-01-01",
    }  # fmt: skip
    assert q.call("load_leases", Jsonb([lease])) == 1


ENDS: dict[str, tuple[Callable[[Calls, Match], Any], int]] = {
    "reported": (lambda q, m: q.call_rows("report_job", m.job_id, m.attempt), 0),
    "marked for kill": (lambda q, m: q.call("cancel_job", m.job_id), 0),
    "finished": (lambda q, m: q.call("finish_job", m.job_id, m.attempt), 1),
    "released": (lambda q, m: q.call("release_job", m.job_id, m.attempt), 1),
    "returned": (lambda q, m: q.rows("select taskqueue.return_leases('default', %s, 'lost')", [m.job_id]), 1),
    "given to another": (_given_to_another, 1),
    "expired": (_expired, 1),
    "failed": (_failed, 1),
    "killed": (_killed, 1),
    "loaded": (_loaded, 1),
}


@pytest.mark.parametrize(("end", "rows"), ENDS.values(), ids=ENDS.keys())
def test_the_answer_of_a_request_outlives_its_lease(q: Calls, end: Callable[[Calls, Match], Any], rows: int) -> None:
    q.settings(lease_time="1 minute")
    first = ask(q)
    end(q, first)
    assert kept(q) == rows
    assert ask(q) == first
    q.set_clock("2026-01-01 00:09:59+00")
    assert ask(q) == first
    q.set_clock("2026-01-01 00:10:00+00")
    assert ask(q).attempt != first.attempt


@pytest.mark.parametrize("end", [ENDS[name][0] for name in ("finished", "released", "returned")])
def test_a_lease_that_ends_after_ten_minutes_keeps_no_answer(q: Calls, end: Callable[[Calls, Match], Any]) -> None:
    first = ask(q)
    q.set_clock("2026-01-01 00:10:00+00")
    end(q, first)
    assert kept(q) == 0


def test_a_request_id_is_new_after_ten_minutes_while_its_first_job_runs(q: Calls) -> None:
    first = ask(q)
    q.set_clock("2026-01-01 00:10:00+00")
    second = ask(q)
    assert second.job_id != first.job_id
    assert ask(q) == second
    q.call("finish_job", first.job_id, first.attempt)
    q.call("finish_job", second.job_id, second.attempt)
    assert ask(q) == second


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_clock_that_was_set_back_leaves_the_newest_answer(q: Calls, order: tuple[int, int]) -> None:
    matches = [ask(q)]
    q.set_clock("2026-01-01 00:10:00+00")
    matches.append(ask(q))
    q.set_clock("2026-01-01 00:05:00+00")
    for number in order:
        q.call("finish_job", matches[number].job_id, matches[number].attempt)
    assert ask(q) == matches[1]


def test_a_clock_that_was_set_back_refuses_no_return(q: Calls) -> None:
    """Both leases of the request id are recent then."""
    matches = [ask(q)]
    q.set_clock("2026-01-01 00:10:00+00")
    matches.append(ask(q))
    q.set_clock("2026-01-01 00:05:00+00")
    q.rows("select taskqueue.return_leases('default', %s, 'lost')", [match.job_id for match in matches])
    assert kept(q) == 1
    assert ask(q) == matches[1]


def test_leases_return_together_with_their_answers(q: Calls) -> None:
    matches = [ask(q, uuid.UUID(int=n)) for n in range(1, 4)] + [q.take(Site="S")]
    q.rows("select taskqueue.return_leases('default', %s, 'lost')", [match.job_id for match in matches])
    assert kept(q) == 3
    assert [ask(q, uuid.UUID(int=n)) for n in range(1, 4)] == matches[:3]


def test_answers_are_removed_after_ten_minutes(q: Calls) -> None:
    first = ask(q)
    q.call("finish_job", first.job_id, first.attempt)
    assert kept(q) == 1
    q.set_clock("2026-01-01 00:10:01+00")
    q.maintain()
    assert kept(q) == 0


def test_a_lease_that_is_loaded_unchanged_keeps_its_answer(q: Calls) -> None:
    first = ask(q)
    q.call("load_leases", Jsonb([lease for (lease,) in q.call_rows("dump_leases")]))
    assert ask(q) == first


def _one_of_many(q: Calls, request: uuid.UUID, **keys: Any) -> Match:
    asked = {"resources": [resource(**keys)], "request_id": str(request)}
    [(_, *job, error, _)] = q.call_rows("match_many", Jsonb([asked]))
    if error is not None:
        raise AssertionError(error["code"])
    return Match(*job)


SAME: dict[str, Callable[[Calls], Match]] = {
    "match_job": ask,
    "match_jobs of one": lambda q: Match(*q.call_rows("match_jobs", Jsonb(resource(Site="S")), 1, REQUEST)[0]),
    "match_many of one": lambda q: _one_of_many(q, REQUEST, Site="S"),
}


@pytest.mark.parametrize("ended", [False, True], ids=["leased", "ended"])
@pytest.mark.parametrize("first", SAME)
@pytest.mark.parametrize("second", SAME)
def test_a_request_for_one_job_has_the_same_answer_in_every_function(
    q: Calls, first: str, second: str, ended: bool
) -> None:
    match = SAME[first](q)
    if ended:
        q.call("finish_job", match.job_id, match.attempt)
    assert SAME[second](q) == match
    assert kept(q) == ended


def test_the_order_of_keys_does_not_matter(q: Calls) -> None:
    """Zeros behind the point do not matter either: the values are the same in JSON."""
    first = q.rows(
        'select attempt from taskqueue.match_job(\'default\', \'{"Site": "S", "CPUTime": 1e6}\', %s)', REQUEST
    )
    again = 'select attempt from taskqueue.match_job(\'default\', \'{"CPUTime": 1000000.0, "Site": "S"}\', %s)'
    assert q.rows(again, REQUEST) == first


OTHERS: dict[str, Callable[[Calls], Any]] = {
    "match of another resource": lambda q: q.match(REQUEST, Site="S", CPUTime=600),
    "match of another site": lambda q: q.match(REQUEST, Site="T"),
    "match without a site": lambda q: q.match(REQUEST),
    "match of a job": lambda q: q.match(REQUEST, Site="S", JobID=5),
    "match of two": lambda q: q.call_rows("match_jobs", Jsonb(resource(Site="S")), 2, REQUEST),
    "insert_job": lambda q: q.insert(8, 1, REQUEST),
    "insert_jobs": lambda q: q.call("insert_jobs", Jsonb([{"job_id": 8, "requirements": requirements()}]), REQUEST),
}


@pytest.mark.parametrize("ended", [False, True], ids=["leased", "ended"])
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_the_request_id_of_a_match_answers_no_other_call(q: Calls, other: Callable[[Calls], Any], ended: bool) -> None:
    first = ask(q)
    if ended:
        q.call("finish_job", first.job_id, first.attempt)
    before = q.stored()
    q.refuses(lambda: other(q), "PB001", str(REQUEST), "match_jobs")
    assert q.stored() == before
    assert ask(q) == first


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_a_match_does_not_take_the_id_of_another_call(q: Calls, other: Callable[[Calls], Any]) -> None:
    q.insert(9)  # without a site, in the lowest bucket
    other(q)
    before = q.value("select count(*) from taskqueue.lease")
    assert q.refusal(lambda: ask(q))[0] == "PB001"
    assert q.value("select count(*) from taskqueue.lease") == before


MANY: dict[str, dict[str, Any]] = {
    "of two": {"resources": [resource(Site="S")], "n": 2},
    "of another resource": {"resources": [resource(Site="S", Tag="t")]},
    "with choices": {"resources": [resource(Site="S"), resource(Site="T")]},
}


@pytest.mark.parametrize("asked", MANY.values(), ids=MANY.keys())
def test_a_request_id_is_refused_where_match_many_asks_for_more(q: Calls, asked: dict[str, Any]) -> None:
    first = ask(q)
    rows = q.call_rows("match_many", Jsonb([asked | {"request_id": str(REQUEST)}]))
    assert [row[6]["code"] for row in rows] == ["PB001"]
    other = uuid.UUID(int=8)
    assert q.call_rows("match_many", Jsonb([asked | {"request_id": str(other)}]))[0][6] is None
    assert q.refusal(lambda: ask(q, other))[0] == "PB001"
    assert ask(q) == first


@pytest.mark.parametrize("keys", [{}, {"JobID": 30, "Tag": "t"}], ids=["drawn together", "alone"])
def test_each_single_job_request_of_match_many_has_its_answer_in_its_lease(q: Calls, keys: dict[str, Any]) -> None:
    q.insert_many(range(11, 21), Sites=["S"])
    q.insert_many([30], Sites=["S"], Tags=["t"])  # requests without the tag cannot take this job
    one, another, two = (
        {"resources": [resource(Site="S", **more)], "n": n, "request_id": str(uuid.uuid4())}
        for n, more in ((1, keys), (1, {}), (2, {}))
    )
    first = q.call_rows("match_many", Jsonb([one, another, two]))
    assert [row[0] for row in first] == [1, 2, 3, 3]
    assert kept(q) == 1  # the answer to the request for two
    assert q.value("select count(*) from taskqueue.lease where request_id is not null") == 2
    assert q.call_rows("match_many", Jsonb([one, another, two])) == first
    for row in first[:2]:
        q.call("finish_job", row[1], row[5])
    assert kept(q) == 3
    assert q.call_rows("match_many", Jsonb([one, another, two])) == first


def test_a_repetition_does_not_restart_the_ten_minutes(q: Calls) -> None:
    first = SAME["match_many of one"](q)
    q.set_clock("2026-01-01 00:09:00+00")
    assert SAME["match_many of one"](q) == first
    q.set_clock("2026-01-01 00:10:00+00")
    assert SAME["match_many of one"](q).attempt != first.attempt


def test_calls_with_the_same_arguments_are_two_calls(q: Calls) -> None:
    """insert_jobs could not take the arguments of insert_job."""
    q.insert(8, 1, REQUEST)
    arguments = Jsonb([8, requirements(), 1])
    q.refuses(lambda: q.call("insert_jobs", arguments, REQUEST), "PB001", str(REQUEST))


def test_an_answer_without_a_match_is_not_kept(q: Calls) -> None:
    assert q.match(REQUEST, Site="T") is None
    assert q.match(REQUEST, Site="S") is not None


@pytest.mark.slow
def test_a_login_that_may_no_longer_use_the_setup_gets_no_answer(connect: Connect) -> None:
    operator, agent = Calls(connect()), Calls(connect(role="broker_agent"))
    operator.insert_many([1, 2])
    operator.rows("select resource.set_identity('default', 'broker_agent')")
    first = agent.match(REQUEST)
    assert first and agent.match(REQUEST) == first
    operator.rows("select resource.clear_identity('default', 'broker_agent')")
    assert agent.refusal(partial(agent.match, REQUEST))[0] == "PB002"


@pytest.mark.slow
@pytest.mark.parametrize("ended", [False, True], ids=["leased", "ended"])
@pytest.mark.parametrize("private", [False, True], ids=["generic", "private"])
def test_another_login_with_the_same_request_id_gets_its_own_answer(
    connect: Connect, private: bool, ended: bool
) -> None:
    operator, agent = Calls(connect()), Calls(connect(role="broker_agent"))
    operator.insert_many([1, 2, 3], OwnerGroup="mine")
    operator.insert_many([4, 5, 6], OwnerGroup="theirs")
    group = "mine" if private else None
    operator.rows("select resource.set_identity('default', 'broker_agent', %s, %s)", private, group)
    first, second = operator.match(REQUEST, OwnerGroup="theirs"), agent.match(REQUEST)
    assert first and second and first.job_id in {4, 5, 6}
    assert second.job_id != first.job_id and (second.job_id in {1, 2, 3} or not private)
    if ended:
        for match in (first, second):
            operator.call("finish_job", match.job_id, match.attempt)
    assert operator.match(REQUEST, OwnerGroup="theirs") == first
    assert agent.match(REQUEST) == second
