"""Names that act on a terminal are printed in a visible form, by the only module that prints."""

import ast
import io
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

import broker
from broker.cli.shared import common, output
from broker.errors import BadRequest, ConnectError, of_sqlstate
from broker.operate.log import TextLines
from broker.visible import visible

HOSTILE = {
    "\x1b]52;c;Y3VybA==\x07": r"\x1b]52;c;Y3VybA==\x07", "\x1b[2J": r"\x1b[2J", "\x9b2J": r"\x9b2J",
    "a\nhint:  run this": r"a\nhint:  run this", "a\rb": r"a\rb", "a\x08\x7f": r"a\x08\x7f",
    "\u202egnp.exe": r"\u202egnp.exe", "\u2066x\u2069": r"\u2066x\u2069", "ad\u200bmin": r"ad\u200bmin",
    "\ufeffx\u00ad": r"\ufeffx\xad", "a\u2028b": r"a\u2028b", "\U000e0041": r"\U000e0041", "\udc1b": r"\udc1b",
}  # fmt: skip
NAME = " ".join(HOSTILE)
SHOWN = " ".join(HOSTILE.values())
FINE = "Zoë 東京 a\u00a0b c\u3000d é́ 🚀 =?utf-8?q?x?= \\x1b [red]"


def test_a_text_for_people_stays_and_any_other_becomes_visible() -> None:
    assert visible(FINE) == FINE
    assert [visible(name) for name in HOSTILE] == list(HOSTILE.values())
    assert visible("a\nb\tc\x1b", "\n") == "a\nb\\tc\\x1b"


WAYS: dict[str, Callable[[], Any]] = {
    "say": lambda: output.say(NAME),
    "note": lambda: output.note(NAME),
    "table": lambda: output.table("T", ["a", "b"], [[NAME, [NAME]], [None, {"k": NAME}]]),
    "records": lambda: output.records("T", [{"a": NAME}], {"a": "a"}, as_json=False),
    "title": lambda: output.table(NAME, ["a"], [["x"]]),
    "heading": lambda: output.table("T", [NAME], [["x"]]),
    "no rows": lambda: output.table(NAME, ["a"], []),
    "fields": lambda: output.fields("T", {"a": NAME}),
    "bars": lambda: output.bars("T", [(NAME, 1)]),
    "drawn": lambda: sys.stdout.write(output.drawn(lambda: output.say(NAME))),
    "error": lambda: common._report(BadRequest(NAME, None)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("terminal", [False, True])
def test_a_name_acts_on_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, way: str, terminal: bool
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "dumb")
    WAYS[way]()
    printed = capsys.readouterr()
    text = Text.from_ansi(printed.out + printed.err).plain if terminal else printed.out + printed.err
    assert all(character.isprintable() or character == "\n" for character in text), ascii(text)
    for word in SHOWN.split():
        assert word in text
    assert "\nhint:" not in text


def test_a_console_lets_no_text_act(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever a command prints with Rich itself."""
    output.console().print(Text(NAME), f"[bold]{NAME}[/bold]")
    assert all(character.isprintable() or character == "\n" for character in capsys.readouterr().out)


def test_progress_shows_names_too(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(Console, "is_terminal", True)
    with common.working(f"loading {NAME}"):
        pass
    assert "\x1b]52" not in stream.getvalue() and "\u202e" not in stream.getvalue()


def test_errors_of_pgbroker_are_one_line_and_those_of_others_keep_theirs(capsys: pytest.CaptureFixture[str]) -> None:
    common._report(of_sqlstate("PB004", "no site a\nhint: x", None, None))
    common._report(ConnectError("two\n\tlines\x1b", None))
    assert capsys.readouterr().err == "error: no site a\\nhint: x [PB004]\nerror: two\n\tlines\\x1b\n"


def test_lines_of_a_log_show_names() -> None:
    record = logging.makeLogRecord({"msg": NAME, "levelname": "INFO", "created": 0, "loop": "a", "setup": NAME})
    line = TextLines().format(record)
    assert line.isprintable() and line.count(SHOWN) == 2


def test_no_other_module_of_the_command_line_prints() -> None:
    """A module that prints by itself prints no name, or JSON."""
    exempt = {"cli/program.py", "cli/brokerage.py", "cli/db.py", "cli/alerts.py"}
    folder = Path(broker.__file__).parent
    files = [*folder.glob("cli/**/*.py"), *folder.glob("*/commands/**/*.py"), folder / "service" / "commands.py"]
    found = {
        str(path.relative_to(folder))
        for path in files
        for name in _called(path)
        if name in ("print", "echo", "secho", "Console", "write") and path.name != "output.py"
    }
    assert found - exempt == set()


def _called(path: Path) -> Iterator[str]:
    """The names of what a file calls, without those of methods of a console."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name):
                yield called.id
            elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                yield called.attr if called.value.id in ("typer", "click", "sys") else ""
