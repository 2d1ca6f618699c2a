"""`broker replay`: earlier decisions taken again by other rules."""

from typing import TYPE_CHECKING, Annotated

import typer

from broker.cli.shared import codes, listing, output
from broker.cli.shared.common import Json, parameters_of_rules
from broker.cli.shared.session import Setup, session
from broker.words import counted

if TYPE_CHECKING:
    from broker.operate.replay import Replay

app = typer.Typer()
_QUEUES = 10  # queues with the greatest difference that are named


@app.command(rich_help_panel="Brokerage")
def replay(
    *,
    since: Annotated[str, typer.Option(help="Take the runs within this time before now, such as 2 hours.")] = "1 day",
    until: Annotated[
        str | None, typer.Option(help="Leave out the runs within this time before now, such as 1 hour.")
    ] = None,
    run: Annotated[int | None, typer.Option(min=0, max=2**63 - 1, help="Take only this run, however old.")] = None,
    newest: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="Take at most this many runs, the newest that decided something."),
    ] = None,
    profile: Annotated[str | None, typer.Option(help="Decide with this profile; it needs the same base.")] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--parameter", metavar="RULE.PARAMETER=VALUE", help="Change a parameter of a rule; repeat it."),
    ] = None,
    without: Annotated[list[str] | None, typer.Option(metavar="RULE", help="Leave out this rule; repeat it.")] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Change no rule; exit code 5 if a decision differs although no function changed."),
    ] = False,
    limit: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Show at most this many tasks, 0 for all.")] = 20,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Decide the tasks of real runs again, by other rules. The facts are those of that time. Nothing is stored.
    Assignments of a part of a run count for the rest of that part; all later facts stay as they were. Configuration
    keys are part of the facts: ask broker what-if about them.
    """
    from broker.errors import BadRequest
    from broker.operate.replay import replay as replayed

    changes = parameters_of_rules("--parameter", parameters or [])
    if check and (profile or changes or without):
        raise BadRequest("--check changes nothing", "leave out --profile, --parameter and --without, or --check")
    if run is not None and newest is not None:
        raise BadRequest("--run and --newest are given", "leave out one of them")
    with session(setup) as connection:
        for option, text in (("--since", since), ("--until", until)):
            listing.require_span(connection, option, text)
        found = replayed(
            connection, setup, since=since if run is None and newest is None else None, until=until, run=run,
            newest=newest, profile=profile, changes=changes, without=without or [],
        )  # fmt: skip
    if as_json:
        output.json_out(found)
    else:
        _show(found, limit)
    if check and found.differences and not found.changes:
        raise typer.Exit(codes.FOUND)


def _show(found: "Replay", limit: int) -> None:
    same = found.tasks - len(found.differences)
    output.say(f"{counted(found.tasks, 'task')} decided again, {same} as they were decided")
    if found.changes:
        names = ", ".join(list(found.changes)[:3])
        more = f" and {len(found.changes) - 3} more" if len(found.changes) > 3 else ""
        output.say(f"functions that changed since: {names}{more}")
    if not found.differences:
        return
    output.table("Status", ["then", "replayed", "tasks"], found.statuses())
    jobs = found.jobs()
    if jobs:
        some = f", {_QUEUES} shown (--json has all)" if len(jobs) > _QUEUES else ""
        title = f"Jobs of the tasks decided otherwise differ at {counted(len(jobs), 'queue')}, greatest first{some}"
        rows = [(queue, then, again, f"{again - then:+}") for queue, then, again in jobs[:_QUEUES]]
        output.table(title, ["queue", "then", "replayed", "difference"], rows)
    shown = found.differences[: limit or None]
    some = f", {len(shown)} shown (--limit)" if len(shown) < len(found.differences) else ""
    columns = ["task", "run", "differs in", "gains", "loses"]
    tasks = [
        (row["task_id"], row["run_id"], ", ".join(row["differs"]), output.few(row["gained"]), output.few(row["lost"]))
        for row in shown
    ]
    output.table(f"{counted(len(found.differences), 'task')} decided otherwise{some}", columns, tasks)
