"""`broker demo`: matching (broker.synthetic.demo), brokerage on a synthetic grid, and rented machines."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli import output
from broker.cli.brokerage import Profile
from broker.cli.common import Json
from broker.cli.session import ready

if TYPE_CHECKING:
    from rich.console import RenderableType

    from broker.database import Target
    from broker.synthetic.demo import Proof, Unmatched, Work

app = typer.Typer(invoke_without_command=True)

_BROKERS = {
    "production_task": ("Production tasks to nuclei", ("brokerage", "broker_tasks"), None),
    "production_job": ("Jobs of production tasks to queues", ("brokerage", "broker_jobs"), "pending"),
    "analysis_job": ("Jobs of users to queues", ("brokerage", "broker_analysis"), None),
}
"""The brokers in the order in which a task meets them: title, procedure, and which task is explained: afterwards one of
that status, or before the first that is due."""


@app.callback()
def demo(
    context: typer.Context,
    *,
    jobs: Annotated[int, typer.Option(min=1, help="Waiting jobs; LHCb had 871,973.")] = 100_000,
    seconds: Annotated[float, typer.Option(min=0.1, help="How long the JobAgents work.")] = 10,
    agents: Annotated[int, typer.Option(min=1, max=64, help="JobAgents at work at the same time.")] = 8,
    seed: Annotated[int, typer.Option(help="Decides the order of the queues and what the agents offer.")] = 0,
    simulation: Annotated[
        float, typer.Option(min=0, help="Seconds of a simulated grid at the end (broker simulate); 0 = none.")
    ] = 60,
    as_json: Json = False,
) -> None:
    """See it run: LHCb's TaskQueues, JobAgents of its 60 sites, what they match, and proof that nothing is lost."""
    if context.invoked_subcommand:
        return
    from broker import database
    from broker.synthetic import demo
    from broker.synthetic.agents import Plan

    console = output.console(stderr=as_json)
    console.print(f"[bold]pgbroker demo[/bold] ({demo.LABEL})")
    target = ready()
    with database.connect(target) as connection, ExitStack() as interruptible:
        setup = demo.new_setup(connection)
        console.print(f"server: {target.without_password[0]}, setup: {setup}")
        interruptible.enter_context(_interruptible(setup))
        started = time.perf_counter()
        with _loading(jobs, console.is_terminal) as on_chunk:
            work = demo.load(connection, setup, jobs, seed, on_chunk)
        loading = time.perf_counter() - started
        [(queues,)] = connection.execute("select task_queues from monitor.setup where setup = %s", [setup]).fetchall()
        console.print(f"loaded {jobs:,} jobs in {queues:,} TaskQueues in {loading:.1f} s: {jobs / loading:,.0f} jobs/s")
        plan = Plan(setup, target, demo.resources, seconds, seed)
        _watch(plan, agents, work, as_json)
        proof = demo.prove(connection, setup, work)
        unmatched = demo.unmatched(connection, setup, seed)
    summary = {
        "data": demo.LABEL,
        "setup": setup,
        "jobs": jobs,
        "task_queues": queues,
        "jobs_loaded_per_second": round(jobs / loading),
        "agents": agents,
        "seconds": seconds,
        "matches": len(work.taken),
        "matches_per_second": round(len(work.taken) / seconds, 1),
        "calls_without_match": work.empty,
        "latency_ms": _latency(work),
        "errors": work.errors,
        "taken_and_inserted_by_group": _pairs(work.taken_by_group, work.by_group),
        "taken_and_inserted_by_cpu_bucket": _pairs(work.taken_by_bucket, work.by_bucket),
        "matched": [{"match": match, "resource": resource} for match, resource in work.samples.values()],
        "not_matched": unmatched,
        "proof": {**vars(proof), "holds": proof.holds},
    }
    if not as_json:
        _conclude(summary, work, proof, unmatched)
    holds = proof.holds
    if simulation:
        with _interruptible(setup):
            summary["simulation"], simulated_well = _simulate(target, simulation, seed, as_json)
        holds = holds and simulated_well
    if as_json:
        output.json_out(summary)
    else:
        _show_steps(setup, embedded=target.source == "embedded")
    if not holds:
        raise typer.Exit(1)


