"""The catalogue in PostgreSQL's own words: the state after the last upgrade, and the present state. It covers
everything in the schemas except partitions by range, which are made ahead over time. It is read with search_path
pg_catalog, so that names are qualified and the words do not depend on the session.
"""

from dataclasses import dataclass
from typing import Any

import psycopg

from broker.upgrade.roles import Roles
from broker.upgrade.source import SCHEMAS

Cursor = psycopg.Cursor[Any]
# (item, aspect) -> value; the aspects are definition, owner and comment.
State = dict[tuple[str, str], str]

_STATE = """
with
ours as (select oid, nspname, nspowner from pg_namespace where nspname = any(%(schemas)s)),
relation as (
  select c.*, n.nspname, case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence'
                         when 'f' then 'foreign table' else 'table' end as kind
    from pg_class c join ours n on n.oid = c.relnamespace
   where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
     and not exists (select from pg_inherits i join pg_partitioned_table p on p.partrelid = i.inhparent
                      where i.inhrelid = c.oid and p.partstrat = 'r')
),
thing (item, owner, catalogue, oid, part, definition) as (
  select format('schema %%s', nspname), nspowner, 'pg_namespace'::regclass, oid, 0, '' from ours
  union all
  select format('%%s %%s.%%s(%%s)', case prokind when 'p' then 'procedure' when 'a' then 'aggregate'
                                    when 'w' then 'window function' else 'function' end,
                nspname, proname, oidvectortypes(proargtypes)),
         proowner, 'pg_proc'::regclass, p.oid, 0,
         case when prokind in ('a', 'w') then '' else pg_get_functiondef(p.oid) end
    from pg_proc p join ours on ours.oid = pronamespace
  union all
  select format('%%s %%s.%%s', kind, nspname, relname), relowner, 'pg_class'::regclass, r.oid, 0,
         concat_ws(' ', relpersistence, array_to_string(reloptions, ','), pg_get_partkeydef(r.oid),
                   pg_get_expr(r.relpartbound, r.oid),
                   case when relrowsecurity then 'row security' end, case when relforcerowsecurity then 'forced' end,
                   case when kind in ('view', 'materialized view') then pg_get_viewdef(r.oid) end,
                   s.seqtypid::regtype, s.seqstart, s.seqincrement, s.seqmax, s.seqmin, s.seqcache, s.seqcycle)
    from relation r left join pg_sequence s on s.seqrelid = r.oid
  union all
  select format('column %%s.%%s.%%s', nspname, relname, attname), relowner, 'pg_class'::regclass, r.oid, attnum,
         concat_ws(' ', format_type(atttypid, atttypmod), case when attnotnull then 'not null' end,
                   'default ' || pg_get_expr(adbin, adrelid), 'identity ' || nullif(attidentity::text, ''),
                   'generated ' || nullif(attgenerated::text, ''),
                   'collate ' || nullif(attcollation, typcollation)::regcollation::text)
    from relation r join pg_attribute a on attrelid = r.oid and attnum > 0 and not attisdropped
    join pg_type t on t.oid = atttypid
    left join pg_attrdef d on adrelid = r.oid and adnum = attnum
   where kind <> 'sequence'
  union all
  select format('constraint %%s on %%s.%%s', conname, nspname, relname), relowner, 'pg_constraint'::regclass, c.oid, 0,
         concat_ws(' ', pg_get_constraintdef(c.oid), case when not convalidated then 'not valid' end)
    from pg_constraint c join relation r on r.oid = conrelid where contype not in ('n', 't')
  union all
  select format('index %%s on %%s.%%s', x.relname, nspname, r.relname), r.relowner, 'pg_class'::regclass, x.oid, 0,
         concat_ws(' ', pg_get_indexdef(x.oid), case when not indisvalid then 'invalid' end)
    from pg_index i join relation r on r.oid = indrelid join pg_class x on x.oid = indexrelid
  union all
  select format('trigger %%s on %%s.%%s', tgname, nspname, relname), relowner, 'pg_trigger'::regclass, t.oid, 0,
         concat_ws(' ', pg_get_triggerdef(t.oid), case tgenabled when 'O' then null when 'D' then 'disabled'
                                                  when 'R' then 'on replica' else 'always' end)
    from pg_trigger t join relation r on r.oid = tgrelid where not tgisinternal
  union all
  select format('rule %%s on %%s.%%s', rulename, nspname, relname), relowner, 'pg_rewrite'::regclass, w.oid, 0,
         concat_ws(' ', pg_get_ruledef(w.oid), nullif(ev_enabled::text, 'O'))
    from pg_rewrite w join relation r on r.oid = ev_class where rulename <> '_RETURN'
  union all
  select format('policy %%s on %%s.%%s', polname, nspname, relname), relowner, 'pg_policy'::regclass, p.oid, 0,
         concat_ws(' ', polcmd, polpermissive, polroles::regrole[], pg_get_expr(polqual, polrelid),
                   pg_get_expr(polwithcheck, polrelid))
    from pg_policy p join relation r on r.oid = polrelid
  union all
  select format('type %%s.%%s', nspname, typname), typowner, 'pg_type'::regclass, t.oid, 0,
         concat_ws(' ', typtype,
           (select string_agg(quote_literal(enumlabel), ', ' order by enumsortorder)
              from pg_enum where enumtypid = t.oid),
           (select string_agg(format('%%I %%s', attname, format_type(atttypid, atttypmod)), ', ' order by attnum)
              from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped),
           format_type(nullif(typbasetype, 0), typtypmod), case when typnotnull then 'not null' end,
           'default ' || typdefault,
           (select string_agg(pg_get_constraintdef(oid), ' ' order by conname)
              from pg_constraint where contypid = t.oid))
    from pg_type t join ours on ours.oid = typnamespace left join pg_class c on c.oid = typrelid
   where typtype in ('d', 'e', 'r') or (typtype = 'c' and c.relkind = 'c')
)
select item, pg_get_userbyid(owner), definition, d.description
  from thing left join pg_description d on d.classoid = catalogue and d.objoid = thing.oid and d.objsubid = part
"""

