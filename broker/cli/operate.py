"""What an operator asks and says of single jobs, and holds: `broker job`, `cancel`, `retry`, `hold`, `let-go`."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli import explanation, output
from broker.cli.common import Json
from broker.cli.jobs import PANEL, Job
from broker.cli.output import counted
from broker.cli.session import Row, Setup, require_setup, rows_of, session

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[Any]

app = typer.Typer()

_Kind = Annotated[str, typer.Argument(metavar="KIND", help="job, owner or queue (a TaskQueue).")]
_Name = Annotated[str, typer.Argument(metavar="NAME", help="A job's or queue's id, an owner's OwnerDN.")]

_WAITING = ("waiting", "held")  # states in monitor.job of a job that is in a TaskQueue


@app.command(rich_help_panel=PANEL)
def job(
    number: Job,
    *,
    every_timeout: Annotated[
        bool, typer.Option("--all", help="Also the timeouts that never end it, and why they do not.")
    ] = False,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Say where a job is, what happened to it, which timeouts it goes towards, and what it waits for."""
    with session() as connection:
        require_setup(connection, setup)
        with connection.transaction():  # one snapshot: it may be moving
            connection.execute("set transaction isolation level repeatable read, read only")
            known = _known(connection, setup, number)
    if not every_timeout:
        known["timeouts"] = [row for row in known["timeouts"] if row["verdict"] != "never"]
    if as_json:
        output.json_out(known)
    else:
        _show(known, every_timeout=every_timeout)


def _known(connection: "Connection", setup: str, number: int) -> Row:
    """What the database knows of a job. Raises NoSuchThing where it knows nothing.

    `brokered`: where brokerage made it, or a world brought it; `in_task_queues`: where it waits, is leased or has ended
    there; `task_queue`: the one that it waits in; `lease`: who has it; `instance`: what stands for it among the jobs of
    rented machines. Each is None where there is no such thing.
    """
    from broker.errors import NoSuchThing

    def rows(view: str, order: str) -> list[Row]:
        query = f"select * from monitor.{view} where setup = %s and job_id = %s order by {order}"
        return [_of_the_job(row) for row in rows_of(connection, query, setup, number)]

    brokered = next(iter(rows("brokered_job", "1")), None)
    state = next(iter(rows("job", "1")), None)
    history = rows("job_history", "at, number")
    events = rows("job_event", "at, attempt, event <> 'matched', event <> 'running'")
    if not (brokered or state or history or events):
        raise NoSuchThing(f"there is no job {number} in setup {setup}", "it was never made, or is forgotten", "PB004")
    waits = state is not None and state["state"] in _WAITING
    queue = "select * from monitor.task_queue where setup = %s and task_queue_id = %s"
    timeouts = "select * from lifecycle.explain_timeouts(%s, %s)"
    rented = "select * from monitor.instance_job where setup = %s and taskqueue_job_id = %s"
    return {
        "setup": setup,
        "job_id": number,
        "brokered": brokered,
        "in_task_queues": state,
        "task_queue": rows_of(connection, queue, setup, state["task_queue_id"])[0] if state and waits else None,
        "lease": next(iter(rows("lease", "1")), None),
        "instance": next(iter(rows_of(connection, rented, setup, number)), None),
        "history": history,
        "events": events,
        "timeouts": rows_of(connection, timeouts, setup, number) if brokered else [],
        "seen_lately": explanation.seen_lately(connection, setup, number) if waits else [],
    }


def _of_the_job(row: Row) -> Row:
    return {key: value for key, value in row.items() if key not in ("setup", "job_id")}


def _show(known: Row, *, every_timeout: bool) -> None:
    """Show a job: where it is, its way there, and where it goes."""
    number, brokered, lease = known["job_id"], known["brokered"], known["lease"]
    asked = (lease or known["task_queue"] or {}).get("requirements") or {}
    output.fields(
        f"Job {number}",
        {name.replace("_", " "): value for name, value in (brokered or {}).items()}
        | {"in TaskQueues": _place(known), "leased": lease and _holder(lease)}
        | ({"on instance": _rented(known["instance"])} if known["instance"] else {})
        | {
            "kill asked": lease and lease["kill_reason"],
            "owner": asked.get("OwnerDN"),
            "group": asked.get("OwnerGroup"),
        },
    )
    if brokered or known["history"]:
        _table("History", known["history"], at="at", from_status="from", to_status="to", role_name="who", why="why")
    if known["events"]:
        columns = {"task_queue_id": "queue", "site": "site", "grid_ce": "CE", "role_name": "who"}
        _table("In TaskQueues", known["events"], at="at", attempt="attempt", event="event", **columns)
    if brokered and (every_timeout or brokered["ended"] is None):
        title = "Timeouts" if every_timeout else "Timeouts (--all: also those that never apply)"
        columns = {"rule": "rule", "verdict": "verdict", "action": "action", "due_at": "due at", "why": "why"}
        _table(title, known["timeouts"], **columns)
    if known["seen_lately"]:
        explanation.show_seen_lately(number, known["seen_lately"])


def _table(title: str, rows: list[Row], **columns: str) -> None:
    """Print those columns of rows, by the names that people read."""
    output.table(title, list(columns.values()), [[row[name] for name in columns] for row in rows], drop=["CE"])


