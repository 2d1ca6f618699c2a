"""The page of alerts, and the alerts on the overview."""

import json
import re
from html import unescape

import httpx
import pytest

from broker.operate import loops
from broker.service.pages import frame
from tests.calls import Calls
from tests.service.conftest import SETUP, Db, Running, Token, bearer
from tests.service.pages.conftest import BASE, Look


@pytest.fixture
def fired(filled: Calls) -> None:
    """One alert of a site, one of a group, and a target with a secret."""
    db = filled.connection
    for name, rule in {
        "runs": {"figure": "leases_at_site", "by_label": "site", "above": 0, "summary": "{value} jobs at {site}"},
        "waits": {"figure": "jobs_waiting", "by_label": "owner_group", "above": 0, "severity": "critical",
                  "summary": "{value} jobs of {owner_group} wait"},
        "later": {"figure": "matches", "above": -1, "lasting": "1 hour", "summary": "matches go on"},
    }.items():  # fmt: skip
        db.execute("select alert.set_rule('default', %s, %s)", [name, json.dumps(rule)])
    target = {"kind": "webhook", "address": "https://chat.example.org/hook", "header": "Bearer secret"}
    db.execute("select alert.set_target('default', 'chat', %s)", [json.dumps(target)])
    assert filled.value("select alert.judge('default')") > 1


def test_the_overview_shows_firing_alerts_with_a_link_to_the_site(fired: None, look: Look) -> None:
    page = look("").text
    north = re.search(r'<li>(.*)<div><b><a href="/setups/default/sites/NORTH">1 jobs at NORTH</a></b>(.*)</li>', page)
    assert north is not None
    assert north[1] == '<span class="badge warn">warning</span>'  # no rule that says that a site is broken
    assert re.fullmatch(r'<span class="note">Since <time [^>]*>[^<]*</time>, for \d+ s.</span></div>', north[2])
    assert '<li class="bad"><span class="badge bad">critical</span><div><b><a ' in page
    assert "jobs of a &amp; b wait" in page
    assert page.index("jobs of users wait") < page.index("1 jobs at NORTH")


def test_a_silenced_alert_shows_the_end_of_its_silence(fired: None, filled: Calls, look: Look) -> None:
    assert "not sent until" not in look("/alerts").text
    filled.value("select alert.silence_alerts('default', 'runs', '1 hour')")
    assert re.search(r"jobs at NORTH</a></b>.*; not sent until <time [^>]*>[^<]*</time>\.</span>", look("/alerts").text)


def test_each_alert_links_to_its_object(fired: None, filled: Calls, look: Look) -> None:
    filled.connection.execute(
        """insert into alert.alert (setup, rule, labels, severity, summary, value, since, fired_at)
           select 'default', r, l::jsonb, 'critical', r || l, 1, now(), now()
             from (values ('server_problem', '{"area": "moon"}'), ('runs', '{"site": "A/B c"}'),
                          ('runs', '{"site": "other"}'), ('gone', '{"owner_group": "x"}'),
                          ('nothing_matched', '{}')) a (r, l)"""
    )
    found = {
        unescape(words): unescape(link)
        for link, words in re.findall(r'<div><b><a href="/setups/default([^"]*)">([^<]*)</a></b>', look("/alerts").text)
    }
    assert found == found | {
        "1 jobs at NORTH": "/sites/NORTH",
        "1 jobs of a & b wait": "/history?figure=jobs_waiting&by=owner_group&only=a+%26+b",
        'Server_problem{"area": "moon"}': "/health",
        'Runs{"site": "A/B c"}': "/sites/A/B%20c",
        'Runs{"site": "other"}': "/history?figure=leases_at_site&by=site&only=other",
        'Gone{"owner_group": "x"}': "/alerts",
        "Nothing_matched{}": "/alerts",
    }
    page = look("/history", figure="jobs_waiting", by="owner_group", only="a & b").text
    assert re.findall(r'<th scope="row"><span class="key">.*?</svg>([^<]*)</span>', page) == ["a &amp; b"]
    assert 'name="only" value="a &amp; b"' in page
    assert "No value in this span" in look("/history", figure="jobs_waiting", by="owner_group", only="none").text


def test_the_history_of_a_figure_has_the_threshold_of_its_rule_and_its_alerts(
    fired: None, filled: Calls, look: Look
) -> None:
    filled.value("select alert.set_rule('default', 'runs', '{\"above\": 0.5, \"lasting\": \"5 minutes\"}')")
    page = look("/history", figure="leases_at_site", by="site", only="NORTH").text
    assert page.count('class="limit"') == 2 and "0.5 jobs: an alert after 5 min</li>" in page
    since = filled.value("select to_char(max(since) at time zone 'utc', 'HH24:MI') from alert.alert_now")
    assert f"{since} alert</li>" in page
    other = look("/history", figure="leases_at_site", by="site", only="SOUTH").text
    assert " alert</li>" not in other
    assert 'class="limit"' not in look("/history", figure="leases_at_site", by="state").text


