"""The login of `broker serve` on the embedded server; its password is made once and kept beside the others."""

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from broker.errors import EmbeddedError
from broker.server.embedded import DATABASE, Server

LOGIN = "broker_service"


def service_dsn(server: Server) -> str:
    """The DSN of the service's login, with a password that it accepts. Raises EmbeddedError."""
    password = _password(server.home / "cluster" / "service")
    dsn = f"postgresql://{LOGIN}:{quote(password, safe='')}@127.0.0.1:{server.port}/{DATABASE}"
    try:
        psycopg.connect(dsn).close()
    except psycopg.OperationalError:
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            query = sql.SQL("alter role {} login password {}")
            connection.execute(query.format(sql.Identifier(LOGIN), sql.Literal(password)))
    return dsn


def _password(file: Path) -> str:
    """The password in the file; the first caller writes the file, completely or not at all."""
    try:
        if not file.exists():
            with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix="service.new-") as new:  # mode 600
                new.write(secrets.token_urlsafe(24) + "\n")
                new.flush()
                os.fsync(new.fileno())
                with suppress(FileExistsError):
                    file.hardlink_to(new.name)
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise EmbeddedError(f"cannot read {file}: {error}", "remove the file to have a new password") from None
