"""The demos of matching, brokerage and instances, one module each. broker.laboratory.commands.demo shows them. Each run
has its own setup, which stays for inspection; setups of runs that are more than an hour old are removed.
"""

import secrets
from contextlib import suppress

import psycopg

from broker.database import Connection


def draw_name() -> str:
    """An unused name."""
    return f"demo-{secrets.token_hex(3)}"


def new_name(connection: Connection, name: str | None = None) -> str:
    """Make a setup for this run, which needs no loop of `broker run`; remove setups of old runs."""
    for (old,) in connection.execute(
        "select setup from monitor.setup where setup like 'demo-%%' and created_at < now() - interval '1 hour'"
    ).fetchall():
        with suppress(psycopg.Error):  # the setup is in use: the next run removes it
            connection.execute("select taskqueue.remove_setup(%s)", [old])
    name = name or draw_name()
    connection.execute("select lifecycle.set_settings(%s, '{\"loops\": []}')", [name])
    return name
