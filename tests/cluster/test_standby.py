"""A standby answers every granted view and public function as the primary does, except those in DIFFERENT.

The world's clocks are set, so that ages are equal. Functions are called with arguments drawn as in tests/core/fuzz, by
a role that may call them; a refusal counts as an answer.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest
from psycopg.types.json import set_json_loads
from psycopg.types.string import TextLoader

from broker.database_errors import from_database
from tests.cookies import by_ticket, digest
from tests.core.faults.standby import Pair
from tests.core.fuzz.arguments import Arguments, Known
from tests.core.fuzz.calls import Callable, callables
from tests.core.fuzz.small_world import GRID, POOL
from tests.service.conftest import Db

Answer = tuple[str, Any]

OF_THE_SERVER = "it is about the server itself: its settings, sessions and statistics"
NOT_ROLLED_UP = "what taskqueue.maintain has not rolled up is in an unlogged table, which a standby does not have"
THE_TIME = "it answers with the time of the server that is asked"
DIFFERENT = {
    "monitor.function_time": OF_THE_SERVER, "monitor.table_size": OF_THE_SERVER,
    "monitor.health": OF_THE_SERVER, "monitor.health_session": OF_THE_SERVER,
    "monitor.health_snapshot": OF_THE_SERVER, "monitor.health_standby": OF_THE_SERVER,
    "monitor.health_table": OF_THE_SERVER, "monitor.resource_seen": NOT_ROLLED_UP,
    "monitor.offered_attribute": NOT_ROLLED_UP,
    "monitor.snapshot_holder": OF_THE_SERVER, "monitor.site": NOT_ROLLED_UP, "resource.describe_setup": THE_TIME,
    "taskqueue.explain_job": NOT_ROLLED_UP, "taskqueue.resources_not_rolled_up": NOT_ROLLED_UP,
}  # fmt: skip
"""Differences between the answers of a standby and of the primary, with reasons."""
READS = ("brokerage.profile_faults", "brokerage.replay")
"""Public functions that are volatile and write nothing."""
DRAWS = 8
WRITES = 6
PAGE = Path(__file__).parents[2] / "broker" / "docs" / "how-to" / "standbys.md"
# Calls of functions for which no valid arguments are drawn.
BY_HAND = {
    "brokerage.obstacles": f"""
        select t.task_id, o from (select task_id from workload.task where setup = '{GRID}' order by 1 limit 3) t
         cross join lateral brokerage.obstacles('{GRID}', t.task_id) o""",
    "lifecycle.explain_timeouts": f"""
        select j.job_id, e from (select job_id from workload.job where setup = '{GRID}' order by 1 limit 20) j
         cross join lateral lifecycle.explain_timeouts('{GRID}', j.job_id) e""",
    "history.figure_over": f"select * from history.figure_over('{GRID}', 'jobs_waiting', '2099-12-31', '2100-01-02')",
    "history.figures_over": f"""
        select * from history.figures_over('{GRID}', '[{{"figure": "jobs_waiting"}}]', '2099-12-31', '2100-01-02')""",
    "history.failures": f"""
        select * from history.failures('{GRID}', '1900-01-02', '{{site,class,error}}') order by jobs""",
    "taskqueue.judges_error": f"""
        select taskqueue.judges_error('{GRID}', '[{{"source": "dirac", "text": "Job Rescheduled"}}]')""",
    "workload.changes_of_part": """
        select workload.changes_of_part(row('s', 1, 1, 1, 2.25, 1, '{QB,QA}', false)::workload.failed_part)""",
    "taskqueue.explain_retry": """
        select h.setup, h.job_id, e from (select setup, job_id from taskqueue.history where event = 'failed') h
         cross join lateral taskqueue.explain_retry(h.setup, h.job_id) e""",
    "taskqueue.judge_again": f"""
        select * from taskqueue.judge_again('{GRID}', taskqueue.shipped_retry_rules('panda'), '1900-01-02')""",
    "taskqueue.shipped_retry_rules": "select taskqueue.shipped_retry_rules('panda')",
    "taskqueue.require_settings": f"select taskqueue.require_settings('{POOL}', '{{}}')",
    "taskqueue.payloads": f"""
        select * from taskqueue.payloads('{POOL}', (
          select jsonb_agg(jsonb_build_object('job_id', job_id, 'attempt', taskqueue.attempt_text(attempt, token)))
            from taskqueue.lease where setup = '{POOL}'))""",
    "taskqueue.reason_of": "select reason from monitor.waiting_job",  # its argument is a row of this view
}

_VIEWS = """
select c.oid::regclass::text from pg_class c
 where c.relkind = 'v' and c.relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema')
   and 'select' = any (array(
     select lower(a.privilege_type) from aclexplode(c.relacl) a
      where a.grantee in ('broker_viewer'::regrole, 'broker_operator'::regrole)))
 order by 1
