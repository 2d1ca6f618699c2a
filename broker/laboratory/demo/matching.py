"""The demo of matching: LHCb's TaskQueues, JobAgents at its 60 sites, and proof that no job is lost or taken twice.

The TaskQueues are LHCb's figures (broker.laboratory.lhcb); the JobAgents are synthetic. All calls are public: functions
of the schema taskqueue, views of monitor.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import psycopg

from broker import world
from broker.client.call import jsonb
from broker.client.matcher import Match
from broker.database import Connection, Target, connect
from broker.errors import BrokerError, ConnectError
from broker.laboratory import lhcb
from broker.laboratory.agents import Agents, Batch, Plan
from broker.laboratory.demo import new_name
from broker.laboratory.pilots import Resource

LABEL = f"queues: figures of {lhcb.SOURCE}; agents: synthetic"


@dataclass
class Work:
    """The work done in a demo: inserted and taken jobs, by owner group and CPU bucket.

    task_queues: TaskQueues after the jobs were inserted.
    """

    inserted: int = 0
    task_queues: int = 0
    by_group: Counter[str] = field(default_factory=Counter)
    by_bucket: Counter[int] = field(default_factory=Counter)
    taken: list[int] = field(default_factory=list)
    taken_by_group: Counter[str] = field(default_factory=Counter)
    taken_by_bucket: Counter[int] = field(default_factory=Counter)
    finished: int = 0
    empty: int = 0
    seconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    samples: dict[str, tuple[Match, Resource]] = field(default_factory=dict)

    def insert(self, group: lhcb.Group) -> None:
        """Count an inserted TaskQueue."""
        self.inserted += len(group["jobs"])
        self.by_group[str(group["requirements"]["OwnerGroup"])] += len(group["jobs"])
        self.by_bucket[int(str(group["requirements"]["CPUTime"]))] += len(group["jobs"])

    def add(self, batch: Batch) -> None:
        """Count the work of agents."""
        for taken in batch.taken:
            self.taken.append(taken.job_id)
            self.taken_by_group[taken.owner_group] += 1
            self.taken_by_bucket[taken.cpu_time] += 1
            self.finished += taken.finished
        self.empty += batch.empty
        self.seconds += batch.seconds
        self.errors.update(batch.errors)
        for match, resource in batch.samples:
            self.samples.setdefault(str(match.requirements["OwnerGroup"]), (match, resource))


@dataclass(frozen=True)
class Proof:
    """The places of the jobs, counted in the database and by the agents. rows and distinct: rows of all jobs, and their
    distinct ids. doubly: ids that agents got twice. unheard: taken jobs whose answer reached no agent (the agent was
    killed). faults: rows of the consistency views, which are always empty.
    """

    inserted: int
    waiting: int
    leased: int
    ended: int
    rows: int
    distinct: int
    doubly: int
    unheard: int
    faults: Mapping[str, int]

    @property
    def holds(self) -> bool:
        """Whether no job is doubled or lost: each inserted id has exactly one place, and no answer is missing."""
        together = self.waiting + self.leased + self.ended
        return (
            self.inserted == self.rows == self.distinct == together
            and self.doubly == 0
            and self.unheard >= 0
            and not any(self.faults.values())
        )


@dataclass(frozen=True)
class Unmatched:
    """A waiting job and a resource that does not match it: the conditions (condition, wanted, offered, holds), and
    those that resources seen lately fail (condition, remark)."""

    job_id: int
    resource: Resource
    conditions: list[tuple[str, str, str, bool]]
    lately: list[tuple[str, str]]


def resources(seed: int) -> Iterator[Resource]:
    """The offers of a demo's agents: a thousand kinds of pilots, each with the CPU time of its batch queue."""
    return lhcb.resources(seed, kinds=1_000)


def new_setup(connection: Connection, name: str | None = None) -> str:
    """Make a setup for this run, with LHCb's buckets and shares; by default its name is new."""
    setup = new_name(connection, name)
    table = lhcb.table()
    connection.execute("select taskqueue.set_cpu_buckets(%s, %s::bigint[])", (setup, table.cpu_buckets))
    for group, share in table.shares.items():
        connection.execute("select taskqueue.set_group(%s, %s, %s::float8)", (setup, group, share))
    return setup


def load(connection: Connection, setup: str, jobs: int, seed: int, on_chunk: Callable[[int], object]) -> Work:
    """Insert LHCb's TaskQueues at a size of `jobs` jobs, in constant memory; on_chunk gets the number stored so far."""
    work = Work()

    def counted() -> Iterator[lhcb.Group]:
        for group in lhcb.groups(jobs, seed):
            work.insert(group)
            yield group

    world.load_task_queues(connection, setup, counted(), on_chunk)
    connection.execute("select taskqueue.refresh_statistics()")
    connection.execute("select taskqueue.recompute_shares(%s)", [setup])
    query = "select task_queues from monitor.setup where setup = %s"
    [(work.task_queues,)] = connection.execute(query, [setup]).fetchall()
    return work


def run(plan: Plan, agents: int, work: Work) -> Generator[Batch, None, None]:
    """Let the agents work, count each batch in `work` and yield it, or an empty one when none arrives for 0.2 s. Close
    the generator (contextlib.closing) to end the agents early.

    Raises ConnectError soon after the server has stopped; the agents would wait for the server until the end.
    """
    with _maintained(plan, work.errors) as gone, Agents(plan, agents) as working:
        for batch in working.batches(patience=0.2):
            if gone.is_set():
                raise ConnectError(
                    "the server stopped", "start it again (the embedded one: broker up); see broker status"
                )
            work.add(batch)
            yield batch


