"""Views that viewers may read. Tables are in the README of each schema and in migrations/baseline."""

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


_FOLDERS = """
    select object_name, split_part(path, '/', 2)
      from resource.installed_object where kind = 'view' and schema_name = 'monitor'
"""
_TITLES = {
    "consistency": "Views of invariants", "health": "Views of health", "instance": "Views of rented machines",
    "job": "Views of jobs, tasks and decisions", "setup": "Views of setups", "waiting": "Views of what waits and runs",
}  # fmt: skip
"""The title of the page of each folder of sql/monitor."""
_SETUP = "`setup` is the tenant: DIRAC's Setup, PanDA's vo."


def pages(connection: Connection) -> Iterator[Page]:
    """The pages of views: one for each folder of monitor, one that lists them all, and one for the other schemas."""
    columns = {schema: list(of) for schema, of in groupby(rows(connection, _VIEWS, list(SCHEMAS)), lambda row: row[0])}
    monitor = columns.pop("monitor")
    folders = dict(rows(connection, _FOLDERS))
    index = []
    for folder, title in _TITLES.items():
        of_folder = [row for row in monitor if folders[row[1]] == folder]
        name = f"views-monitor-{folder}.md"
        yield page(name, title, f"Views of the schema `monitor`. {_SETUP}", list(_entries(iter(of_folder), 2)))
        views = dict.fromkeys((view, comment) for _, view, comment, *_ in of_folder)
        lines = bullets(f"[{view}]({name}#{view}): {escaped(_first_sentence(comment))}" for view, comment in views)
        index.append(section(2, title, lines))
    yield page("views-monitor.md", "Views of monitor", f"For people and monitoring systems. {_SETUP}", index)
    lead = (
        "Views of the other schemas that viewers and operators may read. Most readers want [views-monitor.md]"
        f"(views-monitor.md) instead. {_SETUP}"
    )
    found = {schema: list(_entries(iter(of), 3)) for schema, of in columns.items()}
    yield page("views.md", "Views", lead, [section(2, schema, *entries) for schema, entries in found.items()])


def _first_sentence(comment: str) -> str:
    return comment.partition(". ")[0].removesuffix(".") + "."


def _entries(columns: Iterator[Any], level: int) -> Iterator[str]:
    """A view as its heading, its comment and its columns."""
    for (name, comment), of_view in groupby(columns, lambda row: row[1:3]):
        units = (
            f"`{column}`" if column == "setup" else f"`{column}` ({short_type(kind)}): {escaped(what)}"
            for *_, column, kind, what in of_view
        )
        yield section(level, name, wrapped(escaped(comment)), filled(units))
