"""PanDA's older API: the life of a job, answers in both encodings, fields mapped to a description, and refusals."""

import gzip
import json
from typing import Any

import httpx
import pytest

from tests.service.conftest import Db, Running, Start, Token, bearer, facts_of
from tests.service.panda.conftest import QUEUE, SPEC, Insert, Pilot, Pilots, stored
from tests.service.test_facts import FIELDS, ODD, PILOT, are_bounded, odd_fields


def test_a_pilot_fetches_runs_and_ends_a_job(one: Pilot, db: Db) -> None:
    job = one.older("getJob", siteName=QUEUE, node="node 1", mem="2000.5", prodSourceLabel="managed")
    assert job == {
        **SPEC, "prodUserID": "/DC=org/CN=alice", "coreCount": 1, "minRamCount": 0, "maxCpuCount": 5000, "nSent": 0,
        "StatusCode": 0, "PandaID": 71, "attemptNr": 1,
    }  # fmt: skip
    assert one.older("getStatus", ids="71") == {"StatusCode": 0, "status": "sent", "attemptNr": "1"}
    for state in ("starting", "running", "running", "transferring", "starting"):
        assert one.older("updateJob", jobId=71, state=state, attemptNr=1) == {"StatusCode": 0, "command": "NULL"}
    assert one.older("getStatus", ids="71 72")["status"] == "running+notfound"
    for _ in range(2):  # a repeated call gets the same answer
        assert one.older("updateJob", jobId=71, state="finished", attemptNr=1)["command"] == "NULL"
    assert db.execute("select job_id, outcome, attempts from taskqueue.ended").fetchall() == [(71, "finished", 1)]
    assert one.older("getStatus", ids="71") == {"StatusCode": 0, "status": "finished", "attemptNr": "1"}
    assert one.older("getJob", siteName=QUEUE) == {"StatusCode": 20, "errorDialog": "no jobs in PanDA"}


def test_a_pilot_that_accepts_no_json_gets_form_fields(pilot: Pilots, insert: Insert) -> None:
    insert(71, {"transformation": "söme & more", "jobPars": None, "debug": True, "sizes": [1, {"a": "b"}], "n": 0.5})
    one = pilot()
    job = one.encoded("getJob", siteName=QUEUE)
    assert job == {
        "transformation": "söme & more", "jobPars": "NULL", "debug": "True", "sizes": '[1, {"a": "b"}]', "n": "0.5",
        "prodUserID": "/DC=org/CN=alice", "coreCount": "1", "minRamCount": "0", "maxCpuCount": "5000", "nSent": "0",
        "StatusCode": "0", "PandaID": "71", "attemptNr": "1",
    }  # fmt: skip
    assert one.encoded("updateJob", jobId=71, state="running") == {"StatusCode": "0", "command": "NULL"}
    assert one.encoded("getJob", siteName=QUEUE)["StatusCode"] == "20"
    (names,) = {tuple(json.loads(one.encoded("getResourceTypes")["ResourceTypes"])[0])}
    assert names == ("resource_name", "mincore", "maxcore", "minrampercore", "maxrampercore")


def test_compressed_json_without_its_header_is_read(one: Pilot) -> None:
    """Current pilots send such requests, and read either encoding."""

    def post(method: str, content: bytes) -> httpx.Response:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        return one.client.post(f"/server/panda/{method}", content=content, headers=headers)

    asked = gzip.compress(json.dumps({"siteName": QUEUE, "mem": 2000.5, "cpu": 2e3, "taskID": None}).encode())
    assert post("getJob", asked).json()["PandaID"] == 71
    log = "\0\ud800 a log"  # this value is never read, so it is harmless
    ended = {"jobId": "71", "state": "finished", "attemptNr": 1, "pilotLog": log, "metaData": {"a": [1]}}
    assert post("updateJob", gzip.compress(json.dumps(ended).encode())).json() == {"StatusCode": 0, "command": "NULL"}
    for content, words in (
        (asked[:-9], "ended early"),
        (b"\x1f\x8bxx", "not a gzip stream"),
        (gzip.compress(b"[1]"), "not a JSON object"),
        (b'{"siteName": "\xff"}', "siteName is"),
        (b'{"siteName": "\\ud800"}', "siteName is"),
    ):
        refused = post("getJob", content)
        assert (refused.status_code, refused.json()["StatusCode"]) == (200, 30)
        assert words in refused.json()["errorDialog"]
    long = post("updateJob", gzip.compress(b" " * 9 * 2**20))
    assert (long.status_code, long.text) == (413, "ERROR : the body has more than 8388608 bytes")


