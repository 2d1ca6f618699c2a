"""`broker what-if --retry-rules`."""

import json
from pathlib import Path
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connection
from tests.commands import AsRole, Cli

RULES = [
    {"position": 1, "name": "lost", "source": "pilot", "code_from": 1, "code_to": 9, "failures_to": 1,
     "decision": "later", "delay": 600},
    {"position": 2, "name": "noted", "decision": "fail", "passive": True},
    {"position": 3, "name": "enough", "decision": "fail"},
]  # fmt: skip
USED = {"cpu": 3600, "wall": 7200}


@pytest.fixture
def q(db: Connection) -> Calls:
    """Job 1 failed three times in an hour each, by a rule that retries always; job 2 was killed."""
    q = Calls(db)
    q.call("set_retry_rules", Jsonb([{"position": 1, "name": "again", "failures_to": 2, "decision": "retry"}]))
    for job_id in (1, 2):
        q.insert(job_id)
    error = [{"source": "pilot", "code": 5}]
    for _ in range(3):
        q.call("finish_job", 1, q.take(JobID=1).attempt, "failed", Jsonb(error), Jsonb(USED))
    match = q.take(JobID=2)
    q.call("cancel_job", 2)
    q.call("finish_job", 2, match.attempt, "failed")
    return q


def rules_file(tmp_path: Path, content: Any) -> Path:
    file = tmp_path / "rules.json"
    file.write_text(json.dumps(content))
    return file


@pytest.mark.slow
def test_the_answer_counts_what_both_lists_of_rules_decide(cli: Cli, q: Calls, tmp_path: Path) -> None:
    file = rules_file(tmp_path, RULES)
    before = q.stored()
    found = cli("what-if", "--retry-rules", file, "--since", "1 day", "--json").json
    assert (found["ends"], found["looked_since"], found["changed"], found["changed_since"]) == (4, None, 3, 0)
    counts = {row["name"]: [row[key] for key in ("present", "proposed", "present_noted", "proposed_noted")]
              for row in found["rules"]}  # fmt: skip
    assert counts == {"again": [2, 0, 0, 0], "lost": [0, 1, 0, 0], "noted": [0, 0, 0, 2], "enough": [0, 2, 0, 0]}
    assert {(row["present"], row["proposed"], row["proposed_delay"], row["ends"]) for row in found["transitions"]} == {
        ("again: retry", "lost: later", 600, 1), ("again: retry", "enough: fail", None, 1),
        (None, "enough: fail", None, 1), (None, None, None, 1),
    }  # fmt: skip
    runs = {row["kind"]: (row["ends"], row["cpu_used"], row["wall_used"]) for row in found["runs"]}
    assert runs == {
        "by_both": (1, 3600, 7200), "by_present_only": (1, 3600, 7200), "by_proposed_only": (0, 0, 0),
        "by_neither": (2, 3600, 7200), "not_run": (1, 3600, 7200),
    }  # fmt: skip
    assert [(row["job_id"], row["attempt_number"]) for row in found["sample"]] == [(1, 3), (1, 2), (1, 1)]
    last = found["sample"][0]
    assert [(row["name"], row["verdict"]) for row in last["present_rules"]] == [("budget", None), ("again", "no")]
    assert [row["verdict"] for row in last["proposed_rules"]] == [None, "no", "noted", "applies"]
    printed = cli("--wide", "what-if", "--retry-rules", file).out
    for words in ("4 failed ends since", "3 judged otherwise", "lost: later after 600 s", "no rule, so it ends",
                  "again: failure 3, not 1 to 2", "lost: failure 2, not 1 to 1", "noted, proposed",
                  "1 failed run would not have taken place"):  # fmt: skip
        assert words in printed, printed
    assert q.stored() == before
    assert cli("what-if", "--retry-rules", file, "--newest", 1, "--json").json["ends"] == 1
    assert "the newest 2 failed ends" in cli("what-if", "--retry-rules", file, "--newest", 2).out


def test_rules_come_from_a_list_a_world_a_preset_or_standard_input(cli: Cli, q: Calls, tmp_path: Path) -> None:
    answers = [
        cli("what-if", "--retry-rules", rules_file(tmp_path, given), "--json").json["rules"]
        for given in (RULES, {"setup": "other", "retry_rules": RULES})
    ]
    answers.append(cli("what-if", "--retry-rules", "-", "--json", stdin=json.dumps(RULES)).json["rules"])
    assert answers == [answers[0]] * 3
    found = cli("what-if", "--retry-rules", "preset:panda", "--json").json
    shipped = q.value("select taskqueue.shipped_retry_rules('panda')")
    assert [row["name"] for row in found["rules"]] == [*(row["name"] for row in shipped), "again"]


def test_wrong_rules_and_options_are_refused(cli: Cli, q: Calls, tmp_path: Path) -> None:
    good = rules_file(tmp_path, RULES)
    cli("what-if", "--since", "1 day", "--without", "memory").refuses("--since is given without --retry-rules")
    options = ["--set A=1", "--profile documented", "--without memory", "--task 1", "--parameter top-10.best=1",
               "--force", "--on x", "--algorithm analysis_job", f"--world {good}"]  # fmt: skip
    for mixed in map(str.split, options):
        cli("what-if", "--retry-rules", good, *mixed).refuses(f"--retry-rules is given with {mixed[0]}")
    cli("what-if", "--retry-rules", "preset:cms").refuses("preset is 'cms'", "dirac")
    cli("what-if", "--retry-rules", good, "--since", "soon").refuses("--since soon is neither")
    cli("what-if", "--retry-rules", good, "--setup", "nowhere").refuses("setup nowhere does not exist")
    cli("what-if", "--retry-rules", tmp_path / "none.json").refuses("cannot read")
    for wrong, words in (({"queues": {}}, "no list of retry rules"), ([{"position": 1}], "name is null"),
                         ([1], "not an object"), ({"retry_rules": {}}, "no list of retry rules")):  # fmt: skip
        cli("what-if", "--retry-rules", rules_file(tmp_path, wrong)).refuses(words)


def test_a_viewer_may_ask(cli: Cli, q: Calls, as_role: AsRole, tmp_path: Path) -> None:
    file = rules_file(tmp_path, RULES)
    as_role("broker_viewer")
    assert cli("what-if", "--retry-rules", file, "--json").json["changed"] == 3


def test_setups_without_failed_jobs_have_an_answer(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1)
    assert "0 failed ends since" in cli("what-if", "--retry-rules", "preset:dirac").out
