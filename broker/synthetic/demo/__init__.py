"""What the demos run: matching, brokerage and instances, a module each. What they show is in broker.cli.demo.

Each run has a setup of its own, which stays to be looked at; setups of runs more than an hour old are removed.
"""

import secrets
from contextlib import suppress

import psycopg

from broker.database import Connection


def new_name(connection: Connection) -> str:
    """A new setup for this run, which needs no loop of `broker run`; setups of old runs are removed."""
    for (old,) in connection.execute(
        "select setup from monitor.setup where setup like 'demo-%%' and created_at < now() - interval '1 hour'"
    ).fetchall():
        with suppress(psycopg.Error):  # somebody is using it: the next run removes it
            connection.execute("select taskqueue.remove_setup(%s)", [old])
    name = f"demo-{secrets.token_hex(3)}"
    connection.execute("select lifecycle.set_settings(%s, '{\"loops\": []}')", [name])
    return name
