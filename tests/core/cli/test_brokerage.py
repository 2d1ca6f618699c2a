"""`broker assign`, `explain task`, `what-if`, `evaluate`, `rules`."""

import json
import re
from pathlib import Path
from typing import Any

import psycopg
import pytest

from broker import world
from tests.calls import Connection
from tests.commands import Cli, run_in_shell

pytestmark = pytest.mark.slow

Row = dict[str, Any]


def task_of(db: Connection, status: str) -> int:
    """A task to which the last run gave this status."""
    query = "select example from brokerage.outcomes where status = %s order by run_id desc limit 1"
    [(task,)] = db.execute(query, [status]).fetchall()
    return int(task)


def test_a_second_batch_finds_nothing_due(cli: Cli, gridded: Connection) -> None:
    due = len(gridded.execute("select from brokerage.due_task where algorithm = 'production_job'").fetchall())
    first = cli("assign", "jobs", "--setup", "grid", "--seed", 1, "--json").json
    assert sum(row["tasks"] for row in first["tasks"]) == due
    assert sum(row["jobs"] for row in first["assigned"]) > 0
    assert {row["rule"] for row in first["rejections"]} >= {"memory", "core-count"}
    second = cli("assign", "jobs", "--setup", "grid", "--json").json
    assert (second["tasks"], second["assigned"], second["rejections"]) == ([], [], [])
    shown = cli("assign", "jobs", "--setup", "grid").out
    assert f"run {second['run_id'] + 1}: no task was due: " in shown
    assert re.search(r"\d+ tasks wait, the first until 20", shown)
    assert re.search(r"\d+ tasks are not open, such as 410000\d\d: (all \d+ jobs are assigned|status is )", shown)


def test_a_dry_run_assigns_nothing(cli: Cli, gridded: Connection) -> None:
    dry = cli("assign", "jobs", "--setup", "grid", "--dry-run", "--limit", 7, "--json").json
    assert sum(row["tasks"] for row in dry["tasks"]) == 7
    assert dry["assigned"] == []
    shown = cli("assign", "jobs", "--setup", "grid", "--dry-run", "--limit", 7).out
    assert "7 tasks" in shown and "Assigned" not in shown and "core-count" in shown
    pending = cli("assign", "jobs", "--setup", "grid", "--dry-run").out
    assert "pending" in pending and "is tried again" not in pending
    cli("assign", "jobs", "--setup", "grid", "--dry-run", "--workers", 2).refuses("a dry run locks no task")


def test_the_summary_names_queues_and_rules(cli: Cli, gridded: Connection) -> None:
    shown = cli("assign", "jobs", "--setup", "grid", "--seed", 1).out
    for words in ("candidates", "pending", "is tried again at", "Assigned: ", "SYN-", "-cpucore", "█"):
        assert words in shown, words
    task = task_of(gridded, "pending")
    query = "select min(task_id) from brokerage.task_decision where status = 'pending'"
    [(first,)] = gridded.execute(query).fetchall()
    assert f"\nwhy one waits: broker explain task {first} --setup grid\n" in shown
    assert cli("explain", "task", first, "--setup", "grid").code == 0
    again = cli("assign", "jobs", "--setup", "grid", "--task", task, "--json").json
    assert [(row["status"], row["tasks"]) for row in again["tasks"]] == [("pending", 1)]


def test_errors_of_a_batch_are_printed(cli: Cli, gridded: Connection) -> None:
    nowhere = cli("assign", "jobs", "--setup", "nowhere")
    assert (nowhere.code, nowhere.out) == (1, "")
    assert "setup nowhere does not exist; there are: grid" in nowhere.err
    assert "profile 'mine' does not exist" in cli("assign", "jobs", "--setup", "grid", "--profile", "mine").err


