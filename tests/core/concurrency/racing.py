"""Threads with a connection each, and calls that run into each other."""

import itertools
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import psycopg

from tests.calls import Calls


def run_together(dsn: str, works: Iterable[Callable[[Calls], None]], name: str = "agent") -> None:
    """Run the works at once, each in a thread with a connection of its own; the first error of any is raised.

    An error ends the connections of all: a thread that waits for the failed one would wait for ever.
    """
    errors: list[BaseException] = []
    backends: list[int] = []

    def run(work: Callable[[Calls], None]) -> None:
        try:
            with psycopg.connect(dsn, autocommit=True, application_name=name) as connection:
                backends.append(connection.info.backend_pid)
                if not errors:
                    work(Calls(connection))
        except BaseException as error:
            errors.append(error)
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute("select pg_terminate_backend(pid) from unnest(%s::int[]) pid", [backends])

    threads = [threading.Thread(target=run, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def kill_victims(until: float, pause: float) -> Callable[[Calls], None]:
    """End a connection named victim after each pause, until a moment of time.monotonic()."""

    def work(q: Calls) -> None:
        while time.monotonic() < until:
            q.rows("""
                select pg_terminate_backend(pid) from pg_stat_activity
                 where application_name = 'victim' and datname = current_database() order by random() limit 1""")
            time.sleep(pause)

    return work


def race_with_kills(dsn: str, until: float, caller: Callable[[int], Callable[[Calls], None]]) -> None:
    """Run eight callers (by number) until a moment of time.monotonic(); two of them are killed again and again."""

    def victim(_: Calls) -> None:
        for number in itertools.count(100):
            if time.monotonic() >= until:
                return
            try:
                with psycopg.connect(dsn, autocommit=True, application_name="victim") as connection:
                    caller(number)(Calls(connection))
            except psycopg.OperationalError:
                continue

    run_together(dsn, [*(caller(number) for number in range(6)), victim, victim, kill_victims(until, 0.3)])


class Attempt:
    """A call in a thread: it ends, or it waits for a lock of another transaction."""

    def __init__(self, q: Calls, call: Callable[[Calls], Any], observer: Calls) -> None:
        self.q = q
        self.observer = observer
        self.answer: Any = None
        self.error: psycopg.Error | None = None
        self._thread = threading.Thread(target=self._run, args=[call])
        self._thread.start()

    def _run(self, call: Callable[[Calls], Any]) -> None:
        try:
            self.answer = call(self.q)
        except psycopg.Error as error:
            self.error = error

    def waits(self) -> bool:
        """Return when the call has ended (False) or waits for a lock (True).

        A wait for a hand that is being dealt ends after a second (HANDS.md, Beside a dealer), and does not count.
        Such a call has a lock on the row of the hand. One query of pg_locks shows both locks at the same moment.
        """
        query = (
            "select coalesce(bool_or(not l.granted) and not bool_or(l.granted and l.locktype = 'tuple'"
            " and l.relation = 'taskqueue.hand'::regclass), false) from pg_locks l where l.pid = %s"
        )
        while self._thread.is_alive():
            if self.observer.value(query, self.q.connection.info.backend_pid):
                return True
            self._thread.join(0.002)
        return False

    def is_alive(self) -> bool:
        """Whether the call has not ended."""
        return self._thread.is_alive()

    def join(self, seconds: float) -> None:
        """Wait for the end, no longer than that."""
        self._thread.join(seconds)

    def end(self) -> Any:
        """Wait for the end; the answer, or the error raised."""
        self._thread.join()
        if self.error:
            raise self.error
        return self.answer


@dataclass
class Stage:
    """A setup of its own, and two sides that call: the first in an open transaction."""

    setup: str
    first: Calls
    second: Calls
    observer: Calls
