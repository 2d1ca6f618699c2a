"""The calls of the schema taskqueue that can race, on jobs in every state, and the state after them."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from psycopg.types.json import Jsonb

from tests.calls import Calls, requirements, resource
from tests.core.concurrency.permutations import Scene
from tests.core.concurrency.serial import Call, Family

ALONE = {"OwnerGroup": "alone", "Sites": ["S"]}
NODE = {"Site": "S", "HostName": "n17"}
TYPED = {"Sites": ["S"], "JobTypes": ["T"]}
JOBS = [
    {"requirements": requirements(**keys), "jobs": [[job_id, 1] for job_id in ids]}
    for ids, keys in (
        ([5], TYPED),
        ([6], {}),
        ([1], ALONE),
        ([2, 3, 4], {"JobTypes": ["T"]}),
        ([7, 8], {"OwnerDN": "bob"}),
        ([9], {"JobTypes": ["long"]}),
    )
]  # fmt: skip
RULES = [
    {"position": 1, "name": "again", "source": "again", "decision": "retry", "elsewhere": "host"},
    {"position": 2, "name": "pause", "source": "pause", "decision": "later", "delay": 1000},
    {"position": 3, "name": "longer", "source": "longer", "decision": "retry", "time_factor": 2},
]


def prepare(scene: Scene) -> None:
    """Job 1 alone in its queue; 2, 3, 4 together; 5 leased by a request; 6 ended; 7 held; 8 held by a rule until
    now; 9 held until its CPUTime changes; a limit at site S; an attribute of the type number; a job that fails with
    the errors again, pause or longer waits again, after again not at its node."""
    q = scene.observer
    q.running_limit("JobTypes", "T", 2)
    q.call("set_attributes", Jsonb({"level": "number"}))
    q.call("insert_jobs", Jsonb(JOBS))
    request = uuid.uuid4()
    lease = q.match(request, **NODE, JobID=5)
    assert lease
    q.call("cancel_job", 6)
    q.call("hold", "job", "7")
    q.call("hold", "job", "8")
    q.rows("update taskqueue.job set not_before = now() where setup = %s and job_id = 8 returning 1", q.setup)
    q.call("set_retry_rules", Jsonb(RULES))
    failed = q.take(JobID=9)
    q.call("finish_job", 9, failed.attempt, "failed", Jsonb([{"source": "longer"}]))
    queue = q.value("select task_queue_id from taskqueue.job where setup = %s and job_id = 1", q.setup)
    scene.facts = {"queue": queue, "attempt": lease.attempt, "request": request, "lease": lease}


def _at_5(function: str, *more: Any) -> Call:
    return Call(lambda q, s: q.call(function, 5, s.facts["attempt"], *more))


def _of_5(function: str, **more: Any) -> Call:
    return Call(lambda q, s: q.call_rows(function, Jsonb([{"job_id": 5, "attempt": s.facts["attempt"], **more}]))[0][1])


def _exchange(q: Calls, s: Scene) -> Any:
    """As the service does: an end and a match in one transaction."""
    [(_, outcome, _)] = q.call_rows("finish_jobs", Jsonb([{"job_id": 5, "attempt": s.facts["attempt"]}]))
    return outcome, [row[0] for row in q.call_rows("match_with_payload", Jsonb(resource(OwnerGroup="alone")))]


def _insert(job_id: int, priority: int = 1, /, **keys: Any) -> Call:
    return Call(lambda q, _: q.insert(job_id, priority, **keys))


def _load(q: Calls, _: Scene) -> Any:
    queues = [
        {"requirements": requirements(JobTypes=["new"]), "jobs": [[15, 1], [16, 2]]},
        {"requirements": requirements(**ALONE), "enabled": False, "jobs": [[17, 1]]},
    ]
    return q.call("load_task_queues", Jsonb(queues))


def _load_leases(q: Calls, _: Scene) -> Any:
    return q.call(
        "load_leases",
        Jsonb(
            [
                {
                    "id": 18, "requirements": requirements(**TYPED), "user_priority": 1, "state": "matched",
                    "attempt": f"1-{'0' * 32}", "site": "S", "role": "somebody", "matched_at": "2026-01-01",
                    "expires_at": "2999-01-01",
                }
            ]
        ),
    )  # fmt: skip


AGENTS = {
    "match of a group": Call(lambda q, _: q.match(OwnerGroup="alone"), asks=True),
    "match of job 1": Call(lambda q, _: q.match(JobID=1), asks=True),
    "match of many": Call(
        lambda q, _: [
            row[1]
            for row in q.call_rows(
                "match_many", Jsonb([{"resources": [resource()], "n": 8}, {"resources": [resource(JobID=1)]}])
            )
        ],
        asks=True,
    ),
    "match of everything": Call(lambda q, _: q.match_jobs(20), asks=True),
    "match at the limit": Call(lambda q, _: q.match_jobs(20, Site="S", JobType="T"), asks=True),
    "match at the node of 5": Call(lambda q, _: q.match_jobs(20, **NODE, JobType="T"), asks=True),
    "look for arrivals": Call(lambda q, _: len(q.call_rows("arrivals", None))),
    "which definitions match": Call(
        lambda q, _: len(q.call_rows("matching_definitions", [1], Jsonb([{"CPUTime": 10**6}])))
    ),
    "match with an attribute": Call(lambda q, _: q.match(OwnerGroup="alone", Attributes={"level": 3}), asks=True),
    "match again": Call(lambda q, s: q.match(s.facts["request"], **NODE, JobID=5) == s.facts["lease"]),
    "report": Call(lambda q, s: q.call_rows("report_job", 5, s.facts["attempt"])),
    "reports": _of_5("report_jobs"),
    "finish": _at_5("finish_job"),
    "fail": _at_5("finish_job", "failed"),
    "fail, to wait again": _at_5("finish_job", "failed", Jsonb([{"source": "again"}])),
    "fail, to wait later": _at_5("finish_job", "failed", Jsonb([{"source": "pause"}])),
    "fail, to become longer": _at_5("finish_job", "failed", Jsonb([{"source": "longer"}])),
    "match of job 9": Call(lambda q, _: q.match(JobID=9), asks=True),
    "finishes": _of_5("finish_jobs"),
    "fails, to wait again": _of_5("finish_jobs", outcome="failed", error=[{"source": "again"}]),
    "exchange": Call(_exchange, passes=True),
    "release": Call(lambda q, s: q.call("release_job", 5, s.facts["attempt"])),
}
SUBMITTERS = {
    "insert of new requirements": _insert(10, JobTypes=["new"]),
    "insert of another with them": _insert(11, JobTypes=["new"]), "insert like 1": _insert(12, **ALONE),
    "insert like 9": _insert(14, CPUTime=5000, JobTypes=["long"]), "insert of 9": _insert(9, CPUTime=5000),
    "insert with clauses": _insert(19, Alternatives=[{"Attributes": {"level": {"min": 2}}}, {"Tags": ["a"]}]),
    "insert like 5": _insert(13, **TYPED), "insert of 1 elsewhere": _insert(1, 9, JobTypes=["T"]),
    "insert of 1 again": _insert(1, 5, **ALONE), "insert of 5": _insert(5), "insert of 6": _insert(6),
    "insert of a batch": Call(lambda q, _: q.insert_many([1, 2, 3, 6, 10, 14], JobTypes=["new"])),
    "insert of that backwards": Call(lambda q, _: q.insert_many([14, 10, 6, 3, 2, 1], 2, JobTypes=["T", "new"])),
    "cancel of 1": Call(lambda q, _: q.call("cancel_job", 1)),
    "cancel of 9": Call(lambda q, _: q.call("cancel_job", 9)),
    "cancel of 5": Call(lambda q, _: q.call("cancel_job", 5)), "delete": Call(lambda q, _: q.call("delete_job", 1)),
}  # fmt: skip


def _summarize(q: Calls, _: Scene) -> object:
    return [
        *q.call_rows("find_reasons"),
        q.call("summarize_waiting"),
        q.value("select brokerage.find_reasons(%s)", q.setup),
        q.value("select history.sample(%s) is null", q.setup),
        q.value("select alert.judge(%s)", q.setup),
        q.rows("select alert.note_sent(%s, '{}') from alert.take_notifications(%s)", q.setup, q.setup),
    ]


def _retry(*job_ids: int) -> Callable[[Calls, Scene], Any]:
    return lambda q, _: q.rows("select answer from lifecycle.retry_jobs(%s, %s::bigint[])", q.setup, list(job_ids))


OPERATORS = {
    "hold of 1": Call(lambda q, _: q.call("hold", "job", "1")),
    "hold of the queue": Call(lambda q, s: q.call("hold", "task_queue", str(s.facts["queue"])), passes=True),
    "resume": Call(lambda q, _: q.call("resume", "job", "7")),
    "hold of 8": Call(lambda q, _: q.call("hold", "job", "8")),
    "resume of 8": Call(lambda q, _: q.call("resume", "job", "8")),
    "hold of 9": Call(lambda q, _: q.call("hold", "job", "9")),
    "resume of 9": Call(lambda q, _: q.call("resume", "job", "9")),
    "resume what is due": Call(lambda q, _: q.call_rows("maintain", True), passes=True),
    "disable": Call(lambda q, s: q.call("set_task_queue_enabled", s.facts["queue"], False), passes=True),
    "delete of the queue if empty": Call(lambda q, s: q.call("delete_queue_if_empty", s.facts["queue"]), passes=True),
    "delete of empty queues": Call(lambda q, _: q.call("delete_empty_queues"), passes=True),
    "recompute": Call(lambda q, _: q.call("recompute_shares"), passes=True),
    "maintain": Call(lambda q, _: q.maintain(), passes=True),
    "summarize": Call(_summarize, passes=True),
    "forget ended": Call(lambda q, _: q.call("forget_ended", timedelta(0)), passes=True),
    "expire": Call(lambda q, _: q.rows("select * from lifecycle.expire_leases(%s)", q.setup), passes=True),
    "retry of 6": Call(_retry(6)),
    "retry of 5 and 6": Call(_retry(6, 5)),
    "load": Call(_load),
    "error classes": Call(
        lambda q, _: q.call("set_error_classes", Jsonb([{"position": 1, "source": "a", "class": "x"}]))
    ),
    "no error classes": Call(lambda q, _: q.call("set_error_classes", Jsonb([]))),
    "one retry rule": Call(lambda q, _: q.call("set_retry_rules", Jsonb(RULES[1:]))),
    "no retry rules": Call(lambda q, _: q.call("set_retry_rules", Jsonb([]))),
}
RECONFIGURING = {
    name: Call(do, reconfigures=True)
    for name, do in {
        "raise the limit": lambda q, _: q.running_limit("JobTypes", "T", 3),
        "lower the limit": lambda q, _: q.running_limit("JobTypes", "T", 1),
        "another limit": lambda q, _: q.running_limit("OwnerDN", "alice", 1),
        "clear the limit": lambda q, _: q.call("clear_limit", "running", "S", None, "JobTypes", "T"),
        "re-bucket": lambda q, _: q.call("set_cpu_buckets", [100000]),
        "rebuild": lambda q, _: q.call("rebuild_matching"),
        "hold of the owner": lambda q, _: q.call("hold", "owner", "alice"),
        "set a group": lambda q, _: q.call("set_group", "users", 5.0),
        "set ten_first": lambda q, _: q.settings(ten_first=True),
        "platforms": lambda q, _: q.call("set_platform_compatibility", "x86_64-el9", ["x86_64-el8"]),
        "attributes of another type": lambda q, _: q.call("set_attributes", Jsonb({"level": "text"})),
        "load of leases": _load_leases,
        "remove the setup": lambda q, _: q.call("remove_setup"),
    }.items()
}
CALLS = {**AGENTS, **SUBMITTERS, **OPERATORS, **RECONFIGURING}

# Every job with its place, and the configuration, as a caller can see them, without chance ids.
_STATE = """
select 'job', j.job_id, jsonb_build_array('waiting', j.attempts, j.failures, j.avoid, j.user_priority, j.held,
                                          j.not_before is null, q.enabled, q.held, d.requirements)
  from taskqueue.job j
  join taskqueue.task_queue q using (setup, task_queue_id)
  join taskqueue.definition d using (setup, definition_id)
 where j.setup = %(s)s
