"""A pilot of the queue to which brokerage sent a job gets it; the job has PanDA's statuses."""

from tests.core.lifecycle import grids
from tests.service.conftest import SETUP, Db
from tests.service.panda.conftest import Pilots


def test_a_pilot_fetches_runs_and_ends_a_brokered_job(pilot: Pilots, db: Db) -> None:
    grids.load(db, SETUP)
    (job_id,) = grids.make(db, SETUP)
    assert grids.activate(db, SETUP) == {"assigned": 1, "activated": 1}
    one = pilot()
    assert one.older("getJob", siteName="QB")["StatusCode"] == 20
    job = one.older("getJob", siteName="QA", mem=16_000)
    assert (job["PandaID"], job["attemptNr"], job["transformation"]) == (job_id, 1, "")
    assert one.older("getStatus", ids=job_id)["status"] == "sent"
    # `holding` does not lead back to running: it counts as a heartbeat
    for state, status in (("starting",) * 2, ("running",) * 2, ("holding",) * 2, ("running", "holding")):
        assert one.older("updateJob", jobId=job_id, state=state, attemptNr=1)["command"] == "NULL"
        assert one.older("getStatus", ids=job_id)["status"] == grids.status(db, SETUP, job_id) == status
    db.execute("select resource.set_clock(%s, resource.clock(%s) + interval '1 hour')", [SETUP, SETUP])
    one.v1("update_job", job_id=job_id, job_status="starting", attempt_nr=1)
    heard = "select reported_at = resource.clock(setup), state from taskqueue.lease"
    assert db.execute(heard).fetchall() == [(True, "running")]
    assert one.v1("update_job", job_id=job_id, job_status="finished")["data"]["command"] is None
    assert grids.status(db, SETUP, job_id) == "finished"


def test_an_end_that_the_status_does_not_allow_is_refused(pilot: Pilots, db: Db) -> None:
    grids.load(db, SETUP)
    (job_id,) = grids.make(db, SETUP)
    grids.activate(db, SETUP)
    one = pilot()
    one.older("getJob", siteName="QA")
    db.execute("update workload.job set status = 'pending' where job_id = %s", [job_id])
    words = f"job {job_id} is pending and cannot become finished"
    refused = one.older("updateJob", jobId=job_id, state="finished", attemptNr=1)
    assert refused == {"StatusCode": 30, "errorDialog": words}
    assert one.v1("update_job", job_id=job_id, job_status="finished")["message"] == words
    assert db.execute("select state from taskqueue.lease").fetchall() == [("matched",)]


def test_a_pilot_gets_the_payload_of_the_task(pilot: Pilots, db: Db) -> None:
    """The payload has the job's share of the input, in both APIs."""
    grids.load(db, SETUP, tasks=[{"id": 1, "payload": {"transformation": "run", "n": 1.5}}])
    jobs = grids.make(db, SETUP, jobs=2)
    grids.activate(db, SETUP)
    one = pilot()
    found = [one.older("getJob", siteName="QA"), one.v1("acquire_jobs", site_name="QA")["data"]["jobs"][0]]
    assert sorted(job["PandaID"] for job in found) == jobs
    for job in found:
        part = 1 + jobs.index(job["PandaID"])
        wanted = {"transformation": "run", "n": 1.5, "taskID": 1, "inFiles": f"f{part}", "nEvents": part, "jobPars": ""}
        assert wanted.items() <= job.items()
