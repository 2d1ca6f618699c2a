"""Zero share of a site's fairsharepolicy (zero-share.md, zero-share)."""

import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.brokerage.software_rows import SETUP, Rows


def _refusal(rows: Rows, policy: str | None, task: dict[str, Any], base_profile: str = "documented") -> str | None:
    rows.queue(fairsharepolicy=policy)
    rows.task(**task)
    return rows.answers("zero_share_refusals", base_profile, [1]).get("Q")


CURRENT = "type=evgen:100%,type=simul:100%,type=any:0%"
SEED = "type=evgensimul:100%"
NOTHING_LEFT = ", which leaves nothing to others"
# Policy, task, and the refusal: in doc, and in panda2026.
CASES: list[tuple[str | None, dict[str, Any], str | None, str | None]] = [
    (None, {}, None, None),
    ("", {}, None, None),
    (SEED, {"processing_type": "evgen"}, None, None),
    (SEED, {"processing_type": "simul"}, None, None),
    (SEED, {"processing_type": "reprocessing"}, SEED + NOTHING_LEFT, None),
    (SEED, {"processing_type": None}, SEED + NOTHING_LEFT, None),
    (SEED, {"processing_type": "evgensimul"}, SEED + NOTHING_LEFT, None),
    ("type=evgensimul:0%", {"processing_type": "simul"}, "type=evgensimul:0%", None),
    ("type=(evgensimul|pile):100", {"processing_type": "simul"}, None, None),
    ("type=(evgensimul|pile):100", {"processing_type": "merge"}, "type=(evgensimul|pile):100" + NOTHING_LEFT, None),
    ("type=evgen*:100%", {"processing_type": "simul"}, "type=evgen*:100%" + NOTHING_LEFT, None),
    (CURRENT, {"processing_type": "evgen"}, None, None),
    (CURRENT, {"processing_type": "simul"}, None, None),
    (CURRENT, {"processing_type": "pile"}, "type=any:0%", "type=any:0%"),
    (CURRENT, {"processing_type": "unheard of"}, "type=any:0%", "type=any:0%"),
    ("type=any:0%," + CURRENT, {"processing_type": "evgen"}, "type=any:0%", "type=any:0%"),
    ("type=others:0%", {"processing_type": "unheard of"}, "type=others:0%", "type=others:0%"),
    ("type=others:0%", {"processing_type": "deriv"}, None, None),
    ("type=any:0%", {"processing_type": "prod_test"}, None, None),
    ("type=any:0%", {"processing_type": "validation"}, None, None),
    ("type=any:0%", {"processing_type": "rc_alrb"}, None, None),
    ("type=test:0", {"processing_type": "ptest"}, None, None),
    ("type=evgen:0", {"processing_type": "evgen"}, "type=evgen:0", "type=evgen:0"),
    ("type=evgen:00", {"processing_type": "evgen"}, None, None),
    ("type=evgen:0.0%", {"processing_type": "evgen"}, None, None),
    ("type=evgen:", {"processing_type": "evgen"}, None, None),
    ("type=(evgen|simul):0%", {"processing_type": "simul"}, "type=(evgen|simul):0%", "type=(evgen|simul):0%"),
    ("type=evgen|simul:0%", {"processing_type": "simul"}, "type=evgen|simul:0%", "type=evgen|simul:0%"),
    ("type=vgen:0%", {"processing_type": "evgen"}, None, None),
    ("type=eVgen:0%", {"processing_type": "evgen"}, None, None),
    ("type=*:0%", {"processing_type": "evgen"}, "type=*:0%", "type=*:0%"),
    ("type=s*:0%", {"processing_type": "simul"}, "type=s*:0%", "type=s*:0%"),
    ("0%", {}, "0%", "0%"),
    ("group=(AP_Higgs|AP_Susy):0%", {"working_group": "AP_Susy"}, "group=(AP_Higgs|AP_Susy):0%",
     "group=(AP_Higgs|AP_Susy):0%"),
    ("group=(AP_Higgs|AP_Susy):0%", {"working_group": "AP_Top"}, None, None),
    ("group=AP_*:0%", {"working_group": "AP_Top"}, "group=AP_*:0%", "group=AP_*:0%"),
    ("group=AP_*:0%", {"working_group": None}, None, None),
    ("group=any:0%", {"working_group": None}, "group=any:0%", "group=any:0%"),
    ("group=*:0%", {"working_group": None}, "group=*:0%", "group=*:0%"),
    ("gshare=Express:100%,gshare=any:0%", {"gshare": "Express"}, None, None),
    ("gshare=Express:100%,gshare=any:0%", {"gshare": "MC"}, "gshare=any:0%", "gshare=any:0%"),
    ("gshare=Express:0%", {"gshare": None}, "gshare=Express:0%", "gshare=Express:0%"),
    ("type=evgen:gshare=MC:0%", {"processing_type": "evgen", "gshare": "MC"}, "type=evgen:gshare=MC:0%",
     "type=evgen:gshare=MC:0%"),
    ("type=evgen:gshare=MC:0%", {"processing_type": "evgen", "gshare": "Express"}, None, None),
    ("type=evgen:gshare=MC:0%", {"processing_type": "simul", "gshare": "MC"}, None, None),
    ("priority>400:0", {"current_priority": 401}, "priority>400:0", "priority>400:0"),
    ("priority>400:0", {"current_priority": 400}, None, None),
    ("priority>400:0", {"current_priority": 400, "is_merging": True}, "priority>400:0", "priority>400:0"),
    ("priority>400:0", {"current_priority": 400, "task_priority": 900}, None, None),
    ("priority>=400:0", {"current_priority": 400}, "priority>=400:0", "priority>=400:0"),
    ("priority<400:0", {"current_priority": 399}, "priority<400:0", "priority<400:0"),
    ("priority<=400:0", {"current_priority": 401}, None, None),
    ("priority==400:0", {"current_priority": 400}, "priority==400:0", "priority==400:0"),
    ("priority!=400:0", {"current_priority": 400}, None, None),
    ("priority>400:0", {"current_priority": None}, None, None),
    ("type=evgen:priority>400:0%,type=evgen:100%", {"processing_type": "evgen", "current_priority": 500},
     "type=evgen:priority>400:0%", "type=evgen:priority>400:0%"),
    ("type=evgen:priority>400:0%,type=evgen:100%", {"processing_type": "evgen", "current_priority": 300}, None, None),
    ("type=evgen:60%,type=simul:40%", {"processing_type": "pile"}, "type=evgen:60%,type=simul:40%" + NOTHING_LEFT,
     None),
    ("type=evgen:60%,type=simul:39.9%", {"processing_type": "pile"}, None, None),
    ("type=evgen:99.9%,type=simul:0.1", {"processing_type": "pile"}, "type=evgen:99.9%,type=simul:0.1" + NOTHING_LEFT,
     None),
    ("type=evgen:100%", {"processing_type": "validation"}, None, None),
    # An unreadable part has no effect; the rest of the policy has.
    ("type=(:0%,type=evgen:0%", {"processing_type": "evgen"}, "type=evgen:0%", "type=evgen:0%"),
    ("type=(:100%", {"processing_type": "pile"}, None, None),
    ("id=12:0%", {}, None, None),
    ("priority~400:0", {"current_priority": 500}, None, None),
    ("priority>x:0,type=any:0%", {"current_priority": 500}, "type=any:0%", "type=any:0%"),
    (" type=evgen:100% ,, type=any:0% ,", {"processing_type": "pile"}, "type=any:0%", "type=any:0%"),
    (",", {}, None, None),
    ("nonsense", {}, None, None),
]  # fmt: skip


