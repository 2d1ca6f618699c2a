"""What the demos run: matching, brokerage and instances, a module each. broker.laboratory.commands.demo shows it.

Each run has a setup of its own, which stays to be looked at; setups of runs more than an hour old are removed.
"""

import secrets
from contextlib import suppress

import psycopg

from broker.database import Connection


def draw_name() -> str:
    """A name that nobody has."""
    return f"demo-{secrets.token_hex(3)}"


def new_name(connection: Connection, name: str | None = None) -> str:
    """A new setup for this run, which needs no loop of `broker run`; setups of old runs are removed."""
    for (old,) in connection.execute(
        "select setup from monitor.setup where setup like 'demo-%%' and created_at < now() - interval '1 hour'"
    ).fetchall():
        with suppress(psycopg.Error):  # somebody is using it: the next run removes it
            connection.execute("select taskqueue.remove_setup(%s)", [old])
    name = name or draw_name()
    connection.execute("select lifecycle.set_settings(%s, '{\"loops\": []}')", [name])
    return name
