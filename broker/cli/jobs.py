"""`broker submit`, `match`, `explain`, `queues`, and what an agent says of its job: `report`, `finish`, `release`."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from broker.cli import brokerage, explanation, output
from broker.cli.common import Json
from broker.cli.files import reading
from broker.cli.resource import Resource, takes_resource
from broker.cli.session import Setup, ready, require_setup, session

app = typer.Typer()
PANEL = "Jobs"

Job = Annotated[int, typer.Argument(metavar="JOB", max=2**63 - 1, help="The job's id.")]
_Attempt = Annotated[str, typer.Argument(metavar="ATTEMPT", help="The attempt, as the match gave it.")]


@app.command(rich_help_panel=PANEL)
def submit(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON or JSON lines; - for standard input.")],
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    r"""Insert jobs: a JSON array, one JSON object, an object a line, or a world's task_queues.

    An element is {job_id, requirements, user_priority} or {requirements, jobs: [\[id, user_priority], ...]}.
    JSON lines are streamed in constant memory; each 100,000 jobs are stored in one call.
    """
    from broker.client.submitter import Submitter

    def progress(stored: int) -> None:
        if stored >= 100_000:  # a stream of several calls
            output.note(f"{output.counted(stored, 'job')} stored")

    with Submitter(setup, ready()) as submitter, reading(file) as stream:
        elements = _Elements(stream, str(file))
        jobs = submitter.submit_many(elements, None if as_json else progress, elements.where)
    if as_json:
        output.json_out({"setup": setup, "jobs": jobs})
    else:
        output.say(f"{output.counted(jobs, 'job')} submitted to setup {setup}")


class _Elements:
    """The elements of a file: of JSON lines one by one, of any other JSON all at once."""

    def __init__(self, stream: Iterator[str], name: str) -> None:
        self._lines = enumerate(stream, 1)
        self._name = name
        self._skipped: list[int] | None = None  # numbers of the empty lines; None: an element is not a line

    def where(self, number: int) -> str:
        """Where the n-th element stands."""
        if self._skipped is None:
            return f"element {number}"
        for skipped in self._skipped:
            number += skipped <= number
        return f"line {number}"

    def __iter__(self) -> Iterator[Mapping[str, object]]:
        from broker.errors import BadRequest

        skipped: list[int] = []
        first = next(self._filled(skipped), (0, "[]"))[1]
        try:
            value = json.loads(first)
            if isinstance(value, dict) and "task_queues" not in value:
                self._skipped = skipped
            yield from _listed(value)
        except ValueError:  # an object or array that goes over several lines
            try:
                yield from _listed(json.loads(first + "".join(line for _, line in self._lines)))
            except ValueError as error:
                raise BadRequest(f"{self._name} is not JSON: {error}", "give JSON, or one JSON object a line") from None
        for number, line in self._filled(skipped):
            try:
                element = json.loads(line)
            except ValueError as error:
                raise BadRequest(
                    f"{self._name}, line {number}, is not JSON: {error}", "give one JSON object a line"
                ) from None
            yield element

    def _filled(self, skipped: list[int]) -> Iterator[tuple[int, str]]:
        """The lines that are not empty, with their numbers; those of empty ones are kept."""
        for number, line in self._lines:
            if line.strip():
                yield number, line
            else:
                skipped.append(number)


def _listed(value: Any) -> list[Mapping[str, object]]:
    """The elements of a JSON value: of an array, of a world's task_queues, or the object itself."""
    if isinstance(value, dict) and "task_queues" in value:
        value = value["task_queues"]
        if isinstance(value, list):
            # Submitted jobs join the queues that are there; whether a queue is enabled is for `load` to say.
            value = [
                {k: v for k, v in queue.items() if (k, v) != ("enabled", True)} if isinstance(queue, dict) else queue
                for queue in value
            ]
    return value if isinstance(value, list) else [value]


