"""DIRAC's JobStateUpdate: reports, heartbeats and ends that name only the job id, and the right to send them."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.core.lifecycle import grids
from tests.service.conftest import BASE, SETUP, Db, Running, Token, bearer, facts_of
from tests.service.dirac.conftest import Callers, Insert, Match, Rpc
from tests.service.test_facts import PARAMETERS, are_bounded, odd_fields

One = Callable[..., Any]
OK = {"OK": True, "Value": None}
STATE = "select state from taskqueue.lease where job_id = %s"
ENDED = "select outcome from taskqueue.ended where job_id = %s"


@pytest.fixture
def one(db: Db) -> One:
    """A function that returns the single value of a statement, or None."""

    def ask(statement: str, *values: object) -> Any:
        row = db.execute(statement.encode(), values).fetchone()
        return row and row[0]

    return ask


@pytest.fixture
def pilot(dirac_job: Insert, match: Match, rpc: Callers) -> Rpc:
    """The calls of a pilot that has got job 7."""
    dirac_job(7)
    assert match()["Value"]["JobID"] == 7
    return rpc()


def test_a_job_runs_and_ends_as_a_wrapper_reports_it(pilot: Rpc, one: One) -> None:
    assert one(STATE, 7) == "matched"
    agent = {"MinorStatus": "Submitting To CE", "Source": "JobAgent@LCG.NORTH.org"}
    assert pilot("setJobStatusBulk", "7", {"2026-11-27 10:00:00.1": agent}, False) == OK
    running = {"Status": "Running", "MinorStatus": "Job Initialization", "Source": "JobWrapper"}
    assert pilot("setJobStatusBulk", 7, {"2026-11-27 10:00:01.2": running}) == OK
    assert one(STATE, 7) == "running"
    assert pilot("setJobParameters", 7, [["HostName", "wn1"], ["MemoryUsed", 1.5]]) == OK
    assert pilot("setJobParameter", 7, "CPUNormalizationFactor", "12.5") == OK
    assert pilot("setJobsParameter", {"7": ["GridCE", "ce1"]}) == OK
    assert pilot("setJobApplicationStatus", 7, "Step 3", "Job_7") == OK
    assert pilot("setJobSite", 7, "LCG.NORTH.org") == OK
    assert pilot("setJobAttribute", 7, "StartExecTime", "2026-11-27 10:00:01") == OK
    assert pilot("sendHeartBeat", 7, {"CPUConsumed": 12.0}, {"ModelName": "x"}) == {"OK": True, "Value": {}}
    assert pilot("setJobStatus", 7, "Completing", "Uploading", "JobWrapper", None, False) == OK
    assert one(ENDED, 7) is None
    assert pilot("setJobAttribute", 7, "Status", "Done") == OK
    assert one(ENDED, 7) == "finished"


@pytest.mark.parametrize(
    ("status", "outcome"),
    [("Done", "finished"), ("Completed", "finished"), ("Failed", "failed"), ("Killed", "cancelled")],
)
def test_an_end_stays_as_it_was_reported_first(pilot: Rpc, rpc: Callers, one: One, status: str, outcome: str) -> None:
    for _ in range(2):
        assert pilot("setJobStatus", 7, status, "", "JobWrapper") == OK
    for later in ("Running", "Failed", "Done", "Rescheduled", ""):
        assert pilot("setJobStatus", 7, later) == OK
    assert pilot("setJobParameters", 7, [["LastUpdate", "x"]]) == OK
    assert pilot("sendHeartBeat", 7, {}, {}) == {"OK": True, "Value": {}}
    assert one(ENDED, 7) == outcome
    assert rpc("another")("setJobStatus", 7, "Done")["Errno"] == 1111


def test_the_first_end_among_many_statuses_counts_or_else_the_last_one(pilot: Rpc, one: One) -> None:
    statuses = {"2": {"Status": "Completing"}, "1": {"Status": "Running"}, "3": {"MinorStatus": "Uploading"}}
    assert pilot("setJobStatusBulk", 7, statuses) == OK
    assert one(STATE, 7) == "running"
    late = {"6": {"Status": "Running"}, "5": {"Status": "Failed"}, "4": {"Status": "Completing"}}
    assert pilot("setJobStatusBulk", 7, late) == OK
    assert one(ENDED, 7) == "failed"


@pytest.mark.parametrize("wrong", [{"Status": "Odd"}, {"Status": 5}, None, "Done", []])
def test_a_wrong_status_of_many_does_not_stop_the_end(pilot: Rpc, one: One, wrong: Any) -> None:
    refused = pilot("setJobStatusBulk", 7, {"1": wrong, "2": {"Status": "Done"}})
    assert refused["Errno"] in (1004, 1505)
    assert one(ENDED, 7) == "finished"


def test_a_parameter_of_many_jobs_is_a_sign_of_life_of_each(pilot: Rpc, one: One) -> None:
    reported = "select reported_at is not null from taskqueue.lease where job_id = 7"
    for others, number in (({}, 0), ({"x": ["a", "b"]}, 1004), ({"99": ["a", "b"]}, 1111)):
        one("update taskqueue.lease set reported_at = null where job_id = 7 returning true")
        answer = pilot("setJobsParameter", {**others, "7": ["GridCE", "ce1"]})
        assert answer.get("Errno", 0) == number
        assert one(reported)


@pytest.mark.parametrize("status", ["Matched", "Stalled", "Deleted", "Waiting", ""])
def test_a_status_that_agents_may_not_set_counts_as_a_heartbeat(pilot: Rpc, one: One, status: str) -> None:
    assert pilot("setJobStatus", 7, status) == OK
    assert one("select reported_at is not null from taskqueue.lease where job_id = 7")


def test_a_rescheduled_job_is_released(pilot: Rpc, match: Match, rpc: Callers) -> None:
    assert pilot("setJobStatusBulk", 7, {"1": {"Status": "Rescheduled", "ApplicationStatus": "no proxy"}}) == OK
    assert pilot("setJobStatus", 7, "Done")["Errno"] == 1111
    assert pilot("getJobsStatus", 7, service_name="JobMonitoring")["Value"] == {"7": {"Status": "Rescheduled"}}
    assert match("another")["Value"]["JobID"] == 7
    stale = pilot("sendHeartBeat", 7, {}, {})
    assert "does not have job 7" in stale["Value"]["Kill"]
    assert rpc("another")("setJobStatus", 7, "Done") == OK


def test_a_rule_about_reschedules_bounds_them(pilot: Rpc, match: Match, one: One) -> None:
    """The preset dirac: after three reschedules the job fails."""
    one("select taskqueue.set_retry_rules(%s, taskqueue.shipped_retry_rules('dirac'))", SETUP)
    for number in range(1, 5):
        assert pilot("setJobStatusBulk", 7, {"1": {"Status": "Rescheduled", "ApplicationStatus": "no proxy"}}) == OK
        rule = "dirac-reschedule: retry" if number < 4 else "dirac-reschedule-limit: fail"
        ended = "select array[retry_rule, error::text] from taskqueue.history where event = 'failed' and failures = %s"
        texts = '[{"text": "Job Rescheduled", "source": "dirac"}, {"text": "no proxy", "source": "dirac"}]'
        assert one(ended, number) == [rule, texts]
        if number < 4:
            assert match()["Value"]["JobID"] == 7
    assert one(ENDED, 7) == "failed"


def test_rules_about_other_errors_leave_a_reschedule_alone(pilot: Rpc, match: Match, one: One) -> None:
    rules = [{"position": 1, "name": "all", "decision": "fail"},
             {"position": 2, "name": "site", "source": "dirac", "pattern": "^Application", "decision": "fail"},
             {"position": 3, "name": "watch", "source": "dirac", "decision": "fail", "passive": True}]  # fmt: skip
    one("select taskqueue.set_retry_rules(%s, %s::jsonb)", SETUP, json.dumps(rules))
    assert pilot("setJobStatus", 7, "Rescheduled") == OK
    assert match("another")["Value"]["JobID"] == 7


def test_a_heart_beat_is_answered_with_a_kill_request(pilot: Rpc, one: One) -> None:
    one("select taskqueue.cancel_job(%s, 7, 'not wanted')", SETUP)
    for _ in range(2):
        assert pilot("sendHeartBeat", 7, {}, {})["Value"] == {"Kill": "not wanted"}
    assert pilot("setJobStatus", 7, "Killed") == OK
    assert one(ENDED, 7) == "cancelled"


def test_a_job_marked_for_kill_does_not_go_back(pilot: Rpc, one: One) -> None:
    one("select taskqueue.cancel_job(%s, 7, 'not wanted')", SETUP)
    assert pilot("setJobStatus", 7, "Rescheduled") == OK
    assert one(ENDED, 7) == "cancelled"


@pytest.mark.parametrize("job_id", [7, 99], ids=["another's", "unknown"])
def test_the_state_of_a_job_of_another_pilot_is_not_changed(pilot: Rpc, rpc: Callers, one: One, job_id: int) -> None:
    other = rpc("another")
    for method, more in (
        ("setJobStatus", ["Running"]), ("setJobStatus", ["Done"]), ("setJobStatus", ["Rescheduled"]),
        ("setJobStatusBulk", [{"1": {"MinorStatus": "x"}}]), ("setJobAttribute", ["Status", "Done"]),
        ("setJobParameter", ["a", "b"]), ("setJobParameters", [[["a", "b"]]]), ("setJobSite", ["A"]),
        ("setJobApplicationStatus", ["x", "Job"]),
    ):  # fmt: skip
        refused = other(method, job_id, *more)
        assert refused["Errno"] == 1111, method
        assert f"does not have job {job_id}" in refused["Message"]
    assert other("setJobsParameter", {str(job_id): ["a", "b"]})["Errno"] == 1111
    assert "Kill" in other("sendHeartBeat", job_id, {}, {})["Value"]
    status = other("getJobsStatus", [job_id], service_name="JobMonitoring")["Value"]
    assert status == {str(job_id): {"Status": "Rescheduled"}}
    assert one(STATE, 7) == "matched"


def test_job_monitoring_gives_the_status_of_jobs(pilot: Rpc, dirac_job: Insert, match: Match) -> None:
    def status(*job_ids: object) -> Any:
        return pilot("getJobsStatus", *job_ids, service_name="JobMonitoring")["Value"]

    assert status("7") == {"7": {"Status": "Matched"}}
    pilot("setJobStatus", 7, "Running")
    assert status(7) == {"7": {"Status": "Running"}}
    pilot("setJobStatus", 7, "Failed")
    dirac_job(8)
    match()
    pilot("setJobStatus", 8, "Done")
    assert status([7, "8", 8]) == {"7": {"Status": "Failed"}, "8": {"Status": "Done"}}


WRONG: list[tuple[str, list[Any], int, str]] = [
    ("setJobStatus", [7, "Odd"], 1505, "'Odd' is not a status of a job"),
    ("setJobStatusBulk", [7, {"1": {"Status": "Odd"}}], 1505, "'Odd' is not a status of a job"),
    ("setJobStatusBulk", [7, {"1": {"Status": 5}}], 1004, "Expected `str | null`, got `int`"),
    ("setJobStatusBulk", [7, []], 1004, "Expected `object`, got `array`"),
    ("setJobStatus", [0, "Running"], 1004, "`int` >= 1"),
    ("setJobStatus", ["seven", "Running"], 1004, 'it is "seven"'),
    ("setJobStatus", [True, "Running"], 1004, "got `bool`"),
    ("setJobStatus", ["9999999999999999999", "Running"], 1004, "9999999999999999999"),
    ("setJobStatus", [], 1004, "length"),
    ("setJobAttribute", [7, "Owner", "bob"], 1004, "the attribute 'Owner' is not for agents"),
    ("setJobStatusBulk", [7, {"1": {"Status": "\ud800"}}], 1505, "is not a status of a job"),
    ("setJobAttribute", [7, "Status", ["Done"]], 1505, "is not a status of a job"),
    ("setJobsParameter", [{"x": ["a", "b"]}], 1004, "x"),
    ("setJobsParameter", [{"9999999999999999999": ["a", "b"]}], 1004, "9999999999999999999"),
    ("sendHeartBeat", [7, {}], 1004, "length"),
]  # fmt: skip


def dirac_errors(*texts: str) -> list[dict[str, str]]:
    return [{"source": "dirac", "text": text} for text in texts]


def test_parameters_and_heart_beats_have_facts_of_the_run(pilot: Rpc, db: Db) -> None:
    """Names and units of DIRAC's Watchdog and JobWrapper. The host is the first, the memory the largest."""
    static = {"HostName": "n17", "Memory(MB)": 64000, "ModelName": "x"}
    assert pilot("setJobParameters", 7, [[name, value] for name, value in static.items()]) == OK
    beat = {"CPUConsumed": 100, "WallClockTime": 120.5, "MemoryUsed": 1500.5, "Vsize": 9e5, "LoadAverage": 1.5}
    assert pilot("sendHeartBeat", 7, beat, {"StandardOutput": "x"})["OK"]
    assert facts_of(db, 7) == ("n17", None, 100, 120.5, 1500.5, None)
    assert pilot("sendHeartBeat", 7, {**beat, "CPUConsumed": 200, "MemoryUsed": 900}, {"HostName": "n18"})["OK"]
    summary = {"LastUpdateCPU(s)": 210, "MemoryUsed(MB)": 12, "WallClockTime(s)": 240.25, "ScaledCPUTime(s)": 9e9}
    assert pilot("setJobParameters", 7, [[name, str(value)] for name, value in summary.items()]) == OK
    assert pilot("setJobsParameter", {"7": ["NumberOfProcessors", "8"]}) == OK
    assert pilot("setJobParameter", 7, "TotalCPUTime(s)", "230.5") == OK
    assert pilot("setJobStatus", 7, "Done", "Execution Complete") == OK
    assert facts_of(db, 7) == ("n17", None, 230.5, 240.25, 1500.5, 8)


