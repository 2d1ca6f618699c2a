"""The client of JobAgents, sync and async."""

import asyncio
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from broker import database, errors, world
from broker.client.call import Call, only
from broker.client.matcher import Answer, AsyncJobAgent, Ended, JobAgent, Lease, Match, Request, RunError, Used
from broker.client.submitter import Submitter
from broker.database_errors import from_database
from tests.calls import Calls, Connection, requirements, resource
from tests.cutter import Cutter
from tests.pooler import Pooler


@pytest.fixture
def agent(dsn: str) -> Iterator[JobAgent]:
    with JobAgent("default", dsn) as agent:
        yield agent


@pytest.fixture
def cutter(dsn: str) -> Iterator[Cutter]:
    cutter = Cutter(dsn)
    yield cutter
    cutter.close()


def taken(match: Match | None) -> Match:
    assert match is not None
    return match


def test_an_agent_matches_reports_and_finishes_a_job(agent: JobAgent, db: Connection) -> None:
    calls = Calls(db)
    queue = calls.insert(7, 3, Sites=["S"])
    match = taken(agent.match(resource(Site="S")))
    assert (match.job_id, match.task_queue_id, match.user_priority) == (7, queue, 3)
    assert match.requirements == requirements(Sites=["S"])
    assert agent.report(match) == Answer("continue", None)
    assert agent.finish(match, "failed") == "failed"
    assert agent.finish(match, "failed") == "failed"  # a second time is no error
    assert calls.outcome(7) == "failed"
    assert agent.match(resource()) is None


END = "select host, error, cpu_used, wall_used, ram_used, cores_used from taskqueue.history where event = 'failed'"
ERROR: list[RunError] = [{"source": "pilot", "code": 1305, "text": "the payload failed"}, {"source": "exe", "code": 65}]
USED: Used = {"cpu": 12.5, "wall": 60, "ram": 2000, "cores": 8}


def test_a_report_and_an_end_have_facts_of_the_run(agent: JobAgent, db: Connection) -> None:
    Calls(db).insert_many([1, 2])
    match = taken(agent.match(resource(HostName="n17")))
    agent.report(match, None, used={"cpu": 3, "ram": 2000}, host="n18")
    assert agent.finish(match, "failed", error=ERROR, used={"wall": 60}) == "failed"
    assert Calls(db).rows(END) == [("n17", ERROR, 3, 60, 2000, None)]
    other = taken(agent.match(resource()))
    wrong: list[Any] = [{"source": "Pilot"}]
    with pytest.raises(errors.BadRequest, match="source is"):
        agent.finish(other, "failed", error=wrong)
    with pytest.raises(errors.BadRequest, match="host is"):
        agent.report(other, host="")
    with pytest.raises(errors.BadRequest, match=r"error is .*not a list"):
        agent.report(other, error="text")  # type: ignore[arg-type]  # refused in the database


def test_many_reports_and_ends_have_facts_by_job(agent: JobAgent, db: Connection) -> None:
    Calls(db).insert_many(range(1, 4))
    matches = sorted(agent.match_jobs(resource(), 3), key=lambda one: one.job_id)
    answers = agent.report_many(matches, facts={1: {"host": "n17"}, 2: {"host": ""}, 99: {"host": "n18"}})
    assert [answers[job].action for job in (1, 2, 3)] == ["continue", "refused", "continue"]
    ended = agent.finish_many(matches, "failed", facts={1: {"error": ERROR, "used": USED}, 2: {"used": {"cpu": -1}}})
    assert [ended[job].outcome for job in (1, 2, 3)] == ["failed", "refused", "failed"]
    found = [("n17", ERROR, 12.5, 60, 2000, 8), (None,) * 6]
    assert Calls(db).rows(END + " order by job_id") == found


def test_the_text_of_an_error_may_be_the_output_of_any_program(agent: JobAgent, db: Connection) -> None:
    Calls(db).insert_many([1, 2])
    matches = [taken(agent.match(resource())) for _ in range(2)]
    error: list[RunError] = [{"source": "payload", "code": 1}, {"source": "payload", "text": "a\0b\udcffc"}]
    assert agent.finish(matches[0], "failed", error=error) == "failed"
    ended = agent.finish_many(matches[1:], "failed", facts={matches[1].job_id: {"error": error}})
    assert [one.outcome for one in ended.values()] == ["failed"]
    assert [row[1] for row in Calls(db).rows(END)] == [[error[0], {"source": "payload", "text": "a b?c"}]] * 2


