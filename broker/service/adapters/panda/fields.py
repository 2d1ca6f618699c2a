"""Bodies that pilots send: a form or JSON, perhaps compressed. Fields are judged when they are used."""

import json
import re
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from broker.json_text import shown
from broker.service import bodies
from broker.service.adapters.facts import NONE
from broker.service.endpoint import Adapter, Call
from broker.service.problems import Problem

_GZIP = b"\x1f\x8b"
_LONGEST = 1000
_NO_TEXT = re.compile("[\0\ud800-\udfff]")  # values that a database cannot hold
LIMIT_FACTOR = 8  # a final update has the job's report and the end of its log


def refusal(problem: Problem) -> Response:
    """A refusal before a call begins, as PanDA's server sends it: a text, and 403 for an unknown caller."""
    status, words = problem.status, problem.detail
    if status == 401:
        status, words = 403, f"Token authentication failed. {words}"
    headers = {"Retry-After": "1", **problem.headers} if status == 503 else problem.headers
    return Response(f"ERROR : {words}", status, headers, "text/plain")


ADAPTER = Adapter("panda", refusal)


def is_unread(problem: Problem) -> bool:
    """Whether a refusal remains an HTTP status: a body that is too long, too many requests, no database.

    A pilot treats any answer as the answer to its update, and repeats the update only if there is no answer.
    """
    return problem.status in (413, 429) or problem.status >= 500


@dataclass(frozen=True)
class Fields:
    """Fields by name. A getter raises Problem (422) for a value of another kind, and returns None for a missing
    value."""

    values: dict[str, Any]

    def text(self, name: str) -> str | None:
        """A short text."""
        value = self.values.get(name)
        if value in NONE:
            return None
        if isinstance(value, bool | list | dict):
            raise _wrong(name, value, "a text")
        text = str(value)
        if len(text) > _LONGEST or _NO_TEXT.search(text):
            raise _wrong(name, text, f"a text of at most {_LONGEST} characters")
        return text

    def number(self, name: str) -> float | None:
        """A number that is at least 0."""
        value = self.values.get(name)
        if value in NONE:
            return None
        try:
            number = float("nan") if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            number = float("nan")
        if not 0 <= number < 1e18:
            raise _wrong(name, value, "a number from 0 to 1e18")
        return number

    def integer(self, name: str, least: int, most: int) -> int | None:
        """An integer within bounds; a text of digits is also accepted."""
        value = self.values.get(name)
        if value in NONE:
            return None
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not is_integer and not (isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,19}", value)):
            raise _wrong(name, value, "an integer")
        if not least <= int(value) <= most:
            raise _wrong(name, value, f"within {least}..{most}")
        return int(value)

    def required_text(self, name: str) -> str:
        """A required short text."""
        text = self.text(name)
        if text is None:
            raise _missing(name)
        return text

    def required_integer(self, name: str, least: int, most: int) -> int:
        """A required integer."""
        number = self.integer(name, least, most)
        if number is None:
            raise _missing(name)
        return number


def _wrong(name: str, value: object, wanted: str) -> Problem:
    given = shown(json.dumps(value))
    return Problem(422, f"{name} is {given}, which is not {wanted}", code="PB001", key=name, value=given)


def _missing(name: str) -> Problem:
    return Problem(422, f"{name} is missing", code="PB001", key=name)


async def read(call: Call, *media_types: str) -> Fields:
    """The fields of a body, without null values. Raises Problem."""
    # a client without fields names no content type
    kind = bodies.media_type(call.request, media_types) if "content-type" in call.request.headers else bodies.FORM
    body = await bodies.read(call.request, call.limit)
    if body.startswith(_GZIP):  # pilots name the encoding only in API v1
        body = bodies.unzipped(body, call.limit)
    fields = bodies.loose(body) if kind == bodies.JSON else bodies.loose_form(body)
    if not isinstance(fields, dict):
        raise Problem(400, "the body is not a JSON object")
    return Fields(fields)