@app.command(rich_help_panel=PANEL)
@takes_resource
def match(
    described: Resource,
    count: Annotated[int, typer.Option(min=1, max=1000, help="Take up to so many jobs.")] = 1,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Take a job as a JobAgent would: it is leased to you until you finish or release it. Exit code 2: no match."""
    from broker.client.matcher import JobAgent

    with JobAgent(setup, ready(), connections=1) as agent:
        matches = agent.match_many(described, count)
    if not matches:
        with session() as connection:
            require_setup(connection, setup)
    if as_json:
        output.json_out(matches)
    elif len(matches) == 1:
        [taken] = matches
        output.fields("Match", {**vars(taken), "requirements": None, **_shown(taken.requirements)})
        output.say(f"next: broker finish {taken.job_id} {taken.attempt}{'' if setup == 'default' else _of(setup)}")
    elif matches:
        rows = [(m.job_id, m.task_queue_id, m.user_priority, m.attempt) for m in matches]
        output.table("Matches", ["job", "queue", "user priority", "attempt"], rows)
    else:
        output.say("no match: nothing that waits fits this resource now")
    if not matches:
        raise typer.Exit(2)


def _of(setup: str) -> str:
    return f" --setup {setup}"


def _shown(requirements: Mapping[str, object]) -> dict[str, object]:
    """Requirements for people: long lists by their first values and their number."""
    return {
        key: f"{', '.join(map(str, value[:3]))} and {len(value) - 3} more"
        if isinstance(value, list) and len(value) > 4
        else value
        for key, value in requirements.items()
    }


@app.command(rich_help_panel=PANEL)
@takes_resource
def explain(
    what: Annotated[list[str], typer.Argument(metavar="JOB | task ID", help="A job's id, or `task` and its id.")],
    described: Resource,
    *,
    profile: brokerage.Profile = None,
    queue: Annotated[
        str | None,
        typer.Option(
            "--queue", "--nucleus", help="Of a task: this queue, or nucleus, only, with all rules that reject it."
        ),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(help="Of a task: production_job, production_task or analysis_job; else that of who has it now."),
    ] = None,
    limit: brokerage.Limit = 20,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Say why a job does not match, or why the jobs of a task would go to a queue or not, or it to a nucleus.

    JOB: a resource, condition by condition, or (without one) the resources seen lately. task ID: all queues, or nuclei.
    """
    is_task, number = _explained(what)
    if is_task:
        if described:
            raise typer.BadParameter("a resource is for a job", param_hint="task ID")
        explanation.explain_task(
            setup, number, algorithm=algorithm, profile=profile, queue=queue, limit=limit, as_json=as_json
        )
    else:
        if profile is not None or queue is not None or algorithm is not None:
            raise typer.BadParameter("--profile, --queue, --nucleus and --algorithm are for a task", param_hint="JOB")
        explanation.explain_job(setup, number, described, as_json=as_json)


def _explained(what: list[str]) -> tuple[bool, int]:
    """Whether a task is asked for, and the number."""
    is_task = what[0] == "task" and len(what) == 2
    if is_task or len(what) == 1:
        with suppress(ValueError):
            number = int(what[-1])
            if number < 2**63:
                return is_task, number
    raise typer.BadParameter(f"{' '.join(what)} is neither a job nor a task", param_hint="JOB | task ID")


@app.command(rich_help_panel=PANEL)
@takes_resource
def queues(
    described: Resource,
    limit: Annotated[
        int | None, typer.Option(min=0, help="Show so many TaskQueues, 0 for all; 20 in tables, all in JSON.")
    ] = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """List TaskQueues, those of the highest CPU bucket and priority first; with a resource, the ones that match it."""
    from psycopg.rows import dict_row

    from broker.client.call import jsonb

    with session() as connection, connection.cursor(row_factory=dict_row) as cursor:
        if described:
            query = "select *, 'open' as state from taskqueue.matching_queues(%s, %s)"
            rows = cursor.execute(query, (setup, jsonb(described))).fetchall()
        else:
            query = (
                "select task_queue_id, cpu_time, priority, jobs, requirements, state from monitor.task_queue"
                " where setup = %s order by cpu_time desc, priority desc, task_queue_id"
            )
            rows = cursor.execute(query, (setup,)).fetchall()
        if not rows:
            require_setup(connection, setup)
    if as_json:
        output.json_out(rows[: limit or None])
    else:
        _show_queues(rows, (20 if limit is None else limit) or len(rows))


def _show_queues(rows: list[dict[str, Any]], limit: int) -> None:
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
    columns = ["queue", "cpu time", "group", "job types", "sites", "platforms", "priority", "state", "jobs", ""]
    output.table("Task queues", columns, cells, drop=["", "platforms", "sites", "job types"])
    if rows:
        jobs = sum(row["jobs"] for row in rows)
        shown = "" if len(rows) <= limit else f", {limit} shown (--limit)"
        output.say(f"{output.counted(len(rows), 'queue')}{shown}, {output.counted(jobs, 'job')} waiting")


@app.command(rich_help_panel=PANEL)
def report(
    job: Job,
    attempt: _Attempt,
    status: Annotated[str, typer.Option(help="starting, running, holding or transferring.")] = "running",
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Report on a leased job, as its agent would; the answer is continue, or kill and why."""
    from broker.client.matcher import JobAgent, Lease

    with JobAgent(setup, ready(), connections=1) as agent:
        answer = agent.report(Lease(job, attempt), status)  # type: ignore[arg-type]  # the database refuses others
    if as_json:
        output.json_out(answer)
    else:
        output.say(answer.action + (f": {answer.reason}" if answer.reason else ""))


@app.command(rich_help_panel=PANEL)
def finish(
    job: Job,
    attempt: _Attempt,
    outcome: Annotated[str, typer.Option(help="finished, failed, cancelled or closed.")] = "finished",
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """End a leased job."""
    from broker.client.matcher import JobAgent, Lease

    with JobAgent(setup, ready(), connections=1) as agent:
        stored = agent.finish(Lease(job, attempt), outcome)  # type: ignore[arg-type]  # the database refuses others
    if as_json:
        output.json_out({"job_id": job, "outcome": stored})
    else:
        output.say(f"job {job} {stored}")


@app.command(rich_help_panel=PANEL)
def release(job: Job, attempt: _Attempt, setup: Setup = "default", as_json: Json = False) -> None:
    """Give a leased job back to its TaskQueue."""
    from broker.client.matcher import JobAgent, Lease

    with JobAgent(setup, ready(), connections=1) as agent:
        queue = agent.release(Lease(job, attempt))
    if as_json:
        output.json_out({"job_id": job, "task_queue_id": queue})
    else:
        output.say(f"job {job} waits in queue {queue}" if queue else f"job {job} was to be killed: cancelled")
