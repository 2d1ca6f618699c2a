"""The stored decision of a run about a task: the first part of `broker explain task`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from broker.cli.shared import output
from broker.operate.reading import Row
from broker.words import counted

_BAR = 20  # characters of the longest bar in a table


def show(decided: Row, limit: int, now: datetime) -> None:
    """Show the time and run of a task's decision, the places of its jobs, and the rules that rejected other places.
    limit: places that are shown, 0 for all."""
    task, kind = decided["task_id"], kind_of(decided)
    dry = ", a dry run" if decided["dry"] else ""
    arm = f", arm {decided['arm']} of trial {decided['trial']}" if decided["arm"] else ""
    output.say(
        f"task {task} was decided at {output.moment(decided['decided_at'], now)} by run {decided['run_id']}"
        f" (profile {decided['profile']}{arm}{dry}): {_outcome(decided, kind, now)}"
    )
    if decided["reason"]:
        output.say(": ".join(filter(None, (decided["rule"], decided["reason"]))))
    if decided["candidates"] + decided["rejected"] + decided["not_candidates"] and not decided["queues"]:
        output.say("the decisions about its queues are no longer kept (brokerage.decisions_kept)")
        return
    if candidates := [row for row in decided["queues"] if row["verdict"] == "candidate"]:
        _show_candidates(candidates, kind, limit)
    _show_rules(decided["queues"], kind)


def show_place(decided: Row, rows: Sequence[Row]) -> None:
    """Show the decision about one queue, its pseudo-queues, or one nucleus."""
    kind = kind_of(decided)
    for row in rows:
        title = f"{kind.capitalize()} {row['queue']} in run {decided['run_id']}, {output.moment(decided['decided_at'])}"
        names = ("verdict", "rank", "weight", "jobs", "rule", "criteria", "reason")
        output.fields(title, {name: row[name] for name in names})


def kind_of(decided: Mapping[str, object]) -> str:
    """The kind of place that a broker chooses: queues for the jobs, or a nucleus for the task."""
    return "nucleus" if decided["algorithm"] == "production_task" else "queue"


def some(title: str, shown: Sequence[object], rows: Sequence[object]) -> str:
    """The title of a table that may have some of the rows only."""
    return title if len(shown) == len(rows) else f"{title}: {len(shown)} of {len(rows)} (--all)"


def bar(weight: float | None, most: float) -> str:
    """A weight as a bar beside the largest one."""
    return "█" * max(1, round(_BAR * (weight or 0) / most))


def _outcome(decided: Row, kind: str, now: datetime) -> str:
    if decided["status"] not in ("candidates", "pending"):
        return str(decided["status"])
    asked = decided["candidates"] + decided["rejected"]
    words = [f"{decided['candidates']:,} of {counted(asked, kind)} passed"]
    if decided["nucleus"]:
        words.append(f"it went to {decided['nucleus']}")
    elif kind == "queue" and not decided["dry"]:
        words.append(f"{counted(decided['jobs'] or 0, 'job')} assigned")
    if decided["retry_at"]:
        words.append(f"due again at {output.moment(decided['retry_at'], now)}")
    return ", ".join(words)


def _show_candidates(rows: Sequence[Row], kind: str, limit: int) -> None:
    most = max((row["weight"] or 0 for row in rows), default=0) or 1
    cells = [(row["rank"], row["queue"], row["weight"], bar(row["weight"], most), row["jobs"]) for row in rows]
    shown = cells[: limit or None]
    output.table(some("Passed", shown, rows), ["rank", kind, "weight", "", "jobs"], shown, drop=["", "jobs"])


def _show_rules(rows: Sequence[Row], kind: str) -> None:
    """Show the rules that kept the task from places, most first, each with an example."""
    lost = [row for row in rows if row["verdict"] != "candidate"]
    example = {(row["verdict"], row["rule"]): row for row in reversed(lost)}
    cells = [
        (rule, verdict, number, f"{example[verdict, rule]['queue']}: {example[verdict, rule]['reason']}")
        for (verdict, rule), number in Counter((row["verdict"], row["rule"]) for row in lost).most_common()
    ]
    if cells:
        place = "nuclei" if kind == "nucleus" else "queues"
        output.table("Kept away, by rule", ["rule", "verdict", place, "such as"], cells)
