"""The jobs that the caller has or has ended, among some."""

from collections.abc import Iterable
from typing import LiteralString

from broker.service.endpoint import Call

_STATES: LiteralString = "select job_id, state from taskqueue.jobs_of_subject(%s, %s)"


async def states_of(call: Call, job_ids: Iterable[int | str]) -> dict[int, str]:
    """The states of these jobs: matched, running or the outcome. Jobs of other callers are left out."""
    return dict(await call.rows(_STATES, call.setup, [int(job_id) for job_id in job_ids]))
