"""The banner after an act: the page of the thing shows the recorded change, and offers the opposite act."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, LiteralString
from urllib.parse import quote

import msgspec

from broker.json_text import json_text
from broker.service.endpoint import Call
from broker.words import counted

NOTHING: Mapping[str, str] = {
    "before": "It was so before.", "ended": "It had ended before.", "back": "Its work went back to its task before.",
    "elsewhere": "It was not made here, so it has no work to give back.", "none": "There was nothing to do.",
}  # fmt: skip
"""Words about an act that changed nothing, by their word in an address."""
_DIGITS = 18
# A later change of the thing would make the words untrue.
_CHANGE: LiteralString = """
    select c.change_id, c.at, coalesce(c.subject, c.role_name) as by, c.object, c.name, c.before, c.after,
           case c.object when 'limit' then extract(epoch from (c.before ->> 'delay')::interval) end as delay
      from monitor.change c
     where c.change_id = %s and (c.setup = %s or c.setup is null)
       and not exists (select from monitor.change n
                        where n.change_id > c.change_id and n.setup is not distinct from c.setup
                          and n.object = c.object and n.name = c.name)
"""
_OF_TASK: LiteralString = """
    select from monitor.brokered_job j where j.setup = %s and j.job_id = %s::bigint and j.task_id = %s
"""
_LIMIT: LiteralString = """
    select l.limit_id, l.kind, l.site, l.grid_ce, l.attribute, l.value,
           coalesce(l.ceiling, extract(epoch from l.delay)), l.burst
      from monitor.site_limit l
     where l.setup = %s and concat_ws(' ', l.kind, l.site, l.grid_ce, l.attribute, l.value) = %s
"""
_QUARANTINE: LiteralString = """
    select q.kind, q.site, q.name from monitor.quarantine q
     where q.setup = %s and concat_ws(' ', q.kind, q.site, q.name) = %s
"""
_SITE_OF: LiteralString = "select q.site from monitor.queue q where q.setup = %s and q.queue = %s"

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Undo:
    """The opposite act: the words of its button, its word, the name of its thing, and values of its fields."""

    words: str
    do: str
    of: str
    typed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Done:
    """The words about a change, and the opposite act, if there is one."""

    words: str
    undo: Undo | None = None


async def done(call: Call) -> dict[str, Any] | None:
    """The change that the address names; None if it names none, or not the last change of the page's thing."""
    named = call.request.query_params.get("done", "")
    if named in NOTHING:
        return {"words": NOTHING[named], "change": None, "undo": None, "mine": False}
    if not named.isdecimal() or len(named) > _DIGITS:
        return None
    rows = await call.rows(_CHANGE, int(named), call.setup)
    if not rows:
        return None
    change = {
        name: msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value
        for name, value in zip(rows.names, rows[0], strict=True)
    }
    said = await _OF[change["object"]](call, change) if change["object"] in _OF else None
    if said is None:
        return None
    mine = change["by"] == call.caller.subject.name
    return {"words": said.words, "change": change, "undo": said.undo, "mine": mine}


def led(page: str, done: object) -> str:
    """The address of a page that says what was done."""
    path, hash_, anchor = page.partition("#")
    return f"{path}{'&' if '?' in path else '?'}done={done}{hash_}{anchor}"


def _is_at(call: Call, **thing: object) -> bool:
    """Whether the path names this thing."""
    return {key: str(value) for key, value in call.request.path_params.items() if key != "setup"} == thing


def _page(call: Call) -> str:
    """The page of a list: its word in the path."""
    return call.request.url.path.rpartition("/")[2]


async def _job(call: Call, change: Row) -> Done | None:
    name, after = change["name"], change["after"] or {}
    task = call.request.path_params.get("task_id")
    if _is_at(call, job_id=name):
        return _held("Job", "job", change) or _job_words(name, after)
    if task is not None and "work given back" in after and await call.rows(_OF_TASK, call.setup, name, task):
        jobs = after["work given back"]
        return Done(f"The work of {jobs:,} {'job is' if jobs == 1 else 'jobs is'} back in task {task}")
    return None


