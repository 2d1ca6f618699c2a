"""Plain lists: `broker queues`, `sites`, `tasks`, `jobs`, `leases`, `decisions`, `setups`, `limits`, `resources`.

Every list is an entry of LISTS: a view that broker_viewer may read, its columns, its order and its filters.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from broker.cli import output
from broker.cli.common import Json
from broker.cli.session import Setup, require_setup, session
from broker.operate.reading import rows_of

app = typer.Typer()
PANEL = "Lists"

Limit = Annotated[
    int | None,
    typer.Option(min=0, max=2**31 - 1, help="Show at most this many rows, 0 for all; 20 in tables, all in JSON."),
]
ROWS = 20
"""Rows of a table when no limit is given."""


@dataclass(frozen=True)
class Filter:
    """An option that restricts a list to the rows with one value in a column."""

    column: str
    help: str
    kind: type = str


@dataclass(frozen=True)
class List:
    """A list: what it shows, the view (or query in brackets) that it reads, and the columns with their headings.

    dropped: headings to leave out of a table that is too wide, in this order.
    """

    help: str
    view: str
    columns: Mapping[str, str]
    order: str
    filters: Mapping[str, Filter] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    of_setup: bool = True


def columns(names: str, **headings: str) -> Mapping[str, str]:
    """Columns, separated by blanks, with their headings: the column's name in words where no other is given."""
    return {name: headings.get(name, name.replace("_", " ")) for name in names.split()}


_QUEUE = Filter("queue", "Only this PanDA queue.")
_SITE = Filter("site", "Only this site.")
_TASK = Filter("task_id", "Only this task.", int)

_SITES = """(
    select setup, site, count(*) as queues, count(*) filter (where status = 'online') as online,
           sum(waiting)::bigint as waiting, sum(running)::bigint as running
      from monitor.queue group by setup, site) s"""
_JOBS = """(
    select setup, job_id, task_id, queue, status, state_changed as since from monitor.brokered_job
     union all
    select j.setup, j.job_id, null, null, j.state, j.since from monitor.job j
     where not exists (select from monitor.brokered_job b where b.setup = j.setup and b.job_id = j.job_id)) j"""
_RUNS = """(
    select setup, run_id, algorithm, profile, dry, count(*) as tasks,
           count(*) filter (where status = 'candidates') as assigned,
           count(*) filter (where status = 'pending') as pending,
           count(*) filter (where status = 'throttled') as throttled,
           count(*) filter (where status in ('failed', 'error')) as failed, max(decided_at) as decided_at
      from monitor.task_decision group by setup, run_id, algorithm, profile, dry) r"""

