"""alert.set_rule: shipped, changed and own rules, and refused ones."""

import json

import pytest

from tests.calls import refused
from tests.core.alert.conftest import Alerts


def test_shipped_rules_pass_the_checks_of_own_rules(alerts: Alerts) -> None:
    names = [name for (name,) in alerts.q.rows("select rule from alert.shipped_rule")]
    assert len(names) > 5
    for name in names:
        alerts.rule(name, enabled=True)
    same = """select r.rule from alert.rule r
               where to_jsonb(r) - 'setup' in (select to_jsonb(s) from alert.shipped_rule s)"""
    assert {name for (name,) in alerts.q.rows(same)} == set(names)


def test_a_changed_shipped_rule_returns_to_its_shipped_form_when_cleared(alerts: Alerts) -> None:
    query = "select origin, enabled, lasting::text, summary from alert.rule_in_force where setup = %s and rule = %s"
    [shipped] = alerts.q.rows(query, alerts.q.setup, "site_stopped")
    assert shipped[0] == "shipped"
    alerts.rule("site_stopped", lasting="1 hour")
    assert alerts.q.rows(query, alerts.q.setup, "site_stopped") == [("changed", True, "01:00:00", shipped[3])]
    alerts.rule("site_stopped", enabled=False)
    assert alerts.q.rows(query, alerts.q.setup, "site_stopped") == [("changed", False, "01:00:00", shipped[3])]
    assert alerts.q.value("select alert.clear_rule(%s, 'site_stopped')", alerts.q.setup) is True
    assert alerts.q.value("select alert.clear_rule(%s, 'site_stopped')", alerts.q.setup) is False
    assert alerts.q.rows(query, alerts.q.setup, "site_stopped") == [shipped]


def test_setting_one_limit_removes_the_other(alerts: Alerts) -> None:
    alerts.rule("mine", figure="matches", above=5, summary="many")
    alerts.rule("mine", below=1)
    assert alerts.q.rows("select above, below from alert.rule") == [(None, 1)]


def test_changes_of_rules_are_recorded(alerts: Alerts) -> None:
    alerts.rule("mine", figure="matches", above=5, summary="many")
    alerts.rule("mine", above=6)
    alerts.q.value("select alert.clear_rule(%s, 'mine')", alerts.q.setup)
    rows = alerts.q.rows(
        "select name, before, after from monitor.change where object = 'alert rule' order by change_id"
    )
    assert [row[0] for row in rows] == ["mine"] * 3
    assert rows[1][1:] == ({"above": 5}, {"above": 6})
    assert rows[2][2] is None


@pytest.mark.parametrize(
    ("name", "columns", "words"),
    [
        ("mine", {"figure": "job", "above": 1, "summary": "x"}, 'there is no figure "job"'),
        ("mine", {"figure": "matches", "by_label": "site", "above": 1, "summary": "x"}, 'has no label "site"'),
        ("mine", {"figure": "matches", "labels": {"site": "A"}, "above": 1, "summary": "x"}, 'has no label "site"'),
        ("mine", {"figure": "matches", "labels": {"owner_group": 3}, "above": 1, "summary": "x"}, "invalid value"),
        ("mine", {"figure": "matches", "per_figure": "leases", "per_labels": {"a": "b"}, "above": 1, "summary": "x"},
         'leases has no label "a"'),
        ("mine", {"figure": "matches", "by_label": "owner_group", "per_figure": "rejections", "above": 1,
                  "summary": "x"}, 'rejections has no label "owner_group"'),
        ("mine", {"figure": "matches", "above": 1}, "rule mine has no summary"),
        ("mine", {"above": 1, "summary": "x"}, "rule mine has no figure"),
        ("mine", {"figure": "matches", "summary": "x"}, "rule mine is not with one of above and below"),
        ("mine", {"figure": "matches", "above": 1, "below": 2, "summary": "x"}, "not with one of above and below"),
        ("mine", {"figure": "matches", "above": "1", "summary": "x"}, 'invalid value "1" for setting above'),
        ("mine", {"figure": "matches", "above": 1, "summary": "{site} has none"}, "summary has {site}"),
        ("mine", {"figure": "matches", "above": 1, "summary": "x. {meaning}"}, "summary has {meaning}"),
        ("mine", {"figure": "matches", "above": 1, "summary": "x", "over": "90 s"}, "not a whole number of minutes"),
        ("mine", {"figure": "matches", "above": 1, "summary": "x", "over": "2 days"}, "setting over"),
        ("mine", {"figure": "matches", "above": 1, "summary": "x", "lasting": -1}, "setting lasting"),
        ("mine", {"figure": "matches", "above": 1, "summary": "x", "severity": "bad"}, "setting severity"),
        ("mine", {"figur": "matches"}, "setting figur is not known"),
        ("Mine!", {"figure": "matches", "above": 1, "summary": "x"}, 'invalid value "Mine!" for setting rule'),
    ],
)  # fmt: skip
def test_wrong_rules_are_refused(alerts: Alerts, name: str, columns: dict[str, object], words: str) -> None:
    with refused("PB001") as raised, alerts.q.connection.transaction():
        alerts.q.value("select alert.set_rule(%s, %s, %s)", alerts.q.setup, name, json.dumps(columns))
    assert words in str(raised.value)
    assert alerts.q.rows("select from alert.rule") == []


def test_the_nearest_rule_is_named_if_a_new_one_lacks_its_condition(alerts: Alerts) -> None:
    for name, near in (
        ("site_stoped", "The rule nearest to it is site_stopped. A rule needs"),
        ("mine", "A rule needs"),
    ):
        with refused("PB001", "no figure") as raised, alerts.q.connection.transaction():
            alerts.rule(name, lasting="1 hour")
        assert str(raised.value.diag.message_hint).startswith(near)
