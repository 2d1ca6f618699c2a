"""`broker what-if --on`: the world of a standby is decided on another database; the answer is the primary's."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.json import Jsonb

from broker import world
from broker.errors import BrokerError
from broker.fronts import rows
from broker.fronts.borrowed import SHARED, WORLD, borrowed
from broker.laboratory.grid import grid
from broker.operate.brokerage import WhatIf, evaluate, what_if
from tests.commands import Cli, commands
from tests.core.faults.standby import Pair
from tests.core.fuzz.small_world import GRID, RESOURCE
from tests.core.structure.test_dependencies import objects, tables, uses
from tests.service.conftest import Db, wait_until

PRIVATE = "broker_test_borrower"
"""A login with the rights that the page names, and no others."""
ASKED = "asked"
GIVEN = grid(5, queues=12, tasks=24, nuclei=3, user_tasks=12)
SOME_QUEUES = sorted(GIVEN["queues"])[::2]
CHANGES: list[dict[str, Any]] = [
    {"settings": {"jobbroker:NQUEUED_SAT_CAP": 1, "NUM_CUTOFF_TO_MOVE_INPUT": None}},
    {"settings": {"IO_INTENSITY_CUTOFF": 1}, "profile": "panda2026", "tasks": [41000002, 41000004, 41000006]},
    {"settings": {}, "profile": "panda2026"},
    {"settings": {}, "profile": "own", "newest": 5},
    {"settings": {}, "without": ["memory", "queue-status"], "profile": "panda2026"},
    {
        "settings": {},
        "worlds": [{"queues": {name: {"status": "offline"} for name in SOME_QUEUES}}],
        "profile": "panda2026",
    },
    {"settings": {}, "profile": "panda2026", "algorithm": "analysis_job"},
    {"settings": {}, "profile": "panda2026", "algorithm": "production_task"},
]


@pytest.fixture(scope="module", autouse=True)
def work(pair: Pair) -> Iterator[None]:
    """A setup like GRID in which half of the tasks are open, and half of the jobs run, have ended or wait."""
    with psycopg.connect(pair.server(pair.primary).superuser_dsn(), autocommit=True) as db:
        world.load(db, [GIVEN], ASKED)
        for algorithm, procedure in (("production_job", "broker_jobs"), ("analysis_job", "broker_analysis")):
            query = "select task_id from brokerage.open_task where setup = %s and algorithm = %s order by 1"
            tasks = [task for (task,) in db.execute(query, [ASKED, algorithm]).fetchall()]
            db.execute(f"call brokerage.{procedure}(%s, %s, p_seed => 1)".encode(), [ASKED, tasks[::2]])
        db.execute("select lifecycle.activate(%s)", [ASKED])
        for (queue,) in db.execute("select queue from resource.queue where setup = %s order by 1", [ASKED]).fetchall():
            held = db.execute("select job_id, attempt from taskqueue.match_jobs(%s, %s, 4)",
                              [ASKED, Jsonb({**RESOURCE, "Site": queue})]).fetchall()  # fmt: skip
            for number, (job, attempt) in enumerate(held):
                db.execute("select taskqueue.report_job(%s, %s, %s)", [ASKED, job, attempt])
                if number % 2:
                    db.execute("select taskqueue.finish_job(%s, %s, %s)", [ASKED, job, attempt])
        db.execute("select brokerage.begin_trial(%s, 'own', 0.5)", [ASKED])
        # with a random salt, the arm of profile own sometimes has all tasks that this profile decides otherwise
        db.execute("update brokerage.trial set salt = 1 where setup = %s", [ASKED])
        yield
        db.execute("select taskqueue.remove_setup(%s)", [ASKED])


def stored(db: Db) -> dict[str, int]:
    """The number of rows of each table that brokerage reads or writes."""
    written = ("brokerage.run", "brokerage.task_decision", "brokerage.verdict", "brokerage.what_if", "resource.change")
    counts = {}
    for table in (*WORLD, *SHARED, *written):
        [(counts[table],)] = db.execute(sql.SQL("select count(*) from {}").format(sql.Identifier(*table.split("."))))
    return counts


@pytest.fixture
def standby_cli(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line on the standby."""
    pair.wait_until_it_streams()
    return commands(pair.server(pair.standby).superuser_dsn(), monkeypatch)


