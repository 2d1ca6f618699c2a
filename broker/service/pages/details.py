"""Pages of one thing: a job, a queue, a site."""

from asyncio import gather
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from operator import mul
from typing import Any, LiteralString
from urllib.parse import quote

from starlette.responses import Response

from broker.operate.reading import RETRY_EXPLANATION
from broker.service import pages, searches
from broker.service.endpoint import Call
from broker.service.pages.alerts import Event, events, firing, limit, limits
from broker.service.pages.charts import Sampled, chart, part_of
from broker.service.pages.frame import FRESHNESS, SPANS, over, span_of, table
from broker.service.pages.job import failure, path, timeline
from broker.service.problems import Problem

ENDED = ("finished", "failed", "cancelled", "closed")
"""Statuses of jobs that have ended."""
_WAITING: LiteralString = """
    select w.reason, w.meaning, w.task_queue_id, w.inserted_at, w.resource, w.resource_seen_at, w.found_at
      from monitor.waiting_job w where w.setup = %s and w.job_id = %s
"""
_REQUIREMENTS: LiteralString = """
    select taskqueue.requirements_in_words(j.requirements) as requirements, j.not_before
      from monitor.job j where j.setup = %s and j.job_id = %s
"""
_BACK: LiteralString = "select b.retry_at from monitor.brokered_job b where b.setup = %s and b.job_id = %s"
_LEASE: LiteralString = """
    select l.attempt_number, l.state, l.site, l.grid_ce, l.host, l.matched_at, l.heard_at, l.expires_at, l.expired,
           l.kill_reason, l.subject, l.error_text
      from monitor.lease l where l.setup = %s and l.job_id = %s
"""
_EVENTS: LiteralString = """
    select e.at, e.event, e.attempt_number, e.site, e.grid_ce, e.host, e.subject, e.error_class, e.error_text,
           e.cpu_used, e.wall_used, e.ram_used, e.cores_used, e.retry_rule, e.passive_rule, e.why
      from monitor.job_event e where e.setup = %s and e.job_id = %s order by e.at, e.attempt_number
"""
_HISTORY: LiteralString = """
    select h.at, h.from_status as before, h.to_status as after, h.why, h.role_name as role from monitor.job_history h
     where h.setup = %s and h.job_id = %s order by h.at
"""
_WHY_JOB: LiteralString = """
    select e.condition, e.wanted, e.failing, e.seen, e.last_seen, e.remark
      from taskqueue.explain_job(%s, %s, %s) e order by e.failing desc nulls last
"""
MOST_KINDS = 500
"""Kinds of resources that a job is compared with, those that asked last."""
_SAID = "kinds of resources do not fulfil it"
"""The end of a remark that repeats the numbers beside it."""
_SITE: LiteralString = """
    select s.site, s.status, s.queues, s.online, s.starting, s.running, s.running_cores, s.limits, s.limits_reached,
           s.pilots_seen, s.quarantined, s.quarantine,
           exists (select from monitor.queue q where q.setup = s.setup and q.queue = s.site) as is_queue
      from monitor.site s where s.setup = %s and s.site = %s
"""
# Jobs of tasks have the queue as the site of their leases, and lists lead to it.
_SITE_OF_QUEUE: LiteralString = """
    select s.site from monitor.queue q join monitor.site s on s.setup = q.setup and s.site = q.site
     where q.setup = %s and q.queue = %s
"""
# Waiting jobs of a site come from the last counts of the loop summarize, and for PanDA queues from their own counts:
# the view of sites would count all TaskQueues again.
SITES: LiteralString = """
    with listed as (
      select i.site, sum(i.jobs)::bigint as jobs
        from monitor.waiting_at_site i where i.setup = %s and not i.is_queue
       group by i.site
    ), ended as (
      select e.label as site, e.number, sum(u.value * u.samples) as jobs
        from history.figures_over(
               %s, '[{"figure": "ends_at_site", "by": "site", "labels": {"outcome": "finished"}},
                     {"figure": "ends_at_site", "by": "site", "labels": {"outcome": "failed"}}]',
               coalesce((select simulated from monitor.setup where setup = %s), now()) - interval '1 hour',
               p_points => 12) e
       cross join lateral unnest(e.value, e.samples) u (value, samples)
       group by e.label, e.number
    ), mostly as (
      select distinct on (f.site) f.site, f.class
        from history.failures(
               %s, coalesce((select simulated from monitor.setup where setup = %s), now()) - interval '1 hour',
               '{site,class}', p_limit => null) f
       order by f.site, f.jobs desc
    )
    select s.site, s.status, s.waiting_at_queues + coalesce(w.jobs, 0) as waiting, s.starting, s.running,
           s.running_cores, s.limits, s.limits_reached, s.pilots_seen, round(g.jobs)::bigint as finished,
           round(b.jobs)::bigint as failed, m.class,
           concat_ws(', ', case s.quarantine when 'refused' then 'whole site' else s.quarantine end,
                     nullif(s.quarantined - (s.quarantine is not distinct from 'refused')::int, 0)) as quarantines
      from monitor.site s
      left join listed w on w.site = s.site
      left join ended g on g.site = s.site and g.number = 1
      left join ended b on b.site = s.site and b.number = 2
      left join mostly m on m.site = s.site
     where s.setup = %s
     order by b.jobs desc nulls last, s.running desc, s.site collate "C" limit 500
"""
_LIMITS: LiteralString = """
    select l.limit_id, l.grid_ce, l.kind, l.attribute, l.value, l.ceiling, l.delay, l.used, l.reached, l.jobs
      from monitor.site_limit l where l.setup = %s and l.site = %s order by l.limit_id
"""
_WAITING_AT: LiteralString = """
    select w.reason, r.meaning, w.jobs from monitor.waiting_at_site w join monitor.reason r using (reason)
     where w.setup = %s and w.site = %s order by w.jobs desc
"""
_QUEUES_OF: LiteralString = """
    select q.queue, q.status, q.role, q.type, q.cores, q.waiting, q.running
      from monitor.queue q where q.setup = %s and q.site = %s order by q.queue
"""
_FAILURES_AT: LiteralString = """
    select f.class, nullif(concat_ws(' ', f.source, f.code), '') as error, f.meaning, f.jobs, f.last_at,
           f.example as job_id, f.text, f.looked_since
      from history.failures(%s, null, '{class,error}', jsonb_build_object('site', %s::text), 10) f
"""
_HOSTS_AT: LiteralString = """
    select f.host, f.class, f.jobs, f.last_at, f.example as job_id, f.text
      from history.failures(%s, null, '{host,class}', jsonb_build_object('site', %s::text), 10) f
"""
_QUARANTINES_AT: LiteralString = """
    select q.kind, q.site, q.name, q.state, q.made_by, q.since, q.why, q.next_probe_at, q.probe_job_id, q.probed_at
      from monitor.quarantine q
      left join monitor.queue u on u.setup = q.setup and u.queue = q.site
     where q.setup = %s and coalesce(u.site, q.site) = %s
     order by array_position('{site,ce,host}', q.kind), q.state, q.since desc, q.name limit %s
"""
_HEALTH_AT: LiteralString = """
    select h.site, h.host, h.score, h.ends, h.failures, h.usual, h.changed_at,
           exists (select from monitor.quarantine q
                    where q.setup = h.setup and q.kind = 'host' and q.site = h.site and q.name = h.host
                      and q.state = 'refused') as is_refused
      from monitor.host_health h
      left join monitor.queue u on u.setup = h.setup and u.queue = h.site
     where h.setup = %s and coalesce(u.site, h.site) = %s and h.score > 0
     order by h.score desc, h.host limit 10
"""
_CHANGES_AT: LiteralString = """
    select c.at, c.object || ' ' || substr(c.name, position(%s || ' ' in c.name) + length(%s) + 1) || ' '
                 || case when c.before is null then 'set' when c.after is null then 'removed' else 'changed' end
                 || ' by ' || coalesce(c.subject, c.role_name) as words
      from (select * from monitor.change n where n.setup = %s order by n.change_id desc limit 1000) c
     where c.object in ('limit', 'quarantine') and split_part(c.name, ' ', 2) = %s
     order by c.change_id desc limit 3
"""
TROUBLE = ("broken", "stopped")
"""States of sites that alerts name, the worst first."""
_QUARANTINES = 50
"""Maximal number of quarantines on the page of a site."""
_CHARTS_OF_SITE = (
    ("Ends, by outcome", "jobs a minute", "ends_at_site", "outcome"),
    ("Failures, by class", "jobs a minute", "failures", "class"),
    ("Leases", "jobs", "leases_at_site", "state"),
    ("Jobs that may run here, by reason", "jobs", "jobs_waiting_at_site", "reason"),
)
"""Titles and units, and figures by labels."""
_WITH_CHANGES = ("ends_at_site", "leases_at_site")


