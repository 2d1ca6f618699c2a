"""Reading and printing of lists: filters, pages by key, columns. `broker.listed` defines the lists.

A page is read by the key that orders its list, from the key after which it begins: the ten-millionth row costs the
same as the first, and new rows do not shift the pages. Nothing is counted or sorted.
If a filter has no index, a page looks at WINDOW rows at most, and the next page continues after them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from broker.cli.shared import output
from broker.cli.shared.options import options
from broker.cli.shared.session import require_setup
from broker.listed import Command, List
from broker.operate.reading import Row, rows_of
from broker.words import REASONS

if TYPE_CHECKING:
    from broker.database import Connection

ROWS = 20
"""Rows of a table when no limit is given."""
SHOWN = 40
"""Values of a filter that an error names."""
WINDOW = 100_000
"""Rows that a page with a filter looks at."""

Limit = Annotated[
    int | None,
    typer.Option(min=0, max=2**31 - 1, help="Show at most this many rows, 0 for all; 20 in tables, all in JSON."),
]


def command_of(of: List) -> Command:
    """The list as a command."""
    assert of.command
    return of.command


def chosen(of: List, wanted: str | None) -> Mapping[str, str]:
    """The columns that -o names: a list of names or headings, or +NAME,... for more than the usual ones. Raises
    BadRequest."""
    from broker.errors import BadRequest

    by_heading = {of.columns[name].heading: name for name in of.columns}

    usual = command_of(of).shown
    if wanted is None:
        return of.headings(usual)
    given = [name.strip() for name in wanted.removeprefix("+").split(",") if name.strip()]
    names = [name if name in of.columns else by_heading.get(name, name) for name in given]
    wrong = [name for name in names if name not in of.columns]
    if wrong or not names:
        near = get_close_matches(wrong[0], of.columns, 1) if wrong else []
        nearest = f"the nearest is {near[0]}; " if near else ""
        raise BadRequest(
            f"there is no column {wrong[0] if wrong else '(none is named)'}",
            f"{nearest}there are: {', '.join(of.columns)}",
        )
    return of.headings(" ".join([*(usual.split() if wanted.startswith("+") else ()), *names]))


def columns_help(of: List) -> str:
    """The help text of -o."""
    usual = command_of(of).shown.split()
    others = [name for name in of.columns if name not in usual]
    text = f"Columns, separated by commas; +NAME adds to the usual ones. Usual: {', '.join(usual)}."
    return f"{text} Others: {', '.join(others)}." if others else text


@dataclass
class Page:
    """Rows of a list. after: the key to go on with, None at the end. looked: a window was searched without finding
    enough rows."""

    rows: list[Row]
    after: object = None
    looked: bool = False


_Conditions = list[tuple[str, list[object]]]


def query(
    of: List,
    shown: Sequence[str],
    setup: str | None,
    given: Mapping[str, object],
    *,
    after: object = None,
    limit: int | None = None,
) -> tuple[str, list[object]]:
    """The statement of a page, and its values."""
    command, key = command_of(of), of.columns[of.key].source
    first_down = of.order[0][1]
    own: _Conditions = [("setup = %s", [setup])] if setup is not None else []
    if after is not None:
        own.append((f"{key} {'<' if first_down else '>'} %s", [after]))
    by_index: _Conditions = []
    by_window: _Conditions = []
    for name, value in given.items():
        used = command.filters[name]
        (by_index if used.indexed else by_window).append(used.restriction(value))
    if not command.large or limit is None or not given:
        where, values = _where([*own, *by_index, *by_window])
        order = ", ".join(_ordered(of.columns[name].source, down) for name, down in of.order)
        return f"select {_selected(of, shown)} from {of.view}{where} order by {order} limit %s", [*values, limit]
    read = dict.fromkeys([key, *(name for one in given for name in command.filters[one].columns.split())])
    where, values = _where([*own, *by_index])
    order = _ordered(key, first_down)
    window = f"select {', '.join(read)} from {of.view}{where}"
    if not by_index:
        window += f" order by {order} limit {WINDOW}"
    passed, more = _where(by_window)
    text = (
        f"with looked as materialized ({window}), page as materialized ("
        f"select {key} from looked{passed} order by {order} limit %s) "
        f"select {_selected(of, shown, 'v.')} from page p join {of.view} v"
        f" on v.setup = %s and v.{key} = p.{key} order by v.{order}"
    )
    return text, [*values, *more, limit, setup]


def _selected(of: List, names: Sequence[str], alias: str = "") -> str:
    """Columns by their public names."""
    return ", ".join(f"{alias}{of.columns[name].source} as {name}" for name in names)


def _ordered(column: str, down: bool) -> str:
    return f"{column} desc" if down else column


def _where(conditions: _Conditions) -> tuple[str, list[object]]:
    texts = [text for text, _ in conditions]
    return (f" where {' and '.join(texts)}" if texts else ""), [value for _, values in conditions for value in values]


def read(
    connection: "Connection",
    of: List,
    shown: Sequence[str],
    setup: str | None,
    given: Mapping[str, object],
    *,
    after: object = None,
    limit: int | None = None,
) -> Page:
    """A page of a list, or the whole list without a limit. Raises NoSuchThing for a setup that does not exist."""
    command = command_of(of)
    asked = list(dict.fromkeys([*shown, of.key]))
    text, values = query(of, asked, setup, given, after=after, limit=None if limit is None else limit + 1)
    rows = rows_of(connection, text, *values)
    if not rows and setup is not None:
        require_setup(connection, setup)
    page = Page([{name: row[name] for name in shown} for row in rows[:limit]])
    if limit is not None and len(rows) > limit:
        page.after = rows[limit - 1][of.key]
    elif limit is not None and command.large and given and not any(command.filters[name].indexed for name in given):
        end, values = query(of, [of.key], setup, {}, after=after, limit=1)
        last = rows_of(connection, f"{end} offset {WINDOW - 1}", *values)
        page.after, page.looked = (last[0][of.key], True) if last else (None, False)
    return page


def refuse_unknown(connection: "Connection", of: List, setup: str | None, given: Mapping[str, object]) -> None:
    """Raise BadRequest for an impossible value of a filter; the error names the possible values."""
    from broker.errors import BadRequest

    for name, value in given.items():
        used = command_of(of).filters[name]
        names = list(used.values)
        if used.known:
            query = f"select distinct k.name from ({used.known}) k(name) where k.name is not null order by 1"
            names += [row[0] for row in connection.execute(query.encode(), {"setup": setup}) if row[0] not in names]
        if not (used.values or used.known) or value in names:
            continue
        option = (used.names or (f"--{name}",))[0]
        there = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
        near = get_close_matches(str(value), names, 1)
        fault = f"{option} is {value}, which is none of: {there or '(there are none)'}"
        raise BadRequest(fault, f"the nearest is {near[0]}" if near else "name one of them")


def moment_of(connection: "Connection", setup: str | None) -> datetime:
    """The present time of a setup, simulated or not, for times that are shown like "3 min ago"."""
    import psycopg

    query = "select coalesce((select simulated from monitor.setup where setup = %s), now()) as now"
    try:
        [row] = rows_of(connection, query, setup)
    except psycopg.errors.InsufficientPrivilege:  # a submitter
        [row] = rows_of(connection, "select now() as now")
    found: datetime = row["now"]
    return found


def not_counted(connection: "Connection", setup: str) -> str:
    """Why the counts of waiting jobs are missing; empty if they were made. Notes counts that are old."""
    query = "select is_counted, counted_at from history.freshness where setup = %s"
    for row in rows_of(connection, query, setup):
        if row["counted_at"] is None:
            return "not counted yet; `broker summarize` counts"
        if not row["is_counted"]:
            at = output.moment(row["counted_at"], moment_of(connection, setup))
            output.note(f"the waiting jobs were last counted at {at}; `broker summarize` counts them again")
    return ""


def beginning(connection: "Connection", setup: str, since: str) -> datetime:
    """A span that ends at the setup's current time, or a point in time. Raises BadRequest."""
    import psycopg

    from broker.errors import BadRequest

    now = moment_of(connection, setup)
    for kind in ("interval", "timestamptz"):
        try:
            with connection.transaction():
                [row] = rows_of(connection, f"select %s::{kind} as found", since)
        except psycopg.DataError:
            continue
        found = now - row["found"] if isinstance(row["found"], timedelta) else row["found"]
        if found < now:
            return found
        raise BadRequest(f"--since {since} is not in the past", "for example --since 90min, or --since 2d")
    raise BadRequest(
        f"--since {since} is neither a span nor a time", "for example --since 90min, or --since 2026-03-28"
    )


