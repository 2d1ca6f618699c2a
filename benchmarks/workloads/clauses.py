"""Workload C: workload U, whose worker nodes offer attributes, and half of whose TaskQueues have eight clauses.

The clauses are those of DiracX' examples: architecture, level, glibc, an operating system out of two, no test, and GPUs
with their memory and capability, or no GPU. A third of these TaskQueues asks for a GPU, and a tenth of the worker nodes
has one. The free disk and the wall time left of each worker node are its own.
"""

import random
from collections.abc import Iterator

from benchmarks.workloads import uniform
from broker.laboratory import pilots
from broker.laboratory.lhcb import Group

ATTRIBUTES: dict[str, object] = {
    "arch": "text", "level": "number", "glibc": "version", "wall": "number", "scratch": "number", "gpu.ram": "number",
    "gpu.compute_capability": "version", "gpu.count": {"type": "number", "absent": {"value": 0}},
}  # fmt: skip
GLIBC = ["2.17", "2.28", "2.34"]


def groups(jobs: int, seed: int = 0) -> Iterator[Group]:
    """The workload at a size of `jobs`."""
    rng = random.Random(seed)
    for number, group in enumerate(uniform.groups(jobs, seed)):
        yield group if number % 2 else {**group, "requirements": {**group["requirements"], **_conditions(rng)}}


def requests(seed: int = 0) -> list[pilots.Resource]:
    """The descriptions."""
    rng = random.Random(seed)
    return [_with_attributes(rng, resource) for resource in uniform.requests(seed)]


def _conditions(rng: random.Random) -> dict[str, object]:
    attributes: dict[str, object] = {
        "arch": "x86_64", "level": {"min": rng.randint(1, 3)}, "glibc": {"min": rng.choice(GLIBC)},
        "wall": {"min": 3600 * rng.choice((1, 12, 24))}, "scratch": {"min": 1024 * rng.choice((5, 20, 40))},
        "gpu.count": {"max": 0},
    }  # fmt: skip
    if rng.random() < 1 / 3:
        attributes |= {"gpu.count": {"min": 1}, "gpu.ram": {"min": 1024 * rng.choice((8, 16, 40))}}
        del attributes["arch"]
    return {"TagExpression": "(os:el9 | os:alma9) & ~test", "Attributes": attributes}


def _with_attributes(rng: random.Random, resource: pilots.Resource) -> pilots.Resource:
    offered: dict[str, object] = {
        "arch": "x86_64", "level": rng.randint(1, 4), "glibc": rng.choice(GLIBC), "wall": rng.randint(1800, 259_200),
        "scratch": rng.randint(4096, 99_999),
    }  # fmt: skip
    if rng.random() < 0.1:
        offered |= {"gpu.count": rng.randint(1, 4), "gpu.ram": 1024 * rng.choice((16, 24, 40, 80))}
    given = resource.get("Tag", [])
    tags = given if isinstance(given, list) else [given]
    return {**resource, "Tag": [*tags, rng.choice(("os:el9", "os:alma9", "os:el8"))], "Attributes": offered}
