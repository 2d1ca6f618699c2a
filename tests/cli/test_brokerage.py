"""`broker broker-jobs`, `explain task`, `what-if`, `evaluate`, `rules`."""

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from broker import grid, world
from tests.commands import Cli

Connection = psycopg.Connection[Any]


@pytest.fixture
def gridded(db: Connection) -> Connection:
    """A small synthetic grid in the setup grid."""
    world.load(db, [grid.grid(1, 20, 40)])
    return db


def task_of(db: Connection, status: str) -> int:
    """A task that the last run decided so."""
    query = "select example from brokerage.outcomes where status = %s order by run_id desc limit 1"
    [(task,)] = db.execute(query, [status]).fetchall()
    return int(task)


def test_a_second_batch_finds_nothing_due(cli: Cli, gridded: Connection) -> None:
    due = len(gridded.execute("select from brokerage.due_task").fetchall())
    first = cli("broker-jobs", "--setup", "grid", "--seed", 1, "--json").json
    assert sum(row["tasks"] for row in first["tasks"]) == due
    assert sum(row["jobs"] for row in first["assigned"]) > 0
    assert {row["rule"] for row in first["rejections"]} >= {"memory", "core-count"}
    second = cli("broker-jobs", "--setup", "grid", "--json").json
    assert (second["tasks"], second["assigned"], second["rejections"]) == ([], [], [])
    assert f"run {second['run'] + 1}: no task was due" in cli("broker-jobs", "--setup", "grid").out


def test_a_dry_run_assigns_nothing(cli: Cli, gridded: Connection) -> None:
    dry = cli("broker-jobs", "--setup", "grid", "--dry-run", "--limit", 7, "--json").json
    assert sum(row["tasks"] for row in dry["tasks"]) == 7
    assert dry["assigned"] == []
    shown = cli("broker-jobs", "--setup", "grid", "--dry-run", "--limit", 7).out
    assert "7 tasks" in shown and "Assigned" not in shown and "core-count" in shown


def test_the_summary_names_queues_and_rules(cli: Cli, gridded: Connection) -> None:
    shown = cli("broker-jobs", "--setup", "grid").out
    for words in ("candidates", "pending", "is tried again at", "Assigned: ", "SYN-", "-cpucore", "█"):
        assert words in shown, words
    task = task_of(gridded, "pending")
    again = cli("broker-jobs", "--setup", "grid", "--task", task, "--json").json
    assert [(row["status"], row["tasks"]) for row in again["tasks"]] == [("pending", 1)]


def test_errors_of_a_batch_are_said(cli: Cli, gridded: Connection) -> None:
    nowhere = cli("broker-jobs", "--setup", "nowhere")
    assert (nowhere.code, nowhere.out) == (1, "") and "setup is 'nowhere'" in nowhere.err
    assert "profile is 'mine'" in cli("broker-jobs", "--setup", "grid", "--profile", "mine").err


def test_a_candidate_is_explained_factor_by_factor(cli: Cli, gridded: Connection) -> None:
    cli("broker-jobs", "--setup", "grid", "--dry-run")
    task = task_of(gridded, "candidates")
    explained = cli("explain", "task", task, "--setup", "grid", "--json").json
    best = explained["queues"][0]
    assert (explained["task"], explained["refused"], best["verdict"], best["rank"]) == (task, None, "candidate", 1)
    product = 1.0
    for factor in best["factors"].values():
        product *= factor
    assert product == pytest.approx(best["weight"])
    shown = cli("explain", "task", task, "--setup", "grid").out
    assert best["queue"] in shown and "weight-basic" in shown and "would take its jobs" in shown
    one = cli("explain", "task", task, "--setup", "grid", "--queue", best["queue"]).out
    assert "candidate" in one and "weight-basic" in one


def test_a_task_that_waits_is_told_what_would_help(cli: Cli, db: Connection) -> None:
    queues = {f"Q{n}": {"pilots": {"getjob": 1}, "maxrss": 1000} for n in range(3)}
    queues["Q9"] = {"pilots": {"getjob": 1}, "maxrss": 1000, "status": "test"}
    world.load(db, [{"queues": queues, "tasks": [{"id": 12, "ram_count": 1500}]}])
    shown = cli("explain", "task", 12).out
    assert "0 of 4 queues would take its jobs" in shown
    assert "what opens the most: memory alone keeps 3 queues away, such as Q0: -lowmemory: needs 1350 MB" in shown
    both = cli("explain", "task", 12, "--queue", "Q9").out
    assert "All rules that reject it" in both and "queue-status" in both and "memory" in both
    limited = cli("explain", "task", 12, "--limit", 1).out
    assert "Rejected: 1 of 4" in limited