@pytest.mark.parametrize(
    ("method", "args", "texts"),
    [
        ("setJobStatus", ["Failed", "Uploading Outputs", "JobWrapper"], ["Uploading Outputs"]),
        ("setJobStatus", ["Failed", ""], None), ("setJobStatus", ["Failed"], None),
        ("setJobStatus", ["Killed", "Marked for termination"], None), ("setJobStatus", ["Done", "x"], None),
        ("setJobAttribute", ["Status", "Failed"], None),
        ("setJobStatusBulk", [{"1": {"Status": "Failed", "MinorStatus": "Stalled", "ApplicationStatus": "exit 3"}}],
         ["Stalled", "exit 3"]),
        ("setJobStatusBulk", [{"3": {"Status": "Failed"}, "2": {"MinorStatus": "late"}, "1": {"MinorStatus": "early"}}],
         ["late"]),
        ("setJobStatusBulk", [{"1": {"ApplicationStatus": "exit 3"}, "2": {"Status": "Failed"},
                               "3": {"MinorStatus": "after the end", "Status": "Running"}}], ["exit 3"]),
        ("setJobStatusBulk", [{"1": {"Status": "Completing", "MinorStatus": "Application Finished With Errors"},
                               "2": {"Status": "Failed", "MinorStatus": ["a", "list"]}}],
         ["Application Finished With Errors"]),
        ("setJobStatusBulk", [{"1": {"Status": "Done", "MinorStatus": "Execution Complete"}}], None),
    ],
)  # fmt: skip
def test_the_other_statuses_of_a_failure_are_its_errors(
    pilot: Rpc, db: Db, method: str, args: list[Any], texts: list[str] | None
) -> None:
    assert pilot(method, 7, *args) == OK
    assert facts_of(db, 7)[1] == (texts and dirac_errors(*texts))


