"""`broker serve --read`: requests that only read are answered by the standby, unless the primary has to answer."""

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import httpx
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb
from psycopg_pool import PoolTimeout
from starlette.datastructures import Headers
from starlette.requests import Request

from broker.server.service import service_dsn
from broker.service.calls import Database
from broker.service.endpoints import ENDPOINTS
from broker.service.login.cookies import Cookies
from broker.service.reader import Lag, Reader, place_of
from broker.service.settings import Settings
from broker.service.views import VIEWS
from tests.cookies import by_ticket
from tests.core.faults.standby import Pair
from tests.core.fuzz.small_world import CLOUD, GRID, POOL
from tests.service.conftest import Db, Running, bearer, wait_until
from tests.service.pages.conftest import FIELD
from tests.throwaway import NOT_DURABLE

PATIENCE = 30.0
Serve = Callable[..., "Service"]

# GETs that only the primary answers: about the service itself, sessions, and forms that change values.
ON_THE_PRIMARY = {
    "home", "login_page", "callback", "session", "live", "ready", "metrics", "openapi",
    "page_act",  # the values of a form are compared with those stored when the form is sent
    "page_health",  # it shows the health of the server that accepts changes
}  # fmt: skip


class Service:
    """A service that reads on the standby, and two people."""

    def __init__(self, pair: Pair, primary: Db, read: str | None = None, **more: Any) -> None:
        dsn = service_dsn(pair.server(pair.primary))
        pair.wait_until_it_streams()
        standby = make_conninfo(dsn, port=pair.server(pair.standby).port)
        self.running = Running(Settings(dsn=dsn, read_dsn=read or standby, setup=POOL, **more))
        self.primary = primary
        query = "select token from resource.make_token(%s, %s, 'operator')"
        self.tokens = {s: str(primary.execute(query, [s, "one"]).fetchone()[0]) for s in (GRID, POOL, CLOUD)}  # type: ignore[index]
        self.client = httpx.Client(base_url=self.running.url, timeout=60)

    def browser(self, setup: str = POOL) -> "_Browser":
        """An operator's browser, logged in. It keeps cookies."""
        return _Browser(self.running.url, by_ticket(self.primary, setup, "x", "operator"))

    def get(self, path: str, setup: str = POOL, **headers: str) -> httpx.Response:
        return self.client.get(path, headers=bearer(self.tokens[setup]) | headers)

    def post(self, path: str, body: object, setup: str = POOL) -> httpx.Response:
        return self.client.post(path, json=body, headers=bearer(self.tokens[setup]))

    def figure(self, name: str, server: str = "") -> float:
        """The value of a metric at /metrics."""
        labels = rf'\{{server="{server}"\}}' if server else ""
        found = re.search(rf"^pgbroker_{name}{labels} (\S+)$", self.client.get("/metrics").text, re.MULTILINE)
        return float(found[1]) if found else 0.0

    @contextmanager
    def answered_by(self, server: str, what: str = "") -> Iterator[None]:
        """Check that this server answers the requests inside the block."""
        servers = ("standby", "primary")
        before = {one: self.figure("reads_total", one) for one in servers}
        yield
        gained = {one: self.figure("reads_total", one) - before[one] for one in servers}
        assert gained[server] >= 1, (gained, what)
        assert sum(gained.values()) == gained[server], gained

    def wait_until_used(self, used: bool = True) -> None:
        wait_until(lambda: self.figure("read_standby_used") == used, seconds=PATIENCE)


