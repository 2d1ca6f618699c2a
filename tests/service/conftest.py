"""A service that runs on a test's database, an issuer, and tokens.

Tests share one service and one issuer with the database (tests/reused.py). Tests that look at the memory of a service,
or harm its connections, are marked `own_database` and get their own service.
"""

import asyncio
import resource
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec
import psycopg
import pytest
import uvicorn
from psycopg.conninfo import make_conninfo

from broker.service.app import create
from broker.service.run import HTTP
from broker.service.settings import Settings
from tests.calls import SERVICE_PASSWORD, let_the_service_log_in
from tests.reused import Reused
from tests.service.issuer import AUDIENCE, Issuer

SETUP = "default"
BASE = f"/api/v1/setups/{SETUP}"
WANTED = {"resources": [{"CPUTime": 86400}]}

# The types of fixtures: each is a function that makes something.
Db = psycopg.Connection[Any]
Credential = Callable[..., None]
Jobs = Callable[..., list[int]]
Start = Callable[..., "Running"]
Together = Callable[..., list[httpx.Response]]
Token = Callable[..., str]


@pytest.fixture(scope="session", autouse=True)
def _many_files() -> None:
    """Raise the limit of open files as `broker serve` does: tests hold both ends of many connections."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Running:
    """The service in a thread of this process, on a free port, or on the port of its public URL."""

    def __init__(self, settings: Settings) -> None:
        self.app = create(settings)
        port = urlsplit(settings.url).port or 0 if settings.url and settings.url.startswith("http:") else 0
        config = uvicorn.Config(
            self.app, host="127.0.0.1", port=port, log_config=None, lifespan="on", access_log=False, **HTTP
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.01)
        self.url = f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}"

    def close(self) -> None:
        """Stop it as SIGTERM does."""
        self._server.should_exit = True
        self._thread.join()


@pytest.fixture
def service_dsn(db: Db, dsn: str) -> str:
    """The DSN of the service's login on the test's database."""
    let_the_service_log_in(db)
    return make_conninfo(dsn, user="broker_service", password=SERVICE_PASSWORD)


class _Shared:
    """The issuer and the service of the tests that share a database."""

    def __init__(self) -> None:
        self.issuer = Issuer()
        self._service: Running | None = None
        self._of: Reused | None = None

    def service(self, database: Reused, settings: Settings) -> Running:
        """The service on this database; it is started again when the database changes."""
        if self._service is None or self._of is not database:
            self.close()
            self._service, self._of = Running(settings), database
            database.lasting.add("broker_service")
        vars(self._service.app)["_worker"].kept.clear()  # figures of the test before
        return self._service

    def close(self) -> None:
        """Stop the service."""
        if self._service:
            self._service.close()
            self._service = None


@pytest.fixture(scope="session")
def _shared() -> Iterator[_Shared]:
    shared = _Shared()
    yield shared
    shared.close()
    shared.issuer.close()


@pytest.fixture
def issuer(reused: Reused | None, _shared: _Shared) -> Iterator[Issuer]:
    """An issuer of tokens."""
    if reused:
        yield _shared.issuer
        return
    running = Issuer()
    yield running
    running.close()


@pytest.fixture
def settings(service_dsn: str, issuer: Issuer) -> Settings:
    """The usual settings of a service."""
    return Settings(dsn=service_dsn, issuers=(issuer.url,), audience=AUDIENCE)


@pytest.fixture
def start(settings: Settings) -> Iterator[Start]:
    """A function that starts a service with settings of a test's own."""
    started: list[Running] = []

    def make(**more: Any) -> Running:
        started.append(Running(msgspec.structs.replace(settings, **more)))
        return started[-1]

    yield make
    for one in started:
        one.close()


@pytest.fixture
def service(reused: Reused | None, _shared: _Shared, settings: Settings, start: Start) -> Running:
    """A service with the usual settings."""
    return _shared.service(reused, settings) if reused else start()


