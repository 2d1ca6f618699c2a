"""The dependants of an object, found in pg_depend, so that drop and create lose no objects of users."""

from dataclasses import dataclass, field
from typing import Any

import psycopg

from broker.upgrade.failure import UpgradeError

Cursor = psycopg.Cursor[Any]

# The direct dependants of (class, oid). A rule of a view, or the default of its column, counts as the view.
_DEPENDERS = """
select distinct
       case when coalesce(r.ev_class, c.oid) is not null then 'pg_class'::regclass else d.classid end::regclass::text,
       coalesce(r.ev_class, c.oid, d.objid)::bigint,
       d.deptype = 'i'
  from pg_depend d
  left join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
  left join pg_attrdef a on d.classid = 'pg_attrdef'::regclass and a.oid = d.objid
  left join pg_class c on c.oid = a.adrelid and c.relkind = 'v'
 where d.refclassid = %(class)s::regclass
   and d.refobjid = %(oid)s
   and d.deptype in ('n', 'a', 'i')
"""

_DESCRIBE = {
    "pg_class": """
        select case c.relkind when 'v' then 'view' else 'other' end, n.nspname, c.relname, '', null::text,
               pg_get_userbyid(c.relowner)
          from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = %s""",
    "pg_proc": """
        select case p.prokind when 'f' then 'function' when 'p' then 'procedure' else 'other' end,
               n.nspname, p.proname, oidvectortypes(p.proargtypes), null::text, pg_get_userbyid(p.proowner)
          from pg_proc p join pg_namespace n on n.oid = p.pronamespace where p.oid = %s""",
    "pg_trigger": """
        select 'trigger', n.nspname, t.tgname, '', c.relname, pg_get_userbyid(c.relowner)
          from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
         where t.oid = %s""",
}


# Family (routine, view, trigger), schema, name, argument types, table of a trigger.
Key = tuple[str, str, str, str, str]


def key_of(kind: str, schema: str, name: str, arguments: str, relation: str | None) -> Key:
    """Return the identity of an object; a function and a procedure with the same signature exclude each other."""
    family = "routine" if kind in {"function", "procedure"} else kind
    return family, schema, name, arguments, relation or ""


@dataclass(frozen=True)
class Standing:
    """An object in the catalogue: a view, function, procedure or trigger; anything else has the kind other."""

    catalogue: str
    oid: int
    kind: str
    schema: str
    name: str
    arguments: str
    relation: str | None
    owner: str

    @property
    def key(self) -> Key:
        """The key of the object in resource.installed_object."""
        return key_of(self.kind, self.schema, self.name, self.arguments, self.relation)

    @property
    def title(self) -> str:
        """Kind and name, for people."""
        if self.kind == "trigger":
            return f"trigger {self.name} on {self.schema}.{self.relation}"
        brackets = f"({self.arguments})" if self.kind in {"function", "procedure"} else ""
        return f"{self.kind} {self.schema}.{self.name}{brackets}"


def describe(cur: Cursor, catalogue: str, oid: int) -> Standing:
    """Look an object up in its catalogue."""
    if catalogue in _DESCRIBE:
        row = cur.execute(_DESCRIBE[catalogue].encode(), [oid]).fetchone()
        if row is not None and row[0] != "other":
            return Standing(catalogue, oid, *row)
    row = cur.execute("select pg_describe_object(%s::regclass, %s::oid, 0)", [catalogue, oid]).fetchone()
    return Standing(catalogue, oid, "other", "", str(row[0]) if row else "?", "", None, "")


@dataclass
class _Walk:
    cur: Cursor
    seen: set[tuple[str, int]] = field(default_factory=set)
    found: list[Standing] = field(default_factory=list)

    def visit(self, catalogue: str, oid: int, below: Standing | None) -> None:
        if (catalogue, oid) in self.seen:
            return
        self.seen.add((catalogue, oid))
        standing = describe(self.cur, catalogue, oid)
        for depender, dependent, internal in self.cur.execute(
            _DEPENDERS.encode(), {"class": catalogue, "oid": oid}
        ).fetchall():
            if depender == "pg_type" or internal:
                # The row type of a view (and its array) is not an object of its own, but other objects may use it.
                self.visit(depender, dependent, standing)
            elif depender in _DESCRIBE:
                self.visit(depender, dependent, standing)
            else:
                other = describe(self.cur, depender, dependent)
                fault = f"{standing.title} must be dropped to be changed, and {other.name} depends on it"
                raise UpgradeError(fault, "take that dependency away in a revision, or keep the signature as it is")
        if catalogue == "pg_type":
            return
        if standing.kind == "other":
            title = below.title if below else "an object"
            fault = f"{title} must be dropped to be changed, and {standing.name} depends on it"
            raise UpgradeError(fault, f"drop {standing.name} first and make it again after the upgrade")
        self.found.append(standing)


def standing_on(cur: Cursor, roots: list[tuple[str, int]]) -> list[Standing]:
    """Return the objects and all their dependants, in an order in which they can be dropped.

    Raises UpgradeError when something that cannot be made again from its definition (a column's default,
    a constraint, an index, a materialised view) depends on one of them.
    """
    walk = _Walk(cur)
    for catalogue, oid in roots:
        walk.visit(catalogue, oid, None)
    return walk.found
