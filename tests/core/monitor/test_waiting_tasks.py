"""The reason why a task waits: from its last decision, its status, and its jobs in TaskQueues."""

import re
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import pytest

from broker import world
from broker.listed import REASONS
from tests.calls import Calls, Connection

Row = dict[str, Any]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def _world(task: Row | None = None, queues: Row | None = None) -> Row:
    """Queues that take everything, except for the given changes, and a task of one-file jobs."""
    disks = {"read_lan": ["DISK"], "write_lan": ["DISK"]}
    usual = {"panda_site": "S", "pilots": {"getjob": 9, "updatejob": 9}, "astorages": disks}
    return {
        "now": NOW.isoformat(),
        "queues": {name: usual | changes for name, changes in (queues or {"Q": {}}).items()},
        "storages": {"DISK": {"site": "S", "space_free": 1000}},
        "datasets": {
            "data": {"files": [{"lfn": f"f{n}", "size": 1} for n in range(4)], "replicas": {"DISK": {}}},
            "empty": {"files": []},
        },
        "tasks": [{"id": 1, "input": ["data"], "split": {"nFilesPerJob": 1}} | (task or {})],
    }


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    rolled_back.execute("select 1")
    return Calls(rolled_back)


def broker(q: Calls, algorithm: str = "jobs") -> int:
    query = f"call brokerage.broker_{algorithm}('default', p_tasks_a_commit => null)"
    [(run,)] = q.connection.execute(query.encode()).fetchall()
    q.rows("select brokerage.find_reasons('default')")
    return int(run)


def reason(q: Calls) -> tuple[Any, ...]:
    [row] = q.rows("select reason, rule, queue, queues from brokerage.task_reason where setup = 'default'")
    assert q.rows("select reason from monitor.task") == [row[:1]]
    return tuple(row)


def test_the_reason_of_a_task_is_the_same_before_and_after_find_reasons(q: Calls) -> None:
    """Queues that never were candidates, such as those of analysis, do not count."""
    queues = {
        "A": {"status": "offline"}, "B": {"status": "offline"}, "C": {"maxrss": 2000}, "D": {"type": "analysis"},
    }  # fmt: skip
    world.load(q.connection, [_world({"ram_count": 9000, "ram_unit": "MB"}, queues)])
    broker(q)
    assert q.rows("select queue from monitor.verdict where verdict = 'not candidate'") == [("D",)]
    [(after,)] = q.rows("select why from monitor.task")
    assert after.endswith("; queue-status rejected 2 of 3 queues")
    assert q.rows("select most_rule, rejected, places from brokerage.waiting_reason") == [("queue-status", 2, 3)]
    q.rows("delete from brokerage.waiting_reason returning 1")
    assert q.rows("select why from monitor.task") == [(after,)]


@pytest.mark.parametrize(("task", "queues", "expected"), [
    ({}, {"Q": {"status": "offline"}}, ("no_queue_accepts", "queue-status", "Q", 1)),
    ({"ram_count": 9000, "ram_unit": "MB"}, {"A": {"maxrss": 2000}, "B": {"status": "offline"}},
     ("too_large", "memory", "A", 1)),
    ({"ram_count": 9000, "ram_unit": "MB"}, {"A": {"maxrss": 2000}, "B": {"maxrss": 2000}},
     ("too_large", "memory", "A", 2)),
    ({"input": ["empty"]}, {"Q": {}}, ("input_missing", None, None, None)),
    ({"status": "paused"}, {"Q": {}}, ("held", None, None, None)),
    ({"status": "registered"}, {"Q": {}}, ("waiting", None, None, None)),
    ({}, {"Q": {"pilots": {}}}, ("no_queue_accepts", "no-pilot", "Q", 1)),
])  # fmt: skip
def test_a_waiting_task_has_the_reason_of_its_decision(
    q: Calls, task: Row, queues: dict[str, Row], expected: tuple[Any, ...]
) -> None:
    world.load(q.connection, [_world(task, queues)])
    broker(q)
    assert reason(q) == expected


def test_a_task_that_a_task_rule_lets_wait_has_the_reason_of_the_rule(q: Calls) -> None:
    """The rule task-input-scan of panda2026 looks at no nucleus."""
    there = _world({"status": "assigning", "nucleus": None})
    there["datasets"]["data"]["replicas"]["DISK"] = {"lfns": ["f0"]}
    world.load(q.connection, [there])
    q.rows("""select brokerage.set_settings('default', '{"profile": "panda2026"}')""")
    broker(q, "tasks")
    assert q.rows("select status, rule from brokerage.task_decision") == [("pending", "task-input-scan")]
    assert reason(q) == ("input_missing", "task-input-scan", None, None)


