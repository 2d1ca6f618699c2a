"""Views that searches read: the lists of broker.listed as SQLAlchemy expressions with the types of broker.tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from broker import tables
from broker.listed import LISTS, OWN_JOBS, List, Search


@dataclass(frozen=True)
class Kind:
    """Kind of a column: in words, and the type of a value in JSON."""

    words: str
    type: Any


INTEGER = Kind("an integer", int)
NUMBER = Kind("a number", float)
TEXT = Kind("a text", str)
TIME = Kind("a time with its offset, such as 2026-03-28T12:00:00Z", datetime)
BOOLEAN = Kind("true or false", bool)
JSON = Kind("any JSON", Any)
"""Shown; neither searched nor sorted nor grouped by."""
_KINDS: Mapping[type, Kind] = {
    sa.BigInteger: INTEGER, sa.Integer: INTEGER, sa.SmallInteger: INTEGER, sa.Double: NUMBER, sa.REAL: NUMBER,
    sa.Numeric: NUMBER, sa.Text: TEXT, sa.TIMESTAMP: TIME, sa.Boolean: BOOLEAN, JSONB: JSON,
}  # fmt: skip


def kind_of(expression: sa.ColumnElement[Any]) -> Kind:
    """Kind of a column."""
    return _KINDS[type(expression.type)]


@dataclass(frozen=True, eq=False)
class View:
    """A view, or the function own_jobs. columns: by their public names. of_setup: the rows of the setup."""

    name: str
    columns: Mapping[str, sa.ColumnElement[Any]]
    source: sa.FromClause
    order: tuple[tuple[str, bool], ...]
    nullable: tuple[str, ...] = ()
    search: Search = field(default_factory=Search)
    of_setup: sa.ColumnElement[bool] | None = None


_SETUP = sa.bindparam("setup", type_=sa.Text())


def _view(of: List) -> View:
    """A list as a view to search."""
    table = tables.metadata.tables[of.view]
    search = of.search or Search()
    of_setup = table.c.setup == _SETUP
    return View(
        of.view, {name: table.c[one.source] for name, one in of.columns.items()}, table, of.order, of.nullable, search,
        sa.or_(of_setup, table.c.setup.is_(None)) if search.general else of_setup,
    )  # fmt: skip


OWN_SOURCE = sa.func.taskqueue.own_jobs(
    _SETUP, sa.bindparam("after", type_=sa.BigInteger()), sa.bindparam("most", type_=sa.Integer()),
    sa.bindparam("state", type_=sa.Text()),
).table_valued(*(sa.column(one.name, one.type) for one in tables.own_jobs.c), name="own")  # fmt: skip
"""The caller's own jobs below an id, up to a limit, in one state."""


VIEWS: Mapping[str, View] = {name: _view(of) for name, of in LISTS.items() if of.search}
"""Lists that can be searched, by their names in paths."""
OWN: Mapping[str, View] = {
    "jobs": View(
        OWN_JOBS.view,
        {name: OWN_SOURCE.c[one.source] for name, one in OWN_JOBS.columns.items()},
        OWN_SOURCE,
        OWN_JOBS.order,
    )
}
"""The rows of a submitter, in place of all rows."""
