"""A dump and a load keep the state of waiting jobs: holds, delays, counts, hosts to avoid, and changes of rules."""

import calendar
import json
import random
from datetime import timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from broker import world
from broker.world.taskqueue import pieces
from tests.calls import Calls, Connection, requirements
from tests.core.taskqueue.test_retry_rules import NOON, RETRY, fail, set_rules

# The columns that a load makes again, and the token of the last attempt, which is a secret.
OWN = "setup task_queue_id entry_id inserted_at last_token".split()
OF_LEASES = "setup task_queue_id definition_id request_id asked".split()
DUE = NOON + timedelta(hours=2)
AVOID = {"avoid": "n17 at A", "avoid_until": NOON + timedelta(hours=1)}
HOLD = {"held": True, "not_before": DUE}
STATES: list[dict[str, Any]] = [
    {"attempts": 7}, {"losses": 2}, {"failures": 3}, AVOID, {"held": True}, HOLD,
    {"attempts": 7, "losses": 2, "failures": 3, **AVOID, **HOLD},
]  # fmt: skip


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    q = Calls(rolled_back)
    q.set_clock(NOON)
    return q


def dumped(q: Calls) -> dict[str, Any]:
    """The sections of the TaskQueues, with leases."""
    return dict(json.loads("{" + "".join(pieces(q.connection, q.setup, with_leases=True, on_row=None))[1:] + "}"))


def moved(q: Calls) -> Calls:
    """The setup in an empty one, which then has the same dump."""
    given = dumped(q)
    copy = Calls(q.connection, "copy")
    copy.set_clock(q.value("select resource.clock(%s)", q.setup))
    world.load(q.connection, [given], setup="copy")
    assert dumped(copy) == given
    assert copy.inconsistencies() == []
    return copy


def rows(q: Calls, table: str = "job", left_out: list[str] = OWN) -> list[dict[str, Any]]:
    query = f"select to_jsonb(j) - %s::text[] from taskqueue.{table} j where setup = %s order by job_id"
    return [row for (row,) in q.rows(query, left_out, q.setup)]


def give(q: Calls, job_id: int, **columns: Any) -> None:
    """Give a waiting job values of columns, and hold it by its function, so that counts are right."""
    if columns.get("held"):
        q.call("hold", "job", str(job_id))
    for column, value in columns.items():
        query = f"update taskqueue.job set {column} = %s where setup = %s and job_id = %s returning 1"
        q.rows(query, value, q.setup, job_id)


@pytest.mark.parametrize("columns", STATES, ids="-".join)
def test_each_column_of_a_waiting_job_comes_back(q: Calls, columns: dict[str, Any]) -> None:
    q.insert_many([1, 2, 3])
    give(q, 2, **columns)
    before = rows(q)
    assert before[1].keys() == {
        *("job_id", "user_priority", "brokered"), *(key for state in STATES for key in state)
    }  # fmt: skip
    copy = moved(q)
    assert rows(copy) == before
    got = {match.job_id for match in copy.match_jobs(9, Site="A", HostName="n17")}
    assert got == ({1, 3} if columns.keys() & {"held", "avoid"} else {1, 2, 3})


def test_a_job_waits_until_its_time_after_a_load(q: Calls) -> None:
    set_rules(q, {**RETRY, "decision": "later", "delay": 7200})
    q.insert(1)
    fail(q, q.take())
    q.insert(2)
    q.call("hold", "job", "2")
    copy = moved(q)
    why = copy.value("select taskqueue.why_held(j) from taskqueue.job j where setup = 'copy' and job_id = 1")
    assert why == "a retry rule holds the job until 2026-03-01 14:00:00 UTC"
    for clock, there in ((DUE - timedelta(seconds=1), False), (DUE, True)):
        copy.set_clock(clock)
        copy.call_rows("maintain", True)
        assert (copy.match() is not None) == there
    copy.set_clock(DUE + timedelta(days=9))
    copy.maintain()
    assert copy.match() is None  # an operator holds the other job
    copy.call("resume", "job", "2")
    assert copy.take().job_id == 2


def test_the_budget_of_a_job_stays_used(q: Calls) -> None:
    set_rules(q, RETRY)
    q.settings(most_retries=2)
    q.insert(1)
    fail(q, q.take())
    fail(q, q.take())
    copy = moved(q)
    match = copy.take()
    assert match.number == 3
    fail(copy, match)
    assert copy.outcome(1) == "failed"


def test_a_pending_change_is_made_by_the_load(q: Calls) -> None:
    set_rules(q, {**RETRY, "decision": "later", "delay": 7200, "memory_factor": 1.5})
    for job_id in (1, 2):
        q.insert(job_id, MinRAM=2000)
        fail(q, q.take(JobID=job_id))
    q.call("hold", "job", "2")
    copy = moved(q)
    assert [(row["held"], row["failures"]) for row in rows(copy)] == [(True, 1), (True, 1)]
    copy.set_clock(DUE)
    copy.call_rows("maintain", True)
    match = copy.take()
    assert (match.job_id, match.requirements["MinRAM"], copy.match()) == (1, 3000, None)
    copy.call("resume", "job", "2")
    assert copy.take().requirements["MinRAM"] == 3000


