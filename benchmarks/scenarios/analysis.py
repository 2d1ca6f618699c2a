"""Batches of tasks of users over queues: analysis brokerage, with every rejection stored and jobs assigned."""

from benchmarks.brokering import World, measured, plain
from benchmarks.options import Options, Say
from benchmarks.report import Table
from benchmarks.server import Server
from broker.laboratory.grid import grid

DEFAULTS = Options(cases=((1000, 300), (500, 300)), rounds=3, clients=(1, 2))


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """For each case (tasks:queues), profile and number of callers: seconds, and microseconds per pair."""
    return measured(server, options, say, "analysis_job", make)


def make(tasks: int, queues: int, setup: str) -> World:
    """Analysis may use every queue, with slots of one core."""
    given = plain(grid(1, queues, 0, user_tasks=tasks, setup=setup), status="ready")
    for queue in given["queues"].values():
        cores = queue["corecount"]
        queue["corecount"] = 1
        if queue["type"] == "production":
            queue["type"] = "unified"
        for limit in ("maxrss", "minrss", "maxwdir"):
            queue[limit] //= cores
    return given
