"""A connection for the commands that need the database of this release."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli import common

if TYPE_CHECKING:
    import psycopg

    from broker.database import Target

Setup = Annotated[str, typer.Option(help="The tenant: DIRAC's Setup, PanDA's vo.")]
"""The type of a command's parameter `setup: Setup = "default"`."""


def ready() -> "Target":
    """The server that the options name, with pgbroker of this release on it.

    The embedded server is ours: the first command that needs it installs pgbroker there. Any other is its DBA's.
    Raises CompatibilityError (PB007) when nothing, an older or a newer release is installed.
    """
    from broker import database, upgrade

    target = common.target()
    with database.connect(target) as connection:
        try:
            upgrade.check_compatible(connection)
        except upgrade.CompatibilityError:
            if target.source != "embedded" or upgrade.current(target.dsn) is not None:
                raise
            upgrade.upgrade(target.dsn)
    return target


@contextmanager
def session() -> "Iterator[psycopg.Connection[Any]]":
    """An autocommit connection to that server."""
    from broker import database

    with database.connect(ready()) as connection:
        yield connection
