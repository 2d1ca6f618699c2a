"""The command line in this process, against the test's own database."""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import typer.main
from typer import testing

from broker.cli.program import app
from broker.cli.shared.options import Options, options

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


Cli = Callable[..., Printed]
AsRole = Callable[[str], None]


def invoke(words: list[str], stdin: str | bytes | None = None) -> Any:
    """Run a command line in this process; the result holds exit_code, stdout, stderr and exception."""
    return testing.CliRunner().invoke(app, words, input=stdin)


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


def run_in_shell(command: str, dsn: str) -> subprocess.CompletedProcess[str]:
    """Run a command line in which `broker` is this program."""
    program = f'broker() {{ {sys.executable} -c "from broker.cli.program import main; main()" "$@"; }}; {command}'
    return subprocess.run(
        ["bash", "-c", program], env={**os.environ, "BROKER_DSN": dsn}, capture_output=True, text=True, check=False
    )
