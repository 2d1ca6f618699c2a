"""DIRAC's Matcher: the jobs that an agent gets, the fields of its description that count, and refusals."""

import json
from typing import Any

import httpx

from broker.service.adapters.dirac.description import described
from tests.service.conftest import Db, Jobs, Running, Start, Token, bearer, facts_of
from tests.service.dirac.conftest import JDL, SITE, Callers, Insert, Match


def test_an_agent_gets_a_job_and_then_none(dirac_job: Insert, match: Match) -> None:
    dirac_job(7, {"JDL": JDL, "InputSandbox": "SB:7", "Owner": "al"})
    found = match()["Value"]
    assert found.pop("JDL") == '[JobID = 7;\n JobName = "one"; Executable = "/bin/true"; ]'
    assert found == {
        "JobID": 7, "Owner": "al", "DN": "alice", "Group": "lhcb_user", "InputSandbox": "SB:7",
        "PilotInfoReportedFlag": True,
    }  # fmt: skip
    nothing = match()
    assert (nothing["Errno"], nothing["Message"]) == (1510, "No match found ( 1510 : )")


JDLS = [
    ('Executable = "a[1]";', 'JobID = 7;\nExecutable = "a[1]";'),
    ('[ Executable = "a"; JobID = 7; ]', '[ Executable = "a"; JobID = 7; ]'),
    ('[ JobID = 5; Executable = "a"; ]', '[ JobID = 7; Executable = "a"; ]'),
    ('[\n  jobid="5"\n]', '[\n  jobid="7"\n]'),
    ("JobID = 70", "JobID = 7"),
    ('[\n  jobid = "7";\n]', '[\n  jobid = "7";\n]'),
    ('[ Arguments = "JobID=9"; ]', '[JobID = 7;\n Arguments = "JobID=9"; ]'),
]


def test_the_jdl_names_the_job(dirac_job: Insert, match: Match, rpc: Callers) -> None:
    for jdl, expected in JDLS:
        dirac_job(7, {"JDL": jdl})
        assert match()["Value"]["JDL"] == expected
        rpc()("setJobStatus", 7, "Done")


def test_a_job_without_a_jdl_fails_and_hinders_no_other(dirac_job: Insert, jobs: Jobs, match: Match, db: Db) -> None:
    payloads: list[Any] = [{}, {"JDL": " "}, {"JDL": 7}, ["JDL"], "JDL", 0]
    for number, payload in enumerate(payloads, 100):
        dirac_job(number, payload)
    jobs(1)  # has no payload at all
    for _ in range(7):
        refused = match()
        assert refused["Errno"] == 1501
        assert "has no JDL; the job has failed" in refused["Message"]
    assert match()["Errno"] == 1510
    assert db.execute("select outcome, count(*) from taskqueue.ended group by 1").fetchall() == [("failed", 7)]
    assert facts_of(db, 100)[1] == [{"source": "dirac", "text": "the payload has no JDL"}]


def test_the_host_of_a_description_is_that_of_the_lease(dirac_job: Insert, match: Match, db: Db) -> None:
    dirac_job(7)
    for wrong in ("", ["n17"], "n17\n", 5):
        refused = match(HostName=wrong)
        assert (refused["Errno"], "HostName" in refused["Message"]) == (1004, True), refused
    assert match(HostName="n17")["Value"]["JobID"] == 7
    assert facts_of(db, 7)[0] == "n17"


AGENTS = {  # fields of a JobAgent that matching ignores
    "PilotReference": "htcondorce://ce/1", "PilotBenchmark": 12.5, "PilotInfoReportedFlag": False,
    "DIRACVersion": "9.1.22", "ReleaseVersion": "9.1.22", "ReleaseProject": "DIRAC", "VirtualOrganization": "lhcb",
    "Setup": "LHCb-Production", "CEType": "Pool", "RunningJobs": 0, "Queue": "long", "MaxTotalJobs": 8,
}  # fmt: skip


