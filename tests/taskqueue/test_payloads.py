"""Payloads: what an agent needs to run a job, for the agent that has it and its owner alone (LEASES.md, Payloads)."""

import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls

Connection = psycopg.Connection[Any]
JOB = {"OwnerDN": "alice", "OwnerGroup": "users", "CPUTime": 3600}
CPU = Jsonb({"CPUTime": 86400})
BODY = {"script": "echo 1\n", "arguments": ["a", 1, None]}


@pytest.fixture
def q(db: Connection) -> Calls:
    return Calls(db, "default")


def insert(q: Calls, job_id: int, payload: Any = None) -> None:
    q.call("insert_job", job_id, Jsonb(JOB), 1, None, None if payload is None else Jsonb(payload))


def kept(q: Calls) -> dict[int, Any]:
    return dict(q.rows("select job_id, body from workload.payload where setup = %s", q.setup))


def match(q: Calls) -> tuple[int, str]:
    [row] = q.rows("select job_id, attempt from taskqueue.match_job(%s, %s)", q.setup, CPU)
    return int(row[0]), str(row[1])


def payloads(q: Calls, *leases: tuple[int, str]) -> dict[int, Any]:
    asked = [{"job_id": job_id, "attempt": attempt} for job_id, attempt in leases]
    return dict(q.rows("select * from taskqueue.payloads(%s, %s)", q.setup, Jsonb(asked)))


def test_who_has_the_attempt_gets_it(q: Calls) -> None:
    insert(q, 1, BODY)
    first = match(q)
    assert payloads(q, first) == {1: BODY}
    q.call("release_job", *first)
    assert payloads(q, first) == {}
    second = match(q)
    assert (payloads(q, first), payloads(q, second)) == ({}, {1: BODY})
    q.call("finish_job", *second)
    assert (payloads(q, second), kept(q)) == ({}, {1: BODY})
    q.call("forget_ended", "0 s")
    assert kept(q) == {}


def test_batches_have_payloads_singly_and_in_groups(q: Calls) -> None:
    jobs = [
        {"job_id": 1, "requirements": JOB, "payload": BODY},
        {"job_id": 2, "requirements": JOB},
        {"requirements": JOB | {"CPUTime": 7200}, "jobs": [[3, 1, "text"], [4], [5, 2, None], [6, 1, 0]]},
    ]
    q.call("insert_jobs", Jsonb(jobs))
    assert kept(q) == {1: BODY, 3: "text", 6: 0}
    leases = q.rows("select job_id, attempt from taskqueue.match_jobs(%s, %s, 10)", q.setup, CPU)
    assert payloads(q, *leases) == {1: BODY, 3: "text", 6: 0}


def test_many_agents_get_payloads_with_their_jobs(q: Calls) -> None:
    """The same request again gives the same answer, payload and all."""
    q.call(
        "insert_jobs", Jsonb([{"job_id": 1, "requirements": JOB, "payload": BODY}, {"job_id": 2, "requirements": JOB}])
    )
    one = {"resources": [{"CPUTime": 86400}], "n": 2, "request_id": "00000000-0000-4000-8000-000000000001"}
    query = "select job_id, payload, error from taskqueue.match_many(%s, %s)"
    for _ in range(2):
        got = q.rows(query, q.setup, Jsonb([one, {"resources": [{"CPUTime": 86400}]}, {"resources": []}]))
        assert sorted(got[:2], key=str) == [(1, BODY, None), (2, None, None)]
        assert [(row[0], row[1], row[2]["code"]) for row in got[2:]] == [(None, None, "PB001")]


def test_a_repeated_request_does_not_show_the_payload_of_another_job(q: Calls) -> None:
    """The job of the answer has ended, and its id was inserted anew by somebody else."""
    insert(q, 1, BODY)
    one = {"resources": [{"CPUTime": 86400}], "request_id": "00000000-0000-4000-8000-000000000001"}
    query = "select job_id, attempt, payload from taskqueue.match_many(%s, %s)"
    [(job_id, attempt, payload)] = q.rows(query, q.setup, Jsonb([one]))
    assert payload == BODY
    q.call("finish_job", job_id, attempt)
    q.call("insert_job", 1, Jsonb(JOB | {"OwnerDN": "bob"}), 1, None, Jsonb("a secret"))
    assert q.rows(query, q.setup, Jsonb([one])) == [(1, attempt, None)]
    match(q)
    assert q.rows(query, q.setup, Jsonb([one])) == [(1, attempt, None)]


