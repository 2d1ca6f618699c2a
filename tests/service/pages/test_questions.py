"""The questions of an operator: each is answered by a sentence in the first screen, at most two pages from the
overview, on an invented day."""

import re
from typing import Any

import pytest

from tests.service.conftest import SETUP, Db
from tests.service.pages import day
from tests.service.pages.conftest import BASE, Tab

SCREEN = (1600, 900)


@pytest.fixture
def overview(db: Db, tab: Tab) -> Any:
    """The overview of the day."""
    day.fill(db)
    page = tab(SCREEN[0])
    assert page.goto(BASE).status == 200
    return page


def words(part: Any) -> str:
    """The words of a part of a page, which must be within the first screen."""
    box = part.bounding_box()
    assert box["y"] >= 0 and box["y"] + box["height"] <= SCREEN[1], box
    assert box["x"] >= 0 and box["x"] + box["width"] <= SCREEN[0], box
    return re.sub(r"\s+", " ", part.inner_text()).strip()


def test_why_does_this_task_not_run_and_what_would_help(overview: Any, db: Db) -> None:
    overview.locator(f"main a[href*='{BASE}/tasks?reason=no_queue_accepts']").click()
    overview.locator(f"main tbody a[href^='{BASE}/tasks/']").first.click()
    task = int(overview.url.rpartition("/")[2])
    [(left,)] = db.execute(
        "select jobs_left from monitor.task where setup = %s and task_id = %s", [SETUP, task]
    ).fetchall()
    [(rule, pairs)] = db.execute(
        """select d.rule, count(*) from monitor.verdict d
            where (d.setup, d.task_id) = (%s, %s) and d.verdict = 'rejected' and d.queue is not null
              and d.run_id = (select max(run_id) from monitor.task_decision where setup = d.setup and task_id = %s)
            group by d.rule order by 2 desc limit 1""",
        [SETUP, task, task],
    ).fetchall()
    why = words(overview.locator(".verdict p").first)
    assert why.startswith(f"No queue accepts its last {left} jobs. ")
    assert f"{pairs} by {rule} (" in why
    assert words(overview.locator(".verdict p").nth(1)).startswith("Run ")
    [(rule, opens)] = db.execute(
        "select rule, opens from brokerage.obstacles(%s, %s) limit 1", [SETUP, task]
    ).fetchall()
    help_ = words(overview.locator(".helps li").first)
    queues = "queue" if opens == 1 else "queues"
    assert help_.startswith(f"Without rule {rule} {opens} {queues} would be open: ")
    overview.locator(".helps li").first.get_by_role("link", name="Ask").click()
    assert f"without={rule}" in overview.url and f"tasks={task}" in overview.url


def test_which_site_is_broken_since_when_and_by_what(overview: Any, db: Db) -> None:
    [(site, began, since)] = db.execute(
        "select labels ->> 'site', to_char(began_at at time zone 'utc', 'FMDD Mon HH24:MI'),"
        " to_char(since at time zone 'utc', 'FMDD Mon HH24:MI') from alert.alert_now"
        " where setup = %s and rule = 'site_fails_jobs' and state = 'firing'", [SETUP],
    ).fetchall()  # fmt: skip
    assert began == f"{day.NOW - day.FAILS * day.MINUTE:%-d %b %H:%M}" < since
    when = f"Since {began}, for 2 h; usually 4 %; the alert itself: {since}."
    first = overview.locator(".alerts > li").first
    said = words(first)
    assert re.fullmatch(rf"broken \d+ % of the jobs that end at site {site} fail {when}", said)
    first.get_by_role("link").click()
    assert overview.url.endswith(f"{BASE}/sites/{site}")
    assert words(overview.locator("h1")) == f"{site} broken"
    [(meaning,)] = db.execute(
        "select f.meaning from history.failures(%s, null, '{class,error}', jsonb_build_object('site', %s::text), 1) f",
        [SETUP, site],
    ).fetchall()
    why = words(overview.locator(".verdict p").first)
    assert re.search(
        rf"^\d+ % of the jobs that end at site {site} fail\. \d+ of \d+ jobs .* failed\. The most frequent error: ", why
    )
    assert meaning.lower() in why.lower()
    assert words(overview.locator(".verdict p").nth(1)).startswith(when)
    ends = overview.locator("figure.chart", has_text="Ends, by outcome")
    assert ends.locator("path.event").count() == 4  # two in the drawing, two below it
    assert ends.locator(".legend.always li").all_inner_texts() == [
        f"{began.split()[-1]} failures begin", f"{since.split()[-1]} alert",
    ]  # fmt: skip
    failed = overview.locator("figure.chart", has_text="Failed of ended")
    assert failed.locator(".legend.always").inner_text() == "50 %: an alert after 10 min"


def test_who_uses_more_than_their_share(overview: Any, db: Db) -> None:
    [(group, points)] = db.execute(
        "select owner_group, round((100 * (use - target))::numeric, 1) from monitor.group_share where setup = %s"
        " order by use - target desc limit 1", [SETUP],
    ).fetchall()  # fmt: skip
    assert points > 0
    card = overview.locator(".card", has=overview.get_by_role("heading", name="Who gets more than their share"))
    assert f"{group} has {points} points too much." in words(card)
    assert words(card.locator(".share").first).startswith(group)
    card.get_by_role("link", name="over time").click()
    [(below, less)] = db.execute(
        "select owner_group, round((100 * (target - use))::numeric, 1) from monitor.group_share where setup = %s"
        " order by use - target limit 1", [SETUP],
    ).fetchall()  # fmt: skip
    verdict = f"{group} has {points} points more than its share, {below} {less} less. "
    assert words(overview.locator(".verdict")).startswith(verdict)
    worst = group if points > less else below
    against = overview.locator("figure.chart", has_text=f"{worst} against its target")
    assert against.locator("svg.lines path.target").count() == 1
    assert "target" in against.locator(".legend.always li").all_inner_texts()


def test_the_way_to_what_would_happen_if_a_site_were_closed(overview: Any) -> None:
    overview.locator(".alerts > li").first.get_by_role("link").click()
    site = words(overview.locator("h1")).split()[0]
    button = overview.get_by_role("link", name="What if its queues were offline")
    words(button)
    button.click()
    assert overview.url.endswith(f"{BASE}/what-if?place1={site}&status1=offline&there=1")
    assert overview.locator("[name=place1]").input_value() == site
    assert overview.locator("[name=status1]").input_value() == "offline"
    assert overview.locator("[name=there]").is_checked()
    overview.get_by_role("button", name="Ask").click()
    assert re.match(
        r"\d+ of the \d+ tasks that are named would be decided otherwise: ", words(overview.locator(".verdict p").first)
    )
