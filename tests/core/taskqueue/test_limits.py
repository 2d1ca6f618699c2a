"""LEASES.md, Limits: limits per site and CE, on running jobs and on the time between matches."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connect, Match, resource
from tests.core.taskqueue.hands import deal_valid

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)


def take_all(q: Calls, **keys: Any) -> list[Match]:
    """Match one by one until there is no match."""
    taken = []
    while match := q.match(**keys):
        taken.append(match)
    return taken


def finish(q: Calls, match: Match) -> None:
    q.call("finish_job", match.job_id, match.attempt)


@pytest.fixture
def t(q: Calls) -> Calls:
    """Ten waiting jobs of the type T."""
    q.insert_many(range(1, 11), JobTypes=["T"])
    return q


def delay(q: Calls, seconds: int | Decimal, *burst: int, site: str = "S") -> None:
    """A delay between jobs of the type T at a site, from noon on."""
    q.set_clock(NOON)
    q.call("set_limit", "delay", site, None, "JobTypes", "T", seconds, *burst)


# Running limits


def test_a_running_limit_is_never_exceeded_and_a_slot_comes_back(t: Calls) -> None:
    t.running_limit("JobTypes", "T", 3)
    first, second, third = take_all(t, Site="S")
    finish(t, first)
    assert len(take_all(t, Site="S")) == 1
    t.call("release_job", second.job_id, second.attempt)
    assert len(take_all(t, Site="S")) == 1
    t.call("cancel_job", third.job_id)
    assert take_all(t, Site="S") == []  # the job still runs
    t.call("release_job", third.job_id, third.attempt)
    assert len(take_all(t, Site="S")) == 1
    assert t.inconsistencies() == []


def test_a_limit_applies_only_to_its_site(t: Calls) -> None:
    t.running_limit("JobTypes", "T", 1)
    assert len(take_all(t, Site="S")) == 1
    assert len(take_all(t, Site="Other")) == 9


def test_a_resource_that_names_no_site_is_at_no_limited_site(t: Calls) -> None:
    t.running_limit("JobTypes", "T", 0)
    assert t.match(Site="S") is None
    assert t.match() is not None
    assert t.match(Site="any") is not None


def test_a_limit_applies_only_to_its_value(q: Calls) -> None:
    q.running_limit("JobTypes", "T", 0)
    q.insert(1, JobTypes=["T"])
    q.insert(2, JobTypes=["U"])
    q.insert(3)
    assert {match.job_id for match in take_all(q, Site="S")} == {2, 3}


def test_a_limit_of_0_blocks_the_site(t: Calls) -> None:
    t.running_limit("JobTypes", "T", 0)
    assert t.match(Site="S") is None
    assert t.queues(Site="S") == {}
    assert not all(t.explain(1, Site="S").values())
    assert all(t.explain(1, Site="Other").values())


ATTRIBUTES: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("OwnerDN", "alice", {"OwnerDN": "alice"}, {"OwnerDN": "bob"}),
    ("OwnerGroup", "users", {"OwnerGroup": "users"}, {"OwnerGroup": "admins"}),
    ("CPUTime", "5000", {"CPUTime": 501}, {"CPUTime": 500}),
    *[
        (key, "x", {key: ["x", "y"]}, {key: ["y"]})
        for key in "SubmitPools PilotTypes GridMiddlewares BannedSites GridCEs Platforms JobTypes Tags".split()
    ],
    ("Sites", "S", {"Sites": ["S", "y"]}, {}),
    ("MinRAM", "2000", {"MinRAM": 2000}, {"MinRAM": 1000}),
    ("MaxRAM", "2000", {"MaxRAM": 2000}, {}),
]


@pytest.mark.parametrize(("attribute", "value", "blocked", "free"), ATTRIBUTES, ids=str)
def test_a_limit_on_any_attribute_blocks_jobs_with_its_value(
    q: Calls, attribute: str, value: str, blocked: dict[str, Any], free: dict[str, Any]
) -> None:
    q.running_limit(attribute, value, 0)
    q.insert(1, **blocked)
    q.insert(2, **free)
    assert [match.job_id for match in take_all(q, Site="S", PilotType="y", Tag="any")] == [2]


@pytest.mark.parametrize(
    ("alias", "value"),
    [("Owner", "alice"), ("JobType", "T"), ("Site", "S"), ("Platform", "P"), ("Tag", "t"), ("GridCE", "C")],
)
def test_limits_accept_aliases_of_attributes(q: Calls, alias: str, value: str) -> None:
    q.insert(1, JobTypes=["T"], Sites=["S"], Platforms=["P"], Tags=["t"], GridCEs=["C"])
    q.running_limit(alias, value, 0)
    assert q.match(Site="S", Tag="t") is None
    assert q.call("clear_limit", "running", "S", None, alias, value) is True
    assert q.match(Site="S", Tag="t") is not None


def test_a_job_counts_at_every_value_that_its_queue_lists(q: Calls) -> None:
    q.insert_many([1, 2], JobTypes=["A", "B"])
    q.insert(3, JobTypes=["A"])
    q.insert(4, JobTypes=["B"])
    q.running_limit("JobTypes", "A", 1)
    q.running_limit("JobTypes", "B", 1)
    both = q.take(Site="S", JobID=1)
    assert take_all(q, Site="S") == []
    finish(q, both)
    only = q.take(Site="S", JobID=3)
    assert [match.job_id for match in take_all(q, Site="S")] == [4]
    assert only.job_id == 3


def test_the_next_bucket_follows_when_the_highest_is_at_its_limit(q: Calls) -> None:
    q.insert_many([1, 2], CPUTime=5000, JobTypes=["T"])
    q.insert(3, CPUTime=500)
    q.running_limit("JobTypes", "T", 1)
    assert [match.requirements["CPUTime"] for match in take_all(q, Site="S")] == [5000, 500]


def test_a_batch_keeps_the_limit(t: Calls) -> None:
    t.insert_many([21, 22], JobTypes=["U"])
    t.running_limit("JobTypes", "T", 4)
    matches = t.match_jobs(100, Site="S")
    assert sorted(match.requirements["JobTypes"][0] for match in matches) == ["T"] * 4 + ["U"] * 2
    finish(t, next(match for match in matches if match.requirements["JobTypes"] == ["T"]))
    assert len(t.match_jobs(100, Site="S")) == 1
    assert t.inconsistencies() == []


# Setting and clearing


def test_setting_a_limit_counts_the_leases_that_exist(t: Calls) -> None:
    running = [t.take(Site="S") for _ in range(3)]
    t.take(Site="Other")
    t.running_limit("JobTypes", "T", 4)
    assert len(take_all(t, Site="S")) == 1
    for match in running[:2]:
        finish(t, match)
    assert len(take_all(t, Site="S")) == 2
    assert t.inconsistencies() == []


@pytest.mark.parametrize("is_new", [False, True], ids=["lowered", "new"])
def test_a_limit_below_the_running_jobs_evicts_none_and_blocks_until_enough_ended(t: Calls, is_new: bool) -> None:
    if not is_new:
        t.running_limit("JobTypes", "T", 5)
    running = [t.take(Site="S") for _ in range(5)]
    assert is_new or t.match(Site="S") is None
    t.running_limit("JobTypes", "T", 2)
    assert all(t.state(match.job_id) == "leased" for match in running)
    for match in running[:3]:
        assert t.match(Site="S") is None
        finish(t, match)
    assert t.match(Site="S") is None  # two are left
    finish(t, running[3])
    assert len(take_all(t, Site="S")) == 1
    assert t.inconsistencies() == []


def test_raising_a_limit_opens_slots_at_once(t: Calls) -> None:
    t.running_limit("JobTypes", "T", 1)
    assert len(take_all(t, Site="S")) == 1
    t.running_limit("JobTypes", "T", 4)
    assert len(take_all(t, Site="S")) == 3
    t.running_limit("JobTypes", "T", 0)
    t.running_limit("JobTypes", "T", 5)
    assert len(take_all(t, Site="S")) == 1
    assert t.inconsistencies() == []


def test_setting_a_limit_again_changes_the_existing_limit(t: Calls) -> None:
    limit = t.running_limit("JobTypes", "T", 1)
    assert t.running_limit("JobTypes", "T", 2) == limit
    assert t.running_limit("JobTypes", "U", 2) != limit
    assert t.running_limit("JobTypes", "T", 2, ce="C") != limit


def test_clearing_a_limit_frees_its_jobs_and_refuses_an_unknown_kind(t: Calls) -> None:
    t.running_limit("JobTypes", "T", 1)
    [match] = take_all(t, Site="S")
    assert t.call("clear_limit", "running", "S", None, "JobTypes", "T") is True
    assert t.call("clear_limit", "running", "S", None, "JobTypes", "T") is False
    stored = t.stored()
    assert t.call("clear_limit", "delay", "S", None, "JobTypes", "U") is False
    for kind, shown in (("owner", "'owner'"), ("", "''"), (None, "null")):
        state, message = t.refusal(lambda kind=kind: t.call("clear_limit", kind, "S", None, "JobTypes", "T"))  # type: ignore[misc]
        assert (state, message) == ("PB001", f"kind is {shown}, which is not running or delay")
    assert t.stored() == stored
    assert len(take_all(t, Site="S")) == 9
    finish(t, match)
    assert t.inconsistencies() == []


def test_clearing_one_limit_leaves_the_others(t: Calls) -> None:
    """Limits of another site, CE, kind, attribute or value stay."""
    others = [
        ("running", "S2", None, "JobTypes", "T"), ("running", "S", "C", "JobTypes", "T"),
        ("delay", "S", None, "JobTypes", "T"), ("running", "S", None, "Tags", "T"),
        ("running", "S", None, "JobTypes", "U"),
    ]  # fmt: skip
    for limit in [("running", "S", None, "JobTypes", "T"), *others]:
        t.call("set_limit", *limit, 1)
    assert t.call("clear_limit", "running", "S", None, "JobTypes", "T") is True
    left = t.rows("select kind, site, grid_ce, attribute, value from taskqueue.site_limit where setup = %s", t.setup)
    assert set(left) == set(others)
    assert t.call("clear_limit", "running", "S", "C", "JobTypes", "T") is True
    assert t.value("select count(*) from taskqueue.site_limit where setup = %s", t.setup) == 4


def test_wrong_slots_are_reported_and_rebuilt(t: Calls) -> None:
    limit = t.running_limit("JobTypes", "T", 3)
    match = t.take(Site="S")
    t.rows("update taskqueue.limit_use set job_id = 99 returning job_id")
    t.rows("delete from taskqueue.limit_slot where slot = 3 returning slot")
    assert {tuple(row) for row in t.inconsistencies()} == {
        ("limit_use", f"limit {limit}, job {match.job_id}", "a slot", "no slot"),
        ("limit_use", f"limit {limit}, job 99", "no slot", "slot 1"),
        ("limit_slot", f"limit {limit}", "3", "2"),
    }
    t.call("rebuild_matching")
    assert t.inconsistencies() == []
    assert len(take_all(t, Site="S")) == 2


def test_a_lease_counts_with_its_own_requirements_when_its_queue_is_gone(t: Calls) -> None:
    """The lease counts after its TaskQueue was dropped."""
    only = Calls(t.connection)
    only.insert(50, JobTypes=["V"])
    lease = only.take(Site="S", JobType="V")
    t.call("delete_empty_queues")
    only.running_limit("JobTypes", "V", 1)
    only.insert(51, JobTypes=["V"])
    assert only.match(Site="S", JobType="V", JobID=51) is None
    finish(only, lease)
    assert only.match(Site="S", JobType="V", JobID=51) is not None


# Definitions that count at limits


def limited(q: Calls) -> dict[str, bool]:
    """Job types of definitions -> whether their jobs count at a limit."""
    return dict(q.rows("select d.job_types[1], d.is_limited from taskqueue.definition d where d.setup = %s", q.setup))


def test_definitions_know_whether_they_count_at_a_limit(q: Calls) -> None:
    """Definitions that exist when a limit is set or cleared, and later ones; at any site, until the last limit."""
    q.insert(1, JobTypes=["T"])
    q.insert(2, JobTypes=["U"])
    q.running_limit("JobTypes", "T", 1)
    q.running_limit("JobType", "T", 1, site="Other")
    q.running_limit("JobTypes", "V", 1, ce="C")
    q.insert(3, JobTypes=["V"])
    q.insert(4, JobTypes=["W"])
    assert limited(q) == {"T": True, "U": False, "V": True, "W": False}
    assert q.inconsistencies() == []
    q.call("clear_limit", "running", "S", None, "JobTypes", "T")
    assert limited(q) == {"T": True, "U": False, "V": True, "W": False}
    q.running_limit("OwnerDN", "alice", 1)
    assert set(limited(q).values()) == {True}
    q.call("clear_limit", "running", "Other", None, "JobTypes", "T")
    assert limited(q)["T"]  # at the limit of its owner
    q.call("clear_limit", "running", "S", None, "OwnerDN", "alice")
    assert limited(q) == {"T": False, "U": False, "V": True, "W": False}
    assert q.inconsistencies() == []


def test_a_wrong_mark_of_a_definition_is_reported_and_rebuilt(t: Calls) -> None:
    t.running_limit("JobTypes", "T", 1)
    definition = t.value("update taskqueue.definition set is_limited = false returning definition_id")
    wrong = ("definition", f"limits of definition {definition}", "is_limited true", "is_limited false")
    assert [tuple(row) for row in t.inconsistencies()] == [wrong]
    t.call("rebuild_matching")
    assert t.inconsistencies() == []
    t.call("clear_limit", "running", "S", None, "JobTypes", "T")
    assert t.value("select not is_limited from taskqueue.definition")


HERE = {"Site": "S", "GridCE": "y", "PilotType": "y", "Tag": "any"}
LIMITS = {("running", 0): 0, ("running", 2): 2, ("running", 100): 4, ("delay", 10): 1}  # of four jobs, those allowed


def known(q: Calls, **keys: Any) -> None:
    """The next match with this description takes the short way, if it gets a job."""
    q.rows("select resource.set_identity('default', resource.caller())")
    assert q.match(**{**keys, "CPUTime": 0}) is None
    kept = "is_plain and matches is null and (offer).reached is null"
    assert q.value(f"select {kept} from taskqueue.parsed_description")


def calls_of(q: Calls, function: str) -> int:
    """How often the transaction has called a function since it began to count."""
    q.rows("select set_config('track_functions', 'all', true)")
    return int(q.value("select coalesce(sum(calls), 0) from pg_stat_xact_user_functions where funcname = %s", function))


def fewest_calls(q: Calls, function: str, act: Callable[[], None]) -> int:
    """The fewest calls of a function in twelve trials of an act, which are rolled back.

    A few draws reject eight candidates and go on alone (DRAWING.md), so one trial proves nothing.
    """
    calls = []
    for _ in range(12):
        with q.connection.transaction(force_rollback=True):
            before = calls_of(q, function)
            act()
            calls.append(calls_of(q, function) - before)
    return min(calls)


@pytest.mark.slow
@pytest.mark.parametrize("few", [False, True], ids=["many match", "few match"])
@pytest.mark.parametrize("form", ATTRIBUTES, ids=str)
def test_a_known_description_gets_the_jobs_that_it_gets_the_long_way(
    connect: Connect, form: tuple[str, str, dict[str, Any], dict[str, Any]], few: bool
) -> None:
    """Until nothing matches any more, for each form of a limit. With a seed, a match takes the long way.

    Hands are dealt before, so that the short way can take their cards.
    """
    q = Calls(connect())
    attribute, value, blocked, free = form
    q.set_clock(NOON)
    for n, keys in enumerate((blocked, free), 1):
        q.insert_many(range(10 * n, 10 * n + 4), **{"CPUTime": 5000, **keys})
    q.insert_many(range(30, 34), GridCEs=["elsewhere"])
    deal_valid(q, 8)
    for (kind, number), allowed in LIMITS.items():
        for ce in (None, "y"):
            with q.connection.transaction(force_rollback=True):
                q.call("set_limit", kind, "S", ce, attribute, value, number)
                with q.connection.transaction(force_rollback=True):
                    taken = q.call_rows("match_jobs_with_seed", Jsonb(resource(**HERE)), 20, 7)
                    assert Counter(row[0] // 10 for row in taken) == Counter({1: allowed, 2: 4}), (kind, number, ce)
                known(q, **HERE)
                with q.connection.transaction(force_rollback=True):  # a batch
                    found = Counter(match.job_id // 10 for match in q.match_jobs(20, **HERE))
                    assert found == Counter({1: allowed, 2: 4}), (kind, number, ce)
                if few:
                    q.rows("select taskqueue.find_matching('default', k) from taskqueue.parsed_description k")
                    assert q.value("select matches from taskqueue.parsed_description") > 0
                before = calls_of(q, "lease_for_resource")
                found = Counter(match.job_id // 10 for match in take_all(q, **HERE))
                assert found == Counter({1: allowed, 2: 4}), (kind, number, ce)
                assert calls_of(q, "lease_for_resource") == before
                assert q.inconsistencies() == []


def test_a_job_that_counts_at_no_limit_is_taken_the_short_way(connect: Connect) -> None:
    q = Calls(connect())
    q.insert_many(range(1, 5), JobTypes=["T"])
    q.insert_many(range(11, 15), JobTypes=["U"], CPUTime=5000)
    q.running_limit("JobTypes", "T", 3)
    deal_valid(q, 8)
    known(q, Site="S")

    def take(wanted: int) -> None:
        assert q.take(Site="S").requirements["CPUTime"] == wanted

    for wanted, alone in ((5000, 0),) * 4 + ((500, 1),) * 3:
        assert fewest_calls(q, "lease_together", partial(take, wanted)) == alone
        take(wanted)
    assert q.match(Site="S") is None
    assert q.inconsistencies() == []


def test_a_batch_takes_jobs_that_count_at_no_limit_together(connect: Connect) -> None:
    q = Calls(connect())
    q.insert_many(range(1, 5), JobTypes=["T"])
    q.insert_many(range(11, 15), JobTypes=["U"], CPUTime=5000)
    q.running_limit("JobTypes", "T", 1)
    deal_valid(q, 8)

    def match(jobs: int) -> None:
        assert len(q.match_jobs(3, Site="S")) == jobs

    for jobs, alone in ((3, 0), (2, 3)):  # then one alone, T, and one that gets nothing
        assert fewest_calls(q, "take_alone", partial(match, jobs)) == alone
        match(jobs)
    assert q.inconsistencies() == []


# Computing elements


def test_a_ce_limit_applies_only_to_its_ce(t: Calls) -> None:
    t.running_limit("JobTypes", "T", 2, ce="C1")
    assert len(take_all(t, Site="S", GridCE="C1")) == 2
    assert len([t.take(Site="S", GridCE="C2") for _ in range(3)]) == 3
    assert t.match(Site="S", GridCE="C1") is None
    assert t.match(Site="Other", GridCE="C1") is not None


def test_a_site_limit_counts_all_its_ces(t: Calls) -> None:
    t.running_limit("JobTypes", "T", 3)
    t.running_limit("JobTypes", "T", 2, ce="C1")
    assert len(take_all(t, Site="S", GridCE="C1")) == 2
    assert len(take_all(t, Site="S", GridCE="C2")) == 1
    assert t.match(Site="S", GridCE="C2") is None


def test_a_resource_must_name_one_site_where_a_limit_is_set(t: Calls) -> None:
    t.running_limit("JobTypes", "T", 5)
    t.refuses(lambda: t.match(Site=["S", "Other"]), "PB001", "Site", "S")
    assert t.match(Site=["S"]) is not None
    assert t.match(Site=["Other", "Third"]) is not None


def test_a_resource_must_name_one_ce_where_a_ce_limit_is_set(t: Calls) -> None:
    t.running_limit("JobTypes", "T", 5, ce="C1")
    t.refuses(lambda: t.match(Site="S", GridCE=["C1", "C2"]), "PB001", "GridCE")
    assert t.match(Site="S", GridCE=["C2"]) is not None


# Delays


def test_a_delay_is_the_time_between_two_matches(t: Calls) -> None:
    delay(t, 10)
    assert len(take_all(t, Site="S")) == 1
    assert t.match(Site="Other") is not None
    assert not all(t.explain(10, Site="S").values())
    t.set_clock(NOON + timedelta(seconds=9.999))
    assert t.match(Site="S") is None
    t.set_clock(NOON + timedelta(seconds=10))
    assert len(take_all(t, Site="S")) == 1
    t.set_clock(NOON + timedelta(hours=1))
    assert len(take_all(t, Site="S")) == 1


def test_a_burst_of_calls_is_limited_by_a_token_bucket(t: Calls) -> None:
    delay(t, 10, 3)
    assert len(take_all(t, Site="S")) == 3
    t.set_clock(NOON + timedelta(seconds=10))
    assert len(take_all(t, Site="S")) == 1
    t.set_clock(NOON + timedelta(seconds=35))
    assert len(take_all(t, Site="S")) == 2
    t.set_clock(NOON + timedelta(seconds=40))
    assert len(take_all(t, Site="S")) == 1  # the half that was left over counts
    t.set_clock(NOON + timedelta(days=1))
    assert len(take_all(t, Site="S")) == 3


def test_delays_of_two_sites_are_independent(t: Calls) -> None:
    for site in ("S", "S2"):
        delay(t, 10, site=site)
    assert len(take_all(t, Site="S")) == 1
    assert len(take_all(t, Site="S2")) == 1
    t.set_clock(NOON + timedelta(seconds=10))
    assert len(take_all(t, Site="S2")) == 1
    assert len(take_all(t, Site="S")) == 1


def test_a_batch_keeps_the_delay(t: Calls) -> None:
    delay(t, 10, 2)
    t.insert(50, JobTypes=["U"])
    assert sorted(match.requirements["JobTypes"][0] for match in t.match_jobs(50, Site="S")) == ["T", "T", "U"]


def test_ending_or_releasing_a_job_gives_no_time_back(t: Calls) -> None:
    delay(t, 10)
    match = t.take(Site="S")
    t.call("release_job", match.job_id, match.attempt)
    assert t.match(Site="S") is None


def test_a_refused_match_costs_no_token(q: Calls) -> None:
    """A queue that two limits concern takes a token of one only when the other accepts it."""
    q.insert_many([1, 2], JobTypes=["T"])
    delay(q, 10)
    q.running_limit("OwnerDN", "alice", 0)
    assert q.match(Site="S") is None
    q.call("clear_limit", "running", "S", None, "OwnerDN", "alice")
    assert q.match(Site="S") is not None


def test_a_delay_and_a_running_limit_both_hold(t: Calls) -> None:
    delay(t, 10)
    t.running_limit("JobTypes", "T", 2)
    for seconds, expected in ((0, 1), (10, 1), (20, 0), (30, 0)):
        t.set_clock(NOON + timedelta(seconds=seconds))
        assert len(take_all(t, Site="S")) == expected, seconds
    assert t.inconsistencies() == []


def test_a_delay_may_be_a_fraction_of_a_second(t: Calls) -> None:
    delay(t, Decimal("0.25"))
    assert len(take_all(t, Site="S")) == 1
    t.set_clock(NOON + timedelta(seconds=0.25))
    assert len(take_all(t, Site="S")) == 1


@pytest.mark.representative
def test_a_slot_that_another_transaction_has_locked_is_not_free(connect: Connect) -> None:
    first, second = Calls(connect()), Calls(connect())
    first.running_limit("JobTypes", "T", 1)
    first.insert_many(range(1, 5), JobTypes=["T"])
    with pytest.raises(ZeroDivisionError), first.connection.transaction():
        first.take(Site="S")
        assert second.match(Site="S") is None
        raise ZeroDivisionError  # the agent's call fails, and gives the slot back
    assert second.match(Site="S") is not None
    assert first.match(Site="S") is None