@contextmanager
def _maintained(plan: Plan, errors: Counter[str]) -> Iterator[threading.Event]:
    """Do the background work of a setup every second, in a thread with its own connections.

    Yields an event that is set when the server has stopped; this thread notices it first.
    """
    over, gone = threading.Event(), threading.Event()

    def maintain() -> None:
        while not over.wait(1):
            try:
                with connect(plan.target) as connection:
                    connection.execute("select taskqueue.maintain(%s)", [plan.setup])
            except (psycopg.Error, BrokerError) as error:
                if not _answers(plan.target):
                    return gone.set()
                errors[f"maintain: {error}"] += 1

    thread = threading.Thread(target=maintain, daemon=True)
    thread.start()
    try:
        yield gone
    finally:
        over.set()
        thread.join()


def _answers(target: Target) -> bool:
    """Whether the server accepts connections now or in half a second, since it restarts soon after a crash."""
    for pause in (0.5, 0):
        with suppress(ConnectError), connect(target):
            return True
        time.sleep(pause)
    return False


def prove(connection: Connection, setup: str, work: Work) -> Proof:
    """Count the jobs in the database, and compare them with the inserted jobs and the jobs that agents got."""
    states: Counter[str] = Counter(
        dict(connection.execute("select state, count(*) from monitor.job where setup = %s group by 1", [setup]))
    )
    query = "select count(*), count(distinct job_id) from monitor.job where setup = %s and job_id between 1 and %s"
    [(rows, distinct)] = connection.execute(query, (setup, work.inserted)).fetchall()
    faults = {
        name: connection.execute(f"select count(*) from monitor.{name} where setup = %s".encode(), [setup])
        .fetchall()[0][0]
        for name in ("job_in_two_states", "job_without_queue", "matching_difference")
    }  # fmt: skip
    waiting, leased = states["waiting"] + states["held"], states["leased"]
    ended = states.total() - waiting - leased
    return Proof(
        inserted=work.inserted, waiting=waiting, leased=leased, ended=ended, rows=rows, distinct=distinct,
        doubly=len(work.taken) - len(set(work.taken)), unheard=leased + ended - len(work.taken), faults=faults,
    )  # fmt: skip


def unmatched(connection: Connection, setup: str, seed: int) -> Unmatched | None:
    """A waiting job that lists few sites, and the first resource that fails one to three of its conditions."""
    queues = connection.execute(
        "select task_queue_id, requirements from monitor.task_queue where setup = %s and jobs > 0 order by 1", [setup]
    ).fetchall()
    if not queues:
        return None
    queue, _ = min(queues, key=lambda row: len(row[1].get("Sites", ())) or len(lhcb.table().figures["sites"]))
    query = "select min(job_id) from monitor.job where setup = %s and task_queue_id = %s and state = 'waiting'"
    [(job,)] = connection.execute(query, (setup, queue)).fetchall()
    for resource in islice(resources(seed), 200):
        query = "select condition, wanted, offered, holds from taskqueue.explain_match(%s, %s, %s)"
        conditions = connection.execute(query, (setup, job, jsonb(resource))).fetchall()
        if 1 <= sum(not holds for *_, holds in conditions) <= 3:
            query = "select condition, remark from taskqueue.explain_job(%s, %s) where failing > 0"
            return Unmatched(job, resource, conditions, connection.execute(query, (setup, job)).fetchall())
    return None


def percentile(seconds: list[float], share: float) -> float:
    """The value below which a fraction `share` of the values is, in seconds; 0 without values."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def taken_and_inserted(taken: Mapping[Any, int], inserted: Mapping[Any, int]) -> dict[str, tuple[int, int]]:
    """The taken and inserted jobs, the highest CPU bucket or the first group first."""
    numbers = all(isinstance(name, int) for name in inserted)
    return {str(name): (taken.get(name, 0), inserted[name]) for name in sorted(inserted, reverse=numbers)}


def latency(work: Work) -> dict[str, float]:
    """Percentiles of the times of all answered calls, in milliseconds."""
    shares = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
    return {name: round(1000 * percentile(work.seconds, share), 2) for name, share in shares.items()}


def summary(connection: Connection, plan: Plan, agents: int, work: Work, loading: float) -> dict[str, Any]:
    """The figures of a run: the loaded jobs (in `loading` seconds), the taken jobs, and the proof."""
    setup = plan.setup
    return {
        "data": LABEL, "setup": setup, "jobs": work.inserted, "task_queues": work.task_queues,
        "jobs_loaded_per_second": round(work.inserted / loading), "agents": agents, "seconds": plan.seconds,
        "matches": len(work.taken), "matches_per_second": round(len(work.taken) / plan.seconds, 1),
        "calls_without_match": work.empty, "latency_ms": latency(work), "errors": work.errors,
        "taken_and_inserted_by_group": taken_and_inserted(work.taken_by_group, work.by_group),
        "taken_and_inserted_by_cpu_bucket": taken_and_inserted(work.taken_by_bucket, work.by_bucket),
        "matched": [{"match": match, "resource": resource} for match, resource in work.samples.values()],
        "not_matched": unmatched(connection, setup, plan.seed), "proof": prove(connection, setup, work),
    }  # fmt: skip
