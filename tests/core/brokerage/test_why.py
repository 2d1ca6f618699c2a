"""Why a task went where it went: explanations agree with decisions, and named obstacles are real."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from broker import world
from broker.laboratory.grid import grid
from broker.operate.reading import task_explanation

Connection = psycopg.Connection[Any]
Row = dict[str, Any]
PROFILES = ("documented", "panda2026")
VERDICTS = {"c": "candidate", "r": "rejected", "n": "not candidate"}


@pytest.fixture(scope="module")
def loaded(_shared_dsn: str) -> Iterator[Connection]:
    """A connection in a transaction with the grid."""
    with psycopg.connect(_shared_dsn) as connection:
        connection.execute("select 1")
        world.load(connection, [grid(3, 25, 30)])
        yield connection
        connection.rollback()


@pytest.fixture
def db(loaded: Connection) -> Iterator[Connection]:
    """The grid; changes of a test are undone."""
    with loaded.transaction(force_rollback=True):
        yield loaded


def _rows(db: Connection, query: str, *parameters: Any) -> list[Row]:
    with db.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query, parameters).fetchall()


def _tasks(db: Connection) -> list[int]:
    return [row["task_id"] for row in _rows(db, "select task_id from workload.task where setup = 'grid' order by 1")]


def _explained(db: Connection, task: int, profile: str) -> list[Row]:
    return _rows(db, "select * from brokerage.explain('grid', %s, %s, 'production_job')", task, profile)


def _choices(db: Connection, profile: str) -> set[str]:
    """The choices: rules that keep the best of the queues that every rule accepts."""
    query = """select coalesce(parameters ->> 'as', rule) as rule from brokerage.rule_in_force
                where profile = %s and algorithm = 'production_job' and kind = 'choice'"""
    return {row["rule"] for row in _rows(db, query, profile)}


def _lost_a_choice(row: Row, choices: set[str]) -> bool:
    return row["verdict"] == "rejected" and row["rule"] in choices and not row["all_reasons"]


def _run(db: Connection, profile: str, tasks: Sequence[int]) -> int:
    """Decide all these tasks at once."""
    query = "select brokerage.open_run('grid', 'production_job', %s, null, true) as run"
    [row] = _rows(db, query, profile)
    db.execute("select brokerage.broker_next('grid', %s, %s)", (row["run"], tasks))
    return int(row["run"])


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_explanations_are_those_of_the_stored_decisions(db: Connection, profile: str) -> None:
    """Each queue of each task has its verdict, rank, rule, tag, reason and weight, the product of its factors."""
    tasks = _tasks(db)
    run = _run(db, profile, tasks)
    query = """select d.task_id, d.queue, d.verdict, d.rank, d.rule, w.criteria, w.reason, d.weight
                 from brokerage.decision d
                cross join lateral brokerage.split_reason(d.reason) w
                where d.run_id = %s"""
    decided = {(row.pop("task_id"), row["queue"]): row for row in _rows(db, query, run)}
    explained = {(task, row["queue"]): row for task in tasks for row in _explained(db, task, profile) if row["queue"]}
    assert explained.keys() == decided.keys()
    for pair, row in explained.items():
        said = decided[pair]
        assert {key: row[key] for key in said} == {**said, "verdict": VERDICTS[said["verdict"]]}
        if row["weight"] is not None:
            product = 1.0
            for factor in row["factors"].values():
                product *= factor
            assert product == pytest.approx(row["weight"], rel=1e-12)
    assert Counter(row["verdict"] for row in explained.values()).keys() == set(VERDICTS.values())


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_all_reasons_contain_the_reason_that_decided(db: Connection, profile: str) -> None:
    several, choices = 0, _choices(db, profile)
    for task in _tasks(db):
        for row in _explained(db, task, profile):
            reasons = row["all_reasons"] or []
            several += len(reasons) > 1
            if row["verdict"] == "rejected" and not _lost_a_choice(row, choices):
                words = (f"{row['rule']}: {row['reason']}", f"{row['rule']}: {row['criteria']}: {row['reason']}")
                assert set(words) & set(reasons)
            else:
                assert reasons == []
    assert several > 100


def _opened(db: Connection, task: int, profile: str) -> set[str]:
    """Queues that no rule keeps from the task, whatever is chosen among them."""
    choices = _choices(db, profile)
    return {
        row["queue"]
        for row in _explained(db, task, profile)
        if row["verdict"] == "candidate" or _lost_a_choice(row, choices)
    }


@pytest.mark.thorough
@pytest.mark.parametrize("profile", PROFILES)
def test_disabling_an_obstacle_opens_as_many_queues_as_predicted(db: Connection, profile: str) -> None:
    """Each named rule is disabled in a profile of the test's own."""
    tasks = _tasks(db)[::6]
    before = {task: _opened(db, task, profile) for task in tasks}
    obstacles = {
        task: _rows(db, "select * from brokerage.obstacles('grid', %s, %s, 'production_job')", task, profile)
        for task in tasks
    }
    rules = {row["rule"] for rows in obstacles.values() for row in rows}
    assert len(rules) > 8
    opened: Counter[tuple[int, str]] = Counter()
    for rule in rules:
        own = f"without-{rule}"
        db.execute("select brokerage.set_profile(%s, %s)", (own, profile))
        query = """select rule from brokerage.rule_in_force
                    where profile = %s and algorithm = 'production_job' and %s in (rule, parameters ->> 'as')"""
        for row in _rows(db, query, profile, rule):
            db.execute("select brokerage.set_rule(%s, %s, %s)", (own, row["rule"], Jsonb({"enabled": False})))
        for task in tasks:
            opened[task, rule] = len(_opened(db, task, own) - before[task])
    said = Counter({(task, row["rule"]): row["opens"] for task, rows in obstacles.items() for row in rows})
    assert +opened == +said
    assert sum(opened.values()) > 20


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_counts_of_obstacles_agree_with_explanations(db: Connection, profile: str) -> None:
    choices = _choices(db, profile)
    for task in _tasks(db)[::4]:
        rejected = [row for row in _explained(db, task, profile) if row["verdict"] == "rejected"]
        first = Counter(row["rule"] for row in rejected if not _lost_a_choice(row, choices))
        fails = Counter(
            rule for row in rejected for rule in {said.partition(": ")[0] for said in row["all_reasons"] or []}
        )
        rows = _rows(db, "select * from brokerage.obstacles('grid', %s, %s, 'production_job')", task, profile)
        assert {row["rule"]: row["rejects"] for row in rows if row["rejects"]} == first
        assert {row["rule"]: row["fails"] for row in rows} == fails
        assert [row["opens"] for row in rows] == sorted((row["opens"] for row in rows), reverse=True)
        examples = {
            f"{row['queue']}: {said.partition(': ')[2]}" for row in rejected for said in row["all_reasons"] or []
        }
        assert {row["example"] for row in rows} <= examples


