"""The part of `broker explain` about matching: the conditions of a job, and the jobs that wait for a resource."""

from collections.abc import Mapping, Sequence

from broker.cli.explain.decided import bar
from broker.cli.shared import output
from broker.cli.shared.output import counted
from broker.cli.shared.session import elsewhere, session
from broker.operate.reading import Row, rows_of, seen_lately


def explain_job(setup: str, job: int, described: Mapping[str, object], *, as_json: bool) -> None:
    """Explain why a job does not match a resource or, if none is described, the resources seen lately."""
    from broker.client.call import jsonb

    with session() as connection, elsewhere(connection, "job", job, setup):
        if described:
            query = "select * from taskqueue.explain_match(%s, %s, %s)"
            rows = rows_of(connection, query, setup, job, jsonb(described))
        else:
            rows = seen_lately(connection, setup, job)
    if as_json:
        output.json_out(rows)
    elif described:
        _show_conditions(f"Job {job} and this resource", rows)
        failing = [row["condition"] for row in rows if not row["holds"]]
        output.say(f"does not match: {', '.join(failing)}" if failing else "matches")
    else:
        show_seen_lately(job, rows)


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
    of = "" if len(shown) == len(kept) else f": {len(shown)} of {len(kept)} (--limit 0: all)"
    most = max((row["jobs"] for row in kept), default=0) or 1
    cells = [
        (row["jobs"], bar(row["jobs"], most), row["task_queues"], ", ".join(row["failing"]), _brief(row["wanted"]),
         _brief(row["offered"]), row["example"])
        for row in shown
    ]  # fmt: skip
    if cells:
        titles = ["jobs", "", "TaskQueues", "fails", "wanted", "offered", "such as"]
        output.table(f"Kept away{of}", titles, cells, drop=["such as", "", "offered"])


def show_seen_lately(job: int, rows: Sequence[Row]) -> None:
    """Show the conditions that resources seen lately do not fulfil; others are left out."""
    shown = [row for row in rows if row["failing"] or row["remark"]]
    shown.sort(key=lambda row: row["condition"] == "all of them")
    _show_conditions(f"Job {job} and the resources seen lately", shown)


def _show_conditions(title: str, rows: Sequence[Row]) -> None:
    cells = [[_brief(value) for value in row.values()] for row in rows]
    output.table(title, [name.replace("_", " ") for name in rows[0]], cells, drop=["last seen"])


def _brief(value: object) -> object:
    """A cell of at most eight parts, of at most 250 characters each: clauses, a quarantine with its reason and its next
    probe."""
    if not isinstance(value, str):
        return value
    parts = [part if len(part) <= 250 else f"{part[:247]}..." for part in value.split("; ")]
    return "; ".join(parts[:8] + ([f"and {len(parts) - 8} more"] if len(parts) > 8 else []))
