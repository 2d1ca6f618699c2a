"""The output of `broker simulate` about failed jobs: their classes, retry rules, black holes and the guard."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from broker.cli.shared import output
from broker.operate.reading import Row
from broker.words import counted

if TYPE_CHECKING:
    from rich.console import Console

_LINES = 12  # quarantines shown


def hanging(text: str, console: "Console") -> str:
    """A line below a heading: indented, and its further lines more than its first one."""
    return textwrap.fill(
        text, console.width, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False
    )  # fmt: skip


def show_failures(failures: Row, console: "Console") -> None:
    """Show failed ends by class, and the decisions of retry rules."""
    from rich.text import Text

    for title, found in (("class", failures["by_class"]), ("retry rule", failures["by_rule"])):
        most = max(found.values(), default=1)
        rows = [(name, float(ends), float(most), f"{ends:,}") for name, ends in found.items()]
        if rows:
            console.print(output.chart(f"\nFailed jobs by {title}", rows, console.width, ground=True))
    if failures["by_rule"]:
        console.print(
            Text(
                f"\nParts of input: {failures['parts']:,} with a failed job, {failures['given_back']:,} given back to"
                f" their task, {failures['finished']:,} finished by another job"
            )
        )


def show_troubles(troubles: Sequence[Row], console: "Console") -> None:
    """Show each trouble with its effects."""
    from rich.text import Text

    if troubles:
        console.print(Text("\n".join(["\nTroubles", *(hanging(_trouble_text(one), console) for one in troubles)])))


def _trouble_text(trouble: Row) -> str:
    """A trouble with its times and its effects."""
    words = f"{_hour(round(60 * trouble['from_hour']))} to {_hour(round(60 * trouble['to_hour']))}: {trouble['kind']}"
    words += f" at {trouble['site']}" if trouble["site"] else ""
    if "jobs_failed" in trouble:
        words += f": {trouble['jobs_failed']:,} jobs failed there"
    if trouble.get("jobs_ran"):
        words += f", {trouble['jobs_ran']:,} of which ran when it began"
    if "jobs_given_back" in trouble:
        words += f", {trouble['jobs_given_back']:,} were given back"
    if "worker_nodes" in trouble:
        nodes = ", ".join(f"{one['host']} at {one['queue']}" for one in trouble["worker_nodes"])
        words += f" ({nodes}; {_full_work(trouble)})"
    return words


def _full_work(trouble: Row) -> str:
    after = trouble["full_work_after"]
    return "no full work again before the end" if after is None else f"full work again after {after:g} min"


def show_guard(guard: Row, console: "Console") -> None:
    """Show the worker nodes that the guard refused or, with the setting watch, would refuse."""
    from rich.text import Text

    lines = [
        f"\nGuard ({guard['setting']}): of {guard['worker_nodes']:,} worker nodes, {_refused(guard)};"
        f" {counted(guard['probes'], 'probe')}"
    ]
    listed = guard["quarantines"]
    for one in listed[:_LINES]:
        name = f"{one['host']} at {one['site']}" if one["host"] else one["site"]
        until = "the end" if one["to"] is None else _hour(one["to"])
        cause = f" ({one['trouble']})" if one["trouble"] else ""
        found = f"{_hour(one['from'])} to {until}: {name} {one['state']}{cause}: {one['why']}"
        lines.append(hanging(found, console))
    if len(listed) > _LINES:
        lines.append(f"  and {len(listed) - _LINES} more")
    console.print(Text("\n".join(lines)))


def _refused(guard: Row) -> str:
    if guard["setting"] == "off":
        return "none is judged"
    found = f"{guard['broken']:,} broken and {guard['healthy']:,} healthy"
    if guard["setting"] == "on":
        return f"{found} quarantined"
    return f"{found} would be quarantined{', and none of a named site' if guard['sites_named'] else ''}"


def _hour(minute: int) -> str:
    return f"{minute // 60}:{minute % 60:02}"


def compare(found: Mapping[str, Row]) -> None:
    """Show the differences between runs of one scenario with different settings of the guard."""
    runs = list(found.values())
    first = runs[0]
    rows: list[list[object]] = []
    for number, trouble in enumerate(first["troubles"]):
        if trouble["kind"] != "black hole":
            continue
        same = [run["troubles"][number] for run in runs]
        place = f"black hole at {trouble['site']}"
        rows.append([f"jobs failed, {place}", *(f"{one['jobs_failed']:,}" for one in same)])
        if "jobs_ran" in trouble:
            rows.append(["of these, running when it began", *(f"{one['jobs_ran']:,}" for one in same)])
        if "jobs_given_back" in trouble:
            rows.append([f"jobs given back, {place}", *(f"{one['jobs_given_back']:,}" for one in same)])
        if "worker_nodes" in trouble:
            rows.append([f"full work again (min), {place}", *(one["full_work_after"] for one in same)])
    guards = [run["guard"] or {} for run in runs]
    rows += [
        ["broken worker nodes quarantined", *(one.get("broken") for one in guards)],
        ["healthy worker nodes quarantined", *(one.get("healthy") for one in guards)],
        ["probes", *(one.get("probes") for one in guards)],
        ["failed jobs", *(f"{sum(run['failures']['by_class'].values()):,}" for run in runs)],
        ["finished jobs", *(f"{run['conservation']['states'].get('finished', 0):,}" for run in runs)],
        ["core hours used", *(f"{run['busy']['used_core_hours']:,}" for run in runs)],
    ]
    output.table("Guard", ["figure", *found], rows)
