"""Which setup and which server a command uses: BROKER_SETUP, hints at other setups, --dsn after the command."""

import pytest

from broker import world
from tests.calls import Calls, Connection
from tests.commands import Cli


@pytest.mark.slow
def test_the_environment_can_name_the_setup(cli: Cli, db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    Calls(db, "grid").insert(5)
    monkeypatch.setenv("BROKER_SETUP", "grid")
    assert [row["job_id"] for row in cli("jobs", "--json").json] == [5]
    assert cli("job", 5, "--json").json["setup"] == "grid"
    assert "--setup" not in cli("match", "--cpu-time", 1e6).out  # the next command is for the same setup
    Calls(db).insert(6)
    assert [row["job_id"] for row in cli("jobs", "--setup", "default", "--json").json] == [6]
    assert cli("match", "--setup", "default", "--cpu-time", 1e6).out.rstrip().endswith("--setup default")


@pytest.mark.slow
def test_a_task_or_job_of_another_setup_is_hinted_at(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1)
    world.load(db, [{"tasks": [{"id": 41000003}]}], setup="grid")
    Calls(db, "a").insert(7)
    Calls(db, "b").insert(7)
    printed = cli("explain", "task", 41000003)
    assert "task 41000003 is not in setup default" in printed.err
    assert (
        "setup grid has a task of this number; to look at that one, give --setup NAME, or BROKER_SETUP" in printed.err
    )
    for command in (("explain", 7), ("job", 7)):
        error = cli(*command).err
        assert "setups a, b have a job of this number" in error
        assert "broker jobs --setup default lists what this setup has" in error
    assert "--setup NAME" not in cli("explain", "task", 5).err


def test_options_of_the_server_are_accepted_after_the_command(
    cli: Cli, dsn: str, db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    Calls(db).insert(1)
    monkeypatch.delenv("BROKER_DSN")
    assert [row["job_id"] for row in cli("jobs", "--dsn", dsn, "--no-prepare", "--json").json] == [1]
    assert [row["job_id"] for row in cli("jobs", f"--dsn={dsn}", "--json").json] == [1]
    assert cli("db", "current", "--dsn", dsn).code == 0
    assert cli("jobs", "--dsn").code == 2