def _simulate(target: "Target", seconds: float, seed: int, as_json: bool) -> tuple[dict[str, Any], bool]:
    """The end of the demo: some of a stormy day of a small grid. Its figures, and whether no job was lost."""
    from broker.cli.simulate import conduct
    from broker.synthetic import simulation as simulate

    scenario = simulate.named("storm", hours=6, queues=12, scale=0.1, backlog=0.3)
    output.console(stderr=as_json).print()
    found = conduct(target, scenario, seed=seed, seconds=seconds, quiet=as_json)
    return found, simulate.holds(found)


@app.command()
def brokerage(
    *,
    queues: Annotated[int, typer.Option(min=1, help="PanDA queues of the grid.")] = 100,
    tasks: Annotated[int, typer.Option(min=1, help="Production tasks that are brokered.")] = 200,
    user_tasks: Annotated[int, typer.Option(min=1, help="Tasks of users that are brokered.")] = 60,
    profile: Profile = None,
    seed: Annotated[int, typer.Option(help="Decides the grid and the draws.")] = 1,
    as_json: Json = False,
) -> None:
    """See tasks brokered on a synthetic grid: to nuclei, their jobs to queues, those of users, and why, one of each."""
    from psycopg import sql

    from broker import database, world
    from broker.cli.brokerage import show_summary, summary_of
    from broker.cli.explanation import explanation_of, show_explanation
    from broker.synthetic import demo, grid

    console = output.console(stderr=as_json)
    console.print(f"[bold]pgbroker demo brokerage[/bold] ({grid.SYNTHETIC})")
    target = ready()
    with database.connect(target) as connection:
        setup = demo.new_name(connection)
        console.print(f"server: {target.without_password[0]}, setup: {setup}")
        with _interruptible(setup):
            started = time.perf_counter()
            made = grid.grid(seed, queues, tasks, user_tasks=user_tasks)
            loaded = world.load(connection, [made], setup)
            seconds = time.perf_counter() - started
            rows = ", ".join(f"{loaded.rows[name]:,} {name}" for name in ("queues", "storages", "links", "tasks"))
            console.print(f"loaded {rows} in {seconds:.1f} s")
            connection.execute("call brokerage.classify(%s, %s)", (setup, profile))
            runs: dict[str, dict[str, Any]] = {}
            explained = []
            first = """select task_id from brokerage.due_task where setup = %s and algorithm = %s
                        order by current_priority desc, task_id limit 1"""
            for algorithm, (title, call, status) in _BROKERS.items():
                samples = [] if status else [task for (task,) in connection.execute(first, (setup, algorithm))]
                explanations = [explanation_of(connection, setup, task, profile, algorithm) for task in samples]
                started = time.perf_counter()
                query = sql.SQL("call {}(%s, p_profile => %s, p_seed => %s::bigint)").format(sql.Identifier(*call))
                [(run,)] = connection.execute(query, (setup, profile, seed)).fetchall()
                seconds = time.perf_counter() - started
                runs[algorithm] = summary = summary_of(connection, setup, run, algorithm)
                if status:
                    samples = [row["example"] for row in summary["tasks"] if row["status"] == status][:1]
                    explanations = [explanation_of(connection, setup, task, profile, algorithm) for task in samples]
                explained += explanations
                decided = sum(row["tasks"] for row in summary["tasks"])
                console.print(f"\n[bold]{title}[/bold]: decided {decided:,} that were due in {seconds:.1f} s")
                if not as_json:
                    show_summary(summary, dry=False)
                    for one in explanations:
                        output.say("")
                        show_explanation(one, 5)
    if as_json:
        output.json_out({"data": grid.SYNTHETIC, "setup": setup, "runs": runs, "explained": explained})
        return
    _show_next(setup, explained)
    output.say(f"\nEverything shown is {grid.SYNTHETIC}.")


_TASK = 1  # of the demo of instances
_WAVES = 10


