"""Programs for the tests beside this file to kill; they keep a journal of what they did.

    python worker.py agent|client|inserter|keeper|worker|broker DSN JOURNAL STOP NUMBER

The journal gets a line before and after each call, with the time (nanoseconds of the machine's monotonic clock), so
that it shows what a killed caller knew. A call whose connection broke is repeated, with its request id,
on a new connection: the server may have been killed.
When the file STOP appears the program ends after its call. BROKER_PREPARE=off is for PgBouncer, as everywhere.
"""

import contextlib
import logging
import random
import sys
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.types.json import Jsonb

from broker import database
from broker.client import JobAgent
from broker.errors import ConnectError

T = TypeVar("T")


class Caller:
    """Calls that are repeated until the server answers."""

    def __init__(self, dsn: str, journal: str) -> None:
        self.target = database.resolve(dsn)
        self.connection: psycopg.Connection[Any] | None = None
        self._journal = journal

    def note(self, *words: Any) -> None:
        """A line of the journal."""
        line = " ".join(map(str, (time.monotonic_ns(), *words))) + "\n"
        with Path(self._journal).open(
            "ab", buffering=0
        ) as journal:  # it reaches the kernel at once: kill -9 loses none
            journal.write(line.encode())

    def rows(self, query: str, *arguments: Any) -> list[Any]:
        """The answer of a query that may be repeated."""
        while True:
            try:
                if self.connection is None:
                    self.connection = psycopg.connect(self.target.dsn, autocommit=True, **self.target.parameters)
                return self.connection.execute(query.encode(), arguments).fetchall()
            except psycopg.OperationalError as error:
                if error.sqlstate and not error.sqlstate.startswith(("57P", "08")):
                    raise
                self.connection = None
                time.sleep(0.02)


def agent(caller: Caller, stop: Path, number: int) -> None:
    """Take jobs, report, and finish most of them; give some back, keep some. A refused attempt is noted as stale."""
    chance = random.Random()
    resource = Jsonb({"CPUTime": 10**6, **({"Site": f"S{number % 3}"} if number % 2 else {})})
    while not stop.exists():
        caller.note("ask")
        taken = caller.rows(
            "select job_id, attempt from taskqueue.match_jobs('default', %s, %s, %s)",
            resource, chance.choice([1, 1, 1, 5]), uuid.uuid4(),
        )  # fmt: skip
        caller.note("answered", *(f"{job_id}:{attempt}" for job_id, attempt in taken))
        for job_id, attempt in taken:
            what = chance.random()
            call = "report_job"
            try:
                caller.rows("select * from taskqueue.report_job('default', %s, %s)", job_id, attempt)
                if what < 0.1:
                    continue  # keeps it
                if what < 0.2:
                    caller.note("releasing", f"{job_id}:{attempt}")
                    call = "release_job"
                    caller.rows("select taskqueue.release_job('default', %s, %s)", job_id, attempt)
                else:
                    caller.note("finishing", f"{job_id}:{attempt}")
                    call = "finish_job"
                    caller.rows("select taskqueue.finish_job('default', %s, %s)", job_id, attempt)
                    caller.note("finished", f"{job_id}:{attempt}")
            except psycopg.Error as error:
                if error.sqlstate != "PB003":
                    raise
                if call != "release_job":  # otherwise it was released, the answer was lost, and this was the repetition
                    caller.note("stale", f"{job_id}:{attempt}")


def client(caller: Caller, stop: Path, number: int) -> None:
    """An agent that uses the package's own client, and asks again when the client gives up."""

    def answer(call: Callable[[], T]) -> T:
        while True:
            with contextlib.suppress(ConnectError):
                return call()

    resource = {"CPUTime": 10**6, "Site": f"S{number % 3}"}
    with answer(partial(JobAgent, "default", caller.target, connections=1)) as agent:
        while not stop.exists():
            caller.note("ask")
            request_id = uuid.uuid4()
            match = answer(partial(agent.match, resource, request_id))
            caller.note("answered", *([f"{match.job_id}:{match.attempt}"] if match else []))
            if match is None:
                time.sleep(0.02)
                continue
            answer(partial(agent.report, match))
            caller.note("finishing", f"{match.job_id}:{match.attempt}")
            answer(partial(agent.finish, match))
            caller.note("finished", f"{match.job_id}:{match.attempt}")


