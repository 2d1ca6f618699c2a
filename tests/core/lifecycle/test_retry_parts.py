"""RETRIES.md, Jobs of tasks: changes of retry rules stay with a part, and its next job is brokered with them."""

import json
import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from broker import world
from tests.calls import Calls, Connect, Connection
from tests.core.lifecycle import grids

RETRY = {"position": 10, "name": "again", "decision": "retry"}
MORE_MEMORY = {**RETRY, "memory_factor": 1.5}
ELSEWHERE = {**RETRY, "elsewhere": "site"}
PART = "select memory_factor::float8, time_factor::float8, failed_queues from workload.failed_part where number = %s"


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    """Setup s with a task of 4 parts that need 2,000 MB a core, and two queues, of which QB has more memory."""
    return setup_of(rolled_back)


def setup_of(db: Connection, files: int = 4, *rules: dict[str, Any], task: dict[str, Any] | None = None) -> Calls:
    given = grids.grid([{"id": 1, "cpu_time": 10000, "ram_count": 2000, **(task or {})}], files=files)
    given["queues"]["QA"]["maxrss"], given["queues"]["QB"]["maxrss"] = 2000, 8000
    given["statistics"] = [{"queue": queue, "gshare": "Reprocessing default", "label": "managed", "status": "running",
                            "resource_type": "SCORE", "njobs": 1000} for queue in ("QA", "QB")]  # fmt: skip
    grids.load_world(db, "s", given)
    q = Calls(db, "s")
    q.call("set_retry_rules", Jsonb(list(rules)))
    return q


def broker(q: Calls, broker: str = "jobs") -> list[tuple[int, str]]:
    """Broker once; the parts that got jobs, with their queues."""
    before = max(grids.job_ids(q.connection, "s"), default=0)
    q.connection.execute(f"call brokerage.broker_{broker}('s', p_tasks_a_commit => null, p_seed => 1)".encode())
    query = "select number, queue from workload.job where setup = 's' and job_id > %s order by number"
    return [tuple(row) for row in q.rows(query, before)]


def fail(q: Calls, number: int, *, give_back: bool = True, error: list[dict[str, Any]] | None = None) -> int:
    """Activate and fail the job that owns a part; the part goes back."""
    grids.activate(q.connection, "s")
    [(job_id, queue)] = q.rows(
        "select job_id, queue from workload.job where setup = 's' and number = %s and rebrokered = 0", number
    )
    match = q.take(**grids.PLENTY, Site=queue, JobID=job_id)
    finish = "select taskqueue.finish_job('s', %s, %s, 'failed', p_error => %s)"
    q.rows(finish, job_id, match.attempt, Jsonb(error) if error else None)
    if give_back:
        q.rows("select lifecycle.give_back('s')")
    return int(job_id)


def requirement(q: Calls, number: int, key: str) -> Any:
    grids.activate(q.connection, "s")
    return q.value(
        "select d.requirements -> %s from workload.job w join taskqueue.job j using (setup, job_id)"
        " join taskqueue.task_queue t using (setup, task_queue_id) join taskqueue.definition d"
        " using (setup, definition_id) where w.number = %s and w.rebrokered = 0",
        key, number,
    )  # fmt: skip


def test_factors_multiply_and_the_next_job_is_brokered_with_its_memory(q: Calls) -> None:
    q.call("set_retry_rules", Jsonb([{**MORE_MEMORY, "time_factor": 2}]))
    assert len(broker(q)) == 4
    fail(q, 2)
    assert broker(q) == [(2, "QB")]
    rejected = "select reason from monitor.verdict where queue = 'QA' and verdict = 'rejected' order by run_id desc"
    assert q.rows(rejected)[0] == ("needs 2700 MB, maxrss is 2000",)
    assert (requirement(q, 2, "MinRAM"), requirement(q, 1, "MinRAM")) == (2700, 1800)
    assert (requirement(q, 2, "CPUTime"), requirement(q, 1, "CPUTime")) == (50000, 5000)  # of 8,888 and 4,444
    fail(q, 2)
    assert broker(q) == [(2, "QB")]
    assert requirement(q, 2, "MinRAM") == int(0.9 * 2000 * 1.5 * 1.5)
    assert q.rows(PART, 2) == [(2.25, 4.0, None)]
    decided = "select changes from brokerage.task_decision where setup = 's' order by run_id"
    assert [c for (c,) in q.rows(decided)] == [None, "memory x 1.5, time x 2", "memory x 2.25, time x 4"]
    assert q.inconsistencies() == grids.differences(q.connection, "s") == []


