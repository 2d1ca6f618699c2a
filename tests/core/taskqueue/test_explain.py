"""MATCHING.md, Explanations: why a job matches or does not. Random cases: properties/test_explain_agrees.py."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, resource

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)


def explain(q: Calls, job_id: int, **keys: Any) -> list[tuple[str, str, str, bool]]:
    return q.call_rows("explain_match", job_id, Jsonb(resource(**keys)))


def test_explain_match_has_one_row_a_condition_with_wanted_and_offered_values(q: Calls) -> None:
    q.insert(1, Sites=["A", "B"], Platforms=["p"], MinRAM=2000)
    rows = explain(q, 1, Site="C", Platform="p", MaxRAM=1000)
    assert len({row[0] for row in rows}) == len(rows)
    assert all(isinstance(row[3], bool) for row in rows)
    failing = {(row[1], row[2]) for row in rows if not row[3]}
    [(sites, site)] = [pair for pair in failing if "A" in pair[0]]
    assert "B" in sites
    assert "C" in site
    [(_, memory)] = [pair for pair in failing if "2000" in pair[0]]
    assert "1000" in memory
    assert len(failing) == 2


def test_explain_match_states_wanted_and_offered_values_in_words(q: Calls) -> None:
    q.insert(1)
    assert {row[0]: row[1] for row in explain(q, 1) if row[1] != "anything"} == {
        "CPUTime": "at least 500 s", "Owner": "alice in users", "Limits": "a free slot at the site",
        "waiting": "a job that waits", "TaskQueue": "enabled, neither it nor its owner held", "JobID": "job 1",
        "Quarantine": "none",
    }  # fmt: skip
    q.insert(2, Tags=["t", "u"])
    wanted = {row[0]: row[1] for row in explain(q, 2, Tag=["t", "u"])}
    assert [wanted[key] for key in ("Tag", "RequiredTag", "BannedTag")] == ["all of: t, u", *["its tags: t, u"] * 2]
    offered: dict[str, dict[str, Any]] = {
        "generic pilot": {},
        "any owner in admins, users": {"OwnerGroup": ["users", "admins"]},
        "bob in users": {"OwnerDN": "bob", "OwnerGroup": "users"},
        "bob": {"OwnerDN": "bob"},
    }
    for text, keys in offered.items():
        assert [row[2] for row in explain(q, 1, **keys) if row[0] == "Owner"] == [text]


def test_explain_match_shows_that_a_key_which_is_not_offered_puts_no_condition(q: Calls) -> None:
    q.insert(1, Sites=["A"])
    [row] = [row for row in explain(q, 1) if row[0] == "Site"]
    assert row[2] == "not offered, no condition"
    assert row[3] is True


def test_a_leased_job_can_be_explained(q: Calls) -> None:
    """The job does not match: one row shows that it is not waiting, the others still show its requirements."""
    q.insert(1, Sites=["A"])
    match = q.take(Site="A")
    rows = explain(q, 1, Site="B")
    assert [row for row in rows if not row[3] and "A" in (row[1] or "")]
    assert len([row for row in rows if not row[3]]) >= 2
    assert not all(row[3] for row in explain(q, 1, Site="A"))
    q.call("finish_job", 1, match.attempt)
    q.refuses(lambda: explain(q, 1, Site="A"), "PB004", "finished")


def test_each_job_is_explained_by_its_own_requirements(q: Calls) -> None:
    for n, site in enumerate("ABC", 1):
        q.insert(n, Sites=[site])
    for n, site in enumerate("ABC", 1):
        assert all(row[3] for row in explain(q, n, Site=site))


def test_the_wanted_job_is_explained_as_a_condition(q: Calls) -> None:
    q.insert_many([1, 2])
    assert all(q.explain(1, JobID=1).values())
    assert not all(q.explain(1, JobID=2).values())


def test_limits_are_explained_as_a_condition(q: Calls) -> None:
    q.insert(1, JobTypes=["T"])
    q.running_limit("JobTypes", "T", 0)
    [row] = [row for row in explain(q, 1, Site="S") if not row[3]]
    assert "T" in f"{row[1]} {row[2]}"


def test_the_state_of_the_task_queue_is_explained_as_a_condition(q: Calls) -> None:
    def state() -> tuple[str, bool]:
        [(_, _, offered, holds)] = [row for row in explain(q, 1) if row[0] == "TaskQueue"]
        return offered, holds

    number = q.insert(1)
    assert state() == (f"TaskQueue {number} is open", True)
    q.call("hold", "owner", "alice")
    assert state() == ("owner alice is held", False)
    q.call("hold", "task_queue", str(number))
    assert state() == (f"TaskQueue {number} is held", False)
    q.call("set_task_queue_enabled", number, False)
    assert state() == (f"TaskQueue {number} is disabled", False)
    q.call("resume", "owner", "alice")
    q.call("resume", "task_queue", str(number))
    q.call("set_task_queue_enabled", number, True)
    q.take()
    assert state() == ("in no TaskQueue", False)


def test_explanations_change_no_stored_row(q: Calls) -> None:
    q.insert(1)
    before = q.stored()
    q.explain(1)
    q.call_rows("explain_job", 1)
    assert q.stored() == before


# explain_job: against the resources seen lately


def seen(q: Calls, job_id: int) -> dict[str, tuple[str, int, int, datetime | None, str | None]]:
    """condition -> wanted, failing, seen, last seen, remark."""
    return {row[0]: row[1:] for row in q.call_rows("explain_job", job_id)}


def ask(q: Calls, moment: datetime, **keys: Any) -> None:
    """A resource asks and gets nothing (its CPU time fits no queue, or its platform does not)."""
    q.set_clock(moment)
    assert q.match(**keys) is None


def test_explain_job_counts_the_classes_that_fail(q: Calls) -> None:
    q.set_clock(NOON)
    q.insert(1, Sites=["A", "B"], Platforms=["rare"], CPUTime=5000)
    resources: list[dict[str, Any]] = [
        {"Site": "A", "Platform": "common"},
        {"Site": "B", "Platform": "usual"},
        {"Site": "C", "Platform": "common"},
        {"Site": "A", "Platform": "common", "CPUTime": 600},
    ]
    for n, keys in enumerate(resources):
        ask(q, NOON + timedelta(minutes=n), **keys)
    q.maintain()
    found = seen(q, 1)
    platform = found["Platform"]
    assert "rare" in platform[0]
    assert platform[1:3] == (4, 4)
    assert platform[3] == NOON + timedelta(minutes=3)
    assert "no resource seen lately offers" in (platform[4] or "")
    assert "rare" in (platform[4] or "")
    site = found["Site"]
    assert site[1:3] == (1, 4)
    assert site[3] == NOON + timedelta(minutes=2)
    cpu = found["CPUTime"]
    assert cpu[1:3] == (1, 4)
    assert "no resource seen lately" not in (cpu[4] or "")


def test_explain_job_reads_the_resource_kinds_seen_last(q: Calls) -> None:
    q.set_clock(NOON)
    q.insert(1, Sites=["A"], CPUTime=5000)
    for minute, site in enumerate("BCD"):
        ask(q, NOON + timedelta(minutes=minute), Site=site)
    q.maintain()
    query = "select seen, last_seen from taskqueue.explain_job('default', 1, %s) where condition = 'Site'"
    assert q.rows(query, 2) == [(2, NOON + timedelta(minutes=2))]
    ask(q, NOON + timedelta(hours=1), Site="B")  # the kind that was seen first is seen again
    ask(q, NOON + timedelta(minutes=59), Site="E")
    assert q.rows(query, 2) == [(2, NOON + timedelta(hours=1))]
    assert q.rows(query, None) == [(4, NOON + timedelta(hours=1))]
    assert q.rows(query, 1) == [(1, NOON + timedelta(hours=1))]


def test_explain_job_counts_zero_where_no_resource_was_seen(q: Calls) -> None:
    q.insert(1, Sites=["A"])
    assert all(row[1:3] == (0, 0) for row in seen(q, 1).values())


def test_classes_leave_the_wanted_job_out_and_bucket_cpu_time(q: Calls) -> None:
    q.set_clock(NOON)
    q.insert(1, Sites=["A"])
    for n, keys in enumerate([{"CPUTime": 600}, {"CPUTime": 700}, {"CPUTime": 700, "JobID": 5}, {"CPUTime": 40000}]):
        ask(q, NOON + timedelta(minutes=n), Site="B", **keys)
    q.maintain()
    assert {row[2] for row in seen(q, 1).values()} == {2}


def kinds_seen(q: Calls) -> int:
    q.set_clock(NOON + timedelta(days=1))
    q.maintain()
    return max((row[2] for row in seen(q, 1).values()), default=0)


def test_a_resource_class_is_noted_about_once_in_ten_seconds(q: Calls) -> None:
    q.set_clock(NOON)
    q.insert(1, Sites=["A"])
    for seconds in (0, 0, 1, 9, 11, 12, 25):
        ask(q, NOON + timedelta(seconds=seconds), Site="B")
    noted = q.value("select count(*) from taskqueue.resource_seen where setup = 'default'")
    assert 1 <= noted <= 3, "the first time, and then a sample"
    assert kinds_seen(q) == 1


def test_a_known_description_is_noted_by_a_sample_of_its_calls(q: Calls) -> None:
    q.set_clock(NOON)
    q.insert(1, Sites=["A"])
    for minutes in range(20):
        ask(q, NOON + timedelta(minutes=minutes), Site="B")
    assert 1 <= q.value("select count(*) from taskqueue.resource_seen") < 20


def test_descriptions_of_one_class_are_noted_once_in_ten_seconds(q: Calls) -> None:
    """Each description is new: only the class was seen before."""
    q.set_clock(NOON)
    q.insert(1, Sites=["A"])
    for seconds, site in ((0, "B"), (9.999, ["B"]), (10, ["B", "B"])):
        ask(q, NOON + timedelta(seconds=seconds), Site=site)
    rows = q.rows("select seen_at from taskqueue.resource_seen order by 1")
    assert rows == [(NOON,), (NOON + timedelta(seconds=10),)]


def test_the_order_of_values_makes_no_new_resource_class(q: Calls) -> None:
    """A class is the canonical description."""
    q.set_clock(NOON)
    q.insert(1, Sites=["A"])
    for n, sites in enumerate((["B", "C"], ["C", "B"], ["B", "C", "C"])):
        ask(q, NOON + timedelta(minutes=n), Site=sites)
    for n, site in enumerate(("D", ["D"], ["D", "D"]), 5):
        ask(q, NOON + timedelta(minutes=n), Site=site)
    assert kinds_seen(q) == 2


@pytest.mark.parametrize("jobs, matched", [(5, True), (1, True), (0, False)])
def test_a_batch_notes_whether_it_found_a_job(q: Calls, jobs: int, matched: bool) -> None:
    """The batch finds all of its jobs, only the first of them, or none."""
    if jobs:
        q.insert_many(range(1, jobs + 1), 1, Sites=["A"])
    assert len(q.match_jobs(5, Site="A")) == jobs
    assert q.rows("select matched from taskqueue.resource_seen") == [(matched,)]


@pytest.mark.slow
def test_ten_thousand_kinds_of_resources_are_kept(q: Calls) -> None:
    """The kinds that were seen last are kept, the same number in each setup."""
    for setup, number in (("default", 10_003), ("beside", 10_002)):
        Calls(q.connection, setup).settings(queue_size=5)
        q.rows(
            """insert into taskqueue.resource_class (setup, class, resource, first_seen, last_seen, samples, matched)
               select %s, md5(i::text)::uuid, '{}', now(), now() - i * interval '1 second', 1, 0
                 from generate_series(1, %s) i returning 1""",
            setup, number,
        )  # fmt: skip
    q.maintain()
    kept = q.rows("select setup, count(*), min(last_seen) > now() - interval '10001 seconds' from"
                  " taskqueue.resource_class group by setup order by setup")  # fmt: skip
    assert kept == [("beside", 10_002, False), ("default", 10_000, True)]


def test_each_description_is_noted_with_its_buckets(q: Calls) -> None:
    q.insert_many([1, 2, 3], Sites=["A"])
    for site, seconds in (("A", 500), ("A", 5000), ("A", 500), ("B", 300000)):
        q.match(Site=site, CPUTime=seconds)
        q.set_clock(NOON + timedelta(minutes=q.value("select count(*) from taskqueue.resource_seen")))
    rows = q.rows(
        "select resource ->> 'Site', seen_at >= %s, seen[1] from taskqueue.parsed_description order by 1", NOON
    )
    assert rows == [("A", True, 500), ("B", True, 300000)]


def test_an_empty_text_counts_as_a_missing_key(q: Calls) -> None:
    """An empty list is noted so, too, and a list of one value as that value."""
    q.insert(1)
    q.match(Site="", GridCE=["A"], Platform=[], JobType=["b", "a", "b"], CPUTime=499)
    rows = q.rows("select resource from taskqueue.resource_seen")
    assert rows == [({"GridCE": "A", "JobType": ["a", "b"], "CPUTime": 0},)]


def test_the_owner_that_a_pilot_asks_for_is_noted(q: Calls) -> None:
    q.insert(1)
    q.match(OwnerDN="bob", OwnerGroup=["users", "admins"], CPUTime=500)
    rows = q.rows("select resource from taskqueue.resource_seen")
    assert rows == [({"OwnerDN": "bob", "OwnerGroup": ["admins", "users"], "CPUTime": 500},)]


@pytest.mark.parametrize("matched, chance", [(True, 0.02), (False, 0.1)])
def test_a_known_description_is_noted_again_by_some_calls(q: Calls, matched: bool, chance: float) -> None:
    """The number among 5,000 calls is within six standard deviations; none in the first five minutes; each call after
    fifteen minutes, or in a new CPU bucket."""
    q.insert(1, Sites=["B"])
    q.match(Site="A", CPUTime=500)
    query = """select count(*) filter (where taskqueue.shall_note_resource(k, %s, %s, k.seen_at + %s::interval))
                 from taskqueue.parsed_description k cross join generate_series(1, 5000)"""
    assert q.value(query, 500, matched, "5 minutes") == 0
    noted = q.value(query, 500, matched, "5 minutes 1 second")
    assert abs(noted - 5000 * chance) < 6 * (5000 * chance * (1 - chance)) ** 0.5
    assert q.value(query, 500, matched, "15 minutes 1 second") == 5000
    assert q.value(query, 5000, matched, "0") == 5000
