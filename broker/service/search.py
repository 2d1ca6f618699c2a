"""The search language: restrictions, order and pages of a view, as one statement, and counts by groups.

The text of a statement is put together from constants of this module and of listed.py; what a caller sends is only
looked up there, or a value. A page begins behind the last row of the page before it, so that it costs the same
wherever it is, and rows that come meanwhile move nothing. This stands here and not in SQL, since psql has a language
of its own to ask the views.
"""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString

import msgspec

from broker.service.calls import Row
from broker.service.listed import BOOLEAN, INTEGER, JSON, NUMBER, TEXT, TIME, Column, Kind, Listed
from broker.service.models import Found, Order, Restriction, Search
from broker.service.problems import Problem
from broker.world.shape import nearest

GROUPS = 10_000
"""Groups of a summary at most."""
ROWS = 50
"""Rows of a page of the service's own."""
_TO_ROWS: LiteralString = " limit 51"  # and one more

_SCALAR: Mapping[str, LiteralString] = {
    "eq": "{column} = {value}",
    "neq": "{column} is distinct from {value}",
    "gt": "{column} > {value}",
    "lt": "{column} < {value}",
    "like": "{column} like {value}",
    "not like": "({column} like {value}) is not true",
    "regex": "{column} ~ {value}",
}
_OF_NULL: Mapping[str, LiteralString] = {"eq": "{column} is null", "neq": "{column} is not null"}
_VECTOR: Mapping[str, LiteralString] = {
    "in": "{column} = any ({value})",
    "not in": "({column} = any ({value})) is not true",
}
_TAKEN: Mapping[Kind, type | tuple[type, ...]] = {
    INTEGER: int, NUMBER: (int, float), TEXT: str, TIME: str, BOOLEAN: bool,
}  # fmt: skip
_LARGEST = {INTEGER: 2**63, NUMBER: 1e300}
_OF_TEXT = ("like", "not like", "regex")
_UNORDERED = ("gt", "lt")

Part = tuple[LiteralString, list[object]]
"""A part of a statement, and the values in it."""


@dataclass(frozen=True)
class Statement:
    """A page of a search: its text, the values, the columns that are shown, and the columns that order it."""

    text: LiteralString
    values: list[object]
    limit: int
    shown: list[str]
    selected: list[str]
    order: list[tuple[str, bool]]
    digest: str

    def found(self, rows: Sequence[Row]) -> Found:
        """The answer, from the rows of the statement."""
        named = [dict(zip(self.selected, row, strict=True)) for row in rows[: self.limit]]
        cursor = self._cursor(named[-1]) if len(rows) > self.limit else None
        return Found([{name: row[name] for name in self.shown} for row in named], cursor)

    def _cursor(self, last: Mapping[str, Any]) -> str:
        """Where the next page begins: behind this row."""
        key = [None if last[name] is None else _text(last[name]) for name, _ in self.order]
        return urlsafe_b64encode(msgspec.json.encode([self.digest, *key])).decode().rstrip("=")


def column(listed: Listed, name: str, where: str, *, compared: bool = True) -> Column:
    """The column of a name. Raises Problem for a name that is not listed, and for JSON where it is compared."""
    found = listed.columns.get(name)
    if found is None:
        near = nearest(name, listed.columns)
        hint = f"The nearest is {near}." if near else f"There are: {', '.join(listed.columns)}."
        raise _wrong(where, f"there is no column {name[:100]!r}", name, hint)
    if compared and found.kind is JSON:
        raise _wrong(where, f"column {name} is JSON, which is shown alone", name, "Name it in parameters.")
    return found


def conditions(listed: Listed, search: Sequence[Restriction]) -> list[Part]:
    """The restrictions. Raises Problem."""
    return [_condition(listed, one, f"search[{number}]") for number, one in enumerate(search)]


