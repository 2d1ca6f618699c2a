"""Workload U: queues of 100 jobs, everything drawn uniformly or by simple weights, the same for the same seed.

| what | how |
| --- | --- |
| queues | one per 100 jobs; priorities log-uniform 0.1-1000 (priorities.sql) |
| CPU buckets | 500, 5000, 50000, 300000 evenly |
| Sites | 60 % none, 40 % 1-5 of 100 |
| BannedSites | 10 %, 1-3 |
| Platforms | 10 %, 1-2 of 5 |
| Tags | 5 %, one of 6 sets |
| owners | 50 in 5 groups, 2 of them JobSharing |
| user priorities | 1..10 with weights 30, 10, 10, 10, 20, 5, 5, 3, 2, 5 |

Half of the queues ask for nothing but an owner and a CPU time, and there are only 200 such pairs. So that
queues stay separate, each queue names its own SubmitPool, which matching does not read.

Big sites are in more queues and send more pilots: the weight of the n-th is 1/sqrt(n), for queues and requests.
There are 20,000 requests: sites by weight, CPUTime log-uniform over all buckets, 1-3 platforms, 10 % private pilots,
20 % with processors, 5 % with banned lists, 5 % without Site, 5 % that match nothing (laboratory/pilots.py).
"""

import random
from collections.abc import Iterator

from broker.laboratory import pilots
from broker.laboratory.lhcb import Group

CPU_BUCKETS = [500, 5000, 50000, 300000]
JOBS_A_QUEUE = 100
REQUESTS = 20_000
SITES = {f"SITE.{n:03d}": n**-0.5 for n in range(1, 101)}
PLATFORMS = ["x86_64-el7", "x86_64-el8", "x86_64-el9", "x86_64-any", "aarch64-el9"]
TAGS = [
    ["MultiProcessor"], ["2Processors"], ["4Processors", "MultiProcessor"], ["8Processors", "MultiProcessor"],
    ["GPU"], ["WholeNode"],
]  # fmt: skip
OWNERS = {f"group_{g}": [f"/DC=org/CN=user {g}{u}" for u in range(10)] for g in range(5)}
JOB_SHARING = ("group_0", "group_1")
LEVELS = range(1, 11)
LEVEL_WEIGHTS = [30, 10, 10, 10, 20, 5, 5, 3, 2, 5]


def groups(jobs: int, seed: int = 0, jobs_a_queue: int = JOBS_A_QUEUE) -> Iterator[Group]:
    """The workload at a size of `jobs`: one group per TaskQueue, job ids counting from 1."""
    rng = random.Random(seed)
    first = 1
    while first <= jobs:
        size = min(jobs_a_queue, jobs - first + 1)
        levels = rng.choices(LEVELS, weights=LEVEL_WEIGHTS, k=size)
        yield {
            "requirements": {**_requirements(rng), "SubmitPools": [f"pool-{first}"]},
            "jobs": [[job_id, level] for job_id, level in enumerate(levels, first)],
        }
        first += size


def requests(seed: int = 0, mix: pilots.Mix | None = None) -> list[pilots.Resource]:
    """The descriptions."""
    every = dict.fromkeys(PLATFORMS, 1.0)
    offers = pilots.Offers(SITES, [(1.0, every)], (CPU_BUCKETS[0], CPU_BUCKETS[-1] * 5 // 4), OWNERS)
    return pilots.fleet(offers, REQUESTS, mix, seed)


def _requirements(rng: random.Random) -> dict[str, object]:
    group = rng.choice(list(OWNERS))
    wanted: dict[str, object] = {
        "OwnerGroup": group,
        "OwnerDN": rng.choice(OWNERS[group]),
        "CPUTime": rng.choice(CPU_BUCKETS),
    }
    if rng.random() < 0.4:
        wanted["Sites"] = _sites(rng, rng.randint(1, 5))
    if rng.random() < 0.1:
        wanted["BannedSites"] = _sites(rng, rng.randint(1, 3))
    if rng.random() < 0.1:
        wanted["Platforms"] = sorted(rng.sample(PLATFORMS, rng.randint(1, 2)))
    if rng.random() < 0.05:
        wanted["Tags"] = rng.choice(TAGS)
    return wanted


def _sites(rng: random.Random, count: int) -> list[str]:
    found: set[str] = set()
    while len(found) < count:
        found.update(rng.choices(list(SITES), weights=list(SITES.values()), k=count - len(found)))
    return sorted(found)
