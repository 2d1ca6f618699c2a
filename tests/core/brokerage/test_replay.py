"""brokerage.replay: decisions of real runs are taken again from the recorded facts."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from broker import world
from tests.core.brokerage.runs import CALLS, load_due, ran

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]
Row = dict[str, Any]

FACTS = ["task_facts", "queue_facts", "task_key", "network_facts", "load_facts", "policy_facts", "software_facts",
         "placement_facts", "input_facts", "nucleus_key", "work_facts",
         "located_facts", "space_facts"]  # fmt: skip


def replayed(db: Connection, setup: str = "grid", **given: Any) -> list[Row]:
    names = ", ".join(f"p_{name} => %({name})s" for name in given)
    query = f"select * from brokerage.replay('{setup}'{', ' if names else ''}{names})"
    with db.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query.encode(), given).fetchall()


def small(db: Connection, **sections: Any) -> None:
    """Task 1 needs more memory than queue A has, task 2 fits everywhere."""
    queues = {"A": {"maxrss": 1000}, "B": {"maxrss": 9000}, "C": {"maxrss": 9000}}
    given = {"setup": "w", "queues": {name: {**queue, "pilots": {"getjob": 1}} for name, queue in queues.items()},
             "datasets": {"in": {"files": [{"lfn": f"f{n}", "size": 1, "nevents": 1} for n in range(9)]}},
             "tasks": [{"id": 1, "input": ["in"], "ram_count": 2000, "split": {"nFilesPerJob": 1}},
                       {"id": 2, "input": ["in"], "ram_count": 500, "split": {"nFilesPerJob": 1}}]}  # fmt: skip
    world.load(db, [given | sections])


@pytest.fixture
def decided(db: Connection) -> Connection:
    """The small world after a real run. Its jobs affect a later run, and their queues are drawn."""
    small(db)
    ran(db, "production_job", "w", seed=1)
    return db


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["documented", "panda2026"])
@pytest.mark.parametrize("algorithm", CALLS)
def test_a_run_is_reproduced_whatever_has_happened_since(
    db: Connection, connect: Connect, algorithm: str, profile: str
) -> None:
    """Second passes, turns, draws, jobs and nuclei, verdict by verdict; a viewer, who only reads, does it."""
    load_due(db, algorithm, 60, 30, user_tasks=60)
    run = ran(db, algorithm, profile=profile, tasks_a_commit=25)
    [(parts, tasks)] = db.execute(
        """select (select count(*) from brokerage.recording), count(*) from brokerage.task_decision
            where run_id = %s and status <> 'error'""",
        [run],
    ).fetchall()
    assert parts > 1
    db.execute("update resource.queue set status = 'offline' where setup = 'grid'")
    db.execute("update workload.task set gshare = 'Express', nucleus = null where setup = 'grid'")
    db.execute("delete from resource.link where setup = 'grid'")
    viewer = connect("broker_viewer")
    with viewer.transaction():
        viewer.execute("set transaction read only")
        rows = replayed(viewer, run_id=run)
    assert len(rows) == tasks
    assert [row for row in rows if row["differs"]] == []
    assert [row for row in rows if row["jobs_after"]]
    if algorithm == "analysis_job":
        [(again,)] = db.execute("select count(*) from brokerage.task_decision where rule = 'anal-loops'").fetchall()
        assert again > 0


@pytest.mark.slow
def test_small_and_large_parts_are_kept_alike(db: Connection) -> None:
    """More than 5,000 pairs are decided by another plan."""
    load_due(db, "production_job", 60, 40, user_tasks=0)
    ran(db, "production_job", profile="panda2026", seed=7, tasks_a_commit=None)
    [(pairs,)] = db.execute(
        "select max((tasks -> '')::int) * max(cardinality((v.value #>> '{}')::text[])) from brokerage.recording t"
        " join brokerage.recorded_value v on v.digest = t.queues ->> 'queue'"
    ).fetchall()
    assert pairs > 5000
    assert [row for row in replayed(db) if row["differs"]] == []


@pytest.mark.slow
def test_a_replay_without_a_rule_or_with_another_parameter_shows_the_difference(decided: Connection) -> None:
    by_task = {row["task_id"]: row for row in replayed(decided, setup="w", without=["memory"])}
    assert (by_task[1]["gained"], by_task[1]["lost"]) == (["A"], [])
    assert "candidates" in by_task[1]["differs"]
    assert (by_task[2]["gained"], by_task[2]["lost"]) == ([], [])
    only_best = {"top-10": {"best": 1}}
    by_task = {row["task_id"]: row for row in replayed(decided, setup="w", changes=json.dumps(only_best))}
    assert [len(by_task[task]["lost"]) for task in (1, 2)] == [1, 2]
    assert {len(row["jobs_after"]) for row in by_task.values()} == {1}
    decided.execute("select brokerage.set_profile('acme', 'documented')")
    decided.execute("""select brokerage.set_rule('acme', 'memory', '{"enabled": false}')""")
    assert replayed(decided, setup="w", profile="acme") == replayed(decided, setup="w", without=["memory"])


@pytest.mark.slow
def test_an_explanation_shows_the_rules_that_decided(decided: Connection) -> None:
    """The rules of today do not count."""
    decided.execute("select brokerage.set_profile('acme', 'documented')")
    decided.execute("""select brokerage.set_settings('w', '{"profile": "acme"}')""")
    run = ran(decided, "production_job", "w", task_ids=[1, 2], seed=1)
    decided.execute("""select brokerage.set_rule('acme', 'memory', '{"enabled": false}')""")
    assert [row["differs"] for row in replayed(decided, setup="w", run_id=run)] == [[], []]
    assert [row["gained"] for row in replayed(decided, setup="w", run_id=run, profile="acme")] == [["A"], []]


WRONG = [
    ({"profile": "nobody"}, "PB001", "profile 'nobody' does not exist"),
    ({"profile": "panda2026"}, "PB001", "profile panda2026 is based on panda2026, run 1 was decided by documented"),
    ({"without": ["memry"]}, "PB001", "rule 'memry' is not among the rules of these decisions"),
    ({"changes": '{"memry": {"best": 1}}'}, "PB001", "rule 'memry' is not among the rules of these decisions"),
    ({"changes": '{"top-10": {"worst": 1}}'}, "PB001", "rule top-10 of profile documented: parameter worst is 1, not"),
    ({"changes": '{"top-10": {"best": 0}}'}, "PB001", "rule top-10 of profile documented: parameter best is 0, not"),
    ({"changes": '{"top-10": 1}'}, "PB001", 'changes are {"top-10": 1}'),
    ({"changes": "[]"}, "PB001", "changes are []"),
    ({"run_id": 9}, "PB004", "run 9 is not in setup w"),
    ({"until": timedelta(days=1)}, "PB004", "no facts are kept of runs in that time in setup w"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "sqlstate", "message"), WRONG)
def test_a_replay_with_wrong_arguments_is_refused(decided: Connection, given: Row, sqlstate: str, message: str) -> None:
    with pytest.raises(psycopg.Error) as raised:
        replayed(decided, setup="w", **given)
    assert raised.value.sqlstate == sqlstate
    assert (raised.value.diag.message_primary or "").startswith(message)


def test_dry_runs_and_runs_without_recording_keep_no_facts(db: Connection) -> None:
    small(db)
    ran(db, "production_job", "w", dry_run=True)
    db.execute("""select brokerage.set_settings('w', '{"keep_facts": false}')""")
    run = ran(db, "production_job", "w")
    assert db.execute("select from brokerage.recording").fetchall() == []
    assert db.execute("select from brokerage.recorded_value").fetchall() == []
    with pytest.raises(psycopg.Error, match=f"no facts are kept of run {run} in setup w"):
        replayed(db, setup="w", run_id=run)


@pytest.mark.slow
def test_a_replay_over_its_time_limit_names_the_part_it_reached(db: Connection) -> None:
    small(db)
    ran(db, "production_job", "w", tasks_a_commit=1)
    db.execute("""select brokerage.set_settings('w', '{"replay_time": "1 microsecond"}')""")
    message = r"the replay took longer than 00:00:00\.000001: it reached .*, after 1 parts"
    with pytest.raises(psycopg.Error, match=message):
        replayed(db, setup="w")


def test_facts_recorded_by_another_release_are_found_by_name(decided: Connection) -> None:
    """An attribute that is gone is left out. One that is lacking is an error: null would let queues pass."""
    decided.execute("""update brokerage.recording set tasks = tasks || '{"gone_since": [1, 2]}'""")
    assert [row["differs"] for row in replayed(decided, setup="w")] == [[], []]
    decided.execute("update brokerage.recording set tasks = tasks - 'ram_count'")
    with pytest.raises(psycopg.Error, match=r"the facts that were kept lack ram_count of task_facts"):
        replayed(decided, setup="w")


def test_an_attribute_of_another_type_is_converted_or_named_in_an_error(decided: Connection) -> None:
    """A number recorded as a text, or the reverse, is read as it was; a text that is no number is an error."""
    keep = "update brokerage.recording set tasks = jsonb_set(tasks, '{ram_count}', to_jsonb(%s::text))"
    decided.execute(keep, ['{"2000","500"}'])
    before = [row["differs"] for row in replayed(decided, setup="w")]
    decided.execute(keep, ["{2000,500}"])
    assert [row["differs"] for row in replayed(decided, setup="w")] == before
    for name, value, error in (
        ("ram_count", '"{2000,many}"', 'malformed|"many"'),
        ("ram_count", "[2000, 500]", "malformed"),
        ("preassigned", '"{A,B}"', "scalar"),
        ("preassigned", '{"all": ["A"]}', "object"),
        ("preassigned", '["A", "B"]', "scalar"),
        ("config", '"{}"', "scalar"),
    ):
        keep = "update brokerage.recording set tasks = tasks || jsonb_build_object(%s::text, %s::jsonb)"
        with decided.transaction(force_rollback=True):
            decided.execute(keep, [name, value])
            with pytest.raises(psycopg.Error, match=rf"were kept do not fit .*task_facts: .*({error})") as caught:
                replayed(decided, setup="w")
        assert caught.value.sqlstate == "PB001", (name, value)


VALUES = {
    "double precision": ["'Infinity'", "'-Infinity'", "'NaN'", "1e-300", "0.1", "null"],
    "bigint": ["9223372036854775807", "-1", "null"], "integer": ["2147483647", "null"],
    "text": ["''", "E'tab\\there, \"quoted\"'", "'null'", "null"], "text[]": ["'{}'", "'{a,NULL,\"b c\"}'", "null"],
    "boolean": ["true", "false", "null"], "jsonb": ["""'{"a": [1, null]}'""", "'{}'", "null"],
    "timestamp with time zone": ["'2026-10-25 00:30:00.000001+00'", "null"],
    "interval": ["'1 mon -2 days 03:00:00.5'", "null"],
}  # fmt: skip


@pytest.mark.parametrize("name", FACTS)
def test_recorded_facts_come_back_unchanged(db: Connection, name: str) -> None:
    """Each attribute has its extreme values; lists without rows are tried, too."""
    query = """select attname, format_type(atttypid, null) from pg_attribute
                where attrelid = %s::regclass and attnum > 0 and not attisdropped order by attnum"""
    types = [kind for _, kind in db.execute(query, [f"brokerage.{name}"]).fetchall()]
    rows = []
    for number in range(max(map(len, VALUES.values()))):
        values = [f"{VALUES[kind][number % len(VALUES[kind])]}::{kind}" for kind in types]
        rows.append(f"row({', '.join(values)})::brokerage.{name}")
    db.execute("set datestyle = 'SQL, DMY'; set intervalstyle = 'sql_standard'; set extra_float_digits = -5")
    there = f"brokerage.from_columns(brokerage.to_columns(%s), null::brokerage.{name})"
    for array in (f"array[{', '.join(rows)}]", f"array[{rows[0]}, {rows[0]}]", f"'{{}}'::brokerage.{name}[]"):
        [(equal,)] = db.execute(f"select {array} = {there.replace('%s', array)}".encode()).fetchall()
        assert equal, array


def test_every_subject_is_kept(db: Connection) -> None:
    query = """select attname from pg_attribute
                where attrelid = 'brokerage.facts_by_subject'::regclass and attnum > 0 and not attisdropped"""
    subjects = {name for (name,) in db.execute(query).fetchall()}
    query = "select prosrc from pg_proc where oid = 'brokerage.judge_again'::regproc"
    [(source,)] = db.execute(query).fetchall()
    assert {name for name in subjects if f"v_subjects.{name} :=" in source} == subjects


def test_a_function_that_has_changed_since_is_named(decided: Connection) -> None:
    query = "select * from brokerage.replay_changes('w')"
    assert decided.execute(query).fetchall() == []
    definition = "select pg_get_functiondef(oid) from pg_proc where oid = 'brokerage.rule_memory'::regproc"
    [(source,)] = decided.execute(definition).fetchall()
    decided.execute(source)  # made again without a change
    assert decided.execute(query).fetchall() == []
    decided.execute(source.replace("MB", "megabytes"))
    [(function, change)] = decided.execute(query).fetchall()
    assert function.startswith("brokerage.rule_memory(") and change == "changed"
    assert [row["differs"] for row in replayed(decided, setup="w")] == [["reasons"], []]


@pytest.mark.slow
def test_two_brokers_do_not_wait_for_each_others_recording(db: Connection, connect: Connect) -> None:
    """Both note the same columns of the same queues; the first has not committed."""
    small(db)
    query = "select brokerage.open_run('w', 'production_job', null, null, false) from generate_series(1, 2)"
    [(one,), (two,)] = db.execute(query).fetchall()
    other = connect()
    with db.transaction():
        db.execute("select brokerage.broker_next('w', %s, '{1}')", [one])
        other.execute("set statement_timeout = '20s'")
        assert other.execute("select brokerage.broker_next('w', %s, '{2}')", [two]).fetchall() == [(1,)]
    assert [row["differs"] for row in replayed(db, setup="w")] == [[], []]


def test_recordings_are_removed_with_their_decisions(decided: Connection) -> None:
    day = datetime.now(UTC) - timedelta(days=5)
    for table in ("recording", "recorded_value"):
        column = "decided_at" if table == "recording" else "noted_at"
        decided.execute(f"update brokerage.{table} set {column} = %s".encode(), [day])
    decided.execute("select * from brokerage.maintain()")
    assert decided.execute("select from brokerage.recording").fetchall() == []
    assert decided.execute("select from brokerage.recorded_value").fetchall() == []
    query = """select count(*) from pg_inherits where inhparent in ('brokerage.recording'::regclass,
                                                                    'brokerage.recorded_value'::regclass)"""
    [(partitions,)] = decided.execute(query).fetchall()
    assert partitions >= 2 * 4  # the default one, and days ahead


def test_recordings_are_removed_with_their_setup(decided: Connection) -> None:
    decided.execute("select taskqueue.remove_setup('w')")
    assert decided.execute("select from brokerage.recording").fetchall() == []
    assert decided.execute("select from brokerage.recorded_value").fetchall() == []


@pytest.mark.parametrize("far", ["178000000 years", "-178000000 years", "1000 years"])
def test_a_time_range_may_be_of_any_length(decided: Connection, far: str) -> None:
    query = "select count(*) from brokerage.recorded('w', %s, %s, null)"
    everything = decided.execute(query, [None, None]).fetchone()
    since, until = (decided.execute(query, given).fetchone() for given in ([far, None], [None, far]))
    assert everything is not None and everything != (0,)
    assert (since, until) == (((0,), everything) if far.startswith("-") else (everything, (0,)))
