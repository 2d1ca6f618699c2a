"""Memory runs out: the kernel kills a backend within a call, or refuses memory to it.

The kernel's killer sends SIGKILL to one process, and PostgreSQL restarts all its backends then. A call is caught at
work by a lock on a table that it writes late; its earlier writes are there and not committed. No cgroup is needed.
"""

import os
import shutil
import signal
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from broker import world
from broker.client import Submitter
from broker.database import resolve
from broker.errors import BrokerError
from broker.server import account as accounts
from tests.calls import Calls, requirements
from tests.core.faults.test_kill import Field, field_of_work, until_it_answers, until_it_ends
from tests.core.lifecycle import grids

__all__ = ["field_of_work"]

PRLIMIT = shutil.which("prlimit")
limited = pytest.mark.skipif(PRLIMIT is None, reason="prlimit (util-linux) is not installed")
MANY = [{"requirements": requirements(JobTypes=[f"T{n}"]), "jobs": [[1000 * n + i, i % 11] for i in range(1, 201)]}
        for n in range(1, 31)]  # fmt: skip
UNLOGGED = {
    "taskqueue.known_match",
    "taskqueue.parsed_description",
    "taskqueue.resource_seen",
}  # emptied by the restart
VIEWS = ("job_without_queue", "job_in_two_states", "job_out_of_step", "matching_difference", "instance_difference")


@dataclass(frozen=True)
class Caught:
    """A call, and a table that it writes towards its end."""

    table: str
    do: Callable[[Calls, dict[str, Any]], Any]


CALLS = {
    "match": Caught("taskqueue.lease", lambda q, _: q.match(uuid.UUID(int=1))),
    "match of many": Caught("taskqueue.request", lambda q, _: q.call_rows(
        "match_jobs", Jsonb({"CPUTime": 1000}), 50, uuid.UUID(int=2))),
    "finish": Caught("taskqueue.history", lambda q, f: q.call("finish_job", f["job"], f["attempt"])),
    "release": Caught("taskqueue.history", lambda q, f: q.call("release_job", f["job"], f["attempt"])),
    "report": Caught("taskqueue.history", lambda q, f: q.call_rows("report_job", f["job"], f["attempt"])),
    "cancel": Caught("taskqueue.history", lambda q, _: q.call("cancel_job", 1)),
    "insert of many": Caught("taskqueue.request", lambda q, _: q.call("insert_jobs", Jsonb(MANY), uuid.UUID(int=3))),
    "maintain": Caught("taskqueue.share_mark", lambda q, _: q.maintain()),
    "brokers": Caught("workload.job_history", lambda q, _: q.rows("call brokerage.broker_jobs('life', p_seed => 1)")),
    "activate": Caught("workload.job_history", lambda q, _: q.rows("select * from lifecycle.activate('life')")),
    "schedule": Caught("instance.instance", lambda q, _: q.rows("call instance.schedule('cloud')")),
}  # fmt: skip


@pytest.fixture
def filled(field_of_work: Field) -> Iterator[tuple[Field, dict[str, Any]]]:
    """A durable server with jobs in every state, a task to broker, made jobs, and steps to place."""
    with psycopg.connect(field_of_work.dsn, autocommit=True) as db:
        q = Calls(db)
        q.insert_many(range(1, 40), JobTypes=["T"])
        q.insert_many(range(40, 60), 5, OwnerDN="bob")
        q.running_limit("JobTypes", "T", 10)
        lease = q.take(Site="S")
        grids.load(db, "life", files=20)
        grids.make(db, "life", "QA", 5)
        world.load(db, [{"instance_types": {"small": {"cpu": 2, "ram": 4096, "price": 1}}}], "cloud")
        db.execute("select instance.add_steps('cloud', '[{\"cpu\": 1, \"ram\": 1}]')")
    yield field_of_work, {"job": lease.job_id, "attempt": lease.attempt}


def stored(q: Calls) -> dict[str, str | None]:
    return {name: value for name, value in q.stored().items() if name not in UNLOGGED}


