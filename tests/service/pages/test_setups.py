"""The page of all setups: a row for each, with what was counted; with one setup, `/` leads to it."""

import re
from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest
from psycopg.types.json import Jsonb

from broker.operate import loops
from tests.calls import Calls
from tests.cookies import digest
from tests.service.conftest import SETUP, Db, Jobs, Running, Start
from tests.service.pages import day

COOKIE = "v" * 43


@pytest.fixture
def browser(db: Db, start: Start) -> Iterator[httpx.Client]:
    """A browser of the owner of the installation, who may use every setup."""
    running: Running = start()
    use = "select resource.use_ticket(t.ticket, %s) from resource.new_ticket(null, 'me', 'operator') t"
    db.execute(use, [digest(COOKIE)])
    with httpx.Client(base_url=running.url, headers={"Cookie": f"__Host-pgbroker={COOKIE}"}, timeout=30) as client:
        yield client


def rows(page: httpx.Response) -> dict[str, str]:
    """The words of the rows, by setup."""
    assert page.status_code == 200, page.text
    found = {}
    for row in re.findall('<tr role="row".*?</tr>', page.text.partition("<tbody")[2], re.DOTALL):
        words = " ".join(re.sub("<[^>]+>", " ", row).split())
        found[words.split()[0]] = words
    return found


def test_setups_show_what_was_counted_and_what_was_not(browser: httpx.Client, db: Db, jobs: Jobs) -> None:
    Calls(db, "other").insert_many([1, 2, 3])
    Calls(db, "other").take()
    jobs(5)
    loops.summarize(db, SETUP)
    loops.sample(db, SETUP)
    shown = rows(browser.get("/"))
    assert list(shown) == ["default", "other"]
    assert re.fullmatch(r"default as operator well 5 0 \d+ s ago", shown["default"])
    assert shown["other"] == "other as operator never counted not counted yet 1 ? broker run"
    db.execute("update taskqueue.summary set counted_at = now() - interval '1 day'")
    assert "not counted now 5 0" in rows(browser.get("/"))["default"]


def test_a_setup_shows_what_waited_and_failed_over_time(browser: httpx.Client, db: Db) -> None:
    """The line and the failed part come from sampled figures of the setup; another one without samples has none."""
    day.fill(db)
    Calls(db, "other").insert(1)
    page = browser.get("/").text
    of = dict(re.findall(r'<a href="/setups/(\w+)">(.*?)</tr>', page, re.DOTALL))
    assert '<svg class="spark"' in of["default"] and '<svg class="spark"' not in of["other"]
    failed = re.search(r'data-label="Failed, 1 h">(\d+) %', of["default"])
    assert failed is not None and 10 <= int(failed[1]) <= 18  # 14 % of the ends of each group
    assert "ago</span>" in of["default"] and "?</span>" in of["other"]
    Calls(db, SETUP).set_clock(day.NOW + timedelta(hours=5))
    late = dict(re.findall(r'<a href="/setups/(\w+)">(.*?)</tr>', browser.get("/").text, re.DOTALL))["default"]
    assert "not sampled now" in late or '<svg class="spark"' not in late
    assert not re.search(r'data-label="Failed, 1 h">(\d+) %', late), "the last sampled hour is long past"


def test_a_setup_whose_alert_fires_says_so(browser: httpx.Client, db: Db) -> None:
    for setup in (SETUP, "other"):
        db.execute("select resource.require_setup(%s)", [setup])
    alert = """insert into alert.alert (setup, rule, labels, severity, summary, value, since, fired_at, ended_at)
               values ('other', 'r', %s, 'critical', 'a site fails', 1, now(), now(), %s)"""
    for site, ended in (("A", None), ("B", None), ("C", "now")):
        db.execute(alert, [Jsonb({"site": site}), ended])
    shown = rows(browser.get("/"))
    assert "2 alerts" in shown["other"] and "alert" not in shown["default"]


def test_one_setup_is_opened_at_once(browser: httpx.Client, db: Db) -> None:
    db.execute("select resource.require_setup(%s)", [SETUP])
    found = browser.get("/")
    assert (found.status_code, found.headers["Location"]) == (303, f"/setups/{SETUP}")
    assert browser.get(f"/setups/{SETUP}").status_code == 200


def test_a_submitter_sees_no_figures_of_others(browser: httpx.Client, db: Db, jobs: Jobs) -> None:
    """Figures are read with the role of the person, and a name is shown as text."""
    jobs(5)
    Calls(db, "<b>x</b>").insert(1)
    db.execute("update resource.browser_session set kind = 'agent'")
    page = browser.get("/")
    assert "<b>x</b>" not in page.text and "&lt;b&gt;x&lt;/b&gt;" in page.text
    assert rows(page)["default"] == "default as agent"


def test_the_group_that_is_furthest_from_its_share_has_a_chart_of_its_own(browser: httpx.Client, db: Db) -> None:
    """Also if a chart of all groups has no line for it."""
    q = Calls(db, SETUP)
    for number in range(12):
        q.call("set_group", f"g{number:02d}", 1.0)
    q.insert(1, OwnerGroup="zeta")
    q.take()
    loops.sample(db, SETUP)
    page = browser.get(f"/setups/{SETUP}/shares").text
    [drawn] = re.findall(r"<figure[^>]*>(?:(?!</figure>).)*?zeta against its target.*?</figure>", page, re.DOTALL)
    assert 'class="target' in drawn
