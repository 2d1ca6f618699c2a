"""MATCHING.md, Requirements: the definition of a TaskQueue. MATCHING.md, Insertion: inserting jobs."""

import itertools
import uuid
from collections import Counter
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, requirements, resource

LISTS = {
    "SubmitPools": "submit_pool", "GridMiddlewares": "grid_middleware", "PilotTypes": "pilot_type", "Sites": "site",
    "BannedSites": "banned_site", "GridCEs": "grid_ce", "Platforms": "platform", "JobTypes": "job_type",
    "Tags": "tag",
}  # fmt: skip


def test_a_job_waits_in_the_queue_that_insert_returns(q: Calls) -> None:
    queue = q.insert(1)
    assert q.queue_of(1) == queue
    assert q.queues() == {queue: 1}
    assert q.state(1) == "waiting"
    assert q.queue_of(2) is None


def test_the_user_priority_is_1_by_default(q: Calls) -> None:
    q.rows("select taskqueue.insert_job('default', 1, %s)", Jsonb(requirements()))
    assert q.take().user_priority == 1


@pytest.mark.parametrize("priority", range(11))
def test_user_priorities_0_to_10_are_kept(q: Calls, priority: int) -> None:
    q.insert(1, priority)
    assert q.take().user_priority == priority


def test_equal_requirements_share_a_queue(q: Calls) -> None:
    everything: dict[str, Any] = {key: ["b", "a"] for key in LISTS} | {"MinRAM": 10, "MaxRAM": 20}
    queue = q.insert(1, **everything)
    assert q.insert(2, **everything) == queue
    assert q.insert(3, **{k: ["a", "b", "a"] if isinstance(v, list) else v for k, v in everything.items()}) == queue


@pytest.mark.parametrize("key", LISTS)
def test_each_list_separates_queues_and_an_empty_list_counts_as_none(q: Calls, key: str) -> None:
    bare = q.insert(1)
    assert q.insert(2, **{key: []}) == bare
    one, other, both = (q.insert(3 + i, **{key: v}) for i, v in enumerate([["a"], ["b"], ["a", "b"]]))
    assert len({bare, one, other, both}) == 4


@pytest.mark.parametrize(
    "different",
    [{"OwnerDN": "bob"}, {"OwnerGroup": "admins"}, {"CPUTime": 501}, {"MinRAM": 1}, {"MaxRAM": 1}],
    ids=lambda keys: next(iter(keys)),
)
def test_each_single_value_separates_queues(q: Calls, different: dict[str, Any]) -> None:
    assert q.insert(1) != q.insert(2, **different)


def test_values_of_requirements_are_compared_exactly(q: Calls) -> None:
    names = [
        "LCG.CERN.ch", "lcg.cern.ch", "LCG.CERN.ch ", "Ünïcode", "a,b", "it's", '"quoted"', "{braces}", "%s", "\\",
        "NULL",
    ]  # fmt: skip
    queues = {q.insert(n, Sites=[name]) for n, name in enumerate(names, 1)}
    assert len(queues) == len(names)
    for n, name in enumerate(names, 1):
        assert q.take(Site=name).job_id == n


@pytest.mark.parametrize(("alias", "key"), [("Owner", "OwnerDN"), ("LHCbPlatforms", "Platforms")])
def test_an_alias_of_a_key_leads_to_the_same_queue(q: Calls, alias: str, key: str) -> None:
    value = "carol" if key == "OwnerDN" else ["p"]
    queue = q.insert(1, **{key: value})
    assert q.insert(2, **{"OwnerDN": "carol" if key == "OwnerDN" else "alice", key: None, alias: value}) == queue
    assert q.insert(3, **{key: value, alias: value}) == queue
    assert q.take(Platform="p").requirements[key] == value


def test_a_description_may_name_a_platform_by_its_alias(q: Calls) -> None:
    q.insert(1, Platforms=["p"])
    assert q.match(LHCbPlatform="other") is None
    with pytest.raises(psycopg.Error, match=r"LHCbPlatform is .* and Platform is"), q.connection.transaction():
        q.match(LHCbPlatform="p", Platform="other")
    assert q.take(LHCbPlatform="p", Platform="p").job_id == 1


@pytest.mark.parametrize("key", ["Sites", "GridCEs", "Platforms", "LHCbPlatforms", "JobTypes"])
@pytest.mark.parametrize("words", [["ANY"], ["A", "any"], "'Any'"], ids=str)
def test_a_requirement_of_any_is_none(q: Calls, key: str, words: str | list[str]) -> None:
    assert q.insert(1, **{key: words}) == q.insert(2)
    assert q.insert(3, BannedSites=["any"], Tags=["any"]) != q.insert(4), "other keys have names alone"


