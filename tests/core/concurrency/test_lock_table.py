"""All setups share PostgreSQL's lock table: a transaction takes a few locks, however much it inserts."""

import threading
import time
from collections.abc import Callable

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connect, Connection, requirements
from tests.core.concurrency.racing import Attempt, run_together

pytestmark = pytest.mark.slow

MOST = 40  # 32 parts of the new lists, the setup, and what a call holds for itself


def _locks(connection: Connection) -> int:
    row = connection.execute(
        "select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()"
    ).fetchone()
    assert row
    return int(row[0])


def _insert(q: Calls, first: int, sites: list[str], owner: str = "alice") -> None:
    """A job for each site."""
    q.call("insert_jobs", Jsonb([
        {"job_id": first + number, "requirements": requirements(Sites=[site], OwnerDN=owner)}
        for number, site in enumerate(sites)
    ]))  # fmt: skip


def test_a_transaction_with_many_new_lists_takes_few_locks(rolled_back: Connection) -> None:
    q = Calls(rolled_back)
    _insert(q, 1, [f"S{number}" for number in range(60)])
    q.insert(1000, Sites=[f"T{number}" for number in range(200)])
    assert _locks(rolled_back) <= MOST
    for number in range(20):  # call after call
        q.insert(2000 + number, Sites=[f"U{number}"], OwnerDN=f"owner {number}")
    assert _locks(rolled_back) <= MOST
    assert q.inconsistencies() == []


def test_a_transaction_with_many_new_requirements_takes_few_locks(rolled_back: Connection) -> None:
    q = Calls(rolled_back)
    q.call("insert_jobs", Jsonb([
        {"job_id": number, "requirements": requirements(OwnerDN=f"owner {number}")} for number in range(1, 101)
    ]))  # fmt: skip
    assert _locks(rolled_back) <= MOST
    assert q.value("select count(*) from taskqueue.task_queue") == 100
    assert q.inconsistencies() == []


@pytest.fixture
def three(dsn: str, connect: Connect) -> tuple[Calls, Calls, Calls]:
    """Two submitters and an agent; none of them waits for a lock."""
    callers = connect(), connect(), connect()
    for caller in callers:
        caller.execute("set lock_timeout = '300ms'")
    Calls(callers[0]).settings()  # the setup is there
    return Calls(callers[0]), Calls(callers[1]), Calls(callers[2])


MANY = [f"S{number}" for number in range(150)]  # lists in all parts


def _all_are_matched(q: Calls, job_ids: set[int]) -> None:
    matched: set[int] = set()
    while matches := q.match_jobs(100, Site=[*MANY, "T", "elsewhere"]):
        matched.update(match.job_id for match in matches)
    assert matched == job_ids
    assert q.inconsistencies() == []


@pytest.mark.parametrize("cpu_time", [500, 50_000])
def test_an_insert_does_not_wait_while_another_transaction_makes_many_lists(
    three: tuple[Calls, Calls, Calls], cpu_time: int
) -> None:
    bulk, single, agent = three
    single.insert(1, Sites=["elsewhere"])
    with bulk.connection.transaction():
        _insert(bulk, 100, MANY)
        single.insert(2, Sites=["T"], CPUTime=cpu_time)  # a list of one of the parts that bulk holds
        single.insert(3, Sites=[MANY[0]], CPUTime=cpu_time, OwnerDN="bob")  # a list that bulk makes
        match = agent.match(Site="elsewhere")
        assert match is not None and match.job_id == 1
        assert agent.match(Site="T") is None  # it is posted when bulk has ended
        agent.call("release_job", match.job_id, match.attempt)
    _all_are_matched(agent, {1, 2, 3, *range(100, 100 + len(MANY))})


@pytest.mark.parametrize("cpu_time", [500, 50_000])
def test_a_bulk_insert_does_not_wait_while_another_transaction_makes_a_list(
    three: tuple[Calls, Calls, Calls], cpu_time: int
) -> None:
    bulk, single, agent = three
    with single.connection.transaction():
        single.insert(1, Sites=[MANY[0]], CPUTime=cpu_time)
        _insert(bulk, 100, MANY, "bob")
        assert agent.match(Site=MANY[0]) is None
    _all_are_matched(agent, {1, *range(100, 100 + len(MANY))})


def test_an_insert_waits_for_another_of_the_same_new_queue_but_no_agent_does(three: tuple[Calls, Calls, Calls]) -> None:
    """Inserts wait for a session that opens a TaskQueue of a definition; an agent that gives a job back does not."""
    first, second, agent = three
    first.insert(1)
    match = agent.take()
    with first.connection.transaction():
        first.insert(2)  # the definition is there, its TaskQueue is not
        assert second.error_of(lambda: second.insert(3)).sqlstate == "55P03"
        agent.call("release_job", match.job_id, match.attempt)
    second.insert(3)
    found = {match.job_id for match in agent.match_jobs(3)}
    assert found == {1, 2, 3}
    assert agent.inconsistencies() == []


