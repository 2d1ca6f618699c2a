"""Silences: alerts that fire and are not sent."""

from typing import Any

import pytest

from tests.core.alert.conftest import Alerts, series
from tests.core.alert.test_targets import HOOK, MANY, later, sent, take

A, B = (series("leases_at_site", site=site, state="running") for site in "AB")
HIGH = {A: 11.0, B: 12.0}


@pytest.fixture
def fired(alerts: Alerts) -> Alerts:
    """A setup with a target, and a rule that judges each site."""
    alerts.only("many", **MANY)
    alerts.target("chat", **HOOK)
    return alerts


def silence(alerts: Alerts, span: str | None, only: str | None = None, rule: str = "many") -> Any:
    call = "select alert.silence_alerts(%s, %s, %s, %s, 'downtime')"
    return alerts.q.value(call, alerts.q.setup, rule, span, only)


def due(alerts: Alerts) -> list[tuple[str, str]]:
    """State and site of the notifications that are due; they are sent."""
    found = take(alerts).get("chat", [])
    sent(alerts, found)
    return sorted((one["state"], one["labels"]["site"]) for one in found)


def end_of_silences(alerts: Alerts) -> None:
    alerts.q.connection.execute("update alert.silence set until = now() - interval '1 second'")


def test_a_silenced_alert_fires_and_is_sent_after_the_silence(fired: Alerts) -> None:
    silence(fired, "2 hours")
    fired.pass_minutes([HIGH])
    assert fired.states() == {"A": "firing", "B": "firing"} and due(fired) == []
    query = "select count(*) from alert.alert_now where silent_until > now()"
    assert fired.q.value(query) == 2
    end_of_silences(fired)
    fired.pass_minutes([HIGH])
    assert due(fired) == [("firing", "A"), ("firing", "B")]
    assert fired.q.value(query) == 0 and fired.q.rows("select from alert.silence") == []


def test_an_alert_that_ends_in_the_silence_is_never_sent(fired: Alerts) -> None:
    silence(fired, "2 hours")
    fired.pass_minutes([HIGH, {A: 1, B: 1}])
    end_of_silences(fired)
    fired.pass_minutes([{A: 1, B: 1}])
    assert fired.states() == {"A": "ended", "B": "ended"} and due(fired) == []


def test_a_silence_of_one_site_leaves_the_others(fired: Alerts) -> None:
    silence(fired, "2 hours", "A")
    fired.pass_minutes([HIGH])
    assert due(fired) == [("firing", "B")]
    assert fired.q.rows("select rule, labels, why from alert.silence_now") == [("many", {"site": "A"}, "downtime")]


def test_repetitions_are_kept_back_and_the_end_is_sent(fired: Alerts) -> None:
    fired.pass_minutes([HIGH])
    assert len(due(fired)) == 2
    silence(fired, "2 hours")
    later(fired, "5 hours")
    fired.pass_minutes([HIGH])
    assert due(fired) == []
    fired.pass_minutes([{A: 1, B: 12}])
    assert due(fired) == [("resolved", "A")]


@pytest.mark.parametrize("span", ["0", None])
def test_a_silence_is_ended_and_lengthened(fired: Alerts, span: str | None) -> None:
    silence(fired, "1 hour", "A")
    assert silence(fired, "3 hours", "A") == fired.q.value("select until from alert.silence")
    assert silence(fired, span, "A") is None and silence(fired, span, "A") is None
    fired.pass_minutes([HIGH])
    assert due(fired) == [("firing", "A"), ("firing", "B")]
    query = "select before ->> 'why', after ->> 'why' from resource.change where object = 'silence' order by change_id"
    assert fired.q.rows(query) == [(None, "downtime"), ("downtime", "downtime"), ("downtime", None)]


def test_a_silence_leaves_a_shipped_rule_as_it_is(alerts: Alerts) -> None:
    silence(alerts, "1 hour", rule="site_stopped")
    assert alerts.q.value("select origin from alert.rule_in_force where rule = 'site_stopped'") == "shipped"


@pytest.mark.parametrize(
    "asked, refusal",
    [
        (("mani", "1 hour", None), ("PB004", "mani")),
        (("all", "1 hour", "A"), ("PB001", 'only is "A"', "all series together")),
        (("many", "-1 hour", None), ("PB001", "-01:00:00")),
        (("many", "91 days", None), ("PB001", "91 days")),
        (("many", "1 hour", "A" * 401), ("PB001", "only is a text of 401 bytes")),
        (("many", "1 hour", "A\x1b[2J"), ("PB001", "only has a control or format character")),
    ],
)
def test_a_wrong_silence_is_refused(
    fired: Alerts, asked: tuple[str, str, str | None], refusal: tuple[str, ...]
) -> None:
    fired.rule("all", figure="leases_at_site", above=10, summary="many")
    rule, span, only = asked
    fired.q.refuses(lambda: silence(fired, span, only, rule), *refusal)
    assert fired.q.rows("select from alert.silence") == []


@pytest.mark.parametrize("why", ["w" * 1001, "until\x1b[2Jnoon"])
def test_a_wrong_reason_is_refused(fired: Alerts, why: str) -> None:
    call = "select alert.silence_alerts(%s, 'many', '1 hour', null, %s)"
    fired.q.refuses(lambda: fired.q.value(call, fired.q.setup, why), "PB001", "why")
    assert fired.q.rows("select from alert.silence") == []
