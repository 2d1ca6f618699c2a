"""The grid of a simulation: its world without the figures that a simulation produces itself, its slots, and tasks to
draw from. Queues, limits, storages, links, datasets and tasks are those of broker.laboratory.grid. Counts of jobs,
rates of starts and figures of users are left out: only jobs of the simulation run.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from broker import catalogue
from broker.errors import BadRequest
from broker.laboratory import grid
from broker.laboratory.simulation.scenario import Scenario

Row = dict[str, Any]

_LEFT_OUT = ("statistics", "to_running_rate", "remaining_work", "user_queue_statistics", "jobs", "users", "tasks")
_POOL = 240  # tasks of which each arrival is a copy
_LARGEST = 10_000  # the largest number of cores of a queue: a share of a large machine
_USUAL_POWER = 15.0  # HS06 of a core, to compute the work of a task
_FIRST_TASK = 60_000_001


@dataclass(frozen=True)
class Queue:
    """A queue whose agents ask for jobs. slot: cores of a slot; memory: MB of a slot; hours: maximal hours of a job, 0
    = any. cloud: its cores are those that it would have on the grid; its real cores are those of instances."""

    name: str
    site: str
    cores: int
    slot: int
    power: float
    memory: float
    hours: float
    cloud: bool = False
    host_cores: int = 0

    @property
    def hosts(self) -> Mapping[str, int]:
        """The cores of each worker node; without worker nodes, the nameless part has all cores."""
        if not self.host_cores:
            return {"": self.cores}
        full, rest = divmod(self.cores, self.host_cores)
        sizes = [self.host_cores] * full + [rest] * bool(rest)
        return {f"wn{number:03}": size for number, size in enumerate(sizes, 1)}


@dataclass(frozen=True)
class Task:
    """The simulation's data about a task: HS06 s of an event, CPU efficiency, further seconds, input, memory."""

    row: Row
    cpu_time: float
    efficiency: float
    base_seconds: float
    core_hours: float

    def seconds(self, events: float, cores: int, power: float) -> float:
        """Wall time of a job with this many events."""
        return self.cpu_time * events / (cores * power * self.efficiency) + self.base_seconds


@dataclass(frozen=True)
class Dataset:
    """The places of a dataset (disks and tapes), and its bytes."""

    size: int
    disks: set[str]
    tapes: set[str]


@dataclass
class Supply:
    """The whole grid. pool: tasks by share; arrivals: the rate of each share's tasks. links: MB/s from one storage site
    to another. site_of: the site of each storage. disks: the disks that jobs of each queue read.
    """

    world: Row
    queues: Sequence[Queue]
    pool: Mapping[str, Sequence[Task]]
    arrivals: Mapping[str, float]
    datasets: Mapping[str, Dataset]
    links: Mapping[tuple[str, str], float]
    site_of: Mapping[str, str]
    disks: Mapping[str, tuple[str, ...]]
    made: int = field(default=0)

    @property
    def cores(self) -> int:
        """Cores of all queues."""
        return sum(queue.cores for queue in self.queues)

    def site(self, wanted: int | str) -> str | None:
        """A site by its name or its rank by cores, or None if no site has that rank. Raises BadRequest."""
        sizes: dict[str, int] = {}
        for queue in self.queues:
            sizes[queue.site] = sizes.get(queue.site, 0) + queue.cores
        if isinstance(wanted, str):
            if wanted not in sizes:
                raise BadRequest(
                    f"the grid has no site {wanted}", f"sites are {', '.join(sizes)}; or name a rank, from 1"
                )
            return wanted
        ranked = sorted(sizes, key=lambda name: (-sizes[name], name))
        return ranked[wanted - 1] if 1 <= wanted <= len(ranked) else None

    def task(self, rng: random.Random) -> Task:
        """An arriving task: a copy of a task of the pool, with its own id."""
        [gshare] = rng.choices(list(self.arrivals), list(self.arrivals.values()))
        drawn = rng.choice(self.pool[gshare])
        self.made += 1
        return Task(
            drawn.row | {"id": _FIRST_TASK + self.made - 1}, drawn.cpu_time, drawn.efficiency, drawn.base_seconds,
            drawn.core_hours,
        )  # fmt: skip


