"""Ends of jobs that are written straight into the history, as taskqueue.guard reads them, and a model of its score."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.calls import Calls, Connection


@dataclass(frozen=True)
class End:
    """The end of an attempt: `event` as in the history, `error` the class of a failure."""

    at: datetime
    host: str | None
    event: str = "finished"
    error: str | None = None
    site: str | None = "A"
    family: int | None = None
    ran: timedelta = timedelta(minutes=1)
    reported: bool = True

    @property
    def never_ran(self) -> bool:
        """Whether the end counts for the host alone."""
        return (
            self.event == "expired"
            or (self.event == "released" and self.ran <= timedelta(minutes=10))
            or (self.error == "lost" and not self.reported)
        )

    @property
    def counts(self) -> bool:
        return self.error != "payload" and (self.never_ran or self.event in ("finished", "failed"))


class History:
    """Writes ends with job ids of their own."""

    def __init__(self, q: Calls) -> None:
        self.q = q
        self.job_id = 1_000_000

    def write(self, ends: Iterable[End], connection: Connection | None = None) -> list[int]:
        """Write ends in one transaction; returns their job ids."""
        first = self.job_id + 1
        connection = connection or self.q.connection
        with connection.transaction(), connection.cursor() as cursor:
            query = """copy taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, site,
                                               role_name, host, error_class) from stdin"""
            with cursor.copy(query) as copy:
                for end in ends:
                    self.job_id += 1
                    shared = (self.q.setup, end.at - end.ran, self.job_id, 1)
                    rest = (0, end.family, end.site, "agent")
                    copy.write_row((*shared, "matched", *rest, None, None))
                    if end.reported:
                        copy.write_row((*shared, "running", *rest, None, None))
                    copy.write_row((self.q.setup, end.at, self.job_id, 1, end.event, *rest, end.host, end.error))
        return list(range(first, self.job_id + 1))


@dataclass
class Model:
    """The score in plain Python, an end after the other."""

    limit: float = 10.0
    families: dict[int | None, tuple[float, float]] = field(default_factory=lambda: defaultdict(lambda: (0.0, 0.0)))
    hosts: dict[tuple[str, str], tuple[float, int, int, float]] = field(default_factory=dict)
    above: set[tuple[str, str]] = field(default_factory=set)

    def round(self, ends: Iterable[End]) -> None:
        """Count the ends of a round, in their order."""
        for end in ends:
            if end.counts:
                self.count(end)
        for key, (score, *rest) in self.hosts.items():
            self.hosts[key] = (min(score, 2 * self.limit), *rest)  # type: ignore[assignment]

    def count(self, end: End) -> None:
        ends, failures = self.families[end.family]
        failed = end.event != "finished"
        p = min(0.8, max(0.02, (1 + failures) / (30 + ends)))
        if end.host is not None:
            key = (end.site or "", end.host)
            score, of_host, bad, usual = self.hosts.get(key, (0.0, 0, 0, 0.0))
            score = max(0.0, score + (math.log(0.95 / p) if failed else math.log(0.05 / (1 - p))))
            self.hosts[key] = (score, of_host + 1, bad + failed, usual + p) if score > 0 else (0.0, 0, 0, 0.0)
            if score > self.limit:
                self.above.add(key)
        if not end.never_ran:
            self.families[end.family] = (0.999 * ends + 1, 0.999 * failures + failed)
