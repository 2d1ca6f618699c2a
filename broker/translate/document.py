"""Reading a document of another system: its fields are taken one by one, and each fault is refused with its place."""

import re
from collections.abc import Callable
from typing import Any, NoReturn

from broker.errors import BadRequest
from broker.json_text import Written, json_text, shown
from broker.world.shape import nearest

_VERSION = re.compile(r"[0-9]+(\.[0-9]+)*")
Read = Callable[[str, Any], Any]


class Part:
    """An object of a document. Names of fields may have - or _ between their words; null is the same as absent. joint:
    the one that errors put between the words of a field that is absent, by default that of the other fields."""

    def __init__(self, place: str, value: Any, joint: str | None = None) -> None:
        if not isinstance(value, dict):
            wrong(place or "the document", value, "an object")
        self.joint = joint or ("-" if _has_hyphens(value) else "_")
        self._place = place
        self._written: dict[str, str] = {}
        self._left: dict[str, Any] = {}
        self._known: list[str] = []
        for written, field in value.items():
            name = str(written).replace("-", "_")
            if name in self._left:
                raise BadRequest(f"{self._below(written)} is given twice, also as {self._written[name]}")
            self._written[name], self._left[name] = written, field

    def take(self, name: str, read: Read, default: Any = None) -> Any:
        """A field as `read` gives it; the default if it is absent."""
        self._known.append(name)
        value = self._left.pop(name, None)
        if value is None:
            return default
        return Part(self.place(name), value, self.joint) if read is Part else read(self.place(name), value)

    def need(self, name: str, read: Read) -> Any:
        """A field that must be there."""
        value = self.take(name, read)
        if value is None:
            raise BadRequest(f"{self.place(name)} is missing")
        return value

    def part(self, name: str) -> "Part":
        """A field that is an object; an empty one if it is absent."""
        return self.take(name, Part, None) or Part(self.place(name), {}, self.joint)

    def bounds(self, name: str, read: Read) -> dict[str, Any]:
        """A field with min and max, without absent ones."""
        part = self.part(name)
        found = {bound: part.take(bound, read) for bound in ("min", "max")}
        part.end()
        return {bound: value for bound, value in found.items() if value is not None}

    def skip(self, *names: str) -> None:
        """Fields that take no part in matching."""
        for name in names:
            self.take(name, lambda _, value: value)

    def end(self) -> None:
        """Refuse the fields that were not taken."""
        for name in self._left:
            meant = nearest(name, self._known)
            known = [field.replace("_", self.joint) for field in ([meant] if meant else self._known)]
            hint = f"The nearest is {known[0]}." if meant else f"Fields are {', '.join(known)}."
            raise BadRequest(f"{self._below(str(self._written[name])[:100])} is not a known field", hint)

    def place(self, name: str) -> str:
        """The place of a field as the document writes it, for errors."""
        return self._below(self._written.get(name) or name.replace("_", self.joint))

    def _below(self, written: str) -> str:
        return f"{self._place}.{written}" if self._place else written


def _has_hyphens(value: Any) -> bool:
    """Whether a name of a field in a document has a hyphen."""
    if isinstance(value, list):
        return any(map(_has_hyphens, value))
    return isinstance(value, dict) and any("-" in str(name) or _has_hyphens(one) for name, one in value.items())


def text(place: str, value: Any) -> str:
    """A text that is not empty."""
    return value if isinstance(value, str) and value else wrong(place, value, "a text")


def texts(place: str, value: Any) -> list[str]:
    """A list of texts."""
    if not isinstance(value, list):
        wrong(place, value, "a list of texts")
    return [text(f"{place}[{number}]", one) for number, one in enumerate(value)]


def number(place: str, value: Any) -> int | float:
    """A number from 0 on that is exact as a double."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e15:
        wrong(place, value, "a number from 0 to 10^15")
    return int(value) if value == int(value) else float(value)


def count(place: str, value: Any) -> int:
    """An integer."""
    found = number(place, value)
    return found if isinstance(found, int) else wrong(place, value, "an integer from 0 to 10^15")


def flag(place: str, value: Any) -> bool:
    """True or false."""
    return value if isinstance(value, bool) else wrong(place, value, "true or false")


def version(place: str, value: Any) -> str:
    """A version: a text that begins with digits, or a number. A number that was read with its digits (`Written`) is
    these digits, so 2.30 is not 2.3; any other number is its shortest text."""
    if isinstance(value, str):
        found = _VERSION.match(value)
    else:
        found = _VERSION.fullmatch(value.text if isinstance(value, Written) else json_text(value))
    return found[0] if found else wrong(place, value, "a version such as 2.28")


def wrong(place: str, value: Any, wanted: str, hint: str | None = None) -> NoReturn:
    """Refuse a value."""
    raise BadRequest(f"{place} is {shown(json_text(value))}, not {wanted}", hint)
