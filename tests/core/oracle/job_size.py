"""How split rules cut the input of a task into jobs (conventions.md, Job size), file by file and cut by cut."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
GIB = 1024**3
MIB = 1024**2


@dataclass
class Job:
    """The files of a job. primary: places of files of the first dataset, from 0; side: places of files of all others;
    events: null if the files of the job are whole.
    """

    primary: list[int] = field(default_factory=list)
    side: list[int] = field(default_factory=list)
    skipped: int = 0
    events: int | None = None

    def add(self, place: int, start: int = 0, events: int | None = None) -> None:
        """Add a file, or `events` events of it from `start` on."""
        if not self.primary:
            self.skipped = start
        if place not in self.primary:
            self.primary.append(place)
            if not start:
                self.side.append(place)
        if events is not None:
            self.events = (self.events or 0) + events


def events_of(file: Row) -> int:
    return int(file.get("nevents") or 0)


def size_of(file: Row) -> int:
    return int(file.get("size") or 0)


def unit_of_output(task: Row) -> tuple[Fraction, bool]:
    units = {"b": 1, "kb": 1024, "mb": MIB, "gb": GIB, "tb": 1024 * GIB}
    unit = str(task.get("out_disk_unit", "kB") or "")
    plain = unit.partition("Per")[0].removesuffix("Fixed").lower()
    count = max(Fraction(str(task.get("out_disk_count") or 0)), Fraction(0))
    return count * units.get(plain, 0), "PerEvent" in unit


def cut(task: Row, datasets: Sequence[Sequence[Row]], *, by_output: bool = False) -> list[Job]:
    """The jobs of a task: its fields as in a world, and the files of its input datasets, the primary one first."""
    if not datasets:
        return []
    files = datasets[0]
    split = task.get("split") or {}
    if task.get("is_merging"):
        return _grouped(files, split.get("nFilesPerMergeJob") or 1)
    if number := split.get("nFilesPerJob"):
        each = split.get("nEventsPerJob")
        return _by_events(files, number, each) if each else _grouped(files, number)
    if target := split.get("tgtNumEventsPerJob"):
        return _by_target(files, target)
    if each := split.get("nEventsPerJob"):
        return _by_events(files, 1, each)
    if split.get("nGBPerJob"):
        return _by_size(task, datasets, by_output=by_output)
    return _grouped(files, split.get("nMaxFilesPerJob") or 1)


def _grouped(files: Sequence[Row], number: int) -> list[Job]:
    return [
        Job(places := list(range(start, min(start + number, len(files)))), places)
        for start in range(0, len(files), number)
    ]


def _by_events(files: Sequence[Row], number: int, each: int) -> list[Job]:
    """Events of neighbouring files are one row; files without events make jobs of their own."""
    jobs: list[Job] = []
    left = 0  # events or files that the last job still takes
    kind = None
    for place, file in enumerate(files):
        events = events_of(file)
        if kind != bool(events):
            left, kind = 0, bool(events)
        if not events:
            if not left:
                jobs.append(Job())
                left = number
            jobs[-1].add(place)
            left -= 1
            continue
        start = 0
        while start < events:
            if not left:
                jobs.append(Job())
                left = number * each
            taken = min(left, events - start)
            jobs[-1].add(place, start, taken)
            start += taken
            left -= taken
    return jobs


def _by_target(files: Sequence[Row], target: int) -> list[Job]:
    """Each file in equal cuts; neighbours share a job up to the target; files without events have jobs of their own."""
    jobs: list[Job] = []
    room = 0
    for place, file in enumerate(files):
        events = events_of(file)
        if not events:
            jobs.append(Job([place], [place]))
            room = 0
            continue
        cuts = -(-events // target)
        length = -(-events // cuts)
        for start in range(0, events, length):
            taken = min(length, events - start)
            if taken > room:
                jobs.append(Job())
                room = target
            jobs[-1].add(place, start, taken)
            room -= taken
    for job in jobs:
        if job.events is not None and not job.skipped and job.events == sum(events_of(files[p]) for p in job.primary):
            job.events = None
    return jobs


def _by_size(task: Row, datasets: Sequence[Sequence[Row]], *, by_output: bool) -> list[Job]:
    split = task["split"]
    limit = Fraction(str(split["nGBPerJob"])) * GIB
    most = split.get("nMaxFilesPerJob") or 200
    output, is_per_event = unit_of_output(task) if by_output else (Fraction(0), False)
    work = Fraction(0)
    if by_output and (task.get("work_disk_count") or 0) > 0:
        work, _ = unit_of_output(
            {"out_disk_count": task["work_disk_count"], "out_disk_unit": task.get("work_disk_unit", "MB")}
        )

    def weight(place: int) -> Fraction:
        file = datasets[0][place]
        mb = Fraction(size_of(file), MIB) or Fraction(1)
        beside = sum(size_of(other[place]) for other in datasets[1:] if place < len(other))
        return size_of(file) + beside + output * (events_of(file) if is_per_event else mb)

    jobs: list[Job] = []
    used = Fraction(0)
    for place in range(len(datasets[0])):
        if not jobs or len(jobs[-1].primary) >= most or used + weight(place) > limit:
            jobs.append(Job())
            used = work
        jobs[-1].add(place)
        used += weight(place)
    return jobs


@dataclass(frozen=True)
class Largest:
    """The figures of the largest jobs of a task."""

    jobs: int
    events: int
    mb: Fraction
    bytes: int


def largest(jobs: Iterable[Job], datasets: Sequence[Sequence[Row]]) -> Largest:
    """Each figure is that of the job which has most of it; a file name counts once in a job."""
    jobs = list(jobs)

    def events(job: Job) -> int:
        return job.events if job.events is not None else sum(events_of(datasets[0][place]) for place in job.primary)

    def mb(job: Job) -> Fraction:
        return sum((Fraction(size_of(datasets[0][place]), MIB) or Fraction(1) for place in job.primary), Fraction(0))

    def sizes(job: Job) -> int:
        found: dict[Any, int] = {}
        for number, files in enumerate(datasets):
            for place in job.side if number else job.primary:
                if place < len(files):
                    name = files[place]["lfn"]
                    found[name] = max(found.get(name, 0), size_of(files[place]))
        return sum(found.values())

    return Largest(
        len(jobs),
        max(map(events, jobs), default=0),
        max(map(mb, jobs), default=Fraction(0)),
        max(map(sizes, jobs), default=0),
    )