def test_inserts_maintenance_and_agents_race_without_deadlock_or_lost_job(dsn: str, db: Connection) -> None:
    """Bulks and single jobs arrive at new sites, TaskQueues come and go, agents match: no deadlock, no lost job."""
    jobs = 4 * 3 * 60
    matched: list[int] = []

    def submitter(which: int) -> Callable[[Calls], None]:
        def work(own: Calls) -> None:
            for turn in range(3):
                first = 1 + 60 * (3 * which + turn)
                sites = [f"S{(which * 7 + turn * 11 + number) % 150}" for number in range(60)]
                if which % 2:
                    _insert(own, first, sites, f"owner {which}")
                else:
                    for number, site in enumerate(sites):
                        own.insert(first + number, Sites=[site, f"X{which}.{turn}.{number}"], OwnerDN=f"owner {which}")

        return work

    def maintainer(own: Calls) -> None:
        while len(matched) < jobs:
            own.maintain()
            for which in range(4):
                own.call("hold", "owner", f"owner {which}")
                own.call("resume", "owner", f"owner {which}")

    def agent(own: Calls) -> None:
        while len(matched) < jobs:
            matched.extend(match.job_id for match in own.match_jobs(5))

    Calls(db).settings()
    run_together(dsn, [*(submitter(which) for which in range(4)), maintainer, agent, agent])
    assert sorted(matched) == list(range(1, jobs + 1))
    assert Calls(db).inconsistencies() == []


def test_maintenance_has_its_place_in_the_line_before_it_locks_a_list(connect: Connect) -> None:
    """Otherwise an operator in front of it waits for the list, and maintenance behind the operator for the shares."""
    keeper, operator, watcher = (Calls(connect()) for _ in range(3))
    keeper.insert(1, OwnerDN="alice")
    keeper.insert(2, OwnerDN="bob")
    of_bob = str(keeper.queue_of(2))
    keeper.call("hold", "task_queue", of_bob)
    keeper.connection.execute("update taskqueue.share_mark set marked_at = now() - interval '1 hour'")
    keeper.maintain()  # leaves nothing for the next call
    resume = threading.Thread(target=lambda: operator.call("resume", "task_queue", of_bob))
    waits = "select from pg_locks where pid = %s and not granted"
    with keeper.connection.transaction():
        keeper.maintain()
        keeper.rows("select from taskqueue.posting_list for update")  # as the step does that posts what is left
        resume.start()
        while not watcher.rows(waits, operator.connection.info.backend_pid):
            time.sleep(0.01)
        keeper.connection.execute("update taskqueue.task_queue set priority = 1000 * priority where owner_dn = 'alice'")
        keeper.connection.execute("""
            insert into taskqueue.share_mark (setup, owner_group, marked_at)
            select distinct setup, owner_group, now() - interval '1 hour' from taskqueue.task_queue""")
        assert keeper.maintain()["shares"] > 0
    resume.join(10)
    assert not resume.is_alive()
    assert len(operator.match_jobs(3)) == 2
    assert keeper.inconsistencies() == []


@pytest.mark.parametrize("call", ["recompute_shares", "load_task_queues", "cancel_jobs"])
def test_a_call_that_waits_while_it_has_lists_or_factors_joins_the_line_first(connect: Connect, call: str) -> None:
    """Maintenance is in the line, and then waits for what such a call locks."""
    keeper, other, watcher = (Calls(connect()) for _ in range(3))
    keeper.settings(share_correction=True)
    for job in range(1, 4):
        keeper.insert(job, OwnerDN=f"owner {job}")
    loaded = Jsonb([{"requirements": requirements(), "jobs": [[9, 1]]}])
    work: dict[str, Callable[[Calls], object]] = {
        "recompute_shares": lambda q: q.call("recompute_shares"),
        "load_task_queues": lambda q: q.call("load_task_queues", loaded),
        "cancel_jobs": lambda q: q.rows("select * from lifecycle.cancel_jobs(%s, '{1,2}')", q.setup),
    }
    held = """select from pg_locks where pid = %s and granted and relation::regclass::text = any (%s)
                 and mode ~ 'Exclusive'"""
    changed = ["taskqueue.share_correction", "taskqueue.posting_list", "taskqueue.job"]
    with keeper.connection.transaction():
        keeper.call("join_line")
        attempt = Attempt(other, work[call], watcher)
        assert attempt.waits()
        assert watcher.rows(held, other.connection.info.backend_pid, changed) == []
    attempt.end()
    assert keeper.inconsistencies() == []
