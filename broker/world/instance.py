"""The sections of the room instance: machines that are rented, and the jobs packed onto them."""

from collections.abc import Iterable
from typing import Any

from broker.world.section import Described, Rows, Section, listed
from broker.world.shape import Part, Reading, Row, elements, fields

_INSTANCE = fields(
    "type queue state cpu ram price", times="requested_at started_at released_at", id="instance_id", task="task_id"
)
_JOB = fields(
    "cpu ram instance_type queue state reason",
    times="placed_at ended_at",
    objects="inputs",
    id="job_id",
    task="task_id",
    instance="instance_id",
    taskqueue_job="taskqueue_job_id",
)
_NEEDS = {"cpu": "cpu_expression", "ram": "ram_expression"}
"""What a job needs: the column of the number, and that of the text in its place, an expression of the inputs."""


def _read_jobs(name: str, value: Any, reading: Reading) -> Iterable[Part]:
    rows: list[Row] = []
    for where, given in elements(name, value):
        row = reading.row(where, given, _JOB)
        for need, column in _NEEDS.items():
            if need in row:
                is_text = isinstance(row[need], str)
                row |= {need: None, column: row[need]} if is_text else {column: None}
        rows.append(row)
    yield Part("instance.job", rows)


def _write_job(_: Any, rows: Rows) -> Row:
    """An expression stands for the number that it gave: that is computed anew."""
    [row] = rows["instance.job"]
    return _JOB.world(row | {need: row[column] for need, column in _NEEDS.items() if column in row})


SECTIONS = {
    "instances": listed("instance.instance", _INSTANCE, "`[{...}]`, by their id"),
    "instance_jobs": Section(
        ("instance.job",),
        _read_jobs,
        _write_job,
        shape="array",
        looks="`[{...}]`, by their id; `cpu` and `ram` a number, or a text: an expression of `inputs`",
        described=[Described("instance.job", "", _JOB)],
    ),
}
