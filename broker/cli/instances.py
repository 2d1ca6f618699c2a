"""`broker instances`: rented machines and the steps packed onto them; schedules, catalogues of types, explanations."""

from pathlib import Path
from typing import Annotated

import typer

from broker.cli.brokerage import Limit
from broker.cli.shared import output
from broker.cli.shared.common import Json
from broker.cli.shared.done import report
from broker.cli.shared.files import reading
from broker.cli.shared.session import Setup, session
from broker.operate.reading import Row, rows_of
from broker.words import counted

app = typer.Typer(invoke_without_command=True)

_Task = Annotated[int | None, typer.Option(min=0, max=2**63 - 1, help="Only instances and steps of this task.")]
_STEPS = """
    select state, count(*) as steps, sum(cpu) as cpu, sum(ram) as ram
      from monitor.instance_step
     where setup = %s and (%s::bigint is null or task_id = %s)
     group by state order by state
"""
_WAITING = """
    select regexp_replace(reason, '^step [0-9]+ ', '') as reason, count(*) as steps, min(step_id) as first
      from monitor.instance_step
     where setup = %s and (%s::bigint is null or task_id = %s) and state in ('waiting', 'unschedulable')
     group by 1 order by count(*) desc, min(step_id)
"""
_LIVE = """
    select * from monitor.instance
     where setup = %s and (%s::bigint is null or task_id = %s) and state <> 'released'
     order by task_id nulls last, instance_id
"""
_TOTAL = """
    select * from monitor.instance_total where setup = %s and (%s::bigint is null or task_id = %s)
     order by task_id nulls last, queue nulls first
"""
_PACKING = """
    select coalesce(instance_id::text, 'new ' || number) as instance, type, count(*) as steps, sum(cpu) as cpu,
           sum(ram) as ram, min(step_id) as first
      from instance.tasks_to_schedule(%s, %s) t cross join lateral instance.plan(%s, t.task_id, t.queue) p
     group by t.queue, instance_id, number, type order by t.queue nulls first, min(place)
"""


@app.callback()
def instances(
    context: typer.Context, *, task: _Task = None, limit: Limit = 20, setup: Setup = "default", as_json: Json = False
) -> None:
    """Show the use and the cost of the rented instances. The cost is per hour, and has a lower bound."""
    if context.invoked_subcommand:
        return
    with session(setup) as connection:
        live, total, steps, waiting = (
            rows_of(connection, query, setup, task, task) for query in (_LIVE, _TOTAL, _STEPS, _WAITING)
        )
    if as_json:
        output.json_out({"setup": setup, "totals": total, "instances": live, "steps": steps, "waiting": waiting})
        return
    _show_totals(total)
    shown = live[:limit] if limit else live
    for title, what in (("Cores used", "cpu"), ("Memory used (MB)", "ram")):
        used = [(f"{row['instance_id']} {row['type']}", float(row[f"used_{what}"]), float(row[what])) for row in shown]
        output.bars(title, used)
    if len(shown) < len(live):
        output.say(f"{len(live) - len(shown):,} more instances: --limit 0 shows all")
    output.bars("Steps", [(row["state"], row["steps"]) for row in steps])
    if waiting:
        rows = [(row["steps"], row["first"], row["reason"] or "not scheduled yet") for row in waiting]
        output.table("Steps on no instance", ["steps", "first", "why"], rows)


def _show_totals(total: list[Row]) -> None:
    rows = [
        (row["task_id"], row["queue"], row["instances"], row["steps"], _percent(row["cpu_efficiency"]),
         _percent(row["ram_efficiency"]), _money(row["price"]), _money(row["lower_bound"]), _percent(row["gap"]))
        for row in total
    ]  # fmt: skip
    columns = ["task", "queue", "instances", "steps", "cores used %", "memory used %", "cost/h", "least cost/h"]
    output.table("Instances", [*columns, "above it %"], rows)


def _percent(part: object) -> float | None:
    return None if part is None else round(100 * float(str(part)), 1)