DESCRIPTIONS: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    (AGENTS, {}, True), ({"Site": "LCG.SOUTH.org"}, {"Sites": ["LCG.NORTH.org"]}, False),
    ({"CPUTime": "6000"}, {}, True), ({"CPUTime": 400}, {}, False),
    ({"NumberOfProcessors": 8}, {"Tags": ["8Processors", "MultiProcessor"]}, True),
    ({"NumberOfProcessors": "4"}, {"Tags": ["8Processors"]}, False),
    ({"NumberOfProcessors": 1}, {"Tags": ["1Processors"]}, True),
    ({"NumberOfProcessors": 2000}, {"Tags": ["MultiProcessor"]}, True),
    ({"NumberOfProcessors": 2000}, {"Tags": ["8Processors"]}, False), ({"NumberOfProcessors": "many"}, {}, True),
    ({"WholeNode": "True"}, {"Tags": ["WholeNode"]}, True), ({"WholeNode": "False"}, {"Tags": ["WholeNode"]}, False),
    ({"Tag": "['GPU', \"big\"]"}, {"Tags": ["GPU", "big"]}, True),
    ({"Tag": "GPU, big"}, {"Tags": ["GPU", "big"]}, True), ({"Tag": ""}, {"Tags": ["GPU"]}, False),
    ({"Tag": ["GPU"], "RequiredTag": "[GPU]"}, {}, False), ({"Tag": ["GPU"], "RequiredTag": "any"}, {}, True),
    ({"RequiredTag": ["8Processors"], "NumberOfProcessors": 8}, {"Tags": ["8Processors"]}, True),
    ({"MaxRAM": 2000}, {"MinRAM": 2500}, False), ({"MaxRAM": "3000"}, {"MinRAM": 2500}, True),
    ({"Owner": "bob"}, {}, False), ({"OwnerDN": "alice"}, {}, True),
    ({"OwnerGroup": ["lhcb_user", "lhcb_prod"]}, {}, True),
    ({"GridCE": "ce1", "Platform": None}, {"GridCEs": ["ce1"], "Platforms": ["x86"]}, True),
    ({"GridCE": 12}, {"GridCEs": ["12"]}, True), ({"PilotType": "private"}, {"PilotTypes": ["private"]}, True),
    ({"JobID": "8"}, {}, False),
]  # fmt: skip
"""The offer of the resource, the requirements of the job, and whether the resource gets the job."""


def test_each_field_of_a_description_counts_as_in_dirac(dirac_job: Insert, match: Match, db: Db) -> None:
    for number, (offered, wanted, gets) in enumerate(DESCRIPTIONS, 1000):
        dirac_job(number, None, **wanted)
        answer = match(**offered)
        assert (answer.get("Errno") or answer["Value"]["JobID"]) == (number if gets else 1510), (offered, wanted)
        if not gets:
            db.execute("select taskqueue.cancel_job('default', %s)", [number])


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"Site": json.loads("[" * 600 + "]" * 600)}, "lists within lists"),
    ({"CPUTime": 600}, "Site is missing"),
    ({"Site": "A"}, "CPUTime is missing"),
    ({"Site": "A", "CPUTime": "soon"}, 'CPUTime is "soon"'),
    ({"Site": "A", "CPUTime": "inf"}, 'CPUTime is "inf"'),
    ({"Site": ["A", {}], "CPUTime": 600}, "Site holds {}"),
    ({"Site": "A", "CPUTime": 600, "RequiredTag": ["GPU"]}, "RequiredTag holds"),
    ({"Site": "A", "CPUTime": 600, "JobID": "one"}, 'JobID is "one"'),
    ({"Site": "A\0", "CPUTime": 600}, "args[0].Site holds the character NUL"),
    ({"Site": "A", "CPUTime": 600, "GridCE": ["x", "\udcff"]}, "args[0].GridCE[1] holds bytes that are no text"),
    ({"Site": "A", "CPUTime": float("nan")}, "args[0].CPUTime is nan"),
    ({"Site": "A", "CPUTime": 10**4000}, "args[0].CPUTime is inf"),
]


def test_a_wrong_description_is_named(rpc: Callers) -> None:
    call = rpc()
    for resource, words in WRONG:
        refused = call("requestJob", resource, service_name="Matcher")
        assert refused["Errno"] == 1004
        assert words in refused["Message"]


def test_keys_that_matching_does_not_read_may_be_anything(rpc: Callers, dirac_job: Insert) -> None:
    dirac_job(7)
    odd = {"PilotBenchmark": float("nan"), "Hostname": "a\0\udcff", "DIRACVersion": 10**4000, "\ud800": [[]]}
    assert rpc()("requestJob", SITE | odd, service_name="Matcher")["Value"]["JobID"] == 7


