"""MATCHING.md, Reasons: the word of each job agrees with taskqueue.explain_match for every kind of resource."""

import itertools
import os
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from tests.calls import Calls
from tests.core.properties.descriptions import requirements, resources

_setups = itertools.count(1)

EXAMPLES = int(os.environ.get("BROKER_TEST_EXAMPLES", "40"))  # more by hand
LARGEST = {"CPUTime": 10**9, "NumberOfProcessors": 1024, "WholeNode": True, "MaxRAM": None}


def fits(q: Calls, job_id: int, offer: dict[str, Any]) -> bool:
    """Whether a resource can get the job; a description that is refused cannot."""
    try:
        with q.connection.transaction():
            return all(q.explain(job_id, **offer).values())
    except psycopg.Error as error:
        assert error.sqlstate == "PB001"
        return False


def expected(q: Calls, job_id: int, job: dict[str, Any], kinds: list[dict[str, Any]]) -> str:
    """The word, found by asking about each kind of resource, and about a similar one of unlimited size."""
    if job["Sites"] and set(job["Sites"]) <= set(job["BannedSites"]):
        return "misconfigured"
    known = [kind for kind in kinds if not refused(q, kind)]
    if any(fits(q, job_id, kind) for kind in known):
        return "waiting"
    return "too_large" if any(fits(q, job_id, kind | LARGEST) for kind in known) else "no_resource_seen"


def refused(q: Calls, kind: dict[str, Any]) -> bool:
    try:
        with q.connection.transaction():
            q.queues(**kind)
    except psycopg.Error as error:
        assert error.sqlstate == "PB001"
        return True
    return False


@pytest.mark.slow
@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    jobs=st.lists(requirements(), min_size=1, max_size=6),
    first=st.lists(resources(), max_size=3),
    later=st.lists(resources(), max_size=2),
)
def test_reasons_and_explanations_agree(
    rolled_back: psycopg.Connection[Any],
    jobs: list[dict[str, Any]],
    first: list[dict[str, Any]],
    later: list[dict[str, Any]],
) -> None:
    q = Calls(rolled_back, f"reasons {next(_setups)}")
    for job_id, job in enumerate(jobs, 1):
        q.insert(job_id, **job)
    kinds: list[dict[str, Any]] = []
    for more in (first, later):  # the second look compares them with resources that fitted nothing
        kinds += more
        for kind in more:
            q.connection.execute(
                "insert into taskqueue.resource_class (setup, class, resource, first_seen, last_seen, samples, matched)"
                " values (%s, gen_random_uuid(), %s, now(), now(), 1, 0)",
                [q.setup, Jsonb(kind)],
            )
        q.rows("select step from taskqueue.find_reasons(%s, '1 minute')", q.setup)
        found = dict(q.rows("select job_id, reason from monitor.waiting_job where setup = %s", q.setup))
        assert found == {job_id: expected(q, job_id, job, kinds) for job_id, job in enumerate(jobs, 1)}, kinds
