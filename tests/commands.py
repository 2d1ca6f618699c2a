"""The command line in this process, against the test's own database."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from typer.testing import CliRunner

from broker.cli import app, common


@dataclass(frozen=True)
class Printed:
    """What a command printed, and its exit code."""

    out: str
    err: str
    code: int

    @property
    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


Cli = Callable[..., Printed]


def commands(dsn: str, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A function that runs a command on a database: `cli("queues", "--json")`; `stdin=` is what it reads."""
    monkeypatch.setenv("BROKER_DSN", dsn)
    monkeypatch.setattr(common, "options", common.Options())  # of this test alone

    def run(*arguments: object, stdin: str | None = None) -> Printed:
        done = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Printed(done.stdout, done.stderr, done.exit_code)

    return run


def run_in_shell(command: str, dsn: str) -> subprocess.CompletedProcess[str]:
    """Run a command line in which `broker` is this program."""
    program = f'broker() {{ {sys.executable} -c "from broker.cli import main; main()" "$@"; }}; {command}'
    return subprocess.run(
        ["bash", "-c", program], env={**os.environ, "BROKER_DSN": dsn}, capture_output=True, text=True, check=False
    )
