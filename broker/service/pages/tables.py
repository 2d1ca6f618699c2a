"""The cells of tables, written without templates: a list has hundreds of cells, and a macro call per cell took most of
the time of a page."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from numbers import Number
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from broker.service.pages.words import badge, reason, shown, when
from broker.visible import visible
from broker.words import BADGES

_WIDE = 60
"""Characters of a text that has a wide column."""

_MARK = Markup(
    '<td class="mark {of}" title="{title}"><span aria-hidden="true">{}</span><span class="sr">{}</span></td>'
)
_PASS = Markup('<td class="mark pass"><span aria-hidden="true">✓</span><span class="sr">accepts</span></td>')
_NO_MARK = Markup('<td class="mark"></td>')
_BADGED = frozenset(("status", "state", "reason", "verdict", "severity", "event", "outcome", "to_status"))
"""Columns whose words are badges."""

Rows = Sequence[Mapping[str, Any]]


def cell(value: Any, link: str | None, base: str) -> Markup:
    """A value of a column. link: its target, below the base; {} is the value."""
    if value is None or value == "":
        return Markup()
    if link:
        return Markup(f'<a href="{escape(base + link.format(quote(str(value))))}">{escape(visible(str(value)))}</a>')
    return when(value) if isinstance(value, datetime) else escape(visible(shown(value)))


def side(rows: Rows, name: str, links: Mapping[str, str]) -> Markup:
    """The class of a heading: numbers are aligned to the right, and long texts are wrapped."""
    return _side([row[name] for row in rows if row[name] is not None], name in links)


def body(rows: Rows, headings: Mapping[str, str], links: Mapping[str, str], base: str) -> Markup:
    """The rows of a table, with a cell for each heading."""
    columns = [(name, links.get(name), name in links) for name in headings]
    first = next(iter(headings), None)
    parts: list[str] = []
    for row in rows:
        parts.append("<tr>\n")
        for name, link, leads in columns:
            value = row[name]
            is_badge = name in _BADGED and value in BADGES
            text = badge(value, reason(value) if name == "reason" else None) if is_badge else cell(value, link, base)
            if name == first:
                wide = ' class="words"' if isinstance(value, str) and len(value) > _WIDE else ""
                parts.append(f'<th scope="row"{wide}>{text}</th>\n')
            else:
                parts.append(f"<td{_side(() if value is None else (value,), leads)}>{text}</td>\n")
        parts.append("</tr>\n")
    return Markup("".join(parts))


def marks(rules: Sequence[str], rejected: Mapping[str, str], first: str | None, is_whole: bool = True) -> Markup:
    """The cells of a queue: a mark at each rule that rejects the queue, with the words of the rule. is_whole: a rule
    without words accepts the queue."""
    return Markup("").join(
        _MARK.format("●" if rule == first else "○", visible(rejected[rule]) or "rejects",
                     of="first" if rule == first else "also", title=visible(rejected[rule]))
        if rule in rejected else _PASS if is_whole else _NO_MARK
        for rule in rules
    )  # fmt: skip


def _side(values: Sequence[Any], leads: bool) -> Markup:
    first = values[0] if values else None
    if not leads and isinstance(first, Number) and not isinstance(first, bool):
        return Markup(' class="n"')
    return Markup(' class="words"' if isinstance(first, str) and max(map(len, values)) > _WIDE else "")


FILTERS = {"cell": cell, "side": side, "body": body, "marks": marks}
"""Functions that templates call."""
