"""Maintenance of many setups: one statement finds those with something due, a call ends after its time, and the next
call goes on where it stopped."""

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from broker.operate import loops
from tests.calls import Calls, Connection, group, requirements
from tests.core.concurrency.racing import race_with_kills

SEVERAL = 30


def due(q: Calls, *, often: bool = False) -> set[str]:
    return {setup for (setup,) in q.rows("select taskqueue.setups_due(%s)", often)}


def portion(q: Calls, *, often: bool = False) -> dict[str, int]:
    """A call whose time is over when it begins: each step does its least portion."""
    query = """select m.step, m.changed from taskqueue.setting s
              cross join taskqueue.maintain_setup(s, %s, now() - interval '1 hour') m where s.setup = %s"""
    return dict(q.rows(query, often, q.setup))


def settle(q: Calls) -> None:
    """Until nothing is due; the changes of this transaction are counted only after its end."""
    for _ in range(20):
        q.maintain()
        if q.setup not in due(q):
            return
    raise AssertionError(f"setup {q.setup} is due for ever")


def _old(q: Calls, table: str, column: str, age: str) -> None:
    q.connection.execute(f"update taskqueue.{table} set {column} = now() - interval '{age}'".encode())


def _hold_for_retry(q: Calls) -> None:
    q.call("hold", "job", "1")
    q.connection.execute(
        "update taskqueue.job set not_before = now() - interval '1 second' where setup = 'default' and job_id = 1"
    )


def _empty(q: Calls) -> None:
    info = q.connection.info
    with psycopg.connect(info.dsn, password=info.password) as holder:  # no call drops a TaskQueue that is locked
        holder.execute("select from taskqueue.task_queue where setup = 'default' for key share")
        for match in q.match_jobs(SEVERAL):
            q.call("finish_job", match.job_id, match.attempt)


def _void_change(q: Calls) -> None:
    q.connection.execute(
        "insert into taskqueue.pending_change (setup, job_id, entry_id, retry_rule) values ('default', 1, -1, 'r')"
    )


def _request(q: Calls) -> None:
    q.connection.execute(
        "insert into taskqueue.request (setup, role_name, request_id, call, asked, answer, made_at)"
        " values ('default', 'r', gen_random_uuid(), 'match_job', 1, '1', now() - interval '1 hour')"
    )


def _delay(q: Calls) -> None:
    q.connection.execute(
        "insert into taskqueue.site_limit (setup, kind, site, attribute, value, delay, burst, next_at)"
        " values ('default', 'delay', 'A', 'JobType', 'x', '1 s', 1, now() + interval '1 hour')"
    )


def _pilot(q: Calls) -> None:
    q.connection.execute("insert into resource.queue (setup, queue) values ('default', 'A')")
    q.match(Site="A", CPUTime=1)
    _old(q, "resource_seen", "seen_at", "1 minute")
    settle(q)
    assert q.connection.execute(
        "update resource.pilot_request set since = now() - interval '2 days' where setup = 'default'"
    ).rowcount


def _gpu(q: Calls) -> None:
    q.connection.execute(
        "insert into resource.pilot_gpu (setup, queue, gpu_id, last_seen)"
        " values ('default', 'A', gen_random_uuid(), now() - interval '2 days')"
    )


def _past(q: Calls) -> None:
    q.connection.execute(
        "insert into taskqueue.past_definition values ('default', 77, '{}', now() - interval '1 year')"
    )


def _unposted(q: Calls) -> None:
    q.connection.execute(
        "insert into taskqueue.unposted select setup, task_queue_id from taskqueue.task_queue where setup = 'default'"
    )


def _seen(q: Calls) -> None:
    q.match(Site="A", CPUTime=1)
    _old(q, "resource_seen", "seen_at", "1 minute")


def _unused_definition(q: Calls) -> None:
    _empty(q)
    settle(q)
    _old(q, "definition", "created_at", "2 hours")


def _unused_description(q: Calls) -> None:
    q.match(Site="A", CPUTime=1)
    settle(q)
    _old(q, "parsed_description", "seen_at", "2 days")


CAUSES: dict[str, tuple[str, Callable[[Calls], None]]] = {  # event -> step that has work then
    "a retry is due": ("due retries", _hold_for_retry),
    "TaskQueues were left unposted": ("lists", _unposted),
    "resources asked": ("resources seen", _seen),
    "all jobs of TaskQueues went": ("empty TaskQueues", _empty),
    "a definition is unused": ("definitions", _unused_definition),
    "a past definition is old": ("past definitions", _past),
    "a change is void": ("void changes", _void_change),
    "an answer is old": ("requests", _request),
    "the clock of a delay was set back": ("delays", _delay),
    "a description is unused": ("known offers", _unused_description),
}
OFTEN = {"due retries", "lists", "resources seen"}


