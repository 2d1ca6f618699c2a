"""Commands for single jobs, owners and TaskQueues: `broker job`, `cancel`, `retry`, `hold`, `resume`."""

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from broker.acts import CANCEL_JOBS, CANCEL_TASK, HOLD, RESUME, RETRY_JOBS, RETRY_TASK, USUAL_REASON
from broker.cli import own
from broker.cli.explain import job as explained
from broker.cli.shared import listing, output
from broker.cli.shared.common import Json
from broker.cli.shared.done import report, tells
from broker.cli.shared.session import Job, Setup, elsewhere, require_setup, session
from broker.cli.submit import PANEL
from broker.operate.reading import Row, retry_explanation, rows_of, seen_lately
from broker.words import REASONS, counted

if TYPE_CHECKING:
    from broker.database import Connection

app = typer.Typer()

_Kind = Annotated[str, typer.Argument(metavar="KIND", help="job, owner or task-queue.")]
_Name = Annotated[str, typer.Argument(metavar="NAME", help="The id of a job or TaskQueue, or the OwnerDN of an owner.")]
_Jobs = Annotated[
    list[int] | None, typer.Argument(metavar="JOB", min=0, max=2**63 - 1, help="Ids of jobs. All are changed, or none.")
]

_WAITING = ("waiting", "held")  # states in monitor.job of a job that is in a TaskQueue


