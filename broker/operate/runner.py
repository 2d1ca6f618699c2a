"""The process of `broker run`: all loops, each in a thread of its own, and each led by one of several processes.

The lead of a loop is a row in the database that expires (lifecycle.lead). One connection, the keeper's, renews the
leads of all loops and writes their heartbeats, whatever the loops are doing; a process that dies stops renewing, and
another takes over within seconds. A loop that waits, fails or takes long does not delay the rounds of others. The lead
of a loop that is stuck outside the database is not renewed either, so another process takes it over.
"""

import json
import logging
import os
import random
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack, suppress
from datetime import timedelta
from typing import Any

import psycopg

from broker.database import Connection
from broker.database_errors import is_lost
from broker.errors import BrokerError, ConnectError
from broker.operate.loops import LOG, Figures, Loop, Round, one_line
from broker.words import counted

"""The logger of the loops; its records have the attributes `loop`, `setup`, `shard` and `figures`."""

KEEP = 5.0  # seconds between two renewals of the leads
LASTS = 4 * KEEP  # seconds that a lead lasts: another process takes over a dead one's loops after that
_AGAIN = 1.0  # seconds between two attempts to reach the server
_AT_MOST = 60.0  # seconds until a round that could not even begin is tried again
_MOST_TEXTS = 100  # maximal number of setups whose errors a beat has
_JITTER = 0.1  # fraction of the period
_STUCK = 120.0  # seconds in which a round did no step and waited for no statement; then its lead is not renewed
_LAST_STEPS = 10.0  # seconds that steps under way have when the process is to end; then their statements are cancelled