async def job(call: Call) -> tuple[str, dict[str, Any]]:
    """A job: its place, the reason why it waits, and its events."""
    setup, number = call.setup, call.job_id
    found, asked, waiting, leases, events, retry, history, back, alerts = await gather(
        searches.row(call, "jobs", number),
        table(call, _REQUIREMENTS, setup, number),
        table(call, _WAITING, setup, number),
        table(call, _LEASE, setup, number),
        table(call, _EVENTS, setup, number),
        table(call, RETRY_EXPLANATION, setup, number),
        table(call, _HISTORY, setup, number),
        table(call, _BACK, setup, number),
        firing(call),
    )
    known = one(found, "job", number)
    why = await why_job(call, number) if waiting else []
    return "job", {
        "ended": known["status"] in ENDED, "requirements": asked[0]["requirements"] if asked else None,
        "path": path(known, events, history, known["status"] in ENDED), "timeline": timeline(events, history),
        "failure": failure(known, events, alerts),
        "job": known, "waiting": waiting[0] if waiting else None, "lease": leases[0] if leases else None, "why": why,
        "retry": retry, "not_before": asked[0]["not_before"] if asked else None,
        "retry_at": back[0]["retry_at"] if back else None,
        "decided": next((row["retry_rule"] for row in reversed(events) if row["event"] == "failed"), None),
    }  # fmt: skip


