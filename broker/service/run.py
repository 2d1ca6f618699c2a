"""Runs the workers of the service until SIGTERM or SIGINT. Requests under way get their answers first."""

import copy
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import uvicorn
from uvicorn.config import LOGGING_CONFIG

from broker.operate.log import JsonLines, TextLines
from broker.service import metrics
from broker.service.protocol import BoundedProtocol
from broker.service.settings import Settings, hand_over

_KEEP_ALIVE = 75  # seconds that an idle connection stays open: longer than an agent waits between two requests
_LAST_ANSWERS = 20  # seconds that running requests have when the service stops
_BACKLOG = 4096
_NOT_STARTED = 3  # uvicorn's exit code of a service that could not start
_APP = "broker.service.app:create"
HTTP: dict[str, Any] = {"http": BoundedProtocol, "ws": "none"}
"""uvicorn's options for HTTP. With WebSockets, an upgrade request would cause an internal error."""
# psycopg would log each refusal of the database again; the pool says why it cannot connect
_LOGGERS = {"broker.service": "INFO", "psycopg": "ERROR", "psycopg.pool": "WARNING"}


def run(
    settings: Settings,
    host: str,
    port: int,
    *,
    tls_cert: str | None = None,
    tls_key: str | None = None,
    listening: Callable[[], None] | None = None,
) -> None:
    """Serve. Workers get the settings in the environment. listening: for one worker: is called once this process alone
    gets the connections to the port."""
    hand_over(settings)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)  # each agent keeps a connection open
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)  # uvicorn stops gracefully, and then sends itself the signal again
    if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:  # a terminal that is closed; nohup ignores it
        signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    shared = tempfile.TemporaryDirectory(prefix="pgbroker-metrics-") if settings.workers > 1 else nullcontext()
    with shared as folder:
        if folder is not None:
            os.environ[metrics.FOLDER] = folder
        options: dict[str, Any] = {
            "factory": True, "host": host, "port": port, **HTTP, "workers": settings.workers, "ssl_certfile": tls_cert,
            "ssl_keyfile": tls_key, "lifespan": "on", "access_log": False, "proxy_headers": False,
            "server_header": False, "timeout_keep_alive": _KEEP_ALIVE,
            "timeout_graceful_shutdown": _LAST_ANSWERS, "backlog": _BACKLOG,
            "log_config": _logging(settings.log_format),
        }  # fmt: skip
        if listening is None:
            uvicorn.run(_APP, **options)
            return
        config = uvicorn.Config(_APP, **options)
        bound = config.bind_socket()
        bound.listen(_BACKLOG)
        listening()
        server = uvicorn.Server(config)
        server.run([bound])
        if not server.started:
            sys.exit(_NOT_STARTED)


def _end(*_: object) -> None:
    sys.exit(0)


def _logging(log_format: str) -> dict[str, Any]:
    """uvicorn's logging in the form of all programs, and that of the service."""
    found: dict[str, Any] = copy.deepcopy(LOGGING_CONFIG)
    found["formatters"]["default"] = {"()": JsonLines if log_format == "json" else TextLines}
    for name, level in _LOGGERS.items():
        found["loggers"][name] = {"handlers": ["default"], "level": level, "propagate": False}
    return found