@app.command()
def instances(
    *,
    samples: Annotated[int, typer.Option(min=1, help="Genomes that are sequenced; each has 137 jobs.")] = 2000,
    as_json: Json = False,
) -> None:
    """See a genomics pipeline packed onto rented machines as its samples come, and what that costs an hour."""
    from psycopg.types.json import Jsonb

    from broker import database, world
    from broker.synthetic import catalogue, demo

    console = output.console(stderr=as_json)
    console.print("[bold]pgbroker demo instances[/bold]")
    console.print(f"{catalogue.STEPS}; {catalogue.TYPES}", markup=False)
    target = ready()
    types, steps = catalogue.shipped_types(), catalogue.steps()
    with database.connect(target) as connection:
        setup = demo.new_name(connection)
        console.print(f"server: {target.without_password[0]}, setup: {setup}")
        with _interruptible(setup):
            world.load(connection, [{"instance_types": types}], setup)
            sample = [{"task": _TASK, "cpu": step.cpu, "ram": step.ram} for step in steps for _ in range(step.jobs)]
            alone = sum(step.jobs * catalogue.cheapest(types, step.cpu, step.ram)["price"] for step in steps)
            waves: list[dict[str, Any]] = []
            for wave in range(min(_WAVES, samples)):
                size = (wave + 1) * samples // min(_WAVES, samples) - wave * samples // min(_WAVES, samples)
                connection.execute("select instance.add_jobs(%s, %s)", [setup, Jsonb(sample * size)])
                packed = _packed(connection, setup)
                waves.append(packed | {"one_instance_a_job": round(alone * packed["jobs"] / len(sample), 2)})
                console.print(_wave(waves[-1]), markup=False)
            half = "select step_id from monitor.instance_step where setup = %s and state = 'placed' and step_id %% 2 = 0"
            connection.execute(f"select count(*) from instance.finish_steps(%s, array({half}))", [setup, setup])
            ended = _packed(connection, setup)
    if as_json:
        output.json_out({"setup": setup, "waves": waves, "half_finished": ended})
        return
    last = waves[-1]
    output.bars(
        "Cost an hour",
        [
            ("one instance a job", last["one_instance_a_job"]),
            ("packed", float(last["price"])),
            ("no packing costs less", float(last["lower_bound"])),
        ],
    )
    output.say(
        f"Half of the jobs finished: {ended['released']:,} instances released, {ended['instances']:,} stay,"
        f" {100 * float(ended['cpu_efficiency'] or 0):.0f} % of their cores used."
    )
    output.say(f"See for yourself: broker instances --setup {setup}")


def _packed(connection: Any, setup: str) -> dict[str, Any]:
    """One schedule, and what there is after it."""
    from broker.cli.session import rows_of

    started = time.perf_counter()
    [done] = rows_of(connection, "call instance.schedule(%s)", setup)
    seconds = time.perf_counter() - started
    total = rows_of(connection, "select * from monitor.instance_total where setup = %s", setup)
    empty = dict.fromkeys(("jobs", "instances", "price", "lower_bound"), 0) | {"cpu_efficiency": None}
    return {
        "seconds": round(seconds, 2),
        "placed": done["p_placed"],
        "requested": done["p_requested"],
        "released": done["p_released"],
        **(total[0] if total else empty),
    }


def _wave(row: Mapping[str, Any]) -> str:
    full = round(20 * float(row["cpu_efficiency"]))
    return (
        f"{row['jobs']:>9,} jobs on {row['instances']:>7,} instances  {'█' * full}{'░' * (20 - full)}"
        f" {100 * float(row['cpu_efficiency']):.0f} % of the cores; {float(row['price']):>10,.2f} an hour,"
        f" one a job {row['one_instance_a_job']:>10,.2f}; {row['placed'] / row['seconds']:,.0f} placements/s"
    )