def test_match_jobs_takes_no_more_than_asked_for(agent: JobAgent, db: Connection) -> None:
    Calls(db).insert_many(range(1, 11))
    first = agent.match_jobs(resource(), 7)
    second = agent.match_jobs(resource(), 7)
    assert (len(first), len(second)) == (7, 3)
    assert {match.job_id for match in first + second} == set(range(1, 11))
    assert agent.match_jobs(resource(), 7) == []


@pytest.mark.slow
def test_match_many_answers_each_request(agent: JobAgent, db: Connection) -> None:
    Calls(db).insert_many(range(1, 6), Sites=["S"])
    there, elsewhere = resource(Site="S"), resource(Site="T")
    answers = agent.match_many(
        [
            {"resources": [elsewhere, there], "n": 2},
            {"resources": [elsewhere]},
            {"resources": [resource(Colour="red")]},
            {"resources": [there], "request_id": "7"},
            7,  # type: ignore[list-item]  # refused in the database
            {"resources": [there]},
        ]
    )
    jobs = [match.job_id for answer in answers for match in answer.jobs]
    assert [len(answer.jobs) for answer in answers] == [2, 0, 0, 0, 0, 1]
    assert len(set(jobs)) == 3
    assert answers[0].jobs[0].requirements == requirements(Sites=["S"])
    refused = [str(answer.error) for answer in answers if isinstance(answer.error, errors.BadRequest)]
    assert [word in text for word, text in zip(("Colour", "request_id is", "request is 7"), refused, strict=True)] == [
        True
    ] * 3
    assert agent.report(answers[5].jobs[0]) == Answer("continue", None)


def test_match_many_repeats_an_answer_by_its_request_id(agent: JobAgent, db: Connection) -> None:
    Calls(db).insert_many(range(1, 6))
    request: Request = {"resources": [resource()], "request_id": uuid.uuid4()}
    assert agent.match_many([request]) == agent.match_many([request])
    assert Calls(db).value("select count(*) from monitor.lease") == 1
    with pytest.raises(errors.BadRequest, match="1001"):
        agent.match_many([request] * 1001)


def test_many_jobs_are_reported_and_ended_in_one_call(agent: JobAgent, db: Connection) -> None:
    Calls(db).insert_many(range(1, 4))
    one, two, three = agent.match_jobs({"CPUTime": 1000}, 3)
    agent.release(two)
    answers = agent.report_many([one, two, three], None)
    assert {job: answer.action for job, answer in answers.items()} == {
        one.job_id: "continue",
        two.job_id: "stale",
        three.job_id: "continue",
    }
    assert answers[two.job_id].reason == f"attempt 1 of job {two.job_id} is stale"
    ended = agent.finish_many([one, two], "failed")
    assert [ended[one.job_id], ended[two.job_id].outcome] == [Ended("failed", None), "stale"]
    assert Calls(db).state(three.job_id) == "leased"


def test_a_released_job_waits_again_and_its_old_attempt_is_stale(agent: JobAgent, db: Connection) -> None:
    Calls(db).insert(1)
    match = taken(agent.match(resource()))
    assert agent.release(match) == Calls(db).queue_of(1)
    with pytest.raises(errors.StaleAttempt) as caught:
        agent.report(Lease(match.job_id, match.attempt))
    assert (caught.value.sqlstate, bool(caught.value.hint)) == ("PB003", True)
    assert taken(agent.match(resource())).attempt.startswith("2-")


def test_a_report_about_a_cancelled_job_is_answered_with_kill(agent: JobAgent, db: Connection) -> None:
    Calls(db).insert(1)
    match = taken(agent.match(resource()))
    Calls(db).call("cancel_job", 1, "no longer wanted")
    assert agent.report(match) == Answer("kill", "no longer wanted")
    assert agent.release(match) is None
    assert Calls(db).outcome(1) == "cancelled"


def test_the_same_request_id_gives_the_same_job(agent: JobAgent, db: Connection) -> None:
    Calls(db).insert_many(range(1, 6))
    request = uuid.uuid4()
    assert agent.match(resource(), request) == agent.match(resource(), request)
    assert Calls(db).value("select count(*) from monitor.lease") == 1


