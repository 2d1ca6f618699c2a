"""Clients that send slowly, nothing, or too much: their connections are closed in time and block no other client."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest

from broker.service import protocol
from tests.service.conftest import BASE, WANTED, Jobs, Running, Start, Token, bearer

PERIOD = 0.6
SOON = 20.0  # seconds within which even a busy machine closes a connection
LIVE = b"GET /healthz/live HTTP/1.1\r\nHost: service\r\n"
Dial = Callable[[Running], socket.socket]


@pytest.fixture
def dial(monkeypatch: pytest.MonkeyPatch) -> Iterator[Dial]:
    """A function that connects to a service that gives clients less time than usual."""
    monkeypatch.setattr(protocol, "PERIOD", PERIOD)
    opened: list[socket.socket] = []

    def make(running: Running) -> socket.socket:
        place = urlsplit(running.url)
        opened.append(socket.create_connection((place.hostname, place.port), timeout=SOON))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def head(token: str, path: str, length: int, kind: str = "application/json") -> bytes:
    """The head of a POST whose body has this many bytes."""
    return (
        f"POST {BASE}{path} HTTP/1.1\r\nHost: service\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def answered(connection: socket.socket) -> bytes:
    """All bytes that arrive until the service closes the connection."""
    found = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(65536):
            found += part
    return found


def seconds_until_closed(connection: socket.socket, parts: bytes, pause: float = 0.02) -> float:
    """Send the same bytes again and again until the service closes the connection."""
    began = time.monotonic()
    connection.setblocking(False)
    while time.monotonic() - began < SOON:
        try:
            connection.send(parts)
            if connection.recv(65536) == b"":
                break
        except BlockingIOError:
            pass
        except (ConnectionResetError, BrokenPipeError):
            break
        time.sleep(pause)
    return time.monotonic() - began


@pytest.mark.parametrize("begin", [LIVE[:10], LIVE, LIVE + b"X-Long: "])
def test_a_head_that_comes_byte_by_byte_is_closed(service: Running, dial: Dial, begin: bytes) -> None:
    connection = dial(service)
    connection.sendall(begin)
    assert PERIOD / 2 < seconds_until_closed(connection, b"a") < SOON


def test_each_head_of_a_connection_has_its_own_time_limit(service: Running, dial: Dial) -> None:
    connection = dial(service)
    connection.sendall(LIVE + b"\r\n")
    assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    time.sleep(2 * PERIOD)  # between requests a client may be silent
    connection.sendall(LIVE)
    assert PERIOD / 2 < seconds_until_closed(connection, b"a") < SOON


def test_slow_bodies_keep_no_connection_to_the_database(start: Start, dial: Dial, token: Token, jobs: Jobs) -> None:
    running = start(connections=1)
    given = token("agent")
    jobs(1)
    slow = [dial(running) for _ in range(30)]
    for one in slow:
        one.sendall(head(given, "/match", 1000) + b"{")
    closing = threading.Thread(target=lambda: [seconds_until_closed(slow[0], b" ")])
    closing.start()
    found = httpx.post(running.url + BASE + "/match", json=WANTED, headers=bearer(given), timeout=SOON)
    assert found.status_code == 200
    closing.join()
    assert all(b" 200 " not in answered(one) for one in slow[1:])  # each connection is closed


def test_slow_submitters_do_not_occupy_places_of_long_calls(start: Start, dial: Dial, token: Token, jobs: Jobs) -> None:
    running = start(connections=2)  # one of them is for long calls
    given = token("operator")
    jobs(1)
    slow = [dial(running) for _ in range(4)]
    for one in slow:
        one.sendall(head(given, "/jobs", 10_000_000, "application/x-ndjson") + b"{")
    time.sleep(PERIOD / 2)
    why = httpx.get(running.url + BASE + "/jobs/1/why", headers=bearer(given), timeout=SOON)
    assert why.status_code == 200
    assert seconds_until_closed(slow[0], b" ") < SOON


def test_a_body_that_comes_steadily_is_taken(
    service: Running, dial: Dial, token: Token, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "PERIOD", 3.0)
    pieces = 10
    body = b'{"resources": [{"CPUTime": 86400}]}'.ljust(pieces * protocol.LEAST)
    connection = dial(service)
    connection.sendall(head(token("agent"), "/match", len(body)))
    for number in range(pieces):  # they take more than a period
        time.sleep(0.4)
        connection.sendall(body[number * protocol.LEAST : (number + 1) * protocol.LEAST])
    assert connection.recv(65536).startswith(b"HTTP/1.1 204")


def test_a_connection_that_waits_for_a_job_is_not_closed(service: Running, dial: Dial, token: Token) -> None:
    body = b'{"resources": [{"CPUTime": 86400}], "wait": 2}'
    connection = dial(service)
    connection.sendall(head(token("agent"), "/match", len(body)) + body)
    assert connection.recv(65536).startswith(b"HTTP/1.1 204")


def test_many_connections_that_send_nothing_are_closed(service: Running, dial: Dial, token: Token) -> None:
    idle = [dial(service) for _ in range(500)]
    found = httpx.post(service.url + BASE + "/match", json=WANTED, headers=bearer(token("agent")), timeout=SOON)
    assert found.status_code == 204
    assert [one.recv(1) for one in idle] == [b""] * len(idle)


@pytest.mark.parametrize(
    "lines",
    [
        [b"X-%d: %s" % (n, b"a" * 1000) for n in range(1000)],
        [b"X: " + b"a" * 2**20],
        [b"X-%d: b" % n for n in range(99_999)],
    ],
)
def test_a_head_that_is_too_large_is_refused(service: Running, dial: Dial, lines: list[bytes]) -> None:
    connection = dial(service)
    with suppress(ConnectionResetError, BrokenPipeError):  # the service reads no further
        connection.sendall(LIVE + b"\r\n".join(lines) + b"\r\n\r\n")
    assert answered(connection)[:13] in (b"HTTP/1.1 431 ", b"")


def test_the_size_of_a_head_is_bounded(service: Running) -> None:
    for size, status in ((protocol.HEAD_BYTES - 1000, 200), (protocol.HEAD_BYTES + 1, 431)):
        found = httpx.get(service.url + "/healthz/live", headers={"X": "a" * size})
        assert found.status_code == status


def test_a_head_sent_in_pieces_has_the_same_bound(service: Running) -> None:
    """The last piece of the head is small."""
    where = urlsplit(service.url)
    for size, status in ((protocol.HEAD_BYTES - 1000, b"200"), (protocol.HEAD_BYTES + 1, b"431")):
        head = LIVE + b"X: " + b"a" * size + b"\r\n\r\n"
        with socket.create_connection((where.hostname or "", where.port or 0)) as connection:
            connection.sendall(head[:-2000])
            time.sleep(0.2)
            connection.sendall(head[-2000:])
            assert connection.recv(100).startswith(b"HTTP/1.1 " + status)


def test_a_request_with_an_upgrade_header_is_answered_as_an_ordinary_one(service: Running) -> None:
    upgrade = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }  # fmt: skip
    assert httpx.get(service.url + "/healthz/live", headers=upgrade).json() == {"status": "live"}
    assert httpx.get(service.url + "/nothing", headers=upgrade).status_code == 404
