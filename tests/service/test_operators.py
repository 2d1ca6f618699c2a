"""The effect of a change (what-if), the obstacles of a task, and retries of failed jobs."""

from datetime import datetime
from typing import Any

import httpx
import psycopg
import pytest
from psycopg.types.json import Jsonb

from broker import world
from broker.laboratory import grid
from broker.operate import brokerage
from tests.calls import Calls
from tests.service.conftest import SETUP, Db, Running, Token, bearer, sleep_a_minute


@pytest.fixture
def operator(client: httpx.Client, token: Token, db: Db) -> httpx.Client:
    """An operator of a setup that holds a grid."""
    world.load(db, [grid.grid(1, 20, 40)], SETUP)
    client.headers.update(bearer(token("operator")))
    return client


def test_what_if_answers_as_the_command_does(operator: httpx.Client, db: Db) -> None:
    before = Calls(db).stored()
    answer = operator.post("/what-if", json={"config": {"NQUEUED_SAT_CAP": 1}})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    stored = Calls(db).stored()
    assert stored.pop("brokerage.what_if") != before.pop("brokerage.what_if")
    assert stored == before
    expected = brokerage.what_if(db, SETUP, {"NQUEUED_SAT_CAP": 1})
    assert (found["before"], found["after"]) == (expected.before, expected.after)
    assert found["differences"] == expected.differences
    assert len(found["differences"]) > 10


def test_the_answer_of_what_if_is_found_again(operator: httpx.Client, db: Db, token: Token) -> None:
    change = {"config": {"NQUEUED_SAT_CAP": 1}, "tasks": [41000001]}
    found = operator.post("/what-if", json=change).json()
    number = found.pop("what_if_id")
    kept = operator.get(f"/what-if/{number}", headers=bearer(token("viewer"))).json()
    assert (kept["what_if_id"], kept["difference"]) == (number, found)
    assert change.items() <= kept["change"].items()
    assert kept["asked_by"].startswith("token ")
    missing = operator.get(f"/what-if/{number + 1}")
    assert (missing.status_code, missing.json()["code"]) == (404, "PB004")
    assert operator.get(f"/what-if/{number}", headers=bearer(token("agent"))).status_code == 403
    refused = operator.post("/what-if", json=change, headers=bearer(token("viewer")))
    assert refused.status_code == 403
    assert db.execute("select count(*) from monitor.what_if").fetchone() == (1,)


def test_a_quarantine_is_set_listed_and_lifted(operator: httpx.Client, db: Db, token: Token) -> None:
    given = {"kind": "host", "site": "NORTH", "name": "n17", "why": "its disk is full"}
    made = operator.post("/quarantines", json=given)
    assert made.status_code == 200, made.text
    assert made.json().items() >= given.items()
    [(since, author)] = db.execute(
        """select q.since, c.subject from monitor.quarantine q
             join monitor.change c on c.object = 'quarantine' and c.name = 'host NORTH n17'"""
    ).fetchall()
    assert (datetime.fromisoformat(made.json()["since"]), author.startswith("token ")) == (since, True)
    assert operator.post("/quarantines", json={"kind": "host", "name": "N9", "why": "x"}).json()["site"] == ""
    assert operator.post("/quarantines", json={"kind": "site", "site": "RAL", "why": "x"}).json()["name"] == "RAL"
    wanted = {"parameters": ["kind", "site", "name", "made_by"],
              "search": [{"parameter": "state", "operator": "eq", "value": "refused"}]}  # fmt: skip
    viewer = bearer(token("viewer"))
    found = operator.post("/quarantines/search", json=wanted, headers=viewer).json()["rows"]
    assert [tuple(row.values()) for row in found] == [
        ("host", "", "n9", "operator"), ("host", "NORTH", "n17", "operator"), ("site", "RAL", "RAL", "operator")
    ]  # fmt: skip
    counted = operator.post("/quarantines/summary", json={"grouping": ["kind"], "search": []}, headers=viewer).json()
    assert [(row["kind"], row["count"]) for row in counted] == [("host", 2), ("site", 1)]
    again = operator.post("/quarantines", json=given | {"name": "N17"})
    assert (again.status_code, again.json()["name"]) == (200, "n17"), again.text
    key = {name: given[name] for name in ("kind", "site", "name")}
    for kind in ("viewer", "submitter", "agent"):
        other = bearer(token(kind))
        assert operator.post("/quarantines", json=given, headers=other).status_code == 403
        assert operator.post("/quarantines/lift", json=key, headers=other).status_code == 403
        assert kind == "viewer" or operator.post("/quarantines/search", json=wanted, headers=other).status_code == 403
    assert operator.post("/quarantines/lift", json=key).json() == {"lifted": True}
    assert operator.post("/quarantines/lift", json=key).json() == {"lifted": False}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"kind": "node"}, "kind"), ({"name": ""}, "name is"), ({"name": "n" * 256}, "name is"),
     ({"site": "x" * 801}, "site"), ({"why": ""}, "reason is"),
     ({"why": None}, "why"), ({"host": "n1"}, "host"), ({"kind": "site"}, "name is")],
)  # fmt: skip
def test_a_wrong_quarantine_is_refused(client: httpx.Client, token: Token, db: Db, wrong: Any, said: str) -> None:
    given = {"kind": "host", "site": "NORTH", "name": "n17", "why": "its disk is full"} | wrong
    answer = client.post("/quarantines", json=given, headers=bearer(token("operator")))
    assert (answer.status_code, said in answer.json()["detail"]) == (422, True), answer.text
    assert db.execute("select from monitor.quarantine").fetchall() == []


