"""A lifelike grid as a world: sites, queues, storages, links, data and tasks, all of them synthetic.

For demos and benchmarks, which show SYNTHETIC beside every figure. No site, task or figure is anybody's; every site is
named SYN-<country>-<number>, and queues, storages, datasets and working groups carry the same mark. What is lifelike:

- the kinds of queues and their limits, with the usual exceptions (offline, without pilots, unpublished, reserved);
- nuclei hold most of the data, satellites hold some or have no storage of their own and use a nucleus's;
- waiting jobs follow running ones, with some queues full, some empty, some links blocked or busy;
- the usual mix of tasks, a few of which no queue can take, each for a reason of its own.

Times are hours before the clock of the database, so that a world does not age. Each part draws from a stream of its
own: another number of tasks leaves queues and links as they are.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SYNTHETIC = "synthetic: invented sites, tasks and figures"

Row = dict[str, Any]

_FIRST_TASK = 41_000_001
_MEBIBYTE = 1024**2
_COUNTRIES = "AU CA CH CZ DE DK ES FR IL IT JP NL NO PL PT RO SE SI TW UK US".split()
_NUCLEI = 30
_QUEUES_A_SITE = 2.6
_QUEUED = 6  # files on a link, on average

_SHARES = {
    "MC Default": 0.45,
    "Group production": 0.18,
    "Reprocessing default": 0.15,
    "Heavy Ion": 0.08,
    "Upgrade": 0.06,
    "Validation": 0.05,
    "Express": 0.03,
}
"""Shares of the running cores."""

_CONFIG: Row = {
    "jobbroker:NQUEUED_SAT_CAP": 150,
    "jobbroker:NQUEUED_NUC_CAP_FOR_JOBS": 10_000,
    "jobbroker:IO_INTENSITY_CUTOFF": 200,
    "jobbroker:SIZE_CUTOFF_TO_MOVE_INPUT": 10,
    "jobbroker:NUM_CUTOFF_TO_MOVE_INPUT": 100,
    "jobbroker:MAX_DISKIO_DEFAULT": 4_000,
    "jobbroker:NW_THRESHOLD": 1.7,
    "jobbroker:NW_WEIGHT_MULTIPLIER": 1,
    "taskbrokerage:NQUEUED_NUC_CAP": 2_000,
    "taskbrokerage:DISK_THRESHOLD": 100,
    "taskbrokerage:INPUT_SIZE_THRESHOLD": 1,
    "taskbrokerage:INPUT_SIZE_FRACTION": 10,
    "taskbrokerage:INPUT_NUM_THRESHOLD": 100,
    "taskbrokerage:INPUT_NUM_FRACTION": 10,
    "taskbrokerage:MIN_IO_INTENSITY_WITH_LOCAL_DATA": 200,
    "taskbrokerage:MIN_INPUT_SIZE_WITH_LOCAL_DATA": 10_000,
    "taskbrokerage:MAX_TASK_PRIO_WITH_LOCAL_DATA": 800,
}

_POLICIES = (
    "type=evgen:100%,type=simul:100%,type=any:0%",
    "type=deriv:0%,type=group:0%",
    "type=simul:priority<450:0%",
    "group=SYN_Physics1:100%,type=any:0%",
    "gshare=Heavy Ion:0%",
    "type=evgensimul:100%",
)

_RELEASES = (
    ("Athena-24.0.41", "x86_64-el9-gcc13-opt"),
    ("Athena-23.0.53", "x86_64-centos7-gcc11-opt"),
    ("AthGeneration-23.6.19", "x86_64-centos7-gcc11-opt"),
    ("AthDerivation-21.2.6.0", "x86_64-slc6-gcc62-opt@centos7"),
    ("AtlasOffline-21.0.77", "x86_64-slc6-gcc62-opt"),
    ("Athena-main-2026-10-12T2101", "x86_64-el9-gcc13-opt"),
    ("Athena-24.0.41", "x86_64-(el9|centos9)-gcc.*"),
    ("Athena-24.0.41", "x86_64-el9-gcc13-opt#x86_64-intel"),
)
_RELEASE_WEIGHTS = (40, 20, 10, 6, 12, 4, 3, 5)
_PLATFORMS = [
    "x86_64-centos7-gcc11-opt",
    "x86_64-centos7-gcc8-opt",
    "x86_64-el9-gcc13-opt",
    "x86_64-slc6-gcc49-opt",
    "x86_64-slc6-gcc62-opt",
]
_PSEUDO_DATASETS = ("syn.pseudo.evgen.n20", "syn.pseudo.evgen.n50", "syn.pseudo.evgen.n100")
_GENERATED_EVENTS = 1_000  # a job
_CONTAINER = "/cvmfs/unpacked.synthetic/syn/analysis:1.2"


@dataclass(frozen=True)
class _Shape:
    """What queues of a kind look like; a figure is drawn from each tuple.

    memory: MB a core. hours: maxtime. scratch: MB a core. size: the range of cores that run there.
    """

    type: str
    capability: str
    workflow: str
    cores: tuple[int, ...]
    memory: tuple[int, ...]
    hours: tuple[int, ...]
    scratch: tuple[int, ...]
    size: tuple[int, int]


_SHAPES = {
    "UCORE": _Shape(
        "unified",
        "ucore",
        "pull_ups",
        (8, 8, 8, 8, 16),
        (2_000, 3_000, 4_000, 6_000),
        (48, 72, 96, 120),
        (3_000, 4_000, 8_000, 13_312, 20_000),
        (300, 8_000),
    ),
    "MCORE": _Shape(
        "production",
        "mcore",
        "push",
        (8,),
        (2_000, 2_500),
        (24, 48, 72, 96),
        (3_000, 5_000, 10_000, 15_000),
        (200, 4_000),
    ),
    "SCORE": _Shape(
        "production", "score", "push", (1,), (2_000, 2_500, 3_000), (48, 72, 96), (10_000, 14_000, 20_000), (50, 1_000)
    ),
    "HIMEM": _Shape(
        "production", "himem", "push", (1, 8), (4_000, 6_000, 8_000), (72, 96), (14_000, 20_000), (50, 800)
    ),
    "HPC": _Shape(
        "production",
        "mcore",
        "push",
        (32, 48, 64, 128),
        (1_000, 2_000, 2_000),
        (72, 96, 168),
        (2_000, 4_000, 8_000),
        (5_000, 60_000),
    ),
    "CLOUD": _Shape(
        "production", "mcore", "pull", (4, 8), (2_000, 4_000), (12, 18, 24, 48), (3_000, 6_000, 12_000), (100, 5_000)
    ),
    "GPU": _Shape("production", "score", "push", (1, 4), (4_000, 8_000), (24, 48, 72), (20_000, 40_000), (8, 128)),
    "ARM": _Shape("unified", "ucore", "pull_ups", (8,), (2_000, 3_000), (72, 96), (8_000, 13_312), (100, 1_000)),
    "ANALY": _Shape("analysis", "score", "pull", (1,), (2_000, 4_000), (48, 72), (10_000, 14_000), (50, 2_000)),
    "TEST": _Shape("unified", "ucore", "pull_ups", (8,), (2_000,), (24,), (10_000,), (8, 16)),
}
_FURTHER_QUEUES = {
    "UCORE": 9,
    "MCORE": 7,
    "SCORE": 6,
    "HIMEM": 4,
    "HPC": 3,
    "CLOUD": 4,
    "GPU": 2,
    "ARM": 1,
    "ANALY": 2,
    "TEST": 2,
}
"""Of forty queues that are not the first one of a site."""

_STATUSES = {"online": 87, "brokeroff": 4, "offline": 3, "test": 4, "standby": 2}
_OWN_RESOURCES = ("HPC", "CLOUD", "GPU", "ARM", "TEST")
"""Kinds that are satellites wherever they are."""


@dataclass(frozen=True)
class _Place:
    """A site. disk: the storage site that it writes to, its own or a nucleus's. bare: its bareNucleus mode."""

    name: str
    country: str
    nucleus: bool
    disk: str
    tape: bool
    bare: str | None
    corepower: float


