"""Charts that the service draws: lines over time as SVG, with the drawn figures as a table."""

import bisect
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from broker.service.pages.words import number as shown_number

LINES = 7  # lines drawn separately; all others are one more line
WIDTH, HEIGHT = 640, 220  # size of the drawing, in its own units
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 26, 10, 28  # margins around the lines
_LEVELS = 4
_TIMES = 5
_STEPS = 100  # maximal number of parts of a chart that show values under the pointer
_NAME = 24  # characters of a line's name there: a chart has 800 such names
OTHER = "other"
COLOURS = 7  # colours of lines; one more is for the others
FIXED = {
    "finished": 3, "failed": 6, "expired": 2, "released": 5, "cancelled": 4, "closed": 7, "running": 3, "matched": 5,
    "waiting": 1, "held": 4, "limited": 5, "misconfigured": 6, "too_large": 2, "no_resource_seen": 7,
}  # fmt: skip
"""The colours of words that mean the same on each page. A name keeps its colour as long as no other name needs it."""


@dataclass(frozen=True)
class Series:
    """A line of history.figures_over: its label, the values of the sampled spans, and the largest value."""

    label: str
    values: Sequence[float]
    most: float


@dataclass(frozen=True)
class Sampled:
    """A figure over time. spans: numbers of the sampled spans; `began` is the time at which the first one began.
    samples: sampled minutes in each span.
    """

    began: datetime
    width: timedelta
    spans: Sequence[int]
    samples: Sequence[int]
    series: Sequence[Series]


@dataclass(frozen=True)
class Line:
    """A line: its name, its number among the colours, its path, and its first, last, mean and largest value."""

    label: str
    number: int
    path: str
    first: float
    last: float
    mean: float
    most: float


@dataclass(frozen=True)
class Step:
    """The text under the pointer in a part of a chart, with the left side and the width of the part."""

    left: float
    width: float
    words: str


@dataclass(frozen=True)
class Chart:
    """Lines over time. levels, times: the marks of the scales, with their texts. steps: the texts under the pointer."""

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


def chart(title: str, unit: str, found: Sampled | None, percent: bool = False) -> Chart | None:
    """The chart of a figure, the largest lines first; None if nothing was sampled. percent: values are fractions."""
    if found is None:
        return None
    begin = found.began + found.spans[0] * found.width
    end = found.began + (found.spans[-1] + 1) * found.width
    places = [number - found.spans[0] for number in found.spans]
    together = _together(found, 100 if percent else 1)
    top = _top(max(max(one.values) for one in together))
    wide = (WIDTH - _LEFT - _RIGHT) / (places[-1] + 1)  # width of a span
    high = (HEIGHT - _TOP - _BOTTOM) / top
    centres = [_LEFT + wide * (place + 0.5) for place in places]
    colours = _colours([one.label for one in together if one.label != OTHER])
    lines = [
        Line(
            one.label or title, colours[one.label],
            _path(places, centres, [HEIGHT - _BOTTOM - high * value for value in one.values]),
            one.values[0], one.values[-1], sum(one.values) / len(one.values), one.most,
        )
        for one in together
    ]  # fmt: skip
    shown = [(line.label, one.values) for line, one in zip(lines, together, strict=True)]
    return Chart(
        title, "%" if percent else unit, lines,
        [(round(HEIGHT - _BOTTOM - high * top * n / _LEVELS, 1), short(top * n / _LEVELS)) for n in range(_LEVELS + 1)],
        [(round(_LEFT + wide * ((at - begin) / found.width), 1), text) for at, text in _marks(begin, end)],
        _steps(shown, places, begin, found.width, wide), begin.astimezone(UTC), end.astimezone(UTC), found.width,
    )  # fmt: skip


def _together(found: Sampled, factor: float) -> list[Series]:
    """The largest lines, and at the end one line of all others, which the database may have summed already."""
    sums = {
        one.label: sum(value * samples for value, samples in zip(one.values, found.samples, strict=True))
        for one in found.series
    }
    order = sorted(found.series, key=lambda one: (-sums[one.label], one.label))
    kept = [one for one in order if one.label != OTHER][:LINES]
    others = [one for one in order if one not in kept]
    if others:
        values = [sum(at) for at in zip(*(one.values for one in others), strict=True)]
        kept.append(Series(OTHER, values, max(one.most for one in others)))
    if factor == 1:
        return kept
    return [Series(one.label, [factor * value for value in one.values], factor * one.most) for one in kept]


def _colours(names: Sequence[str]) -> dict[str, int]:
    """The number of a colour for each name, and for the others."""
    found = {OTHER: COLOURS + 1}
    for name in sorted(names, key=lambda name: (name not in FIXED, name)):
        wanted = FIXED.get(name) or zlib.crc32(name.encode()) % COLOURS + 1
        taken = set(found.values())
        free = [number for number in range(1, COLOURS + 1) if number not in taken]
        found[name] = wanted if wanted not in taken else next((n for n in free if n > wanted), free[0])
    return found


def _steps(
    lines: Sequence[tuple[str, Sequence[float]]], places: Sequence[int], begin: datetime, width: timedelta, wide: float
) -> list[Step]:
    """The time and the values of all lines, for each span or, if there are many spans, as means of several spans.
    Spans without samples show nothing. wide: the width of a span, in units of the drawing.
    """
    together = math.ceil((places[-1] + 1) / _STEPS)
    names = [_short(name) for name, _ in lines]
    found = []
    first = 0
    while first < len(places):
        number = places[first] // together
        last = bisect.bisect_left(places, (number + 1) * together, first)
        begins, ends = number * together, min((number + 1) * together, places[-1] + 1)
        words = [_span(begin + begins * width, begin + ends * width)]
        words += [
            f"{name}: {shown_number(sum(values[first:last]) / (last - first))}"
            for name, (_, values) in zip(names, lines, strict=True)
        ]
        left = round(_LEFT + wide * begins, 1)
        found.append(Step(left, round(_LEFT + wide * ends - left, 1), "\n".join(words)))
        first = last
    return found


@lru_cache(4096)  # all charts of a page have the same spans
def _span(first: datetime, last: datetime) -> str:
    """The beginning and the end of a span, UTC."""
    first, last = first.astimezone(UTC), last.astimezone(UTC)
    end = last.strftime("%H:%M" if last.date() == first.date() else "%m-%d %H:%M")
    return f"{first:%Y-%m-%d %H:%M} to {end} UTC"


def _short(name: str) -> str:
    """A name; a long one is shortened in the middle, since names differ at their beginning or end."""
    return name if len(name) <= _NAME else f"{name[: _NAME // 2 - 1]}…{name[-_NAME // 2 :]}"


def _path(places: Sequence[int], x: Sequence[float], y: Sequence[float]) -> str:
    """A path that is interrupted at missing spans. A single span is a short line."""
    parts: list[str] = []
    last = len(places) - 1
    for number, place in enumerate(places):
        joined = number > 0 and places[number - 1] == place - 1
        alone = not joined and (number == last or places[number + 1] != place + 1)
        parts.append(f"{'L' if joined else 'M'}{x[number]:.1f} {y[number]:.1f}" + ("h2" if alone else ""))
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