@pytest.fixture
def credential(db: Db) -> Credential:
    """A function that stores the rights of an issuer's tokens: credential(kind, issuer, subject, ...)."""

    def store(kind: str, issuer: Issuer, subject: str | None = None, **more: Any) -> None:
        values = {
            "p_setup": SETUP, "p_name": f"{kind} {subject}", "p_kind": kind, "p_issuer": issuer.url,
            "p_subject": subject, **{f"p_{name}": value for name, value in more.items()},
        }  # fmt: skip
        named = ", ".join(f"{name} => %s" for name in values)
        db.execute(f"select from resource.set_credential({named})", list(values.values()))

    return store


@pytest.fixture
def trusted(issuer: Issuer, credential: Credential) -> Issuer:
    """The issuer; each of its subjects is an agent."""
    credential("agent", issuer)
    return issuer


@pytest.fixture
def token(db: Db) -> Token:
    """A function that makes an opaque token: token(kind, name, group)."""

    def make(kind: str, name: str = "somebody", group: str | None = None) -> str:
        group = group or ("users" if kind == "submitter" else None)  # a submitter acts for somebody
        query = "select token from resource.make_token(%s, %s, %s, p_owner_group => %s)"
        [(made,)] = db.execute(query, [SETUP, name, kind, group]).fetchall()
        return str(made)

    return make


@pytest.fixture
def client(service: Running) -> Iterator[httpx.Client]:
    """A client of that service. Paths are below the setup's."""
    with httpx.Client(base_url=service.url + BASE, timeout=60) as made:
        yield made


@pytest.fixture
def agent(client: httpx.Client, token: Token) -> httpx.Client:
    """The client with a token of an agent."""
    client.headers.update(bearer(token("agent")))
    return client


@pytest.fixture
def jobs(db: Db) -> Jobs:
    """A function that inserts this many jobs; any resource with CPUTime may get them."""
    return partial(insert_jobs, db)


def insert_jobs(db: Db, count: int, first: int = 1) -> list[int]:
    """Insert this many jobs; any resource with CPUTime may get them."""
    ids = list(range(first, first + count))
    requirements = '{"OwnerDN": "/DC=org/CN=alice", "OwnerGroup": "users", "CPUTime": 600}'
    query = """select taskqueue.insert_jobs(%s, jsonb_build_array(jsonb_build_object('requirements', %s::jsonb,
                 'jobs', (select jsonb_agg(jsonb_build_array(i)) from unnest(%s::bigint[]) i))))"""
    db.execute(query, [SETUP, requirements, ids])
    return ids


def facts_of(db: Db, job_id: int) -> tuple[Any, ...]:
    """Host, errors, CPU time, wall time, memory and cores of the end of a job, or of its lease."""
    columns = "host, error, cpu_used, wall_used, ram_used, cores_used"
    query = f"""select {columns} from taskqueue.lease where job_id = %(job)s
                 union all select {columns} from taskqueue.history
                  where job_id = %(job)s and event not in ('matched', 'running', 'kill asked')"""
    [found] = db.execute(query.encode(), {"job": job_id}).fetchall()
    return tuple(found)


def wait_until(there: Callable[[], bool], why: Callable[[], object] = str, seconds: float = 60) -> None:
    """Wait for a condition that holds soon; `why` is the message if it does not."""
    until = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < until, why()
        time.sleep(0.05)


def program(name: str) -> str:
    """The path of a program. Skips the test if the program is not installed."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def sleep_a_minute(connection: Db, *_: Any, **__: Any) -> None:
    """Replace a query with one that takes a long time."""
    connection.execute("select pg_sleep(60)")


def bearer(token: str) -> dict[str, str]:
    """The header with a token."""
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def matched_together(service: Running) -> Together:
    """A function that sends one match per token at the same time: all with the same body, or each with its own."""

    async def send(tokens: list[str], bodies: tuple[Any, ...]) -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=len(tokens))
        async with httpx.AsyncClient(base_url=service.url + BASE, timeout=60, limits=limits) as client:
            each = bodies if len(bodies) > 1 else bodies * len(tokens)
            calls = (client.post("/match", json=b, headers=bearer(t)) for t, b in zip(tokens, each, strict=True))
            return list(await asyncio.gather(*calls))

    return lambda tokens, *bodies: asyncio.run(send(tokens, bodies))