@pytest.mark.parametrize("workers", [1, 2])
def test_a_task_that_is_not_there_is_an_error(cli: Cli, gridded: Connection, workers: int) -> None:
    options = ("--setup", "grid", "--workers", workers)
    for tasks, error in (((77,), "task 77 is not in setup grid"), ((41_000_001, 7, 8), "tasks 7, 8 are not in setup")):
        cli("assign", "jobs", *options, *(word for task in tasks for word in ("--task", task))).refuses(error, "PB004")
    gridded.execute("update workload.task set label = 'user' where task_id = 41000002")
    for verb, task in (("jobs", 41000002), ("tasks", 41000002), ("analysis", 41000001)):
        cli("assign", verb, *(options if verb == "jobs" else options[:2]), "--task", 41000003, "--task", task).refuses(
            f"task {task} has label", "PB005"
        )
    assert gridded.execute("select count(*) from brokerage.run").fetchall() == [(0,)]
    assert cli("assign", "tasks", *options[:2], "--task", 41000002, "--dry-run").code == 0
    cli("what-if", "--setup", "grid", "--task", 5, "--profile", "panda2026").refuses("task 5 is not in setup grid")


def test_a_named_task_that_is_not_due_is_decided_with_a_note(cli: Cli, gridded: Connection) -> None:
    query = """select task_id, not_due from brokerage.task_due_state
                where setup = 'grid' and algorithm = 'production_job' and not_due is not null limit 1"""
    [(task, reason)] = gridded.execute(query).fetchall()
    printed = cli("assign", "jobs", "--setup", "grid", "--dry-run", "--task", task, "--json").json
    assert printed["not_due"] == [{"task_id": task, "not_due": reason}]
    assert sum(row["tasks"] for row in printed["tasks"]) == 1
    shown = cli("assign", "jobs", "--setup", "grid", "--dry-run", "--task", task).out
    assert f"task {task} is not due, decided because it is named: {reason}" in shown
    shown = cli("what-if", "--setup", "grid", "--task", task, "--profile", "documented").out
    assert f"task {task} is not open, decided because it is named: {reason}" in shown
    shown = cli("explain", "task", task, "--setup", "grid", "--algorithm", "production_job").out
    assert shown.startswith(f"task {task} is not due: {reason}\n")
    explained = cli("explain", "task", task, "--setup", "grid", "--algorithm", "production_job", "--json").json
    assert (explained["not_due"], explained["jobs_left"]) == (reason, explained["jobs"])


def test_the_message_of_an_error_is_printed(cli: Cli, db: Connection) -> None:
    tasks = [{"id": number, "architecture": "{", "input": ["d"]} for number in (1, 2)]
    world.load(db, [{"queues": {"Q": {}}, "datasets": {"d": {"files": [{"lfn": "f"}]}}, "tasks": tasks}])
    printed = cli("assign", "jobs", "--json").json["tasks"]
    assert [(row["status"], row["tasks"], row["example"]) for row in printed] == [("error", 2, 1)]
    assert printed[0]["reason"].startswith("architecture is not JSON: ")
    shown = cli("assign", "jobs", "--task", 1).out
    assert f"error, task 1: {printed[0]['reason']}" in shown


def test_several_workers_share_one_run(cli: Cli, gridded: Connection) -> None:
    due = [
        task
        for (task,) in gridded.execute(
            "select task_id from brokerage.due_task where algorithm = 'production_job' order by 1"
        ).fetchall()
    ]
    limited = cli("assign", "jobs", "--setup", "grid", "--workers", 3, "--limit", 5, "--json").json
    assert sum(row["tasks"] for row in limited["tasks"]) == 5
    printed = cli("assign", "jobs", "--setup", "grid", "--workers", 3, "--seed", 1, "--json").json
    query = "select task_id from brokerage.task_decision where run_id in (%s, %s) order by 1"
    assert set(due) == {task for (task,) in gridded.execute(query, (limited["run_id"], printed["run_id"])).fetchall()}
    query = "select tasks, ended_at is not null from brokerage.run order by run_id"
    assert gridded.execute(query).fetchall() == [(5, True), (sum(row["tasks"] for row in printed["tasks"]), True)]
    assert sum(row["jobs"] for row in printed["assigned"]) > 0
    again = cli("assign", "jobs", "--setup", "grid", "--workers", 2, "--task", due[0], "--task", due[1], "--json").json
    assert sum(row["tasks"] for row in again["tasks"]) == 2


