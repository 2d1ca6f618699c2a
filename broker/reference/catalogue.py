"""Queries of the catalogue that several pages use."""

import re
from typing import Any

import psycopg

Connection = psycopg.Connection[Any]

SCHEMAS = (
    "resource", "workload", "brokerage", "taskqueue", "lifecycle", "instance", "monitor", "history", "alert", "cluster",
)  # fmt: skip
ROLES = ("agent", "submitter", "operator", "viewer", "service")

_ERROR = re.compile(r"errcode = '(PB\d{3})'")
_CALL = re.compile(rf"\b(?:{'|'.join(SCHEMAS)})\.\w+")
_SOURCES = """
    select n.nspname || '.' || p.proname, string_agg(p.prosrc, ' ')
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname = any (%s)
     group by 1
"""


def rows(connection: Connection, query: str, *arguments: object) -> list[Any]:
    """The rows of a query."""
    return connection.execute(query.encode(), arguments or None).fetchall()


def sources(connection: Connection) -> dict[str, str]:
    """All functions of pgbroker: function -> its text."""
    return dict(rows(connection, _SOURCES, list(SCHEMAS)))


def errors_of(connection: Connection) -> dict[str, list[str]]:
    """Function -> the SQLSTATEs of class PB that it, or a function that it calls, raises."""
    texts = sources(connection)
    calls = {name: {found for found in _CALL.findall(text) if found in texts} for name, text in texts.items()}
    found: dict[str, list[str]] = {}
    for name in texts:
        reached, todo = {name}, [name]
        while todo:
            new = calls[todo.pop()] - reached
            reached |= new
            todo += new
        found[name] = sorted({state for one in reached for state in _ERROR.findall(texts[one])})
    return found


def plain_default(expression: str) -> str:
    """The expression of a default without the casts that PostgreSQL writes."""
    return re.sub(r"::[\w\[\] ]+$", "", expression)


def short_type(name: str) -> str:
    """The shorter name of a type."""
    return name.replace("timestamp with time zone", "timestamptz")