def _job_words(name: str, after: Row) -> Done | None:
    said = {
        "cancelled": "Job {} is cancelled", "kill asked": "Job {} ends when its JobAgent next reports",
        "work given back": "The work of job {} is back in its task", "waiting again": "Job {} waits again",
    }  # fmt: skip
    return next((Done(words.format(name)) for key, words in said.items() if after.get(key)), None)


async def _task_queue(call: Call, change: Row) -> Done | None:
    return _held("TaskQueue", "task-queue", change) if _is_at(call, task_queue_id=change["name"]) else None


async def _owner(call: Call, change: Row) -> Done | None:
    is_here = _page(call) == "task-queues" and call.request.query_params.get("owner") == change["name"]
    return _held("Owner", "owner", change) if is_here else None


def _held(noun: str, kind: str, change: Row) -> Done | None:
    held = (change["after"] or {}).get("held")
    if held is None:
        return None
    opposite = "resume" if held else "hold"
    words = f"{noun} {change['name']} is {'held' if held else 'resumed'}"
    return Done(words, Undo(opposite.capitalize(), f"{opposite}-{kind}", change["name"]))


async def _task(call: Call, change: Row) -> Done | None:
    is_here = _is_at(call, task_id=change["name"]) and (change["after"] or {}).get("status") == "aborted"
    return Done(f"Task {change['name']} is aborted, and its jobs are cancelled") if is_here else None


async def _limit(call: Call, change: Row) -> Done | None:
    before, after = change["before"], change["after"]
    found = await call.rows(_LIMIT, call.setup, change["name"])
    names = ("limit_id", "kind", "site", "grid_ce", "attribute", "value", "limit", "burst")
    known = dict(zip(names, found[0], strict=True)) if found else before or {}
    query = call.request.query_params
    if not (
        (found and _is_at(call, limit_id=str(known["limit_id"])))
        or (_page(call) == "limits" and (after is None or query.get("site") == known.get("site")))
    ):
        return None
    at = f"{known['grid_ce']} of {known['site']}" if known.get("grid_ce") else known["site"]
    words = f"The limit of {known['attribute']} {known['value']} at {at}"
    was = change["delay"] if change["delay"] is not None else (before or {}).get("ceiling")
    burst = str((before or {}).get("burst", known.get("burst", 1)))
    if after is None:
        key = {name: known.get(name) or "" for name in ("kind", "attribute", "value")} | {
            "ce": known.get("grid_ce") or ""
        }
        typed = key | {"limit": _number(was), "burst": burst}
        return Done(f"{words} is removed", Undo("Set it back", "add-limit", known["site"], typed))
    if not found:
        return None
    words = f"{words} is {_limit_words(known['kind'], known['limit'])}"
    if before is None:
        return Done(words, Undo("Remove it", "remove-limit", str(known["limit_id"])))
    typed = {"limit": _number(known["limit"] if was is None else was)}
    typed |= {"burst": burst} if known["kind"] == "delay" else {}
    said = words if was is None else f"{words}; it was {_limit_words(known['kind'], was)}"
    return Done(said, Undo("Set it back", "set-limit", str(known["limit_id"]), typed))


def _number(value: Any) -> str:
    return f"{float(value):.10g}"


def _limit_words(kind: str, limit: Any) -> str:
    number = _number(limit)
    return f"{number} s between two matches" if kind == "delay" else f"{number} {'job' if number == '1' else 'jobs'}"