def test_a_candidate_is_explained_factor_by_factor(cli: Cli, gridded: Connection) -> None:
    cli("assign", "jobs", "--setup", "grid", "--dry-run")
    task = task_of(gridded, "candidates")
    explained = cli("explain", "task", task, "--setup", "grid", "--json").json
    best = explained["queues"][0]
    assert (explained["task_id"], explained["refused"], best["verdict"], best["rank"]) == (task, None, "candidate", 1)
    product = 1.0
    for factor in best["factors"].values():
        product *= factor
    assert product == pytest.approx(best["weight"])
    shown = cli("explain", "task", task, "--setup", "grid").out
    assert best["queue"] in shown and "weight-basic" in shown and "would take its jobs" in shown
    one = cli("explain", "task", task, "--setup", "grid", "--queue", best["queue"]).out
    assert "candidate" in one and "weight-basic" in one


def test_explain_shows_what_would_help_a_task_that_waits(cli: Cli, db: Connection) -> None:
    queues = {f"Q{n}": {"pilots": {"getjob": 1}, "maxrss": 1000} for n in range(3)}
    queues["Q9"] = {"pilots": {"getjob": 1}, "maxrss": 1000, "status": "test"}
    world.load(db, [{"queues": queues, "tasks": [{"id": 12, "ram_count": 1500}]}])
    shown = cli("explain", "task", 12).out
    assert "0 of 4 queues would take its jobs" in shown
    assert "the most effective change: memory alone rejects 3 queues, such as Q0: -lowmemory: needs 1350 MB" in shown
    both = cli("explain", "task", 12, "--queue", "Q9").out
    assert "All rules that reject it" in both and "queue-status" in both and "memory" in both
    limited = cli("explain", "task", 12, "--limit", 1).out
    assert "Rejected: 1 of 4" in limited


def test_pseudo_queues_are_marked(cli: Cli, db: Connection) -> None:
    unified = {"type": "unified", "capability": "ucore", "pilots": {"getjob": 1}}
    plain = {"type": "production", "capability": "score"}
    world.load(db, [{"queues": {"CERN-PROD": unified, "Q": plain}, "tasks": [{"id": 1}]}])
    shown = cli("explain", "task", 1).out
    assert "of 4 queues would take its jobs\n3 of the 4 are pseudo-queues: a unified queue counts once for" in shown
    shown = cli("explain", "task", 1, "--queue", "CERN-PROD").out
    assert "queue CERN-PROD is unified: 3 pseudo-queues, one for each of its resource types" in shown
    heads = next(line for line in shown.splitlines() if "rule" in line)
    assert all(name in heads for name in ("SCORE", "SCORE HIMEM", "MCORE")) or heads.count("┃") == 5
    assert "candidate" in shown and "Queue CERN-PROD/" not in shown
    assert "is unified" not in cli("explain", "task", 1, "--queue", "CERN-PROD/SCORE").out
    assert "pseudo-queue" not in cli("explain", "task", 1, "--queue", "Q").out
    cli("explain", "task", 1, "--queue", "CERN_PRO").refuses("the nearest: CERN-PROD")


@pytest.mark.parametrize(
    ("site", "queues", "expected"),
    [
        ("NOQ", ("Q",), "no queue entered the list: pre-assigned to NOQ, which is not in setup default"),
        ("NO,NOQ", ("Q",), "no queue entered the list: pre-assigned to NO, NOQ, which are not in setup default"),
        ("NOQ,Q", ("Q",), "it is pre-assigned to NOQ, which is not in setup default\n"),
        (None, (), "setup default holds no queues"),
        (None, ("ANALY", "TEST"), "no queue entered the list\n"),
    ],
)
def test_explain_shows_why_no_queue_entered_the_list(
    cli: Cli, db: Connection, site: str | None, queues: tuple[str, ...], expected: str
) -> None:
    rows = {name: {"type": "analysis" if name == "ANALY" else "production"} for name in queues}
    world.load(db, [{"queues": rows, "tasks": [{"id": 1, "site": site}]}])
    shown = cli("explain", "task", 1).out
    assert expected in shown
    assert "no single change" not in shown or "Q" in (site or "").split(",")
    if "ANALY" in queues:
        assert "prod-initial-all: " in shown
    assert cli("explain", "task", 1, "--json").json["unknown_queues"] == [
        name for name in ("NO", "NOQ") if name in (site or "").split(",")
    ]