def test_no_value_of_a_parameter_or_status_stops_an_end(dirac_job: Insert, match: Match, rpc: Callers, db: Db) -> None:
    pilot = rpc()
    for job, given in enumerate(odd_fields(*PARAMETERS), 1):
        dirac_job(job)
        assert match()["Value"]["JobID"] == job
        assert pilot("setJobParameters", job, [list(pair) for pair in given.items()]) == OK
        assert pilot("sendHeartBeat", job, given, given)["OK"]
        minor, application, *_ = given.values()
        failed = {"Status": "Failed", "MinorStatus": minor, "ApplicationStatus": application}
        assert pilot("setJobStatusBulk", job, {"1": failed}) == OK
        assert are_bounded(facts_of(db, job))


ODD = ["\0\0 done", "event \udcff", float("nan"), float("-inf"), 10**4000, {"a": ["\0"]}, None]
"""Values of a payload's output and figures, as Python's json writes them."""


def test_what_is_not_kept_may_be_anything(pilot: Rpc, one: One) -> None:
    """A sign of life counts, whatever it says."""
    for value in ODD:
        for method, args in (
            ("sendHeartBeat", [{"CPUConsumed": value}, {"StandardOutput": value}]), ("sendHeartBeat", [value, value]),
            ("setJobStatus", ["Running", value, value, value, value]), ("setJobSite", [value]),
            ("setJobStatusBulk", [{"1": {"Status": "Running", "MinorStatus": value}}, value]),
            ("setJobAttribute", ["MinorStatus", value]), ("setJobApplicationStatus", [value, value]),
            ("setJobParameter", [value, value]), ("setJobParameters", [value]),
        ):  # fmt: skip
            one("update taskqueue.lease set reported_at = '2026-01-01' returning job_id")
            assert pilot(method, 7, *args)["OK"], (method, value)
            assert one("select reported_at > '2026-01-02' from taskqueue.lease"), (method, value)
        assert pilot("setJobsParameter", {"7": ["a", value]}) == OK


