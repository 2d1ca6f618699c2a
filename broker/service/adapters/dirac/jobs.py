"""The jobs that the caller has or has ended, and reschedules of a job."""

from collections.abc import Iterable
from typing import LiteralString

import psycopg
from psycopg.types.json import Jsonb

from broker.service.adapters import facts
from broker.service.endpoint import Call
from broker.service.problems import of_error
from broker.service.reports import Unproven

_STATES: LiteralString = "select job_id, state from taskqueue.jobs_of_subject(%s, %s)"
_JUDGES: LiteralString = "select taskqueue.judges_error(%s, %s)"
_RELEASE: LiteralString = "select taskqueue.release_job(%s, %s, null)"


async def states_of(call: Call, job_ids: Iterable[int | str]) -> dict[int, str]:
    """The states of these jobs: matched, running or the outcome. Jobs of other callers are left out."""
    return dict(await call.rows(_STATES, call.setup, [int(job_id) for job_id in job_ids]))


async def reschedule(call: Call, job_id: int, run: facts.Facts) -> tuple[str, str]:
    """End a job as failed, with these facts, if a retry rule of the setup names DIRAC's reschedules; otherwise return
    the job to its TaskQueue. The answer is the outcome or returned, or stale with the reason if the caller does not
    have the job. Raises Problem."""
    error = [{"source": "dirac", "text": "Job Rescheduled"}, *run.get("error", [])]
    if await call.rows(_JUDGES, call.setup, Jsonb(error)) == [(True,)]:
        end = Unproven(job_id, outcome="failed", **{**run, "error": error})
        _, verdict, reason = await call.service.ends.answer(call.caller, end)
        return verdict, reason
    try:
        await call.rows(_RELEASE, call.setup, job_id)
    except psycopg.Error as error:
        found = of_error(error)
        if found.code != "PB003":
            raise found from None
        return "stale", found.detail
    return "returned", ""
