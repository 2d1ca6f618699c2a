"""Lists: the views that can be searched, as pages with filters, an order and a link to the next rows."""

from asyncio import gather
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

from broker.listed import LINKS, LISTS, Filter, List, Page
from broker.listed import REASONS as REASON_WORDS
from broker.service import searches
from broker.service.endpoint import Call, Endpoint
from broker.service.models import Found, Order, Restriction, Search
from broker.service.pages.frame import address, endpoint
from broker.service.problems import Problem
from broker.service.search import ROWS
from broker.service.views import INTEGER, OWN, TEXT, VIEWS, View, kind_of
from broker.words import REASONS
from broker.world.shape import nearest

KNOWN = 500
"""Maximal number of values that a field offers."""
_ALWAYS = ("sort", "cursor", "done")
"""Keys that the address of each list may have beside its filters."""

Choices = Mapping[str, Sequence[str]]


async def listed(
    call: Call, name: str, more: Choices | None = None, keys: Collection[str] = (), found: Found | None = None
) -> dict[str, Any]:
    """The values of the page of a list. more: words of filters that the catalogue does not have. keys: what the address
    may have, too. found: rows in place of those of the search."""
    of, view = LISTS[name], VIEWS[name]
    assert of.page is not None
    shown, query = of.page, call.request.query_params
    filters = shown.filters.split()
    labels = {key: _capital(heading) for key, heading in of.headings(shown.filters).items()}
    reads = name not in OWN or await searches.may_read(call)
    words = await _words(call, of, more or {}, reads)
    for key in filters:
        if query.get(key):
            require_known(query[key].strip(), words.accepted.get(key, ()))
    wanted = search_of(view, shown, query, keys)
    first = wanted.cursor is None
    total: int | None = None
    if found is None:
        found = await searches.page(call, view, OWN.get(name), wanted)
        if first and not found.cursor:
            total = len(found.rows)
        elif not wanted.search and reads:
            total = await searches.total(call, view)
    # a submitter's own jobs have fewer columns
    rows, every = found.rows, {key: _capital(heading) for key, heading in of.headings(shown.shown).items()}
    headings = {key: heading for key, heading in every.items() if not rows or key in rows[0]}
    given = {key: query.get(key, "") for key in (*filters, "sort")}
    path, kept = call.request.url.path, {"order": query.get("order", "")}
    return {
        "title": of.title, "links": LINKS, "total": total, "most": searches.COUNTED,
        "filters": [
            {"name": key, "label": label, "known": words.known.get(key, ()),
             "choices": [(word, REASONS.get(word, word))
                         for word in dict.fromkeys([*words.chosen.get(key, ()), *filter(None, [given[key]])])]
             if key in words.chosen else []}
            for key, label in labels.items()
        ],
        "chips": [(labels[key], REASONS.get(given[key], given[key]), address(path, **(given | kept | {key: ""})))
                  for key in filters if given[key]],
        "all": address(path, sort=given["sort"], **kept),
        "headings": headings, "rows": rows, "given": given,
        "following": found.cursor and address(path, **given, **kept, cursor=found.cursor),
        "first": None if first else address(path, **given, **kept),
        "sorts": {key: address(path, **(given | {"sort": _turned(key, given["sort"])})) for key in headings
                  if kind_of(view.columns[key]) in (INTEGER, TEXT) and key not in shown.unsorted},
        "sorted": given["sort"].removeprefix("-"), "down": given["sort"].startswith("-"),
    }  # fmt: skip


def _endpoint(name: str, of: List) -> Endpoint:
    async def page(call: Call) -> tuple[str, dict[str, Any]]:
        return "list", await listed(call, name)

    return endpoint(f"/{name.replace('_', '-')}", f"List of {of.title}", page)


@dataclass(frozen=True)
class _Words:
    """The words of filters. accepted: all that a closed filter takes. chosen: those that its field offers, which a
    setup has. known: those that the field of an open filter offers."""

    accepted: Choices
    chosen: Choices
    known: Choices


