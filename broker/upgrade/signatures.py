"""The public names of a database, on which other programs depend, as text, and what may become of them
(broker/docs/reference/promises.md). A release stores them in migrations/signatures/<version>.txt, with those of the
program (broker/reference/public.py). The changelog must name a later change of a line.
"""

import re
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from broker.upgrade.program import released
from broker.upgrade.source import SCHEMAS

# Routines that a role other than the owner may call, with arguments and result, except those with a type of ours,
# which views call; views that a role may read, with columns.
_SIGNATURES = """
with
role as (select role_name from resource.installation_role where kind <> 'owner'),
ours as (select oid, nspname from pg_namespace where nspname = any (%s))
select format('%%s %%s.%%s(%%s)%%s', case p.prokind when 'p' then 'procedure' else 'function' end, n.nspname, p.proname,
              pg_get_function_arguments(p.oid), ' returns ' || pg_get_function_result(p.oid))
  from pg_proc p join ours n on n.oid = p.pronamespace
 where exists (select from role where has_function_privilege(role_name, p.oid, 'execute'))
   and not exists (select from unnest(p.prorettype || coalesce(p.proallargtypes, p.proargtypes::oid[])) one
                     join pg_type t on t.oid = one join ours on ours.oid = t.typnamespace)
union all
select format('view %%s.%%s (%%s)', n.nspname, c.relname,
              (select string_agg(format('%%s %%s', a.attname, format_type(a.atttypid, a.atttypmod)), ', '
                                 order by a.attnum)
                 from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped))
  from pg_class c join ours n on n.oid = c.relnamespace
 where c.relkind = 'v'
   and exists (select from role where has_any_column_privilege(role_name, c.oid, 'select'))
"""
# Metrics of the sampled figures, with their labels.
_METRICS = """
select format('metric %s (%s)', f.metric,
              (select string_agg(l, ', ' order by l) from unnest(array_append(f.labels, 'setup')) l))
  from history.figure f
 order by 1
"""
_COMMA = re.compile(r", (?=(?:[^']*'[^']*')*[^']*$)(?![^(]*\))")  # neither in a text nor in parentheses
_UNRELEASED = re.compile(r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def signatures(conn: psycopg.Connection[Any]) -> list[str]:
    """Return the signatures of an installed database, one per line, sorted. Sets the session's search_path."""
    conn.execute("set search_path = pg_catalog")
    return sorted(row[0] for row in conn.execute(_SIGNATURES.encode(), [list(SCHEMAS)]).fetchall())


def metrics(conn: psycopg.Connection[Any]) -> list[str]:
    """Return the metrics of the sampled figures of an installed database, one per line."""
    return [row[0] for row in conn.execute(_METRICS.encode()).fetchall()]


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
    """Return the names that were added or removed, or whose line changed, and that the section Unreleased does not
    mention."""
    changed = {_parsed(line).name for line in {*before} ^ {*now}}
    return sorted(name for name in changed if not _has(unreleased(changelog), name))


def undeprecated(before: list[str], now: list[str], changelog: str) -> list[str]:
    """Return the names that a caller of the last release can no longer use as before, although no released section
    Deprecated of the changelog names them, nor Unreleased under Security."""
    ours = unreleased(changelog)
    allowed = _parts(changelog.replace(ours, ""), "Deprecated") + _parts(ours, "Security")
    later = [_parsed(line) for line in now]
    broken = {one.name for one in map(_parsed, before) if not any(_serves(other, one) for other in later)}
    return sorted(name for name in broken if not _has(allowed, name))


class _Public(NamedTuple):
    """A public name. parts: arguments, columns, options, keys, fields or labels. result: of a function."""

    kind: str
    name: str
    parts: list[str]
    result: str


def _parsed(line: str) -> _Public:
    found = re.fullmatch(r"(\w+) ([^(]*?) ?\((.*?)\)( returns .*)?", line)
    assert found is not None, line
    parts = _COMMA.split(found[3]) if found[3] else []
    return _Public(found[1], found[2], parts, found[4] or "")


def _serves(now: _Public, before: _Public) -> bool:
    """Whether a caller that knows a former name is served by a present one. Arguments keep their places, and a new one
    has a default; a result that is a table may have new columns at its end; other parts need only be there."""
    if (now.kind, now.name) != (before.kind, before.name):
        return False
    table = before.result.startswith(" returns TABLE(") and now.result.startswith(f"{before.result[:-1]}, ")
    if now.result != before.result and not table:
        return False
    if now.kind not in ("function", "procedure"):
        return {*before.parts} <= {*now.parts}
    former, present = ([part.partition(" DEFAULT ") for part in one.parts] for one in (before, now))
    kept = all(old[0] == new[0] and (new[1] or not old[1]) for old, new in zip(former, present, strict=False))
    return kept and len(present) >= len(former) and all(part[1] for part in present[len(former) :])


def _parts(text: str, heading: str) -> str:
    return "\n".join(re.findall(rf"^### {heading}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL))


def _has(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?![\w])", text) is not None
