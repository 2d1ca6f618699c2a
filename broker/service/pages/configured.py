"""Pages of the configuration: limits of sites, settings, configuration keys, and parameters of rules."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, LiteralString

from broker.service.endpoint import Call
from broker.service.pages.details import one
from broker.service.pages.frame import after, endpoint, following, table

ROWS = 50
"""Rows of a page."""

_LIMITS: LiteralString = """
    select l.limit_id, l.site, l.grid_ce, l.kind, l.attribute, l.value, l.ceiling, l.delay, l.burst, l.used, l.reached,
           l.jobs
      from monitor.site_limit l
     where l.setup = %s and (%s::text is null or l.site = %s) and l.limit_id > %s order by l.limit_id limit %s
"""
_LIMIT: LiteralString = """
    select l.limit_id, l.site, l.grid_ce, l.kind, l.attribute, l.value, l.ceiling, l.delay, l.burst, l.used, l.reached,
           l.queues, l.jobs
      from monitor.site_limit l where l.setup = %s and l.limit_id = %s
"""
_WAITING: LiteralString = """
    select q.task_queue_id, q.owner_group, q.owner_dn, q.cpu_time, q.jobs, q.reason, q.oldest_job_at
      from monitor.site_limit l
      join monitor.task_queue q on q.setup = l.setup and taskqueue.requires_value(q.requirements, l.attribute, l.value)
                               and coalesce(taskqueue.requires_value(q.requirements, 'Sites', l.site), true)
                               and taskqueue.requires_value(q.requirements, 'BannedSites', l.site) is not true
     where l.setup = %s and l.limit_id = %s and q.jobs > 0
     order by q.reason = 'limited' desc nulls last, q.jobs desc limit %s
"""
_SETTINGS: LiteralString = """
    select s.schema, s.name, s.value, s.default_value, s.allowed, s.meaning
      from monitor.setting s where s.setup = %s order by s.schema, s.name
"""
_KEYS: LiteralString = """
    select coalesce(k.component, nullif(c.component, ''), 'every component'), coalesce(k.key, c.key), c.component,
           c.key, c.value #>> '{}', k.default_value #>> '{}', k.unit,
           coalesce(k.meaning, 'No shipped rule reads this key.')
      from resource.config_key k
      full join resource.config_of(%s) c on c.app = k.app and c.component in (k.component, '') and c.key ~ k.pattern
     order by 1, 2, 4
"""
_PROFILES: LiteralString = """
    select p.profile, p.based_on, p.shipped, p.description,
           p.profile = (select s.profile from brokerage.setting_in_force s where s.setup = %s) as is_used
      from monitor.profile p order by is_used desc, p.shipped, p.profile
"""
_PARAMETERS: LiteralString = """
    select r.algorithm, r.rule, e.key, e.value #>> '{}', b.parameters -> e.key #>> '{}', r.enabled,
           obj_description(f.oid, 'pg_proc'), r.source
      from brokerage.rule_in_force r
     cross join lateral jsonb_each(r.parameters) e
      left join brokerage.rule_in_force b on b.profile = %s and b.algorithm = r.algorithm and b.rule = r.rule
      left join lateral (select p.oid from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                          where n.nspname = split_part(r.function, '.', 1)
                            and p.proname = split_part(r.function, '.', 2) limit 1) f on true
     where r.profile = %s order by r.algorithm, r.position, r.rule, e.key
"""


async def limits(call: Call) -> tuple[str, dict[str, Any]]:
    """Limits, with the allowed and the used number of each."""
    query = call.request.query_params
    site = query.get("site", "").strip()
    behind = after(call)
    names = "limit_id site grid_ce kind attribute value ceiling delay burst used reached jobs"
    rows = await table(call, names, _LIMITS, call.setup, site or None, site, behind, ROWS + 1)
    rest = following(call, rows, ROWS, "limit_id")
    return "configured/limits", {"limits": rows[:ROWS], "site": site, "following": rest}


async def limit(call: Call) -> tuple[str, dict[str, Any]]:
    """A limit, and the TaskQueues that it concerns."""
    number = call.number("limit_id")
    names = "limit_id site grid_ce kind attribute value ceiling delay burst used reached queues jobs"
    known = one(await table(call, names, _LIMIT, call.setup, number), "limit", number)
    names = "task_queue_id owner_group owner_dn cpu_time jobs reason oldest_job_at"
    waiting = await table(call, names, _WAITING, call.setup, number, ROWS)
    return "configured/limit", {"limit": known, "waiting": waiting}


async def settings(call: Call) -> tuple[str, dict[str, Any]]:
    """Settings of each schema."""
    rows = await table(call, "group name value default_value allowed meaning", _SETTINGS, call.setup)
    for row in rows:
        row |= {"id": f"{row['group']}.{row['name']}", "do": "set-setting", "of": f"{row['group']}.{row['name']}"}
    return "configured/settings", {"groups": _groups(rows), "allowed": "Allowed"}


async def configuration(call: Call) -> tuple[str, dict[str, Any]]:
    """Known or set keys of the configuration."""
    names = "group known component key value default_value allowed meaning"
    rows = await table(call, names, _KEYS, call.setup)
    for row in rows:
        is_pattern = row["key"] is None and "<" in row["known"]
        name = row["key"] or row["known"]
        component = row["group"] if row["component"] is None else row["component"]
        row |= {
            "name": name, "id": None, "do": None if is_pattern else "set-key",
            "of": f"{component}:{name}" if component else name, "is_set": row["key"] is not None,
        }  # fmt: skip
    return "configured/configuration", {"groups": _groups(rows), "allowed": "Unit"}


async def profile(call: Call) -> tuple[str, dict[str, Any]]:
    """Parameters of the rules of a profile, by default of the profile by which the setup decides."""
    profiles = await table(call, "profile based_on shipped description is_used", _PROFILES, call.setup)
    wanted = call.request.query_params.get("profile") or profiles[0]["profile"]
    shown = one([row for row in profiles if row["profile"] == wanted], "profile", wanted)
    names = "group rule parameter value default_value enabled meaning source"
    rows = await table(call, names, _PARAMETERS, shown["based_on"] or wanted, wanted)
    for row in rows:
        row |= {
            "name": f"{row['rule']} {row['parameter']}", "id": None,
            "do": None if shown["shipped"] else "set-parameter",
            "of": f"{row['group']}/{row['rule']}/{wanted}", "allowed": "on" if row["enabled"] else "off",
        }  # fmt: skip
    return "configured/profile", {"groups": _groups(rows), "allowed": "Rule", "profiles": profiles, "profile": shown}


def _groups(rows: Sequence[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    return [(name, list(of)) for name, of in groupby(rows, lambda row: row["group"])]


ENDPOINTS = (
    endpoint("/limits", "Limits of sites", limits),
    endpoint("/limits/{limit_id:id}", "A limit", limit),
    endpoint("/settings", "Settings", settings),
    endpoint("/configuration", "Configuration", configuration),
    endpoint("/profile", "Parameters of the rules of a profile", profile),
)
