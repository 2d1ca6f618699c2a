"""`broker explain task` begins with the stored decision, and then decides again."""

import re
from typing import Any

import pytest

from broker import world
from tests.calls import Connection
from tests.commands import Cli

pytestmark = pytest.mark.slow


OPEN = {"status": "online", "pilots": {"getjob": 1}}
WORLD = {
    "setup": "s",
    "queues": {
        "A": OPEN,
        "B": {**OPEN, "status": "offline"},
        "C": {**OPEN, "status": "test"},
        "D": {"type": "analysis"},
    },
    "datasets": {"in": {"files": [{"lfn": f"f{number}", "size": 1, "nevents": 1} for number in range(3)]}},
    "tasks": [{"id": 1, "input": ["in"], "status": "ready"}, {"id": 2, "input": ["in"], "status": "ready"}],
}


@pytest.fixture
def decided(db: Connection) -> Connection:
    """Run 1 has decided task 1 for real; run 2 was a dry run, while B was online."""
    world.load(db, [WORLD])
    db.execute("call brokerage.broker_jobs('s', '{1}', p_seed => 1)")
    db.execute("update resource.queue set status = 'online' where queue = 'B'")
    db.execute("call brokerage.broker_jobs('s', '{1}', p_dry_run => true)")
    return db


def test_explain_of_a_task_begins_with_the_last_real_run(cli: Cli, decided: Connection) -> None:
    shown = cli("explain", "task", 1, "--setup", "s").out
    then, now = shown.split("\nAs it would be decided now:\n")
    assert re.match(
        r"task 1 was decided at 20\d\d-.* by run 1 \(profile documented\): 1 of 3 queues passed, 3 jobs", then
    )
    assert re.search(r"│ +1 │ A +│ .*█ +│ +3 │", then)
    assert re.search(r"│ queue-status +│ rejected +│ +2 │ B: status is offline, not online", then)
    assert re.search(r"│ prod-initial-all +│ not candidate +│ +1 │ D: type is analysis", then)
    assert now.startswith("task 1 is not due: all 3 jobs are assigned\n")
    assert "\ntask 1: 1 of 3 queues would take its jobs\n" in now
    told = cli("explain", "task", 1, "--setup", "s", "--json").json
    assert (told["decided"]["run_id"], told["decided"]["jobs"], told["decided"]["dry"]) == (1, 3, False)
    assert [(row["queue"], row["verdict"]) for row in told["decided"]["queues"]] == [
        ("A", "candidate"),
        ("B", "rejected"),
        ("C", "rejected"),
        ("D", "not candidate"),
    ]
    assert [row["queue"] for row in told["queues"] if row["verdict"] == "candidate"] == ["B"]


def test_a_queue_is_shown_as_it_was_decided_and_as_it_is_now(cli: Cli, decided: Connection) -> None:
    then, now = cli("explain", "task", 1, "--setup", "s", "--queue", "B").out.split("\nAs it would be decided now:\n")
    assert "Queue B in run 1" in then and "status is offline" in then and "rejected" in then
    assert "candidate" in now and "offline" not in now


def test_an_undecided_task_or_another_profile_is_explained_as_of_now_only(cli: Cli, decided: Connection) -> None:
    for arguments in (("2",), ("1", "--now"), ("1", "--profile", "documented")):
        shown = cli("explain", "task", *arguments, "--setup", "s").out
        assert "decided" not in shown and "task " in shown
        assert cli("explain", "task", *arguments, "--setup", "s", "--json").json["decided"] is None


def test_a_named_run_is_shown_alone(cli: Cli, decided: Connection) -> None:
    shown = cli("explain", "task", 1, "--setup", "s", "--run", 2).out
    assert "by run 2 (profile documented, a dry run): 1 of 3 queues passed\n" in shown
    assert "would be decided now" not in shown
    assert cli("explain", "task", 1, "--setup", "s", "--run", 2, "--json").json["dry"] is True
    place = cli("explain", "task", 1, "--setup", "s", "--run", 2, "--queue", "C").out
    assert "Queue C in run 2" in place and "status is test, not online" in place


def test_the_jobs_of_the_task_itself_do_not_count_against_a_queue(cli: Cli, decided: Connection) -> None:
    """The jobs that A got are over its cap now, so A is shown apart from queues that have none of these jobs."""
    now = cli("explain", "task", 1, "--setup", "s").out.partition("As it would be decided now:")[2]
    theirs, _, rejected = now.partition("Rejected")
    assert re.search(r"Its jobs are there; more would not go there now(.*\n)+.*│ A +│ +3 │ cap", theirs)
    assert not re.search(r"│ A +│", rejected) and re.search(r"│ C +│", rejected)


def test_a_decision_whose_verdicts_were_removed_still_shows_its_counts(cli: Cli, decided: Connection) -> None:
    decided.execute("delete from brokerage.verdict")
    shown = cli("explain", "task", 1, "--setup", "s").out
    assert "1 of 3 queues passed, 3 jobs assigned\nthe decisions about its queues are no longer kept" in shown


def test_explain_shows_the_error_or_the_next_try_of_a_task(cli: Cli, decided: Connection) -> None:
    decided.execute("update resource.queue set status = 'offline'")
    decided.execute("update workload.task set architecture = '{' where task_id = 2")
    decided.execute("call brokerage.broker_jobs('s', '{2}')")
    shown = cli("explain", "task", 2, "--setup", "s").out
    said = r"task 2 was decided at .* by run 3 \(profile documented\): error\narchitecture is not JSON: "
    assert re.search(said, shown)
    decided.execute("update workload.task set architecture = '' where task_id = 2")
    decided.execute("call brokerage.broker_jobs('s', '{2}')")
    shown = cli("explain", "task", 2, "--setup", "s").out
    assert re.search(r"by run 4 .*: 0 of 3 queues passed, 0 jobs assigned, due again at 20", shown)


@pytest.mark.parametrize(("arguments", "code", "said"), [
    (("task", 1, "--run", 9), 1, "run 9 decided nothing for task 1 of setup s"),
    (("task", 2, "--run", 1), 1, "run 1 decided nothing for task 2 of setup s"),
    (("task", 1, "--run", 0), 2, "0"),
    (("task", 1, "--run", 1, "--now"), 2, "not together with --now"),
    (("task", 1, "--run", 1, "--profile", "documented"), 2, "not together with --now"),
    ((1, "--run", 1), 2, "are for a task"),
    ((1, "--now"), 2, "are for a task"),
    (("task", 1, "--run", 1, "--queue", "X"), 1, "X is no queue of setup s"),
])  # fmt: skip
def test_wrong_requests_for_a_run_are_refused(
    cli: Cli, decided: Connection, arguments: tuple[Any, ...], code: int, said: str
) -> None:
    refused = cli("explain", *arguments, "--setup", "s")
    assert (refused.code, refused.out) == (code, "")
    assert said in refused.err.replace("│\n│ ", "")
    if arguments == ("task", 1, "--run", 9):
        assert "runs that did, the last first: 2, 1" in refused.err
