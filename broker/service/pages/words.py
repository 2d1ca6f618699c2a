"""The form of numbers, times and values on pages."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

import msgspec
from markupsafe import Markup

from broker.visible import visible
from broker.words import BADGES, REASONS, counted, length, span

_AT_END = 17  # characters of a name at the end of a line of a chart
_LABELS = {"owner_group": "group", "gshare": "share", "grid_ce": "CE"}


def moment(value: datetime | None) -> str:
    """A moment, UTC, to the second."""
    return "" if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def when(value: datetime | None) -> Markup:
    """A moment, UTC, as short as it can be: 11:40 today, 27 Mar 14:10 before. The whole moment is its title."""
    if value is None:
        return Markup()
    at, now = value.astimezone(UTC), datetime.now(UTC)
    form = "%H:%M" if at.date() == now.date() else "%-d %b %H:%M" if at.year == now.year else "%-d %b %Y %H:%M"
    whole = moment(value)
    return Markup('<time datetime="{}Z" title="{} UTC">{}</time>').format(
        whole.replace(" ", "T"), whole, at.strftime(form)
    )


def badge(word: str | None, words: str | None = None) -> Markup:
    """A status or a reason as a badge. words: the text in place of the word of the data, which is then the title."""
    if not word:
        return Markup()
    text = visible(words or word)
    title = Markup("") if text == word else Markup(' title="{}"').format(visible(word))
    return Markup('<span class="badge{}"{}>{}</span>').format(
        Markup(f" {BADGES[word]}" if word in BADGES else ""), title, text
    )


def reason(word: str) -> str:
    """The words of a reason."""
    return REASONS.get(word, word)


def at_end(name: str) -> str:
    """A name at the end of a line of a chart."""
    return name if len(name) <= _AT_END else f"{name[: _AT_END - 1]}…"


def label(name: str) -> str:
    """A label of figures, as it is read: owner_group is "group"."""
    return _LABELS.get(name, name.replace("_", " "))


def sentence(text: str, name: str | None = None) -> str:
    """A text with a capital letter and a full stop; empty if there is none. name: a name of the data, which keeps its
    letters where it begins the text."""
    text = text.strip()
    first = text[:1] if name and text.startswith(f"{name} ") else text[:1].upper()
    return first + text[1:] + ("" if text.endswith((".", "?", "!")) or not text else ".")


def refusal(status: int) -> str:
    """The heading of a refusal."""
    return {404: "Not found", 403: "Not allowed", 409: "Not possible now", 422: "Not understood"}.get(
        status, HTTPStatus(status).phrase
    )


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
        return length(value)
    if isinstance(value, msgspec.Raw):
        value = msgspec.json.decode(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {shown(of)}" for key, of in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(shown(of) for of in value)
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, default=str)


FILTERS: dict[str, Callable[..., Any]] = {
    "span": span, "moment": moment, "number": number, "percent": percent, "shown": shown, "when": when,
    "counted": counted, "badge": badge, "reason": reason, "at_end": at_end, "label": label, "sentence": sentence,
    "lower_first": lambda text: text[:1].lower() + text[1:] if text[1:2].islower() else text,
}  # fmt: skip
"""Functions that templates call."""
