"""LEASES.md, Ended jobs: an ended job keeps owner, group, site and requirements, also when its definition moves."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.calls import Calls

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ASKED = {"OwnerDN": "ann", "OwnerGroup": "physics", "Sites": ["A", "B"]}


@pytest.fixture
def ended(q: Calls) -> Calls:
    """Job 1 ended at site A; its TaskQueue is gone."""
    q.set_clock(NOON)
    q.insert(1, 4, **ASKED)
    match = q.take(Site="A")
    q.call("finish_job", 1, match.attempt, "failed")
    q.call("delete_empty_queues")
    return q


def move(q: Calls, hours: int = 2) -> int:
    """Maintain the setup some hours later; how many definitions moved."""
    q.set_clock(NOON + timedelta(hours=hours))
    return q.maintain()["definitions"]


def known(q: Calls) -> list[Any]:
    return q.rows("select requirements ->> 'OwnerDN' from monitor.job where setup = %s order by job_id", q.setup)


@pytest.mark.parametrize("moved", [False, True])
def test_an_ended_job_shows_owner_group_site_and_requirements(ended: Calls, moved: bool) -> None:
    q = ended
    if moved:
        assert move(q) == 1
        assert q.value("select count(*) from taskqueue.definition where setup = %s", q.setup) == 0
    facts = ("failed", "A", "ann", "physics", 4)
    listed = "select status, site, user_name, gshare, priority from monitor.listed_job where setup = %s"
    assert q.rows(listed, q.setup) == [facts]
    assert q.rows(
        "select state, site, owner_dn, owner_group, user_priority from taskqueue.own_job(%s, 1)", q.setup
    ) == [facts]
    query = "select state, site, owner_dn, owner_group, user_priority, requirements from monitor.job where setup = %s"
    [row] = q.rows(query, q.setup)
    assert row == (*facts, {"OwnerDN": "ann", "OwnerGroup": "physics", "CPUTime": 500, "Sites": ["A", "B"]})
    q.connection.execute("delete from taskqueue.history")
    assert q.rows("select * from taskqueue.owner_of_job(%s, 1)", q.setup) == [("ann", "physics")]


def test_ends_of_the_last_minute_have_their_site(ended: Calls) -> None:
    ended.insert(2, **ASKED)
    ended.call("cancel_job", 2)
    query = "select outcome, site, jobs from monitor.ended_lately where setup = %s order by 1"
    assert ended.rows(query, ended.setup) == [("cancelled", None, 1), ("failed", "A", 1)]


def test_a_past_definition_is_dropped_with_the_history_and_a_day(ended: Calls) -> None:
    q = ended
    move(q)
    q.settings(history_kept="2 days")
    kept = q.value("select extract(epoch from taskqueue.history_kept())::int / 3600")
    q.set_clock(NOON + timedelta(hours=2 + 24 + kept))
    assert (q.maintain()["past definitions"], known(q)) == (0, [("ann",)])
    q.set_clock(NOON + timedelta(hours=2 + 24 + kept, seconds=1))
    assert (q.maintain()["past definitions"], known(q)) == (1, [(None,)])
    assert q.rows("select user_name, site from monitor.listed_job where setup = %s", q.setup) == [(None, "A")]


def test_definitions_move_and_go_in_portions(q: Calls) -> None:
    q.set_clock(NOON)
    for job_id in range(1, 6):
        q.insert(job_id, Sites=[f"S{job_id}"])
        q.call("cancel_job", job_id)
    q.call("delete_empty_queues")
    late = NOON + timedelta(days=40)
    for function in ("retire_unused", "forget_past_definitions"):
        found = [q.call(function, late, 2) for _ in range(4)]
        assert found == [2, 2, 1, 0]
        q.connection.execute("update taskqueue.past_definition set moved_at = %s", [NOON])


def test_requirements_that_come_back_get_a_new_definition(ended: Calls) -> None:
    move(ended)
    ended.insert(2, **ASKED)
    ended.call("cancel_job", 2)
    ids = ended.rows("select definition_id from taskqueue.ended where setup = %s order by job_id", ended.setup)
    assert len(set(ids)) == 2
    assert known(ended) == [("ann",), ("ann",)]


def test_a_past_definition_is_not_searched_for_matches(ended: Calls) -> None:
    move(ended)
    assert ended.queues(Site="A") == {}
    assert ended.match(Site="A") is None
    assert ended.inconsistencies() == []


@pytest.mark.parametrize("call", ["rebuild_matching", "recompute_shares", "maintain"])
def test_other_work_leaves_the_requirements_of_ended_jobs(ended: Calls, call: str) -> None:
    move(ended)
    ended.call_rows(call)
    assert known(ended) == [("ann",)]


def test_a_change_of_buckets_keeps_the_requirements_of_ended_jobs(ended: Calls) -> None:
    ended.insert(2, **ASKED)
    ended.call("set_cpu_buckets", [3600])
    query = "select requirements ->> 'CPUTime' from monitor.job where setup = %s order by job_id"
    assert ended.rows(query, ended.setup) == [("500",), ("3600",)]
    assert ended.inconsistencies() == []


def test_a_setup_is_removed_with_its_past_definitions(ended: Calls) -> None:
    move(ended)
    ended.call("remove_setup")
    assert ended.value("select count(*) from taskqueue.past_definition where setup = %s", ended.setup) == 0


def test_figures_of_ends_know_the_group_of_a_past_definition(ended: Calls) -> None:
    move(ended)
    query = "select labels from history.events_between(%s, %s, %s) where figure = 'ends'"
    labels = ended.rows(query, ended.setup, NOON, NOON + timedelta(hours=1))
    assert labels == [({"owner_group": "physics", "outcome": "failed"},)]
