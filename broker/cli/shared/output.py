"""Printing of the command line: tables and bars for people, JSON for programs.

    table("Task queues", ["id", "site", "jobs"], rows)     a table; numbers stand on the right; see its docstring
    fields("Server", {"state": "running", "port": 5432})   one thing's properties
    bars("Jobs by bucket", [("500", 12), ("5000", 40)])    one bar a row; a third value is what the bar is a part of
    say("text", "another")                                 plain lines; Rich's markup in [brackets] is NOT read
    note("text")                                           a line beside the result, on standard error
    json_out(value)                                        dataclasses, mappings, sequences, dates, Decimals, UUIDs

A command takes `as_json: Json = False` (from broker.cli.shared.common) and ends with

    records("Task queues", rows, {"task_queue_id": "id", "site": "site"}, as_json=as_json)

Cells are shown whole, cut by no width when the output is not a terminal. Names come from agents, submitters and
exports, so a control or format character is printed as an escape (broker.visible), here and nowhere else; JSON is
printed as it is. Rich is imported when first needed.
table() prints every table of the program, and is the only place that names the columns that a narrow terminal cannot
show.
"""

import dataclasses
import datetime
import decimal
import functools
import json
import re
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from broker.cli.shared.options import options
from broker.visible import visible
from broker.words import length, span

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_PIPE_WIDTH = 240  # columns of text for a file or a pipe; a table there is as wide as its rows


_screen: "Console | None" = None  # the console that collects all output within drawn()


def console(*, stderr: bool = False, width: int | None = None) -> "Console":
    """A Rich console on the present standard output (or error); for progress displays and the like."""
    if _screen is not None and not stderr:
        return _screen
    stream = sys.stderr if stderr else sys.stdout
    made = _visible_console()(file=stream, width=width, highlight=False)
    if width is None and not made.is_terminal:
        made.width = _PIPE_WIDTH
    return made


@functools.cache
def _visible_console() -> "type[Console]":
    from rich.console import Console
    from rich.segment import Segment

    class VisibleConsole(Console):
        """A console on which no text acts: only Rich itself moves the cursor and sets colours."""

        def render(self, *arguments: Any, **options: Any) -> Iterable[Segment]:
            """The segments of a renderable."""
            for text, style, control in super().render(*arguments, **options):
                yield Segment(text if control else visible(text, "\n"), style, control)

    return VisibleConsole


def drawn(show: Callable[[], None]) -> str:
    """The output of show on standard output, with the colours of the terminal."""
    global _screen  # noqa: PLW0603
    screen = console()
    _screen = screen
    try:
        with screen.capture() as captured:
            show()
    finally:
        _screen = None
    return captured.get()


def _unlimited() -> bool:
    """Whether a table is as wide as its rows: in files, in pipes and with --wide."""
    return options.wide or not console().is_terminal


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    drop: Sequence[str] = (),
    now: datetime.datetime | None = None,
    plain: bool = False,
) -> None:
    """Print rows below their column names, or a line when there are none.

    Nothing is omitted silently on a narrow terminal: empty columns and then those of `drop` are left out one after the
    other, and a line names them (except the column without a name, a bar); if that is not enough, each row becomes a
    block, as in psql. --wide prints the whole table, with exact times. now: moments are shown as distances from it,
    such as 3 min ago. plain: without lines, for a screen with several tables.
    """
    from rich.text import Text

    title, columns = visible(title), [visible(name) for name in columns]
    listed = [list(row) for row in rows]
    shown = [[_cell(value, now) for value in row] for row in listed]
    screen = console()
    if not shown:
        screen.print(Text(f"{title}: none"))
        return
    right = [_is_right([row[place] for row in listed]) for place in range(len(columns))]
    made = _Table(title, columns, shown, right, plain)
    everything = list(range(len(columns)))
    if _unlimited() or made.width(everything, narrow=False) <= screen.width:
        console(width=max(screen.width, made.width(everything, narrow=False))).print(made.drawn(everything))
        return
    kept = everything
    empty = [columns[place] for place in everything if not any(row[place] for row in shown)]
    for name in (None, *dict.fromkeys([*empty, *(name for name in drop if name in columns)])):
        kept = [place for place in kept if columns[place] != name]
        if made.width(kept, narrow=True) <= screen.width:
            for again in reversed([columns.index(name) for name in drop if name in columns and name not in empty]):
                more = sorted({*kept, again})  # a column that fits since a wider one was left out
                kept = more if made.width(more, narrow=True) <= screen.width else kept
            screen.print(made.drawn(kept, narrow=True))
            break
    else:
        kept = [place for place in everything if columns[place]]
        screen.print(made.blocks(kept))
    left = [columns[place] for place in everything if place not in kept and columns[place]]
    if left:
        screen.print(Text(f"not shown here: {', '.join(left)} (--wide or --json)", style="dim"))


