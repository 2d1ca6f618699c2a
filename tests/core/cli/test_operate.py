"""`broker job`, `cancel`, `hold`, `resume`."""

import re
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connection
from tests.commands import AsRole, Cli
from tests.core.lifecycle import grids


def events(known: dict[str, Any]) -> list[str]:
    return [row["event"] for row in known["events"]]


@pytest.mark.slow
def test_the_command_job_shows_an_inserted_job_from_its_queue_to_its_end(cli: Cli, db: Connection) -> None:
    q = Calls(db)
    queue = q.insert(1, Sites=["S"])
    waits = cli("job", 1, "--json").json
    assert (waits["in_task_queues"]["state"], waits["task_queue"]["task_queue_id"]) == ("waiting", queue)
    assert [row["remark"] for row in waits["seen_lately"]] == ["no resource was seen lately"]
    assert (waits["brokered"], waits["lease"], waits["history"], waits["events"]) == (None, None, [], [])
    printed = cli("job", 1).out
    assert f"in TaskQueue {queue} (open), user priority 1" in printed
    assert "reason" in printed
    assert waits["waiting"]["reason"] == "unknown"
    cli("summarize")
    assert "no resource asked" in cli("job", 1).out
    q.insert(2, Sites=["S"], MinRAM=4000)
    q.match(Site="S", CPUTime=1, MaxRAM=2000)
    db.execute("update taskqueue.resource_seen set seen_at = seen_at - interval '1 minute'")
    db.execute("delete from taskqueue.summary")
    cli("maintain")
    cli("summarize")
    assert re.search(r'too large: .* \(nearest: \{.*"MaxRAM": *2000.*\}, last seen ', cli("--wide", "job", 2).out)
    assert [row["reason"] for row in cli("reasons", "--json").json] == ["too_large"]
    q.call("delete_job", 2)
    assert "History" not in printed
    assert "Timeouts" not in printed
    match = q.take(Site="S", GridCE="ce1")
    leased = cli("job", 1, "--json").json
    assert (leased["lease"]["site"], leased["lease"]["attempt_number"], events(leased)) == ("S", 1, ["matched"])
    assert (leased["task_queue"], leased["seen_lately"]) == (None, [])
    assert match.attempt not in str(leased)
    printed = cli("job", 1).out
    assert "at S, ce1; no report yet, expires at" in printed
    q.call("cancel_job", 1, "no more")
    cli("agent", "report", 1, match.attempt)
    printed = cli("job", 1).out
    assert "reported at" in printed
    assert "no more" in printed
    cli("agent", "finish", 1, match.attempt, "--outcome", "cancelled")
    ended = cli("job", 1, "--json").json
    assert ended["in_task_queues"]["state"] == "cancelled"
    assert events(ended) == ["matched", "kill asked", "running", "cancelled"]
    assert "cancelled at" in cli("job", 1).out
    q.call("forget_ended", "0 s")
    assert "ended; only its history is kept" in cli("job", 1).out


@pytest.mark.slow
def test_the_command_job_shows_history_and_timeouts_of_a_brokered_job(cli: Cli, db: Connection) -> None:
    grids.load(db, "s")
    [job] = grids.make(db, "s")
    made = cli("job", job, "--setup", "s", "--json").json
    assert (made["brokered"]["status"], made["in_task_queues"]) == ("defined", None)
    assert [(row["rule"], row["verdict"]) for row in made["timeouts"]] == [("defined", "waits")]
    grids.activate(db, "s")
    known = cli("job", job, "--setup", "s", "--json").json
    assert known["in_task_queues"]["state"] == "waiting"
    assert [(row["from_status"], row["to_status"]) for row in known["history"]] == grids.history(db, "s", job)
    assert [row["rule"] for row in known["timeouts"]] == ["activated"]
    every = cli("job", job, "--setup", "s", "--json", "--all").json["timeouts"]
    assert {row["verdict"] for row in every} == {"waits", "never"}
    assert re.search(r"│ in \d+ (h|d) +│", cli("job", job, "--setup", "s").out)
    printed = cli("job", job, "--setup", "s", "--wide").out
    for words in ("task id", "QA", "Reprocessing default", "activate", "2026-03-03 12:00:00", "resources seen lately"):
        assert words in printed, words
    assert "the timeout is for jobs that are pending" not in printed
    assert "the timeout is for jobs that are pending" in cli("job", job, "--setup", "s", "--all").out
    cli("cancel", job, "--setup", "s", "--reason", "no more")
    ended = cli("job", job, "--setup", "s").out
    assert "no more" in ended
    assert "Timeouts" not in ended
    assert "the job has ended: cancelled" in cli("job", job, "--setup", "s", "--all").out


