"""A job that failed at a host is not given to this host for a time (sql/taskqueue/RETRIES.md, Another host)."""

import json
import threading
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connect, Connection, Match, resource
from tests.core.oracle.draw import chi_square, user_priorities, without
from tests.core.taskqueue.hands import Counted, counted, deal, drain, hand, know
from tests.core.taskqueue.test_hands import GENEROUS, LEVELS, counts_of, deal_by_chance, many

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
RULE = {"position": 1, "name": "other-host", "decision": "retry", "elsewhere": "host"}
N17: dict[str, Any] = {"Site": "S", "HostName": "n17"}
N18: dict[str, Any] = {"Site": "S", "HostName": "n18"}
AVOID = "n17 at S"


def _many(q: Calls, *requests: dict[str, Any], n: int = 1) -> list[list[int]]:
    """match_many: the jobs of each request."""
    asked = Jsonb([{"resources": [resource(**keys)], "n": n} for keys in requests])
    rows = q.call_rows("match_many", asked)
    return [[row[1] for row in rows if row[0] == number] for number in range(1, len(requests) + 1)]


WAYS: dict[str, Callable[..., list[int]]] = {
    "match_job": lambda q, **keys: [m.job_id for m in [q.match(**keys)] if m],
    "match_job with an id": lambda q, **keys: [m.job_id for m in [q.match(uuid4(), **keys)] if m],
    "match_jobs": lambda q, **keys: [m.job_id for m in q.match_jobs(3, **keys)],
    "match_many": lambda q, **keys: _many(q, keys)[0],
    "match_many for several": lambda q, **keys: _many(q, keys, n=3)[0],
    "match_many with others": lambda q, **keys: _many(q, {"CPUTime": 1}, keys, keys)[1],
}
WAY = pytest.mark.parametrize("ask", WAYS.values(), ids=WAYS.keys())


def begin(q: Calls) -> None:
    """Set the rule, and make the caller an agent, which takes the short way of a match."""
    q.call("set_retry_rules", Jsonb([RULE]))
    q.rows("select resource.set_identity(%s, resource.caller())", q.setup)


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    """A transaction: its jobs are drawn without a hand."""
    q = Calls(rolled_back)
    begin(q)
    q.set_clock(NOON)
    return q


@pytest.fixture
def committed(connect: Connect) -> Counted:
    """Autocommit: jobs come from hands."""
    q = counted(connect)
    begin(q)
    return q


def fail(q: Calls, match: Match | None) -> None:
    assert match
    assert q.call("finish_job", match.job_id, match.attempt, "failed") == "failed"


def ended_at_n17(q: Calls, job_id: int = 1, **keys: Any) -> None:
    """A job that failed at n17 and waits again."""
    q.insert(job_id, **keys)
    fail(q, q.take(**N17, JobID=job_id))


def avoid(q: Calls, *job_ids: int) -> None:
    """Let waiting jobs avoid n17, as if they had failed there, and deal again."""
    q.rows(
        "update taskqueue.job set avoid = %s, avoid_until = resource.clock(setup) + interval '1 hour'"
        " where job_id = any (%s) returning 1",
        AVOID, list(job_ids),
    )  # fmt: skip
    deal_by_chance(q, 16)


def avoided(q: Calls, job_id: int = 1) -> tuple[Any, ...]:
    [row] = q.rows(
        "select avoid, avoid_until from (select setup, job_id, avoid, avoid_until from taskqueue.job union all"
        " select setup, job_id, avoid, avoid_until from taskqueue.lease) j where job_id = %s",
        job_id,
    )
    return tuple(row)


