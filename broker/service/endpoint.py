"""The call that an endpoint gets, and the checks before it: the caller, the rate, and the body."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, LiteralString, TypeVar
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

import psycopg
import starlette.requests
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope

from broker.service import bodies
from broker.service.callers import Caller
from broker.service.calls import STATEMENT, Connection, Database, ReadTransaction, Row, Rows
from broker.service.problems import Problem, encoded, of_code
from broker.service.reader import may_differ
from broker.service.worker import Service, Worker

T = TypeVar("T")
NAMESPACE = uuid5(NAMESPACE_URL, "pgbroker/service")
_LONGEST_NAME = 100
_REFUSED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
"""The errors with which a database refuses a caller whose credential is in another database."""
_LONGEST_KEY = 500
_AGAIN = 1.0  # seconds after which a call that is still under way looks its credential up again
_AT_ONCE = 100  # statements of a call between two such looks


class _Headers(Headers):
    """Headers in a table: each request looks for half a dozen, and most requests have few."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope=scope)
        self._first = dict(reversed(self._list))

    def get(self, key: str, default: Any = None) -> Any:
        """The first value of a header."""
        value = self._first.get(key.lower().encode("latin-1"))
        return default if value is None else value.decode("latin-1")

    def __contains__(self, key: Any) -> bool:
        return key.lower().encode("latin-1") in self._first


class _Parts:
    """The parts of a body as they arrive. check: called with each part, until the body is complete; so a caller that
    sends slowly is checked again."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.check: Callable[[float], Awaitable[None]] | None = None

    async def __call__(self) -> Message:
        message = await self._receive()
        check = self.check
        if check is not None and message["type"] == "http.request":
            if not message.get("more_body", False):
                self.check = None  # the call, which has the request, is then freed at once
            await check(_AGAIN)
        return message


class Request(starlette.requests.Request):
    """A received request."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.parts = _Parts(receive)
        super().__init__(scope, self.parts)
        self._table = _Headers(scope)

    @property
    def headers(self) -> Headers:
        """Its headers."""
        return self._table


