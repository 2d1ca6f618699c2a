"""The page of alerts: what fires, what ended, the rules, and whom alerts are sent to."""

from typing import Any, LiteralString

from broker.service.door import Call
from broker.service.pages.frame import table

_ALERTS: LiteralString = """
    select a.state, a.severity, a.summary, a.rule, a.labels, a.labels ->> 'site', a.since, a.fired_at, a.ended_at
      from alert.alert_now a where a.setup = %s and a.state = any (%s)
     order by array_position('{firing,pending,ended}', a.state),
              array_position('{critical,warning,info}', a.severity), coalesce(a.ended_at, a.since) desc, a.rule,
              a.labels::text, a.alert_id
     limit 200
"""
_RULES: LiteralString = """
    select r.rule, r.enabled, r.severity, r.condition, r.by_label, r.over, r.lasting, r.origin, r.summary
      from alert.rule_in_force r where r.setup = %s order by r.enabled desc, r.rule
"""
_TARGETS: LiteralString = """
    select t.target, t.enabled, t.kind, t.address, t.least_severity, t.repeat_after, t.last_sent_at, t.unsent, t.error
      from alert.target_now t where t.setup = %s order by t.target
"""
_COLUMNS = "state severity summary rule labels site since fired_at ended_at"


async def firing(call: Call) -> list[dict[str, Any]]:
    """What fires, the most severe first, at most 200."""
    return await table(call, _COLUMNS, _ALERTS, call.setup, ["firing"])


async def alerts(call: Call) -> tuple[str, dict[str, Any]]:
    """What fires, is pending and ended, the rules, and for operators the targets."""
    targets = "target enabled kind address least_severity repeat_after last_sent_at unsent error"
    return "alerts", {
        "firing": await firing(call),
        "others": await table(call, _COLUMNS, _ALERTS, call.setup, ["pending", "ended"]),
        "rules": await table(call, "rule enabled severity condition by_label over lasting origin summary", _RULES,
                             call.setup),
        "targets": await table(call, targets, _TARGETS, call.setup) if call.caller.role.endswith("operator") else None,
    }  # fmt: skip
