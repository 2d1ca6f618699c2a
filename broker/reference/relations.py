"""Views that viewers may read, and tables."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from broker.reference.catalogue import SCHEMAS, Connection, rows, short_type
from broker.reference.markdown import Page, bullets, escaped, filled, page, section, wrapped

_VIEWS = """
    select n.nspname, c.relname, obj_description(c.oid, 'pg_class'), a.attname,
           format_type(a.atttypid, a.atttypmod), coalesce(col_description(c.oid, a.attnum), '')
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relkind = 'v'
       and n.nspname = any (%s)
       and exists (select from aclexplode(c.relacl) g join pg_roles r on r.oid = g.grantee
                    where r.rolname like '%%viewer' and g.privilege_type = 'SELECT')
     order by n.nspname, c.relname, a.attnum
"""
_TABLES = """
    select n.nspname, c.relname, obj_description(c.oid, 'pg_class')
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any (%s)
       and c.relkind in ('r', 'p')
       and not c.relispartition
     order by n.nspname, c.relname
"""


def pages(connection: Connection) -> Iterator[Page]:
    """The pages of views (monitor has its own) and of tables."""
    found = {
        schema: list(_entries(of, 2 if schema == "monitor" else 3))
        for schema, of in groupby(rows(connection, _VIEWS, list(SCHEMAS)), lambda row: row[0])
    }
    lead = "Views of the schema `monitor`, for people and monitoring: name, meaning and columns with their types."
    yield page("views-monitor.md", "Views of monitor", lead, found.pop("monitor"))
    lead = (
        "Views of the other schemas that viewers and operators may read. Most readers want [views-monitor.md]"
        "(views-monitor.md) instead."
    )
    yield page("views.md", "Views", lead, [section(2, schema, *entries) for schema, entries in found.items()])
    yield _tables(connection)


def _entries(columns: Iterator[Any], level: int) -> Iterator[str]:
    """A view as its heading, its comment and its columns."""
    for (name, comment), of_view in groupby(columns, lambda row: row[1:3]):
        units = (f"`{column}` ({short_type(kind)}): {escaped(what)}" for *_, column, kind, what in of_view)
        yield section(level, name, wrapped(escaped(comment)), filled(units))


def _tables(connection: Connection) -> Page:
    entries = [
        section(2, schema, bullets(f"`{name}`: {escaped(_first_sentence(what))}" for _, name, what in found))
        for schema, found in groupby(rows(connection, _TABLES, list(SCHEMAS)), lambda row: row[0])
    ]
    lead = (
        "All tables, by schema. Only the owner reads and writes them; everybody else uses functions and views. Their "
        "columns stand in `migrations/baseline/SCHEMA.sql` and in psql: `\\d+ taskqueue.job`."
    )
    return page("tables.md", "Tables", lead, entries)


def _first_sentence(text: str) -> str:
    head, stop, _ = text.partition(". ")
    return f"{head}." if stop else head
