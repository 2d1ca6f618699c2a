"""Jobs with JDL, and calls as DIRAC's clients make them."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from psycopg.types.json import Jsonb

from tests.service.conftest import SETUP, Db, Running, Token, bearer

SITE = {"Site": "LCG.NORTH.org", "CPUTime": 86400}
REQUIREMENTS = {"OwnerDN": "alice", "OwnerGroup": "lhcb_user", "CPUTime": 600}
JDL = '[ JobName = "one"; Executable = "/bin/true"; ]'

Rpc = Callable[..., dict[str, Any]]
Callers = Callable[..., Rpc]
Insert = Callable[..., int]
Match = Callable[..., dict[str, Any]]


@pytest.fixture
def dirac_job(db: Db) -> Insert:
    """A function that inserts a job: dirac_job(id, payload, further requirements)."""

    def insert(job_id: int = 7, payload: Any = None, **more: Any) -> int:
        statement = "select taskqueue.insert_job(%s, %s, %s, p_payload => %s)"
        values = [SETUP, job_id, Jsonb(REQUIREMENTS | more), Jsonb({"JDL": JDL} if payload is None else payload)]
        db.execute(statement.encode(), values)
        return job_id

    return insert


@pytest.fixture
def rpc(service: Running, token: Token) -> Callers:
    """A function that makes a caller of DIRAC's services: rpc(subject)(method, *args, service=..., status=...)."""

    def caller(subject: str = "pilot", kind: str = "agent") -> Rpc:
        headers = bearer(token(kind, subject))

        def call(method: str, *args: Any, service_name: str = "JobStateUpdate", status: int = 200) -> dict[str, Any]:
            fields = {"method": method, "args": json.dumps(args), "clientVO": "lhcb", "clientSetup": "None"}
            url = f"{service.url}/WorkloadManagement/{service_name}"
            answer = httpx.post(url, data=fields, headers=headers, timeout=60)
            assert answer.status_code == status, answer.text
            found: dict[str, Any] = answer.json()
            assert found.keys() == ({"OK", "Value"} if found["OK"] else {"OK", "Errno", "Message"})
            return found

        return call

    return caller


@pytest.fixture
def match(rpc: Callers) -> Match:
    """A function that asks for a job: match(subject, further keys of the description)."""

    def ask(subject: str = "pilot", **more: Any) -> dict[str, Any]:
        return rpc(subject)("requestJob", SITE | more, service_name="Matcher")

    return ask
