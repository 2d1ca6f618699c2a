"""`broker assign jobs`, `tasks`, `analysis`: one run of a broker, and its decisions."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli.brokerage import Profile, Tasks
from broker.cli.shared import output
from broker.cli.shared.common import Json, working
from broker.cli.shared.session import Setup, ready, require_setup
from broker.operate.reading import Row, rows_of, run_summary
from broker.words import counted

if TYPE_CHECKING:
    from broker.database import Connection

app = typer.Typer(no_args_is_help=True, help="Broker tasks to nuclei, and the jobs of tasks to queues.")

_COMMANDS = {
    "jobs": ("production_job", "Assign the jobs of production tasks to queues."),
    "tasks": ("production_task", "Assign production tasks to nuclei: find the candidates and draw one by weight."),
    "analysis": ("analysis_job", "Assign the jobs of users' tasks to queues."),
}
"""The name of each command, its algorithm, and its description."""

_WHICH = "Decides all due tasks, or those named with --task, due or not. Needs the role broker_operator."
_BAR = 20  # characters of the longest bar in a table
_QUEUES = 20  # bars of queues or nuclei


def _command(algorithm: str) -> Callable[..., None]:
    """The command that runs an algorithm: the options of all three are defined here."""

    def assign(
        *,
        task: Tasks = None,
        profile: Profile = None,
        seed: Annotated[
            int | None, typer.Option(min=0, max=2**63 - 1, help="Make the draws of one worker repeatable.")
        ] = None,
        dry_run: Annotated[bool, typer.Option("--dry-run", help="Decide only: assign nothing.")] = False,
        limit: Annotated[int | None, typer.Option(min=0, max=2**31 - 1, help="Decide at most this many tasks.")] = None,
        workers: Annotated[int, typer.Option(min=1, max=32, help="Share the tasks among this many connections.")] = 1,
        setup: Setup = "default",
        as_json: Json = False,
    ) -> None:
        from broker import database
        from broker.errors import BadRequest
        from broker.operate import batch

        if workers > 1 and dry_run:
            raise BadRequest("a dry run locks no task, so workers cannot share the tasks", "leave --workers out")
        target = ready()
        with ExitStack() as open_ones:
            connections = [open_ones.enter_context(database.connect(target)) for _ in range(workers)]
            connection = connections[0]
            require_setup(connection, setup)
            named = sorted(set(task or ()))
            not_due = _not_due(connection, setup, algorithm, named)
            with working("deciding"):
                run = batch.broker(
                    connections, setup, algorithm, tasks=named or None, profile=profile, seed=seed, limit=limit,
                    dry_run=dry_run,
                )  # fmt: skip
            summary = run_summary(connection, setup, run, algorithm) | {"not_due": not_due}
            nothing = None if summary["tasks"] or named else _nothing_due(connection, setup, algorithm, limit)
        if as_json:
            output.json_out(summary)
            return
        for row in not_due:
            output.say(f"task {row['task_id']} is not due, decided because it is named: {row['not_due']}")
        show_summary(
            summary, dry=dry_run, nothing=nothing or "no task was decided: another broker works on those named"
        )

    return assign


for _name, (_algorithm, _help) in _COMMANDS.items():
    app.command(_name, help=f"{_help}\n\n{_WHICH}")(_command(_algorithm))


def _not_due(connection: "Connection", setup: str, algorithm: str, tasks: list[int]) -> list[Row]:
    """The tasks that are not due, with the reasons."""
    query = """select task_id, not_due from brokerage.task_due_state
                where setup = %s and algorithm = %s and task_id = any (%s::bigint[]) and not_due is not null
                order by 1"""
    return rows_of(connection, query, setup, algorithm, tasks) if tasks else []


def _nothing_due(connection: "Connection", setup: str, algorithm: str, limit: int | None) -> str:
    """The reason why a run decided no task: other brokers hold the due tasks, or tasks wait, or they are not open."""
    query = """select count(*) filter (where not_due is null) as due,
                      count(*) filter (where not_open is null and waits) as waiting,
                      min(retry_at) filter (where not_open is null and waits) as retry_at,
                      count(*) filter (where not_open is not null) as others,
                      min(task_id) filter (where not_open is not null) as example
                 from brokerage.task_due_state where setup = %s and algorithm = %s"""
    [row] = rows_of(connection, query, setup, algorithm)
    if row["due"]:
        are = f"{counted(row['due'], 'task')} {'is' if row['due'] == 1 else 'are'} due"
        return f"no task was decided: {are}, {'--limit is 0' if limit == 0 else 'and others are working on them'}"
    reasons = []
    if row["waiting"]:
        are = "waits, until" if row["waiting"] == 1 else "wait, the first until"
        reasons.append(f"{counted(row['waiting'], 'task')} {are} {output.moment(row['retry_at'])}")
    if row["others"]:
        query = "select not_open from brokerage.task_due_state where setup = %s and algorithm = %s and task_id = %s"
        [example] = rows_of(connection, query, setup, algorithm, row["example"])
        such = f"{'is' if row['others'] == 1 else 'are'} not open, such as {row['example']}"
        reasons.append(f"{counted(row['others'], 'task')} {such}: {example['not_open']}")
    return f"no task was due: {'; '.join(reasons) or f'setup {setup} holds no open tasks'}"


def show_summary(summary: Row, *, dry: bool, nothing: str = "no task was due") -> None:
    """Show the results of a run; `nothing` is the text for a run that decided no task."""
    tasks = sum(row["tasks"] for row in summary["tasks"])
    if not tasks:
        output.say(f"run {summary['run_id']}: {nothing}")
        return
    bars = [(f"{r['status']} by {r['rule']}" if r["rule"] else r["status"], r["tasks"]) for r in summary["tasks"]]
    output.bars(f"Run {summary['run_id']}: {counted(tasks, 'task')}", bars)
    for row in summary["tasks"]:
        if row["reason"]:
            rule = f" by {row['rule']}" if row["rule"] else ""
            such = "such as task" if row["tasks"] > 1 else "task"
            output.say(f"{row['status']}{rule}, {such} {row['example']}: {row['reason']}")
    waiting = [row["example"] for row in summary["tasks"] if row["status"] == "pending"]
    if waiting:
        output.say(f"why one waits: broker explain task {min(waiting)} --setup {summary['setup']}")
    retry = [row["retry_at"] for row in summary["tasks"] if row["retry_at"]]
    if retry and not dry:
        output.say(f"the first that waits is tried again at {output.moment(min(retry))}")
    if not dry:
        nuclei = [(row["nucleus"], row["tasks"]) for row in summary["nuclei"]]
        queues = [(row["queue"], row["jobs"]) for row in summary["assigned"]]
        if nuclei:
            _show_assigned(nuclei, "task", "nucleus")
        else:
            _show_assigned(queues, "job", "queue")
    rejections = [(r["rule"], r["criteria"], r["pairs"], r["tasks"], r["queues"]) for r in summary["rejections"]]
    places = "nuclei" if summary["algorithm"] == "production_task" else "queues"
    columns = ["rule", "criteria", "pairs", "tasks", places, ""]
    output.table("Rejected", columns, _barred(rejections, 2), drop=["", "criteria"])
    rules = {row["rule"] for row in summary["rejections"]}
    for row in summary["not_loaded"]:
        if row["rule"] in rules:
            output.say(f"{row['rule']}: {row['lack']}")


def _show_assigned(places: list[tuple[str, int]], what: str, place: str) -> None:
    """Bars of the places that got the most jobs or tasks."""
    some = f", the {_QUEUES} with most of them" if len(places) > _QUEUES else ""
    total = counted(sum(number for _, number in places), what)
    output.bars(f"Assigned: {total} to {counted(len(places), place)}{some}", places[:_QUEUES])


def _barred(rows: Sequence[Sequence[Any]], place: int) -> list[list[object]]:
    """The rows, each with a bar of the value at a place as its last cell."""
    most = max((row[place] for row in rows), default=0) or 1
    return [[*row, "█" * -(-_BAR * row[place] // most)] for row in rows]
