"""The output of `broker simulate`: the grid while it runs, and its figures at the end."""

import time
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

from broker.cli.shared import output
from broker.laboratory.commands.run_failures import hanging, show_failures, show_guard, show_troubles
from broker.operate.reading import Row
from broker.words import counted

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from broker.laboratory.simulation import Run, Step

_SITES = 12  # sites shown live
_OTHER_LINES = 8  # lines of the live display besides the sites
_GAP = 4  # columns between its two parts
_LINES = 24  # lines of a run without a terminal


def watch(run: "Run", console: "Console", speed: float, plain: bool) -> None:
    """Run the simulation at the given speed, and show it live or as lines."""
    from rich.live import Live
    from rich.text import Text

    begun = time.monotonic()
    every = max(1, run.minutes // run.scenario.tick // _LINES)
    live = None if plain else Live(console=console, transient=True, refresh_per_second=4)
    with live or nullcontext():
        for number, step in enumerate(run.go()):
            passed = time.monotonic() - begun
            if live:
                live.update(_picture(run, step, passed, console))
            elif number % every == 0:
                console.print(Text(hanging(_words(step), console)))
            if speed:
                time.sleep(max(0, step.minute * 60 / speed - passed))


def _words(step: "Step") -> str:
    used, slots = sum(step.used.values()), sum(step.slots.values())
    states = step.states
    parts = [
        f"{step.minute // 60}:{step.minute % 60:02}",
        f"{used:,} of {slots:,} cores ({used / slots if slots else 0:.0%})",
        f"{states.get('assigned', 0) + states.get('defined', 0):,} wait for input",
        f"{states.get('activated', 0):,} in TaskQueues", f"{states.get('sent', 0) + states.get('running', 0):,} run",
        f"{step.finished:,} finished", f"{step.failed:,} failed", f"{step.rebrokered:,} rebrokered", *step.troubles,
    ]  # fmt: skip
    return ", ".join(parts)


def _picture(run: "Run", step: "Step", passed: float, console: "Console") -> "RenderableType":
    """The largest sites, as many as fit on the terminal, beside the jobs by status."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    states = Table(title="Jobs by status", title_justify="left", title_style="bold", show_header=False, box=None)
    states.add_column(no_wrap=True)
    states.add_column(justify="right", no_wrap=True)
    for status in ("defined", "assigned", "activated", "sent", "running", "finished", "failed", "closed"):
        states.add_row(status, f"{step.states.get(status, 0):,}")
    states.add_row("rebrokered", f"{step.rebrokered:,}")
    states.add_row("input on its way", f"{step.transfers:,}")
    beside = console.width - console.measure(states).maximum - _GAP
    lines = max(3, min(_SITES, console.height - _OTHER_LINES))
    largest = sorted(step.slots, key=lambda name: (-max(step.slots[name], step.used[name]), name))[:lines]
    rows: list[tuple[str, float, float, str]] = [
        (site, step.used[site], step.slots[site], _cores(step.used[site], step.slots[site])) for site in largest
    ]
    both = Table.grid(padding=(0, _GAP, 0, 0))
    both.add_row(output.chart("Cores in use by site", rows, beside, ground=True), states)
    speed = step.minute * 60 / passed if passed else 0
    head = f"hour {step.minute / 60:.1f} of {run.minutes / 60:g}, {speed:,.0f} times real time"
    trouble = Text(f"now: {', '.join(step.troubles)}" if step.troubles else "", style="red")
    return Group(Text(head, style="bold green"), Text(_words(step)), trouble, both)


def _cores(used: int, slots: int) -> str:
    return f"{used:,} of {slots:,}" if slots else "offline"


def _percent(part: float | None) -> str:
    return "-" if part is None else f"{part:.1%}"


def conclude(found: Row, run: "Run", console: "Console") -> None:
    """Show figures of the four goals of PanDA, bars, and the proof that no job was lost."""
    from rich.text import Text

    busy, waits, shares, right = found["busy"], found["waits"], found["shares"], found["resources"]
    goals = [
        f"1 all CPUs busy: {_percent(busy['utilisation'])} of the core hours there;"
        f" {_percent(busy['utilisation_where_jobs_waited'])} of those for which their queue had a job",
        f"2 short waits: median {_minutes(waits['all']['median'])}, 95 % within {_minutes(waits['all']['p95'])};"
        f" of that in TaskQueues {_minutes(waits['in_task_queues']['median'])} and"
        f" {_minutes(waits['in_task_queues']['p95'])}; {waits['still_waiting']['jobs']:,} wait still",
        f"3 priorities and allocations: {_percent(shares['away'])} of the core hours went to other shares than the"
        f" targets ask for; {_percent(shares['overtaken_part'])} of the jobs were overtaken by one of lower priority",
        f"4 right resource: {_percent(right['local'])} had all input there, {_percent(right['first_queue'])} ran"
        f" where they were sent first, {_finished(right['finished'])},"
        f" {right['out_of_time']:,} ran out of time",
    ]
    lines = [
        f"\n{found['jobs']:,} jobs of {found['tasks']:,} tasks in {found['hours']:g} h"
        f" ({found['jobs_an_hour']:,} an hour), simulated in {found['wall_seconds']:g} s",
        "\nPanDA's four goals",
        *(hanging(goal, console) for goal in goals),
    ]
    console.print(Text("\n".join(lines)))
    _bars(console, "Utilisation by site", {
        name: (100 * (site["utilisation"] or 0), 100.0, f"{_percent(site['utilisation'])} of {site['cores']:,} cores"
               + (f", {_percent(site['failed_part'])} of its jobs failed" if (site["failed_part"] or 0) > 0.1 else ""))
        for name, site in list(found["sites"].items())[:_SITES]
    })  # fmt: skip
    slowest = max((row["p95"] or 0 for row in waits["by_share"].values()), default=1) or 1
    for title, kind in (("Waiting time by share", "by_share"), ("Waiting time by priority", "by_priority")):
        _bars(console, f"{title} (median; bar: within which 95 % start; jobs)", {
            name: (row["p95"], slowest, _waits(row))
            for name, row in waits[kind].items()
        })  # fmt: skip
    highest = max((max(row["used"] or 0, row["target"]) for row in shares["by_share"].values()), default=1) or 1
    _bars(console, "Share of the core hours (target)", {
        name: (row["used"] or 0, highest, f"{_percent(row['used'])} ({_percent(row['target'])})")
        for name, row in shares["by_share"].items()
    })  # fmt: skip
    if found["clouds"]:
        _show_clouds(found["clouds"], console)
    show_failures(found["failures"], console)
    show_troubles(found["troubles"], console)
    if found["guard"]:
        show_guard(found["guard"], console)
    _proof(found, console)


def _show_clouds(clouds: Row, console: "Console") -> None:
    from rich.text import Text

    text = (
        f"\nRented for {', '.join(clouds['queues'])}: {clouds['instances']:,} instances,"
        f" {clouds['most_at_once']:,} at once at most, {clouds['instance_hours']:,g} hours,"
        f" {clouds['cost']:,.2f} at list prices; jobs used {_percent(clouds['used_part'])} of their core hours"
    )
    console.print(Text(text))
    most = max(clouds["types"].values(), default=1)
    _bars(console, "Instances by type", {
        name: (number, most, f"{number:,}") for name, number in clouds["types"].items()
    })  # fmt: skip


def _proof(found: Row, console: "Console") -> None:
    from rich.text import Text

    from broker.laboratory import simulation as simulate

    one = found["conservation"]
    verdict = "it holds" if simulate.holds(found) else "IT DOES NOT HOLD"
    lines = [
        f"\nNo job lost, none twice: {verdict}",
        hanging(
            f"{one['made']:,} made = {one['ended']:,} ended or closed + {one['alive']:,} there; {one['doubled']} given"
            f" to two agents, {one['parts_doubled']} parts of input with two jobs",
            console,
        ),
        hanging(f"{sum(one['faults'].values())} rows in the consistency views ({', '.join(one['faults'])})", console),
    ]
    console.print(Text("\n".join(lines)))


def _finished(part: float | None) -> str:
    return "none has ended" if part is None else f"{part:.1%} of the ended ones finished"


def _waits(row: Row) -> str:
    return f"{_minutes(row['median'])}, {_minutes(row['p95'])}, {counted(row['jobs'], 'job')}"


def _minutes(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f} min" if value < 120 else f"{value / 60:.1f} h"


def _bars(console: "Console", title: str, rows: Mapping[str, tuple[float | None, float, str]]) -> None:
    listed = [(name, value or 0, whole, words) for name, (value, whole, words) in rows.items()]
    console.print(output.chart(f"\n{title}", listed, console.width, ground=True))
