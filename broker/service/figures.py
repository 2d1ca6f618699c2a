"""Figures of the database for Prometheus: the last sample of the history of figures, and views of schema monitor.

A worker reads them as a viewer of the service's setup, each at most every five seconds, and so seldom that reading
takes at most a hundredth of the time. The readings of one scrape share a snapshot. No label names a job, a task or a
user, and every label has a bounded number of values.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from broker.errors import BrokerError
from broker.service.callers import acting_for
from broker.service.calls import Database
from broker.service.problems import LOG

Row = tuple[Any, ...]

KEPT = 5.0  # seconds
MOST = 50  # values of a bounded label; all others together are OTHER
OTHER = "other"
# The login of the service is a role of the installation, and its roles differ in the kind at the end.
_VIEWER: LiteralString = "select left(session_user, -length('service')) || 'viewer'"
COST = 0.01  # fraction of the time for reading a view
STATEMENT = 3.0  # seconds of one view
_SCRAPE = 6.0  # seconds of all views
_PATIENCE = 8.0  # seconds of a scrape: Prometheus waits for 10
_ARRANGE: LiteralString = "select set_config('statement_timeout', %s, true), set_config('jit', 'off', true)"


@dataclass(frozen=True)
class Figure:
    """A metric: its name, its help, and the function that folds the values of several rows."""

    name: str
    help: str
    fold: Callable[[Iterable[float]], float] = sum


@dataclass(frozen=True)
class Reading:
    """The metrics of one view: `labels` are its first columns, and the next columns are the figures. of_setup: the
    statement takes the setup, which is a label. bounded: the label of which only MOST values are shown, those with the
    largest first figure.
    """

    view: str
    statement: LiteralString
    figures: tuple[Figure, ...]
    labels: tuple[str, ...] = ()
    of_setup: bool = True
    bounded: str | None = None


READINGS = (
    Reading(
        "pg_stat_user_tables",
        "select n_tup_ins from pg_stat_user_tables where relid = to_regclass('taskqueue.lease')",
        (Figure("pgbroker_matches_total", "Matches of all setups since the server's statistics began."),),
        of_setup=False,
    ),
    Reading(
        "last_run",
        "select algorithm, extract(epoch from ended_at - started_at), extract(epoch from ended_at), tasks,"
        " with_candidates, pending, throttled, failed from monitor.last_run where setup = %s",
        (
            Figure("pgbroker_run_duration_seconds", "Time of the last run of a broker."),
            Figure("pgbroker_run_ended_timestamp_seconds", "Its end."),
            Figure("pgbroker_run_tasks", "Tasks that it decided."),
            Figure("pgbroker_run_tasks_with_candidates", "Of them, tasks with candidates."),
            Figure("pgbroker_run_tasks_pending", "Of them, tasks that no queue or nucleus can take."),
            Figure("pgbroker_run_tasks_throttled", "Of them, tasks that a rule throttled."),
            Figure("pgbroker_run_tasks_failed", "Of them, tasks that a rule failed, or that raised an error."),
        ),
        ("algorithm",),
    ),
    Reading(
        "unfolded_change",
        "select counts, changes from monitor.unfolded_change where setup = %s",
        (Figure("pgbroker_changes_unfolded", "Changes that are not folded into the counts yet, at most 100,000."),),
        ("counts",),
    ),
    Reading(
        "loop",
        "select name, coalesce(extract(epoch from max(renewed_at)), 0), bool_or(state = 'well')::int,"
        " bool_or(needed)::int from monitor.loop where setup is null or setup = %s group by name",
        (
            Figure("pgbroker_loop_beat_timestamp_seconds", "Last heartbeat of a loop of broker run; 0 = never."),
            Figure("pgbroker_loop_well", "Whether a process leads it, and its last round did everything."),
            Figure("pgbroker_loop_needed", "Whether the setup needs it."),
        ),
        ("loop",),
    ),
    Reading(
        "instance_difference",
        "select 'instance_difference', count(*) from monitor.instance_difference where setup = %s",
        (Figure("pgbroker_consistency_violations", "Rows of a view that is empty unless pgbroker has a fault."),),
        ("invariant",),
    ),
    Reading(
        "snapshot_holder",
        "select coalesce(max(transactions), 0) from monitor.snapshot_holder",
        (Figure("pgbroker_oldest_snapshot_transactions", "Transactions since the oldest snapshot was taken."),),
        of_setup=False,
    ),
)

SAMPLE = "last_sample"
_SAMPLE: LiteralString = """
select f.metric, f.meaning, f.fold, f.labels, array(select s.labels ->> l from unnest(f.labels) l), s.value,
       extract(epoch from s.at)
  from history.last_sample(%s) s
  join history.figure f on f.figure = s.figure
