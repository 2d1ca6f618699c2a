"""A submitter's view of its own jobs: `broker jobs` and `broker job` for a login that is not a viewer."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from broker.cli.shared import output
from broker.cli.shared.listing import Page
from broker.listed import OWN_JOBS
from broker.operate.reading import Row, rows_of, seen_lately
from broker.words import REASONS

if TYPE_CHECKING:
    from broker.database import Connection

Answer = TypeVar("Answer")


def instead(of_all: Callable[[], Answer], of_own: Callable[[], Answer]) -> Answer:
    """The result for a viewer, or the result for the login's own jobs if it is not a viewer. A login that is
    neither gets the refusal for viewers.
    """
    import psycopg

    try:
        return of_all()
    except psycopg.errors.InsufficientPrivilege as first:
        try:
            return of_own()
        except psycopg.errors.InsufficientPrivilege:
            raise first from None


def page(
    connection: "Connection", shown: Iterable[str], setup: str, given: Mapping[str, object], *, after: object,
    limit: int | None,
) -> Page:  # fmt: skip
    """A page of the submitter's jobs. Raises BadRequest for a filter other than the state."""
    from broker.errors import BadRequest

    for option in given:
        if option != "status":
            raise BadRequest(f"--{option} needs the role broker_viewer", "of your own jobs, --status is a filter")
    query = "select * from taskqueue.own_jobs(%s, %s, %s, %s)"
    rows = rows_of(connection, query, setup, after, None if limit is None else limit + 1, given.get("status"))
    more = limit is not None and len(rows) > limit
    sources = {name: OWN_JOBS.columns[name].source for name in shown}
    page = [{name: row[source] for name, source in sources.items()} for row in rows[:limit]]
    return Page(page, rows[limit - 1]["job_id"] if more and limit else None)


def job(connection: "Connection", setup: str, number: int) -> Row:
    """The submitter's information about its job: its place, its events, and the reason why it waits."""
    [state] = rows_of(connection, "select * from taskqueue.own_job(%s, %s)", setup, number)
    events = rows_of(connection, "select * from taskqueue.own_job_events(%s, %s)", setup, number)
    seen = seen_lately(connection, setup, number) if state["state"] in ("waiting", "held") else []
    return {"setup": setup, **state, "events": events, "seen_lately": seen}


def show_job(known: Row, now: datetime) -> None:
    """Print a job of the submitter."""
    from broker.cli.explain import job as explained

    since = output.moment(known["since"], now) if known["since"] else None
    heard = output.moment(known["heard_at"], now) if known["heard_at"] else None
    facts = {
        "state": f"{known['state']} since {since}" if since else known["state"], "site": known["site"],
        "JobAgent heard": heard, "reason": REASONS.get(known["reason"], known["reason"]), "why": known["why"],
        "attempts": known["attempts"],
        "owner": known["owner_dn"], "group": known["owner_group"],
    }  # fmt: skip
    output.fields(f"Job {known['job_id']}", facts)
    if known["events"]:
        show_events(known["events"], {"site": "site", "grid_ce": "CE"}, now)
    if known["seen_lately"]:
        explained.show_seen_lately(known["job_id"], known["seen_lately"], now)


def show_events(rows: list[Row], columns: Mapping[str, str], now: datetime) -> None:
    """Print events of a job in TaskQueues, with some columns under their headings, and the facts of runs that ended."""
    headings = {"at": "at", "attempt_number": "attempt", "event": "event", **columns}
    facts = {"host": "host", "error_class": "class", "error_text": "error", "used": "used", "retry_rule": "retry rule",
             "passive_rule": "passive rule", "why": "why"}  # fmt: skip
    found = [row | {"used": _used(row)} for row in rows]
    headings |= {name: words for name, words in facts.items() if any(row.get(name) is not None for row in found)}
    cells = [[row[name] for name in headings] for row in found]
    output.table("In TaskQueues", list(headings.values()), cells, drop=["CE", "used", "who", "TaskQueue"], now=now)


def _used(row: Row) -> str | None:
    """The use of a run, in words."""
    parts = {
        "cpu_used": "CPU {:.6g} s",
        "wall_used": "wall {:.6g} s",
        "ram_used": "{:.6g} MB",
        "cores_used": "{} cores",
    }
    return ", ".join(words.format(row[name]) for name, words in parts.items() if row[name] is not None) or None