async def _quarantine(call: Call, change: Row) -> Done | None:
    before, after = change["before"] or {}, change["after"]
    found = await call.rows(_QUARANTINE, call.setup, change["name"])
    kind, site, name = found[0] if found else (before.get("kind"), before.get("site"), before.get("name"))
    if kind is None or (not found and after is not None):
        return None
    of_site = {site, *(one for (one,) in await call.rows(_SITE_OF, call.setup, site))}
    here = call.request.path_params.get("site") or (
        call.request.query_params.get("site") if _page(call) == "quarantines" else None
    )
    if here not in of_site:
        return None
    thing = f"{kind} {name}{f' at {site}' if site and kind != 'site' else ''}"
    again = {"kind": kind, "name": "" if kind == "site" else name, "why": before.get("why", "")}
    if after is None:
        return Done(f"The quarantine of {thing} is lifted", Undo("Quarantine again", "set-quarantine", site, again))
    if change["before"] is None:
        of = "/".join(quote(part, safe="") for part in (kind, site, name))
        return Done(f"{thing[:1].upper()}{thing[1:]} is quarantined", Undo("Lift", "lift-quarantine", of))
    undo = Undo("Set it back", "set-quarantine", site, again) if "why" in before else None
    return Done(f"The quarantine of {thing} is changed", undo)


async def _setting(call: Call, change: Row) -> Done | None:
    before, after, schema = change["before"] or {}, change["after"] or {}, change["name"]
    changed = [key for key in after if before.get(key) != after[key]]
    if _page(call) != "settings" or len(changed) != 1:
        return None
    [key] = changed
    words = f"Setting {schema}.{key} is {_text(after[key])}"
    if key not in before:
        return Done(words)
    was = _text(before[key])
    return Done(f"{words}; it was {was}", Undo("Set it back", "set-setting", f"{schema}.{key}", {"value": was}))


async def _configuration(call: Call, change: Row) -> Done | None:
    _, component, key = f"{change['name']}  ".split(" ", 2)
    before, after, key = change["before"], change["after"], key.strip()
    if _page(call) != "configuration" or "value" not in (after or before or {}):
        return None
    of = f"{component}:{key}" if component else key
    was = None if before is None else _text(before["value"])
    if after is None:
        return Done(f"{of} is not set any more", Undo("Set it back", "set-key", of, {"value": was or ""}))
    words = f"{of} is {_text(after['value'])}"
    if was is None:
        return Done(words, Undo("Remove it", "unset-key", of))
    return Done(f"{words}; it was {was}", Undo("Set it back", "set-key", of, {"value": was}))


async def _rule(call: Call, change: Row) -> Done | None:
    profile, algorithm, rule = change["name"].rsplit(" ", 2)
    was, now = ((one or {}).get("parameters") or {} for one in (change["before"], change["after"]))
    if _page(call) != "profile" or call.request.query_params.get("profile") != profile or not now:
        return None
    changed = [key for key in now if was.get(key) != now[key]]
    if len(changed) != 1 or changed[0] not in was:
        return Done(f"Rule {rule} of {algorithm} in profile {profile} is changed")
    [key] = changed
    typed = {"parameter": key, "value": _text(was[key])}
    words = f"Parameter {key} of rule {rule} is {_text(now[key])}; it was {_text(was[key])}"
    return Done(words, Undo("Set it back", "set-parameter", f"{algorithm}/{rule}/{profile}", typed))


def _text(value: Any) -> str:
    """A value in the form in which it is typed; whole days are stored as hours."""
    if isinstance(value, str) and (hours := re.fullmatch(r"(\d{1,9}):00:00", value)) and int(hours[1]) % 24 == 0:
        return counted(int(hours[1]) // 24, "day")
    return value if isinstance(value, str) else json_text(value)


_OF: Mapping[str, Callable[[Call, Row], Awaitable[Done | None]]] = {
    "job": _job, "TaskQueue": _task_queue, "owner": _owner, "task": _task, "limit": _limit,
    "quarantine": _quarantine, "settings": _setting, "configuration": _configuration, "rule": _rule,
}  # fmt: skip
"""By the kind of the changed object; each answers None on pages of other things."""
