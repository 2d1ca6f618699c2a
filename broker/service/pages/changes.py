"""Changes that pages ask for: settings, limits, quarantines, configuration, parameters of rules."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any, LiteralString
from urllib.parse import quote, unquote

from broker import acts
from broker.json_text import json_text, parse_or_text
from broker.service.endpoint import Call
from broker.service.pages.action import Action, Field, Statement, Thing
from broker.service.pages.details import one
from broker.service.pages.frame import table
from broker.service.pages.words import moment
from broker.service.problems import Problem

NEWEST: LiteralString = """
    select c.change_id, c.at, coalesce(c.subject, c.role_name), c.before, c.after
      from monitor.change c
     where (c.setup = %s or c.setup is null) and c.object = %s and c.name = %s
       and (%s::text is null or c.after ? %s)
     order by c.change_id desc limit 2
"""
"""The last two changes of a thing, or of a column of it."""

_SETTING: LiteralString = """
    select s.value, s.meaning, s.default_value, s.type, s.allowed
      from monitor.setting s where s.setup = %s and s.schema = %s and s.name = %s
"""
_REQUIRE: Mapping[str, LiteralString] = {"taskqueue": "select taskqueue.require_settings(%s, %s::jsonb)"}
_LIMIT: LiteralString = """
    select l.kind, l.site, l.grid_ce, l.attribute, l.value, coalesce(l.ceiling, extract(epoch from l.delay)) as limit,
           l.burst, l.used, l.jobs
      from monitor.site_limit l where l.setup = %s and l.limit_id = %s
"""
_LIMIT_THERE: LiteralString = """
    select k.canonical_key, l.limit_id, coalesce(l.ceiling, extract(epoch from l.delay)), l.burst
      from taskqueue.requirement_key k
      left join monitor.site_limit l on l.setup = %s and l.kind = %s and l.site = %s
                                     and l.grid_ce is not distinct from %s and l.attribute = k.canonical_key
                                     and l.value = %s
     where k.key in (%s, %s) and k.canonical_key is not null limit 1
"""
_KEY: LiteralString = """
    select k.app, k.type, k.default_value #>> '{}', k.unit, k.meaning from resource.config_key k
     where (k.key = %s or k.key like '%%<%%' and %s ~ k.pattern) and %s in ('', k.component)
     order by k.key = %s desc, length(k.key) desc, k.component limit 1
"""
_VALUE: LiteralString = """
    select c.app, c.value #>> '{}' from resource.config_of(%s) c where c.component = %s and c.key = %s
"""
_RULE: LiteralString = """
    select r.parameters -> %s #>> '{}' as value, p.based_on, p.setups, p.other_setups, r.source,
           (select coalesce(string_agg(k, ', ' order by k), 'none')
              from jsonb_object_keys(r.parameters) k) as parameters
      from brokerage.rule_in_force r join monitor.profile p on p.profile = r.profile
     where r.profile = %s and r.algorithm = %s and r.rule = %s
"""
_QUARANTINE: LiteralString = """
    select coalesce(u.site, g.site) as page, g.name, q.state, q.made_by, q.since, q.why
      from (select n.site, n.kind, case n.kind when 'host' then lower(n.name collate "C") else n.name end as name
              from (values (%s::text, %s::text, %s::text)) n (site, kind, name)) g
      left join monitor.queue u on u.setup = %s and u.queue = g.site
      left join monitor.quarantine q on q.setup = %s and q.kind = g.kind and q.site = g.site and q.name = g.name