def test_the_reason_is_that_of_the_state_of_the_task(q: Calls) -> None:
    """Every label, status, number of jobs, number of assigned jobs, and decision, each with each."""
    q.connection.execute("""
        insert into resource.setup (setup) values ('default') on conflict do nothing;
        insert into workload.task (setup, task_id, label, status)
        select 'default', row_number() over (), label, status
          from unnest(array['managed', 'user', 'panda', null]) label,
               unnest(array['assigning', 'ready', 'scouting', 'running', 'pending', 'paused', 'throttled', 'registered',
                            'merging', 'done', 'exhausted', null]) status, generate_series(1, 20);
        insert into workload.input_digest (setup, task_id, jobs)
        select 'default', task_id, case when task_id % 20 in (1, 2) then 0 else 4 end
          from workload.task where task_id % 20 <> 0;
        insert into brokerage.task_state (setup, task_id, algorithm, assigned_jobs)
        select 'default', task_id, algorithm, task_id % 10 - 3
          from workload.task, unnest(array['production_task', 'production_job', 'analysis_job']) algorithm
         where task_id % 10 > 3;
        insert into brokerage.waiting_reason (setup, task_id, algorithm, run_id, reason, rule)
        select 'default', task_id, algorithm, 1, 'limited', algorithm
          from workload.task, unnest(array['production_task', 'production_job', 'analysis_job']) algorithm
         where task_id % 20 in (1, 3, 5, 15, 17);
    """)
    shown = "setup, task_id, algorithm, reason, jobs_left, rule, queue, queues, run_id"
    defined = """
        select d.setup, d.task_id, d.algorithm,
               case when d.not_open like 'has no jobs%%' then 'input_missing'
                    when d.status = 'paused' then 'held'
                    when d.status = 'throttled' then 'throttled'
                    when d.not_open is null then coalesce(w.reason, 'waiting')
                    else 'waiting' end as reason, d.jobs_left, w.rule, w.queue, w.queues, w.run_id
          from brokerage.task_due_state d
          left join brokerage.waiting_reason w using (setup, task_id, algorithm)
         where d.has_task and (d.status in ('done', 'exhausted')) is not true
           and (d.jobs_left > 0 or d.not_open like 'has no jobs%%')"""
    found = q.rows(f"select {shown} from brokerage.task_reason order by task_id")
    assert found == q.rows(f"select {shown} from ({defined}) x order by task_id")
    assert {row[3] for row in found} == {"held", "input_missing", "limited", "throttled", "waiting"}
    assert len(found) > 400


def test_a_task_that_no_run_decided_waits(q: Calls) -> None:
    world.load(q.connection, [_world(queues={"Q": {"status": "offline"}})])
    assert reason(q) == ("waiting", None, None, None)


def test_a_later_run_replaces_the_reason_of_a_task(q: Calls) -> None:
    world.load(q.connection, [_world(queues={"Q": {"status": "offline"}})])
    broker(q)
    assert reason(q)[0] == "no_queue_accepts"
    assert q.rows("select brokerage.find_reasons('default')") == [(0,)], "each decision once"
    q.connection.execute("update brokerage.task_state set retry_at = null")
    q.connection.execute("update resource.queue set status = 'online'")
    broker(q)
    assert q.rows("select from brokerage.task_reason") == []
    assert q.rows("select from brokerage.waiting_reason") == []


def test_jobs_of_waiting_tasks_are_counted_by_reason(q: Calls) -> None:
    world.load(q.connection, [_world()])
    broker(q)
    count = "select reason, jobs from monitor.waiting_task where task_id = 1 order by 1"
    assert q.rows(count) == [("waiting", 4)]
    q.rows("select * from lifecycle.activate('default')")
    q.rows("select step from taskqueue.find_reasons('default')")
    assert q.rows(count) == [("no_resource_seen", 4)]
    job = q.value("select min(job_id) from taskqueue.job")
    q.call("hold", "job", str(job))
    assert q.rows(count) == [("held", 1), ("no_resource_seen", 3)]
    assert q.rows("select reason from monitor.task") == [("no_resource_seen",)], "the word of the most jobs"


@pytest.mark.parametrize("limit", [0, None])
def test_a_limit_of_zero_or_null_is_refused(q: Calls, limit: int | None) -> None:
    state, text = q.refusal(lambda: q.rows("select brokerage.find_reasons('default', %s)", limit))
    assert (state, text.split(",")[0]) == ("PB001", f"limit is {'null' if limit is None else limit}")


def test_every_rule_with_a_reason_is_a_shipped_rule(q: Calls) -> None:
    [(source,)] = q.rows("select prosrc from pg_proc where proname = 'reason_of_rule'")
    named = {rule for names in source.split("'{")[1:] for rule in names.split("}'")[0].replace("\n", "").split(",")}
    named = {rule.strip() for rule in named}
    assert len(named) > 10
    assert named <= {rule for (rule,) in q.rows("select rule from brokerage.shipped_rule")}


def test_every_reason_has_a_sentence_and_the_page_shows_it(rolled_back: Connection) -> None:
    sentences = rolled_back.execute("select reason, meaning, remedy from monitor.reason").fetchall()
    allowed = rolled_back.execute(
        "select pg_get_constraintdef(c.oid) from pg_constraint c where pg_get_constraintdef(c.oid) ~ '[(]reason = ANY'"
        " and c.conrelid in ('brokerage.waiting_reason'::regclass, 'taskqueue.waiting_reason'::regclass)"
    ).fetchall()
    assert len(allowed) == 2
    kept = {word for (text,) in allowed for word in re.findall(r"'(\w+)'", text)}
    assert kept | set(REASONS) | {"held"} == {reason for reason, _, _ in sentences}
    page = (files("broker") / "docs/how-to/why-not.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", page, re.MULTILINE)
    assert rows == sentences
