"""The search language: restrictions, order and pages of a view, as one statement, and counts by groups.

SQLAlchemy makes the text of a statement from the columns of views.py, once for each shape of a search. Names from a
caller are only looked up there, and everything else is a value. A page begins behind the last row of the page before
it, so all pages cost the same, and new rows do not shift them. This is not in SQL, since psql users have SQL itself.
"""

import hashlib
import math
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, LiteralString, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from broker.service.calls import Row
from broker.service.models import Found, Order, Restriction, Search
from broker.service.problems import Problem
from broker.service.views import BOOLEAN, INTEGER, JSON, NUMBER, TEXT, TIME, Kind, View, kind_of
from broker.world.shape import nearest

GROUPS = 10_000
"""Maximal number of groups of a summary."""
ROWS = 50
"""Rows of a page of the service's own."""
_SHAPES = 300  # statements that are kept, of each function; the longest has 40 kB

_Expression = sa.ColumnElement[Any]
_SCALAR: Mapping[str, Callable[[_Expression, _Expression], _Expression]] = {
    "eq": lambda column, value: column == value,
    "neq": lambda column, value: column.is_distinct_from(value),
    "gt": lambda column, value: column > value,
    "lt": lambda column, value: column < value,
    "like": lambda column, value: column.like(value),
    "not like": lambda column, value: column.like(value).is_not(sa.true()),
    "regex": lambda column, value: column.regexp_match(value),
}
_OF_NULL: Mapping[str, Callable[[_Expression], _Expression]] = {
    "eq": lambda column: column.is_(None),
    "neq": lambda column: column.is_not(None),
}
_VECTOR: Mapping[str, Callable[[_Expression, _Expression], _Expression]] = {
    "in": lambda column, values: column == sa.any_(values),
    "not in": lambda column, values: (column == sa.any_(values)).is_not(sa.true()),
}
_TAKEN: Mapping[Kind, type | tuple[type, ...]] = {
    INTEGER: int, NUMBER: (int, float), TEXT: str, TIME: str, BOOLEAN: bool,
}  # fmt: skip
_LARGEST = {INTEGER: 2**63, NUMBER: 1e300}
_LONGEST_PATTERN = 200
_MOST_REPEATS = 300  # quantifiers and repetitions of a pattern, times the repetitions of its groups
_MOST_PLACES = 4  # constraints that match a place instead of a character: each doubles the time
_BOUNDS = re.compile(r"(\)?)\{(?:[0-9]+,)?([0-9]+)\}")
_PLACES = re.compile(r"\\[AZmMyY]|(?<!\[)\^|\$|\(\?[=!<]|:[<>]:")
_REFERENCE = re.compile(r"\\[0-9]")  # it is matched by search
_OF_TEXT = ("like", "not like", "regex")
_UNORDERED = ("gt", "lt")

Values = Mapping[str, object]
"""Values of a statement by the names of its parameters."""


class _Condition(NamedTuple):
    """A restriction without its value. is_null: the value is null."""

    column: str
    operator: str
    is_null: bool


class _Shape(NamedTuple):
    """The parts of a page on which its text depends. key: which values of the cursor's row are not null; None: no
    cursor. limit: the number of rows, if it is in the text; None: it is a value."""

    selected: tuple[str, ...]
    order: tuple[tuple[str, bool], ...]
    conditions: tuple[_Condition, ...]
    key: tuple[bool, ...] | None
    limit: int | None
    has_offset: bool


class _Text(NamedTuple):
    """The text of a statement, and the names of its parameters in their order."""

    text: LiteralString
    names: tuple[str, ...]


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
        """The cursor of the next page, which begins behind this row."""
        key = [None if last[name] is None else _text(last[name]) for name, _ in self.order]
        return urlsafe_b64encode(msgspec.json.encode([self.digest, *key])).decode().rstrip("=")


