"""Exit codes: each has one meaning, and the help of the program names them all."""

import re

from broker.cli.shared.codes import CODES
from broker.reference import commands
from tests.calls import Calls, Connection
from tests.commands import Cli
from tests.core.docs.pages import ROOT


def test_no_match_wrong_usage_a_refusal_and_a_dead_server_have_different_codes(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1, Sites=["NORTH"])
    resource = ("--site", "SOUTH", "--cpu-time", 86400)
    assert cli("match", *resource).code == 4
    assert cli("match", "--sit", "SOUTH", "--cpu-time", 86400).code == 2
    assert cli("match", *resource[:2], "--cpu-time", "abc").code == 2
    assert cli("match", *resource, "--setup", "nowhere").code == 1
    assert cli("--dsn", "postgresql://nobody@127.0.0.1:1/none", "match", *resource).code == 3
    assert cli("match", "--site", "NORTH", "--cpu-time", 86400).code == 0


def test_the_help_of_the_program_names_every_code(cli: Cli) -> None:
    shown = " ".join(re.sub("[│╭╮╰╯─]", " ", cli("--help").out).split())
    assert [code for code, meaning in CODES.items() if f"{code} {meaning}" not in shown] == []


def test_every_code_that_the_help_of_a_command_names_is_in_the_table() -> None:
    helps = {one.name: " ".join((one.made.help or "").split()) for one in commands.tree()}
    named = {name: re.findall(r"[Ee]xit codes? (\d+)", text) for name, text in helps.items()}
    assert {int(code) for codes in named.values() for code in codes} >= {3, 4, 5}
    assert [(name, code) for name, codes in named.items() for code in codes if int(code) not in CODES] == []


def test_commands_end_with_codes_of_the_table_only() -> None:
    """A literal number would be a code of its own."""
    found = [
        path.name
        for path in (ROOT / "broker").rglob("*.py")
        if re.search(r"typer\.Exit\(\d", path.read_text(encoding="utf-8"))
    ]
    assert found == []
