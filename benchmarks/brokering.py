"""Batches of tasks, brokered for real: all rules are asked, rejections stored, jobs made (or tasks assigned)."""

import json
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import psycopg

from benchmarks import cpu
from benchmarks.beside import compared
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.server import Server
from broker import database, world
from broker.database import Target
from broker.laboratory.grid import SYNTHETIC

PROFILES = ("documented", "panda2026")
_CALLS = {"production_job": "broker_jobs", "production_task": "broker_tasks", "analysis_job": "broker_analysis"}
_CHANGED = "assignment live_counter nucleus_assignment task_state task_decision run".split()
_OF_JOBS = "job_history job_change".split()  # tables to which new jobs add rows; no session folds counts

World = dict[str, Any]


@dataclass(frozen=True)
class Batch:
    """All tasks of a setup, brokered at once with a profile, by several callers that share the tasks.

    makes: whether assigned jobs are also made instead of only counted. keep_facts: whether facts are
    recorded. dry: whether only decisions are stored.
    """

    setup: str
    candidates: int
    profile: str
    callers: int
    makes: bool
    keep_facts: bool = False
    dry: bool = False


@dataclass(frozen=True)
class Measuring:
    """A database that holds the setups, and its server's postmaster."""

    connection: psycopg.Connection[Any]
    target: Target
    postmaster: int | None

    def spent(self, work: Callable[[], object]) -> tuple[float, float]:
        """Seconds, and CPU seconds of the server (nan if they cannot be read)."""
        before, begin = self._cpu(), time.perf_counter()
        work()
        return time.perf_counter() - begin, self._cpu() - before

    def _cpu(self) -> float:
        return float("nan") if self.postmaster is None else cpu.seconds(self.postmaster)

    def batch(self, batch: Batch, algorithm: str, look: Callable[[], dict[str, float]] = dict) -> dict[str, float]:
        """Run a batch and make its tasks due again. Returns the figures of the batch and those of `look`."""
        due = self.connection.execute(
            "select task_id from brokerage.due_task where setup = %s and algorithm = %s order by task_id",
            [batch.setup, algorithm],
        ).fetchall()
        settings = json.dumps({"makes_jobs": batch.makes, "keep_facts": batch.keep_facts})
        self.connection.execute("select brokerage.set_settings(%s, %s)", [batch.setup, settings])
        parts = [[task for (task,) in due][start :: batch.callers] for start in range(batch.callers)]
        query = f"call brokerage.{_CALLS[algorithm]}(%s, %s::bigint[], %s, p_dry_run => %s, p_tasks_a_commit => %s)"

        def call(part: list[int]) -> None:
            with database.connect(self.target) as own:
                own.execute(query, (batch.setup, part, batch.profile, batch.dry, len(part)))

        def together() -> None:
            with ThreadPoolExecutor(batch.callers) as pool:
                list(pool.map(call, parts))

        seconds, used = self.spent(together)
        query = "select count(*) from brokerage.decision where setup = %s"  # one row per pair
        [(stored,)] = self.connection.execute(query, [batch.setup]).fetchall()
        query = "select count(*) from workload.job where setup = %s and number is not null"
        [(jobs,)] = self.connection.execute(query, [batch.setup]).fetchall()
        found = look()
        self._undo(batch.setup, algorithm)
        pairs = len(due) * batch.candidates
        return {
            "pairs": pairs, "stored": stored, "jobs_made": jobs, "seconds": seconds,
            "us_per_pair": seconds * 1e6 / pairs, "cpu_us_per_pair": used * 1e6 / pairs,
        } | found  # fmt: skip

    def _undo(self, setup: str, algorithm: str) -> None:
        self.connection.execute("truncate brokerage.verdict, brokerage.recording, brokerage.recorded_value")
        for table in _CHANGED:
            self.connection.execute(f"delete from brokerage.{table} where setup = %s", [setup])
        if algorithm == "production_task":
            query = "update workload.task set nucleus = null, status = 'assigning' where setup = %s"
            self.connection.execute(query, [setup])
        self.connection.execute("delete from workload.job where setup = %s and number is not null", [setup])
        for table in _OF_JOBS:
            self.connection.execute(f"delete from workload.{table} where setup = %s", [setup])
        self.connection.execute("vacuum workload.task, workload.job, workload.job_history, workload.job_change")
        self.connection.execute("vacuum brokerage.task_state")


def batches(
    measuring: Measuring, options: Options, say: Say, algorithm: str, make: Callable[[int, int, str], World]
) -> Table:
    """For each case (tasks:candidates), profile and number of callers: medians of rounds taken in turn.

    make: makes the world of a case, for a setup, with that many tasks and candidates.
    """
    kinds: list[Batch] = []
    for tasks, candidates in options.cases:
        setup = f"{tasks}x{candidates}"
        say(f"loading {tasks} tasks, {candidates} candidates ({SYNTHETIC})")
        world.load(measuring.connection, [make(tasks, candidates, setup)])
        kinds += [Batch(setup, candidates, profile, count, False) for profile in PROFILES for count in options.clients]
        if algorithm != "production_task":
            kinds += [Batch(setup, candidates, profile, 1, True) for profile in PROFILES]
    measuring.connection.execute("vacuum analyze")
    samples: dict[Batch, list[dict[str, float]]] = {kind: [] for kind in kinds}
    for number in range(options.rounds):
        say(f"round {number + 1} of {options.rounds}")
        for kind in kinds:
            samples[kind].append(measuring.batch(kind, algorithm))
    rows: list[Row] = []
    for kind, taken in samples.items():
        row: Row = {"tasks_x_candidates": kind.setup, "profile": kind.profile, "callers": kind.callers}
        rows.append(row | {name: statistics.median(one[name] for one in taken) for name in taken[0]})
    about = f"{algorithm}, {SYNTHETIC}; decisions stored, jobs assigned; medians of {options.rounds} rounds"
    return Table(about, rows)


def measured(
    server: Server, options: Options, say: Say, algorithm: str, make: Callable[[int, int, str], World]
) -> list[Table]:
    """The batches in a separate database; or in this checkout and another one, in turn."""
    if options.beside:
        return compared(options, say, algorithm, make)
    with server.database() as where, database.connect(where.admin) as connection:
        measuring = Measuring(connection, where.admin, cpu.postmaster_of(connection))
        return [batches(measuring, options, say, algorithm, make)]


def plain(given: World, **task_fields: object) -> World:
    """A grid without unified queues whose tasks are due, so that the number of pairs is tasks x queues."""
    for queue in given["queues"].values():
        queue["capability"] = None
    for task in given["tasks"]:
        task.update(task_fields)
    return given
