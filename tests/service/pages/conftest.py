"""A setup that has content for each page, and people who look at it."""

import re
import shutil
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from psycopg.types.json import Jsonb

from broker import world
from broker.laboratory import grid
from broker.operate import loops
from broker.service.login.cookies import csrf
from tests.calls import Calls
from tests.cookies import by_ticket
from tests.reused import Fill, Reused
from tests.service.conftest import SETUP, Db, Running, Token, bearer, insert_jobs

BASE = f"/setups/{SETUP}"
NOTHING = "/jobs/77"
AXE = "axe_playwright_python.sync_playwright"
HOSTILE = "</td><script>alert(2)</script>&"
REFUSED = (NOTHING, "/act", "&value=-7")  # the browser logs each refusal
"""A page that is not there."""

Look = Callable[..., httpx.Response]
People = Callable[[str], "Person"]
Tab = Callable[..., Any]


def fill(db: Db) -> None:
    """The setup `default` with a grid, brokered tasks, TaskQueues, leases, ends, limits and a sample of figures."""
    world.load(db, [grid.grid(1, 10, 10)], SETUP)
    db.execute("call brokerage.broker_tasks('default', p_seed => 1)")
    db.execute("call brokerage.broker_jobs('default', p_seed => 1)")
    db.execute("call brokerage.broker_analysis('default', p_seed => 1)")
    world.load(db, [{"instance_types": {"c5.large": {"cpu": 2, "ram": 4096, "price": 0.5}}}], SETUP, merge=True)
    db.execute('select instance.add_steps(\'default\', \'[{"cpu": 1, "ram": 1000}, {"cpu": 2, "ram": 99}]\')')
    db.execute("select instance.schedule_task('default', null)")
    db.execute("select brokerage.set_profile('acme', 'panda2026', 'for tests')")
    db.execute("select brokerage.set_rule('acme', 'top-10', '{\"parameters\": {\"best\": 7}}')")
    insert_jobs(db, 60, 5_000_000_001)
    q = Calls(db, SETUP)
    q.insert(6_000_000_000, OwnerDN="</td><script>alert(1)</script>", OwnerGroup="a & b", Sites=["NORTH"])
    q.insert(6_000_000_001, Sites=["SOUTH"])
    db.execute("select taskqueue.set_limit('default', 'running', 'NORTH', null, 'JobType', 'MC', 3)")
    first, second = q.take(Site="NORTH", CPUTime=10**6), q.take(Site="NORTH", CPUTime=10**6)
    q.call("report_job", first.job_id, first.attempt)
    error = [{"source": "pilot", "code": 1305, "text": f"{HOSTILE} failed"}]
    q.call("finish_job", second.job_id, second.attempt, "failed", Jsonb(error), Jsonb({"ram": 9, "cpu": 5}), HOSTILE)
    q.call("set_quarantine", "host", "NORTH", HOSTILE, f"{HOSTILE} is broken")
    db.execute("insert into taskqueue.health values ('default', 'host', 'NORTH', %s, 12, 6, 5, 0.2, now())", [HOSTILE])
    db.execute("update taskqueue.resource_seen set seen_at = seen_at - interval '1 minute'")
    q.maintain()
    loops.summarize(db, SETUP)
    db.execute("update taskqueue.history set at = at - interval '1 minute'")
    db.execute("update taskqueue.ended set ended_at = ended_at - interval '1 minute'")
    assert loops.sample(db, SETUP)


@pytest.fixture
def content(request: pytest.FixtureRequest) -> Fill | None:
    """The content of the database of tests that have the fixture `filled`."""
    return fill if "filled" in request.fixturenames else None


@pytest.fixture
def filled(db: Db, reused: Reused | None) -> Calls:
    """The setup `default` with content for each page (fill)."""
    if reused is None:
        fill(db)
    return Calls(db, SETUP)


