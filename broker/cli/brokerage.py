"""`broker broker-jobs`, `broker-tasks`, `broker-analysis`, `what-if`, `evaluate`, `rules`: where tasks and jobs go."""

import json
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli import output
from broker.cli.common import Json
from broker.cli.files import reading
from broker.cli.output import counted
from broker.cli.session import Row, Setup, ready, require_setup, rows_of, session

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[Any]

app = typer.Typer()
PANEL = "Brokerage"

Profile = Annotated[str | None, typer.Option(help="Profile that decides; else the setup's, doc by default.")]
Tasks = Annotated[list[int] | None, typer.Option("--task", help="This task; more than once for several.")]
Limit = Annotated[int, typer.Option(min=0, help="Show so many rows of a table, 0 for all.")]
Algorithm = Annotated[str, typer.Option(help="Algorithm; an unknown one is answered with those that the profile has.")]
Seed = Annotated[int | None, typer.Option(help="Makes the draws of one worker repeatable.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Decide only: assign nothing.")]
Most = Annotated[int | None, typer.Option("--limit", min=0, help="Decide so many tasks at most.")]
Workers = Annotated[int, typer.Option(min=1, max=32, help="Decide on so many connections, which share the tasks.")]

_BAR = 20  # characters of the longest bar in a table
_QUEUES = 20  # bars of queues or nuclei


