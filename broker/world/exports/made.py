"""Code that the readers of exports share: the world that they make, and answers of PanDA's interface."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from broker.errors import BadRequest
from broker.json_text import json_text
from broker.world import tables
from broker.world.shape import NUMBER, Row, require


@dataclass
class Made:
    """A world made from an export. lacking: data that the export does not contain, in words. only_known: sections that
    only add figures to existing rows; entries without such a row in the setup are left out. names: the names of the
    records, of sections that are not only_known."""

    world: dict[str, Any]
    rows: int
    lacking: list[str] = field(default_factory=list)
    only_known: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


_PAGE = frozenset(("items", "hasMore", "limit", "offset", "count", "links", "columns"))


def data_of(name: str, value: Any) -> Any:
    """The data of an answer of PanDA's interface, {success, message, data}, and the rows of a query as Oracle's tools
    write them, {items} or {results: [{items}]}; any other value unchanged."""
    if isinstance(value, dict) and value.keys() == {"results"} and isinstance(value["results"], list):
        [value] = value["results"] if len(value["results"]) == 1 else [value]
    if isinstance(value, dict) and isinstance(value.get("items"), list) and value.keys() <= _PAGE:
        return value["items"]
    if not (isinstance(value, dict) and "success" in value and "data" in value):
        return value
    if value["success"] is not True:
        fault = f"{name} is an answer without success: {json_text(value.get('message'))[:200]}"
        raise BadRequest(fault, "ask PanDA again: the answer has no data")
    return value["data"]


def rows_of(name: str, value: Any) -> Iterator[tuple[str, Row]]:
    """Rows of a table from an array of objects, with column names in lower case; a single object is one row."""
    for number, row in enumerate(value if isinstance(value, list) else [value]):
        require(dict, f"{name}[{number}]", row)
        yield f"{name}[{number}]", {key.lower(): entry for key, entry in row.items()}


def integer(where: str, value: Any) -> int | None:
    """An integer, also as text or as a float without a fraction; null and an empty text count as missing."""
    if value is None or value == "":
        return None
    if isinstance(value, str) and value.strip().lstrip("-").isdecimal():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    require(int, where, value)
    return int(value)


def number(where: str, value: Any) -> int | float | None:
    """A number, also as text; null and an empty text count as missing."""
    if isinstance(value, str):
        value = tables.read_text(value, "N")
    if value is not None:
        require(NUMBER, where, value)
    return value  # type: ignore[no-any-return]


def once(name: str, record: str, seen: set[str]) -> None:
    """Refuse a record that stands in an export twice; seen: those before it."""
    if record in seen:
        raise BadRequest(f"{name}: {record} is given twice", "leave the newer one")
    seen.add(record)


def name_of_did(name: str) -> str:
    """The name of a dataset or container without its scope and without the slash that PanDA ends containers with."""
    return name.rpartition(":")[2].rstrip("/")
