"""Queues that the first filter rejects are stored by their places, not in rows; readers see them like rows."""

from math import inf
from typing import Any

import psycopg
import pytest

from broker import world
from tests.core.brokerage.runs import decided, load_due, ran

Connection = psycopg.Connection[Any]


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["documented", "panda2026"])
@pytest.mark.parametrize("dry", [True, False])
def test_a_batch_stores_the_same_decisions_as_single_tasks(db: Connection, profile: str, *, dry: bool) -> None:
    """More than 5,000 pairs of analysis: filtered, with second passes, dry and in turn; and then task by task."""
    load_due(db, "analysis_job", 60, 0, user_tasks=100)
    db.execute("select brokerage.set_settings('grid', '{\"makes_jobs\": false}')")
    run = ran(db, "analysis_job", profile=profile, seed=1, dry_run=dry, tasks_a_commit=None)
    together = decided(db, run)
    statuses = dict(db.execute("select task_id, status from brokerage.task_decision where run_id = %s", [run]))
    tasks = sorted(task for task, status in statuses.items() if status in ("candidates", "pending"))
    queues = db.execute("select queue from resource.candidate_queue where setup = 'grid'").fetchall()
    assert together.keys() == {(task, queue) for task in tasks for (queue,) in queues}
    assert len(together) > 5000
    lost = "select count(*) from brokerage.verdict v, unnest(v.lost) where v.run_id = %s"
    [(by_place,)] = db.execute(lost, [run]).fetchall()
    assert len(together) > by_place > len(together) / 2
    if not dry:  # a real run counts its assignments, so its tasks cannot be decided again as before
        return
    for task in tasks[::10]:
        db.execute("select brokerage.evaluate_task('grid', %s, 'analysis_job', %s)", [task, profile])
        [(alone,)] = db.execute("select max(run_id) from brokerage.run").fetchall()
        assert decided(db, alone) == {pair: told for pair, told in together.items() if pair[0] == task}


def test_places_refer_to_the_queues_of_the_moment_of_the_decision(db: Connection) -> None:
    """Queues that come and go between two steps of a run shift the places; decisions keep their names."""
    given: dict[str, Any] = {
        "setup": "s",
        "queues": {name: {"status": "offline", "pilots": {"getjob": 1}} for name in "BD"},
        "datasets": {"in": {"files": [{"lfn": "f1", "size": 1, "nevents": 1}]}},
        "tasks": [{"id": 1, "input": ["in"]}, {"id": 2, "input": ["in"]}],
    }
    world.load(db, [given])
    [(run,)] = db.execute("select brokerage.open_run('s', 'production_job', null, null, true)").fetchall()
    db.execute("select brokerage.broker_next('s', %s, '{1}')", [run])
    given["queues"] = dict.fromkeys("ABC", given["queues"]["B"])
    world.load(db, [given])
    db.execute("select brokerage.broker_next('s', %s, '{2}')", [run])
    assert sorted(decided(db, run)) == [(1, "B"), (1, "D"), (2, "A"), (2, "B"), (2, "C"), (2, "D")]
    assert {rule for _, rule, *_ in decided(db, run).values()} == {"queue-status"}
    assert db.execute("select queues from brokerage.part order by part").fetchall() == [
        (["B", "D"],),
        (["A", "B", "C", "D"],),
    ]


def test_names_of_queues_are_removed_with_the_decisions_that_need_them(db: Connection) -> None:
    world.load(db, [{"setup": "s", "queues": {"B": {}}, "tasks": [{"id": 1}]}])
    kept = "select setup, (select count(*) from brokerage.decision d where d.run_id = p.run_id) from brokerage.part p"
    db.execute("select resource.set_clock('s', now() - interval '40 hours')")
    db.execute("call brokerage.broker_jobs('s', '{1}', p_dry_run => true)")
    db.execute("select resource.set_clock('s', null)")
    db.execute("select * from brokerage.maintain()")
    assert db.execute(kept).fetchall() == [("s", 1)]
    db.execute("select resource.set_clock('s', now() - interval '4 days')")
    db.execute("call brokerage.broker_jobs('s', '{1}', p_dry_run => true)")
    db.execute("select resource.set_clock('s', null)")
    db.execute("select * from brokerage.maintain()")
    assert db.execute(kept).fetchall() == [("s", 1)]


@pytest.mark.parametrize(("left", "right", "exact", "sign"), [
    (1.0, 2.0, None, -1), (2.0, 1.0, None, 1), (0.0, 5.0, None, -1), (5.0, 0.0, None, 1),
    (3.0, -7.0, None, 1), (-3.0, 7.0, None, -1), (0.0, 0.0, (0, 0), 0),
    (1e12, 1e12 * (1 + 1e-15), ("1000000000000.0000001", "1000000000000"), 1),
    (1e12, 1e12, ("1000000000000", "1000000000000.0000001"), -1), (1e12, 1e12, ("1e12", "1e12"), 0),
    (1.0, inf, None, -1), (inf, 1.0, None, 1), (inf, inf, ("Infinity", "Infinity"), 0),
    (None, 1.0, None, None), (1.0, None, None, None),
])  # fmt: skip
def test_two_sides_that_are_nearly_equal_are_compared_exactly(
    db: Connection, left: float | None, right: float | None, exact: tuple[str, str] | None, sign: int | None
) -> None:
    """Clear cases are decided without the exact values, which would give null or 0 as the answer."""
    query = "select brokerage.compare(%s::float8, %s::float8, %s::numeric, %s::numeric)"
    assert db.execute(query, [left, right, *(exact or (None, None))]).fetchall() == [(sign,)]


def test_each_part_of_an_input_has_a_reason_for_each_place(db: Connection) -> None:
    query = """insert into brokerage.verdict (setup, run_id, task_id, decided_at, part, lost, reasons, queues)
               values ('s', 1, 1, now(), 1, '{1,2}', '{a}', '{}')"""
    with pytest.raises(psycopg.errors.CheckViolation):
        db.execute(query)


def test_rejections_and_answers_count_lost_queues(db: Connection) -> None:
    """The table of a run and the answer of `broker evaluate` count places like rows."""
    queues = {"A": {"pilots": {"getjob": 1}}, "B": {"status": "offline"}, "C": {"type": "analysis"}}
    world.load(db, [{"setup": "s", "queues": queues, "tasks": [{"id": 1}]}])
    [(answer,)] = db.execute("select brokerage.evaluate_task('s', 1, 'production_job')").fetchall()
    assert [one["queue"] for one in answer["candidates"]] == ["A"]
    assert [(one["queue"], one["rule"]) for one in answer["rejected"]] == [("B", "queue-status")]
    assert [(one["queue"], one["rule"]) for one in answer["not_candidates"]] == [("C", "prod-initial-all")]
    query = "select rule, pairs, tasks, queues from brokerage.rejections where setup = 's'"
    assert db.execute(query).fetchall() == [("queue-status", 1, 1, 1)]
