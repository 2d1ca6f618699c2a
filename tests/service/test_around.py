"""Endpoints besides the calls for jobs: health, metrics, the description, tokens of pilots; and callers that vanish."""

import http.client
import json
import os
import re
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from broker.service import openapi
from broker.service.endpoints import ENDPOINTS
from broker.service.public import of_service
from broker.upgrade import Program
from broker.upgrade.signatures import metrics, of_last_release, undeprecated, unmentioned
from tests.core.upgrade.small_release import ROOT
from tests.core.upgrade.test_signatures import OF_SERVICE
from tests.service.conftest import BASE, SETUP, WANTED, Db, Jobs, Running, Start, Token, bearer

pytestmark = pytest.mark.own_database

# One line per operation of the API, committed so that a review shows which operation changes.
ENDPOINTS_TEXT = Path(__file__).with_name("endpoints.txt")


def test_a_change_of_an_operation_is_seen_in_review() -> None:
    summary = "".join(line + "\n" for line in openapi.summary())
    if os.environ.get("BROKER_TEST_WRITE"):
        ENDPOINTS_TEXT.write_text(summary, encoding="utf-8")
    assert ENDPOINTS_TEXT.read_text(encoding="utf-8") == summary, "BROKER_TEST_WRITE=1 writes the file"


def test_the_changelog_names_changes_of_endpoints_objects_and_metrics(db: Db) -> None:
    now = [*of_service(), *metrics(db)]
    before = [line for line in of_last_release(Program().migrations) or now if line.startswith(OF_SERVICE)]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert len(now) > 100 and all(line.startswith(OF_SERVICE) for line in now)
    assert unmentioned(before, now, changelog) == []
    assert undeprecated(before, now, changelog) == []


def test_the_openapi_description_has_every_endpoint_and_schema(service: Running) -> None:
    found = httpx.get(service.url + "/api/openapi.json").json()
    assert found["openapi"] == "3.1.0"
    operations = [one["operationId"] for path in found["paths"].values() for one in path.values()]
    assert sorted(operations) == sorted(one.name for one in ENDPOINTS if one.adapter is None)
    references = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(found)))
    assert references == set(found["components"]["schemas"])
    assert all(response.get("description") for path in found["paths"].values() for one in path.values()
               for response in one["responses"].values())  # fmt: skip


def test_health_needs_no_token(service: Running) -> None:
    assert httpx.get(service.url + "/healthz/live").json() == {"status": "live"}
    assert httpx.get(service.url + "/healthz/ready").json() == {"status": "ready"}
    assert httpx.head(service.url + "/healthz/live").status_code == 200


def test_metrics_count_requests_by_route_without_names_of_callers(
    service: Running, client: httpx.Client, token: Token, jobs: Jobs
) -> None:
    jobs(1)
    client.headers.update(bearer(token("agent", "a-name-of-somebody")))
    client.post("/match", json=WANTED)
    client.post("/match", json=WANTED)
    client.get("/jobs/123456")
    httpx.get(service.url + "/nothing/at/all")
    text = httpx.get(service.url + "/metrics").text
    route = "/api/v1/setups/{setup}/match"
    for status in (200, 204):
        assert f'pgbroker_http_requests_total{{method="POST",route="{route}",status="{status}"}} 1.0' in text
    assert f'pgbroker_http_request_seconds_count{{route="{route}"}} 2.0' in text
    assert 'pgbroker_http_requests_total{method="GET",route="-",status="404"} 1.0' in text
    assert 'pgbroker_batch_size_count{call="match_many"} 2.0' in text
    assert "pgbroker_pool_in_use" in text
    for word in ("somebody", "123456", SETUP + "/", "nothing"):
        assert word not in text


def test_metrics_are_for_viewers_and_operators(start: Start, token: Token) -> None:
    running = start(behind_proxy=True)
    url = running.url + "/metrics"
    assert httpx.get(url).status_code == 401
    statuses = {
        kind: httpx.get(url, headers=bearer(token(kind))).status_code
        for kind in ("agent", "submitter", "viewer", "operator")
    }
    assert statuses == {"agent": 403, "submitter": 403, "viewer": 200, "operator": 200}


def test_metrics_are_refused_to_pages_of_other_sites(service: Running, token: Token) -> None:
    """Another site may make its name lead to this machine; its pages then send requests with that name."""
    url = service.url + "/metrics"
    port = urlsplit(service.url).port
    for host, status in (("127.0.0.1", 200), ("localhost", 200), ("[::1]", 200), ("evil.example", 401)):
        assert httpx.get(url, headers={"Host": f"{host}:{port}"}).status_code == status, host
    assert httpx.get(url, headers={"Host": "evil.example", **bearer(token("viewer"))}).status_code == 200


