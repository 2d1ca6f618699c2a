"""DIRAC's own Matcher service on MariaDB, beside `broker serve`: agents in a closed loop ask for the same jobs."""

import statistics
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks import dirac, matcher, pilot
from benchmarks.bench import SEED, SETUP, loading
from benchmarks.measure import Measured, Sample, in_turn, ratio
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.scenarios.match import described
from benchmarks.scenarios.peer import Agents
from benchmarks.server import Server
from benchmarks.serving.authority import Authority
from benchmarks.serving.service import cpu_of, service, tokens_of
from broker import database
from broker.errors import BrokerError

DEFAULTS = Options(clients=(1, 8, 32), rounds=3)
_PAYLOADS = """
insert into workload.payload (setup, job_id, body)
select setup, job_id, jsonb_build_object('JDL', replace(%s, 'JOB', job_id::text)) from taskqueue.job where setup = %s
"""


class Served:
    """A kind of calls to a service, with their costs in the service and in the agents."""

    batch = 1

    def __init__(self, kind: Measured, pids: Sequence[int]) -> None:
        self._kind, self._pids = kind, list(pids)
        self.name, self.available, self.trial = kind.name, kind.available, kind.trial
        self._costs: list[tuple[float, float]] = []

    def sample(self, clients: int, calls: int, seed: int) -> Sample:
        """One run; raises BrokerError if no agent got a job."""
        before, _ = cpu_of(None, self._pids)
        sample = self._kind.sample(clients, calls, seed)
        after, _ = cpu_of(None, self._pids)
        if not sample.found:
            raise BrokerError(f"{self.name}: no agent got a job")
        self._costs.append(((after - before) * 1000 / sample.found, sample.clients or 0.0))
        return sample

    def costs(self, rounds: int) -> Row:
        """Medians of the last rounds: CPU of the service and of the agents, in ms per job."""
        service, agents = map(statistics.median, zip(*self._costs[-rounds:], strict=True))
        return {"service_ms": service, "agents_ms": agents}


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """The peer and pgbroker in turn, for each number of agents; ratios: of jobs/s, and of the peer's CPU to ours."""
    matcher.require()
    with loading(server, options, say) as bench, ExitStack() as stack:
        priorities = bench.priorities()
        bench.ask_once()
        bench.call(_PAYLOADS, [matcher.JDL, SETUP])
        bench.settle()
        requests = pilot.understood(bench.workload.requests(SEED))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="broker-matcher-")))
        authority = Authority(folder)
        say("loading the same into DIRAC's databases")
        make = partial(matcher.Peer, requests=list(map(pilot.described, requests)))
        peer = stack.enter_context(dirac.loaded(bench, priorities, options.folder, make, matcher.DATABASES))
        host = authority.certify("localhost")
        peer.serve(authority, host, folder, stack)
        connection = stack.enter_context(database.connect(bench.where.admin))
        tokens = tokens_of(connection, max(options.clients))
        port, pids = stack.enter_context(service(bench, connection, host))
        post = partial(pilot.posting, port, authority.file, tokens)
        ours = [
            Agents("a connection a match", bench, partial(post, False), requests),
            Agents("connections kept", bench, partial(post, True), requests),
        ]
        rows: list[Row] = []
        for count in options.clients:
            kinds = [Served(peer, peer.pids), *(Served(one, pids) for one in ours)]
            rows += _rows(in_turn(kinds, count, options.seconds, options.rounds, say), kinds, options.rounds)
        title = f"{described(bench)}; {peer.versions}; medians of {options.rounds} rounds; CPU is ms a job"
        return [Table(title, rows)]


def _rows(measured: Sequence[Row], kinds: Sequence[Served], rounds: int) -> list[Row]:
    """The lines of a number of agents; the first is the peer's."""
    shown: list[Row] = []
    for row, kind in zip(measured, kinds, strict=True):
        kept = ("what", "clients", "jobs_per_s", "p50_ms", "p99_ms", "found_nothing")
        line = {name: row[name] for name in kept} | kind.costs(rounds) | {"database_ms": row["cpu_ms"]}
        first = shown[0] if shown else {}
        line["ratio"] = ratio(line["jobs_per_s"], first.get("jobs_per_s"))
        line["peer's cpu ratio"] = ratio(_cpu(first), _cpu(line))
        shown.append(line)
    return shown


def _cpu(row: Row) -> float | None:
    """CPU of service and database of a line."""
    service, server = row.get("service_ms"), row.get("database_ms")
    return service + server if isinstance(service, float) and isinstance(server, float) else None