def column(view: View, name: str, where: str, *, compared: bool = True) -> _Expression:
    """The column of a name. Raises Problem for a name that is not listed, and for a comparison of JSON."""
    found = view.columns.get(name)
    if found is None:
        near = nearest(name, view.columns)
        hint = f"The nearest is {near}." if near else f"There are: {', '.join(view.columns)}."
        raise _wrong(where, f"there is no column {name[:100]!r}", name, hint)
    if compared and kind_of(found) is JSON:
        raise _wrong(where, f"column {name} is JSON, which is shown alone", name, "Name it in parameters.")
    return found


def page(view: View, given: Values, search: Search, scope: Sequence[str], offset: int = 0) -> Statement:
    """The statement of a page, with one row more than the page, to see whether it is the last.

    given: values of the view's own parameters, such as the setup. scope: what a cursor is for, beside the search
    itself. offset: rows to pass over, for callers that know no cursor.
    """
    shown = list(view.columns) if search.parameters is None else list(dict.fromkeys(search.parameters))
    for number, name in enumerate(shown):
        column(view, name, f"parameters[{number}]", compared=False)
    order = _order(view, search.sort)
    selected = list(dict.fromkeys([*shown, *(name for name, _ in order)]))
    digest = _digest([*scope, msgspec.to_builtins(search.search), order])
    conditions, values = _conditions(view, search.search)
    key = None if search.cursor is None else _key(search.cursor, digest, len(order))
    # for a limit that is a parameter, the planner assumes a tenth of all rows, and plans each call again
    is_first = search.limit == ROWS and not (offset or search.search or search.cursor)
    shape = _Shape(
        tuple(selected), tuple(order), conditions, None if key is None else tuple(value is not None for value in key),
        ROWS + 1 if is_first else None, bool(offset),
    )  # fmt: skip
    made = _page_text(view, shape)
    values |= {f"key{number}": value for number, value in enumerate(key or ())}
    values |= {"limit": search.limit + 1, "offset": offset, **given}
    return Statement(made.text, [values[name] for name in made.names], search.limit, shown, selected, order, digest)


def row(view: View, setup: str, key: object) -> tuple[LiteralString, list[object], list[str]]:
    """The statement of the row of a key, its values, and the names of the columns."""
    made, given = _row_text(view), {"setup": setup, "key": key}
    return made.text, [given[name] for name in made.names], list(view.columns)


def summary(
    view: View, given: Values, grouping: Sequence[str], search: Sequence[Restriction]
) -> tuple[LiteralString, list[object]]:
    """The statement that counts by groups, the largest first, and returns one row more than the limit."""
    names = tuple(dict.fromkeys(grouping))
    for number, name in enumerate(names):
        column(view, name, f"grouping[{number}]")
    conditions, values = _conditions(view, search)
    made = _summary_text(view, names, conditions)
    values |= {"limit": GROUPS + 1, **given}
    return made.text, [values[name] for name in made.names]


@lru_cache
def total(view: View) -> LiteralString:
    """The statement that counts the rows of a setup up to a number."""
    key = view.columns[view.order[0][0]]
    rows = _restricted(view, sa.select(key), ()).limit(sa.bindparam("limit", type_=sa.Integer())).subquery()
    return _compiled(sa.select(sa.func.count()).select_from(rows)).text


def require_restriction(view: View, search: Sequence[Restriction]) -> None:
    """Refuse a search that would read the whole history. Raises Problem."""
    restricted = view.search.restricted
    if restricted and not any(one.parameter in restricted and one.operator in ("eq", "in", "gt") for one in search):
        names = " nor ".join(restricted)
        hint = "Use eq or in, or gt for a time."
        raise Problem(422, f"search restricts neither {names}", code="PB001", key="search", hint=hint)


@lru_cache(_SHAPES)
def _page_text(view: View, shape: _Shape) -> _Text:
    rows = _restricted(view, _select(view, shape.selected), shape.conditions)
    if shape.key is not None:
        rows = rows.where(_behind(view, shape.order, shape.key))
    by = [_by(view, name, down) for name, down in shape.order]
    top = view.order[0][0]
    if view.search.late and (shape.has_offset or shape.order[0][0] != top):
        # the page is found by its key, which is one column, before its other columns are read
        key = view.columns[top]
        found = _limited(rows.with_only_columns(key).order_by(*by), shape).correlate(None).scalar_subquery()
        rows = _restricted(view, _select(view, shape.selected), ())
        return _compiled(rows.where(key == sa.any_(sa.func.array(found))).order_by(*by))
    return _compiled(_limited(rows.order_by(*by), shape))


