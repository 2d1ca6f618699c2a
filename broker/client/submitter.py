"""The client of a submitter: one job, or a stream of any length in constant memory. Sync and async.

A stream holds mappings of two forms, in any order: a job {job_id, requirements, user_priority}, and a group of jobs
with the same requirements {requirements, jobs: [[id, user_priority], ...]}, which is the fast one.
"""

import json
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from broker.client.call import AsyncClient, Call, Client, jsonb, only
from broker.errors import BadRequest, BrokerError
from broker.json_text import json_text

JOBS_A_CALL = 100_000  # the most that taskqueue.insert_jobs takes
MANY = 1_000  # jobs of a stream after which the planner's statistics are refreshed at once
CHARACTERS_A_CALL = 16_000_000  # of JSON, so that a chunk of jobs with long requirements also stays small


@dataclass(frozen=True)
class Chunk:
    """A part of a stream that is stored in one call: its elements as JSON, their numbers in the stream (the first is
    1), and the number of jobs."""

    texts: Sequence[str]
    numbers: Sequence[int]
    jobs: int

    @property
    def text(self) -> str:
        """The JSON array."""
        return f"[{','.join(self.texts)}]"


def chunks(items: Iterable[Mapping[str, object]]) -> Iterator[Chunk]:
    """Cut a stream into chunks that one call takes; a longer group is divided. Holds one chunk at a time.

    Raises BadRequest for an element that is not a mapping, or that has no JSON form.
    """
    texts: list[str] = []
    numbers: list[int] = []
    jobs = characters = 0
    for number, part, count in _parts(items):
        text = json_text(part)
        if texts and (jobs + count > JOBS_A_CALL or characters + len(text) > CHARACTERS_A_CALL):
            yield Chunk(texts, numbers, jobs)
            texts, numbers, jobs, characters = [], [], 0, 0
        texts.append(text)
        numbers.append(number)
        jobs += count
        characters += len(text)
    if texts:
        yield Chunk(texts, numbers, jobs)


def _parts(items: Iterable[Mapping[str, object]]) -> Iterator[tuple[int, Mapping[str, object], int]]:
    """The elements with their numbers and their counts of jobs; a group too large for one call is divided."""
    for number, item in enumerate(items, 1):
        if not isinstance(item, Mapping):
            hint = "give {job_id, requirements, user_priority} or {requirements, jobs: [[id, user_priority], ...]}"
            raise BadRequest(f"this element of the stream is not a mapping: {str(item)[:100]}", hint)
        jobs = item.get("jobs")
        if not isinstance(jobs, list):
            yield number, item, 1
        elif len(jobs) <= JOBS_A_CALL:
            yield number, item, len(jobs)
        else:
            for start in range(0, len(jobs), JOBS_A_CALL):
                part = jobs[start : start + JOBS_A_CALL]
                yield number, {**item, "jobs": part}, len(part)


@dataclass
class There:
    """Jobs of a stream that existed when their chunk was sent: waiting jobs, which are moved, and ended jobs, which
    start again. Jobs whose CPU time changes: raised to the next CPU bucket, or cut to the highest."""

    waiting: int = 0
    ended: int = 0
    raised: int = 0
    cut: int = 0

    def add(self, counts: Sequence[int]) -> None:
        """Count the jobs of a chunk, by the columns of taskqueue.jobs_there."""
        waiting, ended, raised, cut = counts
        self.waiting += waiting
        self.ended += ended
        self.raised += raised
        self.cut += cut

    def changed_cpu_times(self) -> str | None:
        """The jobs whose CPU time changes, in words; None if there are none."""
        parts = [f"{self.raised:,} raised to the next CPU bucket"] if self.raised else []
        parts += [f"{self.cut:,} cut to the highest CPU bucket"] if self.cut else []
        return f"CPU times of jobs changed: {', '.join(parts)}" if parts else None


Where = Callable[[int], str]
"""A function that describes the place of the n-th element of a stream."""


def an_element(number: int) -> str:
    """The place of an element in a stream that is not a file."""
    return f"element {number}"


def search(chunk: Chunk) -> Generator[Chunk, bool, int | None]:
    """Find the element for which a chunk is refused: yields parts, is sent whether each is refused, returns the
    element's index. Returns None if no single element is refused (two contradict each other, or the trouble has
    passed).
    """
    low, high = 0, len(chunk.texts)
    while high - low > 1:
        middle = (low + high) // 2
        if (yield Chunk(chunk.texts[low:middle], chunk.numbers[low:middle], 0)):
            high = middle
        else:
            low = middle
    return low if (yield Chunk(chunk.texts[low:high], chunk.numbers[low:high], 0)) else None


