"""The records of an export, each judged by itself: those that cannot be read are left out and named."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg

from broker.database_errors import from_database
from broker.errors import BadRequest, BrokerError
from broker.world.exports import rucio
from broker.world.exports.made import data_of
from broker.world.shape import Row

_WHOLE = ("dirac", "rucio-replicas")
"""Exports whose rows belong together: without a file or a condition, jobs would be lost or run where they must not."""

_NAMED_BY = ("panda_resource", "name", "site")

_Result = TypeVar("_Result")
Bad = Mapping[str, BrokerError]
"""The records that cannot be read, by their names, with the errors."""


@dataclass(frozen=True)
class Records:
    """The records of an export: entries of an object by their names, or elements of a list."""

    export: str
    entries: Sequence[tuple[str, Any]]
    are_named: bool

    def value(self) -> Any:
        """The export that consists of these records."""
        return dict(self.entries) if self.are_named else [record for _, record in self.entries]

    def part(self, entries: Sequence[tuple[str, Any]]) -> "Records":
        """The export that consists of some of these records."""
        return Records(self.export, entries, self.are_named)

    def without(self, names: Bad) -> "Records":
        """The other records."""
        return self.part([entry for entry in self.entries if entry[0] not in names])

    def bad(self, attempt: Callable[[Any], object]) -> Iterator[tuple[str, BrokerError]]:
        """Each record that fails alone, by halving the records; none if there are none, and the whole is wrong. attempt
        raises the error of a value, and keeps nothing."""
        if not self.entries:
            return
        try:
            attempt(self.value())
        except (BrokerError, psycopg.Error) as error:
            if len(self.entries) == 1:
                yield self.entries[0][0], self._placed(refusal(error))
                return
            middle = len(self.entries) // 2
            for half in (self.entries[:middle], self.entries[middle:]):
                yield from self.part(half).bad(attempt)

    def _placed(self, error: BrokerError) -> BrokerError:
        """The error of a lone element of a list with the place that the element has in the export."""
        first, place = f"{self.export}[0]", self.entries[0][0]
        message = error.message if self.are_named else error.message.replace(first, f"{self.export}{place}", 1)
        return type(error)(message, error.hint, error.sqlstate, error.detail)


def records_of(export: str, value: Any) -> Records | None:
    """The records of an export; None if it is one record, or its rows belong together."""
    data = data_of(export, value)
    if isinstance(data, list) and export not in _WHOLE:
        return Records(export, [(f"[{number}]", record) for number, record in enumerate(data)], are_named=False)
    if isinstance(data, dict) and _is_of_records(export, data):
        return Records(export, list(data.items()), are_named=True)
    return None


def _is_of_records(export: str, data: Row) -> bool:
    if export == "jedi-tasks":
        return all(key.isdecimal() for key in data)
    if export in _WHOLE:
        return export == "rucio-replicas" and not data.keys() & rucio.OF_A_FILE
    return any(isinstance(record, dict | list) for record in data.values())


def refusal(error: BrokerError | psycopg.Error) -> BrokerError:
    """The error, if it says that a value is wrong (PB001); raises any other error."""
    found = from_database(error) if isinstance(error, psycopg.Error) else error
    if not isinstance(found, BadRequest):
        raise error
    return found


def name_of(place: str, record: Any) -> str:
    """The name of a record: its key or, in a list, the name that it has, else its place."""
    if not place.startswith("[") or not isinstance(record, dict):
        return place
    given = {key.lower(): str(entry) for key, entry in record.items() if entry}
    if "src" in given and "dst" in given:
        return f"{given['src']}:{given['dst']}"
    return next((given[key] for key in _NAMED_BY if key in given), place)
