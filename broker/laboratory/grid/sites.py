"""Sites, queues, storages and links."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from broker.laboratory.grid.drawing import Row, ago, dealt, log, weighted

_COUNTRIES = "AU CA CH CZ DE DK ES FR IL IT JP NL NO PL PT RO SE SI TW UK US".split()
_QUEUES_A_SITE = 2.6
_QUEUED = 6  # files on a link, on average

_POLICIES = (
    "type=evgen:100%,type=simul:100%,type=any:0%", "type=deriv:0%,type=group:0%", "type=simul:priority<450:0%",
    "group=SYN_Physics1:100%,type=any:0%", "gshare=Heavy Ion:0%", "type=evgensimul:100%",
)  # fmt: skip


@dataclass(frozen=True)
class _Shape:
    """Properties of a kind of queues; each figure is drawn from its tuple. memory: MB per core. hours: maxtime.
    scratch: MB per core. size: the range of running cores.
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
        "unified", "ucore", "pull_ups", (8, 8, 8, 8, 16), (2_000, 3_000, 4_000, 6_000), (48, 72, 96, 120),
        (3_000, 4_000, 8_000, 13_312, 20_000), (300, 8_000),
    ),
    "MCORE": _Shape(
        "production", "mcore", "push", (8,), (2_000, 2_500), (24, 48, 72, 96), (3_000, 5_000, 10_000, 15_000),
        (200, 4_000),
    ),
    "SCORE": _Shape(
        "production", "score", "push", (1,), (2_000, 2_500, 3_000), (48, 72, 96), (10_000, 14_000, 20_000), (50, 1_000)
    ),
    "HIMEM": _Shape(
        "production", "himem", "push", (1, 8), (4_000, 6_000, 8_000), (72, 96), (14_000, 20_000), (50, 800)
    ),
    "HPC": _Shape(
        "production", "mcore", "push", (32, 48, 64, 128), (1_000, 2_000, 2_000), (72, 96, 168), (2_000, 4_000, 8_000),
        (5_000, 60_000),
    ),
    "CLOUD": _Shape(
        "production", "mcore", "pull", (4, 8), (2_000, 4_000), (12, 18, 24, 48), (3_000, 6_000, 12_000), (100, 5_000)
    ),
    "GPU": _Shape("production", "score", "push", (1, 4), (4_000, 8_000), (24, 48, 72), (20_000, 40_000), (8, 128)),
    "ARM": _Shape("unified", "ucore", "pull_ups", (8,), (2_000, 3_000), (72, 96), (8_000, 13_312), (100, 1_000)),
    "ANALY": _Shape("analysis", "score", "pull", (1,), (2_000, 4_000), (48, 72), (10_000, 14_000), (50, 2_000)),
    "TEST": _Shape("unified", "ucore", "pull_ups", (8,), (2_000,), (24,), (10_000,), (8, 16)),
}  # fmt: skip
_FURTHER_QUEUES = {
    "UCORE": 9, "MCORE": 7, "SCORE": 6, "HIMEM": 4, "HPC": 3, "CLOUD": 4, "GPU": 2, "ARM": 1, "ANALY": 2, "TEST": 2,
}  # fmt: skip
"""Numbers among forty queues that are not the first queue of a site."""

_STATUSES = {"online": 87, "brokeroff": 4, "offline": 3, "test": 4, "standby": 2}
_OWN_RESOURCES = ("HPC", "CLOUD", "GPU", "ARM", "TEST")
"""Kinds of queues that are satellites at every site."""


@dataclass(frozen=True)
class Place:
    """A site. disk: its storage site for output, its own or a nucleus's. bare: its bareNucleus mode."""

    name: str
    country: str
    nucleus: bool
    disk: str
    tape: bool
    bare: str | None
    corepower: float


@dataclass(frozen=True)
class Queue:
    """A queue with the data from which figures about it are invented. size: running cores."""

    name: str
    kind: str
    place: Place
    size: int
    row: Row


