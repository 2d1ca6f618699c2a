"""`broker alerts`: rules, targets and firing alerts, in a terminal."""

import pytest

from tests.calls import Calls, Connection
from tests.commands import Cli


@pytest.fixture
def q(db: Connection, cli: Cli) -> Calls:
    """Jobs of two groups, in setup default."""
    q = Calls(db)
    for job, group in enumerate(("atlas", "atlas", "cms"), start=1):
        q.insert(job, OwnerGroup=group)
    return q


@pytest.mark.slow
def test_a_rule_that_fires_is_shown_by_the_command(q: Calls, cli: Cli, db: Connection) -> None:
    assert "Alerts of setup default: not judged yet" in cli("alerts").out
    printed = cli("alerts", "set-rule", "many", "figure=jobs_waiting", "by_label=owner_group", "above=1",
                  "summary={value} jobs of {owner_group}", "severity=critical").out  # fmt: skip
    assert "rule many: jobs_waiting{} > 1" in printed
    q.call("summarize_waiting")
    cli("sample")
    db.execute("select alert.judge('default')")
    assert "critical" in cli("alerts").out
    assert "2 jobs of atlas" in cli("alerts").out
    [row] = cli("alerts", "--json").json
    assert (row["state"], row["rule"], row["labels"], row["value"]) == ("firing", "many", {"owner_group": "atlas"}, 2)
    pending = [row for row in cli("alerts", "--all", "--json").json if row["state"] == "pending"]
    assert {row["rule"] for row in pending} >= {"server_problem"}
    assert "removed: many" in cli("alerts", "clear-rule", "many").out


@pytest.mark.slow
def test_rules_and_targets_are_listed(q: Calls, cli: Cli) -> None:
    rules = {row["rule"]: row for row in cli("alerts", "rules", "--json").json}
    assert rules["site_stopped"]["origin"] == "shipped"
    assert "leases_at_site" in cli("alerts", "rules").out
    cli("alerts", "set-rule", "site_stopped", "enabled=false")
    assert {row["rule"]: row["enabled"] for row in cli("alerts", "rules", "--json").json}["site_stopped"] is False
    cli("alerts", "set-target", "shifters", "kind=mail", "address=shifter@example.org")
    assert "shifter@example.org" in cli("alerts", "targets").out
    assert cli("alerts", "clear-target", "shifters").code == 0


def test_the_command_prints_enabled_rules_for_prometheus(q: Calls, cli: Cli) -> None:
    cli("alerts", "set-rule", "site_stopped", "enabled=false")
    printed = cli("alerts", "prometheus").out
    assert 'alert: "site_fails_jobs"' in printed
    assert "site_stopped" not in printed


@pytest.mark.slow
def test_a_test_alert_is_sent_to_its_target(q: Calls, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("alerts", "set-target", "shifters", "kind=mail", "address=shifter@example.org")
    rule = ["figure=jobs_waiting", "above=-1", "summary=always"]
    cli("alerts", "set-rule", "always", *rule)
    q.value("select history.sample(%s)", q.setup)
    assert q.value("select alert.judge(%s)", q.setup) > 0
    monkeypatch.setenv("BROKER_MAIL_COMMAND", "true")
    assert "sent to shifters" in cli("alerts", "test", "shifters").out
    monkeypatch.setenv("BROKER_MAIL_COMMAND", "false")
    cli("alerts", "test", "shifters").refuses("ended with 1")
    tried = dict(q.rows("select state, sum(attempts) from alert.sent group by state"))
    assert tried == {"firing": 0, "test": 2}, "what else is due waits for the loop"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["set-rule", "x", "figure"], "figure is not KEY=VALUE"),
        (["set-rule", "x", "figure=job", "above=1", "summary=x"], 'there is no figure "job"'),
        (["clear-rule", "x"], "there is no own or changed rule x in setup default"),
        (["clear-target", "x"], "there is no target x in setup default"),
        (["test", "x"], 'there is no target "x"'),
        (["--setup", "nowhere"], "setup nowhere does not exist"),
    ],
)
def test_wrong_commands_about_alerts_are_refused(q: Calls, cli: Cli, arguments: list[str], words: str) -> None:
    cli("alerts", *arguments).refuses(words)


def test_silences_are_listed_by_what_they_keep_back(cli: Cli) -> None:
    assert "for S1 is silent until" in cli("alerts", "silence", "site_stopped", "--for", "1h", "--only", "S1").out
    assert "rule site_stopped is silent until" in cli("alerts", "silence", "site_stopped", "--for", "1h").out
    listed = cli("alerts", "silence").out
    assert "S1" in listed and "all alerts" in listed and "{" not in listed
    assert [row["labels"] for row in cli("alerts", "silence", "--json").json] == [{"site": "S1"}, {}]
    assert "is not silent" in cli("alerts", "silence", "site_stopped", "--for", "0").out
    assert cli("alerts", "silence", "site_stopped").code == 2
