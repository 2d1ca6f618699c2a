"""The client of a submitter: one job, or a stream of any length in constant memory. Sync and async.

A stream holds mappings of two forms, in any order: a job {job_id, requirements, user_priority}, and a group of jobs
with the same requirements {requirements, jobs: [[id, user_priority], ...]}, which is the fast one.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from broker.client import AsyncClient, Call, Client, json_text, jsonb, only
from broker.errors import BadRequest

JOBS_A_CALL = 100_000  # what taskqueue.insert_jobs takes
MANY = 1_000  # jobs of a stream after which the planner's statistics are refreshed at once
CHARACTERS_A_CALL = 16_000_000  # of JSON: keeps a chunk of jobs with long requirements small, too


@dataclass(frozen=True)
class Chunk:
    """A part of a stream, to be stored in one call: the JSON array, and how many jobs it holds."""

    text: str
    jobs: int


def chunks(items: Iterable[Mapping[str, object]]) -> Iterator[Chunk]:
    """Cut a stream into chunks that one call takes; a longer group is divided. Holds one chunk at a time.

    Raises BadRequest for an element that is no mapping, or that JSON cannot say.
    """
    texts: list[str] = []
    jobs = characters = 0
    for part, count in _parts(items):
        text = json_text(part)
        if texts and (jobs + count > JOBS_A_CALL or characters + len(text) > CHARACTERS_A_CALL):
            yield Chunk(f"[{','.join(texts)}]", jobs)
            texts, jobs, characters = [], 0, 0
        texts.append(text)
        jobs += count
        characters += len(text)
    if texts:
        yield Chunk(f"[{','.join(texts)}]", jobs)


def _parts(items: Iterable[Mapping[str, object]]) -> Iterator[tuple[Mapping[str, object], int]]:
    """The elements with the number of their jobs, groups of more than a call takes divided."""
    for item in items:
        if not isinstance(item, Mapping):
            raise BadRequest(
                f"this element of the stream is not a mapping: {str(item)[:100]}",
                "give {job_id, requirements, user_priority} or {requirements, jobs: [[id, user_priority], ...]}",
            )
        jobs = item.get("jobs")
        if not isinstance(jobs, list):
            yield item, 1
        elif len(jobs) <= JOBS_A_CALL:
            yield item, len(jobs)
        else:
            for start in range(0, len(jobs), JOBS_A_CALL):
                part = jobs[start : start + JOBS_A_CALL]
                yield {**item, "jobs": part}, len(part)


def _insert_job(
    setup: str, job_id: int, requirements: Mapping[str, object], user_priority: int, request_id: uuid.UUID | None
) -> Call[int]:
    query = b"select taskqueue.insert_job(%s, %s, %s, %s, %s)"
    return Call(query, (setup, job_id, jsonb(requirements), user_priority, request_id or uuid.uuid4()), only)


def _insert_jobs(setup: str, chunk: Chunk) -> Call[int]:
    return Call(b"select taskqueue.insert_jobs(%s, %s::jsonb, %s)", (setup, chunk.text, uuid.uuid4()), only)


def _refresh_statistics() -> Call[None]:
    return Call(b"select taskqueue.refresh_statistics()", (), lambda rows: None)


class Submitter(Client):
    """What a submitter calls. One object serves any number of threads; see Client for its arguments.

    Its methods raise BadRequest (the message names the key; nothing of that call is stored), WrongState for a job
    that is leased, NotAllowed, ConnectError. After a lost connection a call is repeated once, and stores nothing twice.
    """

    def submit(
        self,
        job_id: int,
        requirements: Mapping[str, object],
        user_priority: int = 1,
        request_id: uuid.UUID | None = None,
    ) -> int:
        """Insert one job and return its TaskQueue; a job that waits already is moved."""
        return self.run(_insert_job(self.setup, job_id, requirements, user_priority, request_id))

    def submit_many(
        self, items: Iterable[Mapping[str, object]], on_chunk: Callable[[int], object] | None = None
    ) -> int:
        """Insert a stream and return how many jobs it had. Each chunk (up to 100,000 jobs) is stored when it is sent.

        on_chunk is called after each with the jobs stored so far. An error leaves the chunks before it stored.
        """
        stored = 0
        for chunk in chunks(items):
            stored += self.run(_insert_jobs(self.setup, chunk))
            if on_chunk:
                on_chunk(stored)
        if stored >= MANY:
            self.run(_refresh_statistics())
        return stored


class AsyncSubmitter(AsyncClient):
    """Submitter for asyncio: the same methods, awaited."""

    async def submit(
        self,
        job_id: int,
        requirements: Mapping[str, object],
        user_priority: int = 1,
        request_id: uuid.UUID | None = None,
    ) -> int:
        """Insert one job and return its TaskQueue; see Submitter.submit."""
        return await self.run(_insert_job(self.setup, job_id, requirements, user_priority, request_id))

    async def submit_many(
        self, items: Iterable[Mapping[str, object]], on_chunk: Callable[[int], object] | None = None
    ) -> int:
        """Insert a stream and return how many jobs it had; see Submitter.submit_many."""
        stored = 0
        for chunk in chunks(items):
            stored += await self.run(_insert_jobs(self.setup, chunk))
            if on_chunk:
                on_chunk(stored)
        if stored >= MANY:
            await self.run(_refresh_statistics())
        return stored