def asked(db: Db, change: dict[str, Any]) -> WhatIf:
    return what_if(db, ASKED, change["settings"], **{key: value for key, value in change.items() if key != "settings"})


@pytest.mark.thorough
@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_what_if_over_a_standby_gives_the_answer_of_the_primary(
    primary: Db, replica: Db, db: Db, change: dict[str, Any]
) -> None:
    before = stored(db)
    expected = asked(primary, change)
    with borrowed(replica, db, ASKED):
        found = asked(db, change)
    assert found == expected
    assert expected.before
    assert expected.differences or any(row["gained"] or row["lost"] for row in expected.rules)
    assert stored(db) == before


def test_general_configuration_is_copied_with_the_setup(primary: Db, pair: Pair, replica: Db, db: Db) -> None:
    """Configuration and profiles of the other database are not used."""
    db.execute("select resource.set_config_everywhere('NQUEUED_SAT_CAP', '1', 'jobbroker')")
    db.execute("select brokerage.set_profile('own', 'panda2026')")
    before = stored(db)
    primary.execute("select resource.set_config_everywhere('MAXRSS', '7', 'acme', p_force => true)")
    pair.wait_until_it_streams()
    try:
        with borrowed(replica, db, ASKED):
            held = "select key, value from resource.config_of(%s) order by 1"
            assert db.execute(held, [ASKED]).fetchall() == primary.execute(held, [ASKED]).fetchall()
            assert ("MAXRSS", 7) in db.execute(held, [ASKED]).fetchall()
            assert asked(db, CHANGES[3]) == asked(primary, CHANGES[3])
    finally:
        primary.execute("select resource.set_config_everywhere('MAXRSS', null, 'acme')")
    assert stored(db) == before
    assert db.execute("select based_on from brokerage.profile where profile = 'own'").fetchone() == ("panda2026",)


def test_cases_over_a_setup_of_the_standby_are_evaluated_elsewhere(primary: Db, replica: Db, db: Db) -> None:
    cases = [{"name": task, "task": task, "profile": profile}
             for task in (41000002, 41000004, 48000002) for profile in ("documented", "panda2026")]  # fmt: skip
    expected = list(evaluate(primary, cases, ASKED))
    with borrowed(replica, db, ASKED):
        assert list(evaluate(db, cases, ASKED)) == expected
    assert all("candidates" in answer for answer in expected)


def test_a_copied_setup_keeps_the_clock_of_its_source(primary: Db, pair: Pair, replica: Db, db: Db) -> None:
    primary.execute("select resource.set_clock(%s, null)", [ASKED])
    pair.wait_until_it_streams()
    try:
        with borrowed(replica, db, ASKED):
            first = db.execute("select resource.clock(%s)", [ASKED]).fetchone()
            time.sleep(0.01)
            assert db.execute("select resource.clock(%s)", [ASKED]).fetchone() == first
            assert first and abs(datetime.now(UTC) - first[0]).total_seconds() < 60
    finally:
        primary.execute("select resource.set_clock(%s, '2100-01-01 12:00+00')", [ASKED])


def test_everything_that_deciding_reads_is_copied() -> None:
    """The tables are found in the text of the functions that what-if and evaluate call, directly or indirectly."""
    made_there = {
        "brokerage.run", "brokerage.task_decision", "brokerage.part", "brokerage.verdict", "brokerage.assignment",
        "brokerage.recorded_value", "brokerage.profile", "brokerage.profile_rule",
        "resource.identity", "resource.installation_role", "resource.setup_move",
    }  # fmt: skip
    texts = objects()
    functions = {name for name, (kind, _) in texts.items() if kind == "function"}
    relations = tables() | (texts.keys() - functions)
    reached: set[str] = set()
    todo = ["brokerage.open_run", "brokerage.broker_next", "brokerage.run_difference", "brokerage.jobs_difference",
            "brokerage.rejection_difference", "brokerage.evaluate_task", "brokerage.open_task"]  # fmt: skip
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            if name in texts:
                used = uses(texts[name][1], functions, relations)
                todo += used.reads | used.calls
    made = "".join(path.read_text() for path in (Path(__file__).parents[2] / "migrations/baseline").glob("*.sql"))
    read = {name for name in reached & tables() if f"create table {name} (" in made}
    assert read - made_there == set(WORLD)


