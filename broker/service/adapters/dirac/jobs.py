"""The jobs that the caller has or has ended, and the return of a job to its TaskQueue."""

from collections.abc import Iterable
from typing import LiteralString

import psycopg

from broker.service.endpoint import Call
from broker.service.problems import of_error

_STATES: LiteralString = "select job_id, state from taskqueue.jobs_of_subject(%s, %s)"
_RELEASE: LiteralString = "select taskqueue.release_job(%s, %s, null)"


async def states_of(call: Call, job_ids: Iterable[int | str]) -> dict[int, str]:
    """The states of these jobs: matched, running or the outcome. Jobs of other callers are left out."""
    return dict(await call.rows(_STATES, call.setup, [int(job_id) for job_id in job_ids]))


async def give_back(call: Call, job_id: int) -> tuple[str, str]:
    """Return a job to its TaskQueue: returned, or stale with the reason if the caller does not have it. Raises
    Problem."""
    try:
        await call.rows(_RELEASE, call.setup, job_id)
    except psycopg.Error as error:
        found = of_error(error)
        if found.code != "PB003":
            raise found from None
        return "stale", found.detail
    return "returned", ""
