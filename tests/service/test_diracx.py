"""DiracX's calls: statuses and heartbeats of agents, searches with DIRAC's names.

The last test runs DiracX's own client. It needs an interpreter that has it, since it brings two dozen packages:
`python3 -m venv dx && dx/bin/pip install diracx-client`, then BROKER_TEST_DIRACX=dx/bin/python in the environment.
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.core.translate.test_diracx import JOBS, NODES, newer_job, newer_node
from tests.service.conftest import Db, Jobs, Running, Token, bearer, facts_of
from tests.service.test_facts import PARAMETERS, are_bounded, odd_fields

Matched = Callable[[int], list[int]]
WANTED = {"resources": [{"CPUTime": 86400, "Site": "NORTH"}]}
NODE = NODES["node_01_cern_typical"]
NOW = "2026-03-28T12:00:00Z"


@pytest.fixture
def adapter(service: Running) -> Iterator[httpx.Client]:
    """A client for the calls of DiracX."""
    with httpx.Client(base_url=service.url + "/api/jobs", timeout=60) as made:
        yield made


@pytest.fixture
def agent(adapter: httpx.Client, token: Token) -> httpx.Client:
    adapter.headers.update(bearer(token("agent", "pilot-1")))
    return adapter


@pytest.fixture
def matched(client: httpx.Client, token: Token, jobs: Jobs) -> Matched:
    """A function that gives this many jobs to the agent."""

    def match(count: int) -> list[int]:
        jobs(count)
        asked = client.post("/match", json={**WANTED, "n": count}, headers=bearer(token("agent", "pilot-1")))
        return sorted(job["job_id"] for job in asked.json()["matches"])

    return match


def outcomes(db: Db) -> dict[int, str]:
    return dict(db.execute("select job_id, outcome from taskqueue.ended").fetchall())


def update(status: str | None, at: str = NOW) -> dict[str, Any]:
    return {at: {"Status": status, "Source": "JobAgent"}}


def test_an_agent_sets_the_statuses_of_several_jobs(agent: httpx.Client, matched: Matched, db: Db) -> None:
    matched(4)
    answer = agent.patch("/status", json={1: update("Running"), 2: update("Matched"), 3: update(None)})
    assert answer.status_code == 200, answer.text
    known: list[dict[str, str]] = [{"Status": "Running"}, {"Status": "Matched"}, {}]
    expected = {str(job): {**one, "LastUpdateTime": NOW} for job, one in enumerate(known, 1)}
    assert answer.json() == {"success": expected, "failed": {}}
    states = db.execute("select job_id, state, reported_at is not null from taskqueue.lease order by 1").fetchall()
    assert states == [(1, "running", True), (2, "running", True), (3, "running", True), (4, "matched", False)]
    ends = {1: update("Done"), 2: update("Failed"), 3: update("Killed"), 4: update("Completed")}
    assert agent.patch("/status", json=ends).json()["failed"] == {}
    assert outcomes(db) == {1: "finished", 2: "failed", 3: "cancelled", 4: "finished"}
    assert agent.patch("/status", json={4: update("Done")}).json()["failed"] == {}  # as DIRAC does


def test_the_latest_status_counts(agent: httpx.Client, matched: Matched, db: Db) -> None:
    matched(1)
    several = {**update("Done", "2026-03-28 12:00:02+00:00"), **update("Running", "2026-03-28 12:00:01.5")}
    answer = agent.patch("/status", json={1: {**several, **update(None, "2026-03-28T12:00:03Z")}})
    assert answer.json()["success"] == {"1": {"Status": "Done", "LastUpdateTime": "2026-03-28T12:00:03Z"}}
    assert outcomes(db) == {1: "finished"}


EARLIER, LATER = "2026-03-28 12:00:01.5+00:00", "2026-03-28 12:00:02"


@pytest.mark.parametrize("later", ["Running", "Completing", "Matched", "Failed", None])
def test_a_status_after_the_end_takes_nothing_back(
    agent: httpx.Client, matched: Matched, later: str | None, db: Db
) -> None:
    matched(3)
    ends = {1: "Done", 2: "Failed", 3: "Killed"}
    given = {job: {**update(later, LATER), **update(end, EARLIER)} for job, end in ends.items()}
    answer = agent.patch("/status", json=given).json()["success"]
    assert {job: answer[str(job)]["Status"] for job in ends} == ends
    assert outcomes(db) == {1: "finished", 2: "failed", 3: "cancelled"}


def test_two_statuses_of_one_time_both_count(agent: httpx.Client, matched: Matched, db: Db) -> None:
    matched(1)
    same = {"2026-03-28T12:00:00Z": {"Status": "Done"}, "2026-03-28T13:00:00+01:00": {"Status": "Running"}}
    assert agent.patch("/status", json={1: same}).json()["failed"] == {}
    assert outcomes(db) == {1: "finished"}


def test_an_agent_gives_a_job_back(agent: httpx.Client, matched: Matched, token: Token, db: Db) -> None:
    matched(2)
    given = {**update("Rescheduled", EARLIER), **update("Failed", LATER)}
    answer = agent.patch("/status", json={1: given, 2: update("Done"), 99: update("Rescheduled")}).json()
    assert (list(answer["success"]), list(answer["failed"])) == (["1", "2"], ["99"])
    assert db.execute("select taskqueue.state_of_job('default', 1)").fetchone() == ("waiting",)
    assert outcomes(db) == {2: "finished"}
    refused = agent.patch("/status", json={1: update("Failed")})
    assert "does not have job 1" in refused.json()["detail"]["failed"]["1"]["detail"]


@pytest.mark.parametrize(
    "wrong", [{"now": {"Status": "Running"}}, {LATER: {"Status": "Odd"}}, {LATER: None}, {LATER: 5}]
)
def test_a_wrong_status_of_a_job_does_not_stop_its_end(
    agent: httpx.Client, matched: Matched, wrong: dict[str, Any], db: Db
) -> None:
    matched(1)
    answer = agent.patch("/status", json={1: {**wrong, **update("Done", EARLIER)}})
    assert list(answer.json()["detail"]["failed"]) == ["1"]
    assert outcomes(db) == {1: "finished"}


def test_a_job_of_another_agent_is_left_alone(agent: httpx.Client, matched: Matched, token: Token, db: Db) -> None:
    matched(2)
    other = bearer(token("agent", "pilot-2"))
    refused = agent.patch("/status", json={1: update("Done")}, headers=other)
    assert refused.status_code == 404
    assert "does not have job 1" in refused.json()["detail"]["failed"]["1"]["detail"]
    assert outcomes(db) == {}
    commands = agent.patch("/heartbeat", json={1: {}}, headers=other).json()
    assert [(one["job_id"], one["command"]) for one in commands] == [(1, "Kill")]
    mixed = agent.patch("/status", json={1: update("Waiting"), 2: update("Done"), 99: update("Done")})
    found = mixed.json()
    assert (mixed.status_code, list(found["success"]), sorted(found["failed"])) == (200, ["2"], ["1", "99"])


def test_a_heartbeat_returns_the_command_to_stop(agent: httpx.Client, matched: Matched, token: Token, db: Db) -> None:
    matched(3)
    figures = {"LoadAverage": 1.5, "CPUConsumed": 3.0, "Vsize": 1e6, "StandardOutput": "working"}
    assert agent.patch("/heartbeat", json=dict.fromkeys((1, 2, 3), figures)).json() == []
    submitter = bearer(token("submitter"))
    killed = agent.patch("/status", json={2: update("Killed"), 99: update("Killed")}, headers=submitter)
    assert (list(killed.json()["success"]), list(killed.json()["failed"])) == (["2"], ["99"])
    commands = agent.patch("/heartbeat", json={job: {} for job in (1, 2, 3)}).json()
    assert commands == [{"job_id": 2, "command": "Kill", "arguments": "Killed through DiracX"}]
    done = agent.patch("/status", json={1: update("Done")}, headers=submitter)
    assert (done.status_code, outcomes(db)) == (404, {})


@pytest.fixture
def viewer(adapter: httpx.Client, token: Token, matched: Matched, jobs: Jobs) -> httpx.Client:
    """Jobs 1 to 3 are leased, one of them runs; 11 to 15 wait, one of them is held."""
    matched(3)
    adapter.patch("/status", json={2: update("Running")}, headers=bearer(token("agent", "pilot-1")))
    jobs(5, first=11)
    adapter.headers.update(bearer(token("operator")))
    return adapter


def test_jobs_are_searched_in_the_words_of_dirac(viewer: httpx.Client, db: Db) -> None:
    db.execute("select taskqueue.hold('default', 'job', '11')")
    asked = {"parameters": ["JobID", "Status", "Site"], "sort": [{"parameter": "JobID", "direction": "asc"}]}
    rows = viewer.post("/search", json=asked).json()
    assert [row["Status"] for row in rows] == ["Matched", "Running", "Matched"] + ["Waiting"] * 5
    assert rows[1] == {"JobID": 2, "Status": "Running", "Site": "NORTH"}
    for spec, ids in (
        ({"parameter": "JobID", "operator": "in", "values": ["2", 12]}, [2, 12]),
        ({"parameter": "JobID", "operator": "eq", "value": "3"}, [3]),
        ({"parameter": "Status", "operator": "in", "values": ["Matched", "Done"]}, [1, 3]),
        ({"parameter": "SubmissionTime", "operator": "lt", "value": "2020-01-01 00:00:00"}, []),
        ({"parameter": "Owner", "operator": "like", "value": "%alice"}, [1, 2, 3, 11, 12, 13, 14, 15]),
    ):
        found = viewer.post("/search", json={**asked, "search": [spec]})
        assert [row["JobID"] for row in found.json()] == ids, found.text
    counted = viewer.post("/summary", json={"grouping": ["Status"]}).json()
    assert counted[0] == {"Status": "Waiting", "count": 5}
    assert {row["Status"]: row["count"] for row in counted[1:]} == {"Matched": 2, "Running": 1}


def test_pages_of_a_search_are_chosen_by_number(viewer: httpx.Client) -> None:
    asked = {"parameters": ["JobID"], "sort": [{"parameter": "JobID", "direction": "asc"}]}
    pages = [viewer.post(f"/search?page={page}&per_page=3", json=asked) for page in (1, 2, 3, 4)]
    assert [[row["JobID"] for row in page.json()] for page in pages] == [[1, 2, 3], [11, 12, 13], [14, 15], []]
    assert [page.status_code for page in pages] == [206, 206, 206, 416]
    assert [page.headers["Content-Range"] for page in pages] == ["jobs 0-2/*", "jobs 3-5/*", "jobs 6-7/*", "jobs */8"]
    assert viewer.post("/search", json=asked).status_code == 200
    none = {"search": [{"parameter": "JobID", "operator": "eq", "value": 99}]}
    assert [viewer.post(f"/search?page={page}", json=none).status_code for page in (1, 2)] == [200, 200]


def test_a_search_for_distinct_values_gives_each_once(viewer: httpx.Client) -> None:
    asked: dict[str, Any] = {"parameters": ["Site"], "distinct": True}
    assert viewer.post("/search", json=asked).json() == [{"Site": "NORTH"}, {"Site": None}]
    asked = {**asked, "parameters": ["Status"], "sort": [{"parameter": "Status", "direction": "desc"}]}
    first = viewer.post("/search?per_page=2", json=asked)
    assert (first.status_code, first.json()) == (206, [{"Status": "Waiting"}, {"Status": "Running"}])
    assert viewer.post("/search?per_page=2&page=2", json=asked).json() == [{"Status": "Matched"}]
    asked["sort"] = [{"parameter": "JobID"}]
    assert viewer.post("/search", json=asked).status_code == 422


def test_a_submitter_sees_its_own_jobs(viewer: httpx.Client, token: Token) -> None:
    own = bearer(token("submitter"))
    rows = viewer.post("/search", json={"parameters": ["JobID", "Status"]}, headers=own).json()
    assert [row["JobID"] for row in rows] == [15, 14, 13, 12, 11, 3, 2, 1]
    assert [row["Status"] for row in rows[5:]] == ["Matched", "Running", "Matched"]
    page = viewer.post("/search?page=2&per_page=5", json={"parameters": ["JobID"]}, headers=own)
    assert [row["JobID"] for row in page.json()] == [3, 2, 1]
    nobody = bearer(token("submitter", "carol", "none"))
    assert viewer.post("/search", json={}, headers=nobody).json() == []
    assert viewer.post("/search", json={}, headers=bearer(token("agent"))).status_code == 403


@pytest.mark.parametrize(
    ("method", "path", "body", "words"),
    [
        ("POST", "/search?page=0", {}, "page is '0'"),
        ("POST", "/search?page=x", {}, "page is 'x'"),
        ("POST", "/search?per_page=10001", {}, "per_page is '10001'"),
        ("POST", "/search?page=2000000", {}, "page 2000000"),
        ("POST", "/search", {"parameters": ["JobId"]}, "nearest is JobID"),
        ("POST", "/search", {"search": [{"parameter": "JobID", "operator": "eq", "value": "x"}]}, "not an integer"),
        ("POST", "/search", {"search": [{"parameter": "JobID", "operator": "eq", "value": "--5"}]}, "not an integer"),
        ("POST", "/search", {"search": [{"parameter": "JobID", "operator": "is", "value": 1}]}, "operator"),
        ("POST", "/summary", {"grouping": ["Owners"]}, "nearest is Owner"),
        ("PATCH", "/heartbeat", {"x": {}}, "Expected `int`"),
        ("PATCH", "/heartbeat", [], "not an object"),
        ("PATCH", "/status", {"x": {}}, "Expected `int`"),
    ],
)
def test_a_wrong_call_is_refused(viewer: httpx.Client, method: str, path: str, body: Any, words: str) -> None:
    refused = viewer.request(method, path, json=body)
    assert (refused.status_code, list(refused.json())) == (422, ["detail"]), refused.text
    assert words in refused.json()["detail"]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({NOW: {"Status": "Finished"}}, "Finished"),
        ({"now": {"Status": "Done"}}, "job 1 has the time 'now'"),
        ({}, "job 1 has no status"),
        ([], "the entry of job 1"),
    ],
)
def test_a_wrong_status_of_many_concerns_no_other(
    agent: httpx.Client, matched: Matched, entry: Any, words: str, db: Db
) -> None:
    matched(2)
    found = agent.patch("/status", json={1: entry, 2: update("Done")}).json()
    assert (list(found["success"]), list(found["failed"]), outcomes(db)) == (["2"], ["1"], {2: "finished"})
    assert words in found["failed"]["1"]["detail"]
    alone = agent.patch("/status", json={1: entry})
    assert (alone.status_code, list(alone.json()["detail"]["failed"])) == (404, ["1"])


def test_half_of_a_surrogate_pair_concerns_no_other_job(agent: httpx.Client, matched: Matched, db: Db) -> None:
    matched(2)
    half = r"\ud800"
    alive = f'{{"{half}": {{}}, "1": {{}}}}'.encode()
    refused = agent.patch("/heartbeat", content=alive, headers={"content-type": "application/json"})
    assert (refused.status_code, "no text" in refused.text) == (422, True)
    reported = "select job_id from taskqueue.lease where reported_at > matched_at"
    assert db.execute(reported).fetchall() == [(1,)]
    body = f'{{"1": {{"{NOW}": {{"Status": "{half}"}}}}, "2": {json.dumps(update("Done"))}}}'.encode()
    found = agent.patch("/status", content=body, headers={"content-type": "application/json"})
    assert (list(found.json()["failed"]), outcomes(db)) == (["1"], {2: "finished"})


def test_an_operator_cancels_thousands_of_jobs(adapter: httpx.Client, token: Token, jobs: Jobs, db: Db) -> None:
    jobs(2000)
    killed = {number: update("Killed") for number in range(1, 2001)}
    answer = adapter.patch("/status", json=killed, headers=bearer(token("operator")))
    assert (answer.status_code, len(answer.json()["success"])) == (200, 2000)
    assert len(outcomes(db)) == 2000


def test_what_is_not_kept_may_be_anything(agent: httpx.Client, matched: Matched, db: Db) -> None:
    matched(1)
    headers = {"Content-Type": "application/json"}
    for path, entry in (
        ("/heartbeat", b'{"StandardOutput": "\\u0000 \\udcff \xff", "LoadAverage": NaN, "Load": 1}'),
        ("/status", b'{"2026-03-28T12:00:00Z": {"Status": "Running", "MinorStatus": "\\ud800", "Source": NaN}}'),
    ):
        db.execute("update taskqueue.lease set reported_at = now() - interval '1 hour'")
        assert agent.patch(path, content=b'{"1": %s}' % entry, headers=headers).status_code == 200
        wrong = agent.patch(path, content=b'{"x": {}, "1": %s}' % entry, headers=headers)
        assert (wrong.status_code, "Expected `int`" in wrong.json()["detail"]) == (422, True)
        assert db.execute("select reported_at > now() - interval '1 minute' from taskqueue.lease").fetchone() == (True,)


def test_heartbeats_parameters_and_statuses_have_facts_of_the_run(
    agent: httpx.Client, matched: Matched, db: Db
) -> None:
    matched(3)
    beat = {"LoadAverage": 1.5, "CPUConsumed": 100.0, "WallClockTime": 120.5, "MemoryUsed": 1500.5, "Vsize": 9e5}
    assert agent.patch("/heartbeat", json={1: beat, 2: beat}).json() == []
    host = {"HostName": "n17", "Memory(MB)": 64000, "JobType": "User"}
    answer = agent.patch("/metadata", json={1: host, 2: host})
    assert (answer.status_code, answer.content) == (204, b"")
    assert facts_of(db, 1) == ("n17", None, 100, 120.5, 1500.5, None)
    failed = {NOW: {"Status": "Failed", "MinorStatus": "Stalled", "ApplicationStatus": "exit 3"}}
    done = {NOW: {"Status": "Done", "MinorStatus": "Execution Complete"}}
    late = {EARLIER: {"MinorStatus": "early"}, LATER: {"Status": "Failed"}, NOW: {"MinorStatus": "not yet"}}
    assert agent.patch("/status", json={1: failed, 2: done, 3: late}).json()["failed"] == {}
    assert facts_of(db, 1)[1] == [{"source": "dirac", "text": "Stalled"}, {"source": "dirac", "text": "exit 3"}]
    assert facts_of(db, 2) == ("n17", None, 100, 120.5, 1500.5, None)
    assert facts_of(db, 3)[1] == [{"source": "dirac", "text": "early"}]
    assert agent.patch("/metadata", json={1: {"TotalCPUTime(s)": 7}}).status_code == 204  # the job is over
    assert facts_of(db, 1)[2] == 100


def test_parameters_of_a_job_of_another_agent_are_refused(
    agent: httpx.Client, matched: Matched, token: Token, db: Db
) -> None:
    matched(2)
    refused = agent.patch("/metadata", json={99: {}, 1: {"HostName": "n17"}})
    assert (refused.status_code, "does not have job 99" in refused.json()["detail"]) == (403, True)
    assert facts_of(db, 1)[0] == "n17"
    other = agent.patch("/metadata", json={1: {"HostName": "n18"}}, headers=bearer(token("agent", "pilot-2")))
    assert other.status_code == 403
    assert facts_of(db, 1)[0] == "n17"
    assert agent.patch("/metadata", json={"x": {}, "2": {"HostName": "n17"}}).status_code == 422
    assert facts_of(db, 2)[0] == "n17"


def test_no_value_of_a_parameter_or_status_stops_an_end(agent: httpx.Client, matched: Matched, db: Db) -> None:
    each = odd_fields(*PARAMETERS)
    headers = {"Content-Type": "application/json"}
    given = dict(zip(matched(len(each)), each, strict=True))
    failed = {}
    for job, fields in given.items():
        minor, application, *_ = fields.values()
        failed[job] = {NOW: {"Status": "Failed", "MinorStatus": minor, "ApplicationStatus": application}}
    for path, body in (("/heartbeat", given), ("/metadata", given), ("/status", failed)):
        content = json.dumps(body)  # with NaN and halves of surrogate pairs, as Python writes them
        answer = agent.patch(path, content=content, headers=headers)
        assert answer.status_code in (200, 204), (path, answer.text)
    assert outcomes(db) == dict.fromkeys(given, "failed")
    assert all(are_bounded(facts_of(db, job)) for job in given)


def test_an_unknown_caller_gets_an_error_in_the_form_of_diracx(adapter: httpx.Client) -> None:
    refused = adapter.post("/search", json={})
    assert (refused.status_code, list(refused.json())) == (401, ["detail"])
    assert refused.headers["WWW-Authenticate"] == "Bearer"


def test_a_viewer_changes_nothing(adapter: httpx.Client, matched: Matched, token: Token, db: Db) -> None:
    matched(1)
    viewer = bearer(token("viewer"))
    assert adapter.patch("/status", json={1: update("Killed")}, headers=viewer).status_code == 403
    for path in ("/heartbeat", "/metadata"):
        assert adapter.patch(path, json={1: {}}, headers=viewer).status_code == 403
    assert outcomes(db) == {}


@pytest.fixture
def diracx_attributes(db: Db) -> None:
    db.execute("""select taskqueue.set_attributes('default', '"diracx"')""")


@pytest.mark.parametrize("newer", [False, True], ids=["v0.1", "v0.2"])
def test_documents_of_jobs_and_nodes_are_taken_as_they_are(
    client: httpx.Client, token: Token, diracx_attributes: None, newer: bool
) -> None:
    """DiracX has no calls that submit or match documents, so they are sent to those of the service."""
    first = JOBS["job_07_sprucing_niche"]
    job, node = ({**newer_job(first), "sites": []}, newer_node(NODE)) if newer else (first, NODE)
    node = {"node_id": "n", **node}
    operator = bearer(token("operator"))
    group = {"requirements": job, "jobs": [[1, 5, {"big": 2**60}], [2]]}
    lines = b"\n".join(json.dumps(one).encode() for one in (group, {"job_id": 3, "requirements": job}))
    headers = {"Content-Type": "application/x-ndjson", **operator}
    assert client.post("/jobs", content=lines, headers=headers).json()["job_ids"] == [1, 2, 3]
    assert client.post("/jobs", json=[{"job_id": 4, "requirements": job}], headers=operator).json()["new"] == 1
    why = client.post("/resources/why", json={"resource": node}, headers=operator).json()
    assert [(one["jobs"], one["failing"]) for one in why] == [(4, [])]
    for wait in (0, 1):
        asked = {"resources": [{**node, "site": "LCG.NCBJ.pl"}, node], "n": 2, "wait": wait}
        matches = client.post("/match", json=asked, headers=bearer(token("agent"))).json()["matches"]
        assert [one["processors"] for one in matches] == [2, 2]


def test_a_version_of_a_document_keeps_the_digits_of_its_number(
    client: httpx.Client, token: Token, diracx_attributes: None
) -> None:
    """2.30 is above 2.28, and 2.3 is not. In descriptions and requirements of pgbroker a number is refused."""
    client.headers.update(bearer(token("operator")) | {"Content-Type": "application/json"})
    spec = JOBS["job_07_sprucing_niche"]["matching_specs"][0] | {"wall-time": 0.5}
    job = {"owner": "a", "group": "g", "matching_specs": [{**spec, "system": {"name": "Linux", "glibc": 9.25}}]}
    node = {"node_id": "n", **NODE, "system": {"name": "Linux", "glibc": 9.25}}
    for number, glibc in enumerate(("2.3", "2.30", "2.300"), 1):
        text = json.dumps([{"job_id": number, "requirements": job}]).replace("9.25", glibc)
        assert client.post("/jobs", content=text).status_code == 200
    for number, glibc in enumerate(("2.3", "2.30", "2.300"), 1):
        text = json.dumps({"resource": node}).replace("9.25", glibc)
        why = client.post("/resources/why", content=text).json()
        assert sum(one["jobs"] for one in why if one["failing"] == []) == 1
        text = json.dumps({"resources": [node], "n": 3}).replace("9.25", glibc)
        assert [one["job_id"] for one in client.post("/match", content=text).json()["matches"]] == [number]
    wanted = '{"Owner": "a", "OwnerGroup": "g", "CPUTime": 5, "Attributes": {"glibc": {"min": 2.30}}}'
    resource = '{"CPUTime": 5, "Attributes": {"glibc": 2.30, "wall": 1.5}}'
    for path, text in (
        ("/jobs", f'[{{"job_id": 9, "requirements": {wanted}}}]'),
        ("/match", f'{{"resources": [{resource}]}}'), ("/match", f'{{"resources": [{resource}], "wait": 1}}'),
        ("/resources/why", f'{{"resource": {resource}}}'),
    ):  # fmt: skip
        refused = client.post(path, content=text)
        assert (refused.status_code, refused.json()["code"], "glibc" in refused.json()["detail"]) == (
            422,
            "PB001",
            True,
        )
        assert '"2.30"' in refused.json()["hint"]


def test_a_fault_of_a_document_is_named_with_its_place(client: httpx.Client, token: Token) -> None:
    client.headers.update(bearer(token("operator")))
    good, bad = ({"job_id": job, "requirements": {"requirements": {"wall_time": time}, "owner": "a", "group": "g"}}
                 for job, time in ((1, 5), (2, "1h")))  # fmt: skip
    refused = client.post("/jobs", json=[good, bad])
    problem = refused.json()
    assert (refused.status_code, problem["code"], problem["line"], problem["stored"]) == (422, "PB001", 2, 0)
    assert problem["detail"].startswith('line 2, job 2: requirements.wall_time is "1h", not a number')
    node: dict[str, Any] = {"node_id": "n", "cpu": {}}
    for path, body, place in (
        ("/match", {"resources": [{"CPUTime": 5}, node]}, "resources[1]"),
        ("/resources/why", {"resource": node}, "resource"),
    ):
        refused = client.post(path, json=body)
        assert (refused.status_code, refused.json()["key"]) == (422, place)
        assert refused.json()["detail"].startswith(f"{place}: site is missing")


def test_the_answer_has_the_processors_of_a_range_alone(client: httpx.Client, token: Token) -> None:
    client.headers.update(bearer(token("operator")))
    wanted = {"Owner": "a", "OwnerGroup": "g", "CPUTime": 5}
    ranged = {**wanted, "MinNumberOfProcessors": 2, "MaxNumberOfProcessors": 8, "MinRAM": 2000, "RAMPerProcessor": 500}
    client.post("/jobs", json=[{"job_id": 1, "requirements": wanted}, {"job_id": 2, "requirements": ranged}])
    resource = {"CPUTime": 86400, "NumberOfProcessors": 16, "MaxRAM": 4000}
    found = client.post("/match", json={"resources": [resource], "n": 2}).json()["matches"]
    assert {one["job_id"]: one.get("processors") for one in found} == {1: None, 2: 6}


def test_the_client_of_diracx_works_with_the_adapter(
    service: Running, matched: Matched, token: Token, jobs: Jobs, db: Db
) -> None:
    python = os.environ.get("BROKER_TEST_DIRACX")
    if not python:
        pytest.skip("BROKER_TEST_DIRACX names no interpreter that has diracx-client")
    matched(3)
    jobs(1, first=7)
    tokens = [token("agent", "pilot-1"), token("viewer"), token("submitter")]
    program = Path(__file__).with_name("diracx_client.py")
    done = subprocess.run(
        [python, str(program), service.url, *tokens, "1", "2", "3", "7"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "running": "Running", "metadata": None, "no command": [], "command": [True, "Kill"], "refused": 404,
        "jobs": [{"JobID": 1, "Status": "Done"}, {"JobID": 2, "Status": "Killed"}, {"JobID": 7, "Status": "Waiting"}],
        "page": [{"JobID": 7}], "summary": [{"Status": "Done", "count": 1}],
    }  # fmt: skip
    errors = [{"source": "dirac", "text": "Stalled"}, {"source": "dirac", "text": "exit 3"}]
    assert facts_of(db, 3) == ("n17", errors, 3, 4, 1500.5, None)
    assert facts_of(db, 1) == (None, None, 3, 4, 1500.5, None)