"""
_TRUTHS = ("true", "false")
_NOT_SET = "not set"
_LABELS = acts.SET_LIMIT.arguments
_DIGITS = 9


async def _setting(call: Call, of: str, given: Mapping[str, str]) -> Thing:
    """A setting, named schema.name."""
    schema, _, name = of.partition(".")
    found = await table(call, _SETTING, call.setup, schema, name)
    known = one(found, "setting", of)
    value = _text(known["value"])

    def stated(statement: LiteralString) -> Callable[[Mapping[str, str]], Statement]:
        return lambda typed: (statement, [call.setup, json_text({name: parse_or_text(typed["value"])})])

    check = stated(_REQUIRE[schema]) if schema in _REQUIRE else None
    return Thing(
        of, "settings", schema, stated(acts.SET_SETTINGS[schema].statement), f"/settings#{schema}.{name}",
        (Field("value", "Value", value, _TRUTHS if known["type"] == "boolean" else ()),),
        (("Meaning", known["meaning"]), ("Allowed", known["allowed"]), ("Default", _text(known["default_value"]))),
        {"value": value}, column=name, check=check,
    )  # fmt: skip


async def _known_limit(call: Call, of: str) -> tuple[dict[str, Any], list[Any]]:
    """A limit by its number, and the columns of its key. Raises Problem: 404."""
    known = one(await table(call, _LIMIT, call.setup, int(of)), "limit", of)
    return known, [known[name] for name in ("kind", "site", "grid_ce", "attribute", "value")]


async def _limit(call: Call, of: str, given: Mapping[str, str]) -> Thing:
    """A change of a limit."""
    known, key = await _known_limit(call, of)
    before = {"limit": _plain(known["limit"])} | ({"burst": str(known["burst"])} if known["kind"] == "delay" else {})

    def write(typed: Mapping[str, str]) -> Statement:
        burst = _count("burst", typed["burst"]) if "burst" in before else 1
        return acts.SET_LIMIT.statement, [call.setup, *key, _number("limit", typed["limit"]), burst]

    at = known["site"] if known["grid_ce"] is None else f"{known['grid_ce']} of {known['site']}"
    return Thing(
        f"of {known['attribute']} {known['value']} at {at}", "limit", _noted(key), write, f"/limits/{of}",
        tuple(Field(name, _LABELS[name], text) for name, text in before.items()),
        (("Kind", known["kind"]), ("Used", known["used"]), ("Jobs concerned", known["jobs"])), before,
    )  # fmt: skip


async def _no_limit(call: Call, of: str, given: Mapping[str, str]) -> Thing:
    """A removal of a limit."""
    _, key = await _known_limit(call, of)
    limit = await _limit(call, of, given)
    return replace(limit, write=lambda _: (acts.CLEAR_LIMIT.statement, [call.setup, *key]), fields=(), page="/limits")


async def _new_limit(call: Call, of: str, given: Mapping[str, str]) -> Thing:
    """A new limit of a site, which may already exist."""
    of = of.strip()
    kind, attribute, value = (given.get(name, "").strip() for name in ("kind", "attribute", "value"))
    ce = given.get("ce", "").strip() or None
    rows = await call.rows(_LIMIT_THERE, call.setup, kind, of, ce, value, attribute, f"{attribute}s")
    key, number, limit, burst = rows[0] if rows else (attribute, None, None, None)

    def write(typed: Mapping[str, str]) -> Statement:
        return acts.SET_LIMIT.statement, [
            call.setup, kind, of, ce, attribute, value, _number("limit", typed["limit"]),
            _count("burst", typed["burst"] or "1"),
        ]  # fmt: skip

    before = None if number is None else {"limit": _plain(limit)} | ({"burst": str(burst)} if burst else {})
    return Thing(
        f"at {of}", "limit", _noted([kind, of, ce, key, value]), write, f"/limits?site={quote(of)}",
        (
            Field("kind", "Kind", "running", ("running", "delay")), Field("ce", "CE, or empty: the whole site"),
            Field("attribute", _LABELS["attribute"]), Field("value", _LABELS["value"]),
            Field("limit", _LABELS["limit"]), Field("burst", _LABELS["burst"], "1"),
        ), before=before,
    )  # fmt: skip


async def _quarantine(call: Call, of: str, given: Mapping[str, str]) -> Thing:
    """A quarantine at a site, which may already exist."""
    of = of.strip()
    kind, name = given.get("kind", "host").strip(), given.get("name", "").strip() or None
    named = name if name or kind != "site" else of
    [known] = await table(call, _QUARANTINE, of, kind, named, call.setup, call.setup)
    named = known["name"]

    def write(typed: Mapping[str, str]) -> Statement:
        return acts.SET_QUARANTINE.statement, [call.setup, kind, of, name, typed["why"]]

    before = None if known["why"] is None else {"kind": kind, "name": name or "", "why": known["why"]}
    return Thing(
        f"at {of}", "quarantine", _noted([kind, of, named]), write, f"/sites/{quote(known['page'])}",
        (
            Field("kind", "Kind", "host", ("host", "ce", "site")), Field("name", "Name; empty for a site"),
            Field("why", acts.SET_QUARANTINE.arguments["why"]),
        ), before=before,
    )  # fmt: skip


async def _no_quarantine(call: Call, of: str, given: Mapping[str, str]) -> Thing:
    """The lift of a quarantine, named as by details.quarantine_key."""
    kind, site, name = (unquote(part) for part in f"{of}//".split("/")[:3])
    [known] = await table(call, _QUARANTINE, site, kind, name, call.setup, call.setup)
    before = {"why": one([known] if known["why"] is not None else [], "quarantine", of)["why"]}
    at = f" at {site}" if site and kind != "site" else ""
    values: list[object] = [call.setup, kind, site, name]
    return Thing(
        f"{kind} {name}{at}", "quarantine", _noted([kind, site, known["name"]]),
        lambda _: (acts.LIFT_QUARANTINE.statement, values), f"/quarantines?site={quote(site, safe='')}",
        facts=(("State", known["state"]), ("By", known["made_by"]), ("Since", moment(known["since"]))), before=before,
    )  # fmt: skip


async def _key(call: Call, of: str, given: Mapping[str, str]) -> Thing:
    """A key of the configuration, named KEY or component:KEY."""
    of = of.strip()
    component, _, key = of.rpartition(":")
    rows = await call.rows(_KEY, key, key, component, key)
    app, kind, default, unit, meaning = rows[0] if rows else ("jedi", None, None, None, "no rule reads this key")
    there = await call.rows(_VALUE, call.setup, component, key)
    value = there[0][1] if there else None

    def write(typed: Mapping[str, str]) -> Statement:
        text = typed["value"]
        return acts.SET_KEY.statement, [
            call.setup, of, json_text(text if kind == "text" else parse_or_text(text)), False
        ]  # fmt: skip

    return Thing(
        of, "configuration", f"{app} {component} {key}", write, "/configuration",
        (Field("value", "Value", value or "", _TRUTHS if kind == "boolean" else ()),),
        (("Meaning", meaning), ("Unit", unit), ("Default", _text(default))),
        {"value": _NOT_SET if value is None else value},
    )  # fmt: skip


async def _no_key(call: Call, of: str, given: Mapping[str, str]) -> Thing:
    """The removal of a key, so that its default holds."""
    values = [call.setup, of, "null", False]
    return replace(await _key(call, of, given), write=lambda _: (acts.UNSET_KEY.statement, values), fields=())


async def _parameter(call: Call, of: str, given: Mapping[str, str]) -> Thing:
    """A parameter of a rule, named algorithm/rule/profile."""
    algorithm, rule, profile = f"{of}//".split("/", 2)
    profile = profile.removesuffix("//")
    parameter = given.get("parameter", "").strip()
    known = one(await table(call, _RULE, parameter, profile, algorithm, rule), "rule", of)
    value = known["value"]

    def write(typed: Mapping[str, str]) -> Statement:
        value = json_text(parse_or_text(typed["value"]))
        return acts.SET_PARAMETER.statement, [parameter, value, profile, algorithm, rule]

    return Thing(
        f"of rule {rule} of {algorithm} in profile {profile}", "rule", f"{profile} {algorithm} {rule}", write,
        f"/profile?profile={quote(profile)}",
        (Field("parameter", "Parameter"), Field("value", "Value", value or "")),
        (
            ("Parameters", known["parameters"]), ("Based on", known["based_on"]),
            ("Setups that decide by the profile", ", ".join(known["setups"]) or "none"),
            ("Other setups that decide by it", known["other_setups"]),
            ("Described in", known["source"]),
        ),
        {"value": _NOT_SET if value is None else value}, main="parameter" if value is None else "value",
    )  # fmt: skip


def _noted(key: Sequence[str | None]) -> str:
    """The name of a limit or a quarantine in monitor.change."""
    return " ".join(part for part in key if part is not None)


def _text(value: str | None) -> str:
    """A value in the form in which it is typed."""
    return "null" if value is None else value


def _plain(number: Decimal) -> str:
    """A number as people write it."""
    return f"{float(number):.10g}"


def _number(name: str, text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise Problem(422, f"{name} is {text!r}, which is not a number", code="PB001", key=name) from None


def _count(name: str, text: str) -> int:
    if not text.isdecimal() or len(text) > _DIGITS:
        raise Problem(422, f"{name} is {text!r}, which is not a number of matches", code="PB001", key=name)
    return int(text)


CHANGES: Mapping[str, Action] = {
    "set-setting": Action("Change setting {}", acts.SET_SETTINGS["taskqueue"], numbered=False, thing=_setting),
    "set-limit": Action("Change the limit {}", acts.SET_LIMIT, thing=_limit),
    "remove-limit": Action("Remove the limit {}", acts.CLEAR_LIMIT, thing=_no_limit),
    "add-limit": Action("Set a limit {}", acts.SET_LIMIT, numbered=False, thing=_new_limit),
    "set-quarantine": Action("Set a quarantine {}", acts.SET_QUARANTINE, numbered=False, thing=_quarantine),
    "lift-quarantine": Action("Lift the quarantine of {}", acts.LIFT_QUARANTINE, numbered=False, thing=_no_quarantine),
    "set-key": Action("Set configuration {}", acts.SET_KEY, numbered=False, thing=_key),
    "unset-key": Action("Remove configuration {}", acts.UNSET_KEY, numbered=False, thing=_no_key),
    "set-parameter": Action("Change a parameter {}", acts.SET_PARAMETER, numbered=False, thing=_parameter),
}
"""The changes, by the word in an address."""
