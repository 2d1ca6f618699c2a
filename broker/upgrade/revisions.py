"""Alembic, driven from the program: its configuration, the chain of revisions, and SQL through psycopg's own cursor."""

import re
from pathlib import Path

import psycopg
from alembic import command, op
from alembic.config import Config
from sqlalchemy import Connection


def execute(sql: str) -> None:
    """Run SQL as it is written, from a revision.

    It goes through psycopg's own cursor without parameters: SQLAlchemy's text() would take `:x` for a parameter,
    exec_driver_sql would take `%`.
    """
    raw = op.get_bind().connection.driver_connection
    if not isinstance(raw, psycopg.Connection):
        raise TypeError(f"revisions run on psycopg, not on {type(raw).__name__}")
    raw.execute(sql.encode())


def chain(migrations: Path) -> list[str]:
    """Return the revisions from the first to the newest, read from the files without running them.

    Raises ValueError when the files do not form one line.
    """
    down: dict[str | None, str] = {}
    for path in sorted((migrations / "versions").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        revision = re.search(r'^revision(?::\s*str)?\s*=\s*["\'](\w+)["\']', text, re.MULTILINE)
        before = re.search(r'^down_revision[^=\n]*=\s*(?:None|["\'](\w+)["\'])', text, re.MULTILINE)
        if revision is None or before is None:
            raise ValueError(f"{path.name}: no revision and down_revision in it")
        if before[1] in down:
            raise ValueError(f"{path.name}: revision {down[before[1]]} comes after {before[1]} too")
        down[before[1]] = revision[1]
    line: list[str] = []
    at: str | None = None
    while at in down:
        line.append(down[at])
        at = down[at]
    if len(line) != len(down):
        raise ValueError(f"the revisions do not form one line: {', '.join(sorted(down.values()))}")
    return line


def move(connection: Connection, migrations: Path, target: str, *, down: bool = False) -> None:
    """Run the revisions up, or down, to `target` inside the caller's transaction."""
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    config.attributes["connection"] = connection
    (command.downgrade if down else command.upgrade)(config, target)
