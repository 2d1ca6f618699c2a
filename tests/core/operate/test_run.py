"""`broker run`: loops share work, hand it over, outlive the server, and do not suffer from each other's errors."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from broker.operate import batch, runner
from broker.operate import loops as all_loops
from broker.operate.log import JsonLines, TextLines
from broker.operate.loops import LOOPS, Loop, Round
from tests.calls import Calls, Connection
from tests.commands import Cli
from tests.core.lifecycle import grids
from tests.core.lifecycle.timeouts import add, ago, job_state, lease, make
from tests.core.operate.conftest import Lines, Process, Start, until
from tests.core.oracle.timeouts import Job, Queue, World

A = Queue("A")


def counting(rounds: list[str], name: str) -> Loop:
    """A loop that only notes that it did a round."""
    return Loop(name, "", 1, lambda _: rounds.append(name))


def leader_of(db: Connection, name: str) -> str | None:
    """The process that leads a loop."""
    row = db.execute("select holder::text from lifecycle.loop where name = %s", [name]).fetchone()
    return row[0] if row else None


@pytest.mark.slow
def test_a_second_process_takes_over_what_a_dead_one_led(start: Start, logged: Lines, db: Connection) -> None:
    done: dict[str, list[str]] = {"first": [], "second": []}
    first = start("first", counting(done["first"], "maintain"))
    until(lambda: done["first"])
    second = start("second", counting(done["second"], "maintain"), counting(done["second"], "classify"))
    until(lambda: "classify" in done["second"])
    assert "maintain" not in done["second"]  # each loop has one leader, not each process
    first.lose_connections(db, for_good=True)
    until(lambda: "maintain" in done["second"])
    assert leader_of(db, "maintain") == str(second.runner.holder)
    assert [text.partition(", ")[0] for text in logged.texts() if "standing by" in text] == ["standing by"]


def test_a_process_that_is_stopped_hands_over_at_once(start: Start, logged: Lines, db: Connection) -> None:
    done: dict[str, list[str]] = {"first": [], "second": []}
    first = start("first", counting(done["first"], "maintain"))
    until(lambda: done["first"])
    start("second", counting(done["second"], "maintain"))
    first.end()
    number = len(done["first"])
    assert f"ended after {number} round{'' if number == 1 else 's'}" in logged.texts()
    assert {"maintain": number} in logged.figures
    row = db.execute("select holder = %s from lifecycle.loop", [first.runner.holder]).fetchone()
    assert row != (True,)
    until(lambda: done["second"])


@pytest.mark.slow
def test_a_lost_server_is_noted_once_and_waited_for(start: Start, logged: Lines, db: Connection) -> None:
    rounds: list[str] = []
    process = start("only", counting(rounds, "maintain"), counting(rounds, "classify"))
    until(lambda: {"maintain", "classify"} <= set(rounds))
    process.lose_connections(db, for_good=True)
    tried = process.attempts
    until(lambda: process.attempts >= tried + 3)
    process.refused.clear()
    until(lambda: "going on" in logged.texts())
    rounds.clear()
    until(lambda: {"maintain", "classify"} <= set(rounds))
    texts = logged.texts("WARNING") + logged.texts("ERROR")
    assert [text.split(":")[0] for text in texts] == ["trying again"]


@pytest.mark.slow
def test_a_loop_that_is_stuck_loses_its_lead(
    start: Start, logged: Lines, db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But a loop that waits for the database keeps it: that is work."""
    monkeypatch.setattr(runner, "_STUCK", 1.5)
    hangs = threading.Event()
    rounds: list[str] = []

    def sleep(work: Round) -> None:
        work.connection.execute("select pg_sleep(4)")
        rounds.append("sleep")

    def hang(_: Round) -> None:
        hangs.wait(60)

    first = start("first", Loop("notify", "", 1, hang), Loop("maintain", "", 1, sleep))
    until(lambda: leader_of(db, "notify") == str(first.runner.holder))
    second = start("second", counting(rounds, "notify"), counting(rounds, "maintain"))
    until(lambda: leader_of(db, "notify") == str(second.runner.holder))
    until(lambda: {"sleep", "notify"} <= set(rounds))
    assert "maintain" not in rounds
    assert [line[:2] for line in logged.lines if line[3].startswith("stuck: no step for ")] == [("ERROR", "notify")]
    hangs.set()
    first.end()


