"""`broker explain`: why a job does not match, or why a task goes or does not go to a queue or nucleus."""

from contextlib import suppress
from typing import Annotated

import typer

from broker.cli import brokerage
from broker.cli.explain import job, task
from broker.cli.shared.common import Json
from broker.cli.shared.resource import Resource, takes_resource
from broker.cli.shared.session import Setup

app = typer.Typer()


@app.command(rich_help_panel="Jobs")
@takes_resource
def explain(
    *,
    what: Annotated[
        list[str] | None, typer.Argument(metavar="JOB | task ID", help="A job's id, or `task` and a task's id.")
    ] = None,
    described: Resource,
    profile: brokerage.Profile = None,
    queue: Annotated[
        str | None,
        typer.Option(
            "--queue", "--nucleus", help="Of a task: show only this queue or nucleus, with all rules that reject it."
        ),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(help="Of a task: production_job, production_task or analysis_job; by default that of its broker."),
    ] = None,
    run: Annotated[
        int | None, typer.Option(help="Of a task: show only the decision of this run.", min=1, max=2**63 - 1)
    ] = None,
    now: Annotated[bool, typer.Option("--now", help="Of a task: show only the present decision.")] = False,
    limit: brokerage.Limit = 20,
    everything: Annotated[
        bool, typer.Option("--all", help="Also show the conditions that hold, and all queues, as --limit 0.")
    ] = False,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Explain why a job does not match, or where a task can go. A task goes to a queue or a nucleus.

    A job is compared with the resource that the options describe, or else with the resources seen lately. Without a
    job, all waiting jobs are compared with the resource, most jobs first. For a task, the decision of its last run is
    shown, and then the decision that would be made now; with --profile only the latter. What fails comes first.
    """
    is_task, number = _explained(what) if what else (False, None)
    limit = 0 if everything else limit
    if is_task:
        assert number is not None
        if described:
            raise typer.BadParameter("a resource is for a job", param_hint="task ID")
        if run is None:
            task.explain_task(
                setup, number, algorithm=algorithm, profile=profile, queue=queue, stored=not now and profile is None,
                limit=limit, as_json=as_json,
            )  # fmt: skip
            return
        if now or profile is not None or algorithm is not None:
            fault = "shows what is stored: not together with --now, --profile or --algorithm"
            raise typer.BadParameter(fault, param_hint="--run")
        task.explain_run(setup, number, run, queue=queue, limit=limit, as_json=as_json)
        return
    if profile is not None or queue is not None or algorithm is not None or run is not None or now:
        fault = "--profile, --queue, --nucleus, --algorithm, --run and --now are for a task"
        raise typer.BadParameter(fault, param_hint="JOB")
    if number is not None:
        job.explain_job(setup, number, described, everything=everything, as_json=as_json)
    elif described:
        job.explain_resource(setup, described, limit, as_json=as_json)
    else:
        fault = "name a job or a task, or describe a resource (--site and others)"
        raise typer.BadParameter(fault, param_hint="JOB | task ID")


def _explained(what: list[str]) -> tuple[bool, int]:
    """Whether a task is meant, and its number."""
    is_task = what[0] == "task" and len(what) == 2
    if is_task or len(what) == 1 or (what[0] == "job" and len(what) == 2):
        with suppress(ValueError):
            number = int(what[-1])
            if number < 2**63:
                return is_task, number
    fault = "has no number behind it" if what in (["task"], ["job"]) else "is neither a job nor a task"
    raise typer.BadParameter(f"{' '.join(what)} {fault}", param_hint="JOB | task ID")
