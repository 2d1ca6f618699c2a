"""The server that is measured: one of our own, thrown away at the end, or a database of its own on a server given."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from broker import database, embedded
from broker.errors import BrokerError, EmbeddedError


@contextmanager
def own(folder: Path | None, settings: Mapping[str, str]) -> Iterator[str]:
    """An embedded server, durable as always, in a new folder below `folder`; gives its DSN and removes it at the end.

    `settings` are added to the embedded server's own.
    """
    try:
        home = Path(tempfile.mkdtemp(prefix="broker-bench-", dir=folder))
    except OSError as error:
        raise BrokerError(
            f"cannot write to {folder}: {error.strerror}", "name a folder of your own: --folder"
        ) from None
    home.chmod(0o755)  # the server may run under another uid
    try:
        try:
            running = embedded.up(home, settings=settings)
        except EmbeddedError as error:  # its hint names a log that goes, too
            raise BrokerError(error.message, "is every --set right?" if settings else None) from None
        yield running.socket_dsn
    finally:
        embedded.down(home)
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def given(dsn: str) -> Iterator[str]:
    """A new database on the server that `dsn` names, dropped at the end; what the server holds is not touched.

    The login must be allowed to create databases and roles.
    """
    name = sql.Identifier(f"pgbroker_bench_{os.getpid()}")
    target = database.resolve(dsn)
    with database.connect(target) as connection:
        connection.execute(sql.SQL("create database {}").format(name))
    try:
        parameters = conninfo_to_dict(target.dsn)
        yield make_conninfo("", **{**parameters, "dbname": f"pgbroker_bench_{os.getpid()}"})
    finally:
        with psycopg.connect(target.dsn, autocommit=True) as connection:
            connection.execute(sql.SQL("drop database {} with (force)").format(name))