_ROLES = """
select format('role %%s', rolname),
       concat_ws(' ', case when rolsuper then 'superuser' end, case when rolcreaterole then 'createrole' end,
                 case when rolcreatedb then 'createdb' end, case when rolbypassrls then 'bypassrls' end,
                 case when rolreplication then 'replication' end)
  from pg_roles where rolname = any(%s)
"""
# Parts of a table always belong to the table's owner.
_PARTS = ("column", "constraint", "index", "trigger", "rule", "policy")


@dataclass(frozen=True)
class Difference:
    """One difference: the object, the aspect, and both values ('' for none)."""

    item: str
    aspect: str
    expected: str
    found: str


def read(cur: Cursor, roles: Roles) -> State:
    """Read the catalogue. Columns, constraints, indexes and triggers have no owner of their own."""
    state: State = {}
    for item, owner, definition, comment in cur.execute(_STATE.encode(), {"schemas": list(SCHEMAS)}).fetchall():
        state[(item, "definition")] = definition
        if not item.startswith(_PARTS):
            state[(item, "owner")] = owner
        if comment is not None:
            state[(item, "comment")] = comment
    for item, attributes in cur.execute(_ROLES.encode(), [list(roles.names.values())]).fetchall():
        state[(item, "definition")] = attributes
    return state


def stored(cur: Cursor) -> State:
    """The state after the last upgrade."""
    rows = cur.execute("select item, aspect, value from resource.installed_state").fetchall()
    return {(item, aspect): value for item, aspect, value in rows}


def reworded(left: State, now: State) -> State:
    """Return the state after the last upgrade, in the words of the present server."""
    return {key: now.get(key, value) if key[1] == "definition" else value for key, value in left.items()}


def store(cur: Cursor, before: State, left: State, after: State) -> None:
    """Store the state after this upgrade. An item that differed `before` from the state that the last upgrade had
    `left`, and that this one did not touch, stays a difference: an upgrade does not accept a table changed by hand.
    """
    new: State = {}
    for key in {*left, *after}:
        value = left.get(key) if key in left and before.get(key) == after.get(key) else after.get(key)
        if value is not None and (key in left or before.get(key) != after.get(key)):
            new[key] = value
    there = stored(cur)
    gone = [key for key in there if key not in new]
    changed = [(item, aspect, value) for (item, aspect), value in new.items() if there.get((item, aspect)) != value]
    if gone:
        cur.execute(
            "delete from resource.installed_state s using unnest(%s::text[], %s::text[]) as g(item, aspect)"
            " where (s.item, s.aspect) = (g.item, g.aspect)",
            [[item for item, _ in gone], [aspect for _, aspect in gone]],
        )
    if changed:
        cur.execute(
            "insert into resource.installed_state (item, aspect, value)"
            " select * from unnest(%s::text[], %s::text[], %s::text[])"
            " on conflict (item, aspect) do update set value = excluded.value",
            [list(column) for column in zip(*changed, strict=True)],
        )


def differences(expected: State, found: State, roles: Roles) -> tuple[list[Difference], list[str]]:
    """Compare; return the differences, and the objects in the schemas that belong to other roles.

    An object that no upgrade made is a difference when the owner of pgbroker owns it, or when it is part of a
    table of ours; a function or view of another owner is a guest, and is only named.
    """
    wrong: list[Difference] = []
    guests: list[str] = []
    expected_items = {item for item, _ in expected}
    found_items = {item for item, _ in found}
    for item in sorted(expected_items - found_items):
        wrong.append(Difference(item, "existence", "present", "missing"))
    for item in sorted(found_items - expected_items):
        owner = found.get((item, "owner"))
        if owner is None and item.startswith(_PARTS):
            table = item.rsplit(" on ", 1)[-1] if " on " in item else item.removeprefix("column ").rsplit(".", 1)[0]
            if not any((f"{kind} {table}", "owner") in expected for kind in ("table", "view", "sequence")):
                continue  # part of a guest
            wrong.append(Difference(item, "existence", "missing", "present"))
        elif owner in (None, roles.owner):
            wrong.append(Difference(item, "existence", "missing", "present"))
        else:
            guests.append(f"{item}, owned by {owner}")
    in_both = expected_items & found_items
    for key in sorted(key for key in {*expected, *found} if key[0] in in_both):
        if expected.get(key) != found.get(key):
            wrong.append(Difference(*key, expected.get(key, ""), found.get(key, "")))
    return wrong, guests