@pytest.mark.parametrize("columns", [{"attempts": 99_999_999}, {"losses": 32767}, {"failures": 32767}], ids=str)
def test_a_job_with_the_largest_counts_is_matched_and_fails(q: Calls, columns: dict[str, int]) -> None:
    set_rules(q, RETRY)
    q.call("load_task_queues", Jsonb([{"requirements": requirements(), "jobs": [[1, 1, None, columns]]}]))
    fail(q, q.take())
    q.maintain()
    assert q.outcome(1) == ("failed" if "failures" in columns else None)


def test_a_load_over_jobs_does_not_repeat_numbers_of_attempts(q: Calls) -> None:
    q.insert_many([1, 2])
    for _ in range(3):
        match = q.take(JobID=1)
        q.call("release_job", 1, match.attempt)
    q.call("finish_job", 2, q.take(JobID=2).attempt, "failed")
    jobs = [[1, 1, None, {"failures": 1}], [2, 1, None, {"attempts": 1}]]
    q.call("load_task_queues", Jsonb([{"requirements": requirements(), "jobs": jobs}]))
    assert (q.take(JobID=1).number, q.take(JobID=2).number) == (4, 2)


@pytest.mark.parametrize("zone", ["", "Z", " UTC", "+00:00", "+0530", "-01"])
def test_times_of_a_load_may_have_a_zone(q: Calls, zone: str) -> None:
    q.connection.execute("set local timezone = 'Asia/Tokyo'")
    q.insert(1)
    q.take()
    [lease] = dumped(q)["leases"]
    given = "2026-03-01T14:00:00" + zone
    state = {"held": True, "not_before": given, "avoid": "n1 at A", "avoid_until": given}
    q.call("load_task_queues", Jsonb([{"requirements": requirements(), "jobs": [[3, 1, None, state]]}]))
    times = "matched_at reported_at expires_at avoid_until".split()
    q.call("load_leases", Jsonb([{**lease, "avoid": "n1 at A", **dict.fromkeys(times, given)}]))
    expected = DUE - {"+0530": timedelta(hours=5.5), "-01": timedelta(hours=-1)}.get(zone, timedelta())
    found = q.rows("select not_before, avoid_until from taskqueue.job where setup = %s and job_id = 3", q.setup)
    assert set(found[0]) == {expected}
    leases = q.rows(f"select {', '.join(times)} from taskqueue.lease where setup = %s", q.setup)
    assert set(leases[0]) == {expected}


def test_exactly_the_days_of_the_calendar_are_times(q: Calls) -> None:
    years = (0, 1, 4, 100, 400, 1900, 2000, 2023, 2024, 2100, 9999)
    found = q.rows(
        """select y, m, d, resource.suits('a time', to_jsonb(format('%%s-%%s-%%s', lpad(y::text, 4, '0'),
                                                              lpad(m::text, 2, '0'), lpad(d::text, 2, '0'))))
             from unnest(%s::int[]) y, generate_series(0, 13) m, generate_series(0, 32) d""",
        list(years),
    )
    there = {(y, m, d) for y in years[1:] for m in range(1, 13) for d in range(1, calendar.monthrange(y, m)[1] + 1)}
    assert {(y, m, d) for y, m, d, suits in found if suits} == there


def test_held_task_queues_and_owners_stay_held(q: Calls) -> None:
    q.insert(1, OwnerDN="ann")
    q.insert(2, OwnerDN="eve")
    q.insert(3)
    q.call("hold", "task_queue", str(q.queue_of(1)))
    q.call("hold", "owner", "eve")
    copy = moved(q)
    assert dumped(copy)["held_owners"] == ["eve"]
    assert [match.job_id for match in copy.match_jobs(9)] == [3]
    copy.insert(4, OwnerDN="eve")
    assert copy.match() is None
    copy.call("resume", "task_queue", str(copy.queue_of(1)))
    copy.call("resume", "owner", "eve")
    assert sorted(match.job_id for match in copy.match_jobs(9)) == [1, 2, 4]
    assert copy.inconsistencies() == []


def test_a_lease_keeps_the_host_that_its_job_avoids(q: Calls) -> None:
    set_rules(q, {**RETRY, "elsewhere": "host"})
    q.insert(1)
    fail(q, q.take(Site="A", HostName="n17"))
    q.take(Site="A", HostName="n18")
    before = rows(q, "lease", OF_LEASES)
    assert before[0]["avoid"] == "n17 at A"
    assert rows(moved(q), "lease", OF_LEASES) == before


