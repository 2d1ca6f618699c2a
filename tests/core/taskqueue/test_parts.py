"""Small functions of matching, called on literal values, and the description of a job at each step of its life."""

import math
from functools import partial
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls


def value(q: Calls, function: str, *arguments: Any) -> Any:
    """The answer of taskqueue.<function>, without the setup as first argument."""
    return q.value(f"select taskqueue.{function}({', '.join(['%s'] * len(arguments))})", *arguments)


@pytest.mark.parametrize(("draw", "count", "priority", "last"), [(0.3, 1, 2, 0), (0.3, 5, 2, 0.1), (0.9, 7, 0.5, 1.5)])
def test_draw_key_is_the_smallest_of_many_draws(
    q: Calls, draw: float, count: float, priority: float, last: float
) -> None:
    """The smallest of count draws over the priority, given that all lie above the last key."""
    uniform = last + (1 / priority - last) * (1 - (1 - draw) ** (1 / count))
    assert value(q, "draw_key", draw, count, priority, "dirac", last) == pytest.approx(uniform, rel=1e-12)
    exponential = last - math.log(draw) / (count * priority)
    assert value(q, "draw_key", draw, count, priority, "proportional", last) == pytest.approx(exponential, rel=1e-12)
    assert value(q, "draw_key", 1.0, 1.0, 4.0, "dirac") == 0.25  # the draw of one queue is below its inverse priority


def test_weights_and_own_priorities_have_their_values_and_bounds(q: Calls) -> None:
    weights = {(0, False): 1e-5, (0, True): 1e-5, (1, True): 1, (9, True): 9, (10, False): 10, (10, True): 1e6}
    assert {each: value(q, "weight", *each) for each in weights} == weights
    priorities = {
        (1000.0, 3.0, 4.0, False): 750, (1000.0, 0.1, 1000.0, False): 0.1, (1000.0, 1e-5, 1e5, False): 0.001,
        (1000.0, 0.1, 0.1, True): 0.001, (1000.0, 0.2, 0.4, True): 500, (1000.0, 0.1, 0.1, False): 1000,
    }  # fmt: skip
    assert {each: value(q, "own_priority", *each) for each in priorities} == priorities


def test_four_weight_classes_span_a_factor_of_two(q: Calls) -> None:
    """A priority / siblings is below the bound of its class, and above 84 % of 84 % of the bound."""
    classes = [value(q, "weight_class_of", each, 1) for each in (0.5, 1.0, 1.0001, 2.0, 2.0001, 1000.0)]
    assert classes == [128 * n for n in (-4, 0, 1, 4, 5, 40)]
    priorities = [p for step in range(-40, 200) for p in (2 ** (step / 4), 2 ** (step / 4) * (1 + 1e-9), 1.1**step)]
    bounds = q.rows(
        "select p, n, taskqueue.upper_bound_of(k), taskqueue.upper_bound_of(k >> 7 << 7)"
        " from unnest(%s::float8[]) p, unnest('{1,2,3,8,2000,2147483647}'::int[]) n"
        " cross join lateral (select taskqueue.weight_class_of(p, n) as k) c", priorities,
    )  # fmt: skip
    for priority, siblings, bound, highest in bounds:
        assert (0.84 if siblings in (1, 2, 8) else 0.84**2) * bound < priority / siblings < bound
        assert 0.84 * highest < priority < highest


def test_first_site_is_the_first_accepted_site(q: Calls) -> None:
    sites: dict[tuple[str, str, str], str | None] = {
        ("{B,A}", "{}", "{}"): "A", ("{B,A}", "{}", "{A}"): "B", ("{B,A}", "{B}", "{}"): "B",
        ("{A}", "{B}", "{}"): None, ("{A,B}", "{C}", "{}"): None, ("{A,B}", "{A,B}", "{A}"): "B",
        ("{A}", "{}", "{A}"): None, ("{}", "{}", "{}"): None,
    }  # fmt: skip
    query = "select taskqueue.first_site(%s::text[], %s::text[], %s::text[])"
    assert {each: q.value(query, *each) for each in sites} == sites
    texts: list[tuple[Any, str | None]] = [(None, None), ([], "offers none"), (["a"], "a"), (["a", "b"], "a, b")]
    assert [(each, q.value("select taskqueue.offered_text(%s::text[])", each)) for each, _ in texts] == texts


