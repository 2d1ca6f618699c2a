"""Views that viewers may read, and tables."""

from collections.abc import Iterator
from itertools import groupby

from broker.reference.catalogue import SCHEMAS, Connection, rows
from broker.reference.markdown import Page, bullets, escaped, page, section, wrapped

_VIEWS = """
    select n.nspname || '.' || c.relname, obj_description(c.oid, 'pg_class'), a.attname,
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
    """The pages of views (a page a schema) and of tables."""
    for schema, found in groupby(rows(connection, _VIEWS, list(SCHEMAS)), lambda row: row[0].partition(".")[0]):
        entries = []
        for (name, comment), columns in groupby(found, lambda row: row[:2]):
            items = [f"`{column}` ({kind}): {escaped(what)}" for _, _, column, kind, what in columns]
            entries.append(section(2, name.partition(".")[2], wrapped(escaped(comment)), bullets(items)))
        lead = f"Views of the schema `{schema}` that viewers and operators may read, with their columns."
        yield page(f"views-{schema}.md", f"Views of {schema}", lead, entries)
    yield _tables(connection)


def _tables(connection: Connection) -> Page:
    entries = [
        section(2, schema, bullets(f"`{schema}.{name}`: {escaped(what)}" for _, name, what in found))
        for schema, found in groupby(rows(connection, _TABLES, list(SCHEMAS)), lambda row: row[0])
    ]
    lead = (
        "All tables, by schema. Only the owner reads and writes them; everybody else uses functions and views. "
        "Their columns stand in `tables.sql` of each schema, and in psql: `\\d+ taskqueue.job`."
    )
    return page("tables.md", "Tables", lead, entries)
