"""The page of `broker demo --open`: `broker serve --open` of the demo's setup as a child, which also runs the loops."""

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from broker.cli.shared import output
from broker.laboratory.commands.demo.common import count
from broker.server.browser import has_screen

if TYPE_CHECKING:
    from rich.console import Console

    from broker.database import Connection

_SERVE = "from broker.cli.program import main; main()"
_RUNS = re.compile(r"running on (http://\S+)")
_ENDS = 30  # seconds in which the child ends, with the rounds of its loops


class Page:
    """A running page; url: where it is."""

    def __init__(self, process: "subprocess.Popen[str]", url: str) -> None:
        self._process, self.url = process, url

    def wait(self) -> int:
        """Wait until the service ends; its exit code."""
        return self._process.wait()


@contextmanager
def opened(console: "Console", connection: "Connection", setup: str) -> Iterator[Page]:
    """Open a page of the setup in a browser within the block, or print how to open it; its first sight is counted.
    Raises typer.Exit if the service does not start, after the reason."""
    count(connection, setup)
    arguments = ["serve", "--open", "--setup", setup, "--bind", "127.0.0.1:0"]
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, errors="replace",
    )  # fmt: skip
    before = signal.signal(signal.SIGTERM, _end)
    try:
        assert process.stderr is not None
        said: list[str] = []
        for line in process.stderr:
            said.append(line)
            if found := _RUNS.search(line):
                break
        else:
            output.note("".join(said).rstrip(), "\n")
            raise typer.Exit(process.wait() or 1)
        threading.Thread(target=_relay, args=[process], daemon=True).start()
        if has_screen():  # otherwise a line with a file to open follows
            console.print(f"look with a browser while it runs: {found[1]}", markup=False)
        yield Page(process, found[1])
    finally:
        process.terminate()
        try:
            process.wait(_ENDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        signal.signal(signal.SIGTERM, before)


def _relay(process: "subprocess.Popen[str]") -> None:
    """Print the address to open, and errors; the log of a service is nothing for a demo."""
    assert process.stderr is not None
    for line in process.stderr:
        if " INFO " not in line and line.strip():
            output.note(line.rstrip())


def _end(*_: object) -> None:
    """End as if interrupted, so that the child ends too."""
    raise KeyboardInterrupt
