"""States of a job: the allowed changes, the effect of agents' calls, and cancelling."""

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from broker import world
from tests.calls import Calls, Connect, Connection
from tests.core.concurrency.racing import Attempt
from tests.core.lifecycle import grids

Row = dict[str, Any]
STATUSES = [
    "pending", "throttled", "defined", "assigned", "activated", "sent", "starting", "running", "holding",
    "transferring", "waiting", "merging", "finished", "failed", "cancelled", "closed",
]  # fmt: skip
ENDS = {"finished", "failed", "cancelled", "closed"}
FORWARD = {
    "pending": {"throttled", "defined"}, "throttled": {"defined"}, "defined": {"throttled", "assigned"},
    "assigned": {"activated"}, "activated": {"sent"}, "sent": {"activated", "starting", "running"},
    "starting": {"activated", "running"},
    "running": {"activated", "holding", "transferring", "finished"},
    "holding": {"activated", "transferring", "finished"},
    "transferring": {"activated", "holding", "finished"}, "waiting": {"defined"}, "merging": {"finished"},
}  # fmt: skip


@pytest.fixture
def db(rolled_back: Connection) -> Connection:
    grids.load(rolled_back, "s")
    return rolled_back


def _error(db: Connection, query: str, *arguments: Any) -> psycopg.Error:
    with pytest.raises(psycopg.Error) as raised, db.transaction():
        db.execute(query, arguments)
    return raised.value


def test_only_the_listed_changes_of_status_are_allowed(db: Connection) -> None:
    allowed = set(db.execute("select from_status, to_status from workload.transition where from_status is not null"))
    assert allowed == {(a, b) for a in FORWARD for b in FORWARD[a] | (ENDS - {"finished"})}
    [job] = grids.make(db, "s")
    for before in STATUSES:
        for after in STATUSES:
            db.execute("update workload.job set status = %s where setup = 's' and job_id = %s", (before, job))
            call = "select workload.change_status('s', array[%s::bigint], %s, %s, 'test')"
            if (before, after) in allowed:
                assert db.execute(call, (job, before, after)).fetchall() == [([job],)]
                assert grids.status(db, "s", job) == after
            else:
                error = _error(db, call, job, before, after)
                assert (error.sqlstate, error.diag.message_primary) == (
                    "PB005",
                    f"job {job} is {before} and cannot become {after}",
                )
                assert grids.status(db, "s", job) == before


def test_a_change_from_another_status_changes_no_job(db: Connection) -> None:
    jobs = grids.make(db, "s", jobs=3)
    db.execute("select workload.change_status('s', %s, 'defined', 'assigned', 'test')", ([jobs[1]],))
    call = "select workload.change_status('s', %s::bigint[], 'defined', 'cancelled', 'test')"
    assert db.execute(call, (jobs,)).fetchall() == [([jobs[0], jobs[2]],)]
    assert db.execute(call, (jobs,)).fetchall() == [([],)]
    assert db.execute(call, ([jobs[1]],)).fetchall() == [([],)]
    assert [grids.status(db, "s", job) for job in jobs] == ["cancelled", "assigned", "cancelled"]
    assert grids.history(db, "s", jobs[1]) == [(None, "defined"), ("defined", "assigned")]
    assert grids.differences(db, "s") == []


def test_jobs_record_the_input_that_they_read(db: Connection) -> None:
    first = grids.make(db, "s", jobs=2)
    second = grids.make(db, "s", queue="QB", jobs=9)
    query = """select job_id, number, queue, input_files, input_bytes, events, cores
                 from workload.job where setup = 's' order by number"""
    assert db.execute(query).fetchall() == [
        (job, n, "QA" if n < 3 else "QB", 1, 10 * n, n, 1) for n, job in enumerate(first + second, 1)
    ]
    assert grids.make(db, "s", jobs=1) == []