@WAY
def test_the_host_where_a_job_failed_does_not_get_it(q: Calls, ask: Callable[..., list[int]]) -> None:
    for _ in range(2):  # the second time the description is known
        ended_at_n17(q)
        assert avoided(q) == (AVOID, NOON + timedelta(hours=1))
        assert ask(q, **N17) == []
        assert ask(q, **N18) == [1]
        q.call("cancel_job", 1)
        [row] = q.rows("select job_id, 1, '{}', 1, taskqueue.attempt_text(attempt, token) from taskqueue.lease")
        fail(q, Match(*row))  # it is marked for kill, so it ends
    assert q.inconsistencies() == []


@pytest.mark.slow
@WAY
@pytest.mark.parametrize("few", [True, False])
def test_a_hand_does_not_give_a_job_to_the_host_where_it_failed(
    committed: Counted, few: bool, ask: Callable[..., list[int]]
) -> None:
    """few: the matching definitions are known, and keys are drawn for their TaskQueues."""
    q = committed
    for job_id in range(10, 12 if few else 60):
        q.insert(job_id, Sites=["T"], JobTypes=[f"T{job_id}"])
    ended_at_n17(q)
    deal_by_chance(q, 16)
    if not few:
        know(q)
    for _ in range(3):
        assert ask(q, **N17) == []
    assert ask(q, **N18) == [1]
    assert q.inconsistencies() == []


@WAY
def test_at_a_site_with_limits_the_host_does_not_get_it_either(q: Calls, ask: Callable[..., list[int]]) -> None:
    q.running_limit("JobTypes", "t", 1)
    ended_at_n17(q, JobTypes=["t"])
    assert ask(q, **N17) == []
    assert ask(q, **N18) == [1]
    assert q.inconsistencies() == []


@WAY
def test_the_host_gets_other_jobs_of_the_queue_and_of_other_queues(q: Calls, ask: Callable[..., list[int]]) -> None:
    for job_id in (1, 2):
        ended_at_n17(q, job_id)
    q.insert(3, JobTypes=["other"])
    assert set(ask(q, **N17)) == {3}
    q.insert(4)
    assert set(ask(q, **N17)) == {4}
    assert sorted(drain(q)) == [1, 2]
    assert q.inconsistencies() == []


@pytest.mark.parametrize("other", [
    {"Site": "T", "HostName": "n17"}, {"HostName": "n17"}, {"Site": "S"}, N17 | {"JobID": 1},
])  # fmt: skip
def test_a_host_of_another_site_no_host_and_a_request_for_the_job_get_it(q: Calls, other: dict[str, Any]) -> None:
    ended_at_n17(q)
    assert q.take(**other).job_id == 1


@WAY
def test_the_case_of_a_host_does_not_count(q: Calls, ask: Callable[..., list[int]]) -> None:
    q.insert(1)
    fail(q, q.take(Site="S", HostName="N17.CERN.ch"))
    assert avoided(q)[0] == "n17.cern.ch at S"
    assert q.value("select host from taskqueue.history where event = 'failed'") == "n17.cern.ch"
    assert ask(q, Site="S", HostName="n17.cern.ch") == ask(q, Site="S", HostName="N17.Cern.Ch") == []
    assert q.explain(1, Site="S", HostName="N17.cern.CH")["Avoid"] is False
    assert ask(q, Site="S", HostName="n17.cern.org") == [1]


def test_a_seed_gets_every_job(q: Calls) -> None:
    ended_at_n17(q)
    assert [row[0] for row in q.call_rows("match_jobs_with_seed", Jsonb(resource(**N17)), 1, 5)] == [1]


def test_a_host_that_offers_several_sites_is_known_at_each(q: Calls) -> None:
    q.insert(1, Sites=["S", "T"])
    several = {"Site": ["R", "S"], "HostName": "n17"}
    fail(q, q.take(**several))
    assert avoided(q)[0] == AVOID
    assert q.match(**several) is None
    assert q.match(**N17) is None
    assert q.take(Site=["S", "T"], HostName="n18").job_id == 1


def test_without_a_site_the_host_alone_counts(q: Calls) -> None:
    q.insert(1)
    fail(q, q.take(HostName="n17"))
    assert avoided(q)[0] == "n17"
    assert q.match(HostName="n17") is None
    assert q.take(HostName="n18").job_id == 1