@pytest.mark.parametrize(
    ("description", "named"),
    [({}, "CPUTime"), ({"CPUTime": -1}, "CPUTime"), ({"CPUTime": 1, "Colour": "red"}, "Colour")],
)
def test_a_refused_description_is_a_bad_request_that_names_the_key(
    agent: JobAgent, description: dict[str, object], named: str
) -> None:
    with pytest.raises(errors.BadRequest, match=named) as caught:
        agent.match(description)
    assert caught.value.sqlstate == "PB001"
    assert caught.value.hint


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"bytes"])
def test_a_description_that_is_not_json_is_refused_before_it_is_sent(agent: JobAgent, value: object) -> None:
    with pytest.raises(errors.BadRequest, match="not JSON"):
        agent.match({"CPUTime": value})


def test_a_login_without_identity_is_not_allowed(dsn: str, db: Connection) -> None:
    Calls(db).insert(1)
    db.execute("create role agent_without_identity login in role broker_agent")
    try:
        target = psycopg.conninfo.make_conninfo(dsn, options="-c role=agent_without_identity")
        with JobAgent("default", target) as agent, pytest.raises(errors.NotAllowed, match="agent_without_identity"):
            agent.match(resource())
    finally:
        db.execute("drop role agent_without_identity")


def test_floats_and_nested_lists_reach_the_database(agent: JobAgent, db: Connection) -> None:
    Calls(db).insert(1, Platforms=["p"], MinRAM=1000.5)
    assert agent.match(resource(Platform=["q", "p"], MaxRAM=1000.25)) is None
    assert taken(agent.match(resource(Platform=["q", "p"], MaxRAM=1000.5))).job_id == 1


@pytest.mark.slow
def test_a_lost_answer_costs_no_job(cutter: Cutter, db: Connection) -> None:
    """The match is done and its answer is lost: the agent gets the same job again, and only one is leased."""
    calls = Calls(db)
    calls.insert_many(range(1, 101))
    with JobAgent("default", cutter.dsn, connections=1) as agent:
        first = taken(agent.match(resource()))  # the connection is there now
        cutter.cut()
        second = taken(agent.match(resource()))
        cutter.cut()
        agent.report(second)
        cutter.cut()
        assert agent.finish(second) == "finished"
    assert cutter.cuts == 3
    assert calls.value("select array_agg(job_id) from monitor.lease") == [first.job_id]
    assert calls.outcome(second.job_id) == "finished"


@pytest.mark.slow
def test_the_agent_of_an_instance_gets_the_same_steps_after_a_lost_answer(cutter: Cutter, db: Connection) -> None:
    """Sync and async; an instance that was released gets an error."""
    calls = Calls(db)
    types = {"small": {"cpu": 2, "ram": 4096, "price": 1}}
    world.load(db, [{"instance_types": types, "queues": {"CLOUD": {"resource_type": "cloud"}}}])
    calls.insert_many([1, 2], Sites=["CLOUD"])
    calls.rows("call instance.schedule('default')")
    instance = calls.value("select instance_id from monitor.instance")
    with JobAgent("default", cutter.dsn, connections=1) as agent:
        agent.match(resource(Site="NONE"))  # the connection is there now
        cutter.cut()
        first = agent.match_instance(instance, limit=1)
        assert [match.job_id for match in first] == [1]
        assert agent.match_instance(instance, {"Platform": "el9"}, spare=True)[0].job_id == 2
    assert cutter.cuts == 1
    calls.rows("select * from instance.lose_instances('default', array[%s::bigint])", instance)

    async def work() -> None:
        async with AsyncJobAgent("default", cutter.dsn, connections=1) as agent:
            with pytest.raises(errors.NoSuchThing, match=f"instance {instance} is released"):
                await agent.match_instance(instance)

    asyncio.run(work())


def test_a_lost_release_is_not_repeated_and_raises_an_error(cutter: Cutter, db: Connection) -> None:
    Calls(db).insert(1)
    with JobAgent("default", cutter.dsn, connections=1) as agent:
        match = taken(agent.match(resource()))
        cutter.cut()
        with pytest.raises(errors.ConnectError):
            agent.release(match)
        with pytest.raises(errors.StaleAttempt):
            agent.report(match)
    assert Calls(db).state(1) == "waiting"


def test_a_lost_batch_of_jobs_is_stored_once(cutter: Cutter, db: Connection) -> None:
    with Submitter("default", cutter.dsn, connections=1) as submitter:
        submitter.submit(1, requirements())
        cutter.cut()
        assert submitter.submit_many({"job_id": n, "requirements": requirements()} for n in range(2, 12)) == 10
    assert cutter.cuts == 1
    assert Calls(db).value("select count(*) from monitor.job") == 11


