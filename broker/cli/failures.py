"""`broker failures`: why, where and since when jobs fail."""

from typing import Annotated

import typer

from broker.cli.lists import PANEL, ROWS, Limit
from broker.cli.shared import listing, output
from broker.cli.shared.common import Json
from broker.cli.shared.session import Setup, session
from broker.operate.reading import Row, rows_of

app = typer.Typer()

_FAILURES = "select * from history.failures(%s, %s, %s, %s, %s)"
_COLUMNS = {
    "site": {"site": "site"}, "host": {"site": "site", "host": "host"}, "class": {"class": "class"},
    "error": {"source": "source", "code": "code", "meaning": "meaning"}, "task": {"task_id": "task"},
    "job": {"job_id": "job"},
}  # fmt: skip
"""Names in --by, each with its columns and their headings."""
_FOUND = {"jobs": "jobs", "share": "share", "first_at": "first", "last_at": "last", "example": "example",
          "text": "text"}  # fmt: skip


@app.command(rich_help_panel=PANEL)
def failures(
    *,
    by: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Count by these, separated by commas: site, host, class, error (source and code), task, job.",
        ),
    ] = "class,error",
    site: Annotated[str | None, typer.Option(help="Only failures at this site.")] = None,
    host: Annotated[str | None, typer.Option(help="Only failures on this worker node.")] = None,
    error_class: Annotated[
        str | None, typer.Option("--class", help="Only failures of this class, such as infrastructure.")
    ] = None,
    task: Annotated[
        int | None, typer.Option(min=0, max=2**63 - 1, help="Only failures of this task, however old they are.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN|TIME", help="Beginning: a span before now, such as 90min or 2d, or a time; by default a day."
        ),
    ] = None,
    limit: Limit = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Count failed jobs by class, error, site, host, task or job. The most come first, each with an example and its
    text.

    share: the fraction of the jobs that ended at the site; the loop sample of `broker run` counts those. The newest
    20,000 failures are looked at.
    """
    from broker.json_text import json_text

    names = _names(by)
    given = {"site": site, "host": host, "class": error_class, "task": task}
    only = {name: value for name, value in given.items() if value is not None}
    most = (None if as_json else ROWS) if limit is None else limit or None
    with session(setup) as connection:
        begin = listing.beginning(connection, setup, since) if since else None
        asked = None if most is None else most + 1
        rows = rows_of(connection, _FAILURES, setup, begin, names, json_text(only), asked)
        now = listing.moment_of(connection, setup)
    if as_json:
        output.json_out(rows)
        return
    headings = {column: words for name in names for column, words in _COLUMNS[name].items()} | _FOUND
    headings = {column: words for column, words in headings.items() if _is_shown(column, rows, names)}
    output.records(
        "Failed jobs", rows[:most], headings, as_json=False, drop=["first", "example", "share", "source"], now=now
    )
    if most is not None and len(rows) > most:
        output.say("there are more: --limit 0 shows all")
    if rows and rows[0]["looked_since"] is not None:
        output.say(f"since {output.moment(rows[0]['looked_since'], now)}")


def _names(by: str) -> list[str]:
    """The names in --by. Raises BadRequest."""
    from broker.errors import BadRequest

    names = [name.strip() for name in by.split(",") if name.strip()]
    wrong = [name for name in names if name not in _COLUMNS]
    if wrong or not names:
        fault = f"--by is {wrong[0] if wrong else 'empty'}, which is none of: {', '.join(_COLUMNS)}"
        raise BadRequest(fault, "name one or several, such as site,class")
    return names


def _is_shown(column: str, rows: list[Row], names: list[str]) -> bool:
    """Whether a column is shown. A share or meaning must be known, and a list of single jobs has no number of jobs."""
    if column in ("share", "meaning"):
        return any(row[column] is not None for row in rows)
    return not ("job" in names and column in ("jobs", "first_at", "example"))
