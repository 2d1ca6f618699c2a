"""Logins of a front: each of them is the same login on every shard. PL/Proxy takes the login on a shard from a user
mapping, and PostgreSQL lets whoever may use the server make a mapping of its own. So an event trigger refuses a mapping
that names another login. The functions belong to the superuser who made the front: nobody else may read all mappings.
"""

from typing import Any

import psycopg
from psycopg import sql

from broker.fronts.overlay import SCHEMA, SERVER
from broker.upgrade.roles import Roles

_TRIGGER = "pgbroker_logins"
_CHANGED = f"""
create or replace function {SCHEMA}.changed_logins()
returns table (mapping oid, login text, shard_login text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $front$
  select m.oid, coalesce(r.rolname, 'public'), o.option_value
    from pg_user_mapping m
    join pg_foreign_server s on s.oid = m.umserver and s.srvname = '{SERVER}'
   cross join pg_options_to_table(m.umoptions) o
    left join pg_roles r on r.oid = m.umuser
   where o.option_name = 'user' and o.option_value is distinct from r.rolname
$front$;
create or replace function {SCHEMA}.keep_login() returns event_trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $front$
declare
  v_changed record;
begin
  for v_changed in
    select c.login, c.shard_login
      from pg_event_trigger_ddl_commands() d
      join {SCHEMA}.changed_logins() c on c.mapping = d.objid
     where d.classid = 'pg_user_mapping'::regclass
  loop
    raise exception 'the user mapping of % makes it % on the shards', v_changed.login, v_changed.shard_login
      using errcode = 'PB002', hint = 'A login of a front is the same login on each shard. Leave out the option user.';
  end loop;
end $front$;
revoke execute on function {SCHEMA}.changed_logins(), {SCHEMA}.keep_login() from public
"""
_FAULTS = f"""
select login, format('is %s on the shards', shard_login),
       format('alter user mapping for %I server {SERVER} options (set user %L)', login, login)
  from {SCHEMA}.changed_logins()
 where login <> 'public'
 union all
select 'public', format('every login without a mapping of its own is %s on the shards', shard_login),
       'alter user mapping for public server {SERVER} options (drop user)'
  from {SCHEMA}.changed_logins()
 where login = 'public'
 union all
select '{_TRIGGER}', 'nothing refuses a user mapping that names another login',
       'alter event trigger {_TRIGGER} enable always; if it is not there: broker db upgrade'
 where not exists (select from pg_event_trigger e where e.evtname = '{_TRIGGER}' and e.evtenabled = 'A')
 order by 1
"""


def guard(cur: psycopg.Cursor[Any], roles: Roles) -> None:
    """Make the functions and the event trigger. The role must be a superuser."""
    cur.execute(_CHANGED.encode())
    readers = sql.SQL(", ").join(sql.Identifier(roles.name(kind)) for kind in ("operator", "viewer"))
    cur.execute(sql.SQL("grant execute on function {}.changed_logins() to {}").format(sql.Identifier(SCHEMA), readers))
    name = sql.Identifier(_TRIGGER)
    if cur.execute("select from pg_event_trigger where evtname = %s", [_TRIGGER]).fetchone() is None:
        create = sql.SQL(
            "create event trigger {} on ddl_command_end when tag in ('CREATE USER MAPPING', 'ALTER USER MAPPING')"
            " execute function {}.keep_login()"
        )
        cur.execute(create.format(name, sql.Identifier(SCHEMA)))
    cur.execute(sql.SQL("alter event trigger {} enable always").format(name))


def faults(connection: psycopg.Connection[Any]) -> list[tuple[str, str, str]]:
    """Ways in which a login of a front is another one on the shards: login, way and remedy. Nothing in a database
    that is no front."""
    if connection.execute("select from cluster.shard_dsn(null) limit 1").fetchone() is None:
        return []
    return connection.execute(_FAULTS.encode()).fetchall()
