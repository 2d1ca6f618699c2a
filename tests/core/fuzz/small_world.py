"""A small world in which every call of pgbroker finds something: brokered, matched, running and packed jobs."""

from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from broker import world
from broker.laboratory.grid import grid

Connection = psycopg.Connection[Any]
GRID, POOL, CLOUD, EMPTY, OTHER = "grid", "pool", "cloud", "empty", "other"
SETUPS = [GRID, POOL, CLOUD, EMPTY, OTHER]
RESOURCE = {"CPUTime": 10**8, "MaxRAM": 10**6, "NumberOfProcessors": 64, "Tag": "any"}
OWNERS = ["alice", "bob"]
GROUPS = ["g1", "g2"]
SITES = ["S1", "S2"]


def _pool(db: Connection, setup: str) -> None:
    """TaskQueues as DIRAC has them, with groups, limits, leases and ended jobs."""
    db.execute("select taskqueue.set_group(%s, 'g1', 500, true)", [setup])
    db.execute("select taskqueue.set_limit(%s, 'running', 'S1', null, 'JobType', 'User', 5)", [setup])
    db.execute("select taskqueue.set_limit(%s, 'delay', 'S2', 'C1', 'JobType', 'User', 1, 3)", [setup])
    db.execute("select taskqueue.set_platform_compatibility(%s, 'P1', array['P2'])", [setup])
    classes = [
        {"position": 1, "source": "pilot", "code_from": 1, "code_to": 9, "pattern": "no .*space", "class": "disk"}
    ]
    db.execute("select taskqueue.set_error_classes(%s, %s)", [setup, Jsonb(classes)])
    rules = [{"position": 1, "name": "again", "classes": ["disk"], "failures_to": 2, "decision": "later", "delay": 60}]
    db.execute("select taskqueue.set_retry_rules(%s, %s)", [setup, Jsonb(rules)])
    for number in range(30):
        keys = {
            "OwnerDN": OWNERS[number % 2], "OwnerGroup": GROUPS[number % 3 == 0],
            "CPUTime": [400, 4000, 40000][number % 3], "Sites": [SITES[:1], SITES, []][number % 3],
            "Platforms": [["P1"], []][number % 2], "JobTypes": ["User"] if number % 4 == 0 else [],
            "Alternatives": [
                [], [{"TagExpression": "~t"}, {"Sites": ["S2"], "Attributes": {"scratch": {"min": number}}}]
            ][number % 5 == 1],
        }  # fmt: skip
        db.execute("select taskqueue.insert_job(%s, %s, %s, %s)", [setup, 100 + number, Jsonb(keys), number % 10 + 1])
    here = {**RESOURCE, "Site": "S1", "GridCE": "C1", "Attributes": {"scratch": 9.25, "arch": "x86_64"}}
    held = db.execute("select job_id, attempt from taskqueue.match_jobs(%s, %s, 12)", [setup, Jsonb(here)]).fetchall()
    for number, (job, attempt) in enumerate(held):
        if number % 2:
            db.execute("select taskqueue.report_job(%s, %s, %s)", [setup, job, attempt])
        if number % 6 == 1:
            db.execute("select taskqueue.finish_job(%s, %s, %s)", [setup, job, attempt])


def fill(db: Connection) -> None:
    """Fill a fresh database."""
    for role in ("broker_agent", "broker_submitter", "broker_viewer"):
        for setup in (GRID, POOL, CLOUD):
            db.execute("select resource.set_identity(%s, %s)", [setup, role])
    db.execute("select resource.set_identity(%s, 'broker_submitter', true, 'g1', 'alice')", [OTHER])
    world.load(db, [grid(3, queues=9, tasks=12, nuclei=2, user_tasks=3)], GRID)
    types = {"small": {"cpu": 2, "ram": 4096, "price": 1}, "large": {"cpu": 8, "ram": 16384, "price": 3}}
    world.load(db, [{"instance_types": types}], CLOUD)
    slow = {"position": 5, "statuses": ["running"], "clock": "modified", "constant": "3 days", "action": "fail"}
    db.execute("select lifecycle.set_timeout(%s, 'slow', %s)", [GRID, Jsonb(slow)])
    db.execute("select brokerage.set_profile('own', 'documented', 'of our own')")
    db.execute("select brokerage.set_rule('own', 'memory', %s)", [Jsonb({"enabled": False})])
    for procedure in ("broker_tasks", "broker_jobs", "broker_analysis"):
        db.execute(f"call brokerage.{procedure}(%s, p_seed => 1)".encode(), [GRID])
    db.execute("select lifecycle.activate(%s)", [GRID])
    for queue, jobs in db.execute(
        "select distinct queue, count(*) from workload.job where setup = %s group by 1 order by 1", [GRID]
    ).fetchall():
        for job, attempt in db.execute(
            "select job_id, attempt from taskqueue.match_jobs(%s, %s, %s)",
            [GRID, Jsonb({**RESOURCE, "Site": queue}), min(3, jobs)],
        ).fetchall():
            db.execute("select taskqueue.report_job(%s, %s, %s)", [GRID, job, attempt])
    error, used = Jsonb([{"source": "pilot", "code": 1098, "text": "no space"}]), Jsonb({"cpu": 9, "ram": 150})
    db.execute("select taskqueue.finish_job(%s, %s, %s, 'failed', %s, %s, 'n17')", [GRID, job, attempt, error, used])
    for setup in (GRID, POOL):
        db.execute("select taskqueue.set_attributes(%s, %s)", [setup, Jsonb("diracx")])
    _pool(db, POOL)
    steps: list[dict[str, Any]] = [{"cpu": 1, "ram": 500 * n, "task": n % 2} for n in range(1, 7)]
    steps += [{"cpu": 1, "ram": "2 * size", "inputs": {"size": 9}}, {"cpu": 99, "ram": 1}, {}]
    db.execute("select instance.add_steps(%s, %s)", [CLOUD, Jsonb(steps)])
    keys = {"OwnerDN": "alice", "OwnerGroup": "g1", "CPUTime": 400}
    db.execute("select taskqueue.insert_job(%s, 5, %s)", [CLOUD, Jsonb(keys)])
    db.execute("call instance.schedule(%s)", [CLOUD])
    ids = "select array_agg(instance_id) from (select instance_id from monitor.instance order by 1 limit 2) i"
    db.execute(f"select instance.start_instances(%s, ({ids}))".encode(), [CLOUD])
    db.execute("select resource.set_clock(%s, '2026-04-01 12:00+00')", [EMPTY])
    db.execute("analyze")
