"""The page of alerts, and the alerts on the overview."""

import json
import re
from html import unescape

import pytest

from tests.calls import Calls
from tests.service.pages.conftest import Look


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
    assert '<a href="/setups/default/sites/NORTH">1 jobs at NORTH</a>. The condition holds since 20' in page
    assert "<b>critical</b>: <a " in page
    assert "jobs of a &amp; b wait" in page
    assert page.index("jobs of users wait") < page.index("1 jobs at NORTH")


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
        for link, words in re.findall(r'</b>: <a href="/setups/default([^"]*)">([^<]*)</a>', look("").text)
    }
    assert found == found | {
        "1 jobs at NORTH": "/sites/NORTH",
        "1 jobs of a & b wait": "/history?figure=jobs_waiting&by=owner_group&only=a+%26+b",
        'server_problem{"area": "moon"}': "/health",
        'runs{"site": "A/B c"}': "/sites/A/B%20c",
        'runs{"site": "other"}': "/history?figure=leases_at_site&by=site&only=other",
        'gone{"owner_group": "x"}': "/alerts",
        "nothing_matched{}": "/alerts",
    }
    page = look("/history", figure="jobs_waiting", by="owner_group", only="a & b").text
    assert re.findall(r'<span class="key [^>]*></span>([^<]*)', page) == ["a &amp; b"]
    assert 'name="only" value="a &amp; b"' in page
    assert "No sample of this span" in look("/history", figure="jobs_waiting", by="owner_group", only="none").text


def test_the_page_of_alerts_shows_rules_and_pending_alerts(fired: None, look: Look) -> None:
    page = look("/alerts").text
    assert "matches go on" in page
    assert "site_stopped" in page
    assert "chat.example.org" not in page, "a viewer does not see targets"


def test_operators_see_targets_without_their_secrets(fired: None, look: Look) -> None:
    page = look("/alerts", kind="operator").text
    assert "https://chat.example.org/hook" in page
    assert "Bearer" not in page


def test_the_pages_say_that_no_alert_fires(filled: Calls, look: Look) -> None:
    assert "No alert fires." in look("/alerts").text
    assert "Alerts are not sent" in look("/alerts", kind="operator").text
    assert "<b>0</b> alerts" in look("").text