union all
select 'job', l.job_id, jsonb_build_array('leased', l.attempt, l.failures, l.avoid, l.kill_reason)
  from taskqueue.lease l where l.setup = %(s)s
union all
select 'job', e.job_id, jsonb_build_array('ended', e.attempts, e.outcome, e.user_priority, e.site, k.requirements)
  from taskqueue.ended e
  left join taskqueue.kept_definition k using (setup, definition_id)
 where e.setup = %(s)s
union all
select 'limit', null, jsonb_build_array(l.attribute, l.value, l.ceiling)
  from taskqueue.site_limit l where l.setup = %(s)s
union all
select 'group', null, jsonb_build_array(g.owner_group, g.share) from taskqueue.owner_group g where g.setup = %(s)s
union all
select 'owner', null, jsonb_build_array(h.owner_dn) from taskqueue.held_owner h where h.setup = %(s)s
union all
select 'error class', null, jsonb_build_array(c.position, c.class)
  from taskqueue.error_class c where c.setup = %(s)s
union all
select 'retry rule', null, jsonb_build_array(r.position, r.name)
  from taskqueue.retry_rule r where r.setup = %(s)s
union all
select 'attribute', null, jsonb_build_array(a.name, a.type) from taskqueue.attribute a where a.setup = %(s)s
union all
select 'setting', null, jsonb_build_array(t.ten_first) from taskqueue.setting t where t.setup = %(s)s
"""
# Faults that no order may leave behind: derived tables that differ, jobs in no queue, limits exceeded.
_WRONG = """
select 'derived', to_jsonb(c) from taskqueue.check_matching(%(s)s) c
union all
select 'without queue', to_jsonb(w) from monitor.job_without_queue w where w.setup = %(s)s
union all
select 'without requirements', to_jsonb(e)
  from taskqueue.ended e left join taskqueue.kept_definition k using (setup, definition_id)
 where e.setup = %(s)s and k.requirements is null
union all
select 'over the limit', to_jsonb(l)
  from taskqueue.site_limit l
 -- a lowered limit may be exceeded, and loaded leases count, too
 where l.setup = %(s)s and l.ceiling = 2 and 2 < (
       select count(*) from taskqueue.limit_use u where u.setup = l.setup and u.limit_id = l.limit_id and u.job_id < 18)
"""

FAMILY = Family(prepare, CALLS, _STATE, _WRONG, alike=(frozenset({2, 3, 4}),))
