"""Calls of lifecycle and brokerage that can race, on the jobs of one task, one in each state."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from psycopg.types.json import Jsonb

from tests.calls import Calls
from tests.core.concurrency.permutations import Scene
from tests.core.concurrency.serial import Call, Family
from tests.core.lifecycle import grids

AGAIN = Jsonb([{"source": "again"}])


def prepare(scene: Scene) -> None:
    """Part 1 runs; part 2 is leased beyond its time; part 3 failed, to go back; 4 and 5 wait; 6 is made; nobody has 7
    and 8."""
    q = scene.observer
    grids.load(q.connection, q.setup, files=8)
    q.rows("select lifecycle.set_settings(%s, '{}')", q.setup)
    q.rows("select brokerage.set_profile('tried')")
    jobs = grids.make(q.connection, q.setup, "QA", 5)
    grids.activate(q.connection, q.setup)
    jobs += grids.make(q.connection, q.setup, "QA", 1)
    late = q.take(**grids.PLENTY, Site="QA", JobID=jobs[1])
    q.set_clock(grids.NOON + timedelta(minutes=31))
    runs, failed = (q.take(**grids.PLENTY, Site="QA", JobID=jobs[n]) for n in (0, 2))
    q.call_rows("report_job", runs.job_id, runs.attempt)
    rule = {"position": 1, "name": "again", "source": "again", "decision": "retry"}
    q.call("set_retry_rules", Jsonb([rule]))
    q.call("finish_job", failed.job_id, failed.attempt, "failed", AGAIN)
    scene.facts = {"jobs": jobs, "runs": runs, "late": late}


def _rows(query: str, *parts: int) -> Callable[[Calls, Scene], Any]:
    """Call a function with the setup and, if parts are named, their jobs."""

    def call(q: Calls, scene: Scene) -> Any:
        jobs = [[scene.facts["jobs"][part - 1] for part in parts]] if parts else []
        return q.rows(query, q.setup, *jobs)

    return call


def _with(which: str, function: str, *more: Any) -> Call:
    return Call(lambda q, s: q.call(function, s.facts[which].job_id, s.facts[which].attempt, *more))


def _broker(algorithm: str) -> Call:
    """A run and its first part in one transaction; the procedures commit between the two."""
    run = f"brokerage.open_run(%s, '{algorithm}', null, 1, false)"
    return Call(lambda q, _: q.rows(f"select brokerage.broker_next(%s, {run})", q.setup, q.setup), passes=True)


CALLS = {
    "match": Call(lambda q, _: q.match_jobs(20, **grids.PLENTY, Site="QA"), asks=True),
    "match elsewhere": Call(lambda q, _: q.match_jobs(20, **grids.PLENTY, Site="QB"), asks=True),
    "report": _with("runs", "report_job", "transferring"),
    "finish": _with("runs", "finish_job"),
    "fail": _with("runs", "finish_job", "failed"),
    "fail, to go back": _with("runs", "finish_job", "failed", AGAIN),
    "release": _with("runs", "release_job"),
    "late report": _with("late", "report_job"),
    "late finish": _with("late", "finish_job"),
    "cancel of the waiting": Call(_rows("select * from lifecycle.cancel_jobs(%s, %s)", 4, 5, 6)),
    "cancel of the leased": Call(_rows("select * from lifecycle.cancel_jobs(%s, %s)", 2, 1)),
    "cancel of the failed": Call(_rows("select * from lifecycle.cancel_jobs(%s, %s)", 3)),
    "give back": Call(_rows("select lifecycle.give_back(%s)"), passes=True),
    "cancel of the task": Call(lambda q, _: q.rows("select * from lifecycle.cancel_task(%s, 1)", q.setup)),
    "retry": Call(_rows("select * from lifecycle.retry_jobs(%s, %s)", 3)),
    "retry of the task": Call(lambda q, _: q.rows("select * from lifecycle.retry_task(%s, 1)", q.setup)),
    "return to the task": Call(
        lambda q, s: q.rows("select lifecycle.return_to_task(%s, %s, 'test')", q.setup, s.facts["jobs"][3])
    ),
    "activate": Call(lambda q, _: grids.activate(q.connection, q.setup), passes=True),
    "expire": Call(_rows("select * from lifecycle.expire_leases(%s)"), passes=True),
    "timeouts": Call(_rows("select * from lifecycle.watch_timeouts(%s)"), passes=True),
    "fast rebrokerage": Call(_rows("select * from lifecycle.fast_rebroker(%s)"), passes=True),
    "shares": Call(_rows("select lifecycle.measure_shares(%s)"), passes=True),
    "forget": Call(_rows("select lifecycle.forget_ended(%s, 0)"), passes=True),
    "fold": Call(lambda q, _: q.rows("select workload.fold_counts()"), passes=True),
    "maintain": Call(lambda q, _: q.maintain(), passes=True),
    "correct counts": Call(_rows("select workload.correct_counts(%s)"), passes=True),
    "broker": _broker("production_job"),
    "broker tasks": _broker("production_task"),
    "classify": Call(lambda q, _: q.connection.execute("call brokerage.classify(%s)", [q.setup]), passes=True),
    "evaluate": Call(_rows("select brokerage.evaluate_task(%s, 1)"), passes=True),
    "begin a trial": Call(_rows("select brokerage.begin_trial(%s, 'tried', 0.5) > 0")),
    "end the trial": Call(_rows("select brokerage.end_trial(%s) > 0")),
    "configure": Call(
        lambda q, _: q.rows("select resource.set_config(%s, 'NQUEUELIMITSITE_A', '9', 'jobbroker')", q.setup)
    ),
    "remove a timeout": Call(_rows("select lifecycle.remove_timeout(%s, 'sent')")),
    "replica": Call(_rows("select workload.set_replica(%s, 'data', 'DISKA')")),
    "digest": Call(_rows("select workload.digest_input(%s, '{1}')")),
    "store a task": Call(
        lambda q, _: q.rows("select workload.store(%s, 'task', %s)", q.setup, Jsonb([{"task_id": 2}]))
    ),
    "remove the setup": Call(lambda q, _: q.call("remove_setup"), reconfigures=True),
}

# Every job by its part of the task, and the tasks.
_STATE = """
select 'part', coalesce(w.number, 0),
       jsonb_build_array(w.status, w.rebrokered, w.retry_at is null, w.queue, j.attempts, l.attempt, e.outcome)
  from workload.job w
  left join taskqueue.job j using (setup, job_id)
  left join taskqueue.lease l using (setup, job_id)
  left join taskqueue.ended e using (setup, job_id)
 where w.setup = %(s)s
union all
select 'task', t.task_id, jsonb_build_array(t.status) from workload.task t where t.setup = %(s)s
union all
select 'trial', count(*), jsonb_build_array(t.ended_at is null) from brokerage.trial t where t.setup = %(s)s group by 3
"""
# Jobs in two places or in none, statuses that differ from the place, counts that a recount does not give.
_WRONG = """
select 'derived', to_jsonb(c) from taskqueue.check_matching(%(s)s) c
union all select 'without queue', to_jsonb(w) from monitor.job_without_queue w where w.setup = %(s)s
union all select 'in two states', to_jsonb(w) from monitor.job_in_two_states w where w.setup = %(s)s
union all select 'out of step', to_jsonb(w) from monitor.job_out_of_step w where w.setup = %(s)s
union all select 'counts', to_jsonb(w) from workload.count_difference w where w.setup = %(s)s
"""

FAMILY = Family(prepare, CALLS, _STATE, _WRONG)
