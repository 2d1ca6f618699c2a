"""Pages in a real browser: accessible, on small and large screens, without scripts, with nothing from outside.

They are skipped without Debian's chromium and the packages playwright and axe-playwright-python.
"""

import json
from urllib.parse import quote, urlsplit

import pytest

from broker.service.pages.frame import GROUPS
from tests.calls import Calls
from tests.service.conftest import SETUP
from tests.service.pages.conftest import AXE, BASE, HOSTILE, NOTHING, Tab, faults
from tests.service.pages.test_pages import PATHS

pytest.importorskip(AXE, reason="axe-playwright-python is not installed")

PAGES = (*(path for path in PATHS if path != "/profile"), "/profile?profile=acme", "/changes")
SIZE = "/act?do=set-setting&of=taskqueue.queue_size"
WIDTHS = (360, 390, 768, 1024, 1280, 1600, 1920)
EXAMINED = (360, 1600)
SCREENS = tuple((width, scheme) for width in EXAMINED for scheme in ("light", "dark"))
OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"


def paths(q: Calls) -> list[str]:
    """The paths of the pages, with one object of each kind."""
    [(task,)] = q.rows("select min(task_id) from monitor.task_decision where setup = %s and rejected > 3", SETUP)
    queue = q.value("select min(queue) from monitor.queue where setup = %s", SETUP)
    job = q.value("select min(job_id) from monitor.lease where setup = %s", SETUP)
    return [
        *PAGES, "/jobs/6000000000", f"/jobs/{job}", "/task-queues/1", "/tasks?order=failing", f"/tasks/{task}",
        f"/tasks/{task}?now=1", f"/queues/{queue}", "/sites/NORTH", "/act?do=cancel-job&of=6000000000", NOTHING,
        "/runs/1", "/instances/1", "/limits/1", f"{SIZE}", f"{SIZE}&value=7", "/act?do=add-limit&of=NORTH",
        "/act?do=remove-limit&of=1", "/act?do=set-quarantine&of=NORTH",
        "/act?do=set-quarantine&of=NORTH&kind=host&name=n1&why=disk",
        f"/act?do=lift-quarantine&of=host/NORTH/{quote(quote(HOSTILE, safe=''))}",
    ]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_page_is_accessible_and_fits_each_screen(tab: Tab, filled: Calls, scheme: str) -> None:
    """The tool axe finds nothing on a phone and on a wide screen, also in folded parts, and no page is wider than a
    screen. A page is loaded once for all widths."""
    page = tab(WIDTHS[0], scheme)
    wrong = []
    for path in paths(filled):
        answer = page.goto(BASE + path)
        assert answer.status == (404 if path == NOTHING else 200), path
        page.evaluate(OPEN)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            if width in EXAMINED:
                wrong += [(path, width, *one) for one in faults(page)]
            elif page.evaluate("document.documentElement.scrollWidth") > width:
                wrong.append((path, width, "wider than the screen", ""))
        page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    assert wrong == []


@pytest.mark.parametrize("scripts", [True, False])
def test_the_pages_are_a_drawer_on_a_phone(tab: Tab, filled: Calls, scripts: bool) -> None:
    """It opens by its button, also without scripts, and closes by Escape; the focus goes back to the button."""
    page = tab(390, scripts=scripts)
    page.goto(BASE)
    menu, button = page.get_by_role("navigation", name="Pages"), page.get_by_role("button", name="Pages")
    assert menu.count() == 0  # hidden
    button.press("Enter")
    assert menu.get_by_role("link", name="Sites").is_visible()
    page.keyboard.press("Escape")
    assert menu.count() == 0
    assert button.evaluate("one => one === document.activeElement")
    button.click()
    menu.get_by_role("link", name="Shares").click()
    page.wait_for_url(f"**{BASE}/shares")
    assert menu.count() == 0
    assert page.get_by_role("heading", level=1).inner_text() == "Shares"


def test_the_pages_are_always_there_on_a_wide_screen(tab: Tab, filled: Calls) -> None:
    page = tab(1280)
    page.goto(f"{BASE}/sites/NORTH")
    menu = page.get_by_role("navigation", name="Pages")
    assert page.get_by_role("button", name="Pages", exact=True).count() == 0
    assert menu.locator("a[aria-current=page]").inner_text().strip() == "Sites"
    listed = {urlsplit(one.get_attribute("href")).path.removeprefix(BASE) for one in menu.get_by_role("link").all()}
    assert listed == {path for _, of in GROUPS for path, _ in of}
    last = menu.get_by_role("link").last
    assert last.bounding_box()["y"] + last.bounding_box()["height"] <= 900  # all are seen without scrolling


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_reader_turns_the_theme(tab: Tab, filled: Calls, scheme: str, scripts: bool) -> None:
    """The choice outweighs the system, holds for each page, and leads nowhere else."""
    page = tab(1280, scheme, scripts)
    page.goto(f"{BASE}/jobs?status=waiting")
    ground = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(ground)
    button = page.get_by_role("button", name="Light or dark")
    button.click()
    # without a script, a browser that has chosen nothing becomes dark
    turned = scripts or scheme == "light"
    page.wait_for_selector(f"html[data-theme={'dark' if scheme == 'light' or not scripts else 'light'}]")
    assert (page.evaluate(ground) != before) == turned
    assert page.url.endswith(f"{BASE}/jobs?status=waiting")
    shown = page.evaluate(ground)
    page.goto(f"{BASE}/shares")
    assert page.evaluate(ground) == shown
    button.click()
    page.wait_for_selector(f"html[data-theme={'light' if scheme == 'light' or not scripts else 'dark'}]")
    assert page.evaluate(ground) != shown