"""
_VOLATILE = """
select distinct n.nspname || '.' || p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
 where p.provolatile = 'v'
"""


def rows(db: Db, query: str, values: list[Any] | None = None) -> list[str]:
    cursor = db.cursor()
    set_json_loads(str, cursor)  # an answer may be as deep as the JSON of a hostile call
    return sorted(map(str, cursor.execute(query.encode(), values).fetchall()))


def as_text(*connections: Db) -> None:
    """Load values as text: Python cannot represent all times of PostgreSQL, and numbers keep their digits."""
    for connection in connections:
        for kind in ("timestamptz", "timestamp", "interval"):
            connection.adapters.register_loader(kind, TextLoader)
        connection.execute("set statement_timeout = '20s'")
        connection.execute("set extra_float_digits = 0")  # parallel workers add in any order


def call(db: Db, function: Callable, given: dict[str, str | None], role: str) -> Answer:
    """The rows of a call, or its refusal."""
    kinds = {name: kind for name, kind, _ in function.parameters}
    marks = ", ".join(f"{name} => %s::{kinds[name]}" for name in given)
    statement = f"{'call' if function.is_procedure else 'select * from'} {function.name}({marks})"
    db.execute(f"set role {role}".encode())
    try:
        if function.is_procedure:
            db.execute(statement.encode(), list(given.values()))
            return "done", []
        with db.transaction(force_rollback=True):
            return "done", rows(db, statement, list(given.values()))
    except psycopg.Error as error:
        return str(error.sqlstate), error
    finally:
        db.execute("reset role")


def outcome(answer: Answer) -> tuple[Any, ...]:
    """The part of an answer that a caller reads."""
    state, found = answer
    return (state, found.diag.message_primary, found.diag.message_hint) if state != "done" else (state, found)


def draws(function: Callable, known: Known, number: int) -> list[tuple[str, dict[str, str | None]]]:
    """Roles and arguments for calls of a function."""
    found = []
    for n in range(number):
        rng = Random(f"{function.name} {n}")
        found.append((rng.choice(function.roles), Arguments(rng, known).of_call(function.name, function.parameters)))
    return found


@pytest.fixture
def known(primary: Db) -> Known:
    """Existing objects, to choose arguments from."""
    found = Known()
    found.read_once(primary)
    return found


@pytest.fixture
def old_snapshot(pair: Pair) -> Iterator[None]:
    """A session that keeps a snapshot, on the primary only."""
    with psycopg.connect(pair.server(pair.primary).superuser_dsn()) as db:
        db.execute("begin isolation level repeatable read")
        db.execute("select from resource.setup")
        yield


@pytest.mark.usefixtures("old_snapshot")
def test_views_give_the_same_rows_on_a_standby_but_for_those_listed(primary: Db, replica: Db) -> None:
    views = [name for (name,) in primary.execute(_VIEWS).fetchall()]
    assert len(views) > 90
    answers = {view: (rows(primary, f"select * from {view}"), rows(replica, f"select * from {view}")) for view in views}
    different = {view for view, (here, there) in answers.items() if here != there}
    assert different == {name for name in DIFFERENT if name in views}
    full = {view for view, (here, _) in answers.items() if here}
    assert len(full) > 0.75 * len(views), f"these are empty: {sorted(set(views) - full)}"


def test_reading_functions_answer_the_same_on_a_standby_but_for_those_listed(
    primary: Db, replica: Db, known: Known
) -> None:
    as_text(primary, replica)
    volatile = {name for (name,) in primary.execute(_VOLATILE).fetchall()} - set(READS)
    functions = [one for one in callables(primary) if one.name not in volatile]
    assert len(functions) > 60
    different, answered = set(), set()
    for function in functions:
        for role, given in draws(function, known, DRAWS):
            here, there = (call(db, function, given, role) for db in (primary, replica))
            if here[0] == "done":
                answered.add(function.name)
            same = outcome(here) == outcome(there)
            if not same:
                assert function.name in DIFFERENT, (function.name, role, given, here, there)
                different.add(function.name)
    for name, query in BY_HAND.items():
        here_rows = rows(primary, query)
        assert here_rows == rows(replica, query), name
        assert here_rows, name
    assert {one.name for one in functions} - answered <= set(BY_HAND)
    assert different == {name for name in DIFFERENT if name in {one.name for one in functions}}


def test_tokens_and_sessions_are_known_on_the_standby(primary: Db, replica: Db) -> None:
    """The functions that only the service's login calls."""
    primary.execute("select resource.make_token(%s, 'pilots', 'agent')", [POOL])
    hashed = digest(by_ticket(primary, POOL, "somebody", "viewer"))
    [(lsn,)] = primary.execute("select pg_current_wal_flush_lsn()").fetchall()
    while replica.execute("select pg_last_wal_replay_lsn() < %s::pg_lsn", [lsn]).fetchone() == (True,):
        pass
    for db in (primary, replica):
        db.execute("set session authorization broker_service")
    asked = f'[{{"setup": "{POOL}", "session": "{hashed}"}}]'
    for query, value in (
        ("select * from resource.credentials_of(%s)", asked),
        ("select subject, setups from resource.session_of(%s)", hashed),
    ):
        found = rows(primary, query, [value])
        assert found == rows(replica, query, [value])
        assert "somebody" in found[0]


