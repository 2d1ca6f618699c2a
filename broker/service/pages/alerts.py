"""The page of alerts: firing and ended alerts, the rules, and the targets."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, LiteralString
from urllib.parse import quote

import msgspec

from broker.service.endpoint import Call
from broker.service.pages.charts import Limit
from broker.service.pages.frame import BREAKING, address, table
from broker.service.pages.words import number, sentence
from broker.words import span

_ALERTS: LiteralString = """
    select a.state, a.severity, a.summary, a.rule, a.labels, r.figure, a.since, a.fired_at, a.ended_at,
           a.silent_until, a.began_at, coalesce(s.simulated, now()) - coalesce(a.began_at, a.since) as lasts, a.usual,
           f.unit = 'fraction' or r.per_figure is not null as is_part, f.unit
      from alert.alert_now a
      join monitor.setup s on s.setup = a.setup
      left join alert.rule_in_force r on r.setup = a.setup and r.rule = a.rule
      left join history.figure f on f.figure = r.figure
     where a.setup = %s and a.state = any (%s)
     order by array_position('{firing,pending,ended}', a.state),
              array_position('{critical,warning,info}', a.severity), coalesce(a.ended_at, a.since) desc, a.rule,
              a.labels::text, a.alert_id
     limit 200
"""
_OF_SUBJECT: LiteralString = """
    select a.labels ->> %s as subject, a.rule, r.figure, r.per_figure, a.began_at, a.since, a.ended_at
      from alert.alert_now a join alert.rule_in_force r on r.setup = a.setup and r.rule = a.rule
     where a.setup = %s and a.labels ->> %s = coalesce(%s, a.labels ->> %s) and a.state <> 'pending'
     order by a.since desc limit 100
"""
_LIMITS: LiteralString = """
    select r.figure, r.labels, r.by_label, r.per_figure, r.per_labels, coalesce(r.above, r.below) as value,
           r.above is not null as is_above, r.lasting
      from alert.rule_in_force r where r.setup = %s and r.enabled order by coalesce(r.above, r.below), r.rule
"""
_RULES: LiteralString = """
    select r.rule, r.enabled, r.severity, r.condition, r.by_label, r.over, r.lasting, r.origin, r.summary, r.judged_at
      from alert.rule_in_force r where r.setup = %s order by r.enabled desc, r.rule
"""
_TARGETS: LiteralString = """
    select t.target, t.enabled, t.kind, t.address, t.least_severity, t.repeat_after, t.last_sent_at, t.unsent, t.error
      from alert.target_now t where t.setup = %s order by t.target
"""
_BEGINNINGS = {**dict.fromkeys(BREAKING, "failures begin"), "site_stopped": "the last job ends"}
_STATES = dict.fromkeys(BREAKING, "broken") | {"site_stopped": "stopped"}
_NO_SITES = ("other", "(any site)")
"""The name of the sum of further sites."""


async def firing(call: Call) -> list[dict[str, Any]]:
    """At most 200 firing alerts, the most severe first, each with its words, its site and the page of its subject."""
    rows = await table(call, _ALERTS, call.setup, ["firing"])
    for row in rows:
        labels = msgspec.json.decode(row["labels"])
        title = sentence(row["summary"], next(iter(labels.values()), None)).removesuffix(".")
        row |= {
            "title": title, "site": labels.get("site"), "page": _page(row["figure"], labels), "usually": _usually(row),
            "begins": _BEGINNINGS.get(row["rule"], "it begins"),
        }  # fmt: skip
        row["state"] = _STATES.get(row["rule"], row["severity"]) if row["site"] else row["severity"]
    return sorted(rows, key=lambda row: (row["severity"] != "critical", row["state"] != "broken"))


def _usually(row: Mapping[str, Any]) -> str | None:
    """The value of the alert's rule before, in words."""
    if row["usual"] is None or row["unit"] is None:  # no value, or no rule any more
        return None
    return f"{number(100 * row['usual'])} %" if row["is_part"] else f"{number(row['usual'])} {row['unit']}"


Event = tuple[datetime, str]
"""An event in a chart: its time and its words."""


async def events(call: Call, by: str, only: str | None = None) -> dict[tuple[str, str], list[Event]]:
    """The newest alerts by a label, or of one of its values: when their causes began, and when they began and ended. By
    the value of the label and the figure that is judged.
    """
    found: dict[tuple[str, str], list[Event]] = {}
    for row in await table(call, _OF_SUBJECT, by, call.setup, by, only, by):
        began = row["began_at"] and (row["began_at"], _BEGINNINGS.get(row["rule"], "it begins"))
        of = [began, (row["since"], "alert"), row["ended_at"] and (row["ended_at"], "the alert ends")]
        for figure in {row["figure"], row["per_figure"]} - {None}:
            shown = found.setdefault((row["subject"], figure), [])
            shown += [one for one in of if one and one not in shown]
    return found


async def limits(call: Call) -> list[dict[str, Any]]:
    """The rules that are judged, those with the lowest thresholds first."""
    return await table(call, _LIMITS, call.setup)


def limit(
    rules: Sequence[Mapping[str, Any]], figure: str, by: str, *, labels: Mapping[str, str] | None = None,
    per: str | None = None, unit: str = "%", times: float = 1.0,
) -> Limit | None:  # fmt: skip
    """The lowest threshold of the rules that judge the figure of a chart by a label, or its part of another figure.
    times: the factor from the unit of the rule to that of the chart.
    """
    for row in rules:
        if (row["figure"], row["by_label"], row["per_figure"]) != (figure, by, per) or row["value"] <= 0:
            continue
        if msgspec.json.decode(row["labels"]) != (labels or {}) or msgspec.json.decode(row["per_labels"]):
            continue
        value = times * row["value"]
        shown = f"{number(100 * value)} %" if unit == "%" else f"{number(value)} {unit}"
        after = f" after {span(row['lasting'])}" if row["lasting"] else ""
        return Limit(value, f"{'' if row['is_above'] else 'below '}{shown}: an alert{after}")
    return None


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