def test_the_status_of_a_job_follows_its_lease_from_defined_to_finished(db: Connection) -> None:
    [job] = grids.make(db, "s")
    assert grids.activate(db, "s") == {"assigned": 1, "activated": 1}
    assert grids.match(db, "s", "QB") is None
    taken = grids.match(db, "s")
    assert taken is not None
    assert taken[0] == job
    report = "select action from taskqueue.report_job('s', %s, %s, %s)"
    for state, then in [(None, "starting"), ("running", "running"), (None, "running"), ("holding", "holding")]:
        assert db.execute(report, (*taken, state)).fetchall() == [("continue",)]
        assert grids.status(db, "s", job) == then
    assert _error(db, report, *taken, "running").sqlstate == "PB005"
    assert _error(db, report, *taken, "finished").sqlstate == "PB001"
    db.execute("select taskqueue.finish_job('s', %s, %s)", taken)
    db.execute("select taskqueue.finish_job('s', %s, %s)", taken)
    went = ["defined", "assigned", "activated", "sent", "starting", "running", "holding", "finished"]
    assert grids.history(db, "s", job) == list(zip([None, *went], went, strict=False))
    assert grids.counted(db, "s") == {}
    assert grids.differences(db, "s") == []
    who = db.execute("select distinct role_name = current_user from workload.job_history where setup = 's'").fetchall()
    assert who == [(True,)]


def test_a_job_that_finishes_without_a_report_is_recorded_as_running_before(db: Connection) -> None:
    [job] = grids.make(db, "s")
    grids.activate(db, "s")
    db.execute("select taskqueue.finish_job('s', %s, %s)", grids.match(db, "s"))
    assert grids.history(db, "s", job)[-2:] == [("sent", "running"), ("running", "finished")]
    assert db.execute("select started, ended from workload.job where setup = 's'").fetchall() == [
        (grids.NOON, grids.NOON)
    ]


@pytest.mark.parametrize("state", ["sent", "starting", "running", "holding", "transferring"])
def test_a_job_that_is_given_back_waits_again(db: Connection, state: str) -> None:
    [job] = grids.make(db, "s")
    grids.activate(db, "s")
    taken = grids.match(db, "s")
    assert taken is not None
    if state != "sent":
        db.execute("select taskqueue.report_job('s', %s, %s, %s)", (*taken, state))
    db.execute("select taskqueue.release_job('s', %s, %s)", taken)
    assert grids.status(db, "s", job) == "activated"
    again = grids.match(db, "s")
    assert again is not None
    assert again[1].startswith("2-")
    error = _error(db, "select taskqueue.finish_job('s', %s, %s)", *taken)
    assert error.sqlstate == "PB003"
    assert error.diag.message_primary == f"attempt 1 of job {job} is stale"
    assert "Attempt 2 has it: role" in (error.diag.message_detail or "")
    assert grids.status(db, "s", job) == "sent"
    assert grids.differences(db, "s") == []


def test_a_batch_goes_on_after_a_refused_element(db: Connection) -> None:
    jobs = grids.make(db, "s", jobs=3)
    grids.activate(db, "s")
    taken = dict(found for _ in jobs if (found := grids.match(db, "s")))
    reports = [{"job_id": job, "attempt": taken[job]} for job in jobs]
    reports[1]["attempt"] = "9-" + "0" * 32
    reports[2]["status"] = "asleep"
    asked = "select job_id, action, reason from taskqueue.report_jobs('s', %s)"
    answers = db.execute(asked, (Jsonb(reports[::-1]),)).fetchall()
    assert [answer[:2] for answer in answers] == [(jobs[0], "continue"), (jobs[1], "stale"), (jobs[2], "refused")]
    assert "asleep" in answers[2][2]
    ends = [
        {"job_id": job, "attempt": report["attempt"], "outcome": "failed"}
        for job, report in zip(jobs, reports, strict=True)
    ]
    ends[0]["job_id"] = str(ends[0]["job_id"])  # sent by clients that get bigints as texts
    ended = db.execute("select job_id, outcome from taskqueue.finish_jobs('s', %s)", (Jsonb(ends),)).fetchall()
    assert ended == [(jobs[0], "failed"), (jobs[1], "stale"), (jobs[2], "failed")]
    assert [grids.status(db, "s", job) for job in jobs] == ["failed", "sent", "failed"]
    assert grids.differences(db, "s") == []


