"""The first page of a setup: what waits and why, what runs, who gets how much, and what is wrong."""

from collections import defaultdict
from typing import Any, LiteralString

from broker.service.door import Call
from broker.service.pages.alerts import firing
from broker.service.pages.charts import chart
from broker.service.pages.frame import SPANS, over, span_of, table

_WAITING: LiteralString = """
    select owner_group, reason, sum(jobs)::bigint, max(waits + age), max(age)
      from monitor.waiting_by_reason where setup = %s group by owner_group, reason
"""
_LEASES: LiteralString = """
    select state, sum(leases)::bigint, sum(expired)::bigint from monitor.lease_by_site where setup = %s group by state
"""
_GROUPS: LiteralString = """
    select owner_group, share, target, use, waiting, matched + running from monitor.group_use where setup = %s
     order by target desc, owner_group collate "C" limit 12
"""
_TASKS: LiteralString = """
    select reason, count(*), sum(jobs_left)::bigint from brokerage.task_reason where setup = %s group by reason
     order by count(*) desc, reason
"""
_HEALTH: LiteralString = """
    select verdict, area, object, value, cost, remedy from monitor.health where verdict <> 'ok'
     order by verdict = 'problem' desc, area, object
"""
GROUPS = 12
"""Groups that the page shows."""


async def overview(call: Call) -> tuple[str, dict[str, Any]]:
    """What waits and why, what runs, who gets how much, and what is wrong."""
    setup, since = call.setup, span_of(call)
    waiting = await table(call, "owner_group reason jobs waits age", _WAITING, setup)
    by_group: dict[str, dict[str, int]] = defaultdict(dict)
    by_reason: dict[str, int] = defaultdict(int)
    for row in waiting:
        by_group[row["owner_group"]][row["reason"]] = row["jobs"]
        by_reason[row["reason"]] += row["jobs"]
    reasons = sorted(by_reason, key=lambda reason: (-by_reason[reason], reason))
    groups = sorted(by_group, key=lambda group: (-sum(by_group[group].values()), group))
    health = await table(call, "verdict area object value cost remedy", _HEALTH, of_primary=True)
    return "overview", {
        "since": since, "spans": list(SPANS),
        "reasons": reasons, "by_reason": by_reason, "by_group": [(group, by_group[group]) for group in groups[:GROUPS]],
        "groups_left": max(0, len(groups) - GROUPS),
        "waiting": sum(by_reason.values()), "oldest": max((row["waits"] for row in waiting), default=None),
        "age": max((row["age"] for row in waiting), default=None),
        "leases": await table(call, "state leases expired", _LEASES, setup),
        "groups": await table(call, "owner_group share target use waiting leases", _GROUPS, setup),
        "tasks": await table(call, "reason tasks jobs", _TASKS, setup),
        "alerts": await firing(call),
        "health": health, "problems": sum(row["verdict"] == "problem" for row in health),
        "charts": [
            chart("Jobs that wait, by reason", "jobs", await over(call, "jobs_waiting", SPANS[since], "reason")),
            chart("Matches", "jobs a minute", await over(call, "matches", SPANS[since], "owner_group")),
            chart("Ends, by outcome", "jobs a minute", await over(call, "ends", SPANS[since], "outcome")),
        ],
    }  # fmt: skip
