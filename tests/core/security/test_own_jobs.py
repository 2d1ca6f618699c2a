"""A submitter sees the jobs of its identity in every state, and no others."""

import json
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from tests.calls import PLENTY, Calls, refused
from tests.commands import Cli, commands
from tests.core.lifecycle import grids
from tests.core.security.conftest import PASSWORD, Login, Session, identify

OWNERS = [("alice", "g1"), ("bob", "g1"), ("alice", "g2")]
STATES = ["waiting", "held", "leased", "finished", "cancelled"]
# Job 10 * owner + state; the last two have ended, and cancelled ones had never been matched.
JOBS = {(owner, state): 10 * (n + 1) + s for n, owner in enumerate(OWNERS) for s, state in enumerate(STATES)}
IDENTITIES: list[tuple[str | None, str | None]] = [
    (None, None),
    ("alice", None),
    (None, "g1"),
    ("bob", "g1"),
    ("eve", "g3"),
]
RESOURCE = json.dumps({"CPUTime": PLENTY})


@pytest.fixture
def operator(db: psycopg.Connection[Any]) -> Calls:
    """Every owner has a job in every state; the TaskQueues of ended jobs are gone."""
    q = Calls(db)
    for ((owner, group), state), job_id in JOBS.items():
        site = "here" if state in ("leased", "finished") else "elsewhere"
        kept = {"JobTypes": ["ended"]} if state in ("finished", "cancelled") else {}
        q.insert(job_id, OwnerDN=owner, OwnerGroup=group, Sites=[site], **kept)
    for match in q.match_jobs(6, Site="here"):
        if match.job_id % 10 == STATES.index("finished"):
            q.call("finish_job", match.job_id, match.attempt)
    for (_, state), job_id in JOBS.items():
        if state == "held":
            q.call("hold", "job", str(job_id))
        elif state == "cancelled":
            q.call("cancel_job", job_id)
    q.call("delete_empty_queues")
    return q


def belongs(of: tuple[str, str], owner: str | None, group: str | None) -> bool:
    return owner in (None, of[0]) and group in (None, of[1])


@pytest.mark.parametrize(("owner", "group"), IDENTITIES, ids=str)
def test_a_submitter_sees_its_own_jobs_only(
    operator: Calls, identified: Session, owner: str | None, group: str | None
) -> None:
    submitter = identified("broker_submitter", group, owner)
    live = {job: state for (of, state), job in JOBS.items() if belongs(of, owner, group) and state in STATES[:3]}
    listed = submitter.call_rows("own_jobs")
    assert [row[0] for row in listed] == sorted(live, reverse=True)
    assert {row[0]: row[1] for row in listed} == live
    for (of, state), job in JOBS.items():
        questions: dict[str, list[Any]] = {
            "own_job": [], "own_job_events": [], "explain_job": [], "explain_match": [RESOURCE],
        }  # fmt: skip
        for function, arguments in questions.items():

            def ask(name: str = function, number: int = job, more: list[Any] = arguments) -> list[Any]:
                return submitter.call_rows(name, number, *more)

            if not belongs(of, owner, group):
                error = submitter.error_of(ask)
                assert (error.sqlstate, state in str(error)) == ("PB002", False), (function, state)
            elif function.startswith("explain") and state in STATES[3:]:
                assert submitter.error_of(ask).sqlstate == "PB004", (function, state)  # no resource gets an ended job
            elif function == "own_job":
                [row] = ask()
                assert (row[0], row[1], row[7], row[8]) == (job, state, *of)
            else:
                assert ask() or (function == "own_job_events" and state == "waiting")


def test_a_submitter_sees_where_and_why_its_own_job_failed(operator: Calls, identified: Session) -> None:
    submitter = identified("broker_submitter", owner="alice")
    operator.insert(901, OwnerDN="alice", Sites=["A site of its own"])
    lease = operator.take(Site="A site of its own", HostName="n17")
    error = Jsonb([{"source": "own", "code": 7, "text": "killed"}])
    operator.call("finish_job", 901, lease.attempt, "failed", error, Jsonb({"ram": 2000}))
    [*_, event] = submitter.call_rows("own_job_events", 901)
    assert (event[2], event[5], event[7], event[10]) == ("failed", "n17", "own 7: killed", 2000)
    for question in ("select * from monitor.failure", "select * from history.failures('default')"):
        with refused("42501"):
            submitter.rows(question)


def test_an_ended_job_of_another_owner_is_not_taken_over(db: psycopg.Connection[Any], identified: Session) -> None:
    q = Calls(db)
    q.insert(7, OwnerDN="alice", OwnerGroup="g1")
    q.call("finish_job", 7, q.take().attempt, "failed", Jsonb([{"source": "payload", "code": 1, "text": "a secret"}]))
    bob = identified("broker_submitter", "g1", "bob")

    def insert() -> int:
        return bob.insert(7, OwnerDN="bob", OwnerGroup="g1")

    assert bob.error_of(insert).sqlstate == "PB002"
    for number, site in ((8, "A"), (9, "B")):  # TaskQueues with space
        bob.insert(number, OwnerDN="bob", OwnerGroup="g1", Sites=[site])
    jobs = [
        {"job_id": number, "requirements": {"OwnerDN": "bob", "OwnerGroup": "g1", "CPUTime": 500, "Sites": [site]}}
        for number, site in ((7, "A"), (10, "B"))
    ]
    batch = bob.error_of(lambda: bob.call("insert_jobs", Jsonb(jobs)))
    assert (batch.sqlstate, "job 7 does not belong" in str(batch)) == ("PB002", True)
    assert q.outcome(7) == "failed"
    q.call("forget_ended", timedelta(0))
    insert()
    assert bob.call_rows("own_job_events", 7) == []
    assert bob.error_of(lambda: bob.call_rows("explain_retry", 7, None, 1)).sqlstate == "PB004"
    q.take(JobID=7)
    assert [row[2] for row in bob.call_rows("own_job_events", 7)] == ["matched"]


