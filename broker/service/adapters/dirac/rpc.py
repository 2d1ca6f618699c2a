"""DIRAC's calls over HTTPS: the form of a call, the answer {OK, ...}, and DIRAC's error numbers."""

import errno
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.responses import Response

from broker import __version__
from broker.service import bodies
from broker.service.endpoint import Adapter, Call
from broker.service.problems import INVALID_TOKEN, Problem, encoded

JobId = Annotated[int, Meta(ge=1, le=10**18 - 1)] | Annotated[str, Meta(pattern="^[1-9][0-9]{0,17}$")]
"""DIRAC's clients send ids as numbers or as texts. They have at most 18 digits."""

EVALUE = 1004
EXCEPTION = 1005
ENOAUTH = 1111
EDB = 1130
EWMSJDL = 1501
EWMSJMAN = 1504
EWMSSTATUS = 1505
EWMSNOMATCH = 1510
_WORDS = {
    EVALUE: "Wrong value", EXCEPTION: "The service failed", ENOAUTH: "Not authorized",
    EDB: "The database does not answer now", EWMSJDL: "Invalid job description", EWMSJMAN: "No such job",
    EWMSSTATUS: "The status of the job does not allow it", EWMSNOMATCH: "No match found",
    errno.ENOSYS: "No such method",
}  # fmt: skip
_OF_STATUS = {401: ENOAUTH, 403: ENOAUTH, 404: EWMSJMAN, 409: EWMSSTATUS, 429: errno.EAGAIN, 500: EXCEPTION, 503: EDB}
# An error that only the caller can correct is an answer. If DIRAC's client should try another address, it gets an HTTP
# status.
_ANSWERED = (400, 404, 409, 413, 415, 422)


class Args(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """The arguments of a method, by position."""


@dataclass(frozen=True)
class Method:
    """A method of a service: the type of its arguments, and the function that answers it."""

    args: type[Args]
    run: Callable[[Call, Any], Awaitable[Any]]


class Fault(Problem):
    """A refusal with an error number of DIRAC."""

    def __init__(self, number: int, detail: str = "", status: int = 200) -> None:
        super().__init__(status, detail)
        self.number = number


def refusal(problem: Problem) -> Response:
    """The answer {OK: false, ...}. DIRAC's client reads it if the status is 200."""
    number = problem.number if isinstance(problem, Fault) else _OF_STATUS.get(problem.status, EVALUE)
    detail = ". ".join(filter(None, (problem.detail, problem.hint)))
    message = f"{_WORDS.get(number, HTTPStatus(problem.status).phrase)} ( {number} : {detail})"
    headers = dict(problem.headers)
    if problem.status == HTTPStatus.UNAUTHORIZED:
        headers.setdefault("WWW-Authenticate", INVALID_TOKEN)
    if problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers.setdefault("Retry-After", "1")
    status = HTTPStatus.OK if problem.status in _ANSWERED else problem.status
    body = {"OK": False, "Errno": number, "Message": message}
    return Response(encoded(body), status, headers, bodies.JSON)


ADAPTER = Adapter("DIRAC", refusal)


def served(service: str, methods: Mapping[str, Method]) -> Callable[[Call], Awaitable[Any]]:
    """The handler of calls of a DIRAC service: the form has the name of the method and its arguments as JSON. Only the
    token identifies the caller: the other fields (clientVO, extraCredentials) are ignored.
    """

    async def ping(_: Call, __: Args) -> dict[str, Any]:
        now = {"__dCls": "dt", "obj": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"}
        return {"name": service, "version": f"pgbroker {__version__}", "time": now}

    known = {**methods, "ping": Method(Args, ping)}

    async def run(call: Call) -> dict[str, Any]:
        bodies.media_type(call.request, (bodies.FORM,))
        fields = bodies.loose_form(await bodies.read(call.request, call.limit))
        name, text = (fields.get(field, usual) for field, usual in (("method", ""), ("args", "[]")))
        if not isinstance(name, str) or not isinstance(text, str):
            raise Problem(422, "the field method or args comes twice", code="PB001", key="args")
        method = known.get(name)
        if method is None:
            raise Fault(errno.ENOSYS, f"{service} has no method {name[:100]!r}", HTTPStatus.NOT_IMPLEMENTED)
        args = bodies.converted(bodies.loose(text.encode(errors="surrogateescape"), "args"), method.args, "args")
        return {"OK": True, "Value": await method.run(call, args)}

    return run