def test_the_option_on_evaluates_a_question_over_a_setup_of_the_standby(
    standby_cli: Cli, dsn: str, primary: Db
) -> None:
    words = ("what-if", "--setup", ASKED, "--profile", "panda2026")
    refused = standby_cli(*words)
    assert refused.code == 1
    assert "this server is a standby" in refused.err and "[25006]" in refused.err and "--on DSN" in refused.err
    shown = standby_cli(*words, "--on", dsn, "--json")
    assert shown.code == 0, shown.err
    expected = asked(primary, {"settings": {}, "profile": "panda2026"})
    assert shown.json["before"] == expected.before and shown.json["after"] == expected.after
    assert shown.json["differences"] == json.loads(json.dumps(expected.differences))
    assert "decided otherwise" in standby_cli(*words, "--on", dsn).out
    case = json.dumps({"name": "a", "task": 41000002})
    answer = standby_cli("evaluate", "-", "--over", "--setup", ASKED, "--on", dsn, stdin=case)
    assert (answer.code, answer.json) == (0, next(evaluate(primary, [case], ASKED)))
    assert "--on DSN" in standby_cli("evaluate", "-", "--over", "--setup", ASKED, stdin=case).err
    [alone] = standby_cli("evaluate", "-", stdin=json.dumps({"name": "b", "task": 1, "world": {}})).out.splitlines()
    assert json.loads(alone)["error"]["code"] == "25006"
    assert "--on is given without --over" in standby_cli("evaluate", "-", "--on", dsn, stdin=case).err
    nowhere = standby_cli(*words[:2], "nowhere", *words[3:], "--on", dsn)
    assert "setup nowhere does not exist; there are: " in nowhere.err


def test_a_database_that_cannot_take_the_copy_is_refused(
    replica: Db, primary: Db, db: Db, empty_dsn: str, standby_cli: Cli
) -> None:
    with pytest.raises(BrokerError) as raised, borrowed(replica, primary, ASKED):
        pass
    assert (raised.value.sqlstate, raised.value.hint) == ("PB005", "name a database that has no setup of that name")
    assert f"has a setup {ASKED} of its own" in raised.value.message
    with pytest.raises(BrokerError, match="is a standby") as raised, borrowed(primary, replica, ASKED):
        pass
    assert raised.value.sqlstate == "25006"
    db.execute("update resource.installation set release = '0.0.1'")
    with pytest.raises(BrokerError, match=r"has release 0\.0\.1") as raised, borrowed(replica, db, ASKED):
        pass
    assert raised.value.sqlstate == "PB007"
    words = ("what-if", "--setup", ASKED, "--profile", "panda2026", "--on")
    assert "pgbroker is not installed in this database" in standby_cli(*words, empty_dsn).err
    assert "--on is not a DSN" in standby_cli(*words, "no dsn").err


@pytest.fixture
def login(db: Db, primary: Db, pair: Pair) -> Iterator[Callable[[Db], Db]]:
    """A function that logs in as PRIVATE to the server of another connection."""
    opened: list[Db] = []

    def log_in(where: Db) -> Db:
        changed = {"user": PRIVATE, "password": "not a secret"}
        dsn = make_conninfo("", **{**conninfo_to_dict(where.info.dsn), **changed})
        opened.append(psycopg.connect(dsn, autocommit=True))
        return opened[-1]

    for server in (db, primary):
        server.execute(f"create role {PRIVATE} login password 'not a secret'".encode())
        server.execute(f"grant broker_viewer to {PRIVATE}".encode())
    pair.wait_until_it_streams()
    yield log_in
    for one in opened:
        one.close()
    for server in (db, primary):
        server.execute(f"drop owned by {PRIVATE}; drop role {PRIVATE}".encode())


