"""`broker what-if`, `evaluate`, `rules`: decisions that are not stored, and the rules that decide."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from broker.cli import retry_rules
from broker.cli.shared import codes, output
from broker.cli.shared.common import Json, pair, parameters_of_rules
from broker.cli.shared.files import reading
from broker.cli.shared.options import options
from broker.cli.shared.session import SETUP, Setup, any_shard, connected, ready, require_setup, session
from broker.operate.reading import Row, rows_of
from broker.words import counted

if TYPE_CHECKING:
    from broker.database import Connection, Target
    from broker.operate.brokerage import WhatIf

app = typer.Typer()
PANEL = "Brokerage"

Profile = Annotated[str | None, typer.Option(help="Profile that decides; by default the setup's.")]
Tasks = Annotated[
    list[int] | None, typer.Option("--task", min=0, max=2**63 - 1, help="Take only this task; repeat it for several.")
]
Limit = Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Show at most this many rows of a table, 0 for all.")]
_ON = "Decide on this database, in a copy of the setup that is undone; --dsn may then be a standby."
On = Annotated[str | None, typer.Option(metavar="DSN", help=_ON)]
Algorithm = Annotated[
    str, typer.Option(help="Algorithm of the rules or tasks; the error for an unknown algorithm lists all.")
]


@app.command("what-if", rich_help_panel=PANEL)
def what_if(
    *,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Change configuration: KEY or component:KEY; null removes the key."
        ),
    ] = None,
    worlds: Annotated[list[Path] | None, typer.Option("--world", help="Merge this world over the setup.")] = None,
    profile: Annotated[str | None, typer.Option(help="Decide with this profile.")] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--parameter", metavar="RULE.PARAMETER=VALUE", help="Change a parameter of a rule; repeat it."),
    ] = None,
    without: Annotated[list[str] | None, typer.Option(metavar="RULE", help="Leave out this rule; repeat it.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Accept keys of --set that only your own rules read.")] = False,
    rules_of_retries: Annotated[
        str | None,
        typer.Option(
            "--retry-rules",
            metavar="FILE|preset:NAME",
            help="Judge past failed jobs by these retry rules: a file with a JSON list or a world, or a preset.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN|TIME",
            help="With --retry-rules, judge jobs that failed since this time or in this span (default: 1 day).",
        ),
    ] = None,
    algorithm: Algorithm = "production_job",
    task: Tasks = None,
    newest: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=2**31 - 1,
            help="Take at most this many open tasks, those with the highest ids; with --retry-rules, at most this many"
            " failed ends, the newest ones (default: 20,000).",
        ),
    ] = None,
    limit: Limit = 20,
    on: On = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Show what a change would do to the open tasks. They are those of an algorithm, waiting ones included. Nothing is
    stored.

    The jobs of a queue are counted as if each task were alone. Needs the role broker_operator; with --on, needs
    that role there, and broker_viewer and pg_read_all_data at the setup's database.

    With --retry-rules, the command shows how these rules would have decided about failed jobs. It needs broker_viewer.
    """
    import psycopg

    from broker import world
    from broker.cli.config import of_unknown_key
    from broker.database_errors import from_database
    from broker.errors import BadRequest
    from broker.operate import brokerage

    given = {"--set": settings, "--world": worlds, "--profile": profile, "--parameter": parameters,
             "--without": without, "--force": force, "--task": task, "--on": on,
             "--algorithm": algorithm != "production_job"}  # fmt: skip
    if rules_of_retries is not None:
        if mixed := [name for name, value in given.items() if value]:
            hint = f"leave {mixed[0]} out: it changes or selects open tasks"
            raise BadRequest(f"--retry-rules is given with {mixed[0]}", hint)
        retry_rules.what_if(rules_of_retries, since, newest, limit, setup, as_json=as_json)
        return
    if since is not None:
        raise BadRequest("--since is given without --retry-rules", "give --retry-rules: --since selects failed jobs")
    overlaid = []
    for file in worlds or []:
        with reading(file) as stream:
            overlaid.append(world.parse(stream.read(), str(file)))
    changes = dict(pair("--set", text, "jobbroker:NQUEUED_SAT_CAP=300") for text in settings or [])
    of_rules = parameters_of_rules("--parameter", parameters or [])
    if not (changes or overlaid or profile or of_rules or without):
        hint = "--set KEY=VALUE, --world FILE, --profile NAME, --parameter RULE.NAME=VALUE, --without RULE"
        raise BadRequest("nothing is changed", f"give a change: {hint}, --retry-rules FILE")
    with _deciding(ready(), setup, on) as connection:
        try:
            found = brokerage.what_if(
                connection, setup, changes, profile=profile, worlds=overlaid, tasks=task or None, newest=newest,
                force=force, algorithm=algorithm, parameters=of_rules, without=without or [],
            )  # fmt: skip
        except psycopg.Error as error:
            found_error = from_database(error)
            found_error.hint = of_unknown_key(found_error.hint)
            raise found_error from error
        elsewhere = [] if found.before or found.after else _open_elsewhere(connection, setup, algorithm)
    for line in [*found.kept, *elsewhere]:
        output.note(line)
    if as_json:
        output.json_out(found)
        return
    for number, reason in found.not_open.items():
        output.say(f"task {number} is not open, decided because it is named: {reason}")
    both = sorted({*found.before, *found.after})
    statuses = [(status, found.before.get(status, 0), found.after.get(status, 0)) for status in both]
    output.table("Tasks", ["status", "before", "after"], statuses)
    shown = found.differences[: limit or None]
    some = f", {len(shown)} shown (--limit)" if len(shown) < len(found.differences) else ""
    cells = [
        (row["task_id"], _changed(row), output.few(row["gained"]), output.few(row["lost"]),
         row["queue"], row["weight_before"], row["weight_after"])
        for row in shown
    ]  # fmt: skip
    columns = ["task", "status", "gains", "loses", "weight of", "before", "after"]
    output.table(f"{counted(len(found.differences), 'task')} decided otherwise{some}", columns, cells)
    _show_greatest(found, limit)


