"""Batches of tasks over nuclei: task brokerage, with every rejection stored and each task sent to its nucleus."""

from benchmarks.brokering import World, measured, plain
from benchmarks.options import Options, Say
from benchmarks.report import Table
from benchmarks.server import Server
from broker.laboratory.grid import grid

DEFAULTS = Options(cases=((1000, 100), (500, 100)), rounds=3, clients=(1, 2))


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """For each case (tasks:nuclei), profile and number of callers: seconds, and microseconds per pair."""
    return measured(server, options, say, "production_task", make)


def make(tasks: int, nuclei: int, setup: str) -> World:
    """Three queues per nucleus; the job check of panda2026 uses the queues at nuclei, three in four."""
    given = grid(1, 3 * nuclei, tasks, nuclei=nuclei, setup=setup)
    return plain(given, status="assigning", label="managed", nucleus=None)