def test_setup_in_the_requirements_may_repeat_the_argument(q: Calls) -> None:
    assert q.insert(1) == q.insert(2, Setup="default")


def test_jobs_of_two_setups_with_the_same_id_are_separate(q: Calls) -> None:
    other = Calls(q.connection, "other")
    q.insert(1)
    assert other.match() is None
    other.insert(1, 5)
    assert other.take().user_priority == 5
    assert q.state(1) == "waiting"
    assert other.state(1) == "leased"
    assert q.take().user_priority == 1


def test_the_requirement_tables_hold_each_value_once(q: Calls) -> None:
    lists = {key: [f"{key} 2", f"{key} 1", f"{key} 2"] for key in LISTS}
    queue = q.insert(1, MinRAM=100.5, MaxRAM=200, **lists)
    for key, table in LISTS.items():
        stored = q.rows(
            f"select task_queue_id, value from taskqueue.task_queue_{table} where setup = 'default' order by 2"
        )
        assert stored == [(queue, f"{key} 1"), (queue, f"{key} 2")]
    assert q.rows(
        "select owner_dn, owner_group, cpu_time, min_ram, max_ram from taskqueue.task_queue"
        " where (setup, task_queue_id) = ('default', %s)",
        queue,
    ) == [("alice", "users", 500, 100.5, 200)]


def test_a_match_answers_with_the_inserted_requirements(q: Calls) -> None:
    lists = {key: [f"{key} 1", f"{key} 2"] for key in LISTS}
    queue = q.insert(7, 3, MinRAM=100, MaxRAM=200, CPUTime=501, **lists)
    match = q.take(Site="Sites 1", GridCE="GridCEs 2", Platform="Platforms 1", JobType="JobTypes 1",
                   PilotType="PilotTypes 1", Tag=["Tags 1", "Tags 2"], MaxRAM=100)  # fmt: skip
    assert (match.job_id, match.task_queue_id, match.user_priority, match.number) == (7, queue, 3, 1)
    stored = {key: sorted(value) if isinstance(value, list) else value for key, value in match.requirements.items()}
    stored.pop("Setup", None)
    assert stored == {**requirements(CPUTime=5000, MinRAM=100, MaxRAM=200), **lists}


def test_attempt_is_a_number_and_32_hex_digits(q: Calls) -> None:
    q.insert_many([1, 2])
    first, second = q.take().attempt, q.take().attempt
    for attempt in (first, second):
        number, token = attempt.split("-")
        assert number == "1"
        assert len(token) == 32
        assert set(token) <= set("0123456789abcdef")
    assert first != second


# Inserting again


def test_inserting_a_waiting_id_moves_its_job(q: Calls) -> None:
    old = q.insert(1, 2, Sites=["A"])
    stays = q.insert(2, 2, Sites=["A"])
    new = q.insert(1, 7, Sites=["B"])
    assert old == stays != new == q.queue_of(1)
    assert q.queues() == {old: 1, new: 1}
    assert q.match(Site="A", JobID=1) is None
    moved = q.take(Site="B")
    assert (moved.job_id, moved.user_priority, moved.number) == (1, 7, 1)


def test_moving_the_last_job_leaves_no_queue_that_matches(q: Calls) -> None:
    q.insert(1, Sites=["A"])
    new = q.insert(1, Sites=["B"])
    assert q.queues() == {new: 1}
    q.call("delete_empty_queues")
    assert q.rows("select task_queue_id from taskqueue.task_queue where setup = 'default'") == [(new,)]


def test_inserting_again_changes_the_user_priority(q: Calls) -> None:
    queue = q.insert(1, 0)
    assert q.insert(1, 10) == queue
    assert q.queues() == {queue: 1}
    assert q.take().user_priority == 10
    assert q.match() is None


def test_a_leased_id_cannot_be_inserted_and_an_ended_id_waits_again(q: Calls) -> None:
    q.insert(1)
    first = q.take()
    q.refuses(lambda: q.insert(1), "PB005", "1")
    assert q.state(1) == "leased"
    q.call("finish_job", 1, first.attempt)
    q.insert(1)
    second = q.take()
    assert (q.state(1), second.number) == ("leased", 2)


# Sizes


