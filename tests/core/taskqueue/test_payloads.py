"""Payloads: the data to run a job, only for the agent that has the job and for its owner (LEASES.md, Payloads)."""

import json
import threading
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from broker import world
from broker.errors import BrokerError
from tests.calls import Calls, Connect, Connection, refused
from tests.core.lifecycle import grids
from tests.core.oracle.job_size import cut

pytestmark = pytest.mark.slow

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


def test_only_the_holder_of_the_attempt_gets_the_payload(q: Calls) -> None:
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
    """A repeated request gives the same answer, with the payload."""
    q.call(
        "insert_jobs", Jsonb([{"job_id": 1, "requirements": JOB, "payload": BODY}, {"job_id": 2, "requirements": JOB}])
    )
    one = {"resources": [{"CPUTime": 86400}], "n": 2, "request_id": "00000000-0000-4000-8000-000000000001"}
    query = "select job_id, payload, error from taskqueue.match_many(%s, %s)"
    for _ in range(2):
        got = q.rows(query, q.setup, Jsonb([one, {"resources": [{"CPUTime": 86400}]}, {"resources": []}]))
        assert sorted(got[:2], key=str) == [(1, BODY, None), (2, None, None)]
        assert [(row[0], row[1], row[2]["code"]) for row in got[2:]] == [(None, None, "PB001")]


@pytest.mark.parametrize("way", ["match_many", "match_with_payload"])
def test_a_repeated_request_does_not_show_the_payload_of_another_job(q: Calls, way: str) -> None:
    """The job of the answer has ended, and somebody else has inserted its id again."""
    insert(q, 1, BODY)
    request_id = "00000000-0000-4000-8000-000000000001"
    query = f"select job_id, attempt, payload from taskqueue.{way}(%s, %s)"
    values: list[Any] = [q.setup, Jsonb([{"resources": [{"CPUTime": 86400}], "request_id": request_id}])]
    if way == "match_with_payload":
        query, values = query.replace("(%s, %s)", "(%s, %s, %s)"), [q.setup, CPU, request_id]
    [(job_id, attempt, payload)] = q.rows(query, *values)
    assert payload == BODY
    q.call("finish_job", job_id, attempt)
    q.call("insert_job", 1, Jsonb(JOB | {"OwnerDN": "bob"}), 1, None, Jsonb("a secret"))
    assert q.rows(query, *values) == [(1, attempt, None)]
    match(q)
    assert q.rows(query, *values) == [(1, attempt, None)]


def test_a_loaded_job_does_not_keep_the_payload_of_an_earlier_one(q: Calls) -> None:
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


def test_an_insertion_replaces_the_payload(q: Calls) -> None:
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
        with refused("PB001", "payload of job 7 has 101 bytes, more than 100"):
            q.call(call, *arguments)
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


def test_only_the_owner_of_a_job_reads_its_payload(q: Calls, connect: Connect) -> None:
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


def test_an_id_inserted_while_it_is_forgotten_keeps_its_new_payload(q: Calls, connect: Connect) -> None:
    """Both orders are tried: an insertion holds the ended row while the job is forgotten, and the reverse."""
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


TASK = {"transformation": "https://example.org/run.sh", "jobPars": "--all"}
OF_TASK = [("f1", 1), ("f2", 2), ("f3", 3)]


def brokered(q: Calls, payload: Any = TASK, jobs: int = 1, **task: Any) -> None:
    """A task with a payload, and jobs of it that wait at QA."""
    grids.load(q.connection, q.setup, tasks=[{"id": 1, "user": "alice", "payload": payload, **task}])
    grids.make(q.connection, q.setup, jobs=jobs)
    grids.activate(q.connection, q.setup)


def match_many(q: Calls, n: int = 10) -> list[tuple[int, str, Any]]:
    asked = [{"resources": [grids.PLENTY | {"Site": "QA"}], "n": n}]
    query = "select job_id, attempt, payload from taskqueue.match_many(%s, %s) order by job_id"
    return [(job_id, attempt, payload) for job_id, attempt, payload in q.rows(query, q.setup, Jsonb(asked))]


def test_brokered_jobs_have_the_payload_of_their_task_and_their_share_of_the_input(q: Calls) -> None:
    brokered(q, jobs=3)
    found = match_many(q)
    expected = [TASK | {"taskID": 1, "inFiles": lfn, "nEvents": events} for lfn, events in OF_TASK]
    assert [payload for _, _, payload in found] == expected
    assert payloads(q, *((job_id, attempt) for job_id, attempt, _ in found)) == {
        job_id: payload for job_id, _, payload in found
    }
    assert q.rows("select count(*) from workload.task_payload") == [(1,)]
    assert kept(q) == {}


