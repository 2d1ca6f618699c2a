"""`broker demo`, `demo brokerage`, `demo instances`. Each demo is a module of broker.laboratory.demo."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli.brokerage import Profile
from broker.cli.shared import codes, output
from broker.cli.shared.common import Json
from broker.cli.shared.session import of_new_setup, ready
from broker.laboratory.commands.demo.common import interruptible, show_next

if TYPE_CHECKING:
    from broker.database import Target

app = typer.Typer(invoke_without_command=True)
_LOADED = 20_000  # jobs loaded per second
_OTHER = 10  # seconds for the start, the summary and the proof


@app.callback()
def demo(
    context: typer.Context,
    *,
    jobs: Annotated[int, typer.Option(min=1, help="Jobs to insert; LHCb had 871,973 waiting.")] = 100_000,
    seconds: Annotated[float, typer.Option(min=0.1, help="Seconds for which the JobAgents ask for jobs.")] = 10,
    agents: Annotated[int, typer.Option(min=1, max=64, help="JobAgents that ask at the same time.")] = 8,
    seed: Annotated[int, typer.Option(help="Seed of the order of the TaskQueues and of the agents' offers.")] = 0,
    simulation: Annotated[
        float, typer.Option(min=0, help="Seconds of a simulated grid at the end (broker simulate); 0 = none.")
    ] = 60,
    as_json: Json = False,
) -> None:
    """Show matching at work, and prove that no job is lost. It has LHCb's TaskQueues, and JobAgents of its 60 sites."""
    if context.invoked_subcommand:
        return
    from broker import database
    from broker.laboratory.agents import Plan
    from broker.laboratory.commands.demo import matching as display
    from broker.laboratory.demo import draw_name, matching

    console = output.console(stderr=as_json)
    console.print(f"[bold]pgbroker demo[/bold] ({matching.LABEL})")
    parts = f"{seconds:g} of JobAgents" + (f" and {simulation:g} of a simulated grid" if simulation else "")
    console.print(f"this takes about {_OTHER + jobs / _LOADED + seconds + simulation:.0f} seconds, {parts} among them")
    target = of_new_setup(ready(), name := draw_name())
    with database.connect(target) as connection:
        setup = matching.new_setup(connection, name)
        console.print(f"server: {target.without_password[0]}, setup: {setup}")
        with interruptible(setup):
            started = time.perf_counter()
            with display.loading(jobs, console.is_terminal) as on_chunk:
                work = matching.load(connection, setup, jobs, seed, on_chunk)
            loading = time.perf_counter() - started
            console.print(
                f"loaded {jobs:,} jobs in {work.task_queues:,} TaskQueues in {loading:.1f} s:"
                f" {jobs / loading:,.0f} jobs/s"
            )
            plan = Plan(setup, target, matching.resources, seconds, seed)
            display.watch(plan, agents, work, as_json)
            summary = matching.summary(connection, plan, agents, work, loading)
    proof = summary["proof"]
    if not as_json:
        display.conclude(summary, work)
    holds = proof.holds
    if simulation:
        with interruptible(setup):
            summary["simulation"], simulated_well = _simulate(target, simulation, seed, as_json)
        holds = holds and simulated_well
    if as_json:
        output.json_out(summary | {"proof": {**vars(proof), "holds": proof.holds}})
    else:
        unmatched = summary["not_matched"]
        _show_next(setup, unmatched.job_id if unmatched else None, embedded=target.source == "embedded")
    if not holds:
        raise typer.Exit(codes.FOUND)


def _simulate(target: "Target", seconds: float, seed: int, as_json: bool) -> tuple[dict[str, Any], bool]:
    """Simulate a part of a stormy day of a small grid; return its figures, and whether no job was lost."""
    from broker.laboratory import simulation as simulate
    from broker.laboratory.commands.simulate import conduct

    scenario = simulate.named("storm", hours=6, queues=12, scale=0.1, backlog=0.3)
    output.console(stderr=as_json).print()
    found = conduct(target, scenario, seed=seed, seconds=seconds, quiet=as_json)
    return found, simulate.holds(found)


