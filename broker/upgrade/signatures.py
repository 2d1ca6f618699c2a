"""The public interface of a database, on which other programs depend, as text. A release stores it in
migrations/signatures/<version>.txt. The changelog must name a later change of a line.
"""

import re
from pathlib import Path
from typing import Any

import psycopg

from broker.upgrade.program import released
from broker.upgrade.source import SCHEMAS

# Routines that a role other than the owner may call, with arguments and result; views that it may read, with columns.
_SIGNATURES = """
with
role as (select role_name from resource.installation_role where kind <> 'owner'),
ours as (select oid, nspname from pg_namespace where nspname = any (%s))
select format('%%s %%s.%%s(%%s)%%s', case p.prokind when 'p' then 'procedure' else 'function' end, n.nspname, p.proname,
              pg_get_function_arguments(p.oid), ' returns ' || pg_get_function_result(p.oid))
  from pg_proc p join ours n on n.oid = p.pronamespace
 where exists (select from role where has_function_privilege(role_name, p.oid, 'execute'))
union all
select format('view %%s.%%s (%%s)', n.nspname, c.relname,
              (select string_agg(format('%%s %%s', a.attname, format_type(a.atttypid, a.atttypmod)), ', '
                                 order by a.attnum)
                 from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped))
  from pg_class c join ours n on n.oid = c.relnamespace
 where c.relkind = 'v'
   and exists (select from role where has_any_column_privilege(role_name, c.oid, 'select'))
"""
_UNRELEASED = re.compile(r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def signatures(conn: psycopg.Connection[Any]) -> list[str]:
    """Return the signatures of an installed database, one per line, sorted. Sets the session's search_path."""
    conn.execute("set search_path = pg_catalog")
    return sorted(row[0] for row in conn.execute(_SIGNATURES.encode(), [list(SCHEMAS)]).fetchall())


def of_last_release(migrations: Path) -> list[str] | None:
    """Return the signatures of the newest release, or None before the first release."""
    versions = released(migrations)
    if not versions:
        return None
    return (migrations / "signatures" / f"{versions[-1]}.txt").read_text(encoding="utf-8").splitlines()


def unreleased(changelog: str) -> str:
    """Return the text of the changelog's section Unreleased; empty when there is none."""
    found = _UNRELEASED.search(changelog)
    return found[1].strip() if found else ""


def unmentioned(before: list[str], now: list[str], changelog: str) -> list[str]:
    """Return the functions and views that were added, removed or changed in their signature, and that Unreleased does
    not name."""
    names = {re.split(r"[ (]", line, maxsplit=2)[1] for line in {*before} ^ {*now}}
    text = unreleased(changelog)
    return sorted(name for name in names if not re.search(rf"(?<![\w.]){re.escape(name)}(?![\w])", text))
