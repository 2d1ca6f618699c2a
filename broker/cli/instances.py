"""`broker instances`: rented machines and the jobs packed onto them; schedules, catalogues of types, explanations."""

import time
from pathlib import Path
from typing import Annotated

import typer

from broker.cli import output
from broker.cli.brokerage import Limit
from broker.cli.common import Json
from broker.cli.files import reading
from broker.cli.session import Setup, require_setup, session
from broker.operate.reading import Row, rows_of

app = typer.Typer(invoke_without_command=True)

_Task = Annotated[int | None, typer.Option(max=2**63 - 1, help="Only instances and jobs of this task.")]
_JOBS = """
    select state, count(*) as jobs, sum(cpu) as cpu, sum(ram) as ram
      from monitor.instance_job
     where setup = %s and (%s::bigint is null or task_id = %s)
     group by state order by state
"""
_WAITING = """
    select regexp_replace(reason, '^job [0-9]+ ', '') as reason, count(*) as jobs, min(job_id) as first
      from monitor.instance_job
     where setup = %s and (%s::bigint is null or task_id = %s) and state in ('waiting', 'unschedulable')
     group by 1 order by count(*) desc, min(job_id)
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
    select coalesce(instance_id::text, 'new ' || number) as instance, type, count(*) as jobs, sum(cpu) as cpu,
           sum(ram) as ram, min(job_id) as first
      from instance.tasks_to_schedule(%s, %s) t cross join lateral instance.plan(%s, t.task_id, t.queue) p
     group by t.queue, instance_id, number, type order by t.queue nulls first, min(place)
"""


@app.callback()
def instances(
    context: typer.Context, *, task: _Task = None, limit: Limit = 20, setup: Setup = "default", as_json: Json = False
) -> None:
    """Show how full the rented instances are, what they cost an hour, and a lower bound of that cost."""
    if context.invoked_subcommand:
        return
    with session() as connection:
        require_setup(connection, setup)
        live, total, jobs, waiting = (
            rows_of(connection, query, setup, task, task) for query in (_LIVE, _TOTAL, _JOBS, _WAITING)
        )
    if as_json:
        output.json_out({"setup": setup, "totals": total, "instances": live, "jobs": jobs, "waiting": waiting})
        return
    _show_totals(total)
    shown = live[:limit] if limit else live
    output.bars(
        "Cores used",
        [(f"{one['instance_id']} {one['type']}", float(one["used_cpu"]), float(one["cpu"])) for one in shown],
    )
    output.bars(
        "Memory used (MB)",
        [(f"{one['instance_id']} {one['type']}", float(one["used_ram"]), float(one["ram"])) for one in shown],
    )
    if len(shown) < len(live):
        output.say(f"{len(live) - len(shown):,} more instances: --limit 0 shows all")
    output.bars("Jobs", [(row["state"], row["jobs"]) for row in jobs])
    if waiting:
        rows = [(row["jobs"], row["first"], row["reason"] or "not scheduled yet") for row in waiting]
        output.table("Jobs on no instance", ["jobs", "first", "why"], rows)


def _show_totals(total: list[Row]) -> None:
    rows = [
        (
            row["task_id"],
            row["queue"],
            row["instances"],
            row["jobs"],
            _percent(row["cpu_efficiency"]),
            _percent(row["ram_efficiency"]),
            _money(row["price"]),
            _money(row["lower_bound"]),
            _percent(row["gap"]),
        )
        for row in total
    ]
    columns = [
        "task",
        "queue",
        "instances",
        "jobs",
        "cores used %",
        "memory used %",
        "cost/h",
        "least cost/h",
        "above it %",
    ]
    output.table("Instances", columns, rows)


def _percent(part: object) -> float | None:
    return None if part is None else round(100 * float(str(part)), 1)


def _money(amount: object) -> float | None:
    return None if amount is None else round(float(str(amount)), 2)


