"""Submitting through the service, holding, cancelling, and asking for the state of a job and its reason."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest

from tests.service.conftest import Db, Jobs, Token, bearer

OWNER = {"OwnerDN": "/DC=org/CN=alice", "OwnerGroup": "users"}
LINES = {"Content-Type": "application/x-ndjson"}
JSON = {"Content-Type": "application/json"}


def job(number: int, **more: Any) -> dict[str, Any]:
    return {"job_id": number, "requirements": {**OWNER, "CPUTime": 600, **more}}


def told(stored: int, *, job_ids: list[int], new: int = 0, moved: int = 0, restarted: int = 0) -> dict[str, Any]:
    """The answer to an insertion."""
    return {
        "stored": stored, "jobs": new + moved + restarted, "new": new, "moved": moved, "restarted": restarted,
        "job_ids": job_ids,
    }  # fmt: skip


def lines(*jobs: Any) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in jobs)


@pytest.fixture
def submitter(client: httpx.Client, token: Token) -> httpx.Client:
    client.headers.update(bearer(token("operator")))
    return client


def _count(db: Db) -> int:
    [(number,)] = db.execute("select count(*) from taskqueue.job").fetchall()
    return int(number)


def test_jobs_are_stored_from_lines_and_from_an_array(submitter: httpx.Client, db: Db) -> None:
    body = lines(job(1), {"requirements": job(0)["requirements"], "jobs": [[2, 5], [3]]}) + b"\n \n" + lines(job(4))
    stored = submitter.post("/jobs", content=body.rstrip(), headers=LINES)
    assert stored.json() == told(3, new=4, job_ids=[1, 2, 3, 4])
    assert submitter.post("/jobs", json=[job(5), job(6)]).json()["job_ids"] == [5, 6]
    assert submitter.post("/jobs", json=[]).json() == told(0, job_ids=[])
    assert _count(db) == 6


def test_a_caller_without_the_right_is_refused_before_the_body_is_read(client: httpx.Client, token: Token) -> None:
    sent = 0

    def body() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(60):
            sent += 2**20
            yield b" " * 2**20

    headers = LINES | bearer(token("viewer"))
    with suppress(httpx.TransportError):  # the connection is closed while the body is on its way
        assert client.post("/jobs", content=body(), headers=headers).status_code == 403
    assert sent < 60 * 2**20


def test_a_line_without_end_is_refused(submitter: httpx.Client) -> None:
    refused = submitter.post("/jobs", content=b'{"job_id": ' + b" " * 5 * 2**20 + b"1}", headers=LINES)
    assert (refused.status_code, "line 1 has more than" in refused.json()["detail"]) == (422, True)


def test_a_payload_reaches_the_agent(submitter: httpx.Client, client: httpx.Client, token: Token) -> None:
    payload = {"script": "echo \u2603\n", "big": 2**60, "none": None}
    body = lines({**job(1), "payload": payload}, {"requirements": job(0)["requirements"], "jobs": [[2, 5, 0], [3]]})
    assert submitter.post("/jobs", content=body, headers=LINES).json()["jobs"] == 3
    headers = bearer(token("agent")) | {"Idempotency-Key": "once"}
    wanted = {"resources": [{"CPUTime": 86400}], "n": 3}
    for _ in range(2):  # the same key gets the same answer
        matches = client.post("/match", json=wanted, headers=headers).json()["matches"]
        assert {match["job_id"]: match.get("payload", "no payload") for match in matches} == {
            1: payload, 2: 0, 3: "no payload"
        }  # fmt: skip
    large = {**job(4), "payload": "x" * 70_000}
    refused = submitter.post("/jobs", json=[large])
    assert (refused.status_code, "payload of job 4 has" in refused.json()["detail"]) == (422, True)


def test_a_long_stream_is_stored_chunk_by_chunk(submitter: httpx.Client, db: Db) -> None:
    def parts() -> Iterator[bytes]:
        text = lines(*(job(number) for number in range(1, 2501)))
        for start in range(0, len(text), 777):  # chunks end anywhere in a line
            yield text[start : start + 777]

    key = {"Idempotency-Key": "a file"}
    stored = submitter.post("/jobs", content=parts(), headers=LINES | key).json()
    assert (stored["stored"], stored["jobs"], stored["job_ids"][-1]) == (2500, 2500, 2500)
    again = submitter.post("/jobs", content=parts(), headers=LINES | key).json()
    assert again == stored
    kept = db.execute("select count(*) from taskqueue.request where call = 'insert_counted'").fetchone()
    assert kept == (3,)
    assert _count(db) == 2500


def test_a_refused_chunk_ends_the_submission(submitter: httpx.Client, db: Db) -> None:
    jobs = [job(number) for number in range(1, 2001)]
    jobs[1500] = job(1501, CPUTime="soon")
    refused = submitter.post("/jobs", content=lines(*jobs), headers=LINES)
    found = refused.json()
    assert (refused.status_code, found["code"], found["stored"], found["line"]) == (422, "PB001", 1000, 1501)
    assert (found["job_id"], found["detail"][:21]) == (1501, "line 1501, job 1501: ")
    assert _count(db) == 1000
    again = submitter.post("/jobs", content=b"\n\n" + lines(*jobs), headers=LINES).json()
    assert (again["stored"], again["line"], again["job_id"]) == (1000, 1503, 1501)


def test_the_line_of_a_job_that_may_not_be_inserted_is_named(
    submitter: httpx.Client, client: httpx.Client, token: Token, jobs: Jobs, db: Db
) -> None:
    """A job that is leased, one of another group, one of a group of jobs, and two that contradict each other."""
    jobs(1)
    assert client.post("/match", json={"resources": [{"CPUTime": 86400}]}).status_code == 200
    leased = submitter.post("/jobs", content=lines(job(5), job(1), job(6)), headers=LINES).json()
    assert (leased["code"], leased["line"], leased["job_id"]) == ("PB005", 2, 1)
    group = {"requirements": job(0)["requirements"], "jobs": [[7], [1]]}
    assert submitter.post("/jobs", json=[job(5), group]).json()["line"] == 2
    other = submitter.post("/jobs", json=[job(5), job(6, OwnerGroup="b")], headers=bearer(token("submitter"))).json()
    assert (other["code"], other["line"], other["job_id"], other["stored"]) == ("PB002", 2, 6, 0)
    twice = submitter.post("/jobs", json=[job(8), job(9), job(9, CPUTime=60)]).json()
    assert ("job_id" in twice, twice["line"]) == (False, 1)
    assert _count(db) == 0


def test_new_moved_and_restarted_jobs_are_told_apart(submitter: httpx.Client, db: Db) -> None:
    assert submitter.post("/jobs", json=[job(1), job(2)]).json() == told(2, new=2, job_ids=[1, 2])
    submitter.post("/jobs/cancel", json={"job_ids": [2]})
    key = {"Idempotency-Key": "mine"}
    expected = told(3, new=1, moved=1, restarted=1, job_ids=[1, 2, 3])
    for _ in range(2):
        assert submitter.post("/jobs", json=[job(1), job(2), job(3)], headers=key).json() == expected


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"{", 400),
        (b"[]", 422),
        (b'{"job_id": 1, "requirements": {"Site": "\\u0000"}}', 422),
        (b'{"job_id": 1, "requirements": {"Site": "\\ud800"}}', 400),
        (b'{"job_id": 1, "requirements": ' + b"[" * 3000 + b"]" * 3000 + b"}", 400),
        (b'{"job_id": 1, "requirements": ' + b"[" * 900 + b"]" * 900 + b"}", 422),
        (b'{"job_id": 1e400, "requirements": {}}', 422),
        (b'{"job_id": 99999999999999999999, "requirements": {}}', 422),
        (b'{"job_id": 1e3, "requirements": {"OwnerDN": "a", "OwnerGroup": "b", "CPUTime": 600}}', 422),
        (b'{"jobs": [[1], [2.0]], "requirements": {"OwnerDN": "a", "OwnerGroup": "b", "CPUTime": 600}}', 422),
        (b'{"job_id": 1}', 422),
        (b'{"jobs": 3, "requirements": {}}', 422),
        (b'{"jobs": [1, [], {}], "requirements": {}}', 422),
    ],
)
def test_a_wrong_line_is_refused(submitter: httpx.Client, line: bytes, status: int) -> None:
    refused = submitter.post("/jobs", content=lines(job(7)) + line, headers=LINES)
    assert refused.status_code == status, refused.text
    assert (refused.json()["stored"], refused.json()["line"]) == (0, 2)
    refused = submitter.post("/jobs", content=b"[" + line.strip() + b"]", headers={"Content-Type": "application/json"})
    assert 400 <= refused.status_code < 500


def test_a_document_of_diracx_without_an_id_is_told_how_to_be_given(submitter: httpx.Client) -> None:
    one: dict[str, Any] = {"job_id": "job_07", "matching_specs": [{"cpu": {}}]}
    for given, headers in ((json.dumps(one), LINES), (json.dumps({"a": one}), LINES), (json.dumps([one]), JSON),
                           (json.dumps(one), JSON), (json.dumps({"a": one}, indent=1), JSON)):  # fmt: skip
        refused = submitter.post("/jobs", content=given, headers=headers)
        assert refused.status_code == 422, refused.text
        said = refused.json()
        assert said["detail"] == "line 1: this is a document of DiracX without the id of a job"
        assert said["hint"] == 'give {"job_id": 1, "requirements": DOCUMENT}, with ids of your own choice'


def test_jobs_are_held_resumed_and_cancelled(submitter: httpx.Client, jobs: Jobs) -> None:
    jobs(2)
    held = submitter.post("/jobs/hold", json={"job_ids": [1, 99, 2]}).json()
    assert [(one["job_id"], one["changed"]) for one in held] == [(1, True), (99, False), (2, True)]
    assert held[1]["error"]["code"] == "PB004"
    assert submitter.get("/jobs/1").json()["status"] == "held"
    resumed = submitter.post("/jobs/resume", json={"job_ids": [1]})
    assert resumed.json() == [{"job_id": 1, "changed": True, "error": None}]
    cancelled = submitter.post("/jobs/cancel", json={"job_ids": [1, 2], "reason": "not needed"})
    assert [one["answer"] for one in cancelled.json()] == ["ended", "ended"]
    unknown = submitter.post("/jobs/cancel", json={"job_ids": [77]})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "PB004")
    assert submitter.post("/jobs/cancel", json={"job_ids": [1], "why": "x"}).json()["key"] == "why"


def test_a_job_is_shown_with_its_state_and_its_obstacles(submitter: httpx.Client, token: Token, jobs: Jobs) -> None:
    jobs(2)
    for kind in ("viewer", "submitter", "operator"):
        submitter.headers.update(bearer(token(kind)))
        found = submitter.get("/jobs/1").json()
        assert (found["status"], found["reason"], found["owner_group"]) == ("waiting", "unknown", "users")
        assert submitter.get("/jobs/99").status_code == 404
        assert submitter.get("/jobs/99/why").status_code == 404
    asked = submitter.post("/match", json={"resources": [{"CPUTime": 10}]})
    assert asked.status_code == 204
    why = submitter.get("/jobs/1/why").json()
    assert {"condition", "wanted", "failing", "seen", "last_seen", "remark"} == set(why[0])
    waiting = submitter.post("/resources/why", json={"resource": {"CPUTime": 10}}).json()
    assert (waiting[0]["jobs"], waiting[0]["failing"]) == (2, ["CPUTime"])
    assert submitter.post("/match", json={"resources": [{"CPUTime": 86400}]}).status_code == 200
    events = [event for number in (1, 2) for event in submitter.get(f"/jobs/{number}/events").json()]
    assert [event["event"] for event in events] == ["matched"]
    assert submitter.get("/tasks/5/why").status_code == 404


def test_events_of_a_failed_job_name_its_retry_rules(
    submitter: httpx.Client, client: httpx.Client, token: Token, db: Db
) -> None:
    rules = [
        {"position": 1, "name": "would", "decision": "fail", "passive": True},
        {"position": 2, "name": "again", "decision": "retry"},
    ]
    db.execute("select taskqueue.set_retry_rules('default', %s)", [json.dumps(rules)])
    submitter.post("/jobs", json=[job(1)])
    query = "select taskqueue.finish_job('default', job_id, attempt, 'failed') from taskqueue.match_job('default', %s)"
    db.execute(query, [json.dumps({"CPUTime": 86400})])
    fields = ("event", "retry_rule", "passive_rule", "failures")
    told = [("matched", None, None, None), ("failed", "again: retry", "would: fail", 1)]
    for caller in (token("viewer"), token("operator"), token("submitter", OWNER["OwnerDN"])):
        events = client.get("/jobs/1/events", headers=bearer(caller)).json()
        assert [tuple(event[name] for name in fields) for event in events] == told