def test_keys_of_the_payload_win_and_a_payload_that_is_no_object_stays(q: Calls) -> None:
    for payload in ({"inFiles": "", "taskID": "NULL", "nEvents": None}, "a text", [1], 0, False):
        brokered(q, payload)
        [(job_id, attempt, found)] = match_many(q)
        assert found == payload
        assert payloads(q, (job_id, attempt)) == {job_id: payload}
        q.call("finish_job", job_id, attempt)


def test_an_inserted_job_has_no_payload_of_a_task(q: Calls) -> None:
    """This also holds where a job of the task has its id, which a load refuses."""
    insert(q, 7)
    grids.load(q.connection, q.setup, tasks=[{"id": 1, "payload": TASK}])
    q.rows("insert into workload.job (setup, job_id, task_id) values (%s, 7, 1) returning job_id", q.setup)
    assert q.value("select workload.payload_of_task(%s, 7)", q.setup) == TASK | {"taskID": 1}
    assert q.call("own_payload", 7) is None
    [(job_id, attempt, payload)] = match_many(q)
    assert (job_id, payload, q.call("own_payload", 7)) == (7, None, None)
    assert payloads(q, (job_id, attempt)) == {}


def test_the_payload_of_a_job_comes_before_that_of_its_task(q: Calls) -> None:
    brokered(q)
    q.rows("insert into workload.payload select setup, job_id, %s from workload.job returning job_id", Jsonb(BODY))
    [(job_id, attempt, payload)] = match_many(q)
    assert payload == BODY
    assert payloads(q, (job_id, attempt)) == {job_id: BODY}
    assert q.call("own_payload", job_id) == BODY


@pytest.mark.parametrize("split", [
    {"nFilesPerJob": 1}, {"nFilesPerJob": 2}, {"nFilesPerJob": 4}, {}, {"nEventsPerJob": 4}, {"tgtNumEventsPerJob": 5},
], ids=str)  # fmt: skip
def test_files_of_a_part_are_those_that_a_job_reads(q: Calls, split: dict[str, int]) -> None:
    """Datasets lie side by side, each name counts once, no pseudo dataset counts, and positions may have gaps."""
    files = [{"lfn": f"x{n}"} for n in range(1, 4)]
    datasets = {
        "side": {"files": [*files, {"lfn": "f2"}, {"lfn": "f6"}]},
        "none": {"type": "pseudo_input", "files": [{"lfn": f"p{n}"} for n in range(9)]},
    }
    for merging in (False, True):
        task = {"id": 1, "input": ["data", "none", "side"], "split": split, "is_merging": merging}
        one = grids.grid([task])
        one["datasets"] |= datasets
        world.load(q.connection, [one], setup=q.setup)
        q.rows("update workload.dataset_file set position = 10 * position where dataset = 'side' returning 1")
        read = [one["datasets"][name]["files"] for name in ("data", "side")]
        expected = []
        for number, job in enumerate(cut(task, read), 1):
            names = [read[0][place]["lfn"] for place in job.primary]
            names += [read[1][place]["lfn"] for place in job.side if place < len(read[1])]
            expected.append((number, list(dict.fromkeys(names))))
        query = "select n, workload.files_of_part(%s, 1, n) from generate_series(1, %s) n"
        assert q.rows(query, q.setup, len(expected)) == expected
        nothing = [(1, 99), (1, None), (2, 1)]
        assert [q.value("select workload.files_of_part(%s, %s, %s)", q.setup, *one) for one in nothing] == [None] * 3


def test_a_task_that_is_loaded_again_has_the_payload_of_this_load(q: Calls) -> None:
    """This also holds for leased jobs; a merge without a payload keeps the old one."""
    brokered(q, "first")
    [(job_id, attempt, _)] = match_many(q)
    for task, merge, expected in (
        ({"payload": "second"}, False, "second"),
        ({"task_priority": 7}, True, "second"),
        ({"payload": {"inFiles": "a"}}, True, {"inFiles": "a", "taskID": 1, "nEvents": 1}),
        ({"payload": None}, True, None),
        ({"payload": "third"}, True, "third"),
        ({}, False, None),
    ):
        world.load(q.connection, [{"tasks": [{"id": 1, "input": ["data"], **task}]}], setup=q.setup, merge=merge)
        assert payloads(q, (job_id, attempt)) == ({} if expected is None else {job_id: expected})
    world.load(q.connection, [{"tasks": [{"id": 1, "payload": "last"}]}], setup=q.setup, merge=True)
    q.rows("delete from workload.task returning task_id")
    assert payloads(q, (job_id, attempt)) == {}
    assert q.rows("select from workload.task_payload") == []


