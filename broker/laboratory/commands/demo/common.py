"""Code that the demos share: the parts, the end of an interrupted demo, and the commands to go on with."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from broker.cli.shared import codes, output
from broker.laboratory.commands.simulate import removal

if TYPE_CHECKING:
    from rich.console import Console

    from broker.database import Connection


def part(console: "Console", title: str, words: str) -> None:
    """The heading of a part of a demo, and what it shows."""
    from rich.text import Text

    console.print(Text(f"\n== {title}: {words}", style="bold"))


@contextmanager
def interruptible(setup: str) -> Iterator[None]:
    """End the demo on Ctrl-C, with a line about the remaining setup."""
    try:
        yield
    except KeyboardInterrupt:
        output.note(f"interrupted; setup {setup} is left; to remove it: {removal(setup)}")
        raise typer.Exit(codes.INTERRUPTED) from None


def begin(console: "Console", connection: "Connection", server: str, setup: str) -> None:
    """Print where the demo runs, and remove the setups of old demos, by name."""
    from broker.laboratory.demo import remove_old

    console.print(f"server: {server}, setup: {setup}")
    if removed := remove_old(connection):
        console.print(f"removed, as older than an hour: {', '.join(removed)}")


def count(connection: "Connection", setup: str) -> None:
    """Do a round of the loops that count, so that no command or page shows a figure that nobody counted."""
    from broker.operate import loops

    loops.watch(connection, setup)  # brokered jobs get into TaskQueues
    connection.execute("select taskqueue.refresh_statistics()")  # otherwise counting many new jobs takes minutes
    loops.maintain(connection, setup)
    loops.summarize(connection, setup)
    loops.sample(connection, setup)
    loops.judge(connection, setup)


def show_next(commands: Mapping[str, str], setup: str) -> None:
    """Print commands to go on with, each after its description; the last one removes the setup."""
    output.say("", "Next:")
    for command, meaning in {**commands, removal(setup): "remove this setup"}.items():
        output.say(f"  {meaning}: {command}")