def _show_next(setup: str, explained: list[dict[str, Any]]) -> None:
    """What to look at after a demo of brokerage."""
    task = explained[-1]["task"] if explained else "ID"
    change = f"broker what-if --setup {setup} --set jobbroker:IO_INTENSITY_CUTOFF=5000"
    next_steps = {
        f"broker explain task {task} --setup {setup} --limit 0": "all queues of a task",
        change: "what another setting would do for tasks that wait",
        f"broker what-if --setup {setup} --profile panda2026": "what PanDA's own rules of 2026 would do",
        f"broker classify --setup {setup} --limit 10": "classes of queues, users and tasks of user analysis",
        f"broker rules --setup {setup}": "the rules",
        _removal(setup): "remove this setup",
    }
    output.say("\nNext:")
    for command, meaning in next_steps.items():
        output.say(f"  {meaning}:\n    {command}")


@contextmanager
def _interruptible(setup: str) -> Iterator[None]:
    """Ctrl-C ends the demo with a line about what it leaves."""
    try:
        yield
    except KeyboardInterrupt:
        output.note(f"interrupted; setup {setup} is left; to remove it: {_removal(setup)}")
        raise typer.Exit(130) from None


def _removal(setup: str) -> str:
    return f"""broker psql -c "select taskqueue.remove_setup('{setup}')\""""


def _loading(jobs: int, terminal: bool) -> Any:
    """A progress bar on a terminal: gives the function that is told how many jobs are stored."""
    if not terminal:
        return nullcontext(lambda stored: None)
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    @contextmanager
    def shown() -> Any:
        columns = (TextColumn("inserting jobs"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, transient=True) as progress:
            task = progress.add_task("", total=jobs)
            yield lambda stored: progress.update(task, completed=stored)

    return shown()


def _watch(plan: Any, agents: int, work: "Work", as_json: bool) -> None:
    """Run the agents and show what they do: live on a terminal, else a line a second."""
    from rich.live import Live

    from broker.synthetic import demo

    console = output.console(stderr=as_json)
    console.print(f"{agents} JobAgents at LHCb's sites ask for {plan.seconds:g} s")
    live = (
        Live(_picture(work, 0.0), console=console, transient=True, refresh_per_second=5)
        if console.is_terminal
        else None
    )
    second, before = time.monotonic(), 0
    with live or nullcontext():
        rate = 0.0
        for _ in demo.run(plan, agents, work):
            passed = time.monotonic() - second
            if passed >= 1:
                rate = (len(work.taken) - before) / passed
                second, before = time.monotonic(), len(work.taken)
                if live is None:
                    console.print(f"  {rate:,.0f} matches/s; {_words(work)}")
            if live:
                live.update(_picture(work, rate))


def _words(work: "Work") -> str:
    latency = ", ".join(f"{name} {value:.1f} ms" for name, value in _latency(work).items())
    calls = len(work.seconds)
    return f"{len(work.taken):,} jobs taken; {latency}; {work.empty / calls if calls else 0:.0%} of calls find nothing"


def _picture(work: "Work", rate: float) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    return Group(Text(f"{rate:,.0f} matches/s", style="bold green"), Text(_words(work)), *_bars(work))


def _bars(work: "Work") -> Iterable["RenderableType"]:
    """Jobs taken of those inserted, by owner group and by CPU bucket."""
    yield _shares("Taken of the jobs inserted, by owner group", _pairs(work.taken_by_group, work.by_group))
    yield _shares("by CPU bucket (seconds; the highest goes first)", _pairs(work.taken_by_bucket, work.by_bucket))


def _shares(title: str, pairs: Mapping[str, tuple[int, int]]) -> "RenderableType":
    from rich.bar import Bar
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=None)
    table.add_column(min_width=12, justify="right")
    table.add_column(width=40)
    table.add_column(justify="right")
    for name, (taken, inserted) in pairs.items():
        bar = Bar(inserted or 1, 0, taken, width=40, color="green", bgcolor="grey23")
        table.add_row(name, bar, f"{taken:,} of {inserted:,}")
    return table


def _pairs(taken: Mapping[Any, int], inserted: Mapping[Any, int]) -> dict[str, tuple[int, int]]:
    """What was taken of what was inserted, the highest CPU bucket or the first group first."""
    numbers = all(isinstance(name, int) for name in inserted)
    return {str(name): (taken.get(name, 0), inserted[name]) for name in sorted(inserted, reverse=numbers)}