def test_a_full_queue_gets_siblings_of_the_same_definition(q: Calls) -> None:
    q.settings(queue_size=3)
    queues = [q.insert(job_id, Sites=["A"]) for job_id in range(1, 8)]
    assert sorted(Counter(queues).values()) == [1, 3, 3]
    assert queues == sorted(queues)
    assert q.queues() == Counter(queues)
    assert q.value("select count(*) from taskqueue.task_queue_site where setup = 'default' and value = 'A'") == 3
    assert q.insert(8, Sites=["B"]) not in queues


def test_new_jobs_go_to_the_newest_sibling_with_space(q: Calls) -> None:
    q.settings(queue_size=2)
    first, _, second, _, third = (q.insert(job_id) for job_id in range(1, 6))
    q.call("delete_job", 1)
    assert q.insert(6) == third
    q.call("delete_job", 3)
    assert q.insert(7) == second
    assert q.insert(8) == first
    assert q.insert(9) not in (first, second, third)


def test_a_batch_fills_queues_to_their_size(q: Calls) -> None:
    q.settings(queue_size=10)
    q.insert_many(range(1, 6))
    q.insert_many(range(6, 34))
    assert sorted(q.queues().values()) == [3, 10, 10, 10]


def test_each_new_queue_has_the_mean_weight_of_its_jobs(q: Calls) -> None:
    q.settings(queue_size=2)
    batch(q, {"requirements": requirements(), "jobs": [[1, 1], [2, 5], [3, 9], [4, 7], [5, 2]]})
    weights = q.rows("select mean_weight from taskqueue.task_queue order by task_queue_id")
    assert weights == [(3,), (8,), (2,)]


def test_a_waiting_job_keeps_its_place_in_a_full_queue(q: Calls) -> None:
    q.settings(queue_size=2)
    queue = q.insert(1)
    assert q.insert(2) == queue
    q.insert(1, 5)
    assert sum(q.queues().values()) == 2


# Batches


def batch(q: Calls, *elements: Any, request: uuid.UUID | None = None) -> int:
    return int(q.call("insert_jobs", Jsonb(list(elements)), request))


def test_a_batch_takes_single_jobs_and_groups(q: Calls) -> None:
    answer = batch(
        q,
        {"job_id": 1, "requirements": requirements()},
        {"requirements": requirements(Sites=["A"]), "jobs": [[2, 0], [3, 10]]},
        {"job_id": 4, "requirements": requirements(Sites=["A"]), "user_priority": 4},
    )
    assert answer == 4
    assert q.queue_of(1) != q.queue_of(2) == q.queue_of(3) == q.queue_of(4)
    priorities = dict(q.rows("select job_id, user_priority from taskqueue.job where setup = 'default'"))
    assert priorities == {1: 1, 2: 0, 3: 10, 4: 4}
    assert q.inconsistencies() == []


def test_an_empty_batch_inserts_nothing(q: Calls) -> None:
    assert batch(q) == 0
    assert batch(q, {"requirements": requirements(), "jobs": []}) == 0
    assert q.queues() == {}


def test_a_batch_and_single_inserts_give_the_same_queues(q: Calls) -> None:
    single = q.insert(1, Sites=["B", "A"], Platforms=["p"])
    batch(q, {"job_id": 2, "requirements": requirements(Sites=["A", "B", "A"], LHCbPlatforms=["p"], Tags=[])})
    assert q.queue_of(2) == single


def test_a_batch_moves_waiting_jobs_and_revives_ended_ones(q: Calls) -> None:
    old = q.insert(1, Sites=["A"])
    q.insert(2)
    q.call("cancel_job", 2)
    assert batch(q, {"requirements": requirements(Sites=["B"]), "jobs": [[1, 5], [2, 6]]}) == 2
    assert q.queue_of(1) == q.queue_of(2) != old
    assert q.state(2) == "waiting"
    assert q.inconsistencies() == []


