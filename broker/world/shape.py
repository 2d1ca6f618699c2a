"""The parts of sections: checked shapes and fields, times, and rows for tables. The database checks the types of single
values, since it knows its columns (resource.check_rows).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Any

from broker.errors import BadRequest
from broker.json_text import json_text, shown

Row = dict[str, Any]
Kind = type | tuple[type, ...]
NUMBER = (int, float)

_SHAPES = {dict: "an object", list: "an array", str: "a text", bool: "true or false", int: "an integer"}
HINT = "see broker/docs/reference/world-fields.md"
_MISSPELT = 100  # characters of the longest name for which similar names are searched
ALIKE = 0.82  # least similarity of a field to the one that is meant


def require(kind: Kind, name: str, value: object) -> None:
    """Refuse a value of another type, and name it; true and false are not numbers."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        shape = "a number" if isinstance(kind, tuple) else _SHAPES[kind]
        raise wrong(name, value, shape)


def wrong(name: str, value: object, wanted: str) -> BadRequest:
    """The error for a value of a wrong kind; it names the value and the wanted kind."""
    return BadRequest(f"{name} is {shown(json_text(value))}, not {wanted}", HINT)


def nearest(name: str, known: Iterable[str], alike: float = 0.6) -> str | None:
    """The known name that is most similar to another, ignoring case; null if none is similar."""
    return next(iter(nearest_names(name, known, 1, alike)), None)


def nearest_names(name: str, known: Iterable[str], number: int, alike: float) -> list[str]:
    """The known names that are most similar to another, ignoring case, the most similar first. There are none for a
    name of more than a hundred characters: the cost grows with the product of the lengths.
    """
    if len(name) > _MISSPELT:
        return []
    lower = {one.lower(): one for one in known if len(one) <= _MISSPELT}
    return [lower[found] for found in get_close_matches(name.lower(), lower, number, alike)]


def entries(name: str, value: Any) -> Iterator[tuple[str, str, Any]]:
    """The entries of an object with names as keys: the place, the name and the value of each; `name` is the object's
    name."""
    require(dict, name, value)
    for key, entry in value.items():
        if not key:
            raise BadRequest(f"{name} has an entry without a name", HINT)
        yield f"{name}.{key}", key, entry


def elements(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The elements of an array, each with its place."""
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
    """The fields of a row of the world: field -> column; the fields that are times, and those that are objects (null:
    their default)."""

    columns: Mapping[str, str]
    times: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()

    def world(self, row: Mapping[str, Any]) -> Row:
        """A table's row as a row of the world, in the order of the fields; columns that are not fields are left out."""
        return {name: row[column] for name, column in self.columns.items() if column in row}


def fields(plain: str, *, times: str = "", objects: str = "", **renamed: str) -> Fields:
    """Fields by their names, separated by blanks; `renamed`: field = column, also of a time."""
    same = {name: name for text in (plain, times, objects) for name in text.split()}
    return Fields({**renamed, **same, **renamed}, frozenset(times.split()), frozenset(objects.split()))


@dataclass(frozen=True)
class Part:
    """Rows for a table (schema.table). parents: the parents whose rows they replace, as values of the first key column,
    or objects of that and other columns; True: all.
    """

    table: str
    rows: Sequence[Row]
    parents: Sequence[object] | bool | None = None


@dataclass(frozen=True)
class Kept:
    """A kept field that no rule reads: its section, its place, its name, and a similar known field."""

    section: str
    where: str
    name: str
    nearest: str | None


@dataclass
class Reading:
    """The reading of a world: the clock from which hours_ago counts, and unknown fields. merging: only given fields of
    rows change, and rows that belong to them are replaced only if given. ignored: unknown fields, with hints at the
    field that may be meant. kept: kept fields that no rule reads.
    """

    clock: Callable[[], datetime]
    ignored: list[str] = field(default_factory=list)
    merging: bool = False
    hints: list[str] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)

    def parents(self, given: Mapping[str, Any], *names: str) -> list[str]:
        """The entries whose parts of one of these names are replaced: all entries or, when merging, those that give
        it."""
        return [key for key, entry in given.items() if not self.merging or any(name in entry for name in names)]

    def keep(self, section: str, where: str, names: Iterable[str], known: Iterable[str]) -> None:
        """Record kept fields that no rule reads. known: fields that may be meant."""
        known = list(known)
        self.kept += [Kept(section, where, name, nearest(name, known, ALIKE)) for name in names]

    def row(self, where: str, value: Any, known: Fields) -> Row:
        """The columns of a row with known fields; other fields are recorded as ignored."""
        require(dict, where, value)
        self.unknown(where, (name for name in value if name not in known.columns), known.columns)
        for name in known.objects if self.merging else ():
            if name in value and value[name] is None:
                raise wrong(f"{where}.{name}", None, "an object; an empty object means no value")
        return {
            known.columns[name]: self.time(f"{where}.{name}", given) if name in known.times else given
            for name, given in value.items()
            if name in known.columns and not (given is None and name in known.objects)
        }

    def unknown(self, where: str, keys: Iterable[str], known: Iterable[str]) -> None:
        """Record unknown fields, each with the known field that may be meant, or with all known fields."""
        known = list(known)
        for key in keys:
            self.ignored.append(f"{where}: field {key}")
            meant = nearest(key, known)
            self.hints.append(
                f"{where}.{key}: " + (f"nearest is {meant}" if meant else f"fields are {', '.join(known)}")
            )

    def time(self, where: str, value: Any) -> str | None:
        """A time as ISO 8601 text with a zone, given in that form (UTC by default), or as {"hours_ago": n}."""
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
