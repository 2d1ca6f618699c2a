"""Refusals, their statuses and their texts. No request of a caller causes an internal error of the service."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest
from psycopg_pool import PoolTimeout

from broker.service import bodies
from broker.service.models import NewQuarantine, Summary
from broker.service.problems import Problem, of_error
from tests.service.conftest import BASE, WANTED, Db, Jobs, Running, Start, Token, bearer
from tests.service.issuer import Issuer

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("body", "status", "key", "value"),
    [
        (b"", 400, None, None),
        (b"{", 400, None, None),
        (b'{"resources": [{}],}', 400, None, None),
        (b'{"resources": [{"CPUTime": NaN}]}', 400, None, None),
        (b'{"resources": [{"CPUTime": "\xff"}]}', 400, None, None),
        (b'{"resources": [{"Site": "\\ud800"}]}', 400, None, None),
        (b'{"resources": [{"Site": "\\udfff\\ud800 and more"}]}', 400, None, None),
        (b'{"resources": ' + b"[" * 3000 + b"]" * 3000 + b"}", 422, "resources", None),
        (b'{"resources": [{"Site": ' + b"[" * 3000 + b"]" * 3000 + b"}]}", 400, None, None),
        (b'{"resources": [{"Site": ' + b"[" * 900 + b"]" * 900 + b"}]}", 422, None, None),
        (b'{"resources": [{"Site": "a\\u0000b"}]}', 422, None, None),
        (b'{"resources": [{"CPUTime": 1e400}]}', 422, None, None),
        (b'{"resources": [{"CPUTime": ' + b"9" * 10_000 + b"}]}", 422, None, None),
        (b'{"resources": [{"CPUTime": -' + b"9" * 300 + b"}]}", 422, None, None),
        (b"[]", 422, None, "[]"),
        (b"null", 422, None, "null"),
        (b"{}", 422, "resources", None),
        (b'{"resources": []}', 422, "resources", "[]"),
        (b'{"resources": 3}', 422, "resources", "3"),
        (b'{"resources": [3]}', 422, "resources", "3"),
        (b'{"resources": [{}], "n": 0}', 422, "n", "0"),
        (b'{"resources": [{}], "n": 1001}', 422, "n", "1001"),
        (b'{"resources": [{}], "n": "one"}', 422, "n", '"one"'),
        (b'{"resources": [{}], "m": 5}', 422, "m", "5"),
        (b'{"resources": [{}], " - at `$[' + b"1" * 5000 + b']`": 5}', 422, None, None),
        (b'{"resources": [{}], "request_id": "mine"}', 422, "request_id", '"mine"'),
        (json.dumps({"resources": [{"CPUTime": 1}] * 11}).encode(), 422, "resources", None),
        (json.dumps({"resources": [{"CPUTime": 1, "Site": "x" * 100_000}]}).encode(), 422, None, None),
    ],
)
def test_a_wrong_body_is_refused(
    agent: httpx.Client, body: bytes, status: int, key: str | None, value: str | None
) -> None:
    refused = agent.post("/match", content=body, headers=JSON)
    assert refused.status_code == status, refused.text[:500]
    assert refused.headers["Content-Type"] == "application/problem+json"
    found = refused.json()
    assert found["status"] == status
    if key:
        assert found["key"] == key
        assert key in found["detail"]
    if value:
        assert found["value"] == value


def test_a_long_body_is_refused(agent: httpx.Client) -> None:
    limit = 2**20
    fits = b'{"resources": [{"CPUTime": 1}]}'
    assert agent.post("/match", content=fits.ljust(limit), headers=JSON).status_code == 204
    refused = agent.post("/match", content=fits.ljust(limit + 1), headers=JSON)
    assert refused.status_code == 413

    def parts() -> Iterator[bytes]:  # no header gives its length
        yield fits
        yield b" " * (limit - len(fits))
        yield b" "

    refused = agent.post("/match", content=parts(), headers=JSON)
    assert refused.status_code == 413


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/x-ndjson", ""])
def test_another_content_type_is_refused(agent: httpx.Client, kind: str) -> None:
    refused = agent.post("/match", content=b"{}", headers={"Content-Type": kind})
    assert (refused.status_code, refused.json()["key"]) == (415, "Content-Type")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404), ("GET", "/nowhere", 404), ("POST", BASE, 404), ("POST", BASE + "/match/", 404),
        ("GET", BASE + "/match", 405), ("DELETE", BASE + "/jobs/1", 405), ("GET", BASE + "/jobs/report", 405),
        ("PUT", BASE + "/jobs", 405), ("GET", BASE + "/jobs/none", 404), ("GET", BASE + "/jobs/-1", 404),
        ("GET", BASE + "/jobs/" + "9" * 20, 404), ("GET", BASE + "/jobs/" + "9" * 5000, 404),
    ],
)  # fmt: skip
def test_an_unknown_path_or_method_is_refused(service: Running, method: str, path: str, status: int) -> None:
    refused = httpx.request(method, service.url + path)
    assert refused.status_code == status
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert ("Allow" in refused.headers) == (status == 405)


@pytest.mark.parametrize("setup", ["no%00ne", "x" * 101, "%ff%fe", "'; drop table x; --", "%20", "a%0Ab"])
def test_an_odd_name_of_a_setup_is_refused(service: Running, trusted: Issuer, token: Token, setup: str) -> None:
    url = f"{service.url}/api/v1/setups/{setup}/match"
    assert httpx.post(url, json=WANTED, headers=bearer(trusted.token())).status_code in (403, 422)
    assert httpx.post(url, json=WANTED, headers=bearer(token("agent"))).status_code in (403, 422)


def test_ids_beyond_64_bits_are_refused(client: httpx.Client, token: Token) -> None:
    client.headers.update(bearer(token("viewer")))
    for number in ("0", "9" * 19):
        for path in ("/jobs/{}", "/jobs/{}/events", "/jobs/{}/why", "/tasks/{}/why"):
            assert client.get(path.format(number)).status_code == 422
    client.headers.update(bearer(token("agent")))
    lease = {"job_id": 2**63, "attempt": "x"}
    for path in ("report", "finish", "release"):
        assert client.post(f"/jobs/{path}", json=[lease]).status_code == 422


@pytest.mark.parametrize("attempt", ["", "x", "\u00e9" * 200, "1-" + "f" * 32])
def test_an_invalid_attempt_is_refused_for_its_job_alone(agent: httpx.Client, attempt: str) -> None:
    lease = [{"job_id": 1, "attempt": attempt}]
    assert agent.post("/jobs/report", json=lease).json()[0]["action"] in ("refused", "stale")
    assert agent.post("/jobs/finish", json=lease).json()[0]["outcome"] in ("refused", "stale")
    assert agent.post("/jobs/release", json=lease).json()[0]["error"]["code"] in ("PB001", "PB003")
    assert agent.post("/jobs/report", content=b'[{"job_id": 1, "attempt": "\\u0000"}]', headers=JSON).status_code == 422


def test_a_call_while_the_database_is_away_is_refused_at_once(start: Start) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        dsn = f"postgresql://nobody@127.0.0.1:{closed.getsockname()[1]}/none"
        running = start(dsn=dsn, prepare=True)
        refused = httpx.post(running.url + BASE + "/match", json=WANTED, headers=bearer("token"))
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        assert httpx.get(running.url + "/healthz/live").status_code == 200
        assert httpx.get(running.url + "/healthz/ready").status_code == 503


@pytest.mark.own_database
def test_connections_that_were_lost_are_replaced(agent: httpx.Client, db: Db, jobs: Jobs) -> None:
    assert agent.post("/match", json=WANTED).status_code == 204
    ended = db.execute(
        "select count(pg_terminate_backend(pid, 10000)) from pg_stat_activity"
        " where usename = 'broker_service' and datname = current_database()"
    ).fetchall()
    assert ended > [(0,)]
    jobs(1)
    for _ in range(200):
        answer = agent.post("/match", json=WANTED)
        if answer.status_code != 503:
            break
        assert answer.headers["Retry-After"] == "1"
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (psycopg.errors.DivisionByZero(), 422), (psycopg.errors.QueryCanceled(), 503),
        (psycopg.OperationalError("server closed the connection"), 503),
        (psycopg.InterfaceError("the connection is closed"), 503), (psycopg.DataError("a text with NUL"), 422),
        (PoolTimeout("too late"), 503), (ZeroDivisionError("a fault"), 500),
    ],
)  # fmt: skip
def test_each_kind_of_error_has_its_http_status(error: Exception, status: int) -> None:
    found = of_error(error)
    assert found.status == status
    if status == 500:
        assert "fault" not in found.detail


def test_a_fault_has_the_same_number_in_answer_and_log(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(*_: object) -> None:
        raise ZeroDivisionError("inner words")

    from broker.service.calls import Database

    monkeypatch.setattr(Database, "as_role", fails)
    failed = agent.post("/jobs/report", json=[])
    assert failed.status_code == 500
    assert "inner words" not in failed.text
    assert failed.json()["id"] in caplog.text
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize(
    "kind, wrong, values",
    [
        (Summary, {"grouping": [], "search": [{"parameter": "a", "operator": "is"}]}, "eq, gt, in, like"),
        (list[NewQuarantine], [{"kind": "node", "name": "n1", "why": "x"}], "host"),
        (NewQuarantine, {"kind": "node", "name": "n1", "why": "x"}, "host"),
    ],
)
def test_the_allowed_words_are_named(kind: Any, wrong: Any, values: str) -> None:
    with pytest.raises(Problem) as refused:
        bodies.decoded(json.dumps(wrong).encode(), kind)
    hint = refused.value.hint
    assert hint is not None and hint.startswith("Values are ") and values in hint
    with pytest.raises(Problem) as refused:
        bodies.decoded(b'{"surplus": 1}', Summary)
    assert refused.value.hint is None