def _show_next(setup: str, waiting: int | None, *, embedded: bool) -> None:
    """Print commands for after the demo."""
    commands = {
        f"broker task-queues --setup {setup}": "list the TaskQueues",
        f"broker match --setup {setup} --site LCG.CERN.cern --cpu-time 400000": "take a job",
        f"broker explain {waiting or 'JOB'} --setup {setup}": "explain why a job waits",
        f"""broker psql -c "select * from monitor.waiting_by_site where setup = '{setup}'\"""": "what a site may run",
        "broker demo --jobs 871973": "run the demo at LHCb's own size",
        "broker simulate --scenario storm": "simulate a grid on a bad day, to its end",
    }
    show_next(commands, setup)
    if embedded:
        output.say("", "The embedded server keeps running; `broker down` stops it, and its data stays.")


@app.command()
def brokerage(
    *,
    queues: Annotated[int, typer.Option(min=1, help="PanDA queues of the grid.")] = 100,
    tasks: Annotated[int, typer.Option(min=1, help="Production tasks to broker.")] = 200,
    user_tasks: Annotated[int, typer.Option(min=1, help="Tasks of users to broker.")] = 60,
    profile: Profile = None,
    seed: Annotated[int, typer.Option(help="Seed of the grid and of the draws.")] = 1,
    as_json: Json = False,
) -> None:
    """Show brokerage at work on a synthetic grid: tasks to nuclei, jobs to queues, and the reasons for one task of each
    kind."""
    from broker import database
    from broker.cli.assign import show_summary
    from broker.cli.explain.task import show_explanation
    from broker.laboratory import grid
    from broker.laboratory.demo import brokerage as demo
    from broker.laboratory.demo import draw_name, new_name

    console = output.console(stderr=as_json)
    console.print(f"[bold]pgbroker demo brokerage[/bold] ({grid.SYNTHETIC})")
    target = of_new_setup(ready(), name := draw_name())
    runs: dict[str, dict[str, Any]] = {}
    explained: list[dict[str, Any]] = []
    with database.connect(target) as connection:
        setup = new_name(connection, name)
        console.print(f"server: {target.without_password[0]}, setup: {setup}")
        with interruptible(setup):
            started = time.perf_counter()
            made = grid.grid(seed, queues, tasks, user_tasks=user_tasks)
            loaded = demo.load(connection, setup, made, profile)
            rows = ", ".join(f"{loaded[name]:,} {name}" for name in ("queues", "storages", "links", "tasks"))
            console.print(f"loaded {rows} in {time.perf_counter() - started:.1f} s")
            for run in demo.run(connection, setup, profile, seed):
                runs[run.algorithm] = run.summary
                explained += run.explained
                decided = sum(row["tasks"] for row in run.summary["tasks"])
                console.print(f"\n[bold]{run.title}[/bold]: decided {decided:,} that were due in {run.seconds:.1f} s")
                if not as_json:
                    show_summary(run.summary, dry=False)
                    for one in run.explained:
                        output.say("")
                        show_explanation(one, 5)
    if as_json:
        output.json_out({"data": grid.SYNTHETIC, "setup": setup, "runs": runs, "explained": explained})
        return
    commands = {
        f"broker explain task {explained[-1]['task'] if explained else 'ID'} --setup {setup} --limit 0": (
            "list all queues of a task"
        ),
        f"broker what-if --setup {setup} --set jobbroker:IO_INTENSITY_CUTOFF=5000": (
            "show what another setting would do for tasks that wait"
        ),
        f"broker what-if --setup {setup} --profile panda2026": "show what PanDA's own rules of 2026 would do",
        f"broker classify --setup {setup} --limit 10": "classify the queues, users and tasks of user analysis",
        f"broker rules --setup {setup}": "list the rules",
    }
    show_next(commands, setup)
    output.say("", f"Everything shown is {grid.SYNTHETIC}.")


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
        console.print(f"server: {target.without_password[0]}, setup: {setup}")
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