@pytest.fixture
def two(db: Connection) -> Iterator[Calls]:
    """A setup with TaskQueues of several groups, and another one beside it. Nothing is due."""
    q, beside = Calls(db), Calls(db, "beside")
    for one in (q, beside):
        one.settings(share_delay="0 s")
        one.call("insert_jobs", Jsonb([
            {"job_id": n, "requirements": requirements(**group(f"g{n}"))} for n in range(1, SEVERAL + 1)
        ]))  # fmt: skip
        settle(one)
    yield q


@pytest.mark.slow
@pytest.mark.parametrize("cause", CAUSES)
def test_a_setup_is_due_as_long_as_a_step_has_work(two: Calls, cause: str) -> None:
    step, happen = CAUSES[cause]
    assert due(two) == set()
    happen(two)
    if step in OFTEN:
        assert due(two, often=True) == {"default"}
    assert due(two) == {"default"}
    assert two.maintain()[step] > 0
    settle(two)
    assert due(two) == due(two, often=True) == set()
    assert not any(two.maintain().values())
    assert two.inconsistencies() == []


@pytest.mark.slow
@pytest.mark.parametrize(("table", "happen"), [("pilot_request", _pilot), ("pilot_gpu", _gpu)])
def test_a_setup_is_due_as_long_as_pilots_of_yesterday_count(
    two: Calls, table: str, happen: Callable[[Calls], None]
) -> None:
    happen(two)
    assert due(two) == {"default"}
    two.maintain()
    assert two.value(f"select count(*) from resource.{table} where setup = 'default'") == 0
    assert due(two) == set()


def _guarded(q: Calls) -> set[str]:
    """A round of the guard in the setups where it is due, and where it is due then."""
    for (setup,) in q.rows("select taskqueue.guard_due()"):
        q.rows("select * from taskqueue.guard(%s)", setup)
        q.rows("select taskqueue.mark_guarded(%s)", setup)
    return {setup for (setup,) in q.rows("select taskqueue.guard_due()")}


@pytest.mark.slow
def test_the_guard_is_due_while_jobs_run_and_just_after_they_ended(two: Calls) -> None:
    assert _guarded(two) == set()
    match = two.take(Site="A", HostName="wn1", CPUTime=1000)
    assert _guarded(two) == {"default"}
    two.call("finish_job", match.job_id, match.attempt, "failed")
    settle(two)
    assert _guarded(two) == {"default"}
    assert two.value("select count(*) from taskqueue.health where setup = 'default'") > 0
    _old(two, "ended", "ended_at", "5 minutes")
    assert _guarded(two) == set()
    _old(two, "guard_mark", "read_at", "2 minutes")
    assert {setup for (setup,) in two.rows("select taskqueue.guard_due()")} == {"default", "beside"}
    assert _guarded(two) == set()


@pytest.mark.slow
def test_the_guard_is_due_for_quarantines_and_until_it_is_off(two: Calls) -> None:
    two.match(Site="A", CPUTime=1)
    assert _guarded(two) == set()
    two.call("set_quarantine", "site", "A", None, "down")
    assert _guarded(two) == {"default"}
    assert two.value("select bool_and(guarded) from taskqueue.parsed_description where setup = 'default'")
    two.settings(guard="off")
    two.call("lift_quarantine", "site", "A", None)
    assert _guarded(two) == set()
    assert two.value("select count(*) from taskqueue.parsed_description where guarded") == 0
    assert two.value("select count(*) from taskqueue.guard_mark where setup = 'default'") == 0


@pytest.mark.slow
def test_waiting_jobs_are_counted_where_jobs_wait_or_waited(db: Connection) -> None:
    q, idle = Calls(db), Calls(db, "idle")

    def counted() -> set[str]:
        for (setup,) in q.rows("select lifecycle.summarize_due()"):
            for call in ("taskqueue.find_reasons", "brokerage.find_reasons", "taskqueue.summarize_waiting"):
                q.rows(f"select {call}(%s)", setup)
        q.connection.execute("update taskqueue.summary set due_at = now()")
        return {setup for (setup,) in q.rows("select lifecycle.summarize_due()")}

    for one in (q, idle):
        one.settings(share_delay="0 s")
    assert counted() == set()
    q.insert(1)
    assert counted() == {"default"}
    q.take()
    settle(q)
    while counted():
        settle(q)
    assert q.value("select count(*) from taskqueue.waiting_summary where setup = 'default'") == 0
    q.connection.execute("update taskqueue.summary set counted_at = now() - interval '5 minutes'")
    assert {setup for (setup,) in q.rows("select lifecycle.summarize_due()")} == {"default", "idle"}
    assert counted() == set()


