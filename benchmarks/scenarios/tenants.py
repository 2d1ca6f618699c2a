"""Many setups in one database: rounds of the loops, health, and a small setup beside one with many groups."""

import json
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from benchmarks import cpu
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.server import Server
from broker import database
from broker.database import Target
from broker.operate.loops import LOOPS, Round

DEFAULTS = Options(jobs=3_000, seconds=20)
_JOBS = 3  # in each small setup
_OWNERS, _GROUPS = 4 / 3, 20 / 3  # of the two large setups, for each small setup
_OF_AN_OWNER = 3  # groups in which each owner has a TaskQueue
_BATCH = 2_000
_QUIET = "quiet"  # a small setup in which a job arrives now and then

_ROUNDS = (  # with nothing due
    ("a round of maintain", "maintain", True),
    ("a full round of maintain", "maintain", False),
    ("a round of the watchdog", "watchdog", True),
    ("a full round of the watchdog", "watchdog", False),
    ("the first round of the guard", "guard", True),
    ("a round of the guard", "guard", True),
    ("a round of summarize", "summarize", True),
)

Pair = tuple[str, str]  # owner and group of a TaskQueue


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """`jobs` is the number of small setups; the large ones have 4/3 as many owners, and 20/3 as many groups."""
    setups = options.jobs
    owners, groups = round(setups * _OWNERS), round(setups * _GROUPS)
    large: dict[str, list[Pair]] = {
        "owners": [(f"o{n}", f"g{k}") for n in range(owners) for k in range(_OF_AN_OWNER)],
        "groups": [(f"o{n}", f"g{n}") for n in range(groups)],
    }
    with server.database() as where, database.connect(where.admin) as connection:
        say(f"loading {setups:,} setups, {owners:,} owners and {groups:,} groups")
        for setup, pairs in large.items():  # first: who reads the rows of others meets these
            _insert(connection, setup, pairs, 1)
        for number in range(setups):
            _insert(connection, f"s{number}", [(f"o{n}", f"g{n}") for n in range(_JOBS)], 1)
        _settle(connection)
        rows: list[Row] = []
        for what, loop, often in _ROUNDS:
            rows.append(_row(what, [_measured(connection, partial(_round, loop=loop, often=often))]))
        rows += [_row("health of all setups", [_measured(connection, _health)])]
        with _tenant(where.admin, "s0") as tenant:
            rows += [_row("health of one's own setup", [_measured(tenant, _health) for _ in range(3)])]
        for setup, pairs in large.items():
            say(f"a job for each TaskQueue of {setup}")
            _insert(connection, setup, pairs, len(pairs) + 1, priority=9)
            rows.append(_row(f"maintain, {len(pairs):,} TaskQueues of {setup} changed", _until_done(connection, setup)))
        say("a small setup beside the groups")
        waits = _beside(where.admin, large["groups"], options.seconds)
    title = f"{setups:,} setups with {_JOBS} TaskQueues, {owners:,} owners in {_OF_AN_OWNER} groups, {groups:,} groups"
    return [
        Table(title, rows, {"setups": setups, "owners": owners, "groups": groups}),
        Table("A job arrives in a small setup: until maintain has been there, beside changes of all groups", [waits]),
    ]


def _insert(connection: psycopg.Connection[Any], setup: str, pairs: list[Pair], first: int, priority: int = 1) -> None:
    for begin in range(0, len(pairs), _BATCH):
        jobs = [
            {
                "job_id": first + begin + number,
                "requirements": {"OwnerDN": owner, "OwnerGroup": group, "CPUTime": 600},
                "user_priority": priority,
            }
            for number, (owner, group) in enumerate(pairs[begin : begin + _BATCH])
        ]
        connection.execute("select taskqueue.insert_jobs(%s, %s)", [setup, Jsonb(jobs)])


