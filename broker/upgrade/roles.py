"""The roles of pgbroker: their names, and creating them without a superuser.

Roles belong to the cluster, not to the database: they are made before the upgrade's transaction, and stay after the
last database of pgbroker is dropped.
"""

import re
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import errors, sql

from broker.upgrade.failure import UpgradeError

KINDS = ("owner", "agent", "submitter", "operator", "viewer", "service")
CALLERS = ("agent", "submitter", "operator", "viewer")
"""The roles with which the service acts for its callers."""
DEFAULT_PREFIX = "broker_"


@dataclass(frozen=True)
class Roles:
    """The names of the roles: a prefix and the kind."""

    prefix: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,49}", self.prefix) or self.prefix.startswith("pg_"):
            hint = "lower-case letters, digits and underscores, at most 50, not beginning with a digit or pg_"
            raise UpgradeError(f"role prefix {self.prefix!r}: not the beginning of a role's name", hint)

    def name(self, kind: str) -> str:
        """Name of the role of one kind: one of KINDS."""
        return self.prefix + kind

    @property
    def owner(self) -> str:
        """Role that owns everything of pgbroker."""
        return self.name("owner")

    @property
    def names(self) -> dict[str, str]:
        """The names of all roles, by kind."""
        return {kind: self.name(kind) for kind in KINDS}


def _scalar(conn: psycopg.Connection[Any], query: str, *values: object) -> Any:
    row = conn.execute(query.encode(), values).fetchone()
    return row[0] if row else None


def _missing(conn: psycopg.Connection[Any], roles: Roles) -> list[sql.Composed]:
    """Return the statements that are still to be run so that this session can act as the owner, here."""
    todo: list[sql.Composed] = []
    present = {
        row[0]
        for row in conn.execute("select rolname from pg_roles where rolname = any(%s)", [list(roles.names.values())])
    }
    for name in roles.names.values():
        if name not in present:
            inherit = sql.SQL(" noinherit" if name == roles.name("service") else "")
            todo.append(sql.SQL("create role {} nologin{}").format(sql.Identifier(name), inherit))
    owner = sql.Identifier(roles.owner)
    # Before PostgreSQL 16 every member may SET ROLE.
    membership = "SET" if conn.info.server_version >= 160000 else "MEMBER"
    service = roles.name("service")
    for name in map(roles.name, CALLERS):
        may = {name, service} <= present and _scalar(
            conn,
            "select pg_has_role(%s, %s, %s) and not pg_has_role(%s, %s, 'USAGE')",
            *(service, name, membership, service, name),
        )
        if not may:  # the service has the role's rights only after it sets the role
            without = sql.SQL(" with inherit false" if membership == "SET" else "")
            todo.append(sql.SQL("grant {} to {}{}").format(sql.Identifier(name), sql.Identifier(service), without))
    if (
        membership == "MEMBER"
        and service in present
        and _scalar(conn, "select rolinherit from pg_roles where rolname = %s", service)
    ):
        todo.append(sql.SQL("alter role {} noinherit").format(sql.Identifier(service)))
    user, database = str(_scalar(conn, "select session_user")), str(_scalar(conn, "select current_database()"))
    if roles.owner not in present or not _scalar(
        conn, "select pg_has_role(session_user, %s, %s)", roles.owner, membership
    ):
        todo.append(sql.SQL("grant {} to {}").format(owner, sql.Identifier(user)))
    if roles.owner not in present or not _scalar(
        conn, "select has_database_privilege(%s, current_database(), 'CREATE')", roles.owner
    ):
        todo.append(sql.SQL("grant create on database {} to {}").format(sql.Identifier(database), owner))
    return todo


def ensure_roles(conn: psycopg.Connection[Any], roles: Roles) -> None:
    """Make the roles that are missing, and let this session act as the owner. `conn` is in autocommit.

    Needs a superuser; or CREATEROLE if roles are missing, the ADMIN option on an existing owner role if this login is
    not a member (its creator has the option), and the right to grant CREATE on the database (its owner has it). Raises
    UpgradeError; its hint is the SQL for a login with the rights to run it.
    """
    for _ in range(10):
        todo = _missing(conn, roles)
        if _scalar(conn, "select usesuper from pg_user where usename = session_user"):
            # A superuser may act as any role and needs no membership.
            owner = sql.SQL("grant {} to ").format(sql.Identifier(roles.owner)).as_bytes(conn)
            todo = [statement for statement in todo if not statement.as_bytes(conn).startswith(owner)]
        if not todo:
            return
        try:
            for statement in todo:
                conn.execute(statement)
        except (errors.DuplicateObject, errors.UniqueViolation, errors.InternalError):
            continue  # another install made the same role, or granted it, at the same moment
        except errors.InsufficientPrivilege:
            break
    todo = _missing(conn, roles)
    if todo:
        script = "\n".join(statement.as_string(conn) + ";" for statement in todo)
        fault = f"{_scalar(conn, 'select session_user')} may not make the roles of pgbroker, or act as their owner"
        hint = f"let a superuser, or a login with {_needed(conn, roles, todo)}, run this first:\n{script}"
        raise UpgradeError(fault, hint)


def _needed(conn: psycopg.Connection[Any], roles: Roles, todo: list[sql.Composed]) -> str:
    """Return the rights that are needed to run the remaining statements."""
    texts = [statement.as_string(conn) for statement in todo]
    makes = any(text.startswith("create role") for text in texts)
    grants_owner = any(text.startswith(f'grant "{roles.owner}"') for text in texts)
    grants_callers = any(f' to "{roles.name("service")}"' in text for text in texts)
    # Before PostgreSQL 16 CREATEROLE may grant any role; since then only the creator of the role may, with the ADMIN
    # option.
    old = conn.info.server_version < 160000
    needs = ["CREATEROLE"] if makes or ((grants_owner or grants_callers) and old) else []
    if grants_owner and not old and _scalar(conn, "select to_regrole(%s) is not null", roles.owner):
        holders = _scalar(
            conn,
            "select string_agg(distinct m.member::regrole::text, ', ') from pg_auth_members m"
            " join pg_roles r on r.oid = m.member"
            " where m.roleid = to_regrole(%s) and m.admin_option and not r.rolsuper",
            roles.owner,
        )
        needs.append(
            f"the ADMIN option on {roles.owner} (" + (f"{holders} has it" if holders else "no login has it") + ")"
        )
    there = "select count(*) > 0 from pg_roles where rolname = any (%s)"
    if grants_callers and not old and _scalar(conn, there, list(map(roles.name, CALLERS))):
        needs.append(f"the ADMIN option on {', '.join(map(roles.name, CALLERS))}")
    if any(" on database " in text for text in texts):
        needs.append("the ownership of the database")
    return " and ".join(needs)