def records(
    title: str,
    rows: Sequence[Mapping[str, object]],
    columns: Mapping[str, str],
    *,
    as_json: bool,
    drop: Sequence[str] = (),
    now: datetime.datetime | None = None,
    missing: str = "",
) -> None:
    """Print rows of the database as JSON, or as a table of the columns that are named, below their headings. missing:
    why there are no rows yet, if nothing was counted that they could show; in JSON that is null."""
    if missing:
        absent(title, missing, as_json=as_json)
    elif as_json:
        json_out(rows)
    else:
        table(title, list(columns.values()), [[row[name] for name in columns] for row in rows], drop=drop, now=now)


def absent(title: str, missing: str, *, as_json: bool) -> None:
    """Print that nothing was counted yet, as null in JSON, so that nobody takes it for none."""
    if as_json:
        json_out(None)
    else:
        say(f"{title}: {missing}")


_NUMBERS = (int, float, decimal.Decimal)


def _is_right(values: Sequence[object]) -> bool:
    """Whether a column is aligned to the right: numbers, including numbers that were made texts."""
    texts = [value for value in values if isinstance(value, str)]
    return any(isinstance(value, _NUMBERS) for value in values) or (
        bool(texts) and all(re.fullmatch(r"[\d,]+\.\d+", text) for text in texts)
    )


_TEXT = 24  # width in columns to which a text of several words may shrink


@dataclasses.dataclass
class _Table:
    """Cells as texts, and the ways of drawing them."""

    title: str
    columns: list[str]
    cells: list[list[str]]
    right: list[bool]
    plain: bool

    def width(self, places: Sequence[int], *, narrow: bool) -> int:
        """The width in columns that the table needs; narrow: headings and texts of several words are wrapped."""
        from rich.cells import cell_len

        total = 3 * len(places) + 1
        for place in places:
            texts = [row[place] for row in self.cells]
            natural = max(cell_len(line) for text in texts for line in text.split("\n"))
            if narrow:
                words = max((cell_len(word) for text in texts for word in text.split()), default=0)
                natural = min(natural, max(_TEXT, words))
                total += max(natural, *(cell_len(word) for word in [*self.columns[place].split(" ")]))
            else:
                total += max(natural, cell_len(self.columns[place]))
        return total

    def drawn(self, places: Sequence[int], *, narrow: bool = False) -> "RenderableType":
        """The table with the columns at these places."""
        from rich.cells import cell_len
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        shown = Table(box=None) if self.plain else Table()
        for place in places:
            heading = self.columns[place]
            size = self.width([place], narrow=narrow) - 4
            wraps = narrow and self.width([place], narrow=True) < self.width([place], narrow=False)
            shown.add_column(
                Text(heading.replace(" ", "\n") if cell_len(heading) > size else heading),
                justify="right" if self.right[place] else "left", overflow="fold", no_wrap=not wraps, min_width=size,
            )  # fmt: skip
        for row in self.cells:
            shown.add_row(*(Text(row[place]) for place in places))
        return Group(Text(self.title, style="bold"), shown)  # a table's own title would be as narrow as the table

    def blocks(self, places: Sequence[int]) -> "RenderableType":
        """One block per row: its first value, and below it the other values with their names, except missing ones."""
        from rich.console import Group
        from rich.padding import Padding
        from rich.text import Text

        first, *others = places
        parts: list[RenderableType] = [Text(self.title, style="bold")]
        for row in self.cells:
            values = [text.rstrip() for text in row]  # a moment has blanks, so that its column keeps its width
            parts.append(Text.assemble((f"{self.columns[first]} ", "cyan"), (values[first], "bold")))
            pairs = Text(overflow="fold")
            for place in others:
                if values[place]:
                    pairs.append("; " if pairs else "")
                    pairs.append(f"{self.columns[place]} ", "cyan")
                    pairs.append(values[place])
            if pairs:
                parts.append(Padding(pairs, (0, 0, 0, 2)))
        return Group(*parts)


