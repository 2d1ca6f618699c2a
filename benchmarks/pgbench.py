"""One run of pgbench, and what its log says."""

import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import FOLDER
from broker import binaries
from broker.database import Target
from broker.errors import BrokerError


@dataclass(frozen=True)
class Run:
    """What one run did: calls in all, calls a second, and the latencies of the calls, sorted, in ms."""

    calls: int
    rate: float
    latencies: list[float]

    def percentile(self, percent: float) -> float:
        """The latency in ms that `percent` of the calls did not exceed."""
        return self.latencies[min(len(self.latencies) - 1, int(len(self.latencies) * percent / 100))]


def run(
    target: Target, script: str, *, clients: int, calls: int, seed: int, variables: Mapping[str, int] | None = None
) -> Run:
    """Run a script of this package, prepared, `calls` times by each client.

    Not for a time: a number of calls bounds what is taken out of the workload. Raises BrokerError with pgbench's words.
    """
    dsn, password = target.without_password
    environment = binaries.clean_environment(os.environ)
    if password is not None:
        environment["PGPASSWORD"] = password
    threads = min(clients, os.cpu_count() or 1)
    command = [binaries.find().program("pgbench"), "--no-vacuum", "--protocol=prepared", "--log", "--log-prefix=run"]
    command += [f"--client={clients}", f"--jobs={threads}", f"--transactions={calls}", f"--random-seed={seed}"]
    command += [f"--define={name}={value}" for name, value in (variables or {}).items()]
    with tempfile.TemporaryDirectory(prefix="broker-bench-log-") as folder:
        done = subprocess.run(
            [*command, f"--file={FOLDER / script}", dsn],
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise BrokerError(f"pgbench failed: {done.stderr.strip()[-500:]}", "see the server's log")
        return read(Path(folder), clients)


def read(folder: Path, clients: int) -> Run:
    """The logs of a run: a line a call, `client number latency_us script epoch_s epoch_us`.

    The rate is taken while all clients were at work: from the latest first call to the earliest last one.
    """
    ended: list[list[int]] = [[] for _ in range(clients)]
    latencies: list[float] = []
    begin = 0
    for file in folder.glob("run.*"):
        first_seen: set[str] = set()
        for line in file.read_text().splitlines():
            client, _, latency, _, epoch_s, epoch_us = line.split()[:6]
            at = int(epoch_s) * 1_000_000 + int(epoch_us)
            ended[int(client)].append(at)
            latencies.append(int(latency) / 1000)
            if client not in first_seen:
                first_seen.add(client)
                begin = max(begin, at - int(latency))
    end = min(max(times) for times in ended)
    within = sum(begin < at <= end for times in ended for at in times)
    return Run(len(latencies), within * 1e6 / max(end - begin, 1), sorted(latencies))
