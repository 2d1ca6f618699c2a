"""The workloads: what waits, who asks, and how the setup is configured for it. Seeds are fixed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from benchmarks import uniform
from broker import lhcb
from broker.lhcb import Group
from broker.pilots import Resource

REQUESTS = 20_000


@dataclass(frozen=True)
class OwnerGroup:
    """Share and properties of an owner group, as taskqueue.set_group takes them."""

    share: float = 1000.0
    job_sharing: bool = False


@dataclass(frozen=True)
class Workload:
    """A workload: `groups(jobs, seed)` gives its TaskQueues, `requests(seed)` an endless stream of descriptions.

    `script` is a file of this package that is run after each load and put-back, or None.
    """

    letter: str
    title: str
    cpu_buckets: list[int]
    owner_groups: Mapping[str, OwnerGroup]
    groups: Callable[[int, int], Iterator[Group]]
    requests: Callable[[int], Iterator[Resource]]
    script: str | None = None


def _uniform() -> Workload:
    owner_groups = {group: OwnerGroup(job_sharing=group in uniform.JOB_SHARING) for group in uniform.OWNERS}
    return Workload(
        "U", "uniform", uniform.CPU_BUCKETS, owner_groups, uniform.groups, uniform.requests, "priorities.sql"
    )


def _lhcb() -> Workload:
    table = lhcb.table()
    owner_groups = {group: OwnerGroup(share) for group, share in table.shares.items()}
    return Workload("L", lhcb.SOURCE, table.cpu_buckets, owner_groups, lhcb.groups, lhcb.resources)


WORKLOADS: Mapping[str, Callable[[], Workload]] = {"U": _uniform, "L": _lhcb}
