"""Tasks of production."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from broker.laboratory.grid.data import CONTENTS, GENERATED_EVENTS, PSEUDO_DATASETS, Data
from broker.laboratory.grid.drawing import Row, dealt, log
from broker.laboratory.grid.sites import Place, Queue
from broker.laboratory.grid.software import CONTAINER, RELEASE_WEIGHTS, RELEASES

_FIRST_TASK = 41_000_001


@dataclass(frozen=True)
class _Supply:
    """Names that tasks can use. busiest: a nucleus with more queued transfers than allowed, not one of `nuclei`. idle,
    usual: online queues without and with pilots.
    """

    nuclei: Sequence[str]
    bare: Sequence[str]
    busiest: str | None
    idle: Sequence[str]
    usual: Sequence[str]
    data: Mapping[str, Sequence[Data]]


def supply_of(
    queues: Sequence[Queue], nuclei: Sequence[Place], busy: Mapping[str, float], data: Sequence[Data]
) -> _Supply:
    busiest = max(busy, key=lambda name: busy[name]) if busy else None
    online = [queue for queue in queues if queue.row["status"] == "online" and queue.kind not in ("ANALY", "TEST")]
    return _Supply(
        nuclei=[place.name for place in nuclei if place.name != busiest],
        bare=[place.name for place in nuclei if place.bare],
        busiest=busiest,
        idle=[queue.name for queue in online if "pilots" not in queue.row],
        usual=[queue.name for queue in online if queue.kind in ("UCORE", "MCORE") and "pilots" in queue.row],
        data={kind: [item for item in data if item.kind == kind] for kind in CONTENTS},
    )


def make_tasks(rng: random.Random, supply: _Supply, number: int) -> Iterator[Row]:
    """The usual mix of tasks: one in twenty is a scout, one in twenty is urgent for some reason."""
    cards = {kind: count for kind, (count, _) in _TASKS.items()}
    for index, kind in enumerate(dealt(rng, cards, number)):
        task = _usual(rng) | _TASKS[kind][1](rng, supply)
        if kind not in ("merge", "express", "waiting"):
            _promote(rng, task)
        if rng.random() < 0.03:
            task |= {"nucleus": None, "status": "assigning"}
        elif "nucleus" not in task:
            task["nucleus"] = rng.choice(supply.nuclei)
        if kind not in ("evgen", "validation", "waiting"):
            _connect(rng, task)
        yield {
            "id": _FIRST_TASK + index,
            **task,
            "resource_type": resource_type_of(task["core_count"], task["ram_count"]),
        }


def _usual(rng: random.Random) -> Row:
    release, platform = rng.choices(RELEASES, RELEASE_WEIGHTS)[0]
    priority = rng.choice((300, 400, 450, 500, 500, 550, 600, 700))
    return {
        "label": "managed", "gshare": "MC Default", "status": rng.choice(("ready", "running", "running", "pending")),
        "user": f"syn-production-{rng.randrange(1, 5)}", "processing_type": "simul", "task_priority": priority,
        "current_priority": priority + rng.choice((0, 0, 20, 50)), "core_count": 8, "ram_count": 2_000,
        "ram_unit": "MBPerCore", "base_ram_count": rng.choice((0, 0, 500)), "cpu_time_unit": "HS06sPerEvent",
        "cpu_efficiency": rng.choice((80, 90, 90, 95)), "base_walltime": rng.choice((0, 300, 600)),
        "out_disk_unit": "kBPerEvent", "work_disk_count": rng.choice((None, 100, 500, 1_000, 3_000)),
        "work_disk_unit": "MB", "io_intensity": round(log(rng, 5, 150)), "disk_io": round(log(rng, 50, 3_000)),
        "architecture": platform, "trans_home": release,
    }  # fmt: skip


def _promote(rng: random.Random, task: Row) -> None:
    """Make some tasks scouts and some of high priority."""
    chance = rng.random()
    if chance < 0.05:
        task |= {"use_scout": True, "status": "scouting", "split": task.get("split", {}) | {"useScout": 2}}
    elif chance < 0.1:
        priority = rng.choice((800, 850, 900, 950))
        task |= {"task_priority": priority, "current_priority": priority}


def _connect(rng: random.Random, task: Row) -> None:
    """Some tasks need the network from the worker nodes."""
    chance = rng.random()
    if chance < 0.03:
        task["split"] = task.get("split", {}) | {"ipConnectivity": 1}
    elif chance < 0.05:
        task["split"] = task.get("split", {}) | {"ipConnectivity": 1, "ipStack": 4}
    elif chance < 0.06:
        task["split"] = task.get("split", {}) | {"ipConnectivity": 2}


def resource_type_of(cores: int, memory: int) -> str:
    """The resource type by cores and MB per core, which PanDA counts as nine tenths of the demand."""
    needed = int(memory * 0.9)
    return ("MCORE" if cores > 1 else "SCORE") + ("" if needed <= 2_000 else "_HIMEM" if needed <= 3_000 else "_VHIMEM")


def _reading(rng: random.Random, supply: _Supply, kind: str, **split: int) -> Row:
    """The input of a task, and a nucleus that usually has it."""
    item = rng.choice(supply.data[kind])
    row: Row = {"input": [item.name], "split": split}
    homes = [home for home in item.homes if home in supply.nuclei]
    if homes and rng.random() < 0.85:
        row["nucleus"] = rng.choice(homes)
    return row


def _evgen(rng: random.Random, supply_of: _Supply) -> Row:
    cores, seconds = 8 if rng.random() < 0.2 else 1, round(log(rng, 20, 2_000))
    return {
        "processing_type": "evgen", "input": [PSEUDO_DATASETS[seconds % len(PSEUDO_DATASETS)]], "core_count": cores,
        "cpu_time": seconds, "base_walltime": round(log(rng, 300, 3_600)), "out_disk_count": 100,
        "io_intensity": round(log(rng, 1, 20)), "split": {"nFilesPerJob": 1, "nEventsPerJob": GENERATED_EVENTS},
    }  # fmt: skip


def _simul(rng: random.Random, supply: _Supply) -> Row:
    return {
        "gshare": rng.choice(("MC Default", "MC Default", "MC Default", "Upgrade")),
        "cpu_time": round(log(rng, 500, 20_000)),
        "out_disk_count": round(log(rng, 300, 3_000)),
        **_reading(rng, supply, "EVNT", nFilesPerJob=1),
    }


def _event_service(rng: random.Random, supply: _Supply) -> Row:
    return _simul(rng, supply) | {"event_service": 1}


def _pile(rng: random.Random, supply: _Supply) -> Row:
    row = _reading(rng, supply, "HITS", nFilesPerJob=2)
    background = rng.choice(supply.data["MINBIAS"]).name
    return row | {
        "processing_type": "pile", "input": [*row["input"], background], "cpu_time": round(log(rng, 100, 800)),
        "ram_count": rng.choice((2_000, 2_000, 2_500)), "out_disk_count": round(log(rng, 300, 800)),
        "io_intensity": round(log(rng, 40, 250)),
    }  # fmt: skip


def _mcore(rng: random.Random, supply: _Supply) -> Row:
    return {
        "processing_type": "mcore", "cpu_time": round(log(rng, 100, 600)), "out_disk_count": round(log(rng, 200, 600)),
        "io_intensity": round(log(rng, 30, 300)), **_reading(rng, supply, "HITS", nFilesPerJob=2),
    }  # fmt: skip


def _reprocessing(rng: random.Random, supply: _Supply) -> Row:
    row = _reading(rng, supply, "RAW", nFilesPerJob=rng.choice((1, 1, 2)))
    if rng.random() < 0.3:
        row["split"]["inputPreStaging"] = 1
    return {
        "gshare": rng.choice(("Reprocessing default", "Reprocessing default", "Heavy Ion")),
        "processing_type": "reprocessing", "cpu_time": round(log(rng, 100, 500)),
        "out_disk_count": round(log(rng, 100, 500)), "out_disk_unit": "kB", "io_intensity": round(log(rng, 50, 800)),
        **row,
    }  # fmt: skip


def _derivation(rng: random.Random, supply: _Supply) -> Row:
    row = _reading(rng, supply, "AOD", nFilesPerJob=rng.choice((1, 2, 3, 5)))
    if rng.random() < 0.8:
        row["split"]["allowInputLAN"] = 2 if rng.random() < 0.1 else 1
    return {
        "gshare": rng.choice(("MC Default", "Reprocessing default")), "processing_type": "deriv",
        "core_count": rng.choice((1, 8, 8)), "cpu_time": round(log(rng, 5, 40)),
        "ram_count": rng.choice((2_000, 2_000, 2_500, 3_000)), "out_disk_count": round(log(rng, 50, 300)),
        "out_disk_unit": "kB", "io_intensity": round(log(rng, 100, 3_000)), **row,
    }  # fmt: skip


def _group(rng: random.Random, supply: _Supply) -> Row:
    return _derivation(rng, supply) | {
        "gshare": "Group production", "processing_type": "group", "working_group": f"SYN_Physics{rng.randrange(1, 6)}",
        "core_count": 1,
    }  # fmt: skip


def _merge(rng: random.Random, supply: _Supply) -> Row:
    return {
        "gshare": rng.choice(("MC Default", "Group production")), "processing_type": "merge", "core_count": 8,
        "merge_core_count": 1, "merge_ram_count": rng.choice((None, 2_000, 3_000)), "is_merging": True, "cpu_time": 1,
        "out_disk_count": 100, "out_disk_unit": "kB", **_reading(rng, supply, "MERGE", nFilesPerMergeJob=10),
    }  # fmt: skip


def _validation(rng: random.Random, supply: _Supply) -> Row:
    row: Row = {"gshare": "Validation", "processing_type": "validation", "cpu_time": round(log(rng, 100, 1_000))}
    if supply.usual and rng.random() < 0.4:
        row["site"] = rng.choice(supply.usual)
    return row | {"out_disk_count": 500, **_reading(rng, supply, "EVNT", nFilesPerJob=1)}


def _express(rng: random.Random, supply: _Supply) -> Row:
    row = _reprocessing(rng, supply) | {"gshare": "Express"}
    if rng.random() < 0.5:
        return row | {"processing_type": "urgent", "current_priority": 900}
    return row | {"current_priority": 1_000}


def _high_memory(rng: random.Random, supply: _Supply) -> Row:
    return _reprocessing(rng, supply) | {
        "gshare": "Heavy Ion",
        "core_count": rng.choice((1, 8)),
        "ram_count": rng.choice((3_000, 4_000, 5_000)),
    }


def _gpu(rng: random.Random, supply: _Supply) -> Row:
    return _group(rng, supply) | {"architecture": f"x86_64-el9-gcc13-opt&nvidia{rng.choice(('', '-a100'))}"}


def _arm(rng: random.Random, supply: _Supply) -> Row:
    return _simul(rng, supply) | {"architecture": "aarch64-el9-gcc13-opt#aarch64"}


def _container(rng: random.Random, supply: _Supply) -> Row:
    return _group(rng, supply) | {
        "container_name": rng.choice((CONTAINER, "syn-analysis", "docker://synthetic/training:2.1")),
        "trans_home": None,
        "architecture": "",
    }


def _full_chain(rng: random.Random, supply: _Supply) -> Row:
    """A nucleus, usually a bare one; any nucleus if there is no bare one."""
    row = _simul(rng, supply)
    row["split"]["fullChain"] = rng.choice((1, 2, 3))
    return row | {"nucleus": rng.choice(supply.bare or supply.nuclei)}


def _t1(rng: random.Random, supply: _Supply) -> Row:
    """Jobs that stay at the nucleus."""
    row = _reprocessing(rng, supply)
    row["split"]["t1Weight"] = -1
    return row


def _waiting(rng: random.Random, supply: _Supply) -> Row:
    """A task that no queue takes, for one of several reasons."""
    row = _simul(rng, supply)
    reasons: list[Row] = [
        {"ram_count": 64_000},
        {"work_disk_count": 2_000, "work_disk_unit": "GB", "core_count": 1},
        {"cpu_time": 100_000_000},
        {"split": {"nFilesPerJob": 1, "maxCoreCount": 2}},
        {"input": [rng.choice(supply.data["TAPE"]).name], "processing_type": "reprocessing", "io_intensity": 2_000},
    ]
    if supply.idle:
        reasons.append({"site": rng.choice(supply.idle)})
    if supply.busiest:
        reasons.append({"nucleus": supply.busiest})
    return row | {"status": "pending"} | rng.choice(reasons)


_TASKS: dict[str, tuple[int, Callable[[random.Random, _Supply], Row]]] = {
    "evgen": (12, _evgen), "simul": (22, _simul), "event service": (2, _event_service), "pile": (8, _pile),
    "mcore": (6, _mcore), "reprocessing": (10, _reprocessing), "derivation": (11, _derivation), "group": (7, _group),
    "merge": (6, _merge), "validation": (3, _validation), "express": (2, _express), "high memory": (3, _high_memory),
    "gpu": (1, _gpu), "arm": (1, _arm), "container": (1, _container), "full chain": (1, _full_chain), "t1": (2, _t1),
    "waiting": (2, _waiting),
}  # fmt: skip
"""Kinds of tasks: their number among a hundred, and the function that makes one."""