def test_one_call_fetches_several_jobs(pilot: Pilots, insert: Insert) -> None:
    for job_id in (1, 2, 3):
        insert(job_id)
    one = pilot()
    many = one.older("getJob", siteName=QUEUE, nJobs=2)
    assert (many["StatusCode"], [job["attemptNr"] for job in many["jobs"]]) == (0, [1, 1])
    (last,) = json.loads(one.encoded("getJob", siteName=QUEUE, nJobs=1)["jobs"])
    assert {last["PandaID"], *(job["PandaID"] for job in many["jobs"])} == {1, 2, 3}


def test_an_update_of_a_cancelled_job_is_answered_with_kill(one: Pilot, db: Db) -> None:
    one.older("getJob", siteName=QUEUE)
    db.execute("select taskqueue.cancel_job('default', 71, 'not needed')")
    assert one.older("updateJob", jobId=71, state="running", attemptNr=1)["command"] == "tobekilled"
    assert one.older("updateJob", jobId=71, state="failed", attemptNr=1, pilotErrorCode=1144)["command"] == "NULL"
    assert db.execute("select outcome from taskqueue.ended").fetchall() == [("cancelled",)]


def test_an_update_of_a_job_of_another_pilot_is_answered_with_kill(pilot: Pilots, insert: Insert, db: Db) -> None:
    insert(71)
    one, other = pilot("pilot 1"), pilot("pilot 2")
    one.older("getJob", siteName=QUEUE)
    killed = {"StatusCode": 0, "command": "tobekilled"}
    for state in ("running", "finished"):
        assert other.older("updateJob", jobId=71, state=state, attemptNr=1) == killed
        assert one.older("updateJob", jobId=71, state=state, attemptNr=2) == killed
        assert one.older("updateJob", jobId=72, state=state) == killed
    assert other.older("getStatus", ids="71")["status"] == "notfound"
    assert db.execute("select state from taskqueue.lease").fetchall() == [("matched",)]


def test_a_repeated_request_with_the_same_key_gets_the_same_job(pilot: Pilots, insert: Insert) -> None:
    """With the same key the pilot gets the same job again; without a key it gets another job."""
    for job_id in (1, 2, 3):
        insert(job_id)
    one = pilot()
    one.client.headers["Idempotency-Key"] = "mine"
    first, again = (one.older("getJob", siteName=QUEUE)["PandaID"] for _ in range(2))
    assert first == again
    del one.client.headers["Idempotency-Key"]
    others = [one.older("getJob", siteName=QUEUE)["PandaID"] for _ in range(2)]
    assert {first, *others} == {1, 2, 3}


@pytest.mark.parametrize(
    ("requirements", "fields", "fits"),
    [
        ({"Sites": [QUEUE]}, {}, True), ({"Sites": ["SOUTH_PQ"]}, {}, False),
        ({"MinRAM": 2000}, {"mem": "1999.9"}, False), ({"MinRAM": 2000}, {"mem": 2000}, True),
        ({"MinRAM": 2000}, {}, True), ({"CPUTime": 300_000}, {}, True),
        ({"CPUTime": 50_000}, {"remaining_time": 3600}, False),
        ({"CPUTime": 50_000}, {"remaining_time": 90_000}, True),
        ({"GridCEs": ["ce1"]}, {"computingElement": "ce1"}, True),
        ({"GridCEs": ["ce1"]}, {"computingElement": QUEUE}, False),
        ({"JobTypes": ["user"]}, {"prodSourceLabel": "user"}, True),
        ({"JobTypes": ["panda"]}, {"prodSourceLabel": "user"}, True),
        ({"JobTypes": ["user"]}, {"prodSourceLabel": "managed"}, False), ({"JobTypes": ["user"]}, {}, False),
        ({"JobTypes": ["managed"]}, {}, True), ({"JobTypes": ["user"]}, {"prodSourceLabel": "unified"}, True),
        ({"JobTypes": ["ptest"]}, {"prodSourceLabel": "ptest"}, True), ({"PilotTypes": ["PanDA"]}, {}, True),
        ({"PilotTypes": ["other"]}, {}, False), ({}, {"prodUserID": "/DC=org/CN=alice"}, True),
        ({}, {"prodUserID": "/DC=org/CN=bob"}, False), ({}, {"taskID": "17"}, False), ({}, {"taskID": "NULL"}, True),
        ({"Tags": ["2Processors"]}, {}, False), ({"Tags": ["GPU"]}, {}, False),
    ],
)  # fmt: skip
def test_the_fields_of_a_pilot_become_a_resource_description(
    pilot: Pilots, insert: Insert, requirements: dict[str, Any], fields: dict[str, Any], fits: bool
) -> None:
    insert(71, **requirements)
    assert pilot().older("getJob", siteName=QUEUE, **fields)["StatusCode"] == (0 if fits else 20)