def test_a_part_gets_no_more_memory_than_the_setting_allows(q: Calls) -> None:
    """MinRAM is 1,800 MB, 2,700 and then 4,050; the rule decides up to the bound, and nothing else changes."""
    q.call("set_retry_rules", Jsonb([MORE_MEMORY]))
    q.settings(most_ram=4000)
    broker(q)
    fail(q, 2)
    assert broker(q) == [(2, "QB")]
    job_id = fail(q, 2)
    assert q.rows(PART, 2) == [(1.5, 1, None)]
    [_, (_, _, verdict, _, why)] = q.call_rows("explain_retry", job_id)
    assert (verdict, why) == ("no", "MinRAM would be 4050 MB, and most_ram is 4000")
    assert (broker(q), grids.status(q.connection, "s", job_id)) == ([], "failed")


def test_parts_of_each_kind_take_turns(q: Calls) -> None:
    """A part that no queue can take does not keep back the others."""
    q.call("set_retry_rules", Jsonb([{**RETRY, "memory_factor": 10}]))
    assert len(broker(q)) == 4
    fail(q, 1)  # needs 18,000 MB
    q.call("set_retry_rules", Jsonb([RETRY]))
    fail(q, 3)
    q.call("set_retry_rules", Jsonb([MORE_MEMORY]))
    fail(q, 4)
    assert [[number for number, _ in broker(q)] for _ in range(3)] == [[4], [], [3]]
    assert q.value("select not_due from brokerage.task_due_state where task_id = 1 and algorithm = 'production_job'")
    assert broker(q) == []
    reasons = "select reason from monitor.verdict where queue = 'QB' and verdict = 'rejected'"
    assert q.rows(reasons) == [("needs 18000 MB, maxrss is 8000",)]


def test_a_part_avoids_the_queue_where_it_failed(q: Calls) -> None:
    q.call("set_retry_rules", Jsonb([ELSEWHERE]))
    parts = dict(broker(q))
    fail(q, 1)
    [(number, queue)] = broker(q)
    assert (number, {queue, parts[1]}) == (1, {"QA", "QB"})
    why = q.rows("select queue, reason from monitor.verdict where rule = 'failed-there'")
    assert why == [(parts[1], "these parts failed there, and a retry rule sends them elsewhere")]
    fail(q, 1)
    assert q.rows(PART, 1) == [(1.0, 1.0, [parts[1], queue])]
    assert broker(q) == []  # it failed at both
    waits = q.value("select retry_at from brokerage.task_state where setup = 's'")
    q.set_clock(waits)
    assert [number for number, _ in broker(q)] == [1]  # any queue is better than none


def test_the_last_five_queues_are_kept(q: Calls) -> None:
    q.call("set_retry_rules", Jsonb([ELSEWHERE]))
    q.settings(most_retries=20)
    broker(q)
    fail(q, 1)
    for queue in ("Q1", "Q2", "Q3", "Q1", "Q4", "Q5"):
        q.rows("update workload.job set queue = %s where number = 1 returning 1", queue)
        q.rows("select workload.change_parts('s', array_agg(job_id), '{null}', '{null}', '{site}', '{false}')"
               " from workload.job where number = 1 and queue = %s", queue)  # fmt: skip
    assert q.rows(PART, 1)[0][2] == ["Q2", "Q3", "Q1", "Q4", "Q5"]


@pytest.mark.parametrize("change", [{"elsewhere": "host"}, {}])
def test_a_change_without_a_meaning_for_a_part_is_left_out(q: Calls, change: dict[str, Any]) -> None:
    q.call("set_retry_rules", Jsonb([{**RETRY, **change}]))
    broker(q)
    fail(q, 1)
    assert q.rows(PART, 1) == [(1.0, 1.0, None)]
    assert [number for number, _ in broker(q)] == [1]


