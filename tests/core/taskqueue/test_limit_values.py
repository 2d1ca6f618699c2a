"""A limit is accepted exactly if some job can reach it."""

from typing import Any

import pytest

from tests.calls import Calls

# Attribute, value of the limit, and the requirement of a job that shall count at it.
MET: list[tuple[str, str, Any]] = [
    ("Owner", "ann", "ann"), ("OwnerGroup", "g", "g"), ("CPUTime", "500", 100), ("MinRAM", "1.5", 1.5),
    ("MaxRAM", "2000", 2000.0), ("Tags", "8Processors", ["8Processors"]), ("JobType", "T", "T"), ("Site", "S", ["S"]),
    ("LHCbPlatform", "p", "p"), ("GridCE", "c", "c"), ("PilotType", "any", "any"), ("BannedSite", "any", "any"),
    ("SubmitPool", "x", "x"), ("GridMiddleware", "x", "x"),
]  # fmt: skip
NEVER: list[tuple[str, str, str]] = [
    ("CPUTime", "100", "Give 500"), ("CPUTime", "500.0", "Give 500"), ("CPUTime", "day", "not a number"),
    ("MinRAM", "2000.0", "Give 2000"), ("MinRAM", "2e3", "not a number"), ("MaxRAM", "-1", "not within"),
    ("Tags", "4GB", "memory_tags"), ("Site", "ANY", "any"), ("JobType", "any", "any"), ("Platform", "Any", "any"),
]  # fmt: skip
KEYS = {"Owner": "OwnerDN", "Site": "Sites", "BannedSite": "BannedSites", "GridCE": "GridCEs", "JobType": "JobTypes",
        "LHCbPlatform": "Platforms", "PilotType": "PilotTypes", "SubmitPool": "SubmitPools",
        "GridMiddleware": "GridMiddlewares"}  # fmt: skip
OFFER = {"Site": "S", "GridCE": "c", "Tag": "8Processors", "MaxRAM": 10**6, "PilotType": "any"}


@pytest.mark.parametrize(("attribute", "value", "wanted"), MET, ids=[row[0] for row in MET])
def test_a_job_reaches_a_limit_that_was_accepted(q: Calls, attribute: str, value: str, wanted: Any) -> None:
    q.insert(1, **{KEYS.get(attribute, attribute): wanted})
    q.running_limit(attribute, value, 0)
    assert q.match(**OFFER) is None
    assert q.call("clear_limit", "running", "S", None, attribute, value) is True
    assert q.match(**OFFER) is not None


@pytest.mark.parametrize(("attribute", "value", "words"), NEVER)
def test_a_limit_that_no_job_reaches_is_refused(q: Calls, attribute: str, value: str, words: str) -> None:
    error = q.error_of(lambda: q.running_limit(attribute, value, 0))
    said = f"{error.diag.message_primary}; {error.diag.message_hint}"
    assert (error.sqlstate, words in said, value in said) == ("PB001", True, True), said
    assert q.value("select count(*) from taskqueue.site_limit") == 0


def test_a_memory_tag_that_stays_a_tag_can_be_limited(q: Calls) -> None:
    q.settings(memory_tags=False)
    q.insert(1, Tags=["4GB"])
    q.running_limit("Tags", "4GB", 0)
    assert q.match(**{**OFFER, "Tag": "4GB"}) is None


def test_a_bucket_that_a_limit_counts_stays(q: Calls) -> None:
    q.running_limit("CPUTime", "500", 0)
    before = q.rows("select cpu_time from taskqueue.cpu_bucket order by 1")
    error = q.error_of(lambda: q.call("set_cpu_buckets", [100, 1000]))
    assert error.sqlstate == "PB005"
    assert "of site S counts jobs of CPUTime 500" in str(error.diag.message_primary)
    assert q.rows("select cpu_time from taskqueue.cpu_bucket order by 1") == before
    q.call("set_cpu_buckets", [500, 1000])
    q.call("clear_limit", "running", "S", None, "CPUTime", "500")
    q.call("set_cpu_buckets", [100, 1000])
