"""The first page of a setup: waiting jobs with their reasons, running jobs, shares, and problems."""

from asyncio import gather
from collections import defaultdict
from typing import Any, LiteralString

from broker.service.endpoint import Call
from broker.service.pages.alerts import firing
from broker.service.pages.charts import chart
from broker.service.pages.frame import SPANS, over, span_of, table

_WAITING: LiteralString = """
    select owner_group, reason, sum(jobs)::bigint as jobs, max(waits + age) as waits, max(age) as age, meaning
      from monitor.waiting_by_reason where setup = %s group by owner_group, reason, meaning
"""
_LEASES: LiteralString = """
    select state, sum(leases)::bigint as leases, sum(expired)::bigint as expired
      from monitor.lease_by_site where setup = %s group by state
"""
_GROUPS: LiteralString = """
    select owner_group, share, target, use, waiting, matched + running as leases
      from monitor.group_use where setup = %s
     order by target desc, owner_group collate "C" limit 12
"""
_TASKS: LiteralString = """
    select reason, meaning, count(*) as tasks, sum(jobs_left)::bigint as jobs
      from brokerage.task_reason join monitor.reason using (reason) where setup = %s group by reason, meaning
     order by count(*) desc, reason
"""
_HEALTH: LiteralString = """
    select verdict, area, object, value, cost, remedy from monitor.health where verdict <> 'ok'
     order by verdict = 'problem' desc, area, object
"""
_CHARTS = (
    ("Jobs that wait, by reason", "jobs", "jobs_waiting", "reason"),
    ("Matches", "jobs a minute", "matches", "owner_group"),
    ("Ends, by outcome", "jobs a minute", "ends", "outcome"),
)
"""Titles and units, and figures by labels."""
GROUPS = 12
"""Groups that the page shows."""


async def overview(call: Call) -> tuple[str, dict[str, Any]]:
    """Waiting jobs with their reasons, running jobs, shares, and problems."""
    setup, since = call.setup, span_of(call)
    tables = gather(
        table(call, _WAITING, setup),
        table(call, _HEALTH, of_primary=True),
        table(call, _LEASES, setup),
        table(call, _GROUPS, setup),
        table(call, _TASKS, setup),
    )
    over_time = over(call, since, [(figure, by) for _, _, figure, by in _CHARTS])
    (waiting, health, leases, by_share, tasks), sampled, alerts = await gather(tables, over_time, firing(call))
    by_group: dict[str, dict[str, int]] = defaultdict(dict)
    by_reason: dict[str, int] = defaultdict(int)
    for row in waiting:
        by_group[row["owner_group"]][row["reason"]] = row["jobs"]
        by_reason[row["reason"]] += row["jobs"]
    reasons = sorted(by_reason, key=lambda reason: (-by_reason[reason], reason))
    groups = sorted(by_group, key=lambda group: (-sum(by_group[group].values()), group))
    return "overview", {
        "since": since, "spans": list(SPANS),
        "reasons": reasons, "by_reason": by_reason, "by_group": [(group, by_group[group]) for group in groups[:GROUPS]],
        "meanings": {row["reason"]: row["meaning"] for row in waiting},
        "groups_left": max(0, len(groups) - GROUPS),
        "waiting": sum(by_reason.values()), "oldest": max((row["waits"] for row in waiting), default=None),
        "age": max((row["age"] for row in waiting), default=None),
        "leases": leases, "groups": by_share, "tasks": tasks, "alerts": alerts,
        "health": health, "problems": sum(row["verdict"] == "problem" for row in health),
        "charts": [chart(title, unit, found) for (title, unit, _, _), found in zip(_CHARTS, sampled, strict=True)],
    }  # fmt: skip