def make_places(rng: random.Random, queues: int, nuclei: int | None) -> list[Place]:
    """The sites, nuclei first. One in ten satellites has no storage."""
    sites = max(1, round(queues / _QUEUES_A_SITE))
    if nuclei is None:
        nuclei = min(30, max(1, queues // 10))
    elif not 1 <= nuclei <= sites:
        raise ValueError(f"nuclei is {nuclei}; a grid of {queues} queues has 1 to {sites}")
    numbers: dict[str, int] = {}
    names: list[str] = []
    for _ in range(sites):
        country = rng.choice(_COUNTRIES)
        numbers[country] = numbers.get(country, 0) + 1
        names.append(f"SYN-{country}-{numbers[country]:02}")
    bare = {2: "only", 5: "allow", 9: "allow"}
    return [
        Place(
            name=name, country=name.split("-")[1], nucleus=index < nuclei,
            disk=rng.choice(names[:nuclei]) if index >= nuclei and index % 10 == 0 else name,
            tape=index < nuclei and index % 3 == 0, bare=bare.get(index) if index < nuclei else None,
            corepower=round(rng.uniform(8, 25), 2),
        )
        for index, name in enumerate(names)
    ]  # fmt: skip


def make_queues(rng: random.Random, places: Sequence[Place], number: int) -> list[Queue]:
    """A first queue at every site (mostly unified, always at nuclei), then further queues anywhere, more of them at
    nuclei."""
    satellites = [place for place in places if not place.nucleus] or places
    weights = [3 if place.nucleus else 1 for place in places]
    kinds: list[tuple[str, Place]] = []
    for place in places[:number]:
        kinds.append(("UCORE" if place.nucleus or rng.random() < 0.85 else "MCORE", place))
    for kind in dealt(rng, _FURTHER_QUEUES, number - len(kinds)):
        own = kind in _OWN_RESOURCES
        kinds.append((kind, rng.choice(satellites) if own else rng.choices(places, weights)[0]))
    names: dict[str, Queue] = {}
    for index, (kind, place) in enumerate(kinds):
        first = index < len(places)
        name = place.name if first and kind == "UCORE" else f"{place.name}_{kind}"
        same = 2
        while name in names:
            name, same = f"{place.name}_{kind}_{same}", same + 1
        names[name] = _queue(rng, name, kind, place, always_online=first and place.nucleus)
    return list(names.values())


def _queue(rng: random.Random, name: str, kind: str, place: Place, *, always_online: bool) -> Queue:
    shape = _SHAPES[kind]
    status = "online" if always_online else weighted(rng, _STATUSES)
    if kind == "HPC" and status == "online" and rng.random() < 0.3:
        status = "standby"
    size = round(log(rng, *shape.size)) * (3 if place.nucleus else 1)
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
    return Queue(name, kind, place, size, row)


def _limits(rng: random.Random, kind: str, shape: _Shape) -> Row:
    """Limits of a job; memory and scratch are per job slot."""
    cores = rng.choice(shape.cores)
    hours = rng.choice(shape.hours)
    return {
        "corecount": cores, "maxrss": cores * rng.choice(shape.memory),
        "minrss": cores * 2_001 if kind == "HIMEM" else 0, "maxtime": hours * 3_600,
        "mintime": rng.choice((0, 7_200, 21_600)) if kind == "HPC" else 0,
        "maxwdir": 0 if kind == "HPC" and rng.random() < 0.2 else cores * rng.choice(shape.scratch),
        "maxdiskio": rng.choice((0, 0, 500, 1_000, 5_000)),
    }  # fmt: skip


def _access(rng: random.Random, kind: str, place: Place) -> Row:
    """The network, and the storages for reading input and writing output."""
    if kind == "HPC":
        connectivity = rng.choice(("none", "http", "none", "full"))
    else:
        connectivity = weighted(rng, {"full#IPv4": 4, "full": 5, "full#IPv6": 1, "http": 0.5})
    disk = f"{place.disk}_DATADISK"
    return {
        "wnconnectivity": connectivity,
        "direct_access_lan": rng.random() < 0.6,
        "direct_access_wan": rng.random() < 0.1,
        "maxinputsize": -1 if rng.random() < 0.05 else rng.choice((16_000, 30_000, 60_000)),
        "astorages": {"read_lan": [disk, f"{place.name}_DATATAPE"] if place.tape else [disk], "write_lan": [disk]},
    }


def _policy(rng: random.Random, kind: str, place: Place, size: int) -> Row:
    """The site's policies: software, shares, event service, pledges."""
    flags = [f"bareNucleus={place.bare}"] if place.bare and kind not in _OWN_RESOURCES else []
    if kind == "GPU":
        flags.append("gpu")
    opportunistic = kind in ("HPC", "CLOUD", "GPU", "ARM")
    return {
        "releases": ["ANY"] if rng.random() < (0.2 if kind in ("HPC", "CLOUD") else 0.04) else ["AUTO"],
        "fairsharepolicy": rng.choice(_POLICIES) if rng.random() < 0.08 else None,
        "jobseed": weighted(rng, {"all": 45, "std": 30, "eshigh": 20, "es": 2}),
        "pledgedcpu": -1 if opportunistic else rng.choice((None, size, size * 3 // 4)),
        "transferringlimit": rng.choice((0, 2_000, 3_000, 5_000)), "transtimehi": rng.choice((2, 3)),
        "transtimelo": rng.choice((5, 7)), "catchall": ",".join(flags),
        "params": {"unified_dispatch": True} if kind in ("UCORE", "ARM") else {}, "uconfig": {},
    }  # fmt: skip


def _measured(rng: random.Random, shape: _Shape, size: int, *, running: bool) -> Row:
    """Figures of the last hours; one in twenty-five queues has no pilots."""
    row: Row = {
        "average_diskio": round(log(rng, 100, 4_000)), "ups": shape.workflow == "pull_ups",
        "workers": {"running": 0, "submitted": 0}, "core_statistics": {"running": 0, "starting": 0},
    }  # fmt: skip
    if not running or rng.random() < 0.04:
        return row
    jobs = max(1, size // shape.cores[0])
    row["pilots"] = {"getjob": jobs * 2, "updatejob": jobs * 6}
    row["laststart"] = ago(rng, 3, 30) if rng.random() < 0.06 else ago(rng, 0.01, 1)
    row["workers"] = {"running": jobs, "submitted": rng.randrange(1, 50)}
    row["core_statistics"] = {"running": size, "starting": size // rng.randrange(10, 50)}
    if rng.random() < 0.15:
        numslots = rng.choice((0, size // 2, size))
        row["slots"] = [{"gshare": None, "resource_type": None, "numslots": numslots}]
    return row


def nucleus_row(place: Place) -> Row:
    return {"state": "ACTIVE"} | ({"bare_nucleus": place.bare} if place.bare else {})


def make_storages(rng: random.Random, places: Sequence[Place]) -> dict[str, Row]:
    """A disk for every site that has its own, a tape for some nuclei. Space in GB."""
    storages: dict[str, Row] = {}
    for place in places:
        if place.disk == place.name:
            storages[f"{place.name}_DATADISK"] = _storage(rng, place, is_tape=False)
        if place.tape:
            storages[f"{place.name}_DATATAPE"] = _storage(rng, place, is_tape=True)
    return storages


def _storage(rng: random.Random, place: Place, *, is_tape: bool) -> Row:
    total = round(log(rng, 2e6, 2e7) if place.nucleus else log(rng, 5e4, 3e6))
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
        "type": "DATATAPE" if is_tape else "DATADISK", "is_tape": is_tape, "site": place.name, "space_total": total,
        "space_free": free, "space_expired": round(total * rng.uniform(0.05, 0.3)), "space_min_free": 0,
        "space_unavailable": 0, **states,
    }  # fmt: skip


def busy_nuclei(rng: random.Random, places: Sequence[Place]) -> dict[str, float]:
    """Factors on the number of files queued into busy nuclei; none if there are few nuclei. The first nucleus gets some
    15,000 files from all sites together, the others 3,000: more than the caps of jobs and tasks.
    """
    nuclei = [place.name for place in places if place.nucleus]
    chosen = rng.sample(nuclei, 3) if len(nuclei) >= 10 else []
    return {name: files / _QUEUED / len(places) for name, files in zip(chosen, (15_000, 3_000, 3_000), strict=False)}


def make_links(rng: random.Random, places: Sequence[Place], busy: Mapping[str, float]) -> Iterator[Row]:
    """Links from every storage site to every nucleus: closeness 0 (best) to 11, or -1 if blocked; MB/s; queued
    files."""
    for source in (place for place in places if place.disk == place.name):
        for nucleus in (place for place in places if place.nucleus and place is not source):
            near = source.country == nucleus.country
            over = rng.random() < 0.02
            queued = (
                rng.randrange(151, 400) if over else round(rng.expovariate(1 / _QUEUED) * busy.get(nucleus.name, 1))
            )
            rate = log(rng, 10, 300) if near else log(rng, 0.5, 150)
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
