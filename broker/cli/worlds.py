"""`broker load`, `dump`, `maintain`: a setup as a whole."""

import json
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli import output
from broker.cli.common import Json
from broker.cli.files import reading, writing
from broker.cli.output import counted
from broker.cli.session import Setup, require_setup, session

if TYPE_CHECKING:
    import psycopg

app = typer.Typer()
PANEL = "Setups"


@app.command(rich_help_panel=PANEL)
def load(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Worlds as JSON; - for standard input.")],
    setup: Annotated[str | None, typer.Option(help="Load into this setup, whatever the files name.")] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Warn about what is not known instead of refusing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Load worlds: settings, CPU buckets, groups, platforms, limits and TaskQueues. All files or nothing."""
    from broker import world

    worlds = []
    for file in files:
        with reading(file) as stream:
            worlds.append(world.parse(stream.read(), str(file)))
    with session() as connection:
        loaded = world.load(connection, worlds, setup, lenient=lenient, names=[str(file) for file in files])
    for name in loaded.ignored:
        output.note(f"left out, not known here: {name}")
    if as_json:
        output.json_out(loaded)
    else:
        rows = [(name, count) for name, count in loaded.rows.items()]
        output.table(f"Loaded into {', '.join(loaded.setups)}", ["section", "rows"], rows)
        output.say(counted(loaded.jobs, "job"))


@app.command(rich_help_panel=PANEL)
def dump(
    setup: Setup = "default",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A file; else standard output.")] = None,
    with_leases: Annotated[
        bool, typer.Option("--with-leases", help="Leases, too, with the attempts that prove them: keep it secret.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print a setup's world as JSON (with or without --json): what `broker load` takes."""
    from broker import world

    counts = {"task_queues": 0, "jobs": 0, "leases": 0}

    def count(section: str, row: str) -> None:
        counts[section] += 1
        if section == "task_queues":
            counts["jobs"] += len(json.loads(row)["jobs"])

    to_file = out is not None and str(out) != "-"
    # The dump is closed before its connection, whatever happens: it holds a transaction open.
    with (
        session() as connection,
        closing(world.dump(connection, setup, with_leases=with_leases, on_row=count if to_file else None)) as pieces,
    ):
        first = next(pieces)  # a setup that holds nothing is refused before the file is touched
        with writing(out, secret=with_leases) as stream:
            stream.write(first)
            stream.writelines(pieces)
    if to_file:
        leases = f", {counted(counts['leases'], 'lease')}" if with_leases else ""
        queues = counted(counts["task_queues"], "queue")
        output.note(f"{queues}, {counted(counts['jobs'], 'job')}{leases} written to {out}")


@app.command(rich_help_panel=PANEL)
def maintain(
    every: Annotated[
        float | None, typer.Option(help="Go on, so many seconds (0.1 or more) between two rounds.")
    ] = None,
    setup: Annotated[str | None, typer.Option(help="This setup only.")] = None,
    as_json: Json = False,
) -> None:
    """Do the background work: shares, counts, empty queues, resources seen, history, decisions. Run it beside the agents."""
    if every is not None and not 0.1 <= every <= 86_400:  # nan is neither
        raise typer.BadParameter(f"{every:g} is not between 0.1 and 86400 seconds", param_hint="--every")
    with session() as connection:
        if setup is not None:
            require_setup(connection, setup)
        while True:
            _round(connection, setup, as_json)
            if every is None:
                return
            time.sleep(every)


def _round(connection: "psycopg.Connection[Any]", setup: str | None, as_json: bool) -> None:
    steps = connection.execute("select step, changed from taskqueue.maintain(%s)", [setup]).fetchall()
    if setup is None:
        steps += connection.execute("select step, changed from brokerage.maintain()").fetchall()
    done: dict[str, int] = {}
    for step, changed in steps:
        done[step] = done.get(step, 0) + changed
    if as_json:
        output.json_out(done)
    else:
        output.table("Maintained", ["step", "changed"], list(done.items()))