def test_an_analysis_task_is_brokered_by_the_changes_too(rolled_back: Connection) -> None:
    q = setup_of(rolled_back, 2, MORE_MEMORY, task={"label": "user", "user": "alice"})
    q.rows("update resource.queue set type = 'unified' where setup = 's' returning 1")
    assert len(broker(q, "analysis")) == 2
    fail(q, 1)
    assert broker(q, "analysis") == [(1, "QB")]


def test_a_failed_end_that_is_not_tried_again_changes_nothing(q: Calls) -> None:
    q.call("set_retry_rules", Jsonb([{**MORE_MEMORY, "failures_to": 1}]))
    broker(q)
    fail(q, 1)
    broker(q)
    fail(q, 1)
    assert q.rows(PART, 1) == [(1.5, 1.0, None)]
    assert broker(q) == []


def test_the_changes_stay_when_an_operator_gives_a_part_back(q: Calls) -> None:
    q.call("set_retry_rules", Jsonb([{**MORE_MEMORY, "failures_to": 1}]))
    broker(q)
    fail(q, 1)
    broker(q)
    job_id = fail(q, 1)
    q.rows("select * from lifecycle.retry_jobs('s', %s)", [job_id])
    assert q.rows("select failures, memory_factor::float8 from workload.failed_part") == [(0, 1.5)]
    assert broker(q) == [(1, "QB")]
    fail(q, 1)
    assert q.rows(PART, 1)[0][0] == 2.25


FROM_1178 = {"source": "pilot", "code_from": 1178, "code_to": 1178}
MAX_ATTEMPT = {"position": 90, "name": "max", "failures_from": 5, "decision": "fail"}
PANDA = {
    "no_retry": ([{**FROM_1178, "decision": "fail"}], 1, None),
    "limit_retry": ([{**FROM_1178, "failures_from": 3, "decision": "fail"}], 3, None),
    "increase_memory": ([{**FROM_1178, "decision": "retry", "failures_to": 4, "memory_factor": 1.1}], 5,
                        "memory x 1.4641"),
    "increase_cputime": ([{**FROM_1178, "decision": "retry", "failures_to": 4, "time_factor": 2}], 5, "time x 16"),
    "reduce_input_per_job": ([{**FROM_1178, "decision": "retry", "failures_to": 4, "less_input": True}], 5, None),
    "another code": ([{**FROM_1178, "code_from": 1179, "code_to": 1179, "decision": "fail"}], 5, None),
    "passive": ([{**FROM_1178, "decision": "fail", "passive": True}], 5, None),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "attempts", "changes"), PANDA.values(), ids=PANDA)
