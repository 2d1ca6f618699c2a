"""A section of the world format that is kept in tables."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from broker.world.shape import Fields, Part, Reading, Row, elements, entries

Rows = Mapping[str, list[Row]]
"""Rows by table, without the column that they are grouped by."""


@dataclass(frozen=True)
class Section:
    """How a section is read into rows of its tables, and written from them.

    read: its name, its value and the reading, to parts. by: the column that its tables share; rows with the same value
    are one entry (null: each row is one). write: that value and the rows of an entry, to the entry. shape: `object`
    (entries by the value of `by`), `array`, or `whole`: all rows are one entry, the section.
    """

    tables: tuple[str, ...]
    read: Callable[[str, Any, Reading], Iterable[Part]]
    write: Callable[[Any, Rows], Any]
    by: str | None = None
    shape: Literal["object", "array", "whole"] = "object"


def listed(table: str, known: Fields, *, replaces: bool = False) -> Section:
    """A section that is an array of rows of one table. replaces: it stands for all rows of the setup."""

    def read(name: str, value: Any, reading: Reading) -> Iterable[Part]:
        rows = [reading.row(where, row, known) for where, row in elements(name, value)]
        yield Part(table, rows, True if replaces else None)

    return Section((table,), read, lambda _, rows: known.world(rows[table][0]), shape="array")


def named(table: str, key: str, known: Fields) -> Section:
    """A section that is an object of rows of one table by their key."""

    def read(name: str, value: Any, reading: Reading) -> Iterable[Part]:
        yield Part(table, [{key: k, **reading.row(where, row, known)} for where, k, row in entries(name, value)])

    return Section((table,), read, lambda _, rows: known.world(rows[table][0]), by=key)
