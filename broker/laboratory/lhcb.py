"""LHCb's production TaskQueues of 28 March 2026, as a workload of any size.

The figures are LHCb's, as its TaskQueueDB exported them (data/lhcb-2026-03-28.json holds them in compact form): 871,973
waiting jobs in 501 queues, with the size, CPU time, group and priority of each queue, and for sites, platforms, job
types and owners how many queues and jobs name each. The combinations were not exported. They are inferred here, and the
sums leave few choices:

- Job types by CPU time, group and priority: the only split of the queues that gives the figures.
- Platforms in six families: 257 queues list the centos7 set, 7 the slc6 set, 9 and 46 the el9 set with and without
  x86_64_v2, 178 the armv8 set, 1 none. Nine platforms occur only in queues without jobs: a queue without jobs does not
  exist here, so 58 of the 67 remain.
- Sites: simulation runs at all 60 (the armv8 queues not at Snellius); the other queues list one to three of 22 sites,
  drawn so that each site has its number of queues and jobs. Jobs of simulation are 81 % of all, so a job sees 49 sites.
- User priorities: LHCb's priorities are multiples of one unit per group, which gives the mean user priority of each
  queue. All jobs of a queue have that level, except one in a hundred, which has the next level.
- Three queues vanished while the figures were read: they have 48 jobs, which the overview counts and the list does not.

With the table's shares of the groups, the broker computes LHCb's priorities. Pilots (`resources`) are synthetic: only
the names of sites and platforms were exported.
"""

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources as package_data
from typing import TypedDict

from broker.laboratory import pilots

SOURCE = "LHCb TaskQueueDB, 28 March 2026"
QUEUE_SIZE = 5000  # jobs that a TaskQueue takes, in DIRAC and here


class Group(TypedDict):
    """One TaskQueue: its requirements and its jobs, as [id, user priority]."""

    requirements: dict[str, object]
    jobs: list[list[int]]


@dataclass(frozen=True)
class Queue:
    """A TaskQueue of the table: its requirements, its jobs, their usual user priority, and its priority at LHCb."""

    requirements: Mapping[str, object]
    jobs: int
    user_priority: int
    priority: float


@dataclass(frozen=True)
class Table:
    """The compact table.

    cpu_buckets: DIRAC's 13, seconds. shares: shares of the owner groups that give LHCb's priorities. figures: by kind
    (sites, banned_sites, platforms, job_types, cpu_times), as exported: name to [queues, jobs].
    """

    cpu_buckets: list[int]
    shares: Mapping[str, float]
    figures: Mapping[str, Mapping[str, tuple[int, int]]]
    queues: tuple[Queue, ...]


@cache
def table() -> Table:
    """The table, read once."""
    text = package_data.files("broker.laboratory").joinpath("data/lhcb-2026-03-28.json").read_text(encoding="utf-8")
    raw = json.loads(text)
    sites = list(raw["figures"]["sites"])
    queues = [
        Queue(_requirements(row, raw["platforms"], _sites(named, sites)), jobs, row["user_priority"], row["priority"])
        for row in raw["queues"]
        for named, sizes in row["queues"].items()
        for jobs in sizes
    ]
    return Table(raw["cpu_buckets"], raw["shares"], raw["figures"], tuple(queues))


def groups(jobs: int, seed: int = 0, first_id: int = 1) -> Iterator[Group]:
    """The workload at a size of `jobs`: one group per TaskQueue, with job ids from `first_id` on. Up to 871,973 jobs it
    has the 501 queues of the data, each with its share of the jobs and at least one job (below 501 jobs, only the
    largest queues). Above that each queue occurs several times, so that none exceeds 5,000 jobs. The same arguments
    give the same stream. It holds one group at a time.

    Raises ValueError when `jobs` is negative.
    """
    if jobs < 0:
        raise ValueError(f"jobs is {jobs}; give a number of jobs, 0 or more")
    rng = random.Random(seed)
    scaled = list(_scaled(table().queues, jobs))
    rng.shuffle(scaled)
    next_id = first_id
    for queue in scaled:
        levels = (min(queue.user_priority + (rng.random() < 0.01), 10) for _ in range(queue.jobs))
        yield {
            "requirements": dict(queue.requirements),
            "jobs": [[job_id, level] for job_id, level in enumerate(levels, next_id)],
        }
        next_id += queue.jobs