def test_explain_tells_jobs_and_tasks_apart(cli: Cli, db: Connection) -> None:
    for words in (["task"], ["task", "x"], ["x"], ["1", "2"], ["job", 1], ["task", 1, 2]):
        assert cli("explain", *words).code == 2, words
    assert cli("explain", "task", 1, "--site", "S").code == 2
    assert cli("explain", 1, "--queue", "Q").code == 2
    missing = cli("explain", "task", 1)
    assert missing.code == 1 and "task 1 is not in setup default" in missing.err
    world.load(db, [{"queues": {"Q": {}}, "tasks": [{"id": 1}, {"id": 2, "architecture": "{"}]}])
    assert "queue R is not in setup default" in cli("explain", "task", 1, "--queue", "R").err
    assert "task 2: error: " in cli("explain", "task", 2).out


def test_what_if_shows_the_change_of_a_cap(cli: Cli, gridded: Connection) -> None:
    change = ("what-if", "--setup", "grid", "--set", "NQUEUED_SAT_CAP=1")
    found = cli(*change, "--json").json
    assert found["before"]["candidates"] > found["after"]["candidates"]
    shown = cli(*change, "--limit", 2).out
    assert f"{len(found['differences'])} tasks decided otherwise, 2 shown" in shown
    assert "candidates -> pending" in cli(*change, "--limit", 0).out


def test_what_if_with_a_world_and_a_profile(cli: Cli, gridded: Connection, tmp_path: Path) -> None:
    file = tmp_path / "change.json"
    file.write_text(json.dumps({"config": {"jobbroker:NQUEUED_SAT_CAP": 1}}))
    by_world = cli("what-if", "--setup", "grid", "--world", file, "--json").json
    assert by_world == cli("what-if", "--setup", "grid", "--set", "jobbroker:NQUEUED_SAT_CAP=1", "--json").json
    assert cli("what-if", "--setup", "grid", "--profile", "panda2026", "--json").json["differences"]
    same = cli("what-if", "--setup", "grid", "--profile", "doc")
    assert "0 tasks decided otherwise: none" in same.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "nothing is changed"),
        (("--set", "NQUEUED_SAT_CAP"), "has no value"),
        (("--set", "NQUEUED_SAT_CUP=1"), "NQUEUED_SAT_CUP"),
        (("--set", "NQUEUED_SAT_CAP=many"), "NQUEUED_SAT_CAP"),
        (("--setup", "nowhere", "--profile", "doc"), "setup nowhere does not exist"),
    ],
)
def test_what_if_says_what_is_wrong(cli: Cli, db: Connection, arguments: tuple[str, ...], said: str) -> None:
    world.load(db, [{"queues": {"Q": {}}}])
    refused = cli("what-if", *arguments)
    assert refused.code == 1 and said in refused.err and "hint:" in refused.err


CASE = {"name": "c", "algorithm": "production_job", "task": 1, "world": {"queues": {"Q": {}}, "tasks": [{"id": 1}]}}


def test_evaluate_answers_line_by_line(cli: Cli, tmp_path: Path) -> None:
    lines = [json.dumps(CASE), "", json.dumps({**CASE, "name": "d", "algorithm": "production_task"}), "no JSON"]
    said = cli("evaluate", "-", stdin="\n".join(lines))
    answers = [json.loads(line) for line in said.out.splitlines()]
    assert said.code == 0
    assert [answer["name"] for answer in answers] == ["c", "d", None]
    assert answers[0]["rejected"][0]["rule"] == "no-pilot"
    assert answers[1]["error"]["message"] == "algorithm production_task is not available"
    file = tmp_path / "cases.jsonl"
    file.write_text(json.dumps(CASE))
    assert json.loads(cli("evaluate", file).out)["status"] == "pending"


def test_evaluate_over_a_setup(cli: Cli, db: Connection) -> None:
    world.load(db, [{"queues": {"R": {"status": "offline"}}}], "live")
    over = json.loads(cli("evaluate", "-", "--over", "--setup", "live", stdin=json.dumps(CASE)).out)
    assert [row["queue"] for row in over["rejected"]] == ["Q", "R"]
    assert cli("evaluate", "-", "--over", "--setup", "nowhere", stdin=json.dumps(CASE)).code == 1


def test_rules_are_listed_in_their_order(cli: Cli) -> None:
    rules = cli("rules", "--json").json
    assert rules[0]["kind"] == "candidate"
    assert {"queue-status", "memory", "weight-basic", "top-10"} <= {rule["rule"] for rule in rules}
    shown = cli("rules").out
    assert "brokerage.rule_memory" in shown and "seed 000" in shown
    assert "panda2026" in cli("rules", "--profile", "panda2026").out
    unknown = cli("rules", "--profile", "mine")
    assert unknown.code == 1 and "doc of production_job" in unknown.err
