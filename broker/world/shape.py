"""What sections are made of: shapes and fields that are checked, times, and rows for tables.

Types of single values are checked by the database, which knows its columns (resource.check_rows).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from broker.client import json_text
from broker.errors import BadRequest

Row = dict[str, Any]
Kind = type | tuple[type, ...]
NUMBER = (int, float)

_SHAPES = {dict: "an object", list: "an array", str: "a text", bool: "true or false", int: "an integer"}
_HINT = "see broker/README.md, Worlds"


def require(kind: Kind, name: str, value: object) -> None:
    """Refuse a value of another type, naming it; true and false are no numbers."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        shape = "a number" if isinstance(kind, tuple) else _SHAPES[kind]
        raise wrong(name, value, shape)


def wrong(name: str, value: object, wanted: str) -> BadRequest:
    """The error of a value that is not what is wanted, both named."""
    return BadRequest(f"{name} is {json_text(value)[:100]}, not {wanted}", _HINT)


def entries(name: str, value: Any) -> Iterator[tuple[str, str, Any]]:
    """The entries of an object with names as keys: where each stands, its name, its value; `name` is the object's."""
    require(dict, name, value)
    for key, entry in value.items():
        if not key:
            raise BadRequest(f"{name} has an entry without a name", _HINT)
        yield f"{name}.{key}", key, entry


def elements(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The elements of an array: where each stands, and itself."""
    require(list, name, value)
    for number, element in enumerate(value):
        yield f"{name}[{number}]", element


def names(name: str, value: Any) -> list[str] | None:
    """A list of texts, or the names of a comma separated text; null stays null."""
    if value is None:
        return None
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    for where, element in elements(name, value):
        require(str, where, element)
    return list(value)


@dataclass(frozen=True)
class Fields:
    """The fields of a row of the world: field -> column; which are times, and which objects (null: their default)."""

    columns: Mapping[str, str]
    times: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()

    def world(self, row: Mapping[str, Any]) -> Row:
        """A table's row as a row of the world, in the order of the fields; columns that are no field are left out."""
        return {name: row[column] for name, column in self.columns.items() if column in row}


def fields(plain: str, *, times: str = "", objects: str = "", **renamed: str) -> Fields:
    """Fields by their names, separated by blanks; `renamed`: field = column."""
    same = {name: name for text in (plain, times, objects) for name in text.split()}
    return Fields({**renamed, **same}, frozenset(times.split()), frozenset(objects.split()))


@dataclass(frozen=True)
class Part:
    """Rows for a table (room.table). parents: values of its first key column whose rows they replace; True: all."""

    table: str
    rows: Sequence[Row]
    parents: Sequence[object] | bool | None = None


@dataclass
class Reading:
    """A world being read: the clock that hours_ago counts from, and what is not known here."""

    clock: Callable[[], datetime]
    ignored: list[str] = field(default_factory=list)

    def row(self, where: str, value: Any, known: Fields) -> Row:
        """The columns of a row with known fields; others are noted as ignored."""
        require(dict, where, value)
        self.unknown(where, (name for name in value if name not in known.columns))
        return {
            known.columns[name]: self.time(f"{where}.{name}", given) if name in known.times else given
            for name, given in value.items()
            if name in known.columns and not (given is None and name in known.objects)
        }

    def unknown(self, where: str, keys: Iterable[str]) -> None:
        """Note fields that are not known here."""
        self.ignored += [f"{where}: field {key}" for key in keys]

    def time(self, where: str, value: Any) -> str | None:
        """A time as ISO 8601 text with a zone: given so (UTC, where it names none), or as {"hours_ago": n}."""
        if value is None:
            return None
        if isinstance(value, dict) and list(value) == ["hours_ago"]:
            require(NUMBER, f"{where}.hours_ago", value["hours_ago"])
            try:
                return (self.clock() - timedelta(hours=value["hours_ago"])).isoformat()
            except OverflowError:
                raise wrong(where, value, "a time that there was") from None
        try:
            moment = datetime.fromisoformat(value)
        except (TypeError, ValueError):
            raise wrong(where, value, 'a time: "2026-04-01T15:47:25Z" or {"hours_ago": 2.5}') from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()
