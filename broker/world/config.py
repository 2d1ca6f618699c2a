"""The section config: PanDA's gdpconfig, as {"KEY": value, "component:KEY": value} or as rows."""

import re
from collections.abc import Iterable
from typing import Any

import psycopg

from broker.client import json_text
from broker.world.shape import Reading, Row, elements, entries, fields, require, wrong

_KEY = re.compile(r"(?:(?P<component>[a-z_]+):)?(?P<key>.*)", re.DOTALL)
"""A key, perhaps with its component: those are in small letters, and keys may name a share with a colon."""

_ROW = fields("app component key value setup forced")


def read(name: str, value: Any, own: Iterable[str], reading: Reading) -> list[Row]:
    """The rows of resource.store_config. own: the names of the world's setup; a row without a setup is for all.

    Raises BadRequest for a row of another setup.
    """
    if isinstance(value, dict):
        named = ((_KEY.fullmatch(key), entry) for _, key, entry in entries(name, value))
        return [{"component": m["component"], "key": m["key"], "value": entry} for m, entry in named if m]
    rows = []
    for where, given in elements(name, value):
        row = reading.row(where, given, _ROW)
        for field in ("app", "component", "setup"):
            if row.get(field) is not None:
                require(str, f"{where}.{field}", row[field])
        require(str, f"{where}.key", row.get("key"))
        if row.get("forced") is not None:
            require(bool, f"{where}.forced", row["forced"])
        setup = row.pop("setup", None)
        if setup is not None and setup not in own:
            raise wrong(f"{where}.setup", setup, "the world's setup, nor null for all setups")
        rows.append({**row, "everywhere": setup is None})
    return rows


def store(connection: psycopg.Connection[Any], setup: str, rows: list[Row], *, lenient: bool) -> list[str]:
    """Set the keys; the unknown ones that were left out (lenient). Raises the database's errors."""
    query = "select resource.store_config(%s, %s::jsonb, %s)"
    [(left_out,)] = connection.execute(query, (setup, json_text(rows), lenient)).fetchall()
    return [f"config: key {key}" for key in left_out]