def page(listed: Listed, source: Part, search: Search, scope: Sequence[str], offset: int = 0) -> Statement:
    """The statement of a page, with one row more than it has, so that the end is known.

    source: behind `from`, up to the restriction to the setup. scope: what a cursor is for, beside the search itself.
    offset: rows to pass over, for callers that know no cursor.
    """
    shown = list(listed.columns) if search.parameters is None else list(dict.fromkeys(search.parameters))
    for number, name in enumerate(shown):
        column(listed, name, f"parameters[{number}]", compared=False)
    order = _order(listed, search.sort)
    selected = list(dict.fromkeys([*shown, *(name for name, _ in order)]))
    digest = _digest([*scope, msgspec.to_builtins(search.search), order])
    parts = [source, *conditions(listed, search.search)]
    if search.cursor is not None:
        parts.append(_behind(listed, order, _key(search.cursor, digest, len(order))))
    where, values = _and(parts)
    by = " order by " + _comma([_by(listed, name, down) for name, down in order])
    if listed.late and (offset or order[0][0] != listed.order[0][0]):
        where, values = _found_first(listed, where + by, [*values, search.limit + 1, offset], source)
        offset = 0
    columns = _comma([listed.columns[name].sql for name in selected])
    text = "select " + columns + " from " + where + by
    if search.limit == ROWS and not (offset or search.search or search.cursor):
        # of a limit that is a parameter, the planner assumes a tenth of all rows, and plans each call anew
        return Statement(text + _TO_ROWS, values, search.limit, shown, selected, order, digest)
    values = [*values, search.limit + 1, offset]
    return Statement(text + " limit %s offset %s", values, search.limit, shown, selected, order, digest)


def summary(listed: Listed, source: Part, grouping: Sequence[str], search: Sequence[Restriction]) -> Part:
    """The statement of counts by groups, the largest first, with one more than there may be."""
    names = list(dict.fromkeys(grouping))
    columns = [column(listed, name, f"grouping[{number}]").sql for number, name in enumerate(names)]
    where, values = _and([source, *conditions(listed, search)])
    selected, by = _comma([*columns, "count(*)"]), _comma(["count(*) desc", *columns])
    groups: LiteralString = " group by " + _comma(columns) if columns else ""
    return "select " + selected + " from " + where + groups + " order by " + by + " limit %s", [*values, GROUPS + 1]


def require_restriction(listed: Listed, search: Sequence[Restriction]) -> None:
    """Refuse a search that would read the whole history. Raises Problem."""
    if listed.restricted and not any(
        one.parameter in listed.restricted and one.operator in ("eq", "in", "gt") for one in search
    ):
        names = " nor ".join(listed.restricted)
        hint = "Use eq or in, or gt for a time."
        raise Problem(422, f"search restricts neither {names}", code="PB001", key="search", hint=hint)


def _condition(listed: Listed, one: Restriction, where: str) -> Part:
    of = column(listed, one.parameter, f"{where}.parameter")
    text = _SCALAR.get(one.operator)
    if text is None:
        return _vector(of, one, where)
    if one.value is msgspec.UNSET or one.values is not msgspec.UNSET:
        raise _wrong(f"{where}.operator", f"operator {one.operator} takes value, and no values", one.operator)
    if one.operator in _OF_TEXT and of.kind is not TEXT:
        raise _wrong(f"{where}.operator", f"operator {one.operator} is for texts, and {one.parameter} is none",
                     one.operator)  # fmt: skip
    if one.operator in _UNORDERED and of.kind is BOOLEAN:
        raise _wrong(f"{where}.operator", f"operator {one.operator} is not for {of.kind.words}", one.operator)
    if one.value is None:
        if one.operator not in _OF_NULL:
            raise _wrong(f"{where}.value", f"operator {one.operator} takes no null", None, "Use eq or neq.")
        return _filled(_OF_NULL[one.operator], of), []
    return _filled(text, of), [_value(of.kind, one.value, f"{where}.value")]


def _vector(of: Column, one: Restriction, where: str) -> Part:
    if one.values is msgspec.UNSET or one.value is not msgspec.UNSET:
        raise _wrong(f"{where}.operator", f"operator {one.operator} takes values, and no value", one.operator)
    assert isinstance(one.values, list)
    values = [_value(of.kind, value, f"{where}.values[{number}]") for number, value in enumerate(one.values)]
    return _filled(_VECTOR[one.operator], of, "[]"), [values]


def _filled(text: LiteralString, of: Column, dimension: LiteralString = "") -> LiteralString:
    return text.replace("{column}", of.sql).replace("{value}", "%s::" + of.kind.sql + dimension)