def test_bytes_that_are_no_text_are_taken(service: Running, token: Token, pilot: Rpc) -> None:
    headers = bearer(token("agent", "pilot")) | {"Content-Type": "application/x-www-form-urlencoded"}
    for text in (b"%FF%00", b"\xff", b"%ED%A0%80"):
        body = b'method=sendHeartBeat&args=[7, {}, {"a": "' + text + b'"}]&extra=' + text + b"&extra=" + text
        answer = httpx.post(f"{service.url}/WorkloadManagement/JobStateUpdate", content=body, headers=headers)
        assert answer.json() == {"OK": True, "Value": {}}, text


def test_a_wrong_argument_is_named_and_nothing_is_stored(pilot: Rpc, one: One) -> None:
    for method, args, errno, words in WRONG:
        refused = pilot(method, *args)
        assert refused.get("Errno") == errno, (method, args, refused)
        assert words in refused["Message"], refused
    assert one("select reported_at from taskqueue.lease where job_id = 7") is None


def test_a_brokered_job_refuses_a_status_that_may_not_follow_its_own(
    db: Db, service: Running, token: Token, rpc: Callers
) -> None:
    grids.load(db, SETUP)
    (job,) = grids.make(db, SETUP)
    grids.activate(db, SETUP)
    wanted = {"resources": [grids.PLENTY | {"Site": "QA"}]}
    matched = httpx.post(service.url + BASE + "/match", json=wanted, headers=bearer(token("agent", "pilot")))
    assert matched.json()["matches"][0]["job_id"] == job
    pilot = rpc("pilot")
    assert pilot("setJobStatus", job, "") == OK
    assert grids.status(db, SETUP, job) == "starting"
    assert pilot("setJobStatus", job, "Completing") == OK
    assert grids.status(db, SETUP, job) == "transferring"
    refused = pilot("setJobStatus", job, "Running")
    assert refused["Errno"] == 1505
    assert "transferring" in refused["Message"]
    assert pilot("setJobStatus", job, "Done") == OK
    assert grids.status(db, SETUP, job) == "finished"