def test_a_load_over_waiting_jobs_gives_them_the_state_of_the_dump(q: Calls) -> None:
    q.insert_many([1, 2, 3, 4])
    given = dumped(q)
    give(q, 1, **HOLD)
    give(q, 2, failures=4)
    give(q, 3, held=True)
    held = dumped(q)
    for load, expected in ((given, [False, False, True]), (held, [True, False, True])):
        world.load(q.connection, [load], setup=q.setup)
        found = rows(q)
        assert [row["held"] for row in found[:3]] == expected
        assert (found[1]["failures"], found[2]["not_before"]) == (4 if load is held else 0, None)
        assert q.inconsistencies() == []
    hold = {"requirements": requirements(), "jobs": [[3, 1, None, {"held": True, "not_before": str(DUE)}]]}
    q.call("load_task_queues", Jsonb([hold]))
    assert rows(q)[2]["not_before"] is None  # an operator held it before


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (7, ["state of a job number 1 is 7"]),
        ({"colour": 1}, ["colour", "is not known"]),
        ({"held": "yes"}, ["held is", "yes"]),
        ({"failures": -1}, ["job 5", "failures is -1"]),
        ({"losses": -2}, ["job 5", "losses is -2"]),
        ({"attempts": -3}, ["job 5", "attempts is -3"]),
        ({"failures": 40000}, ["failures is 40000"]),
        ({"not_before": str(DUE)}, ["job 5", "not_before is 2026-03-01"]),
        ({"not_before": "soon", "held": True}, ["not_before is", "soon"]),
        ({"not_before": "2026-02-29", "held": True}, ["not_before is", "2026-02-29", "not a time"]),
        ({"not_before": "2026-03-01T25:00:00", "held": True}, ["not_before is", "T25", "not a time"]),
        ({"attempts": 2**31 - 1}, ["job 5", "attempts is 2147483647"]),
        ({"avoid": "n\x1b[2J at A", "avoid_until": str(DUE)}, ["job 5", "avoid is"]),
        ({"avoid": "n17"}, ["job 5", 'avoid is "n17"', "avoid_until is null"]),
        ({"avoid_until": str(DUE)}, ["job 5", "avoid is null", "avoid_until is 2026"]),
        ({"avoid": "", "avoid_until": str(DUE)}, ["job 5", 'avoid is ""']),
    ],
)
def test_a_wrong_state_is_refused_with_its_job_key_and_value(q: Calls, state: Any, words: list[str]) -> None:
    queue = {"requirements": requirements(), "jobs": [[4, 1], [5, 1, None, state]]}
    before = q.stored()
    q.refuses(lambda: q.call("load_task_queues", Jsonb([queue])), "PB001", *words)
    assert q.stored() == before


@pytest.mark.parametrize(
    "queues",
    [
        {"jobs": [[1, 1, None, {}]]}, [{"jobs": {"a": [1, 1, None, {}]}}], [[[1, 1, None, {}]]],
        [{"jobs": [[1, 1, None, {}, 5]]}],
        [{"jobs": [1, [2, 1, None, {}]]}], [{"jobs": [[2, 1, None, {}]], "held": 5}],
    ],
    ids=str,
)  # fmt: skip
def test_states_in_a_wrong_place_are_refused(q: Calls, queues: Any) -> None:
    given = [{"requirements": requirements(), **e} if isinstance(e, dict) else e for e in queues]
    q.refuses(lambda: q.call("load_task_queues", Jsonb(given if isinstance(queues, list) else queues)), "PB001")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_random_states_come_back(q: Calls, seed: int) -> None:
    r = random.Random(seed)
    set_rules(
        q,
        {"position": 1, "name": "a", "decision": "later", "delay": 600, "failures_to": 1, "memory_factor": 1.5},
        {"position": 2, "name": "b", "decision": "retry", "elsewhere": "host", "failures_to": 2},
        {"position": 3, "name": "c", "decision": "later", "delay": 1000, "time_factor": 3},
    )
    for job_id in range(1, 81):
        q.insert(job_id, r.randint(0, 9), MinRAM=r.choice([1000, 2000]), OwnerDN=r.choice("abc"))
    there: set[str] = set()
    acts = 0
    while acts < 120 or not there >= {"held", "not_before", "failures", "attempts", "avoid"}:
        acts += 1
        act = r.random()
        if act < 0.7 and (match := q.match(Site=r.choice("AB"), HostName=r.choice(["n1", "n2"]))):
            way = r.random()
            if way < 0.6:
                fail(q, match)
            elif way < 0.8:
                q.call("release_job", match.job_id, match.attempt)
        elif act < 0.8:
            waiting = q.rows("select job_id from taskqueue.job where setup = %s", q.setup)
            q.call(r.choice(["hold", "resume"]), "job", str(r.choice(waiting)[0]))
        elif act < 0.85:
            q.call(r.choice(["hold", "resume"]), "owner", r.choice("abc"))
        elif act < 0.9:
            queues = q.rows("select task_queue_id from taskqueue.task_queue where setup = %s", q.setup)
            q.call(r.choice(["hold", "resume"]), "task_queue", str(r.choice(queues)[0]))
        else:
            q.set_clock(q.value("select resource.clock(%s) + interval '5 minutes'", q.setup))
            q.call_rows("maintain", True)
        if acts >= 120:
            assert acts < 1000, there
            there = {k for row in rows(q) for k in row if row[k]}
    before = {row["job_id"]: row for row in rows(q)}
    copy = moved(q)
    assert {row["job_id"]: row for row in rows(copy)} == before
