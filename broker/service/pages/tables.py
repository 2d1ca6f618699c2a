"""The cells of tables, written without templates: a list has hundreds of cells, and a macro call per cell took most of
the time of a page."""

from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from broker.service.pages.words import shown
from broker.visible import visible

_WIDE = 60
"""Characters of a text that has a wide column."""

_MARK = Markup(
    '<td class="mark{of}" title="{title}"><span aria-hidden="true">{}</span><span class="hidden">{}</span></td>'
)
_NO_MARK = Markup('<td class="mark"></td>')

Rows = Sequence[Mapping[str, Any]]


def cell(value: Any, link: str | None, base: str) -> Markup:
    """A value of a column. link: its target, below the base; {} is the value."""
    if value is None or value == "":
        return Markup()
    if link:
        return Markup(f'<a href="{escape(base + link.format(quote(str(value))))}">{escape(visible(str(value)))}</a>')
    return escape(visible(shown(value)))


def side(rows: Rows, name: str, links: Mapping[str, str]) -> Markup:
    """The class of a heading: numbers are aligned to the right, and long texts are wrapped."""
    return _side([row[name] for row in rows if row[name] is not None], name in links)


def body(rows: Rows, headings: Mapping[str, str], links: Mapping[str, str], base: str) -> Markup:
    """The rows of a table, with a cell for each heading."""
    columns = [(name, links.get(name), name in links) for name in headings]
    parts: list[str] = []
    for row in rows:
        parts.append("<tr>\n")
        for name, link, leads in columns:
            value = row[name]
            of = () if value is None else (value,)
            parts.append(f"<td{_side(of, leads)}>{cell(value, link, base)}</td>\n")
        parts.append("</tr>\n")
    return Markup("".join(parts))


def marks(rules: Sequence[str], rejected: Mapping[str, str], first: str | None) -> Markup:
    """The cells of a queue: a mark at each rule that rejects the queue, with the words of the rule."""
    return Markup("").join(
        _MARK.format("●" if rule == first else "○", visible(rejected[rule]) or "rejects",
                     of=" first" if rule == first else "", title=visible(rejected[rule]))
        if rule in rejected else _NO_MARK
        for rule in rules
    )  # fmt: skip


def _side(values: Sequence[Any], leads: bool) -> Markup:
    first = values[0] if values else None
    if not leads and isinstance(first, Number) and not isinstance(first, bool):
        return Markup(' class="n"')
    return Markup(' class="words"' if isinstance(first, str) and max(map(len, values)) > _WIDE else "")


FILTERS = {"cell": cell, "side": side, "body": body, "marks": marks}
"""Functions that templates call."""
