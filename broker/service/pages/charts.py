"""Charts that the service draws: lines over time as SVG, with what is drawn as a table beside it."""

import math
import zlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from broker.service.pages.words import number as shown_number

LINES = 7  # apart; all others are one line more
WIDTH, HEIGHT = 640, 220  # of the drawing, in its own units
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 26, 10, 28  # around the lines
_LEVELS = 4
_TIMES = 5
_STEPS = 100  # of a chart that show their values under the pointer, at most
_NAME = 24  # characters of a line's name there: a chart has 800 of them
OTHER = "other"
COLOURS = 7  # of lines; the last one more is that of the others
FIXED = {
    "finished": 3, "failed": 6, "expired": 2, "released": 5, "cancelled": 4, "closed": 7, "running": 3, "matched": 5,
    "waiting": 1, "held": 4, "limited": 5, "misconfigured": 6, "too_large": 2, "no_resource_seen": 7,
}  # fmt: skip
"""The colours of words that mean the same on each page. A name has one colour as long as no other needs it."""

Point = tuple[datetime, timedelta, str, float, float, int]
"""A row of history.figure_over: when a span begins, its width, the label, mean, largest, and minutes sampled."""


@dataclass(frozen=True)
class Line:
    """A line: what it shows, its number among the colours, its path, and its first, last, mean and largest value."""

    label: str
    number: int
    path: str
    first: float
    last: float
    mean: float
    most: float


@dataclass(frozen=True)
class Step:
    """What stands under the pointer in a part of a chart: its left side, its width, and its words."""

    left: float
    width: float
    words: str


@dataclass(frozen=True)
class Chart:
    """Lines over time. levels, times: where the scales have a mark, and its text. steps: what the pointer shows."""

    title: str
    unit: str
    lines: list[Line]
    levels: list[tuple[float, str]]
    times: list[tuple[float, str]]
    steps: list[Step]
    begin: datetime
    end: datetime
    width: timedelta
    size: tuple[int, int] = (WIDTH, HEIGHT)
    frame: tuple[int, int, int, int] = (_LEFT, _TOP, WIDTH - _RIGHT, HEIGHT - _BOTTOM)


def chart(title: str, unit: str, points: Sequence[Point], percent: bool = False) -> Chart | None:
    """The chart of a figure, the largest lines first; None: nothing was sampled. percent: values are fractions."""
    if not points:
        return None
    width = points[0][1]
    begin, end = min(point[0] for point in points), max(point[0] for point in points) + width
    kept = _largest(points)
    values: dict[str, dict[datetime, float]] = defaultdict(lambda: defaultdict(float))
    most: dict[str, float] = defaultdict(float)
    factor = 100 if percent else 1
    for at, _, label, value, largest, _ in points:
        name = label if label in kept else OTHER
        values[name][at] += factor * value
        most[name] = max(most[name], factor * largest)
    top = _top(max((value for of in values.values() for value in of.values()), default=0))

    def x(at: datetime) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * ((at - begin) / (end - begin))

    def y(value: float) -> float:
        return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * value / top

    colours = _colours(kept)
    names = [name for name in [*kept, OTHER] if name in values]
    lines = [
        Line(
            name or title, colours[name], _path([(at, x(at + width / 2), y(of[at])) for at in sorted(of)], width),
            of[min(of)], of[max(of)], sum(of.values()) / len(of), most[name],
        )
        for name, of in ((name, values[name]) for name in names)
    ]  # fmt: skip
    return Chart(
        title, "%" if percent else unit, lines,
        [(round(y(top * n / _LEVELS), 1), short(top * n / _LEVELS)) for n in range(_LEVELS + 1)],
        [(round(x(at), 1), text) for at, text in _marks(begin, end)],
        _steps({line.label: values[name] for line, name in zip(lines, names, strict=True)}, begin, end, width, x),
        begin.astimezone(UTC), end.astimezone(UTC), width,
    )  # fmt: skip


