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
           l.task_queues, l.jobs
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
    select s.schema as group, s.name, s.value, s.default_value, s.allowed, s.meaning
      from monitor.setting s where s.setup = %s order by s.schema, s.name
"""
_KEYS: LiteralString = """
    select coalesce(k.component, nullif(c.component, ''), 'every component') as group, coalesce(k.key, c.key) as known,
           c.component, c.key, c.value #>> '{}' as value, k.default_value #>> '{}' as default_value, k.unit as allowed,
           coalesce(k.meaning, 'No shipped rule reads this key.') as meaning
      from resource.config_key k
      full join resource.config_of(%s) c on c.app = k.app and c.component in (k.component, '') and c.key ~ k.pattern
     order by 1, 2, 4
"""
_PROFILES: LiteralString = """
    select p.profile, p.based_on, p.shipped, p.description, p.other_setups,
           p.profile = (select s.profile from brokerage.setting_in_force s where s.setup = %s) as is_used
      from monitor.profile p order by is_used desc, p.shipped, p.profile
"""
_PARAMETERS: LiteralString = """
    select r.algorithm as group, r.rule, e.key as parameter, e.value #>> '{}' as value,
           b.parameters -> e.key #>> '{}' as default_value, r.enabled, obj_description(f.oid, 'pg_proc') as meaning,
           r.source
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
    rows = await table(call, _LIMITS, call.setup, site or None, site, behind, ROWS + 1)
    rest = following(call, rows, ROWS, "limit_id")
    return "configured/limits", {"limits": rows[:ROWS], "site": site, "following": rest}


async def limit(call: Call) -> tuple[str, dict[str, Any]]:
    """A limit, and the TaskQueues that it concerns."""
    number = call.number("limit_id")
    known = one(await table(call, _LIMIT, call.setup, number), "limit", number)
    waiting = await table(call, _WAITING, call.setup, number, ROWS)
    return "configured/limit", {"limit": known, "waiting": waiting}


async def settings(call: Call) -> tuple[str, dict[str, Any]]:
    """Settings of each schema."""
    rows = await table(call, _SETTINGS, call.setup)
    for row in rows:
        row |= {"id": f"{row['group']}.{row['name']}", "do": "set-setting", "of": f"{row['group']}.{row['name']}"}
    return "configured/settings", {"groups": _groups(rows), "allowed": "Allowed"}


async def configuration(call: Call) -> tuple[str, dict[str, Any]]:
    """Known or set keys of the configuration."""
    rows = await table(call, _KEYS, call.setup)
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
    profiles = await table(call, _PROFILES, call.setup)
    wanted = call.request.query_params.get("profile") or profiles[0]["profile"]
    shown = one([row for row in profiles if row["profile"] == wanted], "profile", wanted)
    rows = await table(call, _PARAMETERS, shown["based_on"] or wanted, wanted)
    for row in rows:
        row |= {
            "name": f"{row['rule']} {row['parameter']}", "id": None,
            "do": None if shown["shipped"] or shown["other_setups"] else "set-parameter",
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
