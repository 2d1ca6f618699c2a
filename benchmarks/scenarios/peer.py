"""DIRAC's own TaskQueueDB on MariaDB, beside pgbroker: both called from Python processes."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from benchmarks import dirac, pgbench, processes
from benchmarks.bench import SEED, SETUP, Bench, loaded
from benchmarks.measure import Kind, Say, in_turn, ratio
from benchmarks.report import Row, Table
from benchmarks.scenarios.match import described
from benchmarks.scenarios.options import Options
from benchmarks.server import Server
from broker.database import Target

DEFAULTS = Options(clients=(1, 8), rounds=3)


class Agents(Kind):
    """JobAgents in Python, a process each."""

    def __init__(self, bench: Bench) -> None:
        super().__init__("pgbroker: JobAgent.match", bench)
        self._requests = bench.workload.requests(SEED)

    def run(self, clients: int, calls: int, seed: int) -> pgbench.Run:
        """The calls alone."""
        connect = partial(matching, self.bench.where.logins["agent"])
        return processes.run(processes.Client(connect, self._requests, calls, SEED + seed), clients)


@contextmanager
def matching(target: Target) -> Iterator[processes.Ask]:
    """A client's call: JobAgent.match."""
    from broker.client.matcher import JobAgent

    with JobAgent(SETUP, target, connections=1) as agent:
        yield agent.match


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """The peer and pgbroker in turn, for each number of clients; the ratio is pgbroker's matches to the peer's."""
    dirac.require()
    say(f"loading workload {options.workload}: {options.jobs:,} jobs")
    with loaded(server, options.make_workload(), options.jobs) as bench:
        priorities = bench.priorities()
        bench.ask_once()  # jobs of queues with the same requirements come back to one of them
        say("loading the same into DIRAC's TaskQueueDB")
        with dirac.loaded(bench, priorities, options.folder) as peer:
            rows: list[Row] = []
            for count in options.clients:
                theirs, ours = in_turn([peer, Agents(bench)], count, options.seconds, options.rounds, say)
                ours["ratio"] = ratio(ours["jobs_per_s"], theirs["jobs_per_s"])
                rows += [theirs, ours]
            about = f"{described(bench)}; {peer.versions}, loaded at {bench.jobs / peer.load_seconds:,.0f} jobs/s"
        return [Table(f"{about}; medians of {options.rounds} rounds; ratio: to DIRAC", rows)]