@lru_cache(_SHAPES)
def _row_text(view: View) -> _Text:
    key = view.columns[view.order[0][0]]
    rows = _restricted(view, _select(view, view.columns), ())
    return _compiled(rows.where(key == sa.bindparam("key", type_=key.type)))


@lru_cache(_SHAPES)
def _summary_text(view: View, names: tuple[str, ...], conditions: tuple[_Condition, ...]) -> _Text:
    columns = [view.columns[name] for name in names]
    count = sa.func.count()
    rows = _restricted(view, sa.select(*columns, count), conditions).group_by(*columns)
    return _compiled(rows.order_by(count.desc(), *columns).limit(sa.bindparam("limit", type_=sa.Integer())))


def _select(view: View, names: Iterable[str]) -> sa.Select[Any]:
    return sa.select(*(view.columns[name].label(name) for name in names))


def _restricted(view: View, rows: sa.Select[Any], conditions: Sequence[_Condition]) -> sa.Select[Any]:
    """Rows of the setup that fulfil conditions, whose values are value0, value1 and so on."""
    rows = rows.select_from(view.source)
    if view.of_setup is not None:
        rows = rows.where(view.of_setup)
    for number, one in enumerate(conditions):
        of = view.columns[one.column]
        if one.is_null:
            rows = rows.where(_OF_NULL[one.operator](of))
        elif one.operator in _VECTOR:
            values = sa.bindparam(f"value{number}", type_=sa.ARRAY(of.type))
            rows = rows.where(_VECTOR[one.operator](of, values))
        else:
            rows = rows.where(_SCALAR[one.operator](of, sa.bindparam(f"value{number}", type_=of.type)))
    return rows


def _limited(rows: sa.Select[Any], shape: _Shape) -> sa.Select[Any]:
    fixed = None if shape.limit is None else sa.literal_column(str(shape.limit), sa.Integer)
    rows = rows.limit(sa.bindparam("limit", type_=sa.Integer()) if fixed is None else fixed)
    return rows.offset(sa.bindparam("offset", type_=sa.Integer())) if shape.has_offset else rows


_DIALECT = PGDialect_psycopg(paramstyle="format")  # type: ignore[no-untyped-call]


def _compiled(rows: sa.Select[Any]) -> _Text:
    made = rows.compile(dialect=_DIALECT)
    # no text of a caller is in it: names and operators were looked up, values are parameters
    return _Text(made.string, tuple(made.positiontup or ()))


def _conditions(view: View, search: Sequence[Restriction]) -> tuple[tuple[_Condition, ...], dict[str, object]]:
    """The restrictions without and with their values. Raises Problem."""
    found = [_condition(view, one, f"search[{number}]") for number, one in enumerate(search)]
    return tuple(one for one, _ in found), {f"value{number}": value for number, (_, value) in enumerate(found)}


def _condition(view: View, one: Restriction, where: str) -> tuple[_Condition, object]:
    kind = kind_of(column(view, one.parameter, f"{where}.parameter"))
    if one.operator in _VECTOR:
        return _Condition(one.parameter, one.operator, is_null=False), _vector(kind, one, where)
    if one.value is msgspec.UNSET or one.values is not msgspec.UNSET:
        raise _wrong(f"{where}.operator", f"operator {one.operator} takes value, and no values", one.operator)
    if one.operator in _OF_TEXT and kind is not TEXT:
        raise _wrong(f"{where}.operator", f"operator {one.operator} is for texts, and {one.parameter} is none",
                     one.operator)  # fmt: skip
    if one.operator in _UNORDERED and kind is BOOLEAN:
        raise _wrong(f"{where}.operator", f"operator {one.operator} is not for {kind.words}", one.operator)
    if one.operator == "regex" and isinstance(one.value, str):
        _require_simple(one.value, f"{where}.value")
    if one.value is not None:
        return _Condition(one.parameter, one.operator, is_null=False), _value(kind, one.value, f"{where}.value")
    if one.operator not in _OF_NULL:
        raise _wrong(f"{where}.value", f"operator {one.operator} takes no null", None, "Use eq or neq.")
    return _Condition(one.parameter, one.operator, is_null=True), None