def _value(kind: Kind, given: Any, where: str) -> object:
    """A value as PostgreSQL takes it. Raises Problem for one of another kind."""
    fits = isinstance(given, _TAKEN[kind]) and isinstance(given, bool) == (kind is BOOLEAN)
    if fits and kind in _LARGEST:
        fits = abs(given) < _LARGEST[kind]
    found = _time(given) if fits and kind is TIME else given
    if not fits or found is None:
        raise _wrong(where, f"it is not {kind.words}", given)
    return found


def _time(text: str) -> datetime | None:
    try:
        found = msgspec.convert(text, datetime)
    except msgspec.ValidationError:
        return None
    return found if found.tzinfo else None


def _order(listed: Listed, sort: Sequence[Order]) -> list[tuple[str, bool]]:
    """The columns that order the rows, up to the one that makes the order whole."""
    order: dict[str, bool] = {}
    for number, one in enumerate(sort):
        column(listed, one.parameter, f"sort[{number}].parameter")
        if one.parameter in order:
            raise _wrong(f"sort[{number}].parameter", f"column {one.parameter} comes twice", one.parameter)
        order[one.parameter] = one.direction == "desc"
    for name, down in listed.order:
        order.setdefault(name, down)
    return list(order.items())


def _found_first(listed: Listed, rows: LiteralString, values: list[object], source: Part) -> Part:
    """The rows of a page by their key, which is one column: found before their other columns are read."""
    key = listed.columns[listed.order[0][0]].sql
    found = "select " + key + " from " + rows + " limit %s offset %s"
    return source[0] + " and " + key + " = any (array(" + found + "))", [*source[1], *values]


def _may_be_null(listed: Listed, name: str) -> bool:
    return name in listed.nullable or name not in dict(listed.order)


def _by(listed: Listed, name: str, down: bool) -> LiteralString:
    direction: LiteralString = " desc" if down else ""
    last: LiteralString = " nulls last" if down and _may_be_null(listed, name) else ""
    return listed.columns[name].sql + direction + last


def _behind(listed: Listed, order: Sequence[tuple[str, bool]], key: Sequence[str | None]) -> Part:
    """Rows behind a key: the first column is behind, or alike and the second is behind, and so on. Null is last."""
    ways: list[Part] = []
    alike: list[Part] = []
    for (name, down), value in zip(order, key, strict=True):
        of = listed.columns[name]
        operator: LiteralString = " < " if down else " > "
        if value is not None:
            text = of.sql + operator + "%s::" + of.kind.sql
            if _may_be_null(listed, name):
                text = "(" + text + " or " + of.sql + " is null)"
            ways.append(_and([*alike, (text, [value])]))
            alike.append((of.sql + " = %s::" + of.kind.sql, [value]))
        else:
            alike.append((of.sql + " is null", []))
    if not ways:
        return "false", []
    texts, values = " or ".join(text for text, _ in ways), [value for _, more in ways for value in more]
    name, down = order[0]
    if len(ways) > 1 and not _may_be_null(listed, name):  # where an index can begin
        of = listed.columns[name]
        operator = " <= " if down else " >= "
        return of.sql + operator + "%s::" + of.kind.sql + " and (" + texts + ")", [key[0], *values]
    return "(" + texts + ")", values


def opened(cursor: str) -> list[str | None]:
    """What is in a cursor: for which search it is, and the key of a row; nothing, where it is no cursor."""
    try:
        found = msgspec.json.decode(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), type=list[str | None])
    except (ValueError, msgspec.MsgspecError):
        return []
    return found if not any("\0" in (text or "") for text in found) else []


def _key(cursor: str, digest: str, length: int) -> list[str | None]:
    found = opened(cursor)
    if len(found) != length + 1 or found[0] != digest:
        hint = "Send the search, sort and path of the answer that had the cursor, or no cursor."
        raise _wrong("cursor", "it is none of this search", cursor, hint)
    return found[1:]


def _digest(of: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(of)).hexdigest()[:16]


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _and(parts: Sequence[Part]) -> Part:
    return " and ".join(text for text, _ in parts), [value for _, more in parts for value in more]


def _comma(texts: Sequence[LiteralString]) -> LiteralString:
    return ", ".join(texts)


def _wrong(where: str, words: str, value: object, hint: str | None = None) -> Problem:
    """The refusal of a value, which it names."""
    shown = msgspec.json.encode(value).decode()[:100]
    key = where.rpartition(".")[2].partition("[")[0]
    return Problem(422, f"{where} is {shown}: {words}", code="PB001", key=key, value=shown, hint=hint)
