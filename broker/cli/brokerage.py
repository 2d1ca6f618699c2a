"""`broker broker-jobs`, `explain task`, `what-if`, `evaluate`, `rules`: where the jobs of tasks go, and why."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli import output
from broker.cli.common import Json
from broker.cli.files import reading
from broker.cli.output import counted
from broker.cli.session import Setup, ready, require_setup, session

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[Any]

app = typer.Typer()
PANEL = "Brokerage"

Row = dict[str, Any]
Profile = Annotated[str | None, typer.Option(help="Profile that decides; else the setup's, doc by default.")]
Tasks = Annotated[list[int] | None, typer.Option("--task", help="This task; more than once for several.")]
Limit = Annotated[int, typer.Option(min=0, help="Show so many rows of a table, 0 for all.")]

_BAR = 20  # characters of the longest bar in a table
_QUEUES = 20  # bars of queues


@app.command("broker-jobs", rich_help_panel=PANEL)
def broker_jobs(
    *,
    task: Tasks = None,
    profile: Profile = None,
    seed: Annotated[int | None, typer.Option(help="Makes the draws repeatable.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Decide only: assign nothing.")] = False,
    limit: Annotated[int | None, typer.Option(min=0, help="Decide so many tasks at most.")] = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Broker the jobs of all tasks that are due, or of those named: decide which queues take them, and assign them."""
    with session() as connection:
        query = "call brokerage.broker_jobs(%s, %s::bigint[], %s, %s::bigint, %s, %s::bigint)"
        [(run,)] = connection.execute(query, (setup, task or None, profile, seed, dry_run, limit)).fetchall()
        summary = summary_of(connection, setup, run)
    if as_json:
        output.json_out(summary)
    else:
        show_summary(summary, dry=dry_run)


def summary_of(connection: "Connection", setup: str, run: int) -> Row:
    """A run: tasks by status, jobs assigned by queue, what each rule rejected."""
    chosen = "where setup = %s and run_id = %s order by"
    return {
        "setup": setup,
        "run": run,
        "tasks": _rows(
            connection, f"select status, tasks, retry_at, example from brokerage.outcomes {chosen} 1", setup, run
        ),
        "assigned": _rows(
            connection, f"select queue, tasks, jobs from brokerage.assignments {chosen} 3 desc, 1", setup, run
        ),
        "rejections": _rows(
            connection,
            f"select rule, criteria, pairs, tasks, queues from brokerage.rejections {chosen} 3 desc, 1",
            setup,
            run,
        ),
    }


def _rows(connection: "Connection", query: str, *arguments: Any) -> list[Row]:
    from psycopg.rows import dict_row

    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query.encode(), arguments).fetchall()


def show_summary(summary: Row, *, dry: bool) -> None:
    """Show what a run did."""
    tasks = sum(row["tasks"] for row in summary["tasks"])
    if not tasks:
        output.say(f"run {summary['run']}: no task was due")
        return
    output.bars(
        f"Run {summary['run']}: {counted(tasks, 'task')}", [(r["status"], r["tasks"]) for r in summary["tasks"]]
    )
    retry = [row["retry_at"] for row in summary["tasks"] if row["retry_at"]]
    if retry:
        output.say(f"the first that waits is tried again at {min(retry).isoformat(sep=' ', timespec='seconds')}")
    if not dry:
        assigned = summary["assigned"]
        jobs = sum(row["jobs"] for row in assigned)
        some = f", the {_QUEUES} with most of them" if len(assigned) > _QUEUES else ""
        title = f"Assigned: {counted(jobs, 'job')} to {counted(len(assigned), 'queue')}{some}"
        output.bars(title, [(row["queue"], row["jobs"]) for row in assigned[:_QUEUES]])
    rejections = [(r["rule"], r["criteria"], r["pairs"], r["tasks"], r["queues"]) for r in summary["rejections"]]
    columns = ["rule", "criteria", "pairs", "tasks", "queues", ""]
    output.table("Rejected", columns, _barred(rejections, 2), drop=["", "criteria"])


