"""sql/schema.sql: the database as it is, written by pg_dump, so that every change shows in review."""

import re
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from broker.server.binaries import Installation, clean_environment
from broker.upgrade.failure import UpgradeError
from broker.upgrade.program import Program
from broker.upgrade.roles import DEFAULT_PREFIX
from broker.upgrade.run import upgrade
from broker.upgrade.session import connect

# pg_dump words things differently from one major version to the next: one is pinned, that of the embedded server.
MAJOR = 18
HEAD = """\
-- The database as it is: a fresh install, written by pg_dump {major}. Nobody edits or runs this file; it is here to be
-- read, and so that every change shows in review. `broker db schema --write` writes it, a test fails when it is stale.

"""
# \\restrict lines carry a random key; pg_dump's titles repeat the names that the statements say.
_NOISE = re.compile(
    r"^(?:\\(?:un)?restrict .*\n|-- Dumped .*\n|--\n-- (?:Name: |PostgreSQL database dump).*\n--\n)", re.MULTILINE
)


@contextmanager
def fresh_install(dsn: str, program: Program | None = None) -> Iterator[tuple[str, str]]:
    """Install into a database made for it on the server of `dsn`, with roles of its own; all is dropped at the end.

    Gives the database's DSN and the prefix of its roles. The login must be allowed to make databases.
    """
    name = f"broker_schema_{uuid.uuid4().hex[:12]}"
    prefix = f"{name}_"
    scratch = make_conninfo("", **{**conninfo_to_dict(dsn), "dbname": name})
    with connect(dsn, autocommit=True) as admin:
        admin.execute(sql.SQL("create database {} template template0").format(sql.Identifier(name)))
        try:
            upgrade(scratch, role_prefix=prefix, program=program)
            yield scratch, prefix
        finally:
            admin.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))
            for row in admin.execute(
                "select rolname from pg_roles where starts_with(rolname, %s)", [prefix]
            ).fetchall():
                admin.execute(sql.SQL("drop role {}").format(sql.Identifier(row[0])))


def render(dsn: str, programs: Installation, *, program: Program | None = None) -> str:
    """Install into a database made for it on the server of `dsn`, and dump that.

    The login must be allowed to make databases. Raises UpgradeError where server or pg_dump are of another major
    version than the pinned one, or when pg_dump fails.
    """
    with connect(dsn, autocommit=True) as admin:
        major = admin.info.server_version // 10000
    if (major, programs.major) != (MAJOR, MAJOR):
        raise UpgradeError(
            f"schema.sql is written by PostgreSQL {MAJOR}, server and pg_dump are {major} and {programs.major}",
            "use the embedded server: leave --dsn, BROKER_DSN and PG* out",
        )
    with fresh_install(dsn, program) as (scratch, prefix):
        dump = _dump(scratch, programs)
    text = _NOISE.sub("", dump).replace(prefix, DEFAULT_PREFIX)
    return HEAD.format(major=MAJOR) + re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _dump(dsn: str, programs: Installation) -> str:
    parameters = conninfo_to_dict(dsn)
    password = str(parameters.pop("password", "") or "")
    done = subprocess.run(
        [programs.program("pg_dump"), "--schema-only", "--dbname", make_conninfo("", **parameters)],
        env={**clean_environment({}), "PGPASSWORD": password},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise UpgradeError(f"pg_dump failed: {done.stderr.strip()}")
    return done.stdout


def path(program: Program | None = None) -> Path:
    """Where the file stands."""
    return (program or Program()).sql / "schema.sql"