HOSPITAL = {"type": "analysis", "pilots": {"getjob": 5}, "astorages": {"read_lan": ["D"], "write_lan": ["D"]}}
FEW: Row = {
    "queues": {"A": HOSPITAL, "B": HOSPITAL, "C_HOSPITAL": HOSPITAL, "D_HOSPITAL": HOSPITAL},
    "storages": {"D": {"space_free": 1000}},
    "tasks": [{"id": 1, "label": "user", "gshare": "User Analysis", "user": "alice"}],
}


def _few(db: Connection, queues: Row, task: Row) -> tuple[Row, Row]:
    """All reasons by queue, and obstacles by rule: rejects, fails, opens."""
    changed = {name: {**fields, **queues.get(name, {})} for name, fields in FEW["queues"].items()}
    with db.transaction(force_rollback=True):
        world.load(db, [{**FEW, "queues": changed, "tasks": [{**FEW["tasks"][0], **task}]}], "few")
        explained = _rows(db, "select * from brokerage.explain('few', 1, 'panda2026', 'analysis_job')")
        rows = _rows(db, "select * from brokerage.obstacles('few', 1, 'panda2026', 'analysis_job')")
    reasons = {row["queue"]: [said.partition(": ")[0] for said in row["all_reasons"] or []] for row in explained}
    return reasons, {row["rule"]: (row["rejects"], row["fails"], row["opens"]) for row in rows}