def _money(amount: object) -> str | None:
    return None if amount is None else f"{float(str(amount)):,.2f}"


@app.command()
def schedule(
    *,
    task: _Task = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show where the jobs of one task would be placed, and change nothing.")
    ] = False,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Pack the waiting steps of a task, or of all tasks, onto instances, and release instances without steps.

    Waiting jobs of cloud queues get steps first. `broker run` does this every 20 seconds.
    """
    if dry_run and task is None:
        raise typer.BadParameter("name the task", param_hint="--dry-run")
    with session(setup) as connection:
        if dry_run:
            rows = rows_of(connection, _PACKING, setup, task, setup)
            columns = {name: name for name in ("instance", "type", "steps", "cpu", "ram", "first")}
            output.records("Would be placed", rows, columns, as_json=as_json)
            return
        [done] = rows_of(connection, "call instance.schedule(%s, %s)", setup, task)
    _show_schedule(setup, done, as_json=as_json)


def _show_schedule(setup: str, done: Row, *, as_json: bool) -> None:
    counts = {name.removeprefix("p_"): number for name, number in done.items()}
    steps, requested = counted(counts["placed"], "step"), counted(counts["requested"], "instance")
    text = (
        f"{steps} placed, {requested} requested, {counts['released']:,} released;"
        f" waiting steps: {counts['waiting']:,}, too large for any type: {counts['unschedulable']:,}"
    )
    report(text, as_json=as_json, setup=setup, **counts)


@app.command()
def catalogue(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="CSV: name, vcpu, memory_gib, usd_per_hour; - for standard input."),
    ] = None,
    *,
    replace: Annotated[bool, typer.Option("--replace", help="Remove the types that FILE does not have.")] = False,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Load instance types from FILE, or the types that come with pgbroker: list prices of a public cloud.

    Types of the same name are changed. Other types stay, unless --replace removes them.
    """
    from psycopg.types.json import Jsonb

    from broker import catalogue, world

    unread: list[str] = []
    if file is None:
        found = catalogue.shipped_types()
    else:
        with reading(file) as stream:
            found = catalogue.types(stream, str(file), unread)
    with session() as connection, connection.transaction():
        world.load(connection, [{"instance_types": found}], setup, merge=True)
        if replace:
            types = Jsonb([{"name": name, **one} for name, one in found.items()])
            connection.execute("select resource.store(%s, 'instance_type', %s, 'true')", [setup, types])
    if unread:
        output.note(f"columns that are not read: {', '.join(unread)}; a step may get a machine that it does not need")
    text = f"{counted(len(found), 'instance type')} loaded into setup {setup}"
    report(text, as_json=as_json, setup=setup, types=len(found))
    if file is None and not as_json:
        output.say(catalogue.TYPES)


@app.command()
def explain(
    step: Annotated[int, typer.Argument(metavar="STEP", min=0, max=2**63 - 1, help="The step's id.")],
    *,
    limit: Limit = 20,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Explain why a step is on its instance, or why it fits on none and which new instance it would get."""
    with session(setup) as connection:
        rows = rows_of(connection, "select * from instance.explain_step(%s, %s)", setup, step)
    if as_json:
        output.json_out(rows)
        return
    *others, last = rows
    answer = next((row for row in rows if row["verdict"] == "first that suits"), last)
    where = f" instance {answer['instance_id']}" if answer["instance_id"] else ""
    kind = f" ({answer['type']})" if answer["type"] else ""
    output.say(f"step {step}: {answer['verdict']}{where}{kind}: {answer['reason']}")
    if others:
        shown = rows[: limit or None]
        some = "" if len(shown) == len(rows) else f": {len(shown)} of {len(rows)} (--limit 0: all)"
        columns = ["instance_id", "type", "verdict", "reason"]
        cells = [[row[name] for name in columns] for row in shown]
        output.table(f"Instances{some}", ["instance", *columns[1:]], cells)