@pytest.mark.parametrize("asked", [{"site": "P"}, {"params": {"included_site": ["P*", "Z*"]}}])
def test_a_named_queue_that_never_entered_the_list_is_shown(cli: Cli, db: Connection, asked: Row) -> None:
    queues = {name: {"type": kind} for name, kind in (("A", "analysis"), ("P", "production"), ("Q", "production"))}
    task = {"id": 1, "label": "user", "gshare": "User Analysis", "user": "alice", **asked}
    world.load(db, [{"queues": queues, "tasks": [task]}])
    shown = cli("explain", "task", 1).out
    assert "Pre-assigned, and never entered the list" in shown and "type is production, not analysis" in shown
    assert ("it is pre-assigned to Z*, which is not in setup default\n" in shown) == ("params" in asked)
    explained = cli("explain", "task", 1, "--json").json
    assert (explained["named_queues"], explained["unknown_queues"]) == (["P"], ["Z*"] if "params" in asked else [])
    assert re.search(r"Never entered the list, by rule: 2 queues \(--all\) *\n *anal-initial .* 2 *\n", shown)
    db.execute("delete from resource.queue where queue = 'A'")
    shown = cli("explain", "task", 1).out
    assert "type is production, not analysis" in shown


def test_explain_tells_jobs_and_tasks_apart(cli: Cli, db: Connection) -> None:
    for words in (["task"], ["task", "x"], ["x"], ["1", "2"], ["job", "x"], ["task", 1, 2]):
        assert cli("explain", *words).code == 2, words
    assert cli("explain", "task", 1, "--site", "S").code == 2
    assert cli("explain", 1, "--queue", "Q").code == 2
    assert cli("explain", "task", 1).code == 1
    world.load(db, [{"queues": {"Q": {}}, "tasks": [{"id": 1}, {"id": 2, "architecture": "{"}]}])
    cli("explain", "task", 9).refuses("task 9 is not in setup default")
    assert "R is no queue of setup default" in cli("explain", "task", 1, "--queue", "R").err
    assert "the nearest: Q" in cli("explain", "task", 1, "--queue", "QQ").err
    assert "task 2: error: " in cli("explain", "task", 2).out
    nucleus = {"role": "nucleus", "panda_site": "NUC", "astorages": {"write_lan": ["D"]}}
    world.load(db, [{"queues": {"N": nucleus}, "storages": {"D": {}}, "tasks": [{"id": 3, "status": "assigning"}]}])
    assert "N is no nucleus of setup default" in cli("explain", "task", 3, "--nucleus", "N").err
    assert "Nucleus NUC" in cli("explain", "task", 3, "--nucleus", "NUC").out


def test_what_if_shows_the_change_of_a_cap(cli: Cli, gridded: Connection) -> None:
    change = ("what-if", "--setup", "grid", "--set", "NQUEUED_SAT_CAP=1")
    found = cli(*change, "--json").json
    assert found["before"]["candidates"] > found["after"]["candidates"]
    shown = cli(*change, "--limit", 2).out
    assert f"{len(found['differences'])} tasks decided otherwise, 2 shown" in shown
    assert "candidates -> pending" in cli(*change, "--limit", 0).out


def test_what_if_shows_other_rules_jobs_and_rejections(cli: Cli, gridded: Connection) -> None:
    change = ("what-if", "--setup", "grid", "--without", "no-pilot", "--parameter", "top-10.best=1", "--newest", 30)
    found = cli(*change, "--json").json
    assert sum(found["before"].values()) == 30
    shown = cli(*change).out
    assert "Jobs by queue" in shown and "Rejections by rule" in shown and "the best 1 " in shown
    for wrong in ("top-10=1", "best", ".best=1"):
        cli("what-if", "--setup", "grid", "--parameter", wrong).refuses("hint:", wrong)


def test_what_if_takes_a_forced_key(cli: Cli, gridded: Connection) -> None:
    refused = cli("what-if", "--setup", "grid", "--set", "MINE=1")
    assert refused.code == 1 and "--force" in refused.err and "p_force" not in refused.err
    assert "0 tasks decided otherwise" in cli("what-if", "--setup", "grid", "--set", "MINE=1", "--force").out


