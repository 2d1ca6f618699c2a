"""Steps that are added, learn their needs, finish, are cancelled or return; instances that start and are lost."""

import json
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from broker import world
from tests.calls import refused

Connection = psycopg.Connection[Any]
TYPES = {"small": {"cpu": 2, "ram": 4096, "price": 1}, "large": {"cpu": 8, "ram": 16384, "price": 3}}


@pytest.fixture
def with_types(rolled_back: Connection) -> Connection:
    """A setup s with two types of instances."""
    rolled_back.execute("select")  # begins the transaction that is rolled back
    world.load(rolled_back, [{"instance_types": TYPES}], "s")
    return rolled_back


def add(db: Connection, *added: dict[str, Any]) -> list[int]:
    """instance.add_steps."""
    [(ids,)] = db.execute("select instance.add_steps('s', %s)", [Jsonb(added)]).fetchall()
    return list(ids)


def schedule(db: Connection, task: int | None = None) -> tuple[int, ...]:
    """instance.schedule_task: placed, requested, released, waiting, unschedulable."""
    [row] = db.execute("select * from instance.schedule_task('s', %s)", [task]).fetchall()
    return tuple(row)


def steps(db: Connection, *columns: str) -> list[tuple[Any, ...]]:
    """Columns of all steps, by id."""
    return db.execute(f"select {', '.join(columns)} from monitor.instance_step order by step_id".encode()).fetchall()


def call(db: Connection, function: str, ids: list[int]) -> list[tuple[Any, ...]]:
    """Call a function with ids."""
    return db.execute(f"select * from instance.{function}('s', %s)".encode(), [ids]).fetchall()


def sound(db: Connection) -> None:
    """The instances agree with their steps."""
    assert db.execute("select * from monitor.instance_difference").fetchall() == []


def test_ids_of_steps_are_given_or_made(with_types: Connection) -> None:
    [made] = add(with_types, {"cpu": 1, "ram": 1})
    given = made + 40
    assert add(with_types, {"id": given, "cpu": 1, "ram": 1}) == [given]
    [first, second, third] = add(with_types, {"cpu": 1, "ram": 1}, {"id": made + 7}, {})
    assert (second, third) == (made + 7, first + 1)
    assert first > given


def test_a_step_waits_until_its_needs_are_known(with_types: Connection) -> None:
    [first, second, third] = add(
        with_types,
        {"cpu": 1, "ram": "2 * size", "inputs": {"files": 3}},
        {"cpu": "ceil(size / 1000)", "ram": 10, "inputs": {"size": 1500}},
        {},
    )
    assert schedule(with_types) == (1, 1, 0, 2, 0)
    reason = "its needs are not known: ram: input size is not given (given: files)"
    assert steps(with_types, "state", "cpu", "ram", "reason")[0] == ("waiting", 1, None, reason)
    assert steps(with_types, "reason")[2] == ("its needs are not known: cpu, ram",)
    [(count,)] = with_types.execute(
        "select instance.set_needs('s', %s)",
        [
            Jsonb(
                [
                    {"id": first, "inputs": {"size": 2000}},
                    {"id": third, "cpu": 0.5, "ram": 96, "instance_type": "small"},
                ]
            )
        ],
    ).fetchall()
    assert count == 2
    assert schedule(with_types) == (2, 1, 0, 0, 0)
    assert steps(with_types, "step_id", "state", "cpu", "ram", "inputs") == [
        (first, "placed", 1, 4000, {"files": 3, "size": 2000}),
        (second, "placed", 2, 10, {"size": 1500}),
        (third, "placed", 0.5, 96, {}),
    ]
    sound(with_types)