def test_a_batch_fills_queues_with_space_and_opens_new_ones_beside_full_ones(q: Calls) -> None:
    """Waiting jobs swap their TaskQueues, the last one of a TaskQueue among them, and ended ones wait again."""
    q.settings(queue_size=3)
    a, b, full = q.insert(1, Sites=["A"]), q.insert(2, Sites=["B"]), q.insert(3, Sites=["F"])
    last = q.insert(4, Sites=["L"])
    q.insert_many([5, 6], Sites=["F"])
    q.insert(7, Sites=["A"])
    q.call("cancel_job", 7)
    where = {1: "B", 2: "A", 4: "A", 7: "B", 10: "F", 11: "L", 12: "N"}
    jobs = [
        {"job_id": n, "requirements": requirements(Sites=[site]), "user_priority": n % 11} for n, site in where.items()
    ]
    assert batch(q, *jobs) == len(jobs)
    assert [q.queue_of(n) for n in (1, 2, 4, 7, 11)] == [b, a, a, b, last]
    assert q.queue_of(10) != full
    assert len({q.queue_of(10), q.queue_of(12), a, b, full, last}) == 6
    assert sorted(q.queues().values()) == [1, 1, 1, 2, 2, 3]
    levels = dict(q.rows("select job_id, user_priority from taskqueue.job where job_id = any (%s)", list(where)))
    assert levels == {n: n % 11 for n in where}
    assert q.inconsistencies() == []


def test_a_batch_over_old_and_new_queues_with_a_leased_job_is_refused_whole(q: Calls) -> None:
    q.insert_many([1, 2], Sites=["A"])
    q.take(JobID=1)
    before = q.stored()
    jobs = [{"job_id": n, "requirements": requirements(Sites=[site])} for n, site in ((1, "A"), (8, "A"), (9, "N"))]
    assert q.refusal(lambda: batch(q, *jobs))[0] == "PB005"
    assert q.stored() == before


def test_a_batch_with_a_leased_job_is_refused_whole(q: Calls) -> None:
    q.insert(5)
    q.take()
    q.refuses(lambda: q.insert_many([4, 5, 6]), "PB005", "5")
    assert (q.state(4), q.state(5), q.state(6)) == ("unknown", "leased", "unknown")


def test_jobs_there_counts_the_waiting_and_the_ended_jobs_of_a_batch(q: Calls) -> None:
    """Jobs of this setup that wait or have ended are counted; an invalid id is refused by the insertion."""
    Calls(q.connection, "other").insert(3)
    q.insert_many([1, 2, 4, 5])
    q.call("cancel_job", 4)
    q.take(JobID=5)
    jobs = [{"job_id": n} for n in (1, 6, 1.5, "1", 0, 2**63)] + [{"jobs": [[2, 1], [3, 1], [4, 1], [5]]}]
    assert q.call_rows("jobs_there", Jsonb(jobs)) == [(2, 1, 0, 0)]


def test_jobs_there_counts_the_cpu_times_that_change(q: Calls) -> None:
    """The buckets are those of the setup, or the default ones of a setup that is not there yet."""
    times = [1, 500, 501, 5000, 300000, 300001, None]
    jobs = [{"job_id": n, "requirements": {"CPUTime": time}} for n, time in enumerate(times, 1)]
    jobs.append({"requirements": {"CPUTime": 10**6}, "jobs": [[20, 1], [21, 1]]})
    assert q.call_rows("jobs_there", Jsonb(jobs)) == [(0, 0, 2, 3)]
    q.call("set_cpu_buckets", [1, 1000000])
    assert q.call_rows("jobs_there", Jsonb(jobs)) == [(0, 0, 5, 0)]


def test_a_queue_size_without_bound_opens_one_task_queue(q: Calls) -> None:
    q.settings(queue_size=2**31 - 1)
    q.insert_many(range(1, 50))
    q.insert(50)
    assert q.value("select count(*) from taskqueue.task_queue") == 1
    q.insert_many([51, 52], Sites=["A"])
    assert q.take(Site="A", JobID=51).job_id == 51


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"Tags": ["4GB"]}, {"MinRAM": 4000}),
        ({"Tags": ["16GB", "x", "4GB"]}, {"Tags": ["x"], "MinRAM": 16000}),
        ({"Tags": "4GB", "MinRAM": 5000}, {"MinRAM": 5000}),
        ({"Tags": "4GB", "MinRAM": 3000}, {"MinRAM": 4000}),
        (
            {"Tags": ["GB", "4gb", "4GBs", "x4GB", "4Processors"]},
            {"Tags": ["4GBs", "4Processors", "4gb", "GB", "x4GB"]},
        ),
    ],
)
def test_a_memory_tag_of_dirac_is_a_memory(q: Calls, given: dict[str, Any], stored: dict[str, Any]) -> None:
    plain = requirements()
    canonical = q.value("select taskqueue.canonical_requirements(%s, %s)", q.setup, Jsonb(plain | given))
    assert canonical == q.value("select taskqueue.canonical_requirements(%s, %s)", q.setup, Jsonb(plain | stored))
    assert {key: canonical.get(key) for key in ("Tags", "MinRAM")} == {"Tags": None, "MinRAM": None} | stored


