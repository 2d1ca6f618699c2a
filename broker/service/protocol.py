"""uvicorn's HTTP/1.1 with the limits that it lacks: the size of a head, and the time of a slow client. An answer is
sent in one piece. A client has PERIOD seconds for a head, from the beginning of the connection or from the head's first
byte, and must send at least LEAST bytes of a body in each PERIOD. Otherwise the connection is closed. The time during
which the service works on a request, and reads nothing, does not count. Between requests uvicorn's own limit holds
(timeout_keep_alive).
"""

import asyncio
import enum
from http import HTTPStatus
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 64 * 2**10  # the chain of certificates that a proxy hands over takes 20 KiB
PERIOD = 20.0  # seconds
LEAST = 2048  # bytes
_TOGETHER = 64 * 2**10  # bytes of an answer that wait for the rest


class _Part(enum.Enum):
    """The part that the client must send next."""

    HEAD = enum.auto()
    BODY = enum.auto()


class Together:
    """A transport that sends the head of an answer and its body in one piece: one TLS record and one system call."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._pieces: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send data, together with everything else that is written in this round of the loop."""
        if not self._pieces:
            self._loop.call_soon(self._send)
        self._pieces.append(data)
        self._size += len(data)
        if self._size >= _TOGETHER:
            self._send()

    def close(self) -> None:
        """Close the connection when all has been sent."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if self._pieces:
            pieces, self._pieces, self._size = self._pieces, [], 0
            self._transport.write(b"".join(pieces))


class BoundedProtocol(HttpToolsProtocol):
    """A connection. Its timer runs only after a part of a request has arrived, so most requests need no timer."""

    _awaited: _Part | None = None
    _timer: asyncio.TimerHandle | None = None
    _bytes = 0  # start of the awaited part
    _piece = 0  # bytes received last
    _too_large = False

    def connection_made(self, transport: Any) -> None:
        """Await the first head from here on."""
        super().connection_made(cast(asyncio.Transport, Together(transport, self.loop)))
        self._await(_Part.HEAD)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Await nothing any longer."""
        self._await(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Receive a piece of requests."""
        self._piece = len(data)
        super().data_received(data)
        if self._awaited is None or self.transport.is_closing():
            return
        self._bytes += len(data)
        if self._awaited is _Part.HEAD and self._bytes > HEAD_BYTES:
            self._too_large = True
            self.send_400_response("")
        elif self._timer is None:
            self._watch()

    def on_message_begin(self) -> None:
        """Begin a head."""
        super().on_message_begin()
        self._await(_Part.HEAD)

    def on_headers_complete(self) -> None:
        """A head is complete. An error makes the parser stop, and uvicorn refuse the request."""
        may_be_large = self._bytes + self._piece > HEAD_BYTES
        if may_be_large and sum(len(name) + len(value) for name, value in self.headers) > HEAD_BYTES:
            self._too_large = True
            raise ValueError("the head is too large")
        self._await(_Part.BODY)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End a complete request."""
        self._await(None)
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse an invalid request or a too large head, and close."""
        if not self._too_large:
            super().send_400_response(msg)
            return
        status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        answer = f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        self.transport.write(answer.encode())
        self.transport.close()

    def _await(self, part: _Part | None) -> None:
        self._awaited = part
        self._bytes = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _watch(self) -> None:
        self._timer = self.loop.call_later(PERIOD, self._poll, self._bytes, self.flow.read_paused)

    def _poll(self, before: int, was_paused: bool) -> None:
        """Close the connection of a client that sent too little in the last period."""
        paused = was_paused or self.flow.read_paused
        if self._awaited is _Part.BODY and (paused or self._bytes - before >= LEAST):
            self._watch()
        elif not self.transport.is_closing():
            self.transport.close()