def test_what_if_takes_a_world_or_a_profile(cli: Cli, gridded: Connection, tmp_path: Path) -> None:
    file = tmp_path / "change.json"
    file.write_text(json.dumps({"config": {"jobbroker:NQUEUED_SAT_CAP": 1}}))
    by_world = cli("what-if", "--setup", "grid", "--world", file, "--json").json
    assert by_world == cli("what-if", "--setup", "grid", "--set", "jobbroker:NQUEUED_SAT_CAP=1", "--json").json
    assert cli("what-if", "--setup", "grid", "--profile", "panda2026", "--json").json["differences"]
    same = cli("what-if", "--setup", "grid", "--profile", "doc")
    assert "0 tasks decided otherwise: none" in same.out


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((), "nothing is changed"),
        (("--set", "NQUEUED_SAT_CAP"), "has no value"),
        (("--set", "NQUEUED_SAT_CUP=1"), "NQUEUED_SAT_CUP"),
        (("--set", "NQUEUED_SAT_CAP=many"), "NQUEUED_SAT_CAP"),
        (("--setup", "nowhere", "--profile", "documented"), "setup nowhere does not exist"),
    ],
)
def test_what_if_refuses_wrong_changes(cli: Cli, db: Connection, arguments: tuple[str, ...], error: str) -> None:
    world.load(db, [{"queues": {"Q": {}}}])
    cli("what-if", *arguments).refuses(error, "hint:")


CASE = {"name": "c", "algorithm": "production_job", "task": 1, "world": {"queues": {"Q": {}}, "tasks": [{"id": 1}]}}


def test_evaluate_answers_line_by_line(cli: Cli, tmp_path: Path) -> None:
    lines = [json.dumps(CASE), "", json.dumps({**CASE, "name": "d", "algorithm": "sorcery"}), "no JSON"]
    printed = cli("evaluate", "-", stdin="\n".join(lines))
    answers = [json.loads(line) for line in printed.out.splitlines()]
    assert printed.code == 1
    assert [answer["name"] for answer in answers] == ["c", "d", None]
    assert answers[0]["rejected"][0]["rule"] == "no-pilot"
    assert answers[1]["error"]["message"] == 'algorithm is "sorcery"'
    file = tmp_path / "cases.jsonl"
    file.write_text(json.dumps(CASE))
    good = cli("evaluate", file)
    assert good.code == 0 and json.loads(good.out)["status"] == "pending"
    error = json.loads(cli("evaluate", file, "--profile", "nope").out)["error"]
    assert "nope" in error["message"] and "panda2026" in error["hint"]
    file.write_text(json.dumps({"name": "c", "task": 1}))
    without = cli("evaluate", file)
    assert without.code == 1 and "has no world" in json.loads(without.out)["error"]["message"]


@pytest.mark.parametrize("connections", [1, 3])
def test_evaluate_ends_quietly_when_its_reader_goes(dsn: str, tmp_path: Path, connections: int) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(f"{json.dumps(CASE)}\n" * 60)
    for reader in ("head -n 2", "true"):
        printed = run_in_shell(f"broker evaluate {file} --connections {connections} --profile doc | {reader}", dsn)
        assert printed.stderr == ""


def test_evaluate_lays_a_case_over_a_setup(cli: Cli, db: Connection) -> None:
    world.load(db, [{"queues": {"R": {"status": "offline"}}}], "live")
    over = json.loads(cli("evaluate", "-", "--over", "--setup", "live", stdin=json.dumps(CASE)).out)
    assert [row["queue"] for row in over["rejected"]] == ["Q", "R"]
    assert cli("evaluate", "-", "--over", "--setup", "nowhere", stdin=json.dumps(CASE)).code == 1