@pytest.mark.slow
def test_connections_killed_by_the_server_are_replaced(dsn: str, db: Connection) -> None:
    Calls(db).insert_many(range(1, 11))
    with JobAgent("default", dsn, connections=3) as agent:
        agent.match(resource())
        db.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
        assert agent.match(resource()) is not None


@contextmanager
def away(dsn: str, db: Connection) -> Iterator[None]:
    """The database refuses all logins, and all its connections are ended, including those of superusers."""
    name = conninfo_to_dict(dsn)["dbname"]
    with psycopg.connect(make_conninfo(dsn, dbname="postgres"), autocommit=True) as other:
        other.execute(sql.SQL("alter database {} allow_connections off").format(sql.Identifier(str(name))))
        other.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name])
        try:
            yield
        finally:
            other.execute(sql.SQL("alter database {} allow_connections on").format(sql.Identifier(str(name))))


@pytest.mark.slow
@pytest.mark.own_database
@pytest.mark.parametrize("patient", [True, False])
def test_a_call_waits_for_a_server_as_long_as_its_timeout_allows(dsn: str, db: Connection, patient: bool) -> None:
    """The pool tries to connect at 0, 1, 3 and 5 seconds, so a pause of three takes a repetition."""
    Calls(db).insert_many([1, 2])

    def ask(agent: JobAgent) -> Match | None:
        return agent.match(resource())

    async def ask_async(agent: AsyncJobAgent) -> Match | None:
        return await agent.match(resource())

    async def both(patience: float, then: Callable[[], None]) -> None:
        async with AsyncJobAgent("default", dsn, timeout=0.5, patience=patience) as waiting:
            with JobAgent("default", dsn, timeout=0.5, patience=patience) as agent:
                with away(dsn, db):
                    calls = [
                        asyncio.create_task(asyncio.to_thread(ask, agent)),
                        asyncio.create_task(ask_async(waiting)),
                    ]
                    await asyncio.sleep(3)
                    assert [call.done() for call in calls] == [not patient] * 2
                then()
                found = await asyncio.gather(*calls)
                assert sorted(taken(match).job_id for match in found) == [1, 2]

    if patient:
        asyncio.run(both(30, lambda: None))
    else:
        with pytest.raises(errors.ConnectError, match="not currently accepting connections"):
            asyncio.run(both(0, lambda: None))


@pytest.mark.slow
@pytest.mark.own_database
def test_connections_to_a_standby_are_dropped(dsn: str, db: Connection) -> None:
    """A demoted primary only reads. Even calls that must not be done twice are sent again, since nothing was done."""
    calls = Calls(db)
    calls.insert_many(range(1, 5))
    name = sql.Identifier(str(conninfo_to_dict(dsn)["dbname"]))
    demote = sql.SQL("alter database {} set default_transaction_read_only = on").format(name)
    promote = sql.SQL("alter database {} reset default_transaction_read_only").format(name)
    db.execute(demote)
    with JobAgent("default", dsn, connections=3) as agent, ThreadPoolExecutor(3) as threads:
        list(threads.map(agent.run, [Call(b"select pg_sleep(0.2)", (), only)] * 3))  # three connections are there
        db.execute(promote)
        match = taken(agent.match(resource()))
        agent.release(match)
        assert agent.match(resource()) is not None

    async def work() -> None:
        db.execute(demote)
        async with AsyncJobAgent("default", dsn, connections=1) as agent:
            await agent.run(Call(b"select 1", (), only))
            db.execute(promote)
            assert await agent.match(resource()) is not None
        db.execute(demote)
        async with AsyncJobAgent("default", dsn, patience=0.5) as agent:
            with pytest.raises(errors.BrokerError, match="read-only transaction") as raised:
                await agent.match(resource())
            assert raised.value.sqlstate == "25006"

    asyncio.run(work())


def test_a_pool_of_the_caller_stays_open(dsn: str, db: Connection) -> None:
    Calls(db).insert_many([1, 2])
    with database.pool(database.Target(dsn, "--dsn")) as pool:
        for _ in range(2):
            with JobAgent("default", pool) as agent:
                assert agent.match(resource()) is not None