class Runner:
    """A process that runs loops.

    connect: opens a connection in autocommit for a with statement. loops: the loops to run, with the period of each in
    seconds. setup: the only setup to work on; None = all. shard: the shard with the setups; None: the database is not a
    shard.
    """

    def __init__(
        self,
        connect: Callable[[], AbstractContextManager[Connection]],
        loops: Iterable[tuple[Loop, float]],
        setup: str | None = None,
        *,
        shard: str | None = None,
        keep: float = KEEP,
        lasts: float = LASTS,
    ) -> None:
        self.connect, self.setup, self.shard = connect, setup, shard
        self.stopped = threading.Event()
        self._stopped_at = float("inf")
        self.holder = uuid.uuid4()
        self._keep, self._lasts = keep, lasts
        self._wake = threading.Event()
        self._renewed = threading.Condition()
        self._renewals = 0
        self._there: bool | None = None
        self._error: str | None = None
        self._workers = {loop.name: _Worker(self, loop, period) for loop, period in loops}

    def write(self, level: int, loop: str | None, setup: str | None, text: str, figures: Figures | None = None) -> None:
        """Log a line about a loop (None: about the process) and a setup (None: about no single setup)."""
        about = {"loop": loop, "setup": setup or self.setup, "shard": self.shard, "figures": dict(figures or {})}
        LOG.log(level, text, extra=about)

    def stop(self) -> None:
        """End after the steps under way, within seconds; may be called from a signal handler or another thread."""
        self._stopped_at = min(self._stopped_at, time.monotonic())
        self.stopped.set()
        self._wake.set()

    def run(self) -> None:
        """Run until stopped. Waits for a server that does not answer.

        Raises the database's error at the first request for the leads: no such setup, a missing role, another release.
        """
        for worker in self._workers.values():
            worker.start()
        try:
            while self._working():
                try:
                    with self.connect() as connection:
                        self._lead(connection)
                        break
                except (psycopg.Error, BrokerError) as error:
                    self._without(error)
        finally:
            self.stop()
            for worker in self._workers.values():
                worker.rouse()
        while self._working():
            self._join_for(_AGAIN)
        rounds = {name: worker.rounds for name, worker in self._workers.items()}
        total = sum(rounds.values())
        self.write(logging.INFO, None, None, f"ended after {counted(total, 'round')}", rounds)

    def _working(self) -> bool:
        """Whether a worker is to be waited for. Once the time for the last steps is over, statements are cancelled, and
        what does not end by that either, such as a call of another program, is left to itself."""
        alive = [worker for worker in self._workers.values() if worker.is_alive()]
        over = time.monotonic() - self._stopped_at - _LAST_STEPS
        if over > 0:
            for worker in alive:
                worker.cancel()
        return bool(alive) and over < _LAST_STEPS / 2

    def _lead(self, connection: Connection) -> None:
        """Renew the leads until the last worker has ended, then give them up."""
        while True:
            over = self.stopped.is_set() and not self._working()
            self._wake.clear()
            self._renew(connection)
            if over:
                connection.execute("select lifecycle.stand_down(%s)", [self.holder])
                return
            if self.stopped.is_set():
                self._join_for(min(self._keep, _AGAIN))
            else:
                self._wake.wait(self._keep)

    def _join_for(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        for worker in self._workers.values():
            worker.rouse()
            worker.join(max(until - time.monotonic(), 0))

    def _renew(self, connection: Connection) -> None:
        began = time.monotonic()
        beats = json.dumps([worker.beat() for worker in self._workers.values() if not worker.is_stuck()])
        held_by = f"{socket.gethostname()}, process {os.getpid()}"
        rows = connection.execute(
            "select name, leads, leader from lifecycle.lead(%s, %s, %s, %s, %s)",
            [self.setup, self.holder, held_by, timedelta(seconds=self._lasts), beats],
        ).fetchall()
        if self._there is False:
            self.write(logging.INFO, None, None, "going on")
        self._there, self._error = True, None
        news: dict[str, list[str]] = {}
        for name, leads, leader in rows:
            if self._workers[name].may_work(began + self._lasts if leads else None, leader):
                news.setdefault("leading" if leads else f"standing by, {leader} leads", []).append(name)
        for text, names in news.items():
            self.write(logging.INFO, None, None, f"{text}: {', '.join(names)}")
        with self._renewed:
            self._renewals += 1
            self._renewed.notify_all()

    def _without(self, error: Exception) -> None:
        """Log once that the server is away, or that it refuses; then wait a little."""
        gone = isinstance(error, ConnectError) or (isinstance(error, psycopg.Error) and is_gone(error))
        if not gone and self._there is None:
            raise error
        text = one_line(error)
        if gone and self._there is not False:
            self.write(logging.WARNING, None, None, f"trying again: {text}")
            self._there = False
        elif not gone and text != self._error:
            self.write(logging.ERROR, None, None, text)
            self._error = text
        if self.stopped.is_set():
            self._join_for(_AGAIN)
        else:
            self.stopped.wait(_AGAIN)

    def wait_for_renewal(self) -> None:
        """Request a renewal of the leads, and wait until it succeeds: the server then answers again."""
        with self._renewed:
            wanted = self._renewals + 2  # the first renewal may have begun before the request
            while self._renewals < wanted and not self.stopped.is_set():
                self._wake.set()
                self._renewed.wait(0.2)


def is_gone(error: psycopg.Error) -> bool:
    """Whether the server is away: the connection is lost, none is free, or a standby answers before it takes over."""
    return is_lost(error) or error.sqlstate == "53300"


class _Worker(threading.Thread):
    """A loop of this process: does its rounds while this process leads it."""

    def __init__(self, runner: Runner, loop: Loop, period: float) -> None:
        super().__init__(name=loop.name, daemon=True)
        self.rounds = 0
        self._runner, self._loop, self._period = runner, loop, period
        self._until: float | None = None  # the end of the lead, by time.monotonic
        self._leader: str | None = None
        self._changed = threading.Event()
        self._memory: dict[str, Any] = {}
        self._errors: dict[tuple[str, str], str] = {}
        self._began: float | None = None
        self._ended: float | None = None
        self._work: Round | None = None  # the round that is under way
        self._moved_at = 0.0
        self._is_stuck = False

    def is_stuck(self) -> bool:
        """Whether the round under way neither does steps nor waits for the database; log when that changes."""
        work, now = self._work, time.monotonic()
        if work is None or work.waits_for_database():
            self._moved_at = now
        else:
            self._moved_at = max(self._moved_at, work.moved_at)
        before, self._is_stuck = self._is_stuck, now - self._moved_at > _STUCK
        if self._is_stuck and not before:
            text = f"stuck: no step for {now - self._moved_at:.0f} s; the lead is not renewed"
            self._runner.write(logging.ERROR, self._loop.name, None, text)
        return self._is_stuck

    def cancel(self) -> None:
        """Cancel the statement that is under way."""
        if (work := self._work) is not None and work.waits_for_database():
            with suppress(psycopg.Error):
                work.connection.cancel_safe(timeout=_AGAIN)

    def beat(self) -> dict[str, Any]:
        """The results of the rounds, in the form that lifecycle.lead takes."""
        now = time.monotonic()
        return {
            "name": self._loop.name,
            "period": self._period,
            "began": None if self._began is None else now - self._began,
            "ended": None if self._ended is None else now - self._ended,
            "errors": self._texts(),
        }

    def may_work(self, until: float | None, leader: str) -> bool:
        """Store the end of this process's lead, or None if another process leads; return whether that is new."""
        before = self._leader if self._until is None else ""
        now = leader if until is None else ""
        self._until, self._leader = until, leader
        if until is not None:
            self._changed.set()
        return now != before

    def rouse(self) -> None:
        """Wake the worker, so that it checks whether to go on."""
        self._changed.set()

    def run(self) -> None:
        """Work until the process must end."""
        failed = 0
        while not self._runner.stopped.is_set():
            if not self._leads():
                self._changed.wait()
                self._changed.clear()
                continue
            try:
                with ExitStack() as stack:
                    connection = stack.enter_context(self._runner.connect())
                    while self._leads() and not self._runner.stopped.is_set():
                        self._round(connection)
                        failed = 0
                        self._rest()
            except Exception as error:  # after any error the round is tried again, and no other loop is affected
                failed += 1
                if failed > 1 or not isinstance(error, psycopg.OperationalError | ConnectError):
                    self._note_errors({("", ""): one_line(error)})
                    self._ended = time.monotonic()
                    self._runner.stopped.wait(min(max(self._period, _AGAIN), _AT_MOST))
                else:
                    self._runner.wait_for_renewal()

    def _leads(self) -> bool:
        return self._until is not None and time.monotonic() < self._until

    def _rest(self) -> None:
        since = time.monotonic() - (self._began or 0)
        pause = self._period * (1 + random.uniform(-_JITTER, _JITTER)) - since
        self._runner.stopped.wait(max(pause, 0))

    def _round(self, connection: Connection) -> None:
        self._began = time.monotonic()
        work = Round(connection, self._loop.name, self._runner.setup, self._runner.stopped, self._note, self._memory)
        self._work = work
        try:
            self._loop.round(work)
        finally:
            self._work = None
        self.rounds += 1
        self._note_errors(work.errors)
        self._ended = time.monotonic()

    def _note(self, setup: str | None, text: str, figures: Figures) -> None:
        self._runner.write(logging.INFO, self._loop.name, setup, text, figures)

    def _note_errors(self, errors: dict[tuple[str, str], str]) -> None:
        """Log the new errors of a round, and the errors that are gone."""
        for key, text in errors.items():
            if self._errors.get(key) != text:
                self._runner.write(logging.ERROR, self._loop.name, key[0], ": ".join(filter(None, (key[1], text))))
        for setup, step in self._errors.keys() - errors.keys():
            self._runner.write(logging.INFO, self._loop.name, setup, f"{step or 'the round'} works again")
        self._errors = dict(errors)

    def _texts(self) -> dict[str, str]:
        """The errors of each setup in one text, for at most a hundred setups."""
        texts: dict[str, str] = {}
        for (setup, step), text in sorted(self._errors.items()):
            before = texts.get(setup, "")
            if before or len(texts) < _MOST_TEXTS:
                texts[setup] = "; ".join(filter(None, (before, ": ".join(filter(None, (step, text))))))[:1000]
        if len({setup for setup, _ in self._errors}) > len(texts):
            texts[""] = f"more than {_MOST_TEXTS} setups have errors: the log has them"
        return texts
