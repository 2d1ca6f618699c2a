"""Searches and summaries of a setup, for whoever may read the view."""

from collections.abc import Awaitable, Callable
from typing import Any, LiteralString

import psycopg

from broker.service import search
from broker.service.calls import Row
from broker.service.endpoint import Call
from broker.service.listed import LISTED, OWN, Listed
from broker.service.models import Found, Restriction, Search, Summary
from broker.service.problems import Problem

_OWN_STATES = ("waiting", "held", "leased")
_DIGITS = 19  # digits of the largest ids
_MAY_READ: LiteralString = "select has_schema_privilege('monitor', 'usage')"
_OWN: LiteralString = "taskqueue.own_jobs(%s, %s, %s, %s) where true"


def find(name: str) -> Callable[[Call], Awaitable[Found]]:
    """The endpoint that searches a view."""

    async def run(call: Call) -> Found:
        return await page(call, LISTED[name], OWN.get(name), call.body)

    return run


def count(name: str) -> Callable[[Call], Awaitable[list[dict[str, Any]]]]:
    """The endpoint that counts the rows of a view."""

    async def run(call: Call) -> list[dict[str, Any]]:
        return await groups(call, LISTED[name], OWN.get(name), call.body)

    return run


async def page(call: Call, listed: Listed, own: Listed | None, body: Search, offset: int = 0) -> Found:
    """A page of a view. Whoever may not read views gets its own rows, where there are such."""
    if own is not None and await call.rows(_MAY_READ) != [(True,)]:
        listed, source = own, _own_page(own, call.setup, body, offset)
    else:
        source = _of_setup(listed, call.setup)
    search.require_restriction(listed, body.search)
    statement = search.page(listed, source, body, [call.setup, listed.view], offset)
    return statement.found(await _rows(call, statement.text, statement.values))


async def groups(call: Call, listed: Listed, own: Listed | None, body: Summary) -> list[dict[str, Any]]:
    """Counts of a view by groups, the largest first."""
    if own is not None and await call.rows(_MAY_READ) != [(True,)]:
        listed, source = own, (_OWN, [call.setup, None, None, _state(own, body.search)])
    else:
        source = _of_setup(listed, call.setup)
    search.require_restriction(listed, body.search)
    rows = await _rows(call, *search.summary(listed, source, body.grouping, body.search))
    if len(rows) > search.GROUPS:
        hint = "Group by fewer columns, or restrict the search."
        raise Problem(422, f"there are more than {search.GROUPS} groups", code="PB001", key="grouping", hint=hint)
    names = [*dict.fromkeys(body.grouping), "count"]
    return [dict(zip(names, row, strict=True)) for row in rows]


def _of_setup(listed: Listed, setup: str) -> search.Part:
    return listed.view + (" where (setup = %s or setup is null)" if listed.general else " where setup = %s"), [setup]


def _own_page(own: Listed, setup: str, body: Search, offset: int) -> search.Part:
    """The caller's own jobs that a page may show: read from its cursor on, and no more of them than it holds, where it
    is ordered by id."""
    by_id = all((one.parameter, one.direction) == (own.order[0][0], "desc") for one in body.sort[:1])
    key = search.opened(body.cursor or "")[1:2] if by_id else []
    after = int(key[0]) if key and key[0] and key[0].isdecimal() and len(key[0]) < _DIGITS else None
    state = _state(own, body.search)
    whole = by_id and len(body.search) == (0 if state is None else 1)
    return _OWN, [setup, after, offset + body.limit + 1 if whole else None, state]


def _state(own: Listed, restrictions: list[Restriction]) -> object:
    """The state that a search names."""
    named = [one.value for one in restrictions if one.operator == "eq" and _column(own, one.parameter) == "state"]
    return next((state for state in named if state in _OWN_STATES), None)


def _column(listed: Listed, name: str) -> str | None:
    return listed.columns[name].sql if name in listed.columns else None


async def _rows(call: Call, text: LiteralString, values: list[object]) -> list[Row]:
    """Rows of a search. Raises Problem for a pattern that PostgreSQL cannot read."""
    try:
        return await call.rows(text, *values)
    except psycopg.errors.InvalidRegularExpression as error:
        raise _bad_pattern(error, "regex") from None
    except psycopg.errors.InvalidEscapeSequence as error:
        raise _bad_pattern(error, "like") from None


def _bad_pattern(error: psycopg.Error, operator: str) -> Problem:
    return Problem(
        422, f"a value of operator {operator} is none: {error.diag.message_primary}", code="PB001", key="value"
    )
