"""Refusals: problem details of RFC 9457, from errors of the database, of requests, and of the service itself."""

import logging
import uuid
from http import HTTPStatus
from typing import Any

import msgspec
import psycopg
from psycopg_pool import PoolTimeout
from starlette.responses import Response

from broker.database_errors import from_database, is_lost
from broker.errors import SQLSTATES, BadRequest, BrokerError, ConnectError

LOG = logging.getLogger("broker.service")
MEDIA_TYPE = "application/problem+json"
BEARER = "Bearer"
INVALID_TOKEN = 'Bearer error="invalid_token"'

_OF_CODE = {
    "PB001": 422, "PB002": 403, "PB003": 409, "PB004": 404, "PB005": 409, "PB006": 503, "PB007": 503, "PB008": 401,
    "42501": 403,
}  # fmt: skip
# Statuses of other SQLSTATEs by their beginning: values that PostgreSQL cannot hold, then temporary errors.
_OF_BEGINNING = {
    "22": 422, "54": 422, "08": 503, "53": 503, "57P": 503, "57014": 503, "40001": 503, "40P01": 503, "55P03": 503,
    "25006": 503,
}  # fmt: skip
_NOT_INSTALLED = ("42883", "42P01", "3F000", "42703")  # no such function, table, schema, column


class ProblemDetails(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A refusal in the form of RFC 9457, with the members of this service."""

    type: str
    title: str
    status: int
    detail: str
    code: str | None = None
    key: str | None = None
    value: str | None = None
    hint: str | None = None
    id: str | None = None
    stored: int | None = None
    jobs: int | None = None
    line: int | None = None
    job_id: int | None = None


class Problem(Exception):
    """A refusal on its way to the caller. `more`: further members of the problem details."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        code: str | None = None,
        hint: str | None = None,
        headers: dict[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.code = code
        self.hint = hint
        self.headers = headers or {}
        self.more = more

    @property
    def title(self) -> str:
        """A short text: the meaning of the code or, without one, of the status."""
        return SQLSTATES.get(self.code or "") or HTTPStatus(self.status).phrase

    def response(self) -> Response:
        """The answer."""
        details = ProblemDetails(
            # no page describes a problem further: programs look at `code`
            type="about:blank", title=self.title, status=self.status, detail=self.detail, code=self.code,
            hint=self.hint, **self.more,
        )  # fmt: skip
        headers = dict(self.headers)
        if self.status == HTTPStatus.SERVICE_UNAVAILABLE:
            headers.setdefault("Retry-After", "1")
        if self.status == HTTPStatus.UNAUTHORIZED:
            headers.setdefault("WWW-Authenticate", INVALID_TOKEN)
        return Response(encoded(details), self.status, headers, MEDIA_TYPE)


def encoded(value: object) -> bytes:
    """JSON of a value; half of a surrogate pair in an error's text becomes a question mark."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value)
        return msgspec.json.encode(
            {k: v.encode(errors="replace").decode() if isinstance(v, str) else v for k, v in plain.items()}
        )


def status_of(code: str) -> int | None:
    """The status of an SQLSTATE; None for an unexpected one."""
    return _OF_CODE.get(code) or next((s for beginning, s in _OF_BEGINNING.items() if code.startswith(beginning)), None)


def of_code(code: str, message: str, hint: str | None) -> Problem:
    """The refusal for an SQLSTATE, with its message."""
    status = status_of(code)
    if status is None:
        return unexpected(message)
    return Problem(status, message, code=code, hint=hint)


def unexpected(reason: object, error: BaseException | None = None) -> Problem:
    """A fault of the service: the caller gets a number, under which the log has the reason."""
    number = uuid.uuid4().hex
    LOG.error("request %s failed: %s", number, reason, exc_info=error)
    return Problem(500, "the service failed; its log has the reason under this id", id=number)


def of_error(error: Exception) -> Problem:
    """The refusal for any error."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, PoolTimeout):
        return Problem(503, "no connection to the database is free", hint="Ask again.")
    if isinstance(error, psycopg.Error):
        return _of_database(error)
    if isinstance(error, ConnectError):
        LOG.warning("the database does not answer: %s", error.message)
        return Problem(503, "the database does not answer", hint="Ask again.")
    if isinstance(error, BrokerError) and (error.sqlstate or isinstance(error, BadRequest)):
        return of_code(error.sqlstate or "PB001", error.message, error.hint)
    return unexpected(error, error)


def _of_database(error: psycopg.Error) -> Problem:
    found = from_database(error)
    code = error.sqlstate
    if code is None:
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            LOG.warning("the database does not answer: %s", found.message)
            return Problem(503, "the database does not answer", hint="Ask again.")
        if isinstance(error, psycopg.DataError):  # a text with NUL, which no statement can carry
            return Problem(422, found.message, code="PB001")
        return unexpected(error, error)
    if code in _NOT_INSTALLED:
        LOG.error("the database lacks what this release calls: %s", found.message)
        hint = "Run `broker db upgrade`."
        return Problem(503, "database and service are of different releases", code="PB007", hint=hint)
    if is_lost(error):
        LOG.warning("the database does not answer: %s", found.message)
        return Problem(503, "the database does not answer", code=code, hint="Ask again.")
    status = status_of(code)
    if status is None:
        return unexpected(f"{code} {found.message}", error)
    return Problem(status, found.message, code=code, hint=found.hint)
