"""Callers of the service have the rights of the database role that their credential names."""

from typing import Any

import httpx
import pytest
from psycopg.types.json import Jsonb

from broker.service.views import VIEWS
from tests.service.conftest import WANTED, Credential, Db, Jobs, Token, bearer
from tests.service.issuer import Issuer

JOB = {"job_id": 5, "requirements": {"OwnerDN": "/DC=org/CN=alice", "OwnerGroup": "users", "CPUTime": 600}}
LEASE = [{"job_id": 5, "attempt": "1-" + "0" * 32}]

PATHS = {name: name.replace("_", "-") for name in VIEWS}


def restricted(name: str) -> list[dict[str, Any]]:
    """Columns by which a search of a view must select."""
    return [{"parameter": one, "operator": "eq", "value": 6} for one in VIEWS[name].search.restricted[:1]]


CALLS: dict[str, tuple[str, str, Any]] = {
    "match": ("POST", "/match", WANTED), "report": ("POST", "/jobs/report", LEASE),
    "finish": ("POST", "/jobs/finish", LEASE), "exchange": ("POST", "/exchange", {"ends": LEASE, **WANTED}),
    "release": ("POST", "/jobs/release", LEASE),
    "insert": ("POST", "/jobs", [JOB]), "cancel": ("POST", "/jobs/cancel", {"job_ids": [6]}),
    "hold": ("POST", "/jobs/hold", {"job_ids": [6]}), "resume": ("POST", "/jobs/resume", {"job_ids": [6]}),
    "job": ("GET", "/jobs/6", None), "events": ("GET", "/jobs/6/events", None), "why": ("GET", "/jobs/6/why", None),
    "task": ("GET", "/tasks/6/why", None), "resource": ("POST", "/resources/why", {"resource": {"CPUTime": 86400}}),
    "obstacles": ("GET", "/tasks/6/obstacles", None), "retry": ("POST", "/jobs/retry", {"job_ids": [6]}),
    "what if": ("POST", "/what-if", {"profile": "panda2026"}),
    "quarantine": ("POST", "/quarantines", {"kind": "site", "site": "RAL", "why": "it is closed"}),
    "lift": ("POST", "/quarantines/lift", {"kind": "site", "site": "RAL"}),
    **{f"search {name}": ("POST", f"/{path}/search", {"search": restricted(name)}) for name, path in PATHS.items()},
    **{
        f"count {name}": ("POST", f"/{path}/summary", {"grouping": [], "search": restricted(name)})
        for name, path in PATHS.items()
    },
}  # fmt: skip
SEARCHES = {f"{call} {name}" for name in VIEWS for call in ("search", "count")}
MAY = {
    "agent": {"match", "report", "finish", "exchange", "release"},
    "submitter": {"insert", "cancel", "job", "events", "why", "search jobs", "count jobs"},
    "operator": set(CALLS),
    "viewer": {"job", "events", "why", "task", "resource", "obstacles", *SEARCHES}
    - {"search changes", "count changes"},
}


@pytest.mark.parametrize("kind", list(MAY))
def test_each_kind_of_token_may_make_the_calls_of_its_role(
    client: httpx.Client, token: Token, jobs: Jobs, kind: str
) -> None:
    jobs(1, 6)
    client.headers.update(bearer(token(kind)))
    statuses = {
        name: client.request(method, path, json=body).status_code if body is not None else client.get(path).status_code
        for name, (method, path, body) in CALLS.items()
    }
    assert {name for name, status in statuses.items() if status != 403} == MAY[kind], statuses
    assert all(status in (200, 204, 403, 404, 409) for status in statuses.values()), statuses


def test_a_refusal_names_the_right_that_is_missing(client: httpx.Client, token: Token) -> None:
    refused = client.post("/jobs", json=[JOB], headers=bearer(token("agent")))
    assert (refused.status_code, refused.json()["code"]) == (403, "42501")
    assert "broker_submitter" in refused.json()["hint"]


def test_a_submitter_acts_for_its_owner_only(
    client: httpx.Client, issuer: Issuer, credential: Credential, db: Db
) -> None:
    credential("submitter", issuer, "alice", owner_group="users", owner_dn="/DC=org/CN=alice")
    credential("submitter", issuer, "bob", owner_group="users", owner_dn="/DC=org/CN=bob")
    alice, bob = bearer(issuer.token("alice")), bearer(issuer.token("bob"))
    assert client.post("/jobs", json=[JOB], headers=alice).status_code == 200
    refused = client.post("/jobs", json=[{**JOB, "job_id": 8}], headers=bob)
    assert (refused.status_code, refused.json()["code"]) == (403, "PB002")
    assert client.get("/jobs/5", headers=alice).json()["status"] == "waiting"
    assert client.get("/jobs/5", headers=bob).status_code in (403, 404)
    assert client.post("/jobs/cancel", json={"job_ids": [5]}, headers=bob).status_code in (403, 404)


def test_agents_of_two_groups_get_jobs_of_their_own_group(
    client: httpx.Client, issuer: Issuer, credential: Credential, db: Db
) -> None:
    for number, group in ((1, "users"), (2, "prod")):
        credential("agent", issuer, group, owner_group=group)
        keys = {"OwnerDN": "/CN=x", "OwnerGroup": group, "CPUTime": 600}
        db.execute("select taskqueue.insert_job('default', %s, %s)", [number, Jsonb(keys)])
    found = [client.post("/match", json=WANTED, headers=bearer(issuer.token(group))) for group in ("prod", "users")]
    assert [answer.json()["matches"][0]["job_id"] for answer in found] == [2, 1]


def test_a_lease_has_the_subject_of_its_match(client: httpx.Client, trusted: Issuer, jobs: Jobs, db: Db) -> None:
    jobs(1)
    assert client.post("/match", json=WANTED, headers=bearer(trusted.token("pilot-7"))).status_code == 200
    [(subject, role)] = db.execute("select subject, role_name from taskqueue.lease").fetchall()
    assert (subject.split()[-1], role) == ("pilot-7", "broker_agent")