def test_rules_are_listed_in_their_order(cli: Cli) -> None:
    rules = cli("rules", "--json").json
    assert rules[0]["kind"] == "candidate"
    assert {"queue-status", "memory", "weight-basic", "top-10"} <= {rule["rule"] for rule in rules}
    shown = cli("rules").out
    assert "brokerage.rule_memory" in shown and "rules/production-filters.md#memory" in shown
    assert "panda2026" in cli("rules", "--profile", "panda2026").out
    cli("rules", "--profile", "mine").refuses("documented of production_job")
    assert "documented of production_job" in cli("rules", "--algorithm", "job_production").err
    assert "analysis_job" not in cli("rules", "--help").out


def test_rules_show_their_position_and_the_settings_of_a_setup(cli: Cli, db: Connection) -> None:
    rules = cli("rules", "--json").json
    assert [rule["position"] for rule in rules] == sorted(rule["position"] for rule in rules)
    assert re.search(rf"│ +{rules[0]['position']:g} │ {rules[0]['rule']} +│", cli("rules").out)
    world.load(db, [{"queues": {"Q": {}}}])
    db.execute("select brokerage.set_settings('default', '{\"profile\": \"panda2026\"}')")
    shown = cli("rules", "--setup", "default").out
    assert shown.startswith("setup default: profile panda2026, decisions_kept 2 days, counts_kept 30 days, ")
    assert "Profile panda2026, production_job" in shown
    printed = cli("rules", "--setup", "default", "--json").json
    assert printed["settings"]["profile"] == "panda2026"
    assert printed["rules"] == cli("rules", "--profile", "panda2026", "--json").json
    assert "Profile doc" in cli("rules", "--setup", "default", "--profile", "documented").out
    assert "there are: default" in cli("rules", "--setup", "nowhere").err


def test_assign_tasks_sends_tasks_to_nuclei(cli: Cli, gridded: Connection) -> None:
    query = "select task_id from brokerage.due_task where algorithm = 'production_task' order by 1"
    due = [task for (task,) in gridded.execute(query).fetchall()]
    assert due
    summary = json.loads(cli("assign", "tasks", "--setup", "grid", "--seed", 1, "--json").out)
    by_status = {row["status"]: row["tasks"] for row in summary["tasks"]}
    assert sum(by_status.values()) == len(due)
    assert sum(row["tasks"] for row in summary["nuclei"]) == by_status["candidates"] > 0
    sent = dict(gridded.execute("select task_id, nucleus from brokerage.nucleus_of_task").fetchall())
    query = "select task_id, nucleus from workload.task where status = 'ready' and task_id = any (%s)"
    assert dict(gridded.execute(query, [due]).fetchall()) == sent
    assert "no task was due" in cli("assign", "tasks", "--setup", "grid").out


def test_assign_says_that_due_tasks_are_locked_by_others(cli: Cli, gridded: Connection, dsn: str) -> None:
    query = "select count(*) from brokerage.due_task where algorithm = 'production_task'"
    [(due,)] = gridded.execute(query).fetchall()
    with psycopg.connect(dsn) as other:
        other.execute("select from workload.task for update")
        shown = cli("assign", "tasks", "--setup", "grid").out
    assert f"no task was decided: {due} tasks are due, and others are working on them" in shown
    shown = cli("assign", "tasks", "--setup", "grid", "--limit", 0).out
    assert f"no task was decided: {due} tasks are due, --limit is 0" in shown


def test_what_if_and_explain_take_a_task_of_another_algorithm(cli: Cli, gridded: Connection) -> None:
    query = "select task_id from brokerage.due_task where algorithm = 'production_task' order by 1 limit 1"
    [(task,)] = gridded.execute(query).fetchall()
    shown = cli("explain", "task", task, "--setup", "grid").out
    assert "could have it" in shown and "nucleus" in shown
    change = ("--set", "taskbrokerage:DISK_THRESHOLD=1000000")
    shown = cli("what-if", "--setup", "grid", "--algorithm", "production_task", *change).out
    assert "candidates -> pending" in shown
    refused = cli("what-if", "--setup", "grid", "--algorithm", "production", *change)
    assert refused.code == 1 and "algorithm is 'production'" in refused.err
    for name in ("production_task", "production_job", "analysis_job"):
        assert name in refused.err and name in cli("explain", "task", task, "--setup", "grid", "--algorithm", "job").err
    assert "analysis_job" in cli("explain", "--help").out


