"""The rules of alerts as alerting rules of Prometheus, with the same conditions about the metrics of `broker serve`."""

import json
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

Rule = Mapping[str, Any]

SAMPLED = "pgbroker_sample_timestamp_seconds"
"""A metric that is present while the figures are fresh."""


def rules_file(setup: str, rules: Iterable[Rule], figures: Mapping[str, Rule]) -> str:
    """The file with the rules of a setup, from rows of alert.rule_in_force, and of history.figure by name."""
    lines = ["groups:", f"  - name: {_quoted('pgbroker ' + setup)}", "    interval: 1m", "    rules:"]
    for rule in rules:
        lines += [
            f"      - alert: {_quoted(rule['rule'])}",
            "        expr: |-",
            *(f"          {line}" for line in expression(setup, rule, figures)),
            f"        for: {_duration(rule['lasting'])}",
            "        labels:",
            f"          severity: {rule['severity']}",
            f"          setup: {_quoted(setup)}",
            "        annotations:",
            f"          summary: {_quoted(_summary(rule, figures))}",
        ]
    return "\n".join(lines) + "\n"


def expression(setup: str, rule: Rule, figures: Mapping[str, Rule]) -> list[str]:
    """The condition of a rule in PromQL, one line for each part."""
    minutes = _minutes(rule["over"])
    samples = f"count_over_time({_sampled(setup)}{_range(minutes)})" if minutes > 1 else "1"
    limit = f"> {_number(rule['above'])}" if rule["above"] is not None else f"< {_number(rule['below'])}"
    part = _total(setup, rule, rule["figure"], rule["labels"], figures)
    if rule["per_figure"] is not None:
        whole = _total(setup, rule, rule["per_figure"], rule["per_labels"], figures)
        lines = [f"({part} or 0 * {whole})", f"/ {whole}", limit, f"and {whole} > 0"]
        if rule["per_least"] > 0:
            by_samples = f"on () group_left () {samples}" if minutes > 1 else samples
            lines.append(f"and {whole} / {by_samples} >= {_number(rule['per_least'])}")
    else:
        lines = [part if rule["by_label"] else f"({part} or 0 * {_sampled(setup)})"]
        lines += [f"/ on () group_left () {samples}"] if minutes > 1 else []
        lines.append(limit)
    if minutes > 1:
        lines.append(f"and on () {samples} * 2 >= {minutes}")
    return lines


def _total(setup: str, rule: Rule, figure: str, labels: Mapping[str, str], figures: Mapping[str, Rule]) -> str:
    """A figure summed over the minutes of the rule, for each value of its label."""
    chosen = ", ".join(f"{name}={_quoted(value)}" for name, value in [("setup", setup), *sorted(labels.items())])
    by = f" by ({rule['by_label']})" if rule["by_label"] else ""
    now = f"{figures[figure]['fold']}{by} ({figures[figure]['metric']}{{{chosen}}})"
    minutes = _minutes(rule["over"])
    return now if minutes == 1 else f"sum_over_time({now}{_range(minutes)})"


def _range(minutes: int) -> str:
    """A range of this many minutes, each counted once: half a minute less, since before version 3 a range of Prometheus
    includes both ends."""
    return f"[{60 * minutes - 30}s:1m]"


def _sampled(setup: str) -> str:
    return f"max({SAMPLED}{{setup={_quoted(setup)}}})"


def _summary(rule: Rule, figures: Mapping[str, Rule]) -> str:
    percent = rule["per_figure"] is not None or figures[rule["figure"]]["unit"] == "fraction"
    shown = "{{ $value | humanizePercentage }}" if percent else "{{ $value | humanize }}"
    text: str = rule["summary"]
    if rule["by_label"]:
        text = text.replace(f"{{{rule['by_label']}}}", f"{{{{ $labels.{rule['by_label']} }}}}")
    return text.replace("{value}", shown)


def _minutes(span: timedelta) -> int:
    return round(span.total_seconds() / 60)


def _duration(span: timedelta) -> str:
    return f"{round(span.total_seconds())}s"


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