@pytest.mark.parametrize(
    ("reports", "said"),
    [
        ({}, "jobs are {}, not a JSON array"),
        ([5], "element 1 is 5, not an object"),
        ([{"job_id": 1, "attempt": "x"}, {"job_id": 1.5}], "job_id of element 2 is 1.5"),
        ([{"job_id": "x"}], 'job_id of element 1 is "x"'),
        ([{"job_id": "9999999999999999999"}], 'job_id of element 1 is "9999999999999999999"'),
        ([{"job_id": [1]}], "job_id of element 1 is [1]"),
        ([{"attempt": "x"}], "job_id of element 1 is null"),
        ([{"job_id": 1, "tempt": "x"}], "element 1 has the key 'tempt'"),
        ([{"job_id": 1}] * 10001, "10001 jobs in one call"),
    ],
)
def test_malformed_lists_of_reports_are_refused(db: Connection, reports: Any, said: str) -> None:
    for call in ("report_jobs", "finish_jobs"):
        error = _error(db, f"select * from taskqueue.{call}('s', %s)", Jsonb(reports))
        assert (error.sqlstate, error.diag.message_primary) == ("PB001", said)


def test_jobs_can_be_cancelled_in_every_state(db: Connection) -> None:
    waiting, leased, ended = grids.make(db, "s", jobs=3)
    grids.activate(db, "s")
    [defined] = grids.make(db, "s")
    kept: dict[int, str] = {}
    while len(kept) < 3 and (found := grids.match(db, "s")):
        kept[found[0]] = found[1]
    db.execute("select taskqueue.release_job('s', %s, %s)", (waiting, kept[waiting]))
    db.execute("select taskqueue.finish_job('s', %s, %s)", (ended, kept[ended]))
    ids = [defined, waiting, leased, ended]
    answers = db.execute("select * from lifecycle.cancel_jobs('s', %s, 'no more')", (ids,)).fetchall()
    assert answers == [(waiting, "ended"), (leased, "kill asked"), (ended, "has ended: finished"), (defined, "ended")]
    said = db.execute("select * from taskqueue.report_job('s', %s, %s)", (leased, kept[leased])).fetchall()
    assert said == [("kill", "no more")]
    db.execute("select taskqueue.release_job('s', %s, %s)", (leased, kept[leased]))
    assert [grids.status(db, "s", job) for job in ids] == ["cancelled", "cancelled", "cancelled", "finished"]
    why = "select distinct why from monitor.job_history where setup = 's' and to_status = 'cancelled'"
    assert db.execute(why).fetchall() == [("no more",)]
    assert _error(db, "select lifecycle.cancel_jobs('s', array[5::bigint])").sqlstate == "PB004"
    assert grids.differences(db, "s") == []


def test_a_cancelled_task_is_brokered_no_more(db: Connection) -> None:
    grids.make(db, "s", jobs=2)
    assert len(db.execute("select * from lifecycle.cancel_task('s', 1)").fetchall()) == 2
    assert db.execute("select count(*) from brokerage.due_task where setup = 's'").fetchall() == [(0,)]
    assert {grids.status(db, "s", job) for job in grids.job_ids(db, "s")} == {"cancelled"}
    assert _error(db, "select lifecycle.cancel_task('s', 2)").sqlstate == "PB004"


def test_a_task_is_cancelled_whatever_the_statuses_of_its_loaded_jobs_are(db: Connection) -> None:
    statuses = [status for (status,) in db.execute("select unnest(workload.job_statuses())").fetchall()]
    assert set(statuses) == set(STATUSES)
    loaded = [{"id": number, "task": 1, "status": status} for number, status in enumerate(statuses, 1)]
    world.load(db, [{"jobs": loaded}], setup="s", merge=True)
    answers = db.execute("select * from lifecycle.cancel_task('s', 1)").fetchall()
    ends = {status: f"has ended: {status}" for status in ENDS}  # the loaded jobs have no time of their end
    assert answers == [(number, ends.get(status, "ended")) for number, status in enumerate(statuses, 1)]
    assert grids.differences(db, "s") == []


def test_cancelling_many_jobs_takes_no_subtransactions(db: Connection) -> None:
    """A transaction with more than 64 subtransactions slows down all other sessions."""
    if db.info.server_version < 160000:
        pytest.skip("PostgreSQL 15 does not count the subtransactions of a session")
    count = """select s.subxact_count from pg_stat_get_backend_idset() b
                cross join pg_stat_get_backend_subxact(b) s where pg_stat_get_backend_pid(b) = pg_backend_pid()"""
    jobs = grids.make(db, "s", jobs=6)
    grids.activate(db, "s")
    assert grids.match(db, "s") is not None
    before = db.execute(count).fetchall()
    db.execute("select pg_stat_clear_snapshot()")
    answers = dict(db.execute("select * from lifecycle.cancel_jobs('s', %s)", (jobs,)).fetchall())
    assert set(answers.values()) == {"ended", "kill asked"}
    assert db.execute(count).fetchall() == before


