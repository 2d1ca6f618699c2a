"""A section of the world format that is kept in tables."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import psycopg

from broker.database_errors import from_database
from broker.errors import BrokerError
from broker.world.shape import Fields, Part, Reading, Row, elements, entries

Rows = Mapping[str, list[Row]]
"""Rows by table, without the column that groups them."""

_COLUMN = re.compile(r"(?<=: )\w+(?= is )|^\w+(?=: )")
"""The place of a column in an error (task 1: user_name is 5) and in a hint (user_name: User.)."""


@dataclass(frozen=True)
class Described:
    """Fields of a section by their names in the world: the table of their columns, and their place in an entry. words:
    the meanings of fields for which the comments of the columns give none.
    """

    table: str
    path: str
    fields: Fields
    words: str = ""

    def names(self) -> Iterator[tuple[str, str]]:
        """Each field as an entry has it (`split.nFilesPerJob`, `slots[].numslots`), and its column."""
        return ((f"{self.path}{name}" if name else self.path, column) for name, column in self.fields.columns.items())


@dataclass(frozen=True)
class Section:
    """The reading of a section into rows of its tables, and the writing from them. read: turns its name, its value and
    the reading into parts. by: the column that its tables share; rows with the same value are one entry (null: each row
    is an entry). write: turns that value and the rows of an entry into the entry. shape: `object` (entries by the value
    of `by`), `array`, or `whole`: all rows are one entry, the section. looks: its form in one line. described: its
    fields.
    """

    tables: tuple[str, ...]
    read: Callable[[str, Any, Reading], Iterable[Part]]
    write: Callable[[Any, Rows], Any]
    by: str | None = None
    shape: Literal["object", "array", "whole"] = "object"
    looks: str = ""
    described: Sequence[Described] = ()

    def said(self, table: str, message: str) -> str:
        """An error of the database about a row of a table, or its hint, with the world's names in place of columns."""
        names = {
            column: f"{part.path}{name}"
            for part in self.described
            for name, column in part.fields.columns.items()
            if part.table == table and name not in ("", column)
        }
        return _COLUMN.sub(lambda found: names.get(found[0], found[0]), message)


def listed(table: str, known: Fields, looks: str, *, replaces: bool = False) -> Section:
    """A section that is an array of rows of one table. replaces: the section replaces all rows of the setup."""

    def read(name: str, value: Any, reading: Reading) -> Iterable[Part]:
        rows = [reading.row(where, row, known) for where, row in elements(name, value)]
        yield Part(table, rows, True if replaces else None)

    return Section(
        (table,), read, lambda _, rows: known.world(rows[table][0]), shape="array", looks=looks,
        described=[Described(table, "", known)],
    )  # fmt: skip


def named(table: str, key: str, known: Fields, looks: str) -> Section:
    """A section that is an object of rows of one table by their key."""

    def read(name: str, value: Any, reading: Reading) -> Iterable[Part]:
        yield Part(table, [{key: k, **reading.row(where, row, known)} for where, k, row in entries(name, value)])

    return Section(
        (table,), read, lambda _, rows: known.world(rows[table][0]), by=key, looks=looks,
        described=[Described(table, "", known)],
    )  # fmt: skip


@contextmanager
def naming(name: str, said: Callable[[str], str] = str) -> Iterator[None]:
    """Put a name (a file, a section) before the message of an error; `said` may reword the message. Without a
    name, errors pass unchanged, and so do those that begin with a place in what is named, such as limits[3].
    """
    try:
        yield
    except (BrokerError, psycopg.Error) as error:
        if not name:
            raise
        found = from_database(error) if isinstance(error, psycopg.Error) else error
        if found.message.startswith((f"{name}[", f"{name}.")):
            raise found from error
        hint, detail = (text and said(text) for text in (found.hint, found.detail))
        raise type(found)(f"{name}: {said(found.message)}", hint, found.sqlstate, detail) from error