def make(scenario: Scenario, seed: int, setup: str) -> Supply:
    """The grid of a scenario; the same for the same seed."""
    users = round(_POOL * scenario.user_part)
    made = grid.grid(seed, scenario.queues, _POOL - users, user_tasks=users, setup=setup)
    tasks = made["tasks"]
    world = {key: value for key, value in made.items() if key not in _LEFT_OUT}
    for row in world["datasets"].values():
        _cut(row, scenario.files)
    world["config"] = made["config"] | {
        f"rebroker:FAST_REBRO_THRESHOLD_NQUEUE_{gshare}": 20 for gshare in scenario.shares
    }
    total = sum(scenario.shares.values())
    world["shares"] = {gshare: {"target": target / total} for gshare, target in scenario.shares.items()}
    storages = world["storages"]
    pool: dict[str, list[Task]] = {}
    for row in tasks:
        if row["gshare"] in scenario.shares:
            pool.setdefault(row["gshare"], []).append(_task(row, world["datasets"], scenario))
    arrivals = {
        gshare: scenario.shares[gshare] * scenario.demand.get(gshare, 1) / fmean(task.core_hours for task in of_share)
        for gshare, of_share in sorted(pool.items())
    }
    queues = [_queue(name, row, scenario) for name, row in made["queues"].items() if _runs(row)]
    largest: dict[str, str] = {}
    for queue in sorted(queues, key=lambda queue: (-queue.cores, queue.name)):
        largest.setdefault(queue.site, queue.name)
    clouds = list(largest.values())[1 : 1 + scenario.clouds]
    for name in clouds:
        world["queues"][name]["resource_type"] = "cloud"
    world["instance_types"] = catalogue.shipped_types() if clouds else {}
    if scenario.host_slots:
        world["task_queue_settings"] = world.get("task_queue_settings", {}) | {"guard": scenario.guard}
    if scenario.retry_rules:
        world["retry_rules"] = list(scenario.retry_rules)
    return Supply(
        world=world,
        queues=[
            replace(queue, cloud=True)
            if queue.name in clouds
            else replace(queue, host_cores=scenario.host_slots * queue.slot)
            for queue in queues
        ],
        pool=pool,
        arrivals=arrivals,
        datasets={name: _dataset(row, storages) for name, row in world["datasets"].items() if row["replicas"]},
        links={
            (link["src"], link["dst"]): link.get("mbps_1h")
            or link.get("mbps_1d")
            or link.get("mbps_1w")
            or scenario.mbps
            for link in world["links"]
        },
        site_of={name: row["site"] for name, row in storages.items()},
        disks={
            name: tuple(disk for disk in row["astorages"]["read_lan"] if not storages[disk]["is_tape"])
            for name, row in made["queues"].items()
        },
    )


def _runs(row: Row) -> bool:
    return row["status"] == "online" and bool(row["core_statistics"]["running"])


def _queue(name: str, row: Row, scenario: Scenario) -> Queue:
    slot = row["corecount"]
    cores = min(row["core_statistics"]["running"], _LARGEST) * scenario.scale
    return Queue(
        name=name, site=row["panda_site"], cores=max(1, round(cores / slot)) * slot, slot=slot, power=row["corepower"],
        memory=row["maxrss"], hours=row["maxtime"] / 3600,
    )  # fmt: skip


def _cut(row: Row, most: int) -> None:
    """A dataset cut to this many files; incomplete replicas of longer datasets are left out."""
    if len(row["files"]) > most:
        row["files"] = row["files"][:most]
        row["replicas"] = {storage: replica for storage, replica in row["replicas"].items() if not replica}


def _task(row: Row, datasets: Mapping[str, Row], scenario: Scenario) -> Task:
    """The form of an arriving task: for the task broker, or to be split into jobs."""
    row = {key: value for key, value in row.items() if key not in ("nucleus", "sites_used", "failures")}
    if row["label"] == "user":
        row["status"] = "ready"
    else:
        row |= {"status": "assigning", "cpu_time": row["cpu_time"] * scenario.pace}
    main = datasets[row["input"][0]]["files"]
    events = sum(file["nevents"] for file in main)
    task = Task(row, row["cpu_time"], row["cpu_efficiency"] / 100, row.get("base_walltime", 0), 0)
    a_job = max(row.get("split", {}).get("nFilesPerMergeJob" if row.get("is_merging") else "nFilesPerJob", 1), 1)
    jobs = -(-len(main) // a_job)
    cores = row["core_count"]
    hours = task.seconds(events / jobs, cores, _USUAL_POWER) / 3600
    return Task(row, task.cpu_time, task.efficiency, task.base_seconds, jobs * cores * hours)


def _dataset(row: Row, storages: Mapping[str, Row]) -> Dataset:
    complete = [storage for storage, replica in row["replicas"].items() if not replica]
    return Dataset(
        sum(file["size"] for file in row["files"]) if row["type"] != "pseudo_input" else 0,
        {storage for storage in complete if not storages[storage]["is_tape"]},
        {storage for storage in complete if storages[storage]["is_tape"]},
    )