def test_pages_of_own_jobs_join_without_a_gap(operator: Calls, identified: Session) -> None:
    submitter = identified("broker_submitter", owner="alice")
    everything = [row[0] for row in submitter.call_rows("own_jobs")]
    first = [row[0] for row in submitter.call_rows("own_jobs", None, 2)]
    rest = [row[0] for row in submitter.call_rows("own_jobs", first[-1], None)]
    assert first + rest == everything
    for state in STATES[:3]:
        assert [row[1] for row in submitter.call_rows("own_jobs", None, None, state)] == [state, state]
    assert submitter.refusal(lambda: submitter.call_rows("own_jobs", None, -1))[0] == "PB001"


@pytest.mark.slow
def test_a_submitter_without_an_identity_in_the_setup_sees_nothing(
    operator: Calls, login: Login, session: Session
) -> None:
    user = login("broker_submitter")
    Calls(operator.connection, "other").insert(1, OwnerDN="alice")
    identify(operator, user, None, "alice", "other")
    submitter = session(user)
    asked: list[tuple[str, list[int]]] = [("own_jobs", []), ("own_job", [10]), ("explain_job", [10])]
    for function, arguments in asked:
        assert submitter.refusal(partial(submitter.call_rows, function, *arguments))[0] == "PB002"
    assert [row[0] for row in session(user, "other").call_rows("own_jobs")] == [1]


def test_an_unknown_job_is_refused(operator: Calls, identified: Session) -> None:
    submitter = identified("broker_submitter", owner="alice")
    for function in ("own_job", "own_job_events", "explain_job"):
        assert submitter.refusal(partial(submitter.call_rows, function, 999))[0] == "PB004"


def test_a_job_of_brokerage_belongs_to_its_user(db: psycopg.Connection[Any], identified: Session) -> None:
    grids.load(db, "s", tasks=[{"id": 1, "user": "alice", "gshare": "g1"}])
    [job] = grids.make(db, "s")
    mine = identified("broker_submitter", "g1", "alice", "s")
    stranger = identified("broker_submitter", None, "bob", "s")
    [row] = mine.call_rows("own_job", job)
    assert row[1] == grids.status(db, "s", job)
    assert stranger.refusal(lambda: stranger.call_rows("own_job", job))[0] == "PB002"
    grids.activate(db, "s")
    assert [row[:2] for row in mine.call_rows("own_jobs")] == [(job, "waiting")]
    assert stranger.call_rows("own_jobs") == []


@pytest.mark.slow
def test_the_command_line_shows_a_submitter_its_own_jobs(
    operator: Calls, login: Login, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = login("broker_submitter")
    identify(operator, user, "g1", "alice")
    cli: Cli = commands(make_conninfo(dsn, user=user, password=PASSWORD), monkeypatch)
    mine = [JOBS[OWNERS[0], state] for state in STATES]
    assert [row["job_id"] for row in cli("jobs", "--json").json] == sorted(mine[:3], reverse=True)
    assert [row["status"] for row in cli("jobs", "--status", "held", "--json").json] == ["held"]
    assert f"--after {mine[2]} is the next page" in cli("jobs", "--limit", 1).out
    chosen = cli("jobs", "-o", "job_id,status,why", "--json").json
    assert [list(row) for row in chosen] == 3 * [["job_id", "status", "why"]]
    assert "there is no column state" in cli("jobs", "-o", "state").err
    assert "--task needs the role broker_viewer" in cli("jobs", "--task", 1).err
    shown = cli("job", mine[0]).out
    assert "waiting since" in shown and "Job 10 and the resources seen lately" in shown
    assert cli("job", mine[3], "--json").json["state"] == "finished"
    assert "[PB002]" in cli("job", JOBS[OWNERS[1], "waiting"]).err
    assert cli("explain", mine[0]).code == 0
    assert "[PB002]" in cli("explain", JOBS[OWNERS[1], "waiting"]).err
    assert "[42501]" in cli("leases").err


@pytest.mark.slow
def test_a_page_of_own_jobs_reads_a_handful_of_rows(db: psycopg.Connection[Any], identified: Session) -> None:
    """A page among jobs of others and many own ones takes one probe for each TaskQueue and user priority."""
    q = Calls(db)
    for owner in ("alice", "bob"):
        q.insert_many(range(1 if owner == "alice" else 5001, 5001 if owner == "alice" else 10_001), OwnerDN=owner)
    submitter = identified("broker_submitter", owner="alice")
    db.execute("vacuum (analyze)")
    counted = "select relname, coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0) from pg_stat_xact_user_tables"
    with submitter.connection.transaction():
        before = dict(submitter.rows(counted))
        assert [row[0] for row in submitter.call_rows("own_jobs", None, 20)] == list(range(5000, 4980, -1))
        read = {table: rows - before.get(table, 0) for table, rows in submitter.rows(counted)}
    assert read["job"] <= 100