@pytest.mark.thorough
def test_a_task_with_more_jobs_than_a_call_takes_is_cancelled(db: Connection) -> None:
    grids.make(db, "s")
    db.execute("""
        insert into workload.job
        select (jsonb_populate_record(j, jsonb_build_object('job_id', j.job_id + n, 'number', j.number + n))).*
          from workload.job j cross join generate_series(1, 100000) n where j.setup = 's'""")
    db.execute("analyze workload.job")  # as autovacuum does; it may have counted the table when it was empty
    answers = db.execute("select distinct answer, count(*) over () from lifecycle.cancel_task('s', 1)").fetchall()
    assert answers == [("ended", 100_001)]
    assert db.execute("select distinct status from workload.job where setup = 's'").fetchall() == [("cancelled",)]


def test_work_returned_to_its_task_gets_a_new_job(connect: Connect) -> None:
    db = connect()
    grids.load(db, "s")
    db.execute("call brokerage.broker_jobs('s', p_seed => 1)")
    before = db.execute("select job_id, number, queue from workload.job where setup = 's' order by 1").fetchall()
    assert len(before) == 6
    job, number, queue = before[0]
    db.execute("select lifecycle.return_to_task('s', %s, 'test')", (job,))
    assert db.execute("select jobs_left from brokerage.due_task where setup = 's'").fetchall() == [(1,)]
    db.execute("call brokerage.broker_jobs('s', p_seed => 2)")
    again = db.execute(
        "select number, previous_queues, status from workload.job where setup = 's' and job_id > %s", (before[-1][0],)
    ).fetchall()
    assert again == [(number, [queue], "defined")]
    old = db.execute(
        "select status, sub_status, rebrokered from workload.job where setup = 's' and job_id = %s", (job,)
    )
    assert old.fetchall() == [("closed", "rebrokered", 1)]
    assert _error(db, "select lifecycle.return_to_task('s', %s, 'test')", job).sqlstate == "PB005"
    assert grids.differences(db, "s") == []


@pytest.mark.parametrize(
    "damage, status, place",
    [
        ("delete from taskqueue.job", "activated", None),
        ("delete from taskqueue.lease", "running", None),
        ("update workload.job set status = 'assigned' where status = 'activated'", "assigned", "waiting"),
        ("update workload.job set status = 'finished', ended = now() where status = 'running'", "finished", "leased"),
        ("delete from workload.job where status = 'running'", None, "leased"),
    ],
)
def test_a_job_out_of_step_with_its_task_queue_or_lease_is_shown(
    db: Connection, damage: str, status: str | None, place: str | None
) -> None:
    grids.make(db, "s", jobs=2)
    grids.activate(db, "s")
    db.execute("select taskqueue.report_job('s', %s, %s)", grids.match(db, "s"))
    seen = "select status, place from monitor.job_out_of_step where setup = 's'"
    assert db.execute(seen).fetchall() == []
    db.execute(damage.encode())
    assert db.execute(seen).fetchall() == [(status, place)]


def test_jobs_loaded_with_a_world_are_not_shown_as_out_of_step(db: Connection) -> None:
    jobs = [
        {"id": n, "task": 1, "queue": "QA", "number": n, "status": s} for n, s in enumerate(["activated", "sent"], 1)
    ]
    world.load(db, [{**grids.grid(), "jobs": jobs}], setup="s")
    assert db.execute("select * from monitor.job_out_of_step").fetchall() == []


