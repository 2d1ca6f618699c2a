"""Turning an installation into a front: its public functions and views forward to the shards. A front is first
installed like any other database of the release. Then each public function is replaced by one line of PL/Proxy with the
same arguments, result, rights and comment, and each public view by a view that reads the same view of all shards. Both
are made from the catalogue, so a function of a later release needs no change here. Functions that read no table stay as
they are, and procedures stay loops over public functions, each of which commits on its shard.
"""

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from broker.upgrade.failure import UpgradeError
from broker.upgrade.roles import CALLERS, Roles
from broker.upgrade.session import take_role
from broker.upgrade.source import SCHEMAS

Cursor = psycopg.Cursor[Any]

SERVER = "pgbroker"
"""The cluster of PL/Proxy, a server of SQL/MED."""
SCHEMA = "shards"
"""The schema of functions that ask all shards on behalf of a public function whose result is one row."""
OWN_SCHEMA = "cluster"
"""The front's own objects, which are not overlaid."""

HERE = frozenset({
    "resource.bound_setup", "resource.installed_release", "resource.note_shard", "resource.keys_of_analysis_brokerage",
    "resource.keys_of_job_brokerage", "resource.keys_of_task_brokerage", "resource.keys_of_timeouts",
    "resource.keys_of_users", "brokerage.split_reason", "brokerage.student_t_bound", "taskqueue.reason_of",
    "taskqueue.requires_value", "workload.changes_of_part", "workload.is_end",
})  # fmt: skip
"""Functions and views without a setup that the front answers itself: they read data that every installation has."""
HERE_VIEWS = frozenset({
    "resource.config_key", "taskqueue.description_key", "taskqueue.requirement_key", "history.figure",
    "alert.shipped_rule", "monitor.shard",
})  # fmt: skip
_ROUTINES = """
select p.oid::regprocedure::text, format('%%s.%%s', n.nspname, p.proname), pg_get_functiondef(p.oid), p.proretset,
       p.provolatile = 'v', coalesce(p.proargnames[1], '') = 'p_setup', p.prorettype::regtype::text,
       p.prokind = 'p', p.prosecdef,
       array(select a.grantee::regrole::text from aclexplode(p.proacl) a
              where a.grantee = any (%(callers)s::regrole[]) order by 1)
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
 where n.nspname = any (%(schemas)s)
   and exists (select from aclexplode(p.proacl) a where a.grantee = any (%(callers)s::regrole[]))
 order by 2, 1
"""
_VIEWS = """
select format('%%s.%%s', n.nspname, c.relname),
       array_agg(a.attname::text order by a.attnum), array_agg(a.type order by a.attnum)
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
 cross join lateral (select a.attname, a.attnum, concat(format_type(a.atttypid, a.atttypmod),
                                            ' collate ' || nullif(a.attcollation, t.typcollation)::regcollation) as type
                       from pg_attribute a
                       join pg_type t on t.oid = a.atttypid
                      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) a
 where n.nspname = any (%(schemas)s) and c.relkind = 'v'
   and exists (select from aclexplode(c.relacl) r where r.grantee = any (%(callers)s::regrole[]))
 group by c.oid, n.nspname, c.relname
 order by 1
"""
_COLUMNS = """
select array_agg(a.attname::text order by a.attnum),
       array_agg(concat(format_type(a.atttypid, a.atttypmod),
                        ' collate ' || nullif(a.attcollation, t.typcollation)::regcollation) order by a.attnum)
  from pg_attribute a
  join pg_type t on t.oid = a.atttypid
 where a.attrelid = to_regclass(%s) and a.attnum > 0 and not a.attisdropped
"""


@dataclass(frozen=True)
class Routine:
    """A public function or procedure of an installation.

    title: its name and the types of its arguments. way: where it runs: `setup` (on the shard of the setup), `all`,
    `any`, or `here`. callers: roles that may call it, as PostgreSQL writes their names.
    """

    title: str
    name: str
    definition: str
    is_set: bool
    result: str
    way: str
    callers: tuple[str, ...] = ()


@dataclass(frozen=True)
class View:
    """A public view of an installation; way: `all` (of all shards together) or `here`."""

    name: str
    columns: tuple[tuple[str, str], ...]
    way: str


def routines(cur: Cursor, roles: Roles) -> list[Routine]:
    """The public routines, and the place where a front runs each."""
    found = []
    for title, name, definition, is_set, volatile, of_setup, result, procedure, definer, callers in cur.execute(
        _ROUTINES.encode(), _public(roles)
    ).fetchall():
        if procedure and definer:
            raise UpgradeError(f"procedure {title} reads tables itself: a front cannot send it to a shard")
        if procedure or name in HERE:
            way = "here"
        elif of_setup:
            way = "setup"
        else:
            way = "all" if volatile else "any"
        found.append(Routine(title, name, definition, is_set, result, way, tuple(callers)))
    return found


def views(cur: Cursor, roles: Roles) -> list[View]:
    """The public views, and whether a front reads them from shards."""
    return [
        View(name, tuple(zip(names, types, strict=True)), "here" if name in HERE_VIEWS else "all")
        for name, names, types in cur.execute(_VIEWS.encode(), _public(roles)).fetchall()
    ]


def _public(roles: Roles) -> dict[str, object]:
    schemas = [name for name in SCHEMAS if name != OWN_SCHEMA]
    return {"schemas": schemas, "callers": [roles.name(kind) for kind in CALLERS]}


