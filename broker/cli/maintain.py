"""`broker maintain`, `watchdog`, `summarize` and `sample`: one round of the loops that `broker run` repeats."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from broker.cli.shared import output
from broker.cli.shared.common import Json
from broker.cli.shared.session import session

if TYPE_CHECKING:
    from broker.database import Connection

app = typer.Typer()

_STEPS = {
    "empty TaskQueues": "removes TaskQueues without jobs", "due retries": "lets failed jobs wait again",
    "shares": "computes priorities from the shares of groups", "hands": "draws the jobs of the next matches ahead",
    "clauses": "prepares clauses of requirements for the search",
    "lists": "puts new TaskQueues where matches look for them",
    "resources seen": "counts the resources that asked",
    "definitions": "sets requirements aside that no job has any more",
    "past definitions": "forgets requirements that no job had for long",
    "void changes": "forgets changes of jobs that came to nothing", "requests": "forgets answered requests",
    "delays": "corrects limits after the clock was set back",
    "known offers": "forgets descriptions that were not used lately",
    "history partitions": "makes partitions for histories, and drops old ones",
    "decision partitions": "makes partitions for decisions, and drops old ones",
    "job counts": "removes counts that are zero or old",
    "job history partitions": "makes partitions for the history of jobs, and drops old ones",
    "new kinds of resources": "finds which jobs new resources fit", "reasons of tasks": "finds why tasks wait",
    "requirements without jobs": "forgets the reasons of TaskQueues without jobs", "reasons": "finds why jobs wait",
    "left for the next call": "requirements that were not looked at", "ended jobs": "forgets jobs that ended long ago",
    "waiting": "counts the waiting jobs by reason",
}  # fmt: skip
"""The work of each step of a round."""

_Only = Annotated[str | None, typer.Option(help="Work on this setup only; by default on all.")]


@app.command(rich_help_panel="Setups")
def maintain(*, setup: _Only = None, as_json: Json = False) -> None:
    """Do one round of the background work. That is shares, counts, empty TaskQueues, resources seen, histories and
    decisions. `broker run` repeats it every few seconds.
    """
    from broker.operate import loops

    with session(setup) as connection:
        rounds = [loops.maintain(connection, name) for name in _setups(connection, setup)]
        if setup is None:
            rounds.append(loops.make_partitions(connection))
    _show("Maintained", rounds, as_json=as_json)


@app.command(rich_help_panel="Setups")
def watchdog(
    *,
    setup: _Only = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only show the leases, timeouts and fast rebrokerage that would be handled."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Do one round of the watchdog, which ends leases and waits. That is expired leases, timeouts, fast rebrokerage,
    input that has arrived, and counts. `broker run` repeats it every few seconds.
    """
    from broker.operate.loops import watch

    with session(setup) as connection:
        report = watch(connection, setup, dry_run=dry_run)
    columns = {name: name for name in ("setup", "rule", "action", "jobs")}
    output.records("Overdue" if dry_run else "Watched", report, columns, as_json=as_json)


@app.command(rich_help_panel="Setups")
def summarize(*, setup: _Only = None, as_json: Json = False) -> None:
    """Find once why jobs and tasks wait. The waiting jobs are counted by reason. `broker run` repeats it every few
    seconds, and `broker reasons` shows the counts.
    """
    from broker.operate import loops

    with session(setup) as connection:
        rounds = [loops.summarize(connection, name) for name in _setups(connection, setup)]
    _show("Summarized", rounds, as_json=as_json)


@app.command(rich_help_panel="Setups")
def sample(*, setup: _Only = None, as_json: Json = False) -> None:
    """Sample the figures of the last full minute. A minute gets one sample only. `broker run` repeats it every minute,
    and `broker history` shows the samples.
    """
    from broker.operate import loops

    with session(setup) as connection:
        rows = [(name, loops.sample(connection, name)) for name in _setups(connection, setup)]
    if as_json:
        output.json_out({name: series for name, series in rows if series is not None})
    else:
        cells = [(name, "it had its sample" if series is None else series) for name, series in rows]
        output.table("Sampled", ["setup", "series with a value"], cells)


def _setups(connection: "Connection", setup: str | None) -> list[str]:
    return [name for (name,) in connection.execute("select s from lifecycle.setups(%s) s", [setup]).fetchall()]


def _show(title: str, rounds: Iterable[Mapping[str, int]], *, as_json: bool) -> None:
    """Show the number of changed rows by step, summed over several rounds."""
    done: Counter[str] = Counter()
    for changed in rounds:
        done.update(changed)
    if as_json:
        output.json_out(done)
    else:
        cells = [(step, changed, _STEPS.get(step)) for step, changed in done.items()]
        output.table(title, ["step", "changed", "what it does"], cells)