@pytest.fixture
def look(service: Running, token: Token, filled: Calls) -> Iterator[Look]:
    """A function that opens a page of the setup: look('/jobs', kind='operator', status='waiting')."""
    tokens: dict[str, str] = {}
    with httpx.Client(timeout=60) as client:

        def get(path: str, kind: str = "viewer", **query: object) -> httpx.Response:
            tokens.setdefault(kind, token(kind, f"a {kind}"))
            return client.get(f"{service.url}/setups/{SETUP}{path}", params=query or None, headers=bearer(tokens[kind]))  # type: ignore[arg-type]

        yield get


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser without a window. It ends with its module: its event loop would disturb other loops in this thread."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no chromium")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
    arguments += ["--disable-background-networking", "--disable-component-update"]
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


def faults(page: Any) -> list[tuple[str, str]]:
    """Findings of the tool axe on a page, each with its place, and whether the page is wider than the screen."""
    axe = pytest.importorskip(AXE, reason="axe-playwright-python is not installed")
    found = [(one["id"], one["nodes"][0]["html"][:200]) for one in axe.Axe().run(page).response["violations"]]
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return found + [("wider than the screen", page.url)] * wide


def logged_in(db: Db, kind: str) -> str:
    """The cookie of somebody who is logged in."""
    return by_ticket(db, SETUP, f"a {kind}", kind)


FIELD = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)">')


def hidden(page: str) -> dict[str, str]:
    """The hidden fields of the form in the main part of a page."""
    return {unescape(name): unescape(value) for name, value in FIELD.findall(page.partition("<main")[2])}


class Person:
    """A browser that is logged in, by its cookie."""

    def __init__(self, db: Db, service: Running, kind: str) -> None:
        self.cookie = logged_in(db, kind)
        self.client = httpx.Client(
            base_url=service.url, timeout=60, headers={"Cookie": f"__Host-pgbroker={self.cookie}"}
        )

    def look(self, path: str) -> httpx.Response:
        return self.client.get(f"{BASE}{path}")

    def act(self, do: str, of: object, **more: str) -> httpx.Response:
        """Press the button on the page that asks for confirmation."""
        page = self.client.get(f"{BASE}/act", params={"do": do, "of": str(of)})
        assert page.status_code == 200, page.text
        fields = hidden(page.text)
        assert fields == {"do": do, "of": str(of), "csrf": csrf(self.cookie)}
        return self.follow(self.client.post(f"{BASE}/act", data=fields | more))

    def follow(self, answer: httpx.Response) -> httpx.Response:
        """The page to which a form leads, or its own answer."""
        return self.client.get(answer.headers["Location"]) if answer.status_code == 303 else answer


@pytest.fixture
def person(db: Db, service: Running) -> People:
    """A function that logs in somebody: person('viewer')."""
    return lambda kind: Person(db, service, kind)


@pytest.fixture
def tab(chromium: Any, service: Running, db: Db) -> Iterator[Tab]:
    """A function that opens a tab for somebody: tab(width, 'dark', kind='viewer'). The tab may ask only the service."""
    opened: list[Any] = []
    asked: set[str] = set()
    trouble: list[str] = []

    def make(width: int = 1280, scheme: str = "light", scripts: bool = True, kind: str = "operator") -> Any:
        context = chromium.new_context(
            base_url=service.url, viewport={"width": width, "height": 900}, color_scheme=scheme,
            java_script_enabled=scripts,
        )  # fmt: skip
        # the name of a secure cookie, which a browser sends to this machine even without TLS
        url = service.url.replace("http:", "https:")
        context.add_cookies([{"name": "__Host-pgbroker", "value": logged_in(db, kind), "url": url, "secure": True}])
        opened.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.add(urlsplit(request.url).netloc))
        page.on("console", lambda message: trouble.append(message.text) if not page.url.endswith(REFUSED) else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        return page

    yield make
    for context in opened:
        context.close()
    assert asked <= {urlsplit(service.url).netloc}
    assert trouble == []
