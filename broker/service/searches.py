"""Searches and summaries of a setup, for callers that may read the view."""

from collections.abc import Awaitable, Callable
from typing import Any, LiteralString

import psycopg

from broker.service import search
from broker.service.calls import Row
from broker.service.endpoint import Call
from broker.service.models import Found, Restriction, Search, Summary
from broker.service.problems import Problem
from broker.service.views import OWN, OWN_SOURCE, VIEWS, View

_OWN_STATES = ("waiting", "held", "leased")
_DIGITS = 19  # digits of the largest ids
_SECONDS = 5  # of a search
COUNTED = 10_000
"""Maximal number of rows that are counted for a page."""
_MAY_READ: LiteralString = "select has_schema_privilege('monitor', 'usage')"


def find(name: str) -> Callable[[Call], Awaitable[Found]]:
    """The endpoint that searches a view."""

    async def run(call: Call) -> Found:
        return await page(call, VIEWS[name], OWN.get(name), call.body)

    return run


def count(name: str) -> Callable[[Call], Awaitable[list[dict[str, Any]]]]:
    """The endpoint that counts the rows of a view."""

    async def run(call: Call) -> list[dict[str, Any]]:
        return await groups(call, VIEWS[name], OWN.get(name), call.body)

    return run


async def page(call: Call, view: View, own: View | None, body: Search, offset: int = 0) -> Found:
    """A page of a view. A caller that may not read views gets its own rows, if the view has such rows."""
    if own is not None and not await may_read(call):
        view, given = own, _own_page(own, call.setup, body, offset)
    else:
        given = {"setup": call.setup}
    search.require_restriction(view, body.search)
    statement = search.page(view, given, body, [call.setup, view.name], offset)
    return statement.found(await _rows(call, statement.text, statement.values))


async def total(call: Call, view: View) -> int:
    """The number of rows of a view, at most COUNTED + 1."""
    [(number,)] = await call.rows(search.total(view), call.setup, COUNTED + 1)
    return int(number)


async def may_read(call: Call) -> bool:
    """Whether the caller may read views."""
    return await call.rows(_MAY_READ) == [(True,)]


async def row(call: Call, name: str, key: object) -> list[dict[str, Any]]:
    """The row of a list that has this key, or nothing."""
    text, values, names = search.row(VIEWS[name], call.setup, key)
    return [dict(zip(names, row, strict=True)) for row in await call.rows(text, *values)]


async def groups(call: Call, view: View, own: View | None, body: Summary) -> list[dict[str, Any]]:
    """Counts of a view by groups, the largest first."""
    if own is not None and not await may_read(call):
        view, given = own, {"setup": call.setup, "after": None, "most": None, "state": _state(own, body.search)}
    else:
        given = {"setup": call.setup}
    search.require_restriction(view, body.search)
    rows = await _rows(call, *search.summary(view, given, body.grouping, body.search))
    if len(rows) > search.GROUPS:
        hint = "Group by fewer columns, or restrict the search."
        raise Problem(422, f"there are more than {search.GROUPS} groups", code="PB001", key="grouping", hint=hint)
    names = [*dict.fromkeys(body.grouping), "count"]
    return [dict(zip(names, row, strict=True)) for row in rows]


def _own_page(own: View, setup: str, body: Search, offset: int) -> search.Values:
    """The range of the caller's own jobs that a page may show: if it is ordered by id, those from its cursor on, and at
    most as many as its limit."""
    by_id = all((one.parameter, one.direction) == (own.order[0][0], "desc") for one in body.sort[:1])
    key = search.opened(body.cursor or "")[1:2] if by_id else []
    after = int(key[0]) if key and key[0] and key[0].isdecimal() and len(key[0]) < _DIGITS else None
    state = _state(own, body.search)
    whole = by_id and len(body.search) == (0 if state is None else 1)
    return {"setup": setup, "after": after, "most": offset + body.limit + 1 if whole else None, "state": state}


def _state(own: View, restrictions: list[Restriction]) -> object:
    """The state that a search names."""
    state = OWN_SOURCE.c.state
    named = [one.value for one in restrictions if one.operator == "eq" and own.columns.get(one.parameter) is state]
    return next((state for state in named if state in _OWN_STATES), None)


async def _rows(call: Call, text: LiteralString, values: list[object]) -> list[Row]:
    """Rows of a search. Raises Problem for a search that takes too long, or a pattern that PostgreSQL cannot read."""
    try:
        return await call.rows(text, *values, seconds=_SECONDS)
    except psycopg.errors.QueryCanceled as error:
        hint = "Restrict the search, best by eq or in."
        raise Problem(503, f"the search took more than {_SECONDS} s", code=error.sqlstate, hint=hint) from None
    except psycopg.errors.InvalidRegularExpression as error:
        raise _bad_pattern(error, "regex") from None
    except psycopg.errors.InvalidEscapeSequence as error:
        raise _bad_pattern(error, "like") from None


def _bad_pattern(error: psycopg.Error, operator: str) -> Problem:
    return Problem(
        422, f"a value of operator {operator} is none: {error.diag.message_primary}", code="PB001", key="value"
    )
