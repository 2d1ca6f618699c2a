"""The query for many pairs passes on the facts of tasks and nuclei that rules read, and decides like that for few."""

import re
from typing import Any

import psycopg
import pytest

from tests.core.brokerage.own_rules import add_rule
from tests.core.brokerage.runs import decided, load_due, ran

Connection = psycopg.Connection[Any]

RULE = "select case when to_jsonb(t) ->> 'label' = 'none' then q.queue end"


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["documented", "panda2026", "acme"])
@pytest.mark.parametrize("dry", [True, False])
def test_a_batch_of_tasks_decides_as_single_tasks(db: Connection, profile: str, *, dry: bool) -> None:
    """Over 5,000 pairs. acme has a rule of another schema: each level of its query joins tasks and nuclei again."""
    load_due(db, "production_task", 120, 150, nuclei=40)
    db.execute("update workload.task set label = 'managed' where setup = 'grid'")
    add_rule(db, RULE, "panda2026", "production_task", position=45)
    query = """select t.task_id from workload.task t where t.setup = 'grid'
                order by t.current_priority desc, t.task_id"""
    tasks = [task for (task,) in db.execute(query).fetchall()]
    singles = tasks[::30] if dry else tasks[:1]  # in a real run, a task sees the assignments of earlier tasks
    alone: dict[tuple[int, str], tuple[Any, ...]] = {}
    for task in singles:
        db.execute("select brokerage.evaluate_task('grid', %s, 'production_task', %s)", [task, profile])
        [(run,)] = db.execute("select max(run_id) from brokerage.run").fetchall()
        alone |= decided(db, run)
    run = ran(db, "production_task", profile=profile, seed=1, dry_run=dry, tasks_a_commit=None)
    together = decided(db, run)
    assert len(together) > 5000
    assert len({told[1] for told in together.values()}) > 3  # rules
    assert alone == {pair: told for pair, told in together.items() if pair[0] in singles}


def test_a_function_of_another_schema_may_read_anything(db: Connection) -> None:
    add_rule(db, RULE, "panda2026", "production_task", position=45)
    query = "select brokerage.facts_read(brokerage.rules_of(%s), 'production_task')"
    read = {profile: db.execute(query, [profile]).fetchone() for profile in ("panda2026", "acme")}
    assert read["acme"] == (None,)
    assert {"t_full_chain", "t_runnable_at", "q_bare_nucleus"} < set(read["panda2026"][0])  # type: ignore[index]
    assert "t_label" not in read["panda2026"][0]  # type: ignore[index]


def test_shipped_rules_read_facts_by_their_names(db: Connection) -> None:
    """In their texts `t` and `q` precede a dot, or are passed to a function of the schema: facts_read relies on
    that."""
    functions = db.execute("""
        select p.proname, p.prosrc from pg_proc p
         where p.pronamespace = 'brokerage'::regnamespace and p.prokind = 'f'
           and p.prorettype = any (array['text', 'float8', 'float8[]', 'bool', 'int8', 'int4']::regtype[])
           and p.proargtypes::oid[] && array['brokerage.task_facts', 'brokerage.queue_facts']::regtype[]::oid[]
    """).fetchall()
    assert len(functions) > 100
    for name, text in functions:
        left, before = text, ""
        while left != before:
            left, before = re.sub(r"brokerage\.\w+\([^()]*\)", "", left), left
        assert not re.search(r"(?<![.'\w])[tq]\b(?!\.\w)", left), name
