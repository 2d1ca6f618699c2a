"""Pages of the runs of brokers: the decisions, the duration and the rejections of each."""

from typing import Any, LiteralString

from broker.service.endpoint import Call
from broker.service.pages.details import one
from broker.service.pages.frame import after, endpoint, following, table
from broker.service.problems import Problem

ROWS = 20
"""Runs of a page."""
TASKS = 50
"""Tasks of a run on a page."""
STATUSES = ("candidates", "pending", "throttled", "failed", "error")

_RUN: LiteralString = """
    select r.run_id, r.algorithm, r.profile, r.trial, r.dry, r.called_by, r.started_at, r.ended_at,
           extract(epoch from r.ended_at - r.started_at)::float8 as took, r.tasks, r.with_candidates, r.pending,
           r.throttled, r.failed
      from monitor.run r
"""
_RUNS: LiteralString = f"""{_RUN}
     where r.setup = %s and (%s = 0 or r.run_id < %s) and (%s::text is null or r.algorithm = %s)
     order by r.run_id desc limit %s
"""
_ONE: LiteralString = f"{_RUN} where r.setup = %s and r.run_id = %s"
_REJECTIONS: LiteralString = """
    select r.rule, r.criteria, r.pairs, r.estimated
      from monitor.run_rejection r where r.setup = %s and r.run_id = %s order by r.pairs desc, r.rule
"""
_TASKS: LiteralString = """
    select d.task_id, d.status, d.rule, d.reason, d.candidates, d.rejected, d.jobs, d.nucleus, d.retry_at
      from monitor.task_decision d
     where d.setup = %s and d.run_id = %s and d.task_id > %s and (%s::text is null or d.status = %s)
     order by d.task_id limit %s
"""
_ALGORITHMS = ("production_task", "production_job", "analysis_job")


async def runs(call: Call) -> tuple[str, dict[str, Any]]:
    """Runs, the newest first."""
    algorithm, before = _of(call, "algorithm", _ALGORITHMS), after(call)
    rows = await table(call, _RUNS, call.setup, before, before, algorithm or None, algorithm, ROWS + 1)
    return "runs", {
        "runs": rows[:ROWS], "algorithm": algorithm, "algorithms": _ALGORITHMS,
        "following": following(call, rows, ROWS, "run_id"),
    }  # fmt: skip


async def run(call: Call) -> tuple[str, dict[str, Any]]:
    """A run: its rejections by rule, and its tasks."""
    number, status = call.number("run_id"), _of(call, "status", STATUSES)
    known = one(await table(call, _ONE, call.setup, number), "run", number)
    rejections = await table(call, _REJECTIONS, call.setup, number)
    tasks = await table(call, _TASKS, call.setup, number, after(call), status or None, status, TASKS + 1)
    return "run", {
        "run": known, "rejections": rejections, "most": max((row["pairs"] for row in rejections), default=0),
        "all": sum(row["pairs"] for row in rejections), "tasks": tasks[:TASKS], "chosen": status, "statuses": STATUSES,
        "following": following(call, tasks, TASKS, "task_id"),
    }  # fmt: skip


def _of(call: Call, name: str, values: tuple[str, ...]) -> str:
    """A value in the address, or nothing. Raises Problem: 422."""
    text = call.request.query_params.get(name, "")
    if text and text not in values:
        raise Problem(422, f"{name} is {text[:50]!r}", code="PB001", key=name, hint=f"Use {', '.join(values)}.")
    return text


ENDPOINTS = (endpoint("/runs", "Runs of brokers", runs), endpoint("/runs/{run_id:id}", "A run of a broker", run))
