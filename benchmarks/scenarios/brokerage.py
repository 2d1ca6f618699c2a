"""Batches of tasks over queues, with every rule and every rejection stored, and cases of `broker evaluate`."""

from contextlib import ExitStack
from typing import Any

from benchmarks import cpu
from benchmarks.beside import compared
from benchmarks.brokering import Measuring, World, batches, plain
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.server import Server
from broker import database
from broker.laboratory.grid import grid
from broker.operate import brokerage

DEFAULTS = Options(cases=((1000, 300), (500, 300), (1000, 150)), rounds=3, clients=(1, 2))


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """For each case (tasks:queues) and profile: seconds, and microseconds per pair; then cases of `broker evaluate`."""
    if options.beside:
        return compared(options, say, "production_job", make)
    with server.database() as where, database.connect(where.admin) as connection:
        measuring = Measuring(connection, where.admin, cpu.postmaster_of(connection))
        table = batches(measuring, options, say, "production_job", make)
        cases = options.cases[0][0]
        say(f"evaluating {cases:,} cases")
        evaluated = [_evaluated(measuring, cases, count) for count in options.clients]
    return [table, Table(f"broker evaluate, {cases:,} cases of five queues", evaluated)]


def make(tasks: int, queues: int, setup: str, seed: int = 1) -> World:
    return plain(grid(seed, queues, tasks, setup=setup), status="ready", label="managed")


def _evaluated(measuring: Measuring, count: int, connections: int) -> Row:
    """Cases of `broker evaluate`, five queues each, on several connections at once."""
    cases = [
        {"name": str(number), "algorithm": "production_job", "task": given["tasks"][0]["id"], "world": given}
        for number in range(count)
        for given in [make(1, 5, "grid", number)]
    ]
    answers: list[Any] = []
    with ExitStack() as stack:
        opened = [stack.enter_context(database.connect(measuring.target)) for _ in range(connections)]
        seconds, used = measuring.spent(lambda: answers.extend(brokerage.evaluate_together(opened, cases)))
    return {
        "cases": len(answers), "connections": connections, "errors": sum("error" in answer for answer in answers),
        "seconds": seconds, "ms_per_case": seconds * 1e3 / len(answers), "cpu_ms_per_case": used * 1e3 / len(answers),
    }  # fmt: skip