@dataclass(frozen=True)
class _Queue:
    """A queue with what is needed to invent figures about it. size: cores that run there."""

    name: str
    kind: str
    place: _Place
    size: int
    row: Row


@dataclass(frozen=True)
class _Data:
    """A dataset. homes: nuclei with a complete copy on disk."""

    name: str
    kind: str
    homes: tuple[str, ...]
    row: Row


@dataclass(frozen=True)
class _Supply:
    """What tasks can name.

    busiest: more is queued into this nucleus than is allowed; it is none of `nuclei`. idle, usual: queues that are
    online, without pilots and with them.
    """

    nuclei: Sequence[str]
    bare: Sequence[str]
    busiest: str | None
    idle: Sequence[str]
    usual: Sequence[str]
    data: Mapping[str, Sequence[_Data]]


def grid(seed: int = 1, queues: int = 300, tasks: int = 1000, *, setup: str = "grid") -> Row:
    """A synthetic grid as a world (see the world format) of so many queues and tasks; the same for the same arguments.

    There are queues / 2.6 sites, of which at most 30 are nuclei, and at most 400 datasets of at most 100 files each
    besides the pseudo datasets that make the jobs of event generation.
    Raises ValueError when there is no queue or a negative number of tasks.
    """
    if queues < 1 or tasks < 0:
        raise ValueError(
            f"queues is {queues} and tasks is {tasks}; a grid has a queue or more and no fewer than 0 tasks"
        )

    def stream(part: str) -> random.Random:
        return random.Random(f"{seed} {part}")

    places = _places(stream("places"), queues)
    nuclei = [place for place in places if place.nucleus]
    members = _queues(stream("queues"), places, queues)
    busy = _busy(stream("busy"), places)
    data = list(_datasets(stream("datasets"), places, members, min(400, max(7, tasks * 2 // 5))))
    made = list(_tasks(stream("tasks"), _supply(members, nuclei, busy, data), tasks))
    return {
        "setup": setup,
        "config": dict(_CONFIG),
        "queues": {queue.name: queue.row for queue in members},
        "nuclei": {place.name: _nucleus(place) for place in nuclei},
        "storages": _storages(stream("storages"), places),
        "links": list(_links(stream("links"), places, busy)),
        "datasets": {item.name: item.row for item in data} | _pseudo_datasets(made),
        "statistics": list(_statistics(stream("statistics"), members, nuclei)),
        "software": _software(stream("software"), members),
        "worker_gpus": _worker_gpus(members),
        "shares": _share_figures(stream("shares")),
        "to_running_rate": _to_running_rate(stream("rates"), members),
        "remaining_work": _remaining_work(stream("work"), nuclei),
        "tasks": made,
    }


def _log(rng: random.Random, low: float, high: float) -> float:
    """Log-uniform between two figures."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def _ago(rng: random.Random, low: float, high: float) -> Row:
    return {"hours_ago": round(_log(rng, low, high), 2)}


def _weighted(rng: random.Random, weights: Mapping[str, float]) -> str:
    return rng.choices(list(weights), list(weights.values()))[0]


def _dealt(rng: random.Random, cards: Mapping[str, int], number: int) -> list[str]:
    """So many cards of shuffled decks: in each full deck every name is there as often as it says."""
    dealt: list[str] = []
    while len(dealt) < number:
        deck = [name for name, count in cards.items() for _ in range(count)]
        rng.shuffle(deck)
        dealt += deck
    return dealt[:number]


# Sites, queues, storages, links


def _places(rng: random.Random, queues: int) -> list[_Place]:
    """The sites, nuclei first. One in ten satellites has no storage of its own."""
    sites = max(1, round(queues / _QUEUES_A_SITE))
    nuclei = min(_NUCLEI, max(1, queues // 10))
    numbers: dict[str, int] = {}
    names: list[str] = []
    for _ in range(sites):
        country = rng.choice(_COUNTRIES)
        numbers[country] = numbers.get(country, 0) + 1
        names.append(f"SYN-{country}-{numbers[country]:02}")
    bare = {2: "only", 5: "allow", 9: "allow"}
    return [
        _Place(
            name=name,
            country=name.split("-")[1],
            nucleus=index < nuclei,
            disk=rng.choice(names[:nuclei]) if index >= nuclei and index % 10 == 0 else name,
            tape=index < nuclei and index % 3 == 0,
            bare=bare.get(index) if index < nuclei else None,
            corepower=round(rng.uniform(8, 25), 2),
        )
        for index, name in enumerate(names)
    ]


def _queues(rng: random.Random, places: Sequence[_Place], number: int) -> list[_Queue]:
    """A first queue at every site (unified mostly, always at nuclei), then further ones anywhere, more at nuclei."""
    satellites = [place for place in places if not place.nucleus] or places
    weights = [3 if place.nucleus else 1 for place in places]
    kinds: list[tuple[str, _Place]] = []
    for place in places[:number]:
        kinds.append(("UCORE" if place.nucleus or rng.random() < 0.85 else "MCORE", place))
    for kind in _dealt(rng, _FURTHER_QUEUES, number - len(kinds)):
        own = kind in _OWN_RESOURCES
        kinds.append((kind, rng.choice(satellites) if own else rng.choices(places, weights)[0]))
    names: dict[str, _Queue] = {}
    for index, (kind, place) in enumerate(kinds):
        first = index < len(places)
        name = place.name if first and kind == "UCORE" else f"{place.name}_{kind}"
        same = 2
        while name in names:
            name, same = f"{place.name}_{kind}_{same}", same + 1
        names[name] = _queue(rng, name, kind, place, always_online=first and place.nucleus)
    return list(names.values())


def _queue(rng: random.Random, name: str, kind: str, place: _Place, *, always_online: bool) -> _Queue:
    shape = _SHAPES[kind]
    status = "online" if always_online else _weighted(rng, _STATUSES)
    if kind == "HPC" and status == "online" and rng.random() < 0.3:
        status = "standby"
    size = round(_log(rng, *shape.size)) * (3 if place.nucleus else 1)
    row: Row = {
        "panda_site": place.name,
        "role": "nucleus" if place.nucleus and kind not in _OWN_RESOURCES else "satellite",
        "type": shape.type,
        "cloud": place.country,
        "tier": ("T1" if place.tape else "T2D") if place.nucleus else "T3" if kind in _OWN_RESOURCES else "T2",
        "status": status,
        "capability": shape.capability,
        "workflow": shape.workflow,
        "corepower": place.corepower,
        **_limits(rng, kind, shape),
        **_access(rng, kind, place),
        **_policy(rng, kind, place, size),
        **_measured(rng, shape, size, running=status in ("online", "standby", "brokeroff")),
    }
    return _Queue(name, kind, place, size, row)


def _limits(rng: random.Random, kind: str, shape: _Shape) -> Row:
    """What a job may use; memory and scratch are per job slot."""
    cores = rng.choice(shape.cores)
    hours = rng.choice(shape.hours)
    return {
        "corecount": cores,
        "maxrss": cores * rng.choice(shape.memory),
        "minrss": cores * 2_001 if kind == "HIMEM" else 0,
        "maxtime": hours * 3_600,
        "mintime": rng.choice((0, 7_200, 21_600)) if kind == "HPC" else 0,
        "maxwdir": 0 if kind == "HPC" and rng.random() < 0.2 else cores * rng.choice(shape.scratch),
        "maxdiskio": rng.choice((0, 0, 500, 1_000, 5_000)),
    }


def _access(rng: random.Random, kind: str, place: _Place) -> Row:
    """Network, and where input is read and output written."""
    if kind == "HPC":
        connectivity = rng.choice(("none", "http", "none", "full"))
    else:
        connectivity = _weighted(rng, {"full#IPv4": 4, "full": 5, "full#IPv6": 1, "http": 0.5})
    disk = f"{place.disk}_DATADISK"
    return {
        "wnconnectivity": connectivity,
        "direct_access_lan": rng.random() < 0.6,
        "direct_access_wan": rng.random() < 0.1,
        "maxinputsize": -1 if rng.random() < 0.05 else rng.choice((16_000, 30_000, 60_000)),
        "astorages": {
            "read_lan": [disk, f"{place.name}_DATATAPE"] if place.tape else [disk],
            "write_lan": [disk],
        },
    }


def _policy(rng: random.Random, kind: str, place: _Place, size: int) -> Row:
    """What the site grants: software, shares, event service, pledges."""
    flags = [f"bareNucleus={place.bare}"] if place.bare and kind not in _OWN_RESOURCES else []
    if kind == "GPU":
        flags.append("gpu")
    opportunistic = kind in ("HPC", "CLOUD", "GPU", "ARM")
    return {
        "releases": ["ANY"] if rng.random() < (0.2 if kind in ("HPC", "CLOUD") else 0.04) else ["AUTO"],
        "fairsharepolicy": rng.choice(_POLICIES) if rng.random() < 0.08 else None,
        "jobseed": _weighted(rng, {"all": 45, "std": 30, "eshigh": 20, "es": 2}),
        "pledgedcpu": -1 if opportunistic else rng.choice((None, size, size * 3 // 4)),
        "transferringlimit": rng.choice((0, 2_000, 3_000, 5_000)),
        "transtimehi": rng.choice((2, 3)),
        "transtimelo": rng.choice((5, 7)),
        "catchall": ",".join(flags),
        "params": {"unified_dispatch": True} if kind in ("UCORE", "ARM") else {},
        "uconfig": {},
    }


def _measured(rng: random.Random, shape: _Shape, size: int, *, running: bool) -> Row:
    """What the last hours brought; one in twenty-five queues has no pilots."""
    row: Row = {
        "average_diskio": round(_log(rng, 100, 4_000)),
        "ups": shape.workflow == "pull_ups",
        "workers": {"running": 0, "submitted": 0},
        "core_statistics": {"running": 0, "starting": 0},
    }
    if not running or rng.random() < 0.04:
        return row
    jobs = max(1, size // shape.cores[0])
    row["pilots"] = {"getjob": jobs * 2, "updatejob": jobs * 6}
    row["laststart"] = _ago(rng, 3, 30) if rng.random() < 0.06 else _ago(rng, 0.01, 1)
    row["workers"] = {"running": jobs, "submitted": rng.randrange(1, 50)}
    row["core_statistics"] = {"running": size, "starting": size // rng.randrange(10, 50)}
    if rng.random() < 0.15:
        numslots = rng.choice((0, size // 2, size))
        row["slots"] = [{"gshare": None, "resource_type": None, "numslots": numslots}]
    return row


def _nucleus(place: _Place) -> Row:
    return {"state": "ACTIVE"} | ({"bare_nucleus": place.bare} if place.bare else {})


def _storages(rng: random.Random, places: Sequence[_Place]) -> dict[str, Row]:
    """A disk for every site that has its own, a tape for some nuclei. Space in GB."""
    storages: dict[str, Row] = {}
    for place in places:
        if place.disk == place.name:
            storages[f"{place.name}_DATADISK"] = _storage(rng, place, is_tape=False)
        if place.tape:
            storages[f"{place.name}_DATATAPE"] = _storage(rng, place, is_tape=True)
    return storages


def _storage(rng: random.Random, place: _Place, *, is_tape: bool) -> Row:
    total = round(_log(rng, 2e6, 2e7) if place.nucleus else _log(rng, 5e4, 3e6))
    free = round(total * rng.uniform(0.03, 0.35))
    states = dict.fromkeys(("read_lan", "write_lan", "read_wan", "write_wan"), "ON")
    if not place.nucleus:
        if rng.random() < 0.04:
            free = rng.randrange(20, 200)
        if rng.random() < 0.04:
            states |= {"write_lan": rng.choice(("OFF", "TEST")), "write_wan": "OFF"}
        if rng.random() < 0.02:
            states |= {"read_lan": "OFF", "read_wan": "OFF"}
    return {
        "type": "DATATAPE" if is_tape else "DATADISK",
        "is_tape": is_tape,
        "site": place.name,
        "space_total": total,
        "space_free": free,
        "space_expired": round(total * rng.uniform(0.05, 0.3)),
        "space_min_free": 0,
        "space_unavailable": 0,
        **states,
    }


def _busy(rng: random.Random, places: Sequence[_Place]) -> dict[str, float]:
    """How many times the usual number of files is queued into busy nuclei; none where there are few nuclei.

    The first gets some 15,000 files from all sites together, the others 3,000: more than the caps of jobs and tasks.
    """
    nuclei = [place.name for place in places if place.nucleus]
    chosen = rng.sample(nuclei, 3) if len(nuclei) >= 10 else []
    return {name: files / _QUEUED / len(places) for name, files in zip(chosen, (15_000, 3_000, 3_000), strict=False)}


def _links(rng: random.Random, places: Sequence[_Place], busy: Mapping[str, float]) -> Iterator[Row]:
    """From every storage site to every nucleus: closeness 0 (best) to 11, -1 blocked; MB/s; files queued."""
    for source in (place for place in places if place.disk == place.name):
        for nucleus in (place for place in places if place.nucleus and place is not source):
            near = source.country == nucleus.country
            over = rng.random() < 0.02
            queued = (
                rng.randrange(151, 400) if over else round(rng.expovariate(1 / _QUEUED) * busy.get(nucleus.name, 1))
            )
            rate = _log(rng, 10, 300) if near else _log(rng, 0.5, 150)
            known = rng.random()
            link: Row = {
                "src": source.name,
                "dst": nucleus.name,
                "closeness": -1 if rng.random() < 0.01 else rng.randrange(3) if near else rng.randrange(3, 11),
                "queued": queued,
            }
            if rng.random() < 0.2:
                link["queued_express"] = queued // 20
            if known < 0.5:
                link["mbps_1h"] = round(rate * rng.uniform(0.5, 1.5), 1)
            if known < 0.75:
                link["mbps_1d"] = round(rate, 1)
            if known < 0.92:
                link["mbps_1w"] = round(rate * rng.uniform(0.8, 1.2), 1)
            yield link


# Jobs counted, shares, work


def _statistics(rng: random.Random, queues: Sequence[_Queue], nuclei: Sequence[_Place]) -> Iterator[Row]:
    """Job counts of each queue: two shares or more, one to three resource types, all states."""
    for queue in queues:
        if queue.row["status"] in ("offline", "test") or queue.kind in ("ANALY", "TEST"):
            continue
        shares = {"MC Default"} if rng.random() < 0.9 else set()
        while len(shares) < 2:
            shares |= {_weighted(rng, _SHARES) for _ in range(rng.randrange(2, 8))}
        present = sorted(shares)
        total = sum(_SHARES[share] for share in present)
        for share in present:
            yield from _counts(rng, queue, share, queue.size * _SHARES[share] / total, rng.choice(nuclei).name)


def _counts(rng: random.Random, queue: _Queue, share: str, size: float, nucleus: str) -> Iterator[Row]:
    """The counts of a share that runs on so many cores; how many jobs wait for one that runs differs by share."""
    waiting = _weighted(rng, {"none": 4, "few": 30, "many": 21, "too many": 15 if queue.place.nucleus else 45})
    low, high = {"none": (0, 0), "few": (0.1, 0.8), "many": (0.8, 1.9), "too many": (2.1, 5)}[waiting]
    stuck = rng.random() < 0.02
    for resource_type, cores, part in _resource_types(queue):
        running = round(size * part / cores * rng.uniform(0.7, 1.1))
        queued = running * rng.uniform(low, high)
        jobs = {
            "running": running,
            "activated": round(queued * rng.uniform(0.6, 0.8)),
            "starting": round(queued * rng.uniform(0.05, 0.15)),
            "assigned": round(queued * rng.uniform(0, 0.15)),
            "defined": round(queued * rng.uniform(0, 0.02)),
            "transferring": 3 * running + 6_000 if stuck else round(running * rng.uniform(0.02, 0.4)),
        }
        for status, number in jobs.items():
            if number:
                row: Row = {
                    "queue": queue.name,
                    "gshare": share,
                    "resource_type": resource_type,
                    "nucleus": nucleus,
                    "label": "managed",
                    "status": status,
                    "njobs": number,
                    "ncores": number * cores,
                }
                yield row | ({"diskio": round(_log(rng, 100, 3_000))} if status == "running" else {})


def _resource_types(queue: _Queue) -> list[tuple[str, int, float]]:
    """The resource types that run at a queue, the cores of a job, and their parts of the cores."""
    cores = queue.row["corecount"]
    if queue.row["capability"] == "ucore":
        return [("SCORE", 1, 0.2), ("MCORE", cores, 0.7), ("MCORE_HIMEM", cores, 0.1)]
    return [(("MCORE" if cores > 1 else "SCORE") + ("_HIMEM" if queue.kind == "HIMEM" else ""), cores, 1)]


def _share_figures(rng: random.Random) -> dict[str, Row]:
    """Figures of the shares, in HS06."""
    shares: dict[str, Row] = {}
    for share, part in _SHARES.items():
        target = round(part * 5_000_000)
        usage = rng.uniform(0.7, 1.2)
        shares[share] = {
            "target": target,
            "running": round(target * usage),
            "queued": round(target * rng.uniform(0.2, 1.5)),
            "usage_percent": round(usage, 3),
        }
    return shares


def _to_running_rate(rng: random.Random, queues: Sequence[_Queue]) -> dict[str, float]:
    """Jobs an hour that start: each core a job of some hours."""
    return {
        queue.name: round(queue.size / queue.row["corecount"] / rng.uniform(4, 12), 1)
        for queue in queues
        if "pilots" in queue.row
    }


def _remaining_work(rng: random.Random, nuclei: Sequence[_Place]) -> dict[str, Row]:
    """Work of each nucleus in HS06 s, by share and priority."""
    remaining: dict[str, Row] = {}
    for place in nuclei:
        by_gshare = {
            share: {str(priority): round(part * _log(rng, 1e9, 5e10)) for priority in (900, 700, 500, 400)}
            for share, part in _SHARES.items()
        }
        total = sum(sum(work.values()) for work in by_gshare.values())
        remaining[place.name] = {"all": total, "by_gshare": by_gshare}
    return remaining


# Software


def _software(rng: random.Random, queues: Sequence[_Queue]) -> dict[str, Row]:
    """What queues publish: all with releases AUTO but a few, and the containers that every queue knows."""
    published = {
        queue.name: _published(rng, queue.kind)
        for queue in queues
        if "AUTO" in queue.row["releases"] and rng.random() >= 0.03
    }
    container: Row = {"container_name": "syn-analysis", "cmtconfig": None, "project": None, "release": None}
    every: Row = {
        "cmtconfigs": [],
        "containers": [],
        "cvmfs": [],
        "architectures": [],
        "tags": [container | {"sources": [_CONTAINER]}],
    }
    return {"ALL": every, **published}


def _published(rng: random.Random, kind: str) -> Row:
    software: Row = {
        "cmtconfigs": list(_PLATFORMS),
        "containers": ["any", "/cvmfs"],
        "cvmfs": ["atlas", "nightlies"],
        "architectures": _architectures(rng, kind),
        "tags": [],
    }
    if kind == "ARM":
        return software | {"cmtconfigs": ["aarch64-el9-gcc13-opt", "aarch64-centos7-gcc11-opt"]}
    way = _weighted(rng, {"all": 75, "no containers": 13, "tags alone": 30 if kind == "HPC" else 4})
    if way == "no containers":
        return software | {"containers": [], "cvmfs": ["atlas"], "cmtconfigs": rng.sample(_PLATFORMS, 3)}
    if way == "tags alone":
        return software | {"containers": ["/cvmfs"], "cvmfs": [], "tags": [_tag(*_RELEASES[0]), _tag(*_RELEASES[1])]}
    return software


def _tag(trans_home: str, platform: str) -> Row:
    project, release = trans_home.split("-")
    return {"cmtconfig": platform, "project": project, "release": release, "container_name": "", "sources": []}


def _architectures(rng: random.Random, kind: str) -> list[Row]:
    if kind == "ARM":
        return [{"type": "cpu", "arch": ["aarch64", "excl"], "instr": ["any"], "vendor": ["any"]}]
    vendors = rng.choice((["intel", "amd"], ["intel"], ["amd"], ["any"]))
    processor: Row = {"type": "cpu", "arch": ["x86_64"], "instr": ["avx2"], "vendor": vendors}
    if rng.random() < 0.02:
        processor["vendor"] = ["amd", "excl"]
    if kind == "GPU":
        return [processor, {"type": "gpu", "vendor": ["nvidia", "excl"], "model": ["a100", "v100"]}]
    return [processor]


def _worker_gpus(queues: Sequence[_Queue]) -> dict[str, list[Row]]:
    """The GPUs of the workers at GPU queues; vram in MB."""
    card: Row = {
        "vendor": "nvidia",
        "model": "a100",
        "vram": 40_960,
        "architecture": "ampere",
        "framework_version": "12.4",
        "driver_version": "550.54",
    }
    return {queue.name: [dict(card)] for queue in queues if queue.kind == "GPU"}


# Data


@dataclass(frozen=True)
class _Content:
    """What datasets of a kind hold: file sizes in MiB, events a file, and of how many files there are in a dataset.

    step: the part of a dataset's name that says which step made it. copies: at nuclei, and at satellites.
    """

    cards: int
    step: str
    mebibytes: tuple[int, int]
    events: int
    files: tuple[int, int]
    copies: tuple[int, int]


_CONTENTS = {
    "EVNT": _Content(10, "evgen.EVNT", (30, 120), 1_000, (10, 80), (2, 2)),
    "HITS": _Content(6, "simul.HITS", (500, 1_200), 1_000, (10, 80), (2, 2)),
    "MINBIAS": _Content(1, "simul_minbias.HITS", (1_200, 2_000), 2_000, (40, 100), (12, 10)),
    "RAW": _Content(5, "daq.RAW", (1_500, 3_000), 1_500, (10, 60), (2, 1)),
    "AOD": _Content(9, "recon.AOD", (1_000, 4_000), 8_000, (10, 60), (4, 5)),
    "MERGE": _Content(4, "unmerged.DAOD", (20, 250), 500, (10, 60), (0, 0)),
    "TAPE": _Content(1, "archive.RAW", (1_500, 3_000), 1_500, (10, 40), (0, 0)),
}


def _datasets(rng: random.Random, places: Sequence[_Place], queues: Sequence[_Queue], number: int) -> Iterator[_Data]:
    """Datasets of all kinds, at least one of each. Those to be merged lie where they were made."""
    kinds = [*_CONTENTS, *_dealt(rng, {kind: content.cards for kind, content in _CONTENTS.items()}, number)][:number]
    makers = [queue for queue in queues if queue.kind == "UCORE" and queue.row["status"] == "online"]
    for index, kind in enumerate(kinds):
        content = _CONTENTS[kind]
        files = _files(rng, content, index)
        row: Row = {"type": "input", **_dates(rng, kind), "files": files}
        homes: tuple[str, ...] = ()
        if kind == "MERGE":
            maker = rng.choice(makers)
            row["site"] = maker.name
            row["replicas"] = {maker.row["astorages"]["write_lan"][0]: {}}
        elif kind == "TAPE":
            tapes = [place.name for place in places if place.tape]
            row["replicas"] = {f"{rng.choice(tapes)}_DATATAPE": {}}
        else:
            homes, row["replicas"] = _replicas(rng, places, content, files, raw=kind == "RAW")
        yield _Data(f"syn.{800_000 + index}.{content.step}.s{rng.randrange(1_000, 9_999)}", kind, homes, row)


def _pseudo_datasets(tasks: Sequence[Row]) -> dict[str, Row]:
    """What event generation among the tasks reads: nothing. Each file is a job's share of the events to be made."""
    read = {name for task in tasks for name in task.get("input", ())}
    return {
        name: {
            "type": "pseudo_input",
            "files": [
                {"lfn": f"{name}._{number:06}", "nevents": _GENERATED_EVENTS} for number in range(1, _jobs_of(name) + 1)
            ],
            "replicas": {},
        }
        for name in _PSEUDO_DATASETS
        if name in read
    }


def _jobs_of(pseudo_dataset: str) -> int:
    return int(pseudo_dataset.rpartition(".n")[2])


def _files(rng: random.Random, content: _Content, index: int) -> list[Row]:
    form = content.step.rpartition(".")[2]
    size = rng.uniform(*content.mebibytes) * _MEBIBYTE
    return [
        {
            "lfn": f"syn.{form}.{800_000 + index}._{number:06}.root",
            "size": round(size * rng.uniform(0.9, 1.1)),
            "nevents": content.events,
        }
        for number in range(1, rng.randint(*content.files) + 1)
    ]


def _dates(rng: random.Random, kind: str) -> Row:
    """Unmerged data are young, mostly; a quarter have waited for more than a day since they were last changed."""
    created = _ago(rng, 60, 2_000)
    if kind != "MERGE":
        return {"created": created, "modified": _ago(rng, 10, 60)}
    way = rng.random()
    return {
        "created": created,
        "modified": _ago(rng, 1, 20) if way < 0.6 else created if way < 0.75 else _ago(rng, 26, 60),
    }


def _replicas(
    rng: random.Random, places: Sequence[_Place], content: _Content, files: Sequence[Row], *, raw: bool
) -> tuple[tuple[str, ...], dict[str, Row]]:
    """The nuclei with a complete copy on disk, and all copies: complete, incomplete, and (raw data) on tape."""
    nuclei = [place.name for place in places if place.nucleus]
    satellites = [place.name for place in places if not place.nucleus and place.disk == place.name]
    homes = rng.sample(nuclei, min(len(nuclei), rng.randint(1, content.copies[0])))
    others = rng.sample(satellites, min(len(satellites), rng.randint(0, content.copies[1])))
    replicas: dict[str, Row] = {f"{name}_DATADISK": {} for name in homes + others}
    if rng.random() < 0.35:
        partial = f"{rng.choice(nuclei + satellites)}_DATADISK"
        if partial not in replicas:
            replicas[partial] = _incomplete(rng, files)
    tapes = [place.name for place in places if place.tape]
    if raw and rng.random() < 0.6:
        replicas[f"{rng.choice(tapes)}_DATATAPE"] = {}
    return tuple(homes), replicas


def _incomplete(rng: random.Random, files: Sequence[Row]) -> Row:
    """A replica of some files: the first ones, or in one of four cases any, which it lists."""
    found = rng.randrange(1, len(files))
    listed = rng.random() < 0.25
    held = sorted(rng.sample(files, found), key=lambda file: str(file["lfn"])) if listed else files[:found]
    replica: Row = {
        "found": found,
        "total": len(files),
        "asize": sum(file["size"] for file in held),
        "tsize": sum(file["size"] for file in files),
    }
    return replica | ({"lfns": [file["lfn"] for file in held]} if listed else {})


# Tasks


def _supply(
    queues: Sequence[_Queue], nuclei: Sequence[_Place], busy: Mapping[str, float], data: Sequence[_Data]
) -> _Supply:
    busiest = max(busy, key=lambda name: busy[name]) if busy else None
    online = [queue for queue in queues if queue.row["status"] == "online" and queue.kind not in ("ANALY", "TEST")]
    return _Supply(
        nuclei=[place.name for place in nuclei if place.name != busiest],
        bare=[place.name for place in nuclei if place.bare],
        busiest=busiest,
        idle=[queue.name for queue in online if "pilots" not in queue.row],
        usual=[queue.name for queue in online if queue.kind in ("UCORE", "MCORE") and "pilots" in queue.row],
        data={kind: [item for item in data if item.kind == kind] for kind in _CONTENTS},
    )


def _tasks(rng: random.Random, supply: _Supply, number: int) -> Iterator[Row]:
    """The usual mix of tasks: one in twenty is a scout, one in twenty is urgent for some reason."""
    cards = {kind: count for kind, (count, _) in _TASKS.items()}
    for index, kind in enumerate(_dealt(rng, cards, number)):
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
            "resource_type": _resource_type(task["core_count"], task["ram_count"]),
        }


def _usual(rng: random.Random) -> Row:
    release, platform = rng.choices(_RELEASES, _RELEASE_WEIGHTS)[0]
    priority = rng.choice((300, 400, 450, 500, 500, 550, 600, 700))
    return {
        "label": "managed",
        "gshare": "MC Default",
        "status": rng.choice(("ready", "running", "running", "pending")),
        "user": f"syn-production-{rng.randrange(1, 5)}",
        "processing_type": "simul",
        "task_priority": priority,
        "current_priority": priority + rng.choice((0, 0, 20, 50)),
        "core_count": 8,
        "ram_count": 2_000,
        "ram_unit": "MBPerCore",
        "base_ram_count": rng.choice((0, 0, 500)),
        "cpu_time_unit": "HS06sPerEvent",
        "cpu_efficiency": rng.choice((80, 90, 90, 95)),
        "base_walltime": rng.choice((0, 300, 600)),
        "out_disk_unit": "kBPerEvent",
        "work_disk_count": rng.choice((None, 100, 500, 1_000, 3_000)),
        "work_disk_unit": "MB",
        "io_intensity": round(_log(rng, 5, 150)),
        "disk_io": round(_log(rng, 50, 3_000)),
        "architecture": platform,
        "trans_home": release,
    }


def _promote(rng: random.Random, task: Row) -> None:
    """Make some tasks scouts and some of high priority."""
    chance = rng.random()
    if chance < 0.05:
        task |= {"use_scout": True, "status": "scouting", "split": task.get("split", {}) | {"useScout": 1}}
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


def _resource_type(cores: int, memory: int) -> str:
    """By cores and MB a core, as PanDA counts them: nine tenths of what is asked for."""
    needed = int(memory * 0.9)
    return ("MCORE" if cores > 1 else "SCORE") + ("" if needed <= 2_000 else "_HIMEM" if needed <= 3_000 else "_VHIMEM")


def _reading(rng: random.Random, supply: _Supply, kind: str, **split: int) -> Row:
    """The input of a task and a nucleus that has it, mostly."""
    item = rng.choice(supply.data[kind])
    row: Row = {"input": [item.name], "split": split}
    homes = [home for home in item.homes if home in supply.nuclei]
    if homes and rng.random() < 0.85:
        row["nucleus"] = rng.choice(homes)
    return row


def _evgen(rng: random.Random, _supply: _Supply) -> Row:
    cores, seconds = 8 if rng.random() < 0.2 else 1, round(_log(rng, 20, 2_000))
    return {
        "processing_type": "evgen",
        "input": [_PSEUDO_DATASETS[seconds % len(_PSEUDO_DATASETS)]],
        "core_count": cores,
        "cpu_time": seconds,
        "base_walltime": round(_log(rng, 300, 3_600)),
        "out_disk_count": 100,
        "io_intensity": round(_log(rng, 1, 20)),
        "split": {"nFilesPerJob": 1, "nEventsPerJob": _GENERATED_EVENTS},
    }


def _simul(rng: random.Random, supply: _Supply) -> Row:
    return {
        "gshare": rng.choice(("MC Default", "MC Default", "MC Default", "Upgrade")),
        "cpu_time": round(_log(rng, 500, 20_000)),
        "out_disk_count": round(_log(rng, 300, 3_000)),
        **_reading(rng, supply, "EVNT", nFilesPerJob=1),
    }


def _event_service(rng: random.Random, supply: _Supply) -> Row:
    return _simul(rng, supply) | {"event_service": 1}


def _pile(rng: random.Random, supply: _Supply) -> Row:
    row = _reading(rng, supply, "HITS", nFilesPerJob=2)
    background = rng.choice(supply.data["MINBIAS"]).name
    return row | {
        "processing_type": "pile",
        "input": [*row["input"], background],
        "cpu_time": round(_log(rng, 100, 800)),
        "ram_count": rng.choice((2_000, 2_000, 2_500)),
        "out_disk_count": round(_log(rng, 300, 800)),
        "io_intensity": round(_log(rng, 40, 250)),
    }


def _mcore(rng: random.Random, supply: _Supply) -> Row:
    return {
        "processing_type": "mcore",
        "cpu_time": round(_log(rng, 100, 600)),
        "out_disk_count": round(_log(rng, 200, 600)),
        "io_intensity": round(_log(rng, 30, 300)),
        **_reading(rng, supply, "HITS", nFilesPerJob=2),
    }


def _reprocessing(rng: random.Random, supply: _Supply) -> Row:
    row = _reading(rng, supply, "RAW", nFilesPerJob=rng.choice((1, 1, 2)))
    if rng.random() < 0.3:
        row["split"]["inputPreStaging"] = 1
    return {
        "gshare": rng.choice(("Reprocessing default", "Reprocessing default", "Heavy Ion")),
        "processing_type": "reprocessing",
        "cpu_time": round(_log(rng, 100, 500)),
        "out_disk_count": round(_log(rng, 100, 500)),
        "out_disk_unit": "kB",
        "io_intensity": round(_log(rng, 50, 800)),
        **row,
    }


def _derivation(rng: random.Random, supply: _Supply) -> Row:
    row = _reading(rng, supply, "AOD", nFilesPerJob=rng.choice((1, 2, 3, 5)))
    if rng.random() < 0.8:
        row["split"]["allowInputLAN"] = 2 if rng.random() < 0.1 else 1
    return {
        "gshare": rng.choice(("MC Default", "Reprocessing default")),
        "processing_type": "deriv",
        "core_count": rng.choice((1, 8, 8)),
        "cpu_time": round(_log(rng, 5, 40)),
        "ram_count": rng.choice((2_000, 2_000, 2_500, 3_000)),
        "out_disk_count": round(_log(rng, 50, 300)),
        "out_disk_unit": "kB",
        "io_intensity": round(_log(rng, 100, 3_000)),
        **row,
    }


def _group(rng: random.Random, supply: _Supply) -> Row:
    return _derivation(rng, supply) | {
        "gshare": "Group production",
        "processing_type": "group",
        "working_group": f"SYN_Physics{rng.randrange(1, 6)}",
        "core_count": 1,
    }


def _merge(rng: random.Random, supply: _Supply) -> Row:
    return {
        "gshare": rng.choice(("MC Default", "Group production")),
        "processing_type": "merge",
        "core_count": 8,
        "merge_core_count": 1,
        "merge_ram_count": rng.choice((None, 2_000, 3_000)),
        "is_merging": True,
        "cpu_time": 1,
        "out_disk_count": 100,
        "out_disk_unit": "kB",
        **_reading(rng, supply, "MERGE", nFilesPerMergeJob=10),
    }


def _validation(rng: random.Random, supply: _Supply) -> Row:
    row: Row = {"gshare": "Validation", "processing_type": "validation", "cpu_time": round(_log(rng, 100, 1_000))}
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
        "container_name": rng.choice((_CONTAINER, "syn-analysis", "docker://synthetic/training:2.1")),
        "trans_home": None,
        "architecture": "",
    }


def _full_chain(rng: random.Random, supply: _Supply) -> Row:
    """At a bare nucleus mostly, at any when there is none."""
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
    "evgen": (12, _evgen),
    "simul": (22, _simul),
    "event service": (2, _event_service),
    "pile": (8, _pile),
    "mcore": (6, _mcore),
    "reprocessing": (10, _reprocessing),
    "derivation": (11, _derivation),
    "group": (7, _group),
    "merge": (6, _merge),
    "validation": (3, _validation),
    "express": (2, _express),
    "high memory": (3, _high_memory),
    "gpu": (1, _gpu),
    "arm": (1, _arm),
    "container": (1, _container),
    "full chain": (1, _full_chain),
    "t1": (2, _t1),
    "waiting": (2, _waiting),
}
"""Kinds of tasks: how many of a hundred, and what makes one."""