def test_steps_that_no_type_takes_do_not_stop_others(with_types: Connection) -> None:
    add(
        with_types,
        {"id": 1, "cpu": 9, "ram": 1},
        {"id": 2, "cpu": 4, "ram": 8000, "instance_type": "small"},
        {"id": 3, "cpu": 1, "ram": 1, "instance_type": "huge"},
        {"id": 4, "cpu": 1, "ram": 1},
        {"id": 5, "cpu": 9, "ram": 20000},
    )
    assert schedule(with_types) == (1, 1, 0, 0, 4)
    assert dict(steps(with_types, "step_id", "reason")) | {4: None} == {
        1: "step 1 fits no instance type: the most cores are 8 of 9",
        2: "step 2 wants instance type small, which is too small: it has 2 cores of 4, it has 4096 MB of 8000",
        3: "step 3 wants instance type huge, which is not in the catalogue",
        4: None,
        5: "step 5 fits no instance type: the most cores are 8 of 9, the most memory is 16384 MB of 20000",
    }
    with_types.execute(
        "select resource.store('s', 'instance_type', %s)", [Jsonb([{"name": "huge", "cpu": 9, "ram": 64, "price": 2}])]
    )
    assert schedule(with_types) == (2, 2, 0, 0, 2)
    assert steps(with_types, "reason")[4] == ("step 5 fits no instance type: the most memory is 16384 MB of 20000",)
    with_types.execute("select instance.set_needs('s', %s)", [Jsonb([{"id": 2, "instance_type": None}])])
    assert schedule(with_types) == (1, 1, 0, 0, 1)
    sound(with_types)


def test_a_step_that_no_type_fits_in_cores_and_memory_together_is_unschedulable(with_types: Connection) -> None:
    with_types.execute(
        "select resource.store('s', 'instance_type', %s)", [Jsonb([{"name": "wide", "cpu": 64, "ram": 64, "price": 2}])]
    )
    add(with_types, {"id": 1, "cpu": 60, "ram": 10000})
    assert schedule(with_types) == (0, 0, 0, 0, 1)
    assert steps(with_types, "reason") == [("step 1 fits no instance type: none has 60 cores and 10000 MB together",)]


def test_an_empty_catalogue_of_instance_types_fits_no_step(rolled_back: Connection) -> None:
    add(rolled_back, {"id": 1, "cpu": 1, "ram": 1})
    assert schedule(rolled_back) == (0, 0, 0, 0, 1)
    assert steps(rolled_back, "reason") == [("step 1 fits no instance type: the catalogue is empty",)]


def test_steps_can_be_finished_cancelled_and_returned(with_types: Connection) -> None:
    add(with_types, *({"id": n, "cpu": 2, "ram": 100} for n in range(1, 6)))
    assert schedule(with_types) == (5, 5, 0, 0, 0)
    assert call(with_types, "finish_steps", [1, 9, 2]) == [
        (1, "finished"),
        (2, "finished"),
        (9, "there is no such step"),
    ]
    assert call(with_types, "finish_steps", [1]) == [(1, "it is finished")]
    assert call(with_types, "cancel_steps", [1, 3]) == [(1, "it is finished"), (3, "cancelled")]
    assert call(with_types, "return_steps", [4, 3]) == [(3, "it is cancelled"), (4, "waiting")]
    sound(with_types)
    assert schedule(with_types) == (1, 0, 3, 0, 0)
    states = [("finished",), ("finished",), ("cancelled",), ("placed",), ("placed",)]
    assert steps(with_types, "state") == states
    sound(with_types)


def test_steps_of_a_lost_instance_wait_again(with_types: Connection) -> None:
    add(with_types, *({"id": n, "cpu": 1, "ram": 100} for n in range(1, 5)))
    assert schedule(with_types) == (4, 2, 0, 0, 0)
    ids = [one for (one,) in with_types.execute("select instance_id from monitor.instance order by 1").fetchall()]
    assert with_types.execute("select instance.start_instances('s', %s)", [ids]).fetchone() == (2,)
    assert with_types.execute("select instance.start_instances('s', %s)", [ids]).fetchone() == (0,)
    assert call(with_types, "lose_instances", ids[:1]) == [(1, "waiting"), (2, "waiting")]
    assert steps(with_types, "instance_id", "reason")[0] == (None, "its instance was lost")
    assert schedule(with_types) == (2, 1, 0, 0, 0)
    states = with_types.execute("select state from monitor.instance order by instance_id").fetchall()
    assert states == [("released",), ("running",), ("requested",)]
    sound(with_types)