def test_after_the_time_the_host_gets_the_job(q: Calls) -> None:
    q.settings(avoid_time=60)
    ended_at_n17(q)
    q.set_clock(NOON + timedelta(seconds=59))
    assert q.match(**N17) is None
    q.set_clock(NOON + timedelta(seconds=60))
    assert q.take(**N17).job_id == 1


def test_the_time_of_a_job_for_later_begins_when_it_may_run(q: Calls) -> None:
    q.call("set_retry_rules", Jsonb([RULE | {"decision": "later", "delay": 7200}]))
    ended_at_n17(q)
    assert avoided(q) == (AVOID, NOON + timedelta(hours=3))
    q.set_clock(NOON + timedelta(hours=2))
    q.maintain()
    assert q.match(**N17) is None
    assert q.take(**N18).job_id == 1


def test_only_such_a_rule_lets_the_job_avoid_the_host(q: Calls) -> None:
    for rule in ({"elsewhere": None}, {"passive": True}):
        q.call("set_retry_rules", Jsonb([RULE | rule, {"position": 2, "name": "again", "decision": "retry"}]))
        q.insert(1)
        fail(q, q.take(**N17))
        assert avoided(q) == (None, None)
        q.call("cancel_job", 1)


def test_the_host_of_a_report_counts_if_the_request_named_none(q: Calls) -> None:
    q.insert(1)
    match = q.take(Site="S")
    q.call("report_job", 1, match.attempt, None, None, None, "n17")
    fail(q, match)
    assert avoided(q)[0] == AVOID


def test_hold_resumption_release_and_loss_keep_the_host(q: Calls) -> None:
    ended_at_n17(q)
    known = avoided(q)
    q.call("hold", "job", "1")
    q.call("resume", "job", "1")
    assert q.match(**N17) is None
    match = q.take(**N18)
    assert avoided(q) == known
    q.call("release_job", 1, match.attempt)
    assert (avoided(q), q.match(**N17)) == (known, None)
    q.take(**N18)
    q.call("return_leases", [1], "gone")
    assert (avoided(q), q.match(**N17)) == (known, None)
    q.call("set_cpu_buckets", [5000])
    assert (avoided(q), q.match(**N17)) == (known, None)


def test_a_failure_at_a_second_host_takes_the_place_of_the_first(q: Calls) -> None:
    ended_at_n17(q)
    fail(q, q.take(**N18))
    assert avoided(q)[0] == "n18 at S"
    assert q.match(**N18) is None
    match = q.take(**N17)
    q.call("set_retry_rules", Jsonb([RULE | {"elsewhere": None}]))
    fail(q, match)
    assert avoided(q)[0] == "n18 at S", "a rule without a host keeps the last one"


def test_an_insertion_and_a_retry_forget_the_host(q: Calls) -> None:
    ended_at_n17(q)
    q.insert(1, JobTypes=["t"])
    assert avoided(q) == (None, None)
    fail(q, q.take(**N17))
    q.call("cancel_job", 1)
    q.rows("select lifecycle.retry_jobs('default', array[1::bigint])")
    assert avoided(q) == (None, None)
    assert q.take(**N17).job_id == 1


def test_a_repeated_request_gets_the_same_job(q: Calls) -> None:
    """The answer is that of the lease, whatever the job avoids since."""
    request = uuid4()
    q.insert(1)
    first = q.match(request, **N17)
    fail(q, first)
    assert q.match(request, **N17) == first
    assert q.match(uuid4(), **N17) is None


