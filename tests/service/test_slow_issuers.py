"""An issuer or a provider that answers slowly, or with another protocol, holds nobody."""

import asyncio
import time
from collections.abc import Iterator

import pytest

from broker.service import keys
from broker.service.login import provider
from broker.service.login.attempts import Attempt
from broker.service.problems import Problem
from broker.service.settings import Login
from tests.trickle import Serve, trickling


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Starts a server that sends a byte now and then."""
    monkeypatch.setattr(keys, "TIMEOUT", 0.3)
    monkeypatch.setattr(provider, "TIMEOUT", 0.3)
    with trickling() as begin:
        yield begin


ANSWERS = [(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), (b"SSH-2.0-Example\r\n", b"")]


@pytest.mark.parametrize(("first", "slowly"), ANSWERS)
def test_an_issuer_that_answers_slowly_has_no_keys(serve: Serve, first: bytes, slowly: bytes) -> None:
    began = time.monotonic()
    with pytest.raises(keys.NoKeys):
        asyncio.run(keys.Keys(serve(first, slowly)).fitting("ES256", None))
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(("first", "slowly"), ANSWERS)
def test_a_provider_that_answers_slowly_is_unavailable(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, first: bytes, slowly: bytes
) -> None:
    url = serve(first, slowly)
    asked = provider.Provider(Login(issuer=url, client_id="client", client_secret="secret"), "http://h")
    with pytest.raises(Problem) as raised:
        asked._exchanged({"token_endpoint": url}, {})
    assert raised.value.status == 503
    with pytest.raises(Problem) as raised:
        asyncio.run(asked.address(Attempt("s", "n", "v")))
    assert raised.value.status == 503


def test_callers_at_the_same_time_wait_for_a_provider_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider, "_PAUSE", 0.2)
    asked = provider.Provider(Login(issuer="http://h", client_id="client", client_secret="secret"), "http://h")
    fetched: list[float] = []

    def hang() -> dict[str, str]:
        fetched.append(time.monotonic())
        time.sleep(0.5)
        raise TimeoutError

    async def both() -> list[object]:
        one = (asked.address(Attempt("s", "n", "v")) for _ in range(2))
        return await asyncio.gather(*one, return_exceptions=True)

    monkeypatch.setattr(asked, "_fetched", hang)
    refused = asyncio.run(both())
    assert [one.status for one in refused if isinstance(one, Problem)] == [503, 503]
    assert len(fetched) == 1
