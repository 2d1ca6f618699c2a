"""`broker task-queues`: the TaskQueues of a setup, or those that match a resource."""

import typer

from broker.cli import output
from broker.cli.common import Json
from broker.cli.lists import PANEL, ROWS, Limit
from broker.cli.resource import Resource, takes_resource
from broker.cli.session import Setup, require_setup, session
from broker.operate.reading import Row, rows_of

app = typer.Typer()


@app.command("task-queues", rich_help_panel=PANEL)
@takes_resource
def task_queues(described: Resource, limit: Limit = None, setup: Setup = "default", as_json: Json = False) -> None:
    """List TaskQueues by CPU bucket and priority, the highest first, or those that match the resource described."""
    from broker.client.call import jsonb

    with session() as connection:
        if described:
            query = "select *, 'open' as state from taskqueue.matching_queues(%s, %s)"
            rows = rows_of(connection, query, setup, jsonb(described))
        else:
            query = (
                "select task_queue_id, cpu_time, priority, jobs, requirements, state from monitor.task_queue"
                " where setup = %s order by cpu_time desc, priority desc, task_queue_id"
            )
            rows = rows_of(connection, query, setup)
        if not rows:
            require_setup(connection, setup)
    if as_json:
        output.json_out(rows[: limit or None])
    else:
        _show(rows, (ROWS if limit is None else limit) or len(rows))


def _show(rows: list[Row], limit: int) -> None:
    most = max((row["jobs"] for row in rows), default=0) or 1
    cells = [
        (
            row["task_queue_id"],
            row["cpu_time"],
            row["requirements"]["OwnerGroup"],
            ", ".join(row["requirements"].get("JobTypes", ["any"])[:2]),
            len(row["requirements"].get("Sites", [])) or "any",
            len(row["requirements"].get("Platforms", [])) or "any",
            row["priority"],
            row["state"],
            row["jobs"],
            "█" * -(-20 * row["jobs"] // most),
        )
        for row in rows[:limit]
    ]
    columns = ["TaskQueue", "cpu time", "group", "job types", "sites", "platforms", "priority", "state", "jobs", ""]
    output.table("TaskQueues", columns, cells, drop=["", "platforms", "sites", "job types"])
    if rows:
        jobs = sum(row["jobs"] for row in rows)
        shown = "" if len(rows) <= limit else f", {limit} shown (--limit)"
        output.say(f"{output.counted(len(rows), 'TaskQueue')}{shown}, {output.counted(jobs, 'job')} waiting")