def test_explanations_name_the_host(q: Calls) -> None:
    def row(**keys: Any) -> Any:
        found = q.call_rows("explain_match", 1, Jsonb(resource(**keys)))
        return next(row[1:] for row in found if row[0] == "Avoid")

    q.insert(1)
    assert row(**N17) == ("anything", "host n17 at S", True)
    assert "Avoid" not in [row[0] for row in q.call_rows("explain_job", 1)]
    fail(q, q.take(**N17))
    why = "another host than n17 at S until 2026-03-01 13:00:00 UTC"
    assert row(**N17) == (why, "host n17 at S", False)
    assert row(**N18) == (why, "host n18 at S", True)
    assert row(Site=["S", "T"], HostName="n17") == (why, "host n17 at S or n17 at T", False)
    assert row(Site="S") == (why, "names no host", True)
    assert row(**N17, JobID=1) == (why, "host n17 at S", True)
    assert [row[1] for row in q.call_rows("explain_job", 1) if row[0] == "Avoid"] == [why]
    q.set_clock(NOON + timedelta(hours=1))
    assert row(**N17) == ("anything", "host n17 at S", True)


# Hands


def in_turn(cards: list[int], avoids: int, *askers: str) -> list[int]:
    """The jobs of askers one after the other; N: the host that one of the jobs avoids."""
    left, found = list(cards), []
    for asker in askers:
        job = next(card for card in left if asker != "N" or card != avoids)
        left.remove(job)
        found.append(job)
    return found


@pytest.mark.slow
def test_each_request_of_a_call_gets_the_first_card_that_does_not_avoid_its_host(committed: Counted) -> None:
    q = committed
    q.insert_many(range(1, 21), 3)
    deal(q, 16)
    avoids = hand(q).cards[0]
    avoid(q, avoids)
    cards = hand(q).cards
    got = in_turn(cards, avoids, "N", "other", "N", "other")
    assert _many(q, N17, N18, N17, {"Site": "S"}) == [[job] for job in got]
    assert q.inconsistencies() == []


@pytest.mark.slow
@pytest.mark.parametrize("calls", ["one by one", "together"])
def test_a_host_gets_all_jobs_but_those_that_avoid_it(committed: Counted, calls: str) -> None:
    """More jobs avoid it than a hand has cards, and they come first."""
    q = committed
    q.insert_many(range(1, 201))
    avoid(q, *range(1, 101))
    if calls == "together":
        got = [m.job_id for m in q.match_jobs(150, **N17)]
    else:
        got = []
        while match := q.match(**N17):
            got.append(match.job_id)
    assert sorted(got) == list(range(101, 201))
    assert sorted(drain(q)) == list(range(1, 101))
    assert q.inconsistencies() == []


MATCHES = {
    "match_job": "taskqueue.match_job('default', {0})",
    "match_jobs": "taskqueue.match_jobs('default', {0}, 3)",
    "match_many": "taskqueue.match_many('default', jsonb_build_array({1}, {1}))",
}


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 12, 100])
@pytest.mark.parametrize("match", MATCHES.values(), ids=MATCHES.keys())
def test_a_thousand_matches_that_are_avoided_write_nothing(committed: Counted, jobs: int, match: str) -> None:
    """In two TaskQueues: no draw ends with the first one, and none goes on for ever."""
    q = committed
    q.insert_many(range(1, jobs + 1))
    q.insert(1000, JobTypes=["other"])
    avoid(q, *range(1, jobs + 1), 1000)
    for ask in WAYS.values():  # the description is noted, and the matching definitions are searched
        assert ask(q, **N17) == []
    before = hands(q)
    one = "'" + json.dumps(resource(**N17)) + "'::jsonb"
    call = match.format(one, f"jsonb_build_object('resources', jsonb_build_array({one}))")
    with q.connection.transaction():
        assert q.rows(f"select from generate_series(1, 1000) cross join lateral {call}") == []
        # A written or locked row gives the transaction a number; a page that is cleaned as it is read does not.
        assert q.value("select pg_current_xact_id_if_assigned() is null")
    assert hands(q) == before


def hands(q: Calls) -> list[Any]:
    return q.rows("select task_queue_id, hand_id from taskqueue.hand order by 1")


