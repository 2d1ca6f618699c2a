"""Keeping objects that others built on pgbroker: saves the definition of a foreign view, function or trigger, and
creates it again unchanged.

Saved: definition, owner, grants (columns' too), comments, a view's defaults and rules, a trigger's enabled state.
"""

from typing import Any

import psycopg
from psycopg import sql

from broker.upgrade.dependants import Standing
from broker.upgrade.failure import UpgradeError
from broker.upgrade.session import concurrent, take_role

Cursor = psycopg.Cursor[Any]

# Each query writes the statements that create the object again; %s is its oid. search_path is pg_catalog only, so every
# name is qualified.
_VIEW = """
select format('create view %%s%%s as %%s', v.name,
              coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', ''), pg_get_viewdef(c.oid))
  from pg_class c, v where c.oid = v.oid
union all
select format('alter view %%s alter column %%I set default %%s', v.name, a.attname, pg_get_expr(d.adbin, d.adrelid))
  from v join pg_attrdef d on d.adrelid = v.oid
  join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
union all
select pg_get_ruledef(r.oid) from v join pg_rewrite r on r.ev_class = v.oid and r.rulename <> '_RETURN'
union all
select format('comment on view %%s is %%L', v.name, d.description)
  from v join pg_description d on d.objoid = v.oid and d.classoid = 'pg_class'::regclass and d.objsubid = 0
union all
select format('comment on column %%s.%%I is %%L', v.name, a.attname, d.description)
  from v join pg_description d on d.objoid = v.oid and d.classoid = 'pg_class'::regclass and d.objsubid > 0
  join pg_attribute a on a.attrelid = v.oid and a.attnum = d.objsubid
union all
select format('revoke all on %%s from %%s', v.name,
              c.relowner::regrole)
  from pg_class c, v where c.oid = v.oid and c.relacl is not null
union all
select format('grant %%s on %%s to %%s%%s', x.privilege_type, v.name,
              case x.grantee when 0 then 'public' else x.grantee::regrole::text end,
              case when x.is_grantable then ' with grant option' else '' end)
  from pg_class c, v, aclexplode(c.relacl) x where c.oid = v.oid
union all
select format('grant %%s (%%I) on %%s to %%s%%s', x.privilege_type, a.attname, v.name,
              case x.grantee when 0 then 'public' else x.grantee::regrole::text end,
              case when x.is_grantable then ' with grant option' else '' end)
  from v join pg_attribute a on a.attrelid = v.oid, aclexplode(a.attacl) x
"""
_ROUTINE = """
select pg_get_functiondef(p.oid) from pg_proc p, v where p.oid = v.oid
union all
select format('comment on routine %%s is %%L', v.name, d.description)
  from v join pg_description d on d.objoid = v.oid and d.classoid = 'pg_proc'::regclass
union all
select format('revoke all on routine %%s from public, %%s', v.name, p.proowner::regrole)
  from pg_proc p, v where p.oid = v.oid and p.proacl is not null
union all
select format('grant execute on routine %%s to %%s%%s', v.name,
              case x.grantee when 0 then 'public' else x.grantee::regrole::text end,
              case when x.is_grantable then ' with grant option' else '' end)
  from pg_proc p, v, aclexplode(p.proacl) x where p.oid = v.oid
"""
_TRIGGER = """
select pg_get_triggerdef(t.oid) from pg_trigger t, v where t.oid = v.oid
union all
select format('alter table %%s %%s trigger %%I', t.tgrelid::regclass,
              case t.tgenabled when 'D' then 'disable' when 'R' then 'enable replica' else 'enable always' end,
              t.tgname)
  from pg_trigger t, v where t.oid = v.oid and t.tgenabled <> 'O'
union all
select format('comment on trigger %%I on %%s is %%L', t.tgname, t.tgrelid::regclass, d.description)
  from pg_trigger t join v on t.oid = v.oid
  join pg_description d on d.objoid = t.oid and d.classoid = 'pg_trigger'::regclass
"""
_SAVE = {
    "view": "with v as (select %s::oid as oid, %s::oid::regclass::text as name)" + _VIEW,
    "function": "with v as (select %s::oid as oid, %s::oid::regprocedure::text as name)" + _ROUTINE,
    "procedure": "with v as (select %s::oid as oid, %s::oid::regprocedure::text as name)" + _ROUTINE,
    "trigger": "with v as (select %s::oid as oid, %s::oid::text as name)" + _TRIGGER,
}


def save(cur: Cursor, standing: Standing) -> list[str]:
    """Return the statements that create a foreign object again in its present form, without its owner."""
    rows = cur.execute(_SAVE[standing.kind].encode(), [standing.oid, standing.oid]).fetchall()
    return [str(row[0]) for row in rows]


def acting_as(cur: Cursor, role: str, owner: str) -> bool:
    """Take the role of a foreign object's owner, or stay superuser; return whether that was possible.

    The caller sets the role back to the owner of pgbroker (`role`).
    """
    cur.execute("reset role")
    if cur.execute("select usesuper from pg_user where usename = session_user").fetchone() == (True,):
        return True
    membership = "SET" if cur.connection.info.server_version >= 160000 else "MEMBER"
    if cur.execute("select pg_has_role(session_user, %s, %s)", [owner, membership]).fetchone() == (True,):
        take_role(cur, owner)
        return True
    take_role(cur, role)
    return False


def restore(cur: Cursor, standing: Standing, statements: list[str], role: str) -> None:
    """Create a foreign object again. Raises UpgradeError, naming it, if it no longer fits the changed object."""
    acting_as(cur, role, standing.owner)
    create, *rest = statements
    try:
        cur.execute(create.encode())
        if standing.kind != "trigger":
            # A superuser may have created it; for the owner this changes nothing.
            routine = f"({standing.arguments})" if standing.kind in {"function", "procedure"} else ""
            name = sql.Identifier(standing.schema, standing.name).as_string(cur) + routine
            owner = sql.Identifier(standing.owner).as_string(cur)
            cur.execute(f"alter {standing.kind} {name} owner to {owner}".encode())
        for statement in rest:
            cur.execute(statement.encode())
    except psycopg.Error as error:
        if concurrent(error):
            raise
        raise UpgradeError(
            f"{standing.title}, owned by {standing.owner}, does not fit the new definition of what it uses:"
            f" {error.diag.message_primary or error}",
            "change or drop it, repeat the command, and make it again",
        ) from error
    take_role(cur, role)
