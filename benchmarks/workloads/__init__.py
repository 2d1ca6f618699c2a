"""The workloads: the waiting jobs, the requests, and the configuration of the setup. Seeds are fixed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

from benchmarks.workloads import clauses, long_tail, uniform
from broker.laboratory import lhcb, pilots
from broker.laboratory.lhcb import Group
from broker.laboratory.pilots import Resource

LHCB_REQUESTS = 20_000
_FROZEN = {"share_delay": 100_000_000}  # three years: computing shares is useless, since priorities.sql overrules them
_NO_CAP = {"queue_size": 100_000_000}
_HOT_BUCKET = 2_000_000  # seconds; above all buckets of LHCb and all offers of its pilots


@dataclass(frozen=True)
class OwnerGroup:
    """Share and properties of an owner group, as taskqueue.set_group takes them."""

    share: float = 1000.0
    job_sharing: bool = False


@dataclass(frozen=True)
class Workload:
    """A workload: `groups(jobs, seed)` gives its TaskQueues, `requests(seed)` its equally frequent descriptions.

    `settings` and `attributes` are those of the setup; with `fixed_priorities`, queues have the priorities of
    priorities.sql.
    """

    letter: str
    title: str
    cpu_buckets: list[int]
    owner_groups: Mapping[str, OwnerGroup]
    groups: Callable[[int, int], Iterator[Group]]
    requests: Callable[[int], list[Resource]]
    settings: Mapping[str, object] = field(default_factory=dict)
    fixed_priorities: bool = False
    attributes: Mapping[str, object] = field(default_factory=dict)


def _uniform() -> Workload:
    owner_groups = {group: OwnerGroup(job_sharing=group in uniform.JOB_SHARING) for group in uniform.OWNERS}
    return Workload("U", "uniform", uniform.CPU_BUCKETS, owner_groups, uniform.groups, uniform.requests, _FROZEN, True)


def _lhcb() -> Workload:
    table = lhcb.table()
    owner_groups = {group: OwnerGroup(share) for group, share in table.shares.items()}
    return Workload("L", lhcb.SOURCE, table.cpu_buckets, owner_groups, lhcb.groups, _lhcb_requests)


def _lhcb_requests(seed: int) -> list[Resource]:
    return pilots.fleet(lhcb.offers(), LHCB_REQUESTS, seed=seed)


def _long_tail() -> Workload:
    owner_groups = {group: OwnerGroup() for group in long_tail.OWNERS}
    return Workload(
        "N", "long tail", long_tail.CPU_BUCKETS, owner_groups, long_tail.groups, long_tail.requests, _FROZEN, True
    )


def _clauses() -> Workload:
    return replace(
        _uniform(), letter="C", title="uniform, with clauses", groups=clauses.groups, requests=clauses.requests,
        attributes=clauses.ATTRIBUTES,
    )  # fmt: skip


WORKLOADS: Mapping[str, Callable[[], Workload]] = {"U": _uniform, "L": _lhcb, "N": _long_tail, "C": _clauses}


def uniform_in(jobs_a_queue: int) -> Workload:
    """Workload U with queues of another size."""
    return replace(_uniform(), groups=partial(uniform.groups, jobs_a_queue=jobs_a_queue))


def many_queues() -> Workload:
    """Workload U with generic pilots that all find something, for comparison with one hot queue."""
    generic = pilots.Mix(private=0, processors=0, banned=0, no_site=0, nothing=0)
    return replace(_uniform(), letter="U generic", requests=partial(uniform.requests, mix=generic))


def one_queue() -> Workload:
    """The same jobs in a single queue that asks for nothing, and the same pilots."""
    return replace(many_queues(), letter="one queue", groups=_one_queue, settings={**_FROZEN, **_NO_CAP})


def with_hot_queue(workload: Workload) -> Workload:
    """The workload with one more queue, which holds half of the jobs and gets half of the calls.

    The queue is alone in a CPU bucket above all others, and half of the pilots have enough time for it.
    """

    def groups(jobs: int, seed: int) -> Iterator[Group]:
        owner = {"OwnerGroup": next(iter(workload.owner_groups)), "OwnerDN": "hot"}
        hot: Group = {
            "requirements": {**owner, "CPUTime": _HOT_BUCKET},
            "jobs": [[job_id, 1] for job_id in range(jobs - jobs // 2 + 1, jobs + 1)],
        }
        return chain(workload.groups(jobs - jobs // 2, seed), [hot])

    def requests(seed: int) -> list[Resource]:
        usual = workload.requests(seed)
        generic = [
            {k: v for k, v in resource.items() if k in ("Site", "GridCE", "Platform", "MaxRAM")} for resource in usual
        ]
        return [*usual, *({**resource, "CPUTime": _HOT_BUCKET} for resource in generic)]

    return replace(
        workload, letter=f"{workload.letter} and a hot queue", cpu_buckets=[*workload.cpu_buckets, _HOT_BUCKET],
        groups=groups, requests=requests, settings={**workload.settings, **_NO_CAP},
    )  # fmt: skip


def _one_queue(jobs: int, seed: int) -> Iterator[Group]:
    group = next(iter(uniform.OWNERS))
    everything = chain.from_iterable(part["jobs"] for part in uniform.groups(jobs, seed))
    yield {
        "requirements": {"OwnerGroup": group, "OwnerDN": uniform.OWNERS[group][0], "CPUTime": uniform.CPU_BUCKETS[0]},
        "jobs": list(everything),
    }
