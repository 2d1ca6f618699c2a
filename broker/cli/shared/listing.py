"""Reading and printing of lists: filters, pages by key, columns. `broker.cli.lists` defines the lists.

A page is read by the key that its list is ordered by, from the key after which it begins: it costs the same at the
first row as at the ten-millionth, and rows that arrive in between do not shift the pages. Nothing is counted or sorted.
If a filter has no index, a page looks at WINDOW rows at most, and the next page continues after them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from broker.cli.shared import output
from broker.cli.shared.session import require_setup
from broker.operate.reading import Row, rows_of

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


@dataclass(frozen=True)
class Filter:
    """An option that restricts a list to rows of a condition.

    columns: the columns that the condition reads. condition: has %s for each value, or none for a flag (kind bool); by
    default the first column must equal the value. indexed: the rows are found by an index. names: the names of the
    option, if several. values: the possible values. known: a query for the values in a setup, with %(setup)s.
    """

    columns: str
    help: str
    kind: type = str
    condition: str = ""
    indexed: bool = False
    names: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    known: str = ""

    def restriction(self, value: object) -> tuple[str, list[object]]:
        """The condition, and the values in it."""
        condition = self.condition or f"{self.columns.split()[0]} = %s"
        return condition, [value] * condition.count("%s")


@dataclass(frozen=True)
class List:
    """A list: its subject, the view that it reads, and the columns with their headings. columns: the usual columns.
    more: other columns, for -o. key: the column that orders it, unique in a setup; followed by ` desc` for the largest
    first. paged: whether --after is offered. large: whether a filter needs WINDOW. dropped: headings to leave out of a
    table that is too wide, in this order.
    """

    help: str
    view: str
    columns: Mapping[str, str]
    key: str
    more: Mapping[str, str] = field(default_factory=dict)
    filters: Mapping[str, Filter] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    of_setup: bool = True
    paged: bool = True
    large: bool = False

    @property
    def key_column(self) -> str:
        """The column that orders the list."""
        return self.key.split()[0]


def columns(names: str, **headings: str) -> Mapping[str, str]:
    """Columns, separated by blanks, with their headings: by default a heading is the column's name in words."""
    return {name: headings.get(name, name.replace("_", " ")) for name in names.split()}


def chosen(of: List, wanted: str | None) -> Mapping[str, str]:
    """The columns that -o names: a list of names, or +NAME,... for more than the usual ones. Raises BadRequest."""
    from broker.errors import BadRequest

    if wanted is None:
        return of.columns
    known = {**of.columns, **of.more}
    names = [name.strip() for name in wanted.removeprefix("+").split(",") if name.strip()]
    wrong = [name for name in names if name not in known]
    if wrong or not names:
        raise BadRequest(
            f"there is no column {wrong[0] if wrong else '(none is named)'}", f"there are: {_names(known)}"
        )
    kept = {name: known[name] for name in names}
    return {**of.columns, **kept} if wanted.startswith("+") else kept


def columns_help(of: List) -> str:
    """The help text of -o."""
    text = f"Columns, separated by commas; +NAME adds to the usual ones. Usual: {_names(of.columns)}."
    return f"{text} Others: {_names(of.more)}." if of.more else text


def _names(known: Mapping[str, str]) -> str:
    return ", ".join(known)


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
    down = of.key.endswith("desc")
    order = f"{of.key_column}{' desc' if down else ''}"
    own: _Conditions = [("setup = %s", [setup])] if setup is not None else []
    if after is not None:
        own.append((f"{of.key_column} {'<' if down else '>'} %s", [after]))
    by_index: _Conditions = []
    by_window: _Conditions = []
    for name, value in given.items():
        (by_index if of.filters[name].indexed else by_window).append(of.filters[name].restriction(value))
    if not of.large or limit is None or not given:
        where, values = _where([*own, *by_index, *by_window])
        return f"select {', '.join(shown)} from {of.view}{where} order by {of.key} limit %s", [*values, limit]
    read = dict.fromkeys([of.key_column, *(name for one in given for name in of.filters[one].columns.split())])
    where, values = _where([*own, *by_index])
    window = f"select {', '.join(read)} from {of.view}{where}"
    if not by_index:
        window += f" order by {order} limit {WINDOW}"
    passed, more = _where(by_window)
    text = (
        f"with looked as materialized ({window}), page as materialized ("
        f"select {of.key_column} from looked{passed} order by {order} limit %s) "
        f"select {', '.join(f'v.{name}' for name in shown)} from page p join {of.view} v"
        f" on v.setup = %s and v.{of.key_column} = p.{of.key_column} order by v.{order}"
    )
    return text, [*values, *more, limit, setup]


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
    """A page of a list; the whole list without a limit. Raises NoSuchThing for a setup that does not exist."""
    asked = list(dict.fromkeys([*shown, of.key_column]))
    text, values = query(of, asked, setup, given, after=after, limit=None if limit is None else limit + 1)
    rows = rows_of(connection, text, *values)
    if not rows and setup is not None:
        require_setup(connection, setup)
    page = Page([{name: row[name] for name in shown} for row in rows[:limit]])
    if limit is not None and len(rows) > limit:
        page.after = rows[limit - 1][of.key_column]
    elif limit is not None and of.large and given and not any(of.filters[name].indexed for name in given):
        end, values = query(of, [of.key_column], setup, {}, after=after, limit=1)
        last = rows_of(connection, f"{end} offset {WINDOW - 1}", *values)
        page.after, page.looked = (last[0][of.key_column], True) if last else (None, False)
    return page


def refuse_unknown(connection: "Connection", of: List, setup: str | None, given: Mapping[str, object]) -> None:
    """Raise BadRequest for an impossible value of a filter; the error names the possible values."""
    from broker.errors import BadRequest

    for name, value in given.items():
        used = of.filters[name]
        names = list(used.values)
        if used.known:
            query = f"select distinct k.name from ({used.known}) k(name) where k.name is not null order by 1"
            names += [row[0] for row in connection.execute(query.encode(), {"setup": setup}) if row[0] not in names]
        if not (used.values or used.known) or value in names:
            continue
        option = (used.names or (f"--{name}",))[0]
        there = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
        near = get_close_matches(str(value), names, 1)
        raise BadRequest(
            f"{option} is {value}, which is none of: {there or '(there are none)'}",
            f"the nearest is {near[0]}" if near else "name one of them",
        )


def moment_of(connection: "Connection", setup: str | None) -> datetime:
    """The time of a setup, simulated or not, for times that are shown as 3 min ago."""
    import psycopg

    query = "select coalesce((select simulated from monitor.setup where setup = %s), now()) as now"
    try:
        [row] = rows_of(connection, query, setup)
    except psycopg.errors.InsufficientPrivilege:  # a submitter
        [row] = rows_of(connection, "select now() as now")
    found: datetime = row["now"]
    return found


def show(name: str, headings: Mapping[str, str], of: List, page: Page, now: datetime) -> None:
    """Print a page as a table, and the option for the next page."""
    cells = [list(row.values()) for row in page.rows]
    output.table(name, list(headings.values()), cells, drop=of.dropped, now=now)
    if page.looked:
        output.say(f"{WINDOW:,} rows were looked at: --after {page.after} goes on behind them")
    elif page.after is not None and of.paged:
        output.say(f"there are more: --after {page.after} is the next page, --limit 0 shows all")
    elif page.after is not None:
        output.say("there are more: --limit 0 shows all")
