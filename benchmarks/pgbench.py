"""Runs of pgbench, and the figures of its log."""

import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks import SCRIPTS
from broker.database import Target
from broker.errors import BrokerError
from broker.server import binaries


@dataclass(frozen=True)
class Run:
    """The figures of one run: calls in all, calls per second, sorted latencies of the calls in ms, and the clients' CPU
    seconds for the calls (None if not known)."""

    calls: int
    rate: float
    latencies: list[float]
    cpu: float | None = None

    def percentile(self, percent: float) -> float:
        """The latency in ms that `percent` of the calls did not exceed."""
        return percentile(self.latencies, percent)


@dataclass(frozen=True)
class Slice:
    """An interval of a run: seconds from its start to the interval's end, calls per second, latencies in ms."""

    until_s: float
    calls_per_s: float
    p50_ms: float
    p99_ms: float


@dataclass(frozen=True)
class Script:
    """A script of this package, run with prepared statements by a number of clients, with these variables.

    `calls`: of each client, which bounds the jobs taken from the workload; otherwise the run lasts `seconds`.
    `rate`: calls per second of all clients; latencies then count from the due time. Otherwise there is no pause.
    """

    file: str
    clients: int
    seed: int
    variables: Mapping[str, int]
    calls: int | None = None
    seconds: int | None = None
    rate: float | None = None

    @property
    def arguments(self) -> list[str]:
        """pgbench's arguments."""
        threads = min(self.clients, os.cpu_count() or 1)
        length = f"--time={self.seconds}" if self.calls is None else f"--transactions={self.calls}"
        found = ["--no-vacuum", "--protocol=prepared", "--log", "--log-prefix=run", length]
        found += [f"--client={self.clients}", f"--jobs={threads}", f"--random-seed={self.seed}"]
        found += [f"--define={name}={value}" for name, value in self.variables.items()]
        found += [] if self.rate is None else [f"--rate={self.rate:g}"]
        return [*found, f"--file={SCRIPTS / self.file}"]


class Running:
    """A running pgbench; its log lies in `folder`."""

    def __init__(self, process: "subprocess.Popen[bytes]", folder: Path) -> None:
        self._process = process
        self.folder = folder

    def ended(self, timeout: float | None = None) -> bool:
        """Wait for its end, at most the given seconds. Raises BrokerError with pgbench's message if it failed."""
        try:
            code = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        if code != 0:
            said = (self.folder / "stderr").read_text().strip()
            raise BrokerError(f"pgbench failed: {said[-500:]}", "see the server's log")
        return True

    def stop(self) -> None:
        """End it now if it still runs."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()


@contextmanager
def running(target: Target, script: Script) -> Iterator[Running]:
    """Run pgbench with a script during the block; it is stopped at the end of the block."""
    dsn, password = target.without_password
    environment = binaries.clean_environment(os.environ)
    if password is not None:
        environment["PGPASSWORD"] = password
    command = [binaries.find().program("pgbench"), *script.arguments, dsn]
    with tempfile.TemporaryDirectory(prefix="broker-bench-log-") as name:
        folder = Path(name)
        with (folder / "stderr").open("wb") as said:
            process = subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=said)
        at_work = Running(process, folder)
        try:
            yield at_work
        finally:
            at_work.stop()


def run(target: Target, script: Script) -> Run:
    """Run a script to its end. Raises BrokerError with pgbench's message if it failed."""
    with running(target, script) as at_work:
        at_work.ended()
        return read(at_work.folder, script.clients)


def read(folder: Path, clients: int) -> Run:
    """The log of a run."""
    return summed(_lines(folder), clients)


def summed(calls: Iterable[tuple[int, int, int]], clients: int) -> Run:
    """A run from its calls: client, end and latency in us, in order for each client. The rate is taken while
    all clients were at work: from the latest first call to the earliest last one."""
    ended: list[list[int]] = [[] for _ in range(clients)]
    latencies: list[float] = []
    begin = 0
    for client, at, latency in calls:
        if not ended[client]:
            begin = max(begin, at - latency)
        ended[client].append(at)
        latencies.append(latency / 1000)
    end = min(max(times, default=0) for times in ended)
    within = sum(begin < at <= end for times in ended for at in times)
    return Run(len(latencies), within * 1e6 / max(end - begin, 1), sorted(latencies))


def slices(folder: Path, interval: float, count: int, skip: float = 0) -> list[Slice]:
    """The log of a run in intervals of equal length, without the first `skip` seconds."""
    calls = list(_lines(folder))
    begin = min((at - latency for _, at, latency in calls), default=0) + skip * 1_000_000
    latencies: list[list[float]] = [[] for _ in range(count)]
    for _, at, latency in calls:
        number = int((at - begin) // (interval * 1_000_000))
        if 0 <= number < count:
            latencies[number].append(latency / 1000)
    for within in latencies:
        within.sort()
    return [
        Slice((n + 1) * interval, len(within) / interval, percentile(within, 50), percentile(within, 99))
        for n, within in enumerate(latencies)
    ]


def percentile(ordered: list[float], percent: float) -> float:
    """The value that `percent` of the ordered values do not exceed; 0 if there are no values."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] if ordered else 0.0


def _lines(folder: Path) -> Iterator[tuple[int, int, int]]:
    """The logs of a run: client, end of a call and its latency in us. A line is
    `client number latency_us script epoch_s epoch_us [lag_us]`."""
    for file in folder.glob("run.*"):
        with file.open() as lines:
            for line in lines:
                client, _, latency, _, epoch_s, epoch_us = line.split()[:6]
                yield int(client), int(epoch_s) * 1_000_000 + int(epoch_us), int(latency)
