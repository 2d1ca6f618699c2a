"""The service at a front: each request is served by the shard of its setup."""

import re
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from broker.cluster.move import move
from broker.database import Target
from broker.operate import loops
from broker.service.login.cookies import csrf
from broker.service.settings import Login, Settings
from tests.calls import SERVICE_PASSWORD, let_the_service_log_in, requirements, resource
from tests.cluster.front.conftest import SETUPS, Cluster, Placed, changed
from tests.commands import commands
from tests.cookies import by_ticket
from tests.service.conftest import Db, Running, bearer, free_port, wait_until
from tests.service.issuer import AUDIENCE, CLIENT, SECRET, Issuer
from tests.service.sessions.conftest import Browser, forms

MOVED_JOBS = 1500

Callers = Callable[..., "Caller"]


def service_dsn(cluster: Cluster) -> str:
    """The DSN of the service's login, which has the same password on all servers."""
    for dsn in (cluster.front, *cluster.shards.values()):
        with psycopg.connect(dsn, autocommit=True) as server:
            let_the_service_log_in(server)
    return changed(cluster.front, user="broker_service", password=SERVICE_PASSWORD)


@pytest.fixture(scope="module")
def running(cluster: Cluster) -> Iterator[Running]:
    """A service at the front."""
    started = Running(Settings(dsn=service_dsn(cluster), setup="north", connections=4))
    yield started
    started.close()


class Caller:
    """A caller of the service in one setup, with its own token."""

    def __init__(self, front: Db, url: str, setup: str, kind: str = "operator") -> None:
        self.setup = setup
        query = "select token from resource.make_token(%s, %s, %s)"
        [(token,)] = front.execute(query, [setup, kind, kind]).fetchall()
        base = f"{url}/api/v1/setups/{setup}"
        self.client = httpx.Client(base_url=base, headers=bearer(token), timeout=60, trust_env=False)

    def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        return self.client.post(path, json=body, headers=headers)

    def submit(self, *jobs: int, site: str = "NORTH") -> httpx.Response:
        keys = requirements(Sites=site)
        return self.post("/jobs", [{"job_id": job, "requirements": keys, "payload": {"n": job}} for job in jobs])

    def match(self, site: str = "NORTH", wait: float = 0) -> httpx.Response:
        """A match, repeated with the same key until the service answers it."""
        key, until = str(uuid.uuid4()), time.monotonic() + 60
        while True:
            body = {"resources": [resource(Site=site)], "wait": wait}
            answer = self.post("/match", body, **{"Idempotency-Key": key})
            if answer.status_code != 503 or time.monotonic() > until:
                return answer
            time.sleep(0.1)

    def job(self) -> int:
        answer = self.match()
        assert answer.status_code == 200, answer.text
        return int(answer.json()["matches"][0]["job_id"])


def _move(cluster: Cluster, front: Db, setup: str, shard: str, **more: Any) -> None:
    move(front, Target(cluster.front, "--dsn"), setup, shard, **more)


def _use_ticket(running: Running, ticket: str) -> httpx.Response:
    """Log in with a ticket, as a browser does."""
    with httpx.Client(base_url=running.url) as client:
        asked = client.post("/login/ticket", data={"ticket": ticket})
        cookies = "; ".join(f"{one.name}={one.value}" for one in client.cookies.jar)
        fields = forms(asked)["/login/ticket"]
        return client.post("/login/ticket", data=fields, headers={"Cookie": cookies})


@pytest.fixture
def caller(front: Db, running: Running) -> Iterator[Callers]:
    """A function that makes a caller of a setup."""
    made: list[Caller] = []

    def make(setup: str, kind: str = "operator") -> Caller:
        made.append(Caller(front, running.url, setup, kind))
        return made[-1]

    yield make
    for one in made:
        one.client.close()


