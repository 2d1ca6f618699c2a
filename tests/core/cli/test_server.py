"""`broker up`, `down`, `status`, `dsn`, `psql`, run as programs: once as installed, otherwise warm (warm.py)."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tests.commands import require_promised_keys
from tests.throwaway import new_home

Broker = Callable[..., "subprocess.CompletedProcess[str]"]


INSTALLED = [sys.executable, "-c", "from broker.cli.program import main; main()"]


@pytest.fixture
def program(warm: Path) -> list[str]:
    """The program without the time of its start (warm.py)."""
    return [str(warm / "broker")]


@pytest.fixture
def broker(program: list[str]) -> Iterator[Broker]:
    """Runs the program with a home of its own; returns what it printed and its exit code."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PG", "BROKER_"))}

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*program, *arguments],
            env={**kept, "BROKER_HOME": str(home), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        if "--json" in arguments and done.returncode == 0:
            require_promised_keys(arguments, json.loads(done.stdout))
        return done

    with new_home("home") as home:
        yield run


@pytest.mark.slow
@pytest.mark.parametrize("program", [INSTALLED], ids=["installed"])
def test_the_embedded_server_is_started_used_and_stopped_by_commands(broker: Broker) -> None:
    before = broker("status", "--json")
    assert (before.returncode, json.loads(before.stdout)["state"]) == (3, "absent")
    assert "runs on 127.0.0.1" in broker("up").stdout
    status = json.loads(broker("status", "--json").stdout)
    assert (status["state"], status["answers"], status["source"]) == ("running", True, "embedded")
    dsn = broker("dsn").stdout.strip()
    for text in (dsn, broker("dsn", "--socket").stdout.strip(), json.loads(broker("dsn", "--json").stdout)["dsn"]):
        with psycopg.connect(text) as connection:
            assert connection.execute("select current_database()").fetchone() == ("broker",)
    assert broker("psql", "-XAtc", "select 40 + 2").stdout == "42\n"
    assert broker("psql", "-XAtc", "select 43", PATH="/nowhere").stdout == "43\n", "no other psql is needed"
    assert broker("psql", "-XAtc", "select count(*) from monitor.task_queue").stdout == "0\n"
    assert re.findall(r"^(?:expanded|format) +(\w+)", broker("psql", "-Xc", r"\pset").stdout, re.M) == [
        "auto",
        "wrapped",
    ]
    refused = broker("psql", "-Xc", "select taskqueue.insert_job('default', 1, '{}')").stderr
    assert refused.startswith("ERROR:") and "HINT:" in refused and "CONTEXT:" not in refused
    refused = broker(
        "psql", "-Xv", "SHOW_CONTEXT=errors", "-c", "select taskqueue.insert_job('default', 1, '{}')"
    ).stderr
    assert "CONTEXT:" in refused
    assert broker("down").stdout == "stopped\n"
    again = broker("down", BROKER_DSN="postgresql://db.example.org/broker")
    assert (again.stdout, "BROKER_DSN names another server" in again.stderr) == ("it was not running\n", True)
    assert (broker("status").returncode, json.loads(broker("status", "--json").stdout)["state"]) == (3, "stopped")


TERMINAL = {"FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm", "COLUMNS": "200"}


@pytest.mark.thorough
def test_the_recovery_of_a_killed_server_is_announced(broker: Broker) -> None:
    broker("up")
    pid = json.loads(broker("status", "--json").stdout)["pid"]
    os.kill(pid, signal.SIGKILL)
    while Path(f"/proc/{pid}").exists():
        time.sleep(0.01)
    recovered = broker("setups", **TERMINAL)
    assert "starting the embedded server, which was not stopped: it recovers ..." in recovered.stderr
    broker("down")
    started = broker("setups", **TERMINAL).stderr
    assert ("starting the embedded server ..." in started, "recovers" in started) == (True, False)


@pytest.mark.thorough
def test_a_command_names_once_the_server_that_it_starts_or_installs(broker: Broker) -> None:
    created = broker("up", **TERMINAL)
    assert "creating the embedded server" in created.stderr and "installing pgbroker" in created.stderr
    again = broker("up", **TERMINAL)
    assert ("runs on 127.0.0.1" in again.stdout, again.stderr) == (True, "")
    assert broker("setups").stderr == ""
    broker("down")
    started = broker("setups", "--json")
    assert json.loads(started.stdout) == []
    [line] = started.stderr.splitlines()
    assert line.startswith("the embedded server is started, its data is in ") and line.endswith("broker down stops it")
    assert broker("setups").stderr == ""


@pytest.mark.thorough
def test_the_password_is_shown_neither_by_status_nor_in_command_lines(broker: Broker) -> None:
    dsn = broker("dsn").stdout.strip()
    with psycopg.connect(dsn) as connection:
        assert connection.execute("select count(*) from monitor.task_queue").fetchone() == (0,)
    password = psycopg.conninfo.conninfo_to_dict(dsn)["password"]
    printed = broker("status").stdout + broker("status", "--json").stdout
    assert "running" in printed
    assert str(password) not in printed
    seen = broker("psql", "-XAtc", r"\! tr '\0' ' ' < /proc/$PPID/cmdline").stdout
    assert "dbname=broker" in seen
    assert str(password) not in seen
    parameters = psycopg.conninfo.conninfo_to_dict(dsn)
    without = psycopg.conninfo.conninfo_to_dict(broker("dsn", "--no-password").stdout.strip())
    assert without == {key: value for key, value in parameters.items() if key != "password"}
    exported = broker("dsn", "--environment").stdout.splitlines()
    assert {f"export PGPASSWORD={password}", "export PGDATABASE=broker"} <= set(exported)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["option", "BROKER_DSN"])
