"""Bodies of requests, read as they arrive up to a limit, and decoded into the structs of models.py.

Clients of other systems write bodies as Python's json and urllib do: with NaN, half of a surrogate pair, or bytes that
are no text. Most of what they send is not kept. So adapters decode a body loosely, and judge what they use.
"""

import json
import math
import re
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from msgspec import inspect
from starlette.requests import ClientDisconnect, Request

from broker.service.problems import Problem

JSON = "application/json"
LINES = "application/x-ndjson"
FORM = "application/x-www-form-urlencoded"

_MOST_FIELDS = 1000
_DIGITS = 300  # of an integer that is read; a longer one is infinite
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_UNKNOWN = re.compile(r"unknown field `(.*?)`", re.DOTALL)
_MISSING = re.compile(r"missing required field `(.*?)`", re.DOTALL)
_PLACE = re.compile(r" - at `(.*)`$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d{1,9})\]")


def media_type(request: Request, allowed: tuple[str, ...]) -> str:
    """The media type of the body. Raises Problem (415) if it is not allowed."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in allowed:
        hint = f"Send the header Content-Type: {allowed[0]}."
        raise Problem(415, f"the content type is {given or 'missing'}", key="Content-Type", hint=hint)
    return given


async def stream(request: Request, limit: int) -> AsyncIterator[bytes]:
    """The body, part by part. Raises Problem (413) if it is longer than the limit, whatever its header claims."""
    _refuse_claim(request, limit)
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise too_long(limit)
        yield part


async def read(request: Request, limit: int) -> bytes:
    """The whole body, as stream() reads it; for a short body, the generators of a stream would cost more than the
    bytes."""
    _refuse_claim(request, limit)
    parts: list[bytes] = []
    size = 0
    more = True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise too_long(limit)
        more = message.get("more_body", False)
    return b"".join(parts)


def _refuse_claim(request: Request, limit: int) -> None:
    claimed = request.headers.get("content-length", "")
    if claimed.isdecimal() and len(claimed) < 20 and int(claimed) > limit:
        raise too_long(limit)


async def form(request: Request, limit: int) -> dict[str, str]:
    """The fields of a form. Raises Problem: 400 for bytes that are not text, 422 for a field that comes twice or holds
    NUL."""
    media_type(request, (FORM,))
    body = await read(request, limit)
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise Problem(400, f"the body is not a form: {error}") from None
    fields: dict[str, str] = {}
    for name, value in pairs:
        if name in fields:
            raise Problem(422, f"the field {name[:100]!r} comes twice", code="PB001", key=name[:100])
        if "\0" in name or "\0" in value:
            raise Problem(422, f"the field {name[:100]!r} holds the character NUL", code="PB001", key=name[:100])
        fields[name] = value
    return fields


def unzipped(body: bytes, limit: int) -> bytes:
    """The content of a gzip stream. Raises Problem: 400 for an invalid stream, 413 for more than the limit."""
    unpacker = zlib.decompressobj(wbits=31)  # with the header of gzip
    try:
        content = unpacker.decompress(body, limit + 1)
    except zlib.error as error:
        raise Problem(400, f"the body is not a gzip stream: {error}") from None
    if len(content) > limit:
        raise too_long(limit)
    if not unpacker.eof:
        raise Problem(400, "the gzip stream ended early")
    return content


def too_long(limit: int) -> Problem:
    """The refusal of a long body, whose rest is not read."""
    headers = {"Connection": "close"}
    return Problem(413, f"the body has more than {limit} bytes", hint="Use several calls.", headers=headers)


@cache
def _decoder(kind: Any, number: Callable[[str], float] | None) -> "msgspec.json.Decoder[Any]":
    return msgspec.json.Decoder(kind, float_hook=number)


def decoded(body: bytes, kind: Any, where: str = "the body", number: Callable[[str], float] | None = None) -> Any:
    """The value of a JSON text; `number` makes its numbers that are no integers, where the kind is open. Raises
    Problem: 400 for invalid JSON, 422 for a wrong key, type or text."""
    try:
        value = _decoder(kind, number).decode(body)
    except msgspec.ValidationError as error:
        raise _wrong(kind, _plain(body), str(error), where) from None
    except RecursionError:
        raise Problem(400, f"{where} is nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Problem(400, f"{where} is not JSON: {error}") from None
    if b"\\u0000" in body and _NUL.search(body):
        raise Problem(422, f"{where} holds the character NUL in a text", code="PB001")
    return value


def _plain(body: bytes) -> Any:
    """The value of a text that has an error, perhaps a later one in its syntax."""
    try:
        return msgspec.json.decode(body)
    except (ValueError, msgspec.DecodeError, RecursionError):
        return msgspec.UNSET


def loose(text: bytes, where: str = "the body") -> Any:
    """The value of a JSON text as Python writes it. Raises Problem: 400 for other texts."""
    try:
        return json.loads(text.decode("utf-8-sig", "surrogateescape"), parse_int=_integer, strict=False)
    except (ValueError, RecursionError) as error:
        raise Problem(400, f"{where} is not JSON: {error}") from None


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < _DIGITS else math.inf


def loose_form(body: bytes) -> dict[str, Any]:
    """The fields of a form, with any bytes. A field that comes twice has a list. Raises Problem: 400."""
    try:
        text = body.decode(errors="surrogateescape")
        pairs = parse_qsl(text, keep_blank_values=True, errors="surrogateescape", max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise Problem(400, f"the body is not a form: {error}") from None
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def converted(value: Any, kind: Any, where: str) -> Any:
    """A value that was decoded loosely, as a type. Raises Problem: 422 for a wrong key or type, or half of a surrogate
    pair."""
    try:
        return msgspec.convert(value, kind, str_keys=True)
    except msgspec.ValidationError as error:
        raise _wrong(kind, value, str(error), where) from None
    except UnicodeEncodeError:
        raise Problem(422, f"{where} holds bytes that are no text", code="PB001", key=where) from None


async def loose_entries(request: Request, limit: int, most: int) -> dict[str, Any]:
    """The members of a body that is an object, decoded loosely. Raises Problem."""
    media_type(request, (JSON,))
    found = loose(await read(request, limit))
    if not isinstance(found, dict) or len(found) > most:
        raise Problem(422, f"the body is not an object of at most {most} members", code="PB001")
    return found


def require_plain(value: Any, where: str) -> None:
    """Refuse what no database holds: NUL, half of a surrogate pair, an infinite number. Raises Problem: 422."""
    if isinstance(value, str) and (found := _NO_TEXT.search(value)):
        fault = "the character NUL" if found[0] == "\0" else "bytes that are no text"
        raise Problem(422, f"{where} holds {fault}", code="PB001", key=where)
    if isinstance(value, float) and not math.isfinite(value):
        raise Problem(422, f"{where} is {value}, which is not a number", code="PB001", key=where)
    for name, one in value.items() if isinstance(value, dict) else ():
        require_plain(one, f"{where}.{name}")
    for number, one in enumerate(value if isinstance(value, list) else ()):
        require_plain(one, f"{where}[{number}]")


def _wrong(kind: Any, value: Any, message: str, where: str) -> Problem:
    """The refusal of a wrong key or value, which it names."""
    found = _PLACE.search(message)
    steps = [key or int(index) for key, index in _STEP.findall(found[1])] if found else []
    key = next((str(step) for step in reversed(steps) if isinstance(step, str)), None)
    try:
        for step in steps:
            value = value[step]
    except (LookupError, TypeError):
        value = msgspec.UNSET
    named = _UNKNOWN.search(message) or _MISSING.search(message)
    if named:
        key = named[1]
        value = value.get(key, msgspec.UNSET) if isinstance(value, dict) else msgspec.UNSET
    more: dict[str, Any] = {"key": key} if key is not None else {}
    if value is not msgspec.UNSET:
        more["value"] = json.dumps(value, ensure_ascii=False, separators=(",", ":"))[:100]
    words = f" (it is {more['value']})" if "value" in more else ""
    if allowed := _allowed(kind, steps):
        more["hint"] = f"Values are {', '.join(allowed)}."
    return Problem(422, f"{where}: {message}{words}", code="PB001", **more)


def _allowed(kind: Any, steps: Sequence[str | int]) -> list[str]:
    """The values of a type's literals at a place."""
    found = list(_alternatives(inspect.type_info(kind)))
    for step in steps:
        found = [inner for one in found for inner in _inside(one, step)]
    return [str(value) for one in found if isinstance(one, inspect.LiteralType) for value in one.values]


def _inside(kind: inspect.Type, step: str | int) -> Iterator[inspect.Type]:
    """The types of a member or an element of values of a type."""
    if isinstance(kind, inspect.StructType):
        for member in kind.fields:
            if member.encode_name == step:
                yield from _alternatives(member.type)
    elif isinstance(kind, inspect.ListType) and isinstance(step, int):
        yield from _alternatives(kind.item_type)


def _alternatives(kind: inspect.Type) -> Iterator[inspect.Type]:
    if isinstance(kind, inspect.Metadata):
        yield from _alternatives(kind.type)
    elif isinstance(kind, inspect.UnionType):
        for one in kind.types:
            yield from _alternatives(one)
    else:
        yield kind
