"""Configuration keys (gdpconfig), and the settings of each schema."""

from collections.abc import Iterator
from itertools import groupby

from broker.reference.catalogue import SCHEMAS, Connection, plain_default, rows, short_type
from broker.reference.markdown import Page, bullets, code, escaped, filled, page, section

_CONFIG = """
    select k.component, k.key, coalesce(k.default_value #>> '{}', ''), k.unit, k.meaning,
           case when cardinality(k.profiles) = 1 then k.profiles[1] end
      from resource.config_key k
     order by k.component, k.key
"""
_SETTINGS = """
    select c.relnamespace::regnamespace::text, a.attname, format_type(a.atttypid, a.atttypmod),
           pg_get_expr(d.adbin, d.adrelid), col_description(a.attrelid, a.attnum)
      from pg_attribute a
      join pg_class c on c.oid = a.attrelid
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where c.relnamespace::regnamespace::text = any (%s)
       and c.relname = 'setting'
       and c.relkind = 'r'
       and a.attnum > 0
       and a.attname <> 'setup'
       and not a.attisdropped
     order by 1, a.attnum
"""


def pages(connection: Connection) -> Iterator[Page]:
    """The page of configuration keys and that of settings."""
    entries = [
        section(2, component, filled(_key(*row[1:]) for row in found))
        for component, found in groupby(rows(connection, _CONFIG), lambda row: row[0])
    ]
    lead = (
        "The keys of gdpconfig that rules and timeouts read, by component. A part in angle brackets is a placeholder "
        "for a name. "
        "`broker load` stores them from the section `config` of a world, as `component:KEY`. Both base profiles read a "
        "key, unless it names one."
    )
    yield page("configuration.md", "Configuration keys", lead, entries)
    lead = (
        "This page lists the settings of a setup, by schema. `set_settings` of the schema changes a setting; "
        "`broker settings` shows and changes all of them. A time is an interval; a number is seconds."
    )
    settings = [
        section(2, schema, bullets(_setting(*row[1:]) for row in found))
        for schema, found in groupby(rows(connection, _SETTINGS, list(SCHEMAS)), lambda row: row[0])
    ]
    yield page("settings.md", "Settings", lead, settings)


def _setting(name: str, kind: str, default: str | None, meaning: str) -> str:
    given = f" Default: {code(plain_default(default))}." if default else ""
    return f"`{name}` ({short_type(kind)}): {escaped(meaning)}{given}"


def _key(key: str, default: str, unit: str, meaning: str, only: str | None) -> str:
    given = f" Default: {code(default)}." if default else ""
    return f"`{key}` ({unit}{f', {only} only' if only else ''}): {escaped(meaning)}{given}"
