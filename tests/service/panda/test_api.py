"""PanDA's API v1: the life of a job, the envelope, many updates at once, refusals."""

import gzip
import json
from typing import Any

import httpx
import pytest

from tests.service.conftest import Db, Running, Token, bearer, facts_of
from tests.service.panda.conftest import QUEUE, SPEC, Insert, Pilot, Pilots, stored

DONE = {"success": True, "message": "", "data": {"StatusCode": 0, "command": None}}
KILL = {"success": True, "message": "", "data": {"StatusCode": 0, "command": "tobekilled"}}


def statuses(pilot: Pilot, *job_ids: int) -> Any:
    answer = pilot.client.get("/api/v1/pilot/get_job_status", params={"job_ids": list(job_ids)}).json()
    assert (answer["success"], answer["message"]) == (True, "")
    return [(one["job_id"], one["status"], one["attempt_number"]) for one in answer["data"]]


def test_a_pilot_fetches_runs_and_ends_a_job(one: Pilot, db: Db) -> None:
    got = one.v1("acquire_jobs", site_name=QUEUE, memory=2000, node="node 1", prod_source_label="managed")
    assert (got["success"], got["message"], got["data"]["StatusCode"]) == (True, "", 0)
    (job,) = got["data"]["jobs"]
    assert job.items() >= {**SPEC, "PandaID": 71, "attemptNr": 1, "StatusCode": 0, "nSent": 0}.items()
    assert statuses(one, 72, 71) == [(72, "not found", 0), (71, "sent", 1)]
    for status in ("starting", "running", "holding", "transferring"):
        assert one.v1("update_job", job_id=71, job_status=status, attempt_nr=1, max_rss=1) == DONE
    for _ in range(2):
        assert one.v1("update_job", job_id=71, job_status="failed", attempt_nr=1, pilot_error_code=1305) == DONE
    assert facts_of(db, 71) == ("node 1", [{"source": "pilot", "code": 1305}], None, None, 0.001, None)
    assert db.execute("select job_id, outcome, attempts from taskqueue.ended").fetchall() == [(71, "failed", 1)]
    assert statuses(one, 71) == [(71, "failed", 1)]
    assert one.v1("acquire_jobs", site_name=QUEUE) == {"success": False, "message": "No jobs in PanDA", "data": None}


def test_a_compressed_request_is_read(pilot: Pilots, insert: Insert) -> None:
    insert(71)
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    content = gzip.compress(json.dumps({"site_name": QUEUE}).encode())
    answer = pilot().client.post("/api/v1/pilot/acquire_jobs", content=content, headers=headers)
    assert answer.json()["data"]["jobs"][0]["PandaID"] == 71


def test_each_of_many_updates_gets_its_own_answer(pilot: Pilots, insert: Insert, db: Db) -> None:
    for job_id in (1, 2, 3, 4):
        insert(job_id)
    one = pilot()
    assert len(one.v1("acquire_jobs", site_name=QUEUE, n_jobs=4)["data"]["jobs"]) == 4
    db.execute("select taskqueue.cancel_job('default', 2, 'not needed')")
    listed = [
        {"job_id": 1, "job_status": "finished", "attempt_nr": 1, "node": "n17", "max_rss": 2048, "core_count": 8},
        {"job_id": 2, "job_status": "running", "attempt_nr": 1},
        {"job_id": 3, "job_status": "running", "attempt_nr": 2},
        {"job_id": 9, "job_status": "finished"},
        {"job_id": 4, "job_status": "odd"},
    ]
    answer = one.v1("update_jobs_bulk", job_list=listed, harvester_id="h")
    assert answer["success"]
    *done, odd = answer["data"]
    assert done == [DONE, KILL, KILL, KILL]
    assert facts_of(db, 1) == ("n17", None, None, None, 2, 8)
    assert (odd["success"], "'odd'" in odd["message"]) == (False, True)
    assert statuses(one, 1, 2, 3) == [(1, "finished", 1), (2, "running", 1), (3, "sent", 1)]
    ended = one.v1("update_job", job_id=2, job_status="failed", attempt_nr=1, pilot_error_code=1144)
    assert (ended, statuses(one, 2)) == (DONE, [(2, "cancelled", 1)])