@app.command()
def schedule(
    *,
    task: _Task = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show where the jobs of one task would be placed, and change nothing.")
    ] = False,
    every: Annotated[
        float | None, typer.Option(help="Repeat, with this many seconds (at least 0.1) between two schedules.")
    ] = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Pack the waiting jobs of a task, or of all tasks, onto instances, and release instances without jobs.

    Waiting jobs of cloud queues are added first. Run it with --every beside the JobAgents.
    """
    if dry_run and task is None:
        raise typer.BadParameter("name the task", param_hint="--dry-run")
    if every is not None and (dry_run or not 0.1 <= every <= 86_400):  # nan is neither
        wrong = "a dry run is one schedule" if dry_run else f"{every:g} is not between 0.1 and 86400 seconds"
        raise typer.BadParameter(wrong, param_hint="--every")
    with session() as connection:
        require_setup(connection, setup)
        if dry_run:
            rows = rows_of(connection, _PACKING, setup, task, setup)
            if as_json:
                output.json_out(rows)
            else:
                columns = ["instance", "type", "jobs", "cpu", "ram", "first"]
                output.table("Would be placed", columns, [[row[name] for name in columns] for row in rows])
            return
    _again(setup, task, every, as_json=as_json)


def _again(setup: str, task: int | None, every: float | None, *, as_json: bool) -> None:
    """Schedule once or repeatedly. Repetition waits for a server that does not answer."""
    import psycopg

    from broker.errors import ConnectError

    shown: Row | None = None
    while True:
        try:
            with session() as connection:
                while True:
                    [done] = rows_of(connection, "call instance.schedule(%s, %s)", setup, task)
                    if done != shown:
                        _show_schedule(setup, done, as_json=as_json)
                    if every is None:
                        return
                    shown = done
                    time.sleep(every)
        except (psycopg.OperationalError, ConnectError) as error:
            if every is None:
                raise
            output.note(f"{str(error).splitlines()[0]}; trying again")
            time.sleep(every)


def _show_schedule(setup: str, done: Row, *, as_json: bool) -> None:
    counts = {name.removeprefix("p_"): number for name, number in done.items()}
    if as_json:
        output.json_out({"setup": setup, **counts})
    else:
        output.say(
            f"{output.counted(counts['placed'], 'job')} placed,"
            f" {output.counted(counts['requested'], 'instance')} requested, {counts['released']:,} released;"
            f" waiting jobs: {counts['waiting']:,}, too large for any type: {counts['unschedulable']:,}"
        )


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
    """Load instance types from FILE, or those that come with pgbroker: list prices of a public cloud.

    Types of the same name are changed. Other types stay, unless --replace removes them.
    """
    from psycopg.types.json import Jsonb

    from broker import world
    from broker.synthetic import catalogue

    if file is None:
        found = catalogue.shipped_types()
    else:
        with reading(file) as stream:
            found = catalogue.types(stream, str(file))
    with session() as connection, connection.transaction():
        world.load(connection, [{"instance_types": found}], setup, merge=True)
        if replace:
            connection.execute(
                "select resource.store(%s, 'instance_type', %s, 'true')",
                [setup, Jsonb([{"name": name, **one} for name, one in found.items()])],
            )
    if as_json:
        output.json_out({"setup": setup, "types": len(found)})
    else:
        output.say(f"{output.counted(len(found), 'instance type')} loaded into setup {setup}")
        if file is None:
            output.say(catalogue.TYPES)


@app.command()
def explain(
    job: Annotated[int, typer.Argument(metavar="JOB", max=2**63 - 1, help="The job's id.")],
    *,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Explain why a job is on its instance, or why it fits on none and which new instance it would get."""
    with session() as connection:
        require_setup(connection, setup)
        rows = rows_of(connection, "select * from instance.explain_job(%s, %s)", setup, job)
    if as_json:
        output.json_out(rows)
    else:
        columns = ["instance_id", "type", "verdict", "reason"]
        output.table(f"Job {job}", columns, [[row[name] for name in columns] for row in rows])
