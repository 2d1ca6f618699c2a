"""The page of alerts: firing and ended alerts, the rules, and the targets."""

from collections.abc import Mapping
from typing import Any, LiteralString
from urllib.parse import quote

import msgspec

from broker.service.endpoint import Call
from broker.service.pages.frame import BREAKING, address, table
from broker.service.pages.words import sentence

_ALERTS: LiteralString = """
    select a.state, a.severity, a.summary, a.rule, a.labels, r.figure, a.since, a.fired_at, a.ended_at,
           coalesce(s.simulated, now()) - a.since as lasts
      from alert.alert_now a
      join monitor.setup s on s.setup = a.setup
      left join alert.rule_in_force r on r.setup = a.setup and r.rule = a.rule
     where a.setup = %s and a.state = any (%s)
     order by array_position('{firing,pending,ended}', a.state),
              array_position('{critical,warning,info}', a.severity), coalesce(a.ended_at, a.since) desc, a.rule,
              a.labels::text, a.alert_id
     limit 200
"""
_RULES: LiteralString = """
    select r.rule, r.enabled, r.severity, r.condition, r.by_label, r.over, r.lasting, r.origin, r.summary, r.judged_at
      from alert.rule_in_force r where r.setup = %s order by r.enabled desc, r.rule
"""
_TARGETS: LiteralString = """
    select t.target, t.enabled, t.kind, t.address, t.least_severity, t.repeat_after, t.last_sent_at, t.unsent, t.error
      from alert.target_now t where t.setup = %s order by t.target
"""
_STATES = dict.fromkeys(BREAKING, "broken") | {"site_stopped": "stopped"}
_NO_SITES = ("other", "(any site)")
"""The name of the sum of further sites."""


async def firing(call: Call) -> list[dict[str, Any]]:
    """At most 200 firing alerts, the most severe first, each with its words, its site and the page of its subject."""
    rows = await table(call, _ALERTS, call.setup, ["firing"])
    for row in rows:
        labels = msgspec.json.decode(row["labels"])
        title = sentence(row["summary"], next(iter(labels.values()), None)).removesuffix(".")
        row |= {"title": title, "site": labels.get("site"), "page": _page(row["figure"], labels)}
        row["state"] = _STATES.get(row["rule"], row["severity"]) if row["site"] else row["severity"]
    return sorted(rows, key=lambda row: (row["severity"] != "critical", row["state"] != "broken"))


def _page(figure: str | None, labels: Mapping[str, str]) -> str:
    """The page of an alert's subject, below the setup."""
    if labels.get("site") and labels["site"] not in _NO_SITES:
        return f"/sites/{quote(labels['site'])}"
    if "area" in labels:
        return "/health"
    if figure is None or not labels:
        return "/alerts"
    by, only = next(iter(labels.items()))  # a rule has one
    return address("/history", figure=figure, by=by, only=only)


async def alerts(call: Call) -> tuple[str, dict[str, Any]]:
    """Firing, pending and ended alerts, the rules, and, for operators, the targets."""
    rules = await table(call, _RULES, call.setup)
    return "alerts", {
        "firing": await firing(call),
        "judged_at": max((row["judged_at"] for row in rules if row["judged_at"]), default=None),
        "others": await table(call, _ALERTS, call.setup, ["pending", "ended"]),
        "rules": rules,
        "targets": await table(call, _TARGETS, call.setup) if call.caller.role.endswith("operator") else None,
    }  # fmt: skip
