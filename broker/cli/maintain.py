"""`broker maintain`, `watchdog`, `summarize` and `sample`: one round of the loops that `broker run` repeats."""

from typing import Annotated

import typer

from broker.cli.shared import output
from broker.cli.shared.common import Json
from broker.cli.shared.session import require_setup, session

app = typer.Typer()

_Only = Annotated[str | None, typer.Option(help="Work on this setup only; by default on all.")]


@app.command(rich_help_panel="Setups")
def maintain(*, setup: _Only = None, as_json: Json = False) -> None:
    """Do one round of the background work: shares, counts, empty TaskQueues, resources seen, histories, decisions.
    `broker run` repeats it every few seconds.
    """
    from broker.operate import loops

    done: dict[str, int] = {}
    with session() as connection:
        if setup is not None:
            require_setup(connection, setup)
        setups = connection.execute("select s from lifecycle.setups(%s) s", [setup]).fetchall()
        rounds = [loops.maintain(connection, name) for (name,) in setups]
        if setup is None:
            rounds.append(loops.make_partitions(connection))
    for changed in rounds:
        for step, number in changed.items():
            done[step] = done.get(step, 0) + number
    if as_json:
        output.json_out(done)
    else:
        output.table("Maintained", ["step", "changed"], list(done.items()))


@app.command(rich_help_panel="Setups")
def watchdog(
    *,
    setup: _Only = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only show what would happen to leases, by timeouts, and by fast rebrokerage."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Do one round of the watchdog: expired leases, timeouts, fast rebrokerage, input that has arrived, counts. `broker
    run` repeats it every few seconds.
    """
    from broker.operate.loops import watch

    with session() as connection:
        if setup is not None:
            require_setup(connection, setup)
        report = watch(connection, setup, dry_run=dry_run)
    if as_json:
        output.json_out(report)
    else:
        rows = [(row["setup"], row["rule"], row["action"], row["jobs"]) for row in report]
        output.table("Overdue" if dry_run else "Watched", ["setup", "rule", "action", "jobs"], rows)


@app.command(rich_help_panel="Setups")
def summarize(*, setup: _Only = None, as_json: Json = False) -> None:
    """Find once why jobs and tasks wait, and count the waiting jobs by reason. `broker run` repeats it every few
    seconds, and `broker reasons` shows the counts.
    """
    from broker.operate import loops

    done: dict[str, int] = {}
    with session() as connection:
        if setup is not None:
            require_setup(connection, setup)
        for (name,) in connection.execute("select s from lifecycle.setups(%s) s", [setup]).fetchall():
            for step, number in loops.summarize(connection, name).items():
                done[step] = done.get(step, 0) + number
    if as_json:
        output.json_out(done)
    else:
        output.table("Summarized", ["step", "changed"], list(done.items()))


@app.command(rich_help_panel="Setups")
def sample(*, setup: _Only = None, as_json: Json = False) -> None:
    """Sample the figures of the last full minute once, unless it already has a sample. `broker run` repeats it every
    minute, and `broker history` shows the samples.
    """
    from broker.operate import loops

    with session() as connection:
        if setup is not None:
            require_setup(connection, setup)
        setups = connection.execute("select s from lifecycle.setups(%s) s", [setup]).fetchall()
        rows = [(name, loops.sample(connection, name)) for (name,) in setups]
    if as_json:
        output.json_out({name: series for name, series in rows if series is not None})
    else:
        cells = [(name, "it had its sample" if series is None else series) for name, series in rows]
        output.table("Sampled", ["setup", "series with a value"], cells)
