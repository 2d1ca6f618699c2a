"""What somebody calls who wants to know: where a job is, and why."""

from typing import LiteralString

import msgspec
import psycopg

from broker.service.door import Call
from broker.service.models import Candidate, Condition, Event, Job, Obstacle, Waiting
from broker.service.problems import Problem

_LISTED: LiteralString = (
    "select job_id, status, since, task_id, queue, site, user_name, gshare, priority, created"
    " from monitor.listed_job where setup = %s and job_id = %s"
)
_OWN: LiteralString = (
    "select job_id, state, since, null, null, site, owner_dn, owner_group, user_priority, null, heard_at, attempts,"
    " task_queue_id, why from taskqueue.own_job(%s, %s)"
)
_EVENTS: LiteralString = (
    "select at, attempt, event, site, grid_ce from monitor.job_event where setup = %s and job_id = %s"
    " order by at, attempt, event <> 'matched', event <> 'running'"
)
_OWN_EVENTS: LiteralString = "select at, attempt, event, site, grid_ce from taskqueue.own_job_events(%s, %s)"
_WHY_JOB: LiteralString = (
    "select condition, wanted, failing, seen, last_seen, remark from taskqueue.explain_job(%s, %s)"
)
_WHY_TASK: LiteralString = (
    "select queue, verdict, rank, rule, criteria, reason, weight, factors, all_reasons from brokerage.explain(%s, %s)"
)
_OBSTACLES: LiteralString = "select rule, rejects, fails, opens, example from brokerage.obstacles(%s, %s)"
_WHY_RESOURCE: LiteralString = (
    "select jobs, task_queues, failing, example, wanted, offered from taskqueue.explain_resource(%s, %s::jsonb)"
)


async def job(call: Call) -> Job:
    """Where a job is. A submitter, who may not read the views, sees its own."""
    try:
        rows = await call.rows(_LISTED, call.setup, call.job_id)
    except psycopg.errors.InsufficientPrivilege:
        rows = await call.rows(_OWN, call.setup, call.job_id)
    if not rows:
        raise Problem(404, f"there is no job {call.job_id} in setup {call.setup}", code="PB004")
    return Job(*rows[0])


async def events(call: Call) -> list[Event]:
    """What happened to a job."""
    try:
        rows = await call.rows(_EVENTS, call.setup, call.job_id)
    except psycopg.errors.InsufficientPrivilege:
        rows = await call.rows(_OWN_EVENTS, call.setup, call.job_id)
    return [Event(*row) for row in rows]


async def why_job(call: Call) -> list[Condition]:
    """Why a job waits."""
    return [Condition(*row) for row in await call.rows(_WHY_JOB, call.setup, call.job_id)]


async def why_task(call: Call) -> list[Candidate]:
    """Why the jobs of a task would go to a queue, or not."""
    return [Candidate(*row) for row in await call.rows(_WHY_TASK, call.setup, call.task_id)]


async def obstacles(call: Call) -> list[Obstacle]:
    """What keeps a task from queues, rule by rule."""
    return [Obstacle(*row) for row in await call.rows(_OBSTACLES, call.setup, call.task_id)]


async def why_resource(call: Call) -> list[Waiting]:
    """What waits for a resource, and why it gets nothing."""
    text = msgspec.json.encode(call.body.resource).decode()
    return [Waiting(*row) for row in await call.rows(_WHY_RESOURCE, call.setup, text)]