def _show_greatest(found: "WhatIf", limit: int) -> None:
    """The destinations of the jobs, and the rules that reject: the rows that differ, greatest difference first."""
    queues = [
        (row["queue"], row["jobs_before"], row["jobs_after"], f"{row['jobs_after'] - row['jobs_before']:+}")
        for row in sorted(found.queues, key=lambda row: -abs(row["jobs_after"] - row["jobs_before"]))
        if row["jobs_before"] != row["jobs_after"]
    ]
    if queues:
        output.table("Jobs by queue", ["queue", "before", "after", "difference"], queues[: limit or None])
    rules = [
        (row["rule"], row["before"], row["after"], f"{row['after'] - row['before']:+}", row["example"])
        for row in sorted(found.rules, key=lambda row: -row["gained"] - row["lost"])
        if row["gained"] or row["lost"]
    ]
    if rules:
        columns = ["rule", "before", "after", "difference", "for example"]
        output.table("Rejections by rule", columns, rules[: limit or None])


def _open_elsewhere(connection: "Connection", setup: str, algorithm: str) -> list[str]:
    """Lines about the other algorithms with open tasks, for a setup that has none of this algorithm."""
    query = """select algorithm, count(*) as tasks from brokerage.open_task
                where setup = %s and algorithm <> %s group by algorithm order by 2 desc, 1"""
    return [
        f"no task is open for {algorithm}, {counted(row['tasks'], 'task')} for {row['algorithm']}:"
        f" --algorithm {row['algorithm']}"
        for row in rows_of(connection, query, setup, algorithm)
    ]


def _changed(row: Row) -> str:
    before, after = row["status_before"], row["status_after"]
    return str(after) if before == after else f"{before or 'none'} -> {after or 'none'}"


@contextmanager
def _deciding(target: "Target", setup: str, on: str | None) -> "Iterator[Connection]":
    """A connection for decisions about a setup: to its own database, or to another database that temporarily has a
    copy."""
    from broker import database, upgrade
    from broker.errors import BrokerError
    from broker.fronts.borrowed import borrowed

    with connected(target) as source:
        require_setup(source, setup)
        if on is None:
            if source.execute("select pg_is_in_recovery()").fetchone() == (True,):
                fault = "this server is a standby, which takes no changes, also none that are undone"
                hint = "--on DSN decides on another database, in a copy of the setup; or ask the primary"
                raise BrokerError(fault, hint, "25006")
            yield source
            return
        other = database.named(on, prepare=target.prepare, source="--on")
        with database.connect(other) as goal:
            upgrade.check_compatible(goal)
            with borrowed(source, goal, setup):
                yield goal