def _place(known: Row) -> str | None:
    """Where a job is among TaskQueues, or came to its end there."""
    state, queue = known["in_task_queues"], known["task_queue"]
    if state is None:
        return None if known["brokered"] else "it has ended and is forgotten, but for its history"
    since = output.moment(state["since"]) if state["since"] else "before the history that is kept"
    attempts = counted(state["attempts"], "attempt")
    if queue:
        there = f"in TaskQueue {queue['task_queue_id']} ({queue['state']}), user priority {state['user_priority']}"
        return f"{state['state']} since {since}, {there}, {attempts} before"
    return f"{state['state']} {'since' if known['lease'] else 'at'} {since}, {attempts}"


def _rented(job: Row) -> str:
    """What stands for a job among those of rented machines, and why it is where it is."""
    where = f" on instance {job['instance_id']}" if job["instance_id"] else ""
    return (
        f"as job {job['job_id']} of instances: {job['state']}{where}; {job['reason'] or 'no schedule has looked at it'}"
    )


def _holder(lease: Row) -> str:
    """Who has a job, since when and until when."""
    where = ", ".join(filter(None, [lease["site"], lease["grid_ce"]])) or "a site that it did not name"
    heard = f"heard of at {output.moment(lease['reported_at'])}" if lease["reported_at"] else "not heard of yet"
    until = f"{'expired' if lease['expired'] else 'expires'} at {output.moment(lease['expires_at'])}"
    return f"attempt {lease['attempt']}, to {lease['role_name']} at {where}; {heard}, {until}"


@app.command(rich_help_panel=PANEL)
def cancel(
    jobs: Annotated[
        list[int] | None, typer.Argument(metavar="JOB", max=2**63 - 1, help="Ids of jobs; all or none.")
    ] = None,
    *,
    task: Annotated[
        int | None, typer.Option(max=2**63 - 1, help="All jobs of a task, which is brokered no more (status aborted).")
    ] = None,
    reason: Annotated[str, typer.Option(help="What the agents are told.")] = "cancelled",
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """End jobs that run nowhere yet, and have the agents of leased ones kill theirs."""
    _jobs_or_task(jobs, task)
    with session() as connection:
        if task is None:
            query = "select * from lifecycle.cancel_jobs(%s, %s::bigint[], %s)"
            done = rows_of(connection, query, setup, jobs, reason)
        else:
            done = rows_of(connection, "select * from lifecycle.cancel_task(%s, %s, %s)", setup, task, reason)
    if as_json:
        output.json_out(done)
    elif task is None:
        for row in done:
            output.say(f"job {row['job_id']}: {row['answer']}")
    else:
        answers = Counter(row["answer"] for row in done)
        of_jobs = ", ".join(f"{counted(number, 'job')} {answer}" for answer, number in sorted(answers.items()))
        output.say(f"task {task} aborted: {of_jobs or 'it had no job left'}")


@app.command(rich_help_panel=PANEL)
def retry(
    jobs: Annotated[
        list[int] | None, typer.Argument(metavar="JOB", max=2**63 - 1, help="Ids of jobs; all or none.")
    ] = None,
    *,
    task: Annotated[int | None, typer.Option(max=2**63 - 1, help="All failed jobs of a task.")] = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Give the work of failed, cancelled or closed jobs back to their tasks, which get new jobs of it."""
    _jobs_or_task(jobs, task)
    with session() as connection:
        require_setup(connection, setup)
        if task is None:
            done = rows_of(connection, "select * from lifecycle.retry_jobs(%s, %s::bigint[])", setup, jobs)
        else:
            done = rows_of(connection, "select * from lifecycle.retry_task(%s, %s)", setup, task)
    if as_json:
        output.json_out(done)
    elif task is None:
        for row in done:
            output.say(f"job {row['job_id']}: {row['answer']}")
    else:
        output.say(f"task {task}: {counted(len(done), 'failed job')} to be made again")


@app.command(rich_help_panel=PANEL)
def hold(kind: _Kind, name: _Name, setup: Setup = "default", as_json: Json = False) -> None:
    """Keep a waiting job, an owner's jobs (those to come, too) or a TaskQueue from being matched."""
    _set_held(kind, name, setup, held=True, as_json=as_json)


@app.command("let-go", rich_help_panel=PANEL)
def let_go(kind: _Kind, name: _Name, setup: Setup = "default", as_json: Json = False) -> None:
    """Let go what is held: each on its own, a job stays held by its TaskQueue or its owner."""
    _set_held(kind, name, setup, held=False, as_json=as_json)


def _jobs_or_task(jobs: list[int] | None, task: int | None) -> None:
    if bool(jobs) == (task is not None):
        raise typer.BadParameter("name jobs, or a task: one of both", param_hint="JOB... | --task")


def _set_held(kind: str, name: str, setup: str, *, held: bool, as_json: bool) -> None:
    query = "select taskqueue.hold(%s, %s, %s)" if held else "select taskqueue.resume(%s, %s, %s)"
    with session() as connection:
        require_setup(connection, setup)  # else the call makes it
        [(changed,)] = connection.execute(query, (setup, kind, name)).fetchall()
    if as_json:
        output.json_out({"setup": setup, "kind": kind, "name": name, "held": held, "changed": changed})
    else:
        things = counted(changed, "job" if kind == "job" else "queue")
        to_come = ", and those to come" if kind == "owner" and held else ""
        output.say(f"{kind} {name} {'held' if held else 'let go'}: {things} changed{to_come}")