def test_only_operators_see_in_charts_of_a_site_what_people_changed(filled: Calls, look: Look) -> None:
    filled.connection.execute("update resource.change set at = (select max(at) from history.sample)")
    changed = re.compile(r"</svg>\d\d:\d\d limit JobTypes MC set by [^<]+</li>")
    assert changed.search(look("/sites/NORTH", kind="operator").text)
    for page in (look("/sites/NORTH").text, look("/sites/SOUTH", kind="operator").text):
        assert not changed.search(page)


def test_the_page_of_alerts_shows_rules_and_pending_alerts(fired: None, look: Look) -> None:
    page = look("/alerts").text
    assert "matches go on" in page
    assert "site_stopped" in page
    assert "chat.example.org" not in page, "a viewer does not see targets"


def test_operators_see_targets_without_their_secrets(fired: None, look: Look) -> None:
    page = look("/alerts", kind="operator").text
    assert "https://chat.example.org/hook" in page
    assert "Bearer" not in page


def test_a_site_is_broken_or_stopped_only_by_the_rules_that_say_so(filled: Calls, look: Look) -> None:
    filled.connection.execute(
        """insert into alert.alert (setup, rule, labels, severity, summary, value, since, fired_at)
           select 'default', r, jsonb_build_object('site', s), 'warning', r || ' ' || s, 1, now(), now()
             from (values ('site_fails_jobs', 'NORTH'), ('runs', 'NORTH'), ('site_stopped', 'SOUTH'),
                          ('runs', 'EAST')) a (r, s)"""
    )
    filled.insert(6_000_000_003, Sites=["EAST"])
    filled.maintain()
    badges = r'/sites/(\w+)">\w+</a></th><td[^>]*><span class="badge[^"]*"[^>]*>([^<]*)<'
    states = dict(re.findall(badges, look("/sites").text))
    assert (states["NORTH"], states["SOUTH"]) == ("broken", "stopped")
    assert states["EAST"] in ("idle", "works")
    text = look("/sites/NORTH").text
    assert re.search(r'<section class="card verdict bad">\s*<p><b>Site_fails_jobs NORTH', text)
    assert re.search(r'<h1>SOUTH <span class="badge warn">stopped', look("/sites/SOUTH").text)


def test_alerts_and_broken_sites_are_counted_beside_their_pages(
    fired: None, filled: Calls, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker keeps the numbers for some time."""
    pattern = re.compile(
        r'<a href="/setups/default/(\w+)"[^>]*><svg.*?</svg>[^<]*<span class="count (\w+)"><span class="sr">(\w+): '
        r"</span>(\d+)</span>"
    )
    monkeypatch.setattr(frame, "_COUNTED_FOR", -1.0)
    monkeypatch.setattr(frame, "_STUCK_FOR", -1.0)

    def shown() -> dict[str, tuple[str, ...]]:
        return {path: tuple(of) for path, *of in pattern.findall(look("/settings").text)}

    now = filled.value("select count(*) from alert.alert_now where setup = 'default' and state = 'firing'")
    stuck = filled.value(
        "select count(*) from brokerage.task_reason"
        " where setup = 'default' and reason not in ('waiting', 'throttled', 'held')"
    )
    assert stuck > 0
    before = {"alerts": ("bad", "firing", str(now)), "tasks": ("warn", "stuck", str(stuck))}
    assert shown() == before
    filled.connection.execute(
        """insert into alert.alert (setup, rule, labels, severity, summary, value, since, fired_at)
           select 'default', r, jsonb_build_object('site', s), 'warning', r || ' ' || s, 1, now(), now()
             from (values ('site_fails_jobs', 'NORTH'), ('site_loses_jobs', 'NORTH'), ('site_stopped', 'SOUTH'),
                          ('site_fails_jobs', 'other')) a (r, s)"""
    )
    assert shown() == before | {"alerts": ("bad", "firing", str(now + 4)), "sites": ("bad", "broken", "1")}
    monkeypatch.setattr(frame, "_COUNTED_FOR", 60.0)
    filled.connection.execute("delete from alert.alert")
    assert shown()["alerts"] == ("bad", "firing", str(now + 4))


def test_the_pages_say_that_no_alert_fires(db: Db, service: Running, token: Token) -> None:
    """Without a judge nobody knows whether one would fire."""

    def look(path: str, kind: str = "viewer") -> httpx.Response:
        return httpx.get(f"{service.url}{BASE}{path}", headers=bearer(token(kind, f"a {kind}")))

    assert "Alerts were never judged" in look("/alerts").text
    assert "No alert fires" not in look("/alerts").text
    assert loops.sample(db, SETUP)
    assert loops.judge(db, SETUP) == 0
    [(judged,)] = db.execute(
        "select to_char(max(judged_at) at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS') from alert.rule_in_force"
        " where setup = 'default'"
    ).fetchall()
    page = look("/alerts").text
    assert "No alert fires" in page and f"The rules were last evaluated at {judged} UTC." in page
    assert "Alerts are not sent" in look("/alerts", kind="operator").text
    assert '<ul class="alerts">' not in look("").text
