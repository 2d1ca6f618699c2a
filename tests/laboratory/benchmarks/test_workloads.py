"""The workloads agree with their tables."""

import itertools
import json
from collections import Counter
from typing import Any

import pytest

from benchmarks import workloads
from benchmarks.workloads import long_tail, uniform
from broker.laboratory.lhcb import Group
from broker.laboratory.pilots import Resource


def _wanted(groups: list[Group]) -> list[dict[str, Any]]:
    return [group["requirements"] for group in groups]


def _share(described: list[dict[str, Any]] | list[Resource], key: str) -> float:
    return sum(key in one for one in described) / len(described)


def _lengths(wanted: list[dict[str, Any]], key: str) -> set[int]:
    return {len(requirements[key]) for requirements in wanted if key in requirements}


def test_workload_u_has_the_shares_of_its_table() -> None:
    groups = list(uniform.groups(100_000))
    wanted = _wanted(groups)
    assert len(groups) == 1000
    assert len({json.dumps(requirements) for requirements in wanted}) == 1000
    assert [job_id for group in groups for job_id, _ in group["jobs"]] == list(range(1, 100_001))
    # four standard deviations of a share of 1000
    assert _share(wanted, "Sites") == pytest.approx(0.4, abs=0.062)
    assert _share(wanted, "BannedSites") == pytest.approx(0.1, abs=0.038)
    assert _share(wanted, "Platforms") == pytest.approx(0.1, abs=0.038)
    assert _share(wanted, "Tags") == pytest.approx(0.05, abs=0.028)
    assert {requirements["CPUTime"] for requirements in wanted} == set(uniform.CPU_BUCKETS)
    assert len({requirements["OwnerDN"] for requirements in wanted}) == 50
    levels = [level for group in groups for _, level in group["jobs"]]
    assert levels.count(1) / len(levels) == pytest.approx(0.30, abs=0.01)
    assert levels.count(10) / len(levels) == pytest.approx(0.05, abs=0.005)


def test_workload_n_has_the_shares_of_its_table() -> None:
    groups = list(long_tail.groups(100_001))
    wanted = _wanted(groups)
    assert len(groups) == 20_000
    assert len({json.dumps(requirements) for requirements in wanted}) == 20_000
    assert [job_id for group in groups for job_id, _ in group["jobs"]] == list(range(1, 100_002))
    # four standard deviations of a share of 20,000
    assert _share(wanted, "Sites") == pytest.approx(0.8, abs=0.012)
    assert _share(wanted, "BannedSites") == pytest.approx(0.1, abs=0.009)
    assert _share(wanted, "Platforms") == pytest.approx(0.3, abs=0.013)
    assert _share(wanted, "Tags") == pytest.approx(0.8, abs=0.012)
    assert _lengths(wanted, "Sites") == _lengths(wanted, "BannedSites") == {1, 2, 3}
    assert _lengths(wanted, "Platforms") == {1, 2}
    assert _lengths(wanted, "Tags") == {1, 2, 3, 4}
    buckets = Counter(requirements["CPUTime"] for requirements in wanted)
    assert set(buckets) == set(long_tail.CPU_BUCKETS)
    assert max(buckets.values()) < 1.2 * min(buckets.values())
    assert len({requirements["OwnerDN"] for requirements in wanted}) == 500
    assert len({requirements["OwnerGroup"] for requirements in wanted}) == 50
    sites = Counter(site for requirements in wanted for site in requirements.get("Sites", ()))
    assert 900 < len(sites) <= 1000
    assert sites["SITE.0001"] > 5 * sites["SITE.0010"] > 25 * sites["SITE.0100"], "Zipf"


def test_workload_n_has_no_more_queues_than_jobs() -> None:
    assert [len(group["jobs"]) for group in long_tail.groups(3)] == [1, 1, 1]


def test_requests_of_workload_n_are_worker_nodes_with_some_time_left() -> None:
    requests = long_tail.requests(7)
    assert len({json.dumps(request) for request in requests}) == 50_000
    at_sites = [request for request in requests if "Site" in request and len(request.get("Tag", [])) > 1]  # type: ignore[arg-type]
    kinds = {(request["Site"], *map(str, map(request.get, ("Tag", "Platform", "MaxRAM")))) for request in at_sites}
    by_site = Counter(kind[0] for kind in kinds)
    assert len(by_site) > 700
    assert 1 <= min(by_site.values()) <= max(by_site.values()) <= 5


@pytest.mark.parametrize(("workload", "processors"), [("U", 0.20), ("L", 0.20), ("N", 1.0)])
def test_requests_are_the_same_for_the_same_seed_and_mixed_as_asked(workload: str, processors: float) -> None:
    make = workloads.WORKLOADS[workload]().requests
    requests = make(7)
    assert requests == make(7)
    assert requests != make(8)
    assert len(requests) == (50_000 if workload == "N" else 20_000)
    assert len({json.dumps(request) for request in requests}) > 0.98 * len(requests)
    assert _share(requests, "NumberOfProcessors") == pytest.approx(processors, abs=0.012)
    assert 1 - _share(requests, "Site") == pytest.approx(0.05, abs=0.007)
    # a private pilot, or a third of the pilots that match nothing
    assert _share(requests, "OwnerGroup") == pytest.approx(0.10 + 0.90 * 0.05 / 3, abs=0.011)
    banned = sum(any(key.startswith("Banned") for key in request) for request in requests) / len(requests)
    assert banned == pytest.approx(0.05, abs=0.007)


def test_a_hot_queue_has_half_of_the_jobs_and_half_of_the_requests() -> None:
    workload = workloads.with_hot_queue(workloads.WORKLOADS["L"]())
    groups = list(workload.groups(20_001, 1))
    ids = [job_id for group in groups for job_id, _ in group["jobs"]]
    assert sorted(ids) == list(range(1, 20_002))
    top = max(workload.cpu_buckets)
    hot = [group for group in groups if group["requirements"]["CPUTime"] == top]
    assert [len(group["jobs"]) for group in hot] == [10_000]
    requests = workload.requests(1)
    times = [int(str(request["CPUTime"])) >= top for request in requests]
    assert times.count(True) == len(requests) / 2


def test_worlds_with_many_queues_and_with_one_hold_the_same_jobs() -> None:
    many, one = workloads.many_queues(), workloads.one_queue()
    jobs = [list(itertools.chain.from_iterable(g["jobs"] for g in w.groups(1000, 3))) for w in (many, one)]
    assert jobs[0] == jobs[1]
    assert len(list(one.groups(1000, 3))) == 1
    assert one.requests(3) == many.requests(3)
