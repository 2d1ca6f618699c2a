"""Batches of tasks over queues, with every rule and every rejection stored, and cases of `broker evaluate`."""

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import psycopg

from benchmarks import cpu
from benchmarks.measure import Say
from benchmarks.report import Row, Table
from benchmarks.scenarios.options import Options
from benchmarks.server import Server
from broker import brokerage, database, world
from broker.database import Target
from broker.grid import SYNTHETIC, grid

DEFAULTS = Options(cases=((1000, 300), (500, 300), (1000, 150)), rounds=3, clients=(1, 2))
PROFILES = ("doc", "panda2026")


@dataclass(frozen=True)
class Batch:
    """Tasks of a setup over its queues, brokered in one go by a profile, by so many callers that share the tasks."""

    setup: str
    profile: str
    callers: int


@dataclass(frozen=True)
class Measuring:
    """A database that holds the setups, and its server's postmaster."""

    connection: psycopg.Connection[Any]
    target: Target
    postmaster: int | None

    def spent(self, work: Callable[[], object]) -> tuple[float, float]:
        """Seconds, and CPU seconds of the server (nan where they cannot be read)."""
        before, begin = self._cpu(), time.perf_counter()
        work()
        return time.perf_counter() - begin, self._cpu() - before

    def _cpu(self) -> float:
        return float("nan") if self.postmaster is None else cpu.seconds(self.postmaster)

    def batch(self, batch: Batch) -> dict[str, float]:
        """One batch as a dry run: every decision is stored, and the tasks stay due."""
        query = "select count(*) from resource.candidate_queue where setup = %s"
        [(queues,)] = self.connection.execute(query, [batch.setup]).fetchall()
        due = self.connection.execute(
            "select task_id from brokerage.due_task where setup = %s and algorithm = 'production_job' order by task_id",
            [batch.setup],
        ).fetchall()
        parts = [[task for (task,) in due][start :: batch.callers] for start in range(batch.callers)]

        def call(part: list[int]) -> None:
            with database.connect(self.target) as own:
                own.execute(
                    "call brokerage.broker_jobs(%s, %s::bigint[], %s, p_dry_run => true, p_tasks_a_commit => %s)",
                    (batch.setup, part, batch.profile, len(part)),
                )

        def together() -> None:
            with ThreadPoolExecutor(batch.callers) as pool:
                list(pool.map(call, parts))

        seconds, used = self.spent(together)
        self.connection.execute("truncate brokerage.verdict")
        pairs = len(due) * queues
        return {
            "pairs": pairs,
            "seconds": seconds,
            "us_per_pair": seconds * 1e6 / pairs,
            "cpu_us_per_pair": used * 1e6 / pairs,
        }

    def evaluated(self, count: int, connections: int) -> Row:
        """So many cases of `broker evaluate`, five queues each, on so many connections at once."""
        cases = [
            {"name": str(number), "algorithm": "production_job", "task": given["tasks"][0]["id"], "world": given}
            for number in range(count)
            for given in [_plain(grid(number, 5, 1))]
        ]
        answers: list[Any] = []
        with ExitStack() as stack:
            opened = [stack.enter_context(database.connect(self.target)) for _ in range(connections)]
            seconds, used = self.spent(lambda: answers.extend(brokerage.evaluate_together(opened, cases)))
        return {
            "cases": len(answers),
            "connections": connections,
            "errors": sum("error" in answer for answer in answers),
            "seconds": seconds,
            "ms_per_case": seconds * 1e3 / len(answers),
            "cpu_ms_per_case": used * 1e3 / len(answers),
        }


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """For each case (tasks:queues) and profile: seconds and microseconds a pair, medians of rounds taken in turn."""
    rows: list[Row] = []
    with server.database() as where, database.connect(where.admin) as connection:
        setups = []
        for tasks, queues in options.cases:
            setups.append(f"{tasks}x{queues}")
            say(f"loading {tasks} tasks, {queues} queues ({SYNTHETIC})")
            world.load(connection, [_plain(grid(1, queues, tasks, setup=setups[-1]))])
        connection.execute("analyze")
        measuring = Measuring(connection, where.admin, cpu.postmaster_of(connection))
        kinds = [Batch(setup, profile, count) for setup in setups for profile in PROFILES for count in options.clients]
        samples: dict[Batch, list[dict[str, float]]] = {kind: [] for kind in kinds}
        for number in range(options.rounds):
            say(f"round {number + 1} of {options.rounds}")
            for kind in kinds:
                samples[kind].append(measuring.batch(kind))
        for kind, taken in samples.items():
            row: Row = {"tasks_x_queues": kind.setup, "profile": kind.profile, "callers": kind.callers}
            rows.append(row | {name: statistics.median(one[name] for one in taken) for name in taken[0]})
        cases = options.cases[0][0]
        say(f"evaluating {cases:,} cases")
        evaluated = [measuring.evaluated(cases, count) for count in options.clients]
    about = f"{SYNTHETIC}; one batch, dry run, decisions stored; medians of {options.rounds} rounds"
    return [Table(about, rows), Table(f"broker evaluate, {cases:,} cases of five queues", evaluated)]


def _plain(given: dict[str, Any]) -> dict[str, Any]:
    """The grid without unified queues and with tasks that are due, so that tasks x queues are the pairs."""
    for queue in given["queues"].values():
        queue["capability"] = None
    for task in given["tasks"]:
        task |= {"status": "ready", "label": "managed"}
    return given
