"""Lists: the views that can be searched, as pages with filters, an order and a link to the next rows."""

from collections.abc import Mapping
from typing import Any

from broker.listed import LINKS, LISTS, List, Page
from broker.listed import REASONS as REASON_WORDS
from broker.service import searches
from broker.service.endpoint import Call, Endpoint
from broker.service.models import Order, Restriction, Search
from broker.service.pages.frame import address, endpoint
from broker.service.problems import Problem
from broker.service.search import ROWS
from broker.service.views import INTEGER, OWN, TEXT, VIEWS, View, kind_of
from broker.words import REASONS


def _endpoint(name: str, of: List, shown: Page) -> Endpoint:
    view, filters = VIEWS[name], shown.filters.split()
    labels = {key: _capital(words) for key, words in of.headings(shown.filters).items()}
    every = {key: _capital(words) for key, words in of.headings(shown.shown).items()}

    async def page(call: Call) -> tuple[str, dict[str, Any]]:
        wanted = _search(view, shown, call.request.query_params)
        found = await searches.page(call, view, OWN.get(name), wanted)
        given = {key: call.request.query_params.get(key, "") for key in (*filters, "sort")}
        path = call.request.url.path
        # a submitter's own jobs have fewer columns
        headings = {key: words for key, words in every.items() if not found.rows or key in found.rows[0]}
        return "list", {
            "title": of.title, "links": LINKS, "filters": _fields(of, labels),
            "chips": [(labels[key], REASONS.get(given[key], given[key]), address(path, **(given | {key: ""})))
                      for key in filters if given[key]],
            "all": address(path, sort=given["sort"]),
            "headings": headings, "rows": found.rows, "given": given,
            "following": found.cursor and address(path, **given, cursor=found.cursor),
            "first": address(path, **given) if wanted.cursor else None,
            "sorts": {key: address(path, **(given | {"sort": _turned(key, given["sort"])})) for key in headings
                      if kind_of(view.columns[key]) in (INTEGER, TEXT) and key not in shown.unsorted},
            "sorted": given["sort"].removeprefix("-"), "down": given["sort"].startswith("-"),
        }  # fmt: skip

    return endpoint(f"/{name.replace('_', '-')}", f"List of {of.title}", page)


def _fields(of: List, labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """The filters as fields: a choice where the words are known."""
    known = {one.columns.split()[0]: one.values for one in of.command.filters.values()} if of.command else {}
    sources = {key: of.columns[key].source for key in labels}
    words = {key: known.get(sources[key]) or (REASON_WORDS if key == "reason" else ()) for key in labels}
    return [
        {"name": key, "label": label, "choices": [(word, REASONS.get(word, word)) for word in words[key]]}
        for key, label in labels.items()
    ]


def _capital(words: str) -> str:
    """Words that begin a cell, with a capital letter."""
    return words[:1].upper() + words[1:]


def _turned(column: str, sort: str) -> str:
    """The order by a column: reversed if the list already has it, otherwise with the largest first."""
    return column if sort == f"-{column}" else f"-{column}"


def _search(view: View, shown: Page, query: Mapping[str, str]) -> Search:
    """The search of an address. Raises Problem: 422 for an unknown field."""
    filters = shown.filters.split()
    for key in query:
        if key not in (*filters, "sort", "cursor", "done"):
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


ENDPOINTS = tuple(_endpoint(name, of, of.page) for name, of in LISTS.items() if of.page)
