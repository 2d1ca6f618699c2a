"""uvicorn's HTTP/1.1 with the limits that it lacks: the size of a head, the number of requests that wait, and the time
of a slow client. An answer is sent in one piece. A client has PERIOD seconds for a head, from the beginning of the
connection or from the head's first byte, and must send at least LEAST bytes of a body in each PERIOD. It must also take
LEAST bytes of its answers in each PERIOD in which more wait for it. Otherwise the connection is closed. The time while
the service works on a request, and reads nothing, does not count. Between requests uvicorn's own limit holds
(timeout_keep_alive).
"""

import asyncio
import enum
import socket
import struct
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 64 * 2**10  # the chain of certificates that a proxy hands over takes 20 KiB
PERIOD = 20.0  # seconds
LEAST = 2048  # bytes
WAITING = 100  # requests of a connection that wait while one is worked on
_SEND_BUFFER = 256 * 2**10  # bytes of answers that the kernel keeps for a client
_NO_LINGER = struct.pack("ii", 1, 0)  # the kernel drops the answers at once
_TOGETHER = 64 * 2**10  # bytes of an answer that are held back for more


class _Part(enum.Enum):
    """The part that the client must send next."""

    HEAD = enum.auto()
    BODY = enum.auto()


class Together:
    """A transport that sends the head of an answer and its body in one piece: one TLS record and one system call.

    on_rest: called when the client has not taken all that was sent.
    """

    def __init__(
        self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, on_rest: Callable[[], None]
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._on_rest = on_rest
        self._sent = 0
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

    @property
    def rest(self) -> int:
        """The bytes that the client has not taken."""
        return self._transport.get_write_buffer_size()

    @property
    def taken(self) -> int:
        """The bytes that the client has taken."""
        return self._sent - self.rest

    def close(self) -> None:
        """Close the connection when all has been sent."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if self._pieces:
            pieces, self._pieces, self._size = self._pieces, [], 0
            if self._transport.is_closing():  # the client, or the service, has closed it in this round
                return
            piece = b"".join(pieces)
            self._sent += len(piece)
            self._transport.write(piece)
            if self.rest:
                self._on_rest()


class BoundedProtocol(HttpToolsProtocol):
    """A connection. Its timer runs only after a part of a request has arrived, so most requests need no timer."""

    _awaited: _Part | None = None
    _timer: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None  # runs while the client has not taken its answers
    _bytes = 0  # start of the awaited part
    _piece = 0  # bytes received last
    _too_large = False

    def connection_made(self, transport: Any) -> None:
        """Await the first head from here on."""
        self._socket: socket.socket = transport.get_extra_info("socket")
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        self._answers = Together(transport, self.loop, self._watch_taking)
        super().connection_made(cast(asyncio.Transport, self._answers))
        self._await(_Part.HEAD)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Await nothing any longer."""
        self._await(None)
        if self._taking is not None:
            self._taking.cancel()
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
        """Begin a head. An error makes the parser stop, and uvicorn refuse the request."""
        if len(self.pipeline) >= WAITING:
            raise ValueError("too many requests wait")
        super().on_message_begin()
        self._await(_Part.HEAD)

    def on_headers_complete(self) -> None:
        """A head is complete. An error makes the parser stop, and uvicorn refuse the request."""
        may_be_large = self._bytes + self._piece > HEAD_BYTES
        if may_be_large and sum(len(name) + len(value) for name, value in self.headers) > HEAD_BYTES:
            self._too_large = True
            raise ValueError("the head is too large")
        is_old = self.parser.get_http_version() == "1.0"
        names = [name for name, _ in self.headers]
        hosts = names.count(b"host")
        if hosts > 1 or not (hosts or is_old) or (is_old and b"transfer-encoding" in names):  # RFC 9112, 3.2 and 6.1
            raise ValueError("the head is not of its version of HTTP")
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

    def _watch_taking(self) -> None:
        if self._taking is None:
            self._taking = self.loop.call_later(PERIOD, self._look_at_taking, self._answers.taken)

    def _look_at_taking(self, before: int) -> None:
        """Abort the connection of a client that took too little of its answers in the last period."""
        self._taking = None
        if self._answers.rest and self._answers.taken - before < LEAST:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            self.transport.abort()
        elif self._answers.rest:
            self._watch_taking()

    def _poll(self, before: int, was_paused: bool) -> None:
        """Close the connection of a client that sent too little in the last period."""
        paused = was_paused or self.flow.read_paused
        if self._awaited is _Part.BODY and (paused or self._bytes - before >= LEAST):
            self._watch()
        elif not self.transport.is_closing():
            self.transport.close()
