"""The fields of a world: sections, fields, and their meanings from the comments of their columns."""

import re
from collections.abc import Iterator

from broker.json_text import json_text
from broker.reference.catalogue import Connection, rows
from broker.reference.markdown import Page, escaped, filled, page, section, wrapped
from broker.world import SECTIONS

_COLUMNS = """
    select n.nspname || '.' || c.relname, a.attname, pg_get_expr(d.adbin, d.adrelid),
           coalesce(col_description(a.attrelid, a.attnum), '')
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where n.nspname = any (array['resource', 'workload', 'brokerage', 'instance'])
       and c.relkind = 'r'
"""


def pages(connection: Connection) -> Iterator[Page]:
    """The page of fields: the form of each section, and its fields."""
    columns = {
        (table, column): (_default(default), meaning) for table, column, default, meaning in rows(connection, _COLUMNS)
    }
    entries = []
    for name, part in SECTIONS.items():
        items = []
        for described in part.described:
            for field, column in described.names():
                default, meaning = columns[described.table, column]
                given = f" Default: {default}." if default else ""
                items.append(f"`{field}`: {escaped(described.words or meaning)}{given}")
        entries.append(section(2, name, wrapped(part.looks), filled(items)))
    lead = (
        "This page lists every field of every section of a world. A field without a default is null, which means that "
        "it is not set. Names in capitals are placeholders for your names, and `[]` for each element of an array."
    )
    yield page("world-fields.md", "Fields of a world", lead, entries)


def _default(expression: str | None) -> str:
    """The default of a column in the form of a world; nothing for null."""
    plain = re.sub(r"::[\w\[\] ]+", "", expression or "").strip("()")
    text = plain.removeprefix("'").removesuffix("'")
    listed = re.fullmatch(r"\{(.*)\}", text) if "[]" in (expression or "") else None
    if listed:
        return "`" + json_text(list(filter(None, listed[1].split(",")))) + "`"
    return f"`{text}`" if text else ""
