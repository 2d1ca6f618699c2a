"""Pages in a real browser: accessible, on small and large screens, without scripts, with nothing from outside.

They are skipped without Debian's chromium and the packages playwright and axe-playwright-python.
"""

import json
from urllib.parse import quote

import pytest

from tests.calls import Calls
from tests.service.conftest import SETUP
from tests.service.pages.conftest import AXE, BASE, HOSTILE, NOTHING, Tab, faults
from tests.service.pages.test_pages import PATHS

pytest.importorskip(AXE, reason="axe-playwright-python is not installed")

PAGES = (*(path for path in PATHS if path != "/profile"), "/profile?profile=acme", "/changes")
SIZE = "/act?do=set-setting&of=taskqueue.queue_size"
SCREENS = ((360, "light"), (1600, "dark"))
OTHER_SCREENS = ((360, "dark"), (1600, "light"))


def paths(q: Calls) -> list[str]:
    """The paths of the pages, with one object of each kind."""
    [(task,)] = q.rows("select min(task_id) from monitor.task_decision where setup = %s and rejected > 3", SETUP)
    queue = q.value("select min(queue) from monitor.queue where setup = %s", SETUP)
    job = q.value("select min(job_id) from monitor.lease where setup = %s", SETUP)
    return [
        *PAGES, "/jobs/6000000000", f"/jobs/{job}", "/task-queues/1", f"/tasks/{task}", f"/tasks/{task}?now=1",
        f"/queues/{queue}", "/sites/NORTH", "/act?do=cancel-job&of=6000000000", NOTHING, "/runs/1", "/instances/1",
        "/limits/1", f"{SIZE}", f"{SIZE}&value=7", "/act?do=add-limit&of=NORTH", "/act?do=remove-limit&of=1",
        "/act?do=set-quarantine&of=NORTH", "/act?do=set-quarantine&of=NORTH&kind=host&name=n1&why=disk",
        f"/act?do=lift-quarantine&of=host/NORTH/{quote(quote(HOSTILE, safe=''))}",
    ]  # fmt: skip


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_each_page_is_accessible_and_fits_the_screen(tab: Tab, filled: Calls, width: int, scheme: str) -> None:
    """The tool axe finds nothing, and no page is wider than the screen."""
    page = tab(width, scheme)
    wrong = []
    for path in paths(filled):
        answer = page.goto(BASE + path)
        assert answer.status == (404 if path == NOTHING else 200), path
        wrong += [(path, *one) for one in faults(page)]
    assert wrong == []


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
            "[...document.querySelectorAll('.scroll')].map((one) => [one.scrollWidth, innerWidth - 32])"
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
    page.get_by_label("Status").fill("waiting")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("link", name="6000000001").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Job 6000000001: waiting"
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("link", name="No, go back").click()
    page.get_by_role("link", name="Cancel").click()
    page.get_by_label("Reason").fill("wrong input")
    page.get_by_role("button", name="Cancel job 6000000001").click()
    assert page.get_by_role("listitem").filter(has_text="ended").count() == 1
    page.get_by_role("link", name="Back to where it is").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Job 6000000001: cancelled"
    assert filled.outcome(6000000001) == "cancelled"


def test_filters_and_pages_work_with_back_and_forward(tab: Tab, filled: Calls) -> None:
    page = tab()
    page.goto(f"{BASE}/jobs")
    page.get_by_label("Status").fill("waiting")
    page.keyboard.press("Enter")
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
    drawing = page.locator(".chart svg")
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


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize(("width", "scheme"), SCREENS + OTHER_SCREENS)
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
    assert page.get_by_role("heading", level=1).inner_text().endswith("done")
    page.get_by_role("link", name="Change", exact=False).last.click()
    assert page.get_by_role("row").count() == 2
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
    page.wait_for_url("**/act")
    assert page.get_by_role("heading", level=1).inner_text().endswith("done")
    assert filled.value("select ceiling from monitor.site_limit where setup = %s and limit_id = 1", SETUP) == 12
