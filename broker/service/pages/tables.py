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
_BRIEF, _BROAD, _WHOLE = 13, 13, 34
"""Characters of a text that is not broken, and of texts that have one and two of the three columns of a card."""

_MARK = Markup(
    '<td class="mark {of}" title="{title}"><span aria-hidden="true">{}</span><span class="sr">{}</span></td>'
)
_PASS = Markup('<td class="mark pass"><span aria-hidden="true">✓</span><span class="sr">accepts</span></td>')
_NO_MARK = Markup('<td class="mark"></td>')
_BADGED = frozenset(("status", "state", "reason", "verdict", "severity", "event", "outcome", "to_status"))
"""Columns whose words are badges."""
_NAMES = frozenset(("code", "task_id", "job_id", "run_id", "task_queue_id"))
"""Columns whose numbers are names."""
_STRIPED = ("status", "state", "reason")
"""Columns whose words mark their row."""

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


def body(rows: Rows, headings: Mapping[str, str], links: Mapping[str, str], base: str, cards: bool = False) -> Markup:
    """The rows of a table, with a cell for each heading, and a stripe at a row in trouble. cards: on a phone a row is a
    card, so each cell has its heading and keeps its role."""
    columns = [(name, links.get(name), name in links) for name in headings]
    first = next(iter(headings), None)
    row_role, head_role = (' role="row"', ' role="rowheader"') if cards else ("", "")
    roles = {name: f' role="cell" data-label="{escape(words)}"' if cards else "" for name, words in headings.items()}
    parts: list[str] = []
    for row in rows:
        mark = _mark(row, headings)
        stripe = f' class="{mark}"' if mark else ""
        parts.append(f"<tr{row_role}{stripe}>\n")
        for name, link, leads in columns:
            value = row[name]
            if name in _BADGED and value in BADGES:
                words = reason(value) if name == "reason" else value
                text, kind = badge(value, words), _width(len(words), cards, is_badge=True)
            else:
                text = cell(str(value) if name in _NAMES and value is not None else value, link, base)
                kind = _side(() if value is None else (value,), leads) or _width(_length(value), cards)
            if name == first:
                wide = ' class="words"' if isinstance(value, str) and len(value) > _WIDE else ""
                parts.append(f'<th scope="row"{wide}{head_role}>{text}</th>\n')
            else:
                parts.append(f"<td{kind}{roles[name]}>{text}</td>\n")
        parts.append("</tr>\n")
    return Markup("".join(parts))


def _length(value: Any) -> int:
    """The characters that are read in a cell."""
    return len(value) if isinstance(value, str) else _BRIEF if isinstance(value, datetime) else len(shown(value))


def _width(length: int, cards: bool, is_badge: bool = False) -> str:
    """The class of a text by its length: a brief one is not broken, and on a card a longer one has more columns."""
    if cards and length > _BROAD:
        return f' class="{"whole" if length > _WHOLE else "broad"}"'
    return ' class="brief"' if 0 < length <= _BRIEF and not is_badge else ""


def _mark(row: Mapping[str, Any], headings: Mapping[str, str]) -> str:
    """The stripe of a row: what a person must look at, what hinders work, or what a person holds."""
    found = {BADGES.get(row[name], "") for name in _STRIPED if name in headings and row[name] is not None}
    return next((mark for mark in ("bad", "hold", "warn") if mark in found), "")


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
