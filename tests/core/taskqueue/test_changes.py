"""Changes of retry rules: what a failed job of a TaskQueue requires when it waits again (sql/taskqueue/ENDS.md)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connect, Connection, Match
from tests.core.taskqueue.test_retry_rules import after, explained, history, set_rules, waiting

Row = dict[str, Any]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MEMORY = {"position": 10, "name": "more-memory", "decision": "retry", "memory_factor": 1.5}


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    q = Calls(rolled_back)
    q.set_clock(NOON)
    return q


def fail(q: Calls, match: Match, ram: float | None = None) -> None:
    q.call("finish_job", match.job_id, match.attempt, "failed", None, Jsonb(ram and {"ram": ram}))


NO_MEMORY = "no memory is known: the job has no MinRAM, and the end does not say what it used"
BANNED = [f"X{n}" for n in range(100)]
OBSTACLES: list[tuple[Row, Row, Row, str]] = [
    ({"memory_factor": 1.5}, {}, {}, NO_MEMORY),
    ({"memory_factor": 1.5}, {"MinRAM": 0}, {}, NO_MEMORY),
    ({"memory_factor": 1.5}, {"MinRAM": 2001}, {}, "MinRAM would be 3002 MB, and most_ram is 3000"),
    ({"memory_factor": 10}, {}, {"ram": 301}, "MinRAM would be 3010 MB, and most_ram is 3000"),
    ({"time_factor": 1.5}, {"CPUTime": 300000}, {}, "CPUTime would be 450000 s, and the last CPU bucket is 300000"),
    ({"elsewhere": "site"}, {}, {}, "the lease names no site"),
    ({"elsewhere": "site"}, {"Sites": ["A"]}, {"Site": "A"}, "without A, no site of Sites is left"),
    ({"elsewhere": "site"}, {"Sites": ["A", "B"], "BannedSites": ["B"]}, {"Site": "A"},
     "without A, no site of Sites is left"),
    ({"elsewhere": "site"}, {"BannedSites": BANNED}, {"Site": "A"},
     "BannedSites would have 101 sites, and rules ban sites up to 100"),
    ({"elsewhere": "host"}, {}, {"Site": "A"}, "the end names no host"),
]  # fmt: skip
FITTING: list[tuple[Row, Row, Row]] = [
    ({"memory_factor": 1.5}, {"MinRAM": 2000}, {}),
    ({"memory_factor": 10}, {}, {"ram": 300}),
    ({"time_factor": 6}, {"CPUTime": 50000}, {}),
    ({"elsewhere": "site"}, {}, {"Site": "A"}),
    ({"elsewhere": "site"}, {"Sites": ["A", "B"], "BannedSites": ["C"]}, {"Site": "A"}),
    ({"elsewhere": "site"}, {"BannedSites": BANNED[1:]}, {"Site": "A"}),
    ({"elsewhere": "host"}, {}, {"Site": "A", "HostName": "n1"}),
    ({"less_input": True}, {}, {}),
]


def failed(q: Calls, rule: Row, asked: Row, run: Row) -> None:
    set_rules(q, {"position": 10, "name": "change", "decision": "retry"} | rule)
    q.settings(most_ram=3000)
    q.insert(1, **asked)
    fail(q, q.take(**{key: value for key, value in run.items() if key != "ram"}), run.get("ram"))


@pytest.mark.parametrize(("rule", "asked", "run", "why"), OBSTACLES)
def test_a_rule_whose_change_cannot_be_made_does_not_fit(q: Calls, rule: Row, asked: Row, run: Row, why: str) -> None:
    failed(q, rule, asked, run)
    assert (q.outcome(1), history(q)[-1][2]) == ("failed", None)
    assert explained(q)["change"] == ("no", why)


@pytest.mark.parametrize(("rule", "asked", "run"), FITTING)
def test_a_rule_whose_change_can_be_made_fits(q: Calls, rule: Row, asked: Row, run: Row) -> None:
    failed(q, rule, asked, run)
    assert explained(q)["change"] == ("applies", "it fits")


def test_memory_has_no_bound_by_default(q: Calls) -> None:
    set_rules(q, MEMORY | {"memory_factor": 10})
    q.insert(1, MinRAM=1e9)
    fail(q, q.take())
    assert explained(q)["more-memory"] == ("applies", "it fits")
    q.refuses(lambda: q.settings(most_ram=0), "PB001", "most_ram")
    q.settings(most_ram=5)
    q.settings(most_ram=None)
    assert q.call("dump_configuration")["task_queue_settings"]["most_ram"] is None


def test_memory_grows_up_to_the_most_that_a_job_may_require(q: Calls) -> None:
    set_rules(q, MEMORY | {"memory_factor": 10})
    q.insert(1, MinRAM=1e300, MaxRAM=1e300)
    for _ in range(10):
        fail_and_change(q, q.take())
    required = q.take().requirements
    assert (float(required["MinRAM"]), float(required["MaxRAM"])) == (1e300, 1e300)


def fail_and_change(q: Calls, match: Match, ram: float | None = None) -> None:
    fail(q, match, ram)
    assert dict(q.call_rows("maintain", True))["due retries"] == 1
    assert q.inconsistencies() == []


def test_memory_grows_by_its_factor_at_each_failure(q: Calls) -> None:
    set_rules(q, MEMORY)
    q.settings(most_ram=5000)
    queue = q.insert(1, 7, MinRAM=2000, MaxRAM=2500, Sites=["A", "B"], Tags=["t"])
    match = first = q.take(Site="A", Tag="t", MaxRAM=2000)
    for asked, limit in ((3000, 3750), (4500, 5625)):
        fail_and_change(q, match)
        assert q.match(Site="A", Tag="t", MaxRAM=asked - 1) is None
        match = q.take(Site="A", Tag="t", MaxRAM=asked)
        assert match.requirements == first.requirements | {"MinRAM": asked, "MaxRAM": limit}
        assert (match.user_priority, match.task_queue_id == queue) == (7, False)
    fail(q, match)
    assert (q.outcome(1), [row[:3] for row in history(q)]) == (
        "failed",
        [(1, 1, "more-memory: retry, memory x 1.5"), (2, 2, "more-memory: retry, memory x 1.5"), (3, 3, None)],
    )
    assert explained(q)["more-memory"] == ("no", "MinRAM would be 6750 MB, and most_ram is 5000")
    assert changed(q) == ["more-memory: MinRAM 2000 -> 3000, MaxRAM 2500 -> 3750",
                          "more-memory: MinRAM 3000 -> 4500, MaxRAM 3750 -> 5625"]  # fmt: skip


def changed(q: Calls, job_id: int = 1) -> list[str]:
    """The changes of a job, as the history has them."""
    events = "select retry_rule from monitor.job_event where job_id = %s and event = 'changed' order by attempt_number"
    found = q.rows(events, job_id)
    return [row[0] for row in found]


def test_a_job_without_memory_asks_for_a_factor_of_its_use(q: Calls) -> None:
    set_rules(q, MEMORY)
    for job_id, asked in ((1, {}), (2, {"MaxRAM": 100}), (3, {"MinRAM": 0})):
        q.insert(job_id, **asked)
        fail_and_change(q, q.take(JobID=job_id), 1000.5)
        now = q.take(JobID=job_id).requirements
        assert (now["MinRAM"], now.get("MaxRAM")) == (1501, 1501 if job_id == 2 else None)


def test_cpu_time_grows_to_the_bucket_of_its_factor(q: Calls) -> None:
    set_rules(q, {"position": 10, "name": "longer", "decision": "retry", "time_factor": 10})
    q.insert(1, CPUTime=600)
    fail_and_change(q, q.take())
    match = q.take()
    assert match.requirements["CPUTime"] == 50000
    fail(q, match)
    assert changed(q) == ["longer: CPUTime 5000 -> 50000"]
    assert explained(q)["longer"] == ("no", "CPUTime would be 500000 s, and the last CPU bucket is 300000")


def test_the_sites_where_a_job_failed_are_banned(q: Calls) -> None:
    set_rules(q, {"position": 10, "name": "move", "decision": "retry", "elsewhere": "site"})
    q.insert(1, Sites=["A", "B", "C"], BannedSites=["C"])
    fail_and_change(q, q.take(Site="B"))
    assert (q.match(Site="B"), q.match(Site="C")) == (None, None)
    match = q.take(Site="A")
    assert match.requirements["Sites"] == ["A", "B", "C"]
    assert match.requirements["BannedSites"] == ["B", "C"]
    fail(q, match)
    assert (q.outcome(1), changed(q)) == ("failed", ["move: BannedSites + B"])


def test_all_changes_of_a_rule_are_made_together(q: Calls) -> None:
    rule = {"decision": "later", "delay": 60, "time_factor": 2, "elsewhere": "site", "less_input": True}
    set_rules(q, MEMORY | rule)
    q.insert(1, MinRAM=2000)
    fail(q, q.take(Site="B"))
    assert dict(q.call_rows("maintain", True))["due retries"] == 0
    assert waiting(q) == (1, 0, 1, True, NOON + timedelta(seconds=60))
    assert (
        why(q) == "a retry rule holds the job until 2026-03-01 12:01:00 UTC, and then changes MinRAM 2000 -> 3000,"
        " CPUTime 500 -> 5000, BannedSites + B"
    )
    after(q, seconds=60)
    q.call_rows("maintain", True)
    assert (waiting(q), q.inconsistencies()) == ((1, 0, 1, False, None), [])
    assert changed(q) == ["more-memory: MinRAM 2000 -> 3000, CPUTime 500 -> 5000, BannedSites + B"]


def why(q: Calls, job_id: int = 1) -> str:
    """Why a held job waits; explain_job says the same."""
    [words] = [row[1] for row in q.call_rows("explain_job", job_id) if row[0] == "all of them"]
    said = str(q.value("select why from taskqueue.own_job(%s, %s)", q.setup, job_id))
    assert words == f"job {job_id}, held: {said}"
    return said


def test_a_change_that_changes_nothing_lets_the_job_wait_again(q: Calls) -> None:
    set_rules(q, MEMORY | {"memory_factor": 1})
    queue = q.insert(1, MinRAM=2000)
    fail_and_change(q, q.take())
    assert q.take().task_queue_id != queue
    assert changed(q) == ["more-memory: no change"]


def test_a_batch_of_changes_goes_to_few_task_queues(q: Calls) -> None:
    set_rules(q, MEMORY | {"classes": ["memory"]}, MEMORY | {"position": 20, "name": "move", "elsewhere": "site"})
    q.call("set_error_classes", Jsonb([{"position": 1, "source": "a", "class": "memory"}]))
    for first, asked in ((1, {"MinRAM": 2000}), (5, {"MinRAM": 2000, "JobTypes": ["T"]}), (9, {"MinRAM": 3000})):
        q.insert_many(range(first, first + 4), **asked)
    ends = [
        {"job_id": m.job_id, "attempt": m.attempt, "outcome": "failed", "used": {"ram": m.job_id},
         "error": [{"source": "a" if m.job_id % 2 else "b"}]}
        for m in q.match_jobs(12, Site="S")
    ]  # fmt: skip
    q.call_rows("finish_jobs", Jsonb(ends))
    assert dict(q.call_rows("maintain", True))["due retries"] == 12
    assert q.inconsistencies() == []
    assert q.rows("select from taskqueue.pending_change") == []
    found = q.rows(
        "select d.requirements ->> 'MinRAM', d.requirements -> 'BannedSites', d.job_types,"
        "       array_agg(job_id order by job_id)"
        "  from taskqueue.job j join taskqueue.task_queue t using (setup, task_queue_id)"
        "  join taskqueue.definition d using (setup, definition_id) group by 1, 2, 3, t.task_queue_id order by 4"
    )
    assert found == [
        ("3000", None, [], [1, 3]), ("3000", ["S"], [], [2, 4]), ("3000", None, ["T"], [5, 7]),
        ("3000", ["S"], ["T"], [6, 8]), ("4500", None, [], [9, 11]), ("4500", ["S"], [], [10, 12]),
    ]  # fmt: skip


def test_a_change_survives_an_operators_hold_and_comes_with_the_resumption(q: Calls) -> None:
    set_rules(q, MEMORY)
    q.insert(1, MinRAM=2000)
    fail(q, q.take())
    assert [q.call("hold", "job", "1") for _ in range(2)] == [1, 0]
    assert why(q) == "an operator holds the job, and a resumption changes MinRAM 2000 -> 3000"
    after(q, hours=1)
    assert q.maintain()["due retries"] == 0
    assert waiting(q)[2:] == (1, True, None)
    for _ in range(2):
        assert q.call("resume", "job", "1") == 1
        assert (q.match(), waiting(q)[2:4], q.inconsistencies()) == (None, (1, True), [])
    assert dict(q.call_rows("maintain", True))["due retries"] == 1
    assert (waiting(q)[2:], q.inconsistencies()) == ((1, False, None), [])
    assert q.call("hold", "job", "1") == 1
    assert why(q) == "an operator holds the job"


@pytest.mark.parametrize("how", ["held", "disabled"])
def test_a_job_does_not_leave_a_task_queue_that_an_operator_closed(q: Calls, how: str) -> None:
    set_rules(q, MEMORY)
    q.insert_many([1, 2], MinRAM=2000)
    fail(q, q.take(JobID=1))
    queue = q.queue_of(1)
    close, reopen = {"held": (("hold", "task_queue", str(queue)), ("resume", "task_queue", str(queue))), "disabled": (
        ("set_task_queue_enabled", queue, False), ("set_task_queue_enabled", queue, True))}[how]  # fmt: skip
    q.call(*close)
    assert dict(q.call_rows("maintain", True))["due retries"] == 0
    assert (q.queue_of(1), q.match()) == (queue, None)
    q.call(*reopen)
    assert dict(q.call_rows("maintain", True))["due retries"] == 1
    assert (q.take(JobID=1).requirements["MinRAM"], q.inconsistencies()) == (3000, [])


def test_an_operator_resumes_a_job_for_later_with_its_change(q: Calls) -> None:
    set_rules(q, MEMORY | {"decision": "later", "delay": 3600})
    q.insert(1, MinRAM=2000)
    fail(q, q.take())
    q.call("resume", "job", "1")
    q.call_rows("maintain", True)
    assert q.take().requirements["MinRAM"] == 3000


@pytest.mark.parametrize("way", ["cancellation", "deletion", "insertion", "insertion after the end"])
def test_an_end_and_an_insertion_make_a_change_void(q: Calls, way: str) -> None:
    set_rules(q, MEMORY, {"position": 20, "name": "pause", "decision": "later", "delay": 60})
    q.insert(1, MinRAM=2000)
    fail(q, q.take())
    if way in ("cancellation", "insertion after the end"):
        q.call("cancel_job", 1)
    if way == "deletion":
        q.call("delete_job", 1)
    if way.startswith("insertion"):
        q.insert(1)
        fail(q, q.take())  # no memory is known, so the other rule decides
        after(q, seconds=60)
    assert dict(q.call_rows("maintain", True))["due retries"] == way.startswith("insertion")
    assert changed(q) == []
    assert (q.maintain()["void changes"], q.inconsistencies()) == (1, [])
    assert q.rows("select from taskqueue.pending_change") == []


def test_a_round_forgets_ten_thousand_void_changes_at_most(q: Calls) -> None:
    q.insert(1)
    q.rows("insert into taskqueue.pending_change (setup, job_id, entry_id, retry_rule)"
           " select %s, n, 0, 'rule' from generate_series(1, 10001) n returning 1", q.setup)  # fmt: skip
    assert [q.maintain()["void changes"] for _ in range(3)] == [10_000, 1, 0]


@pytest.mark.slow
def test_a_round_changes_a_thousand_jobs_of_a_group_and_agents_do_not_wait(connect: Connect) -> None:
    q, agent = Calls(connect()), Calls(connect())
    set_rules(q, MEMORY)
    q.insert_many(range(1, 1201), MinRAM=2000)
    for count in (400, 400, 310):
        ends = [{"job_id": m.job_id, "attempt": m.attempt, "outcome": "failed"} for m in q.match_jobs(count)]
        q.call_rows("finish_jobs", Jsonb(ends))
    agent.connection.execute("set lock_timeout = '100ms'")
    with q.connection.transaction():
        assert dict(q.call_rows("maintain", True))["due retries"] == 1000
        fail(agent, agent.take())
        agent.insert(2000, MinRAM=2000)
        match = agent.take()
        agent.call("release_job", match.job_id, match.attempt)
        agent.call("cancel_job", 1200)
    assert [dict(q.call_rows("maintain", True))["due retries"] for _ in range(2)] == [111, 0]
    assert q.inconsistencies() == []


def test_a_dump_has_the_new_requirements(q: Calls) -> None:
    set_rules(q, MEMORY)
    q.insert_many([1, 2, 3], MinRAM=2000)
    q.insert(4, MinRAM=3000)
    fail(q, q.take(JobID=2))
    dumped = [row[0] for row in q.call_rows("dump_task_queues")]
    state = {"held": True, "not_before": f"{NOON:%Y-%m-%dT%H:%M:%S}", "attempts": 1, "failures": 1}
    assert [(row["requirements"]["MinRAM"], row["jobs"]) for row in dumped] == [
        (2000, [[1, 1], [3, 1]]), (3000, [[2, 1, None, state]]), (3000, [[4, 1]])
    ]  # fmt: skip
    q.call("load_task_queues", Jsonb(dumped))
    assert ([row[0] for row in q.call_rows("dump_task_queues")], q.inconsistencies()) == (dumped, [])


def test_buckets_that_change_before_the_change_count(q: Calls) -> None:
    set_rules(q, MEMORY | {"time_factor": 2})
    q.insert(1, MinRAM=2000, CPUTime=50000)
    fail(q, q.take())
    q.call("set_cpu_buckets", [400, 60000])
    q.call_rows("maintain", True)
    assert q.take().requirements["CPUTime"] == 60000


@pytest.mark.parametrize(
    ("rule", "priority", "siblings"),
    [({"memory_factor": 1.5}, 500, 3), ({"elsewhere": "site"}, 500, 3), ({"time_factor": 2}, 500 / 3, 1)],
)
def test_a_user_whose_jobs_fail_gains_no_share(q: Calls, rule: Row, priority: float, siblings: int) -> None:
    set_rules(q, {"position": 10, "name": "change", "decision": "retry"} | rule)
    q.insert_many(range(1, 7), OwnerDN="bob", MinRAM=2000)
    honest = q.insert(7, OwnerDN="ann", MinRAM=2000)
    for job_id, times in ((1, 1), (2, 1), (3, 2), (4, 2)):
        for n in range(times):
            fail_and_change(q, q.take(JobID=job_id, Site=f"S{n}"))
    new = {row[0] for row in q.rows("select task_queue_id from taskqueue.task_queue where owner_dn = 'bob'")}
    assert len(new) == 3
    q.call("recompute_shares")
    assert q.priorities() == pytest.approx({honest: 500} | dict.fromkeys(new, priority))
    assert q.rows("select distinct siblings from taskqueue.task_queue where owner_dn = 'bob'") == [(siblings,)]
