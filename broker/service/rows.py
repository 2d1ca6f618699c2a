"""The types of the answers to searches and summaries, for OpenAPI, made from the columns of views.py."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from broker.service.views import OWN, VIEWS, kind_of


def page(name: str) -> type[msgspec.Struct]:
    """The answer to a search: JobPage, of JobRow."""
    one = _singular(name)
    row = msgspec.defstruct(f"{one}Row", _columns(name), namespace={"__doc__": "The requested columns."})
    words = "A page. cursor: the beginning of the next page; null = this is the last page."
    fields = [("rows", list[row]), ("cursor", str | None)]  # type: ignore[valid-type]
    return msgspec.defstruct(f"{one}Page", fields, namespace={"__doc__": words})


def group(name: str) -> type[msgspec.Struct]:
    """A group of a summary: JobGroup."""
    words = "The number of rows with these values of the grouping columns."
    return msgspec.defstruct(f"{_singular(name)}Group", [("count", int), *_columns(name)], namespace={"__doc__": words})


def _singular(name: str) -> str:
    return "".join(word.capitalize() for word in name.removesuffix("s").split("_"))


def _columns(name: str) -> list[tuple[str, Any, Any]]:
    """Each column may be left out, and may be null."""
    columns = dict(VIEWS[name].columns) | (dict(OWN[name].columns) if name in OWN else {})
    return [(column, kind_of(of).type | None | UnsetType, UNSET) for column, of in columns.items()]