@pytest.mark.parametrize("shard", SETUPS.values())
def test_agents_work_in_a_setup_of_each_shard(shard: str, placed: Placed, caller: Callers, front: Db) -> None:
    setup = placed(shard)
    operator, agent = caller(setup), caller(setup, "agent")
    assert operator.submit(1, 2).status_code == 200
    match = agent.match().json()["matches"][0]
    about = {"job_id": match["job_id"], "attempt": match["attempt"]}
    assert agent.post("/jobs/report", [about]).json()[0]["action"] == "continue"
    assert agent.post("/jobs/finish", [{**about, "outcome": "finished"}]).json()[0]["outcome"] == "finished"
    assert operator.client.get(f"/jobs/{match['job_id']}").json()["status"] == "finished"
    assert operator.client.get(f"/jobs/{3 - match['job_id']}/why").status_code == 200
    found = operator.post("/jobs/search", {"parameters": ["job_id"]}).json()
    assert {row["job_id"] for row in found["rows"]} == {1, 2}
    states = "select job_id, status from monitor.listed_job where setup = %s order by 1"
    assert len(front.execute(states, [setup]).fetchall()) == 2


def test_a_credential_counts_in_its_own_setup_only(placed: Placed, caller: Callers, running: Running) -> None:
    """A stranger gets the same refusal for a setup on the same shard, on another shard, or on none."""
    here = caller(placed("a"))
    assert here.client.get("/jobs/1").status_code == 404
    for other in (placed("b"), "placed nowhere"):
        answer = here.client.get(f"{running.url}/api/v1/setups/{other}/jobs/1")
        assert (answer.status_code, answer.json()["code"]) == (401, "PB008"), other
    answer = here.client.get(f"{running.url}/api/v1/setups/{placed('a')}/jobs/1")
    assert (answer.status_code, answer.json()["code"]) == (403, "PB002")


def test_a_pilot_gets_a_token(placed: Placed, front: Db, running: Running) -> None:
    setup = placed("b")
    [(secret,)] = front.execute("select secret from resource.make_secret(%s, 'stamp', 5)", [setup]).fetchall()
    url = f"{running.url}/api/v1/setups/{setup}"
    answer = httpx.post(f"{url}/tokens", json={"stamp": "stamp", "secret": secret})
    assert answer.status_code == 200, answer.text
    body = {"resources": [resource()]}
    assert httpx.post(f"{url}/match", json=body, headers=bearer(answer.json()["access_token"])).status_code == 204


def test_a_service_at_a_front_has_metrics_and_is_ready(running: Running) -> None:
    text = httpx.get(f"{running.url}/metrics").text
    assert "pgbroker_database_up 1.0" in text
    failed = re.findall(r'pgbroker_view_read_failed\{view="(\w+)"\} (\S+)', text)
    assert len(failed) > 5 and {value for _, value in failed} == {"0.0"}
    assert 'setup="north"' in text
    assert httpx.get(f"{running.url}/healthz/ready").status_code == 200


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    """A provider for people."""
    running = Issuer()
    yield running
    running.close()


@pytest.fixture
def browser(cluster: Cluster, issuer: Issuer) -> Iterator[Browser]:
    """A browser for a service at the front, to which people log in."""
    running = Running(
        Settings(
            dsn=service_dsn(cluster), setup="north", issuers=(issuer.url,), audience=AUDIENCE, connections=2,
            url=f"http://127.0.0.1:{free_port()}",
            login=Login(issuer=issuer.url, client_id=CLIENT, client_secret=SECRET),
        )
    )  # fmt: skip
    found = Browser(running.url)
    wait_until(lambda: [found.get("/session").status_code for _ in range(3)] == [401] * 3)
    yield found
    found.client.close()
    running.close()


def _let_in(front: Db, issuer: Issuer, setup: str, kind: str) -> None:
    values = [setup, "people", kind, issuer.url, "alice"]
    front.execute("select from resource.set_credential(%s, %s, %s, p_issuer => %s, p_subject => %s)", values)


