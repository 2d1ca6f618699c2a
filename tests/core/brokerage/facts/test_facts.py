"""Facts: their columns are in the order of their types, and no pair of task and queue is missing."""

import re
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest

from broker import world
from broker.laboratory.grid import grid
from tests.core.oracle.engine import pairs
from tests.core.oracle.job_worlds import random_world

PROFILES = ("documented", "panda2026")
Connection = psycopg.Connection[Any]
Row = dict[str, Any]


def _attributes(lab: Connection, type_name: str) -> list[str]:
    query = """select attname from pg_attribute
                where attrelid = %s::regclass and attnum > 0 and not attisdropped order by attnum"""
    return [name for (name,) in lab.execute(query, [type_name]).fetchall()]


@pytest.mark.parametrize(
    ("type_name", "function"), [("task_facts", "facts_of_tasks"), ("queue_facts", "facts_of_queues")]
)
def test_columns_of_facts_are_in_the_order_of_their_type(lab: Connection, type_name: str, function: str) -> None:
    """Columns are read by position: two of the same type in the wrong order would pass unseen. Configuration has the
    names of PanDA's keys, which are upper case."""
    query = (
        "select prosrc, proargnames::text[], proargtypes::oid[]::regtype[]::text[] from pg_proc where oid = %s::regproc"
    )
    [(body, names, types)] = lab.execute(query, [f"brokerage.{function}"]).fetchall()
    for name, type_ in zip(names, types, strict=True):
        body = re.sub(rf"\b{name}\b", f"null::{type_}", body)
    found = [column.name.lower() for column in lab.execute(f"{body} limit 0").description or ()]
    assert found == _attributes(lab, f"brokerage.{type_name}")


PAIRS = ["facts_of_pairs", "facts_of_analysis_pairs", "facts_of_nucleus_pairs"]


def test_pairs_have_every_attribute(lab: Connection) -> None:
    """Each attribute but the weight is known to some algorithm, by name and type; the numbers come first."""
    query = """select a.name, format_type(a.type, null)
                 from pg_proc p
                cross join unnest(p.proargnames, p.proallargtypes, p.proargmodes) with ordinality a(name, type, mode, n)
                where p.oid = %s::regproc and a.mode = 't' order by a.n"""
    returned = [lab.execute(query, [f"brokerage.{function}"]).fetchall() for function in PAIRS]
    assert [facts[:2] for facts in returned] == [[("task_number", "bigint"), ("queue_number", "bigint")]] * 3
    query = """select attname, format_type(atttypid, atttypmod) from pg_attribute
                where attrelid = 'brokerage.pair_facts'::regclass and attnum > 0 and not attisdropped"""
    attributes = set(lab.execute(query).fetchall()) - {("weight", "double precision")}
    assert {fact for facts in returned for fact in facts[2:]} == attributes


def _odd_tasks() -> Row:
    """A world with tasks that lack the values by which pairs are joined."""
    one = random_world(1, "io")
    plain = one["tasks"][0]
    return {
        **one,
        "tasks": [plain, {"id": 2},
            {"id": 3, "nucleus": None, "gshare": None, "resource_type": None, "processing_type": None},
            {"id": 4, "nucleus": "NOT_THERE", "input": ["not there"], "gshare": "of nobody"},
            {"id": 5, "label": None, "input": [], "site": "NOT_THERE", "architecture": "", "trans_home": None}],
    }  # fmt: skip


def _are_all(rows: Sequence[Row], tasks: Sequence[int], queues: Sequence[str]) -> None:
    found = sorted((row["task_id"], row["queue"]) for row in rows)
    assert found == sorted((task, queue) for task in tasks for queue in queues)


@pytest.mark.parametrize("profile", PROFILES)
def test_no_pair_of_task_and_queue_is_missing(lab: Connection, profile: str) -> None:
    """A missing pair would be a queue that no rule decides about."""
    one = _odd_tasks()
    world.load(lab, [one], "odd")
    rows = pairs(lab, "odd", one["tasks"], profile)
    _are_all(rows, [task["id"] for task in one["tasks"]], list(one["queues"]))
    assert [
        row for row in rows if row["is_own"] is None or row["running"] is None or row["input_is_local"] is None
    ] == []
    assert {row["input_is_local"] for row in rows if row["task_id"] == 2} == {True}  # without input nothing is missing


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_no_pair_of_the_grid_is_missing(lab: Connection, profile: str) -> None:
    one = grid(1, 40, 40)
    world.load(lab, [one], "grid")
    query = "select queue from resource.candidate_queue where setup = 'grid'"
    queues = [queue for (queue,) in lab.execute(query).fetchall()]
    assert len(queues) > len(one["queues"])  # unified queues have become pseudo-queues
    _are_all(pairs(lab, "grid", one["tasks"], profile), [task["id"] for task in one["tasks"]], queues)


def _of_each_kind(tasks: Sequence[Row]) -> list[Row]:
    """One task in ten, and others so that each value of the keys with few values is there."""
    values = {key: {str(task.get(key)) for task in tasks} for task in tasks for key in task}
    left = {(key, value) for key, of in values.items() if len(of) <= 20 for value in of}
    chosen = []
    for number, task in enumerate(tasks):
        new = {(key, str(task.get(key))) for key in values} & left
        if new or number % 10 == 0:
            chosen.append(task)
            left -= new
    return chosen


@pytest.mark.thorough
@pytest.mark.parametrize("profile", PROFILES)
def test_facts_of_few_pairs_equal_those_of_all_pairs(lab: Connection, profile: str) -> None:
    """Queries for few pairs are planned once per session; queries for some thousand pairs are planned each time.

    Tasks of each kind are asked for one by one, in many more calls than PostgreSQL makes before it keeps a plan.
    """
    one = grid(1, 20, 300)
    alone = _of_each_kind(one["tasks"])
    assert 30 < len(alone) < 100
    world.load(lab, [one], "grid")

    def facts(function: str, tasks: Sequence[Row]) -> list[Row]:
        rows = pairs(lab, "grid", tasks, profile, function)
        return sorted(({**row, "task_number": None} for row in rows), key=lambda row: (row["task_id"], row["queue"]))

    for function in PAIRS[:2]:
        many = facts(function, one["tasks"])
        assert len(many) > 5000
        few = [row for task in alone for row in facts(function, [task])]
        ids = {task["id"] for task in alone}
        of_many = [row for row in many if row["task_id"] in ids]
        assert sorted(few, key=lambda row: (row["task_id"], row["queue"])) == of_many


def test_each_task_and_queue_has_one_row_of_facts(lab: Connection) -> None:
    """This also holds where there are many or no links, statistics and storages."""
    one = _odd_tasks()
    world.load(lab, [one], "odd")
    query = "select task_id from brokerage.facts_of_tasks('odd', %s, 'documented', 'production_job') order by 1"
    tasks = lab.execute(query, ([1, 2, 3, 4, 5, 6, 1000],)).fetchall()
    assert tasks == [(2,), (3,), (4,), (5,), (1000,)]
    query = "select queue from brokerage.facts_of_queues('odd') order by 1"
    assert lab.execute(query).fetchall() == [(queue,) for queue in sorted(one["queues"])]
    assert lab.execute("select * from brokerage.facts_of_queues('nobody')").fetchall() == []
