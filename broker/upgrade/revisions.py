"""Alembic, driven from the program: its configuration, and SQL through psycopg's own cursor."""

import threading
from pathlib import Path

import psycopg
from alembic import command, op
from alembic.config import Config
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

# Alembic's `op` and `context` are the process's, not the thread's.
_ONE_AT_A_TIME = threading.Lock()


def execute(sql: str) -> None:
    """Run SQL as it is written, from a revision.

    It goes through psycopg's own cursor without parameters: SQLAlchemy's text() would take `:x` for a parameter,
    exec_driver_sql would take `%`.
    """
    raw = op.get_bind().connection.driver_connection
    if not isinstance(raw, psycopg.Connection):
        raise TypeError(f"revisions run on psycopg, not on {type(raw).__name__}")
    raw.execute(sql.encode())


def move(connection: Connection, migrations: Path, target: str, *, down: bool = False) -> None:
    """Run the revisions up, or down, to `target` inside the caller's transaction."""
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        with _ONE_AT_A_TIME:
            (command.downgrade if down else command.upgrade)(config, target)
    except DBAPIError as error:
        # What op.execute raises: the caller looks at PostgreSQL's own error.
        raise (error.orig or error) from error
