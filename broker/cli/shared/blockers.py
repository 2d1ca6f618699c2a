"""The sessions that a call waits for: a line on standard error once the call has waited some seconds, and on each
change."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

SECONDS = 3.0

_BLOCKERS = """
    select string_agg(format('process %%s (%%s)', b.pid,
                             concat_ws(', ', a.usename, nullif(a.application_name, ''), a.state,
                                       'for ' || date_trunc('second', clock_timestamp() - a.xact_start))),
                      '; ' order by b.pid)
      from (select distinct pid from unnest(pg_blocking_pids(%s)) pid) b
      left join pg_stat_activity a on a.pid = b.pid
"""


@contextmanager
def named(connection: "psycopg.Connection[Any]") -> Iterator[None]:
    """Name the sessions whose locks a call on this connection waits for."""
    done = threading.Event()
    watch = threading.Thread(target=_watch, args=(connection, connection.info.backend_pid, done), daemon=True)
    watch.start()
    try:
        yield
    finally:
        done.set()
        watch.join(SECONDS)


def _watch(connection: "psycopg.Connection[Any]", pid: int, done: threading.Event) -> None:
    import psycopg
    from psycopg.conninfo import make_conninfo

    from broker.cli.shared import output

    last = None
    if done.wait(SECONDS):
        return
    try:
        dsn = make_conninfo(connection.info.dsn, password=connection.info.password)
        with psycopg.connect(dsn, autocommit=True) as looking:
            while True:
                [(blockers,)] = looking.execute(_BLOCKERS, [pid]).fetchall()
                if blockers and blockers != last:
                    output.note(f"waiting for {blockers}")
                last = blockers
                if done.wait(SECONDS):
                    return
    except psycopg.Error:
        return  # the call itself reports the error