@app.command(rich_help_panel=PANEL)
def evaluate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Cases as JSON lines; - for standard input.")],
    *,
    over: Annotated[bool, typer.Option("--over", help="Merge each case over the world of --setup.")] = False,
    profile: Annotated[str | None, typer.Option(help="Profile that replaces the profiles of the cases.")] = None,
    connections: Annotated[
        int,
        typer.Option(
            min=1, max=32, help="Decide this many cases of a file at once; cases of a pipe are decided one by one."
        ),
    ] = 2,
    on: On = None,
    setup: Setup = "default",
) -> None:
    """Decide cases, and print an answer to each. A line of the file is a case, in a world of its own, and its answer is
    one line. Nothing is stored.

    Exit code 1: a case had an error. Needs the role broker_operator; rights with --on as for what-if.
    """
    from broker import database
    from broker.errors import BadRequest
    from broker.operate import brokerage

    if on is not None and not over:
        raise BadRequest("--on is given without --over", "each case has a world of its own: name the database by --dsn")

    if not over:
        options.setup = None  # cases bring worlds of their own, so any shard can decide them
    target = ready() if over else any_shard(ready())
    one_by_one = over or str(file) == "-"
    with ExitStack() as open_ones, reading(file) as stream:
        if over:
            opened = [open_ones.enter_context(_deciding(target, setup, on))]
        else:
            number = 1 if one_by_one else connections
            opened = [open_ones.enter_context(database.connect(target)) for _ in range(number)]
        cases = (line for line in stream if line.strip())
        if one_by_one:
            answers = brokerage.evaluate(opened[0], cases, setup if over else None, profile)
        else:
            answers = brokerage.evaluate_together(opened, cases, profile)
        open_ones.enter_context(closing(answers))  # closed before the connections, even if their reader has gone
        failed = False
        for answer in answers:
            failed = failed or "error" in answer
            print(json.dumps(answer, ensure_ascii=False), flush=True)
    if failed:
        raise typer.Exit(codes.FAILED)


@app.command(rich_help_panel=PANEL)
def rules(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="RULE", help="Show these rules only, with function and source.")
    ] = None,
    *,
    profile: Annotated[
        str | None,
        typer.Option(help="Profile: documented, panda2026 or your own; by default that of --setup, or documented."),
    ] = None,
    algorithm: Algorithm = "production_job",
    setup: Annotated[
        str | None, typer.Option(envvar=SETUP, help="Show the profile and the settings of this setup.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the rules of a profile, in their order. Your own rules are among them."""
    from broker.errors import NoSuchThing
    from broker.world.shape import nearest

    with session() as connection:
        settings = None if setup is None else _settings(connection, setup)
        chosen = profile or (settings["profile"] if settings else "documented")
        query = """select position, rule, kind, criteria, function, parameters, enabled, source
                     from brokerage.rule_in_force
                    where profile = brokerage.profile_name(%s) and algorithm = %s order by position, rule"""
        rows = rows_of(connection, query, chosen, algorithm)
        known = rows_of(connection, "select distinct profile, algorithm from brokerage.rule_in_force order by 1, 2")
    if not rows:
        there = ", ".join(f"{row['profile']} of {row['algorithm']}" for row in known)
        raise NoSuchThing(f"profile {chosen} has no rules of {algorithm}", f"there are: {there}")
    for name in names or []:
        named = [row["rule"] for row in rows]
        if name not in named:
            near = nearest(name, named)
            hint = f"the nearest is {near}" if near else "broker rules lists them"
            raise NoSuchThing(f"profile {chosen} has no rule {name} of {algorithm}", hint)
    rows = [row for row in rows if not names or row["rule"] in names]
    if as_json:
        output.json_out(rows if settings is None else {"settings": settings, "rules": rows})
        return
    if settings:
        kept = ", ".join(f"{name} {value}" for name, value in settings.items() if name not in ("setup", "profile"))
        output.say(f"setup {setup}: profile {settings['profile']}, {kept}")
    cells = [{**row, "kind": row["kind"] if row["enabled"] else f"{row['kind']}, off"} for row in rows]
    columns = ("position", "rule", "kind", "criteria", "function", "parameters", "source")
    if names:
        for row in cells:
            output.fields(
                f"Rule {row['rule']}", {name: row[name] for name in columns if name != "rule" and row[name] != {}}
            )
        return
    table = [[row[name] or None if name == "parameters" else row[name] for name in columns] for row in cells]
    output.table(
        f"Profile {chosen}, {algorithm}", columns, table, drop=["source", "function", "parameters", "criteria"]
    )


def _settings(connection: "Connection", setup: str) -> Row:
    """The settings of brokerage in a setup, with intervals as text. Raises NoSuchThing."""
    require_setup(connection, setup)
    query = """select setup, profile, decisions_kept::text, counts_kept::text, assignments_count::text
                 from brokerage.setting_in_force where setup = %s"""
    [*found] = rows_of(connection, query, setup)
    if not found:  # `default`, where nothing has happened yet
        from broker.errors import NoSuchThing

        raise NoSuchThing(f"setup {setup} does not exist", "load a world first: broker load", "PB004")
    return found[0]