def test_an_update_of_a_job_of_another_pilot_is_answered_with_kill(pilot: Pilots, insert: Insert) -> None:
    insert(71)
    one, other = pilot("pilot 1"), pilot("pilot 2")
    one.v1("acquire_jobs", site_name=QUEUE)
    assert other.v1("update_job", job_id=71, job_status="running", attempt_nr=1) == KILL
    assert other.v1("update_job", job_id=71, job_status="finished", attempt_nr=1) == KILL
    assert statuses(other, 71) == [(71, "not found", 0)]
    assert statuses(one, 71) == [(71, "sent", 1)]


def test_a_repeated_request_with_the_same_key_gets_the_same_job(pilot: Pilots, insert: Insert) -> None:
    for job_id in (1, 2):
        insert(job_id)
    one = pilot()
    one.client.headers["Idempotency-Key"] = "mine"
    first, again = (one.v1("acquire_jobs", site_name=QUEUE)["data"] for _ in range(2))
    assert first == again


def test_a_queue_of_eight_cores_gets_jobs_of_eight_cores_and_enough_memory(
    pilot: Pilots, insert: Insert, db: Db
) -> None:
    """A slot of eight cores that names its resource type takes the jobs of eight cores."""
    insert(71, Sites=[QUEUE], Tags=["8Processors"], MinRAM=14_400)
    db.execute(
        "insert into resource.queue (setup, queue, corecount, capability) values ('default', %s, 8, 'ucore')", [QUEUE]
    )
    one = pilot()
    assert not one.v1("acquire_jobs", site_name=QUEUE, resource_type="SCORE", memory=16_000)["success"]
    assert not one.v1("acquire_jobs", site_name=QUEUE, resource_type="MCORE", memory=14_000)["success"]
    assert not one.v1("acquire_jobs", site_name=QUEUE, task_id=7)["success"]
    (job,) = one.v1("acquire_jobs", site_name=QUEUE, resource_type="MCORE", memory=16_000)["data"]["jobs"]
    assert (job["PandaID"], job["coreCount"], job["minRamCount"]) == (71, 8, 14_400)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("acquire_jobs", {}), "site_name is missing"),
        (("acquire_jobs", {"site_name": QUEUE, "n_jobs": 0}), "n_jobs is 0, which is not within 1..1000"),
        (("acquire_jobs", {"site_name": QUEUE, "n_jobs": 1.5}), "n_jobs is 1.5, which is not an integer"),
        (("acquire_jobs", {"site_name": QUEUE, "memory": True}), "memory is true, which is not a number"),
        (("acquire_jobs", {"site_name": [QUEUE]}), "site_name is"),
        (("update_job", {"job_status": "running"}), "job_id is missing"),
        (("update_job", {"job_id": 71}), "job_status is missing"),
        (("update_job", {"job_id": 71, "job_status": "well"}), "the state is 'well'"),
        (("update_job", {"job_id": 71, "job_status": "finished", "attempt_nr": -1}), "attempt_nr is -1"),
        (("update_job", {"job_id": True, "job_status": "finished"}), "job_id is true, which is not an integer"),
        (("update_jobs_bulk", {"job_list": {}}), "job_list is missing, or not a list"),
        (("update_jobs_bulk", {"job_list": [{}] * 1001}), "job_list has 1001 jobs"),
    ],
)
def test_a_wrong_member_is_named_and_nothing_is_stored(
    one: Pilot, db: Db, call: tuple[str, dict[str, Any]], words: str
) -> None:
    method, members = call
    if method == "update_job":
        one.v1("acquire_jobs", site_name=QUEUE)
    before = stored(db)
    answer = one.v1(method, **members)
    assert (answer["success"], answer["data"]) == (False, None)
    assert words in answer["message"]
    assert stored(db) == before


def test_one_wrong_update_of_many_concerns_no_other(one: Pilot) -> None:
    one.v1("acquire_jobs", site_name=QUEUE)
    listed = [{"job_id": 0, "job_status": "finished"}, 1, {"job_id": 71, "job_status": "finished"}, {"job_id": 71}]
    answer = one.v1("update_jobs_bulk", job_list=listed)
    assert (answer["success"], answer["data"][2]) == (True, DONE)
    assert [one["message"] for one in answer["data"]] == [
        f"job_id is 0, which is not within 1..{2**63 - 1}", "job_list[1] is not an object", "", "job_status is missing",
    ]  # fmt: skip
    assert statuses(one, 71) == [(71, "finished", 1)]


