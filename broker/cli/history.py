"""`broker history`: figures over time."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated

import typer

from broker.cli.lists import PANEL, ROWS, Limit
from broker.cli.shared import listing, output
from broker.cli.shared.common import Json
from broker.cli.shared.session import Setup, session
from broker.operate.reading import Row, rows_of
from broker.words import counted

app = typer.Typer()

_POINTS = 48  # characters of a line
_LEVELS = "▁▂▃▄▅▆▇█"
_FIGURES = "select figure, labels, unit, meaning from history.figure order by figure"
_OVER = """
    select at, extract(epoch from width)::int as width, label, value, most, samples
      from history.figure_over(%s, %s, %s, p_by => %s, p_labels => %s, p_points => %s)
"""


@app.command(rich_help_panel=PANEL)
def history(
    *,
    figure: Annotated[
        str | None, typer.Argument(metavar="[FIGURE]", help="The figure, such as jobs_waiting; by default all figures.")
    ] = None,
    since: Annotated[
        str, typer.Option(metavar="SPAN|TIME", help="Beginning: a span before now, such as 90min or 2d, or a time.")
    ] = "6h",
    by: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="A line for each value of this label (by default, the first label)."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="LABEL=VALUE", help="Only series with this label; repeat it for several."),
    ] = None,
    limit: Limit = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Show figures over time. They are jobs that wait, run, are matched and end, shares, rejections, and rented
    machines. The loop sample of `broker run` samples them each minute. A character of a line is the mean of a span; a
    gap means that nothing was sampled.
    """
    from broker.json_text import json_text

    labels = json_text(_labels(only or []))
    with session(setup) as connection:
        known = {row["figure"]: row for row in rows_of(connection, _FIGURES)}
        begin = listing.beginning(connection, setup, since)
        if figure is None:
            _require_no_choice(by, only)
            rows = [
                {"figure": name} | row
                for name in known
                for row in rows_of(connection, _OVER, setup, name, begin, None, labels, _POINTS)
            ]
        else:
            by = by or (known[figure]["labels"][0] if figure in known else None)
            rows = rows_of(connection, _OVER, setup, figure, begin, by, labels, 2000 if as_json else _POINTS)
    if as_json:
        output.json_out(rows)
    elif not rows:
        output.say(f"No sample since {output.moment(begin)} has a value: the loop sample of `broker run` makes them.")
    elif figure is None:
        _show("Figures", "figure", rows, {name: row["unit"] for name, row in known.items()}, None)
    else:
        title = f"{known[figure]['meaning']} ({known[figure]['unit']})"
        shown = [{**row, "figure": row["label"]} for row in rows]
        _show(title, by or "", shown, None, ROWS if limit is None else limit)


def _labels(only: Sequence[str]) -> dict[str, str]:
    """The labels and values of --only. Raises BadRequest."""
    from broker.errors import BadRequest

    found = {}
    for text in only:
        label, equals, value = text.partition("=")
        if not equals or not label:
            raise BadRequest(f"--only {text} is not LABEL=VALUE", "for example --only site=CERN")
        found[label] = value
    return found


def _require_no_choice(by: str | None, only: Sequence[str] | None) -> None:
    from broker.errors import BadRequest

    if by or only:
        raise BadRequest(f"{'--by' if by else '--only'} needs a figure", "for example broker history jobs_waiting")


def _show(title: str, heading: str, rows: list[Row], units: dict[str, str] | None, limit: int | None) -> None:
    """A line for each value of the column figure, the largest mean first, or in the order of the figures."""
    width = timedelta(seconds=rows[0]["width"])
    begin, end = min(row["at"] for row in rows), max(row["at"] for row in rows)
    lines: dict[str, dict[datetime, Row]] = defaultdict(dict)
    for row in rows:
        lines[row["figure"]][row["at"]] = row
    cells = []
    for name, line in lines.items():
        samples = sum(row["samples"] for row in line.values())
        mean = sum(row["value"] * row["samples"] for row in line.values()) / samples
        most = max(row["most"] for row in line.values())
        values = [line[at]["value"] if at in line else None for at in _moments(begin, end, width)]
        unit = [units[name]] if units else []
        cells.append((name, *unit, _drawn(values), line[max(line)]["value"], mean, most))
    if units is None:
        cells.sort(key=lambda row: (-row[-2], row[0]))
    columns = [heading, *(["unit"] if units else []), "over time", "last", "mean", "largest"]
    output.table(title, columns, cells[: limit or None], drop=["largest", "mean"])
    left = f"; {len(cells) - limit} more (--limit)" if limit and len(cells) > limit else ""
    output.say(f"{output.moment(begin)} to {output.moment(end + width)}, {_span(width)} a character{left}")


def _moments(begin: datetime, end: datetime, width: timedelta) -> list[datetime]:
    return [begin + number * width for number in range(int((end - begin) / width) + 1)]


def _drawn(values: Sequence[float | None]) -> str:
    """A line of bars; zero is the lowest, and the highest is the largest value of the line."""
    largest = max((value for value in values if value is not None), default=0) or 1
    top = len(_LEVELS) - 1
    return "".join(
        " " if value is None else _LEVELS[0 if value <= 0 else max(1, round(top * value / largest))] for value in values
    )


def _span(width: timedelta) -> str:
    minutes = int(width.total_seconds()) // 60
    for size, name in ((1440, "day"), (60, "hour")):
        if minutes % size == 0:
            return counted(minutes // size, name)
    return counted(minutes, "minute")