def test_fate_of_and_holder_of_describe_a_job_at_each_step_of_its_life(q: Calls) -> None:
    def told(job_id: int) -> tuple[Any, ...]:
        [(waits, number, leased, outcome)] = q.call_rows("fate_of", job_id)
        holder = q.call("holder_of", job_id)
        return waits, number, leased, outcome, holder.partition(", since")[0].replace(caller, "X")

    caller = q.value("select resource.caller()")
    queue, other = q.insert(1, Sites=["S"]), q.insert(2, JobTypes=["T"])
    assert told(1) == (True, queue, False, None, "It waits for attempt 1.")
    assert told(3) == (False, None, False, None, "It is not known here.")
    q.call("hold", "job", "1")
    assert told(1) == (True, None, False, None, "It waits for attempt 1.")
    assert told(2) == (True, other, False, None, "It waits for attempt 1.")
    assert q.call("state_of_job", 1) == "held"
    q.call("resume", "job", "1")
    attempt = q.take(Site="S", JobType="none").attempt
    assert told(1) == (False, None, True, None, "Attempt 1 has it: role X at S")
    assert q.call("state_of_job", 1) == "leased (matched)"
    queue = q.call("release_job", 1, attempt)
    assert told(1) == (True, queue, False, None, "It waits for attempt 2.")
    assert q.call("state_of_job", 1) == "waiting"
    match = q.take(JobType="none")
    assert told(1) == (False, None, True, None, "Attempt 2 has it: role X")
    q.call_rows("report_job", 1, match.attempt)
    assert q.call("state_of_job", 1) == "leased (running)"
    q.call("finish_job", 1, match.attempt, "failed")
    assert told(1) == (False, None, False, "failed", "It has ended: failed, attempt 2.")
    assert told(2) == (True, other, False, None, "It waits for attempt 1.")
    assert q.call("state_of_job", 1) == "ended (failed)"
    assert q.refusal(lambda: q.call("state_of_job", 3))[0] == "PB004"


@pytest.mark.parametrize(("owner", "group"), [("alice", None), (None, "g1"), ("alice", "g1")])
def test_a_private_identity_may_touch_only_its_own_jobs(q: Calls, owner: str | None, group: str | None) -> None:
    identity = {"setup": "default", "role_name": "me", "private": True, "owner_dn": owner, "owner_group": group}
    touch = """select taskqueue.may_touch(jsonb_populate_record(null::resource.identity, %s), %s, d.definition_id)
                 from taskqueue.definition d where d.owner_dn = %s and d.owner_group = %s"""
    owners = [("alice", "g1"), ("alice", "g2"), ("bob", "g1"), ("bob", "g2")]
    for job_id, (its_owner, its_group) in enumerate(owners, 1):
        q.insert(job_id, OwnerDN=its_owner, OwnerGroup=its_group)
    for job_id, (its_owner, its_group) in enumerate(owners, 1):
        if owner in (None, its_owner) and group in (None, its_group):
            q.value(touch, Jsonb(identity), job_id, its_owner, its_group)
        else:
            refusal = q.refusal(partial(q.value, touch, Jsonb(identity), job_id, its_owner, its_group))
            assert refusal == ("PB002", f"job {job_id} does not belong to role me")


def test_refusals_name_the_argument_that_is_null(q: Calls) -> None:
    limit = q.refusal(lambda: q.call("set_limit", "running", "S", "C", "JobTypes", None, 1))
    assert limit[0] == "PB001"
    assert "null" in limit[1]
    reports = q.refusal(lambda: q.call_rows("report_jobs", None))
    assert reports == ("PB001", "jobs are null, not a JSON array")
    for job_id, shown in ((None, "null"), (1.5, "1.5"), ("x", '"x"'), (0, "0")):
        element = Jsonb([{"job_id": job_id, "attempt": "x"}])
        state, message = q.refusal(lambda element=element: q.call_rows("report_jobs", element))  # type: ignore[misc]
        assert (state, f"job_id of element 1 is {shown}" in message) == ("PB001", True)


def test_the_refusal_of_a_job_id_advises_its_correction(q: Calls) -> None:
    def advice(job_id: Any, *more: Any) -> str | None:
        return q.error_of(lambda: value(q, "job_id", Jsonb(job_id), *more)).diag.message_hint

    assert advice("7") == "It is a text: leave the quotation marks out. Name a job by its id."
    assert [advice(job_id) for job_id in (0, "x", None)] == ["Name a job by its id."] * 3
    reserved = "Ids above 999999999999 are reserved for jobs that brokerage makes."
    assert advice(10**12, "job_id", 10**12 - 1) == reserved
    assert advice("7", "job_id", 10**12 - 1) == f"It is a text: leave the quotation marks out. {reserved}"
