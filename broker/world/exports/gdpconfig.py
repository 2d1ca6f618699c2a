"""PanDA's table CONFIG, the gdpconfig: rows of app, component, key, value, type, vo, descr and value_json.

PanDA looks a key up by its application, component and name, for one VO or for every VO, and reads the value by its type
(getConfigValue in base_module.py of panda-server). Rows that no rule reads are left out.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from broker.database import Connection
from broker.errors import BadRequest
from broker.json_text import json_text, parse
from broker.world.exports.made import Made, data_of
from broker.world.shape import Row, entries, require, wrong
from broker.world.tables import read_text

_ATLAS = "atlas"  # the VO that the brokers of PanDA, which the profiles follow, ask for
_NAME = ("app", "component", "key")
_SHOWN = 3  # keys of left-out rows that are named


def of_vo(
    connection: Connection, name: str, value: Any, setup: str, tenant: str | None
) -> tuple[dict[str, Row], list[str]]:
    """The rows of one VO and those for every VO, as far as rules read them, by component:KEY; and the others, in words.
    Raises BadRequest if no VO can be chosen, or a row is given twice."""
    data = data_of(name, value)
    rows = [
        {key.lower(): entry for key, entry in row.items()} if isinstance(row, dict) else {}
        for row in (data if isinstance(data, list) else [data])
    ]
    vos = [str(row.get("vo") or "") for row in rows]
    vo = _chosen(name, {one for one in vos if one}, setup, tenant)
    known = connection.execute("select app, component, pattern from resource.config_key").fetchall()
    found: dict[str, Row] = {}
    nameless: list[str] = []
    unread: list[str] = []
    of_others: list[str] = []
    for place, (row, of) in enumerate(zip(rows, vos, strict=True)):
        if not all(row.get(column) for column in _NAME):
            nameless.append(f"{name}[{place}]")
            continue
        app, component, key = (str(row[column]) for column in _NAME)
        record = f"{component}:{key}"
        before = found.get(record)
        if not any((app, component) == (one[0], one[1]) and re.fullmatch(one[2], key) for one in known):
            unread.append(f"{app} {record}")
        elif of not in {"", vo} or (before and before["vo"] and not of):
            of_others.append(record)
        else:
            if before and before["vo"] == of:
                raise BadRequest(f"{name}: {record} is given twice", "leave the newer one")
            of_others += [record] if before else []
            found[record] = {**row, "vo": of, "setup": setup}
    return found, [
        *_said("without an app, a component or a key, so that PanDA finds none", nameless),
        *_said("no rule reads", unread),
        *_said(f"of another VO than {vo}, or for every VO where {vo} has its own", of_others),
    ]


def _chosen(name: str, vos: set[str], setup: str, tenant: str | None) -> str | None:
    """The VO whose rows count; None if all rows are for every VO."""
    if not vos:
        return None
    if tenant is not None and tenant not in vos:
        raise BadRequest(f"{name} has no rows of VO {tenant}", f"it has those of {', '.join(sorted(vos))}")
    wanted = [one for one in (tenant, setup, _ATLAS) if one in vos] or (list(vos) if len(vos) == 1 else [])
    if not wanted:
        raise BadRequest(f"{name} has rows of several VOs: {', '.join(sorted(vos))}", "choose one with --tenant")
    return wanted[0]


def _said(why: str, keys: list[str]) -> list[str]:
    names = ", ".join(keys[:_SHOWN]) + (", ..." if len(keys) > _SHOWN else "")
    return [f"{len(keys):,} {'row' if len(keys) == 1 else 'rows'} left out, {why}: {names}"] if keys else []


def keys(name: str, value: Mapping[str, Any]) -> Made:
    """The configuration keys of the setup."""
    rows: list[Row] = []
    for where, _, row in entries(name, value):
        require(dict, where, row)
        for column in (*_NAME, "type"):
            require(str, f"{where}.{column}", row.get(column))
        rows.append({column: row[column] for column in (*_NAME, "setup")} | {"value": _value(where, row)})
    return Made({"config": rows}, len(rows), names=frozenset(value))


def _value(where: str, row: Row) -> Any:
    """The value of a row by its type, as PanDA reads it. A text of digits, or of true or false, is a number or a truth
    value; any other value that its type does not fit is wrong: PanDA takes it for no value, or for false."""
    kind = row["type"].strip().lower()
    if kind not in _TYPES:
        raise wrong(f"{where}.type", row["type"], "one of str, int, float, bool and json")
    column, wanted, read = _TYPES[kind]
    given = row.get(column)
    try:
        found = read(given if isinstance(given, str) else json_text(given))
    except (ValueError, KeyError):
        found = None
    if found is None or (isinstance(found, float) and not math.isfinite(found)):
        raise wrong(f"{where}.{column}", given, wanted)
    return found


def _text(text: str) -> Any:
    return read_text(read_text(text, "N"), "B")


def _truth(text: str) -> bool:
    return {"true": True, "false": False}[text.strip().lower()]


_TYPES: dict[str, tuple[str, str, Callable[[str], Any]]] = {
    "str": ("value", "a text", _text), "string": ("value", "a text", _text),
    "int": ("value", "an integer", int), "integer": ("value", "an integer", int),
    "float": ("value", "a number", float),
    "bool": ("value", "true or false", _truth), "boolean": ("value", "true or false", _truth),
    "json": ("value_json", "JSON", parse),
}  # fmt: skip
"""The types of PanDA: the column of the value, its kind in words, and its reader."""