@pytest.mark.parametrize(
    ("elements", "code", "message"),
    [
        ({}, "PB001", "steps are {}, not an array"),
        ([1], "PB001", "steps[0]: 1 is not an object"),
        ([{}, {"cores": 1}], "PB001", "steps[1].cores: 1 is not a known key"),
        ([{"id": 0}], "PB001", "steps[0].id: 0 is not between 1 and 1e18"),
        ([{"id": "7"}], "PB001", 'steps[0].id: "7" is not an integer'),
        ([{"task": 1.5}], "PB001", "steps[0].task: 1.5 is not an integer"),
        ([{"cpu": -1}], "PB001", "steps[0].cpu: -1 is not 0 or more, and less than 1e9"),
        ([{"ram": 1e15}], "PB001", "steps[0].ram: 1000000000000000.0 is not 0 or more, and less than 1e15"),
        ([{"cpu": True}], "PB001", "steps[0].cpu: true is not a number, or an expression as text"),
        ([{"instance_type": 7}], "PB001", "steps[0].instance_type: 7 is not a text"),
        ([{"inputs": []}], "PB001", "steps[0].inputs: [] is not an object"),
        ([{"inputs": {"size": "8"}}], "PB001", 'steps[0].inputs.size: "8" is not a number'),
        ([{"id": 7}, {"id": 7}], "PB001", "step 7 is there twice"),
        ([{"id": 5}, {"id": 6}], "PB005", "step 5 already exists"),
        ([{"ram": "2 *"}], "PB001", "steps[0].ram: expression '2 *': its end instead of a value"),
        ([{}, {"cpu": "x / 0", "inputs": {"x": 1}, "id": 9}], "PB001", "steps[1].cpu: expression 'x / 0' divides by 0"),
    ],
)
def test_bad_steps_are_refused_by_element_and_key(
    with_types: Connection, elements: Any, code: str, message: str
) -> None:
    """Nothing is stored of a call that has one bad element."""
    add(with_types, {"id": 5, "cpu": 1, "ram": 1})
    with pytest.raises(psycopg.Error) as caught, with_types.transaction():
        with_types.execute("select instance.add_steps('s', %s)", [Jsonb(elements)])
    assert (caught.value.sqlstate, caught.value.diag.message_primary) == (code, message)
    assert caught.value.diag.message_hint
    assert steps(with_types, "step_id") == [(5,)]


