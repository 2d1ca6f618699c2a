"""The kit as it is shipped, and what tests of the service have: a setup with something in it, and a service."""

from tests.service.conftest import _shared, issuer, jobs, service, service_dsn, settings, start, token
from tests.service.pages.conftest import filled

__all__ = ["_shared", "filled", "issuer", "jobs", "service", "service_dsn", "settings", "start", "token"]
