"""The options of a run, the same for all scenarios; each uses those it needs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.workloads import WORKLOADS, Workload

Say = Callable[[str], None]
"""Tells whoever waits what is done now."""


@dataclass(frozen=True)
class Options:
    """workload: U, L or N. requests: number of requests used. jobs: number of waiting jobs. clients: numbers, one after
    the other if the scenario takes several. seconds: length of a run. rounds: of measurements in turn.
    rate: calls per second of all clients. interval: seconds per line of a timeline. draws: in all.
    cases: (jobs, queues), one after the other. folder: of the servers' data; None means the temporary folder.
    beside: another checkout to compare with this one. exchange: agents end a job with the request for the next one."""

    workload: str = "U"
    requests: int | None = None
    jobs: int = 100_000
    clients: tuple[int, ...] = (8,)
    seconds: float = 5
    rounds: int = 5
    rate: float = 1000
    interval: float = 60
    draws: int = 1_000_000
    cases: tuple[tuple[int, int], ...] = ()
    folder: Path | None = None
    beside: Path | None = None
    exchange: bool = False

    @property
    def intervals(self) -> int:
        """The number of lines of a timeline."""
        return max(1, round(self.seconds / self.interval))

    def make_workload(self) -> Workload:
        """The workload that the letter names, with only the first requests if not all are wanted."""
        whole = WORKLOADS[self.workload]()
        return replace(whole, requests=lambda seed: whole.requests(seed)[: self.requests])
