"""The application: routes from the table of endpoints, and the handling of each request. It is a bare router. The
wrapper of Starlette's application costs a tenth of a request and is not needed: every error of an endpoint becomes
a refusal. The route of a path is cached, since agents call few paths, often.
"""

import asyncio
import multiprocessing
import os
import re
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import lru_cache, partial
from http import HTTPStatus
from types import FrameType
from typing import Any
from uuid import uuid4

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Router, compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from broker.service import metrics, pages
from broker.service.endpoint import Endpoint, Request
from broker.service.endpoints import ENDPOINTS
from broker.service.problems import LOG, Problem, of_error
from broker.service.settings import Settings, taken_over
from broker.service.worker import Worker

_NO_ROUTE = "-"
_PATHS_KEPT = 256
_EVERYWHERE = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
"""Headers of every answer that does not set them: it may hold a secret, or what only its caller may see."""
_REQUEST_ID = re.compile(r"[\w.:/+=-]{1,100}", re.ASCII)
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class _Id(Convertor[int]):
    """The digits of an id; longer digits make another path."""

    regex = "[0-9]{1,19}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("id", _Id())


class _Path:
    """The handler of one path, with an endpoint for each of its methods. It answers, counts, and turns every error into
    a refusal."""

    def __init__(self, worker: Worker, path: str, endpoints: list[Endpoint]) -> None:
        self._worker = worker
        self._regex, _, self._convertors = compile_path(path)
        self._of_method = {one.method: one for one in endpoints}
        if "GET" in self._of_method:
            self._of_method["HEAD"] = self._of_method["GET"]

    def parameters(self, path: str) -> dict[str, Any] | None:
        """The parameters in a path; None if it is another path."""
        found = self._regex.match(path)
        return found and {name: self._convertors[name].convert(value) for name, value in found.groupdict().items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        one = self._of_method.get(scope["method"])
        if one is None:
            allowed = {"Allow": ", ".join(sorted(self._of_method))}
            refused = Problem(HTTPStatus.METHOD_NOT_ALLOWED, "this path has another method", headers=allowed)
            await _no_endpoint(self._worker, scope, refused.response())(scope, receive, send)
            return
        began = time.perf_counter()
        try:
            response = await one.answer(self._worker, Request(scope, receive))
        except ClientDisconnect:
            response = one.refusal(Problem(400, "the body ended early"))
        except Exception as error:
            response = one.refusal(of_error(error))
        seconds = time.perf_counter() - began
        self._worker.metrics.request(one.method, one.path, response.status_code, seconds)
        if self._worker.settings.log_requests:
            _log(scope, one.path, response, seconds)
        await _guarded(response)(scope, receive, send)


class _Routes(Router):
    """Sends a request to the handler of its path."""

    def __init__(self, worker: Worker, lifespan: Callable[[Router], AbstractAsyncContextManager[None]]) -> None:
        super().__init__(lifespan=lifespan)
        self._worker = worker
        of_path: dict[str, list[Endpoint]] = {}
        for one in ENDPOINTS:
            of_path.setdefault(one.path, []).append(one)
        self._paths = [_Path(worker, path, endpoints) for path, endpoints in of_path.items()]
        self._kept = lru_cache(_PATHS_KEPT)(self._find)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        answer, scope["path_params"] = self._kept(scope["path"])
        await answer(scope, receive, send)

    def _find(self, path: str) -> tuple[ASGIApp, dict[str, Any]]:
        for one in self._paths:
            parameters = one.parameters(path)
            if parameters is not None:
                return one, parameters
        return self._no_route, {}

    async def _no_route(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = Problem(HTTPStatus.NOT_FOUND, "there is no such path")
        answer = pages.refusal(refused) if _is_browser(scope) else refused.response()
        await _no_endpoint(self._worker, scope, answer)(scope, receive, send)


def create(settings: Settings | None = None) -> Router:
    """The application of a worker; the settings come from the environment by default."""
    worker = Worker(settings or taken_over())

    @asynccontextmanager
    async def lifespan(_: Router) -> AsyncIterator[None]:
        await worker.open()
        _before_end(worker.wake_all)
        gauges = asyncio.create_task(worker.metrics.keep_up())
        yield
        gauges.cancel()
        await worker.close()
        metrics.forget_worker()

    return _Routes(worker, lifespan)


def _before_end(act: Callable[[], None]) -> None:
    """Stop waiting requests as soon as a signal asks the worker to end: uvicorn waits for requests before it ends the
    lifespan."""
    if threading.current_thread() is not threading.main_thread():
        return
    if multiprocessing.parent_process() is not None and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getppid(), signal.SIGTERM))  # a terminal that is closed
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        handler = signal.getsignal(number)
        if callable(handler):
            signal.signal(number, partial(_end, loop, act, handler))


def _end(
    loop: asyncio.AbstractEventLoop,
    act: Callable[[], None],
    then: Callable[[int, FrameType | None], Any],
    number: int,
    frame: FrameType | None,
) -> None:
    loop.call_soon_threadsafe(act)
    then(number, frame)


def _log(scope: Scope, path: str, response: Response, seconds: float) -> None:
    """Write a line about a request, with the id that a proxy gave it, or a new one. The answer names the id."""
    given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
    number = given if _REQUEST_ID.fullmatch(given) else uuid4().hex
    response.headers["X-Request-Id"] = number
    setup, caller = scope.get("broker.caller", (None, None))
    figures = {"request": number, "method": scope["method"], "path": path, "caller": caller,
               "status": response.status_code, "ms": round(1000 * seconds, 1)}  # fmt: skip
    LOG.info("request", extra={"setup": setup, "figures": figures})


def _no_endpoint(worker: Worker, scope: Scope, answer: Response) -> Response:
    method = scope["method"] if scope["method"] in _METHODS else _NO_ROUTE
    worker.metrics.request(method, _NO_ROUTE, answer.status_code, 0.0)
    return _guarded(answer)


def _is_browser(scope: Scope) -> bool:
    """Whether the caller asks for a page."""
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])


def _guarded(response: Response) -> Response:
    given = {name for name, _ in response.raw_headers}
    response.raw_headers.extend(header for header in _EVERYWHERE if header[0] not in given)
    return response
