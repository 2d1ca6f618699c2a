"""The demos of matching, brokerage and instances, one module each. broker.laboratory.commands.demo shows them. Each run
has its own setup, which stays for inspection. A later run removes the setups of runs that are more than an hour old.
"""

import secrets
from contextlib import suppress

import psycopg

from broker.database import Connection


def draw_name() -> str:
    """An unused name."""
    return f"demo-{secrets.token_hex(3)}"


def remove_old(connection: Connection) -> list[str]:
    """Remove the setups of demos that began more than an hour ago, and return their names: no other setup has both such
    a name and a list of loops that somebody emptied."""
    query = """
    select p.setup from monitor.setup p join monitor.setting s on s.setup = p.setup
     where p.setup ~ '^demo-[0-9a-f]{6}$' and p.created_at < now() - interval '1 hour'
       and s.schema = 'lifecycle' and s.name = 'loops' and s.value = '[]'
     order by p.setup
    """
    removed = []
    for (old,) in connection.execute(query).fetchall():
        with suppress(psycopg.Error):  # the setup is in use: the next run removes it
            if connection.execute("select taskqueue.remove_setup(%s)", [old]).fetchone() == (True,):
                removed.append(old)
    return removed


def new_name(connection: Connection, name: str | None = None) -> str:
    """Make a setup for this run, which needs no loop of `broker run`."""
    name = name or draw_name()
    connection.execute("select lifecycle.set_settings(%s, '{\"loops\": []}')", [name])
    return name