# The law


def host_gets(q: Counted, jobs_of: dict[int, dict[int, int]]) -> Counter[int]:
    """The user priorities of the jobs that the host gets, one of each TaskQueue."""
    return Counter(jobs[q.take(JobType=f"T{n}", **N17).job_id] for n, jobs in jobs_of.items())


@pytest.mark.slow
@pytest.mark.parametrize("way", ["short", "general"])
def test_the_host_gets_the_next_card_with_the_odds_that_a_locked_job_leaves(connect: Connect, way: str) -> None:
    """One of the two jobs with user priority 4 avoids the host."""
    q = counted(connect, known=way == "short")
    jobs_of = many(q, 200, LEVELS)
    avoid(q, *(1000 * n + 24 for n in jobs_of))
    got = host_gets(q, jobs_of)
    law = user_priorities(counts_of(LEVELS))
    is_first = law[4] / 2
    after = user_priorities(without(counts_of(LEVELS), 4))
    expected = {level: law[level] - (is_first if level == 4 else 0) + is_first * after[level] for level in LEVELS}
    assert chi_square(got, expected) > GENEROUS
    assert q.inconsistencies() == []


@pytest.mark.slow
@pytest.mark.parametrize("avoids", [[24], [24, 44]])
def test_without_a_hand_user_priorities_keep_their_keys(connect: Connect, avoids: list[int]) -> None:
    q = counted(connect)
    with q.connection.transaction():  # it has changed the TaskQueues, so it deals no hand
        jobs_of = many(q, 200, LEVELS, cards=0)
        update = "update taskqueue.job set avoid = %s, avoid_until = 'infinity' where job_id = any (%s) returning 1"
        q.rows(update, AVOID, [1000 * n + job for n in jobs_of for job in avoids])
        got = host_gets(q, jobs_of)
    there = LEVELS if len(avoids) == 1 else {1: 5, 9: 1}
    assert chi_square(got, user_priorities(counts_of(there))) > GENEROUS
    assert q.inconsistencies() == []


@pytest.mark.slow
def test_another_host_has_the_odds_of_all_jobs(connect: Connect) -> None:
    q = counted(connect, known=True)
    jobs_of = many(q, 200, LEVELS)
    avoid(q, *(1000 * n + 24 for n in jobs_of))
    got = Counter(jobs[q.take(JobType=f"T{n}", **N18).job_id] for n, jobs in jobs_of.items())
    assert chi_square(got, user_priorities(counts_of(LEVELS))) > GENEROUS


# Races


@pytest.mark.slow
def test_two_hosts_at_once_fail_each_job_at_both(connect: Connect) -> None:
    """Each job fails at one host, then at the other, and finishes at the first; two agents a host ask at once."""
    q = counted(connect)
    begin(q)
    q.insert_many(range(1, 61))
    connections = [connect() for _ in range(4)]
    errors: list[BaseException] = []

    def work(connection: Connection, host: str) -> None:
        try:
            connection.autocommit = True
            calls = Calls(connection)
            while calls.value("select count(*) from taskqueue.ended") < 60:
                match = calls.match(Site="S", HostName=host)
                if match:
                    calls.call("finish_job", match.job_id, match.attempt, "failed" if match.number < 3 else "finished")
        except BaseException as error:
            errors.append(error)

    agents = [threading.Thread(target=work, args=(c, f"n{17 + n % 2}")) for n, c in enumerate(connections)]
    for one in agents:
        one.start()
    for one in agents:
        one.join()
    assert errors == []
    ends = "select job_id, array_agg(host order by attempt) from taskqueue.history where event <> 'matched' group by 1"
    orders = Counter(tuple(hosts) for _, hosts in q.rows(ends))
    assert set(orders) == {("n17", "n18", "n17"), ("n18", "n17", "n18")}
    assert (orders.total(), q.inconsistencies()) == (60, [])
