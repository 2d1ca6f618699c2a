"""The reference tables of sql/README.md and broker/README.md, from the catalogue: `python -m broker.reference` writes
them anew.

Everything between `<!-- generated: NAME -->` and `<!-- end -->` is replaced; the rest of the page is written by hand.
What a function may raise is what it, or any function of ours that it calls, raises in its source.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import psycopg

from broker import database
from broker.client.call import json_text
from broker.upgrade.schema import fresh_install
from broker.upgrade.source import package_folder
from broker.world import SECTIONS

Connection = psycopg.Connection[Any]

_SECTION = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_ERROR = re.compile(r"errcode = '(PB\d{3})'")
_TAG = re.compile(r"'([-+][A-Za-z]\w*)(?:: |')")
_ERRORS_SENTENCE = re.compile(r"\s*Errors: .*$", re.DOTALL)
_ROLES = ("agent", "submitter", "operator", "viewer")

# Functions that a role of the house may execute, in the order agent, submitter, operator, viewer.
_FUNCTIONS = """
    select n.nspname || '.' || p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
           obj_description(p.oid, 'pg_proc'), array_agg(h.kind)
      from pg_proc p
      join pg_namespace n on n.oid = p.pronamespace
     cross join lateral aclexplode(p.proacl) a
      join pg_roles r on r.oid = a.grantee
      join resource.installation_role h on h.role_name = r.rolname and h.kind <> 'owner'
     group by n.nspname, p.proname, p.oid
     order by n.nspname, p.proname
"""
_SOURCES = """
    select n.nspname || '.' || p.proname, string_agg(p.prosrc, ' ')
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname = any (array['resource', 'workload', 'brokerage', 'taskqueue', 'lifecycle', 'instance', 'monitor'])
     group by 1
"""
# Views that viewers may read.
_VIEWS = """
    select n.nspname || '.' || c.relname, string_agg(a.attname, ', ' order by a.attnum),
           obj_description(c.oid, 'pg_class')
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      join resource.installation_role h on h.kind = 'viewer' and has_table_privilege(h.role_name, c.oid, 'select')
     where c.relkind = 'v'
       and n.nspname = any (array['resource', 'workload', 'brokerage', 'taskqueue', 'lifecycle', 'instance', 'monitor'])
     group by c.oid, n.nspname, c.relname order by n.nspname, c.relname
"""
_RULES = """
    select r.algorithm, r.rule, r.profile, coalesce(r.criteria, ''), r.kind, r.source,
           concat_ws(' ', r.function, nullif(r.parameters, '{}')::text)
      from brokerage.shipped_rule r order by r.algorithm desc, r.profile, r.position
"""
_CONFIG = """
    select k.component || ':' || k.key, coalesce(k.default_value #>> '{}', ''), k.unit, k.meaning,
           array_to_string(k.profiles, ', ')
      from resource.config_key k order by k.app, k.component, k.key
"""
_TABLES = """
    select n.nspname || '.' || c.relname, obj_description(c.oid, 'pg_class')
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any (array['resource', 'workload', 'brokerage', 'taskqueue', 'lifecycle', 'instance'])
       and c.relkind in ('r', 'p') and not c.relispartition
     order by n.nspname desc, c.relname
"""
_FACTS = """
    select c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
           coalesce(col_description(a.attrelid, a.attnum), '')
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.oid = any (array['brokerage.task_facts', 'brokerage.queue_facts', 'brokerage.pair_facts']::regclass[])
     order by c.relname = 'pair_facts', c.relname = 'queue_facts', a.attnum
"""
# Columns of the tables that worlds are kept in.
_COLUMNS = """
    select n.nspname || '.' || c.relname, a.attname, pg_get_expr(d.adbin, d.adrelid),
           coalesce(col_description(a.attrelid, a.attnum), '')
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where n.nspname = any (array['resource', 'workload', 'brokerage', 'instance']) and c.relkind = 'r'
"""
_SETTINGS = """
    select a.attname, format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid),
           col_description(a.attrelid, a.attnum)
      from pg_attribute a join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = 'taskqueue.setting'::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum
"""


def page() -> Path:
    """sql/README.md."""
    return package_folder("sql") / "README.md"


def pages() -> list[Path]:
    """All pages that have generated sections."""
    return [page(), Path(__file__).parent / "README.md"]


def render(connection: Connection, text: str) -> str:
    """The page `text` with its generated sections as the database of `connection` has them."""
    made = {
        "functions": lambda: _functions(connection),
        "views": lambda: _table(("view", "columns", "what"), _views(connection)),
        "tables": lambda: _table(("table", "what"), [(f"`{name}`", what) for name, what in _rows(connection, _TABLES)]),
        "rules": lambda: _table(
            ("rule", "broker", "criteria", "kind", "documented", "panda2026", "source"), _rules(connection)
        ),
        "facts": lambda: _table(("fact", "type", "what"), _facts(connection)),
        "config": lambda: _table(("key", "default", "unit", "meaning", "profiles"), _config(connection)),
        "settings": lambda: _table(("setting", "type", "default", "what"), _settings(connection)),
        "worlds": lambda: _worlds(connection),
    }
    return _SECTION.sub(lambda found: f"{found[1]}\n{made[found[2]]()}\n{found[3]}", text)


def errors_of(connection: Connection) -> dict[str, list[str]]:
    """Function -> the SQLSTATEs of class PB that it, or a function that it calls, raises."""
    sources: dict[str, str] = dict(_rows(connection, _SOURCES))
    calls = {
        name: {
            found
            for found in re.findall(
                r"\b(?:resource|workload|brokerage|taskqueue|lifecycle|instance|monitor)\.\w+", source
            )
            if found in sources
        }
        for name, source in sources.items()
    }
    found: dict[str, list[str]] = {}
    for name in sources:
        reached, todo = {name}, [name]
        while todo:
            new = calls[todo.pop()] - reached
            reached |= new
            todo += new
        found[name] = sorted({state for one in reached for state in _ERROR.findall(sources[one])})
    return found


def _functions(connection: Connection) -> str:
    raised = errors_of(connection)
    rows = [
        (
            f"`{name}({_arguments(arguments)})`<br>→ " + (f"`{result}`" if result else "a procedure: `call`"),
            ", ".join(kind for kind in _ROLES if kind in kinds),
            _ERRORS_SENTENCE.sub("", comment),
            ", ".join(raised[name]),
        )
        for name, arguments, result, comment, kinds in _rows(connection, _FUNCTIONS)
    ]
    return _table(("call", "who may", "what", "errors"), rows)


def _arguments(text: str) -> str:
    """`p_limit integer DEFAULT 1` as `p_limit integer = 1`."""
    return re.sub(r" DEFAULT (\S+?)(::[\w ]+)?(?=, |$)", r" = \1", text)


def _views(connection: Connection) -> list[Sequence[str]]:
    return [(f"`{name}`", columns, what) for name, columns, what in _rows(connection, _VIEWS)]


def _rules(connection: Connection) -> list[Sequence[str]]:
    """One line a rule of a broker, those of doc first; an empty cell says that the profile does not have it."""
    sources: dict[str, str] = dict(_rows(connection, _SOURCES))
    found: dict[tuple[str, str], dict[str, Sequence[str]]] = {}
    for algorithm, rule, profile, *said in _rows(connection, _RULES):
        found.setdefault((algorithm, rule), {})[profile] = said
    rows: list[Sequence[str]] = []
    for (algorithm, rule), by_profile in found.items():
        criteria, _, source, _ = by_profile.get("documented") or by_profile["panda2026"]
        own = {tag for *_, call in by_profile.values() for tag in _TAG.findall(sources.get(call.split(" ")[0], ""))}
        criteria = criteria or ", ".join(sorted(own))
        kinds = ", ".join(dict.fromkeys(kind for _, kind, *_ in by_profile.values()))
        calls = [
            (f"`{by_profile[profile][3]}`" if by_profile[profile][3] else "yes") if profile in by_profile else ""
            for profile in ("documented", "panda2026")
        ]
        rows.append((f"`{rule}`", algorithm, criteria, kinds, *calls, source))
    return rows


def _config(connection: Connection) -> list[Sequence[str]]:
    return [
        (f"`{key}`", default, unit, meaning, profiles)
        for key, default, unit, meaning, profiles in _rows(connection, _CONFIG)
    ]


def _facts(connection: Connection) -> list[Sequence[str]]:
    """What rules may compare, by the name of their argument: t a task, q a queue, p the pair."""
    return [(f"`{kind[0]}.{name}`", f"`{type_}`", what) for kind, name, type_, what in _rows(connection, _FACTS)]


def _settings(connection: Connection) -> list[Sequence[str]]:
    return [
        (f"`{name}`", kind, "`" + re.sub(r"::[\w\[\] ]+$", "", default) + "`", what)
        for name, kind, default, what in _rows(connection, _SETTINGS)
    ]


def _worlds(connection: Connection) -> str:
    """The sections of the world format: how each looks, and a table of its fields."""
    columns = {
        (table, column): (_default(default), meaning) for table, column, default, meaning in _rows(connection, _COLUMNS)
    }
    found = []
    for name, section in SECTIONS.items():
        rows = [
            (f"`{field}`", part.words or columns[part.table, column][1], columns[part.table, column][0])
            for part in section.described
            for field, column in part.names()
        ]
        found.append(f"### {name}\n\n{section.looks}\n\n{_table(('field', 'what', 'default'), rows)}")
    return "\n".join(found)


def _default(expression: str | None) -> str:
    """The default of a column as a world would say it; nothing for null."""
    plain = re.sub(r"::[\w\[\] ]+", "", expression or "").strip("()")
    text = plain.removeprefix("'").removesuffix("'")
    listed = re.fullmatch(r"\{(.*)\}", text) if "[]" in (expression or "") else None
    if listed:
        return "`" + json_text(list(filter(None, listed[1].split(",")))) + "`"
    return f"`{text}`" if text else ""


def _rows(connection: Connection, query: str) -> list[Any]:
    return connection.execute(query.encode()).fetchall()


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells) + "\n"


def main() -> None:
    """Write the tables of the pages anew, from a fresh install on the server that the environment names."""
    with fresh_install(database.resolve().dsn) as (dsn, _), psycopg.connect(dsn) as connection:
        for file in pages():
            text = file.read_text(encoding="utf-8")
            file.write_text(render(connection, text), encoding="utf-8")


if __name__ == "__main__":
    main()