def _require_simple(pattern: str, where: str) -> None:
    """Refuse a pattern that takes long to compile or to match. Raises Problem."""
    if len(pattern) > _LONGEST_PATTERN:
        raise _wrong(where, f"it is a pattern of more than {_LONGEST_PATTERN} characters", pattern)
    bounds = [(bool(group), max(1, int(number))) for group, number in _BOUNDS.findall(pattern)]
    of_groups = math.prod(number for group, number in bounds if group)
    repeats = sum(map(pattern.count, "*+?{")) + sum(number for group, number in bounds if not group)
    is_complex = max(1, repeats) * of_groups > _MOST_REPEATS or len(_PLACES.findall(pattern)) * of_groups > _MOST_PLACES
    if is_complex or _REFERENCE.search(pattern):
        hint = "Use fewer quantifiers, ^ and $, smaller numbers of repetitions, and no back-references."
        raise _wrong(where, "it is too complex a pattern", pattern, hint)


def _vector(kind: Kind, one: Restriction, where: str) -> list[object]:
    if one.values is msgspec.UNSET or one.value is not msgspec.UNSET:
        raise _wrong(f"{where}.operator", f"operator {one.operator} takes values, and no value", one.operator)
    assert isinstance(one.values, list)
    return [_value(kind, value, f"{where}.values[{number}]") for number, value in enumerate(one.values)]


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


def _order(view: View, sort: Sequence[Order]) -> list[tuple[str, bool]]:
    """The columns that order the rows, up to the one that makes the order total."""
    order: dict[str, bool] = {}
    for number, one in enumerate(sort):
        column(view, one.parameter, f"sort[{number}].parameter")
        if one.parameter in order:
            raise _wrong(f"sort[{number}].parameter", f"column {one.parameter} comes twice", one.parameter)
        order[one.parameter] = one.direction == "desc"
    for name, down in view.order:
        order.setdefault(name, down)
    return list(order.items())


def _may_be_null(view: View, name: str) -> bool:
    return name in view.nullable or name not in dict(view.order)


def _by(view: View, name: str, down: bool) -> _Expression:
    of = view.columns[name]
    if not down:
        return of.asc()
    return of.desc().nulls_last() if _may_be_null(view, name) else of.desc()


def _behind(view: View, order: Sequence[tuple[str, bool]], key: Sequence[bool]) -> _Expression:
    """Rows behind a key: the first column is behind, or is equal and the second is behind, and so on. Null is last."""
    ways: list[_Expression] = []
    alike: list[_Expression] = []
    for number, ((name, down), has_value) in enumerate(zip(order, key, strict=True)):
        of = view.columns[name]
        if not has_value:
            alike.append(of.is_(None))
            continue
        value = sa.bindparam(f"key{number}", type_=of.type)
        behind = of < value if down else of > value
        ways.append(sa.and_(*alike, sa.or_(behind, of.is_(None)) if _may_be_null(view, name) else behind))
        alike.append(of == value)
    if not ways:
        return sa.false()
    name, down = order[0]
    if len(ways) > 1 and not _may_be_null(view, name):  # the condition by which an index can begin
        of, value = view.columns[name], sa.bindparam("key0", type_=view.columns[name].type)
        return sa.and_(of <= value if down else of >= value, sa.or_(*ways))
    return sa.or_(*ways)


def opened(cursor: str) -> list[str | None]:
    """The content of a cursor: its search, and the key of a row; nothing if the text is not a cursor."""
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


def _wrong(where: str, words: str, value: object, hint: str | None = None) -> Problem:
    """The refusal of a value, which it names."""
    shown = msgspec.json.encode(value).decode()[:100]
    key = where.rpartition(".")[2].partition("[")[0]
    return Problem(422, f"{where} is {shown}: {words}", code="PB001", key=key, value=shown, hint=hint)
