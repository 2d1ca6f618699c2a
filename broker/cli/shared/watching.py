"""Repeated output of a command: `--watch` of the lists, and `broker top`."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from broker.cli.shared import output
from broker.cli.shared.session import connected, ready, session
from broker.words import counted

if TYPE_CHECKING:
    from broker.database import Connection

EVERY = 2.0
"""Seconds between two pictures when --watch names none."""

Watch = Annotated[
    float | None,
    typer.Option(
        min=0.1,
        metavar="[SECONDS]",
        help=f"Show the output again every {EVERY:g} seconds, or after the given seconds; Ctrl-C ends it.",
    ),
]
"""The type of a command's parameter `watch: Watch = None`."""


def show(picture: "Callable[[Connection], None]", every: float | None) -> None:
    """Show a picture of the database once or, with seconds, again and again until Ctrl-C, over one connection.

    On a terminal the picture is redrawn in place. While the server does not answer, the last picture stays, with a line
    that says so; the next one comes over a new connection.
    """
    if every is None:
        with session() as connection:
            picture(connection)
        return
    with suppress(KeyboardInterrupt):
        if output.console().is_terminal:
            _redraw(picture, every)
        else:
            _repeat(picture, every)


def _redraw(picture: "Callable[[Connection], None]", every: float) -> None:
    from rich.live import Live
    from rich.text import Text

    last = ""
    console = output.console()

    with Live(console=console, screen=True, auto_refresh=False, vertical_overflow="crop") as live:

        def draw(connection: "Connection | None", trouble: str | None = None) -> None:
            nonlocal last
            if connection is not None:
                last = output.drawn(lambda: picture(connection))
            shown = Text.from_ansi(last)
            head = time.strftime(f"%H:%M:%S, every {every:g} s, Ctrl-C ends")
            below = 1 + len(shown.wrap(console, console.width)) - console.height
            if below > 0:
                head += f"; {counted(below, 'line')} below do not fit"
            line = Text(f"{head}: {trouble}" if trouble else head, style="red" if trouble else "dim")
            live.update(Text("\n").join([line, shown]), refresh=True)

        _follow(draw, every)


def _repeat(picture: "Callable[[Connection], None]", every: float) -> None:
    def draw(connection: "Connection | None", trouble: str | None = None) -> None:
        if connection is not None:
            picture(connection)
        else:
            output.note(str(trouble))

    _follow(draw, every)


def _follow(draw: "Callable[..., None]", every: float) -> None:
    """Draw for ever. A server that does not answer is tried again; an error of the picture itself ends the loop. The
    server is found only once, so watching never restarts an embedded server that somebody has stopped.
    """
    import psycopg

    from broker.errors import ConnectError

    target = ready()
    shown = False
    while True:
        try:
            with connected(target) as connection:
                while True:
                    draw(connection)
                    shown = True
                    time.sleep(every)
        except (psycopg.OperationalError, ConnectError) as error:
            if not shown:
                raise
            draw(None, f"{str(error).splitlines()[0]}; trying again")
            time.sleep(every)
