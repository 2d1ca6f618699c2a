"""Endpoints for viewers: the place of a job, and the reason why it waits."""

from typing import LiteralString

import msgspec
import psycopg

from broker.service.agents import described
from broker.service.endpoint import Call
from broker.service.models import Candidate, Condition, Event, Job, KeptDifference, Obstacle, Waiting
from broker.service.problems import Problem

_LISTED: LiteralString = (
    "select j.job_id, j.status, j.since, j.task_id, j.queue, j.site, j.user_name, j.gshare, j.priority, j.created,"
    " null, null, null, (select w.reason from monitor.waiting_job w where w.setup = j.setup and w.job_id = j.job_id)"
    " from monitor.listed_job j where j.setup = %s and j.job_id = %s"
)
_OWN: LiteralString = (
    "select job_id, state, since, null, null, site, owner_dn, owner_group, user_priority, null, heard_at, attempts,"
    " task_queue_id, reason, why from taskqueue.own_job(%s, %s)"
)
_OF_EVENT: LiteralString = (
    "at, attempt_number, event, site, grid_ce, host, error_class, error_text, cpu_used, wall_used, ram_used,"
    " cores_used, retry_rule, passive_rule, failures, why"
)
_EVENTS: LiteralString = (
    f"select {_OF_EVENT} from monitor.job_event where setup = %s and job_id = %s"
    " order by at, attempt_number, event <> 'matched', event <> 'running'"
)
_OWN_EVENTS: LiteralString = f"select {_OF_EVENT} from taskqueue.own_job_events(%s, %s)"
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
_WHAT_IF: LiteralString = (
    "select what_if_id, asked_at, asked_by, change, difference from monitor.what_if"
    " where setup = %s and what_if_id = %s"
)


async def what_if(call: Call) -> KeptDifference:
    """A kept what-if: the effect that a change would have had at that time."""
    number = call.number("what_if_id")
    rows = await call.rows(_WHAT_IF, call.setup, number)
    if not rows:
        fault, hint = f"there is no what-if {number} in setup {call.setup}", "The last 100 of a setup are kept."
        raise Problem(404, fault, code="PB004", hint=hint)
    return KeptDifference(*rows[0])


async def job(call: Call) -> Job:
    """The place of a job. A submitter, who may not read the views, sees its own jobs."""
    try:
        rows = await call.rows(_LISTED, call.setup, call.job_id)
    except psycopg.errors.InsufficientPrivilege:
        rows = await call.rows(_OWN, call.setup, call.job_id)
    if not rows:
        raise Problem(404, f"there is no job {call.job_id} in setup {call.setup}", code="PB004")
    return Job(*rows[0])


async def events(call: Call) -> list[Event]:
    """The events of a job."""
    try:
        rows = await call.rows(_EVENTS, call.setup, call.job_id)
    except psycopg.errors.InsufficientPrivilege:
        rows = await call.rows(_OWN_EVENTS, call.setup, call.job_id)
    return [Event(*row) for row in rows]


async def why_job(call: Call) -> list[Condition]:
    """Why a job waits."""
    return [Condition(*row) for row in await call.rows(_WHY_JOB, call.setup, call.job_id)]


async def why_task(call: Call) -> list[Candidate]:
    """The reasons why the jobs of a task would or would not go to a queue."""
    return [Candidate(*row) for row in await call.rows(_WHY_TASK, call.setup, call.number("task_id"))]


async def obstacles(call: Call) -> list[Obstacle]:
    """The obstacles that keep a task from queues, rule by rule."""
    return [Obstacle(*row) for row in await call.rows(_OBSTACLES, call.setup, call.number("task_id"))]


async def why_resource(call: Call) -> list[Waiting]:
    """The jobs that wait for a resource, and the reasons why it does not get them."""
    text = msgspec.json.encode(described("resource", call.body.resource)).decode()
    return [Waiting(*row) for row in await call.rows(_WHY_RESOURCE, call.setup, text)]
