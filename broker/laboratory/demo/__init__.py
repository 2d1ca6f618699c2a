"""The demos of matching, brokerage and instances, a module each. broker.laboratory.commands.demo shows them. Each run
has a setup of its own, which stays for inspection; setups of runs more than an hour old are removed.
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
        with suppress(psycopg.Error):  # somebody is using it: the next run removes it
            connection.execute("select taskqueue.remove_setup(%s)", [old])
    name = name or draw_name()
    connection.execute("select lifecycle.set_settings(%s, '{\"loops\": []}')", [name])
    return name
