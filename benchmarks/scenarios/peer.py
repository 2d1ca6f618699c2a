"""DIRAC's own TaskQueueDB on MariaDB, beside pgbroker: both called from Python processes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from benchmarks import dirac, pgbench, processes
from benchmarks.bench import SEED, SETUP, Bench, loading
from benchmarks.measure import Kind, Measured, in_turn, ratio
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.scenarios.match import described
from benchmarks.server import Server
from broker.database import Target
from broker.laboratory.pilots import Resource

DEFAULTS = Options(clients=(1, 8), rounds=3)
BATCH = 50  # resources per call of match_many


class Agents(Kind):
    """Clients in Python, one process each: agents, or services that ask for `batch` agents in each call."""

    def __init__(
        self,
        name: str,
        bench: Bench,
        connect: Callable[[], AbstractContextManager[processes.Ask]],
        requests: Sequence[Resource],
        batch: int = 1,
    ) -> None:
        super().__init__(f"pgbroker: {name}", bench, batch=batch, trial=max(20, 200 // batch))
        self._connect, self._requests = connect, requests

    def run(self, clients: int, calls: int, seed: int) -> pgbench.Run:
        """Run only the calls."""
        return processes.run(processes.Client(self._connect, self._requests, calls, SEED + seed, self.batch), clients)


@contextmanager
def matching(target: Target) -> Iterator[processes.Ask]:
    """A client's call: JobAgent.match, or match_many for several resources."""
    from broker.client.matcher import JobAgent

    with JobAgent(SETUP, target, connections=1) as agent:

        def ask(resources: Sequence[Resource]) -> None:
            if len(resources) == 1:
                agent.match(resources[0])
            else:
                agent.match_many([{"resources": [resource]} for resource in resources])

        yield ask


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """The peer and pgbroker in turn, for each number of clients; ratios: of jobs/s, and of the peer's CPU to ours."""
    dirac.require()
    with loading(server, options, say) as bench:
        priorities = bench.priorities()
        bench.ask_once()  # put_back returns jobs of queues with the same requirements to one of these queues
        say("loading the same into DIRAC's TaskQueueDB")
        with dirac.loaded(bench, priorities, options.folder, dirac.Peer, []) as peer:
            connect = partial(matching, bench.where.logins["agent"])
            requests = bench.workload.requests(SEED)
            rows: list[Row] = []
            for count in options.clients:
                kinds: list[Measured] = [
                    peer,
                    Agents("JobAgent.match", bench, connect, requests),
                    Agents(f"match_many of {BATCH}", bench, connect, requests, BATCH),
                ]
                theirs, *ours = in_turn(kinds, count, options.seconds, options.rounds, say)
                for row in ours:
                    row["ratio"] = ratio(row["jobs_per_s"], theirs["jobs_per_s"])
                    row["peer's cpu ratio"] = ratio(theirs["cpu_ms"], row["cpu_ms"])
                rows += [theirs | {"peer's cpu ratio": None}, *ours]
            about = f"{described(bench)}; {peer.versions}, loaded at {bench.jobs / peer.load_seconds:,.0f} jobs/s"
        compared = "ratio: to DIRAC; peer's cpu ratio: DIRAC's CPU to that of the line"
        return [Table(f"{about}; medians of {options.rounds} rounds; {compared}", rows)]