def _settle(connection: psycopg.Connection[Any]) -> None:
    """Until nothing is due; marks are made old, since a group is recomputed some seconds after a change."""
    connection.execute("vacuum (analyze)")
    for _ in range(100):
        connection.execute("update taskqueue.share_mark set marked_at = now() - interval '1 minute'")
        due = connection.execute("select taskqueue.setups_due()").fetchall()
        if not due:
            return
        for (setup,) in due:
            connection.execute("select * from taskqueue.maintain(%s)", [setup])


def _measured(
    connection: psycopg.Connection[Any], work: Callable[[psycopg.Connection[Any]], None]
) -> tuple[float, float]:
    """Seconds, and CPU seconds of the backend (0 if it runs elsewhere)."""
    pid = connection.info.backend_pid if cpu.postmaster_of(connection) else None
    before, begin = cpu.of_process(pid) if pid else 0.0, time.perf_counter()
    work(connection)
    return time.perf_counter() - begin, cpu.of_process(pid) - before if pid else 0.0


def _row(what: str, calls: list[tuple[float, float]]) -> Row:
    used = [call[1] for call in calls]
    return {
        "what": what, "calls": len(calls), "longest ms": round(1000 * max(call[0] for call in calls)),
        "CPU ms of a call": round(1000 * statistics.median(used)), "CPU ms of all": round(1000 * sum(used)),
    }  # fmt: skip


def _round(connection: psycopg.Connection[Any], loop: str, *, often: bool = True) -> None:
    memory = {"looked": time.monotonic()} if often else {}
    LOOPS[loop].round(Round(connection, loop, None, threading.Event(), lambda *_: None, memory))


def _health(connection: psycopg.Connection[Any]) -> None:
    connection.execute("select * from monitor.health").fetchall()


@contextmanager
def _tenant(admin: Target, setup: str) -> Iterator[psycopg.Connection[Any]]:
    """A session as the service has for a viewer of one setup. The login is a superuser."""
    with database.connect(admin) as connection:
        rows = connection.execute("select kind, role_name from resource.installation_role").fetchall()
        roles: dict[str, str] = dict(rows)
        connection.execute(f'set session authorization "{roles["service"]}"'.encode())
        connection.execute(f'set role "{roles["viewer"]}"'.encode())
        subject = json.dumps({"setup": setup, "name": "viewer"})
        connection.execute("select set_config('pgbroker.subject', %s, false)", [subject])
        yield connection


def _until_done(connection: psycopg.Connection[Any], setup: str) -> list[tuple[float, float]]:
    """The calls of maintain until one changes nothing."""
    connection.execute("update taskqueue.share_mark set marked_at = now() - interval '1 minute'")
    calls: list[tuple[float, float]] = []
    changed = [1]

    def maintain(one: psycopg.Connection[Any]) -> None:
        found = one.execute("select changed from taskqueue.maintain(%s, true)", [setup]).fetchall()
        changed[0] = sum(number for (number,) in found)

    while changed[0] and len(calls) < 200:
        calls.append(_measured(connection, maintain))
    return calls


def _beside(admin: Target, pairs: list[Pair], seconds: float) -> Row:
    """Rounds of maintain while every group changes; a job arrives in a small setup before each round."""
    waits: list[float] = []
    with database.connect(admin) as connection, database.connect(admin) as submitter:
        _insert(submitter, "groups", pairs, 2 * len(pairs) + 1)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            submitter.execute("update taskqueue.share_mark set marked_at = now() - interval '1 minute'")
            _insert(submitter, _QUIET, [("o", "g")], 1 + len(waits))
            begin = time.perf_counter()
            done = threading.Event()
            rounds = threading.Thread(target=_rounds, args=(connection, done))
            rounds.start()
            while submitter.execute(
                "select exists (select from taskqueue.job_count_change where setup = %s)", [_QUIET]
            ).fetchone() == (True,):
                time.sleep(0.01)
            waits.append(time.perf_counter() - begin)
            done.set()
            rounds.join()
    return {
        "jobs": len(waits), "p50 ms": round(1000 * statistics.median(waits)), "longest ms": round(1000 * max(waits)),
    }  # fmt: skip


def _rounds(connection: psycopg.Connection[Any], done: threading.Event) -> None:
    while not done.is_set():
        _round(connection, "maintain")
