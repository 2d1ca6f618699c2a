"""The workload generator agrees with LHCb's figures."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pytest

from broker.laboratory import lhcb, pilots

FULL = 871_973


@pytest.fixture(scope="module")
def full() -> list[lhcb.Group]:
    """The workload at LHCb's own size."""
    return list(lhcb.groups(FULL))


def marginal(groups: Iterable[lhcb.Group], key: str) -> dict[str, tuple[int, int]]:
    """The numbers of queues and jobs that name each value of a requirement."""
    queues: Counter[str] = Counter()
    jobs: Counter[str] = Counter()
    for group in groups:
        value: Any = group["requirements"].get(key, [])
        for name in value if isinstance(value, list) else [str(value)]:
            queues[name] += 1
            jobs[name] += len(group["jobs"])
    return {name: (queues[name], jobs[name]) for name in queues}


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("Sites", "sites"), ("BannedSites", "banned_sites"), ("Platforms", "platforms"), ("JobTypes", "job_types"),
        ("CPUTime", "cpu_times"),
    ],
)  # fmt: skip
def test_full_size_has_the_figures_of_the_data(full: list[lhcb.Group], key: str, kind: str) -> None:
    found = marginal(full, key)
    figures = {name: counts for name, counts in lhcb.table().figures[kind].items() if counts[1]}
    assert found.keys() == figures.keys()
    vanished = 3  # queues that are counted in the overview but missing in the lists
    for name, (queues, jobs) in figures.items():
        assert queues <= found[name][0] <= queues + vanished, name
        # The figures were read one after the other while jobs were taken, so they may differ by this much.
        assert abs(found[name][1] - jobs) <= 0.002 * jobs + 50, name


def test_full_size_has_the_queues_and_owners_of_the_data(full: list[lhcb.Group]) -> None:
    assert len(full) == 501
    assert sum(len(group["jobs"]) for group in full) == FULL
    groups = Counter(group["requirements"]["OwnerGroup"] for group in full)
    assert groups == {"lhcb_mc": 269, "lhcb_data": 212, "lhcb_mcproc": 11, "lhcb_user": 9}
    listed = [len(sites) for group in full if isinstance(sites := group["requirements"].get("Sites"), list)]
    assert max(listed) == 60
    assert len(listed) == 500  # one queue takes any site


@pytest.mark.parametrize("jobs", [0, 1, 300, 501, 2_000, 100_000, FULL, FULL + 1, 1_000_000, 3_000_001])
def test_any_number_of_jobs_is_created_exactly_within_the_queue_size(jobs: int) -> None:
    sizes = [len(group["jobs"]) for group in lhcb.groups(jobs)]
    assert sum(sizes) == jobs
    assert all(1 <= size <= lhcb.QUEUE_SIZE for size in sizes)
    if 501 <= jobs <= FULL:
        assert len(sizes) == 501
    if jobs > FULL:
        assert len(sizes) == 501 * -(-jobs // FULL)


def test_job_ids_are_consecutive_and_none_occurs_twice() -> None:
    ids = [job_id for group in lhcb.groups(5_000, first_id=1_001) for job_id, _ in group["jobs"]]
    assert sorted(ids) == list(range(1_001, 6_001))


def test_most_user_priorities_of_a_group_are_equal(full: list[lhcb.Group]) -> None:
    for group in full:
        levels = Counter(level for _, level in group["jobs"])
        assert all(1 <= level <= 10 for level in levels)
        if len(group["jobs"]) > 1_000:
            assert levels.most_common(1)[0][1] > 0.95 * len(group["jobs"])


def test_the_seed_decides_everything() -> None:
    def stream(seed: int) -> list[lhcb.Group]:
        return list(lhcb.groups(3_000, seed))

    def described(seed: int) -> list[pilots.Resource]:
        return list(islice(lhcb.resources(seed), 500))

    assert stream(1) == stream(1)
    assert stream(1) != stream(2)
    assert described(1) == described(1)
    assert described(1) != described(2)


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        next(lhcb.groups(-1))


def test_pilots_come_in_the_shares_of_the_mix() -> None:
    drawn = list(islice(lhcb.resources(5, kinds=20_000), 20_000))

    def share(resources: Iterator[bool]) -> float:
        return sum(resources) / len(drawn)

    sites = lhcb.table().figures["sites"]
    assert {resource["Site"] for resource in drawn if "Site" in resource} == set(sites)
    assert share("Site" not in resource for resource in drawn) == pytest.approx(0.05, abs=0.01)
    assert share("NumberOfProcessors" in resource for resource in drawn) == pytest.approx(0.20, abs=0.02)
    banning = (any(key.startswith("Banned") for key in resource) for resource in drawn)
    assert share(banning) == pytest.approx(0.05, abs=0.01)
    private = (resource.get("PilotType") == "private" for resource in drawn)
    assert share(private) == pytest.approx(0.10 + 0.05 / 3, abs=0.01)
    assert {len(resource["Platform"]) for resource in drawn if isinstance(resource["Platform"], list)} == {1, 2, 3}
    cpu_times = sorted(int(str(resource["CPUTime"])) for resource in drawn if resource["CPUTime"] != 1)
    assert (21_600 * 50) ** 0.5 < cpu_times[len(cpu_times) // 2] < 1_080_000 / 4
    assert cpu_times[-1] > 1_080_000


def test_a_fleet_has_the_given_number_of_kinds_for_any_seed() -> None:
    def kinds(seed: int) -> set[str]:
        return {str(resource) for resource in islice(lhcb.resources(seed, kinds=50), 2_000)}

    assert kinds(1) == kinds(2)
    assert len(kinds(1)) == 50


def test_a_mix_without_a_kind_draws_none_of_it() -> None:
    plain = pilots.Mix(private=0, processors=0, banned=0, no_site=0, nothing=0)
    keys = {key for resource in islice(lhcb.resources(1, plain), 1_000) for key in resource}
    assert keys == {"Site", "GridCE", "Platform", "CPUTime", "MaxRAM"}
