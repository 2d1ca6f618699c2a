"""instance.packing and instance.schedule against the model of PACKING.md, on random inputs with many ties."""

import random
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from tests.calls import Connection
from tests.core.oracle.packing import Instance, Schedule, Step, Type

TASK = 1
FIRST = 100  # id of the first step
Case = tuple[list[Type], list[Instance], list[Step], int | None, bool]


def numbers(least: int, most: int) -> st.SearchStrategy[Fraction]:
    """Small whole numbers, so that there are ties, and tenths."""
    return st.one_of(
        st.integers(least, most).map(Fraction), st.integers(10 * least, 10 * most).map(lambda n: Fraction(n, 10))
    )


@st.composite
def inputs(draw: st.DrawFn, steps: int, instances: int) -> Case:
    """A catalogue, instances that are partly used, steps with and without hints, a limit, and the order."""
    types = [
        Type(f"t{n}", draw(numbers(1, 8)), draw(numbers(1, 8)), Fraction(draw(st.integers(0, 4))))
        for n in range(draw(st.integers(1, 5)))
    ]
    names = st.sampled_from([one.name for one in types])
    there = [
        Instance(n + 1, draw(names), draw(numbers(1, 8)), draw(numbers(1, 8)))
        for n in range(draw(st.integers(0, instances)))
    ]
    shapes = draw(
        st.lists(st.tuples(numbers(0, 6), numbers(0, 6), st.none() | names | st.none()), min_size=1, max_size=12)
    )
    chosen = draw(st.lists(st.sampled_from(shapes), max_size=steps))
    listed = [Step(FIRST + n, cpu, ram, hint) for n, (cpu, ram, hint) in enumerate(chosen)]
    most = draw(st.none() | st.none() | st.integers(0, 6).map(lambda n: n + len(there)))
    return types, there, listed, most, draw(st.booleans())


def put(db: Connection, types: Sequence[Type], there: Sequence[Instance], steps: Sequence[Step]) -> None:
    """Make the setup m with one task's steps, and instances with the given free cores and memory."""
    db.execute("insert into resource.setup (setup) values ('m')")
    with db.cursor() as cursor:
        cursor.executemany(
            "insert into resource.instance_type (setup, name, cpu, ram, price) values ('m', %s, %s, %s, %s)",
            [(t.name, float(t.cpu), float(t.ram), float(t.price)) for t in types],
        )
        cursor.executemany(
            "insert into instance.instance (setup, instance_id, type, task_id, cpu, ram, price)"
            " values ('m', %s, %s, %s, %s, %s, 1)",
            [(i.id, i.type, TASK, float(i.cpu), float(i.ram)) for i in there],
        )
        cursor.executemany(
            "insert into instance.step (setup, step_id, task_id, cpu, ram, instance_type)"
            " values ('m', %s, %s, %s, %s, %s)",
            [(j.id, TASK, float(j.cpu), float(j.ram), j.hint) for j in steps],
        )
    db.execute("select instance.reserve_ids('m')")


def compare(db: Connection, case: Case) -> None:
    """Put one input through both, in a transaction that is undone, and compare placements and releases."""
    types, there, steps, most, cheapest_first = case
    with db.transaction(force_rollback=True):
        put(db, types, there, steps)
        given_settings = {"first": "cheapest" if cheapest_first else "dearest", "most_per_task": most}
        db.execute("select instance.set_settings('m', %s)", [Jsonb(given_settings)])
        number = {i.id: i.id for i in there}
        model = Schedule(types, there, cheapest_first=cheapest_first)
        planned = db.execute(
            "select step_id, coalesce(instance_id, number + %s) from instance.packing('m', %s, null, %s)",
            [len(there), TASK, None if most is None else most - len(there)],
        ).fetchall()
        kept = model.run(steps, most)
        assert dict(planned) == model.placed
        if most is not None:
            return  # a schedule continues after it has released instances, but the model stops at a limit
        done = db.execute("select * from instance.schedule_task('m', %s)", [TASK]).fetchone()
        rows = db.execute("select step_id, state, instance_id from instance.step order by step_id").fetchall()
        placed = {step: instance for step, state, instance in rows if state == "placed"}
        for one in sorted(set(placed.values()) - number.keys()):
            number[one] = len(number) + 1
        assert {step: number[one] for step, one in placed.items()} == model.placed
        assert {step for step, state, _ in rows if state == "unschedulable"} == model.unschedulable
        live = db.execute("select instance_id from instance.instance where state <> 'released'").fetchall()
        assert {number[one] for (one,) in live} == {i.id for i in kept}
        new = len(number) - len(there)
        assert done == (len(placed), new, len(number) - len(kept), 0, len(model.unschedulable))
        assert db.execute("select * from monitor.instance_difference").fetchall() == []


quickly = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.slow
@settings(quickly, max_examples=400)
@given(case=inputs(steps=25, instances=8))
def test_placements_are_those_of_the_model(rolled_back: Connection, case: Case) -> None:
    compare(rolled_back, case)