def _largest(points: Sequence[Point]) -> list[str]:
    sums: dict[str, float] = defaultdict(float)
    for _, _, label, value, _, samples in points:
        sums[label] += value * samples
    return sorted((label for label in sums if label != OTHER), key=lambda label: (-sums[label], label))[:LINES]


def _colours(names: Sequence[str]) -> dict[str, int]:
    """A number among the colours for each name, and for the others."""
    found = {OTHER: COLOURS + 1}
    for name in sorted(names, key=lambda name: (name not in FIXED, name)):
        wanted = FIXED.get(name) or zlib.crc32(name.encode()) % COLOURS + 1
        taken = set(found.values())
        free = [number for number in range(1, COLOURS + 1) if number not in taken]
        found[name] = wanted if wanted not in taken else next((n for n in free if n > wanted), free[0])
    return found


def _steps(
    lines: Mapping[str, Mapping[datetime, float]], begin: datetime, end: datetime, width: timedelta,
    x: Callable[[datetime], float],
) -> list[Step]:  # fmt: skip
    """The time and the values of all lines, for each span, or where they are many for several together, as a mean.

    Nothing is shown where nothing was sampled.
    """
    together = width * max(1, math.ceil((end - begin) / width / _STEPS))
    at: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name, of in lines.items():
        for moment, value in of.items():
            at[(moment - begin) // together][name].append(value)
    found = []
    for number, values in sorted(at.items()):
        first, last = begin + number * together, min(begin + (number + 1) * together, end)
        words = [f"{_short(name)}: {shown_number(sum(of) / len(of))}" for name, of in values.items()]
        found.append(Step(round(x(first), 1), round(x(last) - x(first), 1), "\n".join([_span(first, last), *words])))
    return found


def _span(first: datetime, last: datetime) -> str:
    """The begin and the end of a span, UTC."""
    first, last = first.astimezone(UTC), last.astimezone(UTC)
    end = last.strftime("%H:%M" if last.date() == first.date() else "%m-%d %H:%M")
    return f"{first:%Y-%m-%d %H:%M} to {end} UTC"


def _short(name: str) -> str:
    """A name of which the middle is left out where it is long: names differ at their begin or end."""
    return name if len(name) <= _NAME else f"{name[: _NAME // 2 - 1]}…{name[-_NAME // 2 :]}"


def _path(points: Sequence[tuple[datetime, float, float]], width: timedelta) -> str:
    """A path that is interrupted where spans are missing. A lone span is a short line."""
    parts: list[str] = []
    for place, (at, x, y) in enumerate(points):
        joined = place > 0 and at - points[place - 1][0] == width
        alone = not joined and (place + 1 == len(points) or points[place + 1][0] - at != width)
        parts.append(f"{'L' if joined else 'M'}{x:.1f} {y:.1f}" + ("h2" if alone else ""))
    return "".join(parts)


def _top(largest: float) -> float:
    """The upper end of the scale: four steps of a round number times a power of ten."""
    if largest <= 0:
        return float(_LEVELS)
    power = float(10.0 ** math.floor(math.log10(largest / _LEVELS)))
    steps = (1, 1.5, 2, 2.5, 3, 4, 5, 10)
    return next(_LEVELS * step * power for step in steps if _LEVELS * step * power >= largest * 0.9999)


def _marks(begin: datetime, end: datetime) -> list[tuple[datetime, str]]:
    steps = [timedelta(minutes=n) for n in (1, 5, 10, 30, 60, 120, 180, 360, 720)]
    steps += [timedelta(days=n) for n in (1, 2, 7, 14, 30, 90, 180, 365, 730)]
    step = next((one for one in steps if (end - begin) / one <= _TIMES), steps[-1])
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    first = epoch + math.ceil((begin - epoch) / step) * step
    date = "%m-%d" if end - begin < timedelta(days=300) else "%Y-%m"
    marks = [first + n * step for n in range(_TIMES + 1) if first + n * step <= end]
    return [(at, at.strftime("%H:%M" if (at.hour, at.minute) != (0, 0) else date)) for at in marks]


def short(value: float) -> str:
    """A number of a scale: 1.5M, 20k, 0.25."""
    for size, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{name}"
    return f"{value:.3g}"
