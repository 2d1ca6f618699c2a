"""Every command with valid, nearly valid and hostile options and files: no traceback, one error and a hint; a refused
command stores nothing.

A round of a hundred command lines has its own world; its number is the seed. `BROKER_TEST_FUZZ_COMMANDS=5000` makes
5,000 command lines instead of 100, `BROKER_TEST_FUZZ_ROUND=7` repeats a round. A few of them run as separate programs.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest

from tests.calls import Calls
from tests.commands import as_new, invoke
from tests.core.fuzz.arguments import Known
from tests.laboratory.fuzz.command_line import CommandLines, Files

COMMANDS = int(os.environ.get("BROKER_TEST_FUZZ_COMMANDS", "100"))
OF_A_ROUND = 100
ROUND = os.environ.get("BROKER_TEST_FUZZ_ROUND")
ROUNDS = [int(ROUND)] if ROUND else list(range(1, COMMANDS // OF_A_ROUND + 1))
Drawn = tuple[Calls, Callable[[int], CommandLines]]
SECONDS = 60  # a command that takes longer hangs
CODES = {0, 1, 2, 3, 4, 5}  # broker.cli.shared.codes


@pytest.fixture
def drawn(
    small_world: str, new_database: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Drawn]:
    """The database of the commands, and a function that makes the generator of commands."""
    dsn = new_database(small_world)
    home = tmp_path / "home"
    home.mkdir()
    (home / "cluster").write_text("a file where the embedded server would be")
    monkeypatch.setenv("BROKER_DSN", dsn)
    monkeypatch.setenv("BROKER_HOME", str(home))
    (tmp_path / "files").mkdir()
    monkeypatch.chdir(tmp_path)
    with psycopg.connect(dsn, autocommit=True) as db:
        known = Known()
        known.read_once(db)
        files = Files.make(tmp_path / "files")
        yield Calls(db), lambda number: CommandLines(Random(f"round {number}"), known, files)


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in a command that takes longer than this."""

    def end(*_: object) -> None:
        raise TimeoutError(f"takes over {seconds} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def wrong(words: list[str], code: int, out: str, err: str) -> str | None:
    """The fault in the exit code or output of a command, or None."""
    if "Traceback" in err or "Traceback" in out:
        return f"a traceback: {err[-1500:]}"
    if code not in CODES:
        return f"exit code {code}"
    if code == 2 and "─ Error ─" not in err:
        return f"exit code 2 without its reason: {err[:300]}"
    if code == 1 or (code == 3 and "status" not in words):
        return _wrong_error(out, err)
    return None


def _wrong_error(out: str, err: str) -> str | None:
    lines = err.splitlines()
    if any(line.startswith("error: ") for line in lines):
        return None if any(line.startswith("hint: ") for line in lines) else f"no hint: {err[:500]}"
    if "Aborted" in err:
        return None
    for text in (err, out):
        for line in [text, *text.splitlines()]:
            try:
                error = json.loads(line)
            except ValueError:
                continue
            if isinstance(error, dict) and "error" in error:
                error = error["error"] if isinstance(error["error"], dict) else error
                return None if error.get("hint") else f"no hint: {error}"
    return f"exit code 1 without an error: {err[:500]} {out[:200]}"


@pytest.mark.thorough
@pytest.mark.parametrize("number", ROUNDS)
def test_random_command_lines_never_end_in_a_traceback(
    drawn: Drawn, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, lines = drawn
    found: list[str] = []
    codes: dict[int, int] = {}
    made = lines(number)
    for place in range(OF_A_ROUND):
        words, stdin = made.draw()
        stored = calls.stored() if place % 3 == 0 and "match" not in words else None  # a match stores descriptions
        as_new(monkeypatch)
        what: str | None
        try:
            with limited(SECONDS):
                done = invoke(words, stdin.encode("utf-8", "surrogateescape") if stdin else None)
            if done.exception and not isinstance(done.exception, SystemExit):
                raise done.exception
            what = wrong(words, done.exit_code, done.stdout, done.stderr)
            codes[done.exit_code] = codes.get(done.exit_code, 0) + 1
            if not what and stored is not None and done.exit_code != 0 and (now := calls.stored()) != stored:
                changed = [name for name in now if now[name] != stored.get(name)]
                what = f"exit code {done.exit_code}, but stored: {changed} {done.stderr[:300]}"
        except Exception as error:
            what = f"{type(error).__name__}: {str(error)[:300]} {_where(error)}"
        if what:
            found.append(f"round {number}, command {place}: {_shown(words)}\n    {what}")
    assert not found, "\n".join(found)
    assert codes.get(0, 0) > OF_A_ROUND / 10 and codes.get(1, 0) > OF_A_ROUND / 10, codes


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    places = []
    while trace:
        places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " > ".join(places[-6:])


def _shown(words: list[str]) -> str:
    return shlex.join(["broker", *words]).encode("utf-8", "backslashreplace").decode()[:600]


@pytest.mark.thorough
@pytest.mark.parametrize("number", [0])
def test_random_command_lines_never_kill_the_program(drawn: Drawn, number: int) -> None:
    _, lines = drawn
    made = lines(number)
    found: list[str] = []
    for _ in range(max(12, COMMANDS // 100)):
        words, stdin = made.draw()
        program: list[Any] = [sys.executable, "-c", "from broker.cli.program import main; main()"]
        program += [word.encode("utf-8", "surrogateescape") for word in words]
        done = subprocess.run(
            program, input=(stdin or "").encode("utf-8", "surrogateescape"), capture_output=True, check=False,
            timeout=120,
        )  # fmt: skip
        what = wrong(
            words, done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        )
        if what:
            found.append(f"{_shown(words)}\n    {what}")
    assert not found, "\n".join(found)
