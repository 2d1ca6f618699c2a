"""Failures and use are read by index, within bounds: no view and no count reads the history of a setup whole."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls

ENDS = 20_000
FAILED = ENDS // 10
TASKS = 40
WINDOW = 1_000  # in place of the newest 20,000 failures


def load(q: Calls) -> None:
    for group in range(20):
        requirements = Jsonb({"OwnerDN": "ann", "OwnerGroup": f"g{group}", "CPUTime": 500, "MinRAM": 1000})
        q.rows("select taskqueue.insert_job('default', %s, %s, 1)", 10 * ENDS + group, requirements)
    q.connection.execute(
        f"""
        insert into workload.task (setup, task_id, label, status) select 'default', t, 'managed', 'running'
          from generate_series(0, {TASKS - 1}) t;
        insert into taskqueue.ended (setup, job_id, attempts, task_queue_id, definition_id, user_priority, outcome,
                                     ended_at)
        select 'default', g, 1, 1, (select min(d.definition_id) from taskqueue.definition d) + g % 20, 1,
               case when g % 10 = 0 then 'failed' else 'finished' end,
               now() - ({ENDS} - g) * interval '2 s'
          from generate_series(1, {ENDS}) g;
        insert into workload.job (setup, job_id, task_id, number, status, ended)
        select 'default', job_id, job_id / 10 % {TASKS}, job_id, outcome, ended_at from taskqueue.ended;
        insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, site, role_name,
                                       host, error, error_class, cpu_used, ram_used)
        select 'default', e.ended_at - m.ago, e.job_id, 1, m.event, 1,
               e.definition_id, 'S' || e.job_id / 10 % 100,
               'x', f.host, case when f.failed then '[{{"source": "pilot", "code": 7}}]'::jsonb end,
               case when f.failed then 'payload' end, f.cpu, f.ram
          from taskqueue.ended e
         cross join lateral (values (e.outcome, interval '0'), ('matched', interval '1 hour')) m (event, ago)
         cross join lateral (select m.event = 'failed' as failed, case when m.event <> 'matched' then 'n1' end as host,
                                    case when m.event <> 'matched' then 10 end as cpu,
                                    case when m.event <> 'matched' then 2000 end as ram) f
         order by e.job_id;
        """.encode()
    )


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


def read(q: Calls, query: str, *values: Any) -> tuple[dict[str, float], set[str]]:
    """The rows that a query reads of each table, all partitions together, and the tables that it reads whole."""
    [(found,)] = q.rows(f"explain (analyze, format json) {query}", *values)
    rows: dict[str, float] = {}
    whole = set()
    for node in nodes(found[0]["Plan"]):
        table = node.get("Relation Name", "")
        table = "history" if table.startswith("history_") else table
        count = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
        rows[table] = rows.get(table, 0) + node["Actual Loops"] * count
        if "Seq" in node["Node Type"] and node["Actual Loops"] and count > 100:
            whole.add(table)
    return rows, whole


ORDER = "at desc, job_id desc, attempt_number desc"
PAGE = f"select * from monitor.failure where setup = 'default' order by {ORDER} limit 51"


@pytest.mark.parametrize(
    ("query", "most"),
    [
        (PAGE, {"history": 60, "job": 60}),
        (PAGE.replace("order", "and at > now() - interval '1 hour' order"), {"history": 60}),
        ("select * from monitor.failure where setup = 'default' and job_id = 500", {"history": 5}),
        ("select * from monitor.use_by_group where setup = 'default'", {"ended": 10_000, "history": 10_000, "job": 0}),
        ("select * from monitor.use_by_task where setup = 'default' and task_id = 7", {"job": 1000, "history": 1000}),
    ],
    ids=["page", "hour", "job", "group", "task"],
)  # fmt: skip
def test_a_view_reads_what_it_shows(full: Calls, query: str, most: dict[str, int]) -> None:
    rows, whole = read(full, query)
    assert whole == set()
    assert {table: rows.get(table, 0) for table in most if rows.get(table, 0) > most[table]} == {}


def statement(q: Calls) -> str:
    """The query of history.failures with a small window, for a prepared statement."""
    body: str = q.value("select prosrc from pg_proc where oid = 'history.failures'::regproc")
    query = body.partition("return query")[2].partition(";")[0]
    names = {"c_window": str(WINDOW), "v_now": "now()", "v_since": "$1", "v_task": "$2", "p_by": "$3", "p_only": "$4",
             "p_setup": "'default'", "p_since": "null::timestamptz", "p_limit": "20"}  # fmt: skip
    for name, value in names.items():
        query = query.replace(name, value)
    return query


@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
@pytest.mark.parametrize(
    ("only", "task", "most"),
    # A merge of the days reads the first row of each. The jobs of a task are read by id in the partition of a day, and
    # by the minute around their ends in a small partition: those before midnight.
    [({}, None, WINDOW + 2), ({"site": "no such"}, None, WINDOW + 2), ({}, 7, 7 * FAILED / TASKS)],
)
def test_failures_are_counted_within_a_window(
    full: Calls, mode: str, only: dict[str, str], task: int | None, most: float
) -> None:
    full.connection.execute(f"set plan_cache_mode = {mode}".encode())
    full.connection.execute(f"prepare counted (timestamptz, bigint, text[], jsonb) as {statement(full)}".encode())
    since = "'-infinity'" if task else "now() - interval '10 hours'"
    given = f"{since}, {task or 'null'}, '{{error}}', '{json.dumps(only)}'"
    rows, whole = read(full, f"execute counted ({given})")
    assert whole == set()
    assert 0 < rows["history"] <= most
