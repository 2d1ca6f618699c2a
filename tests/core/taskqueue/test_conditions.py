"""MATCHING.md, Conditions: which TaskQueues match a resource. Literal cases (cases.py), each asked in four ways."""

import pytest

from tests.calls import Calls, requirements, resource
from tests.core.oracle.matching import canonical, fits
from tests.core.oracle.offers import Rules
from tests.core.taskqueue.cases import CASES, Case


def prepare(q: Calls, case: Case) -> None:
    for name in case.sharing:
        q.set_group(name, sharing=True)
    if case.strict:
        q.settings(strict_keys=list(case.strict))
    for offered, accepted in case.compatible.items():
        q.call("set_platform_compatibility", offered, accepted)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_matching_listing_and_explanation_agree_with_each_case(q: Calls, case: Case) -> None:
    prepare(q, case)
    queue = q.insert(1, **case.queue)
    assert q.queues(**case.resource) == ({queue: 1} if case.matches else {})
    assert all(q.explain(1, **case.resource).values()) == case.matches
    wanted = q.match(**case.resource, JobID=1)
    assert (wanted is not None) == case.matches
    if wanted:
        q.call("release_job", 1, wanted.attempt)
    assert (q.match(**case.resource) is not None) == case.matches


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_model_agrees_with_each_case(case: Case) -> None:
    """The plain Python model, which random tests compare the database with, gives the literal answers too."""
    rules = Rules(set(case.sharing), set(case.strict), case.compatible)
    queue = canonical(requirements(**case.queue), [500, 5000, 50000, 300000])
    assert fits(queue, resource(**case.resource), rules) == case.matches


def test_conditions_are_joined_with_and(q: Calls) -> None:
    """A resource that fails any single one of many conditions gets nothing."""
    keys = {
        "Sites": ["A"], "GridCEs": ["C"], "Platforms": ["P"], "JobTypes": ["J"], "Tags": ["t"],
        "PilotTypes": ["private"],
    }  # fmt: skip
    q.insert(1, CPUTime=5000, MinRAM=100, BannedSites=["B"], **keys)
    good = {
        "Site": "A", "GridCE": "C", "Platform": "P", "JobType": "J", "Tag": ["t", "x"], "PilotType": "private",
        "MaxRAM": 100, "CPUTime": 5000, "OwnerGroup": ["users", "x"], "OwnerDN": "alice",
    }  # fmt: skip
    wrong = {
        "Site": "B", "GridCE": "D", "Platform": "Q", "JobType": "K", "Tag": "x", "PilotType": "generic", "MaxRAM": 99,
        "CPUTime": 4999, "OwnerGroup": ["x", "y"], "OwnerDN": "bob", "BannedSite": "A", "BannedGridCE": "C",
        "BannedPlatform": "P", "BannedJobType": "J", "BannedTag": "t", "RequiredTag": "x",
    }  # fmt: skip
    for key, value in wrong.items():
        assert q.queues(**{**good, key: value}) == {}, key
        failing = [name for name, holds in q.explain(1, **{**good, key: value}).items() if not holds]
        assert len(failing) == 1, (key, failing)
    assert len(q.queues(**good)) == 1


def test_matching_queues_lists_matching_queues_in_their_order(q: Calls) -> None:
    q.set_group("big", 100)
    q.set_group("small", 1)
    low = q.insert(1, CPUTime=500, OwnerGroup="big", OwnerDN="a")
    high_small = q.insert(2, CPUTime=5000, OwnerGroup="small", OwnerDN="b")
    high_big = q.insert(3, CPUTime=5000, OwnerGroup="big", OwnerDN="c")
    q.insert(4, CPUTime=5000, Sites=["elsewhere"])
    q.call("recompute_shares")
    q.insert(5, CPUTime=500, OwnerGroup="big", OwnerDN="a")
    [first, second, third] = q.rows(
        "select task_queue_id, cpu_time, priority, jobs, requirements->>'OwnerDN'"
        ' from taskqueue.matching_queues(\'default\', \'{"CPUTime": 5000, "Site": "here"}\')'
    )
    assert first == (high_big, 5000, 50, 1, "c")
    assert second == (high_small, 5000, 1, 1, "b")
    assert third == (low, 500, 50, 2, "a")
    assert q.state(1) == q.state(3) == "waiting"


def test_a_change_of_platform_compatibility_acts_at_once(q: Calls) -> None:
    q.insert(1, Platforms=["old"])
    assert q.queues(Platform="new") == {}
    q.call("set_platform_compatibility", "new", ["old", "older"])
    assert len(q.queues(Platform="new")) == 1
    q.call("set_platform_compatibility", "new", ["older"])
    assert q.queues(Platform="new") == {}
    q.call("set_platform_compatibility", "new", ["old"])
    q.call("set_platform_compatibility", "new", [])
    assert q.queues(Platform="new") == {}


# Condition 11: a wanted job


def test_a_request_for_an_unavailable_job_gets_no_match(q: Calls) -> None:
    q.insert_many(range(1, 6))
    q.insert(6, Sites=["A"])
    assert q.match(JobID=99) is None
    assert q.match(JobID=6, Site="B") is None
    leased = q.take(JobID=1)
    assert q.match(JobID=1) is None
    q.call("finish_job", 1, leased.attempt)
    assert q.match(JobID=1) is None
    q.call("hold", "job", "2")
    assert q.match(JobID=2) is None
    Calls(q.connection, "other").insert(7)
    assert q.match(JobID=7) is None
    queue = q.queue_of(3)
    q.call("set_task_queue_enabled", queue, False)
    assert q.match(JobID=3) is None


def test_matching_queues_with_a_wanted_job_lists_its_queue(q: Calls) -> None:
    queue = q.insert(1)
    q.insert(2, Sites=["A"])
    assert q.queues(JobID=1) == {queue: 1}


def test_a_batch_with_a_wanted_job_takes_one(q: Calls) -> None:
    q.insert_many(range(1, 6))
    assert [match.job_id for match in q.match_jobs(5, JobID=3)] == [3]
