"""Calls of agents, and looks at one job, find their rows by keys among 20,000 jobs."""

import pytest

from tests.calls import Calls

JOBS = 20_000
FIRST = 10**12
TOKEN = "00000000-0000-0000-0000-000000000000"
ATTEMPT = f"1-{TOKEN.replace('-', '')}"
HOT = {
    ("workload", "job"), ("workload", "job_history"), ("workload", "task"), ("taskqueue", "job"),
    ("taskqueue", "lease"), ("taskqueue", "ended"), ("taskqueue", "definition"), ("taskqueue", "limit_use"),
}  # fmt: skip

WAIT = """
    select taskqueue.open_task_queues('default', array_agg(made_one))
      from (select jsonb_build_object('OwnerDN', 'ann', 'OwnerGroup', 'g', 'CPUTime', 500,
                                      'Sites', array[queue]) as requirements,
                   array_agg(job_id) as ids, array_agg(1) as priorities
              from workload.job where status = 'activated' group by queue) s
     cross join lateral taskqueue.place_jobs('default', taskqueue.canonical_requirements('default', s.requirements),
                                             s.ids, s.priorities) p
     cross join unnest(p.made) made_one
"""


def load(q: Calls) -> None:
    requirements = '{"OwnerDN": "ann", "OwnerGroup": "g", "CPUTime": 500}'
    q.rows("select taskqueue.insert_job('default', 1, %s, 1)", requirements)
    q.connection.execute(
        f"""
        insert into workload.task (setup, task_id, label, status) select 'default', t, 'managed', 'running'
          from generate_series(1, 200) t;
        insert into workload.job (setup, job_id, task_id, number, queue, gshare, label, status, priority, cores,
                                  created, modified, state_changed, activated, started)
        select 'default', {FIRST} + g, 1 + g % 200, g / 200, 'Q' || g % 400, 'S' || g % 5, 'managed',
               (array['running', 'sent', 'activated', 'assigned'])[1 + g % 4], 500, 1, now(), now(), now(), now(), now()
          from generate_series(1, {JOBS}) g;
        insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, state,
                                     role_name, matched_at, expires_at, brokered)
        select j.setup, j.job_id, 1, '{TOKEN}', 0, d.definition_id, 1,
               case j.status when 'sent' then 'matched' else 'running' end, session_user, now(),
               now() + interval '2 hours', true
          from workload.job j cross join taskqueue.definition d
         where j.status in ('running', 'sent');
        """.encode()
    )
    q.rows("select workload.correct_counts('default')")
    q.rows(WAIT)
    q.connection.execute("update taskqueue.job set brokered = true where job_id > 1")
    q.rows("select workload.fold_counts()")


RUNNING, SENT, WAITING, ASSIGNED = (FIRST + JOBS // 2 + n for n in (0, 1, 2, 3))
CALLS = {
    "a report": f"select * from taskqueue.report_job('default', {RUNNING}, '{ATTEMPT}', 'transferring')",
    "a heartbeat": f"select * from taskqueue.report_job('default', {RUNNING}, '{ATTEMPT}', null)",
    "the first report": f"select * from taskqueue.report_job('default', {SENT}, '{ATTEMPT}')",
    "reports": "select * from taskqueue.report_jobs('default', '[{}]')".format(
        f'{{"job_id": {RUNNING}, "attempt": "{ATTEMPT}", "status": "holding"}}'
    ),
    "an end": f"select taskqueue.finish_job('default', {RUNNING}, '{ATTEMPT}')",
    "ends": f"""select * from taskqueue.finish_jobs('default', '[{{"job_id": {SENT}, "attempt": "{ATTEMPT}"}}]')""",
    "given back": f"select taskqueue.release_job('default', {SENT}, '{ATTEMPT}')",
    "a match": """select * from taskqueue.match_job('default', '{"CPUTime": 1000000, "Site": "Q2"}')""",
    "cancelled while it waits": f"select * from lifecycle.cancel_jobs('default', array[{WAITING}])",
    "cancelled before it waits": f"select * from lifecycle.cancel_jobs('default', array[{ASSIGNED}])",
    "kill asked": f"select * from lifecycle.cancel_jobs('default', array[{RUNNING}])",
    "back to its task": f"select lifecycle.return_to_task('default', {ASSIGNED}, 'test')",
    "why": f"select * from lifecycle.explain_timeouts('default', {RUNNING})",
    "looked at": f"select * from monitor.brokered_job where setup = 'default' and job_id = {RUNNING}",
    "its history": f"select * from monitor.job_history where setup = 'default' and job_id = {RUNNING}",
}
MOST = 40  # rows of a table that one call reads, by keys or not


def rows_read(q: Calls, call: str) -> dict[tuple[str, str], int]:
    """The number of rows that a call reads of each table."""
    counted = """
        select schemaname, relname, coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0) from pg_stat_xact_user_tables
    """
    before = {(schema, table): rows for schema, table, rows in q.rows(counted)}
    assert q.rows(call) or "history" in call
    after = {(schema, table): rows for schema, table, rows in q.rows(counted)}
    return {table: rows - before[table] for table, rows in after.items() if rows > before[table]}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_call_reads_a_handful_of_rows(full: Calls, call: str) -> None:
    if "match_job" in call:
        full.rows(call)  # makes the description known
    read = rows_read(full, call)
    assert read.keys() & HOT or "history" in call
    assert {table for table, rows in read.items() if rows > MOST and table in HOT} == set(), read


@pytest.mark.parametrize("old", [0, 5])
def test_old_jobs_are_found_by_the_times_of_their_ends(full: Calls, old: int) -> None:
    full.rows(
        """
        with made as (
          insert into workload.job (setup, job_id, task_id, number, status, ended)
          select 'default', 1000 + n, 1000, n, 'finished', now() - interval '60 days' from generate_series(1, %s) n
          returning 1)
        select count(*) from made
        """,
        old,
    )
    read = rows_read(full, "select lifecycle.forget_ended('default')")
    assert full.value("select count(*) from workload.job where task_id = 1000") == 0
    assert read.get(("workload", "job"), 0) <= MOST, read
