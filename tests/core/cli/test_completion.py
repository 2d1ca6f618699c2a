"""Completion of a shell, and names that are nearly right: setups, keys of requirements and resources, commands."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.calls import Connection, requirements
from tests.commands import Cli

PROGRAM = Path(sys.executable).with_name("broker")


def completed(words: str, dsn: str, home: Path) -> list[str]:
    """The completions that a bash shell gets for the last of the words."""
    given = {"_BROKER_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    environment = {**os.environ, "BROKER_HOME": str(home), **given} | ({"BROKER_DSN": dsn} if dsn else {})
    done = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.slow
def test_commands_options_and_setups_are_completed(cli: Cli, db: Connection, dsn: str, tmp_path: Path) -> None:
    for setup in ("atlas", "atlas-test", "lhcb"):
        cli("load", "-", "--setup", setup, stdin="{}")
        db.execute("select taskqueue.set_group(%s, 'g', 1, false, false)", [setup])
    assert completed("broker exp", dsn, tmp_path) == ["explain"]
    assert "--setup" in completed("broker queues --", dsn, tmp_path)
    assert completed("broker queues --setup at", dsn, tmp_path) == ["atlas", "atlas-test"]


@pytest.mark.slow
def test_completion_starts_no_server(tmp_path: Path) -> None:
    assert completed("broker queues --setup at", "", tmp_path / "home") == []
    assert completed("broker queues --setup at", "host=127.0.0.1 port=1 connect_timeout=1", tmp_path / "home") == []
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(("words", "text", "hint"), [
    (["submit", "-"], json.dumps({"job_id": 1, "requirements": requirements() | {"Site": ["S"]}}), "nearest is Sites."),
    (["match", "--resource", '{"CPUTime": 100, "Platfrm": "x"}'], "", "nearest is Platform."),
    (["match", "--resource", '{"CPUTim": 100}'], "", "The description has CPUTim. These keys are required"),
    (["queues", "--setup", "atals"], "", "the nearest is atlas"),
    (["versio"], "", "Did you mean 'broker --version'?"),
    (["mtach"], "", "Did you mean 'match'?"),
])  # fmt: skip
def test_an_unknown_name_gets_a_hint(cli: Cli, db: Connection, words: list[str], text: str, hint: str) -> None:
    db.execute("select taskqueue.set_group('atlas', 'g', 1, false, false)")
    printed = cli(*words, stdin=text)
    assert (printed.code != 0, hint in printed.err) == (True, True), printed.err