def test_a_step_whose_expression_has_a_fault_stops_no_other(with_types: Connection) -> None:
    """The faulty steps are unschedulable and name the fault, until their inputs change."""
    faults: dict[int, tuple[dict[str, Any], str]] = {
        11: ({"ram": "size / n", "inputs": {"size": 1, "n": 0}}, "expression 'size / n' divides by 0"),
        12: ({"ram": "size - 500", "inputs": {"size": 1}}, "ram comes to -499, an expression gives 0 or more,"),
        13: ({"ram": 10, "cpu": "size * 1000000000", "inputs": {"size": 9}}, "cpu comes to 9000000000,"),
        14: ({"ram": "size * size * size * size", "inputs": {"size": 1e300}}, "ram comes to"),
    }
    add(with_types, *({"id": n, "cpu": 1} | step for n, (step, _) in faults.items()))
    add(with_types, {"id": 21, "cpu": 1, "ram": "size * 2", "inputs": {"size": 8}})
    add(with_types, {"id": 22, "cpu": 1, "ram": "size * 2", "inputs": {"Size": 8}}, {"id": 23, "cpu": 1, "ram": "size"})
    assert schedule(with_types)[0] == 1
    found = {number: (state, reason) for number, state, reason in steps(with_types, "step_id", "state", "reason")}
    for number, (_, words) in faults.items():
        assert found[number][0] == "unschedulable"
        assert words in found[number][1]
        explained = with_types.execute(
            "select verdict, reason from instance.explain_step('s', %s)", [number]
        ).fetchall()
        assert explained == [found[number]]
    assert found[21][0] == "placed"
    assert found[22] == ("waiting", "its needs are not known: ram: input size is not given (given: Size)")
    assert found[23] == ("waiting", "its needs are not known: ram: input size is not given")
    given = [{"id": 11, "inputs": {"n": 0}}, {"id": 12, "inputs": {"size": 600}}, {"id": 23, "inputs": {"size": 5}}]
    with_types.execute("select instance.set_needs('s', %s)", [Jsonb(given)])
    assert schedule(with_types)[0] == 2
    states = dict(steps(with_types, "step_id", "state"))
    assert [states[number] for number in (11, 12, 23)] == ["unschedulable", "placed", "placed"]
    sound(with_types)


def test_bad_needs_are_refused_by_element_and_key(with_types: Connection) -> None:
    add(with_types, {"id": 5, "cpu": 1, "ram": 1})
    schedule(with_types)
    for element, code, message in (
        ({"id": 6, "cpu": 1}, "PB004", "there is no step 6"),
        ({"id": 5, "cpu": 1}, "PB005", "step 5 is placed"),
        ({"cpu": 1}, "PB001", "steps[0]: id is missing"),
        ({"id": 5, "task": 1}, "PB001", "steps[0].task: 1 is not a known key"),
    ):
        with pytest.raises(psycopg.Error) as caught, with_types.transaction():
            with_types.execute("select instance.set_needs('s', %s)", [Jsonb([element])])
        assert (caught.value.sqlstate, caught.value.diag.message_primary) == (code, message)


def test_bad_settings_and_setups_are_refused(with_types: Connection) -> None:
    for query in (
        """select instance.set_settings('s', '{"most": 1}')""",
        """select instance.set_settings('s', '{"most_instances": -1}')""",
        """select instance.set_settings('s', '{"first": "oldest"}')""",
        "select instance.set_task_limit('s', null, 1)",
        "select instance.set_task_limit('s', 1, -1)",
        "select * from instance.schedule_task('no', 1)",
        "select instance.finish_steps('no', array[1])",
    ):
        with refused("PB001") as caught, with_types.transaction():
            with_types.execute(query.encode())
        assert caught.value.diag.message_hint


def test_explain_step_describes_each_instance_and_the_choice(with_types: Connection) -> None:
    add(with_types, {"id": 1, "cpu": 5, "ram": 100}, {"id": 2, "cpu": 1, "ram": 100, "instance_type": "small"})
    schedule(with_types)
    ids = [one for (one,) in with_types.execute("select instance_id from monitor.instance order by price").fetchall()]
    add(with_types, {"id": 3, "cpu": 3, "ram": 50}, {"id": 4, "cpu": 4, "ram": 50}, {"id": 5, "ram": "size"})

    def explain(step: int) -> list[tuple[Any, ...]]:
        return with_types.execute("select * from instance.explain_step('s', %s)", [step]).fetchall()

    assert explain(1) == [
        (ids[1], "large", "placed", "no instance suited: a new one of type large; 8 cores and 16384 MB of it were free")
    ]
    assert explain(3) == [
        (ids[0], "small", "does not suit", "it needs 3 cores, 1 are free"),
        (ids[1], "large", "first that suits", "3 cores and 16284 MB are free"),
        (None, "large", "new instance", "the cheapest type that fits at 3 an hour has 8 cores and 16384 MB"),
    ]
    assert [verdict for _, _, verdict, _ in explain(4)] == ["does not suit", "does not suit", "new instance"]
    reason = "cpu is not known; ram is not known: size of {}; input size is not given"
    assert explain(5) == [(None, None, "waiting", reason)]
    with_types.execute("""select instance.set_settings('s', '{"most_instances": 1}')""")
    assert explain(4)[-1] == (None, "large", "over the limit", "setup s has 2 instances, and may have 1")
    with refused("PB004"), with_types.transaction():
        explain(6)


