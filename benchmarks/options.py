"""The options of a run, the same for all scenarios; each uses those it needs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.workloads import WORKLOADS, Workload

Say = Callable[[str], None]
"""Tells whoever waits what is done now."""


@dataclass(frozen=True)
class Options:
    """workload: U, L or N. requests: how many of the workload's are asked. jobs: that wait. clients: numbers, one after
    the other where the scenario takes several. seconds: length of a run. rounds: of what is measured in turn.
    rate: calls a second of all clients together. interval: seconds of a line of a timeline. draws: in all.
    cases: (jobs, queues), one after the other. folder: where data of servers lies, or None: the temporary one.
    beside: another checkout, with which this one is compared."""

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

    @property
    def intervals(self) -> int:
        """Lines of a timeline."""
        return max(1, round(self.seconds / self.interval))

    def make_workload(self) -> Workload:
        """The workload that the letter names, with the first of its requests where not all are wanted."""
        whole = WORKLOADS[self.workload]()
        return replace(whole, requests=lambda seed: whole.requests(seed)[: self.requests])