"""
SAMPLED = Figure("pgbroker_sample_timestamp_seconds", "Beginning of the minute of the figures that are sampled.")

UP = "pgbroker_database_up"
READ = "pgbroker_view_read_timestamp_seconds"
TOOK = "pgbroker_view_read_duration_seconds"
FAILED = "pgbroker_view_read_failed"
OWN = {
    UP: "Whether the database answered the last time.",
    READ: "Time of the last reading of a view, or of the last attempt.",
    TOOK: "Duration of that reading.",
    FAILED: "Whether that reading failed or took too long; the figures of the view are left out.",
}


@dataclass(frozen=True)
class _Read:
    """The rows of a view, or None if reading it failed."""

    rows: list[Row] | None
    at: float
    took: float
    next_at: float  # on the monotonic clock


class Figures:
    """Reads the figures, one reader at a time. Requests that arrive in between get the same answer."""

    def __init__(self, database: Database, setup: str) -> None:
        self._database = database
        self._setup = setup
        self._known: dict[str, _Read] = {}
        self._task: asyncio.Task[bytes] | None = None
        self._next_at = 0.0
        self._viewer: str | None = None

    async def text(self) -> bytes:
        """The figures in the format of Prometheus. While the database is away, they only say so."""
        if self._task is None or (self._task.done() and time.monotonic() >= self._next_at):
            self._task = asyncio.create_task(self._read())
        await asyncio.wait([self._task], timeout=_PATIENCE)
        return self._task.result() if self._task.done() else _text(_own(up=False))

    async def _read(self) -> bytes:
        try:
            if self._viewer is None:
                [[self._viewer]] = await self._database.as_login(_VIEWER)
            subject = acting_for((self._setup, self._viewer, None, None))
            await self._database.undone_beside(self._viewer, subject, self._ask)
        except (psycopg.Error, BrokerError) as error:
            LOG.warning("no figures of the database: %s", error)
            found = _text(_own(up=False))
        else:
            found = _text([*_own(up=True, known=self._known), *self._metrics()])
        self._next_at = time.monotonic() + KEPT
        return found

    def _ask(self, connection: "psycopg.Connection[Any]") -> None:
        """Read the due views. An error of one view does not affect the others."""
        end = time.monotonic() + _SCRAPE
        statements = {SAMPLE: (_SAMPLE, [self._setup])}
        statements |= {one.view: (one.statement, [self._setup] if one.of_setup else []) for one in READINGS}
        for view, (statement, values) in statements.items():
            known = self._known.get(view)
            began = time.monotonic()
            if known is not None and began < known.next_at:
                continue
            rows = None
            try:
                with connection.transaction():
                    milliseconds = int(1000 * min(STATEMENT, max(end - began, 0.001)))
                    connection.execute(_ARRANGE, [str(milliseconds)])
                    rows = connection.execute(statement, values).fetchall()
            except psycopg.Error as error:
                if connection.closed:
                    raise
                LOG.warning("no figures of view %s: %s", view, error)
            took = time.monotonic() - began
            self._known[view] = _Read(rows, time.time(), took, began + took / COST)

    def _metrics(self) -> Iterator[Metric]:
        yield from _sampled(self._known[SAMPLE].rows or [], self._setup)
        for reading in READINGS:
            rows = self._known[reading.view].rows
            if rows is not None:
                yield from _families(reading, rows, self._setup)


def _own(*, up: bool, known: dict[str, _Read] | None = None) -> Iterator[Metric]:
    """The metrics about the reading itself."""
    yield GaugeMetricFamily(UP, OWN[UP], value=int(up))
    values: dict[str, Callable[[_Read], float]] = {
        READ: lambda one: one.at,
        TOOK: lambda one: one.took,
        FAILED: lambda one: one.rows is None,
    }
    for name, value_of in values.items():
        family = GaugeMetricFamily(name, OWN[name], labels=["view"])
        for view, one in (known or {}).items():
            family.add_metric([view], float(value_of(one)))
        yield family


def _sampled(rows: Sequence[Row], setup: str) -> Iterator[Metric]:
    """The metrics of the last sample: one for each figure."""
    by_metric: dict[str, list[Row]] = {}
    for row in rows:
        by_metric.setdefault(row[0], []).append(row)
    for metric, found in sorted(by_metric.items()):
        _, meaning, fold, labels, *_ = found[0]
        figure = Figure(metric, meaning, max if fold == "max" else sum)
        reading = Reading(SAMPLE, _SAMPLE, (figure,), tuple(labels), bounded=labels[0])
        yield from _families(reading, [(*row[4], row[5]) for row in found], setup)
    if rows:
        yield from _families(Reading(SAMPLE, _SAMPLE, (SAMPLED,)), [rows[0][-1:]], setup)


def _families(reading: Reading, rows: Sequence[Row], setup: str) -> Iterator[Metric]:
    """The metrics of a view. Rows whose labels became equal, because their values became OTHER, are folded into one."""
    width = len(reading.labels)
    together: dict[tuple[str, ...], list[Row]] = {}
    shown = _shown(reading, rows)
    for row in rows:
        labels = tuple(
            str(value) if name != reading.bounded or value in shown else OTHER
            for name, value in zip(reading.labels, row[:width], strict=True)
        )
        together.setdefault(labels, []).append(row[width:])
    names = ["setup", *reading.labels] if reading.of_setup else [*reading.labels]
    for number, figure in enumerate(reading.figures):
        kind = CounterMetricFamily if figure.name.endswith("_total") else GaugeMetricFamily
        family = kind(figure.name, figure.help, labels=names)
        for labels, values in sorted(together.items()):
            known = [float(row[number]) for row in values if row[number] is not None]
            if known:
                family.add_metric([setup, *labels] if reading.of_setup else labels, figure.fold(known))
        yield family


def _shown(reading: Reading, rows: Sequence[Row]) -> set[Any]:
    """The values of the bounded label that are shown."""
    if reading.bounded is None:
        return set()
    place, first = reading.labels.index(reading.bounded), len(reading.labels)
    sizes: dict[Any, float] = {}
    for row in rows:
        sizes[row[place]] = sizes.get(row[place], 0.0) + float(row[first] or 0)
    return set(sorted(sizes, key=lambda value: (-sizes[value], value))[:MOST])


class _Once(Collector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def _text(metrics: Iterable[Metric]) -> bytes:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Once(metrics))
    return generate_latest(registry)
