"""Which setup and which server a command uses: BROKER_SETUP, hints at other setups, --dsn after the command."""

import json
from pathlib import Path

import pytest

from broker import world
from tests.calls import Calls, Connection, requirements
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
def test_load_says_that_the_environment_overrides_the_setup_of_a_file(
    cli: Cli, db: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named, other = tmp_path / "named.json", tmp_path / "other.json"
    named.write_text(json.dumps({"setup": "small", "queues": {"Q": {}}}))
    other.write_text(json.dumps({"queues": {"Q": {}}}))
    assert cli("load", named).err == cli("load", named, "--setup", "small").err == ""
    monkeypatch.setenv("BROKER_SETUP", "gpu")
    printed = cli("load", named, other)
    assert "Loaded into gpu" in printed.out
    words = f"{named} names setup small, but BROKER_SETUP is gpu: unset BROKER_SETUP, or give --setup"
    assert [line for line in printed.err.splitlines() if "BROKER_SETUP" in line] == [words]
    assert "BROKER_SETUP" not in cli("load", named, "--setup", "gpu").err
    monkeypatch.setenv("BROKER_SETUP", "small")
    assert "BROKER_SETUP" not in cli("load", named).err


@pytest.mark.slow
def test_a_setup_that_a_command_makes_is_named(cli: Cli, db: Connection, tmp_path: Path) -> None:
    """The first setup is no surprise; the name of another may be misspelt."""
    (tmp_path / "jobs.json").write_text(json.dumps({"job_id": 1, "requirements": requirements()}))
    (tmp_path / "world.json").write_text(json.dumps({"queues": {"Q": {}}}))
    (tmp_path / "queues.json").write_text(json.dumps({"Q": {"status": "online", "maxrss": 1}}))
    assert "is new" not in cli("submit", tmp_path / "jobs.json", "--setup", "atlas").err
    assert "is new" not in cli("submit", tmp_path / "jobs.json", "--setup", "atlas").err
    calls = {
        "atlass": ("submit", tmp_path / "jobs.json"),
        "atlsa": ("load", tmp_path / "world.json"),
        "atas": ("load", "--cric-queues", tmp_path / "queues.json"),
    }
    for name, call in calls.items():
        assert f"setup {name} is new (nearest is atl" in cli(*call, "--setup", name).err
    assert "setup lhcb is new (there are atas, atlas, atlass, atlsa)" in cli(*calls["atlass"], "--setup", "lhcb").err
    more = cli(*calls["atlass"], "--setup", "xyz").err
    assert "setup xyz is new (there are atas, atlas, atlass, atlsa, ...)" in more, "one line, also among many setups"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "setup attributes preset:diracx", "setup cpu-buckets 500 1000", "setup platform el9 any",
        "group set users --share 5", "identity grant broker_agent", "config set jobbroker:NW_THRESHOLD 2",
        "settings --set taskqueue.attempts=2", "limit set running S OwnerGroup users 3",
        "quarantine set host n w --site S", "alerts set-rule many figure=jobs_waiting above=1",
    ],
)  # fmt: skip
def test_every_command_that_makes_a_setup_says_so(cli: Cli, db: Connection, command: str) -> None:
    Calls(db, "keep").insert(1)
    for new in (True, False):
        printed = cli(*command.split(), "--setup", "keep2")
        made = db.execute("select count(*) from resource.setup where setup = 'keep2'").fetchone() == (1,)
        assert (printed.code, made) in ((0, True), (1, False)), printed.err
        assert ("setup keep2 is new (nearest is keep)" in printed.err) == (made and new), printed.err
    assert "is new" not in cli("jobs", "--setup", "keep").err


@pytest.mark.parametrize("name", ["fs ", " fs", "  fs  ", " "])
def test_a_setup_with_a_blank_at_its_end_is_refused(cli: Cli, db: Connection, name: str) -> None:
    job = json.dumps({"job_id": 1, "requirements": requirements()})
    for call in (("submit", "-"), ("load", "-")):
        cli(*call, "--setup", name, stdin=job if call[0] == "submit" else '{"queues": {"Q": {}}}').refuses(
            "with a blank at its beginning or end"
        )
    cli("config", "set", "jobbroker:NW_THRESHOLD", 2, "--setup", name).refuses("with a blank at its beginning or end")
    assert db.execute("select count(*) from resource.setup").fetchone() == (0,)


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


@pytest.mark.slow
def test_a_number_of_the_other_kind_is_named_with_its_command(cli: Cli, db: Connection) -> None:
    """A job is asked for by the number of a task, and a task by that of a job."""
    world.load(db, [{"queues": {"Q": {}}, "tasks": [{"id": 77}]}])
    Calls(db).insert(5)
    hint = "setup default has a task of this number: broker explain task 77 --setup default explains it"
    for words in (("explain", 77), ("job", 77)):
        cli(*words).refuses("there is no job 77 in setup default [PB004]", hint)
    hint = "setup default has a job of this number: broker explain 5 --setup default explains it"
    for more in ((), ("--run", 1)):
        cli("explain", "task", 5, *more).refuses("[PB004]", hint)
    assert "explains it" not in cli("explain", "task", 9).err + cli("explain", 9).err