@pytest.mark.parametrize(
    ("case", "got"),
    [
        ((None, None, 8), True), ((None, None, 1), True), ((None, None, 16), False), ((None, "SCORE", 1), True),
        (("ucore", "MCORE", 8), True), (("ucore", "MCORE", 1), False), (("ucore", "SCORE", 1), True),
        (("ucore", "SCORE", 8), False), (("ucore", None, 8), True),
    ],
)  # fmt: skip
def test_the_cores_of_a_pilot_are_those_of_its_queue(
    pilot: Pilots, insert: Insert, db: Db, case: tuple[str | None, str | None, int], got: bool
) -> None:
    capability, resource_type, cores = case
    insert(71, **({"Tags": [f"{cores}Processors"]} if cores > 1 else {}))
    db.execute(
        "insert into resource.queue (setup, queue, corecount, capability) values ('default', %s, 8, %s)",
        [QUEUE, capability],
    )
    job = pilot().older("getJob", siteName=QUEUE, resourceType=resource_type or "")
    assert (job["StatusCode"], job.get("coreCount")) == ((0, cores) if got else (20, None))


def test_a_job_without_an_object_as_payload_can_still_be_ended(pilot: Pilots, insert: Insert) -> None:
    """The pilot gets the fields that it needs to end the job."""
    one = pilot()
    for number, payload in enumerate((None, "a script", [1]), 1):
        insert(number, payload)
        job = one.older("getJob", siteName=QUEUE)
        assert (job["PandaID"], job["attemptNr"], job["transformation"], job["jobPars"]) == (number, 1, "", "")
    insert(9, {"PandaID": 1, "attemptNr": 7, "StatusCode": 30, "coreCount": 4, "big": 2**70})
    job = one.older("getJob", siteName=QUEUE)
    assert job.items() >= {"PandaID": 9, "attemptNr": 1, "StatusCode": 0, "coreCount": 4, "big": 2**70}.items()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("getJob", {}), "siteName is missing"),
        (("getJob", {"siteName": QUEUE, "mem": "much"}), 'mem is "much", which is not a number'),
        (("getJob", {"siteName": QUEUE, "mem": "nan"}), 'mem is "nan"'),
        (("getJob", {"siteName": QUEUE, "nJobs": 1001}), 'nJobs is "1001", which is not within 1..1000'),
        (("getJob", {"siteName": "x" * 1001}), f'siteName is "{"x" * 95}...", which is not a text of at most 1000'),
        (("getJob", {"siteName": "a\0b"}), "siteName is"),
        (("getJob", {"siteName": ["a", "b"]}), 'siteName is ["a", "b"], which is not a text'),
        (("updateJob", {"state": "running"}), "jobId is missing"),
        (("updateJob", {"jobId": 71}), "state is missing"),
        (("updateJob", {"jobId": "7x", "state": "running"}), 'jobId is "7x", which is not an integer'),
        (("updateJob", {"jobId": 0, "state": "running"}), "jobId is"),
        (("updateJob", {"jobId": 71, "state": "well"}), "the state is 'well', which is none of starting"),
        (("updateJob", {"jobId": 71, "state": "finished", "attemptNr": "0"}), 'attemptNr is "0"'),
        (("getStatus", {"ids": "71 x"}), 'ids is "x", which is not an integer'),
    ],
)
def test_bad_fields_are_named_and_nothing_is_stored(
    one: Pilot, db: Db, call: tuple[str, dict[str, Any]], words: str
) -> None:
    method, fields = call
    if method == "updateJob":
        one.older("getJob", siteName=QUEUE)
    before = stored(db)
    answer = one.older(method, **fields)
    assert answer["StatusCode"] == 30
    assert words in answer["errorDialog"]
    assert one.encoded(method, **fields) == {"StatusCode": "30", "errorDialog": answer["errorDialog"]}
    assert stored(db) == before


def test_what_is_not_kept_may_be_anything(one: Pilot) -> None:
    """Fields that come twice, and bytes that are no text."""
    one.older("getJob", siteName=QUEUE)
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    for more in (b"log=a&log=b&x=%FF%00", b"log=\xff\xfe&pilotErrorCode=x"):
        answer = one.client.post("/server/panda/updateJob", content=b"jobId=71&state=running&" + more, headers=headers)
        assert answer.json() == {"StatusCode": 0, "command": "NULL"}
    assert one.older("updateWorkerPilotStatus", status="\0") == {"StatusCode": 0}


