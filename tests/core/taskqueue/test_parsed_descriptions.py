"""A known description follows a change of configuration at once; definitions made since are found."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connect, Connection, group


@dataclass
class Change:
    """A waiting job, a description, a call that changes what it means, its undoing, and whether it matches before."""

    call: Callable[[Calls], Any]
    undo: Callable[[Calls], Any]
    before: bool
    queue: dict[str, Any] = field(default_factory=dict)
    offer: dict[str, Any] = field(default_factory=dict)


def called(function: str, *arguments: Any) -> Callable[[Calls], Any]:
    """A call of a function of the schema."""
    return lambda q: q.call(function, *arguments)


def held(kind: str, name: str) -> Change:
    return Change(called("hold", kind, name), called("resume", kind, name), True)


def limited(attribute: str, value: str, **queue: Any) -> Change:
    limit = (attribute, value)
    clear = called("clear_limit", "running", "S", None, *limit)
    return Change(lambda q: q.running_limit(*limit, 0), clear, True, queue)


def identified(q: Calls, *private: Any) -> None:
    marks = ", %s" * len(private)
    q.rows(f"select resource.set_identity('default', resource.caller(){marks})", *private)


CHANGES = {
    "a group shares its jobs": Change(
        lambda q: q.set_group("users", sharing=True), lambda q: q.set_group("users"), False,
        offer={"OwnerDN": "bob", "OwnerGroup": "users"},
    ),
    "a key becomes strict": Change(
        lambda q: q.settings(strict_keys=["JobType"]), lambda q: q.settings(strict_keys=[]), True, {"JobTypes": ["T"]}
    ),
    "a platform becomes compatible": Change(
        called("set_platform_compatibility", "P", ["Q"]), called("set_platform_compatibility", "P", []), False,
        {"Platforms": ["Q"]}, {"Platform": "P"},
    ),
    "a limit": limited("JobTypes", "T", JobTypes=["T"]),
    "a limit on the owner": limited("OwnerDN", "alice"),
    "other buckets": Change(called("set_cpu_buckets", [1000, 5000]), called("set_cpu_buckets", [500, 5000]), True),
    "the owner is held": held("owner", "alice"),
    "the queue is held": Change(
        lambda q: q.call("hold", "task_queue", str(q.queue_of(1))),
        lambda q: q.call("resume", "task_queue", str(q.queue_of(1))), True,
    ),
    "the job is held": held("job", "1"),
    "the queue is disabled": Change(
        lambda q: q.call("set_task_queue_enabled", q.queue_of(1), False),
        lambda q: q.call("set_task_queue_enabled", q.queue_of(1), True), True,
    ),
    "the identity becomes private": Change(lambda q: identified(q, True, "others", None), identified, True),
}  # fmt: skip


def matches(q: Calls, **keys: Any) -> bool:
    """Whether a match gives a job; it is undone."""
    with q.connection.transaction(force_rollback=True):
        return q.match(**keys) is not None


def know(q: Calls, narrow: bool, **keys: Any) -> None:
    assert q.match(**{**keys, "CPUTime": 0}) is None
    if narrow:
        found = q.value("select (taskqueue.find_matching('default', k)).matches from taskqueue.parsed_description k")
        assert q.rows("select matches from taskqueue.parsed_description") == [(found,)]
    kept = q.rows("select matches is not null from taskqueue.parsed_description")
    assert kept == [(narrow,)]


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("narrow", [False, True], ids=["known", "known with what matches"])
@pytest.mark.parametrize("others", [0, 20], ids=["alone", "among others"])
def test_a_configuration_acts_on_the_next_match(q: Calls, name: str, narrow: bool, others: int) -> None:
    change = CHANGES[name]
    keys = {"Site": "S", "CPUTime": 700, **change.offer}
    identified(q)
    q.insert_many(range(1, 2), **change.queue)
    for n in range(others):
        q.insert(100 + n, Tags=["other"], **group(f"g{n}"))
    for call, expected in (
        (lambda _: None, change.before),
        (change.call, not change.before),
        (change.undo, name == "other buckets" or change.before),
    ):
        call(q)
        if name == "other buckets" and call is change.undo:
            keys["CPUTime"] = 5000  # a time that was rounded up stays so
        assert matches(q, **keys) == expected
        if not q.rows("select from taskqueue.parsed_description"):
            know(q, narrow, **keys)
        assert matches(q, **keys) == expected
        assert q.inconsistencies() == []


@pytest.mark.parametrize("narrow", [False, True])
def test_changed_settings_act_on_a_description_that_is_kept(q: Calls, narrow: bool) -> None:
    identified(q)
    q.insert_many(range(1, 20), 9)
    q.insert(20, 10)
    keys = {"Site": "S", "CPUTime": 700}
    know(q, narrow, **keys)
    q.settings(lease_time=77, ten_first=True)
    match = q.take(**keys)
    assert match.job_id == 20
    held = "select extract(epoch from expires_at - matched_at) from taskqueue.lease where job_id = 20"
    assert q.value(held) == 77
    know_again = q.take(**keys)
    assert know_again.user_priority == 9
    q.settings(required_keys=["CPUTime", "Platform"])
    assert q.refusal(lambda: q.match(**keys))[0] == "PB001"


NARROW: dict[str, Any] = {"Site": "S", "JobType": "N", "CPUTime": 7000}


def kept(q: Calls) -> list[int] | None:
    """The definitions that are kept for the one known description."""
    [(known_id, matches)] = q.rows("select known_id, matches from taskqueue.parsed_description")
    found = list(q.value("select taskqueue.kept_matching(%s)", known_id))
    assert matches is None or len(found) == matches
    return None if matches is None else found


@pytest.mark.slow
@pytest.mark.parametrize("commit", [True, False])
def test_a_definition_made_in_flight_is_found(connect: Connect, commit: bool) -> None:
    first, second = Calls(connect()), Calls(connect())
    second.insert(1, JobTypes=["other"])
    first.connection.autocommit = False
    first.insert(2, JobTypes=["N"], CPUTime=5000)
    assert second.match(**NARROW) is None
    assert kept(second) == []
    assert second.match(**NARROW) is None
    later = Calls(connect())
    later.insert(3, JobTypes=["N"], Tags=["unmatched"])
    if commit:
        first.connection.commit()
        assert second.take(**NARROW).job_id == 2
    else:
        first.connection.rollback()
    assert second.match(**NARROW) is None
    later.insert(4, JobTypes=["N"], MinRAM=1)
    assert second.take(**NARROW).job_id == 4


def test_a_definition_made_after_a_match_of_the_same_transaction_is_found_by_others(connect: Connect) -> None:
    first, second = Calls(connect()), Calls(connect())
    first.insert(1, JobTypes=["other"])
    first.connection.autocommit = False
    first.insert(2, JobTypes=["other"], Tags=["t"])
    assert first.match(**NARROW) is None
    first.insert(3, JobTypes=["N"])
    assert second.match(**NARROW) is None
    first.connection.commit()
    assert second.take(**NARROW).job_id == 3


@pytest.mark.slow
def test_many_new_definitions_are_written_down_once(connect: Connect) -> None:
    first, second = Calls(connect()), Calls(connect())
    first.insert(1, JobTypes=["other"])
    assert first.match(**NARROW) is None
    second.connection.autocommit = False
    second.insert(500, JobTypes=["N"], CPUTime=5000)
    for n in range(100):
        first.insert(1000 + n, JobTypes=["N" if n % 2 else "other"], Tags=[f"t{n}"] if n % 4 == 3 else [], MinRAM=n + 1)
    taken = set()
    for _ in range(10):
        taken.add(first.take(**NARROW).job_id)
    found = kept(first)
    assert found is not None
    assert len(found) == len(set(found)) == 25
    second.connection.commit()
    while match := first.match(**NARROW):
        taken.add(match.job_id)
    assert taken == {500, *(1000 + n for n in range(100) if n % 4 == 1)}


@pytest.mark.slow
def test_definitions_that_were_tested_are_not_written_down_again(connect: Connect) -> None:
    q = Calls(connect())
    for n in range(70):
        q.insert(1 + n, JobTypes=["N"], CPUTime=5000, MinRAM=n + 1)
    know(q, True, **NARROW)
    row = "select ctid, xmin from taskqueue.parsed_description"
    before = q.rows(row)
    assert q.value("select taskqueue.new_matching('default', k) from taskqueue.parsed_description k") == []
    assert q.rows(row) == before


def test_the_calls_that_keep_and_find_a_description_have_the_same_hash(q: Calls) -> None:
    """Otherwise each match would look for the description twice, which is right but slow."""
    identified(q)
    q.insert(1)
    q.match(Site="S", CPUTime=0)
    rows = q.rows("select resource, digest = jsonb_hash_extended(resource, 0) from taskqueue.parsed_description")
    assert rows == [({"Site": "S"}, True)]


def test_an_agent_that_asked_before_settings_existed_gets_jobs_later(rolled_back: Connection) -> None:
    q = Calls(rolled_back, "new")
    q.rows("select resource.set_clock('new', now())")
    assert q.match(Site="S") is None
    q.insert(1)
    assert q.match(Site="S") is not None


def test_a_request_for_one_job_is_not_kept_as_a_description(rolled_back: Connection) -> None:
    q = Calls(rolled_back)
    q.insert_many(range(1, 40))
    for _ in range(3):
        q.take(Site="A")
    waiting = [n for n in range(1, 40) if q.state(n) == "waiting"]
    for wanted in (waiting[-1], waiting[0]):
        assert q.take(Site="A", JobID=wanted).job_id == wanted
    assert q.match(Site="A", JobID=99) is None
    assert q.value("select count(*) from taskqueue.parsed_description where resource ? 'JobID'") == 0


def _know_sites(q: Calls, *hours_ago: float) -> None:
    """Make a description for each of the sites 0, 1, ..., noted the given hours ago."""
    q.insert(1, Sites=["elsewhere"])
    for n, hours in enumerate(hours_ago):
        assert q.match(Site=str(n)) is None
        aged = (
            "update taskqueue.parsed_description set seen_at = now() - make_interval(mins => %s)"
            " where site = %s returning 1"
        )
        q.rows(aged, round(hours * 60), str(n))


def _known_sites(q: Calls) -> list[str]:
    return [site for (site,) in q.rows("select site from taskqueue.parsed_description order by site")]


def test_a_description_is_known_for_a_day_after_it_was_noted(rolled_back: Connection) -> None:
    """One call in fifty notes a description, so a few minutes would forget descriptions that are asked regularly."""
    q = Calls(rolled_back)
    _know_sites(q, 23.9, 24.1, 1, 0)
    q.maintain()
    assert _known_sites(q) == ["0", "2", "3"]


@pytest.mark.parametrize(("kept", "sites"), [(1, ["3"]), (2, ["2", "3"]), (3, ["0", "2", "3"]), (9, ["0", "2", "3"])])
def test_at_most_the_given_number_of_descriptions_is_kept(rolled_back: Connection, kept: int, sites: list[str]) -> None:
    q = Calls(rolled_back)
    _know_sites(q, 2, 25, 1, 0)
    forgotten = q.value("select taskqueue.forget_unused_descriptions('default', now(), %s)", kept)
    assert (forgotten, _known_sites(q)) == (4 - len(sites), sites)
    assert q.value("select taskqueue.forget_unused_descriptions('nobody', now(), 1)") == 0


def test_forgetting_passes_over_a_description_that_a_match_is_noting(connect: Connect) -> None:
    q, other = Calls(connect()), Calls(connect())
    _know_sites(q, 25, 26)
    other.value("select set_config('lock_timeout', '2s', false)")
    with q.connection.transaction():
        q.rows("select from taskqueue.parsed_description where site = '0' for update")
        assert other.value("select taskqueue.forget_unused_descriptions('default', now(), 9)") == 1
    assert _known_sites(q) == ["0"]


SITES: list[dict[str, Any]] = [
    {"Site": "A"}, {"Site": ["A", "C"]}, {"Site": "any"}, {"Site": "nowhere"}, {"Site": []}, {},
]  # fmt: skip
TAGS: list[dict[str, Any]] = [
    {}, {"Tag": ["x"]}, {"Tag": ["x", "y", "z"]}, {"Tag": []}, {"RequiredTag": ["x"], "Tag": ["x", "y"]},
    {"Tag": ["x", *(f"tag {n}" for n in range(600))]}, {"Tag": ["x"], "OwnerGroup": ["users"]},
]  # fmt: skip
LISTED: list[tuple[list[str], ...]] = [
    (sites, banned, tags)
    for sites in ([], ["A"], ["B"], ["A", "B"], ["B", "C", "D"])
    for banned in ([], ["A"])
    for tags in ([], ["x"], ["y"], ["x", "z"], ["a", "x", "y"], ["w"])
]


@pytest.mark.slow
@pytest.mark.parametrize("sites", SITES, ids=str)
def test_a_search_finds_the_definitions_that_the_conditions_accept(q: Calls, sites: dict[str, Any]) -> None:
    for number, (listed, banned, tags) in enumerate(LISTED, 1):
        q.insert(number, Sites=listed, BannedSites=banned, Tags=tags)
    for asked in ({**sites, **tags} for tags in TAGS):
        with q.connection.transaction(force_rollback=True):
            _search(q, asked)


def _search(q: Calls, asked: dict[str, Any]) -> None:
    assert q.match(**asked, CPUTime=0) is None
    [(known_id, matches)] = q.rows(
        "select k.known_id, (taskqueue.find_matching('default', k)).matches from taskqueue.parsed_description k"
    )
    accepted = q.value(
        "select coalesce(array_agg(d.definition_id order by d.definition_id), '{}')"
        "  from taskqueue.definition d cross join taskqueue.parsed_description k where taskqueue.accepts(d, k.offer)"
    )
    assert matches == len(accepted), asked
    assert sorted(q.value("select taskqueue.kept_matching(%s)", known_id)) == accepted, asked


@pytest.mark.slow
@pytest.mark.parametrize(("number", "is_kept"), [(1000, True), (1001, False)])
def test_as_many_definitions_of_a_bucket_are_kept_as_a_draw_reads(q: Calls, number: int, is_kept: bool) -> None:
    for cpu_time, first, definitions in ((5000, 1, number), (500, 1001, 9)):
        jobs: list[dict[str, Any]] = [
            {"requirements": {**group(str(n % 9)), "CPUTime": cpu_time, "MinRAM": n}, "jobs": [[first + n, 1]]}
            for n in range(definitions)
        ]
        assert q.call("insert_jobs", Jsonb(jobs)) == definitions
    know(q, is_kept, Site="S", CPUTime=7000)
    rows = q.rows("select cpu_time, cardinality(definition_ids) from taskqueue.known_match order by 1")
    assert rows == ([(500, 9), (5000, number)] if is_kept else [])
    assert q.take(Site="S", CPUTime=7000).requirements["CPUTime"] == 5000


def test_known_matches_are_searched_again_after_they_were_forgotten(q: Calls) -> None:
    """Another transaction forgot both between the look at the description and the draw."""
    identified(q)
    q.insert_many(range(1, 3), JobTypes=["N"])
    know(q, True, **NARROW)
    assert q.take(**NARROW).job_id in {1, 2}
    q.connection.execute("delete from taskqueue.known_match")
    assert q.take(**NARROW).job_id in {1, 2}
    assert q.match(**NARROW) is None


def test_known_matches_are_forgotten_with_their_description(q: Calls) -> None:
    q.insert(1)
    know(q, True, **NARROW)
    assert q.value("select count(*) from taskqueue.known_match") == 1
    q.settings(lease_time=77)
    assert q.value("select count(*) from taskqueue.known_match") == 0


@pytest.mark.slow
def test_two_simultaneous_searches_do_not_wait_for_each_other(connect: Connect) -> None:
    q, other = Calls(connect()), Calls(connect())
    other.value("select set_config('lock_timeout', '2s', false)")
    q.insert_many(range(1, 4), JobTypes=["N"])
    know(q, False, **NARROW)
    search = "select (taskqueue.find_matching('default', k)).matches from taskqueue.parsed_description k"
    with q.connection.transaction():
        assert q.value(search) == 1
        assert other.value(search) is None
        assert other.take(**NARROW).job_id in {1, 2, 3}
    assert len(kept(q) or []) == 1
    assert other.value(search) == 1
    assert {other.take(**NARROW).job_id, q.take(**NARROW).job_id} < {1, 2, 3}
    assert other.match(**NARROW) is None