def killed_within(work: Field, caught: Caught, facts: dict[str, Any]) -> None:
    """Run the call, wait until it waits for the locked table, and kill its backend as the kernel would."""
    with psycopg.connect(work.dsn, autocommit=True) as watcher:
        blocker = psycopg.connect(work.dsn)
        blocker.execute(f"lock table {caught.table} in exclusive mode".encode())
        victim = psycopg.connect(work.dsn, autocommit=True)
        pid = victim.info.backend_pid
        errors: list[BaseException] = []

        def call() -> None:
            try:
                caught.do(Calls(victim), facts)
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=call)
        thread.start()
        blocked = "select cardinality(pg_blocking_pids(%s)) > 0"
        while watcher.execute(blocked, [pid]).fetchone() != (True,):
            assert thread.is_alive(), f"the call did not reach {caught.table}: {errors}"
        os.kill(pid, signal.SIGKILL)
        thread.join()
        [error] = errors
        assert isinstance(error, psycopg.OperationalError)
        until_it_ends(blocker)
        for connection in (blocker, victim):
            connection.close()
    until_it_answers(work)


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["match", "finish", "insert of many", "schedule"], id="some"),
        pytest.param(list(CALLS), id="all", marks=pytest.mark.thorough),
    ],
)
def test_a_backend_killed_within_a_call_stores_nothing(filled: tuple[Field, dict[str, Any]], names: list[str]) -> None:
    """Nothing of the call is stored, and the same call made again does all of it."""
    work, facts = filled
    for name in names:
        caught = CALLS[name]
        with psycopg.connect(work.dsn, autocommit=True) as db:
            before = stored(Calls(db))
        killed_within(work, caught, facts)
        with psycopg.connect(work.dsn, autocommit=True) as db:
            q = Calls(db)
            now = stored(q)
            # the procedure that brokers commits its run before it decides
            changed = {table for table in before if before[table] != now[table]}
            assert changed <= ({"brokerage.run"} if name == "brokers" else set()), f"{name} left {changed}"
            undone = name in ("finish", "release")  # the calls after it need the lease
            with db.transaction(force_rollback=True) if undone else nullcontext():
                caught.do(q, facts)
                assert stored(q) != now, f"{name} does nothing in its second call"
            for view in VIEWS:
                assert q.rows(f"select * from monitor.{view}") == [], (name, view)
            assert q.rows("select * from workload.count_difference") == [], name


def allow_memory(work: Field, pid: int, more: int | None) -> None:
    """Let a backend have at most this many bytes more than it has now; None: without a limit."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    limit = "unlimited" if more is None else str(pages * os.sysconf("SC_PAGE_SIZE") + more)
    account = accounts.of(work.home)  # the account of the backend may limit it
    subprocess.run([str(PRLIMIT), f"--pid={pid}", f"--as={limit}:"], user=account.uid, group=account.gid, check=True)


@pytest.mark.slow
@limited
def test_a_backend_that_gets_no_memory_stores_nothing_and_goes_on(filled: tuple[Field, dict[str, Any]]) -> None:
    """SQLSTATE 53200, nothing stored, and the same session goes on once there is memory."""
    work, _ = filled
    with psycopg.connect(work.dsn, autocommit=True) as db:
        q = Calls(db)
        q.maintain()
        before, pid = stored(q), db.info.backend_pid
        allow_memory(work, pid, 2**20)
        error = q.error_of(lambda: q.call("insert_jobs", Jsonb(MANY)))
        assert (error.sqlstate, error.diag.message_primary) == ("53200", "out of memory")
        allow_memory(work, pid, None)
        assert stored(q) == before
        assert q.call("insert_jobs", Jsonb(MANY)) == 6000
        assert q.inconsistencies() == []


@pytest.mark.slow
@limited
def test_a_client_learns_that_the_server_has_no_memory(filled: tuple[Field, dict[str, Any]]) -> None:
    """The error is an answer, not a lost connection: the client does not ask again and again."""
    work, _ = filled
    with Submitter("default", resolve(work.dsn), connections=1) as submitter:
        submitter.submit(900, requirements())
        with psycopg.connect(work.dsn, autocommit=True) as db:
            others = (
                "select pid from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'"
            )
            [(pid,)] = db.execute(others).fetchall()
            allow_memory(work, pid, 2**20)
            with pytest.raises(BrokerError) as caught:
                submitter.submit_many(MANY)
            assert (caught.value.sqlstate, caught.value.message) == ("53200", "out of memory")
            assert Calls(db).value("select count(*) from taskqueue.job where job_id >= 1000") == 0
