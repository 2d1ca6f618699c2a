"""Storing and dumping rows, by schema and table (resource.store, resource.dump and the like)."""

import heapq
import itertools
import re
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from broker.database import Connection
from broker.json_text import json_text
from broker.world.section import Section
from broker.world.shape import Part, Row

_ROWS_A_CALL = 10_000
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,18})?([eE][-+]?\d{1,2})?", re.ASCII)


def store(connection: Connection, setup: str, part: Part, *, merge: bool = False, is_exported: bool = False) -> None:
    """Store rows, ten thousand per call; merge: existing rows keep the fields that are not given. is_exported: texts in
    place of numbers and of true and false are read, as other systems write them.

    Raises the database's errors (PB001 names the row, the key and the value).
    """
    if is_exported:
        part = _read_texts(connection, part)
    schema, table = part.table.split(".")
    parents = None if part.parents is None else json_text(part.parents)
    for start in range(0, max(len(part.rows), 1), _ROWS_A_CALL):
        some = part.rows[start : start + _ROWS_A_CALL]
        columns = _columns(some) if part.table == "workload.dataset_file" and part.parents is not None else None
        if columns:
            if parents is not None:
                connection.execute("select workload.store(%s, %s, '[]', %s::jsonb)", (setup, table, parents))
                parents = None
            query = "select workload.store_files(%s, %s::text[], %s::int[], %s::text[], %s::bigint[], %s::bigint[])"
            connection.execute(query, (setup, *columns))
            continue
        rows = json_text(some)
        if rows != "[]" or parents is not None:
            query = f"select {schema}.store(%s, %s, %s::jsonb, %s::jsonb, %s)"
            connection.execute(query.encode(), (setup, table, rows, parents, merge))
        parents = None


_FILE = {"dataset": None, "position": None, "lfn": None, "size": 0, "nevents": 0}
"""The columns of a plain file, with their defaults."""

_LONGEST = 250  # characters of the name of a plain file or of its dataset
_ODD = re.compile(r"[^!#-\[\]-}]")  # plain names are printable ASCII without blanks, quotes and backslashes
_MOST = 10**15  # of the size and the events of a plain file


def _columns(files: Sequence[Row]) -> list[str] | None:
    """The columns of files whose values need no check by the database, whose errors name the value; else None."""
    if not files or not all(row.keys() <= _FILE.keys() for row in files):
        return None
    columns: dict[str, list[Any]] = {name: [row.get(name, default) for row in files] for name, default in _FILE.items()}
    numbers = columns["size"] + columns["nevents"]
    names = [*columns["lfn"], *set(columns["dataset"])]
    if set(map(type, numbers)) != {int} or min(numbers) < 0 or max(numbers) >= _MOST:
        return None
    if max(map(len, names)) > _LONGEST or min(map(len, names)) == 0 or _ODD.search("".join(names)):
        return None
    return list(map(_array, columns.values()))


def _array(column: list[Any]) -> str:
    """The text of a PostgreSQL array of numbers or plain names; psycopg itself needs seconds for 100,000 files."""
    return "{" + ",".join([f'"{entry}"' for entry in column]) + "}"


def _read_texts(connection: Connection, part: Part) -> Part:
    """The rows with digits, true and false in place of texts of them, by the types of the columns; an empty text in
    place of a number is null."""
    query = """select a.attname, t.typcategory from pg_attribute a join pg_type t on t.oid = a.atttypid
                where a.attrelid = %s::regclass and a.attnum > 0 and t.typcategory = any ('{N,B}')"""
    kinds = dict(connection.execute(query, [part.table]).fetchall())
    rows = [
        {key: read_text(entry, kinds[key]) if key in kinds else entry for key, entry in row.items()}
        for row in part.rows
    ]
    return Part(part.table, rows, part.parents)


def read_text(entry: Any, kind: str) -> Any:
    """The number (N) or the truth (B) that a text states; any other value unchanged."""
    if not isinstance(entry, str):
        return entry
    text = entry.strip()
    if kind == "B":
        return {"true": True, "false": False}.get(text.lower(), entry)
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        return entry
    return int(text) if text.lstrip("-").isdecimal() else float(text)


def stream(connection: Connection, setup: str, table: str) -> Iterator[Row]:
    """The rows of a table in the order of its key, in constant memory; several tables may be read at once in a
    transaction."""
    schema, name = table.split(".")
    with connection.cursor(f"dump_{schema}_{name}") as cursor:
        cursor.itersize = 2_000
        cursor.execute(f"select {schema}.dump(%s, %s)".encode(), [setup, name])
        for (row,) in cursor:
            yield row


def entries(connection: Connection, setup: str, section: Section) -> Iterator[tuple[Any, Any]]:
    """The content of a section, entry by entry: the value of its column `by`, and the entry of the world."""
    if section.shape == "whole":
        rows = {table: list(stream(connection, setup, table)) for table in section.tables}
        if any(rows.values()):
            yield None, section.write(None, rows)
    elif section.by is None:
        for row in stream(connection, setup, section.tables[0]):
            yield None, section.write(None, {section.tables[0]: [row]})
    else:
        for key, rows in _grouped(connection, setup, section.tables, section.by):
            yield key, section.write(key, rows)


def _grouped(
    connection: Connection, setup: str, tables: Sequence[str], column: str
) -> Iterator[tuple[Any, dict[str, list[Row]]]]:
    """The rows of tables that share their first key column, grouped by its value: value, rows by table."""

    def keyed(table: str) -> Iterator[tuple[Any, str, Row]]:
        return ((row.pop(column), table, row) for row in stream(connection, setup, table))

    merged = heapq.merge(*map(keyed, tables), key=itemgetter(0))
    for key, rows in itertools.groupby(merged, key=itemgetter(0)):
        found: dict[str, list[Row]] = {table: [] for table in tables}
        for _, table, row in rows:
            found[table].append(row)
        yield key, found
