"""Pages that refresh themselves, in a real browser whose clock the test sets."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.calls import Calls
from tests.service.conftest import SETUP, Running, Start, free_port
from tests.service.pages.conftest import BASE, Tab, logged_in

JOB = f"{BASE}/jobs/6000000000"
Watch = Callable[..., "Watched"]
STATUS = ".top [role=status]"


class Watched:
    """A page, its clock, and the number of the script's requests for it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.asked = 0
        self._open: set[Any] = set()
        page.on("request", self._count)
        page.on("requestfinished", self._end)
        page.on("requestfailed", self._end)
        page.clock.install()

    def _count(self, request: Any) -> None:
        if request.resource_type == "fetch":
            self.asked += 1
            self._open.add(request)

    def _end(self, request: Any) -> None:
        self._open.discard(request)

    def look(self, path: str) -> "Watched":
        self.page.goto(path)
        self.asked = 0
        return self

    def wait(self, seconds: float) -> None:
        """Advance the page's clock, and wait until the answers to its requests arrive."""
        for _ in range(int(seconds)):
            self.page.clock.run_for(1000)
            self.page.wait_for_timeout(20)
            while self._open:
                self.page.wait_for_timeout(20)

    def hide(self, hidden: bool) -> None:
        self.page.evaluate(
            """hidden => {
                 Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
                 document.dispatchEvent(new Event("visibilitychange"));
               }""",
            hidden,
        )


@pytest.fixture
def watched(tab: Tab, filled: Calls) -> Watch:
    """A function that opens a page whose clock the test sets."""
    return lambda path, **options: Watched(tab(**options)).look(path)


def hold(q: Calls) -> None:
    q.connection.execute("select taskqueue.hold(%s, 'job', '6000000000')", [SETUP])


def test_a_change_is_shown_without_a_reload(watched: Watch, filled: Calls) -> None:
    """The change is shown once, without a message to a screen reader; browser history and title stay the same."""
    one = watched(JOB)
    assert one.page.get_by_role("button", name="Pause").is_visible()
    assert one.page.get_by_role("link", name="Resume").count() == 0
    before = one.page.evaluate("history.length")
    hold(filled)
    one.wait(7)
    assert one.page.get_by_role("link", name="Resume").count() == 1
    assert one.page.evaluate("history.length") == before
    assert one.asked == 1
    assert one.page.locator("main [aria-live], main[aria-live]").count() == 0
    assert one.page.locator(STATUS).inner_text() == ""
    one.wait(60)
    assert 2 < one.asked <= 13, "each 5 s, and less often where answers are slow"


def test_live_requests_may_be_read_on_a_standby(watched: Watch) -> None:
    """broker.service.reader: `no-cache` in a request leads to the primary."""
    one = watched(JOB)
    with one.page.expect_request(lambda request: request.resource_type == "fetch") as asked:
        one.wait(7)
    headers = asked.value.all_headers()
    assert headers["sec-fetch-dest"] == "empty"
    assert "cache-control" not in headers and "pragma" not in headers


def test_a_hidden_page_asks_for_nothing(watched: Watch, filled: Calls) -> None:
    one = watched(JOB)
    one.hide(True)
    hold(filled)
    one.wait(120)
    assert one.asked == 0
    one.hide(False)
    one.wait(2)
    assert one.asked == 1
    assert one.page.get_by_role("link", name="Resume").count() == 1


def test_a_pause_is_remembered_by_the_browser(watched: Watch, filled: Calls) -> None:
    """The button is the last stop of the keyboard before the main part."""
    one = watched(JOB)
    one.page.get_by_role("button", name="Pause").focus()
    one.page.keyboard.press("Enter")
    one.wait(60)
    assert one.asked == 0
    one.look(f"{BASE}/jobs").wait(60)
    assert one.asked == 0
    one.page.get_by_role("button", name="Go on").focus()
    one.page.keyboard.press("Space")
    one.wait(2)
    assert one.asked == 1
    assert one.page.get_by_role("button", name="Pause").is_visible()


def test_a_person_who_works_in_the_page_is_not_disturbed(watched: Watch, filled: Calls) -> None:
    one = watched(f"{BASE}/jobs")
    field = one.page.get_by_label("Owner", exact=True)
    field.focus()
    one.wait(60)
    assert one.asked == 0
    assert one.page.evaluate("document.activeElement.name") == "owner"
    field.fill("alice")
    field.evaluate("field => field.blur()")
    one.wait(60)
    assert (one.asked, field.input_value()) == (0, "alice")
    field.fill("")
    field.evaluate("field => field.blur()")
    one.page.evaluate("getSelection().selectAllChildren(document.querySelector('main td'))")
    one.wait(60)
    assert one.asked == 0
    one.page.evaluate("getSelection().removeAllRanges()")
    one.wait(15)
    assert one.asked >= 1
    one.page.get_by_role("link", name="Jobs", exact=True).focus()  # outside of the main part
    asked = one.asked
    one.wait(30)
    assert one.asked > asked
    assert one.page.evaluate("document.activeElement.textContent") == "Jobs"