@app.command("broker-jobs", rich_help_panel=PANEL)
def broker_jobs(
    *,
    task: Tasks = None,
    profile: Profile = None,
    seed: Seed = None,
    dry_run: DryRun = False,
    limit: Most = None,
    workers: Workers = 1,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Broker the jobs of all tasks that are due, or of those named: decide which queues take them, and assign them.

    A task that is named is decided whether it is due or not. Needs the role broker_operator.
    """
    _broker(
        "production_job",
        setup,
        task,
        profile=profile,
        seed=seed,
        limit=limit,
        workers=workers,
        dry_run=dry_run,
        as_json=as_json,
    )


@app.command("broker-tasks", rich_help_panel=PANEL)
def broker_tasks(
    *,
    task: Tasks = None,
    profile: Profile = None,
    seed: Seed = None,
    dry_run: DryRun = False,
    limit: Most = None,
    workers: Workers = 1,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Broker all tasks that are due, or those named: decide which nuclei could have each, and draw one by weight.

    A task that is named is decided whether it is due or not. Needs the role broker_operator.
    """
    _broker(
        "production_task",
        setup,
        task,
        profile=profile,
        seed=seed,
        limit=limit,
        workers=workers,
        dry_run=dry_run,
        as_json=as_json,
    )


@app.command("broker-analysis", rich_help_panel=PANEL)
def broker_analysis(
    *,
    task: Tasks = None,
    profile: Profile = None,
    seed: Seed = None,
    dry_run: DryRun = False,
    limit: Most = None,
    workers: Workers = 1,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Broker the jobs of users' tasks that are due, or of those named: decide which queues take them, and assign them.

    A task that is named is decided whether it is due or not. Needs the role broker_operator.
    """
    _broker(
        "analysis_job",
        setup,
        task,
        profile=profile,
        seed=seed,
        limit=limit,
        workers=workers,
        dry_run=dry_run,
        as_json=as_json,
    )


def _broker(
    algorithm: str,
    setup: str,
    tasks: list[int] | None,
    *,
    profile: str | None,
    seed: int | None,
    limit: int | None,
    workers: int,
    dry_run: bool,
    as_json: bool,
) -> None:
    """One batch, and what it did."""
    from broker import database
    from broker.errors import BadRequest
    from broker.operate import batch

    if workers > 1 and dry_run:
        raise BadRequest("a dry run locks no task, so that workers cannot share them", "leave --workers out")
    target = ready()
    with ExitStack() as open_ones:
        connections = [open_ones.enter_context(database.connect(target)) for _ in range(workers)]
        connection = connections[0]
        require_setup(connection, setup)
        named = sorted(set(tasks or ()))
        not_due = _not_due(connection, setup, algorithm, named)
        run = batch.broker(
            connections, setup, algorithm, tasks=named or None, profile=profile, seed=seed, limit=limit, dry_run=dry_run
        )
        summary = summary_of(connection, setup, run, algorithm) | {"not_due": not_due}
        nothing = None if summary["tasks"] or named else _nothing_due(connection, setup, algorithm, limit)
    if as_json:
        output.json_out(summary)
        return
    for row in not_due:
        output.say(f"task {row['task_id']} is not due, decided because it is named: {row['not_due']}")
    show_summary(summary, dry=dry_run, nothing=nothing or "no task was decided: another broker works on those named")


def _not_due(connection: "Connection", setup: str, algorithm: str, tasks: list[int]) -> list[Row]:
    """Those of the tasks that are not due, and why."""
    query = """select task_id, not_due from brokerage.task_standing
                where setup = %s and algorithm = %s and task_id = any (%s::bigint[]) and not_due is not null
                order by 1"""
    return rows_of(connection, query, setup, algorithm, tasks) if tasks else []


def _nothing_due(connection: "Connection", setup: str, algorithm: str, limit: int | None) -> str:
    """Why a run found nothing to do: others hold what is due, or how many tasks wait, and what keeps others away."""
    query = """select count(*) filter (where not_due is null) as due,
                      count(*) filter (where not_open is null and waits) as waiting,
                      min(retry_at) filter (where not_open is null and waits) as retry_at,
                      count(*) filter (where not_open is not null) as others,
                      min(task_id) filter (where not_open is not null) as example
                 from brokerage.task_standing where setup = %s and algorithm = %s"""
    [row] = rows_of(connection, query, setup, algorithm)
    if row["due"]:
        are = f"{counted(row['due'], 'task')} {'is' if row['due'] == 1 else 'are'} due"
        return f"no task was decided: {are}, {'--limit is 0' if limit == 0 else 'and others are working on them'}"
    said = []
    if row["waiting"]:
        are = "waits, until" if row["waiting"] == 1 else "wait, the first until"
        said.append(f"{counted(row['waiting'], 'task')} {are} {output.moment(row['retry_at'])}")
    if row["others"]:
        query = "select not_open from brokerage.task_standing where setup = %s and algorithm = %s and task_id = %s"
        [example] = rows_of(connection, query, setup, algorithm, row["example"])
        such = f"{'is' if row['others'] == 1 else 'are'} not open, such as {row['example']}"
        said.append(f"{counted(row['others'], 'task')} {such}: {example['not_open']}")
    return f"no task was due: {'; '.join(said) or f'setup {setup} holds no open tasks'}"


def summary_of(connection: "Connection", setup: str, run: int, algorithm: str) -> Row:
    """A run: tasks by status (and the rule that refused whole tasks), where tasks or jobs went, rejections by rule."""
    chosen = "where setup = %s and run_id = %s order by"
    return {
        "setup": setup,
        "run": run,
        "algorithm": algorithm,
        "tasks": rows_of(
            connection,
            f"select status, tasks, retry_at, example, rule, reason from brokerage.outcomes {chosen} 1, 5",
            setup,
            run,
        ),
        "assigned": rows_of(
            connection, f"select queue, tasks, jobs from brokerage.assignments {chosen} 3 desc, 1", setup, run
        ),
        "nuclei": rows_of(
            connection,
            "select nucleus, count(*) as tasks, sum(work) as work from brokerage.nucleus_of_task"
            " where setup = %s and run_id = %s group by nucleus order by 2 desc, 1",
            setup,
            run,
        ),
        "rejections": rows_of(
            connection,
            f"select rule, criteria, pairs, tasks, queues from brokerage.rejections {chosen} 3 desc, 1",
            setup,
            run,
        ),
    }


def show_summary(summary: Row, *, dry: bool, nothing: str = "no task was due") -> None:
    """Show what a run did; `nothing` is said of one that decided no task."""
    tasks = sum(row["tasks"] for row in summary["tasks"])
    if not tasks:
        output.say(f"run {summary['run']}: {nothing}")
        return
    bars = [(f"{r['status']} by {r['rule']}" if r["rule"] else r["status"], r["tasks"]) for r in summary["tasks"]]
    output.bars(f"Run {summary['run']}: {counted(tasks, 'task')}", bars)
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


def _show_assigned(places: list[tuple[str, int]], what: str, place: str) -> None:
    """Bars of the places that got the most jobs or tasks."""
    some = f", the {_QUEUES} with most of them" if len(places) > _QUEUES else ""
    of = "nuclei" if place == "nucleus" and len(places) != 1 else None
    to = f"{len(places):,} {of}" if of else counted(len(places), place)
    output.bars(f"Assigned: {counted(sum(number for _, number in places), what)} to {to}{some}", places[:_QUEUES])


def _barred(rows: Sequence[Sequence[Any]], place: int) -> list[list[object]]:
    """The rows with a bar of the value at a place as their last cell."""
    most = max((row[place] for row in rows), default=0) or 1
    return [[*row, "█" * -(-_BAR * row[place] // most)] for row in rows]


@app.command("what-if", rich_help_panel=PANEL)
def what_if(
    *,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Configuration: KEY or component:KEY; null removes it."),
    ] = None,
    worlds: Annotated[list[Path] | None, typer.Option("--world", help="A world that is merged over the setup.")] = None,
    profile: Annotated[str | None, typer.Option(help="Compare with this profile.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Take keys of --set that only rules of your own read.")
    ] = False,
    algorithm: Algorithm = "production_job",
    task: Tasks = None,
    limit: Limit = 20,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Say what a change would do to all open tasks of an algorithm, also those that wait. Nothing is stored.

    Needs the role broker_operator.
    """
    import psycopg

    from broker import world
    from broker.errors import BadRequest, from_database
    from broker.operate import brokerage

    laid = []
    for file in worlds or []:
        with reading(file) as stream:
            laid.append(world.parse(stream.read(), str(file)))
    changes = dict(_setting(text) for text in settings or [])
    if not (changes or laid or profile):
        raise BadRequest("nothing is changed", "say what: --set KEY=VALUE, --world FILE or --profile NAME")
    with session() as connection:
        require_setup(connection, setup)
        try:
            found = brokerage.what_if(
                connection,
                setup,
                changes,
                profile=profile,
                worlds=laid,
                tasks=task or None,
                forced=force,
                algorithm=algorithm,
            )
        except psycopg.Error as error:
            said = from_database(error)
            said.hint = said.hint and said.hint.replace("p_force => true", "--force")
            raise said from error
        elsewhere = [] if found.before or found.after else _open_elsewhere(connection, setup, algorithm)
    for line in [*found.kept, *elsewhere]:
        output.note(line)
    if as_json:
        output.json_out(found)
        return
    for number, reason in found.not_open.items():
        output.say(f"task {number} is not open, decided because it is named: {reason}")
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


def _open_elsewhere(connection: "Connection", setup: str, algorithm: str) -> list[str]:
    """Of a setup without open tasks of an algorithm: how many others have, and how to look at those."""
    query = """select algorithm, count(*) as tasks from brokerage.open_task
                where setup = %s and algorithm <> %s group by algorithm order by 2 desc, 1"""
    return [
        f"no task is open for {algorithm}, {counted(row['tasks'], 'task')} for {row['algorithm']}:"
        f" --algorithm {row['algorithm']}"
        for row in rows_of(connection, query, setup, algorithm)
    ]


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
    """Decide cases, one a line, each in a world of its own, and print an answer a line. Nothing is stored.

    Exit code 1 when a case had an error. Needs the role broker_operator.
    """
    from broker import database
    from broker.operate import brokerage

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
        open_ones.enter_context(
            closing(answers)
        )  # before the connections, also when the reader of the answers has gone
        failed = False
        for answer in answers:
            failed = failed or "error" in answer
            print(json.dumps(answer, ensure_ascii=False), flush=True)
    if failed:
        raise typer.Exit(1)


@app.command(rich_help_panel=PANEL)
def rules(
    profile: Annotated[
        str | None, typer.Option(help="Profile: doc, panda2026, or one of your own; else doc, or that of --setup.")
    ] = None,
    algorithm: Algorithm = "production_job",
    setup: Annotated[str | None, typer.Option(help="The profile that decides in this setup, and its settings.")] = None,
    as_json: Json = False,
) -> None:
    """List the rules of a profile in the order in which they are asked, those of your own among them."""
    from broker.errors import NoSuchThing

    with session() as connection:
        settings = None if setup is None else _settings(connection, setup)
        chosen = profile or (settings["profile"] if settings else "doc")
        rows = rows_of(
            connection,
            "select position, rule, kind, criteria, function, parameters, enabled, source from brokerage.rule_in_force"
            " where profile = %s and algorithm = %s order by position, rule",
            chosen,
            algorithm,
        )
        known = rows_of(connection, "select distinct profile, algorithm from brokerage.rule_in_force order by 1, 2")
    if not rows:
        there = ", ".join(f"{row['profile']} of {row['algorithm']}" for row in known)
        raise NoSuchThing(f"profile {chosen} has no rules of {algorithm}", f"there are: {there}")
    if as_json:
        output.json_out(rows if settings is None else {"settings": settings, "rules": rows})
        return
    if settings:
        kept = ", ".join(f"{name} {value}" for name, value in settings.items() if name not in ("setup", "profile"))
        output.say(f"setup {setup}: profile {settings['profile']}, {kept}")
    cells = [
        (
            row["position"],
            row["rule"],
            row["kind"] if row["enabled"] else f"{row['kind']}, off",
            row["criteria"],
            row["function"],
            row["parameters"] or None,
            row["source"],
        )
        for row in rows
    ]
    columns = ["position", "rule", "kind", "criteria", "function", "parameters", "source"]
    output.table(f"Profile {chosen}, {algorithm}", columns, cells, drop=["source", "parameters", "function"])


def _settings(connection: "Connection", setup: str) -> Row:
    """The settings of brokerage in a setup, intervals as text. Raises NoSuchThing."""
    require_setup(connection, setup)
    query = """select setup, profile, decisions_kept::text, counts_kept::text, assignments_count::text
                 from brokerage.setting_in_force where setup = %s"""
    [*found] = rows_of(connection, query, setup)
    if not found:  # `default`, where nothing has happened yet
        from broker.errors import NoSuchThing

        raise NoSuchThing(f"setup {setup} does not exist", "load a world first: broker load", "PB004")
    return found[0]
