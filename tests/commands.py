"""The command line in this process, against the test's own database."""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import typer.main
from typer import testing

from broker.cli.lists import COMMANDS
from broker.cli.program import app
from broker.cli.shared.options import Options, options
from broker.reference.commands import tree
from broker.reference.public import json_keys

# Typer builds the tree of all commands for each call, which takes three quarters of a call within a process.
testing._get_command = functools.cache(typer.main.get_command)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Printed:
    """The output of a command, and its exit code."""

    out: str
    err: str
    code: int

    @property
    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)

    def refuses(self, *texts: str, code: int = 1) -> None:
        """The command ended with this code, and each of the texts is in its error."""
        assert self.code == code and all(text in self.err for text in texts), (self.code, self.err)


PROMISED = json_keys()
OF_LISTS = {f"broker {name}" for name in COMMANDS}
GROUPS = {" ".join(one.name.split()[:2]) for one in tree()}
Cli = Callable[..., Printed]
AsRole = Callable[[str], None]


def invoke(words: list[str], stdin: str | bytes | None = None) -> Any:
    """Run a command line in this process; the result holds exit_code, stdout, stderr and exception."""
    done = testing.CliRunner().invoke(app, words, input=stdin)
    in_a_file = "dump" in words and not done.stdout
    if "--json" in words and done.exit_code == 0 and not in_a_file:
        require_promised_keys(words, json.loads(done.stdout))
    if "evaluate" in words[:1]:
        for answer in done.stdout.splitlines():
            require_promised_keys(words, json.loads(answer))
    return done


def as_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reset the options of the program to those at its start, before and after the test."""
    for name, value in vars(Options()).items():
        monkeypatch.setattr(options, name, value)


def commands(dsn: str, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A function that runs a command on a database: `cli("queues", "--json")`; `stdin=` is its standard input."""
    monkeypatch.setenv("BROKER_DSN", dsn)
    as_new(monkeypatch)

    def run(*arguments: object, stdin: str | None = None) -> Printed:
        done = invoke([str(argument) for argument in arguments], stdin)
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Printed(done.stdout, done.stderr, done.exit_code)

    return run


def require_promised_keys(words: Sequence[str], printed: Any) -> None:
    """Fail if the JSON of a command has other keys than broker/reference/json_keys.txt promises."""
    begin = next(place for place, word in enumerate(words) if f"broker {word}" in GROUPS)
    names = [" ".join(["broker", *words[begin : begin + length]]) for length in (2, 1)]
    command = next((name for name in names if name in PROMISED or name in OF_LISTS), names[1])
    promised = PROMISED.get(command, [])
    if "*" in promised or command in OF_LISTS:
        return
    for place, found in _keys_of(printed):
        here = [key for key in promised if key.rpartition(".")[0] == place]
        always, there = {key for key in here if not key.endswith("?")}, {key.removesuffix("?") for key in here}
        assert always <= found <= there, f"{command}: {sorted(found ^ always)}, see broker/reference/json_keys.txt"


def _keys_of(value: Any, place: str = "") -> Iterator[tuple[str, set[str]]]:
    """Each object, or object in a list, with its place and its keys."""
    if isinstance(value, list):
        for one in value:
            yield from _keys_of(one, place)
    elif isinstance(value, dict):
        prefix = f"{place}." if place else ""
        yield place, {f"{prefix}{key}" for key in value}
        for key, one in value.items():
            if isinstance(one, list):
                yield from _keys_of(one, f"{prefix}{key}")


def run_in_shell(command: str, dsn: str) -> subprocess.CompletedProcess[str]:
    """Run a command line in which `broker` is this program."""
    program = f'broker() {{ {sys.executable} -c "from broker.cli.program import main; main()" "$@"; }}; {command}'
    return subprocess.run(
        ["bash", "-c", program], env={**os.environ, "BROKER_DSN": dsn}, capture_output=True, text=True, check=False
    )
