"""Pages in a real browser: for everybody, on small and large screens, without scripts, with nothing from outside.

They need Debian's chromium, and the packages playwright and axe-playwright-python; else they are skipped.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.calls import Calls
from tests.service.conftest import SETUP
from tests.service.pages.conftest import NOTHING

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")

BASE = f"/setups/{SETUP}"
PAGES = (
    "",
    "/task-queues",
    "/jobs",
    "/leases",
    "/tasks",
    "/queues",
    "/sites",
    "/shares",
    "/history",
    "/what-if",
    "/health",
    "/changes",
)
SCREENS = ((360, "light"), (1600, "dark"))


def paths(q: Calls) -> list[str]:
    """The pages, and one of each kind of thing."""
    [(task,)] = q.rows("select min(task_id) from monitor.task_decision where setup = %s and rejected > 3", SETUP)
    queue = q.value("select min(queue) from monitor.queue where setup = %s", SETUP)
    job = q.value("select min(job_id) from monitor.lease where setup = %s", SETUP)
    return [
        *PAGES, "/jobs/6000000000", f"/jobs/{job}", "/task-queues/1", f"/tasks/{task}", f"/tasks/{task}?now=1",
        f"/queues/{queue}", "/sites/NORTH", "/act?do=cancel-job&of=6000000000", NOTHING,
    ]  # fmt: skip


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_each_page_is_for_everybody(tab: Callable[..., Any], filled: Calls, width: int, scheme: str) -> None:
    """axe finds nothing, and no page is wider than the screen."""
    page = tab(width, scheme)
    wrong = []
    for path in paths(filled):
        answer = page.goto(BASE + path)
        assert answer.status == (404 if path == NOTHING else 200), path
        found = [(one["id"], one["nodes"][0]["html"][:200]) for one in axe.Axe().run(page).response["violations"]]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(("wider than the screen", str(width)))
        wrong += [(path, *one) for one in found]
    assert wrong == []


def test_a_job_is_cancelled_without_scripts(tab: Callable[..., Any], filled: Calls) -> None:
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
    page.get_by_role("link", name="Go on").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Job 6000000001: cancelled"
    assert filled.outcome(6000000001) == "cancelled"


def test_filters_pages_back_and_forward(tab: Callable[..., Any], filled: Calls) -> None:
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


def test_a_keyboard_is_enough(tab: Callable[..., Any], filled: Calls) -> None:
    """The first stop leads past the ways to other pages, and what has the focus is seen."""
    page = tab()
    page.goto(f"{BASE}/task-queues")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