def test_rules_over_all_queues_are_reasons_and_obstacles(db: Connection) -> None:
    """A set rule that holds rejects the queues that reach it, and blocks the queues that failed earlier."""
    reasons, obstacles = _few(db, {"D_HOSPITAL": {"status": "offline"}}, {})
    assert reasons == {"A": [], "B": [], "C_HOSPITAL": ["hospital"], "D_HOSPITAL": ["queue-status", "hospital"]}
    assert obstacles == {"hospital": (1, 2, 1), "queue-status": (1, 1, 0)}


def test_a_set_rule_that_does_not_hold_is_no_obstacle(db: Connection) -> None:
    offline = {queue: {"status": "offline"} for queue in "AB"}
    reasons, obstacles = _few(db, {**offline, "D_HOSPITAL": {"status": "test"}}, {})
    assert reasons == {**{q: ["queue-status"] for q in ("A", "B", "D_HOSPITAL")}, "C_HOSPITAL": []}
    assert obstacles == {"queue-status": (3, 3, 3)}


def test_a_set_rule_that_rejects_in_any_case_is_a_reason(db: Connection) -> None:
    """include-exclude with limitedSites also rejects where no queue is left."""
    asked = {"params": {"excluded_site": ["*"]}, "split": {"limitedSites": True}}
    reasons, obstacles = _few(db, {"A": {"status": "offline"}}, asked)
    assert reasons["A"] == ["queue-status", "include-exclude"] and reasons["C_HOSPITAL"] == ["include-exclude"]
    assert obstacles == {"include-exclude": (3, 4, 3), "queue-status": (1, 1, 0)}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_pending_task_is_rejected_everywhere(db: Connection, profile: str) -> None:
    task = _tasks(db)[0]
    db.execute("update resource.queue set status = 'offline' where setup = 'grid'")
    run = _run(db, profile, [task])
    query = "select status from brokerage.task_decision where run_id = %s"
    assert _rows(db, query, run) == [{"status": "pending"}]
    verdicts = Counter(row["verdict"] for row in _explained(db, task, profile))
    assert verdicts["candidate"] == 0
    rows = _rows(db, "select * from brokerage.obstacles('grid', %s, %s, 'production_job')", task, profile)
    [status] = [row for row in rows if row["rule"] == "queue-status"]
    assert status["fails"] == verdicts["rejected"]
    assert status["example"].endswith("offline, not online") or "offline" in status["example"]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_task_that_cannot_be_read_is_explained_by_its_error(db: Connection, profile: str) -> None:
    task = _tasks(db)[0]
    db.execute("update workload.task set architecture = 'x86(' where setup = 'grid' and task_id = %s", [task])
    run = _run(db, profile, [task])
    query = "select status as verdict, reason from brokerage.task_decision where run_id = %s"
    [said] = _rows(db, query, run)
    assert said["verdict"] == "error"
    [row] = _explained(db, task, profile)
    assert {key: entry for key, entry in row.items() if entry is not None} == said
    assert _rows(db, "select * from brokerage.obstacles('grid', %s, %s, 'production_job')", task, profile) == []


def test_a_task_that_fails_is_explained_by_its_rule(db: Connection) -> None:
    """panda2026: input that is complete nowhere fails the task before any queue is asked."""
    query = """select min(task_id) as task from workload.task t where setup = 'grid' and not input_pre_staging
                  and exists (select from workload.task_dataset i
                               where i.setup = t.setup and i.task_id = t.task_id and i.direction = 'input')"""
    [found] = _rows(db, query)
    db.execute("delete from workload.replica where setup = 'grid'")
    run = _run(db, "panda2026", [found["task"]])
    [said] = _rows(db, "select status, rule, reason from brokerage.task_decision where run_id = %s", run)
    assert (said["status"], said["rule"]) == ("failed", "input-completeness")
    [row] = _explained(db, found["task"], "panda2026")
    assert (row["queue"], row["verdict"], row["rule"], row["reason"]) == (None, *said.values())


