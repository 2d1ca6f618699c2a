"""Workload N: a thousand sites, hundreds of tags, a long tail of jobs and of worker nodes.

| what | how |
| --- | --- |
| queues | 20,000, whatever the number of jobs, of equal size; priorities log-uniform 0.1-1000 (priorities.sql) |
| CPU buckets | DIRAC's 13, evenly |
| Sites | 20 % none, 80 % 1-3 of 1,000: the n-th with weight 1/n (Zipf) |
| BannedSites | 10 %, 1-3, by the same weights |
| Platforms | 30 %, 1-2 of 40, the n-th with weight 1/n |
| Tags | 0-4 of 400, each number equally likely; the n-th tag with weight 1/n |
| owners | 500 in 50 groups, none of them JobSharing |
| user priorities | as U |

The most wanted of the 400 tags are those of processors (MultiProcessor, 8Processors, ...); the others are names
(tag.006 ... tag.400: software, local data, accelerators). Each queue names its own SubmitPool, so that two equal queues
stay two; matching does not read it.

Requests come from worker nodes. Each site has 1 to 5 kinds of them. A kind offers 1 to 3 platforms and 0 to 30 of the
named tags (both by the weights above, so that nodes have what jobs want), has 1, 4, 8, 16, 32 or 64 processors, and 2
to 8 GB of memory for each. A description is a kind with the seconds left to it: log-uniform between the lowest bucket
and 5/4 of the highest. Sites ask by the weights that queues name them with. 10 % are private pilots (half of them of
one owner), 5 % ban something (a site, a platform or a tag), 5 % have no Site, 5 % match nothing (a group that nobody
submits with, a required tag that nobody asks for, less time than any job needs). There are 50,000 descriptions, all
different.

As a result, half of the requests match fewer than 310 of the 20,000 queues (1.6 %), one in ten more than 800; a
private pilot some five. In its highest CPU bucket, the only one that counts, a request sees about 80.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from benchmarks.workloads import uniform
from broker.laboratory.lhcb import Group
from broker.laboratory.pilots import Resource, match_nothing

CPU_BUCKETS = [360, 1800, 3600, 21600, 43200, 86400, 172800, 259200, 345600, 518400, 691200, 864000, 1080000]
QUEUES = 20_000
REQUESTS = 50_000
PROCESSOR_TAGS = ["MultiProcessor", "8Processors", "4Processors", "2Processors", "16Processors"]
OWNERS = {f"group_{g:02d}": [f"/DC=org/CN=user {g:02d}{u}" for u in range(10)] for g in range(50)}


class _Zipf:
    """Names; the n-th has the weight 1/n."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._cumulative = list(accumulate(1 / n for n in range(1, len(names) + 1)))

    def draw(self, rng: random.Random) -> str:
        return rng.choices(self._names, cum_weights=self._cumulative)[0]

    def some(self, rng: random.Random, count: int) -> list[str]:
        """`count` different names, in their order."""
        found: set[str] = set()
        while len(found) < count:
            found.add(self.draw(rng))
        return sorted(found)


NAMED_TAGS = [f"tag.{n:03d}" for n in range(len(PROCESSOR_TAGS) + 1, 401)]
SITES = [f"SITE.{n:04d}" for n in range(1, 1001)]
_SITES = _Zipf(SITES)
_PLATFORMS = _Zipf(
    [
        f"{cpu}-{system}"
        for system in "el9 el8 any el7".split()
        for cpu in "x86_64_v3 x86_64_v2 x86_64_v4 x86_64 aarch64 zen3 zen4 skylake neoverse_v1 ppc64le".split()
    ]
)
_TAGS = _Zipf([*PROCESSOR_TAGS, *NAMED_TAGS])
_NODE_TAGS = _Zipf(NAMED_TAGS)


def groups(jobs: int, seed: int = 0) -> Iterator[Group]:
    """The workload at a size of `jobs`: one group per TaskQueue, job ids counting from 1. Below 20,000 jobs each
    job has its own queue."""
    rng = random.Random(seed)
    first = 1
    for number in range(min(QUEUES, jobs)):
        size = jobs // QUEUES + (number < jobs % QUEUES)
        levels = rng.choices(uniform.LEVELS, weights=uniform.LEVEL_WEIGHTS, k=size)
        yield {
            "requirements": {**_requirements(rng), "SubmitPools": [f"pool-{number}"]},
            "jobs": [[job_id, level] for job_id, level in enumerate(levels, first)],
        }
        first += size


def requests(seed: int = 0) -> list[Resource]:
    """The descriptions, all different."""
    rng = random.Random(seed)
    nodes = {site: [_node(rng) for _ in range(rng.randint(1, 5))] for site in SITES}
    found: dict[str, Resource] = {}
    while len(found) < REQUESTS:
        resource = _description(rng, nodes)
        found[json.dumps(resource)] = resource
    return list(found.values())


def _requirements(rng: random.Random) -> dict[str, object]:
    group = rng.choice(list(OWNERS))
    wanted: dict[str, object] = {
        "OwnerGroup": group,
        "OwnerDN": rng.choice(OWNERS[group]),
        "CPUTime": rng.choice(CPU_BUCKETS),
        "Tags": _TAGS.some(rng, rng.randint(0, 4)),
    }
    if rng.random() < 0.8:
        wanted["Sites"] = _SITES.some(rng, rng.randint(1, 3))
    if rng.random() < 0.1:
        wanted["BannedSites"] = _SITES.some(rng, rng.randint(1, 3))
    if rng.random() < 0.3:
        wanted["Platforms"] = _PLATFORMS.some(rng, rng.randint(1, 2))
    return {key: value for key, value in wanted.items() if value}


def _node(rng: random.Random) -> Resource:
    """A kind of worker node."""
    processors = rng.choice((1, 1, 4, 8, 8, 16, 32, 64))
    node: Resource = {
        "Platform": _PLATFORMS.some(rng, rng.randint(1, 3)),
        "Tag": _NODE_TAGS.some(rng, rng.randint(0, 30)),
        "NumberOfProcessors": processors,
        "MaxRAM": rng.choice((2000, 4000, 8000)) * processors,
    }
    return {key: value for key, value in node.items() if value}


def _description(rng: random.Random, nodes: Mapping[str, Sequence[Resource]]) -> Resource:
    site = _SITES.draw(rng)
    resource = dict(rng.choice(nodes[site]))
    least, most = CPU_BUCKETS[0], CPU_BUCKETS[-1] * 5 / 4
    resource["CPUTime"] = int(least * (most / least) ** rng.random())  # log-uniform
    if rng.random() >= 0.05:
        resource.update(Site=site, GridCE=f"ce{rng.randint(1, 4):02d}.{site.lower()}")
    if rng.random() < 0.10:
        group = rng.choice(list(OWNERS))
        resource.update(PilotType="private", OwnerGroup=group)
        if rng.random() < 0.5:
            resource["OwnerDN"] = rng.choice(OWNERS[group])
    if rng.random() < 0.05:
        key, names = rng.choice((("BannedSite", _SITES), ("BannedPlatform", _PLATFORMS), ("BannedTag", _TAGS)))
        resource[key] = [names.draw(rng)]
    if rng.random() < 0.05:
        match_nothing(resource, rng)
    return resource
