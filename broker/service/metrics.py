"""Metrics of the service in the format of Prometheus. No label names a user, a job or a setup."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable with the folder in which workers share their counts."""

_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_EVERY = 5  # seconds between two looks at the gauges
_SIZES = (1, 2, 5, 10, 20, 50, 100, 200)


class Replica(Protocol):
    """The state of the standby of --read."""

    @property
    def lag(self) -> float:
        """Seconds that the standby is behind."""

    @property
    def is_used(self) -> bool:
        """Whether requests use it."""


class Metrics:
    """The counts of a worker."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "pgbroker_http_requests", "Requests by route and status.", ["method", "route", "status"], registry=registry
        )
        self._seconds = Histogram(
            "pgbroker_http_request_seconds", "Time of requests.", ["route"], buckets=_SECONDS, registry=registry
        )
        served = "Requests that one call of the database served."
        self._sizes = Histogram("pgbroker_batch_size", served, ["call"], buckets=_SIZES, registry=registry)
        answered = "Requests that may be read on a standby, by the server that answered."
        self._reads = Counter("pgbroker_reads", answered, ["server"], registry=registry)

        def gauge(name: str, words: str, mode: Literal["livesum", "livemin", "livemax"]) -> Gauge:
            return Gauge(f"pgbroker_{name}", words, registry=registry, multiprocess_mode=mode)

        self._in_use = gauge("pool_in_use", "Connections to the database in use.", "livesum")
        self._waiting = gauge("agents_waiting", "Agents whose request waits for a job.", "livesum")
        self._used = gauge("read_standby_used", "Whether the server of --read is used now.", "livemin")
        self._lag = gauge("read_lag_seconds", "Time that the server of --read is behind the primary.", "livemax")
        self._reader: Replica | None = None
        self._connections: Callable[[], int] = lambda: 0
        self._agents: Callable[[], int] = lambda: 0
        self._counters: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def watch(self, connections: Callable[[], int], agents: Callable[[], int], reader: Replica) -> None:
        """Set the functions that give the number of connections in use, the number of waiting agents, and the state of
        the standby."""
        self._connections = connections
        self._agents = agents
        self._reader = reader

    def read(self, server: str) -> None:
        """Count a request, by the server that answered: primary or standby."""
        self._reads.labels(server).inc()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        key = method, route, status
        counters = self._counters.get(key)
        if counters is None:  # looking up labels costs more than counting
            counters = self._requests.labels(method, route, str(status)), self._seconds.labels(route)
            self._counters[key] = counters
        counters[0].inc()
        counters[1].observe(seconds)

    def batches(self, call: str) -> Callable[[int], None]:
        """A function that counts the sizes of a call's batches."""
        return self._sizes.labels(call).observe

    async def keep_up(self) -> None:
        """Set the gauges every few seconds: any worker may be asked for the figures of all."""
        while True:
            self._set_gauges()
            await asyncio.sleep(_EVERY)

    def text(self) -> bytes:
        """All metrics, of all workers."""
        self._set_gauges()
        registry: Any = self._registry
        if FOLDER in os.environ:
            _forget_dead(Path(os.environ[FOLDER]))
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)

    def _set_gauges(self) -> None:
        self._in_use.set(self._connections())
        self._waiting.set(self._agents())
        if self._reader is not None:
            self._used.set(self._reader.is_used)
            self._lag.set(self._reader.lag)


def _forget_dead(folder: Path) -> None:
    """Remove the gauges of workers that ended without a word."""
    for worker in {int(file.stem.rpartition("_")[2]) for file in folder.glob("gauge_live*.db")}:
        if not Path("/proc", str(worker)).exists():
            multiprocess.mark_process_dead(worker)  # type: ignore[no-untyped-call]


def forget_worker() -> None:
    """Remove the figures of this ending worker from the sums."""
    if FOLDER in os.environ:
        multiprocess.mark_process_dead(os.getpid())  # type: ignore[no-untyped-call]