def test_explain_uses_the_profile_of_the_setup(db: Connection) -> None:
    task = _tasks(db)[1]
    db.execute("select brokerage.set_settings('grid', %s)", [Jsonb({"profile": "panda2026"})])
    rows = _rows(db, "select * from brokerage.explain('grid', %s, p_algorithm => 'production_job')", task)
    assert rows == _explained(db, task, "panda2026") != _explained(db, task, "documented")


@pytest.mark.parametrize(("function", "arguments", "code"), [
    ("explain", ("grid", 5, None), "PB004"),
    ("explain", ("grid", None, None), "PB004"),
    ("explain", ("nowhere", 41000001, None), "PB001"),
    ("explain", (None, 41000001, None), "PB001"),
    ("explain", ("grid", 41000001, "dox"), "PB001"),
    ("obstacles", ("grid", 5, None), "PB004"),
    ("obstacles", ("grid", 41000001, "dox"), "PB001"),
])  # fmt: skip
def test_bad_arguments_of_explain_and_obstacles_are_refused(
    db: Connection, function: str, arguments: tuple[Any, ...], code: str
) -> None:
    with pytest.raises(psycopg.Error) as raised:
        _rows(db, f"select * from brokerage.{function}(%s, %s, %s)", *arguments)
    assert raised.value.sqlstate == code
    assert raised.value.diag.message_hint


@pytest.mark.slow
def test_a_viewer_may_call_explain_and_obstacles(connect: Callable[..., Connection]) -> None:
    admin = connect()
    world.load(admin, [grid(3, 8, 3)])
    [task, *_] = _tasks(admin)
    viewer = connect("broker_viewer")
    query = "select * from brokerage.explain('grid', %s)"
    assert _rows(viewer, query, task) == _rows(admin, query, task) != []
    query = "select * from brokerage.obstacles('grid', %s)"
    assert _rows(viewer, query, task) == _rows(admin, query, task)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        viewer.execute("select brokerage.evaluate_task('grid', %s)", [task])


@pytest.mark.slow
@pytest.mark.parametrize(("task", "algorithm"), [
    ({"label": "user"}, "analysis_job"),
    ({"label": "panda", "status": "done"}, "analysis_job"),
    ({"label": "managed"}, "production_job"),
    ({"label": "managed", "status": "assigning"}, "production_task"),
    ({"label": "managed", "status": "done"}, "production_job"),
    ({"label": "user", "status": "assigning"}, "analysis_job"),
    ({}, "production_job"),
])  # fmt: skip
def test_explanations_come_from_the_broker_of_the_task(db: Connection, task: Row, algorithm: str) -> None:
    given = {
        "setup": "one",
        "queues": {"ANALY": {"type": "analysis"}, "PROD": {"role": "nucleus", "panda_site": "S"}},
        "tasks": [{"id": 1, "input": ["d"], **task}],
        "datasets": {"d": {"type": "pseudo_input", "files": [{"lfn": "a"}]}},
    }
    world.load(db, [given])
    assert _rows(db, "select brokerage.algorithm_of('one', 1) as said") == [{"said": algorithm}]
    for function in ("explain", "obstacles"):
        rows = _rows(db, f"select * from brokerage.{function}('one', 1)")
        assert rows == _rows(db, f"select * from brokerage.{function}('one', 1, null, %s)", algorithm) != []
        assert any(
            rows != _rows(db, f"select * from brokerage.{function}('one', 1, null, %s)", other)
            for other in ("production_job", "analysis_job")
        )
    [answer] = _rows(db, "select brokerage.evaluate_task('one', 1) as said")
    assert [answer] == _rows(db, "select brokerage.evaluate_task('one', 1, %s) as said", algorithm)
    query = "select algorithm from brokerage.run where setup = 'one'"
    assert {row["algorithm"] for row in _rows(db, query)} == {algorithm}
    assert task_explanation(db, "one", 1)["algorithm"] == algorithm


@pytest.mark.parametrize("call", ["algorithm_of('grid', 5)", "unknown_queues('grid', 5)", "evaluate_task('grid', 5)"])
def test_an_unknown_task_is_refused(db: Connection, call: str) -> None:
    with pytest.raises(psycopg.Error, match=r"task 5 (is not in setup grid|does not exist)") as raised:
        db.execute(f"select brokerage.{call}".encode())
    assert raised.value.sqlstate == "PB004"
