"""Reports without a token: the service knows the caller; the caller knows the job and perhaps the attempt's number."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from tests.service.conftest import SETUP, Db, Jobs

AsSubject = Callable[..., list[dict[str, Any]]]
_ACT_AS = """select set_config('role', 'broker_agent', true), set_config(
    'pgbroker.subject', jsonb_build_object('name', %s::text, 'setup', 'default')::text, true)"""
_MATCH = "select job_id from taskqueue.match_many(%s, %s)"
_REPORT = "select action, reason from taskqueue.report_jobs(%s, %s)"
_FINISH = "select outcome, reason from taskqueue.finish_jobs(%s, %s)"


@pytest.fixture
def as_subject(service_dsn: str) -> AsSubject:
    """A function that runs a statement as a subject, as the service does."""

    def run(name: str, statement: str, argument: Any) -> list[dict[str, Any]]:
        with psycopg.connect(service_dsn, row_factory=dict_row) as connection:
            connection.execute(_ACT_AS, [name])
            return connection.execute(statement.encode(), [SETUP, Jsonb(argument)]).fetchall()

    return run


def _matched(as_subject: AsSubject, name: str) -> int:
    request = {"resources": [{"CPUTime": 86400}], "n": 1, "subject": name}
    (row,) = as_subject(name, _MATCH, [request])
    return int(row["job_id"])


def test_a_subject_reports_and_ends_its_job(as_subject: AsSubject, jobs: Jobs, db: Db) -> None:
    jobs(1)
    job = _matched(as_subject, "pilot 1")
    about = {"job_id": job, "subject": "pilot 1"}
    assert as_subject("", _REPORT, [about])[0]["action"] == "continue"
    assert as_subject("", _REPORT, [about | {"attempt_number": 1}])[0]["action"] == "continue"
    for _ in range(2):  # a repeated call gets the same answer
        assert as_subject("", _FINISH, [about | {"outcome": "finished"}])[0]["outcome"] == "finished"
    assert as_subject("", _FINISH, [about | {"outcome": "failed"}])[0]["outcome"] == "stale"
    assert as_subject("", _REPORT, [about])[0]["action"] == "stale"
    assert db.execute("select outcome from taskqueue.ended").fetchall() == [("finished",)]


@pytest.mark.parametrize(
    "changed", [{"subject": "pilot 2"}, {"attempt_number": 2}, {"job_id": 99}], ids=["subject", "number", "job"]
)
def test_a_job_that_another_subject_has_is_stale(as_subject: AsSubject, jobs: Jobs, changed: dict[str, Any]) -> None:
    jobs(1)
    about = {"job_id": _matched(as_subject, "pilot 1"), "subject": "pilot 1"} | changed
    assert as_subject("", _REPORT, [about])[0]["action"] == "stale"
    (answer,) = as_subject("", _FINISH, [about])
    assert answer["outcome"] == "stale"
    assert f"does not have job {about['job_id']}" in answer["reason"]


def test_a_wrong_number_of_an_attempt_is_refused(as_subject: AsSubject, jobs: Jobs) -> None:
    jobs(1)
    for number in ("x", 0, 1.5, True, 10**10):
        with pytest.raises(psycopg.Error, match="attempt_number of element 1 is") as refused:
            as_subject("", _FINISH, [{"job_id": 1, "subject": "pilot 1", "attempt_number": number}])
        assert refused.value.sqlstate == "PB001"


def test_a_login_is_refused_without_the_attempt_that_began_it(as_subject: AsSubject, jobs: Jobs, db: Db) -> None:
    jobs(1)
    job = _matched(as_subject, "pilot 1")
    (answer,) = db.execute(_FINISH.encode(), [SETUP, Jsonb([{"job_id": job, "attempt_number": 1}])]).fetchall()
    assert answer[0] == "refused"
    assert "invalid attempt" in answer[1]


def test_a_login_neither_sees_nor_releases_jobs_of_a_subject(as_subject: AsSubject, jobs: Jobs, db: Db) -> None:
    jobs(1)
    job = _matched(as_subject, "pilot 1")
    assert db.execute("select * from taskqueue.jobs_of_subject(%s, %s)", [SETUP, [job]]).fetchall() == []
    with pytest.raises(psycopg.Error, match="invalid attempt null") as refused:
        db.execute("select taskqueue.release_job(%s, %s, null)", [SETUP, job])
    assert refused.value.sqlstate == "PB001"