def test_the_actions_of_pandas_retry_module_as_rules(
    rolled_back: Connection, rows: list[dict[str, Any]], attempts: int, changes: str | None
) -> None:
    """PanDA documentation, Job Retry Module: a task with maxAttempt 5, and an error with pilot code 1178."""
    rules = [{"position": n, "name": f"action-{n}", **row} for n, row in enumerate(rows, 1)]
    rest = {"position": 80, "name": "retry", "failures_to": 4, "decision": "retry"}
    q = setup_of(rolled_back, 8, *rules, rest, MAX_ATTEMPT, task={"split": SPLIT, "ram_count": 1000})
    broker(q)
    made = 0
    while q.rows("select from workload.job where number = 1 and ended is null"):
        made += 1
        fail(q, 1, error=[{"source": "pilot", "code": 1178, "text": "..."}])
        broker(q)
    assert made == attempts
    assert q.value("select changes from monitor.brokered_job where number = 1 limit 1") in (changes, None)
    assert (changes is None) == (q.rows(PART, 1)[0][:2] == (1.0, 1.0))


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "most", "max_attempt"), [(0, 6, None), (1, 6, 3), (2, 6, 5), (3, 2, 9), (4, 6, 2)])
def test_random_failures_do_each_part_once_and_keep_the_products(
    rolled_back: Connection, seed: int, most: int, max_attempt: int | None
) -> None:
    rng = random.Random(seed)
    rules = [
        {"position": 10, "name": "memory", "decision": "retry", "classes": ["memory"], "memory_factor": 1.5},
        {"position": 20, "name": "time", "decision": "retry", "classes": ["time"], "time_factor": 2},
        {"position": 30, "name": "site", "decision": "retry", "classes": ["infrastructure"], "elsewhere": "site"},
    ]
    q = setup_of(rolled_back, 12, *rules, task={"max_attempt": max_attempt})
    q.settings(most_retries=most)
    budget = min(most, (max_attempt or 1000) - 1)
    codes = {"memory": 1212, "time": 1213, "infrastructure": 1104, "payload": 1305}
    factors: Counter[tuple[int, str]] = Counter()
    done: Counter[int] = Counter()
    for _ in range(60):
        broker(q)
        grids.activate(q.connection, "s")
        waiting = q.rows("select job_id, number, queue from workload.job where ended is null order by number")
        for job_id, number, queue in rng.sample(waiting, min(3, len(waiting))):
            match = q.take(**grids.PLENTY, Site=queue, JobID=job_id)
            if rng.random() < 0.4:
                q.call("finish_job", job_id, match.attempt, "finished")
                done[number] += 1
                continue
            kind = rng.choice(list(codes))
            error = Jsonb([{"source": "pilot", "code": codes[kind]}])
            q.value("select taskqueue.finish_job('s', %s, %s, 'failed', p_error => %s)", job_id, match.attempt, error)
            retried = q.value("select retry_at is not null from workload.job where job_id = %s", job_id)
            [failures] = q.rows("select failures from workload.failed_part where number = %s", number)
            if kind in ("memory", "time"):
                assert retried == (failures[0] <= budget)
            factors[number, kind] += retried
        q.rows("select lifecycle.give_back('s', 2)")
        q.set_clock(q.value("select resource.clock('s') + interval '30 minutes'"))
    assert set(done.values()) <= {1}
    parts = q.rows("select number, memory_factor::float8, time_factor::float8, failures from workload.failed_part")
    assert {(n, round(m, 4), t) for n, m, t, _ in parts} == {
        (n, round(1.5 ** factors[n, "memory"], 4), 2.0 ** factors[n, "time"]) for n, *_ in parts
    }
    assert max(failures for *_, failures in parts) <= budget + 1
    judged = q.rows("select decided, present from taskqueue.judge_again('s', '[]', '2000-01-01')")
    assert [row[0] for row in judged] == [row[1] for row in judged] != []
    assert q.rows("select number from workload.job where rebrokered = 0 group by number having count(*) > 1") == []
    assert q.inconsistencies() == grids.differences(q.connection, "s") == []


@pytest.mark.slow
def test_a_dumped_and_loaded_setup_keeps_failures_changes_and_pending_retries(connect: Connect) -> None:
    more = {**MORE_MEMORY, "elsewhere": "site", "decision": "later", "delay": 60}
    q = setup_of(connect(), 4, more, task={"max_attempt": 2})
    parts = dict(broker(q))
    number = next(number for number, queue in parts.items() if queue == "QA")
    fail(q, number, give_back=False)
    given = json.loads("".join(world.dump(q.connection, "s")))
    del given["task_queues"]  # jobs of brokerage wait there
    world.load(q.connection, [given], setup="copy")
    loaded = json.loads("".join(world.dump(q.connection, "copy")))
    assert [loaded[section] for section in ("jobs", "failed_parts")] == [given["jobs"], given["failed_parts"]]
    kept = "select failures, memory_factor::float8, failed_queues from workload.failed_part where setup = 'copy'"
    assert q.rows(kept) == [(1, 1.5, ["QA"])]
    copy = Calls(q.connection, "copy")
    copy.set_clock(grids.NOON + timedelta(seconds=60))
    assert copy.value("select lifecycle.give_back('copy')") == 1
    assert copy.value("select max_attempt from workload.task where setup = 'copy'") == 2
    for _ in range(2):  # the parts without changes first, which are all taken
        copy.connection.execute("call brokerage.broker_jobs('copy', p_seed => 1)")
    made = "select number, queue from workload.job where setup = 'copy' and rebrokered = 0 and number = %s"
    assert copy.rows(made, number) == [(number, "QB")]


def size_of_parts(q: Calls) -> list[int]:
    """The number of files of each part of the task."""
    return [last - first + 1 for first, last in q.rows(
        "select p.first_file, p.last_file from workload.input_digest d cross join generate_series(1, d.jobs) n"
        " cross join lateral workload.part_of_task('s', 1, n) p where d.setup = 's' order by n")]  # fmt: skip