def test_the_answer_of_a_pooler_without_its_server_is_a_connect_error() -> None:
    """PgBouncer's errors have SQLSTATE 08P01; tests/core/faults/test_storm.py meets them."""
    error = from_database(psycopg.errors.ProtocolViolation("server login has been failing"))
    assert isinstance(error, errors.ConnectError)
    assert "pooler" in (error.hint or "")


def test_the_async_agent_matches_reports_finishes_and_releases(dsn: str, db: Connection) -> None:
    calls = Calls(db)
    calls.insert_many(range(1, 21))

    async def work() -> list[int]:
        async with AsyncJobAgent("default", dsn, connections=4) as agent:
            matches = [taken(match) for match in await asyncio.gather(*(agent.match(resource()) for _ in range(10)))]
            for match in matches[:3]:
                assert (await agent.report(match)).action == "continue"
                assert await agent.finish(match, error=ERROR, used=USED, host="n17") == "finished"
            assert await agent.release(matches[3]) is not None
            with pytest.raises(errors.StaleAttempt):
                await agent.finish(matches[3])
            many = await agent.match_many([{"resources": [resource()]}, {"resources": [resource(Site="nowhere")]}])
            matches += [match for answer in many for match in answer.jobs]
            matches += await agent.match_jobs(resource(), 100)
            return [match.job_id for match in matches]

    assert sorted(set(asyncio.run(work()))) == list(range(1, 21))
    assert calls.value("select count(*) from monitor.job where state = 'finished'") == 3
    assert calls.value("select count(*) from taskqueue.history where host = 'n17' and cores_used = 8") == 3


@pytest.mark.slow
def test_the_async_agent_survives_a_lost_answer(cutter: Cutter, db: Connection) -> None:
    Calls(db).insert_many(range(1, 11))

    async def work() -> None:
        async with AsyncJobAgent("default", cutter.dsn, connections=1) as agent:
            await agent.match(resource())
            cutter.cut()
            await agent.match(resource())

    asyncio.run(work())
    assert Calls(db).value("select count(*) from monitor.lease") == 2


@pytest.mark.slow
def test_many_threads_work_through_pgbouncer_in_transaction_mode(dsn: str, pooler: Pooler, db: Connection) -> None:
    """PgBouncer before 1.21 mixes up prepared statements, so that calls ran as others: none is prepared behind it."""
    Calls(db).insert_many(range(1, 201))
    with JobAgent("default", pooler.dsn(dsn), connections=12) as agent, ThreadPoolExecutor(12) as threads:

        def work(_: int) -> int:
            match = taken(agent.match(resource()))
            agent.report(match)
            return match.job_id if agent.finish(match) == "finished" else 0

        assert sorted(threads.map(work, range(200))) == list(range(1, 201))


DEAD = "host=127.0.0.1 port=1 user=pilots password=secret"


@pytest.mark.parametrize("wrong", ["password", "server"])
def test_a_server_that_refuses_is_named_at_once(dsn: str, wrong: str, capfd: pytest.CaptureFixture[str]) -> None:
    said = "Connection refused" if wrong == "server" else "password authentication failed"
    server = DEAD if wrong == "server" else make_conninfo(dsn, password="secret")

    async def enter() -> None:
        async with AsyncJobAgent("default", server):
            pass

    for call in (lambda: JobAgent("default", server), lambda: asyncio.run(enter())):
        began = time.monotonic()
        with pytest.raises(errors.ConnectError, match=said) as raised:
            call()
        assert "127.0.0.1" in raised.value.message and "secret" not in raised.value.message
        assert time.monotonic() - began < 5
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_a_call_waits_for_a_free_connection_as_long_as_its_timeout_allows(dsn: str, db: Connection) -> None:
    Calls(db).insert_many([1, 2])
    busy = Call(b"select pg_sleep(1)", (), only)

    async def ask() -> None:
        async with AsyncJobAgent("default", dsn, connections=1, timeout=0.2) as agent:
            await asyncio.gather(agent.run(busy), agent.match(resource()))

    with pytest.raises(errors.ConnectError, match=r"no connection of the pool was free for 0\.2 s"):
        asyncio.run(ask())
    with JobAgent("default", dsn, connections=1, timeout=0.2) as agent, ThreadPoolExecutor(2) as threads:
        sleeping = threads.submit(agent.run, busy)
        time.sleep(0.1)
        with pytest.raises(errors.ConnectError, match="was free"):
            agent.match(resource())
        sleeping.result()
        assert agent.match(resource()) is not None
