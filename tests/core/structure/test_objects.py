"""The installed database: every object is explained and has one file, and plpgsql_check finds no fault."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from broker.server import embedded
from broker.upgrade import upgrade
from broker.upgrade.source import SCHEMAS, package_folder, parse_files, read_folder
from tests.throwaway import new_home, programs

# Everything of our schemas that can carry a comment and has none; partitions repeat the comment of their table.
_UNEXPLAINED = """
with ours as (select oid, nspname from pg_namespace where nspname = any (%(schemas)s)),
relation as (
  select c.oid, c.relkind, c.reltype from pg_class c join ours r on r.oid = c.relnamespace
   where c.relkind in ('r', 'p', 'v', 'm', 'c') and not c.relispartition
)
select 'schema ' || r.nspname from ours r where obj_description(r.oid, 'pg_namespace') is null
union all
select 'relation ' || c.oid::regclass from relation c
 where c.relkind <> 'c' and obj_description(c.oid, 'pg_class') is null
    or c.relkind = 'c' and obj_description(c.reltype, 'pg_type') is null
union all
select format('column %%s.%%s', c.oid::regclass, a.attname)
  from relation c join pg_attribute a on a.attrelid = c.oid
 where a.attnum > 0 and not a.attisdropped and col_description(c.oid, a.attnum) is null
union all
select 'function ' || p.oid::regprocedure from pg_proc p join ours r on r.oid = p.pronamespace
 where obj_description(p.oid, 'pg_proc') is null
union all
select 'type ' || t.oid::regtype from pg_type t join ours r on r.oid = t.typnamespace
 where t.typtype in ('d', 'e', 'r') and obj_description(t.oid, 'pg_type') is null
union all
select format('trigger %%s on %%s', t.tgname, t.tgrelid::regclass)
  from pg_trigger t join pg_class c on c.oid = t.tgrelid join ours r on r.oid = c.relnamespace
 where not t.tgisinternal and t.tgparentid = 0 and obj_description(t.oid, 'pg_trigger') is null
"""


def test_everything_has_a_comment(db: psycopg.Connection[Any]) -> None:
    """Every schema, table, view, column, function, type and trigger of ours (partitions excepted)."""
    assert [row[0] for row in db.execute(_UNEXPLAINED, {"schemas": list(SCHEMAS)}).fetchall()] == []


def test_comments_say_more_than_the_name(db: psycopg.Connection[Any]) -> None:
    rows = db.execute(
        "select p.oid::regprocedure::text, obj_description(p.oid, 'pg_proc') from pg_proc p"
        " join pg_namespace n on n.oid = p.pronamespace where n.nspname = any (%s)",
        [list(SCHEMAS)],
    ).fetchall()
    assert [name for name, text in rows if text is None or len(text) < 20] == []


def test_every_object_has_one_file(db: psycopg.Connection[Any]) -> None:
    """The installed objects are those of sql/: one file an object, one object a file."""
    files = Counter((made.schema, made.name) for made in parse_files(read_folder(package_folder("sql"))))
    installed = Counter(
        db.execute(
            "select n.nspname, p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace"
            " where n.nspname = any (%(schemas)s)"
            " union all"
            " select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace"
            "  where n.nspname = any (%(schemas)s) and c.relkind in ('v', 'm')"
            " union all"
            " select n.nspname, t.tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid"
            "   join pg_namespace n on n.oid = c.relnamespace"
            " where n.nspname = any (%(schemas)s) and not t.tgisinternal and t.tgparentid = 0",
            {"schemas": list(SCHEMAS)},
        ).fetchall()
    )
    assert files == installed


@pytest.fixture(scope="module")
def checked() -> Iterator[psycopg.Connection[Any]]:
    """A connection to Debian's PostgreSQL with plpgsql_check and pgbroker in it."""
    if not list(Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        pytest.skip("plpgsql_check was not run: Debian's PostgreSQL is not installed")
    debian = programs("debian")
    with new_home("check", debian) as home:
        server = embedded.up(home, installation=debian, settings={"fsync": "off"})
        with psycopg.connect(server.superuser_dsn(), autocommit=True) as connection:
            if not connection.execute("select from pg_available_extensions where name = 'plpgsql_check'").fetchall():
                pytest.skip(f"plpgsql_check was not run: postgresql-{debian.major}-plpgsql-check is not installed")
            upgrade(server.superuser_dsn())
            connection.execute("create schema extension; create extension plpgsql_check schema extension")
            yield connection


@pytest.mark.slow
def test_plpgsql_check_finds_nothing(checked: psycopg.Connection[Any]) -> None:
    """Errors, and the warnings that are errors in waiting: wrong casts, missing variables, wrong types."""
    found = checked.execute(
        "select p.oid::regprocedure::text, c.lineno, c.level, c.message, coalesce(c.detail, '')"
        "  from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_language l on l.oid = p.prolang"
        "  left join pg_trigger t on t.tgfoid = p.oid and t.tgparentid = 0"
        " cross join lateral extension.plpgsql_check_function_tb("
        "   p.oid, coalesce(t.tgrelid, 0), performance_warnings => false, extra_warnings => false) c"
        " where n.nspname = any (%s) and l.lanname = 'plpgsql' order by 1, 2",
        [list(SCHEMAS)],
    ).fetchall()
    functions = checked.execute(
        "select count(*) from pg_proc p join pg_language l on l.oid = p.prolang where l.lanname = 'plpgsql'"
    ).fetchone()
    assert functions is not None and functions[0] > 50
    assert not found, "\n".join(" ".join(map(str, row)) for row in found)


def test_the_views_about_the_database_read_every_schema_but_monitor(rolled_back: psycopg.Connection[Any]) -> None:
    [(listed,)] = rolled_back.execute("select array_agg(schema) from resource.program_schema").fetchall()
    assert sorted(listed) == sorted(set(SCHEMAS) - {"monitor"})
    views = rolled_back.execute(
        """select distinct 'function_time' from monitor.table_size t where t.schema <> all (%s)
            union select 'public_function' from monitor.public_function p where p.schema <> all (%s)""",
        [listed, listed],
    )  # fmt: skip
    assert views.fetchall() == []
    sources = [path.read_text() for path in (package_folder("sql") / "monitor").rglob("*.sql")]
    assert not [text for text in sources if "alert,brokerage" in text]
