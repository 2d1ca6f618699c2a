"""Calls of submitters and operators: insert, cancel, hold, resume, retry."""

from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any, LiteralString, NamedTuple

import msgspec
import psycopg
from starlette.requests import ClientDisconnect

from broker.acts import CANCEL_JOBS, HOLD, RESUME, RETRY_JOBS, Act
from broker.errors import BadRequest
from broker.json_text import Written
from broker.service import bodies
from broker.service.agents import item_error
from broker.service.calls import Connection
from broker.service.endpoint import Call
from broker.service.models import Cancelled, Held, Inserted, Retried
from broker.service.problems import Problem, of_error
from broker.translate import require_no_document, translated_requirements

_INSERT: LiteralString = "select jobs, waiting, ended from taskqueue.insert_counted(%s, %s::jsonb, %s)"
_TRY: LiteralString = "select taskqueue.insert_jobs(%s, %s::jsonb)"
_MAY_INSERT: LiteralString = "select has_function_privilege('taskqueue.insert_jobs(text, jsonb, uuid)', 'execute')"

CHUNK = 1000
"""Jobs of a chunk, which is stored at once."""
_CHUNK_BYTES = 4 * 2**20
_PATIENCE = 10.0  # seconds that a chunk waits for its turn

_OF_A_LINE = (400, 403, 409, 422)  # refusals that one line may cause


class Line(NamedTuple):
    """A line of a submission: its number, its text, and the ids of its jobs."""

    number: int
    text: str
    ids: list[Any]


async def insert(call: Call) -> Inserted:
    """Store jobs, chunk by chunk as they come. The first refused chunk ends the call; earlier chunks stay."""
    await _require_right(call)
    key = call.key()
    done = Inserted(0, 0, 0, 0, 0, [])
    number = 0
    try:
        async for chunk in _chunks(_lines(call)):
            number += 1
            async with call.service.database.long_call(call.setup, _PATIENCE):  # not while a slow client sends
                await call.require_credential()
                try:
                    [counts] = await call.rows(_INSERT, call.setup, _array(chunk), call.id_of(f"{key}\n{number}"))
                except psycopg.Error as error:
                    raise await _named(call, chunk, of_error(error)) from error
            jobs, moved, restarted = counts
            done.stored += len(chunk)
            done.jobs += jobs
            done.new += jobs - moved - restarted
            done.moved += moved
            done.restarted += restarted
            done.job_ids += [job for line in chunk for job in line.ids]
    except ClientDisconnect:
        raise
    except Exception as error:
        problem = of_error(error)
        if done.stored or problem.status not in (401, 403) or "line" in problem.more:
            problem.more |= {"stored": done.stored, "jobs": done.jobs}
        raise problem from error
    return done


def _array(lines: Sequence[Line]) -> str:
    return f"[{','.join(line.text for line in lines)}]"


async def _named(call: Call, chunk: Sequence[Line], problem: Problem) -> Problem:
    """The refusal of a chunk with the line that causes it, and its job; with the chunk's first line if none alone
    does."""
    wrong = await call.steps(partial(_refused, call.setup, chunk)) if problem.status in _OF_A_LINE else None
    problem.more["line"] = (wrong or chunk[0]).number
    if wrong is None:
        return problem
    job = f", job {wrong.ids[0]}" if len(wrong.ids) == 1 else ""
    if job and isinstance(wrong.ids[0], int):
        problem.more["job_id"] = wrong.ids[0]
    problem.detail = f"line {wrong.number}{job}: {problem.detail}"
    return problem