def test_an_unknown_job_is_refused(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1)
    cli("job", 7).refuses("error: there is no job 7 in setup default [PB004]")
    cli("job", 1, "--setup", "other").refuses("setup other does not exist; there are: default")
    assert cli("job", 99999999999999999999).code == 2


@pytest.mark.slow
def test_viewers_see_jobs_and_change_nothing_and_agents_see_none(cli: Cli, db: Connection, as_role: AsRole) -> None:
    grids.load(db, "s")
    first, _ = grids.make(db, "s", jobs=2)
    grids.activate(db, "s")
    grids.match(db, "s")
    as_role("broker_viewer")
    assert [cli("job", job, "--setup", "s").code for job in (first, first + 1)] == [0, 0]
    for command in (
        ("cancel", first),
        ("cancel", "--task", 1),
        ("retry", first),
        ("hold", "job", first),
        ("resume", "job", first),
    ):
        printed = cli(*command, "--setup", "s")
        needed = "broker_submitter" if command == ("cancel", first) else "broker_operator"
        hint = f"hint:  have {needed} granted to this login"
        assert (printed.code, "[42501]" in printed.err, hint in printed.err) == (1, True, True), command
    as_role("broker_agent")
    assert (cli("job", first, "--setup", "s").code, "[42501]" in cli("job", first, "--setup", "s").err) == (1, True)


@pytest.mark.slow
def test_jobs_owners_and_task_queues_are_held_and_resumed(cli: Cli, db: Connection) -> None:
    q = Calls(db)
    queue = q.insert(1)
    q.insert(2, Sites=["S"])
    assert cli("hold", "job", 1).out == "job 1 held: 1 job changed\n"
    assert "held since" in cli("job", 1).out
    assert cli("hold", "job", 1, "--json").json["changed"] == 0
    assert cli("hold", "owner", "alice").out == "owner alice held: 2 TaskQueues changed, and all future ones\n"
    assert cli("hold", "owner", "alice").err == ""
    assert cli("hold", "owner", "nobody").err == "no TaskQueue of setup default has the owner nobody\n"
    assert cli("hold", "task-queue", queue).out == f"TaskQueue {queue} held: 1 TaskQueue changed\n"
    assert "(owner held)" in cli("job", 2).out
    assert q.match() is None
    printed = cli("resume", "owner", "alice", "--json").json
    assert printed == {"setup": "default", "kind": "owner", "name": "alice", "held": False, "changed": 2}
    assert q.take().job_id == 2
    assert q.match() is None  # job 1 is held, and so is its queue
    assert cli("resume", "job", 1).out == "job 1 resumed: 1 job changed\n"
    assert q.match() is None
    assert cli("resume", "task_queue", queue).out == f"TaskQueue {queue} resumed: 1 TaskQueue changed\n"
    assert q.take().job_id == 1