def test_what_is_not_kept_may_be_anything(one: Pilot) -> None:
    """Python's json writes NaN and half of a surrogate pair; a payload's output has bytes that are no text."""
    one.v1("acquire_jobs", site_name=QUEUE)
    odd = {"log": "\0 \ud800", "load": float("nan"), "metaData": {"a": [float("inf")]}, "big": 10**4000}
    running = {"job_id": 71, "job_status": "running"}

    def call(method: str, members: object) -> Any:
        text = json.dumps(members).encode().replace(b"BYTES", b"\xff\xfe")
        headers = {"Content-Type": "application/json"}
        return one.client.post(f"/api/v1/pilot/{method}", content=text, headers=headers).json()

    assert call("update_job", running | odd | {"pilot_error_code": "\0", "stdout": "BYTES"}) == DONE
    assert call("update_jobs_bulk", {"job_list": [running | odd], **odd})["data"] == [DONE]
    for method in ("update_worker_status", "update_worker_node", "update_worker_node_gpu"):
        assert call(method, {"host_name": None, **odd})["success"]
    for site in ("a\0", "BYTES"):
        refused = call("acquire_jobs", {"site_name": site, **odd})
        assert (refused["success"], "site_name is" in refused["message"]) == (False, True)


def test_reports_about_workers_are_accepted(pilot: Pilots) -> None:
    one = pilot()
    node = {"site": "S", "host_name": "slot1@node", "cpu_model": "a CPU", "n_logical_cpus": 8, "clock_speed": 2.5}
    gpu = {"site": "S", "host_name": "node", "vendor": "v", "model": "m", "count": 2, "vram": 40_000}
    for method, members in (
        ("update_worker_status", {"worker_id": 1, "harvester_id": "h", "status": "started", "node_id": None}),
        ("update_worker_node", node),
        ("update_worker_node_gpu", gpu),
    ):
        assert one.v1(method, **members) == {"success": True, "message": "", "data": None}


def test_only_agents_with_json_may_call(service: Running, token: Token) -> None:
    url = f"{service.url}/api/v1/pilot/acquire_jobs"
    refused = httpx.post(url, json={"site_name": QUEUE})
    assert (refused.status_code, refused.text[:8]) == (403, "ERROR : ")
    answer = httpx.post(url, json={"site_name": QUEUE}, headers=bearer(token("viewer"))).json()
    assert (answer["success"], "permission denied" in answer["message"]) == (False, True)
    form = httpx.post(url, data={"site_name": QUEUE}, headers=bearer(token("agent"))).json()
    assert (form["success"], form["message"]) == (False, "the content type is application/x-www-form-urlencoded")


@pytest.mark.own_database
def test_an_update_that_cannot_be_stored_now_may_be_repeated(pilot: Pilots, insert: Insert, db: Db) -> None:
    """An update that cannot be stored now gets an HTTP error; a pilot that asked for a job may ask again."""
    for job_id in (71, 72):
        insert(job_id)
    one = pilot()
    (job,) = one.v1("acquire_jobs", site_name=QUEUE)["data"]["jobs"]
    for function in ("finish_jobs", "match_with_payload"):
        db.execute(f"alter function taskqueue.{function} rename to {function}_away".encode())
    try:
        ended = {"job_id": job["PandaID"], "job_status": "finished"}
        for method, members in (("update_job", ended), ("update_jobs_bulk", {"job_list": [ended]})):
            refused = one.client.post(f"/api/v1/pilot/{method}", json=members)
            assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        assert one.v1("acquire_jobs", site_name=QUEUE) == {"success": False, "message": "Timed out", "data": None}
        assert one.older("getJob", siteName=QUEUE)["StatusCode"] == 10
    finally:
        for function in ("finish_jobs", "match_with_payload"):
            db.execute(f"alter function taskqueue.{function}_away rename to {function}".encode())
    assert one.v1("update_job", **ended) == DONE
