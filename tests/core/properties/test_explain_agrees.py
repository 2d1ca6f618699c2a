"""MATCHING.md, Explanations: filter, explanation and Python model agree on random descriptions."""

import itertools
import os
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.calls import Calls
from tests.core.oracle.matching import canonical, fits
from tests.core.oracle.offers import Rules
from tests.core.properties.descriptions import requirements, resources

_setups = itertools.count(1)

EXAMPLES = int(os.environ.get("BROKER_TEST_EXAMPLES", "60"))  # more by hand


@pytest.mark.representative
@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    jobs=st.lists(requirements(), min_size=1, max_size=6),
    offers=st.lists(resources(), min_size=1, max_size=4),
    sharing=st.sets(st.sampled_from(["g1", "g2"])),
    strict=st.sets(st.sampled_from(["Site", "GridCE", "Platform", "JobType"]), max_size=2),
    compatible=st.booleans(),
)
def test_filter_explanation_and_model_agree(  # noqa: PLR0917
    rolled_back: psycopg.Connection[Any],
    jobs: list[dict[str, Any]],
    offers: list[dict[str, Any]],
    sharing: set[str],
    strict: set[str],
    compatible: bool,
) -> None:
    q = Calls(rolled_back, f"explain {next(_setups)}")
    q.settings(strict_keys=sorted(strict))
    for name in sharing:
        q.set_group(name, sharing=True)
    table = {"P1": ["P2"]} if compatible else {}
    for offered, accepted in table.items():
        q.call("set_platform_compatibility", offered, accepted)
    rules = Rules(sharing, strict, table)
    queues = {job_id: q.insert(job_id, **job) for job_id, job in enumerate(jobs, 1)}
    for offer in offers:
        matching = q.queues(**offer)
        for job_id, job in enumerate(jobs, 1):
            expected = fits(canonical(job, [500, 5000, 50000, 300000]), offer, rules)
            assert (queues[job_id] in matching) == expected, (job, offer)
            assert all(q.explain(job_id, **offer).values()) == expected, (job, offer)