@pytest.mark.slow
def test_job_shows_holds_with_time_and_role(cli: Cli, db: Connection, as_role: AsRole) -> None:
    q = Calls(db)
    q.set_clock("2026-03-01 12:00+00")
    q.insert(1)
    as_role("broker_operator")
    for minute, command in enumerate(("hold", "hold", "resume", "hold"), 1):
        q.set_clock(f"2026-03-01 12:0{minute}+00")
        assert cli(command, "job", 1).code == 0
    assert "held since 2026-03-01 12:04:00" in cli("job", 1).out
    printed = cli("job", 1, "--json").json
    assert [(row["event"], row["at"][14:16], row["role_name"]) for row in printed["events"]] == [
        ("held", "01", "broker_operator"),
        ("resumed", "03", "broker_operator"),
        ("held", "04", "broker_operator"),
    ]
    db.execute("truncate taskqueue.history")
    assert "held since before the history that is kept" in cli("job", 1).out
    cli("resume", "job", 1)
    assert "waiting since 2026-03-01 12:00:00" in cli("job", 1).out


@pytest.mark.parametrize("command", ["hold", "resume"])
@pytest.mark.parametrize(
    ("kind", "name", "error"),
    [
        ("site", "S", "invalid kind 'site' [PB001]"),
        ("job", "x", "invalid name 'x' of a job [PB001]"),
        ("task-queue", "", "invalid name '' of a TaskQueue [PB001]"),
        ("job", 7, "job 7 does not wait in setup default [PB004]"),
        ("task-queue", 7, "there is no TaskQueue 7 in setup default [PB004]"),
        ("job", 1, "job 1 is leased [PB005]"),
    ],
)
def test_hold_and_resume_refuse_wrong_kinds_and_names(  # noqa: PLR0917
    cli: Cli, db: Connection, command: str, kind: str, name: object, error: str
) -> None:
    Calls(db).insert(1)
    Calls(db).take()
    printed = cli(command, kind, name)
    assert (printed.code, printed.err.splitlines()[0]) == (1, f"error: {error}")


def test_hold_does_not_create_a_setup(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1)
    assert "setup other does not exist" in cli("hold", "owner", "alice", "--setup", "other").err
    assert Calls(db).value("select count(*) from monitor.setup") == 1


@pytest.mark.slow
def test_cancel_ends_waiting_jobs_and_asks_agents_to_kill_leased_ones(cli: Cli, db: Connection) -> None:
    Calls(db).insert_many([1, 2])
    match = Calls(db).take()
    other = 3 - match.job_id
    assert cli("cancel", other).out == f"job {other}: ended\n"
    assert cli("cancel", match.job_id, "--reason", "enough", "--json").json == [
        {"job_id": match.job_id, "answer": "kill asked"}
    ]
    assert cli("agent", "report", match.job_id, match.attempt).out == "kill: enough\n"
    assert "cancelled" in cli("agent", "release", match.job_id, match.attempt).out
    assert cli("cancel", match.job_id).out == f"job {match.job_id}: has ended: cancelled\n"


@pytest.mark.slow
def test_cancel_takes_brokered_and_inserted_jobs_all_or_none(cli: Cli, db: Connection) -> None:
    grids.load(db, "s")
    defined, activated = grids.make(db, "s", jobs=2)
    Calls(db, "s").insert(5)
    cli("cancel", defined, 5, 99, "--setup", "s").refuses("job 99", "[PB004]")
    assert grids.status(db, "s", defined) == "defined"
    assert cli("cancel", activated, 5, defined, "--setup", "s", "--json").json == [
        {"job_id": job, "answer": "ended"} for job in (5, defined, activated)
    ]
    assert grids.status(db, "s", defined) == grids.status(db, "s", activated) == "cancelled"
    assert grids.differences(db, "s") == []


@pytest.mark.slow
def test_cancel_takes_a_task(cli: Cli, db: Connection) -> None:
    grids.load(db, "s")
    waiting, *_ = grids.make(db, "s", jobs=3)
    grids.activate(db, "s")
    assert grids.match(db, "s")
    assert cli("cancel", "--task", 1, "--setup", "s", "--reason", "no more").out == (
        "task 1 aborted: 2 jobs ended, 1 job kill asked\n"
    )
    assert [row["answer"] for row in cli("cancel", "--task", 1, "--setup", "s", "--json").json] == ["kill asked"]
    assert grids.status(db, "s", waiting) in {"cancelled", "sent"}
    cli("cancel", "--task", 2, "--setup", "s").refuses("there is no task 2 in setup s [PB004]")


