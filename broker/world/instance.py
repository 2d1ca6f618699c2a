"""The sections of the schema instance: rented machines, and the steps packed onto them."""

from collections.abc import Iterable
from typing import Any

from broker.world.section import Described, Rows, Section, listed
from broker.world.shape import Part, Reading, Row, elements, fields

_INSTANCE = fields(
    "type queue state cpu ram price", times="requested_at started_at released_at", id="instance_id", task="task_id"
)
_STEP = fields(
    "cpu ram instance_type queue state reason", times="placed_at ended_at", objects="inputs", id="step_id",
    task="task_id", instance="instance_id", job="job_id",
)  # fmt: skip
_NEEDS = {"cpu": "cpu_expression", "ram": "ram_expression"}
"""The needs of a step: the column of the number, and the column of an expression of the inputs in its place."""


def _read_steps(name: str, value: Any, reading: Reading) -> Iterable[Part]:
    rows: list[Row] = []
    for where, given in elements(name, value):
        row = reading.row(where, given, _STEP)
        for need, column in _NEEDS.items():
            if need in row:
                is_text = isinstance(row[need], str)
                row |= {need: None, column: row[need]} if is_text else {column: None}
        rows.append(row)
    yield Part("instance.step", rows)


def _write_step(_: Any, rows: Rows) -> Row:
    """An expression replaces its earlier result: a load evaluates it again."""
    [row] = rows["instance.step"]
    return _STEP.world(row | {need: row[column] for need, column in _NEEDS.items() if column in row})


SECTIONS = {
    "instances": listed("instance.instance", _INSTANCE, "`[{...}]`, by their id"),
    "instance_steps": Section(
        ("instance.step",), _read_steps, _write_step, shape="array",
        looks="`[{...}]`, by their id; `cpu` and `ram` a number, or a text: an expression of `inputs`",
        described=[Described("instance.step", "", _STEP)],
    ),
}  # fmt: skip
