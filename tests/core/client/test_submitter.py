"""The client of submitters: single jobs, and streams."""

import asyncio
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from broker import errors
from broker.client import submitter
from broker.client.submitter import AsyncSubmitter, Submitter, chunks
from tests.calls import Calls, Connection, requirements


def test_one_job_is_submitted(dsn: str, db: Connection) -> None:
    with Submitter("default", dsn) as client:
        queue = client.submit(1, requirements(), 5)
        assert client.submit(2, requirements()) == queue
    assert Calls(db).queue_of(1) == queue
    assert Calls(db).value("select user_priority from monitor.job where job_id = 1") == 5


def test_a_stream_of_jobs_and_groups_is_submitted(dsn: str, db: Connection) -> None:
    stored: list[int] = []

    def stream() -> Iterator[dict[str, Any]]:
        yield {"job_id": 1, "requirements": requirements(Sites=["S"]), "user_priority": 2}
        yield {"requirements": requirements(), "jobs": [[n, 1] for n in range(2, 1_502)]}

    with Submitter("default", dsn) as client:
        assert client.submit_many(stream(), stored.append) == 1_501
        assert client.submit_many([]) == 0
    assert stored == [1_501]
    assert Calls(db).value("select count(*) from monitor.job") == 1_501


def test_an_error_stores_nothing_of_its_chunk(dsn: str, db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submitter, "JOBS_A_CALL", 10)
    jobs = [{"job_id": n, "requirements": requirements()} for n in range(1, 31)]
    jobs[14] = {"job_id": 15, "requirements": requirements(CPUTime=-1)}
    with Submitter("default", dsn) as client, pytest.raises(errors.BadRequest, match="CPUTime") as raised:
        client.submit_many(jobs)
    assert raised.value.message.startswith("element 15, job 15: CPUTime")
    assert "the first 10 jobs are stored (up to element 10)" in str(raised.value.hint)
    assert Calls(db).value("select array_agg(job_id order by job_id) from monitor.job") == list(range(1, 11))


def test_an_error_of_the_async_submitter_names_its_element(
    dsn: str, db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submitter, "JOBS_A_CALL", 10)
    jobs = [{"job_id": n, "requirements": requirements()} for n in range(1, 31)]
    jobs[20] = {"job_id": 21}

    async def submit() -> None:
        async with AsyncSubmitter("default", dsn) as client:
            await client.submit_many(jobs)

    with pytest.raises(errors.BadRequest, match="element 21, job 21: ") as raised:
        asyncio.run(submit())
    assert "the first 20 jobs are stored" in str(raised.value.hint)
    assert Calls(db).value("select count(*) from monitor.job") == 20


def test_an_error_between_elements_names_their_chunk(dsn: str, db: Connection) -> None:
    jobs = [{"job_id": n, "requirements": requirements()} for n in (1, 2, 3, 1)]
    with (
        Submitter("default", dsn) as client,
        pytest.raises(errors.BadRequest, match="element 1 to element 4: ") as raised,
    ):
        client.submit_many(jobs)
    assert "nothing is stored" in str(raised.value.hint)
    assert Calls(db).value("select count(*) from monitor.job") == 0


def test_the_error_of_a_caller_without_the_right_names_the_role_only(dsn: str, db: Connection) -> None:
    Calls(db).insert(1)
    agent = make_conninfo(dsn, options="-c role=broker_agent")
    with Submitter("default", agent) as client, pytest.raises(errors.BrokerError, match="permission denied") as raised:
        client.submit_many([{"job_id": 2, "requirements": requirements()}])
    assert str(raised.value.hint).startswith("have broker_submitter granted to this login")
    assert "stored" not in str(raised.value.hint)


def test_a_leased_job_cannot_be_submitted(dsn: str, db: Connection) -> None:
    Calls(db).insert(1)
    Calls(db).take()
    with Submitter("default", dsn) as client, pytest.raises(errors.WrongState, match="job 1 is leased"):
        client.submit(1, requirements())


@pytest.mark.slow
def test_chunks_hold_every_job_within_the_limits_of_a_call() -> None:
    def stream() -> Iterator[dict[str, Any]]:
        yield {"requirements": {"a": 1}, "jobs": [[n, 1] for n in range(250_000)]}
        for n in range(250_000, 250_010):
            yield {"job_id": n, "requirements": {"a": 1}}
        for start in range(300_000, 400_000, 1_000):
            yield {"requirements": {"a": 2}, "jobs": [[n, 1] for n in range(start, start + 1_000)]}

    ids: list[int] = []
    for chunk in chunks(stream()):
        elements = json.loads(chunk.text)
        found = [job[0] for e in elements for job in e.get("jobs", [[e.get("job_id")]])]
        assert len(found) == chunk.jobs <= 100_000
        ids += found
    assert ids == [*range(250_010), *range(300_000, 400_000)]


def test_long_requirements_make_smaller_chunks() -> None:
    long = {"job_id": 1, "requirements": {"Sites": ["x" * 1_000_000]}}
    sizes = [chunk.jobs for chunk in chunks([long] * 40)]
    assert sum(sizes) == 40
    assert max(sizes) < 20


@pytest.mark.parametrize("element", [7, "job", ["job"], {"job_id": 1, "requirements": {"CPUTime": float("nan")}}])
def test_elements_that_are_no_jobs_are_refused(element: Any) -> None:
    with pytest.raises(errors.BadRequest):
        list(chunks([element]))


@pytest.mark.slow
def test_memory_holds_one_chunk_of_a_stream_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "broker.client.submitter.JOBS_A_CALL", 10_000
    )  # a tenth, like the streams, since tracing memory is slow

    def stream() -> Iterator[dict[str, Any]]:
        for n in range(1_000_000):
            yield {"requirements": {"n": n}, "jobs": [[n * 10 + i, 1] for i in range(10)]}

    def peak(jobs: int) -> int:
        tracemalloc.start()
        found = 0
        for chunk in chunks(stream()):
            found += chunk.jobs
            if found >= jobs:
                break
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(60_000) < 1.5 * peak(20_000)  # the caller holds one while the next is made


def test_the_async_submitter_submits_one_job_and_a_stream(dsn: str, db: Connection) -> None:
    async def submit() -> int:
        async with AsyncSubmitter("default", dsn) as client:
            await client.submit(1, requirements())
            return await client.submit_many({"job_id": n, "requirements": requirements()} for n in range(2, 1_102))

    assert asyncio.run(submit()) == 1_100
    assert Calls(db).value("select count(*) from monitor.job") == 1_101