@dataclass
class Call:
    """One request: the service of its setup, the caller, the decoded body, and the server that answers. limit: bytes of
    its body."""

    worker: Worker
    service: Service
    request: Request
    database: Database
    limit: int
    setup: str = ""
    body: Any = None
    _caller: Caller | None = None
    _csrf: str | None = None
    _looked_up: float = 0.0
    _reading: ReadTransaction | None = None

    @property
    def caller(self) -> Caller:
        """The caller. An endpoint that is open to everybody has none."""
        assert self._caller is not None
        return self._caller

    async def identify(self, setup: str, csrf: str | None = None) -> Caller:
        """Identify the caller, and check its rate. csrf: the token that a form shows beside a cookie."""
        self._csrf = csrf
        self._caller = await self._look_up(setup)
        self.request.scope["broker.caller"] = (setup, self._caller.subject.name)  # for the line of the log
        if self.request.method != "GET":
            self.request.parts.check = self.require_credential
        if self.worker.rate:
            self.worker.rate.spend((setup, self._caller.role, self._caller.subject.name))
        return self._caller

    async def _look_up(self, setup: str) -> Caller:
        self._looked_up = time.monotonic()
        shown = await self.worker.credentials.of(self.request.headers, self.request.method, self._csrf)
        await self.serve(setup)
        try:
            return await self.service.callers.of(shown, setup)
        except Problem as problem:
            if problem.status not in _REFUSED or not await self.follow(setup):
                raise
            return await self.service.callers.of(shown, setup)

    async def require_credential(self, age: float = 0.0) -> None:
        """Look the credential of the call up again, if the last look-up began this many seconds ago. Raises Problem:
        401, 403 if the credential has ended, was revoked or means something else now; 503."""
        if self._caller is None or time.monotonic() < self._looked_up + age:
            return
        if await self._look_up(self._caller.setup) != self._caller:
            raise of_code("PB008", "the credential has changed during the call", "Ask again.")

    async def serve(self, setup: str) -> None:
        """From now on, ask the database that has the setup."""
        self.service = await self.worker.of(setup)
        self.database = self.service.database

    async def follow(self, setup: str) -> bool:
        """Whether a setup is in a database other than the one that refused the call; that database is then asked."""
        moved = await self.worker.moved(setup, self.service)
        if moved is None:
            return False
        self.service, self.database = moved, moved.database
        return True

    @asynccontextmanager
    async def read_transaction(self) -> AsyncIterator[None]:
        """Within the block, read all `rows` in one transaction, so that they show the same moment."""
        async with self.database.read_transaction(self.caller.role, self.caller.text) as reading:
            self._reading = reading
            try:
                yield
            finally:
                self._reading = None

    async def rows(self, statement: LiteralString, *values: object, seconds: int = STATEMENT) -> Rows:
        """Rows of a statement that runs with the caller's role. seconds: after which it is cancelled, unless it is one
        of a page."""
        if self._reading is not None:
            return await self._reading.rows(statement, values)
        return await self.database.as_role(self.caller.role, self.caller.text, statement, values, seconds)

    async def rows_of_primary(self, statement: LiteralString, *values: object) -> Rows:
        """Rows of a statement about the primary itself, which runs with the caller's role."""
        if self.database is self.service.database:
            return await self.rows(statement, *values)
        return await self.service.database.as_role(self.caller.role, self.caller.text, statement, values)

    async def each(self, statement: LiteralString, each: Sequence[Sequence[object]]) -> list[list[Row] | psycopg.Error]:
        """The rows, or the error, of a statement for each list of values, each in its own transaction."""
        answers: list[list[Row] | psycopg.Error] = []
        for first in range(0, len(each), _AT_ONCE):
            await self.require_credential(_AGAIN)
            some = each[first : first + _AT_ONCE]
            answers += await self.service.database.each_as_role(self.caller.role, self.caller.text, statement, some)
        return answers

    async def steps(self, run: Callable[[Connection], Awaitable[T]]) -> T:
        """The result of a function of several statements with the caller's role, in one transaction. An error undoes
        all of them."""
        return await self.service.database.steps_as_role(self.caller.role, self.caller.text, run)

    @property
    def job_id(self) -> int:
        """The id in the path."""
        return self.number("job_id")

    async def gone(self) -> None:
        """Ends when the caller has closed the connection. The body has been read."""
        while (await self.request.receive())["type"] != "http.disconnect":
            pass

    def number(self, key: str) -> int:
        """A number in the path. Raises Problem: 422."""
        number: int = self.request.path_params[key]
        if not 1 <= number < 2**63:
            raise Problem(422, f"{key} is {number}, which is not within 1..{2**63 - 1}", code="PB001", key=key)
        return number

    def key(self, request_id: UUID | None = None) -> str:
        """The caller's key for repeating this call, or a unique key."""
        given = self.request.headers.get("idempotency-key")
        if given is None:
            return str(request_id or uuid4())
        if not given or len(given) > _LONGEST_KEY:
            fault = f"Idempotency-Key has {len(given)} characters, not 1 to {_LONGEST_KEY}"
            raise Problem(422, fault, key="Idempotency-Key")
        with suppress(ValueError):
            given = str(UUID(given))
        if request_id is not None and given != str(request_id):
            fault, given = "request_id and Idempotency-Key differ", str(request_id)
            raise Problem(422, fault, code="PB001", key="request_id", value=given, hint="Give one of them.")
        return given

    def id_of(self, key: str) -> UUID:
        """The request id for the database: the same key of another caller is another id."""
        return uuid5(NAMESPACE, f"{self.caller.subject.name}\n{key}")

    def repeat_id(self, request_id: UUID | None = None) -> UUID | None:
        """The request id for the database; None if the caller gave no key for repeating the call."""
        if request_id is None and "idempotency-key" not in self.request.headers:
            return None
        return self.id_of(self.key(request_id))

    def match_id(self, request_id: UUID | None = None) -> UUID:
        """The request id of a match for the database; a random id if the caller gave no key for repeating it."""
        return self.repeat_id(request_id) or uuid4()


