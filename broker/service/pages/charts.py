"""Charts that the service draws: lines over time as SVG, with the drawn figures as a table."""

import bisect
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise

from broker.service.pages.words import number as shown_number
from broker.words import REASONS

LINES = 7  # lines drawn separately; all others are one more line
WIDTH, HEIGHT = 1000, 100  # units of the drawing, which is stretched to the place there is
_HIGH = 176  # CSS pixels of its height (.plot of style.css)
_APART = 15  # least CSS pixels between two names at the ends of lines
_LEVELS = 4
_TIMES = 5
_EDGE = 6  # percent of the width within which the text of a time would leave the chart
_EVENTS = 6  # maximal number of events in a chart
_STEPS = 60  # maximal number of parts of a chart that show values under the pointer
_NAME = 24  # characters of a line's name there: a chart has 800 such names
OTHER = "other"
COLOURS = 7  # colours of lines; one more is for the others
FIXED = {
    "finished": 3, "failed": 6, "expired": 2, "released": 7, "cancelled": 4, "closed": 8, "running": 1, "matched": 7,
    "waiting": 1, "held": 4, "limited": 5, "misconfigured": 6, "too_large": 2, "no_resource_seen": 7, "overtaken": 3,
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
    samples: sampled minutes in each span. ends: the first and the last span of the chart, by default those of the
    lines. gap: why a span has no value.
    """

    began: datetime
    width: timedelta
    spans: Sequence[int]
    samples: Sequence[int]
    series: Sequence[Series]
    ends: tuple[int, int] | None = None
    gap: str = "nothing was sampled"


@dataclass(frozen=True)
class Line:
    """A line: its name, its number among the colours, its path, and its first, last, mean and largest value. area: the
    path of the area below it; empty if it has none. end: the place of its name at the right, in percent from the top.
    """

    label: str
    number: int
    path: str
    area: str
    end: float
    first: float
    last: float
    mean: float
    most: float


@dataclass(frozen=True)
class Part:
    """A part of the width: its left side and its width, with the text under the pointer."""

    left: float
    width: float
    words: str


@dataclass(frozen=True)
class Limit:
    """The threshold of an alert, in the unit of the samples, with the words below the chart."""

    value: float
    words: str


@dataclass(frozen=True)
class Mark:
    """A dashed or dotted line: its kind (limit, target or event), its path, and the number of its colour, if it has
    one. The words stand below the chart.
    """

    kind: str
    path: str
    words: str
    number: int | None = None


@dataclass(frozen=True)
class Chart:
    """Lines over time. levels: the texts of the scale, from 0 up, at equal distances. times: places in percent, texts,
    and the side at which a text would leave the chart: first, last or none. steps: the texts under the pointer. gaps:
    where nothing was sampled. is_stacked: a line shows the sum of its values and those below it.
    """

    title: str
    unit: str
    lines: list[Line]
    levels: list[str]
    times: list[tuple[float, str, str]]
    steps: list[Part]
    gaps: list[Part]
    begin: datetime
    end: datetime
    width: timedelta
    is_stacked: bool = False
    marks: Sequence[Mark] = ()

    @property
    def words(self) -> str:
        """The last and the largest value of each line, in place of the drawing."""
        sign = " %" if self.unit == "%" else ""
        return "; ".join(
            f"{line.label} {shown_number(line.last)}{sign} at the end, {shown_number(line.most)}{sign} at most"
            for line in self.lines
        )


def chart(
    title: str, unit: str, found: Sampled | None, percent: bool = False, *, by: str | None = None,
    stacked: bool = False, limit: Limit | None = None, target: Sampled | None = None,
    events: Sequence[tuple[datetime, str]] = (),
) -> Chart | None:  # fmt: skip
    """The chart of a figure, the largest lines first; None if nothing was sampled. percent: values are fractions. by:
    the label that tells lines apart; reasons are shown in words. stacked: the lines are parts of a whole, and lie on
    each other. limit: a threshold to draw. target: the values that the only line should have, in the same
    spans. events: times and words; the newest events are drawn.
    """
    if found is None:
        return None
    factor = 100 if percent else 1
    first, last = found.ends or (found.spans[0], found.spans[-1])
    begin = found.began + first * found.width
    end = found.began + (last + 1) * found.width
    places = [number - first for number in found.spans]
    together = _together(found, factor)
    heights = _heights(together, stacked)
    aims = [factor * sum(at) for at in zip(*(one.values for one in target.series), strict=True)] if target else []
    top = _top(max(*map(max, heights), *aims, factor * limit.value if limit else 0.0))
    wide = WIDTH / (last - first + 1)  # width of a span
    centres = [wide * (place + 0.5) for place in places]
    colours = _colours([one.label for one in together if one.label != OTHER])
    drawn = [[HEIGHT - HEIGHT * value / top for value in of] for of in heights]
    floors = [[float(HEIGHT)] * len(places), *drawn[:-1]] if stacked else [[float(HEIGHT)] * len(places)] * len(drawn)
    with_area = stacked or len(together) == 1
    words = REASONS if by == "reason" else {}
    ends = _spread([(of[-1] + (floor[-1] if stacked else of[-1])) / 2 for of, floor in zip(drawn, floors, strict=True)])
    lines = [
        Line(
            words.get(one.label, one.label) or title, colours[one.label], _path(places, centres, of),
            _area(places, centres, of, floor) if with_area else "", at,
            one.values[0], one.values[-1], sum(one.values) / len(one.values), one.most,
        )
        for one, of, floor, at in zip(together, drawn, floors, ends, strict=True)
    ]  # fmt: skip
    marks = [_event(at, text, begin, end) for at, text in sorted(events) if begin <= at <= end][-_EVENTS:]
    if target and len(aims) == len(places):
        path = _path(places, centres, [HEIGHT - HEIGHT * value / top for value in aims])
        marks.append(Mark("target", path, "target", lines[0].number))
    if limit:
        marks.append(Mark("limit", f"M0 {HEIGHT - HEIGHT * factor * limit.value / top:.1f}H{WIDTH}", limit.words))
    shown = [(line.label, one.values) for line, one in zip(lines, together, strict=True)]
    return Chart(
        title, "%" if percent else unit, lines, [short(top * n / _LEVELS) for n in range(_LEVELS + 1)],
        [_time(at, text, begin, end) for at, text in _marks(begin, end)],
        _steps(shown, places, begin, found.width, wide), _gaps(places, wide, found.gap),
        begin.astimezone(UTC), end.astimezone(UTC), found.width, stacked, marks,
    )  # fmt: skip


def part_of(found: Sampled | None, label: str) -> Sampled | None:
    """A line as a part of the sum of all lines, where the sum is above 0; None if this is nowhere."""
    if found is None:
        return None
    whole = [sum(at) for at in zip(*(one.values for one in found.series), strict=True)]
    part = next((one.values for one in found.series if one.label == label), [0.0] * len(whole))
    kept = [n for n, value in enumerate(whole) if value > 0]
    if not kept:
        return None
    values = [part[n] / whole[n] for n in kept]
    return replace(
        found, spans=[found.spans[n] for n in kept], samples=[found.samples[n] for n in kept],
        series=[Series(label, values, max(values))], ends=(found.spans[0], found.spans[-1]), gap="no job ended",
    )  # fmt: skip


def _event(at: datetime, text: str, begin: datetime, end: datetime) -> Mark:
    """A moment; the date is shown unless it is that of the end."""
    at, end = at.astimezone(UTC), end.astimezone(UTC)
    moment = at.strftime("%H:%M" if at.date() == end.date() else "%-d %b %H:%M")
    return Mark("event", f"M{WIDTH * ((at - begin) / (end - begin)):.1f} 0V{HEIGHT}", f"{moment} {text}")


def spark(found: Sampled | None, number: int = 1) -> Line | None:
    """The sum of all lines without scales, 100 wide and 30 high: the lowest value is at the bottom, unless this would
    exaggerate. None without two samples.
    """
    if found is None or len(found.spans) < 2:
        return None
    values = [sum(at) for at in zip(*(one.values for one in found.series), strict=True)]
    low, high = min(values), max(values)
    low = 0.0 if low < high * 0.6 else low - (high - low) * 0.4
    places = [place - found.spans[0] for place in found.spans]
    x = [100 * place / places[-1] for place in places]
    y = [28 - 25 * (value - low) / ((high - low) or 1) for value in values]
    path, area = _path(places, x, y), _area(places, x, y, [30.0] * len(x))
    return Line("", number, path, area, 0, values[0], values[-1], sum(values) / len(values), high)


def _heights(lines: Sequence[Series], stacked: bool) -> list[list[float]]:
    """The upper side of each line."""
    found = [list(one.values) for one in lines]
    if stacked:
        for below, of in pairwise(found):
            of[:] = [value + under for value, under in zip(of, below, strict=True)]
    return found


def _spread(wanted: Sequence[float]) -> list[float]:
    """Places of names near the wanted ones and apart from each other, in percent, in the same order."""
    apart, lowest = 100 * _APART / _HIGH, 100 - 100 * 2 / _HIGH
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    found = [0.0] * len(wanted)
    last = 2.0 - apart
    for place in order:
        last = found[place] = max(wanted[place], last + apart)
    limit = lowest
    for place in reversed(order):
        found[place] = min(found[place], limit)
        limit = found[place] - apart
    return [round(place, 1) for place in found]


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
) -> list[Part]:
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
        left = round(wide * begins, 1)
        found.append(Part(left, round(wide * ends - left, 1), "\n".join(words)))
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


def _runs(places: Sequence[int]) -> list[range]:
    """The ranges of spans that follow each other without a gap."""
    starts = [n for n, place in enumerate(places) if n == 0 or places[n - 1] != place - 1]
    return [range(first, last) for first, last in pairwise([*starts, len(places)])]


def _path(places: Sequence[int], x: Sequence[float], y: Sequence[float]) -> str:
    """A path that is interrupted at missing spans. A single span is a dot."""
    return "".join(
        "M" + "L".join(f"{x[n]:.1f} {y[n]:.2f}" for n in run) + ("h0.01" if len(run) == 1 else "")
        for run in _runs(places)
    )


def _area(places: Sequence[int], x: Sequence[float], y: Sequence[float], floor: Sequence[float]) -> str:
    """The area between a line and another one below it."""
    return "".join(
        "M" + "L".join(f"{x[n]:.1f} {y[n]:.2f}" for n in run)
        + "".join(f"L{x[n]:.1f} {floor[n]:.2f}" for n in reversed(run)) + "z"
        for run in _runs(places) if len(run) > 1
    )  # fmt: skip


def _gaps(places: Sequence[int], wide: float, words: str) -> list[Part]:
    """The spans between lines."""
    return [
        Part(round(wide * (before + 1), 1), round(wide * (after - before - 1), 1), words)
        for before, after in pairwise(places) if after > before + 1
    ]  # fmt: skip


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


def _time(at: datetime, text: str, begin: datetime, end: datetime) -> tuple[float, str, str]:
    place = round(100 * ((at - begin) / (end - begin)), 1)
    return place, text, "first" if place < _EDGE else "last" if place > 100 - _EDGE else ""


def short(value: float) -> str:
    """A number of a scale: 1.5M, 20k, 0.25."""
    for size, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{name}"
    return f"{value:.3g}"
