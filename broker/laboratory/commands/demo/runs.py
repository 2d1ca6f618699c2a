"""The output of the brokerage in demos: a few lines for each broker, or everything."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from broker.cli.shared import output
from broker.laboratory.commands.run_failures import hanging
from broker.words import counted

if TYPE_CHECKING:
    from broker.laboratory.demo.brokerage import Run

_FIRST = 3  # places and rules that are named


def show(run: "Run") -> None:
    """Show how many tasks a broker decided, where they went, what rejected most, and what holds up one that waits."""
    from rich.text import Text

    console, summary = output.console(), run.summary
    decided = sum(row["tasks"] for row in summary["tasks"])
    statuses: Counter[str] = Counter()
    for row in summary["tasks"]:
        statuses[row["status"]] += row["tasks"]
    title = f"{run.title}: {counted(decided, 'task')} decided in {run.seconds:.1f} s"
    rows: list[tuple[str, float, float, str]] = [
        (status, float(tasks), float(decided), f"{tasks:,}") for status, tasks in statuses.items()
    ]
    console.print(output.chart(title, rows, console.width))
    places = summary["nuclei"] or summary["assigned"]
    what, place = ("task", "nucleus") if summary["nuclei"] else ("job", "queue")
    lines = []
    if places:
        total = sum(row[f"{what}s"] for row in places)
        named = [f"{row[place]} {row[f'{what}s']:,}" for row in places[:_FIRST]]
        lines.append(f"{counted(total, what)} to {counted(len(places), place)}, most to {', '.join(named)}")
    pairs: Counter[str] = Counter()
    for row in summary["rejections"]:
        pairs[row["rule"]] += row["pairs"]
    if pairs:
        lines.append(f"rejected most by {', '.join(f'{rule} {of:,}' for rule, of in pairs.most_common(_FIRST))}")
    lines += [_why(one) for one in run.explained if waits(one)]
    for line in lines:
        console.print(Text(hanging(line, console)))


def waits(explained: dict[str, Any]) -> bool:
    """Whether rules keep a task from every place."""
    return bool(explained["obstacles"]) and all(row["verdict"] != "candidate" for row in explained["queues"])


def _why(explained: dict[str, Any]) -> str:
    """Why a task that no queue takes waits, and the change that would open most queues to it."""
    asked = sum(row["verdict"] in ("candidate", "rejected") for row in explained["queues"])
    rejecting = max(explained["obstacles"], key=lambda row: row["rejects"])
    text = (
        f"task {explained['task_id']} waits: none of {counted(asked, 'queue')} takes it;"
        f" {rejecting['rule']} rejects {rejecting['rejects']}"
    )
    opening = max(explained["obstacles"], key=lambda row: row["opens"] or 0)
    if opening["opens"]:
        text += f"; without {opening['rule']} alone, {counted(opening['opens'], 'queue')} would take it"
    return text


def show_all(run: "Run") -> None:
    """Show a run as `broker assign` does, and the explanations of its tasks."""
    from broker.cli.assign import show_summary
    from broker.cli.explain.task import show_explanation

    show_summary(run.summary, dry=False)
    for one in run.explained:
        output.say("")
        show_explanation(one, 5)
