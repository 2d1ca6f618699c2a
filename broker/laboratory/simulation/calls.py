"""The calls of a simulation: public calls of an operator and of JobAgents, each timed."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from broker import world
from broker.client.call import jsonb
from broker.database import Connection
from broker.laboratory.simulation.supply import Row
from broker.operate import loops

MOST = 1_000  # jobs per match
_MANY = 5_000  # reports per call
_BROKERS = {"production_task": "broker_tasks", "production_job": "broker_jobs", "analysis_job": "broker_analysis"}


class Calls:
    """A setup on a connection in autocommit. seconds, times: the time spent in each kind of call, and the number of
    calls."""

    def __init__(self, connection: Connection, setup: str) -> None:
        """Start with no calls counted."""
        self.connection = connection
        self.setup = setup
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.times: Counter[str] = Counter()

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - begun
            self.times[name] += 1

    def _rows(self, name: str, query: str, *arguments: Any) -> list[Any]:
        with self._timed(name):
            return self.connection.execute(query.encode(), arguments).fetchall()

    def _do(self, name: str, query: str, *arguments: Any) -> None:
        with self._timed(name):
            self.connection.execute(query.encode(), arguments)

    def begin(
        self,
        grid: Row,
        shares: Mapping[str, float],
        now: datetime,
        profile: str | None,
        trial: tuple[str, float] | None,
    ) -> None:
        """Load the grid, give shares their targets, and begin a trial of a profile with a share of the tasks."""
        with self._timed("load"):
            self.connection.execute("select setseed(0)")  # for random() in functions that take no seed
            self.connection.execute("select resource.set_clock(%s, %s)", (self.setup, now))
            world.load(self.connection, [grid], self.setup)
            for gshare, target in shares.items():
                self.connection.execute("select taskqueue.set_group(%s, %s, %s::float8)", (self.setup, gshare, target))
            if profile:
                self.connection.execute(
                    "select brokerage.set_settings(%s, %s)", (self.setup, Jsonb({"profile": profile}))
                )
            if trial:
                self.connection.execute("select brokerage.begin_trial(%s, %s, %s)", (self.setup, *trial))

    def set_clock(self, now: datetime) -> None:
        """Advance the clock of the setup."""
        self._do("clock", "select resource.set_clock(%s, %s)", self.setup, now)

    def load(self, part: Row) -> None:
        """Add rows to the world, or change rows."""
        with self._timed("load"):
            world.load(self.connection, [part], self.setup, merge=True)

    def broker(self, seed: int) -> None:
        """Run the brokers that have work, in the order in which a task meets them."""
        for algorithm, name in _BROKERS.items():
            due = "select from brokerage.due_task where setup = %s and algorithm = %s limit 1"
            if self._rows("due", due, self.setup, algorithm):
                self._do(name, f"call brokerage.{name}(%s, p_seed => %s::bigint)", self.setup, seed)

    def new_jobs(self, after: int) -> list[Row]:
        """Jobs with ids above one."""
        return self._dicts(
            "new jobs", "select * from monitor.brokered_job where setup = %s and job_id > %s order by 1, 2", after
        )

    def all_jobs(self) -> list[Row]:
        """All jobs."""
        return self._dicts("all jobs", "select * from monitor.brokered_job where setup = %s order by job_id")

    def _dicts(self, name: str, query: str, *arguments: Any) -> list[Row]:
        with self._timed(name), self.connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query.encode(), (self.setup, *arguments)).fetchall()

    def arrived(self, replicas: Iterable[tuple[str, str]]) -> None:
        """Store the arrival of input: datasets at storages."""
        for dataset, storage in replicas:
            self._do("set_replica", "select workload.set_replica(%s, %s, %s)", self.setup, dataset, storage)

    def activate(self) -> int:
        """Let jobs whose input has arrived wait in TaskQueues; return their number."""
        rows = self._rows("activate", "select status, jobs from lifecycle.activate(%s, 100000)", self.setup)
        return int(dict(rows)["activated"])

    def watch(self) -> None:
        """Do the background work."""
        self._do("watch", "call lifecycle.watch(%s)", self.setup)
        self._do("maintain", "select from taskqueue.maintain(%s)", self.setup)

    def guard(self) -> list[Row]:
        """Do a round of the guard; return its changes."""
        with self._timed("guard"):
            return loops.guard(self.connection, self.setup)

    def match(self, resource: Row, limit: int, seed: int) -> list[tuple[int, str]]:
        """Jobs for slots, each with its attempt."""
        query = "select job_id, attempt from taskqueue.match_jobs_with_seed(%s, %s, %s, %s)"
        return self._rows("match", query, self.setup, jsonb(resource), limit, seed)

    def schedule(self) -> None:
        """Pack the jobs that wait at queues of kind cloud onto instances; release the instances without jobs."""
        self._do("schedule", "call instance.schedule(%s)", self.setup)

    def instances(self) -> list[Row]:
        """Rented machines, including released ones."""
        return self._dicts("instances", "select * from monitor.instance where setup = %s order by instance_id")

    def placed(self) -> list[tuple[int, int]]:
        """Jobs of TaskQueues that are placed on instances: the instance and the job."""
        query = """
            select instance_id, job_id from monitor.instance_step
             where setup = %s and state = 'placed' and job_id is not null order by 1, 2"""
        return self._rows("instances", query, self.setup)

    def match_placed(self, instance: int) -> list[tuple[int, str]]:
        """Jobs for an instance, each with its attempt."""
        query = "select job_id, attempt from instance.match_jobs(%s, %s, %s)"
        return self._rows("match", query, self.setup, instance, MOST)

    def lose(self, instances: Sequence[int]) -> None:
        """Lose instances."""
        self._do("lose", "select from instance.lose_instances(%s, %s)", self.setup, list(instances))

    def report(self, jobs: Sequence[tuple[int, str]], status: str | None) -> dict[int, str]:
        """Report that jobs run (or, without a status, that their agents live); return the answer for each."""
        name = "report" if status else "heartbeat"
        query = "select job_id, action from taskqueue.report_jobs(%s, %s)"
        return self._batches(
            name, query, [{"job_id": job, "attempt": attempt, "status": status} for job, attempt in jobs]
        )

    def finish(self, ends: Sequence[Row]) -> dict[int, str]:
        """End jobs, as taskqueue.finish_jobs takes them; return the answer for each."""
        return self._batches("finish", "select job_id, outcome from taskqueue.finish_jobs(%s, %s)", ends)

    def release(self, job: int, attempt: str) -> str:
        """Give a job back: released, cancelled (it was to be killed), or stale."""
        try:
            [(queue,)] = self._rows("release", "select taskqueue.release_job(%s, %s, %s)", self.setup, job, attempt)
        except psycopg.Error as error:
            if error.sqlstate != "PB003":
                raise
            return "stale"
        return "released" if queue is not None else "cancelled"

    def _batches(self, name: str, query: str, elements: Sequence[Row]) -> dict[int, str]:
        answers: dict[int, str] = {}
        for begin in range(0, len(elements), _MANY):
            answers |= dict(self._rows(name, query, self.setup, Jsonb(elements[begin : begin + _MANY])))
        return answers

    def failures(self) -> list[Row]:
        """Failed ends by queue and class, with the retry rule and its decision."""
        return self._dicts(
            "failures",
            """select site as queue, error_class as class, retry_rule as rule, count(*) as ends
                 from monitor.job_event where setup = %s and error_class is not null
                group by 1, 2, 3 order by 1, 2, 3""",
        )

    def counts(self) -> Counter[str]:
        """Jobs by status."""
        query = "select status, sum(jobs)::bigint from monitor.brokered_job_count where setup = %s group by 1"
        return Counter(dict(self._rows("counts", query, self.setup)))

    def faults(self) -> dict[str, int]:
        """Rows of views that are empty unless pgbroker has a fault."""
        queries = {
            "count_difference": "select count(*) from workload.count_difference where setup = %s",
            "job_in_two_states": "select count(*) from monitor.job_in_two_states where setup = %s",
            "job_out_of_step": "select count(*) from monitor.job_out_of_step where setup = %s",
            "job_without_queue": "select count(*) from monitor.job_without_queue where setup = %s",
            "matching_difference": "select count(*) from monitor.matching_difference where setup = %s",
            "instance_difference": "select count(*) from monitor.instance_difference where setup = %s",
        }
        return {name: int(self._rows("faults", query, self.setup)[0][0]) for name, query in queries.items()}

    def leases(self) -> int:
        """The jobs that agents hold."""
        return int(self._rows("faults", "select count(*) from monitor.lease where setup = %s", self.setup)[0][0])

    def remove(self) -> None:
        """Remove the setup."""
        self._do("remove", "select taskqueue.remove_setup(%s)", self.setup)
