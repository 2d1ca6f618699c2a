"""The life of a job in the service: match, report, finish, release, with tokens of an issuer and opaque ones."""

from collections.abc import Callable
from uuid import uuid5

import httpx
import pytest

from broker.service.endpoint import NAMESPACE
from tests.core.lifecycle import grids
from tests.service.conftest import BASE, SETUP, WANTED, Db, Jobs, Together, Token, bearer
from tests.service.issuer import Issuer


@pytest.fixture
def agent_token(trusted: Issuer, token: Token) -> Callable[[str], str]:
    def make(way: str) -> str:
        return trusted.token() if way == "issuer" else token("agent")

    return make


@pytest.mark.parametrize("way", ["issuer", "opaque"])
def test_a_job_is_matched_reported_and_finished(
    client: httpx.Client, agent_token: Callable[[str], str], jobs: Jobs, way: str
) -> None:
    jobs(1)
    client.headers.update(bearer(agent_token(way)))
    found = client.post("/match", json=WANTED)
    assert found.status_code == 200, found.text
    (match,) = found.json()["matches"]
    assert (match["job_id"], match["user_priority"]) == (1, 1)
    assert match["requirements"]["OwnerGroup"] == "users"
    lease = {"job_id": 1, "attempt": match["attempt"]}

    reports = [{**lease, "status": "running"}, {"job_id": 99, "attempt": match["attempt"]}]
    reported = client.post("/jobs/report", json=reports)
    assert [(one["job_id"], one["action"]) for one in reported.json()] == [(1, "continue"), (99, "stale")]
    assert client.post("/jobs/report", json=[{**lease, "status": None}]).json()[0]["action"] == "continue"
    assert client.post("/jobs/report", json=[{**lease, "status": "odd"}]).json()[0]["action"] == "refused"

    ended = client.post("/jobs/finish", json=[lease, {**lease, "job_id": 99, "outcome": "failed"}])
    assert [(one["job_id"], one["outcome"]) for one in ended.json()] == [(1, "finished"), (99, "stale")]
    nothing = client.post("/match", json=WANTED)
    assert (nothing.status_code, nothing.headers["Retry-After"], nothing.content) == (204, "30", b"")


def test_each_job_of_a_batch_is_released_separately(agent: httpx.Client, jobs: Jobs) -> None:
    jobs(2)
    matches = agent.post("/match", json={**WANTED, "n": 2}).json()["matches"]
    leases = [{"job_id": match["job_id"], "attempt": match["attempt"]} for match in matches]
    stale = {"job_id": 77, "attempt": leases[0]["attempt"]}
    released = agent.post("/jobs/release", json=[leases[0], stale, leases[1]]).json()
    assert [(one["job_id"], one["released"]) for one in released] == [
        (leases[0]["job_id"], True), (77, False), (leases[1]["job_id"], True)
    ]  # fmt: skip
    assert released[1]["error"]["code"] == "PB003"
    assert released[0]["task_queue_id"] > 0
    assert len(agent.post("/match", json={**WANTED, "n": 2}).json()["matches"]) == 2


def test_the_same_key_gives_the_same_job_to_the_same_caller_only(
    client: httpx.Client, trusted: Issuer, jobs: Jobs
) -> None:
    jobs(3)
    key = {"Idempotency-Key": "one of mine"}
    first, again, other = (
        client.post("/match", json=WANTED, headers=key | bearer(trusted.token(subject))).json()["matches"]
        for subject in ("a", "a", "b")
    )
    assert first == again
    assert first[0]["job_id"] != other[0]["job_id"]


def test_a_request_id_is_read_from_the_body_or_the_header(agent: httpx.Client, jobs: Jobs) -> None:
    jobs(3)
    number = "6E4D2A4C-94a7-4f5e-9a39-3d4b1c0b7a11"
    body = {**WANTED, "request_id": number}
    first = agent.post("/match", json=body).json()
    assert agent.post("/match", json=WANTED, headers={"Idempotency-Key": number.lower()}).json() == first
    assert agent.post("/match", json=body, headers={"Idempotency-Key": number}).json() == first
    differ = agent.post("/match", json=body, headers={"Idempotency-Key": "another"})
    assert (differ.status_code, differ.json()["key"]) == (422, "request_id")
    reused = agent.post("/match", json={**body, "n": 2})
    assert (reused.status_code, reused.json()["code"]) == (422, "PB001")