def test_totals_give_the_price_and_its_lower_bound(with_types: Connection) -> None:
    """3 steps of 4 cores and 8,192 MB on two large instances; the relaxation pays for 12 of 8 cores: 12 / 8 * 3."""
    add(with_types, *({"id": n, "task": 1, "cpu": 4, "ram": 8192} for n in range(1, 4)))
    schedule(with_types, 1)
    [row] = with_types.execute("""
        select task_id, instances, steps, used_cpu, cpu, cpu_efficiency, price, lower_bound, gap
          from monitor.instance_total""").fetchall()
    assert [float(value) for value in row] == pytest.approx([1, 2, 3, 12, 16, 0.75, 6, 4.5, 1 / 3])


def test_the_lower_bound_may_mix_two_instance_types(with_types: Connection) -> None:
    """Cores are cheap in one type, memory in the other: 10 cores and 100 MB take 9.09 and 0.91 of them."""
    with_types.execute("delete from resource.instance_type")
    with_types.execute("""
        insert into resource.instance_type (setup, name, cpu, ram, price)
        values ('s', 'cores', 1, 1, 1), ('s', 'memory', 1, 100, 5);
        insert into instance.instance (setup, instance_id, type, cpu, ram, price, used_cpu, used_ram)
        values ('s', 1, 'x', 10, 100, 9, 10, 100)""")
    [(bound,)] = with_types.execute("select lower_bound from monitor.instance_total").fetchall()
    memory = 90 / 99
    assert float(bound) == pytest.approx((10 - memory) * 1 + memory * 5, abs=1e-6)


def test_no_instance_can_be_used_over_its_capacity(with_types: Connection) -> None:
    """A constraint prevents it, whoever writes."""
    add(with_types, {"id": 1, "cpu": 1, "ram": 100})
    schedule(with_types)
    for column in ("used_cpu", "used_ram"):
        for value in ("100000", "-1"):
            with pytest.raises(psycopg.errors.CheckViolation), with_types.transaction():
                with_types.execute(f"update instance.instance set {column} = {value}".encode())


def test_worlds_carry_instances_and_their_steps(db: Connection) -> None:
    world.load(db, [{"instance_types": TYPES}], "s")
    add(db, *({"id": n, "cpu": 1, "ram": "size", "inputs": {"size": 10 * n}} for n in range(1, 4)))
    schedule(db)
    db.commit()
    copy = json.loads("".join(world.dump(db, "s")))
    world.load(db, [copy], "t")
    again = json.loads("".join(world.dump(db, "t")))
    assert again["instances"] == copy["instances"]
    assert again["instance_steps"] == copy["instance_steps"]
    used = "select instance_id, used_cpu, used_ram from instance.instance where setup = %s order by 1"
    assert db.execute(used, ["t"]).fetchall() == db.execute(used, ["s"]).fetchall()
    sound(db)


def test_a_world_that_packs_too_much_is_refused(with_types: Connection) -> None:
    full = {
        "instance_types": TYPES,
        "instances": [{"id": 1, "type": "small"}],
        "instance_steps": [{"id": n, "cpu": 1.5, "ram": 10, "instance": 1, "state": "placed"} for n in (1, 2)],
    }
    with (
        pytest.raises(Exception, match="instance 1 has 2 cores and 4096 MB, but its steps use 3 cores and 20 MB"),
        with_types.transaction(),
    ):
        world.load(with_types, [full], "t")
