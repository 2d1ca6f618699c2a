"""The section config: PanDA's gdpconfig, as {"KEY": value, "component:KEY": value} or as rows.

A value may also be an object: {"value": 5, "forced": true, "app": "jedi"}.
"""

import re
from collections.abc import Iterable
from typing import Any

import psycopg

from broker.errors import BadRequest
from broker.json_text import json_text
from broker.world.shape import Reading, Row, elements, entries, fields, require, wrong

_KEY = re.compile(r"(?:(?P<component>[a-z_]+):)?(?P<key>.*)", re.DOTALL)
"""A key, perhaps with its component: components are in lower case, and keys may name a share with a colon."""

FIELDS = fields("app component key value setup forced")
_VALUE = fields("app value forced")

LOOKS = '`{"KEY": value, "component:KEY": value}`, or rows `[{...}]`; a row without a setup is for all setups'


def read(name: str, value: Any, own: Iterable[str], reading: Reading) -> list[Row]:
    """The rows of resource.store_config. own: the names of the world's setup; a row without a setup is for all.

    Raises BadRequest for a row of another setup.
    """
    if isinstance(value, dict):
        return [_of_key(where, key, entry, reading) for where, key, entry in entries(name, value)]
    if not isinstance(value, list):
        raise wrong(name, value, 'an object {"KEY": value}, nor an array of rows')
    rows = []
    for where, given in elements(name, value):
        row = _checked(where, reading.row(where, given, FIELDS))
        require(str, f"{where}.key", row.get("key"))
        setup = row.pop("setup", None)
        if setup is not None and setup not in own:
            raise wrong(f"{where}.setup", setup, "the world's setup, nor null for all setups")
        rows.append({**row, "everywhere": setup is None})
    return rows


def _of_key(where: str, name: str, given: Any, reading: Reading) -> Row:
    """The row of a key, perhaps with its component, and its value or an object with the value."""
    found = _KEY.fullmatch(name)
    assert found
    said = {"value": given}
    if isinstance(given, dict):
        said = _checked(where, reading.row(where, given, _VALUE))
        if "value" not in said:
            raise BadRequest(f"{where} has no value", '{"value": 5, "forced": true}, or the value alone')
    return {"component": found["component"], "key": found["key"], **said}


def _checked(where: str, row: Row) -> Row:
    """The row, if its fields beside key and value have the right types."""
    for field in ("app", "component", "setup"):
        if row.get(field) is not None:
            require(str, f"{where}.{field}", row[field])
    if row.get("forced") is not None:
        require(bool, f"{where}.forced", row["forced"])
    return row


def for_all(rows: Iterable[Row]) -> list[str]:
    """The keys that rows set for all setups, with their components."""
    return [":".join(filter(None, (row.get("component"), row["key"]))) for row in rows if row.get("everywhere")]


def store(connection: psycopg.Connection[Any], setup: str, rows: list[Row], *, lenient: bool) -> list[str]:
    """Set the keys; return the unknown keys that were left out (lenient). Raises the database's errors."""
    query = "select resource.store_config(%s, %s::jsonb, %s)"
    [(left_out,)] = connection.execute(query, (setup, json_text(rows), lenient)).fetchall()
    return [f"config: key {key}" for key in left_out]
