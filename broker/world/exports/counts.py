"""Counts of PanDA and Harvester: requests of pilots, workers, and jobs by queue.

| export | shapes |
| --- | --- |
| pilots | {queue: {getJob, updateJob}}, or rows of SiteData: site, getJob, updateJob, flag, hours, lastStart, |
| | lastMod |
| workers | {queue: {harvester: {label: {resource type: {status: workers}}}}} |
| job-counts | {queue: ... {status: jobs}}, with a level for the resource type, the label, both or none |
| | rows: computingSite, jobStatus, njobs, and as far as they are there gshare, resource_type, prodSourceLabel, |
| | nucleus, ncores, prorated_diskio_avg |
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from broker.errors import BadRequest
from broker.world.exports.made import Made, data_of, integer, number, once, rows_of
from broker.world.shape import Reading, Row, entries, require

_HOURS = 3  # the rules read the requests of the last hours
_ENDED = frozenset(("finished", "failed", "cancelled", "closed"))
_NO_QUEUE = (None, "", "None", "null")  # as JSON, CSV and trees of counts write a job without a queue
_UNITS = ("SCORE", "MCORE", "HIMEM", "VHIMEM", "UNDEFINED")
_DEEPEST = 3  # levels between the queue and its numbers
_NOW = {"hours_ago": 0}  # the time of counts without a time: that of the load, by the clock of the setup
_AT = ("laststart", "lastmod")
_TIMES = Reading(partial(datetime.now, UTC))


def pilots(name: str, value: Any) -> Made:
    """Requests of pilots of the last three hours, with the time at which they were counted (lastMod), and the last
    start of a job. Queues ANALY_* count requests of analysis, other queues those of production."""
    found: dict[str, Row] = {}
    seen: set[str] = set()
    data = data_of(name, value)
    if isinstance(data, dict) and all(isinstance(entry, dict) for entry in data.values()):
        rows = [(where, {"site": queue, **_small(row)}) for where, queue, row in entries(name, data)]
    else:
        rows = list(rows_of(name, data))
    for where, row in rows:
        queue = row.get("site")
        require(str, f"{where}.site", queue)
        if integer(f"{where}.hours", row.get("hours", _HOURS)) != _HOURS:
            continue
        flag = "analysis" if str(queue).startswith("ANALY_") else "production"
        if row.get("flag") not in (None, flag):
            continue
        once(name, str(queue), seen)
        if "getjob" not in row:
            raise BadRequest(f"{where} has no getJob", "the columns are site, getJob, updateJob, flag and hours")
        counts = {key: integer(f"{where}.{key}", row.get(key)) or 0 for key in ("getjob", "updatejob")}
        times = {key: _TIMES.time(f"{where}.{key}", row[key] or None) for key in _AT if key in row}
        found[str(queue)] = {
            "pilots": {**counts, "at": times.get("lastmod") or _NOW},
            **({"laststart": times["laststart"]} if "laststart" in times else {}),
        }
    return Made({"queues": found}, len(found), only_known=frozenset(("queues",)))


def workers(name: str, value: Any) -> Made:
    """Running and submitted workers of each queue, summed over Harvesters, labels and resource types. The export has no
    times: the counts are those of the load."""
    found: dict[str, Row] = {}
    for where, queue, given in entries(name, data_of(name, value)):
        sums: Counter[str] = Counter(running=0, submitted=0)
        for at, path, count in _leaves(where, given, ()):
            if len(path) != 4:
                fault = f"{at} stands {len(path)} levels below its queue"
                raise BadRequest(fault, "workers are {queue: {harvester: {label: {resource type: {status: workers}}}}}")
            sums[path[-1]] += count
        found[queue] = {"workers": {**{status: sums[status] for status in ("running", "submitted")}, "at": _NOW}}
    return Made({"queues": found}, len(found), only_known=frozenset(("queues",)))


def jobs(name: str, value: Any) -> Made:
    """Jobs by queue, status and further labels of the counts, with their cores and the mean disk IO of a job. Ended
    jobs are left out: no rule reads them. So are jobs without a queue."""
    data = data_of(name, value)
    sums: dict[tuple[tuple[str, Any], ...], _Sum] = {}
    without_queue = 0
    for row, figures in _counted_rows(name, data) if isinstance(data, list) else _counted_tree(name, data):
        if row["queue"] in _NO_QUEUE:
            without_queue += figures.njobs
        elif row["status"] not in _ENDED:
            sums.setdefault(tuple(row.items()), _Sum()).add(figures)
    made = [dict(row) | figures.row() for row, figures in sums.items()]
    lacking = []
    if without_queue:
        lacking.append(f"{without_queue:,} jobs have no queue, and are left out")
    if made and not any(row.get("gshare") for row in made):
        lacking.append(
            "counts of jobs name no global share: rules and weights of a share count no jobs;"
            " rows of JOBS_SHARE_STATS have shares"
        )
    return Made({"statistics": made}, len(made), lacking)


@dataclass
class _Sum:
    """The number of jobs, the sum of their cores, and the sum of their disk IO (a job without disk IO adds nothing)."""

    njobs: int = 0
    ncores: int | None = None
    diskio: float = 0
    with_diskio: int = 0

    def add(self, other: "_Sum") -> None:
        """Add the figures of further jobs."""
        self.njobs += other.njobs
        self.diskio += other.diskio
        self.with_diskio += other.with_diskio
        if other.ncores is not None:
            self.ncores = (self.ncores or 0) + other.ncores

    def row(self) -> Row:
        """The figures as a world has them."""
        cores = {} if self.ncores is None else {"ncores": self.ncores}
        return {
            "njobs": self.njobs,
            **cores,
            **({"diskio": self.diskio / self.with_diskio} if self.with_diskio else {}),
        }


def _counted_rows(name: str, data: Any) -> Iterator[tuple[Row, _Sum]]:
    for where, row in rows_of(name, data):
        queue = row.get("computingsite")
        if queue is not None or "computingsite" not in row:
            require(str, f"{where}.computingsite", queue)
        require(str, f"{where}.jobstatus", row.get("jobstatus"))
        jobs = integer(f"{where}.njobs", row.get("njobs", row.get("num_of_jobs", row.get("count"))))
        if jobs is None:
            raise BadRequest(f"{where} has no njobs", "the columns are computingSite, jobStatus, njobs, gshare, ...")
        cores = integer(f"{where}.ncores", row.get("ncores"))
        diskio = number(f"{where}.prorated_diskio_avg", row.get("prorated_diskio_avg"))
        yield (
            {
                "queue": queue, "gshare": row.get("gshare"), "resource_type": row.get("resource_type"),
                "label": row.get("prodsourcelabel"), "nucleus": row.get("nucleus"), "status": row["jobstatus"],
            },
            _Sum(jobs, cores, (diskio or 0) * jobs, 0 if diskio is None else jobs),
        )  # fmt: skip


def _counted_tree(name: str, data: Any) -> Iterator[tuple[Row, _Sum]]:
    require(dict, name, data)
    for queue, given in data.items():
        for at, path, jobs in _leaves(f"{name}.{queue}", given, ()):
            *between, status = path
            if len(between) >= _DEEPEST:
                raise BadRequest(
                    f"{at} stands too deep", "counts are {queue: {resource type: {label: {status: jobs}}}}"
                )
            row: Row = {"queue": queue, "status": status}
            for level in between:
                row["resource_type" if _is_resource_type(level) else "label"] = level
            yield dict(sorted(row.items())), _Sum(jobs)


def _is_resource_type(name: str) -> bool:
    return name.upper().rpartition("_")[2] in _UNITS


def _leaves(where: str, value: Any, path: Sequence[str]) -> Iterator[tuple[str, Sequence[str], int]]:
    """The numbers of nested objects, with the names above them; a null is no count."""
    if not path or isinstance(value, dict):
        for at, key, below in entries(where, value):
            yield from _leaves(at, below, (*path, key))
    else:
        count = integer(where, value)
        if count is not None:
            yield where, path, count


def _small(row: Any) -> Row:
    require(dict, "pilots", row)
    return {key.lower(): entry for key, entry in row.items()}
