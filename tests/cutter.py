"""A TCP proxy in front of the server that loses an answer: the call is done, but the client does not learn of it."""

import contextlib
import socket
import threading

from psycopg.conninfo import conninfo_to_dict, make_conninfo


class Cutter:
    """Forwards connections. After `cut()`, the next answer of the server is thrown away and its connection closed."""

    def __init__(self, dsn: str) -> None:
        parameters = conninfo_to_dict(dsn)
        self._server = (str(parameters.get("host", "127.0.0.1")), int(str(parameters.get("port", 5432))))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.dsn = make_conninfo("", **{**parameters, "host": "127.0.0.1", "port": self._listener.getsockname()[1]})
        self._armed = threading.Event()
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Lose the next answer."""
        self._armed.set()

    def close(self) -> None:
        """Accept no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._server)
            threading.Thread(target=self._forward, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._forward, args=(server, client, True), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket, answers: bool) -> None:
        try:
            while data := source.recv(65536):
                if answers and self._armed.is_set():
                    self._armed.clear()
                    self.cuts += 1
                    break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
