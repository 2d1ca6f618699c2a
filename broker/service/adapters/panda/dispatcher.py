"""PanDA's older API, /server/panda/METHOD: fields in, a StatusCode and more fields out.

The answer is JSON for clients that accept JSON, and otherwise URL-encoded fields.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Any, LiteralString
from urllib.parse import urlencode

import msgspec
from msgspec import Raw
from starlette.responses import Response

from broker.service.adapters.panda import jobs
from broker.service.adapters.panda.fields import ADAPTER, LIMIT_FACTOR, Fields, is_unread, read
from broker.service.bodies import FORM, JSON
from broker.service.endpoint import Call, Endpoint
from broker.service.problems import Problem, encoded, of_error

SUCCESS, TIMEOUT, NO_JOBS, FAILED, ROLE, PERMISSION = 0, 10, 20, 30, 60, 70
NOTHING = "NULL"
_WANTED = "siteName nJobs prodSourceLabel mem remaining_time computingElement resourceType prodUserID taskID"

_RESOURCE_TYPES: LiteralString = (
    "select resource_name, mincore, maxcore, minrampercore, maxrampercore from resource.resource_types(%s)"
)

Answer = dict[str, Any]


async def get_job(call: Call, fields: Fields) -> Answer:
    """One job, or as many jobs as nJobs asks for."""
    found = await jobs.acquire(call, fields, _WANTED)
    if isinstance(found, Problem):
        return {"StatusCode": TIMEOUT, "errorDialog": found.detail}
    if not found:
        return {"StatusCode": NO_JOBS, "errorDialog": "no jobs in PanDA"}
    return {"StatusCode": SUCCESS, "jobs": found} if fields.text("nJobs") else found[0]


async def update_job(call: Call, fields: Fields) -> Answer:
    """A heartbeat, a new state or the end of a job."""
    command = await jobs.update(call, jobs.Update.of(fields, "jobId state attemptNr pilotErrorCode"))
    return {"StatusCode": SUCCESS, "command": command or NOTHING}


async def get_status(call: Call, fields: Fields) -> Answer:
    """Statuses and attempts of jobs, in the order of their ids."""
    ids = fields.required_text("ids").split()
    asked = [Fields({"ids": one}).required_integer("ids", 1, jobs.LARGEST_ID) for one in ids]
    found = await jobs.statuses(call, asked)
    each = [found.get(job_id, ("notfound", 0)) for job_id in asked]
    return {
        "StatusCode": SUCCESS,
        "status": "+".join(status for status, _ in each),
        "attemptNr": "+".join(str(number) for _, number in each),
    }


async def update_worker_status(_: Call, __: Fields) -> Answer:
    """The start or end of a worker, of which nothing is kept."""
    return {"StatusCode": SUCCESS}


async def get_resource_types(call: Call, _: Fields) -> Answer:
    """The resource types of the setup."""
    rows = await call.rows(_RESOURCE_TYPES, call.setup)
    types = [dict(zip(rows.names, row, strict=True)) for row in rows]
    return {"StatusCode": SUCCESS, "Returns": 0, "ResourceTypes": types}


def _answering(run: Callable[[Call, Fields], Awaitable[Answer]]) -> Callable[[Call], Awaitable[Response]]:
    """Read the fields, and turn errors of the caller into a StatusCode."""

    async def answer(call: Call) -> Response:
        try:
            found = await run(call, await read(call, FORM, JSON))
        except Exception as error:
            problem = of_error(error)
            if is_unread(problem):
                raise problem from error
            found = {"StatusCode": _code(problem), "errorDialog": problem.detail}
        if JSON in call.request.headers.get("accept", ""):
            return Response(encoded(found), media_type=JSON)
        fields = {name: _text(value) for name, value in found.items()}
        return Response(urlencode(fields, errors="replace"), media_type="text/plain")

    return answer


def _code(problem: Problem) -> int:
    if problem.status != 403:
        return FAILED
    return ROLE if problem.code == "42501" else PERMISSION


def _text(value: object) -> str:
    """A value as a field: a text stays as it is, null becomes NULL, and other values are as in JSON, except True and
    False."""
    if isinstance(value, Raw):
        value = msgspec.json.decode(value) if re.match(rb'["tfn]', bytes(value)) else bytes(value).decode()
    if value is None:
        return NOTHING
    return str(value) if isinstance(value, str | bool | int) else encoded(value).decode()


def _endpoint(name: str, summary: str, run: Callable[[Call, Fields], Awaitable[Answer]]) -> Endpoint:
    path, answer = f"/server/panda/{name}", _answering(run)
    return Endpoint("POST", path, f"panda_{name}", summary, answer, limit_factor=LIMIT_FACTOR, adapter=ADAPTER)


ENDPOINTS = (
    _endpoint("getJob", "Get jobs", get_job),
    _endpoint("updateJob", "Report on a job, or end it", update_job),
    _endpoint("getStatus", "States of jobs", get_status),
    _endpoint("updateWorkerPilotStatus", "A worker began or ended", update_worker_status),
    _endpoint("getResourceTypes", "Resource types of the setup", get_resource_types),
)