def fields(title: str, values: Mapping[str, object], *, now: datetime.datetime | None = None) -> None:
    """Print the properties of one thing, one per line; properties that are None are left out. now: times are followed
    by their distance from this time.
    """
    from rich.table import Table
    from rich.text import Text

    shown = Table(show_header=False, box=None)
    shown.add_column(style="cyan")
    shown.add_column(overflow="fold")
    for name, value in values.items():
        if value is not None:
            text = moment(value, now) if isinstance(value, datetime.datetime) else _cell(value)
            shown.add_row(Text(name), Text(text))
    console().print(Text(title, style="bold"), shown, sep="\n")


def bars(title: str, items: Iterable[tuple[str, float] | tuple[str, float, float]]) -> None:
    """Print one bar per row, in proportion to the largest value; with a third value, the bar is full if the value
    reaches it."""
    from rich.text import Text

    title = visible(title)
    listed = [(visible(item[0]), item[1], item[2] if len(item) == 3 else None) for item in items]
    largest = max((value for _, value, whole in listed if whole is None), default=0)
    rows = [(label, value, largest if whole is None else whole, _of(value, whole)) for label, value, whole in listed]
    screen = console()
    screen.print(chart(title, rows, screen.width) if rows else Text(f"{title}: none"))


def _of(value: float, whole: float | None) -> str:
    return f"{value:,.10g}" if whole is None else f"{value:,.10g} of {whole:,.10g}"


_BAR = 40  # width of a bar in columns; _BAR_LEAST if the terminal is narrow
_BAR_LEAST = 8


def chart(
    title: str, rows: Sequence[tuple[str, float, float, str]], width: int, *, ground: bool = False
) -> "RenderableType":
    """Bars with a label, a value, the filled fraction, and words after the bar: the bars shrink before a label is
    broken. width: columns of the terminal that a bar may take. ground: whether the rest of a bar is shown.
    """
    from rich.bar import Bar
    from rich.cells import cell_len
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    labels = max((cell_len(label) for label, *_ in rows), default=0)
    words = max((cell_len(text) for *_, text in rows), default=0)
    size = max(_BAR_LEAST, min(_BAR, width - labels - words - 6))
    shown = Table(show_header=False, box=None)
    shown.add_column(overflow="fold")
    shown.add_column(width=size)
    shown.add_column(justify="right", no_wrap=words <= width // 2)
    for label, value, whole, text in rows:
        colours = {"color": "green", "bgcolor": "grey23" if ground else "default"}
        shown.add_row(Text(label), Bar(whole or 1, 0, min(value, whole or 1), width=size, **colours), Text(text))
    return Group(Text(title, style="bold"), shown)


def say(*lines: str) -> None:
    """Print lines as they are; a line end within a line is shown, too."""
    for line in map(visible, lines):
        if _screen is None:
            print(line)
        else:
            _screen.out(line, highlight=False)


def few(names: Sequence[str]) -> str:
    """The first two names, and how many more there are."""
    return ", ".join(names[:2]) + (f" + {len(names) - 2}" if len(names) > 2 else "")


def first_of(values: object) -> str:
    """The only value of a list, or the first of several and the number of further ones; any if there is none."""
    if not isinstance(values, list) or not values:
        return "any"
    return values[0] if len(values) == 1 else f"{values[0]} + {len(values) - 1}"


def moment(at: datetime.datetime, now: datetime.datetime | None = None) -> str:
    """A moment for people, to the second; with now, followed by its distance from it."""
    exact = at.isoformat(sep=" ", timespec="seconds")
    return exact if now is None else f"{exact} ({ago(at, now)})"


def note(text: str, keep: str = "") -> None:
    """Print a line beside the result, on standard error, so that a pipe does not get it. keep: characters that act,
    such as the line ends of PostgreSQL's own messages."""
    print(visible(text, keep), file=sys.stderr)


def json_out(value: object, *, stderr: bool = False) -> None:
    """Print a value as indented JSON. Dates are ISO 8601, Decimals are numbers, and any other unknown value is its
    text."""
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


def ago(at: datetime.datetime, now: datetime.datetime) -> str:
    """A moment as its distance from another: 3 min ago, in 2 h."""
    seconds = round((now - at).total_seconds())
    if seconds == 0:
        return "now"
    return f"{span(seconds)} ago" if seconds > 0 else f"in {span(-seconds)}"


def _cell(value: object, now: datetime.datetime | None = None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"
    if isinstance(value, datetime.datetime):
        return moment(value) if now is None or options.wide else ago(value, now).ljust(len("20 min ago"))
    if isinstance(value, datetime.timedelta):
        return str(value) if options.wide else length(value)
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(_cell(item) for item in value)
    if isinstance(value, dict):
        return visible(json.dumps(value, ensure_ascii=False, default=_plain))
    return visible(str(value))