def test_the_last_hundred_answers_are_kept(operator: httpx.Client, db: Db) -> None:
    for number in range(105):
        db.execute("select brokerage.keep_what_if(%s, %s, '{}')", [SETUP, Jsonb({"number": number})])
    kept = db.execute("select change ->> 'number' from monitor.what_if order by what_if_id").fetchall()
    assert [int(number) for (number,) in kept] == list(range(5, 105))


@pytest.mark.parametrize("values", [("[]", "{}"), ("{}", "3"), (None, "{}"), ("{}", None)])
def test_an_answer_of_what_if_that_is_no_object_is_not_kept(db: Db, values: tuple[str | None, str | None]) -> None:
    with pytest.raises(psycopg.Error, match="JSON objects") as raised:
        db.execute("select brokerage.keep_what_if(%s, %s, %s)", [SETUP, *values])
    assert raised.value.sqlstate == "PB001"
    assert db.execute("select from monitor.what_if").fetchall() == []


def test_what_if_takes_statuses_profiles_and_tasks(operator: httpx.Client, db: Db) -> None:
    query = "select task_id from brokerage.open_task where setup = %s and algorithm = 'production_job' limit 2"
    tasks = [task for (task,) in db.execute(query, [SETUP])]
    queues = [queue for (queue,) in db.execute("select queue from monitor.queue where setup = %s", [SETUP])]
    closed = {"queues": {queue: {"status": "offline"} for queue in queues}}
    found = operator.post("/what-if", json={"world": closed, "tasks": tasks}).json()
    assert sum(found["before"].values()) == 2
    assert found["after"] == {"pending": 2}
    found = operator.post("/what-if", json={"profile": "panda2026", "algorithm": "analysis_job"}).json()
    assert (found["not_open"], found["kept"]) == ({}, [])


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 422, "nothing is changed"),
        ({"config": {"NQUEUED_SAT_CAPP": 1}}, 422, "NQUEUED_SAT_CAPP"),
        ({"config": {"NQUEUED_SAT_CAP": "many"}}, 422, "NQUEUED_SAT_CAP"),
        ({"config": 3}, 422, "config"),
        ({"profile": "mine"}, 422, "mine"),
        ({"algorithm": "all", "profile": "panda2026"}, 422, "all"),
        ({"profile": "panda2026", "tasks": [10**15]}, 404, str(10**15)),
        ({"profile": "panda2026", "tasks": [-1]}, 422, "tasks"),
        ({"world": {"queue": {}}}, 422, "queue"),
        ({"world": {"queues": {"NORTH": {"status": 3}}}}, 422, "status"),
    ],
)
def test_a_wrong_change_of_what_if_is_refused(
    operator: httpx.Client, body: dict[str, Any], status: int, words: str
) -> None:
    refused = operator.post("/what-if", json=body)
    assert refused.status_code == status, refused.text
    assert words in refused.json()["detail"]