def test_calls_that_write_are_refused(primary: Db, replica: Db, known: Known) -> None:
    """The error has PostgreSQL's code and a hint that names the primary. Otherwise the arguments are refused, or there
    is nothing to do."""
    as_text(replica)
    volatile = {name for (name,) in primary.execute(_VOLATILE).fetchall()} - set(READS)
    functions = [one for one in callables(primary) if one.name in volatile]
    assert len(functions) > 100
    refused, wrong = set(), []
    for function in functions:
        for role, given in draws(function, known, WRITES):
            state, answer = call(replica, function, given, role)
            if state == "25006":
                refused.add(function.name)
                found = from_database(answer)
                assert found.sqlstate == "25006"
                assert "the primary takes changes" in (found.hint or "")
            elif not re.match("done|PB00[1-5]|22", state):
                wrong.append((function.name, state, str(answer)))
    assert wrong == []
    assert len(refused) > 0.8 * len(functions), {one.name for one in functions} - refused


@pytest.mark.parametrize("setup", [GRID, POOL])
def test_a_standby_refuses_matching_with_a_clear_error(replica: Db, setup: str) -> None:
    for statement in (
        "select taskqueue.match_job(%s, '{\"CPUTime\": 1000}')",
        "select taskqueue.match_jobs(%s, '{\"CPUTime\": 1000}', 5)",
        "select taskqueue.maintain(%s)",
        "select taskqueue.set_group(%s, 'g1', 7, true)",
    ):
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction) as raised:
            replica.execute(statement.encode(), [setup])
        assert raised.value.diag.message_primary == "this server is a standby, which takes no changes"
        assert "primary" in (raised.value.diag.message_hint or "")


def test_the_standby_says_what_only_the_primary_knows(pair: Pair, primary: Db, replica: Db) -> None:
    new = "select count(*) from monitor.resource_seen where resource ->> 'Platform' = 'new'"
    assert (primary.execute(new).fetchone(), replica.execute(new).fetchone()) == ((1,), (0,))
    others = "select * from monitor.resource_seen where resource ->> 'Platform' is distinct from 'new'"
    assert rows(primary, others) == rows(replica, others) != []

    [job_id] = primary.execute("select min(job_id) from taskqueue.job where setup = %s", [POOL]).fetchone() or [0]
    why = "select condition, failing, seen, remark from taskqueue.explain_job(%s, %s)"
    here, there = ({row[0]: row[1:] for row in db.execute(why, [POOL, job_id])} for db in (primary, replica))
    assert here.keys() == there.keys()
    assert {seen for _, seen, _ in there.values()} == {seen - 1 for _, seen, _ in here.values()}
    assert "on the primary alone" not in here["all of them"][2]
    assert there["all of them"][2].endswith("; this is a standby: the newest ones are known on the primary alone")

    primary.execute("comment on database postgres is 'seen'")  # a commit since the standby was started
    pair.wait_until_it_streams()
    health = "select verdict, value from monitor.health where area = 'standby'"
    assert primary.execute(health).fetchall() == []
    [(verdict, value)] = replica.execute(health).fetchall()
    assert verdict == "advice"
    assert re.fullmatch(r"a standby, which streams; its last commit was \d\d:\d\d:\d\d ago", value)
    areas = "select area, object from monitor.health where area not in ('standby', 'snapshot')"
    assert rows(primary, areas) == rows(replica, areas)


def test_the_page_lists_the_differences_of_a_standby() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert {name for name in DIFFERENT if f"`{name}`" not in text} == set()