def test_a_person_has_one_session_for_all_shards(front: Db, issuer: Issuer, browser: Browser, placed: Placed) -> None:
    north, south, strange = placed("a"), placed("b"), placed("c")
    _let_in(front, issuer, north, "operator")
    _let_in(front, issuer, south, "viewer")
    assert browser.log_in("/session").status_code == 303
    who = browser.session()
    assert {one["setup"]: one["kind"] for one in who["setups"]} == {north: "operator", south: "viewer"}
    assert not who["is_partial"]
    for setup in (north, south):
        for page in ("", "/jobs", "/task-queues", "/history", "/settings"):
            answer = browser.get(f"/setups/{setup}{page}")
            assert answer.status_code == 200 and f"{issuer.url} alice" in answer.text, (setup, page)
        assert browser.get("/").text.count(setup) >= 1
    assert browser.get(f"/setups/{strange}").status_code == 303
    assert browser.match(south).status_code == 403
    assert browser.match(north).status_code == 204
    sessions = "select setup, kind from monitor.browser_session where subject = %s order by 1"
    held = dict(front.execute(sessions, [f"{issuer.url} alice"]).fetchall())
    assert held == {north: "operator", south: "viewer"}

    assert front.execute("select resource.revoke_sessions(%s, %s)", [south, f"{issuer.url} alice"]).fetchone() == (1,)
    assert browser.get(f"/api/v1/setups/{south}/jobs/1").status_code == 401
    assert browser.get(f"/api/v1/setups/{north}/jobs/1").status_code == 404
    left = browser.post("/logout", forms(browser.get("/login"))["/logout"])
    assert (left.status_code, left.headers["Location"]) == (303, "/login")
    assert browser.session() is None
    assert front.execute(sessions, [f"{issuer.url} alice"]).fetchall() == []


def test_a_person_without_a_credential_opens_no_session(front: Db, issuer: Issuer, browser: Browser) -> None:
    issuer.person = {"sub": "mallory"}
    refused = browser.log_in()
    assert refused.status_code == 403 and "no credential fits" in refused.text
    assert browser.session() is None


def test_a_ticket_is_used_where_it_was_made(front: Db, running: Running, placed: Placed) -> None:
    setup = placed("b")
    [(ticket,)] = front.execute("select ticket from resource.make_ticket(%s, 'me', 'operator')", [setup]).fetchall()
    assert [_use_ticket(running, ticket).status_code for _ in range(2)] == [303, 401]


def test_a_change_from_a_page_is_kept_on_the_shard(
    cluster: Cluster, front: Db, running: Running, placed: Placed, caller: Callers
) -> None:
    setup = placed("b")
    assert caller(setup).submit(1).status_code == 200
    with psycopg.connect(cluster.shards["b"], autocommit=True) as shard:
        cookie = by_ticket(shard, setup, "me", "operator")
    with httpx.Client(base_url=running.url, headers={"Cookie": f"__Host-pgbroker={cookie}"}, timeout=30) as browser:
        asked = {"do": "hold-job", "of": "1"}
        assert browser.get(f"/setups/{setup}/act", params=asked).status_code == 200
        done = browser.post(f"/setups/{setup}/act", data={**asked, "csrf": csrf(cookie)})
        assert done.status_code == 303
        assert "Job 1 is held." in browser.get(done.headers["Location"]).text
    changes = "select subject, before, after from monitor.change where setup = %s and object = 'job'"
    assert front.execute(changes, [setup]).fetchall() == [("browser me", {"held": False}, {"held": True})]