def keeper(caller: Caller, stop: Path, number: int) -> None:
    """Do the work of the watchdog all the time, and set and clear limits."""
    while not stop.exists():
        caller.note("keeps")
        caller.rows("select * from taskqueue.maintain('default')")
        caller.rows("select * from lifecycle.expire_leases('default')")
        caller.rows("select taskqueue.recompute_shares('default')")
        try:
            caller.rows("select taskqueue.set_limit('default', 'running', 'S1', null, 'OwnerGroup', 'g1', 100000)")
            caller.rows("select taskqueue.clear_limit('default', 'running', 'S1', null, 'OwnerGroup', 'g1')")
        except psycopg.Error as error:
            if error.sqlstate not in ("PB004", "PB006"):  # a repetition, and a setup that is busy
                raise
        time.sleep(0.2)


def inserter(caller: Caller, stop: Path, number: int) -> None:
    """Insert batches of new ids, and single ones."""
    first = number * 10_000_000 + 1
    while not stop.exists():
        requirements = {
            "OwnerDN": "alice",
            "OwnerGroup": f"g{first % 3}",
            "CPUTime": (500, 5000)[first % 2],
            "JobTypes": [f"T{first % 20}"],
        }
        size = 1 if first % 5 == 0 else 60
        ids = range(first, first + size)
        caller.note("inserting", *ids)
        if size == 1:
            caller.rows(
                "select taskqueue.insert_job('default', %s, %s, 3, %s)", first, Jsonb(requirements), uuid.uuid4()
            )
        else:
            jobs = [{"requirements": requirements, "jobs": [[job_id, job_id % 11] for job_id in ids]}]
            caller.rows("select taskqueue.insert_jobs('default', %s, %s)", Jsonb(jobs), uuid.uuid4())
        caller.note("inserted", *ids)
        first += size
        time.sleep(0.02)


def worker(caller: Caller, stop: Path, number: int) -> None:
    """Take brokered jobs, report on them, and end them; give some back, keep some in silence."""
    chance = random.Random()
    resource = {"CPUTime": 10**6, "MaxRAM": 10**6, "NumberOfProcessors": 8}
    while not stop.exists():
        # each worker asks for both sites, so that no site is left without a worker after a kill
        here = Jsonb({**resource, "Site": chance.choice(("QA", "QB"))})
        caller.note("ask")
        taken = caller.rows("select job_id, attempt from taskqueue.match_jobs('life', %s, 3, %s)", here, uuid.uuid4())
        caller.note("answered", *(f"{job_id}:{attempt}" for job_id, attempt in taken))
        if not taken:
            time.sleep(0.05)
        for job_id, attempt in taken:
            what = chance.random()
            if what < 0.05:
                continue  # is silent from the beginning
            try:
                caller.rows("select * from taskqueue.report_job('life', %s, %s, 'running')", job_id, attempt)
                if what < 0.1:
                    continue  # is silent from now on
                if what < 0.2:
                    caller.rows("select taskqueue.release_job('life', %s, %s)", job_id, attempt)
                    continue
                caller.rows("select * from taskqueue.report_job('life', %s, %s, 'transferring')", job_id, attempt)
                caller.note("finishing", f"{job_id}:{attempt}")
                caller.rows("select taskqueue.finish_job('life', %s, %s)", job_id, attempt)
                caller.note("finished", f"{job_id}:{attempt}")
            except psycopg.Error as error:
                if error.sqlstate not in ("PB003", "PB005"):  # it was given to another, or this was a repetition
                    raise


def broker(caller: Caller, stop: Path, number: int) -> None:
    """Make jobs for the parts that nobody works on."""
    chance = random.Random()
    queue = ("QA", "QB")[number % 2]
    tasks = [task for (task,) in caller.rows("select task_id from workload.task where setup = 'life'")]
    while not stop.exists():
        caller.note("ask")
        some = chance.sample(tasks, min(len(tasks), 5))
        query = "select workload.make_jobs('life', %s::bigint[], %s::text[], %s::bigint[], 'test')"
        with contextlib.suppress(psycopg.errors.UniqueViolation):  # another broker took the same parts
            caller.rows(query, some, [queue] * len(some), [10] * len(some))
        caller.note("answered")
        time.sleep(0.1)


if __name__ == "__main__":
    logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())  # a text on stderr is an error
    program, dsn, journal, stop, number = sys.argv[1:]
    programs = {
        "agent": agent, "client": client, "inserter": inserter, "keeper": keeper, "worker": worker, "broker": broker,
    }  # fmt: skip
    programs[program](Caller(dsn, journal), Path(stop), int(number))
