"""Runs the workers of the service until SIGTERM or SIGINT. Requests under way get their answers first."""

import copy
import logging
import os
import resource
import signal
import sys
import tempfile
import traceback
from contextlib import nullcontext
from typing import Any

import uvicorn
from uvicorn.config import LOGGING_CONFIG

from broker.service import metrics
from broker.service.protocol import BoundedProtocol
from broker.service.settings import Settings, hand_over
from broker.visible import visible

_KEEP_ALIVE = 75  # seconds that an idle connection stays open: longer than an agent waits between two requests
_LAST_ANSWERS = 20  # seconds that running requests have when the service stops
_BACKLOG = 4096
HTTP: dict[str, Any] = {"http": BoundedProtocol, "ws": "none"}
"""uvicorn's options for HTTP. With WebSockets, an upgrade request would cause an internal error."""
# psycopg would log each refusal of the database again; the pool says why it cannot connect
_LOGGERS = {"broker.service": "INFO", "psycopg": "ERROR", "psycopg.pool": "WARNING"}


def run(settings: Settings, host: str, port: int, *, tls_cert: str | None = None, tls_key: str | None = None) -> None:
    """Serve. Workers get the settings in the environment."""
    hand_over(settings)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)  # each agent keeps a connection open
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)  # uvicorn stops gracefully, and then sends itself the signal again
    shared = tempfile.TemporaryDirectory(prefix="pgbroker-metrics-") if settings.workers > 1 else nullcontext()
    with shared as folder:
        if folder is not None:
            os.environ[metrics.FOLDER] = folder
        uvicorn.run(
            "broker.service.app:create", factory=True, host=host, port=port, **HTTP, workers=settings.workers,
            ssl_certfile=tls_cert, ssl_keyfile=tls_key, lifespan="on", access_log=False, proxy_headers=False,
            server_header=False, use_colors=sys.stderr.isatty(), timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=_LAST_ANSWERS, backlog=_BACKLOG, log_config=_logging(),
        )  # fmt: skip


def _end(*_: object) -> None:
    sys.exit(0)


class Visible(logging.Filter):
    """Has words of callers act on no reader of the log."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change a record, and keep it."""
        if not hasattr(record, "color_message"):  # uvicorn's own words
            record.msg, record.args = visible(record.getMessage()), None
        if record.exc_info:
            record.exc_text = visible("".join(traceback.format_exception(*record.exc_info)).rstrip(), "\n")
        return True


def _logging() -> dict[str, Any]:
    """uvicorn's logging, with a time and with the lines of the service."""
    found: dict[str, Any] = copy.deepcopy(LOGGING_CONFIG)
    found["formatters"]["default"]["fmt"] = "%(asctime)s %(levelprefix)s %(message)s"
    found["filters"] = {"visible": {"()": Visible}}
    found["handlers"]["default"]["filters"] = ["visible"]
    for name, level in _LOGGERS.items():
        found["loggers"][name] = {"handlers": ["default"], "level": level, "propagate": False}
    return found