async def _words(call: Call, of: List, more: Choices, reads: bool) -> _Words:
    """The words of the filters of a list. reads: the caller may read the views that have words."""
    assert of.page is not None
    accepted: dict[str, Sequence[str]] = dict(more)
    asked: dict[str, Filter] = {}
    for key in of.page.filters.split():
        one = _filter(of, key)
        if key in more:
            continue
        if one and one.values:
            accepted[key] = one.values
        elif key == "reason":
            accepted[key] = REASON_WORDS
        if one and one.known and reads:
            asked[key] = one
    rows = await gather(*(values_of(call, one.known) for one in asked.values()))
    found = dict(zip(asked, rows, strict=True))
    there = {key: words for key, words in found.items() if key in accepted}
    return _Words(
        accepted | {key: [*accepted[key], *words] for key, words in there.items()}, accepted | there,
        {key: words for key, words in found.items() if key not in accepted},
    )  # fmt: skip


def _filter(of: List, key: str) -> Filter | None:
    """The filter of the command that has a column."""
    filters = of.command.filters if of.command else {}
    by_column = {one.columns: one for one in filters.values() if one.kind is not bool}
    return filters.get(key) or by_column.get(of.columns[key].source)


async def values_of(call: Call, query: str) -> list[str]:
    """Values that a setup has, at most KNOWN."""
    text: LiteralString = query.replace("%(setup)s", "%s")
    statement: LiteralString = (
        f"select distinct k.name from ({text}) k(name) where k.name is not null order by 1 limit %s"
    )
    setups = [call.setup] * query.count("%(setup)s")
    return [word for (word,) in await call.rows(statement, *setups, KNOWN)]


def require_known(word: str, words: Collection[str]) -> None:
    """Refuse a word that a filter does not have. Raises Problem: 422."""
    if words and word not in words:
        near = nearest(word, words)
        hint = f"The nearest is {near}." if near else f"There are {', '.join(words)}."
        raise Problem(422, f"the filter has an unknown word: {word[:100]}", code="PB001", hint=hint)


def _capital(words: str) -> str:
    """Words that begin a cell, with a capital letter."""
    return words[:1].upper() + words[1:]


def _turned(column: str, sort: str) -> str:
    """The order by a column: reversed if the list already has it, otherwise with the largest first."""
    return column if sort == f"-{column}" else f"-{column}"


def search_of(view: View, shown: Page, query: Mapping[str, str], more: Collection[str] = ()) -> Search:
    """The search of an address. more: what the address may have, too. Raises Problem: 422 for an unknown field."""
    filters = shown.filters.split()
    for key in query:
        if key not in (*filters, *_ALWAYS, *more):
            hint = f"There are {', '.join(filters)}, sort and cursor."
            raise Problem(422, f"there is no filter {key[:100]!r}", code="PB001", key=key[:100], hint=hint)
    restrictions = [
        Restriction(name, "eq", _value(view, name, query[name].strip())) for name in filters if query.get(name)
    ]
    sort = query.get("sort", "")
    if sort.removeprefix("-") in shown.unsorted:
        hint = "Headings with a link sort the list."
        raise Problem(422, f"the list is not ordered by {sort.removeprefix('-')}", code="PB001", key="sort", hint=hint)
    order = [Order(sort.removeprefix("-"), "desc" if sort.startswith("-") else "asc")] if sort else []
    return Search(search=restrictions, sort=order, limit=ROWS, cursor=query.get("cursor") or None)


def _value(view: View, name: str, text: str) -> str | int:
    if kind_of(view.columns[name]) is not INTEGER:
        return text
    if not text.isdecimal() or len(text) > 19:
        raise Problem(422, f"{name} is {text[:50]!r}, which is no number", code="PB001", key=name)
    return int(text)


ENDPOINTS = tuple(_endpoint(name, of) for name, of in LISTS.items() if of.page and name != "tasks")