@dataclass(frozen=True)
class Adapter:
    """The form of the service for clients of another system, or for browsers. A call whose path names no setup is for
    the service's setup.

    refusal: makes the answer that such a client understands. without_credential: answers a request without a
    credential, in place of a refusal. That system describes its calls, not OpenAPI.
    """

    name: str
    refusal: Callable[[Problem], Response]
    without_credential: Callable[[Request], Response] | None = None


@dataclass(frozen=True)
class Endpoint:
    """An endpoint; routes and OpenAPI are made from a table of endpoints.

    body, answers: the types of the bodies. reads_itself: the endpoint reads its body. limit_factor: factor on the limit
    of a body. open: needs no credential. repeatable: a key identifies the call. outside: belongs to no setup. long: may
    take long, and leaves connections to the others. adapter: the system whose clients call it. reads: changes nothing
    and may be some seconds old, so a standby answers it, or the primary if the standby cannot. number: makes the
    numbers in open parts of its body.
    """

    method: str
    path: str
    name: str
    summary: str
    run: Callable[[Call], Awaitable[Any]]
    body: Any = None
    answers: Any = None
    may_be_empty: bool = False
    media_types: tuple[str, ...] = (bodies.JSON,)
    reads_itself: bool = False
    limit_factor: int = 1
    open: bool = False
    repeatable: bool = False
    outside: bool = False
    long: bool = False
    produces: str = bodies.JSON
    adapter: Adapter | None = None
    reads: bool = False
    number: Callable[[str], float] | None = None

    def refusal(self, problem: Problem) -> Response:
        """A refusal in the form that the caller expects."""
        return self.adapter.refusal(problem) if self.adapter else problem.response()

    async def answer(self, worker: Worker, request: Request) -> Response:
        """Answer a request. Raises Problem."""
        setup = ""
        if not self.outside:
            setup = _setup(request) if "setup" in request.path_params else worker.settings.setup
        limit = worker.settings.body_limit * self.limit_factor
        call = Call(worker, worker.own, request, worker.own.database, limit, setup)
        if setup and self.open:
            await call.serve(setup)
        elif setup:
            try:
                await call.identify(setup)
            except Problem as problem:
                without_credential = self.adapter.without_credential if self.adapter else None
                if problem.status != HTTPStatus.UNAUTHORIZED or without_credential is None:
                    raise
                return without_credential(request)
        if self.body is not None:
            bodies.media_type(request, self.media_types)
            if not self.reads_itself:
                call.body = bodies.decoded(await bodies.read(request, limit), self.body, number=self.number)
        found = await (self._read(call) if self.reads else self._run(call))
        if self.reads or self.method == "GET":
            await call.require_credential(_AGAIN)
        response = found if isinstance(found, Response) else Response(encoded(found), media_type=bodies.JSON)
        changed = None if self.reads or self.outside else await call.service.reader.remember(request)
        if changed is not None:
            response.headers.append("Set-Cookie", changed)
        return response

    async def _run(self, call: Call) -> Any:
        async with call.database.long_call(call.setup) if self.long else nullcontext():
            return await self.run(call)

    async def _read(self, call: Call) -> Any:
        """The answer of the standby, if there is one that may and can answer; otherwise that of the primary."""
        service, metrics = call.service, call.worker.metrics
        standby = service.reader.standby_for(call.request)
        if standby is not None:
            call.database = standby
            try:
                found = await self._run(call)
            except Exception as error:
                service.reader.note(error)
                if not may_differ(error):
                    raise
            else:
                metrics.read("standby")
                return found
            call.database = service.database
        metrics.read("primary")
        return await self._run(call)


def _setup(request: Request) -> str:
    name: str = request.path_params["setup"]
    if "\0" in name or len(name) > _LONGEST_NAME:
        raise Problem(422, f"this is not a name of a setup: {name[:_LONGEST_NAME]!r}", code="PB001", key="setup")
    return name