NO_CALLS: list[tuple[dict[str, str], int, int, str]] = [
    ({"args": "[]"}, 501, 38, "no method ''"),
    ({"method": "submitJob", "args": "[]"}, 501, 38, "no method 'submitJob'"),
    ({"method": "requestJob"}, 200, 1004, "args"),
    ({"method": "requestJob", "args": "["}, 200, 1004, "args is not JSON"),
    ({"method": "requestJob", "args": "{}"}, 200, 1004, "Expected `array`, got `object`"),
    ({"method": "requestJob", "args": '["x"]'}, 200, 1004, 'Expected `object`, got `str` - at `$[0]` (it is "x")'),
    ({"method": "requestJob", "args": '[{"Site": NaN}]'}, 200, 1004, "args[0].Site is nan, which is not a number"),
    ({"method": "requestJob", "args": "[{}, 1]"}, 200, 1004, "length"),
    ({"method": "ping", "args": "[1]"}, 200, 1004, "length"),
]
"""The form, the status of HTTP, DIRAC's error number, and words of its message."""


def test_a_malformed_call_is_refused(service: Running, token: Token) -> None:
    headers = bearer(token("agent"))
    for fields, status, errno, words in NO_CALLS:
        answer = httpx.post(service.url + "/WorkloadManagement/Matcher", data=fields, headers=headers)
        found = answer.json()
        assert (answer.status_code, found["OK"], found["Errno"]) == (status, False, errno), found
        assert words in found["Message"]


def test_only_agents_may_request_jobs(service: Running, token: Token, dirac_job: Insert) -> None:
    dirac_job()
    url = service.url + "/WorkloadManagement/Matcher"
    fields = {"method": "requestJob", "args": json.dumps([SITE]), "extraCredentials": '["alice", "lhcb_user"]'}
    for headers, status in (
        ({}, 401), (bearer("nonsense"), 401), (bearer(token("viewer")), 403), (bearer(token("agent")), 200)
    ):  # fmt: skip
        answer = httpx.post(url, data=fields, headers=headers)
        assert answer.status_code == status, answer.text
        assert status == 200 or answer.json()["Errno"] == 1111
        assert ("WWW-Authenticate" in answer.headers) == (status == 401)


def test_a_call_without_a_database_may_be_tried_elsewhere(start: Start) -> None:
    away = start(dsn="host=127.0.0.1 port=1 user=broker_service")
    answer = httpx.post(away.url + "/WorkloadManagement/Matcher", data={"method": "ping"}, headers=bearer("x"))
    assert (answer.status_code, answer.json()["Errno"], "Retry-After" in answer.headers) == (503, 1130, True)


def test_task_queues_are_listed_for_submitters_of_pilots(dirac_job: Insert, rpc: Callers) -> None:
    dirac_job(7, None, Sites=["LCG.NORTH.org"], Tags=["8Processors"])
    dirac_job(8, None, Sites=["LCG.SOUTH.org"])
    viewer = rpc("submission", "viewer")
    active = viewer("getActiveTaskQueues", service_name="Matcher")["Value"]
    assert sorted(one["Sites"] for one in active.values()) == [["LCG.NORTH.org"], ["LCG.SOUTH.org"]]
    asked = SITE | {"NumberOfProcessors": 8}
    (found,) = viewer("getMatchingTaskQueues", asked, service_name="Matcher")["Value"].values()
    assert found["Priority"] > 0
    assert {key: found[key] for key in ("Owner", "OwnerGroup", "Jobs", "Tags")} == {
        "Owner": "alice", "OwnerGroup": "lhcb_user", "Jobs": 1, "Tags": ["8Processors"]
    }  # fmt: skip
    assert rpc()("getActiveTaskQueues", service_name="Matcher", status=403)["Errno"] == 1111


def test_ping_names_the_service(rpc: Callers) -> None:
    found = rpc()("ping", service_name="Matcher")["Value"]
    assert found["name"] == "WorkloadManagement/Matcher"
    assert found["time"]["__dCls"] == "dt"


def test_a_description_is_not_changed_in_place() -> None:
    given = {"Tag": ["GPU"], "NumberOfProcessors": 4000}
    assert described(given)["Tag"] == ["GPU", "MultiProcessor"]
    assert given["Tag"] == ["GPU"]