def lay(cur: Cursor, roles: Roles) -> None:
    """Turn the objects that the upgrade installed into those of a front. The login must be a superuser, which acts as
    the owner."""
    schema = sql.Identifier(SCHEMA)
    cur.execute(sql.SQL("create schema if not exists {}").format(schema))
    for kind in CALLERS:
        cur.execute(sql.SQL("grant usage on schema {} to {}").format(schema, sql.Identifier(roles.name(kind))))
    shards = [name for (name,) in cur.execute("select shard from cluster.shard order by number").fetchall()]
    for view in views(cur, roles):
        if view.way == "all":
            _lay_view(cur, view, shards)
    found = routines(cur, roles)
    cur.execute("reset role")  # only a superuser may write functions in PL/Proxy
    for routine in found:
        if routine.way != "here" and not is_laid(routine):
            for statement in bodies(routine):
                cur.execute(statement.encode())
    take_role(cur, roles.owner)


def is_laid(routine: Routine) -> bool:
    """Whether a routine already forwards to the shards."""
    return "\nAS $front$\n" in routine.definition or "\n LANGUAGE plproxy\n" in routine.definition


def schema_of(shard: str) -> str:
    """The schema of a shard's foreign tables on the front; a table is named after its view."""
    return f"shard_{shard}"


def server_of(shard: str) -> str:
    """The SQL/MED server of a shard's foreign tables."""
    return f"{SERVER}_{shard}"


def bodies(routine: Routine) -> list[str]:
    """The statements that make a routine forward to the shards. A one-row result from all shards is their sum or,
    for yes and no, yes if any of them answers yes. The function that asks for their rows is in a schema of its own.
    """
    head = routine.definition.partition("\n LANGUAGE ")[0]
    if routine.way == "setup":
        return [_proxy(head, "run on cluster.shard_of(p_setup)")]
    if routine.way == "any":
        return [_proxy(head, "run on any")]
    if routine.is_set:
        return [_proxy(head, "run on all")]
    arguments = head[head.index("(") : head.index("\n RETURNS ")]
    each = f'CREATE OR REPLACE FUNCTION {SCHEMA}."{routine.name}"{arguments}'
    names = ", ".join(f"${number + 1}" for number in range(_count(routine.title)))
    title = f'{SCHEMA}."{routine.name}"{routine.title[routine.title.index("(") :]}'
    fold = {"void": "", "boolean": "bool_or(r)", "bigint": "sum(r)::bigint"}
    if routine.result not in fold:
        raise UpgradeError(
            f"function {routine.title} runs on all shards and returns {routine.result}, which is not a sum"
        )
    return [
        _proxy(f"{each}\n RETURNS SETOF {routine.result}", f"run on all; target {routine.name}"),
        f"revoke execute on function {title} from public",
        f"grant execute on function {title} to {', '.join(routine.callers)}",
        f"{head}\n LANGUAGE sql\nAS $front$\n"
        f'select {fold[routine.result]} from {SCHEMA}."{routine.name}"({names}) r\n$front$\n',
    ]


def _proxy(head: str, way: str) -> str:
    return f"{head}\n LANGUAGE plproxy\nAS $front$\ncluster '{SERVER}'; {way};\n$front$\n"


def _count(title: str) -> int:
    arguments = title[title.index("(") + 1 : -1]
    return arguments.count(",") + 1 if arguments else 0


def _lay_view(cur: Cursor, view: View, shards: list[str]) -> None:
    """Let a view read the same view of all shards; a setup that is moving is read from the shard that has it."""
    names = sql.SQL(", ").join(sql.SQL("v.{}").format(sql.Identifier(name)) for name, _ in view.columns)
    of_setup = any(name == "setup" for name, _ in view.columns)
    parts = []
    for shard in shards:
        table = sql.Identifier(schema_of(shard), view.name)
        _make_table(cur, view, shard, table)
        part = sql.SQL("select {} from {} v").format(names, table)
        if of_setup:
            placed = " where v.setup in (select p.setup from cluster.placement p where p.shard = {})"
            part += sql.SQL(placed).format(sql.Literal(shard))
        parts.append(part)
    if not parts:
        nothing = sql.SQL(", ").join(sql.SQL("null::{}").format(sql.SQL(type_)) for _, type_ in view.columns)
        parts = [sql.SQL("select {} where false").format(nothing)]
    name = sql.Identifier(*view.name.split("."))
    columns = sql.SQL(", ").join(sql.Identifier(name) for name, _ in view.columns)
    together = sql.SQL(" union all " if of_setup else " union ").join(parts)
    cur.execute(sql.SQL("create or replace view {} ({}) as {}").format(name, columns, together))


def _make_table(cur: Cursor, view: View, shard: str, table: sql.Identifier) -> None:
    """The foreign table of a view of a shard, made again if the view has other columns."""
    there = cur.execute(_COLUMNS.encode(), [table.as_string(cur)]).fetchone()
    if there and there[0] and tuple(zip(*there, strict=True)) == view.columns:
        return
    schema, _, name = view.name.partition(".")
    cur.execute(sql.SQL("drop foreign table if exists {}").format(table))
    columns = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(type_)) for column, type_ in view.columns
    )
    cur.execute(
        sql.SQL("create foreign table {} ({}) server {} options (schema_name {}, table_name {})").format(
            table, columns, sql.Identifier(server_of(shard)), sql.Literal(schema), sql.Literal(name)
        )
    )