def resources(seed: int = 0, mix: pilots.Mix | None = None, kinds: int = 20_000) -> Iterator[pilots.Resource]:
    """An endless stream of resource descriptions at LHCb's sites: synthetic, sites and platforms weighted by jobs.

    kinds: the number of different descriptions. The fleet is the same for all seeds: a seed draws from it.
    """
    return pilots.drawn(_fleet(kinds, mix), seed)


@cache
def _fleet(kinds: int, mix: pilots.Mix | None) -> list[pilots.Resource]:
    return pilots.fleet(offers(), kinds, mix)


def offers() -> pilots.Offers:
    """The offers of LHCb's sites: the 60 sites, x86_64 and armv8 platforms, CPU time over all buckets in use."""
    figures = table().figures
    waiting = {platform: jobs for platform, (_, jobs) in figures["platforms"].items() if jobs}
    arm = {platform: jobs for platform, jobs in waiting.items() if platform.startswith("armv8")}
    intel = {platform: jobs for platform, jobs in waiting.items() if platform not in arm}
    owners: dict[str, set[str]] = {}
    for queue in table().queues:
        owners.setdefault(str(queue.requirements["OwnerGroup"]), set()).add(str(queue.requirements["OwnerDN"]))
    cpu_times = [int(cpu_time) for cpu_time in figures["cpu_times"]]
    return pilots.Offers(
        sites={site: jobs for site, (_, jobs) in figures["sites"].items()}, architectures=[(0.9, intel), (0.1, arm)],
        cpu_times=(min(cpu_times), max(cpu_times) * 5 // 4),
        owners={group: sorted(names) for group, names in owners.items()}, job_types=sorted(figures["job_types"]),
    )  # fmt: skip


def _requirements(row: Mapping[str, object], families: Mapping[str, list[str]], sites: list[str]) -> dict[str, object]:
    lists = {
        "Sites": sites, "BannedSites": row["banned_sites"], "Platforms": families[str(row["platforms"])],
        "JobTypes": [row["job_type"]],
    }  # fmt: skip
    return {
        "OwnerDN": row["owner"], "OwnerGroup": row["owner_group"], "CPUTime": row["cpu_time"],
        **{key: values for key, values in lists.items() if values},
    }  # fmt: skip


def _sites(named: str, every: Iterable[str]) -> list[str]:
    """'*' is every site, '* -A' every site but A, otherwise the names themselves; '' lists none."""
    words = named.split()
    if words[:1] != ["*"]:
        return words
    without = {word.removeprefix("-") for word in words[1:]}
    return [site for site in every if site not in without]


def _scaled(queues: tuple[Queue, ...], jobs: int) -> Iterator[Queue]:
    """The queues with `jobs` jobs distributed among them by size (largest remainders), each with at least one."""
    total = sum(queue.jobs for queue in queues)
    copies = max(1, -(-jobs // total))
    largest_first = sorted(queues, key=lambda queue: -queue.jobs) * copies
    if jobs < len(largest_first):
        for queue in largest_first[:jobs]:
            yield replace(queue, jobs=1)
        return
    spare = jobs - len(largest_first)
    quotas = [(queue.jobs - 1) * spare / ((total - len(queues)) * copies) for queue in largest_first]
    sizes = [1 + int(quota) for quota in quotas]
    by_remainder = sorted(range(len(quotas)), key=lambda i: int(quotas[i]) - quotas[i])
    for i in by_remainder[: jobs - sum(sizes)]:
        sizes[i] += 1
    for queue, size in zip(largest_first, sizes, strict=True):
        yield replace(queue, jobs=size)
