"""The form of numbers, times and values on pages."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import msgspec

_UNITS = ((1.0, "s"), (60.0, "min"), (3600.0, "h"), (86_400.0, "d"), (float("inf"), ""))


def span(value: timedelta | float | None) -> str:
    """A time in its largest unit: 90 s, 15 min, 36 h, 3 d."""
    if value is None:
        return ""
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    for (size, name), (following, _) in pairwise(_UNITS):
        if abs(seconds) < 2 * following:
            return f"{seconds / size:.0f} {name}"
    raise AssertionError


def moment(value: datetime | None) -> str:
    """A moment, UTC, to the second."""
    return "" if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def number(value: float | None) -> str:
    """A number with separators; a small number has at most three digits after the point."""
    if value is None:
        return ""
    if isinstance(value, int) or (abs(value) >= 1000 and float(value).is_integer()):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def percent(value: float | None) -> str:
    """A fraction in percent."""
    return "" if value is None else f"{100 * value:.1f} %"


def shown(value: Any) -> str:
    """Any value of a column."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, timedelta):
        return span(value)
    if isinstance(value, msgspec.Raw):
        value = msgspec.json.decode(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {shown(of)}" for key, of in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(shown(of) for of in value)
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, default=str)


FILTERS: dict[str, Callable[..., Any]] = {
    "span": span, "moment": moment, "number": number, "percent": percent, "shown": shown,
}  # fmt: skip
"""Functions that templates call."""
