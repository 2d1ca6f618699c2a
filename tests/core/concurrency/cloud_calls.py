"""Calls of the schema instance that can race, with jobs of TaskQueues and with steps of their own."""

from collections.abc import Callable
from typing import Any

from psycopg.types.json import Jsonb

from broker import world
from tests.calls import Calls
from tests.core.concurrency.permutations import Scene
from tests.core.concurrency.serial import Call, Family

TYPES = {"small": {"cpu": 2, "ram": 4096, "price": 1}, "large": {"cpu": 8, "ram": 16384, "price": 3}}


def prepare(scene: Scene) -> None:
    """Jobs 1 to 3 placed at a queue of kind cloud, the first leased; steps of 101 and 102 MB placed, one of 103 not."""
    q = scene.observer
    q.rows("select 1")
    world.load(q.connection, [{"instance_types": TYPES, "queues": {"CLOUD": {"resource_type": "cloud"}}}], q.setup)
    q.insert_many([1, 2, 3], Sites=["CLOUD"], MinRAM=1000)
    steps = [{"task": 1, "cpu": 1, "ram": 101}, {"task": 1, "cpu": 1, "ram": 102}]
    placed = q.value("select instance.add_steps(%s, %s)", q.setup, Jsonb(steps))
    q.rows("call instance.schedule(%s)", q.setup)
    [waiting] = q.value("select instance.add_steps(%s, %s)", q.setup, Jsonb([{"task": 1, "cpu": 1, "ram": 103}]))
    at = "select instance_id from instance.step where setup = %s and {}"
    cloud = q.value(at.format("job_id = 1"), q.setup)
    other = q.value(at.format("ram = 101"), q.setup)
    [lease] = q.rows("select job_id, attempt from instance.match_jobs(%s, %s, 1)", q.setup, cloud)
    scene.facts = {
        "steps": placed, "waiting": waiting, "cloud": cloud, "other": other, "job": lease[0], "attempt": lease[1],
    }  # fmt: skip


def _call(query: str, *facts: str, passes: bool = False, asks: bool = False) -> Call:
    """Call a function with the setup and some facts."""
    do: Callable[[Calls, Scene], Any] = lambda q, s: q.rows(query, q.setup, *(s.facts[name] for name in facts))  # noqa: E731
    return Call(do, asks=asks, passes=passes)


CALLS = {
    "schedule": _call("call instance.schedule(%s, null, false)", passes=True),
    "schedule of the task": _call("select * from instance.schedule_task(%s, 1)", passes=True),
    "match": _call("select job_id from instance.match_jobs(%s, %s, 5)", "cloud", passes=True),
    "match in free space": _call("select job_id from instance.match_jobs(%s, %s, 5, '{}', true)", "cloud", passes=True),
    "match of everything": Call(lambda q, _: q.match_jobs(5, Site="CLOUD"), asks=True),
    "finish": Call(lambda q, s: q.call("finish_job", s.facts["job"], s.facts["attempt"])),
    "release": Call(lambda q, s: q.call("release_job", s.facts["job"], s.facts["attempt"])),
    "cancel": Call(lambda q, _: q.call("cancel_job", 2)),
    "insert": Call(lambda q, _: q.insert(4, Sites=["CLOUD"], MinRAM=1000)),
    "finish of steps": _call("select * from instance.finish_steps(%s, %s)", "steps"),
    "return of steps": _call("select * from instance.return_steps(%s, %s)", "steps"),
    "cancel of steps": _call("select * from instance.cancel_steps(%s, %s)", "steps"),
    "needs": Call(  # PB004, not PB001, where the setup is removed while it waits
        lambda q, s: q.value(
            "select instance.set_needs(%s, %s)", q.setup, Jsonb([{"id": s.facts["waiting"], "cpu": 2}])
        ),
        passes=True,
    ),
    "add": Call(
        lambda q, _: q.rows("select instance.add_steps(%s, %s)", q.setup, Jsonb([{"task": 1, "cpu": 1, "ram": 104}]))
    ),
    "start": _call("select instance.start_instances(%s, array[%s]::bigint[])", "other"),
    "lose": _call("select * from instance.lose_instances(%s, array[%s]::bigint[])", "cloud"),
    "lose the other": _call("select * from instance.lose_instances(%s, array[%s]::bigint[])", "other"),
    "release of empty ones": _call("select instance.release_empty(%s, 1)", passes=True),
    "limit of the task": _call("select instance.set_task_limit(%s, 1, 1)"),
    "forget": _call("select instance.forget_ended(%s)", passes=True),
    "follow": _call("select * from instance.follow_task_queues(%s)", passes=True),
    "expire": _call("select * from lifecycle.expire_leases(%s)", passes=True),
    "remove the setup": Call(lambda q, _: q.call("remove_setup"), reconfigures=True),
}

# Every job and every step; which instance a step is on is the schedule's choice.
_STATE = """
select 'job', j.job_id, jsonb_build_array('waiting', j.attempts) from taskqueue.job j where j.setup = %(s)s
union all
select 'job', l.job_id, jsonb_build_array('leased', l.attempt, l.kill_reason)
  from taskqueue.lease l where l.setup = %(s)s
union all
select 'job', e.job_id, jsonb_build_array('ended', e.attempts, e.outcome) from taskqueue.ended e where e.setup = %(s)s
union all
select 'step', coalesce(s.job_id, s.ram::bigint), jsonb_build_array(s.state) from instance.step s where s.setup = %(s)s
"""
# Jobs in two places or in none, instances over their capacity or with steps that are not counted.
_WRONG = """
select 'derived', to_jsonb(c) from taskqueue.check_matching(%(s)s) c
union all select 'without queue', to_jsonb(w) from monitor.job_without_queue w where w.setup = %(s)s
union all select 'in two states', to_jsonb(w) from monitor.job_in_two_states w where w.setup = %(s)s
union all select 'instance', to_jsonb(w) from monitor.instance_difference w where w.setup = %(s)s
union all select 'over capacity', to_jsonb(i) from instance.instance i
           where i.setup = %(s)s and (i.used_cpu > i.cpu or i.used_ram > i.ram)
"""

FAMILY = Family(prepare, CALLS, _STATE, _WRONG)
