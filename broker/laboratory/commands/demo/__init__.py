"""`broker demo`, `demo brokerage`, `demo instances`. Each demo is a module of broker.laboratory.demo."""

import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli.brokerage import Profile
from broker.cli.shared import codes, output
from broker.cli.shared.common import Json
from broker.cli.shared.options import options
from broker.cli.shared.session import of_new_setup, ready
from broker.laboratory.commands.demo.common import begin, count, interruptible, part, show_next

if TYPE_CHECKING:
    from broker.database import Connection

app = typer.Typer(invoke_without_command=True)
_LOADED = 20_000  # jobs loaded per second
_OTHER = 15  # seconds for the start, the brokerage and the proof
_SECONDS, _SECONDS_OPEN = 10.0, 20.0  # of JobAgents by default; with a page, which refreshes every five seconds
_QUEUES, _TASKS, _USER_TASKS = 100, 200, 60


@app.callback()
def demo(
    context: typer.Context,
    *,
    jobs: Annotated[int, typer.Option(min=1, help="Jobs to insert; LHCb had 871,973 waiting.")] = 100_000,
    seconds: Annotated[
        float | None,
        typer.Option(min=0.1, help="Seconds for which the JobAgents ask for jobs: by default 10, with --open 20."),
    ] = None,
    agents: Annotated[int, typer.Option(min=1, max=64, help="JobAgents that ask at the same time.")] = 8,
    seed: Annotated[
        int, typer.Option(help="Seed of the order of the TaskQueues, of the agents' offers and of the grid.")
    ] = 0,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open a browser at the start; its pages live until Ctrl-C (embedded server).")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show both decisions at work, and prove that no job is lost.

    They are which job a JobAgent gets, and which queue the jobs of a task go to. The TaskQueues are LHCb's, and
    JobAgents of its 60 sites ask for jobs; a synthetic grid has the tasks. The demo explains a job and a task that
    wait.
    """
    if context.invoked_subcommand:
        return
    from broker import database
    from broker.errors import BrokerError
    from broker.laboratory.agents import Plan
    from broker.laboratory.commands.demo import matching as display
    from broker.laboratory.commands.demo.page import opened
    from broker.laboratory.demo import draw_name, matching

    if open_page and database.named(options.dsn):
        raise BrokerError("--open is for the embedded server", "on a server of your own people log in with --login")
    seconds = seconds or (_SECONDS_OPEN if open_page else _SECONDS)
    console = output.console(stderr=as_json)
    console.print(f"[bold]pgbroker demo[/bold] ({matching.LABEL})")
    takes = _OTHER + jobs / _LOADED + seconds
    console.print(f"this takes about {takes:.0f} seconds, {seconds:g} of JobAgents among them")
    target = of_new_setup(ready(), name := draw_name())
    with database.connect(target) as connection:
        setup = matching.new_setup(connection, name)
        begin(console, connection, target.without_password[0], setup)
        with interruptible(setup), ExitStack() as stack:
            plan = Plan(setup, target, matching.resources, seconds, seed)
            part(console, "1 Match", f"{agents} JobAgents ask, each gets the best job that fits")
            started = time.perf_counter()
            with display.loading(jobs, console.is_terminal) as on_chunk:
                work = matching.load(connection, setup, jobs, seed, on_chunk)
            loading = time.perf_counter() - started
            console.print(
                f"loaded {jobs:,} jobs in {work.task_queues:,} TaskQueues in {loading:.1f} s:"
                f" {jobs / loading:,.0f} jobs/s"
            )
            page = stack.enter_context(opened(console, connection, setup)) if open_page else None
            display.watch(plan, agents, work, as_json)
            summary = matching.summary(connection, plan, agents, work, loading)
            proof = summary["proof"]
            if not as_json:
                display.conclude(summary, work)
            summary |= {"proof": {**vars(proof), "holds": proof.holds}, **_broker(connection, setup, seed, as_json)}
            if not page:
                count(connection, setup)
            if as_json:
                output.json_out(summary)
            else:
                _show_next(summary, is_open=page is not None, embedded=target.source == "embedded")
            if page:
                console.print(f"\nThe demo is over. Its page lives at {page.url} until you press Ctrl-C.", markup=False)
                another = f"broker serve --open --setup {setup}"
                console.print(f"For another browser, in another terminal: {another}", markup=False)
                with suppress(KeyboardInterrupt):
                    page.wait()
    if not proof.holds:
        raise typer.Exit(codes.FOUND)


def _broker(connection: "Connection", setup: str, seed: int, as_json: bool) -> dict[str, Any]:
    """Broker the tasks of a synthetic grid, and show it; return the runs and the explained tasks."""
    from broker.laboratory import grid
    from broker.laboratory.commands.demo import runs as display
    from broker.laboratory.demo import brokerage

    console = output.console(stderr=as_json)
    part(console, "4 Broker", "where can the jobs of a task run, and where best?")
    made = grid.grid(seed, _QUEUES, _TASKS, user_tasks=_USER_TASKS)
    loaded = brokerage.load(connection, setup, made, None)
    console.print(f"loaded {_rows(loaded)} of a grid ({grid.SYNTHETIC})")
    runs: dict[str, dict[str, Any]] = {}
    explained: list[dict[str, Any]] = []
    for run in brokerage.run(connection, setup, None, seed):
        runs[run.algorithm] = run.summary
        explained += run.explained
        if not as_json:
            display.show(run)
    return {"runs": runs, "explained": explained}


def _rows(loaded: Mapping[str, int]) -> str:
    return ", ".join(f"{loaded[name]:,} {name}" for name in ("queues", "storages", "links", "tasks"))


def _show_next(summary: Mapping[str, Any], *, is_open: bool, embedded: bool) -> None:
    """Print commands for after the demo, the browser first."""
    from broker.laboratory.commands.demo import runs

    setup, unmatched = summary["setup"], summary["not_matched"]
    commands = {}
    if embedded and not is_open:
        commands = {
            f"broker serve --open --setup {setup}": "look with a browser",
            "broker demo --open": "look while it happens",
        }
    waits = [one["task_id"] for one in summary["explained"] if runs.waits(one)]
    commands |= {
        f"broker explain {unmatched.job_id if unmatched else 'JOB'} --setup {setup}": "why a job waits",
        f"broker explain task {waits[0] if waits else 'ID'} --setup {setup}": "why a task waits",
        "broker simulate --scenario storm": "a grid on a bad day",
    }
    show_next(commands, setup)
    if embedded:
        output.say("The embedded server keeps running; `broker down` stops it, its data stays.")


@app.command()
def brokerage(
    *,
    queues: Annotated[int, typer.Option(min=1, help="PanDA queues of the grid.")] = _QUEUES,
    tasks: Annotated[int, typer.Option(min=1, help="Production tasks to broker.")] = _TASKS,
    user_tasks: Annotated[int, typer.Option(min=1, help="Tasks of users to broker.")] = _USER_TASKS,
    profile: Profile = None,
    seed: Annotated[int, typer.Option(help="Seed of the grid and of the draws.")] = 1,
    everything: Annotated[
        bool, typer.Option("--all", help="Print all queues and rules, and the reasons for one task of each kind.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show brokerage at work on a synthetic grid: tasks to nuclei, jobs to queues, and why a task waits."""
    from broker import database
    from broker.laboratory import grid
    from broker.laboratory.commands.demo import runs as display
    from broker.laboratory.demo import brokerage as demo
    from broker.laboratory.demo import draw_name, new_name

    console = output.console(stderr=as_json)
    console.print(f"[bold]pgbroker demo brokerage[/bold] ({grid.SYNTHETIC})")
    target = of_new_setup(ready(), name := draw_name())
    runs: dict[str, dict[str, Any]] = {}
    explained: list[dict[str, Any]] = []
    with database.connect(target) as connection:
        setup = new_name(connection, name)
        begin(console, connection, target.without_password[0], setup)
        with interruptible(setup):
            started = time.perf_counter()
            made = grid.grid(seed, queues, tasks, user_tasks=user_tasks)
            loaded = demo.load(connection, setup, made, profile)
            console.print(f"loaded {_rows(loaded)} in {time.perf_counter() - started:.1f} s")
            for run in demo.run(connection, setup, profile, seed):
                runs[run.algorithm] = run.summary
                explained += run.explained
                if everything and not as_json:
                    console.print(f"\n[bold]{run.title}[/bold] in {run.seconds:.1f} s")
                    display.show_all(run)
                elif not as_json:
                    console.print()
                    display.show(run)
            count(connection, setup)
    if as_json:
        output.json_out({"data": grid.SYNTHETIC, "setup": setup, "runs": runs, "explained": explained})
        return
    waiting = next((one for one in explained if display.waits(one)), None)
    task = waiting["task_id"] if waiting else "ID"
    browser = {f"broker serve --open --setup {setup}": "look with a browser"} if target.source == "embedded" else {}
    commands = browser | {
        f"broker explain task {task} --setup {setup}": "why a task waits",
        f"broker what-if --setup {setup} --profile panda2026": "PanDA's rules of 2026",
        f"broker rules --setup {setup}": "the rules",
        "broker demo brokerage --all": "all figures of the runs",
    }
    show_next(commands, setup)


@app.command()
def instances(
    *,
    samples: Annotated[int, typer.Option(min=1, help="Genomes to sequence; each has 137 jobs.")] = 2000,
    as_json: Json = False,
) -> None:
    """Show a genomics pipeline packed onto rented instances as its samples arrive, and the cost per hour."""
    from broker import catalogue, database
    from broker.laboratory.commands.demo.instances import show_costs, wave_in_words
    from broker.laboratory.demo import draw_name, new_name
    from broker.laboratory.demo import instances as demo

    console = output.console(stderr=as_json)
    console.print("[bold]pgbroker demo instances[/bold]")
    console.print(f"{catalogue.STEPS}; {catalogue.TYPES}", markup=False)
    target = of_new_setup(ready(), name := draw_name())
    waves: list[dict[str, Any]] = []
    with database.connect(target) as connection:
        setup = new_name(connection, name)
        begin(console, connection, target.without_password[0], setup)
        with interruptible(setup):
            for wave in demo.run(connection, setup, samples):
                waves.append(wave)
                console.print(wave_in_words(wave), markup=False)
            ended = demo.finish_half(connection, setup)
    if as_json:
        output.json_out({"setup": setup, "waves": waves, "half_finished": ended})
        return
    show_costs(waves[-1], ended)
    output.say(f"See for yourself: broker instances --setup {setup}")