def test_a_key_leads_to_the_search(tab: Tab, filled: Calls) -> None:
    page = tab()
    page.goto(BASE)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "what"
    page.keyboard.type("6000000000/")
    assert page.get_by_role("searchbox").input_value() == "6000000000/"  # within a field it is a character
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{BASE}/jobs/6000000000")
    page.go_back()
    assert page.get_by_role("heading", level=1).inner_text() == "Overview"
    page.go_forward()
    assert page.get_by_role("heading", level=1).inner_text().startswith("Job 6000000000")


def test_tables_of_health_and_alerts_are_whole_on_a_screen_of_1280(tab: Tab, filled: Calls) -> None:
    """Long errors fit as well; wider content, such as a name without spaces, is scrolled within its table."""
    error = "cannot assign the tasks: " + 20 * "brokerage.facts_of_production_job(text, bigint[]) "
    filled.connection.execute(
        """insert into lifecycle.loop
           select null, n, gen_random_uuid(), 'host-17.example.org 1234567', now(), now() + interval '1 minute',
                  '5 seconds', now(), now(), jsonb_build_object('default', %s::text), now() - interval '1 hour'
             from unnest('{maintain,watchdog,assign-analysis}'::text[]) n""",
        [error],
    )
    rule = {"figure": "jobs_waiting", "by_label": "owner_group", "above": 0, "summary": f"{{value}} {error[:200]}"}
    filled.connection.execute("select alert.set_rule('default', 'many', %s)", [json.dumps(rule)])
    assert filled.value("select alert.judge('default')") > 0
    page = tab(1280)
    for path in ("/health", "/alerts"):
        page.goto(BASE + path)
        assert page.evaluate("document.documentElement.scrollWidth") == 1280
        wide = page.evaluate(
            "[...document.querySelectorAll('.scroll')].map((one) => [one.scrollWidth, one.clientWidth])"
        )
        assert len(wide) >= (2 if path == "/health" else 1)
        assert all(width <= most for width, most in wide), (path, wide)
        right = page.evaluate(
            "[...document.querySelectorAll('td, th')].map((one) => one.getBoundingClientRect().right)"
        )
        assert max(right) <= 1280
    filled.connection.execute("update lifecycle.loop set setup = 'default', held_by = repeat('x', 300)")
    page.goto(f"{BASE}/health")
    assert page.evaluate("document.documentElement.scrollWidth") == 1280


def test_a_job_is_cancelled_without_scripts(tab: Tab, filled: Calls) -> None:
    page = tab(scripts=False)
    page.goto(BASE)
    page.get_by_role("link", name="Jobs", exact=True).click()
    page.get_by_label("Owner").fill("alice")
    page.get_by_label("Status").select_option("waiting")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_role("link", name="6000000001").click()
    assert page.get_by_role("heading", level=1).inner_text().split()[:3] == ["Job", "6000000001", "waiting"]
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("link", name="No, go back").click()
    page.get_by_role("link", name="Cancel").click()
    page.get_by_label("Reason").fill("wrong input")
    page.get_by_role("button", name="Cancel job 6000000001").click()
    page.wait_for_url(f"**{BASE}/jobs/6000000001?done=*")
    assert "By you" in page.locator(".toast").inner_text()
    page.go_back()  # the address of the act shows its question, and is not sent again
    page.go_forward()
    assert page.get_by_role("heading", level=1).inner_text().split() == ["Job", "6000000001", "cancelled"]
    assert filled.outcome(6000000001) == "cancelled"


def test_filters_and_pages_work_with_back_and_forward(tab: Tab, filled: Calls) -> None:
    page = tab()
    page.goto(f"{BASE}/jobs")
    page.get_by_label("Status").select_option("waiting")  # applies itself
    page.wait_for_url("**/jobs?*status=waiting*")
    first = page.locator("tbody tr").first.inner_text()
    page.get_by_role("link", name="Next rows").click()
    page.wait_for_url("**cursor=**")
    second = page.locator("tbody tr").first.inner_text()
    assert first != second
    page.go_back()
    assert page.locator("tbody tr").first.inner_text() == first
    assert page.get_by_label("Status").input_value() == "waiting"
    page.go_forward()
    assert page.locator("tbody tr").first.inner_text() == second
    page.get_by_role("link", name="First rows").click()
    page.wait_for_url(lambda url: "cursor" not in url)
    assert page.locator("tbody tr").first.inner_text() == first