def test_updates_have_facts_of_the_run(one: Pilot, db: Db) -> None:
    one.older("getJob", siteName=QUEUE, node="slot1_2@n17.org")
    assert facts_of(db, 71)[0] == "n17.org"
    begun = {"node": "n18", "startTime": 1000, "cpuConsumptionTime": 60, "cpuConsumptionUnit": "s", "maxRSS": 1024}
    one.older("updateJob", jobId=71, state="running", **begun)
    held = {"pilotErrorCode": 1137, "pilotErrorDiag": "stage-out failed"}
    one.older("updateJob", jobId=71, state="holding", **held)
    one.older("updateJob", jobId=71, state="starting", maxRSS=4096)  # refused as a state, and taken as a heartbeat
    assert facts_of(db, 71) == ("n17.org", [{"source": "pilot", "code": 1137, "text": "stage-out failed"}], 60, None,
                                4, None)  # fmt: skip
    assert one.older("updateJob", jobId=71, state="failed", **PILOT)["StatusCode"] == 0
    errors = [{"source": "pilot", "code": 1305, "text": "the payload failed"}, {"source": "exe", "code": 65}]
    assert facts_of(db, 71) == ("n17.org", errors, 3600, 100, 2000, 8)


def test_no_value_of_a_field_stops_an_end(pilot: Pilots, insert: Insert, db: Db) -> None:
    one = pilot()
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    for odd in ODD:  # with NaN and halves of surrogate pairs, as Python writes them
        content = json.dumps({"siteName": QUEUE, "node": odd})
        answer = one.client.post("/server/panda/getJob", content=content, headers=headers).json()
        assert answer["StatusCode"] == 20, odd
    for number, given in enumerate(odd_fields(*FIELDS), 1):
        insert(number)
        one.older("getJob", siteName=QUEUE)
        content = json.dumps(given | {"jobId": number, "state": "failed"})
        answer = one.client.post("/server/panda/updateJob", content=content, headers=headers).json()
        assert answer == {"StatusCode": 0, "command": "NULL"}, given
        assert are_bounded(facts_of(db, number))


def test_reports_about_workers_are_accepted(pilot: Pilots) -> None:
    fields = {"workerID": 1, "harvesterID": "h", "site": QUEUE, "node_id": "node 1"}
    for status in ("started", "finished"):
        assert pilot().older("updateWorkerPilotStatus", status=status, **fields) == {"StatusCode": 0}
    types = pilot().older("getResourceTypes")
    assert (types["StatusCode"], len(types["ResourceTypes"])) == (0, 6)
    score = {"resource_name": "SCORE", "mincore": 1, "maxcore": 1, "minrampercore": None, "maxrampercore": 2000}
    assert score in types["ResourceTypes"]


def test_only_agents_of_the_setup_may_get_jobs(service: Running, token: Token, db: Db) -> None:
    url = f"{service.url}/server/panda/getJob"
    for headers in ({}, bearer("guessed")):
        refused = httpx.post(url, data={"siteName": QUEUE}, headers=headers)
        assert (refused.status_code, refused.headers["Content-Type"]) == (403, "text/plain; charset=utf-8")
        assert refused.text.startswith("ERROR : Token authentication failed. ")
    for kind in ("submitter", "viewer"):
        accepting = {**bearer(token(kind)), "Accept": "application/json"}
        assert httpx.post(url, data={"siteName": QUEUE}, headers=accepting).json()["StatusCode"] == 60
    [(other,)] = db.execute("select token from resource.make_token('other', 'pilot', 'agent')").fetchall()
    elsewhere = httpx.post(url, data={"siteName": QUEUE}, headers=bearer(other))
    assert elsewhere.status_code == 403  # a token of another setup


@pytest.mark.own_database
def test_an_update_that_cannot_be_stored_now_may_be_repeated(one: Pilot, db: Db) -> None:
    """A pilot regards every answered update as done, so an update that cannot be stored now gets an HTTP error."""
    assert one.older("getJob", siteName=QUEUE)["PandaID"] == 71
    db.execute("alter function taskqueue.finish_jobs rename to finish_jobs_away")
    try:
        refused = one.client.post("/server/panda/updateJob", data={"jobId": 71, "state": "finished"})
    finally:
        db.execute("alter function taskqueue.finish_jobs_away rename to finish_jobs")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
    assert refused.text.startswith("ERROR : ")
    assert one.older("updateJob", jobId=71, state="finished")["command"] == "NULL"


def test_too_many_requests_are_slowed_down(start: Start, token: Token) -> None:
    one = Pilot(start(rate=0.01).url, token("agent", "pilot 1"))
    assert one.older("getJob", siteName=QUEUE)["StatusCode"] == 20
    refused = one.client.post("/server/panda/getJob", data={"siteName": QUEUE})
    assert (refused.status_code, refused.text[:8]) == (429, "ERROR : ")
    assert 0 < int(refused.headers["Retry-After"]) <= 100
    one.client.close()