def test_agents_of_the_service_go_on_while_their_setup_moves(
    cluster: Cluster, front: Db, placed: Placed, caller: Callers
) -> None:
    """Agents that match and agents that wait for jobs continue on the new shard; each job is matched once."""
    setup = placed("a")
    operator = caller(setup)
    for first in range(1, MOVED_JOBS, 500):
        assert operator.submit(*range(first, first + 500)).status_code == 200
    got: list[int] = []
    wrong: list[object] = []
    late: list[int] = []
    moved = threading.Event()

    def agent(one: Caller) -> None:
        while True:
            answer = one.match()
            if answer.status_code != 200:
                if answer.status_code != 204:
                    wrong.append(answer.text)
                return
            got.append(answer.json()["matches"][0]["job_id"])
            if not moved.is_set():
                time.sleep(0.02)  # enough jobs are left for the time after the move

    def waiting(one: Caller) -> None:
        answer = one.match("LATER", wait=30)
        if answer.status_code != 200:
            wrong.append(answer.text)
        else:
            late.append(answer.json()["matches"][0]["job_id"])

    agents = [caller(setup, "agent") for _ in range(6)]
    threads = [threading.Thread(target=agent if n < 4 else waiting, args=(one,)) for n, one in enumerate(agents)]
    for thread in threads:
        thread.start()
    while len(got) < 100 and not wrong:
        time.sleep(0.01)
    _move(cluster, front, setup, "b")
    matched = len(got)
    moved.set()
    assert operator.submit(9001, 9002, site="LATER").status_code == 200
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert wrong == []
    assert matched < MOVED_JOBS
    assert Counter(got) == Counter(range(1, MOVED_JOBS + 1))
    assert sorted(late) == [9001, 9002]


def test_agents_go_on_while_the_front_is_away(
    cluster: Cluster, placed: Placed, caller: Callers, running: Running
) -> None:
    """The worker remembers the shards of its known setups; it cannot find other setups."""
    known, unknown = caller(placed("a")), caller(placed("a"))
    assert known.submit(*range(1, 20)).status_code == 200
    name = str(conninfo_to_dict(cluster.front)["dbname"])
    with psycopg.connect(changed(cluster.front, dbname="postgres"), autocommit=True) as server:
        allow = sql.SQL("alter database {} allow_connections {}")
        server.execute(allow.format(sql.Identifier(name), sql.SQL("false")))
        try:
            server.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s and usename = %s",
                [name, "broker_service"],
            )
            assert known.job() in range(1, 20)
            refused = unknown.post("/match", {"resources": [resource()]})
            assert (refused.status_code, "Retry-After" in refused.headers) == (503, True)
            with psycopg.connect(cluster.shards["a"], autocommit=True) as shard:  # so that the worker looks again
                shard.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity"
                    " where datname = current_database() and usename = 'broker_service'"
                )
            wait_until(lambda: known.job() in range(1, 20))
            known.client.headers = bearer("a" * 64)
            assert known.post("/match", {"resources": [resource()]}).status_code == 401
            del known.client.headers["Authorization"]
            assert known.post("/match", {"resources": [resource()]}).status_code == 401
        finally:
            server.execute(allow.format(sql.Identifier(name), sql.SQL("true")))
    wait_until(lambda: unknown.post("/match", {"resources": [resource()]}).status_code == 204)
    assert httpx.get(f"{running.url}/healthz/ready").status_code == 200


def test_a_move_uses_up_neither_secrets_nor_tickets(
    cluster: Cluster, front: Db, placed: Placed, running: Running
) -> None:
    """The old shard uses up neither a secret nor a ticket; after the move both are valid on the new shard."""
    setup = placed("a")
    [secret] = front.execute("select secret from resource.make_secret(%s, 'stamp', 2)", [setup]).fetchone() or [""]
    [ticket] = front.execute("select ticket from resource.make_ticket(%s, 'me', 'viewer')", [setup]).fetchone() or [""]
    url, body = f"{running.url}/api/v1/setups/{setup}", {"stamp": "stamp", "secret": secret}
    assert httpx.post(f"{url}/tokens", json=body).status_code == 200  # the worker knows the setup on shard a
    statuses: list[int] = []

    def ask(step: str) -> None:
        if step in ("mark", "copy", "hand over"):
            statuses.append(httpx.post(f"{url}/tokens", json=body).status_code)
            statuses.append(_use_ticket(running, ticket).status_code)

    _move(cluster, front, setup, "b", step=ask)
    assert statuses == [503] * 6
    answer = httpx.post(f"{url}/tokens", json=body)
    assert answer.status_code == 200, answer.text
    match = {"resources": [resource()]}
    assert httpx.post(f"{url}/match", json=match, headers=bearer(answer.json()["access_token"])).status_code == 204
    assert httpx.post(f"{url}/tokens", json=body).status_code == 401  # both uses of the secret are spent
    assert _use_ticket(running, ticket).status_code == 303


