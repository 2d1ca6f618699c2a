"""Finding a thing by its number or name."""

from typing import LiteralString
from urllib.parse import quote

from starlette.responses import Response

from broker.service import pages
from broker.service.endpoint import Call, Endpoint
from broker.service.pages.frame import ADAPTER, BASE, framed
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
_NAMED: LiteralString = """
    select 'queues', 'Queue' where exists (select from monitor.queue q where q.setup = %s and q.queue = %s)
     union all
    select 'sites', 'Site'
     where exists (select from monitor.queue q where q.setup = %s and q.site = %s)
        or exists (select from monitor.lease l where l.setup = %s and l.site = %s)
        or exists (select from monitor.waiting_at_site w where w.setup = %s and w.site = %s)
"""
_LONGEST = 300
_DIGITS = 19


async def find(call: Call) -> Response:
    """Lead to the only thing with a number or name, or list all of them."""
    what = call.request.query_params.get("what", "").strip()
    if not 0 < len(what) <= _LONGEST or "\0" in what:
        raise Problem(422, "what names nothing", code="PB001", key="what", hint="Give a number or a name.")
    if what.isdecimal() and len(what) < _DIGITS:
        rows = await call.rows(_NUMBERED, *[call.setup, int(what)] * 4)
    else:
        rows = await call.rows(_NAMED, *[call.setup, what] * 4)
    base = f"/setups/{quote(call.setup, safe='')}"
    found = [(f"{base}/{folder}/{quote(what)}", f"{name} {what}") for folder, name in rows]
    if len(found) == 1:
        return pages.redirect(found[0][0])
    return await framed(call, "/find", "find", {"what": what, "found": found}, 200 if found else 404)


FIND = Endpoint(
    "GET", BASE + "/find", "page_find", "Find by a number or a name", find, adapter=ADAPTER, long=True, reads=True
)