@pytest.mark.parametrize(
    ("rows", "parents", "words"),
    [
        ([{"status": "activated"}], None, None),
        ([{"status": "running"}], None, "status is activated here, and cannot be loaded as running"),
        ([{"status": "finished"}], True, "status is activated here, and cannot be loaded as finished"),
        ([], True, "status is activated here, and cannot be deleted"),
        ([], "by id", "status is activated here, and cannot be deleted"),
        ([], "by row", "status is activated here, and cannot be deleted"),
        ([{"status": "activated"}], True, None),
    ],
)
def test_loading_a_world_does_not_move_the_jobs_of_this_database(
    db: Connection, rows: list[Row], parents: object, words: str | None
) -> None:
    """A job of a TaskQueue keeps its status in every load, so that nothing is lost; so does an ended job."""
    first, second = grids.make(db, "s", jobs=2)
    grids.activate(db, "s")
    taken = grids.match(db, "s")
    assert taken is not None
    db.execute("select taskqueue.finish_job('s', %s, %s)", taken)
    [waits] = {first, second} - {taken[0]}
    given = [{"job_id": waits, "task_id": 1, "queue": "QA", **row} for row in rows]
    if parents is True:
        given.append({"job_id": taken[0], "task_id": 1, "queue": "QA", "status": "finished"})
    parents = {"by id": [waits, 5], "by row": [{"job_id": waits, "status": "activated"}]}.get(str(parents), parents)
    query = "select workload.store('s', 'job', %s, %s)"
    if words is None:
        db.execute(query, (Jsonb(given), Jsonb(parents) if parents else None))
    else:
        error = _error(db, query, Jsonb(given), Jsonb(parents) if parents else None)
        assert (error.sqlstate, str(error).splitlines()[0]) == ("PB005", f"job {waits}: {words}")
    seen = "select status from workload.job where setup = 's' order by job_id = %s"
    assert db.execute(seen, (waits,)).fetchall() == [("finished",), ("activated",)]
    assert db.execute("select * from monitor.job_out_of_step").fetchall() == []


def test_a_load_waits_for_a_caller_who_moves_its_jobs(connect: Connect) -> None:
    """A job that is activated while a load would delete it is there afterwards."""
    first, second, observer = (Calls(connect()) for _ in range(3))
    grids.load(first.connection, "s")
    [job] = grids.make(first.connection, "s")
    with first.connection.transaction():
        grids.activate(first.connection, "s")
        load = Attempt(second, lambda q: q.rows("select workload.store('s', 'job', '[]', 'true')"), observer)
        assert load.waits()
    with pytest.raises(psycopg.Error, match=f"job {job}: status is activated here, and cannot be deleted"):
        load.end()


@pytest.mark.parametrize("outcome", ["failed", "cancelled", "closed"])
def test_work_of_a_failed_job_goes_back_once(db: Connection, outcome: str) -> None:
    first, second = grids.make(db, "s", jobs=2)
    grids.activate(db, "s")
    retry = "select job_id, answer from lifecycle.retry_jobs('s', %s::bigint[])"
    assert _error(db, retry, [first]).sqlstate == "PB005"
    for end in ("finished", outcome):
        taken = grids.match(db, "s")
        assert taken is not None
        db.execute("select taskqueue.finish_job('s', %s, %s, %s)", (*taken, end))
    [(failed,)] = db.execute("select job_id from workload.job where status = %s", (outcome,)).fetchall()
    assert grids.make(db, "s", "QB", jobs=6) != []  # the other parts
    assert grids.make(db, "s", "QB") == []
    refused = _error(db, retry, [first, second])
    assert (refused.sqlstate, "is finished" in str(refused.diag.message_primary)) == ("PB005", True)
    assert _error(db, retry, [failed, 7]).sqlstate == "PB004"
    assert db.execute(retry, ([failed],)).fetchall() == [(failed, "its work is back in task 1")]
    assert db.execute(retry, ([failed],)).fetchall() == [(failed, "its work went back before")]
    [again] = grids.make(db, "s", "QB", jobs=6)
    query = "select number, previous_queues from workload.job where setup = 's' and job_id = any (%s) order by job_id"
    assert db.execute(query, ([failed, again],)).fetchall()[0][0] == db.execute(query, ([again],)).fetchall()[0][0]
    assert db.execute(query, ([again],)).fetchall()[0][1] == ["QA"]
    assert grids.status(db, "s", failed) == outcome
    assert grids.differences(db, "s") == []


def test_a_job_is_replaced_by_the_next_one_of_its_part(db: Connection) -> None:
    [first] = grids.make(db, "s")
    chain = [first]
    for queue in ("QB", "QA"):
        db.execute("select lifecycle.cancel_jobs('s', %s::bigint[])", ([chain[-1]],))
        db.execute("select lifecycle.retry_jobs('s', %s::bigint[])", ([chain[-1]],))
        chain += grids.make(db, "s", queue)
    query = "select job_id, replaced_by from monitor.brokered_job where setup = 's' order by job_id"
    assert db.execute(query).fetchall() == [(chain[0], chain[1]), (chain[1], chain[2]), (chain[2], None)]


