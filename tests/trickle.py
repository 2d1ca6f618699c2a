"""Servers that send a byte now and then."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Serve = Callable[[bytes, bytes], str]


@contextmanager
def trickling() -> Iterator[Serve]:
    """A function that starts a server, which sends some bytes at once, and then others one by one, again and again; it
    returns the URL."""
    over = threading.Event()
    servers: list[socket.socket] = []

    def begin(first: bytes, slowly: bytes) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)

        def answer() -> None:
            with suppress(OSError):
                connection = server.accept()[0]
                connection.recv(9999)
                connection.sendall(first)
                while slowly and not over.is_set():
                    for byte in slowly:
                        connection.sendall(bytes([byte]))
                        over.wait(0.02)
                connection.close()

        threading.Thread(target=answer, daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}/"

    yield begin
    over.set()
    for server in servers:
        server.close()
