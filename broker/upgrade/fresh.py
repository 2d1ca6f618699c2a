"""A fresh installation to look at."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from broker.upgrade.program import Program
from broker.upgrade.run import upgrade
from broker.upgrade.session import connect


@contextmanager
def fresh_install(dsn: str, program: Program | None = None) -> Iterator[tuple[str, str]]:
    """Install into a database made for it on the server of `dsn`, with roles of its own; both are dropped at the end.

    Gives the database's DSN and the prefix of its roles. The login must be allowed to make databases.
    """
    name = f"broker_fresh_{uuid.uuid4().hex[:12]}"
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
