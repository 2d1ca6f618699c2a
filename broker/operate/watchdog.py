"""What `broker watchdog` does: call lifecycle.watch periodically, from one of several copies at a time.

The leader is a row in the database that expires (lifecycle.lead): a copy that dies or loses its connection stops
leading after three rounds, and another takes over. Every step is correct with two leaders, so a clock that jumps or a
slow round does no harm.
"""

import os
import random
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import psycopg

from broker.database import Connection
from broker.errors import ConnectError

Report = list[dict[str, Any]]

SELDOM = 60.0  # seconds between two rounds that look at timeouts, fast rebrokerage, history and ended jobs
_SHORTEST_LEAD = 15.0


def watch(connection: Connection, setup: str | None, *, dry_run: bool = False, often: bool = False) -> Report:
    """Do one round: returns the jobs that it changed, or would change with dry_run, by setup, rule and action."""
    row = connection.execute("call lifecycle.watch(%s, %s, %s)", [setup, dry_run, often]).fetchone()
    return summed(row[0] if row else [])


def summed(rows: Report) -> Report:
    """Sum the rows of each setup, rule and action, in the order of their first row."""
    jobs: dict[tuple[str, str, str], int] = {}
    for row in rows:
        key = (row["setup"], row["rule"], row["action"])
        jobs[key] = jobs.get(key, 0) + row["jobs"]
    return [{"setup": key[0], "rule": key[1], "action": key[2], "jobs": number} for key, number in jobs.items()]


@dataclass
class Watchdog:
    """A copy of the watchdog.

    open: opens a connection for a with statement. show: gets the report of a round. note: gets a line about leading,
    standing by and lost connections.
    """

    open: Callable[[], AbstractContextManager[Connection]]
    show: Callable[[Report], None]
    note: Callable[[str], None]
    setup: str | None = None
    every: float = 5.0
    jitter: float = 0.1
    holder: uuid.UUID = field(default_factory=uuid.uuid4)
    _stop: threading.Event = field(default_factory=threading.Event)
    _leads: bool | None = None
    _looked: float = float("-inf")

    @property
    def name(self) -> str:
        """The name that the copies share, of which one leads."""
        return "watchdog" if self.setup is None else f"watchdog of {self.setup}"

    def stop(self) -> None:
        """End the loop after the current round; may be called from a signal handler or another thread."""
        self._stop.set()

    def run(self) -> None:
        """Watch until stopped. Waits for a server that does not answer."""
        while not self._stop.is_set():
            try:
                with self.open() as connection, self._standing_down(connection):
                    while not self._stop.is_set():
                        began = time.monotonic()
                        self._round(connection)
                        self._rest(time.monotonic() - began)
            except (psycopg.OperationalError, ConnectError) as error:
                self._leads = None
                self.note(f"trying again: {str(error).splitlines()[0]}")
                self._rest(0)

    @contextmanager
    def _standing_down(self, connection: Connection) -> Iterator[None]:
        yield
        connection.execute("select lifecycle.stand_down(%s, %s)", [self.name, self.holder])

    def _rest(self, spent: float) -> None:
        self._stop.wait(max(self.every * (1 + random.uniform(-self.jitter, self.jitter)) - spent, 0))

    def _round(self, connection: Connection) -> None:
        held_by = f"{socket.gethostname()}, process {os.getpid()}"
        lasts = timedelta(seconds=max(3 * self.every, _SHORTEST_LEAD))
        row = connection.execute(
            "select leads, leader from lifecycle.lead(%s, %s, %s, %s)", [self.name, self.holder, held_by, lasts]
        ).fetchone()
        leads, leader = row if row else (False, "nobody")
        if leads is not self._leads:
            self.note("watching" if leads else f"standing by: {leader} watches")
        self._leads = leads
        if not leads:
            return
        often = time.monotonic() - self._looked < SELDOM
        report = watch(connection, self.setup, often=often)
        if not often:
            self._looked = time.monotonic()
        if report:
            self.show(report)
