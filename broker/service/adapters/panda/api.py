"""PanDA's API v1, /api/v1/pilot/METHOD. Every answer is {success, message, data} with the status 200."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from broker.service.adapters.panda import dispatcher, jobs
from broker.service.adapters.panda.fields import ADAPTER, LIMIT_FACTOR, Fields, is_unread, read
from broker.service.bodies import JSON
from broker.service.endpoint import Call, Endpoint
from broker.service.problems import Problem, of_error

Envelope = dict[str, Any]
_WANTED = (
    "site_name n_jobs prod_source_label memory remaining_time computing_element resource_type prod_user_id task_id"
)
_UPDATE = "job_id job_status attempt_nr pilot_error_code"


def envelope(data: Any = None) -> Envelope:
    """The answer to a successful call."""
    return {"success": True, "message": "", "data": data}


def failure(message: str) -> Envelope:
    """The answer to a failed call."""
    return {"success": False, "message": message, "data": None}


async def acquire_jobs(call: Call, fields: Fields) -> Envelope:
    """Jobs for a pilot."""
    found = await jobs.acquire(call, fields, _WANTED)
    if isinstance(found, Problem):
        return failure("Timed out")
    return envelope({"StatusCode": dispatcher.SUCCESS, "jobs": found}) if found else failure("No jobs in PanDA")


async def update_job(call: Call, fields: Fields) -> Envelope:
    """A heartbeat, a new state or the end of a job."""
    return _updated(await jobs.update(call, jobs.Update.of(fields, _UPDATE)))


async def update_jobs_bulk(call: Call, fields: Fields) -> Envelope:
    """Updates of many jobs, each with an answer."""
    listed = fields.values.get("job_list")
    if not isinstance(listed, list):
        raise Problem(422, "job_list is missing, or not a list", code="PB001", key="job_list")
    if len(listed) > jobs.MOST_JOBS:
        raise Problem(422, f"job_list has {len(listed)} jobs, more than {jobs.MOST_JOBS}", code="PB001", key="job_list")
    answers = await asyncio.gather(
        *(_updated_one(call, one, f"job_list[{number}]") for number, one in enumerate(listed)), return_exceptions=True
    )
    return envelope([_of_one(answer) for answer in answers])


async def _updated_one(call: Call, given: object, where: str) -> str | None:
    """The command about one of many jobs. Raises Problem."""
    if not isinstance(given, dict):
        raise Problem(422, f"{where} is not an object", code="PB001", key=where)
    return await jobs.update(call, jobs.Update.of(Fields(given), _UPDATE))


def _updated(command: str | None) -> Envelope:
    return envelope({"StatusCode": dispatcher.SUCCESS, "command": command})


def _of_one(answer: str | BaseException | None) -> Envelope:
    """The answer to one of many updates. Raises an error that concerns the whole call."""
    if not isinstance(answer, BaseException):
        return _updated(answer)
    if not isinstance(answer, Exception):
        raise answer
    return failure(_told(of_error(answer)))


def _told(problem: Problem) -> str:
    """The answer to a caller's error. Raises an error that remains an HTTP status."""
    if is_unread(problem):
        raise problem
    return problem.detail


async def get_job_status(call: Call, _: Fields) -> Envelope:
    """The status and attempt of each job."""
    ids = call.request.query_params.getlist("job_ids")
    asked = [Fields({"job_ids": one}).required_integer("job_ids", 1, jobs.LARGEST_ID) for one in ids]
    found = await jobs.statuses(call, asked)
    each = [(job_id, *found.get(job_id, ("not found", 0))) for job_id in asked]
    return envelope([{"job_id": i, "status": status, "attempt_number": number} for i, status, number in each])


async def note(_: Call, __: Fields) -> Envelope:
    """A report about a worker or a node, of which nothing is kept."""
    return envelope()


def _answering(
    run: Callable[[Call, Fields], Awaitable[Envelope]], has_body: bool
) -> Callable[[Call], Awaitable[Envelope]]:
    async def answer(call: Call) -> Envelope:
        try:
            return await run(call, await read(call, JSON) if has_body else Fields({}))
        except Exception as error:
            return failure(_told(of_error(error)))

    return answer


def _endpoint(method: str, name: str, summary: str, run: Callable[[Call, Fields], Awaitable[Envelope]]) -> Endpoint:
    answer = _answering(run, has_body=method == "POST")
    path = f"/api/v1/pilot/{name}"
    return Endpoint(method, path, f"panda_{name}", summary, answer, limit_factor=LIMIT_FACTOR, adapter=ADAPTER)


ENDPOINTS = (
    _endpoint("POST", "acquire_jobs", "Get jobs", acquire_jobs),
    _endpoint("POST", "update_job", "Report on a job, or end it", update_job),
    _endpoint("POST", "update_jobs_bulk", "Report on jobs, or end them", update_jobs_bulk),
    _endpoint("GET", "get_job_status", "States of jobs", get_job_status),
    _endpoint("POST", "update_worker_status", "A worker began or ended", note),
    _endpoint("POST", "update_worker_node", "What a node has", note),
    _endpoint("POST", "update_worker_node_gpu", "What GPUs a node has", note),
)