@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}")])
def test_a_payload_that_agents_could_not_read_is_refused(q: Calls, brackets: tuple[str, str]) -> None:
    """PostgreSQL holds thousands of levels; Python's json and other readers do not."""
    begin, end = brackets
    for levels in (501, 2000):
        deep = begin * levels + ("" if begin == "[" else "1") + end * levels
        few = f'{{"job_id": 1, "requirements": {json.dumps(JOB)}, "payload": "{"x" * 5000}"}}'
        grouped = f'{{"requirements": {json.dumps(JOB)}, "jobs": [[7, 1, {deep}], [8]]}}'
        for call in (
            sql.SQL("taskqueue.insert_job('default', 7, {}, 1, null, {})").format(json.dumps(JOB), deep),
            sql.SQL("taskqueue.insert_jobs('default', {})").format(f"[{few}, {grouped}]"),
            sql.SQL("taskqueue.load_task_queues('default', {})").format(f"[{grouped}]"),
        ):
            with refused("PB001", "payload of job 7 is nested more than 500 levels deep"):
                q.connection.execute(sql.SQL("select {}").format(call))
    assert q.rows("select from taskqueue.job where setup = %s", q.setup) == []
    deep = begin * 500 + "1" + end * 500
    q.rows("select taskqueue.insert_job('default', 7, %s, 1, null, %s::jsonb)", Jsonb(JOB), deep)
    assert json.dumps(payloads(q, match(q))[7], separators=(",", ":")) == deep
    with q.connection.transaction(force_rollback=True):
        world.load(q.connection, [{"tasks": [{"id": 6, "payload": 1}]}], setup=q.setup)
        q.connection.execute("update workload.task_payload set body = %s", [begin + deep + end])
        with refused("PB001", "payload of task 6 is nested more than 500 levels deep"):
            q.rows("select taskqueue.require_task_payloads('default', '{6}')")


def test_a_payload_of_a_task_that_is_too_large_is_refused(q: Calls) -> None:
    """The settings of the load decide; nothing is stored."""
    tasks = [{"id": 6, "payload": "x" * 9}, {"id": 7, "payload": "x" * 99}]
    for size in (100, 101):
        one = {"tasks": tasks, "task_queue_settings": {"payload_size": size}}
        if size == 101:
            world.load(q.connection, [one], setup=q.setup)
            continue
        with pytest.raises(BrokerError, match=r"b\.json: payload of task 7 has 101 bytes, more than 100") as raised:
            world.load(q.connection, [{}, one], setup=q.setup, names=["a.json", "b.json"])
        assert raised.value.sqlstate == "PB001"
        assert q.rows("select from workload.task") == []
    assert q.rows("select task_id, body from workload.task_payload order by 1") == [(6, "x" * 9), (7, "x" * 99)]
    row = [{"task_id": 6, "body": "x" * 2**24}]
    with pytest.raises(psycopg.Error, match=r"task_payload 6: body is .*, not a payload of at most 16 MiB"):
        q.rows("select workload.store(%s, 'task_payload', %s)", q.setup, Jsonb(row))
    with pytest.raises(psycopg.Error, match="task_payload 8: insert or update"):
        q.rows("select workload.store(%s, 'task_payload', %s)", q.setup, Jsonb([{"task_id": 8, "body": 1}]))


def test_viewers_do_not_see_the_payload_of_a_task(q: Calls, connect: Connect) -> None:
    brokered(q)
    job_id = grids.job_ids(q.connection, q.setup)[0]
    q.rows("select resource.set_identity('default', 'broker_submitter', true, null, 'alice')")
    alice = Calls(connect("broker_submitter"), "default")
    assert alice.call("own_payload", job_id) == TASK | {"taskID": 1, "inFiles": "f1", "nEvents": 1}
    q.rows("select resource.set_identity('default', 'broker_submitter', true, null, 'bob')")
    with pytest.raises(psycopg.Error, match="does not belong"):
        alice.call("own_payload", job_id)
    for role in ("broker_viewer", "broker_submitter", "broker_agent"):
        for query in (
            "select * from workload.task_payload",
            "select workload.dump('default', 'task_payload')",
            f"select workload.payload_of_task('default', {job_id})",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connect(role).execute(query.encode())