def test_a_refused_description_is_named(agent: httpx.Client) -> None:
    refused = agent.post("/match", json={"resources": [{"CPUTime": 100, "CPUtime": 100}]})
    assert refused.status_code == 422
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert refused.json()["code"] == "PB001"
    assert "CPUtime" in refused.json()["detail"]


def test_many_matches_at_once_get_different_jobs(trusted: Issuer, jobs: Jobs, matched_together: Together) -> None:
    jobs(60)
    answers = matched_together([trusted.token(f"pilot-{n}") for n in range(50)], WANTED)
    assert [answer.status_code for answer in answers] == [200] * 50
    found = [match["job_id"] for answer in answers for match in answer.json()["matches"]]
    assert len(set(found)) == 50


def test_one_bad_request_of_many_harms_no_other(trusted: Issuer, jobs: Jobs, matched_together: Together) -> None:
    jobs(20)
    wanted = [WANTED, {"resources": [{"CPUTime": "soon"}]}] * 10
    answers = matched_together([trusted.token(f"pilot-{n}") for n in range(20)], *wanted)
    assert [answer.status_code for answer in answers] == [200, 422] * 10


def test_a_request_alone_is_refused_as_one_of_many(
    client: httpx.Client, trusted: Issuer, matched_together: Together
) -> None:
    bad = {"resources": [{"CPUTime": "soon"}]}
    many = matched_together([trusted.token(f"pilot-{n}") for n in range(20)], bad)
    alone = client.post("/match", json=bad, headers=bearer(trusted.token()))
    assert {(answer.status_code, answer.text) for answer in many} == {(422, alone.text)}
    assert (alone.json()["code"], "CPUTime" in alone.json()["detail"]) == ("PB001", True)


def test_the_holder_of_a_job_is_known_whichever_way_it_was_matched(agent: httpx.Client, jobs: Jobs, db: Db) -> None:
    jobs(4)
    for wanted in (WANTED, WANTED, WANTED | {"n": 2}):  # the second description is known
        assert agent.post("/match", json=wanted).status_code == 200
    [(subject, count)] = db.execute("select subject, count(*) from taskqueue.lease group by 1").fetchall()
    assert (subject, count) == ("token somebody", 4)


def test_a_request_id_that_is_at_work_elsewhere_is_refused_at_once(agent: httpx.Client, jobs: Jobs, db: Db) -> None:
    """Another worker may still work for the same key: no connection waits for it."""
    jobs(1)
    request_id = uuid5(NAMESPACE, "token somebody\nmine")
    lock = "hashtextextended(%s || 'broker_agent' || %s, 1)"
    db.execute(f"select pg_advisory_lock({lock})", [SETUP, str(request_id)])
    key = {"Idempotency-Key": "mine"}
    refused = agent.post("/match", json=WANTED, headers=key)
    assert (refused.status_code, refused.json()["code"], refused.headers["Retry-After"]) == (503, "PB006", "1")
    assert refused.elapsed.total_seconds() < 5
    db.execute(f"select pg_advisory_unlock({lock})", [SETUP, str(request_id)])
    first = agent.post("/match", json=WANTED, headers=key)
    assert first.json()["matches"] and agent.post("/match", json=WANTED, headers=key).json() == first.json()


def test_a_token_works_in_the_setup_of_the_path_only(agent: httpx.Client) -> None:
    assert agent.post("/match", json=WANTED).status_code == 204
    elsewhere = agent.post(str(agent.base_url).replace(BASE, "/api/v1/setups/other") + "match", json=WANTED)
    assert (elsewhere.status_code, elsewhere.json()["code"]) == (403, "PB002")  # an opaque token belongs to one setup


def test_a_brokered_job_comes_with_the_payload_of_its_task(agent: httpx.Client, db: Db) -> None:
    grids.load(db, SETUP, tasks=[{"id": 1, "payload": {"command": "echo"}}])
    (job_id,) = grids.make(db, SETUP)
    grids.activate(db, SETUP)
    (match,) = agent.post("/match", json={"resources": [grids.PLENTY | {"Site": "QA"}]}).json()["matches"]
    payload = {"command": "echo", "taskID": 1, "inFiles": "f1", "nEvents": 1}
    assert (match["job_id"], match["payload"]) == (job_id, payload)
