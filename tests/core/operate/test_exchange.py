"""The deadline of a whole exchange over HTTP, against servers that send a byte now and then."""

import time
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.request import Request

import pytest

from broker.exchange import _SameScheme, exchange
from tests.trickle import Serve, trickling


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts such a server."""
    with trickling() as begin:
        yield begin


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"


@pytest.mark.parametrize(
    ("first", "slowly"),
    [(b"", b"HTTP/1.1 200"), (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), (HEAD.replace(b"5", b"500000"), b"x")],
)
def test_an_answer_that_comes_slowly_ends_at_the_deadline(serve: Serve, first: bytes, slowly: bytes) -> None:
    url, began = serve(first, slowly), time.monotonic()
    with pytest.raises(TimeoutError, match=r"no answer within 0\.3 s"):
        exchange(Request(url), 0.3, 2**20)
    assert time.monotonic() - began < 10


def test_an_answer_in_time_is_returned_up_to_its_bound(serve: Serve) -> None:
    assert exchange(Request(serve(HEAD + b"hello", b"")), 30, 100) == b"hello"
    assert exchange(Request(serve(HEAD + b"hello", b"")), 30, 2) == b"he"


def test_a_redirection_is_followed_only_where_that_is_wanted(serve: Serve) -> None:
    moved = f"HTTP/1.1 302 x\r\nContent-Length: 0\r\nLocation: {serve(HEAD + b'there', b'')}\r\n\r\n".encode()
    assert exchange(Request(serve(moved, b"")), 30, 100, redirects=True) == b"there"
    with pytest.raises(HTTPError):
        exchange(Request(serve(moved, b"")), 30, 100)


@pytest.mark.parametrize(("first", "then", "is_followed"), [
    ("https", "https", True), ("https", "http", False), ("http", "https", True), ("http", "http", True),
])  # fmt: skip
def test_no_redirection_leaves_https(first: str, then: str, is_followed: bool) -> None:
    asked, to = Request(f"{first}://issuer.example"), f"{then}://other.example"
    assert (_SameScheme().redirect_request(asked, None, 302, "Found", {}, to) is not None) is is_followed
