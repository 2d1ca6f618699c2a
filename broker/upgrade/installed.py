"""The installation in a database, and the losses of a downgrade."""

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import errors, sql

from broker.upgrade.failure import UpgradeError
from broker.upgrade.program import Earlier, Program
from broker.upgrade.session import connect

Cursor = psycopg.Cursor[Any]
BASE = "base"
# The tables whose rows a downgrade counts before it removes them, and the word for these rows.
_COUNTED = {"taskqueue.job": "waiting jobs", "taskqueue.lease": "leased jobs", "taskqueue.ended": "ended jobs"}


@dataclass(frozen=True)
class Installed:
    """The installation in a database; all fields are None without pgbroker. kind: single, shard or front."""

    revision: str | None = None
    release: str | None = None
    role_prefix: str | None = None
    server_major: int | None = None
    kind: str | None = None


@dataclass(frozen=True)
class Prospect:
    """The plan of a downgrade: the database, both releases, and the present numbers of rows."""

    server: str
    database: str
    release: str
    target: str
    rows: dict[str, int]

    def __str__(self) -> str:
        counted = [f"{number:,} {word if number != 1 else word[:-1]}" for word, number in self.rows.items()] or [
            "no jobs"
        ]
        rows = ", ".join(counted)
        where = f"Database {self.database} on {self.server}: downgrade from release {self.release} to {self.target}."
        if self.target == BASE:
            return f"{where}\nEverything of pgbroker is removed, with {rows}."
        return f"{where}\nTables and columns newer than {self.target} are removed with their rows. There are {rows}."


def _role_prefix(cur: Cursor) -> str | None:
    """Read the prefix from the owner of the first table, which every login may see; None without pgbroker."""
    row = cur.execute(
        "select pg_get_userbyid(relowner) from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " where n.nspname = 'resource' and c.relname = 'alembic_version'"
    ).fetchone()
    return None if row is None else str(row[0]).removesuffix("owner")


def installed(cur: Cursor) -> Installed:
    """Read the installation of a database, as its owner.

    Raises UpgradeError when the login may not read the tables.
    """
    prefix = _role_prefix(cur)
    if prefix is None:
        return Installed()
    try:
        row = cur.execute("select version_num from resource.alembic_version").fetchone()
        revision = row[0] if row else None
        query = "select release, server_major, kind from resource.installation"
        row = cur.execute(query).fetchone() if revision else None
    except errors.InsufficientPrivilege as error:
        user = cur.connection.info.user
        grant = sql.SQL("grant {} to {}").format(sql.Identifier(f"{prefix}owner"), sql.Identifier(user))
        raise UpgradeError(
            f"{user} may not see what is installed here",
            f"log in as a superuser or as a member of {prefix}owner; a superuser, or who has the ADMIN option on it,"
            f" makes one: {grant.as_string(cur)}",
        ) from error
    release, major, kind = row or (None, None, None)
    return Installed(revision, release, prefix, major, kind)


def state_of(dsn: str) -> Installed:
    """Read the installation of a database, as any role of pgbroker; `server_major` is for the owner alone."""
    with connect(dsn, autocommit=True) as conn, conn.cursor() as cur:
        try:
            return installed(cur)
        except UpgradeError as refusal:
            try:
                row = cur.execute("select revision, release from resource.installed_release()").fetchone()
            except (errors.InsufficientPrivilege, errors.UndefinedFunction):
                raise refusal from None
            revision, release = row or (None, None)
            return Installed(revision, release, _role_prefix(cur))


def current(dsn: str) -> str | None:
    """Return the revision of a database, None when nothing of pgbroker is installed."""
    return state_of(dsn).revision


def target_of(release: Program, found: Installed, asked: str | None) -> Earlier | None:
    """Return the release that a downgrade goes to, None for `base`. Raises UpgradeError for any other."""
    release.require_not_older(found.release, found.revision)
    if found.revision is None:
        raise UpgradeError("pgbroker is not installed in this database", "broker db upgrade")
    if asked == BASE:
        return None
    earlier = release.require_earlier(found.release or release.release)
    if asked not in (None, earlier.release):
        raise UpgradeError(f"this build cannot go back to {asked}", f"it can go back to {earlier.release} and to base")
    return earlier


def prospect(dsn: str, asked: str | None = None, *, program: Program | None = None) -> Prospect:
    """Return the plan of downgrade(), so that a person can confirm it. Reads only; raises the errors of downgrade()."""
    release = program or Program()
    with connect(dsn) as conn, conn.cursor() as cur:
        cur.execute("set transaction read only")
        found = installed(cur)
        target = target_of(release, found, asked)
        rows = {}
        for table, word in _COUNTED.items():
            there = cur.execute("select to_regclass(%s) is not null", [table]).fetchone()
            if there and there[0]:
                name = sql.Identifier(*table.split("."))
                counted = cur.execute(sql.SQL("select count(*) from {}").format(name)).fetchone()
                rows[word] = counted[0] if counted else 0
        info = conn.info
        server = f"{info.host or 'this machine'}, port {info.port}"
        return Prospect(server, info.dbname, str(found.release), target.release if target else BASE, rows)
