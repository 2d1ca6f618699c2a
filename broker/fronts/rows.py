"""Copying rows from one database to another, as text, so that the two servers may have different versions."""

from typing import Any

import psycopg
from psycopg import sql

Connection = psycopg.Connection[Any]

WITHOUT_TRIGGERS = "set local session_replication_role = replica"
"""Suspend triggers and foreign keys until the transaction ends."""
WITH_TRIGGERS = "set local session_replication_role = origin"

# A generated number is kept, unless it is unique over all setups.
_COLUMNS = """
select array_agg(a.attname::text order by a.attnum)
  from pg_attribute a
 where a.attrelid = %(table)s::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
   and not (a.attidentity <> '' and a.attrelid = 'resource.change'::regclass)
"""


def copy_rows(source: Connection, goal: Connection, table: str, which: sql.Composable) -> int:
    """Copy the rows of a table for which a condition holds. Returns their number."""
    [(columns,)] = source.execute(_COLUMNS, {"table": table}).fetchall()
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    name = sql.Identifier(*table.split("."))
    read = sql.SQL("copy (select {} from {} where {}) to stdout").format(names, name, which)
    with source.cursor() as reader, goal.cursor() as writer:
        with reader.copy(read) as out, writer.copy(sql.SQL("copy {} ({}) from stdin").format(name, names)) as into:
            for part in out:
                into.write(part)
        return writer.rowcount


def of_setup(setup: str) -> sql.Composed:
    """The condition for the rows of a setup."""
    return sql.SQL("setup = {}").format(sql.Literal(setup))