@pytest.mark.slow
def test_a_signal_ends_what_does_not_end_by_itself(
    start: Start, db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_LAST_STEPS", 1.0)
    hangs, begun = threading.Event(), list[str]()

    def sleep(work: Round) -> None:
        begun.append("sleep")
        work.connection.execute("select pg_sleep(600)")

    def hang(_: Round) -> None:
        begun.append("hang")
        hangs.wait(120)

    process = start("only", Loop("notify", "", 1, hang), Loop("maintain", "", 1, sleep))
    until(lambda: {"sleep", "hang"} <= set(begun))
    process.end()
    assert leader_of(db, "notify") is None
    assert db.execute("select from pg_stat_activity where query like '%pg_sleep(600)%' and state = 'active'"
                      " and pid <> pg_backend_pid()").fetchone() is None  # fmt: skip
    hangs.set()


def test_a_run_waits_for_a_server_that_is_not_there_yet(dsn: str, start: Start, logged: Lines) -> None:
    rounds: list[str] = []
    process = start("late", counting(rounds, "maintain"))
    process.refused.set()  # or it was quicker: then this changes nothing
    process.refused.clear()
    until(lambda: rounds)
    assert logged.texts("ERROR") == []


def test_a_loop_that_loses_its_connection_goes_on_with_another(start: Start, logged: Lines, db: Connection) -> None:
    """The round is lost, and the loop goes on with another connection."""

    def work(work: Round) -> None:
        rounds.append(work.connection.info.backend_pid)
        work.connection.execute("select 1")

    rounds: list[int] = []
    start("only", Loop("maintain", "", 1, work))
    until(lambda: rounds)
    db.execute("select pg_terminate_backend(%s)", [rounds[0]])
    until(lambda: rounds[-1] != rounds[0])
    assert logged.texts("WARNING") + logged.texts("ERROR") == []


@pytest.mark.slow
def test_a_loop_leaves_a_server_that_only_reads(start: Start, logged: Lines, db: Connection) -> None:
    """On a demoted primary, the connection is closed, although an error of one setup usually keeps it."""

    def work(work: Round) -> None:
        rounds.append(work.connection.info.backend_pid)
        if len(rounds) == 1:
            work.connection.execute("set default_transaction_read_only = on")
        with work.trying("default"):
            work.connection.execute("select nextval('workload.job_id')")

    rounds: list[int] = []
    start("only", Loop("maintain", "", 1, work))
    until(lambda: len(rounds) > 1)
    assert rounds[1] != rounds[0]
    until(lambda: "the round works again" in logged.texts())
    assert [text[-7:] for text in logged.texts("ERROR")] == ["[25006]"]


@pytest.mark.slow
def test_a_loop_that_fails_stops_no_other(start: Start, logged: Lines, db: Connection) -> None:
    broken = threading.Event()
    broken.set()

    def work(work: Round) -> None:
        if broken.is_set():
            work.connection.execute("select 1 / 0")
        fine.append("classify")

    fine: list[str] = []
    others: list[str] = []
    start("only", Loop("classify", "", 1, work), counting(others, "maintain"))
    until(lambda: logged.texts("ERROR"))
    others.clear()
    until(lambda: len(others) > 3)
    beat = "select errors ->> '' from lifecycle.loop where name = 'classify' and failing_since is not null"
    until(lambda: db.execute(beat).fetchone() == ("division by zero [22012]",))
    broken.clear()
    until(lambda: fine)
    until(lambda: db.execute(beat).fetchone() is None)
    assert logged.texts("ERROR") == ["division by zero [22012]"]  # once, however often it was tried
    assert "the round works again" in logged.texts()


@pytest.mark.slow
def test_an_error_in_one_setup_does_not_stop_the_others(
    start: Start, logged: Lines, db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for setup in ("bad", "good"):
        Calls(db, setup).insert(1)
    real, done = all_loops.maintain, list[str]()

    def maintain(connection: Connection, setup: str, *, often: bool) -> dict[str, int]:
        if setup == "bad":
            connection.execute("select 'x'::int")
        done.append(setup)
        return real(connection, setup, often=often)

    monkeypatch.setattr(all_loops, "maintain", maintain)
    start("only", "maintain")
    until(lambda: "good" in done)
    Calls(db, "good").insert(2)  # something is due there again
    done.clear()
    until(lambda: "good" in done)
    errors = [line for line in logged.lines if line[0] == "ERROR"]
    assert [(loop, setup) for _, loop, setup, _ in errors] == [("maintain", "bad")]
    beat = "select errors from lifecycle.loop where errors is not null"
    until(lambda: [list(errors) for (errors,) in db.execute(beat).fetchall()] == [["bad"]])
    assert str(db.execute("select error from monitor.loop").fetchone()).startswith("('bad: invalid input syntax")


@pytest.mark.slow
def test_a_loop_works_in_the_setups_whose_setting_wants_it(
    start: Start, db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for setup, wanted in (("left", "[]"), ("taken", '["maintain"]'), ("usual", "null")):
        Calls(db, setup).insert(1)
        db.execute("select lifecycle.set_settings(%s, %s)", [setup, f'{{"loops": {wanted}}}'])
    done: list[str] = []

    def maintain(_: Connection, setup: str, *, often: bool) -> dict[str, int]:
        done.append(setup)
        return {}

    monkeypatch.setattr(all_loops, "maintain", maintain)
    start("only", "maintain")
    until(lambda: done.count("usual") > 1)
    assert set(done) == {"taken", "usual"}


@pytest.mark.slow
def test_a_round_calls_only_setups_in_which_something_is_due(
    start: Start, db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for setup in ("idle", "busy"):
        q = Calls(db, setup)
        q.settings(share_delay="0 s")
        q.insert(1)
        for _ in range(3):
            q.maintain()
    called: list[str] = []
    real = {name: getattr(all_loops, name) for name in ("maintain", "watch")}

    def counted(name: str) -> Callable[..., Any]:
        def call(connection: Connection, setup: str, **options: bool) -> Any:
            called.append(setup)
            return real[name](connection, setup, **options)

        return call

    for name in real:
        monkeypatch.setattr(all_loops, name, counted(name))
    start("only", "maintain", "watchdog")
    Calls(db, "busy").insert(2)
    until(lambda: "busy" in called)
    beat = "select bool_and(ended_at > now() - interval '1 second') from lifecycle.loop having count(*) = 2"
    until(lambda: db.execute(beat).fetchone() == (True,))
    assert set(called) == {"busy"}


@pytest.mark.slow
def test_expensive_steps_of_maintenance_run_once_a_minute(
    start: Start, db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    Calls(db, "one").insert(1)
    real, rounds = all_loops.maintain, list[tuple[bool, set[str]]]()

    def maintain(connection: Connection, setup: str, *, often: bool) -> dict[str, int]:
        found = real(connection, setup, often=often)
        rounds.append((often, set(found)))
        return found

    monkeypatch.setattr(all_loops, "maintain", maintain)
    start("only", "maintain", setup="one")
    until(lambda: len(rounds) > 2)
    assert [often for often, _ in rounds[:3]] == [False, True, True]
    seldom = {
        "empty TaskQueues",
        "definitions",
        "past definitions",
        "void changes",
        "requests",
        "delays",
        "known offers",
    }
    assert rounds[0][1] - rounds[1][1] == seldom
    monkeypatch.setattr(all_loops, "SELDOM", 0.0)
    count = len(rounds)
    until(lambda: len(rounds) > count + 1)
    assert rounds[-1][0] is False


@pytest.mark.slow
def test_the_watchdog_logs_what_it_did(start: Start, logged: Lines, db: Connection) -> None:
    q = make(db, World({}, [Job("pending", created=2)]), [A])
    start("only", "watchdog", setup="default")
    until(lambda: job_state(q, 1) == ("cancelled", "pending"))
    until(lambda: ("INFO", "watchdog", "default", "pending: cancel") in logged.lines)
    assert {"jobs": 1} in logged.figures
    before = len(logged.lines)
    add(q, [Job("sent")], first=2)
    lease(q, 2, "matched", matched_at=ago(0.6), expires_at=ago(0.1))
    until(lambda: job_state(q, 2)[0] == "activated")
    until(lambda: len(logged.lines) > before)
    assert [line[3] for line in logged.lines[before:]] == ["sent: return"]  # and rounds without work log nothing


@pytest.mark.slow
def test_an_expired_lease_is_back_within_ten_seconds(dsn: str, db: Connection) -> None:
    """The watchdog has its shipped period, and has just looked when the lease expires."""
    q = make(db, World({}, [Job("sent")]), [A])
    lease(q, 1, "matched")
    q.rows("update taskqueue.lease set expires_at = clock_timestamp() + interval '1 hour' returning 1")
    q.rows("select resource.set_clock('default', null)")
    process = Process(dsn, "only", [(LOOPS["watchdog"], LOOPS["watchdog"].period)], None)
    until(lambda: leader_of(db, "watchdog"))
    expiry = q.value(
        "update taskqueue.lease set expires_at = clock_timestamp() + interval '1 second' returning expires_at"
    )
    until(lambda: job_state(q, 1)[0] == "activated")
    process.end()
    back = q.value("select max(at) from workload.job_history where to_status = 'activated' and job_id = 1")
    assert timedelta(0) < back - expiry < timedelta(seconds=10)


@pytest.mark.slow
def test_all_loops_of_a_grid_work_without_an_error(start: Start, logged: Lines, db: Connection) -> None:
    """Jobs of a task are assigned, and a run is made only when a task is due."""
    grids.load(db, "grid", files=3)
    start("only", *LOOPS, setup="grid")
    until(lambda: ("INFO", "assign-jobs", "grid", "brokered") in logged.lines)
    until(lambda: db.execute("select count(ended_at) from lifecycle.loop").fetchone() == (len(LOOPS),))
    assert db.execute("select count(*) from workload.job where setup = 'grid'").fetchone() == (3,)
    assert db.execute("select count(*) from brokerage.run where setup = 'grid'").fetchone() == (1,)
    assert logged.texts("ERROR") == []


def test_a_run_ends_between_two_commits(start: Start, db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    grids.load(db, "grid", tasks=[{"id": number} for number in range(1, 4)], files=1)
    stopped = threading.Event()
    stopped.set()
    run = batch.broker([db], "grid", stopped=stopped)
    assert db.execute("select count(*) from workload.job where setup = 'grid'").fetchone() == (0,)
    assert db.execute("select ended_at is not null from brokerage.run where run_id = %s", [run]).fetchone() == (True,)


PROGRAM = [sys.executable, "-c", "from broker.cli.program import main; main()", "run", "--log-format", "json"]


@pytest.mark.slow
def test_a_signal_ends_the_run_after_the_current_step(dsn: str, db: Connection) -> None:
    Calls(db).insert(1)
    with db.cursor() as cursor, psycopg.connect(dsn) as blocker:
        blocker.execute("lock table taskqueue.share_mark in access exclusive mode")  # the step waits for this
        environment = {**os.environ, "BROKER_DSN": dsn}
        command = [*PROGRAM, "maintain", "watchdog", "--every", "maintain=0.2"]
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, cwd=Path.cwd()) as process:
            assert process.stderr is not None
            line = json.loads(process.stderr.readline())
            assert (line["level"], line["message"]) == ("info", "leading: maintain, watchdog")
            waiting = "select from pg_locks where not granted and relation = 'taskqueue.share_mark'::regclass"
            until(lambda: cursor.execute(waiting).fetchall())
            process.send_signal(signal.SIGTERM)
            until(lambda: cursor.execute("select from lifecycle.loop where began_at is not null").fetchall())
            assert process.poll() is None
            blocker.rollback()
            assert process.wait(30) == 0
            last = json.loads(process.stderr.read().splitlines()[-1])
            total = last["maintain"] + last["watchdog"]
            assert last["message"] == f"ended after {total} round{'s' if total != 1 else ''}"
            assert last["maintain"] >= 1
    worked = sum(last[loop] > 0 for loop in ("maintain", "watchdog"))  # the signal may come before the watchdog's round
    count = "select count(*), count(holder), count(ended_at) from lifecycle.loop"
    assert db.execute(count).fetchone() == (2, 0, worked)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["watchdogs"], "watchdogs is none of maintain, watchdog,"),
        (["--every", "maintain"], "maintain is not LOOP=SECONDS"),
        (["--every", "maintain=nan"], "nan is not between 0.1 and 86400 seconds"),
        (["--every", "mantain=5"], "mantain is none of maintain"),
        (["maintain", "--without", "maintain"], "no loop is left"),
        (["--log-format", "xml"], "xml is neither text nor json"),
    ],
)
def test_wrong_options_of_run_are_refused(cli: Cli, words: list[str], error: str) -> None:
    printed = cli("run", *words)
    assert (printed.code, error in " ".join(printed.err.replace("│", " ").split())) == (2, True)


def test_a_run_for_an_unknown_setup_is_refused(cli: Cli) -> None:
    cli("run", "--setup", "nowhere").refuses("there is no setup 'nowhere'")


def test_a_line_of_the_log_is_text_or_json() -> None:
    record = logging.makeLogRecord(
        {
            "msg": "sent: return",
            "levelname": "INFO",
            "created": 0.5,
            "loop": "watchdog",
            "setup": "a",
            "figures": {"n": 5},
        }
    )
    assert TextLines().format(record) == "1970-01-01T00:00:00.500Z INFO watchdog a: sent: return, n 5"
    line: dict[str, Any] = json.loads(JsonLines().format(record))
    assert line == {
        "time": "1970-01-01T00:00:00.500Z",
        "level": "info",
        "loop": "watchdog",
        "setup": "a",
        "message": "sent: return",
        "n": 5,
    }
