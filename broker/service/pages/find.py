"""Finding a thing by its number or name."""

from typing import LiteralString
from urllib.parse import quote

from starlette.responses import Response

from broker.service import pages
from broker.service.endpoint import Call, Endpoint
from broker.service.pages.frame import ADAPTER, BASE, framed, refused
from broker.service.problems import Problem

_NUMBERED: LiteralString = """
    select 'tasks', 'Task' where exists (select from monitor.task t where t.setup = %s and t.task_id = %s)
     union all
    select 'jobs', 'Job' where exists (select from monitor.listed_job j where j.setup = %s and j.job_id = %s)
     union all
    select 'task-queues', 'TaskQueue'
     where exists (select from monitor.task_queue q where q.setup = %s and q.task_queue_id = %s)
     union all
    select 'runs', 'Run' where exists (select from monitor.run r where r.setup = %s and r.run_id = %s)
"""
# Names that begin so, ignoring case. A site without a queue that no resource asked from lately is found by its whole
# name, which an index has.
_NAMED: LiteralString = """
    with wanted as (select lower(%s::text) as begin, %s::text as whole, %s::text as setup)
    select n.kind, n.name
      from wanted w
     cross join lateral (
       (select distinct 'Site' as kind, q.site as name, 1 as place from monitor.queue q
         where q.setup = w.setup and starts_with(lower(q.site), w.begin) limit 21)
       union
       (select distinct 'Site', r.resource ->> 'Site', 1 from monitor.resource_seen r
         where r.setup = w.setup and jsonb_typeof(r.resource -> 'Site') = 'string'
           and starts_with(lower(r.resource ->> 'Site'), w.begin) limit 21)
       union
       select 'Site', w.whole, 1
        where exists (select from monitor.lease l where l.setup = w.setup and l.site = w.whole)
           or exists (select from monitor.waiting_at_site s where s.setup = w.setup and s.site = w.whole)
       union all
       (select 'Queue', q.queue, 2 from monitor.queue q
         where q.setup = w.setup and starts_with(lower(q.queue), w.begin) limit 21)
       union all
       (select distinct 'Group', g.owner_group, 3 from monitor.task_queue g
         where g.setup = w.setup and starts_with(lower(g.owner_group), w.begin) limit 21)
       union all
       (select distinct 'Owner', g.owner_dn, 4 from monitor.task_queue g
         where g.setup = w.setup and starts_with(lower(g.owner_dn), w.begin) limit 21)
       union all
       (select distinct 'Owner of tasks', t.user_name, 5 from monitor.task t
         where t.setup = w.setup and starts_with(lower(t.user_name), w.begin) limit 21)
       union all
       (select distinct 'Share of tasks', t.gshare, 6 from monitor.task t
         where t.setup = w.setup and starts_with(lower(t.gshare), w.begin) limit 21)) n
     order by n.name = w.whole desc, n.place, n.name collate "C" limit 21
"""
_PAGES = {
    "Site": "/sites/{}", "Queue": "/queues/{}", "Group": "/task-queues?owner_group={}",
    "Owner": "/task-queues?owner={}", "Owner of tasks": "/tasks?owner={}", "Share of tasks": "/tasks?share={}",
}  # fmt: skip
_MOST = 20
_LONGEST = 300
_DIGITS = 19


async def find(call: Call) -> Response:
    """Lead to the only thing with a number or with a name that begins so, or list the first twenty of them."""
    what = call.request.query_params.get("what", "").strip()
    if not 0 < len(what) <= _LONGEST or "\0" in what:
        return await refused(call, "/find", Problem(422, "type a number or a name", code="PB001", key="what"))
    found = await _found(call, what)
    if len(found) == 1:
        return pages.redirect(found[0][0])
    shown = {"what": what, "found": found[:_MOST], "most": _MOST, "more": len(found) > _MOST}
    return await framed(call, "/find", "find", shown, 200 if found else 404)


async def _found(call: Call, what: str) -> list[tuple[str, str, str]]:
    """Pages of things, with the kind and the name of each."""
    base = f"/setups/{quote(call.setup, safe='')}"
    if what.isdecimal() and len(what) < _DIGITS:
        rows = await call.rows(_NUMBERED, *[call.setup, int(what)] * 4)
        if rows:
            return [(f"{base}/{folder}/{what}", kind, what) for folder, kind in rows]
    rows = await call.rows(_NAMED, what, what, call.setup)
    return [(f"{base}{_PAGES[kind].format(quote(name))}", kind, name) for kind, name in rows]


FIND = Endpoint(
    "GET", BASE + "/find", "page_find", "Find by a number or a name", find, adapter=ADAPTER, long=True, reads=True
)
