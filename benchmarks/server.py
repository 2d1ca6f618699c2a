"""The measured server, our own or a given one, and the databases and logins of a run on it."""

import itertools
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from broker import database
from broker.database import Target
from broker.errors import BrokerError, EmbeddedError
from broker.server import embedded
from broker.upgrade import upgrade

LOGINS = {"agent": ["agent"], "submitter": ["submitter"], "both": ["agent", "submitter"]}
"""Plain logins, by their role: JobAgents, submitters, and for scripts that do both."""


@dataclass(frozen=True)
class Database:
    """A database with pgbroker: the targets of its owner and of the plain logins (LOGINS)."""

    admin: Target
    logins: Mapping[str, Target]

    def login_name(self, kind: str) -> str:
        """The database's name for one of LOGINS."""
        return str(conninfo_to_dict(self.logins[kind].dsn)["user"])


@dataclass
class Server:
    """A server on which databases and roles can be made; all of them are removed at the end."""

    admin: Target
    _password: str = field(default_factory=lambda: secrets.token_urlsafe(18), repr=False)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @contextmanager
    def database(self) -> Iterator[Database]:
        """A new database with pgbroker in it, dropped at the end."""
        name = f"pgbroker_bench_{os.getpid()}_{next(self._numbers)}"
        self._execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        try:
            admin = _with(self.admin, dbname=name)
            upgrade(admin.dsn)
            yield Database(admin, {kind: self._login(admin, kind) for kind in LOGINS})
        finally:
            self._execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))

    def remove_logins(self) -> None:
        """Drop the logins, after their databases."""
        for kind in LOGINS:
            self._execute(sql.SQL("drop role if exists {}").format(sql.Identifier(_login_name(kind))))

    def _login(self, admin: Target, kind: str) -> Target:
        """A plain login with its roles of pgbroker, like a JobAgent's or a submitter's; made if it is missing."""
        name = _login_name(kind)
        with database.connect(admin) as connection:
            if connection.execute("select from pg_roles where rolname = %s", [name]).fetchone() is None:
                rows = connection.execute(
                    "select role_name from resource.installation_role where kind = any (%s)", [LOGINS[kind]]
                )
                roles = sql.SQL(", ").join(sql.Identifier(role) for (role,) in rows.fetchall())
                login = sql.SQL("create role {} login password {} in role {}")
                connection.execute(login.format(sql.Identifier(name), self._password, roles))
        return _with(admin, user=name, password=self._password)

    def _execute(self, statement: sql.Composed) -> None:
        with database.connect(self.admin) as connection:
            connection.execute(statement)


@contextmanager
def own(folder: Path | None, settings: Mapping[str, str]) -> Iterator[Server]:
    """An embedded server with the usual durability, in a new folder below `folder`; it is removed at the end.

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
        except EmbeddedError as error:  # its hint names a log that is also removed
            raise BrokerError(error.message, "is every --set right?" if settings else None) from None
        superuser = {"user": embedded.SUPERUSER, "password": running.superuser_password}  # for checkpoints and settings
        yield Server(Target(make_conninfo(running.socket_dsn, **superuser), "embedded"))
    finally:
        embedded.down(home)
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def given(dsn: str) -> Iterator[Server]:
    """The server that `dsn` names; its existing content is not touched. The login must be allowed to create databases
    and roles."""
    server = Server(database.resolve(dsn))
    try:
        yield server
    finally:
        server.remove_logins()


def _login_name(kind: str) -> str:
    return f"pgbroker_bench_{os.getpid()}_{kind}"


def _with(target: Target, **changed: Any) -> Target:
    """The same server with other connection parameters."""
    return Target(make_conninfo("", **{**conninfo_to_dict(target.dsn), **changed}), target.source, target.prepare)
