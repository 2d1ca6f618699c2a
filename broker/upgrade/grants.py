"""The grants of roles.sql as a desired state: missing grants are made, and others are revoked. Only the roles of
pgbroker and PUBLIC are managed. A grant that a DBA gave to another role stays as it is.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from broker.upgrade.failure import UpgradeError
from broker.upgrade.parse import Token, argument_types, qualified_name, statements
from broker.upgrade.roles import DEFAULT_PREFIX, KINDS, Roles
from broker.upgrade.source import SCHEMAS

Cursor = psycopg.Cursor[Any]

PUBLIC = "public"
_ROUTINES = {"function", "procedure", "routine"}
_RELATIONS = {"table", "view"}
# The meaning of `all` differs between versions of PostgreSQL, so privileges are written out.
_PRIVILEGES = {
    "schema": {"usage", "create"},
    "routine": {"execute"},
    "relation": {"select", "insert", "update", "delete", "truncate", "references", "trigger"},
    "type": {"usage"},
    "sequence": {"usage", "select", "update"},
}


@dataclass(frozen=True)
class Grant:
    """One grant of roles.sql. `arguments` None means every overload of the name; `roles` are kinds."""

    privileges: tuple[str, ...]
    target: str
    schema: str
    name: str
    arguments: tuple[str, ...] | None
    roles: tuple[str, ...]

    @property
    def title(self) -> str:
        """The object of a grant, for people."""
        return f"{self.target} {self.schema}.{self.name}" if self.name else f"schema {self.schema}"


def _read(tokens: list[Token]) -> Iterator[Grant]:
    """Read `grant privileges on kind name, name to role, role`: one grant per name."""
    text = " ".join(token.text for token in tokens)
    words = [token.text for token in tokens]
    if words[0] != "grant" or "on" not in words or "to" not in words:
        raise UpgradeError(f"roles.sql: `{text}`", "a grant is `grant privilege on kind name, name to role, role;`")
    on = words.index("on")
    privileges = tuple(word for word in words[1:on] if word != ",")
    rest = tokens[on + 1 :]
    target = "table"
    if rest[0].text in _ROUTINES | _RELATIONS | {"schema", "type", "sequence"} and rest[1].text != ".":
        target, rest = rest[0].text, rest[1:]
    target = "routine" if target in _ROUTINES else "relation" if target in _RELATIONS else target
    things: list[tuple[list[str], tuple[str, ...] | None]] = []
    while not things or rest[0].text == ",":
        parts, rest = qualified_name(rest[1:] if things else rest)
        arguments = None
        if rest and rest[0].text == "(":
            arguments, rest = argument_types(rest)
        things.append((parts, arguments))
    named = [token.text for token in rest[1:] if token.text != ","]
    kinds = tuple(name.removeprefix(DEFAULT_PREFIX) for name in named)
    if (
        rest[0].text != "to"
        or not kinds
        or any(
            not name.startswith(DEFAULT_PREFIX) or kind not in KINDS for name, kind in zip(named, kinds, strict=True)
        )
        or not set(privileges) <= _PRIVILEGES[target]
        or any(len(parts) != (1 if target == "schema" else 2) or parts[0] not in SCHEMAS for parts, _ in things)
    ):
        raise UpgradeError(
            f"roles.sql: `{text}`",
            f"privileges are {', '.join(sorted(_PRIVILEGES[target]))}; roles are {DEFAULT_PREFIX}"
            f"{{{','.join(KINDS)}}}; names are written schema.name",
        )
    for parts, arguments in things:
        yield Grant(privileges, target, parts[0], parts[1] if len(parts) > 1 else "", arguments, kinds)


def parse(text: str) -> list[Grant]:
    """Read roles.sql. Raises UpgradeError, showing the statement, if it contains anything but plain grants."""
    return [grant for tokens in statements(text) for grant in _read(tokens)]


# Everything in the schemas that can have grants, with its present grants. Grants on columns have the target `column`;
# partitions inherit no grants and get none.
_NOW = """
with ours as (select n.oid, n.nspname, n.nspowner, n.nspacl from pg_namespace n where n.nspname = any(%(schemas)s)),
thing (target, schema, name, arguments, spoken, owner, acl, kind) as (
  select 'schema', nspname, '', '', quote_ident(nspname), nspowner, nspacl, 'n'::"char" from ours
  union all
  select 'routine', nspname, proname, oidvectortypes(proargtypes), p.oid::regprocedure::text, proowner, proacl, 'f'
    from pg_proc p join ours on ours.oid = pronamespace where prokind in ('f', 'p')
  union all
  select case relkind when 'S' then 'sequence' else 'relation' end, nspname, relname, '', c.oid::regclass::text,
         relowner, relacl, case relkind when 'S' then 's' else 'r' end::"char"
    from pg_class c join ours on ours.oid = relnamespace where relkind in ('r', 'p', 'v', 'm', 'f', 'S')
  union all
  select 'column', nspname, relname, attname, c.oid::regclass::text, relowner, attacl, 'c'
    from pg_attribute a join pg_class c on c.oid = attrelid join ours on ours.oid = relnamespace
   where attacl is not null and attnum > 0 and not attisdropped
  union all
  select 'type', nspname, typname, '', t.oid::regtype::text, typowner, typacl, 'T'
    from pg_type t join ours on ours.oid = typnamespace left join pg_class c on c.oid = typrelid
   where typtype in ('d', 'e', 'r') or (typtype = 'c' and c.relkind = 'c')
)
select target, schema, name, arguments, spoken,
       coalesce((select jsonb_object_agg(g.who, g.what)
                   from (select case x.grantee when 0 then 'public' else pg_get_userbyid(x.grantee)::text end,
                                jsonb_object_agg(lower(x.privilege_type), x.is_grantable)
                           from aclexplode(coalesce(acl, acldefault(kind, owner))) x
                          group by 1) as g (who, what)), '{}'),
       array(select lower(x.privilege_type) from aclexplode(acldefault(kind, owner)) x where x.grantee = owner)
  from thing
 where pg_get_userbyid(owner) = %(owner)s