def test_a_memory_tag_is_a_tag_where_the_setting_says_so(q: Calls) -> None:
    q.insert(1, Tags=["4GB"])
    assert q.match(MaxRAM=3999) is None
    q.settings(memory_tags=False)
    q.insert(2, Tags=["4GB"])
    assert q.take(MaxRAM=3999, Tag=["4GB"]).job_id == 2
    q.insert(4, Tags=["4GB"])
    q.settings(memory_tags=True)
    q.insert(3, Tags=["4GB"])
    assert {q.take(MaxRAM=4000).job_id, q.take(MaxRAM=4000).job_id} == {1, 3}


@pytest.mark.slow
@pytest.mark.parametrize("call", ["insert_job", "insert_jobs"])
def test_an_insert_gives_up_after_20_deadlocks(q: Calls, call: str) -> None:
    """The sequence counts them: nothing takes a number of a sequence back."""
    q.insert(1)
    q.connection.execute("""
        create temp sequence deadlocks;
        grant usage on sequence deadlocks to public;
        create function pg_temp.deadlock() returns trigger language plpgsql as $$
        begin
          raise exception 'deadlock %', nextval('pg_temp.deadlocks') using errcode = 'deadlock_detected';
        end $$;
        create trigger deadlock before insert on taskqueue.job execute function pg_temp.deadlock()""")
    insert = q.insert if call == "insert_job" else lambda job_id: q.insert_many([job_id])
    assert q.refusal(lambda: insert(2))[0] == "PB006"
    assert q.value("select last_value from pg_temp.deadlocks") == 20


@pytest.mark.slow
def test_a_batch_of_20000_jobs_is_inserted_in_one_call(q: Calls) -> None:
    jobs = [[job_id, job_id % 11] for job_id in range(1, 20_001)]
    elements = [{"requirements": requirements(Sites=[f"S{n}"]), "jobs": jobs[n::4]} for n in range(4)]
    assert batch(q, *elements) == 20_000
    counts = Counter(dict(q.rows("select user_priority, count(*) from taskqueue.job group by 1")))
    assert counts == Counter(job_id % 11 for job_id, _ in jobs)
    assert sorted(q.queues().values()) == [5000, 5000, 5000, 5000]


# The same call repeated


def test_a_repeated_insert_gives_the_same_answer_and_does_nothing(q: Calls) -> None:
    request = uuid.uuid4()
    queue = q.insert(1, 3, request)
    match = q.take()
    assert q.insert(1, 3, request) == queue
    assert q.state(1) == "leased"
    q.call("finish_job", 1, match.attempt)
    assert q.insert(1, 3, request) == queue
    assert q.state(1) == "ended"
    assert q.insert(1, 3, uuid.uuid4())
    assert q.state(1) == "waiting"


def test_a_repeated_batch_gives_the_same_answer_and_does_nothing(q: Calls) -> None:
    request = uuid.uuid4()
    element = {"requirements": requirements(), "jobs": [[1, 1], [2, 1]]}
    assert batch(q, element, request=request) == 2
    q.call("delete_job", 1)
    assert batch(q, element, request=request) == 2
    assert q.state(1) == "ended"


def test_a_repeated_batch_of_matches_gives_the_same_jobs(q: Calls) -> None:
    q.insert_many(range(1, 6))
    request = uuid.uuid4()

    def ask() -> list[Any]:
        return q.call_rows("match_jobs", Jsonb(resource()), 3, request)

    first = ask()
    assert len(first) == 3
    assert sorted(ask()) == sorted(first)
    assert sum(q.queues().values()) == 2


def test_a_request_id_never_answers_another_call(q: Calls) -> None:
    """The second call never gets the answer of the first, whatever the calls are."""
    request = uuid.uuid4()
    q.insert(1, 1, request)
    q.refuses(lambda: q.insert(2, 1, request), "PB001", str(request))
    assert q.state(2) == "unknown"


def test_the_order_of_keys_and_values_does_not_matter(q: Calls) -> None:
    keys: list[tuple[str, Any]] = [("Sites", ["B", "A"]), ("Tags", ["t"]), ("CPUTime", 100), ("MinRAM", 5)]
    queues = {q.insert(n, **dict(order)) for n, order in enumerate(itertools.permutations(keys), 1)}
    assert len(queues) == 1
