"""The page of a TaskQueue: why its oldest job waits or is next, and which conditions keep resources away."""

from asyncio import gather
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

import msgspec

from broker.service import searches
from broker.service.endpoint import Call
from broker.service.pages.details import MOST_KINDS, one, why_job
from broker.service.pages.frame import table

ALL = "all of them"
"""The condition that counts the kinds of resources that fail any other one."""
_FIRST_JOB: LiteralString = """
    select f.job_id, f.waits from monitor.first_job f where f.setup = %s and f.task_queue_id = %s
"""
# All jobs of a TaskQueue have the same requirements, so any of them explains a TaskQueue that is held.
_ANY_JOB: LiteralString = """
    select w.job_id, coalesce(s.simulated, now()) - %s::timestamptz as waits
      from monitor.waiting_job w
      join monitor.setup s on s.setup = w.setup
     where w.setup = %s and w.task_queue_id = %s limit 1
"""
_LIMITS: LiteralString = """
    select l.limit_id, l.site, l.grid_ce, l.kind, l.attribute, l.value, l.ceiling, l.delay, l.burst, l.used
      from monitor.site_limit l
     where l.setup = %s and l.reached and taskqueue.requires_value(%s::jsonb, l.attribute, l.value)
       and coalesce(taskqueue.requires_value(%s::jsonb, 'Sites', l.site), true)
       and taskqueue.requires_value(%s::jsonb, 'BannedSites', l.site) is not true
     order by l.limit_id limit 3
"""
_SHOWN = 2  # conditions that the sentence names
_HELD = {
    "held": "It is held", "owner held": "Its owner is held", "disabled": "It is disabled",
}  # fmt: skip
_LEADS = {
    "waiting": "Its turn: nothing is in the way", "limited": "It is at a limit", "overtaken": "Others come first",
    "no_resource_seen": "No resource that fits has asked lately", "too_large": "It is too large for the resources",
    "misconfigured": "Its requirements cannot be met", "held": "Its jobs are held",
}  # fmt: skip


async def task_queue(call: Call) -> tuple[str, dict[str, Any]]:
    """A TaskQueue: its requirements, and the reason why no resource takes its first job."""
    setup, number = call.setup, call.number("task_queue_id")
    known = one(await searches.row(call, "task_queues", number), "TaskQueue", number)
    asked = msgspec.json.encode(known["requirements"]).decode()
    [[words], found, limits] = await gather(
        call.rows("select taskqueue.requirements_in_words(%s::jsonb)", asked),
        table(call, _FIRST_JOB, setup, number),
        table(call, _LIMITS, setup, *[asked] * 3) if known["reason"] == "limited" else _none(),
    )
    if not found and known["oldest_job_at"] is not None:
        found = await table(call, _ANY_JOB, known["oldest_job_at"], setup, number)
    first = found[0] if found else None
    why = await why_job(call, first["job_id"]) if first else []
    kinds = next((row for row in why if row["condition"] == ALL), None)
    return "task_queue", {
        "queue": known, "requirements": msgspec.json.decode(words[0]), "first": first, "why": why, "kinds": kinds,
        "lead": lead(known), "more": more(known, kinds, why), "limits": limits,
    }  # fmt: skip


async def _none() -> list[dict[str, Any]]:
    return []


def lead(queue: Mapping[str, Any]) -> str:
    """Why the jobs of a TaskQueue wait, in a few words."""
    if queue["state"] in _HELD:
        return _HELD[queue["state"]]
    if not queue["jobs"] and not queue["held_jobs"]:
        return "No job waits in it"
    return _LEADS.get(queue["reason"] or ("" if queue["jobs"] else "held"), "Why it waits is not found out yet")


def more(queue: Mapping[str, Any], kinds: Mapping[str, Any] | None, why: Sequence[Mapping[str, Any]]) -> str:
    """The sentence behind it: how many kinds of resources fit, or what keeps them away."""
    if kinds is None or (queue["reason"] == "limited" and queue["state"] == "open"):
        return ""
    seen, fit = kinds["seen"], kinds["seen"] - kinds["failing"]
    if not seen:
        return "No resource was seen lately."
    if seen == 1:
        all_of = some = "the only kind of resource that asked lately"
    else:
        all_of = f"of the {seen} kinds of resources that asked {'last' if seen >= MOST_KINDS else 'lately'}"
        some = f"{fit} {all_of}"
    if queue["state"] != "open":
        would = "would not fit" if seen == 1 and not fit else "would fit"
        return f"Were it {'enabled' if queue['state'] == 'disabled' else 'resumed'}, {some} {would}."
    if fit:
        took = ", and jobs of other TaskQueues were taken before" if queue["reason"] == "overtaken" else ""
        return f"{_capital(some)} {'fits' if fit == 1 else 'fit'}{took}."
    if queue["reason"] in ("waiting", "overtaken"):  # a resource that asked before these ones fits
        return ""
    worst = [row for row in why if row["failing"] and row["condition"] != ALL][:_SHOWN]
    if not worst:
        return ""
    if seen == 1:
        return f"{_capital(all_of)} fails {' and '.join(_condition(row) for row in worst)}."
    said = [f"{row['failing']} {'fails' if row['failing'] == 1 else 'fail'} {_condition(row)}" for row in worst]
    return f"{_capital(all_of)}, {' and '.join(said)}."


def _condition(row: Mapping[str, Any]) -> str:
    return f"{row['condition']} ({row['wanted']})"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