def require_span(connection: "Connection", option: str, text: str | None) -> None:
    """Refuse a text that is not a span of time (BadRequest)."""
    import psycopg

    from broker.errors import BadRequest

    try:
        with connection.transaction():
            connection.execute("select %s::interval", [text])
    except psycopg.DataError:
        raise BadRequest(f"{option} {text} is not a span of time", "for example 90min, '2 hours' or '1 day'") from None


def show(headings: Mapping[str, str], of: List, page: Page, now: datetime) -> None:
    """Print a page as a table, and say how to get the next page."""
    command = command_of(of)
    rows = [
        {name: REASONS.get(value, value) if name == "reason" else value for name, value in row.items()}
        for row in page.rows
    ]
    behind, _, before = command.joined.partition(" ")
    if {behind, before} <= headings.keys() and not options.wide:
        for row in rows:
            second = row.pop(behind)
            row[before] = "; ".join(filter(None, (row[before], second and f"{headings[behind]}: {second}"))) or None
        headings = {name: heading for name, heading in headings.items() if name != behind}
    dropped = [headings[name] for name in command.dropped.split() if name in headings]
    output.table(of.title, list(headings.values()), [list(row.values()) for row in rows], drop=dropped, now=now)
    if page.looked:
        output.say(f"{WINDOW:,} rows were looked at: --after {page.after} goes on behind them")
    elif page.after is not None and command.paged:
        output.say(f"there are more: --after {page.after} is the next page, --limit 0 shows all")
    elif page.after is not None:
        output.say("there are more: --limit 0 shows all")
