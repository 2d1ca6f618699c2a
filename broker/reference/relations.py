"""Views that viewers may read. Tables stand in the README of each schema and in migrations/baseline."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from broker.reference.catalogue import SCHEMAS, Connection, rows, short_type
from broker.reference.markdown import Page, escaped, filled, page, section, wrapped

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


def pages(connection: Connection) -> Iterator[Page]:
    """The pages of views; monitor has its own, and the parts of monitor.health have another."""
    columns = {schema: list(of) for schema, of in groupby(rows(connection, _VIEWS, list(SCHEMAS)), lambda row: row[0])}
    monitor = columns.pop("monitor")
    parts = [row for row in monitor if row[1].startswith("health_")]
    found = {schema: list(_entries(iter(of), 3)) for schema, of in columns.items()}
    setup = "`setup` is the tenant: DIRAC's Setup, PanDA's vo."
    lead = f"Views of the schema `monitor`, for people and monitoring: meaning and columns with their types. {setup}"
    others = list(_entries((row for row in monitor if row not in parts), 2))
    yield page("views-monitor.md", "Views of monitor", lead, others)
    lead = "The views that make up [monitor.health](views-monitor.md#health)."
    yield page("views-health.md", "Parts of monitor.health", lead, list(_entries(iter(parts), 2)))
    lead = (
        "Views of the other schemas that viewers and operators may read. Most readers want [views-monitor.md]"
        f"(views-monitor.md) instead. {setup}"
    )
    yield page("views.md", "Views", lead, [section(2, schema, *entries) for schema, entries in found.items()])


def _entries(columns: Iterator[Any], level: int) -> Iterator[str]:
    """A view as its heading, its comment and its columns."""
    for (name, comment), of_view in groupby(columns, lambda row: row[1:3]):
        units = (
            f"`{column}`" if column == "setup" else f"`{column}` ({short_type(kind)}): {escaped(what)}"
            for *_, column, kind, what in of_view
        )
        yield section(level, name, wrapped(escaped(comment)), filled(units))