async def why_job(call: Call, job_id: int) -> list[dict[str, Any]]:
    """The conditions of a waiting job, the one that keeps most kinds of resources away first."""
    rows = await table(call, _WHY_JOB, call.setup, job_id, MOST_KINDS)
    for row in rows:
        if (row["remark"] or "").endswith(_SAID):
            row["remark"] = None
    return rows


async def queue(call: Call) -> tuple[str, dict[str, Any]]:
    """A PanDA queue, and its jobs over time."""
    name = call.request.path_params["queue"]
    known = one(await searches.row(call, "queues", name), "queue", name)
    since = span_of(call, "1d")
    [sampled] = await over(call, since, [("brokered_jobs", "stage")], {"queue": name})
    return "queue", {
        "queue": known, "since": since, "spans": list(SPANS), "charts": [chart("Jobs of tasks", "jobs", sampled)],
    }  # fmt: skip


async def sites(call: Call) -> tuple[str, dict[str, Any]]:
    """All sites, with the ends of the last hour, the worst first."""
    found, [fresh], alerts = await gather(
        table(call, SITES, *[call.setup] * 6), table(call, FRESHNESS, call.setup), firing(call)
    )
    rows = with_trouble(found, alerts)
    return "sites", {
        "sites": rows, "fresh": fresh, "states": Counter(row["state"] for row in rows),
        "waiting": sum(row["waiting"] or 0 for row in rows), "running": sum(row["running"] or 0 for row in rows),
    }  # fmt: skip