def test_a_deep_world_is_refused(operator: httpx.Client) -> None:
    body = b'{"world": {"queues": ' + b"[" * 900 + b"]" * 900 + b"}}"
    refused = operator.post("/what-if", content=body, headers={"Content-Type": "application/json"})
    assert refused.status_code in (400, 422), refused.text


def test_a_long_what_if_is_cancelled(operator: httpx.Client, monkeypatch: pytest.MonkeyPatch, service: Running) -> None:
    monkeypatch.setattr("broker.service.calls._LONGEST", 0.1)
    monkeypatch.setattr(brokerage, "what_if", sleep_a_minute)
    refused = operator.post("/what-if", json={"profile": "panda2026"})
    assert (refused.status_code, refused.json()["code"]) == (503, "57014")


def test_the_obstacles_of_a_task_are_those_of_the_database(operator: httpx.Client, db: Db) -> None:
    tasks = [task for (task,) in db.execute("select task_id from workload.task where setup = %s limit 5", [SETUP])]
    for task in tasks:
        expected = db.execute("select * from brokerage.obstacles(%s, %s::bigint)", [SETUP, task]).fetchall()
        found = operator.get(f"/tasks/{task}/obstacles").json()
        assert [tuple(row.values()) for row in found] == expected
        assert found
        assert list(found[0]) == ["rule", "rejects", "fails", "opens", "example"]
    missing = operator.get("/tasks/999999999/obstacles")
    assert (missing.status_code, missing.json()["code"]) == (404, "PB004")


def test_the_work_of_failed_jobs_goes_back(operator: httpx.Client, db: Db) -> None:
    query = "select job_id from workload.job where setup = %s and status = 'activated' order by 1 limit 2"
    db.execute("call brokerage.broker_jobs(%s, p_seed => 1)", [SETUP])
    db.execute("update workload.job set status = 'activated' where setup = %s", [SETUP])
    failed, running = (job for (job,) in db.execute(query, [SETUP]))
    db.execute("update workload.job set status = 'failed', ended = now() where job_id = %s", [failed])
    refused = operator.post("/jobs/retry", json={"job_ids": [failed, running]})
    assert (refused.status_code, refused.json()["code"]) == (409, "PB005")
    (answer,) = operator.post("/jobs/retry", json={"job_ids": [failed]}).json()
    assert (answer["job_id"], "its work is back in task" in answer["answer"]) == (failed, True)
    assert operator.post("/jobs/retry", json={"job_ids": [failed]}).json()[0]["answer"] == "its work went back before"
    unknown = operator.post("/jobs/retry", json={"job_ids": [failed, 10**15]})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "PB004")


def test_an_ended_job_without_a_task_waits_again(operator: httpx.Client, db: Db) -> None:
    q = Calls(db, SETUP)
    q.insert(77, 2, OwnerDN="ann", OwnerGroup="physics")
    q.call("cancel_job", 77)
    shown = operator.get("/jobs/77").json()
    assert (shown["status"], shown["owner"], shown["owner_group"], shown["priority"]) == (
        "cancelled", "ann", "physics", 2,
    )  # fmt: skip
    search = [{"parameter": "owner", "operator": "eq", "value": "ann"},
              {"parameter": "status", "operator": "eq", "value": "cancelled"}]  # fmt: skip
    assert [row["job_id"] for row in operator.post("/jobs/search", json={"search": search}).json()["rows"]] == [77]
    assert operator.post("/jobs/retry", json={"job_ids": [77]}).json() == [{"job_id": 77, "answer": "waits again"}]
    assert q.state(77) == "waiting"
    again = operator.post("/jobs/retry", json={"job_ids": [77]})
    assert (again.status_code, again.json()["code"]) == (409, "PB005")