LISTS = {
    "queues": List(
        "List PanDA queues with their status and the jobs that wait and run there.",
        "monitor.queue",
        columns("queue site role status type cores waiting running"),
        'queue collate "C"',
        {"site": _SITE, "status": Filter("status", "Only queues of this status, such as online.")},
        ("role", "type"),
    ),
    "sites": List(
        "List sites: their queues, and the jobs that wait and run there.",
        _SITES,
        columns("site queues online waiting running"),
        'site collate "C"',
        {"site": _SITE},
    ),
    "tasks": List(
        "List tasks, newest first, with their status and how many of their jobs are not assigned.",
        "monitor.task",
        columns(
            "task_id status label gshare user_name priority nucleus jobs jobs_left",
            task_id="task",
            gshare="share",
            user_name="user",
            jobs_left="unassigned",
        ),
        "task_id desc",
        {
            "status": Filter("status", "Only tasks of this status, such as running."),
            "user": Filter("user_name", "Only tasks of this user."),
        },
        ("share", "label", "nucleus"),
    ),
    "jobs": List(
        "List jobs, newest first, with their status, task and queue.",
        _JOBS,
        columns("job_id status since task_id queue", job_id="job", task_id="task"),
        "job_id desc",
        {"status": Filter("status", "Only jobs of this status, such as waiting."), "queue": _QUEUE, "task": _TASK},
    ),
    "leases": List(
        "List leased jobs, newest first: which site has each, since when and until when.",
        "monitor.lease",
        columns(
            "job_id attempt state site grid_ce matched_at reported_at expires_at task_queue_id kill_reason",
            job_id="job",
            grid_ce="CE",
            matched_at="matched",
            reported_at="reported",
            expires_at="expires",
            task_queue_id="TaskQueue",
        ),
        "matched_at desc, job_id desc",
        {"site": _SITE, "state": Filter("state", "Only leases of this state, such as running.")},
        ("kill reason", "CE", "TaskQueue", "reported"),
    ),
    "decisions": List(
        "List the runs of the brokers, newest first, with what became of their tasks.",
        _RUNS,
        columns(
            "run_id decided_at algorithm profile dry tasks assigned pending throttled failed",
            run_id="run",
            decided_at="decided",
            dry="dry run",
            assigned="with candidates",
        ),
        "run_id desc",
        {"algorithm": Filter("algorithm", "Only runs of production_task, production_job or analysis_job.")},
        ("dry run", "profile"),
    ),
    "limits": List(
        "List the limits of sites: how far each is used, and which jobs wait because of it.",
        "monitor.site_limit",
        columns(
            "limit_id site grid_ce kind attribute value ceiling delay used reached jobs",
            limit_id="limit",
            grid_ce="CE",
            jobs="jobs held back",
        ),
        "limit_id",
        {"site": _SITE},
        ("CE", "delay"),
    ),
    "resources": List(
        "List the kinds of resources that asked for jobs lately, the latest first.",
        "monitor.resource_seen",
        columns("last_seen first_seen samples matched resource"),
        "last_seen desc, class",
        {},
        ("first seen",),
    ),
    "setups": List(
        "List the setups of this database, with how much they hold.",
        "monitor.setup",
        columns(
            "setup created_at simulated task_queues identities shares",
            created_at="created",
            simulated="simulated time",
            task_queues="TaskQueues",
        ),
        'setup collate "C"',
        {},
        ("simulated time",),
        of_setup=False,
    ),
}


def _show(
    name: str, of: List, setup: str | None, wanted: Mapping[str, object], *, limit: int | None, as_json: bool
) -> None:
    """Print the rows of a list that have the wanted values."""
    conditions = ([] if setup is None else ["setup = %s"]) + [f"{column} = %s" for column in wanted]
    where = f" where {' and '.join(conditions)}" if conditions else ""
    most = (None if as_json else ROWS) if limit is None else limit or None
    query = f"select {', '.join(of.columns)} from {of.view}{where} order by {of.order} limit %s"
    values = [*([] if setup is None else [setup]), *wanted.values()]
    with session() as connection:
        rows = rows_of(connection, query, *values, None if most is None else most + 1)
        if not rows and setup is not None:
            require_setup(connection, setup)
    shown = rows[:most]
    if as_json:
        output.json_out(shown)
        return
    output.table(name.capitalize(), list(of.columns.values()), [list(row.values()) for row in shown], drop=of.dropped)
    if len(rows) > len(shown):
        output.say(f"there are more than {most:,}: --limit 0 shows all")


def _option_of(chosen: Filter) -> Any:
    """The option of a filter; a number is one that a bigint holds."""
    if chosen.kind is int:
        return typer.Option(min=0, max=2**63 - 1, help=chosen.help)
    return typer.Option(help=chosen.help)


def _command(name: str, of: List) -> Callable[..., None]:
    """The command that prints a list, with an option for each of its filters."""

    def show(*, setup: str | None = None, limit: int | None, as_json: bool, **given: object) -> None:
        wanted = {of.filters[option].column: value for option, value in given.items() if value is not None}
        _show(name, of, setup, wanted, limit=limit, as_json=as_json)

    options: dict[str, tuple[Any, object]] = {
        option: (Annotated[chosen.kind | None, _option_of(chosen)], None) for option, chosen in of.filters.items()
    }
    options["limit"] = (Limit, None)
    if of.of_setup:
        options["setup"] = (Setup, "default")
    options["as_json"] = (Json, False)
    parameters = [
        inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for option, (kind, default) in options.items()
    ]
    show.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what Typer reads
    show.__annotations__ = {option: kind for option, (kind, _) in options.items()}
    return show


for _of, _list in LISTS.items():
    app.command(_of, rich_help_panel=PANEL, help=_list.help)(_command(_of, _list))