def _barred(rows: Sequence[Sequence[Any]], place: int) -> list[list[object]]:
    """The rows with a bar of the value at a place as their last cell."""
    most = max((row[place] for row in rows), default=0) or 1
    return [[*row, "█" * -(-_BAR * row[place] // most)] for row in rows]


def explain_task(setup: str, task: int, *, profile: str | None, queue: str | None, limit: int, as_json: bool) -> None:
    """Say why each queue would take the jobs of a task or not."""
    from broker.errors import NoSuchThing

    with session() as connection:
        explained = explanation_of(connection, setup, task, profile)
    if queue is not None:
        explained["queues"] = [
            r for r in explained["queues"] if r["queue"] == queue or r["queue"].startswith(f"{queue}/")
        ]
        if not explained["queues"]:
            raise NoSuchThing(f"queue {queue} is not in setup {setup}", "name a queue of the world that was loaded")
    if as_json:
        output.json_out(explained)
    elif queue is not None:
        for row in explained["queues"]:
            _show_queue(row)
    else:
        show_explanation(explained, limit)


def explanation_of(connection: "Connection", setup: str, task: int, profile: str | None = None) -> Row:
    """A task's queues, and what keeps them away: rows of brokerage.explain and brokerage.obstacles.

    `refused` is the row of a task that no queue is asked for: throttled, failed, or an error.
    """
    rows = _rows(connection, "select * from brokerage.explain(%s, %s::bigint, %s)", setup, task, profile)
    queues = [row for row in rows if row["queue"] is not None]
    query = "select * from brokerage.obstacles(%s, %s::bigint, %s)"
    return {
        "task": task,
        "refused": next((row for row in rows if row["queue"] is None), None),
        "queues": queues,
        "obstacles": _rows(connection, query, setup, task, profile) if queues else [],
    }


def show_explanation(explained: Row, limit: int) -> None:
    """Show why a task's jobs go where they go, or nowhere."""
    task, refused = explained["task"], explained["refused"]
    if refused:
        rule = f" by {refused['rule']}" if refused["rule"] else ""
        output.say(f"task {task}: {refused['verdict']}{rule}: {refused['reason']}")
        return
    of: dict[str, list[Row]] = {"candidate": [], "rejected": [], "not candidate": []}
    for row in explained["queues"]:
        of[row["verdict"]].append(row)
    asked = len(of["candidate"]) + len(of["rejected"])
    output.say(f"task {task}: {len(of['candidate'])} of {counted(asked, 'queue')} would take its jobs")
    if of["candidate"]:
        _show_candidates(of["candidate"])
    rejected = sorted(of["rejected"], key=lambda row: row["rule"] == "top-10", reverse=True)
    shown = rejected[: limit or None]
    title = "Rejected" if len(shown) == len(rejected) else f"Rejected: {len(shown)} of {len(rejected)} (--limit 0: all)"
    cells = [(row["queue"], row["rule"], row["criteria"], row["reason"]) for row in shown]
    output.table(title, ["queue", "rule", "criteria", "reason"], cells, drop=["criteria"])
    if of["not candidate"]:
        output.say(f"{counted(len(of['not candidate']), 'queue')} never entered the list (--json names them)")
    if not of["candidate"]:
        _show_obstacles(explained["obstacles"])


def _show_candidates(rows: Sequence[Row]) -> None:
    """Candidates with their weights, each beside a bar, and the factors that they are made of."""
    factors = list(dict.fromkeys(name for row in rows for name in row["factors"] or {}))
    most = max((row["weight"] or 0 for row in rows), default=0) or 1
    cells = [
        (
            row["rank"],
            row["queue"],
            row["weight"],
            "█" * max(1, round(_BAR * (row["weight"] or 0) / most)),
            *((row["factors"] or {}).get(name) for name in factors),
        )
        for row in rows
    ]
    output.table("Candidates", ["rank", "queue", "weight", "", *factors], cells, drop=["", *reversed(factors)])


def _show_obstacles(obstacles: Sequence[Row]) -> None:
    """What keeps a task that waits from its queues, and what single change opens the most."""
    rejecting = sorted((row for row in obstacles if row["rejects"]), key=lambda row: -row["rejects"])
    output.bars("Rejected by rule", [(row["rule"], row["rejects"]) for row in rejecting])
    alone = [row for row in obstacles if row["opens"]]
    if not alone:
        output.say("no single change opens a queue: each is rejected by two rules or more (--queue NAME lists them)")
    for number, row in enumerate(alone[:3]):
        more = "what opens the most" if number == 0 else "then"
        queues = counted(row["opens"], "queue")
        output.say(f"{more}: {row['rule']} alone keeps {queues} away, such as {row['example']}")


def _show_queue(row: Row) -> None:
    """One queue: what it would do, or all rules that reject it."""
    said = {"verdict": row["verdict"], "rank": row["rank"], "weight": row["weight"], **(row["factors"] or {})}
    output.fields(
        f"Queue {row['queue']}", {**said, "rule": row["rule"], "criteria": row["criteria"], "reason": row["reason"]}
    )
    if len(row["all_reasons"] or ()) > 1:
        cells = [reason.split(": ", 1) for reason in row["all_reasons"]]
        output.table("All rules that reject it", ["rule", "reason"], cells)


@app.command("what-if", rich_help_panel=PANEL)
def what_if(
    *,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Configuration: KEY or component:KEY; null removes it."),
    ] = None,
    worlds: Annotated[list[Path] | None, typer.Option("--world", help="A world that is laid over the setup.")] = None,
    profile: Annotated[str | None, typer.Option(help="Compare with this profile.")] = None,
    task: Tasks = None,
    limit: Limit = 20,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Say what a change would do to all tasks with jobs left, also those that wait. Nothing is stored."""
    from broker import brokerage, world
    from broker.errors import BadRequest

    laid = []
    for file in worlds or []:
        with reading(file) as stream:
            laid.append(world.parse(stream.read(), str(file)))
    changes = dict(_setting(text) for text in settings or [])
    if not (changes or laid or profile):
        raise BadRequest("nothing is changed", "say what: --set KEY=VALUE, --world FILE or --profile NAME")
    with session() as connection:
        found = brokerage.what_if(connection, setup, changes, profile=profile, worlds=laid, tasks=task or None)
    if as_json:
        output.json_out(found)
        return
    statuses = [
        (status, found.before.get(status, 0), found.after.get(status, 0))
        for status in sorted({*found.before, *found.after})
    ]
    output.table("Tasks", ["status", "before", "after"], statuses)
    shown = found.differences[: limit or None]
    some = f", {len(shown)} shown (--limit)" if len(shown) < len(found.differences) else ""
    cells = [
        (row["task_id"], _changed(row), _few(row["gained"]), _few(row["lost"]), *_first_weight(row)) for row in shown
    ]
    columns = ["task", "status", "gains", "loses", "weight of", "before", "after"]
    output.table(f"{counted(len(found.differences), 'task')} decided otherwise{some}", columns, cells, drop=columns[4:])


def _setting(text: str) -> tuple[str, object]:
    """A key and its value, which is JSON, or else a text."""
    from broker.errors import BadRequest

    key, found, value = text.partition("=")
    if not found:
        raise BadRequest(f"--set {text} has no value", "for example --set jobbroker:NQUEUED_SAT_CAP=300")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _changed(row: Row) -> str:
    before, after = row["status_before"], row["status_after"]
    return str(after) if before == after else f"{before or 'none'} -> {after or 'none'}"


def _few(queues: Sequence[str]) -> str:
    return ", ".join(queues[:2]) + (f" + {len(queues) - 2}" if len(queues) > 2 else "")


def _first_weight(row: Row) -> tuple[object, ...]:
    return row["queue"], row["weight_before"], row["weight_after"]


@app.command(rich_help_panel=PANEL)
def evaluate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Cases as JSON lines; - for standard input.")],
    over: Annotated[bool, typer.Option("--over", help="Lay each case over what --setup holds.")] = False,
    profile: Annotated[str | None, typer.Option(help="Profile that decides, whatever the cases name.")] = None,
    connections: Annotated[
        int, typer.Option(min=1, max=32, help="Decide so many cases of a file at once; those of a pipe go one by one.")
    ] = 2,
    setup: Setup = "default",
) -> None:
    """Decide cases, one a line, each in a world of its own, and print an answer a line. Nothing is stored."""
    from broker import brokerage, database

    target = ready()
    one_by_one = over or str(file) == "-"
    with ExitStack() as open_ones, reading(file) as stream:
        opened = [open_ones.enter_context(database.connect(target)) for _ in range(1 if one_by_one else connections)]
        cases = (line for line in stream if line.strip())
        if one_by_one:
            if over:
                require_setup(opened[0], setup)
            answers = brokerage.evaluate(opened[0], cases, setup if over else None, profile)
        else:
            answers = brokerage.evaluate_together(opened, cases, profile)
        for answer in answers:
            print(json.dumps(answer, ensure_ascii=False), flush=True)


@app.command(rich_help_panel=PANEL)
def rules(
    profile: Annotated[str, typer.Option(help="Profile: doc, panda2026, or one of your own.")] = "doc",
    algorithm: Annotated[str, typer.Option(help="production_job, analysis_job or production_task.")] = "production_job",
    as_json: Json = False,
) -> None:
    """List the rules of a profile in the order in which they are asked, those of your own among them."""
    from broker.errors import NoSuchThing

    with session() as connection:
        rows = _rows(
            connection,
            "select rule, kind, criteria, function, parameters, enabled, source from brokerage.rule_in_force"
            " where profile = %s and algorithm = %s order by position, rule",
            profile,
            algorithm,
        )
        known = _rows(connection, "select distinct profile, algorithm from brokerage.rule_in_force order by 1, 2")
    if not rows:
        there = ", ".join(f"{row['profile']} of {row['algorithm']}" for row in known)
        raise NoSuchThing(f"profile {profile} has no rules of {algorithm}", f"there are: {there}")
    if as_json:
        output.json_out(rows)
        return
    cells = [
        (
            row["rule"],
            row["kind"] if row["enabled"] else f"{row['kind']}, off",
            row["criteria"],
            row["function"],
            row["parameters"] or None,
            row["source"],
        )
        for row in rows
    ]
    columns = ["rule", "kind", "criteria", "function", "parameters", "source"]
    output.table(f"Profile {profile}, {algorithm}", columns, cells, drop=["source", "parameters", "function"])
