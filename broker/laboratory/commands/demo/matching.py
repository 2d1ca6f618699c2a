"""The output of `broker demo`: progress, matches, the reason why one job is not matched, and the proof that no job is
lost."""

import time
from collections.abc import Iterable, Mapping
from contextlib import closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from broker.cli.shared import output
from broker.laboratory.commands.demo.common import part
from broker.laboratory.commands.run_failures import hanging

if TYPE_CHECKING:
    from rich.console import RenderableType

    from broker.laboratory.agents import Plan
    from broker.laboratory.demo.matching import Proof, Unmatched, Work


def loading(jobs: int, terminal: bool) -> Any:
    """A function that is called with the number of jobs stored so far; on a terminal it moves a progress bar."""
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


def watch(plan: "Plan", agents: int, work: "Work", as_json: bool) -> None:
    """Run the agents and show their work: live on a terminal, elsewhere one line per second. The run is always closed
    here: the garbage collector might close it only when the interpreter shuts down and the thread that it waits for no
    longer runs.
    """
    from rich.live import Live

    from broker.laboratory.demo import matching

    console = output.console(stderr=as_json)
    console.print(f"{agents} JobAgents at LHCb's sites ask for jobs for {plan.seconds:g} s")
    live = (
        Live(_picture(work, 0.0), console=console, transient=True, refresh_per_second=5)
        if console.is_terminal
        else None
    )
    second, before = time.monotonic(), 0
    with live or nullcontext(), closing(matching.run(plan, agents, work)) as batches:
        rate = 0.0
        for _ in batches:
            passed = time.monotonic() - second
            if passed >= 1:
                rate = (len(work.taken) - before) / passed
                second, before = time.monotonic(), len(work.taken)
                if live is None:
                    console.print(f"  {rate:,.0f} matches/s; {_words(work)}")
            if live:
                live.update(_picture(work, rate))


def _words(work: "Work") -> str:
    from broker.laboratory.demo.matching import latency

    if not (calls := len(work.seconds)):
        return "no call is answered yet"
    times = ", ".join(f"{name} {value:.1f}" for name, value in latency(work).items())
    return f"{len(work.taken):,} jobs; {times} ms; {work.empty / calls:.0%} of calls find nothing"


def _picture(work: "Work", rate: float) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    return Group(Text(f"{rate:,.0f} matches/s", style="bold green"), Text(_words(work)), *_bars(work))


def _bars(work: "Work") -> Iterable["RenderableType"]:
    """Taken and inserted jobs, by owner group and by CPU bucket."""
    from broker.laboratory.demo.matching import taken_and_inserted

    yield _shares("Taken of the jobs inserted, by owner group", taken_and_inserted(work.taken_by_group, work.by_group))
    yield _shares(
        "by CPU bucket (seconds; the highest goes first)", taken_and_inserted(work.taken_by_bucket, work.by_bucket)
    )


def _shares(title: str, pairs: Mapping[str, tuple[int, int]]) -> "RenderableType":
    rows: list[tuple[str, float, float, str]] = [
        (name, taken, inserted, f"{taken:,} of {inserted:,}") for name, (taken, inserted) in pairs.items()
    ]
    return output.chart(title, rows, output.console().width, ground=True)


def conclude(summary: Mapping[str, Any], work: "Work") -> None:
    """Show the whole run: the rate, the taken jobs, some matches, a job that was not matched, and the proof."""
    console = output.console()
    console.print(f"[bold]{summary['matches_per_second']:,.0f} matches/s[/bold]; {_words(work)}")
    for text, times in work.errors.items():
        output.note(f"error ({times} times): {text}")
    for shown in _bars(work):
        console.print(shown)
    rows = [
        (
            match.job_id, group, resource.get("Site", "any"), resource["CPUTime"], match.requirements["CPUTime"]
        )
        for group, (match, resource) in sorted(work.samples.items())
    ]  # fmt: skip
    part(console, "2 Explain", "the SQL that decides also says why a job waits")
    columns = ["job", "group", "site", "offers CPU s", "wants CPU s"]
    output.table("Some of the matches", columns, rows)
    if summary["not_matched"]:
        _show_unmatched(summary["not_matched"])
    _show_proof(summary["proof"])


def _show_unmatched(unmatched: "Unmatched") -> None:
    from rich.text import Text

    resource = ", ".join(
        f"{key} {output.first_of(value) if isinstance(value, list) else value}"
        for key, value in unmatched.resource.items()
    )
    failing = [
        (name, _short(wanted), _short(offered)) for name, wanted, offered, holds in unmatched.conditions if not holds
    ]
    output.console().print(Text(f"Job {unmatched.job_id} waits, and this resource does not get it: {resource}"))
    output.table("Why", ["condition", "job wants", "resource offers"], failing)
    for condition, remark in unmatched.lately:
        if condition == "all of them" and remark:
            output.say(f"Of all that asked: {remark}")


_CELL = 30  # characters of a cell: three rows of a table have three lines on a terminal of 80 columns


def _short(text: str) -> str:
    return text if len(text) <= _CELL else f"{text[: _CELL - 3]}..."


def _show_proof(proof: "Proof") -> None:
    from rich.text import Text

    console, faults = output.console(), sum(proof.faults.values())
    part(console, "3 Proof", "each inserted job has exactly one place")
    console.print(f"No job twice, none lost: {'it holds' if proof.holds else 'IT DOES NOT HOLD'}")
    for line in (
        f"{proof.inserted:,} inserted = {proof.waiting:,} waiting + {proof.leased:,} leased + {proof.ended:,} ended;"
        f" {proof.distinct:,} distinct ids in {proof.rows:,} rows",
        f"{proof.doubly} jobs given to two agents, {proof.unheard} taken without an agent having the answer",
        f"{faults} rows in the consistency views ({', '.join(proof.faults)})",
    ):
        console.print(Text(hanging(line, console)))