@pytest.mark.parametrize("base_profile", ["documented", "panda2026"])
@pytest.mark.parametrize(("policy", "task", "doc", "panda"), CASES)
def test_zero_shares_refuse_tasks_as_each_profile_says(
    *, rows: Rows, base_profile: str, policy: str | None, task: dict[str, Any], doc: str | None, panda: str | None
) -> None:
    assert _refusal(rows, policy, task, base_profile) == (doc if base_profile == "documented" else panda)


def test_each_class_of_tasks_and_each_queue_has_its_own_refusals(rows: Rows) -> None:
    for queue, policy in {"A": SEED, "B": SEED, "C": None, "D": "type=evgen:0%"}.items():
        rows.queue(queue, fairsharepolicy=policy)
    rows.task(1, processing_type="evgen")
    rows.task(2, processing_type="pile")
    rows.task(3, processing_type="pile", task_priority=1)
    rows.task(4, processing_type="pile", current_priority=900)
    rows.task(5, processing_type="merge")
    statement = (
        "select t.task_id, r.queue from brokerage.zero_share_refusals(%s, %s, 'documented') r"
        " join workload.task t on t.setup = %s and brokerage.share_key(t) = r.share_key order by 1, 2"
    )
    found = rows.connection.execute(statement, [SETUP, [1, 2, 3, 4], SETUP]).fetchall()
    assert found == [(1, "D"), *[(task, queue) for task in (2, 3, 4) for queue in ("A", "B")]]


def test_each_processing_type_belongs_to_its_group(rows: Rows) -> None:
    types = [
        "evgen", "simul", "reprocessing", "mcore", "group", "deriv", "pile", "merge", "prod_test", "rc_test2", "urgent",
        "", None,
    ]  # fmt: skip
    found = rows.connection.execute("select brokerage.process_group(t) from unnest(%s::text[]) t", [types]).fetchall()
    assert [group for (group,) in found] == [*types[:8], "test", "test", "others", "others", "others"]


_LETTERS = st.text("aevgn=:,%0149.*()[]|\\{}<>! typegrouhsiπ'\n", max_size=30)
_FIELDS = st.one_of(
    st.sampled_from(
        ["type=evgen", "type=any", "group=A*", "gshare=(x", "priority>4", "priority=x", "0%", "100%", "type=evgensimul"]
    ),
    _LETTERS,
)
_POLICIES = st.one_of(
    st.text(max_size=20), _LETTERS, st.lists(st.lists(_FIELDS, max_size=3).map(":".join), max_size=3).map(",".join)
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    policy=_POLICIES,
    group=_LETTERS,
    processing_type=st.one_of(_LETTERS, st.just("evgen")),
    priority=st.integers(-5, 5),
    merging=st.booleans(),
)
def test_no_fairshare_policy_raises_an_error(
    *, rows: Rows, policy: str, group: str, processing_type: str, priority: int, merging: bool
) -> None:
    """Any policy has an answer within seconds."""
    rows.connection.execute("savepoint example")
    before = time.monotonic()
    for number, base_profile in enumerate(("documented", "panda2026")):
        rows.queue(f"Q{number}", fairsharepolicy=policy.replace("\0", ""))
        rows.task(
            number, working_group=group, processing_type=processing_type, current_priority=priority, is_merging=merging
        )
        rows.answers("zero_share_refusals", base_profile, [number])
    assert time.monotonic() - before < 5
    rows.connection.execute("rollback to savepoint example")