"""


@dataclass(frozen=True)
class _Thing:
    target: str
    schema: str
    name: str
    arguments: str
    spoken: str

    @property
    def title(self) -> str:
        column = f".{self.arguments}" if self.target == "column" else ""
        return f"{self.target} {self.spoken}{column}"


def _matches(cur: Cursor, grants: list[Grant], things: list[_Thing]) -> list[tuple[Grant, list[_Thing]]]:
    """Find the objects of each grant in the catalogue."""
    by_name: dict[tuple[str, str, str], list[_Thing]] = defaultdict(list)
    for thing in things:
        by_name[(thing.target, thing.schema, thing.name)].append(thing)
    found: list[tuple[Grant, list[_Thing]]] = []
    for grant in grants:
        candidates = by_name[(grant.target, grant.schema, grant.name)]
        if grant.arguments is not None:
            row = cur.execute(
                "select coalesce(string_agg(coalesce(to_regtype(t.written)::text, t.written), ', ' order by t.n), '')"
                "  from unnest(%s::text[]) with ordinality t(written, n)",
                [list(grant.arguments)],
            ).fetchone()
            candidates = [thing for thing in candidates if row and thing.arguments == row[0]]
        found.append((grant, candidates))
    return found


@dataclass(frozen=True)
class Plan:
    """The statements that bring the grants to the state of roles.sql, the missing objects that the file names, and the
    guests.

    `others` are the grants to roles that are not pgbroker's; they stay.
    """

    statements: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def plan(cur: Cursor, wanted_grants: list[Grant], roles: Roles) -> Plan:
    """Compare the grants of pgbroker with roles.sql."""
    now: dict[_Thing, dict[str, dict[str, bool]]] = {}
    wanted: dict[tuple[_Thing, str], set[str]] = defaultdict(set)
    for target, schema, name, arguments, spoken, acl, default in cur.execute(
        _NOW.encode(), {"schemas": list(SCHEMAS), "owner": roles.owner}
    ).fetchall():
        thing = _Thing(target, schema, name, arguments, spoken)
        now[thing] = acl
        wanted[(thing, roles.owner)].update(default)
    absent: list[str] = []
    for grant, things in _matches(cur, wanted_grants, list(now)):
        if not things:
            absent.append(grant.title)
        for thing in things:
            for kind in grant.roles:
                wanted[(thing, roles.name(kind))].update(grant.privileges)
    looked_after = [PUBLIC, *roles.names.values()]
    statements: list[str] = []
    others: list[str] = []
    for thing, acl in now.items():
        others.extend(
            f"{', '.join(sorted(acl[who]))} on {thing.title} to {who}" for who in acl if who not in looked_after
        )
        for grantee in looked_after:
            has = acl.get(grantee, {})
            should = wanted[(thing, grantee)]
            optional = {privilege for privilege, grantable in has.items() if grantable and privilege in should}
            for verb, privileges in (
                ("revoke", set(has) - should),
                ("revoke grant option for", optional if grantee != roles.owner else set()),
                ("grant", should - set(has)),
            ):
                if privileges:
                    statements.append(_statement(cur, verb, privileges, thing, grantee))
    return Plan(tuple(statements), tuple(absent), tuple(others))


def apply(cur: Cursor, wanted_grants: list[Grant], roles: Roles) -> Plan:
    """Bring the grants of pgbroker to the state of roles.sql. Raises UpgradeError if it names a missing object."""
    planned = plan(cur, wanted_grants, roles)
    if planned.absent:
        raise UpgradeError(f"roles.sql grants on {', '.join(planned.absent)}: no such thing", "correct sql/roles.sql")
    cur.execute(";\n".join(planned.statements).encode())
    return planned


def _statement(cur: Cursor, verb: str, privileges: set[str], thing: _Thing, grantee: str) -> str:
    column = f" ({sql.Identifier(thing.arguments).as_string(cur)})" if thing.target == "column" else ""
    listed = ", ".join(privilege + column for privilege in sorted(privileges))
    kind = {"relation": "table", "column": "table"}.get(thing.target, thing.target)
    role = grantee if grantee == PUBLIC else sql.Identifier(grantee).as_string(cur)
    if verb == "grant":
        return f"grant {listed} on {kind} {thing.spoken} to {role}"
    return f"{verb} {listed} on {kind} {thing.spoken} from {role} cascade"


def close_defaults(cur: Cursor, roles: Roles) -> None:
    """Change the owner's default privileges: PUBLIC no longer gets PostgreSQL's grants on every new function and
    type."""
    row = cur.execute(
        "select count(*) from pg_default_acl where defaclrole = %s::regrole and defaclnamespace = 0"
        "   and defaclobjtype in ('f', 'T')",
        [sql.Identifier(roles.owner).as_string(cur)],
    ).fetchone()
    if row != (2,):
        cur.execute("alter default privileges revoke execute on routines from public")
        cur.execute("alter default privileges revoke usage on types from public")