def test_the_rights_that_the_errors_name_are_enough(
    login: Callable[[Db], Db], primary: Db, replica: Db, pair: Pair, db: Db
) -> None:
    """No superuser is needed."""
    here, there = login(replica), login(db)
    with pytest.raises(BrokerError, match="may not copy a world into") as raised, borrowed(here, there, ASKED):
        pass
    script = (raised.value.hint or "").removeprefix("let its DBA run: ")
    assert script.count("grant") == 3
    db.execute(script.encode())
    with pytest.raises(BrokerError, match="may not read the tables of") as raised, borrowed(here, there, ASKED):
        pass
    assert raised.value.hint == f'let its DBA run: grant pg_read_all_data to "{PRIVATE}"'
    primary.execute((raised.value.hint or "").removeprefix("let its DBA run: ").encode())
    pair.wait_until_it_streams()
    with borrowed(here, there, ASKED):
        assert asked(there, CHANGES[2]) == asked(primary, CHANGES[2])
    db.execute(f"revoke set on parameter session_replication_role from {PRIVATE}".encode())


def test_a_copy_that_the_standby_cancels_is_a_clear_error(
    pair: Pair, primary: Db, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Changes that the standby must replay cancel the snapshot from which the copy is read."""
    standby = pair.server(pair.standby).superuser_dsn()
    real, copied = rows.copy_rows, []

    def copy_rows(source: Db, goal: Db, table: str, which: sql.Composable) -> int:
        copied.append(table)
        if len(copied) == 2:
            primary.execute("update resource.setup set setup = setup where setup = %s", [ASKED])
            primary.execute("vacuum resource.setup")
            pair.wait_until_it_streams()
            time.sleep(0.5)
        return real(source, goal, table, which)

    monkeypatch.setattr(rows, "copy_rows", copy_rows)
    with psycopg.connect(standby, autocommit=True) as server, psycopg.connect(standby, autocommit=True) as source:
        server.execute("alter system set max_standby_streaming_delay = 0")
        server.execute("select pg_reload_conf()")
        try:
            with pytest.raises(BrokerError) as raised, borrowed(source, db, ASKED):
                pass
        finally:
            server.execute("alter system reset max_standby_streaming_delay")
            server.execute("select pg_reload_conf()")
    assert raised.value.sqlstate == "40001"
    assert raised.value.hint and raised.value.hint.endswith("set hot_standby_feedback = on there")
    assert db.execute("select from resource.setup where setup = %s", [ASKED]).fetchall() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_program_that_dies_leaves_no_copy(pair: Pair, db: Db, dsn: str, number: int) -> None:
    before = stored(db)
    pair.wait_until_it_streams()
    db.execute("begin; lock table brokerage.run")  # the what-if waits here after copying the world
    # shells ignore interrupts for background programs, and the program would inherit that
    before_it = signal.signal(signal.SIGINT, signal.default_int_handler)
    program = subprocess.Popen(
        [Path(sys.executable).with_name("broker"), "--dsn", pair.server(pair.standby).superuser_dsn(), "what-if",
         "--setup", ASKED, "--profile", "panda2026", "--on", dsn],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    signal.signal(signal.SIGINT, before_it)
    sessions = "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    with psycopg.connect(dsn, autocommit=True) as look:
        waits = f"{sessions} and wait_event_type = 'Lock'"
        wait_until(lambda: look.execute(waits.encode()).fetchall() != [])
        assert program.poll() is None
        program.send_signal(number)
        assert program.wait(timeout=30) != 0
    db.execute("rollback")
    wait_until(lambda: db.execute(sessions.encode()).fetchall() == [])
    assert stored(db) == before
    assert db.execute("select from resource.setup where setup = any (%s)", [[ASKED, GRID]]).fetchall() == []
