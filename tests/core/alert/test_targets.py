"""Targets and notifications: which target gets which alert, how often, and retries after a failure."""

import json
from typing import Any

import psycopg
import pytest

from tests.calls import refused
from tests.core.alert.conftest import Alerts, series

A = series("leases_at_site", site="A", state="running")
MANY = {"figure": "leases_at_site", "by_label": "site", "above": 10, "summary": "{value} jobs at {site}"}
HOOK = {"kind": "webhook", "address": "https://chat.example.org/hook"}


@pytest.fixture
def fired(alerts: Alerts) -> Alerts:
    """A setup with a target, and an alert that fires."""
    alerts.only("many", **MANY)
    alerts.target("chat", **HOOK)
    alerts.pass_minutes([{A: 11}])
    return alerts


def take(alerts: Alerts) -> dict[str, list[dict[str, Any]]]:
    """The notifications that are due, by target."""
    rows = alerts.q.rows("select target, notifications from alert.take_notifications(%s)", alerts.q.setup)
    return dict(rows)


def sent(alerts: Alerts, notifications: list[dict[str, Any]], error: str | None = None) -> None:
    ids = [one["notification_id"] for one in notifications]
    alerts.q.value("select alert.note_sent(%s, %s, %s)", alerts.q.setup, ids, error)


def later(alerts: Alerts, span: str) -> None:
    """Let time pass for notifications that are on their way."""
    alerts.q.connection.execute(
        "update alert.notification set made_at = made_at - %(span)s::interval, next_at = next_at - %(span)s::interval",
        {"span": span},
    )


def test_an_alert_and_its_end_are_sent_once(fired: Alerts) -> None:
    [one] = take(fired)["chat"]
    assert (one["state"], one["rule"], one["labels"], one["summary"]) == (
        "firing",
        "many",
        {"site": "A"},
        "11 jobs at A",
    )
    assert take(fired) == {}, "somebody sends it"
    sent(fired, [one])
    later(fired, "1 hour")
    fired.pass_minutes([{A: 12}])
    assert take(fired) == {}
    fired.pass_minutes([{A: 1}])
    [end] = take(fired)["chat"]
    assert (end["state"], end["rule"]) == ("resolved", "many")
    sent(fired, [end])
    fired.pass_minutes([{A: 1}])
    assert take(fired) == {}
    assert fired.q.value("select unsent from alert.target_now") == 0


def test_a_notification_that_was_not_sent_is_due_again_after_a_pause(fired: Alerts) -> None:
    [one] = take(fired)["chat"]
    later(fired, "31 seconds")
    assert take(fired)["chat"] == [one], "nobody noted that it was sent"
    sent(fired, [one], "no answer")
    assert fired.q.rows("select unsent, error, last_sent_at from alert.target_now") == [(1, "no answer", None)]
    later(fired, "31 seconds")
    assert take(fired) == {}, "the second pause is longer"
    later(fired, "31 seconds")
    sent(fired, take(fired)["chat"])
    assert fired.q.rows("select unsent, error from alert.target_now") == [(0, None)]
    assert fired.q.value("select attempts from alert.sent") == 3


def test_a_notification_is_given_up_after_a_day(fired: Alerts) -> None:
    fired.target("chat", repeat_after=None)
    later(fired, "25 hours")
    assert take(fired) == {}
    assert fired.q.rows("select next_at, sent_at from alert.sent") == [(None, None)]


def test_an_alert_that_still_fires_is_sent_again(fired: Alerts) -> None:
    sent(fired, take(fired)["chat"])
    later(fired, "3 hours 59 minutes")
    fired.judge()
    assert take(fired) == {}
    later(fired, "1 minute")
    fired.judge()
    sent(fired, take(fired)["chat"])
    fired.target("chat", repeat_after=None)
    later(fired, "10 days")
    fired.judge()
    assert take(fired) == {}


def test_a_new_target_gets_the_alerts_that_fire(fired: Alerts) -> None:
    take(fired)
    fired.target("shifters", kind="mail", address="shifter@example.org")
    fired.target("bosses", kind="mail", address="a@example.org, b@example.org", least_severity="critical")
    fired.target("off", **HOOK, enabled=False)
    fired.judge()
    assert take(fired).keys() == {"shifters"}


def test_a_target_that_is_switched_off_gets_only_tests(fired: Alerts) -> None:
    fired.target("chat", enabled=False)
    assert take(fired) == {}
    fired.q.value("select alert.test_target(%s, 'chat')", fired.q.setup)
    assert [one["state"] for one in take(fired)["chat"]] == ["test"]
    with pytest.raises(psycopg.Error, match='there is no target "other"'), fired.q.connection.transaction():
        fired.q.value("select alert.test_target(%s, 'other')", fired.q.setup)


def test_removing_a_target_removes_its_notifications(fired: Alerts) -> None:
    assert fired.q.value("select alert.clear_target(%s, 'chat')", fired.q.setup) is True
    assert fired.q.value("select alert.clear_target(%s, 'chat')", fired.q.setup) is False
    assert take(fired) == {}
    assert fired.q.value("select count(*) from alert.sent") == 0


def test_the_header_of_a_target_is_never_shown(alerts: Alerts) -> None:
    alerts.target("chat", **HOOK, header="Bearer secret")
    alerts.target("chat", header="Bearer other")
    alerts.target("chat", least_severity="warning")
    alerts.q.value("select alert.clear_target(%s, 'chat')", alerts.q.setup)
    rows = alerts.q.rows("select before, after from monitor.change where object = 'alert target' order by change_id")
    assert len(rows) == 4
    assert "secret" not in json.dumps(rows)
    assert "other" not in json.dumps(rows)
    assert [(row[1] or {}).get("header") for row in rows] == ["changed", "changed", None, None]
    alerts.target("chat", **HOOK, header="Bearer secret")
    assert alerts.q.rows("select has_header, address from alert.target_now") == [(True, HOOK["address"])]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"kind": "webhook"}, "target x has no address"),
        ({"address": "https://x.example.org"}, "target x has no kind"),
        ({"kind": "pager", "address": "1"}, 'invalid value "pager" for setting kind'),
        ({"kind": "webhook", "address": "ftp://x.example.org"}, "with an address that is a URL"),
        ({"kind": "webhook", "address": "https://me:secret@x.example.org"}, "without a password"),
        ({"kind": "webhook", "address": "https://x.example.org/\r\nHost: y"}, "with an address"),
        ({"kind": "mail", "address": "shifter"}, "addresses of mail"),
        ({"kind": "mail", "address": "-oQ/tmp@example.org"}, "addresses of mail"),
        ({"kind": "mail", "address": "a@example.org\nBcc: b@example.org"}, "addresses of mail"),
        ({"kind": "mail", "address": "a@example.org", "header": "x"}, "with a header for a webhook"),
        ({"kind": "webhook", "address": "https://x.example.org", "header": "a\nb"}, "of one line"),
        ({"kind": "webhook", "address": "https://x.example.org", "repeat_after": 1}, "setting repeat_after"),
        ({"kind": "webhook", "address": "https://x.example.org", "url": "y"}, "setting url is not known"),
    ],
)
def test_wrong_targets_are_refused(alerts: Alerts, columns: dict[str, object], words: str) -> None:
    with refused("PB001") as raised, alerts.q.connection.transaction():
        alerts.q.value("select alert.set_target(%s, 'x', %s)", alerts.q.setup, json.dumps(columns))
    assert words in str(raised.value)
    assert alerts.q.rows("select from alert.target") == []
