"""One exchange over HTTP, with a deadline for the whole of it. The timeout of a socket counts each read, so a server
that sends a byte now and then would hold its caller for hours.
"""

import socket
from contextlib import suppress
from threading import Event, Timer
from typing import Any
from urllib.request import AbstractHTTPHandler, HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener


def exchange(request: Request, seconds: float, most: int, *, redirects: bool = False) -> bytes:
    """Send a request and return the body of the answer, or the first `most` bytes of it.

    Raises TimeoutError if the exchange takes longer than `seconds`, urllib's HTTPError for a status other than success
    (also for a redirection: without `redirects` for any, with it for one from https to http), and OSError,
    HTTPException or ValueError.
    """
    over, sockets = Event(), list[socket.socket]()

    def end() -> None:
        over.set()
        for one in sockets:
            with suppress(OSError):  # it is closed
                socket.socket.shutdown(one, socket.SHUT_RDWR)

    handlers = [_Http(over, sockets), _Https(over, sockets), _SameScheme() if redirects else _NoRedirect()]
    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        with build_opener(*handlers).open(request, timeout=seconds) as answer:
            body: bytes = answer.read(most)
    except Exception:
        if not over.is_set():
            raise
    finally:
        timer.cancel()
    if over.is_set():
        raise TimeoutError(f"no answer within {seconds:g} s")
    return body


class _Timed(AbstractHTTPHandler):
    """Makes connections whose sockets can be shut down."""

    def __init__(self, over: Event, sockets: list[socket.socket]) -> None:
        super().__init__()
        self._over, self._sockets = over, sockets

    def do_open(self, http_class: Any, req: Request, **more: Any) -> Any:
        """Ask, by a connection whose socket is kept."""
        over, sockets = self._over, self._sockets

        class Kept(http_class):  # type: ignore[misc]
            def connect(self) -> None:
                super().connect()
                sockets.append(self.sock)
                if over.is_set():
                    raise TimeoutError

        return super().do_open(Kept, req, **more)


class _Http(_Timed, HTTPHandler):
    pass


class _Https(_Timed, HTTPSHandler):
    pass


class _SameScheme(HTTPRedirectHandler):
    """Refuses redirections from https to anything else."""

    def redirect_request(self, req: Request, *answer: Any) -> Request | None:
        """The request at the new address, if it is as safe."""
        to = super().redirect_request(req, *answer)
        return None if to is not None and req.type == "https" and to.type != "https" else to


class _NoRedirect(HTTPRedirectHandler):
    """Refuses redirections: a header or a secret is meant for the first address only."""

    def redirect_request(self, *_: object) -> None:
        return None
