"""Alembic, driven from the program: its configuration, and SQL through psycopg's own cursor."""

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
from alembic import command, context, op
from alembic.config import Config
from psycopg import sql
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from broker.upgrade.source import SCHEMAS

# The objects of a baseline, in an order in which they can be dropped: all of a kind in one statement, so that
# references among them do not matter. A partition goes with its table.
_CREATED = re.compile(
    r"^create (?:(?:unlogged )?(table) (\S+) \(|(sequence) (\w+\.\w+)|(type) (\S+)|(schema) (\w+);)", re.MULTILINE
)
_DESCRIBED = re.compile(r"create (?:unlogged )?(table|type) (\S+) (?:(?:as )?(\()|partition of )")
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
        # op.execute raises its own error: the caller looks at PostgreSQL's.
        raise (error.orig or error) from error


def create_baseline() -> None:
    """Run the files of migrations/baseline, schema by schema, and set the comments of tables and columns."""
    for text in _baseline():
        execute(text)
        execute("".join(f"comment on {thing} is {sql.quote(words)};\n" for thing, words in comments(text)))


def comments(text: str) -> Iterator[tuple[str, str]]:
    """The tables, types and columns that a file describes, each with its comment. The comment follows `--: `, at the
    end of a column's line or in lines above a column, a table or a type.
    """
    table, words = "", list[str]()
    for line in text.splitlines():
        code, _, remark = line.partition("--: ")
        if remark:
            words.append(remark)
        if not (code := code.strip()) or code.startswith("--"):
            continue
        if made := _DESCRIBED.match(code):
            table = made[2] if made[3] else ""
            if words:
                yield f"{made[1]} {made[2]}", " ".join(words)
        elif table and words:
            yield f"column {table}.{code.split()[0]}", " ".join(words)
        elif code.startswith(")"):
            table = ""
        words = []


def drop_baseline() -> None:
    """Drop what the files of migrations/baseline create, the last one first, and nothing else.

    There is no `cascade`: objects that somebody else built on a table, or keeps in one of the schemas, make this fail.
    """
    for found in reversed(list(_CREATED.finditer("\n".join(_baseline())))):
        kind, name = filter(None, found.groups())
        execute(f"drop {kind} {name}")


def _baseline() -> list[str]:
    """The texts of the files: the schemas in the order of their dependencies, then the parts that all tables share."""
    folder = Path(context.script.dir) / "baseline"
    files = [folder / f"{name}.sql" for name in (*SCHEMAS, "names", "comments")]
    return [file.read_text(encoding="utf-8") for file in files if file.is_file()]
