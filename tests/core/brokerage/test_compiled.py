"""The queries of profiles as functions (brokerage.compile_profiles), whose plans a session keeps."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls
from tests.core.brokerage.own_rules import FACTS, add_rule
from tests.core.brokerage.runs import CALLS, decided, load_due, ran
from tests.core.concurrency.racing import Attempt

Db = psycopg.Connection[Any]
NEVER = "select case when q.queue is null then 'never' end"


def functions(db: Db) -> set[str]:
    """The names of all functions that keep queries."""
    query = "select proname from pg_proc where pronamespace = 'brokerage_compiled'::regnamespace"
    return {name for (name,) in db.execute(query).fetchall()}


def kept_for(db: Db, profile: str, algorithm: str) -> list[bool]:
    """Whether the functions for answers and turns have the present rules of a profile; empty if there are none."""
    query = """select strpos(p.prosrc, brokerage.query_key(brokerage.rules_of(%(profile)s), %(algorithm)s)) > 0
                 from (values ('answers'), ('turns')) q(query)
                 join pg_proc p on p.oid = to_regproc(brokerage.compiled_query(q.query, %(algorithm)s, %(profile)s))"""
    return [is_kept for (is_kept,) in db.execute(query, {"profile": profile, "algorithm": algorithm}).fetchall()]


def calls_of_compiled(db: Db) -> dict[str, int]:
    """The calls of such functions in this transaction, which tracks functions."""
    query = "select funcname, calls from pg_stat_xact_user_functions where schemaname = 'brokerage_compiled'"
    return {name.split("_of_")[0]: calls for name, calls in db.execute(query).fetchall()}


def composed_in(db: Db) -> int:
    """The number of queries that were composed in this transaction."""
    query = "select coalesce(sum(calls), 0) from pg_stat_xact_user_functions where funcname = 'compose'"
    [(calls,)] = db.execute(query).fetchall()
    return int(calls)


@pytest.fixture
def tracked(db: Db) -> Iterator[Db]:
    """A transaction that counts calls of functions."""
    db.autocommit = False
    db.execute("set local track_functions = 'all'")
    yield db
    db.rollback()


@pytest.mark.parametrize("profile", ["documented", "panda2026"])
@pytest.mark.parametrize("algorithm", sorted(CALLS))
def test_the_profiles_that_come_with_the_program_are_kept(rolled_back: Db, profile: str, algorithm: str) -> None:
    assert kept_for(rolled_back, profile, algorithm) == [True, True]


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["documented", "panda2026"])
@pytest.mark.parametrize("algorithm", sorted(CALLS))
@pytest.mark.parametrize("dry", [True, False])
def test_a_kept_query_decides_as_a_composed_one(tracked: Db, profile: str, algorithm: str, *, dry: bool) -> None:
    load_due(tracked, algorithm, 60, 12, user_tasks=12)
    tracked.execute("select brokerage.set_settings('grid', '{\"makes_jobs\": false}')")
    answers = []
    for is_kept in (True, False):
        with tracked.transaction(force_rollback=True):
            if not is_kept:
                for name in functions(tracked):
                    tracked.execute(f"drop function brokerage_compiled.{name}".encode())
            before = composed_in(tracked), sum(calls_of_compiled(tracked).values())
            run = ran(tracked, algorithm, profile=profile, dry_run=dry, tasks_a_commit=None)
            after = composed_in(tracked), sum(calls_of_compiled(tracked).values())
            assert (after[0] > before[0], after[1] > before[1]) == (not is_kept, is_kept)
            given = "select task_id, queue, jobs from brokerage.assignment where run_id = %s order by 1, 2"
            answers.append((decided(tracked, run), tracked.execute(given, [run]).fetchall()))
    assert answers[0][0]
    assert answers[0] == answers[1]


def test_a_change_of_a_profile_makes_its_functions_anew(db: Db) -> None:
    add_rule(db, NEVER)
    db.execute("select brokerage.set_profile('child', 'acme')")
    for profile in ("acme", "child"):
        for algorithm in CALLS:
            assert kept_for(db, profile, algorithm) == [True, True]
    db.execute("select brokerage.set_rule('acme', 'odd', '{\"position\": 36}')")
    assert kept_for(db, "acme", "production_job") == kept_for(db, "child", "production_job") == [True, True]
    db.execute("select brokerage.clear_rule('acme', 'odd')")
    assert kept_for(db, "acme", "production_job") == kept_for(db, "child", "production_job") == [True, True]
    db.execute("select brokerage.set_profile('acme', 'panda2026')")
    assert kept_for(db, "child", "analysis_job") == [True, True]


def test_a_removed_profile_leaves_no_function(db: Db) -> None:
    before = functions(db)
    db.execute("select brokerage.set_profile('acme')")
    assert len(functions(db)) == len(before) + 2 * len(CALLS)
    db.execute("select brokerage.remove_profile('acme')")
    assert functions(db) == before


def test_rules_that_differ_from_the_function_decide_nevertheless(tracked: Db) -> None:
    """A run reads its rules once, and may go on with them after the profile was changed."""
    load_due(tracked, "production_job", 8, 2)
    add_rule(tracked, NEVER)
    tracked.execute("update brokerage.profile_rule set parameters = '{\"x\": 1}' where profile = 'acme'")
    assert kept_for(tracked, "acme", "production_job") == [False, False]
    before = composed_in(tracked)
    run = ran(tracked, "production_job", profile="acme", dry_run=True, tasks_a_commit=None)
    assert composed_in(tracked) > before
    assert calls_of_compiled(tracked)["answers"] == 1
    assert decided(tracked, run)


UNTRUSTED = {  # part of a rule -> kind of the rule, algorithm
    "rule": ("row rule", "production_job"),
    "terms": ("weight", "production_job"),
    "factor": ("weight", "production_job"),
    "second pass": ("second pass", "analysis_job"),
}


@pytest.mark.parametrize("part", UNTRUSTED)
def test_a_function_that_is_no_longer_trusted_is_not_called(tracked: Db, part: str) -> None:
    """A kept query is used only after the checks that composing makes."""
    kind, algorithm = UNTRUSTED[part]
    facts = "t brokerage.task_facts" if kind == "second pass" else FACTS
    load_due(tracked, algorithm, 8, 2, user_tasks=2)
    tracked.execute("create schema acme; grant usage on schema acme to public; create role mallory")
    result, body = ("float8[]", "select '{1}'::float8[]") if kind == "weight" else ("text", "select null::text")
    tracked.execute(f"create function acme.odd({facts}) returns {result} language sql stable as $${body}$$".encode())
    tracked.execute("""create function acme.odd_factor(float8[], float8[], jsonb) returns float8 language sql stable
                       as 'select 1::float8'""")
    tracked.execute("select brokerage.set_profile('acme')")
    [(first_weight,)] = tracked.execute("""
        select min(position) from brokerage.rule_in_force
         where profile = 'documented' and algorithm = 'production_job' and kind = 'weight'""").fetchall()
    rule = {"kind": kind, "position": first_weight + 1 if kind == "weight" else 35, "function": "acme.odd"}
    tracked.execute("select brokerage.set_rule('acme', 'odd', %s, %s)", [Jsonb(rule), algorithm])
    assert kept_for(tracked, "acme", algorithm) == [True, True]
    assert ran(tracked, algorithm, profile="acme", dry_run=True, tasks_a_commit=None)
    name = "odd_factor" if part == "factor" else "odd"
    tracked.execute(f"alter function acme.{name} owner to mallory".encode())
    with pytest.raises(psycopg.Error, match=r"is not a member|there is no function acme\.odd_factor"):
        ran(tracked, algorithm, profile="acme", dry_run=True, tasks_a_commit=None)


def test_a_profile_that_cannot_be_composed_stops_neither_others_nor_an_upgrade(db: Db) -> None:
    add_rule(db, NEVER)
    db.execute("drop function acme.odd cascade")
    kept = functions(db)
    db.execute("select brokerage.compile_profiles()")
    assert kept_for(db, "documented", "production_job") == kept_for(db, "acme", "analysis_job") == [True, True]
    assert len(functions(db)) == len(kept) - 2, "a function of the release before may be wrong when the rule is back"
    with pytest.raises(psycopg.errors.Error, match=r"there is no function acme\.odd"):
        db.execute("select brokerage.query_key(brokerage.rules_of('acme'), 'production_job')")


def test_two_changes_of_a_profile_at_once_give_a_function_with_both(db: Db, connect: Any) -> None:
    add_rule(db, NEVER)
    first, second = connect(), connect()
    change = "select brokerage.set_rule('acme', %s, %s)"
    with first.transaction():
        first.execute(change, ["one", Jsonb({"kind": "row rule", "position": 41, "function": "acme.odd"})])
        rule = Jsonb({"kind": "row rule", "position": 42, "function": "acme.odd"})
        attempt = Attempt(Calls(second), lambda q: q.connection.execute(change, ["two", rule]), Calls(db))
        assert attempt.waits()
    attempt.join(10)
    assert attempt.error is None
    assert kept_for(db, "acme", "production_job") == [True, True]
    [(source,)] = db.execute("""
        select prosrc from pg_proc
         where oid = to_regproc(brokerage.compiled_query('answers', 'production_job', 'acme'))""").fetchall()
    assert "'one\t" in source
    assert "'two\t" in source