def _latency(work: "Work") -> dict[str, float]:
    from broker.synthetic.demo import percentile

    shares = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
    return {name: round(1000 * percentile(work.seconds, share), 2) for name, share in shares.items()}


def _conclude(summary: Mapping[str, Any], work: "Work", proof: "Proof", unmatched: "Unmatched | None") -> None:
    console = output.console()
    console.print(f"\n[bold]{summary['matches_per_second']:,.0f} matches/s[/bold]; {_words(work)}")
    for text, times in work.errors.items():
        output.note(f"error ({times} times): {text}")
    for shown in _bars(work):
        console.print(shown)
    rows = [
        (
            match.job_id, group, resource.get("Site", "any"), resource["CPUTime"], match.requirements["CPUTime"],
            _few(match.requirements.get("Sites")), _few(match.requirements.get("Platforms")),
            _few(match.requirements.get("JobTypes")),
        )
        for group, (match, resource) in sorted(work.samples.items())
    ]  # fmt: skip
    columns = ["job", "group", "site", "offers CPU s", "wants CPU s", "of its sites", "of its platforms", "job type"]
    console.print()
    output.table("Some of the matches", columns, rows, drop=["of its platforms", "job type", "of its sites"])
    if unmatched:
        _show_unmatched(unmatched)
    _show_proof(proof)


def _show_steps(setup: str, *, embedded: bool) -> None:
    """What to look at after the demo."""
    next_steps = {
        f"broker queues --setup {setup}": "the TaskQueues",
        f"broker match --setup {setup} --site LCG.CERN.cern --cpu-time 400000": "take a job",
        f"broker explain JOB --setup {setup}": "why a job waits",
        f"""broker psql -c "select * from monitor.waiting_by_site where setup = '{setup}'\"""": "what a site may run",
        "broker demo --jobs 871973": "LHCb's own size",
        "broker simulate --scenario storm": "a simulated grid on a bad day, to its end",
        _removal(setup): "remove this setup",
    }
    output.say("\nNext:")
    for command, meaning in next_steps.items():
        output.say(f"  {meaning}:\n    {command}")
    if embedded:
        output.say("\nThe embedded server goes on running; `broker down` stops it, its data stays.")


def _few(values: object) -> str:
    if not isinstance(values, list) or not values:
        return "any"
    return values[0] if len(values) == 1 else f"{values[0]} + {len(values) - 1}"


def _show_unmatched(unmatched: "Unmatched") -> None:
    from rich.text import Text

    resource = ", ".join(
        f"{key} {_few(value) if isinstance(value, list) else value}" for key, value in unmatched.resource.items()
    )
    failing = [
        (name, _short(wanted), _short(offered)) for name, wanted, offered, holds in unmatched.conditions if not holds
    ]
    output.console().print(Text(f"\nJob {unmatched.job_id} waits, and this resource does not get it: {resource}"))
    output.table("Why", ["condition", "job wants", "resource offers"], failing)
    remarks = [(condition, _short(remark)) for condition, remark in unmatched.lately[:4] if remark]
    remarks.sort(key=lambda pair: pair[0] == "all of them")
    if remarks:
        output.say("Of the resources seen lately:")
    for condition, remark in remarks:
        output.say(f"  {condition}: {remark}")


def _short(text: str) -> str:
    return text if len(text) <= 70 else f"{text[:67]}..."


def _show_proof(proof: "Proof") -> None:
    from rich.text import Text

    faults = sum(proof.faults.values())
    text = (
        f"\nNo job twice, none lost: {'it holds' if proof.holds else 'IT DOES NOT HOLD'}\n"
        f"  {proof.inserted:,} inserted = {proof.waiting:,} waiting + {proof.leased:,} leased + {proof.ended:,} ended;"
        f" {proof.distinct:,} distinct ids in {proof.rows:,} rows\n"
        f"  {proof.doubly} jobs given to two agents, {proof.unheard} taken without an agent having the answer\n"
        f"  {faults} rows in the consistency views ({', '.join(proof.faults)})"
    )
    output.console().print(Text(text))
