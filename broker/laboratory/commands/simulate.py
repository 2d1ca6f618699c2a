"""`broker simulate`: a simulated grid, live, and its figures at the end."""

import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from broker import INSTALL
from broker.cli.shared import codes, output
from broker.cli.shared.common import Json
from broker.cli.shared.session import forget_placement, of_new_setup, ready
from broker.laboratory.commands.run_display import conclude, watch
from broker.laboratory.commands.run_failures import compare
from broker.operate.reading import Row
from broker.words import counted

if TYPE_CHECKING:
    from broker.database import Target
    from broker.laboratory.simulation import Run, Scenario

app = typer.Typer()


@app.command("simulate", rich_help_panel="Try it")
def simulate(
    *,
    scenario: Annotated[str, typer.Option(help="Scenario: calm, storm, cloud, or a TOML file.")] = "calm",
    hours: Annotated[
        float | None, typer.Option(min=0.05, help="Hours to simulate; by default those of the scenario.")
    ] = None,
    speed: Annotated[float, typer.Option(min=0, help="Simulated seconds per second; 0 = as fast as possible.")] = 0,
    queues: Annotated[
        int | None, typer.Option(min=1, help="PanDA queues of the grid; by default those of the scenario.")
    ] = None,
    scale: Annotated[
        float | None, typer.Option(min=0.001, help="Factor on the cores of queues and on the work.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the grid, the work and the failures.")] = 1,
    setup: Annotated[
        str | None, typer.Option(help="Name of the new setup; by default simulation- and six digits.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--output", help="Write figures, series and plots to this folder (plots need the extra plots)."),
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Print lines instead of the live display.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the setup after the simulation.")] = False,
    guard: Annotated[
        list[str] | None,
        typer.Option(help="Setting guard: off, watch or on; several: a run with each of them, and a comparison."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Simulate a grid, and show its figures. The grid has tasks, brokers, transfers, JobAgents and failures.

    All calls are public ones, for thousands of jobs in an hour of simulated time. Needs the roles broker_operator and
    broker_agent. Exit code 5: a job was lost or given twice.
    """
    from broker.laboratory import simulation as simulate

    named = simulate.named(scenario, hours=hours, queues=queues, scale=scale)
    chosen = {setting: replace(named, guard=setting) for setting in guard or [named.guard]}
    target = ready()
    found: dict[str, Row] = {}
    try:
        for setting, one in chosen.items():
            several = setting if len(chosen) > 1 else None
            found[setting] = conduct(
                target, one, seed=seed, speed=speed, setup=f"{setup}-{several}" if setup and several else setup,
                folder=folder / several if folder and several else folder, plain=plain, keep=keep, quiet=as_json,
            )  # fmt: skip
    except KeyboardInterrupt:
        output.note("interrupted")
        raise typer.Exit(codes.INTERRUPTED) from None
    if as_json:
        output.json_out(found if len(found) > 1 else next(iter(found.values())))
    elif len(found) > 1:
        compare(found)
    if not all(simulate.holds(one) for one in found.values()):
        raise typer.Exit(codes.FOUND)


def conduct(
    target: "Target",
    scenario: "Scenario",
    *,
    seed: int = 1,
    speed: float = 0,
    setup: str | None = None,
    folder: Path | None = None,
    plain: bool = False,
    keep: bool = False,
    quiet: bool = False,
) -> Row:
    """Run a scenario, show it, and return its figures. quiet: show everything on
    standard error, and only if that is a terminal.
    """
    import secrets

    from broker import database
    from broker.errors import BadRequest
    from broker.laboratory import grid
    from broker.laboratory import simulation as simulate

    console = output.console(stderr=quiet)
    if folder:
        simulate.require_folder(folder)
    console.quiet = quiet and not console.is_terminal
    setup = setup or f"simulation-{secrets.token_hex(3)}"
    home = of_new_setup(target, setup)
    with database.connect(home) as connection:
        [(is_there,)] = connection.execute("select is_there from resource.describe_setup(%s)", [setup]).fetchall()
        if is_there:
            raise BadRequest(f"setup {setup} exists already", "a simulation needs a setup of its own: name a new one")
        run = simulate.Run(scenario, simulate.make(scenario, seed, setup), simulate.Calls(connection, setup), seed)
        queues = len(run.supply.queues)
        away = scenario.queues - queues
        asleep = f" ({away} more {'is' if away == 1 else 'are'} not online)" if away > 0 else ""
        console.print(
            f"[bold]pgbroker simulate[/bold] {scenario.name}: {scenario.hours:g} h,"
            f" {counted(queues, 'queue')}{asleep} with {run.supply.cores:,} cores, setup {setup}"
            f" ({grid.SYNTHETIC})"
        )
        with _removed(run, keep):
            run.prepare()
            begun = time.perf_counter()
            watch(run, console, speed, plain or not console.is_terminal)
            wall = time.perf_counter() - begun
            found = simulate.figures(run)
            found["wall_seconds"] = round(wall, 1)
            found["calls"] = _calls(run)
            conclude(found, run, console)
            files = simulate.write(run, found, folder) if folder else []
    if not keep:
        forget_placement(target, setup)
    for file in files:
        console.print(f"written: {file}")
    if folder and not any(file.suffix == ".svg" for file in files):
        console.print(f"no plots, which need matplotlib: {INSTALL.format('plots')}", markup=False)
    return found


@contextmanager
def _removed(run: "Run", keep: bool) -> Iterator[None]:
    """Remove the setup at the end, even of an interrupted simulation, unless it is kept."""
    try:
        yield
    finally:
        if keep:
            output.note(f"setup {run.calls.setup} is left; to remove it: {removal(run.calls.setup)}")
        elif not run.calls.connection.closed:
            run.calls.remove()


def removal(setup: str) -> str:
    """The command that removes a setup."""
    return f"broker setup remove {shlex.quote(setup)} --yes"


def _calls(run: "Run") -> dict[str, Row]:
    """Calls of the database and the seconds that they took, the slowest first."""
    calls = run.calls
    ranked = sorted(calls.seconds.items(), key=lambda item: -item[1])
    return {name: {"calls": calls.times[name], "seconds": round(seconds, 2)} for name, seconds in ranked}