def test_reads_never_find_a_moved_setup_empty(cluster: Cluster, front: Db, placed: Placed, caller: Callers) -> None:
    """A worker that does not know of a move reads on the shard of the setup, or refuses."""
    setup = placed("a")
    viewer = caller(setup)
    assert viewer.submit(1, 2, 3).status_code == 200
    seen: list[tuple[int, Any]] = []

    def look(_: str) -> None:
        seen.append((viewer.client.get("/jobs/1").status_code, None))
        found = viewer.post("/jobs/search", {"parameters": ["job_id"]})
        seen.append((found.status_code, found.json().get("rows")))

    for shard in ("b", "a"):
        _move(cluster, front, setup, shard, step=look)
        look("moved")
    assert {status for status, _ in seen} <= {200, 503}
    assert [rows for _, rows in seen if rows is not None and len(rows) != 3] == []
    wait_until(lambda: viewer.client.get("/jobs/1").status_code == 200)


def test_metrics_follow_a_setup_that_moves(cluster: Cluster, front: Db, placed: Placed) -> None:
    """No refused request tells the worker of the move, so it checks by itself where its setups are."""
    setup = placed("a")
    front.execute("select taskqueue.set_settings(%s, '{}')", [setup])
    with psycopg.connect(cluster.shards["a"], autocommit=True) as shard:
        loops.sample(shard, setup)
    running = Running(Settings(dsn=service_dsn(cluster), setup=setup, connections=2))
    try:
        sampled = f'pgbroker_sample_timestamp_seconds{{setup="{setup}"}}'
        wait_until(lambda: sampled in httpx.get(f"{running.url}/metrics", timeout=30).text)
        _move(cluster, front, setup, "b")
        worker = running.app._worker  # type: ignore[attr-defined]
        wait_until(lambda: worker._placed[setup].name == "shard b")
        wait_until(lambda: sampled in httpx.get(f"{running.url}/metrics", timeout=30).text)
    finally:
        running.close()


def test_a_move_gives_nobody_more_rights(
    cluster: Cluster, front: Db, issuer: Issuer, browser: Browser, placed: Placed
) -> None:
    """A session keeps the claims that its old shard needed, and may be revoked on the new one: it ends there."""
    moving, other = placed("a"), placed("b")
    credential = "select from resource.set_credential(%s, %s, %s, p_issuer => %s, p_claim => %s, p_value => %s)"
    front.execute(credential, [moving, "all", "operator", issuer.url, None, None])
    front.execute(credential, [moving, "trainees", "viewer", issuer.url, "groups", "/trainees"])
    front.execute(credential, [other, "all", "viewer", issuer.url, None, None])
    issuer.person = {"sub": "bob", "groups": ["/trainees"]}

    def kinds() -> dict[str, str]:
        who = browser.session()
        return {one["setup"]: one["kind"] for one in who["setups"]} if who else {}

    browser.log_in()
    assert kinds() == {moving: "viewer", other: "viewer"}
    revoke = "select resource.revoke_sessions(%s, %s)"
    assert front.execute(revoke, [moving, f"{issuer.url} bob"]).fetchone() == (1,)
    assert kinds() == {other: "viewer"}
    _move(cluster, front, moving, "b")
    assert kinds() == {}
    browser.log_in()
    assert kinds() == {moving: "viewer", other: "viewer"}


def test_a_front_has_no_standby_to_read(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = commands(service_dsn(cluster), monkeypatch)("serve", "--read", cluster.shards["a"])
    assert refused.code == 1 and "--read is for one database and its standby" in refused.err