@pytest.mark.slow
def test_rounds_of_summarize_without_time_serve_all_setups_in_turn(two: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setup whose count is not due yet stays the oldest, and must not come first in each round."""
    served: list[str] = []
    monkeypatch.setattr(loops, "_SUMMARIZING", -1.0)
    monkeypatch.setattr(loops, "summarize", lambda _, setup: served.append(setup))
    work = loops.Round(two.connection, "summarize", None, threading.Event(), lambda *_: None)
    for _ in range(4):
        loops.LOOPS["summarize"].round(work)
    assert served[:2] == served[2:]
    assert set(served) == {"default", "beside"}


@pytest.mark.slow
def test_an_insertion_and_a_match_make_only_their_setup_due(two: Calls) -> None:
    two.insert(1000, **group("g1"))
    assert due(two, often=True) == {"default"}
    settle(two)
    for _ in range(5):
        two.take()
    assert due(two, often=True) == {"default"}
    settle(two)
    assert two.inconsistencies() == []


@pytest.mark.slow
def test_a_call_for_all_setups_works_in_those_that_are_due(two: Calls) -> None:
    two.insert(1000, **group("g1"))
    found = two.rows("select step from taskqueue.maintain(p_often => true)")
    assert [step for (step,) in found].count("hands") == 1
    settle(two)
    assert two.rows("select step from taskqueue.maintain(p_often => true)") == []


@pytest.mark.slow
def test_a_call_for_all_setups_leaves_out_one_on_which_another_works(
    two: Calls, connect: Callable[..., Connection]
) -> None:
    two.insert(1000, **group("g1"))
    other = connect()
    other.execute("set lock_timeout = '300ms'")
    with two.connection.transaction():
        two.rows("select * from taskqueue.maintain(p_often => true)")
        assert other.execute("select * from taskqueue.maintain(p_often => true)").fetchall() == []
    assert two.inconsistencies() == []


@pytest.mark.slow
def test_what_a_call_leaves_is_done_by_the_next_ones(two: Calls) -> None:
    """Each step does a portion in each call, also while another step has much to do."""
    _empty(two)
    two.insert_many(range(2001, 2011), **group("late"))
    _unposted(two)
    first = portion(two)
    assert first["empty TaskQueues"] == 1
    assert first["hands"] > 0
    calls = 1
    while portion(two)["empty TaskQueues"]:
        calls += 1
    assert calls == SEVERAL
    settle(two)
    assert two.value("select count(*) from taskqueue.task_queue where setup = 'default'") == 1
    assert two.inconsistencies() == []


@pytest.mark.slow
def test_groups_are_recomputed_in_portions_the_oldest_first(two: Calls) -> None:
    two.connection.execute(
        "insert into taskqueue.share_mark"
        " select 'default', owner_group, now() - substr(owner_group, 2)::int * interval '1 s'"
        " from taskqueue.task_queue where setup = 'default'"
    )
    portions = (
        "select g from taskqueue.setting s cross join taskqueue.groups_to_recompute(s, now()) g where s.setup = %s"
    )
    [(groups,)] = two.rows(portions, two.setup)
    assert groups == [f"g{n}" for n in range(SEVERAL, 0, -1)]
    two.call("insert_jobs", Jsonb([
        {"job_id": 5000 + n, "requirements": requirements(OwnerGroup=f"g{1 + n % 2}", OwnerDN=f"o{n}")}
        for n in range(1200)
    ]))  # fmt: skip
    two.connection.execute("update taskqueue.share_mark set marked_at = now() - interval '1 minute'")
    sizes = [len(groups) for (groups,) in two.rows(portions, two.setup)]
    assert sum(sizes) == SEVERAL
    assert len(sizes) > 1
    portion(two, often=True)
    left = {name for (groups,) in two.rows(portions, two.setup) for name in groups}
    assert 0 < len(left) < SEVERAL
    settle(two)
    exact = two.rows("select task_queue_id from taskqueue.task_queue q join taskqueue.share_of_task_queue('default',"
                     " array(select owner_group from taskqueue.task_queue)) s using (task_queue_id)"
                     " where abs(q.priority - s.priority) > 1e-9 * s.priority")  # fmt: skip
    assert exact == []
    assert two.inconsistencies() == []


Node = dict[str, Any]


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


def _most_read(plan: Any) -> float:
    """The most rows that one scan of a large table reads."""
    found = json.loads(plan) if isinstance(plan, str) else plan
    many = {"job", "task_queue", "posting", "hand", "definition", "job_count_change"}
    read = [
        node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
        for node in _nodes(found[0]["Plan"])
        if node.get("Relation Name") in many
    ]
    return float(max(read))


@pytest.mark.slow
@pytest.mark.parametrize("analysed", [True, False], ids=["analysed", "never analysed"])
@pytest.mark.parametrize("schema", ["taskqueue", "lifecycle"])
def test_the_search_for_what_is_due_reads_no_rows_of_idle_setups(two: Calls, schema: str, analysed: bool) -> None:
    """Each question is an index scan that finds no row, or stops at the first."""
    if analysed:
        two.connection.execute("analyze")
    [(body,)] = two.rows("select prosrc from pg_proc where oid = %s::regproc", f"{schema}.setups_due")
    with two.connection.transaction():
        two.connection.execute("set local enable_seqscan = off")
        two.connection.execute("set local jit = off")
        query = body[body.index("select t.setup") : body.index("order by random()")].replace("p_often", "true")
        explained = f"explain (analyze, timing off, costs off, format json) {query}"
        [(plan,)] = two.connection.execute(explained.encode()).fetchall()
    assert _most_read(plan) <= 2


@pytest.mark.slow
def test_the_loops_that_a_setup_needs_are_found_without_the_jobs_of_others(two: Calls) -> None:
    two.insert_many(range(1001, 9001), **group("many"))
    two.connection.execute("vacuum (analyze)")
    [(plan,)] = two.rows(
        "explain (analyze, timing off, costs off, format json) select name from monitor.health_loop h (area, name)"
    )
    assert _most_read(plan) <= 2  # a row of each setup


@pytest.mark.slow
def test_a_maintainer_that_is_killed_leaves_nothing_half_done(two: Calls, connect: Callable[..., Connection]) -> None:
    _empty(two)
    victim = Calls(connect())
    with pytest.raises(psycopg.OperationalError), victim.connection.transaction():
        portion(victim)
        two.connection.execute("select pg_terminate_backend(%s)", [victim.connection.info.backend_pid])
        victim.value("select 1")
    assert two.inconsistencies() == []
    assert due(two) == {"default"}
    settle(two)
    assert two.value("select count(*) from taskqueue.task_queue where setup = 'default'") == 0


@pytest.mark.slow
def test_a_row_that_another_transaction_holds_is_left_and_the_rest_is_done(
    two: Calls, connect: Callable[..., Connection]
) -> None:
    holder = connect()
    two.connection.execute("set lock_timeout = '300ms'")
    two.connection.execute(
        "insert into taskqueue.share_mark select 'default', owner_group, now() from taskqueue.task_queue"
        " where setup = 'default'; update taskqueue.task_queue set priority = 7 where setup = 'default'"
    )
    wrong = "select owner_group from taskqueue.task_queue where setup = 'default' and priority = 7"
    with holder.transaction():
        holder.execute("select from taskqueue.task_queue where owner_group = 'g3' for update")
        two.maintain()
        assert two.rows(wrong) == [("g3",)]
        assert due(two, often=True) == {"default"}
    settle(two)
    assert two.rows(wrong) == []
    assert two.inconsistencies() == []


@pytest.mark.slow
def test_maintainers_agents_and_kills_at_once_lose_no_job(two: Calls, dsn: str) -> None:
    """Calls for one setup and for all, full and often, on two setups, while callers are killed."""

    def caller(number: int) -> Callable[[Calls], None]:
        chance = random.Random(number)
        first = 100_000 * (number + 1) + time.monotonic_ns() % 50_000

        def work(q: Calls) -> None:
            one = Calls(q.connection, chance.choice(["default", "beside"]))
            for job_id in range(first, first + 200):
                if time.monotonic() > until:
                    return
                if number % 3 == 0:
                    setup = chance.choice([None, one.setup])
                    one.rows("select * from taskqueue.maintain(%s, %s)", setup, job_id % 4 > 0)
                elif chance.random() < 0.6:
                    one.insert(job_id, 1 + job_id % 9, **group(f"g{job_id % 40}"))
                elif match := one.match():
                    one.call("finish_job", match.job_id, match.attempt)

        return work

    until = time.monotonic() + 6
    race_with_kills(dsn, until, caller)
    for one in (two, Calls(two.connection, "beside")):
        assert one.inconsistencies() == []
        settle(one)
        waiting = {job_id for (job_id,) in one.rows("select job_id from taskqueue.job where setup = %s", one.setup)}
        matched: set[int] = set()
        while found := one.match_jobs(100):
            matched |= {match.job_id for match in found}
        assert matched == waiting
        assert one.inconsistencies() == []
