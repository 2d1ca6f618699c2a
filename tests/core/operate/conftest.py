"""Runners of loops in this process, and their log."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from broker.operate.loops import LOG, LOOPS, Loop
from broker.operate.runner import Runner
from tests.calls import Connection


def until(condition: Callable[[], object], seconds: float = 30) -> None:
    """Wait for something that has to come."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


class Process:
    """A runner in a thread that acts like a process of its own: its connections are named, and it can die."""

    def __init__(self, dsn: str, name: str, loops: list[tuple[Loop, float]], setup: str | None) -> None:
        self.dsn, self.name = dsn, name
        self.refused = threading.Event()  # while it is set, the server is away for this process
        self.attempts = 0
        self.runner = Runner(self._connect, loops, setup, keep=0.1, lasts=1)
        self.thread = threading.Thread(target=self.runner.run)
        self.thread.start()

    @contextmanager
    def _connect(self) -> Iterator[Connection]:
        self.attempts += 1
        if self.refused.is_set():
            raise psycopg.OperationalError("the server is away")
        with psycopg.connect(self.dsn, autocommit=True, application_name=self.name) as connection:
            yield connection

    def lose_connections(self, db: Connection, *, for_good: bool) -> None:
        """Have the server end all connections of this process, and (for_good) accept no new ones."""
        if for_good:
            self.refused.set()
        db.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where application_name = %s and datname = current_database()",
            [self.name],
        )

    def end(self) -> None:
        """Stop as a signal does, and wait."""
        self.runner.stop()
        self.thread.join(30)
        assert not self.thread.is_alive()


Start = Callable[..., Process]


@pytest.fixture
def start(dsn: str) -> Iterator[Start]:
    """Starts a process: `start("first", "maintain", watchdog, setup=None)`; ends those that are left."""
    processes: list[Process] = []

    def begin(name: str, *loops: str | Loop, setup: str | None = None) -> Process:
        chosen = [LOOPS[loop] if isinstance(loop, str) else loop for loop in loops]
        processes.append(Process(dsn, name, [(loop, 0.1) for loop in chosen], setup))
        return processes[-1]

    yield begin
    for process in processes:
        process.end()


class Lines(logging.Handler):
    """The lines of the log: (level, loop, setup, text)."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[str, str | None, str | None, str]] = []
        self.figures: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        said = vars(record)
        self.lines.append((record.levelname, said["loop"], said["setup"], record.getMessage()))
        self.figures.append(said["figures"])

    def texts(self, level: str | None = None) -> list[str]:
        """The texts of a level, or of all."""
        return [line[3] for line in self.lines if level in (None, line[0])]


@pytest.fixture
def logged() -> Iterator[Lines]:
    """The log of the loops."""
    lines = Lines()
    LOG.addHandler(lines)
    LOG.setLevel(logging.INFO)
    yield lines
    LOG.removeHandler(lines)
