"""`broker trial`."""

from math import inf

import pytest

from broker.cli.trial import drawn
from tests.calls import Connection
from tests.commands import Cli


@pytest.fixture
def ready(gridded: Connection) -> Connection:
    """The grid, and a profile to try."""
    gridded.execute("select brokerage.set_profile('acme')")
    return gridded


@pytest.mark.slow
def test_a_trial_is_begun_shown_and_ended(cli: Cli, ready: Connection) -> None:
    begun = cli("trial", "begin", "acme", "--share", "0.5", "--setup", "grid")
    assert (begun.code, begun.out) == (0, "trial 1: profile acme decides 0.5 of the tasks\n")
    assert "no run has decided a task in it yet" in cli("trial", "show", "--setup", "grid").out
    cli("assign", "jobs", "--setup", "grid", "--seed", "1")
    shown = cli("trial", "show", "--setup", "grid").out
    for words in ("trial 1, from ", "profile acme decides 0.5 of the tasks, documented the others", "no candidates",
                  "remote input", "not started", " ± ", "tasks decided: ", "share the queues"):  # fmt: skip
        assert words in shown, words
    found = cli("trial", "show", "1", "--setup", "grid", "--json").json
    assert found["control_tasks"] > 0 < found["trial_tasks"]
    assert [row["measure"] for row in found["outcome"]][:2] == ["no candidates", "remote input"]
    [(task, run)] = ready.execute(
        "select task_id, run_id from brokerage.task_decision where arm = 'trial' order by 1 limit 1"
    ).fetchall()
    explained = cli("explain", "task", task, "--run", run, "--setup", "grid").out
    assert "(profile acme, arm trial of trial 1)" in explained
    decided = cli("decisions", "--task", task, "--columns", "profile,trial,arm", "--setup", "grid", "--json").json
    assert [(row["profile"], row["trial"], row["arm"]) for row in decided] == [("acme", 1, "trial")]
    listed = cli("trial", "list", "--setup", "grid", "--json").json
    assert [(row["profile"], row["control"], row["ended_at"]) for row in listed] == [("acme", "documented", None)]
    ended = cli("trial", "end", "--setup", "grid", "--json").json
    assert ended == {"setup": "grid", "trial": 1}
    assert " to " in cli("trial", "show", "--setup", "grid").out.splitlines()[0]
    assert "ended" in cli("trial", "list", "--setup", "grid").out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["end"], "no trial is under way in setup grid"),
        (["show"], "setup grid has no trial"),
        (["show", "7"], "setup grid has no trial 7"),
        (["begin", "acme", "--share", "2"], "share is 2"),
        (["begin", "acmee"], "profile 'acmee' does not exist"),
        (["begin", "panda2026"], "profile panda2026 is based on panda2026"),
    ],
)
def test_wrong_commands_about_trials_are_refused(
    cli: Cli, ready: Connection, arguments: list[str], message: str
) -> None:
    refused = cli("trial", *arguments, "--setup", "grid")
    assert refused.code != 0
    assert message in refused.err


@pytest.mark.parametrize(
    ("difference", "margin", "line"),
    [
        (1.0, 1.0, "            ┼─────●──────"),
        (-1.0, 0.0, "●           │            "),
        (0.0, 2.0, "────────────●────────────"),
        (0.0, 0.0, "            ●            "),
        (0.0, None, ""),
        (None, None, ""),
        (1.0, inf, ""),
    ],
)
def test_an_interval_is_drawn_around_zero(difference: float | None, margin: float | None, line: str) -> None:
    assert drawn(difference, margin) == line