def test_loaded_jobs_have_no_payload_of_earlier_ones(q: Calls) -> None:
    insert(q, 1, BODY)
    insert(q, 2, BODY)
    lease = match(q)
    [leases] = q.rows("select taskqueue.dump_leases(%s)", q.setup)[0]
    q.call("load_leases", Jsonb([leases] if isinstance(leases, dict) else leases))  # the same attempt: the same job
    assert payloads(q, lease) == {lease[0]: BODY}
    waiting = 3 - lease[0]
    queue = {"requirements": JOB | {"OwnerDN": "carol"}, "jobs": [[waiting, 1], [7, 1, "new"]]}
    q.call("load_task_queues", Jsonb([queue]))
    assert kept(q) == {lease[0]: BODY, 7: "new"}


def test_an_insertion_replaces_it(q: Calls) -> None:
    insert(q, 1, BODY)
    insert(q, 1, "other")
    assert kept(q) == {1: "other"}
    insert(q, 1)
    assert kept(q) == {}
    insert(q, 1, BODY)
    q.call("finish_job", *match(q))
    insert(q, 1, "again")  # an ended id
    q.call("forget_ended", "0 s")
    assert kept(q) == {1: "again"}
    q.call("insert_jobs", Jsonb([{"job_id": 1, "requirements": JOB}]))
    assert kept(q) == {}
    q.call("remove_setup")
    insert(q, 1, BODY)
    assert q.call("remove_setup") and kept(q) == {}


def test_a_payload_that_is_too_large_is_refused(q: Calls) -> None:
    q.call("set_settings", Jsonb({"payload_size": 100}))
    for call, arguments in (
        ("insert_job", (7, Jsonb(JOB), 1, None, Jsonb("x" * 99))),
        ("insert_jobs", (Jsonb([{"job_id": 7, "requirements": JOB, "payload": "x" * 99}]),)),
    ):
        with pytest.raises(psycopg.Error, match="payload of job 7 has 101 bytes, more than 100") as raised:
            q.call(call, *arguments)
        assert raised.value.sqlstate == "PB001"
    assert q.rows("select from taskqueue.job where setup = %s", q.setup) == []
    insert(q, 7, "x" * 98)
    assert kept(q) == {7: "x" * 98}


def test_the_same_request_with_another_payload_is_another_call(q: Calls) -> None:
    request = "00000000-0000-4000-8000-000000000001"
    q.call("insert_job", 1, Jsonb(JOB), 1, request, Jsonb(1))
    q.call("insert_job", 1, Jsonb(JOB), 1, request, Jsonb(1))
    with pytest.raises(psycopg.Error, match="was used for another call"):
        q.call("insert_job", 1, Jsonb(JOB), 1, request, Jsonb(2))
    assert kept(q) == {1: 1}


def test_the_owner_reads_it_and_nobody_else(q: Calls, connect: Callable[..., Connection]) -> None:
    insert(q, 1, BODY)
    q.rows("select resource.set_identity('default', 'broker_submitter', true, null, 'alice')")
    alice = Calls(connect("broker_submitter"), "default")
    assert alice.call("own_payload", 1) == BODY
    q.rows("select resource.set_identity('default', 'broker_submitter', true, null, 'bob')")
    with pytest.raises(psycopg.Error, match="does not belong"):
        alice.call("own_payload", 1)
    for role, query in (
        ("broker_viewer", "select taskqueue.own_payload('default', 1)"),
        ("broker_viewer", "select * from workload.payload"),
        ("broker_agent", "select taskqueue.own_payload('default', 1)"),
        ("broker_submitter", "select * from taskqueue.payloads('default', '[]')"),
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect(role).execute(query.encode())


def test_a_forgotten_id_that_comes_back_meanwhile_keeps_its_payload(
    q: Calls, connect: Callable[..., Connection]
) -> None:
    """Both orders: an insertion holds the ended row while the job is forgotten, and the other way round."""
    for first, second in (("insert", "forget"), ("forget", "insert")):
        insert(q, 1, "old")
        q.call("finish_job", *match(q))
        calls = {
            "insert": (b"select taskqueue.insert_job('default', 1, %s, 1, null, '\"new\"')", [Jsonb(JOB)]),
            "forget": (b"select taskqueue.forget_ended('default', '0 s')", []),
        }
        one, other = connect(), connect()
        one.autocommit = False
        one.execute(*calls[first])
        thread = threading.Thread(target=other.execute, args=calls[second])
        thread.start()
        thread.join(0.3)
        one.commit()
        thread.join()
        assert kept(q) == {1: "new"}, (first, second)
        q.call("delete_job", 1)
        q.call("forget_ended", "0 s")
        assert kept(q) == {}
