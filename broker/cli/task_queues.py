"""`broker task-queues`: the TaskQueues of a setup, or the TaskQueues that match a resource."""

import typer

from broker.cli.lists import PANEL, ROWS, Limit
from broker.cli.shared import output
from broker.cli.shared.common import Json
from broker.cli.shared.resource import Resource, takes_resource
from broker.cli.shared.session import Setup, require_setup, session
from broker.operate.reading import Row, rows_of
from broker.words import REASONS, counted

app = typer.Typer()

_ENOUGH = 10**9  # seconds of CPU time, more than any CPU bucket
_CLAUSES = "taskqueue.requirements_in_words(requirements) ->> 'Clauses' as clauses"


@app.command("task-queues", rich_help_panel=PANEL)
@takes_resource
def task_queues(described: Resource, limit: Limit = None, setup: Setup = "default", as_json: Json = False) -> None:
    """List TaskQueues, or those that match a resource. The highest CPU bucket and priority come first.

    A resource without a CPU time has enough for every job: `broker task-queues --site NORTH`.
    """
    from broker.cli.agent import note_unknown_sites
    from broker.client.call import jsonb

    with session() as connection:
        if described:
            query = f"select *, {_CLAUSES}, 'open' as state, null as reason from taskqueue.matching_queues(%s, %s)"
            rows = rows_of(connection, query, setup, jsonb({"CPUTime": _ENOUGH} | described))
        else:
            query = f"""select task_queue_id, cpu_time, priority, jobs, requirements, {_CLAUSES}, state, reason
                         from monitor.task_queue where setup = %s
                        order by cpu_time desc, priority desc, task_queue_id"""
            rows = rows_of(connection, query, setup)
        if not rows:
            require_setup(connection, setup)
    note_unknown_sites(setup, described, [])
    if as_json:
        output.json_out(rows[: limit or None])
    else:
        _show(rows, (ROWS if limit is None else limit) or len(rows))


def _show(rows: list[Row], limit: int) -> None:
    most = max((row["jobs"] for row in rows), default=0) or 1
    cells = [
        (row["task_queue_id"], row["cpu_time"], asked["OwnerGroup"], asked["OwnerDN"],
         *(output.first_of(asked.get(key)) for key in ("JobTypes", "Sites", "Platforms")),
         ", ".join(asked.get("Tags", [])) or None, row["clauses"], _memory(asked), row["priority"], row["state"],
         REASONS.get(row["reason"], row["reason"]), row["jobs"], "█" * -(-20 * row["jobs"] // most))
        for row in rows[:limit]
        for asked in [row["requirements"]]
    ]  # fmt: skip
    columns = [
        "TaskQueue", "cpu time", "group", "owner", "job types", "sites", "platforms", "tags", "clauses", "RAM MB",
        "priority", "state", "reason", "jobs", "",
    ]  # fmt: skip
    found = {name: {row[place] for row in cells} for place, name in enumerate(columns)}
    kept = [place for place, name in enumerate(columns) if found[name] != {None}]
    usual = [name for name, values in found.items() if values <= {"any", "open"}]
    drop = ["", *usual, "priority", "owner", "job types", "state", "RAM MB", "reason"]
    output.table("TaskQueues", [columns[place] for place in kept], [[row[p] for p in kept] for row in cells], drop=drop)
    if rows:
        jobs = sum(row["jobs"] for row in rows)
        shown = "" if len(rows) <= limit else f", {limit} shown (--limit)"
        output.say(f"{counted(len(rows), 'TaskQueue')}{shown}, {counted(jobs, 'job')} waiting")
    if any(row["reason"] == "unknown" for row in rows[:limit]):
        output.note("reason unknown: it is not found out yet; `broker summarize` finds it out")


def _memory(requirements: Row) -> str | None:
    """The memory that the jobs ask for, as a minimum, a maximum, or a range."""
    least, most = requirements.get("MinRAM"), requirements.get("MaxRAM")
    if least is None:
        return None if most is None else f"up to {most:g}"
    return f"{least:g}" if most is None else f"{least:g} to {most:g}"
