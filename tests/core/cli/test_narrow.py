"""The commands that explain and decide, on a terminal of 80x24: every figure is shown, and no name is cut."""

import re

import pytest

from broker import world
from tests.calls import Connection
from tests.commands import Cli

pytestmark = pytest.mark.slow


def plain(text: str) -> str:
    """A text without the marks of a terminal, each line as short as it is."""
    return "\n".join(line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", text).splitlines())


def assert_fits(shown: str) -> None:
    """Tables, blocks and bars fit; the terminal wraps sentences, since people copy the commands in them."""
    drawn = [line for line in shown.splitlines() if re.search("[│┃━─█]|^  ", line)]
    assert drawn and [line for line in drawn if len(line) > 80] == []
    assert "…" not in shown


def test_narrow_rules_are_a_line_each_and_a_named_one_has_function_parameters_and_source(
    cli: Cli, db: Connection, terminal: None
) -> None:
    shown = plain(cli("rules").out)
    assert_fits(shown)
    rows = cli("rules", "--json").json
    for row in rows:
        assert re.search(rf"│ +{row['position']:g} │ {re.escape(row['rule'])} +│ {row['kind']}", shown), row["rule"]
    assert len(shown.splitlines()) < len(rows) + 10 and "not shown here: function, parameters, source" in shown
    for row in rows[:3]:
        named = " ".join(plain(cli("rules", row["rule"]).out).split())
        assert f"function {row['function']}" in named and f"source {row['source']}" in named
        assert not row["parameters"] or "parameters " in named


def test_narrow_candidates_show_all_factors(cli: Cli, gridded: Connection, terminal: None) -> None:
    cli("assign", "jobs", "--setup", "grid", "--dry-run")
    query = "select example from brokerage.outcomes where status = 'candidates' order by run_id desc limit 1"
    [(task,)] = gridded.execute(query).fetchall()
    best = cli("explain", "task", task, "--setup", "grid", "--json").json["queues"][0]
    shown = plain(cli("explain", "task", task, "--setup", "grid").out)
    assert_fits(shown)
    assert best["queue"] in shown
    joined = " ".join(shown.split())
    for name in best["factors"]:
        assert f"factor {name}" in joined or name in joined.replace(" ", ""), name


def test_narrow_what_if_names_the_queue_of_each_weight(cli: Cli, gridded: Connection, terminal: None) -> None:
    changed = cli("what-if", "--set", "jobbroker:NQUEUED_SAT_CAP=0", "--setup", "grid")
    shown = plain(changed.out)
    assert changed.code == 0
    assert_fits(shown)
    rows = cli("what-if", "--set", "jobbroker:NQUEUED_SAT_CAP=0", "--setup", "grid", "--json").json["differences"]
    joined = " ".join(shown.split())
    for row in rows[:20]:
        assert str(row["task_id"]) in joined
        if row["weight_before"] is not None:
            assert row["queue"] in joined and "weight of" in shown


def test_a_unified_queue_is_shown_as_one_table_on_a_narrow_terminal(cli: Cli, db: Connection, terminal: None) -> None:
    unified = {"type": "unified", "capability": "ucore", "corecount": 8, "maxrss": 32000, "status": "test"}
    world.load(db, [{"queues": {"AGLT2": unified}, "tasks": [{"id": 1, "core_count": 8, "ram_count": 9000}]}])
    shown = plain(cli("explain", "task", 1, "--queue", "AGLT2").out)
    assert_fits(shown)
    rows = cli("explain", "task", 1, "--queue", "AGLT2", "--json").json["queues"]
    assert len(rows) > 3 and all(row["rule"] for row in rows)
    assert len(shown.splitlines()) <= 24
    reasons = {reason for row in rows for reason in row["all_reasons"]}
    for reason in reasons:  # each once
        assert " ".join(shown.split()).count(reason.split(": ", 1)[1]) == 1, reason


@pytest.mark.thorough
def test_the_demo_of_brokerage_fits_into_a_narrow_terminal(cli: Cli, db: Connection, terminal: None) -> None:
    few = plain(cli("demo", "brokerage").out)
    assert_fits(few)
    assert len(few.splitlines()) <= 60
    shown = plain(cli("demo", "brokerage", "--queues", 20, "--tasks", 40, "--all").out)
    assert_fits(shown)
    assert "task-weight-" in shown  # factors of nuclei