@app.command(rich_help_panel=PANEL)
def job(
    number: Job,
    *,
    every_timeout: Annotated[
        bool, typer.Option("--all", help="Show timeouts that never apply to the job, too, and why.")
    ] = False,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Show where a job is, and why it waits. It has the history of the job and the timeouts ahead of it, too.

    A submitter who is no viewer sees its own jobs.
    """

    def everybodys(connection: "Connection") -> None:
        require_setup(connection, setup)
        with elsewhere(connection, "job", number, setup), connection.transaction():
            # one snapshot: the job may be changing state
            connection.execute("set transaction isolation level repeatable read, read only")
            known = _known(connection, setup, number)
        if not every_timeout:
            known["timeouts"] = [row for row in known["timeouts"] if row["verdict"] != "never"]
        if as_json:
            output.json_out(known)
        else:
            _show(known, listing.moment_of(connection, setup), every_timeout=every_timeout)

    def own_job(connection: "Connection") -> None:
        known = own.job(connection, setup, number)
        if as_json:
            output.json_out(known)
        else:
            own.show_job(known, listing.moment_of(connection, setup))

    with session() as connection:
        own.instead(lambda: everybodys(connection), lambda: own_job(connection))


def _known(connection: "Connection", setup: str, number: int) -> Row:
    """Everything that the database holds about a job. Raises NoSuchThing when it holds nothing.

    `brokered`: the job of brokerage or of a loaded world; `in_task_queues`: its state in TaskQueues; `task_queue`:
    the TaskQueue that it waits in; `waiting`: why it waits, in one word; `lease`: its agent; `instance`: its step on
    rented instances. Each may be None.
    """
    from broker.errors import NoSuchThing

    def rows(view: str, order: str) -> list[Row]:
        query = f"select * from monitor.{view} where setup = %s and job_id = %s order by {order}"
        return [_of_the_job(row) for row in rows_of(connection, query, setup, number)]

    brokered = next(iter(rows("brokered_job", "1")), None)
    state = next(iter(rows("job", "1")), None)
    history = rows("job_history", "at, number")
    events = rows("job_event", "at, attempt_number, event <> 'matched', event <> 'running'")
    if not (brokered or state or history or events):
        fault = f"there is no job {number} in setup {setup}"
        raise NoSuchThing(fault, "it was never made, or is no longer kept", "PB004")
    waits = state is not None and state["state"] in _WAITING
    queue = "select * from monitor.task_queue where setup = %s and task_queue_id = %s"
    timeouts = "select * from lifecycle.explain_timeouts(%s, %s)"
    rented = "select * from monitor.instance_step where setup = %s and job_id = %s"
    return {
        "setup": setup,
        "job_id": number,
        "brokered": brokered,
        "in_task_queues": state,
        "waiting": next(iter(rows("waiting_job", "1")), None) if waits else None,
        "task_queue": rows_of(connection, queue, setup, state["task_queue_id"])[0] if state and waits else None,
        "lease": next(iter(rows("lease", "1")), None),
        "instance": next(iter(rows_of(connection, rented, setup, number)), None),
        "history": history,
        "events": events,
        "retry_rules": retry_explanation(connection, setup, number),
        "timeouts": rows_of(connection, timeouts, setup, number) if brokered else [],
        "seen_lately": seen_lately(connection, setup, number) if waits else [],
    }


def _of_the_job(row: Row) -> Row:
    return {key: value for key, value in row.items() if key not in ("setup", "job_id")}


def _show(known: Row, now: datetime, *, every_timeout: bool) -> None:
    """Show a job: its state, its history and its timeouts."""
    number, brokered, lease = known["job_id"], known["brokered"], known["lease"]
    state = known["in_task_queues"] or {}
    output.fields(
        f"Job {number}",
        {name.replace("_", " "): value for name, value in (brokered or {}).items() if name != "retry_at"}
        | {"in TaskQueues": _place(known, now), "leased": lease and _holder(lease, now)}
        | {"error reported": lease and lease["error_text"]}
        | ({"after its failure": _after_failure(known, now)} if known["retry_rules"] else {})
        | ({"on instance": _rented(known["instance"])} if known["instance"] else {})
        | ({"reason": _reason(known["waiting"], now)} if known["waiting"] else {})
        | {
            "kill requested": lease and lease["kill_reason"],
            "owner": state.get("owner_dn"),
            "group": state.get("owner_group"),
        },
        now=now,
    )
    if brokered or known["history"]:
        _table(
            "History", known["history"], now, at="at", from_status="from", to_status="to", role_name="who", why="why"
        )
    if known["events"]:
        columns = {"task_queue_id": "TaskQueue", "site": "site", "grid_ce": "CE", "role_name": "who"}
        own.show_events(known["events"], columns, now)
    if len(known["retry_rules"]) > 1:
        columns = {"position": "position", "name": "rule", "verdict": "verdict", "decision": "decision", "why": "why"}
        _table("Retry rules, by the present settings", known["retry_rules"], now, **columns)
    if brokered and (every_timeout or brokered["ended"] is None):
        title = "Timeouts" if every_timeout else "Timeouts (--all: also timeouts that never apply)"
        columns = {"rule": "rule", "verdict": "verdict", "action": "action", "due_at": "due at", "why": "why"}
        _table(title, known["timeouts"], now, **columns)
    if known["seen_lately"]:
        explained.show_seen_lately(number, known["seen_lately"], now)


def _after_failure(known: Row, now: datetime) -> str:
    """The decision of the retry rules on the last failed end of a job, and the number of the failure."""
    failed = [row for row in known["events"] if row["error_class"]][-1]
    until = (known["in_task_queues"] or {}).get("not_before")
    back = (known["brokered"] or {}).get("retry_at")
    rule = failed["retry_rule"] or "no retry rule decided, so the job ended"
    held = f", held until {output.moment(until, now)}" if until else ""
    held += f", its part goes back to the task at {output.moment(back, now)}" if back else ""
    return f"{rule}{held} ({known['retry_rules'][0]['why']})"


def _table(title: str, rows: list[Row], now: datetime, **columns: str) -> None:
    """Print the columns of rows that are named, under their headings."""
    output.records(title, rows, columns, as_json=False, now=now)


def _place(known: Row, now: datetime) -> str | None:
    """The state of a job in TaskQueues, in words."""
    state, queue = known["in_task_queues"], known["task_queue"]
    if state is None:
        return None if known["brokered"] else "ended; only its history is kept"
    since = output.moment(state["since"], now) if state["since"] else "before the history that is kept"
    attempts = counted(state["attempts"], "attempt")
    if queue:
        there = f"in TaskQueue {queue['task_queue_id']} ({queue['state']}), user priority {state['user_priority']}"
        return f"{state['state']} since {since}, {there}, {attempts} before"
    if known["lease"]:
        return f"{state['state']} since {since}, {attempts}"
    where = f" at {state['site']}" if state["site"] else ""
    return f"{state['state']}{where} at {since}, user priority {state['user_priority']}, {attempts}"


def _reason(waiting: Row, now: datetime) -> str:
    """Why a job waits: the word, its meaning, and the kind of resource that fits or comes nearest."""
    from broker.json_text import json_text

    if waiting["reason"] == "unknown":
        return "not found out yet: `broker summarize` finds it out"
    why = f"{REASONS[waiting['reason']]}: {waiting['meaning']}"
    if not waiting["resource"]:
        return why
    seen = output.moment(waiting["resource_seen_at"], now)
    kind = "nearest" if waiting["reason"] == "too_large" else "fits"
    return f"{why} ({kind}: {json_text(waiting['resource'])}, last seen {seen})"


def _rented(job: Row) -> str:
    """The state of a job on rented instances, in words."""
    where = f" on instance {job['instance_id']}" if job["instance_id"] else ""
    return f"as job {job['job_id']} of instances: {job['state']}{where}; {job['reason'] or 'not scheduled yet'}"


def _holder(lease: Row, now: datetime) -> str:
    """The agent that has a job, with the beginning and end of the lease."""
    where = ", ".join(filter(None, [lease["site"], lease["grid_ce"], lease["host"]])) or "a site without a name"
    reported = f"reported at {output.moment(lease['reported_at'], now)}" if lease["reported_at"] else "no report yet"
    until = f"{'expired' if lease['expired'] else 'expires'} at {output.moment(lease['expires_at'], now)}"
    return f"attempt {lease['attempt_number']}, to {lease['role_name']} at {where}; {reported}, {until}"


@app.command(rich_help_panel=PANEL)
@tells(CANCEL_JOBS)
def cancel(
    jobs: _Jobs = None,
    *,
    task: Annotated[
        int | None, typer.Option(min=0, max=2**63 - 1, help=f"Cancel this task. {CANCEL_TASK.effect}")
    ] = None,
    reason: Annotated[str, typer.Option(help=f"{CANCEL_JOBS.arguments['reason']}.")] = USUAL_REASON,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Cancel jobs."""
    _jobs_or_task(jobs, task)
    with session() as connection:
        if task is None:
            done = rows_of(connection, CANCEL_JOBS.statement, setup, jobs, reason)
        else:
            done = rows_of(connection, CANCEL_TASK.statement, setup, task, reason)
    text = f"task {task} aborted: {_answers(done) or 'no job was left'}"
    _show_answers(done, task is None, as_json=as_json, text=text)


@app.command(rich_help_panel=PANEL)
@tells(RETRY_JOBS)
def retry(
    jobs: _Jobs = None,
    *,
    task: Annotated[int | None, typer.Option(min=0, max=2**63 - 1, help="Retry all failed jobs of this task.")] = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Retry failed, cancelled or closed jobs."""
    _jobs_or_task(jobs, task)
    with session(setup) as connection:
        if task is None:
            done = rows_of(connection, RETRY_JOBS.statement, setup, jobs)
        else:
            done = rows_of(connection, RETRY_TASK.statement, setup, task)
    text = f"task {task}: {counted(len(done), 'failed job')} will be made again"
    _show_answers(done, task is None, as_json=as_json, text=text)


@app.command(rich_help_panel=PANEL)
@tells(HOLD)
def hold(kind: _Kind, name: _Name, setup: Setup = "default", as_json: Json = False) -> None:
    """Hold a waiting job, an owner or a TaskQueue. Holding an owner holds the present and future jobs of the owner."""
    _set_held(kind, name, setup, held=True, as_json=as_json)


@app.command(rich_help_panel=PANEL)
@tells(RESUME)
def resume(kind: _Kind, name: _Name, setup: Setup = "default", as_json: Json = False) -> None:
    """Resume a held job, owner or TaskQueue."""
    _set_held(kind, name, setup, held=False, as_json=as_json)


def _jobs_or_task(jobs: list[int] | None, task: int | None) -> None:
    if bool(jobs) == (task is not None):
        raise typer.BadParameter("name jobs or a task, not both", param_hint="JOB... | --task")


def _show_answers(done: list[Row], of_jobs: bool, *, as_json: bool, text: str) -> None:
    """Show the result for each job, or one line for all jobs of a task."""
    lines = [f"job {row['job_id']}: {row['answer']}" for row in done] if of_jobs else [text]
    if as_json:
        output.json_out(done)
    else:
        output.say(*lines)


def _answers(done: list[Row]) -> str:
    answers = Counter(row["answer"] for row in done)
    return ", ".join(f"{counted(number, 'job')} {answer}" for answer, number in sorted(answers.items()))


def _set_held(kind: str, name: str, setup: str, *, held: bool, as_json: bool) -> None:
    act = HOLD if held else RESUME
    kind = kind.replace("-", "_")
    with session() as connection:
        require_setup(connection, setup)  # the call would create it
        [(changed,)] = connection.execute(act.statement, (setup, kind, name)).fetchall()
        there = "select from monitor.task_queue where setup = %s and owner_dn = %s limit 1"
        known = changed or kind != "owner" or rows_of(connection, there, setup, name)
    things = counted(changed, "job" if kind == "job" else "TaskQueue")
    future = ", and all future ones" if kind == "owner" and held else ""
    thing = "TaskQueue" if kind == "task_queue" else kind
    text = f"{thing} {name} {'held' if held else 'resumed'}: {things} changed{future}"
    report(text, as_json=as_json, setup=setup, kind=kind, name=name, held=held, changed=changed)
    if not known:
        output.note(f"no TaskQueue of setup {setup} has the owner {name}")