def test_scroll_positions_and_open_parts_are_kept(watched: Watch, filled: Calls) -> None:
    [(task,)] = filled.rows(
        "select min(task_id) from monitor.task_decision where setup = %s and algorithm <> 'production_task'"
        " and rejected > 3", SETUP,
    )  # fmt: skip
    one = watched(f"{BASE}/tasks/{task}", width=360)
    one.page.locator("details:has(.matrix) > summary").first.click()
    one.page.evaluate("document.activeElement.blur()")
    table, part = (f"document.querySelector('{one}:has(.matrix)')" for one in (".scroll", "details"))
    one.page.evaluate(f"{table}.scrollLeft = 40; scrollTo(0, 300)")
    places = f"[{table}.scrollLeft, scrollY, {part}.open]"
    before = one.page.evaluate(places)
    assert before == [40, 300, True]
    filled.connection.execute("update workload.task set current_priority = 4321 where task_id = %s", [task])
    one.wait(15)
    assert one.page.get_by_text("4321").count() or one.page.get_by_text("4,321").count()
    assert one.page.evaluate(places) == before


def test_an_expired_session_leads_to_the_login(watched: Watch, filled: Calls) -> None:
    one = watched(f"{BASE}/jobs?status=waiting")
    rows = one.page.locator("tbody tr").count()
    filled.connection.execute("select resource.revoke_sessions(%s, 'a operator')", [SETUP])
    filled.connection.execute("delete from resource.browser_session")
    one.wait(15)
    assert "You are logged out. The figures are from" in one.page.locator(STATUS).inner_text()
    assert one.page.locator("tbody tr").count() == rows
    link = one.page.locator(f"{STATUS} a")
    assert link.get_attribute("href") == "/login?to=%2Fsetups%2Fdefault%2Fjobs%3Fstatus%3Dwaiting"
    link.click()
    assert one.page.get_by_role("heading", level=1).inner_text() == "Log in to pgbroker"


@pytest.mark.thorough
def test_pages_that_do_not_change_ask_for_nothing(watched: Watch, filled: Calls) -> None:
    task = filled.value("select min(task_id) from monitor.task_decision where setup = %s", SETUP)
    for path in (f"/tasks/{task}?now=1", "/what-if", "/act?do=hold-job&of=1"):
        one = watched(BASE + path)
        one.wait(40)
        assert one.asked == 0
        assert one.page.locator(".live").is_hidden()


@pytest.fixture
def restarted(start: Start) -> Start:
    """A function that starts the service on the same port each time."""
    return partial(start, url=f"http://127.0.0.1:{free_port()}")


def test_a_lost_service_is_named_and_its_return_is_seen(chromium: Any, restarted: Start, filled: Calls) -> None:
    service = restarted()
    context = chromium.new_context(base_url=service.url, viewport={"width": 1280, "height": 900})
    name = f"pgbroker-{service.url.rpartition(':')[2]}"
    context.add_cookies([{"name": name, "value": logged_in(filled.connection, "operator"), "url": service.url}])
    one = Watched(context.new_page()).look(JOB)
    assert one.page.get_by_role("heading", level=1).inner_text().split() == ["Job", "6000000000", "waiting"]
    service.close()
    one.wait(8)
    words = one.page.locator(STATUS).inner_text()
    assert words.startswith("The service does not answer. The figures are from ")
    assert words.endswith(" UTC.")
    assert one.page.get_by_role("heading", level=1).inner_text().split() == ["Job", "6000000000", "waiting"]
    one.wait(20)
    assert one.page.locator(STATUS).inner_text() == words
    hold(filled)
    restarted()
    for _ in range(5):
        one.wait(10)
    assert one.page.locator(STATUS).inner_text() == ""
    assert one.page.get_by_role("link", name="Resume").count() == 1
    context.close()


def test_the_files_that_pages_ask_for_exist(service: Running, tab: Tab, filled: Calls) -> None:
    """A browser that opens a page asks for nothing that is missing."""
    page = tab(scripts=False)
    missing: list[str] = []
    page.on("response", lambda answer: missing.append(answer.url) if answer.status >= 400 else None)
    page.goto(BASE)
    assert missing == []
    assert page.locator(".live").is_hidden()
    for file, kind in (
        ("live.js", "text/javascript"),
        ("app.js", "text/javascript"),
        ("favicon.svg", "image/svg+xml"),
        ("style.css", "text/css"),
    ):
        answer = page.request.get(f"/pages/{file}")
        assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, kind)
        assert answer.headers["x-content-type-options"] == "nosniff"