def test_jobs_of_users_are_brokered(cli: Cli, db: Connection) -> None:
    given = {
        "setup": "users",
        "queues": {"Q": {"type": "analysis", "releases": ["ANY"], "pilots": {"getjob": 5}}},
        "datasets": {"d": {"type": "pseudo_input", "files": [{"lfn": "a"}, {"lfn": "b"}]}},
        "tasks": [{"id": 1, "label": "user", "user": "ann", "input": ["d"]}],
    }
    world.load(db, [given])
    assert "label user" in cli("assign", "jobs", "--setup", "users").out
    change = ("what-if", "--setup", "users", "--set", "CAP_RUNNING_USER_JOBS=1")
    pointed = "no task is open for production_job, 1 task for analysis_job: --algorithm analysis_job"
    assert pointed in cli(*change).err
    assert "no task is open" not in cli(*change, "--algorithm", "analysis_job").err
    summary = json.loads(cli("assign", "analysis", "--setup", "users", "--json").out)
    assert summary["assigned"] == [{"queue": "Q", "tasks": 1, "jobs": 2}]


def test_a_decision_without_locality_gets_a_note(cli: Cli, db: Connection) -> None:
    queue = {"type": "analysis", "pilots": {"getjob": 1}, "astorages": {"read_lan": ["HERE"], "write_lan": ["HERE"]}}
    given = {
        "queues": {"A": queue},
        "storages": {"HERE": {"space_free": 1000}, "ELSEWHERE": {}},
        "datasets": {"d": {"files": [{"lfn": "f", "size": 1}], "replicas": {"ELSEWHERE": {}}}},
        "tasks": [{"id": 1, "label": "user", "gshare": "User Analysis", "user": "alice", "input": ["d"]}],
    }
    world.load(db, [given])
    reason = "anal-loops: no queue has the input and passes the other rules: decided once more, without locality"
    shown = cli("explain", "task", 1).out
    assert f"1 of 1 queue would take its jobs\n{reason}\n" in shown
    assert reason in cli("explain", "task", 1, "--queue", "A").out
    explained = cli("explain", "task", 1, "--json").json
    assert (explained["refused"], explained["second_pass"]["rule"]) == (None, "anal-loops")
    assert f"candidates by {reason.replace(':', ', task 1:', 1)}" in cli("assign", "analysis", "--seed", 1).out


def test_classes_are_shown_and_stored(cli: Cli, db: Connection) -> None:
    given = {
        "setup": "users",
        "queues": {"FAST": {}, "SLOW": {}},
        "tasks": [{"id": 1, "label": "user", "gshare": "Express Analysis", "user": "ann", "status": "running"}],
        "jobs": [
            {
                "id": number,
                "queue": queue,
                "gshare": "User Analysis",
                "label": "user",
                "user": "ann",
                "status": "running",
                "created": {"hours_ago": wait + 2},
                "started": {"hours_ago": 2},
            }
            for number, (queue, wait) in enumerate([("FAST", 0.1), ("FAST", 0.2), ("SLOW", 20), ("SLOW", 30)], 1)
        ],
    }
    world.load(db, [given])
    dry = cli("classify", "--setup", "users", "--dry-run").out
    assert "2 queues" in dry and "1 task" in dry and "1 user" in dry
    query = "select queue, site_class from resource.queue_activity where setup = 'users' order by 1"
    assert db.execute(query).fetchall() == []
    shown = cli("classify", "--setup", "users", "--limit", "1").out
    assert "Queues, 1 of 2" in shown and "FAST" in shown and "1 user" in shown
    assert db.execute(query).fetchall() == [("FAST", 1), ("SLOW", -1)]
    rows = json.loads(cli("classify", "--setup", "users", "--json").out)
    assert [(row["kind"], row["name"], row["class"]) for row in rows] == [
        ("queue", "FAST", "hi"),
        ("queue", "SLOW", "lo"),
        ("task", "1", "S"),
        ("user", "ann", "A"),
    ]
    world.load(db, [{"setup": "other", "queues": {"Q": {}}}])
    assert "no queue of setup other" in cli("classify", "--setup", "other", "--dry-run").err
