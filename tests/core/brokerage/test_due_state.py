"""Answers of brokerage about tasks that it does not take or cannot decide, and about settings."""

import re
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from broker import world
from broker.laboratory.grid import grid
from tests.core.brokerage.runs import open_world

Connection = psycopg.Connection[Any]
Row = dict[str, Any]
NOT_DUE = """select not_due from brokerage.task_due_state
             where setup = 'default' and algorithm = 'production_job' and task_id = 1"""


def _world(task: Row | None = None, *, files: int = 4, **queue: Any) -> Row:
    """A queue that takes everything, and a task."""
    return open_world(["Q"], [{"id": 1} | (task or {})], files=files, **queue)


def _call(lab: Connection, *tasks: int) -> int:
    query = "call brokerage.broker_jobs('default', p_task_ids => %s::bigint[], p_tasks_a_commit => null)"
    [(run,)] = lab.execute(query, [list(tasks) or None]).fetchall()
    return int(run)


@pytest.mark.parametrize(("changes", "said"), [
    ({}, None),
    ({"status": "assigning"}, "status is assigning (due are ready, scouting, running, pending)"),
    ({"status": None}, "status is not known (due are ready, scouting, running, pending)"),
    ({"label": "user"}, "label user is not brokered: production jobs are, of every label but user and panda"),
    ({"label": None}, None),
    ({"input": []}, "has no jobs: it has no input; jobs are made of the files of its first input"),
    ({"input": ["empty", "data"]}, "has no jobs: dataset empty, its first input, has no files"),
    ({"status": "done", "label": "user", "input": []}, "status is done"),
])  # fmt: skip
def test_each_task_that_is_not_due_has_its_reason(lab: Connection, changes: Row, said: str | None) -> None:
    given = _world(changes)
    given["datasets"]["empty"] = {"files": []}
    world.load(lab, [given])
    [(reason,)] = lab.execute(NOT_DUE).fetchall()
    assert reason is said or (said and reason.startswith(said))
    due = lab.execute("select task_id from brokerage.due_task where algorithm = 'production_job'").fetchall()
    assert due == ([] if said else [(1,)])
    assert due == lab.execute("select task_id from brokerage.open_task where algorithm = 'production_job'").fetchall()


def test_the_reason_of_a_task_with_all_jobs_assigned_gives_their_number(lab: Connection) -> None:
    world.load(lab, [_world()])
    _call(lab)
    assert lab.execute(NOT_DUE).fetchall() == [("all 4 jobs are assigned",)]
    world.load(lab, [_world(files=1)])
    assert lab.execute(NOT_DUE).fetchall() == [("its one job is assigned",)]


def test_the_reason_of_a_waiting_task_gives_the_time_and_the_cause(lab: Connection) -> None:
    world.load(lab, [_world(status="offline")])
    run = _call(lab)
    assert lab.execute(NOT_DUE).fetchall() == [(f"waits until 2026-03-01 13:00:00 UTC: run {run} found none for it",)]
    assert lab.execute("select task_id from brokerage.open_task where algorithm = 'production_job'").fetchall() == [
        (1,)
    ]
    lab.execute("select resource.set_clock('default', '2026-03-01 13:00+00')")
    assert lab.execute(NOT_DUE).fetchall() == [(None,)]
    world.load(lab, [_world({"architecture": "{"})])
    run = _call(lab, 1)
    [(reason,)] = lab.execute(NOT_DUE).fetchall()
    assert re.match(
        rf"waits until 2026-03-01 1\d:00:00 UTC: run {run} decided error: architecture is not JSON: ", reason
    )


@pytest.mark.slow
def test_tasks_without_a_reason_against_it_are_due_and_open(lab: Connection) -> None:
    world.load(lab, [grid(3, 10, 60)])
    lab.execute("call brokerage.broker_jobs('grid', p_seed => 1, p_limit => 30, p_tasks_a_commit => null)")
    query = "select task_id, jobs_left, not_open, not_due, waits from brokerage.task_due_state where algorithm = %s"
    rows = lab.execute(query, ["production_job"]).fetchall()
    assert len(rows) == 60
    for view, place in (("open_task", 2), ("due_task", 3)):
        query = f"select task_id, jobs_left from brokerage.{view} where algorithm = 'production_job' order by 1"
        found = lab.execute(query.encode()).fetchall()
        assert found == sorted(row[:2] for row in rows if row[place] is None)
        assert all(jobs > 0 for _, jobs in found)
    assert any(row[2] is None and row[4] for row in rows)  # some wait
    assert all(row[3] for row in rows if row[2] or row[4])


