"""The first page of a setup: alerts, waiting jobs with their reasons, running jobs, shares, and what is wrong."""

from asyncio import gather
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, LiteralString

from broker.listed import REASONS
from broker.service.endpoint import Call
from broker.service.pages.alerts import firing
from broker.service.pages.charts import FIXED, Sampled, Series, chart, spark
from broker.service.pages.details import SITES, TROUBLE, with_trouble
from broker.service.pages.frame import FRESHNESS, SPANS, over, span_of, table

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
      from monitor.group_share where setup = %s
     order by use - target desc nulls last, owner_group collate "C" limit 8
"""
_TASKS: LiteralString = """
    select reason, meaning, count(*) as tasks, sum(jobs_left)::bigint as jobs
      from brokerage.task_reason join monitor.reason using (reason) where setup = %s group by reason, meaning
     order by reason in ('waiting', 'throttled'), count(*) desc, reason
"""
_HEALTH: LiteralString = """
    select verdict, area, object, value, cost, remedy from monitor.health where verdict <> 'ok'
     order by verdict = 'problem' desc, area, object
"""
_LIMIT: LiteralString = """
    select l.limit_id, l.site, l.jobs from monitor.site_limit l
     where l.setup = %s and l.reached order by l.jobs desc nulls last limit 1
"""
_CHANGES: LiteralString = """
    select c.change_id, c.object, c.name, c.before, c.after, coalesce(c.subject, c.role_name) as by, c.at
      from monitor.change c where c.setup = %s order by c.change_id desc limit 4
"""
_CHARTS = (
    ("Jobs that wait", "jobs", "jobs_waiting", "reason"),
    ("Matches", "jobs a minute", "matches", "owner_group"),
    ("Ends", "jobs a minute", "ends", "outcome"),
    ("Leases", "jobs", "leases", "state"),
)
"""Titles and units, and figures by labels."""
GROUPS = 12
"""Groups that the page shows."""
_SITES_SHOWN = 6
_EVENTS = 3  # maximal number of sites whose trouble begins in the chart of ends


async def overview(call: Call) -> tuple[str, dict[str, Any]]:
    """Alerts, waiting jobs with their reasons, running jobs, shares, the worst sites, and stuck tasks."""
    setup, since = call.setup, span_of(call)
    is_operator = call.caller.role.endswith("operator")
    tables = gather(
        table(call, _WAITING, setup),
        table(call, _HEALTH, of_primary=True),
        table(call, _LEASES, setup),
        table(call, _GROUPS, setup),
        table(call, _TASKS, setup),
        table(call, _LIMIT, setup),
        table(call, SITES, *[setup] * 6),
        table(call, FRESHNESS, setup),
        table(call, _CHANGES, setup) if is_operator else _nothing(),
    )
    over_time = over(call, since, [(figure, by) for _, _, figure, by in _CHARTS])
    found, sampled, alerts = await gather(tables, over_time, firing(call))
    waiting, health, leases, by_share, tasks, limits, sites, [fresh], changed = found
    by_group: dict[str, dict[str, int]] = defaultdict(dict)
    by_reason: dict[str, int] = defaultdict(int)
    for row in waiting:
        by_group[row["owner_group"]][row["reason"]] = row["jobs"]
        by_reason[row["reason"]] += row["jobs"]
    reasons = sorted(by_reason, key=lambda reason: (-by_reason[reason], reason))
    groups = sorted(by_group, key=lambda group: (-sum(by_group[group].values()), group))
    ends = _ends(sampled[2])
    began = [
        (row["began_at"], f"{row['site']}: {row['begins']}")
        for row in alerts if row["began_at"] and row["state"] in TROUBLE
    ][:_EVENTS]  # fmt: skip
    return "overview", {
        "since": since, "spans": list(SPANS), "fresh": fresh,
        "reasons": reasons, "by_reason": by_reason, "by_group": [(group, by_group[group]) for group in groups[:GROUPS]],
        "colours": {reason: FIXED.get(reason, 8) for reason in REASONS},
        "most": max((sum(of.values()) for of in by_group.values()), default=0),
        "meanings": {row["reason"]: row["meaning"] for row in waiting},
        "groups_left": max(0, len(groups) - GROUPS),
        "waiting": sum(by_reason.values()), "oldest": max((row["waits"] for row in waiting), default=None),
        "age": max((row["age"] for row in waiting), default=None),
        "leases": {row["state"]: row for row in leases}, "groups": by_share, "limit": limits[0] if limits else None,
        "tasks": [row for row in tasks if row["reason"] not in ("waiting", "throttled")],
        "others": sum(row["tasks"] for row in tasks if row["reason"] in ("waiting", "throttled")),
        "alerts": alerts, "sites": with_trouble(sites, alerts)[:_SITES_SHOWN], "sites_in_all": len(sites),
        "health": health, "problems": sum(row["verdict"] == "problem" for row in health),
        "ends": ends, "matches": _last(sampled[1]) if sampled[1] or not fresh["is_sampled"] else 0, "changed": changed,
        "sparks": {name: spark(of, number) for name, of, number in (
            ("waiting", sampled[0], 1), ("matches", sampled[1], 3), ("leases", sampled[3], 1),
            ("failed", _failing(sampled[2]), 6))},
        "charts": [
            (figure, chart(title, unit, of, by=by, stacked=by == "reason", events=began if figure == "ends" else ()))
            for (title, unit, figure, by), of in zip(_CHARTS[:3], sampled, strict=False)
        ],
    }  # fmt: skip


async def _nothing() -> list[dict[str, Any]]:
    return []


def _last(found: Sampled | None) -> float | None:
    """The sum of all lines at the end; None without lines."""
    return sum(one.values[-1] for one in found.series) if found else None


def _ends(found: Sampled | None) -> Mapping[str, float] | None:
    """The part of failures among ends: within the last eighth of the span, and in all of it. None without ends."""
    if found is None:
        return None
    of = {one.label: one.values for one in found.series}
    failed, finished = of.get("failed", []), of.get("finished", [])
    last = max(1, len(found.spans) // 8)
    now, usual = _part(failed[-last:], finished[-last:]), _part(failed, finished)
    return None if now is None or usual is None else {"now": now, "usual": usual}


def _failing(found: Sampled | None) -> Sampled | None:
    """The failed part of the ends of each span."""
    if found is None:
        return None
    of = {one.label: one.values for one in found.series}
    none = [0.0] * len(found.spans)
    ends = zip(of.get("failed", none), of.get("finished", none), strict=True)
    parts = [_part([failed], [finished]) or 0.0 for failed, finished in ends]
    return replace(found, series=[Series("failed", parts, max(parts, default=0.0))])


def _part(failed: Sequence[float], finished: Sequence[float]) -> float | None:
    whole = sum(failed) + sum(finished)
    return sum(failed) / whole if whole else None