class _Browser(httpx.Client):
    """A browser that sends the cookies although there is no TLS: their names require https."""

    def __init__(self, url: str, session: str) -> None:
        super().__init__(base_url=url, timeout=60)
        self.kept = {"__Host-pgbroker": session}

    def send(self, request: httpx.Request, **more: Any) -> httpx.Response:
        request.headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.kept.items())
        answer = super().send(request, **more)
        for line in answer.headers.get_list("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            self.kept[name] = value
        return answer

    def act(self, do: str, of: object) -> httpx.Response:
        """Press the button on the page that asks for confirmation."""
        page = self.get(f"/setups/{POOL}/act", params={"do": do, "of": str(of)})
        assert page.status_code == 200, page.text
        return self.post(f"/setups/{POOL}/act", data=dict(FIELD.findall(page.text)))


@pytest.fixture
def serve(pair: Pair, primary: Db) -> Iterator[Serve]:
    """A function that starts a service that reads on the standby."""
    started: list[Service] = []

    def start(**more: Any) -> Service:
        started.append(Service(pair, primary, **more))
        return started[-1]

    yield start
    for one in started:
        one.running.close()


@pytest.fixture
def service(serve: Serve) -> Service:
    """A service that already reads on the standby."""
    found = serve(read_lag=600)
    found.wait_until_used()
    return found


@contextmanager
def paused(replica: Db) -> Iterator[None]:
    """The standby receives changes, but replays none."""
    replica.execute("select pg_wal_replay_pause()")
    while replica.execute("select pg_get_wal_replay_pause_state()").fetchone() != ("paused",):
        time.sleep(0.01)
    try:
        yield
    finally:
        replica.execute("select pg_wal_replay_resume()")


def insert(primary: Db, job_id: int) -> None:
    keys = {"OwnerDN": "alice", "OwnerGroup": "g1", "CPUTime": 400}
    primary.execute("select taskqueue.insert_job(%s, %s, %s)", [POOL, job_id, Jsonb(keys)])


def test_reading_endpoints_are_answered_by_the_standby(service: Service, primary: Db, pair: Pair) -> None:
    """Every page and every call that reads, for objects that exist."""
    one = {
        "job_id": "select job_id from monitor.waiting_job where setup = '{}' order by 1 limit 1",
        "task_queue_id": "select task_queue_id from monitor.task_queue where setup = '{}' order by 1 limit 1",
        "task_id": "select task_id from monitor.task where setup = '{}' order by 1 limit 1",
        "queue": "select queue from monitor.queue where setup = '{}' order by 1 limit 1",
        "site": "select site from monitor.site where setup = '{}' order by 1 limit 1",
        "run_id": "select run_id from monitor.run where setup = '{}' order by 1 limit 1",
        "what_if_id": "select what_if_id from monitor.what_if where setup = '{}' order by 1 desc limit 1",
        "instance_id": "select instance_id from monitor.instance where setup = '{}' order by 1 limit 1",
        "limit_id": "select limit_id from monitor.site_limit where setup = '{}' order by 1 limit 1",
    }
    bodies = {"why_resource": {"resource": {"CPUTime": 1000, "Site": "S1", "GridCE": "C1"}}}
    asked = service.post(f"/api/v1/setups/{GRID}/what-if", {"without": ["memory"], "newest": 2}, GRID)
    assert asked.status_code == 200, asked.text
    pair.wait_until_it_streams()
    reading = [endpoint for endpoint in ENDPOINTS if endpoint.reads and "{rest" not in endpoint.path]
    assert len(reading) > 50
    for endpoint in reading:
        setup = CLOUD if "instance" in endpoint.path else POOL if "limit_id" in endpoint.path else GRID
        path = endpoint.path.replace("{setup}", setup)
        for name in re.findall(r"{(\w+)", path):
            [value] = primary.execute(one[name].format(setup).encode()).fetchone() or [None]
            assert value is not None, endpoint.path
            path = re.sub(rf"{{{name}(:\w+)?}}", str(value), path)
        if path.endswith("/find"):
            path += "?what=nothing-of-this-name"
        body: dict[str, Any] = bodies.get(endpoint.name, {})
        kind, _, listed = endpoint.name.partition("_")
        if kind in ("search", "count") and listed in VIEWS:
            restricted = VIEWS[listed].search.restricted
            body = {"search": [{"parameter": restricted[0], "operator": "eq", "value": 1}]} if restricted else {}
            body |= {"grouping": [next(iter(VIEWS[listed].columns))]} if kind == "count" else {}
        with service.answered_by("standby", path):
            answer = service.get(path, setup) if endpoint.method == "GET" else service.post(path, body, setup)
        assert answer.status_code == (404 if "/find" in path else 200), (path, answer.text[:500])
    users = pair.look("select count(*) from pg_stat_activity where usename = 'broker_service'")
    assert users != [(0,)]


def test_every_page_that_writes_is_listed_for_the_primary() -> None:
    own = [one for one in ENDPOINTS if one.method == "GET" and not one.name.startswith("file_")]
    ours = [one for one in own if one.adapter is None or one.adapter.name in ("page", "browser")]
    assert {one.name for one in ours if not one.reads} | {"session"} == ON_THE_PRIMARY


def test_a_browser_sees_its_own_change(service: Service, primary: Db, replica: Db) -> None:
    insert(primary, 701)
    while replica.execute("select from taskqueue.job where job_id = 701").fetchone() is None:
        time.sleep(0.01)
    mine, other = service.browser(), service.browser()
    page = f"/setups/{POOL}/jobs/701"
    with paused(replica):
        with service.answered_by("standby"):
            assert "resume-job" not in mine.get(page).text
        assert mine.act("hold-job", 701).status_code == 303
        with service.answered_by("primary"):
            assert "resume-job" in mine.get(page).text
        with service.answered_by("standby"):
            assert "resume-job" not in other.get(page).text
    read = service.figure("reads_total", "standby")
    end = time.monotonic() + PATIENCE
    while service.figure("reads_total", "standby") == read:  # the worker checks once a second
        assert "resume-job" in mine.get(page).text
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_job_that_the_standby_lacks_is_found_on_the_primary(service: Service, primary: Db, replica: Db) -> None:
    path = f"/api/v1/setups/{POOL}/jobs/702"
    with paused(replica):
        insert(primary, 702)
        with service.answered_by("primary"):
            assert service.get(path).json()["job_id"] == 702
            assert service.get(f"{path}/why").status_code == 200
        search = {"search": [{"parameter": "job_id", "operator": "eq", "value": 702}]}
        with service.answered_by("standby"):
            assert service.post(f"/api/v1/setups/{POOL}/jobs/search", search).json()["rows"] == []
        with service.answered_by("primary"):
            found = service.client.post(
                f"/api/v1/setups/{POOL}/jobs/search", json=search,
                headers=bearer(service.tokens[POOL]) | {"Cache-Control": "no-cache"},
            )  # fmt: skip
            assert [row["job_id"] for row in found.json()["rows"]] == [702]
    with service.answered_by("primary"):
        assert service.get(f"/api/v1/setups/{POOL}/jobs/799").status_code == 404


def test_the_primary_answers_while_the_standby_replays_a_lock(service: Service, pair: Pair, replica: Db) -> None:
    """An upgrade locks objects. Its replay may wait for the snapshot of a reader that waits for such a lock."""
    with psycopg.connect(pair.server(pair.primary).superuser_dsn()) as upgrade:
        upgrade.execute("lock table taskqueue.job, taskqueue.task_queue in access exclusive mode")
        upgrade.execute("select pg_switch_wal()")  # otherwise the lock may not have left the primary
        pair.wait_until_it_streams()
        with paused(replica):
            upgrade.rollback()
            for path in (f"/setups/{POOL}/jobs", f"/api/v1/setups/{POOL}/jobs/1"):
                with service.answered_by("primary"):
                    assert service.get(path).status_code in {200, 404}
    with service.answered_by("standby"):
        assert service.get(f"/setups/{POOL}/jobs").status_code == 200


def test_the_primary_answers_while_the_standby_lags(serve: Serve, primary: Db, replica: Db) -> None:
    service = serve(read_lag=1.5)
    service.wait_until_used()
    path = f"/setups/{POOL}/jobs"
    with paused(replica):
        insert(primary, 703)
        service.wait_until_used(False)
        assert service.figure("read_lag_seconds") > 1.5
        with service.answered_by("primary"):
            assert "703" in service.get(path).text
    service.wait_until_used()
    assert service.figure("read_lag_seconds") < 1.5
    with service.answered_by("standby"):
        assert "703" in service.get(path).text


def test_the_primary_answers_while_the_standby_is_down(service: Service, pair: Pair) -> None:
    path = f"/setups/{POOL}/jobs"
    pair.stop_standby()
    try:
        for _ in range(3):
            with service.answered_by("primary"):
                assert service.get(path).status_code == 200
        service.wait_until_used(False)
    finally:
        pair.start_standby(NOT_DURABLE)
    service.wait_until_used()
    with service.answered_by("standby"):
        assert service.get(path).status_code == 200


def test_a_server_that_is_no_standby_of_the_primary_is_not_read(
    serve: Serve, pair: Pair, caplog: pytest.LogCaptureFixture
) -> None:
    service = serve(read=service_dsn(pair.server(pair.primary)))
    wait_until(lambda: "is not read: it is not a standby of this primary" in caplog.text, seconds=PATIENCE)
    assert service.figure("read_standby_used") == 0
    with service.answered_by("primary"):
        assert service.get(f"/setups/{POOL}/jobs").status_code == 200


def test_a_service_without_a_standby_reads_the_primary(serve: Serve, pair: Pair) -> None:
    service = serve()
    service.running.close()
    dsn = service_dsn(pair.server(pair.primary))
    service.running = Running(Settings(dsn=dsn, setup=POOL))
    service.client = httpx.Client(base_url=service.running.url, timeout=60)
    with service.answered_by("primary"):
        assert service.get(f"/setups/{POOL}/jobs").status_code == 200
    answer = service.browser().act("hold-job", 101)
    assert "changed" not in answer.headers.get("set-cookie", "")
    assert (service.figure("read_standby_used"), service.figure("read_lag_seconds")) == (0, 0)


def test_the_lag_is_the_time_since_the_primary_was_first_seen_ahead() -> None:
    lag = Lag()
    lag.primary(100, 1.0)
    assert lag.seconds(1.0) == float("inf")  # the standby was never seen
    lag.standby(100)
    assert lag.seconds(50.0) == 0  # an idle primary
    lag.primary(200, 51.0)
    lag.primary(300, 52.0)
    assert lag.seconds(53.0) == 2
    lag.standby(250)
    assert lag.seconds(53.0) == 1
    lag.standby(400)
    assert lag.seconds(53.0) == 0
    assert place_of("1/A") == 2**32 + 10


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PoolTimeout("full"), []),
        (psycopg.OperationalError("gone"), ["gone"]),
        (psycopg.errors.AdminShutdown("x"), ["x"]),
    ],
)
def test_a_caller_who_waits_in_vain_for_a_connection_does_not_switch_the_standby_off(
    monkeypatch: pytest.MonkeyPatch, error: psycopg.Error, said: list[str]
) -> None:
    judged: list[str] = []
    monkeypatch.setattr(Reader, "_judge", lambda _, text: judged.append(text))
    settings = Settings(dsn="host=127.0.0.1 port=1", read_dsn="host=127.0.0.1 port=1")
    Reader(cast(Database, None), settings, Cookies("http://h")).note(error)
    assert judged == said


def test_a_change_that_is_made_is_answered_although_nobody_knows_its_position() -> None:
    """The primary answers this browser afterwards, whatever the standby has replayed."""

    class Away:
        async def as_login(self, *_: Any) -> list[Any]:
            raise psycopg.OperationalError

    cookies = Cookies("http://h")
    settings = Settings(dsn="host=127.0.0.1 port=1", read_dsn="host=127.0.0.1 port=1")

    async def change() -> None:
        reader = Reader(cast(Database, Away()), settings, cookies)
        session = f"{cookies.session}={'x' * 43}"
        request = Request({"type": "http", "method": "POST", "headers": [(b"cookie", session.encode())]})
        made = await reader.remember(request)
        assert made is not None
        assert reader._must_be_new(Headers({"cookie": made.partition(";")[0]}))

    asyncio.run(change())