def test_each_task_belongs_to_one_broker(lab: Connection) -> None:
    kinds = product(("managed", "user", None), ("assigning", "ready", "done", None))
    tasks = [{"id": number, "label": label, "status": status} for number, (label, status) in enumerate(kinds, 1)]
    world.load(lab, [{"tasks": tasks}])
    query = "select task_id, algorithm from brokerage.task_due_state where has_task order by task_id"
    has = lab.execute(query).fetchall()
    assert has == lab.execute("select task_id, algorithm from monitor.task order by task_id").fetchall()
    assert [algorithm for _, algorithm in has[:5]] == ["production_task"] + 3 * ["production_job"] + ["analysis_job"]


@pytest.mark.parametrize(("tasks", "named"), [
    ([12345], "task 12345 is not in setup default"),
    ([1, 7, 6, 6], "tasks 6, 7 are not in setup default"),
    ([*range(1, 9)], "tasks 2, 3, 4, 5, 6 and 2 more are not in setup default"),
    ([1, None], "task null is not in setup default"),
])  # fmt: skip
def test_naming_an_unknown_task_is_an_error(lab: Connection, tasks: list[int | None], named: str) -> None:
    world.load(lab, [_world()])
    with pytest.raises(psycopg.Error) as raised:
        lab.execute("call brokerage.broker_jobs('default', %s::bigint[], p_tasks_a_commit => null)", [tasks])
    assert (raised.value.sqlstate, raised.value.diag.message_primary) == ("PB004", named)
    assert raised.value.diag.message_hint


def test_the_refusal_of_an_unknown_setup_lists_the_known_setups(lab: Connection) -> None:
    hints = []
    for setups in ((), ("prod", "test")):
        for setup in setups:
            world.load(lab, [_world()], setup)
        with pytest.raises(psycopg.Error) as raised, lab.transaction():
            lab.execute("call brokerage.broker_jobs('prdo', p_tasks_a_commit => null)")
        assert raised.value.sqlstate == "PB001"
        hints.append(raised.value.diag.message_hint)
    assert hints == ["There is none yet: load a world (broker load).", "There are: prod, test."]


def test_a_named_task_that_is_not_due_is_decided_with_a_notice(lab: Connection) -> None:
    notices: list[str] = []
    lab.add_notice_handler(lambda diagnostic: notices.append(str(diagnostic.message_primary)))
    world.load(lab, [_world(workers={"running": 20})])  # the jobs of the first call are below its cap
    _call(lab, 1)
    assert notices == []
    run = _call(lab, 1)
    assert notices == ["not due, decided because they are listed: task 1: all 4 jobs are assigned"]
    assert lab.execute("select status from brokerage.task_decision where run_id = %s", [run]).fetchall() == [
        ("candidates",)
    ]


# --- Tasks that leave before a queue is asked -------------------------------------------------------------------------


def _said(lab: Connection, view: str, run: int) -> list[Row]:
    query = f"select to_jsonb(v) from {view} v where run_id = %s order by task_id"
    return [row for (row,) in lab.execute(query.encode(), [run]).fetchall()]


