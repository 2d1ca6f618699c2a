"""How the command line prints: tables and bars for people, JSON for programs.

    table("Task queues", ["id", "site", "jobs"], rows)     a table; numbers stand on the right
    fields("Server", {"state": "running", "port": 5432})   one thing's properties
    bars("Jobs by bucket", [("500", 12), ("5000", 40)])    one bar a row; a third value is what the bar is a part of
    say("text")                                            a plain line; Rich's markup in [brackets] is NOT read
    counted(2000, "job")                                   "2,000 jobs", and "1 job" of one
    note("text")                                           a line beside the result, on standard error
    json_out(value)                                        dataclasses, mappings, sequences, dates, Decimals, UUIDs

A command takes `as_json: Json = False` (from broker.cli.common) and ends with

    if as_json:
        json_out(rows)
    else:
        table(...)

Cells are shown as they are, cut by no width when the output is not a terminal. Rich is imported when first needed.
"""

import dataclasses
import datetime
import decimal
import json
import sys
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_PIPE_WIDTH = 240  # columns of a table whose output goes to a file or a pipe


def console(*, stderr: bool = False) -> "Console":
    """A Rich console on the present standard output (or error); for progress displays and the like."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else _PIPE_WIDTH, highlight=False)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, drop: Sequence[str] = ()) -> None:
    """Print rows below their column names, or a line when there are none.

    drop: columns to leave out, one after the other, as long as the table is wider than the terminal.
    """
    from rich.table import Table
    from rich.text import Text

    cells = [list(row) for row in rows]
    if not cells:
        console().print(Text(f"{title}: none"))
        return

    def drawn(kept: Sequence[str], *, narrow: bool) -> Table:
        places = [columns.index(name) for name in kept]
        shown = Table(title=title, title_justify="left", title_style="bold")
        for place, name in zip(places, kept, strict=True):
            numbers = any(isinstance(row[place], int | float | decimal.Decimal) for row in cells)
            head = Text(name.replace(" ", "\n") if narrow else name)
            shown.add_column(head, justify="right" if numbers else "left", overflow="fold", no_wrap=numbers)
        for row in cells:
            shown.add_row(*(Text(_cell(row[place])) for place in places))
        return shown

    screen, kept = console(), list(columns)
    shown = drawn(kept, narrow=False)
    for name in (None, *(name for name in drop if name in columns)):
        if screen.measure(shown, options=screen.options.update(width=10_000)).maximum <= screen.width:
            break
        kept = [other for other in kept if other != name]
        shown = drawn(kept, narrow=True)
    screen.print(shown)


def fields(title: str, values: Mapping[str, object]) -> None:
    """Print the properties of one thing, a line each; properties that are None are left out."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=None)
    shown.add_column(style="cyan")
    shown.add_column(overflow="fold")
    for name, value in values.items():
        if value is not None:
            shown.add_row(Text(name), Text(_cell(value)))
    console().print(shown)


def bars(title: str, items: Iterable[tuple[str, float] | tuple[str, float, float]], *, width: int = 40) -> None:
    """Print a bar a row, in proportion to the largest value; with a third value, filled as far as `value of it`."""
    from rich.bar import Bar
    from rich.table import Table
    from rich.text import Text

    listed = [(item[0], item[1], item[2] if len(item) == 3 else None) for item in items]
    largest = max((whole if whole is not None else value for _, value, whole in listed), default=0)
    shown = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=None)
    shown.add_column()
    shown.add_column(width=width)
    shown.add_column(justify="right")
    for label, value, whole in listed:
        count = f"{value:,.10g}" if whole is None else f"{value:,.10g} of {whole:,.10g}"
        shown.add_row(Text(label), Bar(largest or 1, 0, value, width=width, color="green"), Text(count))
    console().print(shown if listed else Text(f"{title}: none"))


def say(text: str) -> None:
    """Print a line as it is."""
    print(text)


def counted(number: int, thing: str) -> str:
    """A number of things in words: 1 job, 2,000 jobs."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def moment(at: datetime.datetime) -> str:
    """A moment for people, to the second."""
    return at.isoformat(sep=" ", timespec="seconds")


def note(text: str) -> None:
    """Print a line beside the result: on standard error, so that a pipe does not get it."""
    print(text, file=sys.stderr)


def json_out(value: object, *, stderr: bool = False) -> None:
    """Print a value as indented JSON. Dates are ISO 8601, Decimals numbers, everything else unknown is its text."""
    print(json.dumps(value, indent=2, ensure_ascii=False, default=_plain), file=sys.stderr if stderr else sys.stdout)


def _plain(value: object) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return list(value)
    if isinstance(value, Path | uuid.UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"
    if isinstance(value, datetime.datetime):
        return moment(value)
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(_cell(item) for item in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, default=_plain)
    return str(value)
