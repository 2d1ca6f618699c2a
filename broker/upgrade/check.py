"""Checks whether the database equals the release, and whether this program may work with it."""

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import errors, sql

from broker.upgrade import grants, roles, state
from broker.upgrade.failure import CompatibilityError
from broker.upgrade.installed import installed
from broker.upgrade.program import Program
from broker.upgrade.session import connect
from broker.upgrade.source import parse_files
from broker.upgrade.state import Difference

Cursor = psycopg.Cursor[Any]


@dataclass(frozen=True)
class CheckReport:
    """The result of check(): differences from the release, and objects and grants of other roles in the schemas."""

    release: str
    revision: str | None
    differences: tuple[Difference, ...] = ()
    guests: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the database equals the release."""
        return not self.differences


def check(dsn: str, *, program: Program | None = None) -> CheckReport:
    """Compare a database with this release: revision, files, definitions, tables, owners, comments, triggers, grants.

    Reads only. Raises UpgradeError when the login lacks the rights, CompatibilityError when the database is newer.
    """
    release = program or Program()
    with connect(dsn) as conn, conn.cursor() as cur:
        cur.execute("set transaction isolation level repeatable read, read only")
        cur.execute("set local search_path = pg_catalog")
        found = installed(cur)
        if found.role_prefix is None:
            return CheckReport(release.release, None, (Difference("database", "revision", release.head, "none"),))
        release.require_not_older(found.release, found.revision)
        names = roles.Roles(found.role_prefix)
        differences = _program(release, found.release, found.revision)
        differences += _files(cur, release)
        left, now = state.stored(cur), state.read(cur, names)
        major = cur.connection.info.server_version // 10000
        if found.server_major != major:
            # Each major version words definitions differently, but objects and owners can still be compared.
            differences.append(
                Difference("database", "server", f"PostgreSQL {found.server_major}", f"PostgreSQL {major}")
            )
            left = state.reworded(left, now)
        wrong, guests = state.differences(left, now, names)
        planned = grants.plan(cur, grants.parse(release.files["roles.sql"]), names)
        differences += wrong
        differences += [
            Difference("grants", "missing" if s.startswith("grant") else "too much", s, "") for s in planned.statements
        ]
        differences += [Difference("grants", "roles.sql", thing, "no such thing") for thing in planned.absent]
    return CheckReport(release.release, found.revision, tuple(differences), (*guests, *planned.others))


def _program(release: Program, installed_release: str | None, revision: str | None) -> list[Difference]:
    wrong: list[Difference] = []
    if revision != release.head:
        wrong.append(Difference("database", "revision", release.head, revision or "none"))
    if installed_release != release.release:
        wrong.append(Difference("database", "release", release.release, installed_release or "none"))
    return wrong


def _files(cur: Cursor, release: Program) -> list[Difference]:
    """Compare the files that were installed with those of this release, by sha256 (the beginning of each is shown)."""
    there = dict(cur.execute("select path, sha256 from resource.installed_object").fetchall())
    here = {thing.path: thing.sha256 for thing in parse_files(release.files)}
    wrong: list[Difference] = []
    for path in sorted({*there, *here}):
        if there.get(path) != here.get(path):
            expected, found = here.get(path, "not in it")[:12], there.get(path, "not installed")[:13]
            wrong.append(Difference(f"sql/{path}", "file", expected, found))
    return wrong


def check_compatible(conn: psycopg.Connection[Any], *, program: Program | None = None) -> None:
    """Refuse to work with a database of another release, or without pgbroker: one query, for any role of pgbroker.

    Raises CompatibilityError (SQLSTATE PB007), whose hint says what to upgrade, to install or to grant.
    """
    release = program or Program()
    try:
        with conn.transaction():
            row = conn.execute("select release, revision from resource.installed_release()").fetchone()
    except (errors.InvalidSchemaName, errors.UndefinedFunction):
        row = None
    except errors.InsufficientPrivilege as error:
        raise CompatibilityError(
            f"{conn.info.user} has no role of pgbroker in this database",
            sql.SQL("grant it one, for example: grant broker_agent to {}")
            .format(sql.Identifier(conn.info.user))
            .as_string(conn),
        ) from error
    if row is None:
        raise CompatibilityError("pgbroker is not installed in this database", "broker db upgrade")
    release.require_not_older(row[0], row[1])
    if row[1] != release.head or row[0] != release.release:
        raise CompatibilityError(
            f"this program is pgbroker {release.release} (revision {release.head}),"
            f" the database is older: {row[0]} (revision {row[1]})",
            "broker db upgrade",
        )
