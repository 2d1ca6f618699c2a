"""Clients that send slowly, nothing, or too much: their connections are closed in time and block no other client."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from broker.service import protocol
from tests.service.conftest import BASE, WANTED, Db, Jobs, Running, Start, Token, bearer

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


@pytest.mark.parametrize("wanted", [LIVE + b"Connection: close\r\n\r\n", LIVE + b"\r\n"])
def test_a_client_that_reads_no_answer_is_closed(service: Running, dial: Dial, wanted: bytes) -> None:
    """Neither waiting requests nor what the kernel keeps delay it."""
    connection = dial(service)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    large = b"GET /api/openapi.json HTTP/1.1\r\nHost: service\r\n\r\n"
    connection.sendall(large * 50 + wanted)
    began, port = time.monotonic(), connection.getsockname()[1]
    while any(is_open_to(port)):
        assert time.monotonic() - began < SOON
        time.sleep(0.05)


def is_open_to(port: int) -> Iterator[bool]:
    """Whether the service has a connection to this port of a client."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, _, there, state, *_ = line.split()
        yield there.endswith(f":{port:04X}") and state == "01"


def test_a_client_that_reads_slowly_gets_its_answers(service: Running, dial: Dial) -> None:
    connection = dial(service)
    whole = httpx.get(service.url + "/api/openapi.json").content
    last = b"GET /api/openapi.json HTTP/1.1\r\nHost: service\r\nConnection: close\r\n\r\n"
    connection.sendall(last.replace(b"Connection: close\r\n", b"") * 9 + last)
    found = b""
    while part := connection.recv(65536):
        found += part
        time.sleep(0.02)
    assert found.count(whole) == 10


def test_a_connection_has_a_bounded_number_of_waiting_requests(service: Running, dial: Dial) -> None:
    for number, statuses in ((protocol.WAITING + 1, {b"200"}), (protocol.WAITING + 2, {b"200", b"400"})):
        connection = dial(service)
        connection.sendall((LIVE + b"\r\n") * (number - 1) + LIVE + b"Connection: close\r\n\r\n")
        found = answered(connection)
        assert {line.split()[1] for line in found.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")} <= statuses
        assert found.count(b'"live"') == number or b" 400 " in found


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /healthz/live HTTP/1.1\r\n", b"400"),
        (b"GET /healthz/live HTTP/1.1\r\nHost: a\r\nHost: b\r\n", b"400"),
        (b"GET /healthz/live HTTP/1.0\r\nHost: a\r\nHost: a\r\n", b"400"),
        (b"GET /healthz/live HTTP/1.0\r\nTransfer-Encoding: chunked\r\n", b"400"),
        (b"GET /healthz/live HTTP/1.0\r\n", b"200"),
        (b"GET /healthz/live HTTP/1.1\r\nHost:\r\nConnection: close\r\n", b"200"),
    ],
)
def test_a_head_is_of_its_version_of_http(service: Running, dial: Dial, head: bytes, status: bytes) -> None:
    connection = dial(service)
    connection.sendall(head + b"\r\n")
    assert answered(connection).split()[1] == status


def test_no_cache_keeps_an_answer_and_no_browser_guesses_its_type(client: httpx.Client, db: Db) -> None:
    [(secret,)] = db.execute("select secret from resource.make_secret('default', 'stamp')").fetchall()
    answers = [
        client.post("/tokens", json={"stamp": "stamp", "secret": secret}),
        client.get("/jobs/1"),
        *(client.get(str(client.base_url.copy_with(path=path))) for path in ("/session", "/nothing", "/", "/metrics")),
    ]
    assert [one.status_code for one in answers] == [200, 401, 401, 404, 200, 200]
    for one in answers:
        assert (one.headers["cache-control"], one.headers["x-content-type-options"]) == ("no-store", "nosniff")


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
