"""A request as endpoints see it: its headers, and its body, in whatever parts it arrives."""

import asyncio
from typing import Any

import pytest
from starlette.requests import ClientDisconnect

from broker.service import bodies
from broker.service.endpoint import Request
from broker.service.problems import Problem

_LIMIT = 10


def _asked(headers: list[tuple[bytes, bytes]], *messages: dict[str, Any]) -> Request:
    left = iter(messages)

    async def receive() -> dict[str, Any]:
        return next(left)

    return Request({"type": "http", "headers": headers}, receive)


def _part(body: bytes, *, more: bool) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


def test_the_first_of_several_headers_with_the_same_name_counts() -> None:
    headers = _asked([(b"x-one", b"a"), (b"x-two", b"b\xe9"), (b"x-one", b"c")]).headers
    assert (headers.get("X-One"), headers["X-One"], headers.getlist("x-one")) == ("a", "a", ["a", "c"])
    assert headers.get("x-TWO") == "b\xe9"
    assert "X-Two" in headers
    assert "x-three" not in headers
    assert headers.get("x-three", "none") == "none"


def test_a_body_is_read_in_parts() -> None:
    asked = _asked([], _part(b"four", more=True), _part(b"", more=True), _part(b"+4", more=False))
    assert asyncio.run(bodies.read(asked, _LIMIT)) == b"four+4"


def test_a_body_is_read_up_to_the_limit_only() -> None:
    asked = _asked([], _part(b"x" * _LIMIT, more=True), _part(b"x", more=True))
    with pytest.raises(Problem) as refused:
        asyncio.run(bodies.read(asked, _LIMIT))
    assert refused.value.status == 413


def test_a_claimed_length_over_the_limit_is_refused_unread() -> None:
    with pytest.raises(Problem) as refused:
        asyncio.run(bodies.read(_asked([(b"content-length", b"11")]), _LIMIT))
    assert refused.value.status == 413


def test_a_caller_that_leaves_amid_the_body_is_noticed() -> None:
    with pytest.raises(ClientDisconnect):
        asyncio.run(bodies.read(_asked([], _part(b"x", more=True), {"type": "http.disconnect"}), _LIMIT))
