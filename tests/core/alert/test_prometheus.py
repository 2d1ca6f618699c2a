"""The rules of Prometheus against alert.judge: promtool evaluates both on the same random minutes."""

import random
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from broker.operate import prometheus_rules
from broker.operate.reading import rows_of
from tests.core.alert.conftest import Alerts, Series, series

MINUTES = 40
needs_promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool (Debian: prometheus) is missing")

SITES = ["A", "B", 'C "quoted" \\']
RULES: dict[str, dict[str, Any]] = {
    "many": {"figure": "leases_at_site", "by_label": "site", "above": 20, "summary": "{value} at {site}"},
    "many_lasting": {"figure": "leases_at_site", "by_label": "site", "labels": {"state": "running"}, "above": 8,
                     "lasting": "3 minutes", "summary": "x"},
    "many_mean": {"figure": "leases_at_site", "by_label": "site", "above": 16, "over": "5 minutes", "summary": "x"},
    "together": {"figure": "leases_at_site", "above": 30, "over": "2 minutes", "summary": "{value}"},
    "none": {"figure": "leases_at_site", "by_label": "site", "below": 6, "over": "2 minutes", "summary": "x"},
    "nothing": {"figure": "leases", "below": 1, "over": "3 minutes", "summary": "x"},
    "nothing_now": {"figure": "leases", "below": 1, "summary": "x"},
    "old": {"figure": "oldest_wait", "above": 12, "summary": "x"},
    "old_mean": {"figure": "oldest_wait", "above": 10, "over": "4 minutes", "summary": "x"},
    "fails": {"figure": "ends_at_site", "labels": {"outcome": "failed"}, "by_label": "site",
              "per_figure": "ends_at_site", "per_least": 4, "above": 0.5, "over": "4 minutes", "lasting": "1 minute",
              "summary": "{value} at {site}"},
    "fails_now": {"figure": "ends_at_site", "labels": {"outcome": "failed"}, "by_label": "site",
                  "per_figure": "ends_at_site", "per_least": 3, "above": 0.5, "summary": "x"},
    "never_fails": {"figure": "ends_at_site", "labels": {"outcome": "failed"}, "by_label": "site",
                    "per_figure": "ends_at_site", "below": 0.2, "over": "2 minutes", "summary": "x"},
}  # fmt: skip


def rules_of(alerts: Alerts) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """The rules in force, and the figures by name."""
    connection = alerts.q.connection
    rules = rows_of(connection, "select * from alert.rule_in_force where setup = %s order by rule", alerts.q.setup)
    return rules, {row["figure"]: row for row in rows_of(connection, "select * from history.figure")}


def promtool(*arguments: str, cwd: Path) -> None:
    done = subprocess.run(["promtool", *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_shipped_rules_are_rules_of_prometheus(alerts: Alerts, tmp_path: Path) -> None:
    rules, figures = rules_of(alerts)
    text = prometheus_rules.rules_file(alerts.q.setup, rules, figures)
    (tmp_path / "rules.yml").write_text(text)
    promtool("check", "rules", "rules.yml", cwd=tmp_path)
    assert text.count("- alert:") == len(rules)


def some_minutes(chance: random.Random) -> list[dict[Series, float]]:
    """Values that cross the limits of the rules again and again; each series begins at a random minute."""
    names = [series("leases_at_site", site=site, state=state) for site in SITES for state in ("matched", "running")]
    names += [series("leases", owner_group="g", state="running")]
    names += [series("oldest_wait", owner_group=name) for name in ("g", "h")]
    names += [
        series("ends_at_site", site=site, outcome=outcome) for site in SITES for outcome in ("failed", "finished")
    ]
    begin = {name: chance.choice([0, 0, 7, 15]) for name in names}
    level = dict.fromkeys(names, 0.0)
    minutes = []
    for minute in range(MINUTES):
        for name in names:
            if chance.random() < 0.35:
                level[name] = chance.choice([0, 0, 1, 3, 5, 9, 14])
        minutes.append({name: level[name] for name in names if begin[name] <= minute and (level[name] or begin[name])})
    return minutes


@pytest.mark.slow
@needs_promtool
@pytest.mark.parametrize("seed", range(3))
def test_prometheus_fires_what_the_database_fires(alerts: Alerts, tmp_path: Path, seed: int) -> None:
    minutes = some_minutes(random.Random(seed))
    for name, columns in RULES.items():
        alerts.rule(name, **columns)
    seen: dict[Series, list[float | None]] = {}
    firing = []
    for number, values in enumerate(minutes):
        for one in values:
            seen.setdefault(one, [None] * number)
        for one, past in seen.items():
            past.append(values.get(one, 0))
        alerts.sample(values)
        alerts.judge()
        firing.append(
            alerts.q.rows(
                "select rule, labels, severity from alert.alert_now where state = 'firing' and rule = any (%s)",
                list(RULES),
            )
        )
    fired = {rule for rows in firing for rule, *_ in rows}
    assert fired == RULES.keys(), "each rule fires some time"
    rules, figures = rules_of(alerts)
    text = prometheus_rules.rules_file(alerts.q.setup, [row for row in rules if row["rule"] in RULES], figures)
    (tmp_path / "rules.yml").write_text(text)
    (tmp_path / "test.yml").write_text(_test_file(alerts.q.setup, seen, firing, figures))
    promtool("test", "rules", "test.yml", cwd=tmp_path)


def _test_file(
    setup: str,
    seen: Mapping[Series, list[float | None]],
    firing: list[list[tuple[str, dict[str, str], str]]],
    figures: Mapping[str, Mapping[str, Any]],
) -> str:
    lines = ["rule_files: [rules.yml]", "evaluation_interval: 1m", "tests:", "  - interval: 1m", "    input_series:"]
    sampled: list[float | None] = [60.0 * number for number in range(len(firing))]
    named: dict[Series, list[float | None]] = {(prometheus_rules.SAMPLED, ()): sampled}
    named |= {(figures[figure]["metric"], labels): values for (figure, labels), values in seen.items()}
    for (metric, labels), values in named.items():
        lines.append(f"      - series: {quoted(metric + _labels({'setup': setup, **dict(labels)}))}")
        lines.append(f"        values: {quoted(' '.join('_' if value is None else f'{value:g}' for value in values))}")
    lines.append("    promql_expr_test:")
    for number, rows in enumerate(firing):
        lines += [f"      - expr: {quoted('ALERTS{alertstate=' + chr(34) + 'firing' + chr(34) + '}')}"]
        lines += [f"        eval_time: {number}m", "        exp_samples:" + ("" if rows else " []")]
        for rule, of, severity in rows:
            full = {"alertname": rule, "alertstate": "firing", "setup": setup, "severity": severity} | of
            lines += [f"          - labels: {quoted('ALERTS' + _labels(full))}", "            value: 1"]
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{name}={quoted(value)}" for name, value in sorted(labels.items())) + "}"


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
