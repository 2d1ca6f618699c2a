"""Files that pages load from the service, the same for everybody."""

from functools import partial
from pathlib import Path

from starlette.responses import Response

from broker.service import pages
from broker.service.endpoint import Call, Endpoint
from broker.service.pages.frame import ADAPTER

_MEDIA_TYPES = {
    "style.css": "text/css; charset=utf-8",
    "live.js": "text/javascript; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "favicon.svg": "image/svg+xml",
}
_HEADERS = {**pages.HEADERS, "Cache-Control": "max-age=300"}


async def _file(name: str, _: Call) -> Response:
    return Response(Path(__file__).with_name(name).read_bytes(), headers=_HEADERS, media_type=_MEDIA_TYPES[name])


ENDPOINTS = tuple(
    Endpoint(
        "GET", f"/pages/{name}", f"file_{name.replace('.', '_')}", f"The file {name} of pages", partial(_file, name),
        outside=True, open=True, adapter=ADAPTER,
    )
    for name in _MEDIA_TYPES
)  # fmt: skip
