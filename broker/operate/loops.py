"""The loops of `broker run`: the work of a round, and its period. A single round is a command of its own. Two rounds
of the same loop may run at once: a clock that jumps or two leaders do no harm.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, LiteralString

import psycopg
from psycopg.errors import Diagnostic
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from broker.database import Connection
from broker.database_errors import from_database, is_read_only
from broker.operate import batch, notify
from broker.operate.reading import run_summary

LOG = logging.getLogger("broker.run")
Report = list[dict[str, Any]]
Figures = Mapping[str, Any]

SELDOM = 60.0  # seconds between two full rounds of the watchdog and of maintenance
_SUMMARIZING = 2.0  # seconds of a round of summarize
_OFTEN = ("leases", "retries", "activate")  # the steps of lifecycle.watch that each round of the watchdog does


def watch(connection: Connection, setup: str | None, *, dry_run: bool = False, often: bool = False) -> Report:
    """Do one round of the watchdog; return the jobs that it changed, or with dry_run would change, by setup, rule and
    action."""
    row = connection.execute("call lifecycle.watch(%s, %s, %s)", [setup, dry_run, often]).fetchone()
    jobs: dict[tuple[str, str, str], int] = {}
    for found in row[0] if row else []:
        key = (found["setup"], found["rule"], found["action"])
        jobs[key] = jobs.get(key, 0) + found["jobs"]
    return [{"setup": key[0], "rule": key[1], "action": key[2], "jobs": number} for key, number in jobs.items()]


def maintain(connection: Connection, setup: str, *, often: bool = False) -> dict[str, int]:
    """Do the background work of a setup or, with `often`, only the steps that cannot wait for a minute; return the
    changes of each step."""
    return dict(connection.execute("select step, changed from taskqueue.maintain(%s, %s)", [setup, often]).fetchall())


def guard(connection: Connection, setup: str) -> Report:
    """Do a round of the guard: count the ends of jobs since the last round, and quarantine worker nodes. Return the
    changes: action, kind, site, name and why."""
    with connection.cursor(row_factory=dict_row) as cursor:
        changes = cursor.execute("select * from taskqueue.guard(%s)", [setup]).fetchall()
        # after the commit of the quarantines, so that a match that finds the mark also finds its quarantine
        cursor.execute("select taskqueue.mark_guarded(%s)", [setup])
        return changes


def summarize(connection: Connection, setup: str) -> dict[str, int]:
    """Find why the jobs of a setup wait, and count them by reason; return the changes of each step."""
    found = dict(connection.execute("select step, changed from taskqueue.find_reasons(%s)", [setup]).fetchall())
    steps = {
        "reasons of tasks": "select brokerage.find_reasons(%s)",
        "waiting": "select taskqueue.summarize_waiting(%s)",
    }
    for step, query in steps.items():
        row = connection.execute(query, [setup]).fetchone()
        found |= {step: row[0]} if row and row[0] is not None else {}
    return found


def sample(connection: Connection, setup: str) -> int | None:
    """Sample the figures of a setup for the last full minute; return the number of series with a value, or None if that
    was already done."""
    row = connection.execute("select history.sample(%s)", [setup]).fetchone()
    return row[0] if row else None


def judge(connection: Connection, setup: str) -> int | None:
    """Evaluate the rules of alerts on the last sample; return the number of alerts that began to fire or ended, or None
    if that was already done."""
    row = connection.execute("select alert.judge(%s)", [setup]).fetchone()
    return row[0] if row else None


def make_partitions(connection: Connection) -> dict[str, int]:
    """Make the partitions of the histories for the next days, and drop old ones; return the changes of each step.

    A partition that sessions still use stays; the log names it and them.
    """

    def note(diagnostic: Diagnostic) -> None:
        if diagnostic.severity_nonlocalized == "WARNING":
            LOG.warning("%s", diagnostic.message_primary)

    connection.add_notice_handler(note)
    try:
        return dict(connection.execute("select step, changed from lifecycle.make_partitions()").fetchall())
    finally:
        connection.remove_notice_handler(note)


@dataclass
class Round:
    """One round of a loop. `memory` is kept from round to round of a process, `errors` is by setup and step."""

    connection: Connection
    name: str
    setup: str | None
    stopped: threading.Event
    note: Callable[[str | None, str, Figures], None]
    memory: dict[str, Any] = field(default_factory=dict)
    errors: dict[tuple[str, str], str] = field(default_factory=dict)
    moved_at: float = field(default_factory=time.monotonic)  # when the last step began

    def waits_for_database(self) -> bool:
        """Whether a statement is under way."""
        return self.connection.pgconn.transaction_status == TransactionStatus.ACTIVE

    def setups(self, *, simulated: bool = False, due: Iterable[str] | None = None) -> Iterator[str]:
        """The setups to work on, until the process must end: the named one, or all that need this loop. simulated:
        include setups whose clock is set, which a simulation drives. due: only these, in this order.
        """
        query = """select s.setup from lifecycle.setting_in_force s join monitor.setup p using (setup)
                    where coalesce(%s = any (s.loops), true) and (%s or p.simulated is null) order by 1"""
        found = [self.setup] if self.setup else _column(self.connection, query, [self.name, simulated])
        if due is not None and not self.setup:
            needed = set(found)
            found = [setup for setup in due if setup in needed]
        for setup in found:
            if self.stopped.is_set():
                return
            yield setup

    @contextmanager
    def trying(self, setup: str, step: str = "") -> Iterator[None]:
        """Keep an error of one setup from affecting the others. The errors of a lost connection and of a standby are
        raised."""
        self.moved_at = time.monotonic()
        try:
            yield
        except Exception as error:
            if self.connection.closed or (isinstance(error, psycopg.Error) and is_read_only(error)):
                raise
            self.errors[setup, step] = one_line(error)


def _column(connection: Connection, query: LiteralString, arguments: Sequence[Any] = ()) -> list[str]:
    return [text for (text,) in connection.execute(query, arguments).fetchall()]


def one_line(error: Exception) -> str:
    """An error as one line of a log."""
    shown = from_database(error) if isinstance(error, psycopg.Error) else error
    text = " ".join(str(shown).split()) or type(error).__name__
    code = getattr(shown, "sqlstate", None)
    return f"{text[:900]} [{code}]" if code else text[:900]


def _maintain(work: Round) -> None:
    changed: dict[str, int] = work.memory.setdefault("changed", {})
    began = time.monotonic()
    often = began - work.memory.get("looked", float("-inf")) < SELDOM
    due = _column(work.connection, "select taskqueue.setups_due(%s)", [often])
    for setup in work.setups(simulated=True, due=due):
        with work.trying(setup):
            _add(changed, maintain(work.connection, setup, often=often))
    if not often:
        if work.setup is None:
            with work.trying("", "partitions"):
                _add(changed, make_partitions(work.connection))
        if changed:
            work.note(None, "changed", dict(changed))
            changed.clear()
        work.memory["looked"] = began


def _add(sums: dict[str, int], more: dict[str, int]) -> None:
    for step, number in more.items():
        if number:
            sums[step] = sums.get(step, 0) + number


def _watchdog(work: Round) -> None:
    began = time.monotonic()
    often = began - work.memory.get("looked", float("-inf")) < SELDOM
    before: dict[tuple[str, str], str] = work.memory.get("errors", {})
    due = _column(work.connection, "select lifecycle.setups_due(%s)", [often])
    for setup in work.setups(simulated=True, due=due):
        with work.trying(setup):
            for row in watch(work.connection, setup, often=often):
                kind, _, text = row["action"].partition("error: ")
                if text and not kind:
                    work.errors[setup, row["rule"]] = text
                else:
                    work.note(setup, f"{row['rule']}: {row['action']}", {"jobs": row["jobs"]})
    if often:  # errors of steps that only a full round runs stay
        work.errors |= {key: text for key, text in before.items() if key[1] and key[1] not in _OFTEN}
    else:
        work.memory["looked"] = began
    work.memory["errors"] = dict(work.errors)


def _guard(work: Round) -> None:
    due = _column(work.connection, "select taskqueue.guard_due()")
    for setup in work.setups(simulated=True, due=due):
        with work.trying(setup):
            for row in guard(work.connection, setup):
                node = f"{row['kind']} {row['name']}" + (f" at {row['site']}" if row["kind"] != "site" else "")
                work.note(setup, f"{node} {row['action']}: {row['why']}", {})


def _summarize(work: Round) -> None:
    until = time.monotonic() + _SUMMARIZING
    due = _column(work.connection, "select lifecycle.summarize_due()")
    due.sort(key=lambda setup: work.memory.get(setup, 0.0))  # so that no setup waits for two turns of another
    for setup in work.setups(simulated=True, due=due):
        with work.trying(setup):
            summarize(work.connection, setup)
        work.memory[setup] = time.monotonic()
        if work.memory[setup] > until:
            return


def _sample(work: Round) -> None:
    for setup in work.setups(simulated=True):
        with work.trying(setup):
            sample(work.connection, setup)


def _notify(work: Round) -> None:
    due: list[notify.Due] = []
    for setup in work.setups(simulated=True):
        with work.trying(setup):
            if changed := judge(work.connection, setup):
                work.note(setup, "alerts", {"changed": changed})
            due += notify.take(work.connection, setup)
    failing: dict[Any, str] = work.memory  # by setup and target, until a message gets through
    for message, error in notify.deliver(due, work.stopped):
        with work.trying(message.setup):
            failing.pop((message.setup, message.target), None)
            if error is not None:
                failing[message.setup, message.target] = error
            notify.note(work.connection, message, error)
    if failing:
        unsent = set(work.connection.execute("select setup, target from alert.target_now where unsent > 0").fetchall())
        for given_up in failing.keys() - unsent:
            del failing[given_up]
    work.errors |= {(setup, f"target {target}"): error for (setup, target), error in failing.items()}


def _classify(work: Round) -> None:
    for setup in work.setups():
        with work.trying(setup):
            work.connection.execute("call brokerage.classify(%s)", [setup])


def _schedule(work: Round) -> None:
    for setup in work.setups():
        with work.trying(setup):
            cursor = work.connection.execute("call instance.schedule(%s)", [setup])
            [row] = cursor.fetchall()
            names = [column.name.removeprefix("p_") for column in cursor.description or ()]
            figures = dict(zip(names, row, strict=True))
            if figures != work.memory.get(setup, dict.fromkeys(names, 0)):
                work.note(setup, "scheduled", figures)
            work.memory[setup] = figures


def _assign(algorithm: str) -> Callable[[Round], None]:
    def assign(work: Round) -> None:
        query = "select exists (select from brokerage.due_task where setup = %s and algorithm = %s)"
        for setup in work.setups():
            with work.trying(setup):
                if work.connection.execute(query, [setup, algorithm]).fetchone() != (True,):
                    continue
                run = batch.broker([work.connection], setup, algorithm, stopped=work.stopped)
                summary = run_summary(work.connection, setup, run, algorithm)
                figures: dict[str, Any] = {"run": run}
                for row in summary["tasks"]:
                    figures[row["status"]] = figures.get(row["status"], 0) + row["tasks"]
                if jobs := sum(row["jobs"] for row in summary["assigned"]):
                    figures |= {"jobs": int(jobs), "queues": len(summary["assigned"])}
                if summary["tasks"]:
                    work.note(setup, "brokered", figures)

    return assign


@dataclass(frozen=True)
class Loop:
    """A loop: its description, the seconds between the beginnings of two rounds, and its round."""

    name: str
    meaning: str
    period: float
    round: Callable[[Round], None]


LOOPS = {
    loop.name: loop
    for loop in (
        Loop("maintain", "shares, counts, resources seen, histories", 5, _maintain),
        Loop("watchdog", "expired leases, activation, timeouts, fast rebrokerage", 5, _watchdog),
        Loop("guard", "worker nodes that fail their jobs", 10, _guard),
        Loop("summarize", "why jobs wait, and how many", 5, _summarize),
        Loop("sample", "figures over time, a sample a minute", 15, _sample),
        Loop("notify", "alerts, and their notifications", 15, _notify),
        Loop("classify", "classes of queues, users and tasks of user analysis", 600, _classify),
        Loop("schedule", "steps onto rented instances", 20, _schedule),
        Loop("assign-tasks", "production tasks to nuclei", 120, _assign("production_task")),
        Loop("assign-jobs", "jobs of production tasks to queues", 120, _assign("production_job")),
        Loop("assign-analysis", "jobs of users' tasks to queues", 120, _assign("analysis_job")),
    )
}
"""All loops, by name."""
