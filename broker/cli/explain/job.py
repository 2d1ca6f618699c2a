"""The part of `broker explain` about matching: the conditions of a job, and the jobs that wait for a resource."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from broker.cli.explain.decided import bar
from broker.cli.shared import listing, output
from broker.cli.shared.session import elsewhere, session
from broker.operate.reading import Row, rows_of, seen_lately
from broker.words import counted


def explain_job(setup: str, job: int, described: Mapping[str, object], *, everything: bool, as_json: bool) -> None:
    """Explain why a job does not match a resource or, if none is described, the resources seen lately. everything:
    conditions that hold are shown, too."""
    from broker.client.call import jsonb

    with session() as connection, elsewhere(connection, "job", job, setup):
        if described:
            query = "select * from taskqueue.explain_match(%s, %s, %s)"
            rows = rows_of(connection, query, setup, job, jsonb(described))
        else:
            rows = seen_lately(connection, setup, job)
            now = listing.moment_of(connection, setup)
    if as_json:
        output.json_out(rows)
    elif described:
        failing = [row for row in rows if not row["holds"]]
        _show_conditions(f"Job {job} and this resource", failing, rows, None, everything=everything)
        names = ", ".join(row["condition"] for row in failing)
        output.say(f"does not match: {names}" if failing else "matches")
    else:
        show_seen_lately(job, rows, now, everything=everything)


def explain_resource(setup: str, described: Mapping[str, object], limit: int, *, as_json: bool) -> None:
    """Explain which jobs wait for a resource and which conditions keep them away, most jobs first."""
    from broker.client.call import jsonb

    with session(setup) as connection:
        query = "select * from taskqueue.explain_resource(%s, %s)"
        rows = rows_of(connection, query, setup, jsonb(described))
    if as_json:
        output.json_out(rows)
        return
    matching = sum(row["jobs"] for row in rows if not row["failing"])
    waiting = sum(row["jobs"] for row in rows)
    fit = "matches" if matching == 1 else "match"
    output.say(f"{counted(waiting, 'job')} wait{'s' * (waiting == 1)}, {matching:,} {fit} this resource")
    kept = [row for row in rows if row["failing"]]
    shown = kept[: limit or None]
    of = "" if len(shown) == len(kept) else f": {len(shown)} of {len(kept)} (--all)"
    most = max((row["jobs"] for row in kept), default=0) or 1
    cells = [
        (row["jobs"], bar(row["jobs"], most), row["task_queues"], ", ".join(row["failing"]), _brief(row["wanted"]),
         _brief(row["offered"]), row["example"])
        for row in shown
    ]  # fmt: skip
    if cells:
        titles = ["jobs", "", "TaskQueues", "fails", "wanted", "offered", "such as"]
        output.table(f"Kept away{of}", titles, cells, drop=["such as", "", "offered"])


def show_seen_lately(job: int, rows: Sequence[Row], now: datetime, *, everything: bool | None = None) -> None:
    """Show the conditions that resources seen lately do not fulfil. everything: others are shown, too; None: they are
    not even counted."""
    failing = [row for row in rows if row["failing"] or row["remark"]]
    failing.sort(key=lambda row: row["condition"] == "all of them")
    _show_conditions(f"Job {job} and the resources seen lately", failing, rows, now, everything=everything)


def _show_conditions(
    title: str, failing: Sequence[Row], rows: Sequence[Row], now: datetime | None, *, everything: bool | None
) -> None:
    """Show the conditions that fail and, below them, the others or their number."""
    others = [row for row in rows if row not in failing]
    shown = [*failing, *others] if everything else failing
    if shown:
        if "seen" in shown[0]:
            shown = [{**row, "failing": f"{row['failing']} of {row['seen']}"} for row in shown]
        columns = [name for name in rows[0] if name != "seen"]
        cells = [[_brief(row[name]) for name in columns] for row in shown]
        output.table(title, [name.replace("_", " ") for name in columns], cells, drop=["last seen", "failing"], now=now)
    if others and everything is False:
        more = "more " if failing else ""
        output.say(f"{len(others)} {more}{'holds' if len(others) == 1 else 'hold'} (--all shows them)")


def _brief(value: object) -> object:
    """A cell of at most eight parts, of at most 250 characters each: clauses, a quarantine with its reason and its next
    probe."""
    if not isinstance(value, str):
        return value
    parts = [part if len(part) <= 250 else f"{part[:247]}..." for part in value.split("; ")]
    return "; ".join(parts[:8] + ([f"and {len(parts) - 8} more"] if len(parts) > 8 else []))