@pytest.mark.parametrize(
    "task, corecount, cores",
    [
        ({}, 1, 1),
        ({"core_count": 1}, 0, 1),
        ({"core_count": 8}, 8, 8),
        ({"core_count": 8}, 4, 4),
        ({"core_count": 2}, 16, 16),
        ({"core_count": 0}, 1, 1),
        ({"core_count": 0}, 8, 8),
        ({"core_count": 8, "merge_core_count": 1}, 8, 8),
    ],
)
def test_a_job_has_the_cores_of_its_queue(rolled_back: Connection, task: Row, corecount: int, cores: int) -> None:
    """A queue may have other cores than the task asks for (rule core-count), except for tasks of one core."""
    db = rolled_back
    grids.load(db, "s", tasks=[{"id": 1, **task}], corecount=corecount)
    [job] = grids.make(db, "s")
    grids.activate(db, "s")
    assert db.execute("select cores from workload.job where job_id = %s", (job,)).fetchall() == [(cores,)]
    waits = "select requirements -> 'Tags' from monitor.task_queue where setup = 's'"
    assert db.execute(waits).fetchall() == [([f"{cores}Processors"] if cores > 1 else None,)]


def test_ids_given_by_brokerage_are_reserved_for_brokerage(db: Connection) -> None:
    """Neither a submitter's new id nor the id of a brokered job, loaded or made, can be inserted over it."""
    [job] = grids.make(db, "s")
    grids.activate(db, "s")
    loaded = [{"id": number, "status": status, "queue": "QA"} for number, status in ((7, "assigned"), (8, "finished"))]
    world.load(db, [{"jobs": loaded}], setup="s", merge=True)
    one = "select taskqueue.insert_job('s', %s, %s)"
    many = """select taskqueue.insert_jobs('s', jsonb_build_array(
                jsonb_build_object('job_id', %s::bigint, 'requirements', %s::jsonb)))"""
    wanted = Jsonb({"CPUTime": 1000, "OwnerDN": "alice", "OwnerGroup": "g"})
    for query in (one, many):
        for given, state in ((job, "PB001"), (10**12, "PB001"), (1_700_000_000_000, "PB001"), (7, "PB005")):
            error = _error(db, query, given, wanted)
            assert error.sqlstate == state and str(given) in str(error)
        db.execute(query, (10**12 - 1, wanted))
        db.execute(query, (8, wanted))
    waiting = db.execute("select job_id, brokered from taskqueue.job where setup = 's' order by 1").fetchall()
    assert waiting == [(8, False), (10**12 - 1, False), (job, True)]
    assert db.execute("select * from monitor.job_out_of_step").fetchall() == []


def test_ids_of_jobs_made_in_another_database_are_not_reused(connect: Connect) -> None:
    db = connect()
    grids.load(db, "s")
    [(last,)] = db.execute("select last_value from workload.job_id").fetchall()
    world.load(
        db, [{"jobs": [{"id": last + n, "status": "running", "queue": "QA"} for n in range(5)]}], "s", merge=True
    )
    made = grids.make(db, "s", jobs=6)
    assert len(made) == 6 and min(made) > last + 4
    assert grids.differences(db, "s") == []


@pytest.mark.parametrize("leased", [False, True])
@pytest.mark.parametrize("outcome", ["cancelled", "closed", "failed"])
def test_among_the_events_only_a_cancellation_has_its_reason(db: Connection, outcome: str, leased: bool) -> None:
    """A submitter sees the events of its jobs; the reason why a job is brokered again tells of other jobs."""
    [job] = grids.make(db, "s")
    grids.activate(db, "s")
    if leased:
        assert grids.match(db, "s")
    db.execute("select lifecycle.end_job('s', %s, %s, '40 jobs of others are queued')", [job, outcome])
    events = db.execute("select event, why from monitor.job_event where job_id = %s and event <> 'matched'", [job])
    assert events.fetchall() == [(outcome, "40 jobs of others are queued" if outcome == "cancelled" else None)]