@pytest.mark.parametrize(
    "arguments", [(), (1, "--task", 1), ("x",), (1, 99999999999999999999), ("--task", 99999999999999999999)], ids=str
)
def test_cancel_without_valid_jobs_is_wrong_usage(cli: Cli, arguments: tuple[Any, ...]) -> None:
    assert cli("cancel", *arguments).code == 2


def test_a_job_is_cancelled_for_a_reason(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1)
    cli("cancel", 1, "--reason", "").refuses("reason is ''")
    assert Calls(db).value("select state from monitor.job") == "waiting"


@pytest.mark.slow
def test_submitters_cancel_jobs_and_no_tasks(cli: Cli, db: Connection, as_role: AsRole) -> None:
    grids.load(db, "s")
    [job] = grids.make(db, "s")
    Calls(db, "s").insert(5)
    db.execute("select resource.set_identity('s', 'broker_submitter')")
    as_role("broker_submitter")
    assert cli("cancel", 5, job, "--setup", "s").out == f"job 5: ended\njob {job}: ended\n"
    assert "[42501]" in cli("cancel", "--task", 1, "--setup", "s").err


@pytest.mark.slow
@pytest.mark.parametrize("command", ["tasks", "leases", "top", "decisions", "sites", "leases --watch", "shares"])
def test_a_refused_submitter_is_led_to_the_commands_for_its_own_jobs(
    cli: Cli, db: Connection, as_role: AsRole, command: str
) -> None:
    Calls(db).insert(1)
    as_role("broker_submitter")
    refused = cli(*command.split())
    assert (refused.code, "[42501]" in refused.err) == (1, True)
    assert "a submitter sees its own jobs by broker jobs, broker job JOB and broker explain JOB" in refused.err
    assert "have broker_viewer granted" in refused.err
    as_role("broker_agent")
    refused = cli(*command.split())
    assert ("own jobs" in refused.err, "have broker_viewer granted" in refused.err) == (False, True)


def test_an_ended_job_of_a_task_queue_is_shown_found_and_retried(cli: Cli, db: Connection) -> None:
    q = Calls(db)
    q.insert(1, 3, OwnerDN="ann", OwnerGroup="physics", Sites=["A"])
    q.insert(2, OwnerDN="bob")
    for job_id in (1, 2):
        match = q.take(Site="A", JobID=job_id)
        q.call("finish_job", job_id, match.attempt, "failed")
    shown = " ".join(cli("job", 1).out.split())
    for text in ("failed at A at ", "user priority 3, 1 attempt", "owner ann", "group physics"):
        assert text in shown
    assert cli("job", 1, "--json").json["in_task_queues"]["requirements"]["Sites"] == ["A"]
    for option, value in (("--owner", "ann"), ("--group", "physics")):
        found = cli("jobs", option, value, "--site", "A", "--status", "failed", "--json").json
        assert [row["job_id"] for row in found] == [1]
    assert cli("retry", 1).out == "job 1: waits again\n"
    assert (q.state(1), [row["event"] for row in cli("job", 1, "--json").json["events"]][-1]) == ("waiting", "retried")
    cli("retry", 1).refuses("error: job 1 is waiting [PB005]")