@pytest.mark.thorough
@settings(quickly, max_examples=1000)
@given(case=inputs(steps=25, instances=8))
def test_placements_are_those_of_the_model_in_a_thousand_cases(rolled_back: Connection, case: Case) -> None:
    compare(rolled_back, case)


@pytest.mark.thorough
@settings(quickly, max_examples=60)
@given(case=inputs(steps=200, instances=40))
def test_placements_of_larger_inputs_are_those_of_the_model(rolled_back: Connection, case: Case) -> None:
    compare(rolled_back, case)


@pytest.mark.slow
def test_placements_are_those_of_the_model_over_hundreds_of_instances(rolled_back: Connection) -> None:
    """Blocks of the list of instances are full and cut in two, also where free space and hints are equal."""
    draw = random.Random(0)
    types = [Type(f"t{n}", Fraction(40), Fraction(40), Fraction(n)) for n in range(3)]
    there = [
        Instance(n, draw.choice("t0 t1 t2".split()), Fraction(draw.randint(1, 40)), Fraction(draw.randint(1, 40)))
        for n in range(1, 601)
    ]
    hints = [None, None, "t0", "t1"]
    steps = [
        Step(FIRST + n, Fraction(draw.randint(0, 9)), Fraction(draw.randint(0, 9)), draw.choice(hints))
        for n in range(900)
    ]
    compare(rolled_back, (types, there, steps, None, False))


def test_an_instance_released_in_a_schedule_frees_a_place_under_the_limit(rolled_back: Connection) -> None:
    """An instance of a type that no step may use holds the only place: it is released, and the place is used."""
    two, four = Type("two", Fraction(2), Fraction(2), Fraction(1)), Type("four", Fraction(4), Fraction(4), Fraction(2))
    put(rolled_back, [two, four], [Instance(1, "two", two.cpu, two.ram)], [Step(FIRST, Fraction(3), Fraction(3))])
    rolled_back.execute("""select instance.set_settings('m', '{"most_instances": 1}')""")
    assert rolled_back.execute("select * from instance.schedule_task('m', 1)").fetchone() == (1, 1, 1, 0, 0)


@pytest.mark.parametrize("of", ["setup", "task", "each task"])
def test_steps_over_a_limit_of_instances_wait_with_the_reason(rolled_back: Connection, of: str) -> None:
    """Steps over the limit wait, with the reason, and are placed as instances free up."""
    two = Type("two", Fraction(2), Fraction(2), Fraction(1))
    put(rolled_back, [two], [], [Step(FIRST + n, Fraction(2), Fraction(1)) for n in range(5)])
    if of == "task":
        rolled_back.execute("select instance.set_task_limit('m', 1, 2)")
    else:
        key = "most_instances" if of == "setup" else "most_per_task"
        rolled_back.execute("select instance.set_settings('m', %s)", [Jsonb({key: 2})])
    assert rolled_back.execute("select * from instance.schedule_task('m', 1)").fetchone() == (2, 2, 0, 3, 0)
    [(reason,)] = rolled_back.execute("select distinct reason from instance.step where state = 'waiting'").fetchall()
    assert reason == f"{'setup m' if of == 'setup' else 'task 1'} has 2 instances, and may have 2"
    rolled_back.execute("select instance.finish_steps('m', array[100])")
    assert rolled_back.execute("select * from instance.schedule_task('m', 1)").fetchone() == (1, 0, 0, 2, 0)


def test_one_call_schedules_all_tasks_on_instances_of_their_own(db: Connection) -> None:
    """Tasks have instances of their own; those of no task may be used by all."""
    db.execute("insert into resource.setup (setup) values ('m')")
    db.execute("insert into resource.instance_type (setup, name, cpu, ram, price) values ('m', 'four', 4, 4, 1)")
    db.execute("""
        insert into instance.instance (setup, instance_id, type, cpu, ram, price) values ('m', 7, 'four', 4, 4, 1);
        insert into instance.step (setup, step_id, task_id, cpu, ram)
        select 'm', g, nullif(g % 3, 0), 2, 2 from generate_series(1, 9) g""")
    db.execute("select setval('instance.instance_id', 7)")
    assert db.execute("call instance.schedule('m')").fetchone() == (9, 5, 0, 0, 0)
    rows = db.execute("select task_id, instance_id from instance.step order by task_id, step_id").fetchall()
    of_task: dict[int | None, list[int]] = {}
    for task, one in rows:
        of_task.setdefault(task, []).append(one)
    assert of_task == {1: [7, 7, 8], 2: [9, 9, 10], None: [11, 11, 12]}


def test_a_schedule_is_undone_with_its_transaction(rolled_back: Connection) -> None:
    put(rolled_back, [Type("two", Fraction(2), Fraction(2), Fraction(1))], [], [Step(FIRST, Fraction(1), Fraction(1))])
    with rolled_back.transaction(force_rollback=True):
        assert rolled_back.execute("call instance.schedule('m', p_commit => false)").fetchone() == (1, 1, 0, 0, 0)
    assert rolled_back.execute("select state, instance_id from instance.step").fetchall() == [("waiting", None)]