def test_the_secret_of_a_pilot_is_exchanged_for_a_token(client: httpx.Client, db: Db, jobs: Jobs) -> None:
    jobs(1)
    [(secret,)] = db.execute("select secret from resource.make_secret('default', 'pilot-9')").fetchall()
    wrong = client.post("/tokens", json={"stamp": "pilot-9", "secret": "guessed"})
    assert (wrong.status_code, wrong.json()["code"]) == (401, "PB008")
    given = client.post("/tokens", json={"stamp": "pilot-9", "secret": secret}).json()
    assert given["token_type"] == "Bearer"
    assert 3500 < given["expires_in"] <= 3600
    assert client.post("/match", json=WANTED, headers=bearer(given["access_token"])).status_code == 200
    again = client.post("/tokens", json={"stamp": "pilot-9", "secret": secret})
    assert again.status_code == 401
    assert client.post("/tokens", json={"stamp": "x"}).json()["key"] == "secret"


def test_many_wrong_secrets_of_a_stamp_are_not_looked_up(
    service: Running, client: httpx.Client, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither good ones, nor those of other stamps count."""
    query = "select secret from resource.make_secret('default', %s, p_uses => 9)"
    secrets = {stamp: db.execute(query, [stamp]).fetchall()[0][0] for stamp in ("guessed", "other")}
    tries = service.app._worker.wrong_secrets  # type: ignore[attr-defined]
    monkeypatch.setattr(tries, "_clock", lambda: 0.0)

    def ask(stamp: str, secret: str) -> int:
        return client.post("/tokens", json={"stamp": stamp, "secret": secret}).status_code

    assert [ask("guessed", secrets["guessed"]) for _ in range(7)] == [200] * 7
    assert [ask("guessed", "wrong") for _ in range(7)] == [401] * 5 + [429] * 2
    assert (ask("guessed", secrets["guessed"]), ask("other", secrets["other"])) == (429, 200)


def lock_leases(db: Db) -> None:
    """Make each match wait until the commit."""
    db.execute("begin")
    db.execute("lock table taskqueue.lease")


def wait_for_a_lock(db: Db) -> None:
    """Wait until a session waits for a lock."""
    waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    with psycopg.connect(db.info.dsn, password=db.info.password, autocommit=True) as other:
        while other.execute(waiting).fetchone() is None:
            time.sleep(0.01)


def test_a_match_of_a_caller_that_vanished_is_kept(service: Running, db: Db, token: Token, jobs: Jobs) -> None:
    jobs(2)
    given = token("agent")
    place = urlsplit(service.url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port)
    headers = {"Content-Type": "application/json", "Idempotency-Key": "mine", **bearer(given)}
    lock_leases(db)
    connection.request("POST", BASE + "/match", json.dumps(WANTED), headers)
    wait_for_a_lock(db)
    connection.close()
    db.execute("commit")
    again = httpx.post(service.url + BASE + "/match", json=WANTED, headers=headers)
    assert again.status_code in (200, 503)
    if again.status_code == 503:  # the first call with this key had no effect
        again = httpx.post(service.url + BASE + "/match", json=WANTED, headers=headers)
    assert db.execute("select attempt from taskqueue.lease").fetchall() == [(1,)]  # never released in between
    assert db.execute("select event from taskqueue.history").fetchall() == []
    assert len(again.json()["matches"]) == 1


def test_a_service_that_stops_answers_what_is_under_way(start: Start, db: Db, token: Token, jobs: Jobs) -> None:
    running = start()
    jobs(1)
    given = token("agent")
    answers: list[httpx.Response] = []
    lock_leases(db)

    def ask() -> None:
        answers.append(httpx.post(running.url + BASE + "/match", json=WANTED, headers=bearer(given), timeout=60))

    thread = threading.Thread(target=ask)
    thread.start()
    wait_for_a_lock(db)
    stopping = threading.Thread(target=running.close)
    stopping.start()
    with pytest.raises(httpx.TransportError):
        while True:  # until it accepts no more connections
            httpx.get(running.url + "/healthz/live")
    db.execute("commit")
    stopping.join()
    thread.join()
    assert [answer.status_code for answer in answers] == [200]
