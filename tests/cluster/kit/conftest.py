"""The fixtures of the service's tests, a filled setup, and a server without pgbroker."""

from collections.abc import Iterator

import psycopg
import pytest

from broker.server.embedded import Server
from tests.service.conftest import _shared, issuer, jobs, service, service_dsn, settings, start, token
from tests.service.pages.conftest import filled
from tests.throwaway import Throwaway

__all__ = ["_shared", "filled", "issuer", "jobs", "service", "service_dsn", "settings", "start", "token"]


@pytest.fixture
def empty_server() -> Iterator[Server]:
    """A separate embedded server, since roles belong to the server, without the database and the roles of pgbroker."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BROKER_TEST_SERVER", "embedded")
        throwaway = Throwaway()
    with psycopg.connect(throwaway.server.superuser_dsn("postgres"), autocommit=True) as connection:
        connection.execute("drop database broker")
    yield throwaway.server
    throwaway.remove()