def test_a_keyboard_reaches_the_content_and_shows_the_focus(tab: Tab, filled: Calls) -> None:
    """The first stop skips the navigation, and the element with the focus is visible."""
    page = tab()
    page.goto(f"{BASE}/task-queues")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.parametrize("width", [360, 1600])
def test_the_pointer_shows_the_values_of_a_chart(tab: Tab, filled: Calls, width: int) -> None:
    """The parts that show values get no keyboard focus, and a screen reader skips them."""
    page = tab(width)
    page.goto(f"{BASE}/history?figure=jobs_waiting&by=owner_group")
    drawing = page.locator(".chart svg.lines")
    drawing.scroll_into_view_if_needed()
    box = drawing.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    [of] = filled.rows(
        "select to_char(sampled_at at time zone 'utc', 'YYYY-MM-DD HH24:MI') from history.freshness where setup = %s",
        SETUP,
    )[0]
    words = page.evaluate("document.querySelector('.step:hover title').textContent")
    assert words.startswith(of[:10])
    jobs = dict(filled.rows(
        "select owner_group, sum(jobs)::int from monitor.waiting_by_reason where setup = %s group by 1", SETUP,
    ))  # fmt: skip
    assert {line.partition(": ")[0]: int(line.partition(": ")[2]) for line in words.splitlines()[1:]} == jobs
    assert page.evaluate("[...document.querySelectorAll('svg *')].filter((one) => one.tabIndex >= 0).length") == 0
    assert drawing.get_attribute("role") == "img"


@pytest.mark.parametrize(
    ("width", "scheme", "scripts"),
    [
        pytest.param(
            *screen, scripts, marks=[] if (number, scripts) in ((0, True), (3, False)) else pytest.mark.thorough
        )
        for number, screen in enumerate(SCREENS)
        for scripts in (True, False)
    ],
)
def test_a_setting_is_changed_in_a_browser_with_and_without_scripts(
    tab: Tab, filled: Calls, width: int, scheme: str, scripts: bool
) -> None:
    """The change works with scripts and without; each page on the way is accessible."""
    page = tab(width, scheme, scripts)
    wrong: list[tuple[str, str]] = []

    def check() -> None:
        if scripts:  # of axe
            wrong.extend(faults(page))

    page.goto(BASE)
    if width < 1024:
        page.get_by_role("button", name="Pages").click()
    page.get_by_role("link", name="Settings", exact=True).click()
    page.get_by_role("link", name="Change queue_size").click()
    page.get_by_label("Value").fill("-7")
    page.get_by_role("button", name="Show before and after").click()
    check()
    assert "invalid value -7 for setting queue_size" in page.get_by_role("alert").inner_text()
    assert page.get_by_label("Value").input_value() == "-7"
    page.get_by_label("Value").fill("1000")
    page.get_by_role("button", name="Show before and after").click()
    check()
    assert page.get_by_role("row").nth(1).inner_text().split() == ["Value", "5000", "1000"]
    filled.settings(queue_size=3)
    page.get_by_role("button", name="Change setting taskqueue.queue_size").click()
    check()
    assert "made another change" in page.get_by_role("alert").inner_text()
    assert page.get_by_role("row").nth(1).inner_text().split() == ["Value", "3", "1000"]
    page.get_by_role("link", name="Type something else").click()
    assert page.get_by_label("Value").input_value() == "1000"
    page.get_by_role("button", name="Show before and after").click()
    page.get_by_role("button", name="Change setting taskqueue.queue_size").click()
    check()
    page.wait_for_url("**/settings?done=*")
    assert "By you" in page.locator(".toast").inner_text()
    assert filled.value("select queue_size from taskqueue.setting where setup = %s", SETUP) == 1000
    assert wrong == []


def test_a_limit_is_changed_by_keyboard(tab: Tab, filled: Calls) -> None:
    page = tab()
    page.goto(f"{BASE}/limits/1")

    def tab_to(name: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent || document.activeElement.name").strip() == name:
                assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
                return
        raise AssertionError(name)

    tab_to("Change")
    page.keyboard.press("Enter")
    page.wait_for_url("**/act?do=set-limit&of=1")
    tab_to("limit")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("12")
    page.keyboard.press("Enter")
    page.wait_for_url("**limit=12")
    tab_to("Change the limit of JobTypes MC at NORTH")
    page.keyboard.press("Enter")
    page.wait_for_url("**/limits/1?done=*")
    assert "By you" in page.locator(".toast").inner_text()
    assert filled.value("select ceiling from monitor.site_limit where setup = %s and limit_id = 1", SETUP) == 12
