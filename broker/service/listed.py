"""What can be searched: views of schema monitor, with their columns. Statements name nothing but what stands here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import LiteralString


@dataclass(frozen=True)
class Kind:
    """What a column holds: in words, and as what a value is compared with it."""

    words: str
    sql: LiteralString


INTEGER = Kind("an integer", "bigint")
NUMBER = Kind("a number", "float8")
TEXT = Kind("a text", "text")
TIME = Kind("a time with its offset, such as 2026-03-28T12:00:00Z", "timestamptz")
BOOLEAN = Kind("true or false", "boolean")
JSON = Kind("any JSON", "jsonb")
"""Shown; neither searched nor sorted nor grouped by."""


@dataclass(frozen=True)
class Column:
    """A column, as the view calls it."""

    sql: LiteralString
    kind: Kind


@dataclass(frozen=True)
class Listed:
    """A view. Its rows are of one setup.

    order: columns that no two rows have alike, each with whether the largest comes first. nullable: those of them that
    may be null. restricted: a search names one of these, so that it does not read the whole history. late: columns
    cost a look-up each, so that a page in another order is found before its columns are read. general: rows of no setup
    are of every setup.
    """

    view: LiteralString
    columns: Mapping[str, Column]
    order: tuple[tuple[str, bool], ...]
    nullable: tuple[str, ...] = ()
    restricted: tuple[str, ...] = ()
    late: bool = False
    general: bool = False


def _columns(
    kinds: Mapping[Kind, LiteralString], names: Mapping[str, LiteralString] | None = None
) -> dict[str, Column]:
    """Columns by kind; names: what the view calls a column that has another name here."""
    called = names or {}
    return {name: Column(called.get(name, name), kind) for kind, together in kinds.items() for name in together.split()}


LISTED: Mapping[str, Listed] = {
    "jobs": Listed(
        "monitor.listed_job",
        _columns(
            {INTEGER: "job_id task_id priority", TEXT: "status queue site owner owner_group", TIME: "since created"},
            {"owner": "user_name", "owner_group": "gshare"},
        ),
        (("job_id", True),),
        late=True,
    ),
    "tasks": Listed(
        "monitor.task",
        _columns({
            INTEGER: "task_id priority jobs jobs_left finished run_id",
            TEXT: "status label gshare user_name nucleus algorithm not_due why reason next_try",
            TIME: "retry_at",
        }),
        (("task_id", True),),
    ),
    "queues": Listed(
        "monitor.queue",
        _columns({TEXT: "queue site role status type cloud", INTEGER: "cores waiting running"}),
        (("queue", False),),
    ),
    "task_queues": Listed(
        "monitor.task_queue",
        _columns({
            INTEGER: "task_queue_id cpu_time jobs held_jobs siblings",
            TEXT: "owner_group owner_dn state reason",
            NUMBER: "priority mean_weight",
            TIME: "oldest_job_at created_at",
            JSON: "requirements",
        }),
        (("task_queue_id", True),),
    ),
    "leases": Listed(
        "monitor.lease",
        _columns({
            INTEGER: "job_id attempt task_queue_id user_priority",
            TEXT: "state site grid_ce role_name subject kill_reason owner_dn owner_group",
            TIME: "matched_at reported_at heard_at expires_at",
            BOOLEAN: "expired",
            JSON: "requirements",
        }),
        (("job_id", True),),
    ),
    "decisions": Listed(
        "monitor.decision",
        _columns({
            INTEGER: "run_id task_id rank jobs",
            TEXT: "queue algorithm profile verdict rule criteria reason",
            BOOLEAN: "dry",
            NUMBER: "weight",
            TIME: "decided_at",
        }),
        (("run_id", True), ("task_id", True), ("queue", False)),
        nullable=("queue",),
        restricted=("run_id", "task_id"),
    ),
    "changes": Listed(
        "monitor.change",
        _columns({
            INTEGER: "change_id",
            TIME: "at",
            TEXT: "object name role_name subject",
            JSON: "before after",
        }),
        (("change_id", True),),
        general=True,
    ),
    "events": Listed(
        "monitor.job_event",
        _columns({
            TIME: "at",
            INTEGER: "job_id attempt task_queue_id",
            TEXT: "event site grid_ce role_name subject",
        }),
        (("at", True), ("job_id", True), ("attempt", True), ("event", False)),
        restricted=("job_id", "at"),
    ),
}  # fmt: skip

OWN: Mapping[str, Listed] = {
    "jobs": Listed(
        "taskqueue.own_jobs",
        _columns(
            {
                INTEGER: "job_id priority attempts task_queue_id",
                TEXT: "status site owner owner_group reason why",
                TIME: "since heard_at",
            },
            {"status": "state", "owner": "owner_dn", "priority": "user_priority"},
        ),
        (("job_id", True),),
    )
}
"""What a submitter sees in place of all rows: its own jobs that wait or are leased."""