LESS = {**RETRY, "less_input": True}
SPLIT = {"nMaxFilesPerJob": 4}


def test_less_input_makes_later_parts_smaller_and_cuts_no_part(rolled_back: Connection) -> None:
    q = setup_of(rolled_back, 20, LESS, task={"split": SPLIT})
    assert size_of_parts(q) == [4] * 5
    grids.make(q.connection, "s", jobs=2)
    fail(q, 1)
    assert size_of_parts(q) == [4, 4, *[2] * 6]
    fail(q, 2)  # lowered once for all parts
    assert size_of_parts(q) == [4, 4, *[2] * 6]
    made = grids.make(q.connection, "s", jobs=3)
    files = "select number, input_files from workload.job where job_id = any (%s) order by 1"
    assert q.rows(files, made) == [(1, 4), (2, 4), (3, 2)]
    for _ in range(3):
        fail(q, 3)
        grids.make(q.connection, "s", jobs=1)
    assert size_of_parts(q) == [4, 4, *[2] * 6]
    fail(q, 3)  # the fourth failure
    assert size_of_parts(q) == [4, 4, 2, *[1] * 10]
    assert q.value("select jobs from workload.input_digest where setup = 's'") == 13
    digest = q.rows("select * from workload.input_run where setup = 's' order by number")
    q.rows("select workload.digest_input('s', '{1}')")
    assert q.rows("select * from workload.input_run where setup = 's' order by number") == digest
    grids.make(q.connection, "s", "QB", jobs=100)
    names = q.rows("select number, workload.files_of_part('s', 1, number) from workload.job where rebrokered = 0")
    assert sorted(lfn for _, lfns in names for lfn in lfns) == sorted(f"f{n}" for n in range(1, 21))
    read = "select sum(input_files), sum(input_bytes) from workload.job where setup = 's' and rebrokered = 0"
    assert q.rows(read) == [(20, 10 * 210)]
    assert q.rows("select * from workload.failed_part where less_input") == []


@pytest.mark.parametrize(
    "task",
    [
        {"split": {"nFilesPerJob": 4}},
        {"split": {"nEventsPerJob": 10}},
        {"split": {"tgtNumEventsPerJob": 30}},
        {"split": {}},
        {"is_merging": True, "split": {"nFilesPerMergeJob": 4}},
    ],
    ids=str,
)
def test_tasks_that_are_not_cut_by_size_keep_their_limits(rolled_back: Connection, task: dict[str, Any]) -> None:
    q = setup_of(rolled_back, 20, LESS, task={"split": {}, **task})
    before = size_of_parts(q)
    grids.make(q.connection, "s")
    fail(q, 1)
    assert size_of_parts(q) == before
    assert q.rows("select * from workload.failed_part where less_input") == []


@pytest.mark.parametrize(
    ("failures", "split", "expected"),
    [
        (1, {"nGBPerJob": 4}, {"bytes": 2 << 30, "most_files": 100}),
        (3, {"nGBPerJob": 4, "nMaxFilesPerJob": 7}, {"bytes": 2 << 30, "most_files": 3}),
        (4, {"nGBPerJob": 4, "nMaxFilesPerJob": 7}, {"bytes": 1 << 30, "most_files": 1}),
        (6, {"nMaxFilesPerJob": 9}, {"files": 2}),
        (7, {"nMaxFilesPerJob": 9}, {"files": 1}),
        (7, {"nGBPerJob": 4}, {"bytes": 1 << 30, "most_files": 1}),
    ],
)
def test_the_steps_are_those_of_panda(
    rolled_back: Connection, failures: int, split: dict[str, Any], expected: dict[str, int]
) -> None:
    q = setup_of(rolled_back, 20, LESS, task={"split": split})
    q.rows("update workload.dataset_file set size = 1 << 29 where setup = 's' returning 1")
    q.rows("select workload.digest_input('s', '{1}')")
    grids.make(q.connection, "s")
    fail(q, 1, give_back=False)
    q.rows("update workload.failed_part set failures = %s returning 1", failures)
    assert q.value("select workload.lower_limits('s')") == 1
    [step] = q.value("select cutting -> 'less' from workload.task where setup = 's'")
    assert {key: step[key] for key in expected} == expected
