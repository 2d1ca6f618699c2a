"""Lists: `broker queues`, `sites`, `tasks`, `jobs`, `leases`, `decisions`, `reasons`, `setups`, `limits`,
`resources`.

Every list is an entry of LISTS: a view that broker_viewer may read, its columns, its key and its filters.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli import own as own_jobs
from broker.cli.shared import listing, output, watching
from broker.cli.shared.common import Json
from broker.cli.shared.listing import ROWS, Filter, Limit, List, Page, columns
from broker.cli.shared.session import Setup

if TYPE_CHECKING:
    from broker.database import Connection

app = typer.Typer()
PANEL = "Lists"

__all__ = ["LISTS", "PANEL", "ROWS", "Limit", "app"]

_SITES = "select site from monitor.site where setup = %(setup)s"
_QUEUES = "select queue from monitor.queue where setup = %(setup)s"
_SITES_AND_QUEUES = f"{_SITES} union {_QUEUES}"
_QUEUE_STATUSES = ("online", "brokeroff", "test", "offline", "paused", "standby")  # and others that a queue has
TASK_STATUSES = tuple(
    "registered defined assigning ready pending scouting scouted running prepared done failed finished aborting aborted"
    " finishing topreprocess preprocessing tobroken broken toretry toincexec toreassign rerefine paused throttled"
    " exhausted passed staging staged merging waiting".split()
)
"""The statuses that a task may have, as of the constraint task_status_allowed."""
JOB_STATUSES = tuple(
    "pending defined waiting assigned activated throttled sent starting running holding merging transferring finished"
    " failed cancelled closed held leased".split()
)
"""The statuses that a job may have, as of workload.job_statuses, and the states in TaskQueues."""
REASONS = ("misconfigured", "too_large", "held", "limited", "no_resource_seen", "overtaken", "waiting")
"""The reasons why jobs wait in TaskQueues, as of taskqueue.reason_of."""
_ALGORITHMS = ("production_task", "production_job", "analysis_job")
_OPEN = "{assigning,ready,scouting,running,pending}"  # statuses of tasks that a broker may take

_DECISIONS_OF_TASK = List(
    "List what the runs decided about a task.",
    "monitor.task_decision",
    columns(
        "run_id decided_at algorithm status jobs nucleus rule reason retry_at",
        run_id="run", decided_at="decided", retry_at="again",
    ),
    "run_id desc",
    columns("task_id profile trial arm dry errcode candidates rejected not_candidates", dry="dry run"),
    {"algorithm": Filter("algorithm", "", values=_ALGORITHMS), "task": Filter("task_id", "")},
    ("nucleus", "again", "algorithm"),
)  # fmt: skip

LISTS = {
    "queues": List(
        "List PanDA queues with their status and the jobs that wait and run there.",
        "monitor.queue",
        columns("queue site role status type cores waiting running"),
        'queue collate "C"',
        columns("cloud"),
        {
            "site": Filter("site", "Only queues of this site.", known=_SITES),
            "status": Filter(
                "status", "Only queues of this status, such as online.", values=_QUEUE_STATUSES,
                known="select status from monitor.queue where setup = %(setup)s",
            ),
        },
        ("role", "type"),
    ),
    "sites": List(
        "List sites: status, jobs and cores that wait, start and run, limits, and when pilots were last seen.",
        "monitor.site",
        columns(
            "site status waiting_cores starting_cores running_cores limits limits_reached pilots_seen",
            waiting_cores="waiting cores", starting_cores="starting cores", running_cores="running cores",
            limits_reached="reached", pilots_seen="pilots seen",
        ),
        'site collate "C"',
        columns("queues online waiting starting running", waiting="waiting jobs", starting="starting jobs",
                running="running jobs"),
        {
            "site": Filter("site", "Only this site.", known=_SITES),
            "full": Filter("limits_reached", "Only sites with a limit that is reached.", bool, "limits_reached > 0"),
        },
        ("reached", "limits"),
    ),
    "tasks": List(
        "List tasks, newest first, with their status, their jobs, and why they wait.",
        "monitor.task",
        columns(
            "task_id status user_name gshare priority nucleus jobs jobs_left finished why next_try",
            task_id="task", gshare="share", user_name="user", jobs_left="unassigned", why="why it waits",
            next_try="next try",
        ),
        "task_id desc",
        columns(
            "label algorithm run_id retry_at not_due reason", run_id="last run", retry_at="again", not_due="not due"
        ),
        {
            "status": Filter("status", "Only tasks of this status, such as running.", values=TASK_STATUSES),
            "user": Filter("user_name", "Only tasks of this user."),
            "share": Filter(
                "gshare", "Only tasks of this global share.",
                known="select gshare from monitor.share_tree where setup = %(setup)s",
            ),
            "nucleus": Filter("nucleus", "Only tasks of this nucleus.", known=_SITES),
            "waiting": Filter(
                "status jobs_left", "Only tasks that a broker may take and that have jobs to assign.", bool,
                f"status = any ('{_OPEN}') and jobs_left > 0",
            ),
        },
        ("nucleus", "share", "priority", "finished", "user"),
        large=True,
    ),
    "jobs": List(
        "List jobs, newest first, with their status, task and queue.",
        "monitor.listed_job",
        columns("job_id status since task_id queue site user_name", job_id="job", task_id="task", user_name="user"),
        "job_id desc",
        columns("gshare priority created", gshare="share"),
        {
            "status": Filter(
                "status", "Only jobs of this status or state, such as activated, waiting or leased.",
                names=("--status", "--state"), values=JOB_STATUSES,
            ),
            "task": Filter("task_id", "Only jobs of this task.", int, indexed=True),
            "queue": Filter("queue", "Only jobs of this PanDA queue.", known=_QUEUES),
            "site": Filter("queue site", "Only jobs of this site or queue.", condition="(queue = %s or site = %s)",
                           known=_SITES_AND_QUEUES),
            "user": Filter("user_name", "Only jobs of this user or owner."),
        },
        ("site", "user"),
        large=True,
    ),
    "leases": List(
        "List leased jobs, newest first: where each is, when its JobAgent was last heard, and until when it has it.",
        "monitor.lease",
        columns(
            "job_id attempt state site heard_at expires_at kill_reason owner_dn",
            job_id="job", heard_at="heard", expires_at="expires", owner_dn="owner",
        ),
        "job_id desc",
        columns(
            "grid_ce role_name matched_at reported_at expired owner_group task_queue_id user_priority",
            grid_ce="CE", role_name="agent", matched_at="matched", reported_at="reported", owner_group="group",
            task_queue_id="TaskQueue",
        ),
        {
            "site": Filter("site", "Only leases of this site.", known=_SITES_AND_QUEUES),
            "state": Filter(
                "state", "Only leases of this state: matched, until the first report, then running.",
                names=("--state", "--status"), values=("matched", "running"),
            ),
            "overdue": Filter("expired", "Only leases that expired and were not taken back yet.", bool, "expired"),
        },
        ("kill reason", "owner"),
        large=True,
    ),
    "decisions": List(
        "List the runs of the brokers, newest first, with what became of their tasks; with --task those of a task.",
        "monitor.run",
        columns(
            "run_id started_at algorithm profile trial dry tasks assigned pending throttled failed",
            run_id="run", started_at="started", dry="dry run", assigned="with candidates",
        ),
        "run_id desc",
        columns("ended_at called_by", ended_at="ended", called_by="called by"),
        {
            "algorithm": Filter("algorithm", "Only runs of production_task, production_job or analysis_job.",
                                values=_ALGORITHMS),
            "task": Filter("task_id", "Show what the runs decided about this task, and why.", int),
        },
        ("dry run", "profile", "trial"),
    ),
    "changes": List(
        "List what people changed, newest first: configuration, credentials, holds, cancelled jobs, and who did it.",
        "monitor.change",
        columns(
            "change_id at object name before after role_name subject", change_id="change", object="of",
            role_name="role", subject="by",
        ),
        "change_id desc",
        {},
        {
            "of": Filter("object", "Only changes of this, such as limit, settings or job."),
            "name": Filter("name", "Only changes of what has this name."),
            "by": Filter("role_name subject", "Only changes by this role or caller.",
                         condition="(role_name = %s or subject = %s)"),
        },
        ("by", "role"),
    ),
    "reasons": List(
        "List why jobs wait in TaskQueues, in one word by owner group and CPU bucket, the most jobs first.",
        "monitor.waiting_by_reason",
        columns(
            "reason owner_group cpu_time jobs task_queues waits age",
            owner_group="group", cpu_time="cpu time", task_queues="TaskQueues", waits="oldest waits", age="counted ago",
        ),
        "jobs desc, reason, owner_group, cpu_time",
        columns("oldest_job_at counted_at", oldest_job_at="oldest", counted_at="counted"),
        {
            "reason": Filter("reason", "Only this reason, such as too_large.", values=REASONS),
            "group": Filter("owner_group", "Only jobs of this owner group."),
        },
        ("TaskQueues",),
        paged=False,
    ),
    "limits": List(
        "List the limits of sites: how far each is used, and which jobs wait because of it.",
        "monitor.site_limit",
        columns(
            "limit_id site grid_ce kind attribute value ceiling delay burst used reached jobs",
            limit_id="limit", grid_ce="CE", jobs="jobs concerned",
        ),
        "limit_id",
        columns("queues", queues="TaskQueues concerned"),
        {
            "site": Filter("site", "Only limits of this site.", known=_SITES_AND_QUEUES),
            "reached": Filter("reached", "Only limits that are reached.", bool, "reached"),
        },
        ("CE", "burst", "delay"),
    ),
    "resources": List(
        "List the kinds of resources that asked for jobs lately, the latest first.",
        "monitor.resource_seen",
        columns("last_seen first_seen samples matched resource", last_seen="last seen", first_seen="first seen"),
        "last_seen desc, class",
        {},
        {
            "site": Filter(
                "resource", "Only resources of this site.", condition="resource -> 'Site' @> to_jsonb(%s::text)",
                known=_SITES_AND_QUEUES,
            ),
        },
        ("first seen",),
        paged=False,
    ),
    "setups": List(
        "List the setups of this database, with how much they hold.",
        "monitor.setup",
        columns(
            "setup created_at simulated task_queues identities shares",
            created_at="created", simulated="simulated time", task_queues="TaskQueues",
        ),
        'setup collate "C"',
        {},
        {},
        ("simulated time",),
        of_setup=False,
    ),
}  # fmt: skip


def _show(
    name: str,
    setup: str | None,
    given: dict[str, object],
    *,
    wanted: str | None,
    after: str | None,
    limit: int | None,
    watch: float | None,
    as_json: bool,
) -> None:
    """Print a page of a list, once or again and again."""
    of = _DECISIONS_OF_TASK if name == "decisions" and "task" in given else LISTS[name]
    most = (None if as_json else ROWS) if limit is None else limit or None
    key = _key(of, after)

    def everybodys(connection: "Connection") -> tuple[Mapping[str, str], Page]:
        if name == "jobs":  # a submitter's list has other columns, so the right to look is asked first
            connection.execute("select from monitor.listed_job limit 0")
        headings = listing.chosen(of, wanted)
        page = listing.read(connection, of, list(headings), setup, given, after=key, limit=most)
        if not page.rows:
            # a site that is watched may have nothing for a while
            fixed = {name: value for name, value in given.items() if watch is None or not of.filters[name].known}
            listing.refuse_unknown(connection, of, setup, fixed)
        return headings, page

    def own(connection: "Connection") -> tuple[Mapping[str, str], Page]:
        headings = listing.chosen(own_jobs.JOBS, wanted)
        page = own_jobs.page(connection, str(setup), given, after=key, limit=most)
        page.rows = [{column: row[column] for column in headings} for row in page.rows]
        return headings, page

    def picture(connection: "Connection") -> None:
        if name == "jobs":
            headings, page = own_jobs.instead(lambda: everybodys(connection), lambda: own(connection))
        else:
            headings, page = everybodys(connection)
        if as_json:
            output.json_out(page.rows)
        else:
            listing.show(name.capitalize(), headings, of, page, listing.moment_of(connection, setup))

    watching.show(picture, watch)


def _key(of: List, after: str | None) -> object:
    """The key after which a page begins."""
    if after is None or not of.key_column.endswith("_id"):
        return after
    if not after.isascii() or not after.isdecimal():
        raise typer.BadParameter(f"{after} is not a number", param_hint="--after")
    return min(int(after), 2**63 - 1)


def _option_of(chosen: Filter) -> Any:
    """The option of a filter; a number is one that a bigint holds."""
    if chosen.kind is int:
        return typer.Option(*chosen.names, min=0, max=2**63 - 1, help=chosen.help)
    return typer.Option(*chosen.names, help=chosen.help)


def _command(name: str, of: List) -> Callable[..., None]:
    """The command that prints a list, with an option for each of its filters."""

    def show(
        *,
        setup: str | None = None,
        wanted: str | None = None,
        after: str | None = None,
        limit: int | None,
        watch: float | None = None,
        as_json: bool,
        **given: object,
    ) -> None:
        filters = {option: value for option, value in given.items() if value is not None and value is not False}
        _show(name, setup, filters, wanted=wanted, after=after, limit=limit, watch=watch, as_json=as_json)

    options: dict[str, tuple[Any, object]] = {}
    for option, used in of.filters.items():
        if used.kind is bool:
            options[option] = (Annotated[bool, typer.Option(f"--{option}", help=used.help)], False)
        else:
            options[option] = (Annotated[used.kind | None, _option_of(used)], None)
    options["wanted"] = (
        Annotated[str | None, typer.Option("--columns", "-o", metavar="NAMES", help=listing.columns_help(of))],
        None,
    )
    if of.paged:
        help_ = f"Begin behind this {of.columns[of.key_column]}: the next page, whatever was added meanwhile."
        options["after"] = (Annotated[str | None, typer.Option(metavar="KEY", help=help_)], None)
    options["limit"] = (Limit, None)
    options["watch"] = (watching.Watch, None)
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