async def _refused(setup: str, lines: Sequence[Line], connection: Connection) -> Line | None:
    """The line for which lines are refused, by trying parts of them and storing none."""

    async def is_refused(part: Sequence[Line]) -> bool:
        try:
            async with connection.transaction(force_rollback=True):
                await connection.execute(_TRY, [setup, _array(part)])
        except psycopg.Error as error:
            return of_error(error).status in _OF_A_LINE
        return False

    while len(lines) > 1:
        half = lines[: len(lines) // 2]
        lines = half if await is_refused(half) else lines[len(half) :]
    return lines[0] if await is_refused(lines) else None


async def _require_right(call: Call) -> None:
    """Refuse a caller who may not insert before its long body is read. Raises Problem: 403."""
    if await call.rows(_MAY_INSERT) != [(True,)]:
        denied = of_error(psycopg.errors.InsufficientPrivilege("permission denied for function insert_jobs"))
        denied.headers["Connection"] = "close"  # so that the rest of the body is not read
        raise denied


async def _chunks(lines: AsyncIterator[Line]) -> AsyncIterator[list[Line]]:
    chunk: list[Line] = []
    jobs = size = 0
    async for line in lines:
        if chunk and (jobs + len(line.ids) > CHUNK or size + len(line.text) > _CHUNK_BYTES):
            yield chunk
            chunk, jobs, size = [], 0, 0
        chunk.append(line)
        jobs += len(line.ids)
        size += len(line.text)
    if chunk:
        yield chunk


async def _lines(call: Call) -> AsyncIterator[Line]:
    """The elements of a JSON array, or the lines of a stream that are not empty."""
    if bodies.media_type(call.request, (bodies.LINES, bodies.JSON)) == bodies.JSON:
        body = await bodies.read(call.request, _CHUNK_BYTES)
        if body.lstrip().startswith(b"{"):
            _line(body, 1)  # refuses a document of DiracX in its words, before the body is refused as no array
        for number, raw in enumerate(bodies.decoded(body, list[msgspec.Raw]), 1):
            yield _line(bytes(raw), number)
        return
    begun, number = bytearray(), 0
    async for part in bodies.stream(call.request, call.limit):
        begun += part
        if b"\n" in part:
            *whole, rest = bytes(begun).split(b"\n")
            begun = bytearray(rest)
            for text in whole:
                number += 1
                if text.strip():
                    yield _line(text, number)
        if len(begun) > _CHUNK_BYTES:
            fault = f"line {number + 1} has more than {_CHUNK_BYTES} bytes"
            raise Problem(422, fault, code="PB001", line=number + 1)
    if begun.strip():
        yield _line(bytes(begun), number + 1)


def _line(text: bytes, number: int) -> Line:
    """A line, and the ids in it. The database checks all of them; here it is JSON that the database can read."""
    try:
        found = bodies.decoded(text, dict[str, Any], f"line {number}", Written)
    except Problem as problem:
        problem.more["line"] = number
        raise
    jobs = found.get("jobs")
    of_group = [job[0] if isinstance(job, list) and job else None for job in jobs] if isinstance(jobs, list) else None
    ids = of_group if of_group is not None else [found.get("job_id")]
    for job_id in ids:
        if isinstance(job_id, float):  # the database takes 1e3, and would call the job 1000
            raise Problem(
                422, f"line {number}: job_id is {job_id}, which is not an integer", code="PB001", key="job_id",
                value=str(job_id), line=number,
            )  # fmt: skip
    given = found.get("requirements")
    try:
        require_no_document(found)
        wanted = translated_requirements(given)
    except BadRequest as error:
        job = f", job {ids[0]}" if len(ids) == 1 and isinstance(ids[0], int) else ""
        detail = f"line {number}{job}: {error.message}"
        raise Problem(422, detail, code="PB001", hint=error.hint, key="requirements", line=number) from None
    if wanted is not given:
        parts = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        text = msgspec.json.encode({**parts, "requirements": wanted})
    return Line(number, text.decode().strip(), ids)


async def cancel(call: Call) -> list[Cancelled]:
    """Cancel jobs, all or none."""
    return [
        Cancelled(*row)
        for row in await call.rows(CANCEL_JOBS.statement, call.setup, call.body.job_ids, call.body.reason)
    ]


async def hold(call: Call) -> list[Held]:
    """Hold jobs, each on its own."""
    return await _each(call, HOLD)


async def resume(call: Call) -> list[Held]:
    """Resume jobs, each on its own."""
    return await _each(call, RESUME)


async def retry(call: Call) -> list[Retried]:
    """Try failed, cancelled or closed jobs again, all or none."""
    return [Retried(*row) for row in await call.rows(RETRY_JOBS.statement, call.setup, call.body.job_ids)]


async def _each(call: Call, act: Act) -> list[Held]:
    ids: list[int] = call.body.job_ids
    each = [(call.setup, "job", str(job_id)) for job_id in ids]
    answers = await call.each(act.statement, each)
    return [
        Held(job_id, answer[0][0] > 0, None) if isinstance(answer, list) else Held(job_id, False, item_error(answer))
        for job_id, answer in zip(ids, answers, strict=True)
    ]
