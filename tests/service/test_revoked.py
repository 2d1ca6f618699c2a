"""A credential that ends while a call is under way: from then on the call hands out, stores and shows nothing more."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest

from tests.service.conftest import Db, Jobs, Token, bearer, wait_until
from tests.service.issuer import Issuer
from tests.service.test_submit import LINES, job, lines
from tests.service.test_waiting import Waits, _until_parked, viewer

__all__ = ["viewer"]
pytestmark = pytest.mark.own_database

LONG = 1.3  # seconds: a call of this length looks its credential up again
ENDS: dict[str, str] = {
    "revoked": "select resource.revoke_tokens('default', 'x')",
    "expired": "update resource.access_token set expires_at = now() where name = 'x'",
    "another role": "update resource.access_token set kind = 'viewer' where name = 'x'",
    "another owner": "update resource.access_token set owner_group = 'others' where name = 'x'",
}


@pytest.mark.parametrize("end", ENDS)
def test_an_agent_that_waits_gets_no_job_after_its_credential_has_ended(  # noqa: PLR0917
    client: httpx.Client, token: Token, viewer: str, db: Db, jobs: Jobs, end: str
) -> None:
    ended = Waits(client, token("agent", "x"))
    _until_parked(client, viewer, 1)
    other = Waits(client, token("agent", "y"))
    _until_parked(client, viewer, 2)
    db.execute(ENDS[end].encode())
    began = time.monotonic()
    jobs(1)
    assert other.jobs() == [1]
    assert time.monotonic() - began < 4  # the agent that is refused wakes the next one
    assert (ended.answer().status_code, ended.answer().json()["code"]) == (401, "PB008")
    assert db.execute("select subject from taskqueue.lease").fetchall() == [("token y",)]


def test_an_agent_that_waits_gets_no_job_after_its_credential_was_cleared(
    client: httpx.Client, trusted: Issuer, viewer: str, db: Db, jobs: Jobs
) -> None:
    waits = Waits(client, trusted.token())
    _until_parked(client, viewer, 1)
    db.execute("select resource.clear_credential(setup, name) from resource.credential")
    jobs(1)
    assert waits.answer().status_code == 403
    assert db.execute("select from taskqueue.lease").fetchall() == []


def test_no_agent_of_a_name_gets_a_job_once_its_tokens_are_revoked(client: httpx.Client, token: Token, db: Db) -> None:
    """Jobs arrive one by one, and more agents wait than jobs arrive in the time of a call that is under way."""
    given, stop = token("agent", "x"), threading.Event()

    def ask() -> None:
        while not stop.is_set():
            client.post("/match", json={"resources": [{"CPUTime": 86400}], "wait": 60}, headers=bearer(given))

    def arrive() -> None:
        with psycopg.connect(db.info.dsn, password=db.info.password, autocommit=True) as other:
            number = 0
            while not stop.wait(0.05):
                number += 1
                other.execute("select taskqueue.insert_job('default', %s, '{\"OwnerDN\": \"a\", \"OwnerGroup\": \"g\","
                              " \"CPUTime\": 600}')", [number])  # fmt: skip

    threads = [threading.Thread(target=ask) for _ in range(30)] + [threading.Thread(target=arrive)]
    for thread in threads:
        thread.start()
    count = b"select count(*) from taskqueue.lease"
    try:
        wait_until(lambda: (db.execute(count).fetchone() or (0,))[0] > 5)
        db.execute(ENDS["revoked"].encode())
        time.sleep(0.5)  # matches that were under way
        leased = db.execute(count).fetchone()
        time.sleep(2)
        assert db.execute(count).fetchone() == leased
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_no_portion_of_an_insertion_is_stored_after_the_revocation(client: httpx.Client, token: Token, db: Db) -> None:
    def stored() -> int:
        [(number,)] = db.execute("select count(*) from taskqueue.job").fetchall()
        return int(number)

    def body() -> Iterator[bytes]:
        yield lines(*(job(number) for number in range(1, 1002)))
        wait_until(lambda: stored() == 1000)
        db.execute(ENDS["revoked"].encode())
        yield lines(*(job(number) for number in range(1002, 3000)))

    answer = client.post("/jobs", content=body(), headers=LINES | bearer(token("operator", "x")))
    assert answer.status_code == 401
    assert answer.json()["stored"] == 1000
    assert stored() == 1000


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/match", "agent"), ("/jobs/finish", "agent"), ("/exchange", "agent"), ("/jobs/cancel", "operator")],
)
def test_a_body_that_ends_after_the_revocation_does_nothing(  # noqa: PLR0917
    client: httpx.Client, token: Token, db: Db, jobs: Jobs, path: str, kind: str
) -> None:
    jobs(2)
    [(number, attempt)] = db.execute(
        "select job_id, attempt from taskqueue.match_job('default', '{\"CPUTime\": 86400}')"
    ).fetchall()
    bodies = {
        "/match": b'{"resources": [{"CPUTime": 86400}]}',
        "/jobs/finish": b'[{"job_id": %d, "attempt": "%s", "outcome": "finished"}]' % (number, attempt.encode()),
        "/exchange": b'{"resources": [{"CPUTime": 86400}], "ends": [{"job_id": %d, "attempt": "%s"}]}'
        % (number, attempt.encode()),
        "/jobs/cancel": b'{"job_ids": [1, 2], "reason": "x"}',
    }

    def body() -> Iterator[bytes]:
        yield bodies[path][:5]
        time.sleep(LONG / 2)
        db.execute(ENDS["revoked"].encode())
        time.sleep(LONG / 2)
        yield bodies[path][5:]

    json = {"Content-Type": "application/json"}
    assert client.post(path, content=body(), headers=json | bearer(token(kind, "x"))).status_code == 401
    assert db.execute("select job_id from taskqueue.lease").fetchall() == [(number,)]
    assert db.execute("select count(*) from taskqueue.job").fetchone() == (1,)


class _Held:
    """A lock that another transaction has, until the credential has ended."""

    def __init__(self, db: Db, lock: str) -> None:
        self._other = psycopg.connect(db.info.dsn, password=db.info.password)
        self._other.execute(lock.encode())
        self._thread = threading.Thread(target=self._end, args=[db])
        self._thread.start()

    def _end(self, db: Db) -> None:
        time.sleep(LONG / 2)
        db.execute(ENDS["revoked"].encode())
        time.sleep(LONG / 2)
        self._other.close()

    def join(self) -> None:
        self._thread.join()


def test_a_search_that_outlasts_its_credential_shows_nothing(
    client: httpx.Client, token: Token, db: Db, jobs: Jobs
) -> None:
    jobs(1)
    asked: dict[str, Any] = {"json": {}, "headers": bearer(token("viewer", "x"))}
    assert client.post("/jobs/search", **asked).json()["rows"]
    held = _Held(db, "lock taskqueue.job in access exclusive mode")
    answer = client.post("/jobs/search", **asked)
    held.join()
    assert answer.status_code == 401, answer.text


def test_a_hold_of_many_jobs_ends_with_its_credential(client: httpx.Client, token: Token, db: Db, jobs: Jobs) -> None:
    jobs(250)
    held = _Held(db, "select from taskqueue.job where job_id = 50 for update")
    asked = {"job_ids": list(range(1, 251))}
    answer = client.post("/jobs/hold", json=asked, headers=bearer(token("operator", "x")))
    held.join()
    assert answer.status_code == 401, answer.text
    changed = db.execute("select count(*) from monitor.change where subject = 'token x' and object = 'job'").fetchone()
    assert changed is not None and changed[0] <= 100