@pytest.mark.slow
def test_retry_gives_the_work_of_failed_jobs_back_to_their_task(cli: Cli, db: Connection) -> None:
    grids.load(db, "s", files=3)
    jobs = grids.make(db, "s", jobs=3)
    grids.activate(db, "s")
    for _ in jobs:
        db.execute("select taskqueue.finish_job('s', %s, %s, 'failed')", grids.match(db, "s"))
    assert grids.make(db, "s", "QB") == []
    assert cli("retry", jobs[0], "--setup", "s").out == f"job {jobs[0]}: its work is back in task 1\n"
    assert cli("retry", jobs[0], "--setup", "s").out == f"job {jobs[0]}: its work went back before\n"
    tried = cli("job", jobs[0], "--setup", "s", "--json").json
    assert (tried["history"][-1]["to_status"], tried["history"][-1]["why"], tried["brokered"]["replaced_by"]) == (
        "failed",
        "retry_jobs: its work is back in task 1",
        None,
    )
    assert [row["why"] for row in tried["history"]].count("retry_jobs: its work is back in task 1") == 1
    assert tried["history"][-1]["role_name"] == Calls(db).value("select current_user")
    assert cli("retry", "--task", 1, "--setup", "s").out == "task 1: 2 failed jobs will be made again\n"
    assert cli("retry", "--task", 1, "--setup", "s", "--json").json == []
    again = grids.make(db, "s", "QB", jobs=9)
    assert len(again) == 3
    made = cli("job", jobs[0], "--setup", "s", "--json").json["brokered"]["replaced_by"]
    assert made == again[0]
    assert cli("job", made, "--setup", "s", "--json").json["brokered"]["replaced_by"] is None
    assert f"replaced by {made}" in " ".join(cli("job", jobs[0], "--setup", "s").out.split())
    for words in (("retry",), ("retry", 7, "--task", 1)):
        cli(*words, "--setup", "s").refuses("name jobs or a task", code=2)
    printed = cli("retry", "--task", 77, "--setup", "s")
    assert (printed.code, printed.err.splitlines()[0]) == (1, "error: there is no task 77 in setup s [PB004]")
    cli("retry", 7, "--setup", "s").refuses("error: there is no job 7 in setup s [PB004]")


def test_the_command_job_says_what_became_of_a_failed_job(cli: Cli, db: Connection) -> None:
    q = Calls(db)
    rules = [
        {"position": 1, "name": "try-once", "failures_to": 1, "decision": "later", "delay": 600},
        {"position": 2, "name": "enough", "decision": "fail"},
        {"position": 3, "name": "would", "decision": "retry", "passive": True},
    ]
    q.call("set_retry_rules", Jsonb(rules))
    q.insert(1)
    q.call("finish_job", 1, q.take().attempt, "failed")
    known = cli("job", 1, "--json").json
    assert [row["verdict"] for row in known["retry_rules"]] == [None, "applies", "after", "after"]
    printed = cli("--wide", "job", 1).out
    assert re.search(r"after its failure +try-once: later, held until .* \(failure 1, class unknown", printed)
    assert "Retry rules, by the present settings" in printed
    q.call("resume", "job", "1")
    q.call("finish_job", 1, q.take().attempt, "failed")
    assert re.search(r"after its failure +enough: fail \(failure 2", cli("--wide", "job", 1).out)
    q.call("set_retry_rules", Jsonb([]))
    q.insert(2)
    q.call("finish_job", 2, q.take().attempt, "failed")
    printed = cli("--wide", "job", 2).out
    assert "no retry rule decided, so the job ended (failure 1" in printed
    assert "Retry rules" not in printed


def test_the_command_job_says_when_the_part_of_a_failed_job_goes_back(cli: Cli, db: Connection) -> None:
    grids.load(db, "s")
    [job] = grids.make(db, "s")
    q = Calls(db, "s")
    rules = [{"position": 1, "name": "rest", "failures_to": 1, "decision": "later", "delay": 600}]
    q.call("set_retry_rules", Jsonb(rules))
    grids.activate(db, "s")
    match = q.take(**grids.PLENTY, Site="QA")
    q.call("finish_job", job, match.attempt, "failed")
    printed = cli("--wide", "job", job, "--setup", "s").out
    assert re.search(r"after its failure +rest: later, its part goes back to the task at .* \(in 10 min\) \(", printed)
    assert cli("job", job, "--setup", "s", "--json").json["brokered"]["retry_at"]