def test_commands_use_a_server_of_the_users_own(broker: Broker, server_dsn: str, how: str) -> None:
    given = ["--dsn", server_dsn] if how == "option" else []
    environment = {} if given else {"BROKER_DSN": server_dsn}
    assert broker(*given, "dsn", **environment).stdout.strip() == server_dsn
    assert broker(*given, "psql", "-XAtc", "select current_database()", **environment).stdout == "postgres\n"
    status = broker(*given, "status", "--json", **environment)
    assert (status.returncode, json.loads(status.stdout)["answers"]) == (0, True)
    assert json.loads(broker("status", "--json").stdout)["state"] == "absent"


def test_errors_are_one_line_and_a_hint(broker: Broker) -> None:
    printed = broker("--dsn", "nonsense", "dsn")
    assert printed.returncode == 1
    assert printed.stdout == ""
    assert [line.split(":")[0] for line in printed.stderr.splitlines()] == ["error", "hint"]
    as_json = broker("--dsn", "nonsense", "dsn", "--json")
    assert as_json.returncode == 1
    assert json.loads(as_json.stderr)["error"].startswith("--dsn is not a DSN")


@pytest.mark.parametrize("command", ["status", "up", "down"])
def test_a_home_that_cannot_be_looked_into_is_an_error_in_two_lines(broker: Broker, command: str) -> None:
    printed = broker(command, BROKER_HOME=f"/{300 * 'x'}")
    assert printed.returncode == 1
    assert [line.split(":")[0] for line in printed.stderr.splitlines()] == ["error", "hint"]


@pytest.mark.slow
@pytest.mark.parametrize("program", [INSTALLED], ids=["installed"])
def test_wrong_usage_ends_with_2(broker: Broker) -> None:
    assert broker("nonsense").returncode == 2
    assert broker("status", "--nonsense").returncode == 2


def test_an_error_of_the_database_shows_message_hint_and_code(server_dsn: str) -> None:
    import typer
    from typer.testing import CliRunner

    from broker import database
    from broker.cli.shared.common import BrokerGroup

    app = typer.Typer(cls=BrokerGroup)

    @app.callback()
    def root() -> None: ...

    @app.command()
    def fail() -> None:
        with database.connect(database.resolve(server_dsn)) as connection:
            connection.execute(
                "do $$ begin raise 'no job 7' using errcode = 'PB004', hint = 'see broker task-queues'; end $$"
            )

    result = CliRunner().invoke(app, ["fail"])
    assert result.exit_code == 1
    assert result.stderr == "error: no job 7 [PB004]\nhint:  see broker task-queues\n"


@pytest.mark.slow
def test_help_needs_no_heavy_imports() -> None:
    program = (
        "import sys; from broker.cli.program import app; from typer.testing import CliRunner;"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0;"
        "print([name for name in ('psycopg', 'sqlalchemy', 'alembic') if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert printed.stdout == "[]\n"