def _named(error: BadRequest, chunk: Chunk, index: int | None, where: Where) -> BadRequest:
    """The error of a chunk with its element (and job), or with the beginning and end of the chunk."""
    if index is None:
        place = f"{where(chunk.numbers[0])} to {where(chunk.numbers[-1])}"
    else:
        element = json.loads(chunk.texts[index])
        job = f", job {element['job_id']}" if "job_id" in element else ""
        place = f"{where(chunk.numbers[index])}{job}"
    return BadRequest(f"{place}: {error.message}", error.hint, error.sqlstate, error.detail)


def _after(error: BrokerError, stored: int, last: int, where: Where) -> BrokerError:
    """The error, with the stored part of the stream and advice on how to go on."""
    if not stored and error.sqlstate == "42501":
        return error  # the caller expects that nothing is stored
    note = "of this stream nothing is stored"
    if stored:
        note = (
            f"the first {stored:,} jobs are stored (up to {where(last)}): put it right and submit from there on,"
            " or everything again, which changes nothing for the jobs that wait"
        )
    hint = f"{error.hint.rstrip('.')}; {note}" if error.hint else note
    return type(error)(error.message, hint, error.sqlstate, error.detail)


def _insert_job(
    setup: str, job_id: int, requirements: Mapping[str, object], user_priority: int, request_id: uuid.UUID | None
) -> Call[int]:
    query = b"select taskqueue.insert_job(%s, %s, %s, %s, %s)"
    return Call(query, (setup, job_id, jsonb(requirements), user_priority, request_id or uuid.uuid4()), only)


def _insert_jobs(setup: str, chunk: Chunk) -> Call[int]:
    return Call(b"select taskqueue.insert_jobs(%s, %s::jsonb, %s)", (setup, chunk.text, uuid.uuid4()), only)


def _jobs_there(setup: str, chunk: Chunk) -> Call[Sequence[int]]:
    query = b"select waiting, ended, raised, cut from taskqueue.jobs_there(%s, %s::jsonb)"
    return Call(query, (setup, chunk.text), lambda rows: rows[0])


def _refresh_statistics() -> Call[None]:
    return Call(b"select taskqueue.refresh_statistics()", (), lambda rows: None)


class Submitter(Client):
    """The calls of a submitter. One object serves any number of threads; see Client for its arguments.

    Its methods raise BadRequest (the message names the key; nothing of that call is stored), WrongState for a job
    that is leased, NotAllowed, ConnectError. After a lost connection a call is repeated, and stores nothing twice.
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
        self,
        items: Iterable[Mapping[str, object]],
        on_chunk: Callable[[int], object] | None = None,
        where: Where = an_element,
        there: There | None = None,
    ) -> int:
        """Insert a stream and return how many jobs it had. Each chunk (up to 100,000 jobs) is stored when it is sent.

        on_chunk is called after each chunk with the number of jobs stored so far. `there` counts the jobs that existed
        before, and changed CPU times, which costs one query per chunk. After an error the earlier chunks stay stored;
        the error names the element (in the words of `where`), and the number of stored jobs.
        """
        stored = last = 0
        try:
            for chunk in chunks(items):
                if there is not None:
                    there.add(self.run(_jobs_there(self.setup, chunk)))
                try:
                    stored += self.run(_insert_jobs(self.setup, chunk))
                except BadRequest as error:
                    raise _named(error, chunk, self._refused(chunk), where) from error
                last = chunk.numbers[-1]
                if on_chunk:
                    on_chunk(stored)
        except BrokerError as error:
            raise _after(error, stored, last, where) from error
        if stored >= MANY:
            self.run(_refresh_statistics())
        return stored

    def _refused(self, chunk: Chunk) -> int | None:
        """The index of the element for which a chunk is refused; tries parts of it, and stores none."""
        looking = search(chunk)
        try:
            part = next(looking)
            while True:
                part = looking.send(self.refuses(_insert_jobs(self.setup, part)))
        except StopIteration as found:
            return found.value  # type: ignore[no-any-return]


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
        self,
        items: Iterable[Mapping[str, object]],
        on_chunk: Callable[[int], object] | None = None,
        where: Where = an_element,
        there: There | None = None,
    ) -> int:
        """Insert a stream and return how many jobs it had; see Submitter.submit_many."""
        stored = last = 0
        try:
            for chunk in chunks(items):
                if there is not None:
                    there.add(await self.run(_jobs_there(self.setup, chunk)))
                try:
                    stored += await self.run(_insert_jobs(self.setup, chunk))
                except BadRequest as error:
                    raise _named(error, chunk, await self._refused(chunk), where) from error
                last = chunk.numbers[-1]
                if on_chunk:
                    on_chunk(stored)
        except BrokerError as error:
            raise _after(error, stored, last, where) from error
        if stored >= MANY:
            await self.run(_refresh_statistics())
        return stored

    async def _refused(self, chunk: Chunk) -> int | None:
        """The index of the element for which a chunk is refused; tries parts of it, and stores none."""
        looking = search(chunk)
        try:
            part = next(looking)
            while True:
                part = looking.send(await self.refuses(_insert_jobs(self.setup, part)))
        except StopIteration as found:
            return found.value  # type: ignore[no-any-return]
