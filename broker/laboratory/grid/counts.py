"""Counts of jobs, shares, and remaining work."""

import random
from collections.abc import Iterator, Sequence

from broker.laboratory.grid.drawing import Row, log, weighted
from broker.laboratory.grid.sites import Place, Queue

SHARES = {
    "MC Default": 0.45, "Group production": 0.18, "Reprocessing default": 0.15, "Heavy Ion": 0.08, "Upgrade": 0.06,
    "Validation": 0.05, "Express": 0.03,
}  # fmt: skip
"""Shares of the running cores."""


def make_statistics(rng: random.Random, queues: Sequence[Queue], nuclei: Sequence[Place]) -> Iterator[Row]:
    """Job counts of each queue, for two or more shares, one to three resource types, and all states."""
    for queue in queues:
        if queue.row["status"] in ("offline", "test") or queue.kind in ("ANALY", "TEST"):
            continue
        shares = {"MC Default"} if rng.random() < 0.9 else set()
        while len(shares) < 2:
            shares |= {weighted(rng, SHARES) for _ in range(rng.randrange(2, 8))}
        present = sorted(shares)
        total = sum(SHARES[share] for share in present)
        for share in present:
            yield from _counts(rng, queue, share, queue.size * SHARES[share] / total, rng.choice(nuclei).name)


def _counts(rng: random.Random, queue: Queue, share: str, size: float, nucleus: str) -> Iterator[Row]:
    """The counts of a share that uses this many cores; the ratio of waiting to running jobs differs by share."""
    waiting = weighted(rng, {"none": 4, "few": 30, "many": 21, "too many": 15 if queue.place.nucleus else 45})
    low, high = {"none": (0, 0), "few": (0.1, 0.8), "many": (0.8, 1.9), "too many": (2.1, 5)}[waiting]
    stuck = rng.random() < 0.02
    for resource_type, cores, part in _resource_types(queue):
        running = round(size * part / cores * rng.uniform(0.7, 1.1))
        queued = running * rng.uniform(low, high)
        jobs = {
            "running": running, "activated": round(queued * rng.uniform(0.6, 0.8)),
            "starting": round(queued * rng.uniform(0.05, 0.15)), "assigned": round(queued * rng.uniform(0, 0.15)),
            "defined": round(queued * rng.uniform(0, 0.02)),
            "transferring": 3 * running + 6_000 if stuck else round(running * rng.uniform(0.02, 0.4)),
        }  # fmt: skip
        for status, number in jobs.items():
            if number:
                row: Row = {
                    "queue": queue.name, "gshare": share, "resource_type": resource_type, "nucleus": nucleus,
                    "label": "managed", "status": status, "njobs": number, "ncores": number * cores,
                }  # fmt: skip
                yield row | ({"diskio": round(log(rng, 100, 3_000))} if status == "running" else {})


def _resource_types(queue: Queue) -> list[tuple[str, int, float]]:
    """The resource types at a queue, with the cores of a job and their fractions of all cores."""
    cores = queue.row["corecount"]
    if queue.row["capability"] == "ucore":
        return [("SCORE", 1, 0.2), ("MCORE", cores, 0.7), ("MCORE_HIMEM", cores, 0.1)]
    return [(("MCORE" if cores > 1 else "SCORE") + ("_HIMEM" if queue.kind == "HIMEM" else ""), cores, 1)]


def share_figures(rng: random.Random) -> dict[str, Row]:
    """Figures of the shares, in HS06."""
    shares: dict[str, Row] = {}
    for share, part in SHARES.items():
        target = round(part * 5_000_000)
        usage = rng.uniform(0.7, 1.2)
        shares[share] = {
            "target": target, "running": round(target * usage), "queued": round(target * rng.uniform(0.2, 1.5)),
            "usage_percent": round(usage, 3),
        }  # fmt: skip
    return shares


def to_running_rates(rng: random.Random, queues: Sequence[Queue]) -> dict[str, float]:
    """Starting jobs per hour: each core runs a job of some hours."""
    return {
        queue.name: round(queue.size / queue.row["corecount"] / rng.uniform(4, 12), 1)
        for queue in queues
        if "pilots" in queue.row
    }


def remaining_work(rng: random.Random, nuclei: Sequence[Place]) -> dict[str, Row]:
    """Work of each nucleus in HS06 s, by share and priority."""
    remaining: dict[str, Row] = {}
    for place in nuclei:
        by_gshare = {
            share: {str(priority): round(part * log(rng, 1e9, 5e10)) for priority in (900, 700, 500, 400)}
            for share, part in SHARES.items()
        }
        total = sum(sum(work.values()) for work in by_gshare.values())
        remaining[place.name] = {"all": total, "by_gshare": by_gshare}
    return remaining