def with_trouble(rows: list[dict[str, Any]], alerts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Sites with their state and the failed part of their ends, the worst first.

    A site is broken or stopped if an alert of the kind fires, and at its limit if a limit is reached.
    """
    of_site: dict[str, Mapping[str, Any]] = {}
    for alert in alerts:  # the worst first
        if alert["state"] in TROUBLE:
            of_site.setdefault(alert["site"], alert)
    for row in rows:
        ended = (row["failed"] or 0) + (row["finished"] or 0)
        row["failed_part"] = (row["failed"] or 0) / ended if ended else None
        row["state"] = state_of(row, of_site.get(row["site"]))
    order = (*TROUBLE, "limited", "online", "idle")
    return sorted(rows, key=lambda row: (order.index(row["state"]), -(row["failed_part"] or 0), row["site"]))


def state_of(site: Mapping[str, Any], alert: Mapping[str, Any] | None) -> str:
    """The state of a site: broken, stopped, limited, online, or idle if nothing runs or ends there."""
    if alert is not None:
        return str(alert["state"])
    if site["limits_reached"]:
        return "limited"
    return "online" if site["running"] or site["starting"] or site.get("finished") or site.get("failed") else "idle"


async def site(call: Call) -> tuple[str, dict[str, Any]] | Response:
    """A site: its waiting, running and ended jobs, its limits and its queues. For a PanDA queue, lead to its site."""
    setup, name = call.setup, call.request.path_params["site"]
    since = span_of(call, "1d")
    tables = gather(
        table(call, _SITE, setup, name),
        table(call, _WAITING_AT, setup, name),
        table(call, _QUEUES_OF, setup, name),
        table(call, _LIMITS, setup, name),
        table(call, _FAILURES_AT, setup, name),
        table(call, _HOSTS_AT, setup, name),
        table(call, _QUARANTINES_AT, setup, name, _QUARANTINES + 1),
        table(call, _HEALTH_AT, setup, name),
        table(call, FRESHNESS, setup),
    )
    over_time = over(call, since, [(figure, by) for _, _, figure, by in _CHARTS_OF_SITE], {"site": name})
    found_of_all, sampled, alerts, happened, changed, rules = await gather(
        tables, over_time, firing(call), events(call, "site", name), _changed(call, name), limits(call)
    )
    found, waiting, queues, limits_of, failures, hosts, quarantines, health, [fresh] = found_of_all
    if not found and (queue := await table(call, _SITE_OF_QUEUE, setup, name)):
        return pages.redirect(f"/setups/{quote(setup, safe='')}/sites/{quote(queue[0]['site'])}")
    known = one(found, "site", name)
    for row in quarantines:
        row["key"] = quarantine_key(row["kind"], row["site"], row["name"])
    known["waiting"] = sum(row["waiting"] for row in queues)
    if not known["is_queue"]:
        known["waiting"] += sum(row["jobs"] for row in waiting)
    of_site = [row for row in alerts if row["site"] == name]
    threshold = limit(rules, "ends_at_site", "site", labels={"outcome": "failed"}, per="ends_at_site")
    worst = next((row for row in of_site if row["state"] in TROUBLE), None)
    return "site", {
        "alerts": sorted(of_site, key=lambda row: row is not worst), "state": state_of(known, worst),
        "usually": next((row["usually"] for row in of_site if row["rule"] == "site_fails_jobs"), None),
        "ended": ended(sampled[0]), "site": known, "since": since, "spans": list(SPANS),
        "charts": [
            chart(
                title, unit, of, by=by,
                events=happened.get((name, figure), []) + (changed if figure in _WITH_CHANGES else []),
            )
            for (title, unit, figure, by), of in zip(_CHARTS_OF_SITE, sampled, strict=True)
        ],
        "failed_part": chart("Failed of ended", "%", part_of(sampled[0], "failed"), percent=True, limit=threshold),
        "limits": limits_of, "waiting": waiting, "queues": queues, "failures": failures, "hosts": hosts,
        "quarantines": quarantines[:_QUARANTINES], "more_quarantines": len(quarantines) > _QUARANTINES,
        "health": health, "fresh": fresh,
    }  # fmt: skip


async def _changed(call: Call, site: str) -> list[Event]:
    """Limits and quarantines of a site that people changed lately. Only operators read changes."""
    if not call.caller.role.endswith("operator"):
        return []
    return [(row["at"], row["words"]) for row in await table(call, _CHANGES_AT, site, site, call.setup, site)]


def ended(found: Sampled | None) -> dict[str, float] | None:
    """The jobs that failed and finished within the last hour, by the chart of ends; None if none ended."""
    if found is None:
        return None
    since = found.began + (found.spans[-1] + 1) * found.width - timedelta(hours=1)
    first = next(n for n, span in enumerate(found.spans) if found.began + (span + 1) * found.width > since)
    jobs = {
        one.label: sum(map(mul, one.values[first:], found.samples[first:]))
        for one in found.series if one.label in ("failed", "finished")
    }  # fmt: skip
    failed, finished = jobs.get("failed", 0.0), jobs.get("finished", 0.0)
    return {"failed": failed, "all": failed + finished} if failed + finished > 0 else None


def quarantine_key(kind: str, site: str, name: str) -> str:
    """The name of a quarantine in an address."""
    return "/".join(quote(part, safe="") for part in (kind, site, name))


def one(rows: list[dict[str, Any]], kind: str, name: object) -> dict[str, Any]:
    """The only row. Raises Problem: 404."""
    if not rows:
        raise Problem(404, f"there is no {kind} {str(name)[:100]}", code="PB004")
    return rows[0]