def _part(row: Mapping[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


@pytest.mark.slow
def test_the_message_of_an_error_is_read(connect: Callable[..., Connection]) -> None:
    admin, viewer = connect(), connect("broker_viewer")
    given = _world({"architecture": "{"})
    given["tasks"] += [{**given["tasks"][0], "id": 2}, {**given["tasks"][0], "id": 3, "architecture": None}]
    world.load(admin, [given])
    run = _call(admin)
    query = "select status, tasks, example, rule, reason from brokerage.outcomes where run_id = %s order by 1"
    good, bad = viewer.execute(query, [run]).fetchall()
    assert good == ("candidates", 1, 3, None, None)
    assert bad[:4] == ("error", 2, 1, None)
    assert bad[4].startswith("architecture is not JSON: ")
    for row in _said(viewer, "monitor.verdict", run)[:2]:
        assert _part(row, "queue", "verdict", "rule", "reason") == (None, "error", None, bad[4])
    first, second, third = _said(viewer, "monitor.task_decision", run)
    assert _part(first, "task_id", "status", "reason", "jobs") == (1, "error", bad[4], None)
    assert _part(second, "task_id", "status") == (2, "error")
    assert _part(third, "task_id", "status", "candidates", "jobs", "dry") == (3, "candidates", 1, 4, False)
    assert viewer.execute("select not_due from brokerage.task_due_state order by task_id").fetchall()[0][0]


def test_a_task_that_a_rule_refused_is_counted_by_the_rule(lab: Connection) -> None:
    """panda2026: input that is complete nowhere fails the task."""
    given = _world()
    given["datasets"]["data"]["replicas"] = {}
    given["tasks"].append({"id": 2, "input": ["data"], "architecture": "{"})
    world.load(lab, [given])
    lab.execute("select brokerage.set_settings('default', '{\"profile\": \"panda2026\"}')")
    run = _call(lab)
    query = "select status, rule, tasks, example, reason from brokerage.outcomes where run_id = %s order by 1 desc"
    failed, error = lab.execute(query, [run]).fetchall()
    assert failed[:4] == ("failed", "input-completeness", 1, 1)
    assert "data" in failed[4]
    assert error[:4] == ("error", None, 1, 2)
    row, _ = _said(lab, "monitor.verdict", run)
    assert _part(row, "verdict", "rule", "reason") == ("failed", "input-completeness", failed[4])
    [(said,)] = lab.execute(NOT_DUE).fetchall()
    assert said.endswith(f"run {run} decided failed, input-completeness: {failed[4]}")


# --- Named queues that do not exist; settings -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("site", "unknown"),
    [(None, []), ("Q", []), ("NOQ", ["NOQ"]), ("NOQ,Q,ANOTHER", ["ANOTHER", "NOQ"]), ("U", []), ("U/SCORE", [])],
)
def test_unknown_queues_lists_missing_queues_that_a_task_is_preassigned_to(
    lab: Connection, site: str | None, unknown: list[str]
) -> None:
    given = _world({"site": site})
    given["queues"]["U"] = {**given["queues"]["Q"], "type": "unified", "capability": "ucore"}
    world.load(lab, [given])
    assert lab.execute("select brokerage.unknown_queues('default', 1)").fetchall() == [(unknown,)]


@pytest.mark.parametrize(("profile", "task", "named"), [
    ("documented", {"site": "Q,*C"}, [("*C", []), ("Q", ["Q"])]),
    ("documented", {"params": {"included_site": ["U", "Z*"]}}, [("U", ["U/SCORE"]), ("Z*", [])]),
    ("documented", {"params": {"included_site": ["*SC", "AUTO"]}}, [("*SC", []), ("AUTO", [])]),
    ("panda2026", {"params": {"included_site": ["*SC", "AUTO"]}}, [("*SC", ["U/SCORE"])]),
    ("panda2026", {"site": "DISK"}, []),
    ("documented", {"site": "DISK"}, [("DISK", [])]),
])  # fmt: skip
def test_named_queues_lists_the_queues_that_a_task_of_a_user_names(
    lab: Connection, profile: str, task: Row, named: list[Any]
) -> None:
    """A task names its site and included_site, as each profile reads them; in PanDA's code a storage means queues."""
    given = _world({"label": "user", **task})
    given["queues"]["U"] = {**given["queues"]["Q"], "type": "unified", "capability": "ucore"}
    given["queues"]["Q"]["astorages"] = {"read_lan": ["DISK"]}
    given["resource_types"] = [{"name": "SCORE", "mincore": 1, "maxcore": 1}]
    world.load(lab, [given])
    assert lab.execute("select * from brokerage.named_queues('default', 1, %s)", [profile]).fetchall() == named


def test_unchanged_settings_are_the_defaults_of_the_table(lab: Connection) -> None:
    query = "select * from brokerage.setting_in_force where setup = 'default'"
    world.load(lab, [_world()])
    untouched = lab.execute(query).fetchall()
    assert len(untouched) == 1
    lab.execute("insert into brokerage.setting (setup) values ('default')")
    assert lab.execute(query).fetchall() == untouched
    lab.execute("select brokerage.set_settings('default', %s)", [Jsonb({"profile": "panda2026"})])
    assert lab.execute(query).fetchall()[0][:2] == ("default", "panda2026")
