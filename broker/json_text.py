"""Incoming and outgoing JSON: values that PostgreSQL cannot hold are refused here, by name."""

import json
import re
from collections.abc import Callable
from functools import partial
from math import isinf
from typing import Any

from broker.errors import BadRequest

_dumps = partial(json.dumps, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}]')
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


class Written(float):
    """A number of a JSON text with its digits: 2.30 and 2.3 are equal numbers, and different versions."""

    __slots__ = ("text",)

    def __new__(cls, text: str) -> "Written":
        """The number of a text."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str


def parse(text: str, number: Callable[[str], float] = float) -> Any:
    """The value of a JSON text; `number` makes its numbers that are no integers. Raises ValueError for invalid JSON, a
    key given twice, NaN, a number beyond all bounds, too many levels, or a text that is not Unicode."""
    try:
        finite = partial(_finite, number)
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number, parse_float=finite)
        if "\\ud" in text or "\\uD" in text:
            _dumps(value).encode()
        _refuse_nul(text)
    except _KeyTwice:
        raise ValueError(_named_twice(text)) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError as error:
        raise ValueError(_half(error)) from None
    return value


def parse_or_text(text: str) -> Any:
    """The value of a JSON text, or any other text unchanged."""
    try:
        return parse(text)
    except ValueError:
        return text


def json_text(value: object) -> str:
    """A value as JSON. Raises BadRequest for values that JSON or PostgreSQL cannot hold: nan, infinity, other types,
    NUL, half of a surrogate pair, too many levels."""
    try:
        text = _dumps(value)
        text.encode()
        _refuse_nul(text)
    except UnicodeEncodeError as error:
        raise BadRequest(f"not JSON: {_half(error)}", "give texts in Unicode") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise BadRequest(f"not JSON: {error}", "give numbers, strings, lists and mappings with text keys") from None
    return text


def shown(text: str) -> str:
    """A JSON text as errors show it: at most a hundred characters, with dots for the others; a string keeps its closing
    quote."""
    if len(text) <= 100:
        return text
    return f'{text[:96]}..."' if text.startswith('"') else f"{text[:97]}..."


def _refuse_nul(text: str) -> None:
    if "\\u0000" in text and (found := _NUL.search(text)):
        raise ValueError(f"a text holds the character NUL: ...{text[max(0, found.start() - 40) : found.end()]}")


class _KeyTwice(ValueError):
    """A key occurs twice in one object."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _KeyTwice
    return value


def _named_twice(text: str) -> str:
    """The key of a JSON text that occurs twice in one object, and the place of its second occurrence."""
    objects: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word == "{":
            objects.append(set())
        elif word == "}":
            objects.pop()
        elif word.endswith(":"):
            key = json.loads(word[:-1])
            if key in objects[-1]:
                line, column = (
                    text.count("\n", 0, token.start()) + 1,
                    token.start() - text.rfind("\n", 0, token.start()),
                )
                return f'the key "{key}" stands twice in one object, again at line {line} column {column}'
            objects[-1].add(key)
    raise AssertionError("no key stands twice")


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _finite(number: Callable[[str], float], text: str) -> float:
    value = number(text)
    if isinf(value):
        raise ValueError(f"{shown(text)} is beyond the bounds of numbers")
    return value


def _half(error: UnicodeEncodeError) -> str:
    return f"a text holds half of a surrogate pair, U+{ord(error.object[error.start]):04X}"
