"""The application: routes from the table of endpoints, and what stands around each request."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from broker.service import metrics
from broker.service.door import Endpoint, Service
from broker.service.endpoints import ENDPOINTS
from broker.service.problems import Problem, of_error
from broker.service.settings import Settings, taken_over

_NO_ROUTE = "-"


class _Id(Convertor[int]):
    """The digits of an id; others are another path."""

    regex = "[0-9]{1,19}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("id", _Id())


def create(settings: Settings | None = None) -> Starlette:
    """The application of a worker; without settings those of the environment."""
    service = Service(settings or taken_over())

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await service.database.open()
        yield
        await service.database.close()
        metrics.forget_worker()

    async def no_route(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        service.metrics.request(_method(request), _NO_ROUTE, error.status_code, 0.0)
        words = "there is no such path" if error.status_code == 404 else "this path has another method"
        return Problem(error.status_code, words, headers=dict(error.headers or {})).response()

    routes = [Route(one.path, _endpoint(service, one), methods=[one.method], name=one.name) for one in ENDPOINTS]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: no_route})
    app.router.redirect_slashes = False
    app.state.service = service
    return app


def _method(request: Request) -> str:
    return request.method if request.method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "-"


def _endpoint(service: Service, one: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    """Answer, count, and turn every error into a refusal."""

    async def run(request: Request) -> Response:
        began = time.perf_counter()
        try:
            response = await one.answer(service, request)
        except ClientDisconnect:
            response = one.refusal(Problem(400, "the body ended early"))
        except Exception as error:
            response = one.refusal(of_error(error))
        service.metrics.request(one.method, one.path, response.status_code, time.perf_counter() - began)
        return response

    return run
